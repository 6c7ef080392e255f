/* Which mistake: what the output itself shows, then changed texts (classify.h). */
#include "mistake/classify.h"
#include "oracle/oracle_dd.h"
#include <ctype.h>
#include <stdlib.h>

const char *oracle_label_name(enum oracle_label l)
{
    static const char *const name[] = { "unnamed",     "not written", "nan",     "factor",   "shift",
                                        "permutation", "part",        "variant", "precision" };
    return name[l];
}

#define FITS_WELL 0.2 /* of the bound: others are only asked for whether they fit as well */

bool oracle_search_done(const struct suspect_text *s)
{
    bool fits = s->best->label && s->best->ratio < FITS_WELL;
    if (s->hints && s->hints->most > 0 && s->run.spent > s->hints->most) return true;
    return s->e->code || s->tried >= MUTANTS || (fits && (s->best->other[0] || (s->hints && s->hints->only)));
}

/* The changed graph is the given one again. Nodes of a mutant stay in the arena until the search ends. */
void oracle_search_cut(struct suspect_text *s)
{
    struct oracle_graph *g = &s->changed.graph;
    const struct oracle_graph *was = &s->o->graph;
    s->run.extras = 0;
    if (g->nodes.n == s->base) return; /* it is that still */
    oracle_run_free(&s->run, s->base);
    g->nodes.n = s->base;
    memcpy(g->nodes.p, was->nodes.p, s->base * sizeof *g->nodes.p);
    if (g->slots != was->slots) g->slot = NEW_ARRAY(&s->mem, u32, was->slots);
    g->slots = was->slots;
    memcpy(g->slot, was->slot, was->slots * sizeof *g->slot);
}

/* What a whole number that its type does not have becomes: it wraps, or it is the largest or the smallest one. */
static double stored_whole(const struct scalar *t, double z, double y, double b)
{
    if (t->class == SCALAR_FLOAT || t->bytes > 4 || !isfinite(z)) return z;
    double size = ldexp(1, 8 * (int)t->bytes), low = t->class == SCALAR_SIGNED ? -size / 2 : 0, high = low + size - 1;
    if (z >= low && z <= high) return z;
    double ends = z < low ? low : high;
    return fabs(y - ends) <= b ? ends : z - size * floor((z - low) / size);
}

struct tally {                           /* of an output that is held against a changed text */
    u64 unknown, wrong, vacuous, finite; /* elements: without a bound; wrong; of these, explained by a bound that says
                                            nothing; of these, finite */
    bool refuted;                        /* an element cannot be what the text says */
};

/* One element: y is `value` within `bound` by the oracle, and z within b by the changed text, whose low part is `low`.
 * Returns the ratio to the changed text's bound. */
static double tally_one(const struct suspect_text *s, const struct scalar *type, double y, double value, double bound,
                        double z, double low, double b, bool loose, struct tally *t)
{
    bool strict = !loose && !(s->hints && s->hints->only); /* a name that was found must only not be contradicted */
    enum oracle_unknown why = oracle_unknown_of(&s->run.env, b);
    bool overflows = why == ORACLE_OVERFLOW && !(fabs(y) <= s->run.env.most); /* as the changed text does */
    bool is_unknown = why && !overflows && !(isnan(z) && isnan(y));
    bool is_wrong = oracle_ratio(y, value, 0, bound) > 1;
    double off = is_wrong && isnan(y - value) ? INFINITY : fabs(y - value);
    bool wide = !overflows && b >= off && (strict || (!loose && bound == 0)); /* what is right would fit it as well */
    t->wrong += is_wrong;
    t->finite += is_wrong && isfinite(y);
    t->vacuous += is_wrong && (is_unknown || wide);
    t->unknown += is_unknown;
    if (!loose) /* a number of what is none, or the other way round */
        t->refuted |= (is_wrong && !isfinite(y) && isfinite(z) && !why) || (isnan(z) && isfinite(y) && isfinite(value));
    return why ? 0 : oracle_ratio(y, stored_whole(type, z, y, b), low, b * (1 + 0x1p-28));
}

