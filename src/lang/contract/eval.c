/* Evaluation of expr.h's expressions. Integers stay exact or become an error; as soon as one operand is a float,
 * doubles are used. */
#include "contract/expr.h"
#include <inttypes.h>
#include <math.h>

struct run { /* one evaluation */
    const struct scope *scope;
    struct error *e;
};

static bool fail(const struct run *r, const struct expr *x, const char *text)
{
    return error_at(r->e, ERR_INPUT, r->scope->file, r->scope->all, x->at, "%s", text);
}

static bool give(struct number *out, s64 v)
{
    *out = (struct number){ .i = v };
    return true;
}

static bool give_float(const struct run *r, const struct expr *x, struct number *out, double v)
{
    *out = (struct number){ .is_float = true, .f = v };
    return isfinite(v) || fail(r, x, "the result is not a finite number");
}

static bool overflowed(const struct run *r, const struct expr *x)
{
    return fail(r, x, "the result does not fit in 64 bits");
}

static bool truth(struct number n) { return n.is_float ? n.f != 0 : n.i != 0; }

static bool compare(enum expr_op op, double a, double b, s64 i, s64 j, bool is_float)
{
    bool less = is_float ? a < b : i < j, equal = is_float ? a == b : i == j;
    switch (op) {
    case EX_EQUAL: return equal;
    case EX_UNEQUAL: return !equal;
    case EX_LESS: return less;
    case EX_LESS_EQUAL: return less || equal;
    case EX_GREATER: return !less && !equal;
    default: return !less;
    }
}

static bool divide(const struct run *r, const struct expr *x, s64 a, s64 b, struct number *out)
{
    if (!b) return fail(r, x, "division by zero");
    if (a == INT64_MIN && b == -1) return x->op == EX_REMAINDER ? give(out, 0) : overflowed(r, x);
    return give(out, x->op == EX_REMAINDER ? a % b : a / b);
}

static bool shift(const struct run *r, const struct expr *x, s64 a, s64 b, struct number *out)
{
    if (b < 0 || b > 63) return fail(r, x, "a shift goes from 0 to 63 places");
    if (x->op == EX_RIGHT) return give(out, a >> b);
    s64 v = (s64)((u64)a << b);
    return v >> b == a ? give(out, v) : overflowed(r, x);
}

static bool whole_power(const struct run *r, const struct expr *x, s64 a, s64 b, struct number *out)
{
    s64 v = 1;
    if (b < 0) return fail(r, x, "an integer has no negative power; write 2.0 ** -3");
    if (a == 0 || a == 1) return give(out, b ? a : 1);
    if (a == -1) return give(out, b % 2 ? -1 : 1);
    for (s64 i = 0; i < b; i++)
        if (__builtin_mul_overflow(v, a, &v)) return overflowed(r, x);
    return give(out, v);
}

static bool binary_int(const struct run *r, const struct expr *x, s64 a, s64 b, struct number *out)
{
    s64 v = 0;
    switch (x->op) {
    case EX_OR: return give(out, a | b);
    case EX_XOR: return give(out, a ^ b);
    case EX_AND: return give(out, a & b);
    case EX_LEFT:
    case EX_RIGHT: return shift(r, x, a, b, out);
    case EX_ADD: return __builtin_add_overflow(a, b, &v) ? overflowed(r, x) : give(out, v);
    case EX_SUBTRACT: return __builtin_sub_overflow(a, b, &v) ? overflowed(r, x) : give(out, v);
    case EX_MULTIPLY: return __builtin_mul_overflow(a, b, &v) ? overflowed(r, x) : give(out, v);
    case EX_DIVIDE:
    case EX_REMAINDER: return divide(r, x, a, b, out);
    case EX_POWER: return whole_power(r, x, a, b, out);
    default: return give(out, compare(x->op, 0, 0, a, b, false));
    }
}

static bool binary_float(const struct run *r, const struct expr *x, double a, double b, struct number *out)
{
    switch (x->op) {
    case EX_ADD: return give_float(r, x, out, a + b);
    case EX_SUBTRACT: return give_float(r, x, out, a - b);
    case EX_MULTIPLY: return give_float(r, x, out, a * b);
    case EX_POWER: return give_float(r, x, out, pow(a, b));
    case EX_DIVIDE: return b == 0 ? fail(r, x, "division by zero") : give_float(r, x, out, a / b);
    case EX_OR:
    case EX_XOR:
    case EX_AND:
    case EX_LEFT:
    case EX_RIGHT:
    case EX_REMAINDER: return fail(r, x, "this operator takes integers");
    default: return give(out, compare(x->op, a, b, 0, 0, true));
    }
}

