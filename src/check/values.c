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

/* Whether one of n elements has an exponent of all ones: one comparison each, and the usual answer is no. */
static bool any_odd(const struct scalar *t, const void *p, u64 n)
{
    u64 mask = (((u64)1 << t->exponent) - 1) << t->mantissa;
    bool odd = false;
#define SCAN(T) for (u64 i = 0; i < n; i++) odd |= (((const T *)p)[i] & (T)mask) == (T)mask
    switch (t->bytes) {
    case 8: SCAN(u64); break;
    case 4: SCAN(u32); break;
    case 2: SCAN(u16); break;
    default: SCAN(u8);
    }
#undef SCAN
    return odd;
}

/* True when the lanes write one piece of memory, and nothing in it is odd. */
static bool is_plain(const struct output *out, const struct scalar *t, const struct access *a, u32 lanes)
{
    u32 first = (u32)__builtin_ctz(lanes), n = (u32)__builtin_popcount(lanes);
    if (lanes != (n == LANES ? ALL_LANES : ((1u << n) - 1) << first) || a->bytes % t->bytes || a->addr[first] % t->bytes || a->addr[first] + (u64)n * a->bytes > out->end)
        return false;
    for (u32 k = 1; k < n; k++)
        if (a->addr[first + k] != a->addr[first] + (u64)k * a->bytes)
            return false;
    return !any_odd(t, mem_view(out->object, a->addr[first]), (u64)n * a->bytes / t->bytes);
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
    if (is_plain(out, t, a, lanes))
        return;
    for (u32 m = lanes; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        for (u32 k = 0; k + t->bytes <= a->bytes && a->addr[l] + k + t->bytes <= out->end; k += t->bytes) {
            enum odd what = look(t, (const u8 *)mem_view(out->object, a->addr[l]) + k);
            nan |= (u32)(what == ODD_NAN) << l;
            inf |= (u32)(what == ODD_INF) << l;
        }
    }
    if (nan)
        found_odd(o, out, a, nan, ODD_NAN);
    if (inf & ~nan)
        found_odd(o, out, a, inf & ~nan, ODD_INF);
}
