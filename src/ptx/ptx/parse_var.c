/* Variables: state space, type, array dimensions, initialiser (manual sections 5.1 to 5.4).
 *
 * A declaration is read in two halves: what all its names share (struct decl) and what each name adds. Initialisers
 * are flattened: braces are placed by the dimensions (.v4 counts as the innermost one) and the holes filled with
 * zero. */
#include "ptx/parser.h"

struct decl { /* what stands before the names of a declaration */
    enum ptx_space space;
    enum ptx_type type;
    u32 align;       /* 0: natural */
    u32 vec;         /* 1, 2, 4, 8 */
    bool is_managed; /* .attribute(.managed) */
    bool is_unified;
    u32 unified[2];           /* .attribute(.unified(1, 2)) */
    bool is_ptr;              /* .ptr */
    enum ptx_space ptr_space; /* of .ptr */
    u32 ptr_align;            /* of .ptr, 0: not given */
};

bool space_find(struct str dot, enum ptx_space *space)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } all[] = {
        { ".global", SP_GLOBAL }, { ".shared", SP_SHARED }, { ".const", SP_CONST }, { ".local", SP_LOCAL },
        { ".param", SP_PARAM },   { ".reg", SP_REG },       { ".tex", SP_GLOBAL },
    };
    for (size_t i = 0; i < COUNT_OF(all); i++)
        if (str_is(dot, all[i].name)) {
            *space = all[i].space;
            return true;
        }
    return false;
}

bool is_linkage(struct parser *p, struct linkage *l)
{
    if (l->is_visible || l->is_extern || l->is_weak || l->is_common) return false; /* one is all there may be */
    if (is_dot(p, ".visible"))
        l->is_visible = true;
    else if (is_dot(p, ".extern"))
        l->is_extern = true;
    else if (is_dot(p, ".weak"))
        l->is_weak = true;
    else if (is_dot(p, ".common"))
        l->is_common = true;
    else
        return false;
    advance(p);
    return true;
}

static bool align_parse(struct parser *p, u32 *align)
{
    advance(p);
    const char *at = p->t.at;
    if (!expect_u32(p, align, "an alignment")) return false;
    if (!*align || *align & (*align - 1) || *align > 1u << 20) return fail_at(p, at, "an alignment is a power of two");
    return true;
}

/* .attribute(.managed), .attribute(.unified(1, 2)) */
static bool attribute_parse(struct parser *p, struct decl *d)
{
    advance(p);
    if (!expect(p, '(', "( after .attribute")) return false;
    do {
        if (is_dot(p, ".managed")) {
            d->is_managed = true;
            advance(p);
        } else if (is_dot(p, ".unified")) {
            advance(p);
            d->is_unified = true;
            if (!expect(p, '(', "(") || !expect_u32(p, &d->unified[0], "a number") || !expect(p, ',', "a comma") ||
                !expect_u32(p, &d->unified[1], "a number") || !expect(p, ')', ")"))
                return false;
        } else {
            return unexpected(p, ".managed or .unified");
        }
    } while (accept(p, ','));
    return expect(p, ')', ")");
}

bool vector_check(struct parser *p, enum ptx_type type, u32 vec)
{
    if (vec > 1 && type == T_PRED) return fail_at(p, p->t.at, "predicates make no vector");
    return vec * type_size[type] <= 16 || fail_at(p, p->t.at, "a vector has at most 16 bytes");
}

/* Types that a variable can have: the others are types of instructions only. */
bool type_is_storage(enum ptx_type t)
{
    return t == T_PRED || (t >= T_B8 && t <= T_F16X2) || t == T_F32 || t == T_F64 || t >= T_TEXREF;
}

