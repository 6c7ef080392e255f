/* What a mistake looks like: the case that shows it most clearly is classified (oracle_classify), and what it says is
 * held against others with other contents. Where every case that failed is too large for that, or too small, some are
 * made that are not. */
#include "lab/campaign.h"
#include <math.h>

enum { WRONG_LEAST = 5, ROUNDS = 6, SIZE_CLEAR = 5, CLEARER_MOST = 40, STRETCHED = 600 };

u32 witness_class(const struct contract_case *c)
{
    static const char *const word[] = { "exact", "small", "offset" };
    const char *w = c->contentses ? c->contents[0].value : NULL;
    for (u32 i = 0; i < c->layouts; i++)
        if (!strncmp(c->layout[i].value, "broadcast", 9)) return WITNESS_REPEATED;
    for (u32 i = 0; w && i < COUNT_OF(word); i++)
        if (!strcmp(w, word[i])) return i + 1;
    return w ? 4 : 0;
}

/* What a mistake makes of an infinity or a NaN says little of the mistake. */
static bool is_not_finite(const struct contract_case *c)
{
    for (u32 i = 0; i < c->contentses; i++)
        if (!strcmp(c->contents[i].value, "inf") || !strcmp(c->contents[i].value, "nan")) return true;
    return false;
}

double likeness_clarity(const struct contract_case *c, const struct lab_outcome *o)
{
    double r = 1 + log10(isfinite(o->ratio) && o->ratio > 1 ? fmin(o->ratio, 1e9) : 1);
    for (u32 i = 0; i < o->dims; i++)
        if (o->dim[i] < SIZE_CLEAR) r /= 20;
    if (o->elements < LIKENESS_LEAST) r = r > 3 ? 1 : r / 20; /* few, but far off: none comes to it by chance twice */
    if (is_not_finite(c)) r /= 20;
    return o->cost > LIKENESS_MOST ? 1e-6 * r / o->cost : r;
}

/* The largest size of a case that can be halved and stay clear; false: there is none. */
static bool halve_clear(const struct contract_kernel *k, const struct lab_outcome *o, struct contract_case *c)
{
    u32 at = k->dims.n;
    s64 most = 0, less = 0;
    for (u32 i = 0; i < MIN_OF(o->dims, k->dims.n); i++) {
        s64 half = lab_size_fitted(&k->dims.p[i], o->dim[i] / 2);
        if (!lab_size_varies(&k->dims.p[i]) || half < SIZE_CLEAR || half >= o->dim[i] || o->dim[i] <= most) continue;
        at = i;
        most = o->dim[i];
        less = half;
    }
    if (at == k->dims.n) return false;
    u32 d = 0;
    while (d < c->dims && strcmp(c->dim[d].name, k->dims.p[at].name)) d++;
    if (d == CONTRACT_DIMS) return false;
    if (d == c->dims) c->dims++;
    c->dim[d] = (struct dim_value){ k->dims.p[at].name, less };
    return true;
}

/* Makes a case smaller until its oracle can be asked some hundred times. *clear: how clear it is then; 0: it does not
 * fail in this way, or no size of it fits. */
static bool lessen(const struct contract_kernel *k, const struct failure *f, struct lab_side *side,
                   struct contract_case *c, double *clear, struct error *e)
{
    struct lab_how how = { .twice = true };
    struct lab_outcome o;
    *clear = 0;
    for (u32 i = 0; i < CLEARER_MOST; i++) {
        if (!lab_ask(side, c, &how, &o, NULL, e)) return false;
        if (o.cost > LIKENESS_MOST && o.end != LAB_REFUSED && halve_clear(k, &o, c)) continue;
        if (o.end == LAB_FAILED && !strcmp(o.first, f->first)) *clear = likeness_clarity(c, &o);
        return true;
    }
    return true;
}

/* Where no case that failed is clear: each of them made smaller, and the usual one. *any: one is clearer now. */
static bool make_clearer(const struct tested *k, struct failure *f, struct lab_side *side, bool *any, struct error *e)
{
    struct contract_case usual = { .seed = f->least.seed };
    *any = false;
    for (u32 i = 0; i < WITNESSES; i++)
        if (f->clear[i] >= 1) return true;
    for (u32 i = 0; i <= WITNESSES; i++) {
        struct contract_case c = i < WITNESSES ? f->likely[i] : usual;
        u32 at = i < WITNESSES ? i : 0;
        double clear;
        if (i < WITNESSES && !(f->clear[i] > 0)) continue;
        if (!lessen(k->k, f, side, &c, &clear, e)) return false;
        if (clear <= f->clear[at]) continue;
        f->likely[at] = c;
        f->clear[at] = clear;
        *any = true;
    }
    return true;
}