/* Output i of a run against the bound of its own text. */
static double ratio_of(struct suspect_text *s, u32 i, const struct oracle_node *n, double most, bool loose)
{
    const struct scalar *type = oracle_given_type(s->o, s->run.env.type->name, i);
    const double *e = s->run.slot[n->id].e;
    u64 count = oracle_count(&n->shape);
    struct tally t = { 0 };
    double r = 0;
    if (!oracle_shape_equal(&n->shape, &s->root[i]->shape)) return INFINITY;
    for (u64 k = 0; k < count && r <= most && !t.refuted; k++) {
        double z = oracle_run_value(&s->run, n, k), low = 0;
        double b = oracle_stored(&s->run.env, oracle_output(s->o, i).type, z, e ? e[k] : 0);
        if (s->run.dd) low = ((const struct dd *)s->run.slot[n->id].v)[k].lo;
        double y = oracle_given(type, &s->y[i], k);
        r = fmax(r, tally_one(s, type, y, s->right[i][k], s->bound[i][k], z, low, b, loose, &t));
    }
    if (t.refuted || r > most) return INFINITY;
    s->loose |= t.wrong > 0;
    if (!t.wrong) return r;
    bool nothing = t.vacuous == t.wrong || (!t.finite && !s->special); /* many a change makes NaN of NaN */
    return nothing || (!loose && (5 * t.unknown > count || 2 * t.vacuous > t.wrong)) ? INFINITY : r;
}

double oracle_fits(struct suspect_text *s, struct oracle_node *const *out, double most, bool loose)
{
    struct error none = { 0 }; /* an index that a change puts out of range explains nothing */
    double r = 0;
    s->loose = false;
    bool ok = out && oracle_run(&s->run, out + s->from, s->to - s->from, &none);
    for (u32 i = s->from; ok && i < s->to && r <= most; i++) r = fmax(r, ratio_of(s, i, out[i], most, loose));
    if (none.code == ERR_MEMORY) *s->e = none;
    return ok && s->loose ? r : INFINITY;
}

/* Numbers that are a part of the mistake, not of the case: those after these words. */
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

/* A remark on the numbers of this case, after these words, does not count, nor does where elements lie. */
static const char remark[] = ", which is ";
static bool is_end(const char *p)
{
    static const char *const places[] = { ": axis ", ": everywhere", ": in ", ": every " };
    for (u32 i = 0; i < COUNT_OF(places); i++)
        if (!strncmp(p, places[i], strlen(places[i]))) return true;
    return !*p || !strncmp(p, remark, sizeof remark - 1);
}

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

void oracle_is_void(struct suspect_text *s, const char *words, const char *name)
{
    const char *at = s->hints && s->hints->only ? strstr(s->hints->only, words) : NULL;
    size_t n = strlen(name), skip = strlen(words);
    if (at && !strncmp(at + skip, name, n) && at[skip + n] == ' ') s->met = MAX_OF(s->met, ORACLE_MISFIT);
}

/* The values of a text that fits, of all outputs that are to be explained. */
static double *values_of(struct suspect_text *s, struct oracle_node *const *out)
{
    u64 n = 0, at = 0;
    for (u32 i = s->from; i < s->to; i++) n += oracle_count(&out[i]->shape);
    double *v = NEW_ARRAY(&s->mem, double, n + 1);
    for (u32 i = s->from; i < s->to; i++)
        for (u64 k = 0, count = oracle_count(&out[i]->shape); k < count; k++)
            v[at++] = oracle_run_value(&s->run, out[i], k);
    s->elements = at;
    return v;
}

/* Texts that say the same in other words have the same values, but for what f64 loses where terms cancel: far less than
 * the bound. */
static bool is_same_text(const struct suspect_text *s, const double *a, const double *b)
{
    u64 at = 0;
    for (u32 o = s->from; o < s->to; o++)
        for (u64 i = 0, n = oracle_count(&s->root[o]->shape); i < n; i++, at++) {
            if (a[at] == b[at] || (isnan(a[at]) && isnan(b[at]))) continue;
            double near = isfinite(s->bound[o][i]) ? 0x1p-16 * s->bound[o][i] : 0;
            if (!(fabs(a[at] - b[at]) <= 0x1p-36 * (fabs(a[at]) + fabs(b[at])) + near)) return false;
        }
    return true;
}

