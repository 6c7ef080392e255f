/* Functions and kernels: head, parameters, performance directives (manual sections 5.4.1, 7, 11.1, 11.4).
 *
 * A function may be declared many times and defined once, in any order; all of them are one struct ptx_func, whose
 * address never changes, because instructions read before the definition point to it already. */
#include "ptx/parser.h"

typedef VEC(struct ptx_var *) var_list;

static bool params_parse(struct parser *p, var_list *out)
{
    advance(p);
    if (accept(p, ')')) return true;
    do {
        struct ptx_var *v = param_parse(p);
        if (!v) return false;
        VEC_PUSH(&p->m->mem, out, v);
    } while (accept(p, ','));
    return expect(p, ')', ", or )");
}

/* Gives each parameter its place; returns the size of the block. */
static u64 layout(const var_list *list)
{
    u64 end = 0;
    for (u32 i = 0; i < list->n; i++) {
        struct ptx_var *v = list->p[i];
        if (v->space != SP_PARAM) continue;
        v->offset = (end + v->align - 1) / v->align * v->align;
        end = v->offset + v->size;
    }
    return end;
}

bool prototype_parse(struct parser *p, struct ptx_func *f)
{
    var_list ret = { 0 }, param = { 0 };
    const char *at = p->t.at;
    if (is_punct(p, '(') && !params_parse(p, &ret)) return false;
    if (f->is_entry && ret.n) return fail_at(p, at, "a kernel returns nothing");
    f->at = p->t.at;
    f->line = p->t.line;
    if (!expect_name(p, &f->name, "the name of a function")) return false;
    if (is_punct(p, '(') && !params_parse(p, &param)) return false;
    for (u32 i = 0; i < param.n; i++) param.p[i]->is_input = true;
    for (u32 i = 0; i < ret.n; i++) {
        const struct ptx_var *r = ret.p[i];
        ret.p[i]->is_result = true;
        if (ret.n > 1 && r->space != SP_REG) return fail_at(p, r->at, "more than one result: each of them is a .reg");
        if (r->ndims && !r->size)
            return fail_at(p, r->at, "the result `%.*s` is an array without a size", SHOW(r->name));
    }
    f->param_bytes = layout(&param);
    layout(&ret);
    f->param = param.p, f->nparam = param.n;
    f->ret = ret.p, f->nret = ret.n;
    return true;
}

static bool positive(struct parser *p, u32 *v)
{
    const char *at = p->t.at;
    return expect_u32(p, v, "a number") && (*v || fail_at(p, at, "this number is at least 1"));
}

static bool triple(struct parser *p, u32 v[3])
{
    u32 n = 0;
    v[1] = v[2] = 1;
    do
        if (!positive(p, &v[n++])) return false;
    while (n < 3 && accept(p, ','));
    return true;
}

/* Directives that only the printer needs stay text. */
static bool option_keep(struct parser *p, struct ptx_func *f, const char *start, const char *end)
{
    VEC(struct str) v = { f->option, f->noption, f->noption };
    if (f->noption == 64) return fail_at(p, start, "more than 64 directives");
    VEC_PUSH(&p->m->mem, &v, ((struct str){ start, (u32)(end - start) }));
    f->option = v.p;
    f->noption = v.n;
    return true;
}

static bool pragma_keep(struct parser *p, struct ptx_func *f)
{
    const char *start = p->t.at;
    advance(p);
    if (p->t.kind != TK_STRING) return unexpected(p, "a string");
    advance(p);
    const char *end = p->t.at + 1;
    return expect_end(p, ".pragma") && option_keep(p, f, start, end);
}

bool number_keep(struct parser *p, struct ptx_func *f)
{
    const char *start = p->t.at;
    advance(p);
    const char *end = p->t.at + p->t.s.n;
    u32 n;
    return expect_u32(p, &n, "a number") && option_keep(p, f, start, end);
}

/* .attribute(.unified(1, 2)) of a function */
static bool attribute_keep(struct parser *p, struct ptx_func *f)
{
    const char *start = p->t.at;
    u32 depth = 0;
    advance(p);
    do {
        if (p->t.kind == TK_END || p->t.kind == TK_BAD || is_punct(p, ';') || is_punct(p, '{'))
            return unexpected(p, ")");
        depth += is_punct(p, '(');
        if (!depth) return unexpected(p, "( after .attribute");
        depth -= is_punct(p, ')');
        advance(p);
    } while (depth);
    const char *end = p->t.at;
    while (end[-1] != ')') end--;
    return option_keep(p, f, start, end);
}

