/* Placing a module on the software GPU: every variable of module scope becomes an object, every function gets an address, then the initialisers are
 * written, since they may name any of both. */
#include "dev/dev.h"

enum { FUNCTION_STEP = 16, CONST_MOST = 65536 };

/* The variable of this name that a module loaded before defines; a weak or common one only where there is no other. */
static const struct ptx_var *other_module(const struct device *d, struct str name)
{
    const struct ptx_var *best = NULL;
    for (const struct dev_module *m = d->modules; m; m = m->next) {
        const struct ptx_symbol *s = map_get(&m->ptx->symbols, name);
        const struct ptx_var *v = s ? s->var : NULL;
        if (v && v->addr && !v->is_extern && (v->is_weak || v->is_common ? !best : v->is_visible))
            best = v;
    }
    return best;
}

static bool place_variable(struct device *d, struct dev_module *m, u32 i, struct error *e)
{
    struct ptx_var *v = m->ptx->var[i];
    if (!dev_is_stored(v))
        return true;
    const struct ptx_var *other = v->is_extern || v->is_common ? other_module(d, v->name) : NULL;
    if (other && other->space == v->space && (v->is_extern || other->size >= v->size)) {
        v->addr = other->addr;                  /* all who declare a common variable mean the same one */
        return true;
    }
    if (v->is_extern)
        return error_at(e, ERR_INPUT, m->ptx->name, m->ptx->text, v->at ? v->at : v->name.p, "`%.*s` is extern, and no loaded module defines it", (int)v->name.n, v->name.p);
    char name[256], type[160];
    name_plain(v->name, name, sizeof name);
    u32 element = dev_type_text(v, type);
    enum mem_kind kind = v->is_managed ? MEM_MANAGED : v->space == SP_CONST ? MEM_CONST : MEM_GLOBAL;
    if (!sim_has_room(d, v->size, e))
        return false;
    struct mem_object *o = mem_alloc(d->mem, v->size, v->align, kind, name, NULL, e);
    if (!o)
        return false;
    mem_describe(d->mem, o, NULL, type[0] ? type : NULL, element);
    mem_zero(d->mem, o);
    m->object[i] = o;
    v->addr = o->base;
    return true;
}

static bool place_functions(struct device *d, struct dev_module *m, struct error *e)
{
    struct ptx_module *p = m->ptx;
    if (!p->nfunc)
        return true;
    struct mem_object *o = mem_alloc(d->mem, (u64)p->nfunc * FUNCTION_STEP, 0, MEM_CONST, "functions", NULL, e);
    if (!o)
        return false;
    m->object[p->nvar] = o;
    for (u32 i = 0; i < p->nfunc; i++)
        p->func[i]->addr = o->base + (u64)i * FUNCTION_STEP;
    return true;
}

static struct str alias_target(const struct ptx_module *p, struct str name)
{
    for (u32 i = 0; i < p->nalias; i++)
        if (str_eq(p->alias[i].alias, name))
            return p->alias[i].target;
    return name;
}

static bool symbol_address(struct dev_module *m, struct str name, u64 *addr, struct error *e)
{
    struct ptx_symbol *s = map_get(&m->ptx->symbols, alias_target(m->ptx, name));
    *addr = s && s->var ? s->var->addr : s && s->func ? s->func->addr : 0;
    return *addr || error_at(e, ERR_INPUT, m->ptx->name, m->ptx->text, name.p, "`%.*s` has no address that an initialiser could use",
                             (int)name.n, name.p);
}

static bool write_initialiser(struct dev_module *m, u32 i, struct error *e)
{
    const struct ptx_var *v = m->ptx->var[i];
    const struct mem_object *o = m->object[i];
    u32 size = type_size[v->type];
    for (u32 k = 0; o && k < v->ninit; k++) {
        const struct ptx_init *x = &v->init[k];
        u64 value = x->value;
        if (x->sym.n) {
            u64 addr;
            if (!symbol_address(m, x->sym, &addr, e))
                return false;
            value += addr;
            if (x->mask)
                value = (value & x->mask) >> x->mask_shift;
        }
        u64 at = (u64)k * size;
        if (at + size > o->size)
            break;
        memcpy(mem_view(o, o->base + at), &value, MIN_OF(size, 8u));
    }
    return true;
}

static bool target_fits(const struct device *d, const struct ptx_module *p, struct error *e)
{
    if (d->any_target || p->target <= d->profile->sm)
        return true;
    return error_set(e, ERR_INPUT, "%s is PTX for sm_%u, and %s is sm_%u: compile for sm_%u, or choose a device of sm_%u", p->name, p->target,
                     d->profile->title, d->profile->sm, d->profile->sm, p->target);
}

