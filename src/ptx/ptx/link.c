/* Linking: the modules of one program find each other's definitions, as nvlink does it for relocatable code.
 *
 * A name that a module gives away (.visible, .weak, .common) has one meaning in the whole program: the definition
 * that is neither weak nor common, else the first weak one, else the largest common one. Every use of the name, in
 * the module of a weak definition too, is then turned to that one: in the operands of instructions, in lists of call
 * targets, and in the symbols of each module, which initialisers look their names up in. Later passes need not know
 * that there were several modules. A name that nobody defines stays .extern: it is for those who reach it to say so. */
#include "ptx/parser.h"

enum rank { RANK_NONE, RANK_COMMON, RANK_WEAK, RANK_STRONG };
struct pick {            /* what a name means so far */
    struct ptx_var *var; /* one of the two */
    struct ptx_func *func;
    const struct ptx_module *in; /* where that is */
    enum rank rank;
};
struct linker {
    struct arena mem; /* for the picks */
    struct map picks; /* name -> struct pick */
    struct error *e;
};

static bool fail_in(const struct linker *k, const struct ptx_module *m, const char *at, const char *text, ...)
    PRINTF_LIKE(4, 5);
static bool fail_in(const struct linker *k, const struct ptx_module *m, const char *at, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    error_at_list(k->e, ERR_INPUT, m->name, m->text, at, text, ap);
    va_end(ap);
    return false;
}

static enum rank var_rank(const struct ptx_var *v)
{
    return v->is_extern    ? RANK_NONE
           : v->is_common  ? RANK_COMMON
           : v->is_weak    ? RANK_WEAK
           : v->is_visible ? RANK_STRONG
                           : RANK_NONE;
}

/* An alias is given away when the function that it stands for is. */
static enum rank func_rank(const struct ptx_func *f)
{
    const struct ptx_func *body = f->alias_of ? f->alias_of : f;
    return !body->has_body ? RANK_NONE : body->is_weak ? RANK_WEAK : body->is_visible ? RANK_STRONG : RANK_NONE;
}

static const char *place_of(const struct pick *p) { return p->var ? p->var->at : p->func->at; }
static u32 line_of(const struct pick *p) { return p->var ? p->var->line : p->func->line; }

static bool offer(struct linker *k, struct str name, struct pick new)
{
    struct pick *old = map_get(&k->picks, name);
    if (!old) {
        old = NEW(&k->mem, struct pick);
        map_put(&k->mem, &k->picks, name, old);
    } else if (!old->var != !new.var) {
        return fail_in(k, new.in, place_of(&new), "`%.*s` is a %s here, and a %s in %s, line %u", SHOW(name),
                       new.var ? "variable" : "function", old->var ? "variable" : "function", old->in->name,
                       line_of(old));
    } else if (old->rank == RANK_STRONG && new.rank == RANK_STRONG) {
        return fail_in(k, new.in, place_of(&new),
                       "`%.*s` is defined here and in %s, line %u: of two definitions one must be .weak", SHOW(name),
                       old->in->name, line_of(old));
    }
    if (new.rank > old->rank || (new.rank == RANK_COMMON && old->rank == RANK_COMMON &&new.var->size > old->var->size))
        *old = new;
    return true;
}

static bool offers(struct linker *k, struct ptx_module *m)
{
    for (u32 i = 0; i < m->nvar; i++)
        if (var_rank(m->var[i]) &&
            !offer(k, m->var[i]->name, (struct pick){ .var = m->var[i], .in = m, .rank = var_rank(m->var[i]) }))
            return false;
    for (u32 i = 0; i < m->nfunc; i++)
        if (func_rank(m->func[i]) &&
            !offer(k, m->func[i]->name, (struct pick){ .func = m->func[i], .in = m, .rank = func_rank(m->func[i]) }))
            return false;
    return true;
}