/* The case with larger sizes. */
static struct contract_case enlarged(const struct contract_kernel *k, const struct lab_outcome *o,
                                     struct contract_case c, s64 by)
{
    for (u32 i = 0; i < MIN_OF(o->dims, k->dims.n); i++) {
        u32 d = 0;
        if (!lab_size_varies(&k->dims.p[i]) || o->dim[i] < SIZE_CLEAR) continue;
        while (d < c.dims && strcmp(c.dim[d].name, k->dims.p[i].name)) d++;
        if (d == CONTRACT_DIMS) continue;
        c.dims += d == c.dims;
        c.dim[d] = (struct dim_value){ k->dims.p[i].name, lab_size_fitted(&k->dims.p[i], o->dim[i] + by) };
    }
    return c;
}

/* The case has contents of its own, x=[1,2], which go with its sizes. */
static bool is_listed(const struct contract_kernel *k, const struct contract_case *c)
{
    for (u32 i = 0; i < k->args.n; i++) {
        const char *contents = case_contents(c, k->args.p[i].name);
        if (contents && (*contents == '[' || *contents == '@')) return true;
    }
    return false;
}

/* The case with one size stretched to about `to` and all others small: what a loop does in its second round, and a tile
 * that is not the only one, shows there. false: it has no such size. */
static bool stretched(const struct contract_kernel *k, const struct lab_outcome *o, struct contract_case *c, u32 which,
                      s64 to)
{
    if (!lab_size_varies(&k->dims.p[which]) || lab_size_fitted(&k->dims.p[which], to) <= o->dim[which]) return false;
    if (is_listed(k, c)) return false;
    for (u32 i = 0; i < MIN_OF(o->dims, k->dims.n); i++) {
        u32 d = 0;
        if (!lab_size_varies(&k->dims.p[i])) continue;
        while (d < c->dims && strcmp(c->dim[d].name, k->dims.p[i].name)) d++;
        if (d == CONTRACT_DIMS) return false;
        c->dims += d == c->dims;
        c->dim[d] = (struct dim_value){ k->dims.p[i].name,
                                        lab_size_fitted(&k->dims.p[i],
                                                        i == which ? to : MIN_OF(o->dim[i], (s64)(SIZE_CLEAR + i))) };
    }
    return true;
}

/* ---- two cases, one name ---- */

/* "the constant A is B": whether both cases changed A alike. Sizes differ from case to case, and constants that
 * are made of them do. */
static bool same_constant(const char *a, const char *b)
{
    static const char times[] = " times it: "; /* the same of sizes with names */
    const char *x = strstr(a, times), *y = strstr(b, times);
    if (x && y && !strcmp(x, y)) return true;
    double was[2], is[2];
    const char *p[2] = { strstr(a, "the constant "), strstr(b, "the constant ") };
    for (u32 i = 0; i < 2; i++)
        if (!p[i] || sscanf(p[i], "the constant %lf is %lf", &was[i], &is[i]) != 2) return true;
    double near = 1e-3 * fmax(fabs(is[0]), fabs(is[1]));
    if (was[0] == was[1]) return fabs(is[0] - is[1]) <= near;
    return fabs(is[0] - is[1]) <= near || fabs((is[0] - was[0]) - (is[1] - was[1])) <= near ||
           fabs(is[0] * was[1] - is[1] * was[0]) <= near * fabs(was[0]);
}

/* "y is C times the oracle": the same C, or the same of another size. */
static bool same_factor(const char *a, const char *b)
{
    static const char times[] = " times the oracle", which[] = ", which is ";
    const char *x = strstr(a, times), *y = strstr(b, times);
    if (!x || !y || x == a || y == b) return true;
    const char *u = strstr(x, which), *v = strstr(y, which);
    double c, d;
    if (u && v) return oracle_same_words(u + sizeof which - 1, v + sizeof which - 1);
    while (x > a && x[-1] != ' ') x--;
    while (y > b && y[-1] != ' ') y--;
    return sscanf(x, "%lf", &c) != 1 || sscanf(y, "%lf", &d) != 1 || fabs(c - d) <= 1e-3 * fabs(c);
}

struct confirming { /* a name that one case has, and what others say to it */
    struct lk_test *t;
    const struct tested *k;
    struct lab_side *side;
    struct lab_how ask;
    const char *first, *name;
    u32 yes, no;
};