/* .language of PTX 9.4: which compiler's source it is of. */
static bool language_keep(struct parser *p, struct ptx_func *f)
{
    enum { LANGUAGE_TILE = 7 };
    f->is_tile = peek(p).value == LANGUAGE_TILE;
    return number_keep(p, f);
}

/* One directive between the head and the body. */
static bool option_parse(struct parser *p, struct ptx_func *f)
{
    const struct {
        const char *name;
        u32 *three, *one;
        bool *flag;
    } all[] = {
        { ".maxntid", f->maxntid, NULL, NULL },
        { ".reqntid", f->reqntid, NULL, NULL },
        { ".reqnctapercluster", f->reqnctapercluster, NULL, NULL },
        { ".minnctapersm", NULL, &f->minnctapersm, NULL },
        { ".maxnreg", NULL, &f->maxnreg, NULL },
        { ".maxclusterrank", NULL, &f->maxclusterrank, NULL },
        { ".explicitcluster", NULL, NULL, &f->explicit_cluster },
        { ".noreturn", NULL, NULL, &f->is_noreturn },
        { ".blocksareclusters", NULL, NULL, &f->blocks_are_clusters },
    };
    if (is_dot(p, ".pragma")) return pragma_keep(p, f);
    if (is_dot(p, ".language")) return language_keep(p, f);
    if (is_dot(p, ".abi_preserve") || is_dot(p, ".abi_preserve_control"))
        return f->is_entry ? fail_at(p, p->t.at, "%.*s is for functions", SHOW(p->t.s)) : number_keep(p, f);
    if (is_dot(p, ".maxnctapersm"))
        return fail_at(p, p->t.at,
                       ".maxnctapersm went with PTX 2.1; .minnctapersm says how many there are to be at least");
    for (size_t i = 0; i < COUNT_OF(all); i++) {
        if (!is_dot(p, all[i].name)) continue;
        if (f->is_entry == (all[i].flag == &f->is_noreturn))
            return fail_at(p, p->t.at, "%s is for %s", all[i].name, f->is_entry ? "functions" : "kernels");
        advance(p);
        if (all[i].flag) *all[i].flag = true;
        return all[i].flag || (all[i].three                       ? triple(p, all[i].three)
                               : all[i].one == &f->maxclusterrank ? expect_u32(p, all[i].one, "a number")
                                                                  : positive(p, all[i].one));
    }
    return fail_at(p, p->t.at, "unknown directive %.*s", SHOW(p->t.s));
}

static bool same_parameters(struct ptx_var *const *a, u32 na, struct ptx_var *const *b, u32 nb)
{
    if (na != nb) return false;
    for (u32 i = 0; i < na; i++)
        if (a[i]->space != b[i]->space || type_size[a[i]->type] != type_size[b[i]->type] ||
            type_is_float(a[i]->type) != type_is_float(b[i]->type) || a[i]->size != b[i]->size)
            return false;
    return true;
}

bool prototypes_agree(const struct ptx_func *a, const struct ptx_func *b)
{
    return same_parameters(a->param, a->nparam, b->param, b->nparam) &&
           same_parameters(a->ret, a->nret, b->ret, b->nret);
}

static const char *linkage_name(const struct ptx_func *f)
{
    return f->is_extern ? ".extern" : f->is_weak ? ".weak" : f->is_visible ? ".visible" : "one of this module alone";
}

/* Whether `f` may follow the declaration `old`: a word in front is the same in all of them, or left out after
 * .visible and .weak. */
static bool may_follow(struct parser *p, const struct ptx_func *old, const struct ptx_func *f)
{
    bool bare = !f->is_extern && !f->is_weak && !f->is_visible;
    if (old->has_body && f->has_body)
        return fail_at(p, f->at, "function `%.*s` is defined twice, first in line %u", SHOW(f->name), old->line);
    if (old->is_entry != f->is_entry || (f->has_body && old->alias_of))
        return fail_at(p, f->at, "`%.*s` was declared as something else in line %u", SHOW(f->name), old->line);
    if (!prototypes_agree(old, f))
        return fail_at(p, f->at, "`%.*s` has other parameters than in line %u", SHOW(f->name), old->line);
    if (old->has_body)
        return fail_at(p, f->at, "`%.*s` has been defined in line %u, and is declared again", SHOW(f->name), old->line);
    if (strcmp(linkage_name(old), linkage_name(f)) && (old->is_extern || !bare))
        return fail_at(p, f->at, "`%.*s` was declared as %s in line %u", SHOW(f->name), linkage_name(old), old->line);
    return true;
}

