/* arg lines: a value, a buffer with its shape, direction and contents, bytes, or a null pointer. */
#include "contract/contract_line.h"
#include <ctype.h>

/* with how many operands */
static const struct {
    const char *word;
    enum fill_kind kind;
    u32 least, most;
} fills[] = {
    { "none", FILL_UNINIT, 0, 0 },     { "zeros", FILL_ZEROS, 0, 0 },   { "ones", FILL_ONES, 0, 0 },
    { "iota", FILL_IOTA, 0, 0 },       { "const", FILL_CONST, 1, 1 },   { "nan", FILL_CONST, 0, 0 },
    { "uniform", FILL_RAND, 0, 2 },    { "randint", FILL_RAND, 2, 2 },  { "index", FILL_RAND, 1, 1 },
    { "offsets", FILL_OFFSETS, 1, 1 }, { "normal", FILL_NORMAL, 0, 2 }, { "permutation", FILL_PERMUTATION, 0, 0 },
    { "file", FILL_FILE, 0, 0 },
};
static const char *const attributes[] = { "in",       "out",   "inout", "once",   "partial",
                                          "optional", "align", "alias", "stride", "view" };

struct arg_line {
    struct cursor *c;
    struct contract_kernel *k;
    struct contract_arg g;
    bool flow_given;
};

static bool read_path(struct cursor *c, struct contract_fill *f)
{
    if (!cursor_take(c, '(') || !cursor_take(c, '"'))
        return cursor_error(c, c->p, "a file is named in quotes: file(\"input.bin\")");
    const char *from = c->p;
    while (c->p < c->end && *c->p != '"') c->p++;
    f->file = arena_str(c->mem, (struct str){ from, (u32)(c->p - from) });
    if (!f->file[0] || !cursor_take(c, '"') || !cursor_take(c, ')'))
        return cursor_error(c, c->p, "a file is named in quotes: file(\"input.bin\")");
    return true;
}

static bool read_operands(struct cursor *c, struct contract_fill *f, u32 i)
{
    u32 n = 0;
    struct expr *operand[2] = { 0 };
    if (fills[i].most && cursor_take(c, '(')) {
        do {
            if (n == fills[i].most)
                return cursor_error(c, c->p, "%s takes at most %u operand%s", fills[i].word, n, plural(n));
            if (!(operand[n++] = expr_parse(c))) return false;
        } while (cursor_take(c, ','));
        if (!cursor_take(c, ')')) return cursor_error(c, c->p, "here a ) is missing");
    }
    if (n < fills[i].least || (fills[i].most == 2 && n == 1))
        return cursor_error(c, c->p,
                            fills[i].most == 2 ? "%s takes two operands: %s(LOW, HIGH)" : "%s takes an operand: %s(N)",
                            fills[i].word, fills[i].word);
    f->a = operand[0];
    f->b = operand[1];
    return true;
}

/* Whether contents of this kind can be had in this type. */
static bool fill_suits(struct arg_line *l, u32 i, const char *at)
{
    const struct scalar *t = l->g.shape.type;
    bool is_float = t->class == SCALAR_FLOAT;
    if (!is_float &&
        (fills[i].kind == FILL_NORMAL || !strcmp(fills[i].word, "uniform") || !strcmp(fills[i].word, "nan")))
        return cursor_error(l->c, at, "%s is for floats, and %s is not a float; integers take randint(LOW, HIGH)",
                            fills[i].word, t->name);
    if (fills[i].kind == FILL_OFFSETS && (is_float || t->bytes < 4))
        return cursor_error(l->c, at, "offsets are integers of 32 or 64 bits, and %s is not one", t->name);
    if (is_float && !strcmp(fills[i].word, "randint") && t->bytes < 2)
        return cursor_error(l->c, at, "%s holds few integers; use uniform(LOW, HIGH)", t->name);
    return true;
}

static bool read_fill(struct arg_line *l, struct str word, u32 i)
{
    struct contract_fill *f = &l->g.fill;
    if (f->given) return cursor_error(l->c, word.p, "this argument is filled already");
    *f = (struct contract_fill){ .kind = fills[i].kind,
                                 .given = true,
                                 .at = word.p,
                                 .below = !strcmp(fills[i].word, "index"),
                                 .integers = !strcmp(fills[i].word, "randint") || fills[i].kind == FILL_OFFSETS,
                                 .nan = !strcmp(fills[i].word, "nan") };
    return fill_suits(l, i, word.p) && (f->kind == FILL_FILE ? read_path(l->c, f) : read_operands(l->c, f, i));
}

static bool read_alias(struct arg_line *l)
{
    struct cursor *c = l->c;
    struct str name = cursor_word(c);
    for (u32 i = 0; i < l->k->args.n; i++)
        if (str_is(name, l->k->args.p[i].name)) {
            if (l->k->args.p[i].kind != CONTRACT_BUFFER)
                return cursor_error(c, name.p, "%s is not a buffer", l->k->args.p[i].name);
            l->g.alias = i;
            return true;
        }
    return cursor_error(c, name.p, "alias names an earlier buffer whose memory this one may share");
}

