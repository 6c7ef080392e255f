/* Variables that nobody set (rules.md I4): a __constant__ variable without an initialiser is there to be given a value
 * by the host. Where it was given none, the kernel reads zeros, often leaves at its first test, and all looks well.
 *
 * What a launch read is known from the ranges of its sites: the first access of a site finds the object and keeps it
 * (access.c), so nothing is watched. A __device__ variable may count on its zeros, and be written later: it is named
 * only if it is a scalar that no instruction of the program does anything with but load it. */
#include "sim/unset.h"
#include "sim/finding_place.h"

struct unset { /* a variable that was read */
    const struct ptx_var *var;
    const struct mem_object *object;
    const struct lowered *low; /* the first place where it was read, by its line in the PTX */
    const struct site *site;
};

static const struct ptx_var *that_counts(const struct ptx_var *v) { return v->instead ? v->instead : v; }

static bool names(const struct ptx_operand *o, const struct ptx_var *v)
{
    if (o->var && that_counts(o->var) == v) return true;
    for (u32 k = 0; k < o->nelem; k++)
        if (names(&o->elem[k], v)) return true;
    return false;
}

/* Whether an instruction may change the variable, or take its address to do so later. */
static bool may_change(const struct ptx_insn *i, const struct ptx_var *v)
{
    bool named = false;
    for (u32 k = 0; k < i->narg; k++) named |= names(&i->arg[k], v);
    return named && !(i->op && str_is(i->op->base, "ld"));
}

static bool may_change_somewhere(const struct ptx_module *first, const struct ptx_var *v)
{
    for (const struct ptx_module *m = first; m; m = m->next) {
        for (u32 k = 0; k < m->nfunc; k++)
            for (u32 j = 0; j < m->func[k]->ninsn; j++)
                if (may_change(&m->func[k]->insn[j], v)) return true;
        for (u32 k = 0; k < m->nvar; k++)
            for (u32 j = 0; j < m->var[k]->ninit; j++)
                if (str_eq(m->var[k]->init[j].sym, v->name)) return true;
    }
    return false;
}

/* Looks through the program once for each load. */
static bool may_be_changed(const struct lowered *low, struct var_load *x, const struct ptx_var *v)
{
    const struct ptx_module *m = low->func->module;
    int known = __atomic_load_n(&x->change, __ATOMIC_RELAXED);
    if (known) return known == MAY_CHANGE;
    bool may = may_change_somewhere(m->first ? m->first : m, that_counts(v));
    __atomic_store_n(&x->change, may ? MAY_CHANGE : MAY_CHANGE_NOT, __ATOMIC_RELAXED);
    return may;
}

/* The variable that an executed load read, when nobody has given it a value. */
static const struct mem_object *unset_object(const struct launch *l, const struct lowered *low, struct var_load *x)
{
    const struct ptx_var *v = low->site[x->site].prov.var;
    const struct mem_object *o = v->addr ? mem_find(l->sim->mem, v->addr) : NULL;
    if (!o || o->given || (o->kind != MEM_CONST && o->kind != MEM_GLOBAL)) return NULL;
    return v->space == SP_CONST || !may_be_changed(low, x, v) ? o : NULL;
}

static void note(const struct launch *l, const struct unset *u)
{
    struct arena mem = { 0 };
    const struct mem_object *o = u->object;
    struct finding f = { .kind = F_variable_unset,
                         .place = finding_place(&mem, u->low, u->site->op),
                         .kernel = arena_str(&mem, l->kernel->func->name),
                         .cause_key = o->id,
                         .once = true,
                         .access = "read",
                         .space = u->var->space == SP_CONST ? "constant" : "global",
                         .width = (u32)u->site->width * u->site->vec,
                         .object = o->name,
                         .object_type = o->type,
                         .object_base = o->base,
                         .object_size = o->size,
                         .element_size = o->element_size };
    f.addr[0] = o->base;
    f.cause = arena_printf(&mem, "%s has no initialiser but zeros, and nothing was written to it before this launch",
                           o->name);
    f.fix = arena_printf(&mem,
                         "Give it its value before the launch: --set %s=ARG here, cudaMemcpyToSymbol in a program; or "
                         "an initialiser where it is declared.",
                         o->name);
    report_add(l->in->report, &f);
    arena_free(&mem);
}

void unset_report(struct launch *l)
{
    enum { MOST = 64 }; /* variables that are named */
    struct unset v[MOST];
    u32 n = 0;
    if (!(l->in->checks & CHECK_INIT)) return;
    for (u32 w = 0; w < l->nworkers; w++)
        for (u32 j = 0; j < l->worker[w].nfunc; j++) {
            const struct ranges *r = &l->worker[w].func[j];
            for (u32 i = 0; i < r->low->nvar_load; i++) {
                struct var_load *x = &r->low->var_load[i];
                const struct site *site = &r->low->site[x->site];
                if (!r->r[x->site].size) continue;
                const struct mem_object *o = unset_object(l, r->low, x);
                u32 k = 0;
                while (o && k < n && v[k].object != o) k++;
                if (!o || k == MOST) continue;
                const struct ptx_insn *was = k < n ? v[k].low->op[v[k].site->op].src : NULL,
                                      *now = r->low->op[site->op].src;
                if (k == n || (was && now && now->line < was->line))
                    v[k] = (struct unset){ site->prov.var, o, r->low, site };
                n = MAX_OF(n, k + 1);
            }
        }
    for (u32 k = 0; k < n; k++) note(l, &v[k]);
}
