/* Operations of a warp that wait for the lanes of a mask (warpop.c). */
#ifndef LOCKSTEP_WARPOP_H
#define LOCKSTEP_WARPOP_H
#include "sim/machine.h"

/* The running split arrives at a .sync operation. true: all lanes of its mask are there, and the split goes on. */
bool sync_arrive(struct warp *w, struct split *s, const struct insn *i);
/* Lanes have left: completes the operations that waited only for them. */
void sync_recheck(struct warp *w);

/* Where the half `half` of lane l's result of movmatrix comes from: the lane, and how far up in its register. Lane t
 * holds of row t/4 the elements 2*(t mod 4) and the next. */
static inline u32 transposed_from(u32 l, u32 half, u32 *shift)
{
    u32 row = l % 4 * 2 + half, column = l / 4; /* of the source */
    *shift = column % 2 * 16;
    return row * 4 + column / 2;
}
#endif
