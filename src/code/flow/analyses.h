/* analyses.h: what is found out about a lowered function beside its control flow, one function a file. */
#ifndef LOCKSTEP_ANALYSES_H
#define LOCKSTEP_ANALYSES_H
#include "code/code.h"

void speculated_find(struct lowered *l); /* speculate.c: lowered.speculated, SITE_SPECULATED */
void unneeded_find(struct lowered *l);   /* unneeded.c: site.needed_by */
void optimistic_find(struct lowered *l); /* optimistic.c: SITE_OPTIMISTIC */
void polls_find(struct lowered *l);      /* polls.c: SITE_POLLED */
/* polls.c: some loop may wait for a write of another CTA: its end depends on a load or an atomic of one address. May
 * return true for a loop that waits for nothing. */
bool code_polls(struct lowered *l);
/* polls.c: for each operation of a kernel, whether it may come after a griddepcontrol.wait; NULL: that cannot be told,
 * since it calls functions, or is one. */
const u8 *code_after_wait(const struct lowered *l, struct arena *mem);
/* exit_slice.c: the registers that decide how a round of a loop goes on and are live when it begins; loop.clocked */
void exit_slice_find(struct lowered *l, struct loop *lp, u64 *regs);
void hazards_find(struct lowered *l);       /* hazards.c: lowered.hazard */
void halves_find(struct lowered *l);        /* halves.c: site.holds */
void in_flight_find(struct lowered *l);     /* in_flight.c: lowered.in_flight */
void odd_constants_find(struct lowered *l); /* odd_constants.c: lowered.has_infinity, has_nan, unseen */
void subword_find(struct lowered *l);       /* library.c: SITE_WORD */
void fuse_find(struct lowered *l);          /* fuse.c: products that become part of sums; before flow_build */
/* library.c: whether an operation stands in a header of cooperative groups or of libcu++ */
bool lop_in_library(const struct lowered *l, u32 op);
/* library.c: whether the compiler uses the shared memory by itself, and the source has none */
bool shared_is_compilers(const struct lowered *l);
#endif