static bool decl_word(struct parser *p, struct decl *d)
{
    enum ptx_space space;
    struct str s = p->t.s;
    if (str_is(s, ".align") && d->type && (d->space != SP_PARAM || d->ptr_align))
        return fail_at(p, p->t.at, d->ptr_align ? "a second .align" : ".align stands before the type");
    /* after the type of a parameter it speaks of what that points to, .ptr or not */
    if (str_is(s, ".align")) return align_parse(p, d->type ? &d->ptr_align : &d->align);
    if (str_is(s, ".attribute")) return attribute_parse(p, d);
    enum ptx_type type = type_find((struct str){ s.p + 1, s.n - 1 });
    if (type && !type_is_storage(type))
        return fail_at(p, p->t.at, "`%.*s` is a type of instructions, not of variables", SHOW(s));
    if (type && !d->type)
        d->type = type;
    else if ((str_is(s, ".v2") || str_is(s, ".v4")) && !d->type && d->vec == 1)
        d->vec = (u32)(s.p[2] - '0');
    else if (str_is(s, ".ptr") && d->space == SP_PARAM && d->type && !d->is_ptr && !d->ptr_align)
        d->is_ptr = true;
    else if (d->is_ptr && !d->ptr_space && !d->ptr_align && space_find(s, &space) && space != SP_REG)
        d->ptr_space = space;
    else
        return fail_at(p, p->t.at, "`%.*s` has no place in this declaration", SHOW(s));
    advance(p);
    return true;
}

/* Reads from the state space on up to the first name. */
static bool decl_parse(struct parser *p, struct decl *d)
{
    *d = (struct decl){ .vec = 1 };
    if (p->t.kind != TK_DOT || !space_find(p->t.s, &d->space)) return unexpected(p, "a state space such as .param");
    advance(p);
    while (p->t.kind == TK_DOT)
        if (!decl_word(p, d)) return false;
    if (!d->type)
        return is_punct(p, '[') && d->space == SP_CONST
                   ? fail_at(p, p->t.at, "explicit constant banks, .const[N], went with PTX 2.2: leave the bank out")
                   : unexpected(p, "a type such as .b32");
    if (!vector_check(p, d->type, d->vec)) return false;
    if (d->space == SP_PARAM && (d->vec > 1 || d->type == T_F16X2))
        return fail_at(p, p->t.at, "a .param variable is a scalar or an array, of no packed type");
    return !d->is_managed || d->space == SP_GLOBAL || fail_at(p, p->t.at, "only .global variables are managed");
}

/* One name with its dimensions. */
static bool var_name(struct parser *p, const struct decl *d, struct ptx_var *v)
{
    *v = (struct ptx_var){ .space = d->space,
                           .type = d->type,
                           .vec = d->vec,
                           .is_managed = d->is_managed,
                           .is_unified = d->is_unified,
                           .unified = { d->unified[0], d->unified[1] },
                           .is_ptr = d->is_ptr,
                           .ptr_space = d->ptr_space,
                           .ptr_align = d->ptr_align };
    v->at = p->t.at;
    v->line = p->t.line;
    u32 bytes = type_size[d->type] * d->vec;
    v->align = d->align ? d->align : MAX_OF(bytes, 1u);
    v->size = bytes;
    if (!expect_name(p, &v->name, "a name")) return false;
    if (d->type == T_PRED && d->space != SP_REG)
        return fail_at(p, v->at, "a predicate lives in a register, not in memory");
    while (is_punct(p, '[')) {
        const char *at = p->t.at;
        s64 n = 0;
        advance(p);
        bool is_open = is_punct(p, ']');
        if (v->ndims == COUNT_OF(v->dims)) return fail_at(p, at, "more than %zu array dimensions", COUNT_OF(v->dims));
        if (!is_open && !integer_parse(p, &n)) return false;
        if (n < 0 || n > (s64)UINT32_MAX || (!n && v->ndims))
            return fail_at(p, at, "an array dimension is a positive number below 2^32");
        if (__builtin_mul_overflow(v->size, (u64)MAX_OF(n, 1), &v->size) || v->size > MAX_VAR_BYTES)
            return fail_at(p, at, "`%.*s` is larger than a device's memory", SHOW(v->name));
        v->dims[v->ndims++] = (u32)n;
        if (!expect(p, ']', "]")) return false;
    }
    if (v->ndims && !v->dims[0]) v->size = 0;
    return true;
}

typedef VEC(struct ptx_init) init_list;

/* How many elements one item of this brace level covers; level 0 is the whole variable. */
static u64 level_span(const struct ptx_var *v, u32 level)
{
    u64 n = v->vec;
    if (level > v->ndims) return 1;
    for (u32 i = level; i < v->ndims; i++) n *= v->dims[i];
    return n;
}

