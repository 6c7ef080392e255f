/* A linked program as one text, which means the same as its modules do together.
 *
 * Every module is printed in its order, less what another one's definition stands for. Where a module declares what
 * another defines, the definition has to be known from there on: a function is declared in that place, a variable is
 * printed there, after those that its initialiser names. Names that are a module's own and that another module uses,
 * too, get its number after them. Numbers of files go on from module to module. Of the debugging sections only the
 * names of inlined functions stay: the rest counts bytes of one section in another. Whatever this misses, parsing the
 * text would find: so that is done. */
#include "ptx/parser.h"
#include "ptx/printer.h"

enum state { STATE_NONE, STATE_OPEN, STATE_DONE };
struct linked_place {      /* of a name in the text */
    struct ptx_module *in; /* where what it means is defined, or first declared */
    struct ptx_var *var;   /* what it is, NULL: a function */
    enum state state;      /* of a variable: whether it has been printed; of a function: declared */
};
struct joiner {
    struct arena mem;  /* for all of this */
    struct map places; /* name in the text -> struct linked_place */
    struct map taken;  /* all names of all scopes */
    struct printer o;
    struct printer_names names;
    struct error *e;
};

u32 printer_name(struct printer_names *names, struct str name)
{
    u32 *number = map_get(&names->number, name);
    if (number) return *number;
    number = NEW(names->mem, u32);
    *number = names->list.n;
    VEC_PUSH(names->mem, &names->list, name);
    map_put(names->mem, &names->number, name, number);
    return *number;
}

static bool refuse(struct joiner *k, const struct ptx_module *m, const char *at, const char *text, ...)
    PRINTF_LIKE(4, 5);
static bool refuse(struct joiner *k, const struct ptx_module *m, const char *at, const char *text, ...)
{
    va_list ap;
    va_start(ap, text);
    error_at_list(k->e, ERR_INPUT, m->name, m->text, at, text, ap);
    va_end(ap);
    return false;
}

/* ---- names ---- */

static void take(struct joiner *k, struct str name) { map_put(&k->mem, &k->taken, name, k); }

static void take_all(struct joiner *k, const struct ptx_module *m)
{
    for (u32 i = 0; i < m->nvar; i++) take(k, m->var[i]->name);
    for (u32 i = 0; i < m->nfunc; i++) {
        const struct ptx_func *f = m->func[i];
        take(k, f->name);
        for (u32 j = 0; j < f->nregs; j++) take(k, f->regs[j]->name);
        for (u32 j = 0; j < f->nlocal; j++) take(k, f->local[j]->name);
        for (u32 j = 0; j < f->nparam; j++) take(k, f->param[j]->name);
        for (u32 j = 0; j < f->nlabel; j++) take(k, f->label[j]->name);
    }
}

static void place_new(struct joiner *k, struct str name, struct ptx_module *in, struct ptx_var *var)
{
    struct linked_place *p = NEW(&k->mem, struct linked_place);
    p->in = in;
    p->var = var;
    map_put(&k->mem, &k->places, name, p);
}

static bool var_is_own(const struct ptx_var *v)
{
    return !(v->is_extern || v->is_visible || v->is_weak || v->is_common);
}
static bool func_is_own(const struct ptx_func *f)
{
    const struct ptx_func *body = f->alias_of ? f->alias_of : f;
    return !(f->is_extern || body->is_visible || body->is_weak);
}

/* The name that is nobody's: `name$2` in the second module. */
static struct str name_apart(struct joiner *k, struct ptx_module *m, struct str name, u32 number)
{
    do name = str_of(arena_printf(&m->mem, "%.*s$%u", (int)name.n, name.p, number));
    while (map_get(&k->taken, name));
    take(k, name);
    return name;
}

/* Gives a name to a variable or function: what all modules share keeps its own, a module's own gets another one where
 * that is taken. Of declarations without a definition the first one stands for all. */
static struct str name_give(struct joiner *k, struct ptx_module *m, struct str name, u32 number, bool own,
                            struct ptx_var *var)
{
    struct linked_place *p = map_get(&k->places, name);
    if (!own && p) {
        if (p->var && var) p->var->align = MAX_OF(p->var->align, var->align);
        return name;
    }
    if (p) name = name_apart(k, m, name, number);
    place_new(k, name, m, var);
    return name;
}

static void names_give(struct joiner *k, struct ptx_module *m, u32 number, bool own)
{
    for (u32 i = 0; i < m->nvar; i++) {
        struct ptx_var *v = m->var[i];
        const struct ptx_symbol *s = map_get(&m->symbols, v->name);
        if (!v->instead && var_is_own(v) == own && s && s->var == v)
            v->shown = name_give(k, m, v->name, number, own, v);
    }
    for (u32 i = 0; i < m->nfunc; i++) {
        struct ptx_func *f = m->func[i];
        if (!f->instead && func_is_own(f) == own) f->shown = name_give(k, m, f->name, number, own, NULL);
    }
}

/* ---- things in their order ---- */

static void declare(struct joiner *k, const struct ptx_func *f)
{
    struct linked_place *p = map_get(&k->places, f->shown);
    if (p->state == STATE_DONE) return;
    p->state = STATE_DONE;
    put_func(&k->o, f, false);
}