/* a rounded up to whole multiples of b, and how many those are. */
static bool round_up(const struct run *r, const struct expr *x, s64 a, s64 b, bool count, struct number *out)
{
    if (a < 0 || b <= 0)
        return fail(r, x,
                    count ? "ceildiv takes a from 0 on and b from 1 on" : "roundup takes a from 0 on and b from 1 on");
    s64 n = a / b + (a % b != 0), v;
    if (count) return give(out, n);
    return __builtin_mul_overflow(n, b, &v) ? overflowed(r, x) : give(out, v);
}

/* The smallest power of two that is not below a (pow2), or its exponent (log2). */
static bool power(const struct run *r, const struct expr *x, s64 a, bool exponent, struct number *out)
{
    s64 n = 0;
    if (a < 1 || a > (s64)1 << 62) return fail(r, x, "pow2 and log2 take numbers from 1 to 2^62");
    while ((s64)1 << n < a) n++;
    return give(out, exponent ? n : (s64)1 << n);
}

static bool call(const struct run *r, const struct expr *x, struct number a, struct number b, struct number *out)
{
    bool is_float = a.is_float || b.is_float;
    double f = number_double(a), g = number_double(b);
    switch (x->symbol) {
    case FN_min: return is_float ? give_float(r, x, out, MIN_OF(f, g)) : give(out, MIN_OF(a.i, b.i));
    case FN_max: return is_float ? give_float(r, x, out, MAX_OF(f, g)) : give(out, MAX_OF(a.i, b.i));
    case FN_sqrt: return f < 0 ? fail(r, x, "the square root of a negative number") : give_float(r, x, out, sqrt(f));
    case FN_float: return give_float(r, x, out, f);
    case FN_abs:
        return is_float           ? give_float(r, x, out, fabs(f))
               : a.i == INT64_MIN ? overflowed(r, x)
                                  : give(out, a.i < 0 ? -a.i : a.i);
    }
    if (is_float) return fail(r, x, "this function takes integers");
    switch (x->symbol) {
    case FN_ceildiv:
    case FN_roundup: return round_up(r, x, a.i, b.i, x->symbol == FN_ceildiv, out);
    default: return power(r, x, a.i, x->symbol == FN_log2, out);
    }
}

static bool unary(const struct run *r, const struct expr *x, struct number a, struct number *out)
{
    if (x->op == EX_NOT) return give(out, !truth(a));
    if (x->op == EX_INVERT) return a.is_float ? fail(r, x, "this operator takes integers") : give(out, ~a.i);
    if (a.is_float) return give_float(r, x, out, -a.f);
    return a.i == INT64_MIN ? overflowed(r, x) : give(out, -a.i);
}

static bool eval(const struct run *r, const struct expr *x, struct number *out)
{
    struct number a = { 0 }, b = { 0 };
    switch (x->op) {
    case EX_NUMBER: *out = x->value; return true;
    case EX_NAME: *out = r->scope->value[x->symbol]; return true;
    case EX_NEGATE:
    case EX_NOT:
    case EX_INVERT: return eval(r, x->kid[0], &a) && unary(r, x, a, out);
    case EX_TERNARY: return eval(r, x->kid[0], &a) && eval(r, x->kid[truth(a) ? 1 : 2], out);
    case EX_OR_ELSE:
    case EX_AND_ALSO:
        /* as in C, the right side is not looked at when the left one decides */
        if (!eval(r, x->kid[0], &a) || (truth(a) != (x->op == EX_OR_ELSE) && !eval(r, x->kid[1], &a))) return false;
        return give(out, truth(a));
    default: break;
    }
    if (!eval(r, x->kid[0], &a) || (x->kid[1] && !eval(r, x->kid[1], &b))) return false;
    if (x->op == EX_CALL) return call(r, x, a, b, out);
    return a.is_float || b.is_float ? binary_float(r, x, number_double(a), number_double(b), out)
                                    : binary_int(r, x, a.i, b.i, out);
}

bool expr_eval(const struct expr *x, const struct scope *s, struct number *out, struct error *e)
{
    return eval(&(struct run){ s, e }, x, out);
}

bool expr_integer(const struct expr *x, const struct scope *s, const char *what, s64 low, s64 high, s64 *out,
                  struct error *e)
{
    struct number n;
    if (!expr_eval(x, s, &n, e)) return false;
    *out = n.i;
    if (n.is_float)
        return error_at(e, ERR_INPUT, s->file, s->all, x->at, "%s is %g; an integer belongs here", what, n.f);
    if (n.i >= low && n.i <= high) return true;
    if (high == INT64_MAX)
        return error_at(e, ERR_INPUT, s->file, s->all, x->at, "%s is %" PRId64 "; it must be %" PRId64 " or more", what,
                        n.i, low);
    return error_at(e, ERR_INPUT, s->file, s->all, x->at,
                    "%s is %" PRId64 "; it must lie between %" PRId64 " and %" PRId64, what, n.i, low, high);
}
