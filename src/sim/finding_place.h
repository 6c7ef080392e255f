/* From a place in the machine to a finding (finding_place.c). */
#ifndef LOCKSTEP_FINDING_PLACE_H
#define LOCKSTEP_FINDING_PLACE_H
#include "sim/machine.h"

/* Fills in place and threads of a finding of operation op in the lanes of mask, and adds it to the launch's report. */
void found(struct warp *w, u32 op, struct finding *f, u32 mask);
/* The same, into another report. */
void found_in(struct report *to, const struct warp *w, u32 op, struct finding *f, u32 mask);
/* The place of an operation: its source line with the inlined calls around it. */
struct place *found_place(struct arena *a, const struct lowered *l, u32 op);
u32 found_call(const struct frame *f);
#endif
