/* Execution of one warp (exec.c), and its change from fast to plain code (deopt.c). */
#ifndef LOCKSTEP_EXEC_H
#define LOCKSTEP_EXEC_H
#include "sim/machine.h"

enum exec_end { EXEC_WAIT, EXEC_YIELD, EXEC_DONE };
/* Runs until every split of the warp waits, the warp gives way, or it is done. */
enum exec_end exec_warp(struct warp *w);
static inline struct split *split_put(struct split *s, u32 mask, u32 block, struct frame *fr)
{
    *s = (struct split){ .mask = mask, .block = block, .fr = fr, .state = SPLIT_RUN };
    return s;
}
/* A new split of these lanes, at the start of a block. */
struct split *exec_split(struct warp *w, u32 mask, u32 block, struct frame *fr);
/* Lanes leave the kernel at operation op. The caller drops the running split when it has no lanes left. */
void exec_exit_lanes(struct warp *w, u32 mask, u32 op);
/* Executes the instruction at `at`, and returns what its handler does; records what it reads while a probe is on. */
int exec_one(struct warp *w, u32 at);
/* Deoptimisation: the kernel's frame goes on in plain code. op: the running split is before that operation; NONE: at a
 * block. */
void exec_to_plain(struct warp *w, u32 op);

/* ---- trap.c: instructions that end the launch with a report ---- */

/* The running split reached a trap: reports it, and stops the launch. */
void trap_report(struct warp *w, const struct insn *i);
/* The index of an indirect branch names no target in this lane. */
void trap_bad_index(struct warp *w, const struct insn *i, u32 lane);
/* The running split reached an instruction that is not supported: names it, and ends the launch. */
void trap_unsupported(struct warp *w, const struct insn *i);
#endif