/* foo, generic(foo), foo+4 */
static bool symbol_value(struct parser *p, struct ptx_init *x)
{
    s64 off = 0;
    if (p->t.kind == TK_NAME && str_is(p->t.s, "generic")) {
        advance(p);
        x->generic = true;
        if (!expect(p, '(', "( after generic") || !expect_name(p, &x->sym, "a variable") || !expect(p, ')', ")"))
            return false;
    } else if (!expect_name(p, &x->sym, "a variable or a function")) {
        return false;
    }
    const struct ptx_symbol *s = map_get(&p->m->symbols, x->sym);
    if (!s) return fail_at(p, x->sym.p, "`%.*s` is not declared", SHOW(x->sym));
    if (s->var && s->var->space != SP_GLOBAL && s->var->space != SP_CONST)
        return fail_at(p, x->sym.p, "`%.*s` is neither a .global nor a .const variable", SHOW(x->sym));
    if (is_punct(p, '+') && !integer_parse(p, &off)) return false;
    x->value = (u64)off;
    return true;
}

/* 0xFF00(foo): the token in hand is the opening parenthesis. */
static bool masked_value(struct parser *p, struct token mask, struct ptx_init *x)
{
    if (!mask.value) return fail_at(p, mask.at, "a mask of zero selects nothing");
    x->mask = mask.value;
    x->mask_shift = (u32)__builtin_ctzll(x->mask);
    advance(p);
    return symbol_value(p, x) && expect(p, ')', ")");
}

static bool element(struct parser *p, const struct ptx_var *v, struct ptx_init *x)
{
    struct constant c;
    *x = (struct ptx_init){ 0 };
    if (p->t.kind == TK_INT) {
        /* Tables are long lists of plain numbers: those go past the expression parser. */
        struct token t = p->t;
        struct lexer lx = p->lx;
        advance(p);
        if (is_punct(p, '(')) return masked_value(p, t, x);
        if ((is_punct(p, ',') || is_punct(p, '}')) && !type_is_float(v->type)) {
            x->value = constant_as((struct constant){ t.is_unsigned ? CONST_U64 : CONST_S64, t.value }, v->type);
            return true;
        }
        p->t = t;
        p->lx = lx;
    }
    if (!constant_starts(p) && p->t.kind == TK_NAME) return symbol_value(p, x);
    const char *at = p->t.at;
    if (!constant_parse(p, &c)) return false;
    if (v->type == T_F16)
        return fail_at(p, at, "a .f16 variable cannot have an initialiser: declare it as .b16, with the bits");
    bool is_float = c.kind == CONST_F32 || c.kind == CONST_F64;
    bool is_bits = v->type >= T_B8 && v->type <= T_B128 && is_float &&
                   type_size[v->type] == (c.kind == CONST_F32 ? 4 : 8);
    if (is_float != type_is_float(v->type) && !is_bits)
        return fail_at(p, at,
                       is_float ? "a floating-point value for an integer variable"
                                : "a floating-point variable takes a value such as 1.0");
    x->value = is_bits ? c.bits : constant_as(c, v->type);
    return true;
}

/* Zeros for the elements before `pos` that have no value of their own. */
static bool pad_to(struct parser *p, init_list *list, u64 pos)
{
    u64 holes = pos > list->n ? pos - list->n : 0;
    if (holes > MAX_PADDING - p->padding) return fail_at(p, p->t.at, "the initialisers leave out too many elements");
    p->padding += (u32)holes;
    while (list->n < pos) VEC_PUSH(&p->tmp, list, ((struct ptx_init){ 0 }));
    return true;
}

static bool element_put(struct parser *p, const struct ptx_var *v, init_list *list, u64 pos)
{
    struct ptx_init x;
    if (!pad_to(p, list, pos) || !element(p, v, &x)) return false;
    VEC_PUSH(&p->tmp, list, x);
    return true;
}