/* One more case; where it `passes`, the name must not say that it is wrong. */
static bool ask_one(struct confirming *x, const struct contract_case *c, bool passes, struct error *e)
{
    struct lab_outcome o;
    if (!lab_ask(x->side, c, &x->ask, &o, NULL, e)) return false;
    x->no += passes && o.end == LAB_PASSED && o.judged && o.met == ORACLE_MISFIT;
    if (o.end != LAB_FAILED || strcmp(o.first, x->first) || o.cost > LIKENESS_MOST) return true;
    bool same = o.likeness[0] && same_constant(x->name, o.likeness) && same_factor(x->name, o.likeness);
    x->yes += same;
    x->no += !same && (o.likeness[0] || o.met == ORACLE_MISFIT);
    return true;
}

/* Whether an explanation holds for the other witnesses, too: 2, it explains one of them; 1, none says otherwise; 0, one
 * does. `own`: the case that has it, and what came of that. */
static bool confirmed(struct lk_test *t, const struct tested *k, struct lab_side *side, const struct failure *f,
                      const struct contract_case *own, const struct lab_outcome *x, const char *name,
                      const char *output, u32 *is, struct error *e)
{
    static const s64 more[] = { 2, 6, 12, 18 };
    struct confirming by = { t,        k,
                             side,     { .explain = true, .twice = true, .hints = { .only = name, .output = output } },
                             f->first, name,
                             0,        0 };
    for (u32 i = 0; i < WITNESSES; i++) {
        /* a kernel that does not use its strides reads past a repeated array: on a GPU anything comes of that */
        if (&f->likely[i] == own || i == WITNESS_REPEATED || f->clear[i] < 1) continue;
        if (!ask_one(&by, &f->likely[i], false, e)) return false;
    }
    /* what is missing of 9 elements, the last one or the rest of a tile of 4 or 8, shows with 11 and with 15 */
    for (u32 i = 0; x->label == ORACLE_PART && !is_listed(k->k, own) && !by.no && i < COUNT_OF(more); i++) {
        struct contract_case c = enlarged(k->k, x, *own, more[i]);
        if (!ask_one(&by, &c, true, e)) return false;
    }
    for (u32 i = 0; !by.no && i < MIN_OF(x->dims, k->k->dims.n); i++) {
        struct contract_case c = *own;
        if (stretched(k->k, x, &c, i, STRETCHED) && !ask_one(&by, &c, true, e)) return false;
    }
    struct contract_case usual = { .seed = own->seed };
    bool general = x->label == ORACLE_FACTOR || x->label == ORACLE_VARIANT;
    if (general && !by.no && !ask_one(&by, &usual, true, e)) return false;
    bool seen = x->label == ORACLE_UNWRITTEN || x->label == ORACLE_NAN;
    bool many = x->elements >= LIKENESS_LEAST && (seen || x->wrong >= WRONG_LEAST);
    *is = by.no ? 0 : by.yes ? 2 : many;
    return true;
}

/* The witness that shows the mistake most clearly, of those that have not been asked; WITNESSES: there are no more. */
static u32 clearest(const struct failure *f, const bool *asked)
{
    u32 best = WITNESSES;
    for (u32 i = 0; i < WITNESSES; i++)
        if (!asked[i] && f->clear[i] > 0 && (best == WITNESSES || f->clear[i] > f->clear[best])) best = i;
    return best;
}

struct naming { /* a failure on its way to a name */
    struct lk_test *t;
    const struct tested *k;
    struct failure *f;
    struct lab_side *side;
    struct lab_how *how; /* where it goes */
    const char *output;  /* only this one's; NULL: any */
    const char *except[ROUNDS];
    u32 excepts;
    u64 bad; /* outputs that are wrong in the case that has the name */
};

/* What a case says, if others agree. *out: its words; NULL: it has none that they agree with. *more: it may have other
 * words. */