void oracle_fit_found(struct suspect_text *s, const struct oracle_explanation *x, struct oracle_node *const *out)
{
    struct oracle_explanation *best = s->best;
    double *v = values_of(s, out);
    if (!best->label) {
        *best = *x;
        s->found = v;
        return;
    }
    if (is_same_text(s, v, s->found) || oracle_same_words(x->what, best->what)) return;
    if (x->ratio < best->ratio / 2 && best->ratio >= FITS_WELL) {
        if (best->ratio < 4 * x->ratio || best->ratio < 0.3)
            snprintf(best->other, sizeof best->other, "%s", best->what);
        struct oracle_explanation now = *x;
        if (now.ratio < FITS_WELL && best->ratio > 0.3) best->other[0] = 0;
        memcpy(now.other, best->other, sizeof now.other);
        *best = now;
        s->found = v;
    } else if (x->ratio < fmax(4 * best->ratio, 0.3) && !best->other[0]) {
        memcpy(best->other, x->what, sizeof best->other);
    }
}

/* Whether outputs that are right are what a changed text says, too, as far as that says anything. */
static bool is_right(struct suspect_text *s, struct oracle_node *const *out)
{
    struct error none = { 0 };
    bool right = true;
    if (!out || !oracle_run(&s->run, out + s->from, s->to - s->from, &none)) return true;
    for (u32 i = s->from; i < s->to; i++) {
        const double *e = s->run.slot[out[i]->id].e;
        const struct scalar *type = oracle_given_type(s->o, s->run.env.type->name, i);
        for (u64 k = 0, n = oracle_count(&out[i]->shape); k < n && right; k++) {
            double z = oracle_run_value(&s->run, out[i], k);
            double b = oracle_stored(&s->run.env, oracle_output(s->o, i).type, z, e ? e[k] : 0);
            if (oracle_unknown_of(&s->run.env, b) || !isfinite(z)) continue;
            right = fabs(oracle_given(type, &s->y[i], k) - z) <= b * (1 + 0x1p-28);
        }
    }
    return right;
}

static void try_fit(struct suspect_text *s, struct oracle_explanation *x, struct oracle_node *const *out)
{
    if (s->all_right) { /* what is right can only contradict a name */
        s->met = MAX_OF(s->met, x->label == ORACLE_PRECISION || is_right(s, out) ? ORACLE_LOOSE : ORACLE_MISFIT);
        return;
    }
    x->ratio = oracle_fits(s, out, 1, x->label == ORACLE_PRECISION);
    s->met = MAX_OF(s->met, x->ratio <= 1 ? ORACLE_FITS : s->loose ? ORACLE_LOOSE : ORACLE_MISFIT);
    if (x->ratio <= 1) oracle_fit_found(s, x, out);
}

void oracle_try_other(struct suspect_text *s, const struct oracle *o, const char *what)
{
    struct oracle_explanation x = { .label = ORACLE_VARIANT, .sure = true };
    const struct oracle_run run = s->run;
    int n = 0;
    s->tried++;
    if (s->to - s->from < s->o->outs.n) n = snprintf(x.what, sizeof x.what, "of %.40s: ", s->o->outs.p[s->from].name);
    snprintf(x.what + n, sizeof x.what - (size_t)n, "%s", what);
    if (o->outs.n != s->o->outs.n || !oracle_is_asked(s, x.what)) return;
    struct oracle_node **out = NEW_ARRAY(&s->mem, struct oracle_node *, o->outs.n);
    for (u32 i = 0; i < o->outs.n; i++) out[i] = o->outs.p[i].node;
    s->run = (struct oracle_run){ .o = o, .env = oracle_env_of(o, s->how), .dd = run.dd, .data = run.data };
    try_fit(s, &x, out);
    oracle_run_free(&s->run, 0);
    double spent = run.spent + s->run.spent;
    s->run = run;
    s->run.spent = spent;
}

