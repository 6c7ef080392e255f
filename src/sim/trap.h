/* Instructions that end the launch with a report: trap, and what Lockstep does not support (trap.c). */
#ifndef LOCKSTEP_TRAP_H
#define LOCKSTEP_TRAP_H
#include "sim/machine.h"

/* The running split reached a trap: reports it, and stops the launch. */
void trap_report(struct warp *w, const struct insn *i);
/* The index of an indirect branch names no target in this lane. */
void trap_bad_index(struct warp *w, const struct insn *i, u32 lane);
/* The running split reached an instruction that is not supported: names it, and ends the launch. */
void trap_unsupported(struct warp *w, const struct insn *i);
#endif
