/* Operators and expressions in mangled names: `operator+`, and what template arguments compute (Itanium C++ ABI,
 * 5.1.3 and 5.1.6). */
#include "base/demangle.h"

/* code, how it is written, how many operands; 0: has a form of its own. */
static const struct operator_name {
    const char *code, *text;
    u32 operands;
} ops[] = {
    { "aN", "&=", 2 }, { "aS", "=", 2 },       { "aa", "&&", 2 },   { "ad", "&", 1 },      { "an", "&", 2 },
    { "cl", "()", 0 }, { "cm", ",", 2 },       { "co", "~", 1 },    { "dV", "/=", 2 },     { "da", " delete[]", 0 },
    { "de", "*", 1 },  { "dl", " delete", 0 }, { "dv", "/", 2 },    { "eO", "^=", 2 },     { "eo", "^", 2 },
    { "eq", "==", 2 }, { "ge", ">=", 2 },      { "gt", ">", 2 },    { "ix", "[]", 0 },     { "lS", "<<=", 2 },
    { "le", "<=", 2 }, { "ls", "<<", 2 },      { "lt", "<", 2 },    { "mI", "-=", 2 },     { "mL", "*=", 2 },
    { "mi", "-", 2 },  { "ml", "*", 2 },       { "mm", "--", 1 },   { "na", " new[]", 0 }, { "ne", "!=", 2 },
    { "ng", "-", 1 },  { "nt", "!", 1 },       { "nw", " new", 0 }, { "oR", "|=", 2 },     { "oo", "||", 2 },
    { "or", "|", 2 },  { "pL", "+=", 2 },      { "pl", "+", 2 },    { "pm", "->*", 2 },    { "pp", "++", 1 },
    { "ps", "+", 1 },  { "pt", "->", 0 },      { "rM", "%=", 2 },   { "rS", ">>=", 2 },    { "rm", "%", 2 },
    { "rs", ">>", 2 }, { "ss", "<=>", 2 },
};

static const struct operator_name *find_op(const char *p, const char *end)
{
    for (u32 i = 0; end - p >= 2 && i < COUNT_OF(ops); i++)
        if (!memcmp(p, ops[i].code, 2)) return &ops[i];
    return NULL;
}

static struct name_node *affix(struct name_reader *r, const char *before, struct name_node *a, const char *after)
{
    struct name_node *n = a ? name_new(r, NAME_AFFIX, str_of(before), a, NULL) : NULL;
    if (n) n->text2 = str_of(after);
    return n;
}

struct name_node *name_operator(struct name_reader *r, struct name_ending *ending)
{
    if (name_eat(r, "cv")) {
        ending->no_result = true;
        return affix(r, "operator ", name_type(r), "");
    }
    if (name_eat(r, "li")) return affix(r, "operator\"\" ", name_source(r), "");
    const struct operator_name *op = find_op(r->p, r->end);
    if (!op) return NULL;
    r->p += 2;
    return name_new(r, NAME_AFFIX, STR("operator"), name_new(r, NAME_TEXT, str_of(op->text), NULL, NULL), NULL);
}

struct name_node *name_literal(struct name_reader *r)
{
    if (!name_eat(r, "L")) return NULL;
    if (name_eat(r, "_Z")) {
        struct name_node *n = name_encoding(r);
        return name_eat(r, "E") ? n : NULL;
    }
    struct name_node *type = name_type(r);
    const char *from = r->p;
    while (r->p < r->end && *r->p != 'E') r->p++;
    struct str value = { from, (u32)(r->p - from) };
    if (!type || !name_eat(r, "E")) return NULL;
    if (!value.n && type->kind == NAME_TEXT && str_is(type->text, "decltype(nullptr)"))
        return name_new(r, NAME_TEXT, STR("nullptr"), NULL, NULL);
    return name_new(r, NAME_LITERAL, value, type, NULL);
}

/* Expressions up to E. */
static bool expressions(struct name_reader *r, struct name_node *into)
{
    name_list list = { 0 };
    while (!name_eat(r, "E")) {
        struct name_node *x = name_expression(r);
        if (!x) return false;
        VEC_PUSH(r->mem, &list, x);
    }
    into->list = list.p;
    into->n = list.n;
    return true;
}

static struct name_node *call(struct name_reader *r, struct name_node *callee, bool callee_needed, const char *open,
                              const char *close)
{
    struct name_node *n = name_new(r, NAME_CALL, str_of(open), callee, NULL);
    n->text2 = str_of(close);
    return (!callee_needed || callee) && expressions(r, n) ? n : NULL;
}

/* An identifier, with template arguments when they follow. */
static struct name_node *simple_id(struct name_reader *r)
{
    struct name_node *n = name_source(r);
    if (!n || r->p >= r->end || *r->p != 'I') return n;
    struct name_node *args = name_template_args(r), *t = name_new(r, NAME_TEMPLATE, STR(""), n, NULL);
    if (!args) return NULL;
    t->list = args->list;
    t->n = args->n;
    return t;
}

/* sr type name: a name inside a type that is not known yet; sr [N type] name... E name with a longer path. */
static struct name_node *unresolved(struct name_reader *r)
{
    bool typed = name_eat(r, "N"), path = typed || (r->p < r->end && *r->p >= '0' && *r->p <= '9');
    struct name_node *n = path && !typed ? simple_id(r) : name_type(r);
    while (n && path && !name_eat(r, "E")) {
        struct name_node *part = simple_id(r);
        n = part ? name_new(r, NAME_NESTED, STR("::"), n, part) : NULL;
    }
    struct name_ending ignored;
    struct name_node *last = !n ? NULL : name_eat(r, "on") ? name_operator(r, &ignored) : simple_id(r);
    return last ? name_new(r, NAME_NESTED, STR("::"), n, last) : NULL;
}

