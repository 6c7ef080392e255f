/* Instructions: guard, opcode, operands (manual sections 6 and 9).
 *
 * Operands are read by their shape alone: what an opcode wants is isa's to say. The exceptions are two: after bra and
 * brx a name is a label even if something else has that name, and `a[4]` is an address for mov and an access elsewhere.
 * Operands are collected on a stack, p->ops, and copied to the arena when their number is known. */
#include "isa/isa.h"
#include "isa/syntax.h"
#include "ptx/parser.h"

static bool operand(struct parser *p);

static struct ptx_operand *push(struct parser *p, enum ptx_operand_kind kind, const char *at)
{
    VEC_PUSH(&p->tmp, &p->ops, ((struct ptx_operand){ .kind = kind, .at = at }));
    return &p->ops.p[p->ops.n - 1];
}

/* Takes what was pushed since `base` off the stack, into the arena. */
static struct ptx_operand *collect(struct parser *p, u32 base, u32 *n)
{
    *n = p->ops.n - base;
    struct ptx_operand *copy = NEW_ARRAY(&p->m->mem, struct ptx_operand, *n);
    if (*n) memcpy(copy, p->ops.p + base, *n * sizeof *copy);
    p->ops.n = base;
    return copy;
}

/* a, b, c up to the closing character; pushes one operand of this kind with the list in elem. */
static bool list(struct parser *p, enum ptx_operand_kind kind, int close, const char *wanted)
{
    const char *at = p->t.at;
    u32 base = p->ops.n, n;
    if (!deeper(p)) return false;
    advance(p);
    if (!is_punct(p, close)) do
            if (!operand(p)) return false;
        while (accept(p, ','));
    if (!expect(p, close, wanted)) return false;
    p->depth--;
    struct ptx_operand *elem = collect(p, base, &n);
    struct ptx_operand *op = push(p, kind, at);
    op->elem = elem;
    op->nelem = n;
    return true;
}

static bool immediate(struct parser *p)
{
    struct constant c;
    const char *at = p->t.at;
    if (!constant_parse(p, &c)) return false;
    bool is_float = c.kind == CONST_F32 || c.kind == CONST_F64;
    struct ptx_operand *op = push(p, is_float ? OP_FLOAT : OP_INT, at);
    op->imm = (s64)c.bits;
    op->imm_type = c.kind == CONST_F32 ? T_F32 : c.kind == CONST_F64 ? T_F64 : T_NONE;
    return true;
}

/* x y z w, or r g b a, of a vector register; -1: none of these. */
static int component(struct str dot)
{
    static const char letters[] = "xyzwrgba";
    const char *at = dot.n == 2 ? memchr(letters, dot.p[1], 8) : NULL;
    return at ? (int)(at - letters) & 3 : -1;
}

/* .b0 .h1 .h10 .b3210 of video instructions. */
static bool selector(struct parser *p, struct ptx_operand *op)
{
    struct str s = p->t.s;
    u32 n = s.n - 2, limit = s.p[1] == 'b' ? '7' : '3';
    bool is_bytes = s.p[1] == 'b', ok = s.n > 2 && n <= 4 && (is_bytes || (s.p[1] == 'h' && n <= 2));
    s64 digits = 0;
    for (u32 i = 2; ok && i < s.n; i++) {
        ok = s.p[i] >= '0' && (u32)s.p[i] <= limit;
        digits = digits << 4 | (s.p[i] - '0');
    }
    if (!ok || (n == 1 && digits > (is_bytes ? 3 : 1)))
        return fail_at(p, p->t.at, "`%.*s` selects no part of a register", SHOW(s));
    if (n == 1) {
        op->sel = (u8)((is_bytes ? 5 : 9) + digits);
    } else {
        op->sel = is_bytes ? 12 : 11;
        op->imm = digits | (s64)n << 16;
    }
    advance(p);
    return true;
}

static bool vector_operand(struct parser *p, const struct name *n, const char *at)
{
    int c = p->t.kind == TK_DOT ? component(p->t.s) : -1;
    if (c >= 0) {
        if ((u32)c >= n->ncomp) return fail_at(p, p->t.at, "this vector has only %u components", n->ncomp);
        advance(p);
        push(p, OP_REG, at)->reg = n->comp[c];
        return true;
    }
    u32 base = p->ops.n, count;
    for (u32 i = 0; i < n->ncomp; i++) push(p, OP_REG, at)->reg = n->comp[i];
    struct ptx_operand *elem = collect(p, base, &count), *op = push(p, OP_VEC, at);
    op->elem = elem;
    op->nelem = count;
    return true;
}

