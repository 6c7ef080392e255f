/* Which mistake: what the output itself shows, then changed texts (oracle_classify.h). */
#include "oracle/oracle_classify.h"
#include "oracle/oracle_dd.h"
#include <ctype.h>
#include <stdlib.h>

const char *oracle_label_name(enum oracle_label l)
{
    static const char *const name[] = { "unnamed",     "not written", "nan",     "factor",   "shift",
                                        "permutation", "part",        "variant", "precision" };
    return name[l];
}

bool oracle_search_done(const struct suspect_text *s)
{
    return s->e->code || s->tried >= MUTANTS || (s->best->label && s->best->ratio < 0.2);
}

/* The changed graph is the given one again. Nodes of a mutant stay in the arena until the search ends. */
void oracle_search_cut(struct suspect_text *s)
{
    struct oracle_graph *g = &s->changed.graph;
    const struct oracle_graph *was = &s->o->graph;
    oracle_run_free(&s->run, s->base);
    s->run.extras = 0;
    g->nodes.n = s->base;
    memcpy(g->nodes.p, was->nodes.p, s->base * sizeof *g->nodes.p);
    if (g->slots != was->slots) g->slot = NEW_ARRAY(&s->mem, u32, was->slots);
    g->slots = was->slots;
    memcpy(g->slot, was->slot, was->slots * sizeof *g->slot);
}

/* Output i of a run against the bound of its own text. */
static double ratio_of(struct suspect_text *s, u32 i, const struct oracle_node *n, double most, bool loose)
{
    const struct scalar *type = oracle_given_type(s->o, s->run.env.type->name, i);
    const double *e = s->run.slot[n->id].e;
    u64 count = oracle_count(&n->shape), unknown = 0, wrong = 0, vacuous = 0;
    bool strict = !loose && !(s->hints && s->hints->only); /* a name that was found must only not be contradicted */
    double r = 0;
    if (!oracle_shape_equal(&n->shape, &s->root[i]->shape)) return INFINITY;
    for (u64 k = 0; k < count && r <= most; k++) {
        double z = oracle_run_value(&s->run, n, k), low = 0;
        double b = oracle_stored(&s->run.env, oracle_output(s->o, i).type, z, e ? e[k] : 0);
        if (s->run.dd) low = ((const struct dd *)s->run.slot[n->id].v)[k].lo;
        double y = oracle_given(type, &s->y[i], k), off = s->right ? fabs(y - s->right[i][k]) : 0;
        bool is_unknown = oracle_unknown_of(&s->run.env, b), is_wrong = s->right && off > s->bound[i][k];
        wrong += is_wrong;
        bool wide = b >= off && (strict || (!loose && s->bound[i][k] == 0)); /* what is right would fit it as well */
        vacuous += is_wrong && (is_unknown || wide);
        unknown += is_unknown;
        if (!is_unknown) r = fmax(r, oracle_ratio(y, z, low, b * (1 + 0x1p-28)));
    }
    if (wrong && vacuous == wrong) return INFINITY; /* it explains nothing */
    return !loose && wrong && (5 * unknown > count || 2 * vacuous > wrong) ? INFINITY : r;
}

double oracle_fits(struct suspect_text *s, struct oracle_node *const *out, double most, bool loose)
{
    struct error none = { 0 }; /* an index that a change puts out of range explains nothing */
    double r = 0;
    bool ok = out && oracle_run(&s->run, out, s->o->outs.n, &none);
    for (u32 i = 0; ok && i < s->o->outs.n && r <= most; i++) r = fmax(r, ratio_of(s, i, out[i], most, loose));
    if (none.code == ERR_MEMORY) *s->e = none;
    return ok ? r : INFINITY;
}

/* Numbers that are a part of the mistake, not of the case: those behind these words. */
static bool counts(const char *text, const char *p)
{
    static const char *const before[] = { "multiple of ", "warp of ", "the last ", "the first " };
    for (u32 i = 0; i < COUNT_OF(before); i++) {
        size_t n = strlen(before[i]);
        if ((size_t)(p - text) >= n && !memcmp(p - n, before[i], n)) return true;
    }
    return false;
}

/* Digits, signs and exponents of other numbers do not count. */
static const char *past_number(const char *p)
{
    if (*p == '-' && isdigit((unsigned char)p[1])) p++;
    if (!isdigit((unsigned char)*p)) return p;
    while (isdigit((unsigned char)*p) || (*p == '.' && isdigit((unsigned char)p[1]))) p++;
    if (*p == 'e' && (p[1] == '-' || p[1] == '+') && isdigit((unsigned char)p[2]))
        for (p += 2; isdigit((unsigned char)*p);) p++;
    return p;
}

