/* Writing the tree of a mangled name as C++.
 *
 * A declarator wraps around its name: "void (*)(int)". So a type is written in two halves, what stands left of the
 * (absent) name and what stands right of it. A tree may share its nodes many times over, so the work is bounded by
 * steps as well as by length. */
#include "base/demangle.h"

enum { PRINT_STEPS = 100000, PRINT_DEEPEST = 400 };

struct name_printer {
    struct text out;
    bool with_args;         /* template arguments and parameters too */
    bool failed;            /* too long, too deep or too much work */
    u32 at;                 /* element of a pack that is being expanded */
    u32 most, steps, depth; /* bounds */
};

static void whole(struct name_printer *p, const struct name_node *n);

static void put(struct name_printer *p, struct str s)
{
    if (p->out.n + s.n > p->most)
        p->failed = true;
    else
        text_put(&p->out, s.p, s.n);
}

static bool enter(struct name_printer *p)
{
    if (++p->steps > PRINT_STEPS || p->depth > PRINT_DEEPEST) p->failed = true;
    p->depth++;
    return !p->failed;
}

static u32 pack_size(const struct name_node *n, u32 *steps)
{
    if (!n || ++*steps > 2000) return UINT32_MAX;
    if (n->kind == NAME_PACK) return n->n;
    if (n->kind == NAME_EXPAND) return UINT32_MAX;
    u32 size = pack_size(n->a, steps);
    if (size == UINT32_MAX) size = pack_size(n->b, steps);
    for (u32 i = 0; i < n->n && size == UINT32_MAX; i++) size = pack_size(n->list[i], steps);
    return size;
}

u32 name_pack_size(const struct name_node *n)
{
    u32 steps = 0, size = pack_size(n, &steps);
    return size == UINT32_MAX ? 0 : size;
}

/* Things with commas between; a pack that is empty leaves no comma behind. */
static void list(struct name_printer *p, struct name_node *const *item, u32 n)
{
    bool first = true;
    for (u32 i = 0; i < n && !p->failed; i++) {
        size_t before = p->out.n;
        if (!first) put(p, STR(", "));
        size_t from = p->out.n;
        const struct name_node *x = item[i];
        if (x->kind == NAME_PACK) {
            if (enter(p)) list(p, x->list, x->n);
            p->depth--;
        } else {
            whole(p, x);
        }
        if (p->out.n == from)
            p->out.n = before;
        else
            first = false;
    }
}

static void expand(struct name_printer *p, const struct name_node *n)
{
    u32 size = name_pack_size(n->a), at = p->at;
    if (!size) {
        u32 steps = 0;
        if (pack_size(n->a, &steps) == UINT32_MAX) {
            whole(p, n->a);
            put(p, STR("..."));
        }
        return;
    }
    for (u32 i = 0; i < size && !p->failed; i++) {
        p->at = i;
        if (i) put(p, STR(", "));
        whole(p, n->a);
    }
    p->at = at;
}

/* The node itself, or the element of a pack that is being expanded. */
static const struct name_node *element(const struct name_printer *p, const struct name_node *n)
{
    for (u32 i = 0; i < PRINT_DEEPEST && n->kind == NAME_PACK && p->at < n->n; i++) n = n->list[p->at];
    return n;
}

static bool is_wrapping(const struct name_printer *p, const struct name_node *n)
{
    n = element(p, n);
    for (u32 i = 0; i < PRINT_DEEPEST && n->kind == NAME_QUALIFIED; i++) n = element(p, n->a);
    return n->kind == NAME_FUNCTION || n->kind == NAME_ARRAY;
}

static bool is_declarator(const struct name_printer *p, const struct name_node *n)
{
    enum name_kind kind = element(p, n)->kind;
    return kind == NAME_POINTER || kind == NAME_MEMBER || is_wrapping(p, n);
}

/* What a pointer or reference points to. A reference to a reference is one reference, && only when both are. */
static const struct name_node *pointed(const struct name_printer *p, const struct name_node *n, struct str *sign)
{
    if (n->kind == NAME_MEMBER) return n->b;
    *sign = n->text;
    const struct name_node *of = element(p, n->a);
    for (u32 i = 0; i < PRINT_DEEPEST && sign->p[0] == '&' && of->kind == NAME_POINTER && of->text.p[0] == '&'; i++) {
        if (of->text.n < sign->n) *sign = of->text;
        of = element(p, of->a);
    }
    return of;
}

static void literal(struct name_printer *p, const struct name_node *n)
{
    static const struct {
        const char *type, *suffix;
    } known[] = {
        { "int", "" },         { "unsigned int", "u" },         { "long", "l" }, { "unsigned long", "ul" },
        { "long long", "ll" }, { "unsigned long long", "ull" },
    };
    struct str v = n->text, type = n->a && n->a->kind == NAME_TEXT ? n->a->text : STR("");
    if (str_is(type, "bool") && v.n == 1 && (v.p[0] == '0' || v.p[0] == '1')) {
        put(p, v.p[0] == '1' ? STR("true") : STR("false"));
        return;
    }
    u32 i = 0;
    while (i < COUNT_OF(known) && !str_is(type, known[i].type)) i++;
    if (i == COUNT_OF(known)) {
        put(p, STR("("));
        whole(p, n->a);
        put(p, STR(")"));
    }
    if (v.n && v.p[0] == 'n') {
        put(p, STR("-"));
        v = (struct str){ v.p + 1, v.n - 1 };
    }
    put(p, v);
    if (i < COUNT_OF(known)) put(p, str_of(known[i].suffix));
}

static void signature(struct name_printer *p, const struct name_node *n)
{
    whole(p, n->a);
    if (!p->with_args) return;
    put(p, STR("("));
    list(p, n->list, n->n);
    put(p, STR(")"));
    put(p, n->text);
}

