/* Corners of a contract: the ends of each range, every value of types and constants, every layout; those that a case of
 * the campaign had, and those that none had. */
#include "lab/campaign.h"
#include <inttypes.h>

/* Which value of a choice the case has. */
static u32 chosen(const struct contract_choice *x, const struct contract_case *c)
{
    u32 value = x->chosen;
    for (u32 n = 0; n < c->choices; n++)
        for (u32 v = 0; v < x->value.n && !strcmp(c->choice[n].name, x->name); v++)
            if (!strcmp(c->choice[n].value, x->value.p[v])) value = v;
    return value;
}

/* Which layout of an argument: 0 is dense, then they are as lab_layout has them. */
static u32 laid_out(const struct contract_arg *g, const struct contract_case *c)
{
    u32 had = 0;
    const char *l;
    for (u32 n = 0; n < c->layouts; n++)
        for (u32 v = 0; !strcmp(c->layout[n].name, g->name) && (l = lab_layout(g, v)); v++)
            if (!strcmp(c->layout[n].value, l)) had = v + 1;
    return had;
}

static bool is_end(const struct expr *end, s64 size) { return end && end->op == EX_NUMBER && end->value.i == size; }

void corners_note(struct tested *k, const struct contract_case *c, const struct lab_outcome *o)
{
    if (o->end != LAB_PASSED && o->end != LAB_FAILED && o->end != LAB_EMPTY) return;
    for (u32 i = 0; i < o->dims && i < k->k->dims.n; i++) {
        k->least[i] |= is_end(k->k->dims.p[i].low, o->dim[i]);
        k->most[i] |= is_end(k->k->dims.p[i].high, o->dim[i]);
    }
    if (o->end == LAB_EMPTY) return;
    for (u32 i = 0; i < k->k->choices.n && i < CONTRACT_DIMS; i++)
        k->choice[i] |= (u64)1 << MIN_OF(chosen(&k->k->choices.p[i], c), 63u);
    for (u32 i = 0; i < k->k->args.n && i < CONTRACT_ARGS; i++) k->layout[i] |= 1u << laid_out(&k->k->args.p[i], c);
}

static void corner(struct lk_test *t, struct tested *k, bool reached, const char *name, const char *is, const char *of)
{
    const char *all = k->is.corners_missing;
    k->is.corners++;
    k->is.corners_reached += reached;
    if (!reached) k->is.corners_missing = arena_printf(&t->mem, "%s%s%s%s%s", all, all[0] ? ", " : "", name, is, of);
}

void corners_sum(struct lk_test *t, struct tested *k)
{
    k->is.corners_missing = "";
    for (u32 i = 0; i < k->k->dims.n; i++) {
        const struct contract_dim *d = &k->k->dims.p[i];
        const struct expr *end[] = { d->low, d->high };
        for (u32 n = 0; n < COUNT_OF(end) && lab_size_varies(d); n++) {
            if (!end[n] || end[n]->op != EX_NUMBER) continue;
            s64 v = end[n]->value.i;
            corner(t, k, n ? k->most[i] : k->least[i], d->name, "=", arena_printf(&t->mem, "%" PRId64, v));
        }
    }
    for (u32 i = 0; i < k->k->choices.n && i < CONTRACT_DIMS; i++)
        for (u32 v = 0; v < k->k->choices.p[i].value.n && v < 64; v++)
            corner(t, k, k->choice[i] >> v & 1, k->k->choices.p[i].name, "=", k->k->choices.p[i].value.p[v]);
    for (u32 i = 0; i < k->k->args.n && i < CONTRACT_ARGS; i++)
        for (u32 v = 0; lab_layout(&k->k->args.p[i], v); v++)
            corner(t, k, k->layout[i] >> (v + 1) & 1, k->k->args.p[i].name, ":", lab_layout(&k->k->args.p[i], v));
}