static bool define_var(struct joiner *k, const struct ptx_var *v)
{
    struct linked_place *p = map_get(&k->places, v->shown);
    const struct ptx_module *before = k->o.m;
    if (p->state == STATE_DONE) return true;
    if (p->state == STATE_OPEN)
        return refuse(k, p->in, v->at,
                      "`%.*s` and a variable of another file hold each other's address: one text cannot say that, give "
                      "launch the files",
                      SHOW(v->name));
    p->state = STATE_OPEN;
    k->o.m = p->in;
    bool ok = true;
    for (u32 i = 0; ok && i < v->ninit; i++) {
        const struct ptx_symbol *s = v->init[i].sym.n ? map_get(&p->in->symbols, v->init[i].sym) : NULL;
        if (s && s->func) declare(k, s->func);
        ok = !s || !s->var || define_var(k, s->var);
    }
    if (ok) put_var(&k->o, v);
    p->state = STATE_DONE;
    k->o.m = before;
    return ok;
}

static void define_func(struct joiner *k, const struct ptx_func *f)
{
    if (f->instead) {
        declare(k, f->instead);
        return;
    }
    ((struct linked_place *)map_get(&k->places, f->shown))->state = STATE_DONE;
    put_func(&k->o, f, true);
}

/* An alias of a weak function does not exist, so what it stands for is printed whenever the alias is. */
static void put_alias(struct joiner *k, const struct ptx_item *it)
{
    const struct ptx_module *m = k->o.m;
    for (u32 i = 0; i < m->nfunc; i++)
        if (str_eq(m->func[i]->name, m->alias[it->index].alias) && !m->func[i]->instead) put_item(&k->o, it);
}

static bool put_thing(struct joiner *k, const struct ptx_item *it)
{
    switch (it->kind) {
    case ITEM_VAR: {
        const struct ptx_var *v = it->var->instead ? it->var->instead : it->var;
        if (v->is_extern && v->space == SP_SHARED && v->size)
            return refuse(k, k->o.m, v->at,
                          "`%.*s` is not defined in any file, and a joined text would make it a separate variable: "
                          "define it in one file",
                          SHOW(v->name));
        return define_var(k, v);
    }
    case ITEM_DECLARATION: declare(k, it->func->instead ? it->func->instead : it->func); return true;
    case ITEM_FUNC: define_func(k, it->func); return true;
    case ITEM_ALIAS: put_alias(k, it); return true;
    case ITEM_SECTION: return true;
    default: put_item(&k->o, it); return true;
    }
}

/* ---- head and end ---- */

static bool options_agree(const struct ptx_module *a, const struct ptx_module *b)
{
    for (u32 i = 0; i < a->ntarget_option; i++) {
        bool found = str_is(a->target_option[i], "debug");
        for (u32 j = 0; j < b->ntarget_option; j++) found |= str_eq(a->target_option[i], b->target_option[j]);
        if (!found) return false;
    }
    return true;
}

/* The newest version, and the target of the module whose target is the newest: the others' code runs there, unless it
 * is for one architecture alone. */
static bool put_first_lines(struct joiner *k, struct ptx_module *first)
{
    const struct ptx_module *top = first;
    u32 version = 0;
    for (const struct ptx_module *m = first; m; m = m->next) {
        u32 v = 100 * m->version_major + m->version_minor;
        version = MAX_OF(version, v);
        if (m->target > top->target || (m->target == top->target && m->target_suffix && top->target_suffix != 'a'))
            top = m;
    }
    for (const struct ptx_module *m = first; m; m = m->next)
        if ((m->target_suffix && m->target != top->target) || !options_agree(m, top) || !options_agree(top, m))
            return refuse(k, m, NULL, "this is for another .target than %s: one text has one, give launch the files",
                          top->name);
    k->o.m = top;
    put_head(&k->o, version / 100, version % 100);
    return true;
}

static void put_names(struct joiner *k)
{
    struct text *to = k->o.to;
    if (!k->names.list.n) return;
    text_add(to, "\n.section .debug_str\n{\n");
    for (u32 i = 0; i < k->names.list.n; i++) {
        struct str s = k->names.list.p[i];
        text_add(to, LINKED_NAME ":\n.b8 ", i);
        for (u32 j = 0; j < s.n; j++) text_add(to, "%u,", (u8)s.p[j]);
        text_add(to, "0\n");
    }
    text_add(to, "}\n");
}

/* Whether it is PTX. What is wrong with it has no place that the user knows. */
static bool text_parses(struct joiner *k)
{
    struct error e = { 0 };
    struct ptx_module *m = ptx_parse("the linked text", (struct str){ k->o.to->p, (u32)k->o.to->n }, &e);
    bool ok = m && ptx_verify(m, &e);
    if (m) ptx_free(m);
    return ok ||
           error_set(k->e, e.code, "these files make no single text, give launch the files: %s: %s", e.where, e.text);
}

bool ptx_print_linked(struct ptx_module *first, struct text *out, struct error *e)
{
    struct joiner k = { .e = e, .o = { .to = out } };
    u32 number = 0;
    k.names.mem = &k.mem;
    k.o.names = &k.names;
    for (struct ptx_module *m = first; m; m = m->next) take_all(&k, m);
    for (struct ptx_module *m = first; m; m = m->next) names_give(&k, m, 0, false);
    for (struct ptx_module *m = first; m; m = m->next) names_give(&k, m, ++number, true);
    bool ok = put_first_lines(&k, first);
    for (struct ptx_module *m = first; ok && m; m = m->next) {
        k.o.m = m;
        for (u32 i = 0; ok && i < m->nitem; i++) ok = put_thing(&k, &m->item[i]);
        u32 last = 0;
        for (u32 i = 0; i < m->nfiles; i++) last = MAX_OF(last, m->files[i].number);
        k.o.files += last;
    }
    put_names(&k);
    ok = ok && text_parses(&k);
    arena_free(&k.mem);
    return ok;
}