static void left(struct name_printer *p, const struct name_node *n);
static void right(struct name_printer *p, const struct name_node *n);

static void left_pointer(struct name_printer *p, const struct name_node *n)
{
    struct str sign = STR("");
    const struct name_node *of = pointed(p, n, &sign);
    bool wraps = is_wrapping(p, of);
    left(p, of);
    if (wraps) put(p, STR(" ("));
    if (n->kind == NAME_MEMBER) {
        put(p, wraps ? STR("") : STR(" "));
        whole(p, n->a);
        put(p, STR("::*"));
    } else {
        put(p, sign);
    }
}

static void left_qualified(struct name_printer *p, const struct name_node *n)
{
    /* the elements of an array are const, not the array */
    bool array = element(p, n->a)->kind == NAME_ARRAY;
    if (str_is(n->text, " const") && (array || !is_declarator(p, n->a))) {
        put(p, STR("const "));
        left(p, n->a);
        return;
    }
    left(p, n->a);
    if (!is_wrapping(p, n->a)) {
        put(p, n->text.n && n->text.p[0] == ' ' ? STR("") : STR(" "));
        put(p, n->text);
    }
}

/* a::b, without what prints as nothing. */
static void nested(struct name_printer *p, const struct name_node *n)
{
    size_t before = p->out.n;
    left(p, n->a);
    if (p->out.n > before && n->b->kind != NAME_HIDDEN) put(p, n->text);
    left(p, n->b);
}

static void compound(struct name_printer *p, const struct name_node *n)
{
    switch (n->kind) {
    case NAME_LAMBDA:
        put(p, STR("{lambda("));
        list(p, n->list, n->n);
        put(p, STR(")}"));
        break;
    case NAME_BINARY:
        put(p, STR("("));
        whole(p, n->a);
        put(p, STR(")"));
        put(p, n->text);
        put(p, STR("("));
        whole(p, n->b);
        put(p, STR(")"));
        break;
    case NAME_CALL:
        if (n->a) whole(p, n->a);
        put(p, n->text);
        list(p, n->list, n->n);
        put(p, n->text2);
        break;
    case NAME_CHOICE:
        put(p, STR("("));
        whole(p, n->a);
        put(p, STR(") ? ("));
        whole(p, n->b);
        put(p, STR(") : ("));
        whole(p, n->list[0]);
        put(p, STR(")"));
        break;
    default: break;
    }
}

static void left(struct name_printer *p, const struct name_node *n)
{
    if (!enter(p)) {
        p->depth--;
        return;
    }
    switch (n->kind) {
    case NAME_TEXT: put(p, n->text); break;
    case NAME_HIDDEN: break;
    case NAME_NESTED: nested(p, n); break;
    case NAME_TEMPLATE:
        left(p, n->a);
        if (p->with_args) {
            put(p, p->out.n && p->out.p[p->out.n - 1] == '<' ? STR(" <") : STR("<"));
            list(p, n->list, n->n);
            put(p, STR(">"));
        }
        break;
    case NAME_PACK:
        if (p->at < n->n) left(p, n->list[p->at]);
        break;
    case NAME_EXPAND: expand(p, n); break;
    case NAME_QUALIFIED: left_qualified(p, n); break;
    case NAME_POINTER:
    case NAME_MEMBER: left_pointer(p, n); break;
    case NAME_ARRAY: left(p, n->a); break;
    case NAME_FUNCTION: left(p, n->a); break;
    case NAME_ENCODING: signature(p, n); break;
    case NAME_LITERAL: literal(p, n); break;
    case NAME_AFFIX:
        put(p, n->text);
        if (n->a) whole(p, n->a);
        put(p, n->text2);
        break;
    case NAME_LAMBDA:
    case NAME_BINARY:
    case NAME_CALL:
    case NAME_CHOICE: compound(p, n); break;
    }
    p->depth--;
}

static void right(struct name_printer *p, const struct name_node *n)
{
    if (!enter(p)) {
        p->depth--;
        return;
    }
    switch (n->kind) {
    case NAME_PACK:
        if (p->at < n->n) right(p, n->list[p->at]);
        break;
    case NAME_QUALIFIED:
        right(p, n->a);
        if (is_wrapping(p, n->a) && element(p, n->a)->kind != NAME_ARRAY) put(p, n->text);
        break;
    case NAME_POINTER:
    case NAME_MEMBER: {
        struct str sign;
        const struct name_node *of = pointed(p, n, &sign);
        if (is_wrapping(p, of)) put(p, STR(")"));
        right(p, of);
        break;
    }
    case NAME_ARRAY:
        put(p, p->out.n && p->out.p[p->out.n - 1] == ']' ? STR("[") : STR(" ["));
        if (n->b) whole(p, n->b);
        put(p, STR("]"));
        right(p, n->a);
        break;
    case NAME_FUNCTION:
        put(p, p->out.n && p->out.p[p->out.n - 1] == ')' ? STR("(") : STR(" ("));
        list(p, n->list, n->n);
        put(p, STR(")"));
        right(p, n->a);
        put(p, n->text);
        break;
    default: break;
    }
    p->depth--;
}

static void whole(struct name_printer *p, const struct name_node *n)
{
    left(p, n);
    right(p, n);
}

const char *name_print(struct arena *mem, const struct name_node *n, bool with_args, u32 at, u32 most)
{
    struct name_printer p = { .with_args = with_args, .at = at, .most = most };
    text_put(&p.out, "", 0);
    whole(&p, n);
    const char *s = arena_str(mem, p.failed ? STR("") : (struct str){ p.out.p, (u32)p.out.n });
    text_free(&p.out);
    return s;
}
