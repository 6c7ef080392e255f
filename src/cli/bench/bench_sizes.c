/* --sizes: cases, several at once. A value may be a list or a range that doubles; all of them are combined. */
#include "bench/bench.h"
#include <ctype.h>
#include <stdlib.h>

enum { LINES_MOST = 4096, WORDS_MOST = 64, VALUES_MOST = 256 };
struct size_word {
    struct str name; /* with its '='; or the whole word, which has no value */
    const char *value[VALUES_MOST];
    u32 n;
};

/* 64..4096: 64, 128, 256 ... and the end itself. */
static bool read_range(struct arena *a, struct str s, struct size_word *w, bool *is_range, struct error *e)
{
    char *text = arena_str(a, s), *end, *rest;
    s64 from = strtoll(text, &end, 10);
    *is_range = end != text && end[0] == '.' && end[1] == '.';
    if (!*is_range) return true;
    s64 to = strtoll(end + 2, &rest, 10);
    if (rest == end + 2 || *rest || from < 1 || to < from)
        return error_set(e, ERR_INPUT, "--sizes: `%.60s` is not a range: 64..4096, from 1 on, doubles up to its end",
                         text);
    for (s64 v = from; w->n<VALUES_MOST; v = v> to / 2 ? to : 2 * v) {
        w->value[w->n++] = arena_printf(a, "%lld", (long long)v);
        if (v == to) return true;
    }
    return true;
}

static bool read_word(struct arena *a, struct str s, struct size_word *w, struct error *e)
{
    const char *eq = memchr(s.p, '=', s.n), *end = s.p + s.n;
    *w = (struct size_word){ .name = s };
    if (!eq) {
        w->value[w->n++] = "";
        return true;
    }
    w->name.n = (u32)(eq + 1 - s.p);
    for (const char *p = eq + 1; p <= end;) {
        const char *comma = memchr(p, ',', (size_t)(end - p)), *stop = comma ? comma : end;
        struct str one = { p, (u32)(stop - p) };
        bool is_range = false;
        if (!one.n || w->n == VALUES_MOST)
            return error_set(e, ERR_INPUT, "--sizes: `%.*s`: %s", (int)s.n, s.p,
                             one.n ? "too many values" : "a value is empty");
        if (!read_range(a, one, w, &is_range, e)) return false;
        if (!is_range) w->value[w->n++] = arena_str(a, one);
        p = stop + 1;
    }
    return true;
}

/* All combinations of the values; the last word runs fastest. */
static bool combine(struct arena *a, const struct size_word *w, u32 n, struct bench_sizes *out, struct error *e)
{
    u32 at[WORDS_MOST] = { 0 };
    for (;;) {
        struct text t = { 0 };
        for (u32 i = 0; i < n; i++)
            text_add(&t, "%s%.*s%s", i ? " " : "", (int)w[i].name.n, w[i].name.p, w[i].value[at[i]]);
        VEC_PUSH(a, &out->line, arena_str(a, str_of(t.n ? t.p : "")));
        text_free(&t);
        if (out->line.n > LINES_MOST) return error_set(e, ERR_INPUT, "--sizes: more than %d cases", LINES_MOST);
        u32 k = n;
        while (k && ++at[k - 1] == w[k - 1].n) at[--k] = 0;
        if (!k) return true;
    }
}

bool sizes_read(struct arena *a, const char *text, struct bench_sizes *out, struct error *e)
{
    for (const char *p = text;;) {
        size_t all = strcspn(p, ";");
        struct size_word *w = NEW_ARRAY(a, struct size_word, WORDS_MOST);
        u32 n = 0;
        for (const char *q = p, *end = p + all; q < end;) {
            while (q < end && isspace((unsigned char)*q)) q++;
            const char *from = q;
            while (q < end && !isspace((unsigned char)*q)) q++;
            if (q == from) break;
            if (n == WORDS_MOST) return error_set(e, ERR_INPUT, "--sizes: more than %d words", WORDS_MOST);
            if (!read_word(a, (struct str){ from, (u32)(q - from) }, &w[n++], e)) return false;
        }
        if (!combine(a, w, n, out, e)) return false;
        p += all;
        if (!*p) return true;
        p++;
    }
}

/* ---- what varies ---- */

/* The value of a name in a line; NULL: it has none. */
static const char *value_of(const char *line, const char *name, size_t *n)
{
    size_t k = strlen(name);
    for (const char *p = line; *p; p += strcspn(p, " "), p += strspn(p, " "))
        if (!strncmp(p, name, k) && p[k] == '=') {
            *n = strcspn(p + k + 1, " ");
            return p + k + 1;
        }
    return NULL;
}

static bool is_fixed(const struct bench_sizes *s, const char *name)
{
    size_t n = 0, m = 0;
    const char *first = value_of(s->line.p[0], name, &n);
    for (u32 i = 1; i < s->line.n; i++) {
        const char *v = value_of(s->line.p[i], name, &m);
        if (!v || !first || m != n || strncmp(v, first, n)) return false;
    }
    return true;
}

void sizes_vary(struct arena *a, struct bench_sizes *s)
{
    u32 several = 0;
    s->varies = NULL;
    s->value.n = 0;
    for (const char *p = s->line.n > 1 ? s->line.p[0] : ""; *p; p += strcspn(p, " "), p += strspn(p, " ")) {
        size_t n = strcspn(p, "= ");
        char *name = arena_str(a, (struct str){ p, (u32)n });
        if (p[n] != '=' || is_fixed(s, name)) continue;
        s->varies = name;
        several++;
    }
    for (u32 i = 0; several == 1 && i < s->line.n; i++) {
        size_t n = 0;
        char *end;
        const char *v = value_of(s->line.p[i], s->varies, &n);
        double x = v ? double_read(v, &end) : -1;
        if (!v || !(x > 0) || end != v + n) several = 0;
        VEC_PUSH(a, &s->value, x);
    }
    if (several != 1) s->varies = NULL;
}
