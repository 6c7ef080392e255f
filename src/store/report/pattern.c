/* Which elements of an array, in words.
 *
 * A checker that knows every element (coverage does) hands in one bit for each and gets what a person would say of
 * them: a range, rows, columns, a residue, a few runs. Tried from the simplest on; what has no simple description is
 * given as its extent and its number of runs. */
#include "report/report.h"
#include <inttypes.h>

enum { RUNS_SAID = 3, MODULUS_MOST = 64 };

struct picks { /* some of the numbers 0..n-1 */
    const u64 *bits;
    u64 from, n; /* the bits from `from` on */
};

static bool picked(struct picks p, u64 i) { return p.bits[(p.from + i) / 64] >> (p.from + i) % 64 & 1; }

struct shape_of {
    u64 count, first, last, runs;
};

static struct shape_of measure(struct picks p)
{
    struct shape_of s = { 0 };
    bool before = false;
    for (u64 i = 0; i < p.n; i++) {
        bool now = picked(p, i);
        if (now) {
            s.first = s.count++ ? s.first : i;
            s.last = i;
            s.runs += !before;
        }
        before = now;
    }
    return s;
}

/* One residue, or all but one, modulo the least number that tells those picked from the rest. */
static bool residue_text(struct picks p, const char *name, const char *letter, struct text *out)
{
    for (u32 m = 2; m <= MODULUS_MOST && 2 * (u64)m <= p.n; m++) {
        u64 in = 0, rest = 0;
        for (u64 i = 0; i < p.n; i++) *(picked(p, i) ? &in : &rest) |= 1ull << i % m;
        if (in & rest) continue;
        bool one = !(in & (in - 1));
        if (!one && rest & (rest - 1)) continue;
        text_add(out, "%ss with %s mod %u %s %d", name, letter, m, one ? "==" : "!=", __builtin_ctzll(one ? in : rest));
        return true;
    }
    return false;
}

static void run_text(struct picks p, u64 *at, struct text *out)
{
    while (!picked(p, *at)) ++*at;
    u64 from = *at;
    while (*at < p.n && picked(p, *at)) ++*at;
    text_add(out, "%" PRIu64, from);
    if (*at - from > 1) text_add(out, "..%" PRIu64, *at - 1);
}

/* Numbers of one axis: "rows 8..15", "every row", "columns with c mod 2 == 1", "elements 3, 7..9 and 12". */
static void axis_text(struct picks p, const char *name, const char *letter, struct text *out)
{
    struct shape_of s = measure(p);
    u64 at = 0;
    if (s.count == p.n) {
        text_add(out, "every %s", name);
    } else if (s.runs == 1) {
        text_add(out, "%s%s ", name, plural(s.count));
        run_text(p, &at, out);
    } else if (residue_text(p, name, letter, out)) {
        return;
    } else if (s.runs <= RUNS_SAID) {
        text_add(out, "%ss ", name);
        for (u64 k = 0; k < s.runs; k++) {
            text_add(out, "%s", !k ? "" : k + 1 == s.runs ? " and " : ", ");
            run_text(p, &at, out);
        }
    } else {
        text_add(out, "%" PRIu64 " %ss between %" PRIu64 " and %" PRIu64 ", in %" PRIu64 " runs", s.count, name,
                 s.first, s.last, s.runs);
    }
}

/* Whether the rows that have any of the elements all have them in the same columns; `rows` gets those rows, `model`
 * the first of them. */
static bool same_columns(const u64 *bits, u64 rows, u64 columns, u64 *row_bits, u64 *model)
{
    bool found = false;
    for (u64 r = 0; r < rows; r++) {
        struct picks row = { bits, r * columns, columns };
        if (!measure(row).count) continue;
        row_bits[r / 64] |= 1ull << r % 64;
        for (u64 c = 0; found && c < columns; c++)
            if (picked(row, c) != picked((struct picks){ bits, *model * columns, columns }, c)) return false;
        *model = found ? *model : r;
        found = true;
    }
    return found;
}

static bool plane_text(const u64 *bits, u64 rows, u64 columns, struct text *out)
{
    u64 model = 0, *row_bits = base_need((rows + 63) / 64 * 8);
    bool simple = same_columns(bits, rows, columns, row_bits, &model);
    if (simple) {
        struct picks of_row = { bits, model * columns, columns };
        if (measure(of_row).count != columns) {
            axis_text(of_row, "column", "c", out);
            text_add(out, " of ");
        }
        axis_text((struct picks){ row_bits, 0, rows }, "row", "r", out);
    }
    base_free(row_bits);
    return simple;
}

void elements_pattern(const u64 *bits, u64 n, u64 columns, struct text *out)
{
    struct picks all = { bits, 0, n };
    struct shape_of s = measure(all);
    if (!s.count) {
        text_add(out, "none of %" PRIu64 " elements", n);
        return;
    }
    if (s.count == n) {
        text_add(out, "all %" PRIu64 " elements", n);
        return;
    }
    size_t before = out->n;
    bool plane = columns > 1 && columns < n && n % columns == 0 && plane_text(bits, n / columns, columns, out);
    if (!plane) {
        CHECK(out->n == before);
        axis_text(all, "element", "i", out);
    }
    text_add(out, " (%" PRIu64 " of %" PRIu64 " elements)", s.count, n);
}
