/* Operations of a warp that wait for the lanes of a mask (warpop.c). */
#ifndef LOCKSTEP_WARPOP_H
#define LOCKSTEP_WARPOP_H
#include "sim/machine.h"

/* The running split arrives at a .sync operation. true: all lanes of its mask are there, and the split goes on. */
bool sync_arrive(struct warp *w, struct split *s, const struct insn *i);
/* Lanes have left: completes the operations that waited only for them. */
void sync_recheck(struct warp *w);
#endif