/* { ... } of one level whose elements start at `first`. */
static bool braces(struct parser *p, const struct ptx_var *v, init_list *list, u32 level, u64 first)
{
    bool is_open = !level && v->ndims && !v->dims[0];
    u64 pos = first, end = is_open ? MAX_VAR_BYTES : first + level_span(v, level), inner = level_span(v, level + 1);
    u32 levels = v->ndims + (v->vec > 1);
    advance(p);
    while (!is_punct(p, '}')) {
        bool is_nested = is_punct(p, '{');
        if (is_nested && level + 1 >= MAX_OF(levels, 1u))
            return fail_at(p, p->t.at, "more braces than `%.*s` has dimensions", SHOW(v->name));
        if (is_nested) pos = first + (pos - first + inner - 1) / inner * inner;
        if (pos >= end) return fail_at(p, p->t.at, "more values than `%.*s` has elements", SHOW(v->name));
        if (is_nested ? !braces(p, v, list, level + 1, pos) : !element_put(p, v, list, pos)) return false;
        pos += is_nested ? inner : 1;
        if (!accept(p, ',')) break;
        if (is_punct(p, '}')) return unexpected(p, "a value after the comma");
    }
    /* The size of an open array comes from its values: it ends with a whole item, and empty braces count. */
    if (is_open && !pad_to(p, list, (pos + inner - 1) / inner * inner)) return false;
    return expect(p, '}', ", or }");
}

/* { addr_mode_0 = clamp_to_edge, ... }: kept as text. */
static bool opaque_state(struct parser *p, struct ptx_var *v)
{
    const char *start = p->t.at;
    if (!is_punct(p, '{')) return unexpected(p, "{");
    while (!is_punct(p, '}')) {
        if (p->t.kind == TK_END || p->t.kind == TK_BAD || is_punct(p, ';')) return unexpected(p, "}");
        advance(p);
    }
    v->state = (struct str){ start, (u32)(p->t.at + 1 - start) };
    advance(p);
    return true;
}

static bool init_parse(struct parser *p, struct ptx_var *v)
{
    const char *at = p->t.at;
    init_list list = { 0 };
    if (v->type == T_TEXREF || v->type == T_SAMPLERREF || v->type == T_SURFREF) return opaque_state(p, v);
    if (v->is_extern) return fail_at(p, at, ".extern `%.*s` cannot have an initialiser", SHOW(v->name));
    if (v->space != SP_GLOBAL && v->space != SP_CONST)
        return fail_at(p, at, "only .global and .const variables can have an initialiser");
    if (is_punct(p, '{') != (v->ndims || v->vec > 1)) return unexpected(p, is_punct(p, '{') ? "a single value" : "{");
    if (is_punct(p, '{') ? !braces(p, v, &list, 0, 0) : !element_put(p, v, &list, 0)) return false;
    if (v->ndims && !v->dims[0]) v->size = (u64)list.n * type_size[v->type];
    v->ninit = list.n;
    v->init = NEW_ARRAY(&p->m->mem, struct ptx_init, list.n);
    if (list.n) memcpy(v->init, list.p, list.n * sizeof *list.p);
    return true;
}

/* Whether two declarations are of the same array; one of them may leave the first dimension open. */
static bool shapes_agree(const struct ptx_var *a, const struct ptx_var *b)
{
    bool same = a->vec == b->vec && a->ndims == b->ndims;
    for (u32 i = 0; same && i < a->ndims; i++) same = a->dims[i] == b->dims[i] || (!i && (!a->dims[0] || !b->dims[0]));
    return same;
}

/* A variable of module scope: new, or the other half of one that was declared .extern. */
static bool global_add(struct parser *p, struct ptx_var *v)
{
    struct ptx_symbol *s = symbol_add(p, v->name);
    if (s->func) return fail_at(p, v->at, "`%.*s` is already a function", SHOW(v->name));
    if (!s->var) {
        s->var = v;
        VEC_PUSH(&p->m->mem, &p->vars, v);
        VEC_PUSH(&p->m->mem, &p->items, ((struct ptx_item){ .kind = ITEM_VAR, .var = v }));
        return true;
    }
    if (!s->var->is_extern && !v->is_extern)
        return fail_at(p, v->at, "`%.*s` is declared twice, first in line %u", SHOW(v->name), s->var->line);
    if (s->var->space != v->space || s->var->type != v->type || !shapes_agree(s->var, v))
        return fail_at(p, v->at, "`%.*s` was declared with another type in line %u", SHOW(v->name), s->var->line);
    if (!v->is_extern && !v->is_visible && !v->is_weak && !v->is_common)
        return fail_at(
            p, v->at,
            "`%.*s` was declared as .extern in line %u, so it cannot be of this module alone: .visible says that",
            SHOW(v->name), s->var->line);
    if (s->var->is_extern && (!v->is_extern || !s->var->size)) *s->var = *v;
    return true;
}

