/* Looks at the second operand of divisions and shifts before they run (flow/hazards.c says which). */
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include <inttypes.h>

/* Whether some lane divides by zero, or shifts by more than the width: without branches, for nearly always none does.
 */
#define ANY_ZERO(T)                                            \
    do {                                                       \
        const T *p = (const T *)(const void *)SLOT(R, i->b);   \
        T any = 0;                                             \
        for (u32 l = 0; l < LANES; l++) any |= (T)(p[l] == 0); \
        return any != 0;                                       \
    } while (0)
static bool some(const char *restrict R, const struct insn *i, bool shift, u32 bits)
{
    const u32 *amount = (const u32 *)(const void *)SLOT(R, i->b);
    u32 past = 0;
    if (CLS_AT(i, 2) != CLS_V) return true;
    for (u32 l = 0; shift && l < LANES; l++) past |= (u32)(amount[l] >= bits);
    if (shift) return past;
    if (bits == 64) ANY_ZERO(u64);
    if (bits == 32) ANY_ZERO(u32);
    ANY_ZERO(u16);
}

static u32 which(const u64 v[LANES], bool shift, u32 bits)
{
    u32 m = 0;
    for (u32 l = 0; l < LANES; l++) m |= (u32)(shift ? (u32)v[l] >= bits : !v[l]) << l;
    return m;
}

static void tell(struct warp *w, const struct insn *i, bool shift, u32 bits, u32 lanes, const u64 v[LANES])
{
    const struct lop *o = &w->code->low->op[i->op];
    struct arena mem = { 0 };
    struct finding f = { .kind = shift ? F_shift_range : F_division_zero };
    struct str opcode = o->src ? o->src->opcode : STR("?");
    u32 first = (u32)__builtin_ctz(lanes), width = bits / 8;
    u64 a = lane_value(w, w->code, w->R, i->a, CLS_AT(i, 1), width, first);
    s64 sa = width < 8 ? (s64)((u64)a << (64 - bits)) >> (64 - bits) : (s64)a;
    bool sg = type_is_signed((enum ptx_type)isa_forms[o->form].type);
    const char *left = sg ? arena_printf(&mem, "%" PRId64, sa) : arena_printf(&mem, "%" PRIu64, a);
    if (shift)
        f.cause = arena_printf(&mem, "%.*s of %s by %u: the type has %u bits", (int)opcode.n, opcode.p, left,
                               (u32)v[first], bits);
    else
        f.cause = arena_printf(&mem, "%.*s of %s by 0: the divisor is zero in these threads", (int)opcode.n, opcode.p,
                               left);
    finding_add(w, i->op, &f, lanes);
    arena_free(&mem);
}

int hazard_check(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    bool shift = o->shape == SHAPE_SHL || o->shape == SHAPE_SHR;
    u32 bits = 8 * type_size[isa_forms[o->form].type], width = shift ? 4 : bits / 8;
    u64 v[LANES];
    if (!(w->cta->launch->in->checks & CHECK_VALUES) || likely(!some(R, i, shift, bits))) return 0;
    lane_values(w->code, R, i->b, CLS_AT(i, 2), width, v);
    u32 bad = which(v, shift, bits);
    if (!bad) return 0;
    bad &= active_lanes(w, R, i);
    if (bad) tell(w, i, shift, bits, bad, v);
    return 0;
}
