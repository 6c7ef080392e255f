/* Constant expressions (manual section 4.5): C's operators over signed and unsigned 64-bit integers and doubles.
 *
 * Precedence climbing over one table. A value written 0f... keeps its 32 bits and takes part in nothing but a sign. */
#include "ptx/parser.h"

static bool unary(struct parser *p, struct constant *c);
static bool ternary(struct parser *p, struct constant *c);

static double as_double(struct constant c)
{
    double d;
    if (c.kind == CONST_F64)
        memcpy(&d, &c.bits, 8);
    else
        d = c.kind == CONST_S64 ? (double)(s64)c.bits : (double)c.bits;
    return d;
}

static struct constant of_double(double d)
{
    struct constant c = { .kind = CONST_F64 };
    memcpy(&c.bits, &d, 8);
    return c;
}

static struct constant of_bool(bool b) { return (struct constant){ .kind = CONST_S64, .bits = b }; }

static bool is_true(struct constant c) { return c.kind == CONST_F64 ? as_double(c) != 0 : c.bits != 0; }

bool constant_starts(const struct parser *p)
{
    const struct token *t = &p->t;
    if (t->kind == TK_NAME) return str_is(t->s, "WARP_SZ");
    if (t->kind == TK_PUNCT) return t->op == '(' || t->op == '-' || t->op == '+' || t->op == '~' || t->op == '!';
    return t->kind == TK_INT || t->kind == TK_F32 || t->kind == TK_F64;
}

/* ( expr ), (.s64) expr, (.u64) expr */
static bool parenthesis(struct parser *p, struct constant *c)
{
    if (!deeper(p)) return false;
    advance(p);
    if (p->t.kind == TK_DOT) {
        bool is_signed = is_dot(p, ".s64"), is_known = is_signed || is_dot(p, ".u64");
        const char *at = p->t.at;
        if (!is_known) return fail_at(p, at, "a constant can be cast to .s64 or .u64 only");
        advance(p);
        if (!expect(p, ')', ")") || !unary(p, c)) return false;
        if (c->kind == CONST_F64 || c->kind == CONST_F32)
            return fail_at(p, at, "a floating-point constant cannot be cast to an integer");
        c->kind = is_signed ? CONST_S64 : CONST_U64;
    } else if (!ternary(p, c) || !expect(p, ')', ")")) {
        return false;
    }
    p->depth--;
    return true;
}

static bool primary(struct parser *p, struct constant *c)
{
    const struct token t = p->t;
    switch (t.kind) {
    case TK_INT: *c = (struct constant){ t.is_unsigned ? CONST_U64 : CONST_S64, t.value }; break;
    case TK_F32: *c = (struct constant){ CONST_F32, t.value }; break;
    case TK_F64: *c = (struct constant){ CONST_F64, t.value }; break;
    case TK_NAME:
        if (!str_is(t.s, "WARP_SZ")) return fail_at(p, t.at, "`%.*s` is not a constant", SHOW(t.s));
        *c = (struct constant){ CONST_S64, 32 };
        break;
    default: return is_punct(p, '(') ? parenthesis(p, c) : unexpected(p, "a constant");
    }
    advance(p);
    return true;
}

static bool sign(struct parser *p, struct constant *c, int op, const char *at)
{
    bool is_float = c->kind == CONST_F64 || c->kind == CONST_F32;
    switch (op) {
    case '-':
        if (is_float)
            c->bits ^= (u64)1 << (c->kind == CONST_F64 ? 63 : 31);
        else
            c->bits = -c->bits;
        break;
    case '!':
        if (c->kind == CONST_F32) return fail_at(p, at, "a 0f constant cannot be used in an expression");
        *c = of_bool(!is_true(*c));
        break;
    case '~':
        if (is_float) return fail_at(p, at, "~ needs an integer");
        c->bits = ~c->bits;
        break;
    default: break;
    }
    return true;
}

static bool unary(struct parser *p, struct constant *c)
{
    int op = p->t.kind == TK_PUNCT ? p->t.op : 0;
    if (op != '-' && op != '+' && op != '!' && op != '~') return primary(p, c);
    const char *at = p->t.at;
    if (!deeper(p)) return false;
    advance(p);
    if (!unary(p, c)) return false;
    p->depth--;
    return sign(p, c, op, at);
}

static int precedence(const struct parser *p)
{
    if (p->t.kind != TK_PUNCT) return 0;
    switch (p->t.op) {
    case '*':
    case '/':
    case '%': return 10;
    case '+':
    case '-': return 9;
    case OP2('<', '<'):
    case OP2('>', '>'): return 8;
    case '<':
    case '>':
    case OP2('<', '='):
    case OP2('>', '='): return 7;
    case OP2('=', '='):
    case OP2('!', '='): return 6;
    case '&': return 5;
    case '^': return 4;
    case '|': return 3;
    case OP2('&', '&'): return 2;
    case OP2('|', '|'): return 1;
    default: return 0;
    }
}

