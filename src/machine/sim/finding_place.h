/* From a place in the machine to a finding (finding_place.c). */
#ifndef LOCKSTEP_FINDING_PLACE_H
#define LOCKSTEP_FINDING_PLACE_H
#include "sim/machine.h"

/* Fills in the place and the threads of a finding, and adds it to the launch's report: operation op of the running
 * split, in the lanes of mask. */
void finding_add(struct warp *w, u32 op, struct finding *f, u32 mask);
/* The same, into another report. */
void finding_add_to(struct report *to, const struct warp *w, u32 op, struct finding *f, u32 mask);
/* The same for a split that waits, at the operation that it waits at. */
void finding_add_split(const struct warp *w, const struct split *s, struct finding *f);
/* The same for an operation of any function, whose frame may be gone: its place is without callers. */
void finding_add_of(const struct warp *w, const struct lowered *low, u32 op, struct finding *f, u32 mask);
/* The place of an operation: its source line with the inlined calls around it. */
struct place *finding_place(struct arena *a, const struct lowered *l, u32 op);
/* finding.array: which pointer of the kernel the operation accesses memory by; l may be NULL. */
u64 finding_array(const struct lowered *l, u32 op);
u32 frame_call_site(const struct frame *f); /* the call that made a frame; NONE: not known */
#endif
