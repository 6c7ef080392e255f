/* Deoptimisation: from fast to plain code (deopt.c). */
#ifndef LOCKSTEP_DEOPT_H
#define LOCKSTEP_DEOPT_H
#include "sim/machine.h"

/* The kernel's frame goes on in plain code. op: the running split is before that operation; NONE: at a block. */
void exec_to_plain(struct warp *w, u32 op);
#endif