/* fp [qualifiers] [number] _ and fL number p ...: a parameter of the function itself. */
static struct name_node *function_param(struct name_reader *r)
{
    if (name_eat(r, "fL")) {
        name_digits(r);
        if (!name_eat(r, "p")) return NULL;
    } else if (!name_eat(r, "fp")) {
        return NULL;
    }
    while (name_eat(r, "r") || name_eat(r, "V") || name_eat(r, "K")) {}
    struct str number = name_digits(r);
    if (!name_eat(r, "_")) return NULL;
    return affix(r, "{parm#", name_new(r, NAME_TEXT, number.n ? number : STR("1"), NULL, NULL), "}");
}

static struct name_node *conversion(struct name_reader *r)
{
    struct name_node *type = name_type(r);
    if (!type) return NULL;
    if (name_eat(r, "_")) return call(r, type, true, "(", ")");
    struct name_node *x = name_expression(r);
    struct name_node *n = x ? name_new(r, NAME_CALL, STR("("), affix(r, "(", type, ")"), NULL) : NULL;
    if (!n) return NULL;
    n->text2 = STR(")");
    n->list = NEW(r->mem, struct name_node *);
    n->list[0] = x;
    n->n = 1;
    return n;
}

static struct name_node *choice(struct name_reader *r)
{
    struct name_node *n = name_new(r, NAME_CHOICE, STR(""), name_expression(r), NULL);
    n->b = n->a ? name_expression(r) : NULL;
    n->list = NEW(r->mem, struct name_node *);
    n->list[0] = n->b ? name_expression(r) : NULL;
    n->n = 1;
    return n->list[0] ? n : NULL;
}

/* Binary with an operator between that needs no brackets: a.b, a[b]. */
static struct name_node *pair(struct name_reader *r, const char *between, const char *after)
{
    struct name_node *a = name_expression(r), *b = a ? name_expression(r) : NULL;
    return b ? affix(r, "", name_new(r, NAME_NESTED, str_of(between), a, b), after) : NULL;
}

static struct name_node *by_operator(struct name_reader *r)
{
    const struct operator_name *op = find_op(r->p, r->end);
    if (!op || !op->operands) return NULL;
    r->p += 2;
    if (op->operands == 1) {
        name_eat(r, "_");
        struct name_node *a = name_expression(r);
        return a ? affix(r, arena_printf(r->mem, "%s(", op->text), a, ")") : NULL;
    }
    struct name_node *a = name_expression(r), *b = a ? name_expression(r) : NULL;
    return b ? name_new(r, NAME_BINARY, str_of(op->text), a, b) : NULL;
}

static struct name_node *special(struct name_reader *r)
{
    static const struct {
        const char *code, *before, *after;
        bool type;
    } wraps[] = {
        { "sz", "sizeof (", ")", false }, { "st", "sizeof (", ")", true },    { "az", "alignof (", ")", false },
        { "at", "alignof (", ")", true }, { "nx", "noexcept (", ")", false }, { "te", "typeid (", ")", false },
        { "ti", "typeid (", ")", true },  { "sp", "", "...", false },         { "tw", "throw ", "", false },
    };
    for (u32 i = 0; i < COUNT_OF(wraps); i++)
        if (name_eat(r, wraps[i].code))
            return affix(r, wraps[i].before, wraps[i].type ? name_type(r) : name_expression(r), wraps[i].after);
    if (name_eat(r, "sZ"))
        return affix(r, "sizeof...(", r->p < r->end && *r->p == 'T' ? name_param(r) : name_expression(r), ")");
    if (name_eat(r, "cl")) return call(r, name_expression(r), true, "(", ")");
    if (name_eat(r, "cv")) return conversion(r);
    if (name_eat(r, "tl")) return call(r, name_type(r), true, "{", "}");
    if (name_eat(r, "il")) return call(r, NULL, false, "{", "}");
    if (name_eat(r, "qu")) return choice(r);
    if (name_eat(r, "dt")) return pair(r, ".", "");
    if (name_eat(r, "pt")) return pair(r, "->", "");
    if (name_eat(r, "ix")) return pair(r, "[", "]");
    if (name_eat(r, "sr")) return unresolved(r);
    return by_operator(r);
}

static struct name_node *expression(struct name_reader *r)
{
    if (r->p >= r->end) return NULL;
    name_eat(r, "gs");
    switch (r->p < r->end ? *r->p : 0) {
    case 'L': return name_literal(r);
    case 'T': return name_param(r);
    case 'f':
        if (r->end - r->p > 1 && (r->p[1] == 'p' || r->p[1] == 'L')) return function_param(r);
        return NULL;
    case '0':
    case '1':
    case '2':
    case '3':
    case '4':
    case '5':
    case '6':
    case '7':
    case '8':
    case '9': return simple_id(r);
    default: return special(r);
    }
}

struct name_node *name_expression(struct name_reader *r)
{
    bool tag = r->tag;
    r->tag = false;
    struct name_node *n = name_enter(r) ? expression(r) : NULL;
    r->depth--;
    r->tag = tag;
    return n;
}