static bool const_fits(const struct ptx_module *p, struct error *e)
{
    u64 total = 0;
    for (u32 i = 0; i < p->nvar; i++)
        total += p->var[i]->space == SP_CONST ? p->var[i]->size : 0;
    return total <= CONST_MOST || error_set(e, ERR_INPUT, "%s has %llu bytes of constant memory; %u is the most", p->name,
                                            (unsigned long long)total, CONST_MOST);
}

/* ---- functions of other modules ---- */

static bool has_shared(const struct ptx_module *p)
{
    bool any = false;
    for (u32 i = 0; i < p->nvar; i++)
        any |= p->var[i]->space == SP_SHARED && p->var[i]->size;
    for (u32 i = 0; i < p->nfunc; i++)
        for (u32 k = 0; k < p->func[i]->nlocal; k++)
            any |= !p->func[i]->is_entry && p->func[i]->local[k]->space == SP_SHARED && p->func[i]->local[k]->size;
    return any;
}

/* What a module gives others under this name, by itself or as an alias; NULL: nothing. */
static struct ptx_func *definition(const struct ptx_module *from, struct str name)
{
    const struct ptx_symbol *s = map_get(&from->symbols, name);
    struct ptx_func *f = s ? s->func : NULL, *def = f && f->alias_of && f->alias_of->module == from ? f->alias_of : f;
    return f && def->has_body && !def->is_entry && (f->is_visible || f->is_weak) ? def : NULL;
}

/* Gives the extern functions of one module the definitions of another, one that is not weak before one that is; those that nobody defines are named
 * when they are called. */
static bool link_functions(struct ptx_module *to, struct ptx_module *from, struct error *e)
{
    bool moved = false;
    for (u32 i = 0; i < to->nfunc; i++) {
        struct ptx_func *f = to->func[i], *old = f->alias_of, *def = f->is_extern && !f->has_body ? definition(from, f->name) : NULL;
        if (!def || (old && (!old->is_weak || def->is_weak)))
            continue;
        if (def->nparam != f->nparam || def->nret != f->nret || def->param_bytes != f->param_bytes)
            return error_at(e, ERR_INPUT, to->name, to->text, f->at, "`%.*s` has other parameters here than in %s", (int)f->name.n, f->name.p, from->name);
        if (has_shared(from))
            return error_at(e, ERR_UNSUPPORTED, to->name, to->text, f->at, "`%.*s` is in %s, whose shared variables would lie over those of this module", (int)f->name.n,
                            f->name.p, from->name);
        f->alias_of = def;
        f->addr = def->addr;
        moved |= old != NULL;
    }
    if (moved)
        sim_forget(to);
    return true;
}

static bool link_all(struct device *d, struct dev_module *m, struct error *e)
{
    for (struct dev_module *x = d->modules; x; x = x->next)
        if (!link_functions(m->ptx, x->ptx, e) || !link_functions(x->ptx, m->ptx, e))
            return false;
    return true;
}

/* What other modules took from this one is open again. */
static void unlink_all(struct device *d, const struct dev_module *m)
{
    for (struct dev_module *x = d->modules; x; x = x->next) {
        bool any = false;
        for (u32 i = 0; x != m && i < x->ptx->nfunc; i++) {
            struct ptx_func *f = x->ptx->func[i];
            if (!f->alias_of || f->alias_of->module != m->ptx)
                continue;
            f->alias_of = NULL;
            any = true;
        }
        if (any)
            sim_forget(x->ptx);
    }
}

bool sim_place(struct device *d, struct dev_module *m, struct error *e)
{
    bool ok = target_fits(d, m->ptx, e) && const_fits(m->ptx, e) && place_functions(d, m, e);
    for (u32 i = 0; ok && i < m->ptx->nvar; i++)
        ok = place_variable(d, m, i, e);
    ok = ok && link_all(d, m, e);
    for (u32 i = 0; ok && i < m->ptx->nvar; i++)
        ok = write_initialiser(m, i, e);
    return ok;
}

void sim_displace(struct device *d, struct dev_module *m)
{
    unlink_all(d, m);
    sim_forget(m->ptx);
    for (u32 i = 0; i < m->objects; i++)
        if (m->object[i])
            mem_free(d->mem, m->object[i]->base, "unloading its module", NULL);
}
