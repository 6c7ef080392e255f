/* .aligned operations of a warp that only a part of its lanes executes (aligned.c). */
#ifndef LOCKSTEP_ALIGNED_H
#define LOCKSTEP_ALIGNED_H
#include "sim/machine.h"

/* The lanes of the warp that are elsewhere while s arrives at an .aligned operation, and that do not leave the kernel
 * on their way without coming to where s goes on. */
u32 aligned_missing(const struct warp *w, const struct split *s, u32 op);
/* The operation that s waits at completes for the lanes of `here`; reports those that should have been among them. */
void aligned_check(struct warp *w, const struct split *s, u32 here);
#endif