/* A remark on the numbers of this case, behind these words, does not count. */
static const char remark[] = ", which is ";
static bool is_end(const char *p) { return !*p || !strncmp(p, remark, sizeof remark - 1); }

bool oracle_same_words(const char *a, const char *b)
{
    for (const char *text = a;;) {
        const char *x = past_number(a), *y = past_number(b);
        if ((x != a) != (y != b)) return false;
        if (counts(text, a) && (x - a != y - b || memcmp(a, b, (size_t)(x - a)))) return false;
        a = x;
        b = y;
        if (is_end(a) && is_end(b)) return true;
        if (*a != *b) return false;
        a++;
        b++;
    }
}

bool oracle_is_asked(const struct suspect_text *s, const char *what)
{
    if (!s->hints) return true;
    if (s->hints->only && !oracle_same_words(s->hints->only, what)) return false;
    for (u32 i = 0; i < s->hints->n; i++)
        if (oracle_same_words(s->hints->except[i], what)) return false;
    return true;
}

void oracle_try(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt, ...)
{
    va_list ap;
    struct oracle_explanation x = { .label = label, .sure = true };
    s->tried++;
    va_start(ap, fmt);
    vsnprintf(x.what, sizeof x.what, fmt, ap);
    va_end(ap);
    if (oracle_is_asked(s, x.what)) {
        x.ratio = oracle_fits(s, out, 1, label == ORACLE_PRECISION);
        if (x.ratio <= 1 && (!s->best->label || x.ratio < s->best->ratio / 2)) *s->best = x;
    }
    oracle_search_cut(s);
}

struct oracle_node **oracle_rebuilt(struct suspect_text *s, oracle_change make, void *self)
{
    struct oracle_graph *g = &s->changed.graph;
    struct oracle_node **now = NEW_ARRAY(&s->mem, struct oracle_node *, s->base),
                       **out = NEW_ARRAY(&s->mem, struct oracle_node *, s->o->outs.n);
    for (u32 i = 0; i < s->base; i++) {
        struct oracle_node *n = g->nodes.p[i], *in[ORACLE_OPERANDS];
        bool same = true;
        if (!s->need[i]) continue;
        for (u32 k = 0; k < n->ins; k++) {
            in[k] = now[n->in[k]->id];
            same &= in[k] == n->in[k];
        }
        now[i] = make(s, n, in, self);
        if (!now[i]) now[i] = same ? n : oracle_node(g, n->op, in, n->ins, &n->attr);
        if (!now[i]) return NULL;
    }
    for (u32 i = 0; i < s->o->outs.n; i++) out[i] = now[s->root[i]->id];
    return out;
}

struct one_node {
    const struct oracle_node *n;
    struct oracle_node *by;
};
static struct oracle_node *change_one(struct suspect_text *s, const struct oracle_node *n,
                                      struct oracle_node *const *in, void *self)
{
    const struct one_node *one = self;
    (void)s, (void)in;
    return n == one->n ? one->by : NULL;
}

struct oracle_node **oracle_replaced(struct suspect_text *s, const struct oracle_node *n, struct oracle_node *by)
{
    return by ? oracle_rebuilt(s, change_one, &(struct one_node){ n, by }) : NULL;
}

struct oracle_node *oracle_extra(struct suspect_text *s, const char *name, const struct oracle_shape *shape,
                                 const double *data)
{
    struct oracle_attr a = { .n = shape->rank, .text = oracle_intern(&s->changed.graph, str_of(name)) };
    for (u32 i = 0; i < shape->rank; i++) a.list[i] = (s64)shape->dim[i];
    CHECK(s->run.extras < COUNT_OF(s->run.extra));
    s->run.extra[s->run.extras++] = (struct oracle_extra){ a.text, data };
    return oracle_node(&s->changed.graph, OX_input, NULL, 0, &a);
}

/* ---- what the output itself shows ---- */

struct shown { /* the output that is worst off */
    struct suspect_text *s;
    const struct oracle_array *a;
    const struct oracle_shape *shape;
    const char *name;
    double *y;
    u32 wrong_outputs;
};

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

/* c as d, 1/d, sqrt(d), 1/sqrt(d), (d - 1)/d or d/(d - 1) of a number d that is called `name`; false: it is none of
 * these. *form is which of them: the only one to be tried, or -1. */
