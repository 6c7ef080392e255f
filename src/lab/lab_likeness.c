/* What a mistake looks like: the case that shows it most clearly is classified (oracle_classify), and what it says is
 * held against others with other contents. Where every case that failed is too large for that, or too small, some are
 * made that are not. */
#include "lab/campaign.h"
#include <math.h>

enum { WRONG_LEAST = 5, ROUNDS = 6, SIZE_CLEAR = 5, CLEARER_MOST = 40 };

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

/* Whether an explanation holds for the other witnesses, too. */
static bool confirmed(const struct tested *k, struct lab_side *side, const struct failure *f, u32 but,
                      const struct lab_outcome *x, bool *is, struct error *e)
{
    struct lab_how ask = { .explain = true, .twice = true, .hints = { .only = x->likeness } };
    static const s64 more[] = { 2, 6, 12, 18 };
    u32 yes = 0, no = 0;
    for (u32 i = 0; i < WITNESSES; i++) {
        struct lab_outcome o;
        /* a kernel that does not use its strides reads behind a repeated array: on a GPU anything comes of that */
        if (i == but || i == WITNESS_REPEATED || f->clear[i] < 1) continue;
        if (!lab_ask(side, &f->likely[i], &ask, &o, NULL, e)) return false;
        if (o.cost > LIKENESS_MOST) continue;
        yes += o.likeness[0] != 0;
        no += !o.likeness[0];
    }
    /* what is missing of 9 elements, the last one or the rest of a tile of 4 or 8, shows with 11 and with 15 */
    for (u32 i = 0; x->label == ORACLE_PART && !no && i < COUNT_OF(more); i++) {
        struct contract_case c = enlarged(k->k, x, f->likely[but], more[i]);
        struct lab_outcome o;
        if (!lab_ask(side, &c, &ask, &o, NULL, e)) return false;
        bool same = o.end == LAB_FAILED && !strcmp(o.first, f->first) && o.cost <= LIKENESS_MOST;
        yes += same && o.likeness[0];
        no += same && !o.likeness[0];
    }
    bool seen = x->label == ORACLE_UNWRITTEN || x->label == ORACLE_NAN;
    bool many = x->elements >= LIKENESS_LEAST && (seen || x->wrong >= WRONG_LEAST);
    *is = no ? false : yes || many;
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

/* Asks one witness after the other, until one has a name that the others agree with. */
static bool ask_witnesses(struct lk_test *t, const struct tested *k, struct failure *f, struct lab_side *side,
                          struct lab_how *how, struct error *e)
{
    const char *except[ROUNDS];
    struct lab_how ask = { .explain = true, .twice = true, .hints = { .except = except } };
    bool asked[WITNESSES] = { 0 };
    u32 at;
    while (ask.hints.n < ROUNDS && (at = clearest(f, asked)) < WITNESSES) {
        struct lab_outcome o;
        bool is;
        if (!lab_ask(side, &f->likely[at], &ask, &o, NULL, e)) return false;
        asked[at] = !o.likeness[0]; /* it has no name for it: another may have */
        if (asked[at]) continue;
        if (!confirmed(k, side, f, at, &o, &is, e)) return false;
        const char *words = arena_str(&t->mem, str_of(o.likeness));
        if (is) {
            how->likeness = words;
            how->label = o.label;
            how->likeness_of = lab_line(&t->mem, &f->likely[at]);
            return true;
        }
        except[ask.hints.n++] = words;
    }
    return true;
}

bool likeness_find(struct lk_test *t, const struct tested *k, struct failure *f, struct lab_side *side,
                   struct lab_how *how, struct error *e)
{
    if (strncmp(f->first, "result:", 7)) return true;
    if (!ask_witnesses(t, k, f, side, how, e)) return false;
    bool any;
    if (how->likeness) return true;
    return make_clearer(k, f, side, &any, e) && (!any || ask_witnesses(t, k, f, side, how, e));
}
