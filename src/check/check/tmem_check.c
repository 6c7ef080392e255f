/* What is wrong with how tensor memory is used: tmem.h. */
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "units/flight.h"
#include "sim/sim_run.h"
#include "units/umma.h"

static bool on(const struct warp *w) { return w->cta->launch->in->checks & CHECK_ASYNC; }

static void report_misuse(struct warp *w, u32 op, u32 lanes, enum finding_kind kind, const char *cause, const char *fix)
{
    struct finding f = { .kind = kind, .cause = cause, .fix = fix };
    if (on(w)) finding_add(w, op, &f, lanes);
}

void tmem_misused(struct warp *w, u32 op, u32 lanes, const char *cause, const char *fix)
{
    report_misuse(w, op, lanes, F_tmem_misuse, cause, fix);
}

void tmem_beyond(struct warp *w, u32 op, u32 lanes, const char *cause)
{
    report_misuse(w, op, lanes, F_tmem_bounds, cause, NULL);
}

bool tmem_check_columns(struct warp *w, u32 op, u32 lanes, u32 columns)
{
    char cause[160];
    if (columns >= TMEM_UNIT && columns <= TMEM_COLUMNS && !(columns & (columns - 1))) return true;
    snprintf(cause, sizeof cause, "%u columns: it must be a power of two from %u to %u", columns, TMEM_UNIT,
             TMEM_COLUMNS);
    tmem_misused(w, op, lanes, cause, "Round the number of columns up to 32, 64, 128, 256 or 512.");
    return false;
}

bool tmem_check_same(struct warp *w, u32 op, u32 lanes, const u64 *v, const char *what)
{
    u32 first = (u32)__builtin_ctz(lanes);
    char cause[200];
    for (u32 l = first; l < LANES; l++) {
        if (!(lanes >> l & 1) || v[l] == v[first]) continue;
        snprintf(cause, sizeof cause, "lane %u has the %s 0x%llx, lane %u 0x%llx: it must be the same in all threads",
                 first, what, (unsigned long long)v[first], l, (unsigned long long)v[l]);
        tmem_misused(w, op, lanes, cause, "Compute it from values that all threads of the warp share.");
        return false;
    }
    return true;
}

bool tmem_check_quarter(struct warp *w, u32 op, u32 lanes, struct tmem_area a)
{
    u32 first = w->id % 4 * 32;
    char cause[240];
    if (a.lane >= first && a.lane + a.lanes <= first + 32) return true;
    snprintf(cause, sizeof cause, "lanes %u to %u, and warp %u, the %s of its warpgroup, can reach lanes %u to %u",
             a.lane, a.lane + a.lanes - 1, w->id, (const char *[]){ "first", "second", "third", "fourth" }[w->id % 4],
             first, first + 31);
    report_misuse(w, op, lanes, F_tmem_lanes, cause, NULL);
    return false;
}

bool tmem_check_area(struct warp *w, u32 op, u32 lanes, const struct cta *c, struct tmem_area a, const char *what)
{
    const struct tmem *t = tmem_in(c);
    u32 end = a.column + a.columns, first = 0, units = 0;
    char cause[320];
    for (u32 u = 0; t && u < TMEM_UNITS; u++)
        if (t->unit[u].units && u * TMEM_UNIT <= a.column) {
            first = u * TMEM_UNIT;
            units = t->unit[u].units;
        }
    if (units && end <= first + units * TMEM_UNIT && a.lane + a.lanes <= TMEM_LANES) return true;
    if (a.lane + a.lanes > TMEM_LANES)
        snprintf(cause, sizeof cause, "it %s lanes %u to %u, and tensor memory has %u", what, a.lane,
                 a.lane + a.lanes - 1, TMEM_LANES);
    else if (units && a.column < first + units * TMEM_UNIT)
        snprintf(cause, sizeof cause, "it %s columns %u to %u, and the allocation at column %u ends with column %u",
                 what, a.column, end - 1, first, first + units * TMEM_UNIT - 1);
    else
        snprintf(cause, sizeof cause, "it %s columns %u to %u, which are not allocated, or freed already", what,
                 a.column, end - 1);
    report_misuse(w, op, lanes, F_tmem_bounds, cause, NULL);
    return false;
}

static bool overlap(struct tmem_area a, struct tmem_area b)
{
    if (a.column >= b.column + b.columns || b.column >= a.column + a.columns) return false;
    for (u32 l = MAX_OF(a.lane, b.lane); l < MIN_OF(a.lane + a.lanes, b.lane + b.lanes); l++) {
        bool of_a = !a.half || (l - a.lane) % 32 < 16, of_b = !b.half || (l - b.lane) % 32 < 16;
        if (of_a && of_b) return true;
    }
    return false;
}

/* Whether the work touches the area in that CTA: writes it, or reads it where that counts, too. */
static bool meets(const struct tmem_work *x, const struct cta *c, struct tmem_area a, bool reads)
{
    bool here = false, found = x->wrote.columns && overlap(x->wrote, a);
    for (u32 k = 0; k < x->ctas; k++) here |= x->cta[k] == c;
    for (u32 k = 0; k < x->reads && reads; k++) found |= overlap(x->read[k], a);
    return here && found;
}