static bool is_made_of(double c, double d, const char *name, int *form, char *out, size_t size)
{
    static const char *const how[] = { "%s", "1/%s", "sqrt(%s)", "1/sqrt(%s)", "(%s - 1)/%s", "%s/(%s - 1)" };
    double x[] = { d, 1 / d, sqrt(d), 1 / sqrt(d), (d - 1) / d, d / (d - 1) };
    for (int j = 0; j < (int)COUNT_OF(x) && d > 1; j++) {
        if ((*form >= 0 && *form != j) || fabs(c / x[j] - 1) > 1e-4) continue;
        if (j > 3 && d < 3) continue; /* 1/2 and 2 */
        snprintf(out, size, how[j], name, name);
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
static bool has_factor(struct shown *h)
{
    const struct oracle_array *a = h->a;
    double *t = NEW_ARRAY(&h->s->mem, double, a->count + 1);
    char origin[64] = "";
    u64 n = 0, wrong = 0;
    for (u64 i = 0; i < a->count; i++) {
        wrong += !a->unknown[i] && oracle_ratio(h->y[i], a->value[i], 0, a->worst[i]) > 1;
        if (!a->unknown[i] && isfinite(a->value[i]) && fabs(a->value[i]) > 8 * a->worst[i])
            t[n++] = h->y[i] / a->value[i];
    }
    if (n < 3 || 10 * wrong < 3 * a->count) return false;
    qsort(t, n, sizeof *t, by_size);
    double c = n % 2 ? t[n / 2] : (t[n / 2] + t[n / 2 - 1]) / 2;
    if (!isfinite(c) || fabs(c) < 1e-3 || fabs(c - 1) < 0.01) return false;
    for (u64 i = 0; i < a->count; i++)
        if (!a->unknown[i] && !(fabs(h->y[i] - c * a->value[i]) <= (1 + fabs(c)) * a->worst[i])) return false;
    int form = -1;
    bool known = oracle_origin(h->s->o, c, &form, origin, sizeof origin);
    return say(h, ORACLE_FACTOR, "%s is %.6g times the oracle%s%s", h->name, c, known ? ", which is " : "", origin);
}

/* Whether y[i] is the value at map[i], within its bound, for all i that have one. */
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

static bool is_moved(struct shown *h)
{
    const struct oracle_shape *s = h->shape;
    s64 *map = NEW_ARRAY(&h->s->mem, s64, h->a->count + 1);
    for (u32 axis = 0; axis < s->rank; axis++) {
        for (int by = -1; by <= 1; by += 2) {
            if (s->dim[axis] < 3) continue;
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
static bool is_seen(struct shown *h, const struct oracle_judgement *j, const struct oracle_given *y, u32 i)
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

/* The output with the largest share of wrong elements; false: none is wrong. */
static bool pick_output(struct suspect_text *s, const struct oracle_result *r, struct shown *h,
                        struct oracle_judgement *worst, u32 *which)
{
    double share = 0;
    for (u32 i = 0; i < r->n; i++) {
        struct oracle_judgement j;
        if (!oracle_judge(s->o, r, i, &s->y[i], &j, s->e)) return false;
        h->wrong_outputs += j.wrong > 0;
        double of = j.wrong ? (double)j.wrong / (double)j.elements + (j.unwritten > 0) : 0;
        if (of <= share) continue;
        share = of;
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
    for (u64 i = 0; i < h->a->count; i++) {
        double d = h->y[i] - h->a->value[i];
        if (!(square[i] > 0) || !isfinite(square[i]) || !isfinite(d)) continue;
        sum += d * d / square[i];
        n++;
    }
    return n ? sqrt(sum / (double)n) : INFINITY;
}

/* Every element is a number of a narrower type than the output's, hardly one should be, and all fit the text with sums
 * in that type. */
static bool has_narrow_sums(struct shown *h)
{
    static const char *const types[] = { "f16", "bf16" };
    struct suspect_text *s = h->s;
    const struct oracle_env env = s->run.env;
    for (u32 i = 0; i < COUNT_OF(types) && h->wrong_outputs == 1 && s->o->outs.n == 1; i++) {
        const struct oracle_type *t = oracle_type(str_of(types[i]));
        u64 narrow = 0, should = 0;
        for (u64 k = 0; k < h->a->count; k++) {
            narrow += oracle_nearest(t, h->y[k]) == h->y[k];
            should += oracle_nearest(t, h->a->value[k]) == h->a->value[k];
        }
        if (h->a->count < 8 || narrow < h->a->count || 2 * should > h->a->count) continue;
        struct oracle_options how = *s->how;
        how.accumulate = types[i];
        s->run.env = oracle_env_of(s->o, &how);
        oracle_run_free(&s->run, 0);
        double r = oracle_fits(s, s->root, 1, true);
        oracle_run_free(&s->run, 0);
        s->run.env = env;
        if (r <= 1)
            return say(h, ORACLE_PRECISION, "sums in %s: every element is a number of %s, of %u bits, not 24", types[i],
                       types[i], t->bits);
    }
    return false;
}

/* The error is about as large as that of narrower sums. */
static void guess_precision(struct shown *h, u32 which)
{
    static const u32 bits[] = { 11, 8 };
    if (h->s->run.dd || has_narrow_sums(h) || misfit(h, which, 24) < 3) return;
    for (u32 i = 0; i < COUNT_OF(bits); i++) {
        double m = misfit(h, which, bits[i]);
        if (!(m > 0.02 && m < 2)) continue;
        if (say(h, ORACLE_PRECISION, "the error is that of sums in %s, of %u bits, not 24", i ? "bf16" : "f16",
                bits[i]))
            h->s->best->sure = false;
        return;
    }
}

/* What the outputs should be: texts that are changed are held against it. */
static void keep_right(struct suspect_text *s, const struct oracle_result *r)
{
    s->right = NEW_ARRAY(&s->mem, double *, r->n + 1);
    s->bound = NEW_ARRAY(&s->mem, double *, r->n + 1);
    for (u32 i = 0; i < r->n; i++) {
        s->right[i] = r->array[i].value;
        s->bound[i] = r->array[i].worst;
    }
}

static void search_begin(struct suspect_text *s, const void *const *data)
{
    const struct oracle_graph *was = &s->o->graph;
    s->base = was->nodes.n;
    s->root = NEW_ARRAY(&s->mem, struct oracle_node *, s->o->outs.n + 1);
    for (u32 i = 0; i < s->o->outs.n; i++) s->root[i] = s->o->outs.p[i].node;
    s->need = oracle_reach(&s->mem, was, s->root, s->o->outs.n, NULL);
    s->changed = *s->o;
    struct oracle_graph *g = &s->changed.graph;
    g->mem = &s->mem;
    g->names = (struct map){ 0 }; /* the given one must not point into this search's arena */
    g->nodes.p = NEW_ARRAY(&s->mem, struct oracle_node *, was->nodes.n + 1);
    g->nodes.cap = was->nodes.n;
    g->slot = NEW_ARRAY(&s->mem, u32, was->slots);
    s->run = (struct oracle_run){ .o = &s->changed, .env = oracle_env_of(s->o, s->how), .data = data, .keep = true };
    s->run.dd = s->run.env.type->bits == 53;
    oracle_search_cut(s);
}

bool oracle_classify(const struct oracle *o, const struct oracle_options *how, const void *const *data,
                     const struct oracle_given *y, struct oracle_explanation *out, struct error *e)
{
    return oracle_classify_hinted(o, how, data, y, NULL, out, e);
}

bool oracle_classify_hinted(const struct oracle *o, const struct oracle_options *how, const void *const *data,
                            const struct oracle_given *y, const struct oracle_hints *hints,
                            struct oracle_explanation *out, struct error *e)
{
    struct suspect_text s = { .o = o, .how = how, .y = y, .best = out, .hints = hints, .e = e };
    struct oracle_options plain = *how;
    struct oracle_result r = { 0 };
    struct oracle_judgement j = { 0 };
    struct shown h = { .s = &s };
    struct error refused = { 0 }; /* of changed texts that cannot be built */
    u32 which = 0;
    *out = (struct oracle_explanation){ 0 };
    plain.worst_only = true;
    if (!oracle_evaluate(o, &plain, data, &r, e)) return false;
    search_begin(&s, data);
    keep_right(&s, &r);
    s.changed.graph.e = &refused;
    if (pick_output(&s, &r, &h, &j, &which) && !is_seen(&h, &j, &y[which], which) && !has_factor(&h) &&
        !(h.wrong_outputs == 1 && is_moved(&h)) && oracle_run(&s.run, s.root, o->outs.n, e)) {
        oracle_try_mutants(&s);
        oracle_try_parts(&s);
        if (!out->label || out->ratio > 0.3) oracle_try_constants(&s);
        if (!out->label) oracle_try_one_pass(&s);
        if (!out->label) guess_precision(&h, which);
    }
    oracle_run_free(&s.run, 0);
    oracle_result_free(&r);
    arena_free(&s.mem);
    return !e->code;
}
