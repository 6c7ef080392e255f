/* Which objects the accesses of a kernel can get to, by the provenance of their addresses (provenance.c). */
#include "flow/objects.h"

/* The access may go to global memory, or to a __constant__ variable that is known. */
static bool is_global(const struct site *s)
{
    if (s->space == SP_CONST) return s->prov.kind == FROM_VAR;
    return s->space != SP_SHARED && s->space != SP_LOCAL && s->space != SP_CALL && s->space != SP_PARAM;
}

/* Adds the object that one access can get to. */
static void add(struct objects *k, const struct site *s)
{
    if (s->prov.kind == FROM_PARAM) {
        for (u32 n = 0; n < k->nparam; n++)
            if (k->param[n] == s->prov.off) return;
        k->param[k->nparam++] = s->prov.off;
    } else if (s->prov.kind == FROM_VAR) {
        if (s->prov.var->space != SP_GLOBAL && s->prov.var->space != SP_CONST) return;
        for (u32 n = 0; n < k->nvar; n++)
            if (k->var[n] == s->prov.var) return;
        k->var[k->nvar++] = s->prov.var;
    } else
        k->anywhere = true;
}

static struct objects none(u32 sites)
{
    struct objects o = { 0 };
    o.param = base_need(sizeof *o.param * (sites + 1));
    o.var = base_need(sizeof *o.var * (sites + 1));
    return o;
}

void objects_free(struct objects *o)
{
    base_free(o->param);
    base_free(o->var);
}

static bool writes(const struct lop *o) { return o->kind == K_MEM && (o->flags & ISA_HOW) != ISA_READS; }

u32 objects_find(const struct lowered *l, struct objects *written, struct objects *read)
{
    u32 stores = 0;
    *written = none(l->nsite);
    *read = none(l->nsite);
    for (u32 n = 0; n < l->ncall; n++)
        if (!l->call[n].builtin) written->anywhere = read->anywhere = true;
    for (u32 n = 0; n < l->nop; n++) {
        const struct lop *o = &l->op[n];
        if (o->dead || o->kind != K_MEM || o->site >= l->nsite || !is_global(&l->site[o->site])) continue;
        stores += writes(o);
        if (writes(o)) add(written, &l->site[o->site]);
    }
    for (u32 n = 0; n < l->nsite; n++) /* an asynchronous copy has two sites */
        if (!l->op[l->site[n].op].dead && is_global(&l->site[n])) add(read, &l->site[n]);
    return stores;
}