/* A variable becomes the one that was picked for its name, which must be of its space and size. */
static bool turn_var(struct linker *k, struct ptx_module *m, struct ptx_var *v, const struct pick *p)
{
    struct ptx_var *by = p->var;
    if (!by)
        return fail_in(k, m, v->at, "`%.*s` is a variable here, and a function in %s, line %u", SHOW(v->name),
                       p->in->name, line_of(p));
    if (v->space != by->space)
        return fail_in(k, m, v->at, "`%.*s` lies in another state space in %s, line %u", SHOW(v->name), p->in->name,
                       by->line);
    bool fits = v->is_common ? v->size <= by->size : v->size == by->size || (v->is_extern && !v->size);
    if (!fits)
        return fail_in(k, m, v->at, "`%.*s` has %llu bytes here and %llu in %s, line %u", SHOW(v->name),
                       (unsigned long long)v->size, (unsigned long long)by->size, p->in->name, by->line);
    by->align = MAX_OF(by->align, v->align);
    v->instead = by;
    return true;
}

static bool turn_func(struct linker *k, struct ptx_module *m, struct ptx_func *f, const struct pick *p)
{
    struct ptx_func *by = p->func;
    if (!by)
        return fail_in(k, m, f->at, "`%.*s` is a function here, and a variable in %s, line %u", SHOW(f->name),
                       p->in->name, line_of(p));
    if (f->is_entry != by->is_entry || !prototypes_agree(f, by))
        return fail_in(k, m, f->at, "`%.*s` has other parameters here than in %s, line %u", SHOW(f->name), p->in->name,
                       by->line);
    f->instead = by;
    return true;
}

static bool turn_names(struct linker *k, struct ptx_module *m)
{
    for (u32 i = 0; i < m->nvar; i++) {
        struct ptx_var *v = m->var[i];
        struct ptx_symbol *s = map_get(&m->symbols, v->name); /* not for variables inside a function */
        const struct pick *p = s && s->var == v && (v->is_extern || var_rank(v)) ? map_get(&k->picks, v->name) : NULL;
        if (p && p->var != v && !turn_var(k, m, v, p)) return false;
        if (v->instead) s->var = v->instead;
    }
    for (u32 i = 0; i < m->nfunc; i++) {
        struct ptx_func *f = m->func[i];
        const struct pick *p = f->is_extern || func_rank(f) ? map_get(&k->picks, f->name) : NULL;
        if (p && p->func != f && !turn_func(k, m, f, p)) return false;
        if (f->instead) ((struct ptx_symbol *)map_get(&m->symbols, f->name))->func = f->instead;
    }
    return true;
}

static void turn_operands(struct ptx_operand *o, u32 n)
{
    for (u32 i = 0; i < n; i++) {
        if (o[i].var && o[i].var->instead) o[i].var = o[i].var->instead;
        if (o[i].func && o[i].func->instead) o[i].func = o[i].func->instead;
        turn_operands(o[i].elem, o[i].nelem);
    }
}

static void turn_uses(struct ptx_module *m)
{
    for (u32 i = 0; i < m->nfunc; i++) {
        struct ptx_func *f = m->func[i];
        for (u32 j = 0; j < f->ninsn; j++) turn_operands(f->insn[j].arg, f->insn[j].narg);
        for (u32 j = 0; j < f->nlabel; j++) turn_operands(f->label[j]->target, f->label[j]->ntarget);
    }
}

bool ptx_link(struct ptx_module **part, u32 parts, struct error *e)
{
    struct linker k = { .e = e };
    bool ok = true;
    for (u32 i = 0; i < parts; i++) {
        part[i]->first = part[0];
        part[i]->next = i + 1 < parts ? part[i + 1] : NULL;
    }
    for (u32 i = 0; ok && parts > 1 && i < parts; i++) ok = offers(&k, part[i]);
    for (u32 i = 0; ok && parts > 1 && i < parts; i++) ok = turn_names(&k, part[i]);
    for (u32 i = 0; ok && parts > 1 && i < parts; i++) turn_uses(part[i]);
    /* alone, an .extern variable in shared memory whose size is known is its module's own, as for ptxas */
    for (u32 i = 0; parts == 1 && i < part[0]->nvar; i++)
        if (part[0]->var[i]->space == SP_SHARED && part[0]->var[i]->size) part[0]->var[i]->is_extern = false;
    arena_free(&k.mem);
    return ok;
}