static void try_text(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt,
                     va_list ap)
{
    struct oracle_explanation x = { .label = label, .sure = true };
    int n = 0;
    s->tried++;
    if (s->to - s->from < s->o->outs.n) n = snprintf(x.what, sizeof x.what, "of %.40s: ", s->o->outs.p[s->from].name);
    vsnprintf(x.what + n, sizeof x.what - (size_t)n, fmt, ap);
    if (!out || !oracle_is_asked(s, x.what)) return;
    try_fit(s, &x, out);
}

void oracle_try(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    try_text(s, label, out, fmt, ap);
    va_end(ap);
    oracle_search_cut(s);
}

/* The same; nodes made for the change stay for another try. */
static void try_kept(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt,
                     ...) PRINTF_LIKE(4, 5);
static void try_kept(struct suspect_text *s, enum oracle_label label, struct oracle_node *const *out, const char *fmt,
                     ...)
{
    va_list ap;
    va_start(ap, fmt);
    try_text(s, label, out, fmt, ap);
    va_end(ap);
}

/* One node, for one of its users. */
struct one_use {
    const struct oracle_node *n, *user;
    struct oracle_node *by;
};
static struct oracle_node *change_use(struct suspect_text *s, const struct oracle_node *n,
                                      struct oracle_node *const *in, void *self)
{
    const struct one_use *one = self;
    struct oracle_node *now[ORACLE_OPERANDS];
    if (n != one->user) return NULL;
    for (u32 k = 0; k < n->ins; k++) now[k] = n->in[k] == one->n ? one->by : in[k];
    return oracle_node(&s->changed.graph, n->op, now, n->ins, &n->attr);
}

bool oracle_is_wanted(const struct suspect_text *s, const char *what)
{
    char text[sizeof s->best->what];
    int n = 0;
    if (!s->hints) return true;
    if (s->to - s->from < s->o->outs.n) n = snprintf(text, sizeof text, "of %.40s: ", s->o->outs.p[s->from].name);
    snprintf(text + n, sizeof text - (size_t)n, "%s", what);
    return oracle_is_asked(s, text);
}

void oracle_try_node(struct suspect_text *s, enum oracle_label label, const struct oracle_node *n,
                     struct oracle_node *by, const char *what)
{
    if (!s->alone && !oracle_is_wanted(s, what)) {
        s->tried++;
        oracle_search_cut(s);
        return;
    }
    if (!s->alone) {
        oracle_try(s, label, oracle_replaced(s, n, by), "%s", what);
        return;
    }
    if (s->users[n->id] < 2) {
        oracle_search_cut(s);
        return;
    }
    for (u32 i = n->id + 1; by && i < s->base && !oracle_search_done(s); i++) {
        struct one_use one = { n, s->o->graph.nodes.p[i], by };
        bool uses = false;
        for (u32 k = 0; s->need[i] && k < one.user->ins; k++) uses |= one.user->in[k] == n;
        if (!uses) continue;
        char where[80];
        oracle_print(s, one.user, where, sizeof where);
        try_kept(s, label, oracle_rebuilt(s, change_use, &one), "%s, but only in %s", what, where);
    }
    oracle_search_cut(s);
}

enum { REBUILD = 50 }; /* operations that a node of a changed graph takes, about */
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
    s->run.spent += REBUILD * s->base;
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

static void narrow(struct suspect_text *s, u32 from, u32 to);
static void search_begin(struct suspect_text *s, const void *const *data)
{
    const struct oracle_graph *was = &s->o->graph;
    s->base = was->nodes.n;
    s->root = NEW_ARRAY(&s->mem, struct oracle_node *, s->o->outs.n + 1);
    for (u32 i = 0; i < s->o->outs.n; i++) s->root[i] = s->o->outs.p[i].node;
    s->to = s->o->outs.n;
    s->changed = *s->o;
    struct oracle_graph *g = &s->changed.graph;
    g->mem = &s->mem;
    g->names = (struct map){ 0 }; /* the given one must not point into this search's arena */
    g->nodes.p = NEW_ARRAY(&s->mem, struct oracle_node *, was->nodes.n + 1);
    g->nodes.cap = was->nodes.n;
    g->nodes.n = 0;
    g->slot = NEW_ARRAY(&s->mem, u32, was->slots);
    s->run = (struct oracle_run){ .o = &s->changed, .env = oracle_env_of(s->o, s->how), .data = data, .keep = true };
    s->run.dd = s->run.env.type->bits == 53;
    narrow(s, 0, s->o->outs.n);
    oracle_search_cut(s);
}