static bool read_stride(struct arg_line *l)
{
    struct contract_shape *s = &l->g.shape;
    const char *at = l->c->p;
    u32 n = line_list(l->c, s->stride);
    if (!n) return false;
    return n == s->rank || cursor_error(l->c, at, "the shape has %u dimension%s, and here %s %u stride%s", s->rank,
                                        plural(s->rank), n == 1 ? "is" : "are", n, plural(n));
}

/* The dimension that broadcast names, or `all` of them at once; each of these, where it stands alone. */
static bool read_broadcast(struct arg_line *l)
{
    struct cursor *c = l->c;
    struct scope none = { .file = c->file, .all = c->all };
    s64 d = BROADCAST_ALL;
    if (!cursor_take(c, '(')) {
        l->g.broadcasts |= 1u << BROADCAST_ALL | ((1u << l->g.shape.rank) - 1);
        return true;
    }
    const char *at = c->p;
    if (!str_is(cursor_word(c), "all")) {
        c->p = at;
        struct expr *x = expr_parse(c);
        if (!x || (!expr_is_constant(x) && !cursor_error(c, x->at, "the number of a dimension belongs here, or all")) ||
            !expr_integer(x, &none, "the dimension", 0, (s64)l->g.shape.rank - 1, &d, c->e))
            return false;
    }
    l->g.broadcasts |= 1u << d;
    return cursor_take(c, ')') || cursor_error(c, c->p, "here a ) is missing");
}

/* view dense|rows|offset|broadcast(0)|broadcast(all)|broadcast */
static bool read_view(struct arg_line *l)
{
    struct cursor *c = l->c;
    struct contract_arg *g = &l->g;
    if (g->layouts) return cursor_error(c, c->p, "the layouts of this argument are given already");
    do {
        struct str word = cursor_word(c);
        u32 i = 0;
        while (i < LAYOUTS && !str_is(word, layout_names[i])) i++;
        if (i == LAYOUTS)
            return cursor_error(c, word.p, "a layout belongs here: dense, rows, offset, broadcast(DIMENSION)%s",
                                str_hint(c->mem, word, layout_names, LAYOUTS));
        g->layouts |= 1u << i;
        if (i == LAYOUT_ROWS && g->shape.rank < 2)
            return cursor_error(c, word.p, "rows further apart need two dimensions, and %s has one", g->name);
        if (i != LAYOUT_BROADCAST) continue;
        if (!read_broadcast(l)) return false;
    } while (cursor_take(c, '|'));
    return true;
}

static bool set_flow(struct arg_line *l, struct str word, enum contract_flow flow)
{
    if (l->flow_given) return cursor_error(l->c, word.p, "the direction is given twice; for both ways say inout");
    l->flow_given = true;
    l->g.flow = flow;
    return true;
}

static bool unknown_attribute(struct arg_line *l, struct str word)
{
    const char *words[COUNT_OF(attributes) + COUNT_OF(fills)];
    u32 n = 0;
    for (u32 i = 0; i < COUNT_OF(attributes); i++) words[n++] = attributes[i];
    for (u32 i = 0; i < COUNT_OF(fills); i++) words[n++] = fills[i].word;
    return cursor_error(
        l->c, word.p,
        "here belong in, out or inout, once, partial, optional, align, alias, stride, view, or the contents: "
        "none, zeros, ones, iota, "
        "const(V), nan, uniform, normal, randint, index(N), offsets(N), permutation, file(\"NAME\")%s",
        str_hint(l->c->mem, word, words, n));
}

static bool read_attribute(struct arg_line *l)
{
    struct cursor *c = l->c;
    struct contract_arg *g = &l->g;
    cursor_blank(c);
    struct str word = cursor_word(c);
    if (str_is(word, "in")) return set_flow(l, word, FLOW_IN);
    if (str_is(word, "out")) return set_flow(l, word, FLOW_OUT);
    if (str_is(word, "inout")) return set_flow(l, word, FLOW_INOUT);
    if (str_is(word, "once")) return g->once = true;
    if (str_is(word, "partial")) return g->partial = true;
    if (str_is(word, "optional")) return g->optional = true;
    if (str_is(word, "align")) return (g->align = expr_parse(c)) != NULL;
    if (str_is(word, "alias")) return read_alias(l);
    if (str_is(word, "stride")) return read_stride(l);
    if (str_is(word, "view")) return read_view(l);
    for (u32 i = 0; i < COUNT_OF(fills); i++)
        if (str_is(word, fills[i].word)) return read_fill(l, word, i);
    return unknown_attribute(l, word);
}

