/* Placing a program on the software GPU: every variable of its modules becomes an object, every function gets an
 * address, then the initialisers are written, since they may name any of both. */
#include "device/dev.h"
#include "device/dev_work.h"

enum { FUNCTION_STEP = 16, CONST_MOST = 65536 };

static bool place_variable(struct device *d, struct ptx_var *v, struct mem_object **object, struct error *e)
{
    /* one that nobody defines is named when it is reached */
    if (!dev_is_stored(v) || v->instead || v->is_extern) return true;
    char name[256], type[160];
    name_plain(v->name, name, sizeof name);
    u32 element = dev_type_text(v, type);
    enum mem_kind kind = v->is_managed ? MEM_MANAGED : v->space == SP_CONST ? MEM_CONST : MEM_GLOBAL;
    if (!sim_has_room(d, v->size, e)) return false;
    if (v->is_managed) note_unordered(d); /* what the host does with it is no operation */
    struct mem_object *o = mem_alloc(d->mem, v->size, v->align, kind, name, NULL, e);
    if (!o) return false;
    mem_describe(d->mem, o, NULL, type[0] ? type : NULL, element);
    mem_zero(d->mem, o);
    *object = o;
    v->addr = o->base;
    return true;
}

static bool place_functions(struct device *d, struct dev_module *m, struct error *e)
{
    u64 n = 0;
    for (const struct ptx_module *p = m->ptx; p; p = p->next) n += p->nfunc;
    if (!n) return true;
    struct mem_object *o = mem_alloc(d->mem, n * FUNCTION_STEP, 0, MEM_CONST, "functions", NULL, e);
    if (!o) return false;
    m->object[m->objects - 1] = o;
    u64 at = o->base;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nfunc; i++, at += FUNCTION_STEP) p->func[i]->addr = at;
    for (const struct ptx_module *p = m->ptx; p; p = p->next)
        for (u32 i = 0; i < p->nfunc; i++)
            if (p->func[i]->alias_of) p->func[i]->addr = p->func[i]->alias_of->addr;
    return true;
}

static bool symbol_address(const struct ptx_module *p, struct str name, u64 *addr, struct error *e)
{
    struct ptx_symbol *s = map_get(&p->symbols, name);
    bool missing = s && ((s->var && s->var->is_extern) || (s->func && !s->func->has_body && !s->func->alias_of));
    *addr = s && s->var ? s->var->addr : s && s->func ? s->func->addr : 0;
    return (*addr && !missing) || error_at(e, ERR_INPUT, p->name, p->text, name.p,
                                           missing ? "`%.*s` is .extern, and no module of the program defines it"
                                                   : "`%.*s` has no address that an initialiser could use",
                                           (int)name.n, name.p);
}

static bool write_initialiser(const struct ptx_module *p, const struct ptx_var *v, struct mem_object *o,
                              struct error *e)
{
    u32 size = type_size[v->type];
    if (o) o->given = v->ninit > 0;
    for (u32 k = 0; o && k < v->ninit; k++) {
        const struct ptx_init *x = &v->init[k];
        u64 value = x->value;
        if (x->sym.n) {
            u64 addr;
            if (!symbol_address(p, x->sym, &addr, e)) return false;
            value += addr;
            if (x->mask) value = (value & x->mask) >> x->mask_shift;
        }
        u64 at = (u64)k * size;
        if (at + size > o->size) break;
        memcpy(mem_view(o, o->base + at), &value, MIN_OF(size, 8u));
    }
    return true;
}

static bool target_fits(const struct device *d, const struct ptx_module *p, struct error *e)
{
    if (d->any_target || p->target <= d->card->sm) return true;
    return error_set(e, ERR_INPUT,
                     "%s is PTX for sm_%u, and %s is sm_%u: compile for sm_%u, or choose a device of sm_%u", p->name,
                     p->target, d->card->title, d->card->sm, d->card->sm, p->target);
}

static bool const_fits(const struct ptx_module *p, struct error *e)
{
    const char *name = p->name;
    u64 total = 0;
    for (; p; p = p->next)
        for (u32 i = 0; i < p->nvar; i++)
            total += p->var[i]->space == SP_CONST && !p->var[i]->instead ? p->var[i]->size : 0;
    return total <= CONST_MOST || error_set(e, ERR_INPUT, "%s has %llu bytes of constant memory; %u is the most", name,
                                            (unsigned long long)total, CONST_MOST);
}

bool sim_place(struct device *d, struct dev_module *m, struct error *e)
{
    bool ok = const_fits(m->ptx, e) && place_functions(d, m, e);
    struct mem_object **object = m->object;
    for (const struct ptx_module *p = m->ptx; ok && p; p = p->next) {
        ok = target_fits(d, p, e);
        for (u32 i = 0; ok && i < p->nvar; i++) ok = place_variable(d, p->var[i], object++, e);
    }
    object = m->object;
    for (const struct ptx_module *p = m->ptx; ok && p; p = p->next)
        for (u32 i = 0; ok && i < p->nvar; i++) ok = write_initialiser(p, p->var[i], *object++, e);
    return ok;
}

void sim_displace(struct device *d, struct dev_module *m)
{
    if (d->race) race_forget(d->race);
    for (struct ptx_module *p = m->ptx; p; p = p->next) sim_forget(p);
    for (u32 i = 0; i < m->objects; i++)
        if (m->object[i]) mem_free(d->mem, m->object[i]->base, "unloading its module", NULL);
}
