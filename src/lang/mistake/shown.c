/* What an output shows without a changed text, and a guess at its precision. */
#include "mistake/classify.h"
#include "oracle/oracle_dd.h"
#include <stdlib.h>

static bool say(struct shown *h, enum oracle_label label, const char *fmt, ...) PRINTF_LIKE(3, 4);
static bool say(struct shown *h, enum oracle_label label, const char *fmt, ...)
{
    va_list ap;
    struct oracle_explanation x = { .label = label, .sure = true };
    va_start(ap, fmt);
    vsnprintf(x.what, sizeof x.what, fmt, ap);
    va_end(ap);
    if (!oracle_is_asked(h->s, x.what)) return false;
    *h->s->best = x;
    return true;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static const char *const made_how[] = { "%s", "1/%s", "sqrt(%s)", "1/sqrt(%s)", "(%s - 1)/%s", "%s/(%s - 1)" };

double oracle_made(const struct oracle *o, const char *text)
{
    char is[80];
    for (u32 i = 0; i < o->n; i++) {
        double d = o->names[i].value, x[] = { d, 1 / d, sqrt(d), 1 / sqrt(d), (d - 1) / d, d / (d - 1) };
        for (u32 j = 0; j < COUNT_OF(x) && !o->names[i].type && !o->names[i].word; j++) {
            snprintf(is, sizeof is, made_how[j], o->names[i].name, o->names[i].name);
            if (!strncmp(text, is, strlen(is)) && !strncmp(text + strlen(is), " for ", 5)) return x[j];
        }
    }
    return NAN;
}

/* c as d, 1/d, sqrt(d), 1/sqrt(d), (d - 1)/d or d/(d - 1) of a number d that is called `name`; false: it is none of
 * these. *form: the only form tried, or -1 for all; set to the form found. */
static bool is_made_of(double c, double d, const char *name, int *form, char *out, size_t size)
{
    double x[] = { d, 1 / d, sqrt(d), 1 / sqrt(d), (d - 1) / d, d / (d - 1) };
    for (int j = 0; j < (int)COUNT_OF(x) && d > 1; j++) {
        if ((*form >= 0 && *form != j) || fabs(c / x[j] - 1) > 1e-4) continue;
        if (j > 3 && d < 3) continue; /* 1/2 and 2 */
        snprintf(out, size, made_how[j], name, name);
        *form = j;
        return true;
    }
    return false;
}

bool oracle_origin(const struct oracle *o, double c, int *form, char *out, size_t size)
{
    char number[24];
    out[0] = 0;
    for (u32 i = 0; i < o->n; i++) /* sizes that have a name */
        if (!o->names[i].type && is_made_of(c, o->names[i].value, o->names[i].name, form, out, size)) return true;
    for (u32 i = 0; i < o->n + 2; i++)
        for (u32 k = 0; k < (i < o->n ? o->names[i].shape.rank : 1); k++) {
            u64 d = i < o->n ? o->names[i].shape.dim[k] : i == o->n ? 2 : 32;
            snprintf(number, sizeof number, "%llu", (unsigned long long)d);
            if (fabs(c / (double)d - 1) <= 1e-4) /* the number alone says nothing new */
                return d == 32 && snprintf(out, size, "how many lanes a warp has");
            if (is_made_of(c, (double)d, number, form, out, size)) return true;
        }
    return false;
}

/* One factor for every element. */
bool shown_has_factor(struct shown *h)
{
    const struct oracle_array *a = h->a;
    double *t = NEW_ARRAY(&h->s->mem, double, a->count + 1);
    char origin[64] = "";
    u64 n = 0, wrong = 0;
    bool asked = h->s->hints && h->s->hints->only && strstr(h->s->hints->only, " times the oracle");
    for (u64 i = 0; i < a->count; i++) {
        wrong += !a->unknown[i] && oracle_ratio(h->y[i], a->value[i], 0, a->worst[i]) > 1;
        if (!a->unknown[i] && isfinite(a->value[i]) && fabs(a->value[i]) > 8 * a->worst[i])
            t[n++] = h->y[i] / a->value[i];
    }
    if (n && asked) h->s->met = ORACLE_MISFIT;
    if (!n || 10 * wrong < 3 * a->count) return false;
    qsort(t, n, sizeof *t, by_size);
    double c = n % 2 ? t[n / 2] : (t[n / 2] + t[n / 2 - 1]) / 2;
    if (!isfinite(c) || fabs(c) < 1e-3 || fabs(c - 1) < 0.01) return false;
    for (u64 i = 0; i < a->count; i++)
        if (!a->unknown[i] && !(fabs(h->y[i] - c * a->value[i]) <= (1 + fabs(c)) * a->worst[i])) return false;
    int form = -1;
    /* a size of 2 is everywhere */
    bool known = c != 2 && c != 0.5 && oracle_origin(h->s->o, c, &form, origin, sizeof origin);
    bool plain = fabs(c) == 2 || fabs(c) == 0.5 || c == -1 || (fabs(c) <= 16 && fabs(c - nearbyint(c)) < 1e-4);
    if (n < 3 && !known && !plain) return false;
    return say(h, ORACLE_FACTOR, "%s is %.6g times the oracle%s%s", h->name, c, known ? ", which is " : "", origin);
}

/* Whether y[i] equals value map[i] within its bound, for each i that maps to an element. */
static bool matches(const struct shown *h, const s64 *map)
{
    for (u64 i = 0; i < h->a->count; i++) {
        if (map[i] < 0 || h->a->unknown[map[i]]) continue;
        if (oracle_ratio(h->y[i], h->a->value[map[i]], 0, h->a->worst[map[i]]) > 1) return false;
    }
    return true;
}

/* Element i of the output as element map[i] of the value, shifted along an axis (by 1 or -1, what is beyond the edge
 * may be anything) or reversed (by 0). */
static void axis_map(const struct oracle_shape *s, u32 axis, int by, s64 *map)
{
    u64 inner = 1, count = oracle_count(s);
    s64 d = (s64)s->dim[axis];
    for (u32 i = axis + 1; i < s->rank; i++) inner *= s->dim[i];
    for (u64 i = 0; i < count; i++) {
        s64 at = (s64)(i / inner % (u64)d), from = by ? at - by : d - 1 - at;
        map[i] = from < 0 || from >= d ? -1 : (s64)i + (from - at) * (s64)inner;
    }
}

/* The last two axes exchanged: of the same memory (`flat`), or of a square. */
static bool transposed_map(const struct oracle_shape *s, bool flat, s64 *map)
{
    u64 rows = s->dim[s->rank - 2], columns = s->dim[s->rank - 1], block = rows * columns;
    if (rows < 2 || columns < 2 || (!flat && rows != columns)) return false;
    for (u64 i = 0, n = oracle_count(s); i < n; i++) {
        u64 k = i % block;
        map[i] = (s64)(i - k + (flat ? k % rows * columns + k / rows : k % columns * columns + k / columns));
    }
    return true;
}

/* Along the last axis, place l * each + i has element i * lanes + l: what each of so many lanes holds stands together.
 */
static bool lanes_map(const struct oracle_shape *s, u64 lanes, s64 *map)
{
    u64 d = s->dim[s->rank - 1], each = d / lanes;
    if (d % lanes || each < 2) return false;
    for (u64 i = 0, n = oracle_count(s); i < n; i++) map[i] = (s64)(i - i % d + i % each * lanes + i % d / each);
    return true;
}

static bool is_by_lanes(struct shown *h, s64 *map)
{
    for (u64 lanes = 2; h->shape->rank && lanes <= h->shape->dim[h->shape->rank - 1] / 2; lanes++)
        if (lanes_map(h->shape, lanes, map) && matches(h, map))
            return say(h, ORACLE_PERMUTED, "%s has element i * %u + l at place l * %u + i of its last axis", h->name,
                       (u32)lanes, (u32)(h->shape->dim[h->shape->rank - 1] / lanes));
    return false;
}

/* Whether is_moved can give the wanted name. */
static bool is_named_moved(const struct shown *h)
{
    const char *only = h->s->hints->only;
    size_t n = strlen(h->name);
    return !strncmp(only, h->name, n) && (!strncmp(only + n, " is ", 4) || !strncmp(only + n, " has element", 12));
}

/* What is one off of a running sum leaves out an element, or has one more. */
static bool is_running(const struct shown *h)
{
    for (u32 i = h->s->from; i < h->s->to; i++) {
        enum oracle_op op = h->s->root[i]->op;
        if (!strcmp(h->name, h->s->o->outs.p[i].name)) return op == OX_cumsum || op == OX_cumprod;
    }
    return false;
}

bool shown_is_moved(struct shown *h)
{
    const struct oracle_shape *s = h->shape;
    s64 *map = NEW_ARRAY(&h->s->mem, s64, h->a->count + 1);
    if (h->s->hints && h->s->hints->only && is_named_moved(h)) h->s->met = ORACLE_MISFIT;
    for (u32 axis = 0; axis < s->rank; axis++) {
        for (int by = -1; by <= 1; by += 2) {
            if (s->dim[axis] < 3 || is_running(h)) continue;
            axis_map(s, axis, by, map);
            if (matches(h, map)) return say(h, ORACLE_SHIFT, "%s is one off along axis %u", h->name, axis);
        }
        if (s->dim[axis] < 2) continue;
        axis_map(s, axis, 0, map);
        if (matches(h, map)) return say(h, ORACLE_PERMUTED, "%s is reversed along axis %u", h->name, axis);
    }
    for (u32 flat = 0; s->rank >= 2 && flat < 2; flat++)
        if (transposed_map(s, flat, map) && matches(h, map))
            return say(h, ORACLE_PERMUTED, "%s is transposed", h->name);
    return is_by_lanes(h, map);
}

/* Not written, not finite: seen, not inferred. */
bool shown_is_seen(struct shown *h, const struct oracle_judgement *j, const struct oracle_given *y, u32 i)
{
    const struct scalar *t = oracle_given_type(h->s->o, h->s->run.env.type->name, i);
    bool *mark = NEW_ARRAY(&h->s->mem, bool, h->a->count + 1);
    char place[160];
    if (!j->unwritten && !j->not_finite) return false;
    for (u64 k = 0; k < h->a->count; k++)
        mark[k] = j->unwritten ? oracle_unwritten(t, y, h->a, k) : !isfinite(h->y[k]) && isfinite(h->a->value[k]);
    oracle_place(h->shape, mark, place, sizeof place);
    if (j->unwritten) return say(h, ORACLE_UNWRITTEN, "%s is not written: %s", h->name, place);
    return say(h, ORACLE_NAN, "%s has NaN or infinity: %s", h->name, place);
}

/* Every wrong element of an array that is updated still has what was there before. */
bool shown_is_untouched(struct shown *h, u32 which)
{
    const struct suspect_text *s = h->s;
    u32 name = s->o->outs.p[which].out;
    bool *mark = NEW_ARRAY(&h->s->mem, bool, h->a->count + 1);
    char place[160];
    u64 wrong = 0;
    if (name >= s->o->n || !s->o->names[name].in || !s->run.data[name]) return false;
    for (u64 i = 0; i < h->a->count; i++) {
        mark[i] = !h->a->unknown[i] && oracle_ratio(h->y[i], h->a->value[i], 0, h->a->worst[i]) > 1;
        wrong += mark[i];
        struct oracle_given was = { .bytes = s->run.data[name] };
        if (mark[i] && oracle_given(s->o->names[name].type, &was, i) != h->y[i]) return false;
    }
    oracle_place(h->shape, mark, place, sizeof place);
    return wrong && say(h, ORACLE_UNWRITTEN, "%s is not updated, and has what was there before: %s", h->name, place);
}

/* An output that is 0 everywhere, where hardly an element should be: many a change of the text comes to that. */
bool shown_is_zero(struct shown *h)
{
    u64 zero = 0, should = 0;
    const char *only = h->s->hints ? h->s->hints->only : NULL;
    if (only && strstr(only, " is 0 everywhere")) h->s->met = ORACLE_MISFIT;
    for (u64 i = 0; i < h->a->count; i++) {
        zero += h->y[i] == 0;
        should += h->a->value[i] == 0;
    }
    if (h->a->count < 2 || zero < h->a->count || 2 * should > h->a->count) return false;
    return say(h, ORACLE_VARIANT, "%s is 0 everywhere", h->name);
}

bool shown_is_refuted(const char *name)
{
    return strstr(name, " times the oracle") || strstr(name, " is 0 everywhere") || strstr(name, " is transposed");
}

/* Whether the name that is asked for speaks of this output: "y is 2 times the oracle". */
static bool is_asked_of(const struct suspect_text *s, const char *output)
{
    const char *only = s->hints ? s->hints->only : NULL;
    size_t n = strlen(output);
    return only && !strncmp(only, output, n) && (!strncmp(only + n, " is ", 4) || !strncmp(only + n, " has ", 5));
}

/* The output with the largest share of wrong elements; false: none is wrong. */
bool shown_pick_output(struct suspect_text *s, const struct oracle_result *r, struct shown *h,
                       struct oracle_judgement *worst, u32 *which)
{
    double share = 0;
    for (u32 i = 0; i < r->n; i++) {
        struct oracle_judgement j;
        if (!oracle_judge(s->o, r, i, &s->y[i], &j, s->e)) return false;
        h->wrong_outputs += j.wrong > 0;
        if (s->hints && s->hints->output && strcmp(s->hints->output, s->o->outs.p[i].name)) continue;
        bool asked = j.wrong && is_asked_of(s, s->o->outs.p[i].name); /* this one, whatever the others are like */
        double of = j.wrong ? (double)j.wrong / (double)j.elements + (j.unwritten > 0) : 0;
        if (of <= share && !asked) continue;
        share = asked ? INFINITY : of;
        *worst = j;
        *which = i;
    }
    if (share == 0) return false;
    const struct scalar *t = oracle_given_type(s->o, r->accumulate, *which);
    h->a = &r->array[*which];
    h->shape = &s->root[*which]->shape;
    h->name = s->o->outs.p[*which].name;
    h->y = NEW_ARRAY(&s->mem, double, h->a->count + 1);
    for (u64 k = 0; k < h->a->count; k++) h->y[k] = oracle_given(t, &s->y[*which], k);
    return true;
}

/* ---- a guess ---- */

/* The root mean square of error over the spread of evaluations that round to so many bits. */
static double misfit(struct shown *h, u32 which, u32 bits)
{
    enum { SAMPLES = 4 };
    struct suspect_text *s = h->s;
    struct error e = { 0 };
    double *square = NEW_ARRAY(&s->mem, double, h->a->count + 1), sum = 0;
    u64 state = bits, n = 0;
    struct oracle_run r = { .o = s->o, .env = s->run.env, .dd = s->run.dd, .data = s->run.data, .noise = &state };
    r.env.u = ldexp(1, -(int)bits);
    r.env.noise = true;
    r.env.order = ORACLE_SPREAD;
    for (u32 k = 0; k < SAMPLES; k++) {
        if (!oracle_run(&r, &s->root[which], 1, &e)) {
            oracle_run_free(&r, 0);
            return INFINITY;
        }
        for (u64 i = 0; i < h->a->count; i++) {
            double d = oracle_run_value(&r, s->root[which], i) - h->a->value[i];
            square[i] += d * d / SAMPLES;
        }
        oracle_run_free(&r, 0);
    }
    s->run.spent += r.spent;
    const struct oracle_type *own =
        oracle_type(str_of(oracle_given_type(s->o, s->run.env.type->name, which)->name)); /* storing rounds, too */
    double store = own ? ldexp(1, -(int)own->bits) : 0;
    for (u64 i = 0; i < h->a->count; i++) square[i] += store * store * h->a->value[i] * h->a->value[i] / 3;
    for (u64 i = 0; i < h->a->count; i++) {
        double d = h->y[i] - h->a->value[i];
        if (!(square[i] > 0) || !isfinite(square[i]) || !isfinite(d)) continue;
        sum += d * d / square[i];
        n++;
    }
    return n ? sqrt(sum / (double)n) : INFINITY;
}

/* Whether an output fits the text with sums in a narrow type. */
static bool fits_narrow(struct suspect_text *s, const char *type)
{
    const struct oracle_env env = s->run.env;
    struct oracle_options how = *s->how;
    how.accumulate = type;
    s->run.env = oracle_env_of(s->o, &how);
    oracle_run_free(&s->run, 0);
    double r = oracle_fits(s, s->root, 1, true);
    oracle_run_free(&s->run, 0);
    s->run.env = env;
    return r <= 1;
}

/* All elements fit the text with sums in a narrower type; and each is a number of that type, as hardly one should be,
 * or, where the output's own type is as narrow and that says nothing, the errors are as large as those of such sums. */
static bool has_narrow_sums(struct shown *h, u32 which)
{
    static const char *const types[] = { "f16", "bf16" };
    struct suspect_text *s = h->s;
    const char *own = oracle_given_type(s->o, s->run.env.type->name, which)->name;
    const struct oracle_type *is = oracle_type(str_of(own));
    double like[COUNT_OF(types)] = { 0 }; /* how many times the errors are those of such sums; 0: they are others */
    bool stored[COUNT_OF(types)] = { 0 };
    for (u32 i = 0; i < COUNT_OF(types) && h->wrong_outputs == 1 && s->o->outs.n == 1; i++) {
        const struct oracle_type *t = oracle_type(str_of(types[i]));
        u64 narrow = 0, should = 0, zero = 0;
        stored[i] = is && is->bits <= t->bits;
        for (u64 k = 0; k < h->a->count; k++) {
            zero += h->y[k] == 0;
            narrow += oracle_nearest(t, h->y[k]) == h->y[k];
            should += oracle_nearest(t, h->a->value[k]) == h->a->value[k];
        }
        if (h->a->count < 8 || 2 * should > h->a->count || 2 * zero > h->a->count) continue;
        if (s->hints && s->hints->only && strstr(s->hints->only, "sums in ")) s->met = MAX_OF(s->met, ORACLE_MISFIT);
        if (!stored[i] && narrow < h->a->count) continue;
        double m = stored[i] ? misfit(h, which, t->bits) : 0.5;
        if (m > 0.05 && m < 2 && fits_narrow(s, types[i])) like[i] = m;
    }
    u32 i = like[0] > 0 ? 0 : 1;
    if (!(like[i] > 0)) return false;
    if (like[0] > 0 && like[1] > 0)
        return say(h, ORACLE_PRECISION, "sums in f16 or bf16: the errors are those of 8 to 11 bits, not 24");
    u32 bits = oracle_type(str_of(types[i]))->bits;
    if (stored[i])
        return say(h, ORACLE_PRECISION, "sums in %s: the errors are those of %u bits, not 24", types[i], bits);
    return say(h, ORACLE_PRECISION, "sums in %s: every element is a number of %s, of %u bits, not 24", types[i],
               types[i], bits);
}

/* The error is about as large as that of narrower sums. */
void shown_guess_precision(struct shown *h, u32 which)
{
    static const u32 bits[] = { 11, 8 };
    if (h->s->run.dd || has_narrow_sums(h, which) || misfit(h, which, 24) < 3) return;
    for (u32 i = 0; i < COUNT_OF(bits); i++) {
        double m = misfit(h, which, bits[i]);
        if (!(m > 0.02 && m < 2)) continue;
        if (say(h, ORACLE_PRECISION, "the error is that of sums in %s, of %u bits, not 24", i ? "bf16" : "f16",
                bits[i]))
            h->s->best->sure = false;
        return;
    }
}