static bool combine_floats(struct parser *p, struct constant *a, int op, double x, double y, const char *at)
{
    switch (op) {
    case '*': *a = of_double(x * y); return true;
    case '/':
        if (y == 0) return fail_at(p, at, "division by zero in a constant expression");
        *a = of_double(x / y);
        return true;
    case '+': *a = of_double(x + y); return true;
    case '-': *a = of_double(x - y); return true;
    case '<': *a = of_bool(x < y); return true;
    case '>': *a = of_bool(x > y); return true;
    case OP2('<', '='): *a = of_bool(x <= y); return true;
    case OP2('>', '='): *a = of_bool(x >= y); return true;
    case OP2('=', '='): *a = of_bool(x == y); return true;
    case OP2('!', '='): *a = of_bool(x != y); return true;
    case OP2('&', '&'): *a = of_bool(x != 0 && y != 0); return true;
    case OP2('|', '|'): *a = of_bool(x != 0 || y != 0); return true;
    default: return fail_at(p, at, "this operator needs integers");
    }
}

static bool divide(struct parser *p, struct constant *a, int op, struct constant b, bool is_signed, const char *at)
{
    if (!b.bits) return fail_at(p, at, "division by zero in a constant expression");
    u64 x = a->bits, y = b.bits;
    if (is_signed && y == UINT64_MAX) /* the one quotient that overflows is among these */
        a->bits = op == '/' ? -x : 0;
    else if (is_signed)
        a->bits = (u64)(op == '/' ? (s64)x / (s64)y : (s64)x % (s64)y);
    else
        a->bits = op == '/' ? x / y : x % y;
    return true;
}

static bool combine(struct parser *p, struct constant *a, int op, struct constant b, const char *at)
{
    if (a->kind == CONST_F32 || b.kind == CONST_F32)
        return fail_at(p, at, "a 0f constant cannot be used in an expression");
    if (a->kind == CONST_F64 || b.kind == CONST_F64) return combine_floats(p, a, op, as_double(*a), as_double(b), at);
    bool is_signed = a->kind == CONST_S64 && b.kind == CONST_S64;
    u64 x = a->bits, y = b.bits;
    s64 sx = (s64)x, sy = (s64)y;
    bool shift = op == OP2('<', '<') || op == OP2('>', '>');
    if (!shift) a->kind = is_signed ? CONST_S64 : CONST_U64;
    switch (op) {
    case '*': a->bits = x * y; break;
    case '/':
    case '%': return divide(p, a, op, b, is_signed, at);
    case '+': a->bits = x + y; break;
    case '-': a->bits = x - y; break;
    case OP2('<', '<'): a->bits = y < 64 ? x << y : 0; break;
    case OP2('>', '>'): a->bits = a->kind == CONST_S64 ? (u64)(sx >> (y < 64 ? y : 63)) : y < 64 ? x >> y : 0; break;
    case '<': *a = of_bool(is_signed ? sx < sy : x < y); break;
    case '>': *a = of_bool(is_signed ? sx > sy : x > y); break;
    case OP2('<', '='): *a = of_bool(is_signed ? sx <= sy : x <= y); break;
    case OP2('>', '='): *a = of_bool(is_signed ? sx >= sy : x >= y); break;
    case OP2('=', '='): *a = of_bool(x == y); break;
    case OP2('!', '='): *a = of_bool(x != y); break;
    case '&': a->bits = x & y; break;
    case '^': a->bits = x ^ y; break;
    case '|': a->bits = x | y; break;
    case OP2('&', '&'): *a = of_bool(x && y); break;
    default: *a = of_bool(x || y); break;
    }
    return true;
}

static bool binary(struct parser *p, struct constant *c, int least)
{
    if (!unary(p, c)) return false;
    int prec;
    while ((prec = precedence(p)) >= least && prec) {
        int op = p->t.op;
        const char *at = p->t.at;
        struct constant right;
        advance(p);
        if (!binary(p, &right, prec + 1) || !combine(p, c, op, right, at)) return false;
    }
    return true;
}

static bool ternary(struct parser *p, struct constant *c)
{
    if (!binary(p, c, 1)) return false;
    if (!is_punct(p, '?')) return true;
    struct constant yes, no;
    const char *at = p->t.at;
    if (!deeper(p)) return false;
    advance(p);
    if (!ternary(p, &yes) || !expect(p, ':', ":") || !ternary(p, &no)) return false;
    p->depth--;
    if (c->kind == CONST_F32) return fail_at(p, at, "a 0f constant cannot be used in an expression");
    *c = is_true(*c) ? yes : no;
    return true;
}

bool constant_parse(struct parser *p, struct constant *c) { return ternary(p, c); }

bool integer_parse(struct parser *p, s64 *value)
{
    const char *at = p->t.at;
    struct constant c;
    if (!constant_parse(p, &c)) return false;
    if (c.kind == CONST_F32 || c.kind == CONST_F64)
        return fail_at(p, at, "expected an integer, found a floating-point number");
    *value = (s64)c.bits;
    return true;
}

static float as_float(struct constant c)
{
    float f;
    u32 low = (u32)c.bits;
    if (c.kind != CONST_F32) return (float)as_double(c);
    memcpy(&f, &low, 4);
    return f;
}

u64 constant_as(struct constant c, enum ptx_type t)
{
    if (t == T_F32) {
        float f = as_float(c);
        u32 bits;
        memcpy(&bits, &f, 4);
        return c.kind == CONST_F32 ? (u32)c.bits : bits;
    }
    if (t == T_F64) return of_double(c.kind == CONST_F32 ? as_float(c) : as_double(c)).bits;
    unsigned width = 8u * type_size[t];
    if (width >= 64 || !width) return c.bits;
    u64 low = c.bits & (((u64)1 << width) - 1);
    return type_is_signed(t) && low >> (width - 1) ? low | ~(((u64)1 << width) - 1) : low;
}