static struct ptx_func *func_add(struct parser *p, struct ptx_func *f)
{
    struct ptx_symbol *s = symbol_add(p, f->name);
    if (s->var) {
        fail_at(p, f->at, "`%.*s` is already a variable", SHOW(f->name));
        return NULL;
    }
    if (!s->func) {
        s->func = f;
        VEC_PUSH(&p->m->mem, &p->funcs, f);
        return f;
    }
    struct ptx_func *old = s->func, both = *f;
    if (!may_follow(p, old, f)) return NULL;
    both.is_visible = old->is_visible || f->is_visible;
    both.is_weak = old->is_weak || f->is_weak;
    both.is_noreturn = old->is_noreturn || f->is_noreturn;
    both.alias_of = old->alias_of;
    *old = both;
    return old;
}

/* What the directives of a kernel say together. */
static bool options_check(struct parser *p, const struct ptx_func *f)
{
    if (f->reqntid[0] && f->maxntid[0])
        return fail_at(p, f->at, "`%.*s` has both .reqntid and .maxntid", SHOW(f->name));
    if (f->is_noreturn && f->nret) return fail_at(p, f->at, "`%.*s` is .noreturn, and has a result", SHOW(f->name));
    if (f->blocks_are_clusters && !(f->reqntid[0] && f->reqnctapercluster[0]))
        return fail_at(p, f->at, ".blocksareclusters needs .reqntid and .reqnctapercluster");
    return true;
}

/* Parameters of kernels are in the .param space, complete, and not too many. */
static bool kernel_check(struct parser *p, const struct ptx_func *f)
{
    bool large = p->m->target >= 70 && 10 * p->m->version_major + p->m->version_minor >= 81;
    u32 limit = large ? 32764 : 4352;
    for (u32 i = 0; i < f->nparam; i++) {
        const struct ptx_var *v = f->param[i];
        if (f->is_entry && v->space != SP_PARAM)
            return fail_at(p, v->at, "a parameter of a kernel is declared as .param");
        if (f->is_entry && !v->size) return fail_at(p, v->at, "a parameter of a kernel has a size");
        if (!f->is_entry && (v->is_ptr || v->ptr_align))
            return fail_at(p, v->at, "%s is for parameters of kernels", v->is_ptr ? ".ptr" : ".align after the type");
    }
    return !f->is_entry || f->param_bytes <= limit ||
           fail_at(p, f->at, "kernel `%.*s` has %llu bytes of parameters; there may be %u", SHOW(f->name),
                   (unsigned long long)f->param_bytes, limit);
}

/* Whether something else of module scope begins here: then the declaration of a function is over, as ptxas sees it,
 * with or without its semicolon. */
static bool item_begins(const struct parser *p)
{
    static const char *const words[] = { ".extern", ".visible", ".weak",  ".common", ".global",  ".const",
                                         ".shared", ".func",    ".entry", ".file",   ".section", ".alias" };
    for (size_t i = 0; i < COUNT_OF(words); i++)
        if (is_dot(p, words[i])) return true;
    return p->t.kind == TK_END;
}

bool func_parse(struct parser *p, struct linkage l)
{
    struct ptx_func *f = NEW(&p->m->mem, struct ptx_func);
    f->module = p->m;
    f->is_entry = is_dot(p, ".entry");
    f->is_visible = l.is_visible;
    f->is_weak = l.is_weak;
    advance(p);
    while (is_dot(p, ".attribute"))
        if (!attribute_keep(p, f)) return false;
    if (!prototype_parse(p, f)) return false;
    while (p->t.kind == TK_DOT && (f->is_entry || !item_begins(p)))
        if (!option_parse(p, f)) return false;
    f->has_body = is_punct(p, '{');
    if (l.is_extern && f->has_body) return fail_at(p, f->at, ".extern `%.*s` has a body", SHOW(f->name));
    if (!kernel_check(p, f) || !options_check(p, f)) return false;
    f->is_extern = l.is_extern;
    struct ptx_func *known = func_add(p, f);
    if (!known) return false;
    VEC_PUSH(&p->m->mem, &p->items,
             ((struct ptx_item){ .kind = f->has_body ? ITEM_FUNC : ITEM_DECLARATION, .func = known }));
    if (f->has_body) return body_parse(p, known);
    return accept(p, ';') || (!f->is_entry && item_begins(p)) || unexpected(p, "{ or ;");
}
