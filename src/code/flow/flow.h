/* flow.h: control flow of a lowered function: the order of its blocks, dominators, loops, liveness. */
#ifndef LOCKSTEP_FLOW_H
#define LOCKSTEP_FLOW_H
#include "code/code.h"

/* Puts the blocks in reverse post-order with loops together, and fills what struct block says of each. */
void flow_build(struct lowered *l);
/* Registers that some path reads before anything was written to them, before the blocks are in order. */
u64 *flow_unwritten(struct lowered *l, struct arena *out);
/* Registers live just before an operation in the middle of a block. */
void live_before(const struct lowered *l, u32 block, u32 op, u64 *live);
/* The most registers of 32 bits that hold a value at one time: fewer than ptxas takes, mostly, which moves loads up. */
u32 flow_pressure(const struct lowered *l);
const struct loop *loop_of_op(const struct lowered *l, u32 op); /* the innermost around an operation; NULL: none */
u32 deciding_branch(const struct lowered *l, u32 op); /* which decides whether an operation is reached; NONE: none */
#endif