static bool ask_case(struct naming *n, const struct contract_case *c, const char **out, bool *more, struct error *e)
{
    struct lab_how ask = { .explain = true, .twice = true };
    struct lab_outcome o;
    u32 is[2] = { 0, 0 };
    ask.hints = (struct oracle_hints){ .except = n->except, .n = n->excepts, .output = n->output };
    *out = NULL;
    if (!lab_ask(n->side, c, &ask, &o, NULL, e)) return false;
    *more = o.likeness[0] && o.end == LAB_FAILED && !strcmp(o.first, n->f->first);
    if (!*more) return true;
    const char *word[2] = { arena_str(&n->t->mem, str_of(o.likeness)), arena_str(&n->t->mem, str_of(o.other)) };
    for (u32 i = 0; i < 2 && word[i][0]; i++)
        if (!confirmed(n->t, n->k, n->side, n->f, c, &o, word[i], n->output, &is[i], e)) return false;
    n->bad = o.bad;
    n->how->label = o.label;
    /* "of y: " is said once */
    const char *colon = strncmp(word[0], "of ", 3) ? NULL : strstr(word[0], ": ");
    size_t of = colon ? (size_t)(colon - word[0]) + 2 : 0;
    if (is[0] && is[0] == is[1])
        *out = arena_printf(&n->t->mem, "%.*seither %s, or %s", (int)of, word[0], word[0] + of, word[1] + of);
    else if (is[0] || is[1])
        *out = word[is[1] > is[0]];
    else if (n->excepts < ROUNDS)
        n->except[n->excepts++] = word[0];
    return true;
}

/* Asks one witness after the other, until one has a name that the others agree with. */
static bool ask_witnesses(struct naming *n, struct error *e)
{
    bool asked[WITNESSES] = { 0 }, more;
    u32 at;
    const char *words;
    while (n->excepts < ROUNDS && (at = clearest(n->f, asked)) < WITNESSES) {
        if (!ask_case(n, &n->f->likely[at], &words, &more, e)) return false;
        asked[at] = !more; /* it has no name for it: another may have */
        if (!words) continue;
        n->how->likeness = words;
        n->how->likeness_of = lab_line(&n->t->mem, &n->f->likely[at]);
        return true;
    }
    return true;
}

/* Larger cases, a size at a time: what is wrong from the second tile on. */
static bool ask_stretched(struct naming *n, struct error *e)
{
    static const s64 to[] = { 140, STRETCHED, 1100 };
    struct contract_case usual = { .seed = n->f->least.seed };
    struct lab_how how = { .twice = true };
    struct lab_outcome o;
    bool more;
    if (!lab_ask(n->side, &usual, &how, &o, NULL, e)) return false;
    for (u32 i = 0; i < MIN_OF(o.dims, n->k->k->dims.n) * COUNT_OF(to) && n->excepts < ROUNDS; i++) {
        struct contract_case c = usual;
        const char *words;
        if (!stretched(n->k->k, &o, &c, i / COUNT_OF(to), to[i % COUNT_OF(to)])) continue;
        if (!ask_case(n, &c, &words, &more, e)) return false;
        if (!words) continue;
        n->how->likeness = words;
        n->how->likeness_of = lab_line(&n->t->mem, &c);
        return true;
    }
    return true;
}

/* Every other output that is wrong in the case that has the name. */
static bool name_others(struct naming *n, struct error *e)
{
    const struct contract_kernel *k = n->k->k;
    struct contract_case c;
    const char *all = n->how->likeness, *of = n->how->likeness_of;
    bool forward, more;
    const struct contract_texts *oracles = lab_oracles(&n->t->read, k, &forward);
    if (!oracles || !of || strncmp(all, "of ", 3) || !case_read(&n->t->mem, k, of, &c, e)) return !e->code;
    for (u32 i = 0; i < k->args.n; i++) {
        struct naming one = { n->t, n->k, n->f, n->side, n->how, k->args.p[i].name, { NULL }, 0, 0 };
        const char *words;
        enum oracle_label label = n->how->label;
        size_t length = strlen(one.output);
        if (k->args.p[i].kind != CONTRACT_BUFFER || k->args.p[i].flow == FLOW_IN) continue;
        if (!strncmp(all + 3, one.output, length) && all[3 + length] == ':') continue;
        if (!ask_case(&one, &c, &words, &more, e)) return false;
        n->how->label = label;
        if (words) all = arena_printf(&n->t->mem, "%s\n%s", all, words);
    }
    if (strlen(all) < LAB_LIKENESS) n->how->likeness = all;
    return true;
}

bool likeness_find(struct lk_test *t, const struct tested *k, struct failure *f, struct lab_side *side,
                   struct lab_how *how, struct error *e)
{
    struct naming n = { t, k, f, side, how, NULL, { NULL }, 0, 0 };
    bool any;
    if (strncmp(f->first, "result:", 7) && strncmp(f->first, "special:", 8)) return true;
    if (!ask_witnesses(&n, e)) return false;
    if (!how->likeness) {
        n.excepts = 0;
        if (!make_clearer(k, f, side, &any, e) || (any && !ask_witnesses(&n, e))) return false;
    }
    if (!how->likeness) {
        n.excepts = 0;
        if (!ask_stretched(&n, e)) return false;
    }
    return !how->likeness || name_others(&n, e);
}