static bool local_add(struct parser *p, struct ptx_var *v)
{
    struct name *n;
    if (!name_add(p, v->name, v->at, &n)) return false;
    n->var = v;
    /* by its name it is still the function's, for ptxas */
    for (u32 i = 0; v->space == SP_PARAM && i < p->func->nparam; i++)
        v->is_input |= str_eq(p->func->param[i]->name, v->name);
    for (u32 i = 0; v->space == SP_PARAM && i < p->func->nret; i++)
        v->is_result |= str_eq(p->func->ret[i]->name, v->name);
    VEC_PUSH(&p->tmp, &p->locals, v);
    stmt_add(p, (struct ptx_stmt){ .kind = STMT_VAR, .var = v });
    if (v->space == SP_GLOBAL || v->space == SP_CONST) VEC_PUSH(&p->m->mem, &p->vars, v);
    return true;
}

/* What only the whole declaration shows. */
static bool var_check(struct parser *p, const struct ptx_var *v)
{
    bool is_opaque = v->type >= T_TEXREF;
    if (is_opaque && (p->func || v->space != SP_GLOBAL))
        return fail_at(p, v->at, "textures and surfaces are .global variables of the module");
    if (v->type == T_SAMPLERREF && !p->m->independent)
        return fail_at(p, v->at, "samplers are part of their textures unless .target says texmode_independent");
    if (v->is_common && v->space != SP_GLOBAL) return fail_at(p, v->at, ".common variables are .global");
    return v->size || v->is_extern || fail_at(p, v->at, "`%.*s` has no size: only .extern arrays may", SHOW(v->name));
}

static bool var_add(struct parser *p, struct ptx_var *v)
{
    return var_check(p, v) && (p->func ? local_add(p, v) : global_add(p, v));
}

/* x<4>: the variables x0 to x3. */
static bool vars_numbered(struct parser *p, const struct ptx_var *v)
{
    u32 n;
    const char *at = p->t.at;
    advance(p);
    if (!expect_u32(p, &n, "the number of variables") || !expect(p, '>', ">")) return false;
    if (n > MAX_NUMBERED) return fail_at(p, at, "more than %d variables", MAX_NUMBERED);
    for (u32 i = 0; i < n; i++) {
        struct ptx_var *one = NEW(&p->m->mem, struct ptx_var);
        *one = *v;
        one->name = str_of(arena_printf(&p->m->mem, "%.*s%u", (int)v->name.n, v->name.p, i));
        if (!var_add(p, one)) return false;
    }
    return true;
}

bool vars_parse(struct parser *p, struct linkage l)
{
    struct decl d;
    if (!decl_parse(p, &d)) return false;
    if (is_punct(p, ';')) /* of nothing */
        return true;
    do {
        struct ptx_var *v = NEW(&p->m->mem, struct ptx_var);
        if (!var_name(p, &d, v)) return false;
        v->is_extern = l.is_extern;
        v->is_visible = l.is_visible;
        v->is_weak = l.is_weak;
        v->is_common = l.is_common;
        if (is_punct(p, '<')) {
            if (!vars_numbered(p, v)) return false;
            continue;
        }
        if (accept(p, '=') && !init_parse(p, v)) return false;
        if (!var_add(p, v)) return false;
    } while (accept(p, ','));
    return true;
}

struct ptx_var *param_parse(struct parser *p)
{
    struct decl d;
    const char *at = p->t.at;
    if (!decl_parse(p, &d)) return NULL;
    if (d.space != SP_PARAM && d.space != SP_REG) {
        fail_at(p, at, "a parameter is declared as .param or .reg");
        return NULL;
    }
    struct ptx_var *v = NEW(&p->m->mem, struct ptx_var);
    if (!var_name(p, &d, v)) return NULL;
    if (v->ndims > (v->space == SP_PARAM)) {
        fail_at(p, v->at, v->ndims > 1 ? "a parameter has one dimension at most" : "a register is not an array");
        return NULL;
    }
    return v;
}
