/* Deoptimisation: from fast to plain code (deopt.c). */
#ifndef LOCKSTEP_DEOPT_H
#define LOCKSTEP_DEOPT_H
#include "sim/machine.h"

/* The kernel's frame goes on in plain code. op: the running split is before that operation; NONE: at a block. */
void exec_to_plain(struct warp *w, u32 op);
/* Registers live just before an operation. */
void live_before(const struct lowered *l, u32 block, u32 op, u64 *live);
#endif