/* %tid alone is the vector of its four components (mov.v4); false: this name is no such register. */
static bool special_vector(struct parser *p, struct token t)
{
    u32 base = p->ops.n, n;
    for (int i = 0; i < 4; i++) {
        char name[64];
        int len = snprintf(name, sizeof name, "%.*s.%c", SHOW(t.s), "xyzw"[i]);
        const struct sreg *sr = sreg_find((struct str){ name, (u32)len < sizeof name ? (u32)len : 0 });
        if (!sr) return false;
        push(p, OP_SREG, t.at)->sreg = sr;
    }
    struct ptx_operand *elem = collect(p, base, &n), *op = push(p, OP_VEC, t.at);
    op->elem = elem;
    op->nelem = n;
    return true;
}

/* %tid.x: the token in hand is after %tid. */
static bool special_register(struct parser *p, struct token t)
{
    struct str s = t.s;
    if (p->t.kind == TK_DOT && p->t.at == s.p + s.n) s.n += p->t.s.n;
    const struct sreg *sr = sreg_find(s);
    if (!sr && s.n == t.s.n && special_vector(p, t)) return true;
    if (!sr && s.n == t.s.n) return fail_at(p, t.at, "register %.*s is not declared", SHOW(s));
    if (!sr) return fail_at(p, t.at, "there is no special register %.*s", SHOW(s));
    if (s.n != t.s.n) advance(p);
    push(p, OP_SREG, t.at)->sreg = sr;
    return true;
}

/* + 4, - 4, [4] after a symbol. */
static bool symbol_offset(struct parser *p, struct ptx_operand *op)
{
    s64 n = 0;
    struct ptx_operand copy = *op; /* the stack may move */
    if (is_punct(p, '+')) {
        if (!integer_parse(p, &n)) return false;
        if (copy.func) return fail_at(p, copy.at, "the address of a function is not a number to add to");
        copy.imm = n;
        copy.is_sum = true;
    } else if (is_punct(p, '[') && copy.var) {
        advance(p);
        if (!integer_parse(p, &n) || !expect(p, ']', "]")) return false;
        /* ptxas counts bytes in an array of no size, where the manual has elements (6.4.2) */
        copy.imm = copy.var->size ? (s64)((u64)n * type_size[copy.var->type] * copy.var->vec) : n;
        copy.sel = 1;
    }
    p->ops.p[p->ops.n - 1] = copy;
    return true;
}

static bool name_operand(struct parser *p, bool label_only)
{
    struct token t = p->t;
    struct name *n = label_only ? NULL : name_find(p, t.s);
    advance(p);
    if (n && n->reg) {
        struct ptx_operand *op = push(p, OP_REG, t.at);
        op->reg = n->reg;
        return p->t.kind != TK_DOT || selector(p, op);
    }
    if (n && n->ncomp) return vector_operand(p, n, t.at);
    if (n) {
        struct ptx_operand *op = push(p, OP_SYM, t.at);
        op->var = n->var;
        return symbol_offset(p, op);
    }
    struct ptx_symbol *s = label_only ? NULL : map_get(&p->m->symbols, t.s);
    if (t.s.p[0] == '%' && !label_only && !s) return special_register(p, t);
    struct ptx_operand *op = push(p, s ? OP_SYM : OP_LABEL, t.at);
    if (s) {
        op->var = s->var;
        op->func = s->func;
        return symbol_offset(p, op);
    }
    op->label = NEW(&p->tmp, struct ptx_label); /* a note of the name, until labels_resolve */
    op->label->name = t.s;
    return true;
}