static bool read_buffer(struct arg_line *l)
{
    struct cursor *c = l->c;
    struct contract_arg *g = &l->g;
    g->kind = CONTRACT_BUFFER;
    for (cursor_blank(c); c->p < c->end; cursor_blank(c))
        if (!read_attribute(l)) return false;
    if (!l->flow_given) return cursor_error(c, c->p, "%s needs a direction: in, out or inout", g->name);
    if (g->flow == FLOW_IN && (g->once || g->partial))
        return cursor_error(c, g->at, "%s is for out arguments, and %s is in", g->once ? "once" : "partial", g->name);
    if (g->layouts && g->shape.stride[0])
        return cursor_error(c, g->at, "%s has strides of its own, and so no other layouts", g->name);
    if (g->broadcasts && g->flow != FLOW_IN)
        return cursor_error(c, g->at, "%s is written, and cannot stand still along a dimension", g->name);
    if (g->flow == FLOW_OUT && g->fill.given && g->alias != NO_ALIAS)
        return cursor_error(c, g->fill.at, "%s takes its contents from the argument it shares memory with", g->name);
    return true;
}

static bool read_bytes(struct arg_line *l)
{
    struct cursor *c = l->c;
    l->g.kind = CONTRACT_BYTES;
    if (!cursor_take(c, '='))
        return cursor_error(c, c->p, "a struct is given byte by byte, as in bytes = 0000803f 01000000");
    u8 *to = arena_alloc(c->mem, (size_t)(c->end - c->p) / 2 + 1, 1);
    for (cursor_blank(c); c->p < c->end; c->p += 2, cursor_blank(c)) {
        u32 v = 0;
        for (u32 i = 0; i < 2; i++) {
            char d = c->end - c->p > 1 ? c->p[i] : 0;
            if (!isxdigit((unsigned char)d))
                return cursor_error(c, c->p, "bytes are pairs of hexadecimal digits, as in 0000803f");
            v = v * 16 + (u32)(isdigit((unsigned char)d) ? d - '0' : (d | 32) - 'a' + 10);
        }
        to[l->g.nbytes++] = (u8)v;
    }
    l->g.bytes = to;
    return l->g.nbytes || cursor_error(c, c->p, "bytes are pairs of hexadecimal digits, as in 0000803f");
}

/* `arg rows i32` passes the dim of that name; so does `arg rows i32 = rows`, and the name goes on meaning the dim. */
static bool read_value(struct arg_line *l)
{
    struct cursor *c = l->c;
    struct contract_arg *g = &l->g;
    u32 dim = symbol_find(&l->k->symbols, str_of(g->name));
    g->kind = CONTRACT_VALUE;
    cursor_blank(c);
    if (dim != UINT32_MAX && c->p == c->end) {
        g->value = NEW(c->mem, struct expr);
        *g->value = (struct expr){ .op = EX_NAME, .at = g->at, .symbol = dim };
        return true;
    }
    if (!cursor_take(c, '='))
        return cursor_error(c, c->p, "after %s comes = VALUE for a value, or [SHAPE] for a buffer",
                            g->shape.type->name);
    if (!(g->value = expr_parse(c)) || !line_ends(c, "nothing follows a value")) return false;
    if (dim != UINT32_MAX) return true;
    g->symbol = l->k->symbols.list.n;
    struct symbol s = { g->name, g->at };
    VEC_PUSH(c->mem, &l->k->symbols.list, s);
    return true;
}

/* x.stride0, x.stride1: what the kernel is told of a layout */
static void stride_symbols(struct cursor *c, struct contract_kernel *k, struct contract_arg *g)
{
    g->strides = k->symbols.list.n;
    for (u32 i = 0; i < g->shape.rank; i++) {
        struct symbol s = { arena_printf(c->mem, "%s.stride%u", g->name, i), g->at };
        VEC_PUSH(c->mem, &k->symbols.list, s);
    }
}

bool line_arg(struct cursor *c, struct contract_kernel *k)
{
    struct arg_line l = { .c = c, .k = k, .g = { .alias = NO_ALIAS, .symbol = UINT32_MAX, .strides = UINT32_MAX } };
    if (k->args.n == CONTRACT_ARGS) return cursor_error(c, c->p, "a kernel has at most %d arguments", CONTRACT_ARGS);
    cursor_blank(c);
    l.g.at = c->p;
    l.g.name = line_name(c, k, "an argument", true);
    if (!l.g.name) return false;
    cursor_blank(c);
    const char *from = c->p;
    struct str word = cursor_word(c);
    bool ok;
    if (str_is(word, "bytes")) {
        ok = read_bytes(&l);
    } else if (str_is(word, "null")) {
        l.g.kind = CONTRACT_NULL;
        ok = line_ends(c, "nothing follows null");
    } else {
        c->p = from;
        ok = line_shape(c, &l.g.shape, true) && (l.g.shape.rank ? read_buffer(&l) : read_value(&l));
    }
    if (ok && l.g.layouts) stride_symbols(c, k, &l.g);
    if (ok) VEC_PUSH(c->mem, &k->args, l.g);
    return ok;
}