void tmem_check_flights(struct warp *w, u32 op, u32 lanes, struct tmem_area a, bool stores)
{
    struct cta *pair[2];
    u32 n = tmem_ctas(w, true, pair);
    for (u32 k = 0; k < n && on(w); k++)
        for (const struct flight *f = flight_first(pair[k]); f; f = f->next) {
            const struct tmem_work *x = tmem_work_of(f);
            if (!x || !meets(x, w->cta, a, stores)) continue;
            struct arena mem = { 0 };
            bool loose = !flight_commits_behind(f);
            struct finding y = { .kind = F_tmem_early,
                                 .cause =
                                     arena_printf(&mem, "columns %u to %u are used by an operation in flight: %s",
                                                  a.column, a.column + a.columns - 1,
                                                  loose ? "no tcgen05.commit follows it"
                                                        : "nobody has waited for the mbarrier of its tcgen05.commit"),
                                 .other = finding_place(&mem, f->low, f->op) };
            finding_add(w, op, &y, lanes);
            arena_free(&mem);
            return;
        }
}

void tmem_end(struct cta *c)
{
    for (u32 u = 0; u < TMEM_UNITS && !launch_interrupted(c->launch); u++) {
        const struct tmem_allocation *x = &tmem_in(c)->unit[u];
        char cause[160];
        struct finding f = { .kind = F_tmem_leak, .cause = cause };
        if (!x->units || !(c->launch->in->checks & CHECK_ASYNC)) continue;
        snprintf(cause, sizeof cause, "the block ended with the %u columns allocated that it got here",
                 x->units * TMEM_UNIT);
        finding_add_of(x->warp, x->low, x->op, &f, 1);
    }
}

/* ---- descriptors ---- */

void umma_wrong(struct warp *w, const struct insn *i, u32 lane, u32 idesc, const char *what)
{
    char cause[320];
    snprintf(cause, sizeof cause, "the instruction descriptor is 0x%08x: %s", idesc, what);
    report_misuse(w, i->op, 1u << lane, F_umma_descriptor, cause, NULL);
}

void umma_wrong_place(struct warp *w, const struct insn *i, u32 lane, const char *what)
{
    report_misuse(w, i->op, 1u << lane, F_umma_descriptor, what, NULL);
}

void umma_wrong_metadata(const struct tmem_work *x, u32 row, u32 chunk, u32 bits, u32 lane, u32 column)
{
    const struct flight *f = x->flight;
    char cause[240];
    struct finding y = { .kind = F_umma_descriptor, .cause = cause };
    snprintf(cause, sizeof cause,
             "the metadata of row %u, chunk %u are 0x%x (lane %u, column %u of tensor memory), which has no meaning",
             row, chunk, bits, lane, column);
    if (on(f->warp)) finding_add_of(f->warp, f->low, f->op, &y, 1u << f->lane);
}

bool umma_check_matrix(struct warp *w, const struct insn *i, u32 lane, const char *name, u64 descriptor,
                       const struct matrix *m, enum tensor_type t, u32 first, u32 lines, u32 k)
{
    u64 total = w->cta->launch->shared_total;
    u32 each = 128 / tensor_bits(t), along = m->by_k ? (first + lines + each - 1) / each : matrix_across(m, t, k),
        skip = m->by_k ? first / each : 0, from = m->by_k ? 0 : first, to = m->by_k ? k : first + lines,
        mode = (u32)(descriptor >> 61);
    char sum[160], cause[400];
    bool absolute = descriptor >> 52 & 1;
    if ((descriptor >> 46 & 7) != 1 || mode == 3 || mode == 5 || mode == 7 || absolute) {
        snprintf(cause, sizeof cause, "the descriptor of %s, 0x%llx, has %s", name, (unsigned long long)descriptor,
                 (descriptor >> 46 & 7) != 1 ? "no 0b001 in bits 46 to 48: it is not a descriptor of tcgen05"
                 : absolute                  ? "an absolute address in place of an offset (bit 52), which sm_103 has"
                                             : "a swizzle in bits 61 to 63 that does not exist");
        report_misuse(w, i->op, 1u << lane, F_umma_descriptor, cause, NULL);
        return false;
    }
    for (u32 l = from; l < to; l++)
        for (u32 c = skip; c < along; c++) {
            u32 at = matrix_chunk(m, l, c);
            if (at + (u64)CHUNK_BYTES <= total) continue;
            matrix_arithmetic(m, l, c, sum, sizeof sum);
            snprintf(
                cause, sizeof cause,
                "the descriptor of %s, 0x%llx, leads to line %u at %s = 0x%x%s: the block has %llu bytes of shared "
                "memory",
                name, (unsigned long long)descriptor, l, sum, at, m->width > 16 ? ", swizzled" : "",
                (unsigned long long)total);
            report_misuse(w, i->op, 1u << lane, F_umma_descriptor, cause, NULL);
            return false;
        }
    return true;
}