/* [reg + 4], [sym + 4], [16], [tex, {x, y}] */
static bool memory(struct parser *p)
{
    const char *at = p->t.at;
    u32 base = p->ops.n;
    if (!deeper(p)) return false;
    advance(p);
    do {
        const char *start = p->t.at;
        if (!operand(p)) return false;
        struct ptx_operand *op = &p->ops.p[p->ops.n - 1];
        if (op->kind == OP_REG && is_punct(p, '+')) {
            s64 off;
            if (op->sel) return fail_at(p, start, "an address is a whole register");
            if (!integer_parse(p, &off)) return false;
            p->ops.p[p->ops.n - 1].imm = off;
        }
    } while (accept(p, ','));
    if (!expect(p, ']', "]")) return false;
    p->depth--;
    u32 n;
    struct ptx_operand *all = collect(p, base, &n), first = all[0];
    if ((first.kind != OP_REG && first.kind != OP_SYM && first.kind != OP_INT) || first.neg || first.func)
        return fail_at(p, first.at, first.kind == OP_LABEL ? "`%.*s` is not declared" : "%.*s is not an address",
                       first.kind == OP_LABEL ? (int)MIN_OF(first.label->name.n, 80u) : 4,
                       first.kind == OP_LABEL ? first.label->name.p : "this");
    first.kind = OP_MEM;
    first.sel = is_dot(p, ".unified") ? 13 : 0;
    if (first.sel) advance(p);
    first.at = at;
    first.elem = n > 1 ? all + 1 : NULL;
    first.nelem = n - 1;
    p->ops.p[p->ops.n++] = first; /* collect has made room */
    return true;
}

static bool negated(struct parser *p)
{
    const char *at = p->t.at;
    bool is_not = is_punct(p, '!');
    advance(p);
    if (!name_operand(p, false)) return false;
    struct ptx_operand *op = &p->ops.p[p->ops.n - 1];
    if (op->kind != OP_REG) return fail_at(p, at, "%c stands before a register or a constant", is_not ? '!' : '-');
    op->neg = true;
    op->at = at;
    return true;
}

static bool simple_operand(struct parser *p, bool label_only)
{
    const struct token t = p->t;
    if (t.kind == TK_NAME) {
        if (t.s.n == 1 && t.s.p[0] == '_') {
            advance(p);
            push(p, OP_SINK, t.at);
            return true;
        }
        if (!constant_starts(p) || label_only) return name_operand(p, label_only);
    }
    if (is_punct(p, '{')) return list(p, OP_VEC, '}', ", or }");
    if (is_punct(p, '[')) return memory(p);
    if (is_punct(p, '!') || is_punct(p, '-')) {
        struct token next = peek(p);
        if (next.kind == TK_NAME && !str_is(next.s, "WARP_SZ")) return negated(p);
    }
    return constant_starts(p) ? immediate(p) : unexpected(p, "an operand");
}

/* Pushes one operand; d|p is a pair. */
static bool operand(struct parser *p)
{
    const char *at = p->t.at;
    u32 base = p->ops.n, n;
    if (!simple_operand(p, false)) return false;
    if (!is_punct(p, '|')) return true;
    advance(p);
    if (!simple_operand(p, false)) return false;
    struct ptx_operand *elem = collect(p, base, &n), *op = push(p, OP_PAIR, at);
    op->elem = elem;
    op->nelem = n;
    return true;
}

bool operand_parse(struct parser *p, bool label_only, struct ptx_operand *op)
{
    if (!simple_operand(p, label_only)) return false;
    *op = p->ops.p[--p->ops.n];
    return true;
}

/* One argument of an instruction: an operand, or the ( ) of a call. */
static bool argument(struct parser *p, const struct ptx_opcode *o, u32 number)
{
    bool is_target = str_is(o->base, "bra") || (str_is(o->base, "brx") && number == 1);
    if (is_punct(p, '(') && str_is(o->base, "call")) return list(p, OP_LIST, ')', ", or )");
    if (is_target && p->t.kind == TK_NAME) return simple_operand(p, true);
    if (!operand(p)) return false;
    struct ptx_operand *op = &p->ops.p[p->ops.n - 1];
    if (op->kind == OP_SYM && op->sel && !str_is(o->base, "mov") && !str_is(o->base, "cvta")) op->kind = OP_MEM;
    if (op->sel == 1) op->sel = 0;
    return true;
}

static bool opcode_split(struct parser *p, struct ptx_opcode *o, const char *at)
{
    const char *s = o->text.p, *end = s + o->text.n, *dot = memchr(s, '.', o->text.n);
    o->base = (struct str){ s, (u32)((dot ? dot : end) - s) };
    while (dot) {
        s = dot + 1;
        dot = memchr(s, '.', (size_t)(end - s));
        if (o->nmod == COUNT_OF(o->mod)) return fail_at(p, at, "more than %zu modifiers", COUNT_OF(o->mod));
        o->mod[o->nmod++] = (struct str){ s, (u32)((dot ? dot : end) - s) };
    }
    return true;
}

