/* Values (RULES.md V1): NaN and infinity where they are stored into an output.
 *
 * The stored bytes are looked at after the store, as elements of the type that the contract gives. */
#include "check/outputs.h"

bool values_wanted(const struct bound_arg *b)
{
    return b->arg->shape.type->class == SCALAR_FLOAT;
}

enum odd { ODD_NONE, ODD_INF, ODD_NAN };

/* By the bits: an exponent of all ones is infinite or not a number; e4m3 has no infinity, and one NaN. */
static enum odd look(const struct scalar *t, const void *p)
{
    u64 bits = 0, all = ((u64)1 << t->exponent) - 1;
    memcpy(&bits, p, t->bytes);
    u64 fraction = bits & (((u64)1 << t->mantissa) - 1);
    if ((bits >> t->mantissa & all) != all)
        return ODD_NONE;
    if (t->finite)
        return fraction == ((u64)1 << t->mantissa) - 1 ? ODD_NAN : ODD_NONE;
    return fraction ? ODD_NAN : ODD_INF;
}

static void found_odd(struct outputs *o, const struct output *out, const struct access *a, u32 lanes, enum odd what)
{
    struct arena mem = { 0 };
    struct finding f = { .kind = what == ODD_NAN ? F_value_nan : F_value_inf, .access = a->site->name == N_st ? "write" : "atomic", .space = "global", .width = a->bytes };
    memcpy(f.addr, a->addr, sizeof f.addr);
    output_describe(&mem, out, &f);
    f.cause = what == ODD_NAN ? "the value that was stored is NaN" : "the value that was stored is infinite";
    found(a->warp, a->insn->op, &f, lanes);
    __atomic_fetch_add(what == ODD_NAN ? &o->bad_nan : &o->bad_inf, 1, __ATOMIC_RELAXED);
    arena_free(&mem);
}

void values_write(struct outputs *o, struct output *out, const struct access *a, u32 lanes)
{
    const struct scalar *t = out->arg->arg->shape.type;
    u32 nan = 0, inf = 0;
    for (u32 m = lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        for (u32 k = 0; k + t->bytes <= a->bytes; k += t->bytes) {
            enum odd what = look(t, a->ptr[l] + k);
            nan |= (u32)(what == ODD_NAN) << l;
            inf |= (u32)(what == ODD_INF) << l;
        }
    }
    if (nan)
        found_odd(o, out, a, nan, ODD_NAN);
    if (inf & ~nan)
        found_odd(o, out, a, inf & ~nan, ODD_INF);
}
