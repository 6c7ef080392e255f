/* Variables that nobody set (rules.md I4): a __constant__ variable without an initialiser is there to be given a value
 * by the host. Where it was given none, the kernel reads zeros, often leaves at its first test, and all looks well.
 *
 * What a launch read is known from the ranges of its sites: the first access of a site finds the object and keeps it
 * (access.c), so nothing is watched. A __device__ variable may count on its zeros, and be written later: it is named
 * only if it is a scalar that no instruction of the program does anything with but load it. */
#include "units/attachments.h"
#include "sim/finding_place.h"

struct unset { /* a variable that was read */
    const struct ptx_var *var;
    const struct mem_object *object;
    const struct lowered *low; /* the first place where it was read, by its line in the PTX */
    const struct site *site;
};

static const struct ptx_var *that_counts(const struct ptx_var *v) { return v->instead ? v->instead : v; }

struct changes { /* which of the variables that a function loads an instruction of the program may change */
    struct arena mem;
    struct map by_var, by_name; /* the address of a variable, as text; its name: -> its enum in var_load.change */
};

static struct str key_of(const struct ptx_var **v) { return (struct str){ (const char *)v, sizeof *v }; }

static void mark(struct changes *c, const struct ptx_operand *o)
{
    const struct ptx_var *v = o->var ? that_counts(o->var) : NULL;
    u8 *may = v ? map_get(&c->by_var, key_of(&v)) : NULL;
    if (may) *may = MAY_CHANGE;
    for (u32 k = 0; k < o->nelem; k++) mark(c, &o->elem[k]);
}

/* What instructions name, but to load it: it may be changed, or its address taken to do so later. */
static void mark_program(struct changes *c, const struct ptx_module *first)
{
    for (const struct ptx_module *m = first; m; m = m->next) {
        for (u32 k = 0; k < m->nfunc; k++)
            for (u32 j = 0; j < m->func[k]->ninsn; j++) {
                const struct ptx_insn *i = &m->func[k]->insn[j];
                if (i->op && str_is(i->op->base, "ld")) continue;
                for (u32 n = 0; n < i->narg; n++) mark(c, &i->arg[n]);
            }
        for (u32 k = 0; k < m->nvar; k++)
            for (u32 j = 0; j < m->var[k]->ninit; j++) {
                struct str name = m->var[k]->init[j].sym;
                u8 *may = name.n ? map_get(&c->by_name, name) : NULL;
                if (may) *may = MAY_CHANGE;
            }
    }
}

/* Looks through the program once for each function. */
static void changes_find(const struct lowered *low)
{
    const struct ptx_module *m = low->func->module;
    struct changes c = { 0 };
    const struct ptx_var **var = NEW_ARRAY(&c.mem, const struct ptx_var *, low->nvar_load + 1);
    u8 **may = NEW_ARRAY(&c.mem, u8 *, low->nvar_load + 1);
    for (u32 k = 0; k < low->nvar_load; k++) {
        var[k] = that_counts(low->site[low->var_load[k].site].prov.var);
        may[k] = map_get(&c.by_var, key_of(&var[k]));
        if (may[k]) continue;
        u8 *by_name = map_get(&c.by_name, var[k]->name);
        may[k] = by_name ? by_name : NEW(&c.mem, u8); /* two of one name: what may change one may change both */
        *may[k] = MAX_OF(*may[k], (u8)MAY_CHANGE_NOT);
        map_put(&c.mem, &c.by_var, key_of(&var[k]), may[k]);
        map_put(&c.mem, &c.by_name, var[k]->name, may[k]);
    }
    mark_program(&c, m->first ? m->first : m);
    for (u32 k = 0; k < low->nvar_load; k++) __atomic_store_n(&low->var_load[k].change, *may[k], __ATOMIC_RELAXED);
    arena_free(&c.mem);
}

static bool may_be_changed(const struct lowered *low, struct var_load *x)
{
    if (!__atomic_load_n(&x->change, __ATOMIC_RELAXED)) changes_find(low);
    return __atomic_load_n(&x->change, __ATOMIC_RELAXED) == MAY_CHANGE;
}

/* The variable that an executed load read, when nobody has given it a value. */
static const struct mem_object *unset_object(const struct launch *l, const struct lowered *low, struct var_load *x)
{
    const struct ptx_var *v = low->site[x->site].prov.var;
    const struct mem_object *o = v->addr ? mem_find(l->sim->mem, v->addr) : NULL;
    if (!o || o->given || (o->kind != MEM_CONST && o->kind != MEM_GLOBAL)) return NULL;
    return v->space == SP_CONST || !may_be_changed(low, x) ? o : NULL;
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

static void unset_report(struct launch *l)
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

const struct attachment attach_unset = { .launch_over = unset_report };