/* What PTX says of this opcode, and which form runs it: isa.def writes the words in one order, ptxas takes them in
 * any. */
static void opcode_read(struct parser *p, struct ptx_opcode *o)
{
    VEC(struct syntax) rows = { 0 };
    struct syntax s;
    char text[256];
    for (int row = -1; (row = syntax_find((u32)(row + 1), o->text, &s)) >= 0;) VEC_PUSH(&p->m->mem, &rows, s);
    o->syntax = rows.p;
    o->nsyntax = rows.n;
    o->form = isa_find(o->text, &o->mods);
    if (o->form < 0 && rows.n && syntax_canonical(rows.p[0].row, o->text, text, sizeof text))
        o->form = isa_find(str_of(text), &o->mods);
}

/* An opcode of PTX for sm_1x, as later architectures run it: float arithmetic flushes subnormals, said or not, and
 * mad.f32, whose product these GPUs cut off, is a fused one (manual, 9.7.3). */
static struct str of_sm_1x(struct parser *p, struct str text)
{
    static const char *const words[] = { ".ftz", ".rn.ftz" };
    const char *dot = memchr(text.p, '.', text.n);
    struct syntax s;
    if (!memmem(text.p, text.n, ".f32", 4) || memmem(text.p, text.n, ".ftz", 4)) return text;
    u32 base = (u32)(dot - text.p);
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct str made =
            str_of(arena_printf(&p->m->mem, "%.*s%s%.*s", (int)base, text.p, words[i], (int)(text.n - base), dot));
        if (syntax_find(0, made, &s) >= 0) return made;
    }
    return text;
}

static struct ptx_opcode *opcode_find(struct parser *p, struct str text, const char *at)
{
    struct ptx_opcode *o = map_get(&p->opcodes, text);
    if (o) return o;
    o = NEW(&p->m->mem, struct ptx_opcode);
    o->text = p->m->target < 20 ? of_sm_1x(p, text) : text;
    if (!opcode_split(p, o, at)) return NULL;
    opcode_read(p, o);
    map_put(&p->tmp, &p->opcodes, text, o);
    return o;
}

static bool guard_parse(struct parser *p, struct ptx_insn *in)
{
    advance(p);
    in->guard_neg = accept(p, '!');
    const char *at = p->t.at;
    struct str s;
    if (!expect_name(p, &s, "a predicate")) return false;
    struct name *n = name_find(p, s);
    if (!n) return fail_at(p, at, "register %.*s is not declared", SHOW(s));
    if (!n->reg || n->reg->type != T_PRED) return fail_at(p, at, "`%.*s` is not a predicate", SHOW(s));
    in->guard = n->reg;
    return true;
}

void labels_pend(struct parser *p, struct ptx_operand *op, u32 n)
{
    for (u32 i = 0; i < n; i++)
        if (op[i].kind == OP_LABEL)
            VEC_PUSH(&p->tmp, &p->pending, &op[i]);
        else if (op[i].elem)
            labels_pend(p, op[i].elem, op[i].nelem); /* as deep as the operands nest: MAX_DEPTH */
}

bool insn_parse(struct parser *p)
{
    struct ptx_insn in = { .loc = p->loc, .at = p->t.at, .line = p->t.line };
    if (is_punct(p, '@') && !guard_parse(p, &in)) return false;
    if (p->t.kind != TK_NAME) return unexpected(p, "an instruction");
    in.line = p->t.line;
    in.at = p->t.at;
    in.opcode = lexer_opcode(&p->lx, p->t, &p->m->mem);
    in.op = opcode_find(p, in.opcode, in.at);
    if (!in.op) return false;
    in.opcode = in.op->text;
    advance(p);
    u32 base = p->ops.n;
    if (!is_punct(p, ';')) do
            if (!argument(p, in.op, p->ops.n - base)) return false;
        while (accept(p, ','));
    if (!expect_end(p, "this instruction")) return false;
    in.arg = collect(p, base, &in.narg);
    labels_pend(p, in.arg, in.narg);
    VEC_PUSH(&p->tmp, &p->insns, in);
    return true;
}
