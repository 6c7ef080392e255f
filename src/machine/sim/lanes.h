/* Lanes: which tables of lane_set.h hold on this processor; and registers read and written lane by lane, whatever their
 * class (lanes_wrap.c). */
#ifndef LOCKSTEP_LANES_H
#define LOCKSTEP_LANES_H
#include "lanes/lane_set.h"
#include "sim/machine.h"
const struct lane_set *lanes_of(u32 form); /* of a lane form, for this processor */

/* All lanes of a register in a slot of R; one lane of it. */
void lane_values(const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u64 out[LANES]);
u64 lane_value(const struct warp *w, const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u32 lane);
/* One value into a register that is uniform in each group: the groups that have lanes in the mask. */
void lanes_put_groups(const struct code *c, char *R, u32 slot, u32 mask, u64 v);
/* The lanes that execute an instruction: those of the split, under its guard. */
static inline u32 active_lanes(const struct warp *w, const char *R, const struct insn *i)
{
    if (!i->guard) return w->mask;
    u32 g = *(const u32 *)(const void *)SLOT(R, i->guard);
    return w->mask & (i->flags & IF_GUARD_NEG ? ~g : g);
}
/* Of the lanes in todo, those whose value equals that of the first: for doing one group after the other. */
static inline u32 lanes_alike(const u64 v[LANES], u32 todo)
{
    u32 first = (u32)__builtin_ctz(todo), same = 0;
    for (u32 l = first; l < LANES; l++)
        if (todo >> l & 1 && v[l] == v[first]) same |= 1u << l;
    return same;
}
/* Operands of several classes; lanes that take no part; an affine value against a scalar; INS_GUARD of decode.h. */
handler lanes_mixed, lanes_blend, lanes_cmp_affine, lanes_guard_affine;
handler *lanes_cmp_affine_for(const struct isa_form *f, u32 group, bool scalar_right);
#endif
