/* Operands that make an integer operation meaningless: a divisor of zero, a shift by more than the width (RULES.md
 * V).
 *
 * A GPU goes on in both cases, with a value that C does not define. The operand is looked at just before the
 * operation, in the lanes that execute it. A shift that some selection takes as one of its sides is left alone:
 * compilers shift first and then choose. */
#include "code/lower.h"
#include "sim/finding_place.h"
#include "sim/lanes.h"
#include <inttypes.h>

static bool may_be_zero(const struct lop *o) { return o->b.kind != O_CONST || !o->b.value; }

void hazards_find(struct lowered *l)
{
    struct arena tmp = { 0 };
    u8 *side = NEW_ARRAY(&tmp, u8, l->nreg + 1); /* a selection takes it */
    l->hazard = NEW_ARRAY(&l->mem, u8, l->nop + 1);
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_LANE || o->shape != SHAPE_SELECT) continue;
        if (o->a.kind == O_REG) side[o->a.reg] = 1;
        if (o->b.kind == O_REG) side[o->b.reg] = 1;
    }
    for (u32 k = 0; k < l->nop; k++) {
        const struct lop *o = &l->op[k];
        if (o->kind != K_LANE || o->d.kind != O_REG) continue;
        bool division = o->shape == SHAPE_DIV || o->shape == SHAPE_REM,
             shift = o->shape == SHAPE_SHL || o->shape == SHAPE_SHR;
        l->hazard[k] = (division && may_be_zero(o)) || (shift && o->b.kind != O_CONST && !side[o->d.reg]);
    }
    arena_free(&tmp);
}

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
    found(w, i->op, &f, lanes);
    arena_free(&mem);
}

int hazards_look(char *restrict R, const struct insn *i, struct warp *w)
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