/* Only these outputs are to be explained. */
static void narrow(struct suspect_text *s, u32 from, u32 to)
{
    const struct oracle_graph *g = &s->o->graph;
    s->from = from;
    s->to = to;
    s->need = oracle_reach(&s->mem, g, s->root + from, to - from, NULL);
    s->users = NEW_ARRAY(&s->mem, u32, s->base + 1);
    for (u32 i = 0; i < s->base; i++)
        for (u32 k = 0; s->need[i] && k < g->nodes.p[i]->ins; k++) s->users[g->nodes.p[i]->in[k]->id]++;
    for (u32 i = from; i < to; i++) s->users[s->root[i]->id]++;
}

static void search(struct suspect_text *s)
{
    if (oracle_search_done(s) || !oracle_run(&s->run, s->root + s->from, s->to - s->from, s->e)) return;
    oracle_try_mutants(s);
    oracle_try_parts(s);
    if (!s->best->label || s->best->ratio > 0.3) oracle_try_constants(s);
    if (!s->best->label) oracle_try_values(s);
    bool one_use = !s->hints || !s->hints->only || strstr(s->hints->only, ", but only in ");
    if (!s->best->label && one_use) {
        s->alone = true;
        oracle_try_mutants(s);
        s->alone = false;
    }
    if (!s->best->label) oracle_try_rounded(s);
    if (!s->best->label) oracle_try_one_pass(s);
}

/* Explains all outputs by one change, or else one wrong output. */
static void search_outputs(struct suspect_text *s, const struct oracle_result *r)
{
    const char *only = s->hints ? s->hints->output : NULL;
    u32 n = s->o->outs.n;
    if (!only || n == 1) search(s);
    for (u32 i = 0; i < n && n > 1 && !s->best->label && !s->e->code; i++) {
        struct oracle_judgement j;
        if (only && strcmp(only, s->o->outs.p[i].name)) continue;
        if (!oracle_judge(s->o, r, i, &s->y[i], &j, s->e) || (!j.wrong && !s->all_right)) continue;
        narrow(s, i, i + 1);
        s->tried = 0;
        search(s);
    }
    if (!s->best->label) narrow(s, 0, n);
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
    struct suspect_text s = { .o = o, .how = how, .y = y, .best = out, .hints = hints, .all_right = true, .e = e };
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
    for (u32 i = 0; i < r.n && !e->code; i++)
        if (oracle_judge(o, &r, i, &y[i], &j, e)) s.all_right &= !j.wrong;
    if (s.all_right && hints && hints->only) {
        s.met = shown_is_refuted(hints->only) ? ORACLE_MISFIT : ORACLE_NOT_MET;
        search_outputs(&s, &r);
    } else if (shown_pick_output(&s, &r, &h, &j, &which) && !(j.unwritten && shown_is_seen(&h, &j, &y[which], which)) &&
               !shown_is_zero(&h) && !shown_has_factor(&h) && !shown_is_untouched(&h, which) &&
               !(h.wrong_outputs == 1 && shown_is_moved(&h))) {
        search_outputs(&s, &r);
        if (!out->label && !e->code && !shown_is_seen(&h, &j, &y[which], which)) shown_guess_precision(&h, which);
    }
    out->met = out->label ? ORACLE_FITS : s.met;
    out->spent = s.run.spent;
    oracle_run_free(&s.run, 0);
    oracle_result_free(&r);
    arena_free(&s.mem);
    return !e->code;
}
