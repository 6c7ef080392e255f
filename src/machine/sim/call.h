/* Calls, frames, and the stacks of threads (call.c). */
#ifndef LOCKSTEP_CALL_H
#define LOCKSTEP_CALL_H
#include "sim/machine.h"

/* The running split calls. false: the callee was a builtin, and is done. */
bool call_enter(struct warp *w, struct split *s, const struct insn *i, u32 next);
/* Lanes of the running split return. */
void call_return(struct warp *w, struct split *s, u32 mask);
/* A split or a frame above it no longer needs the frame. */
void frame_free(struct frame *f); /* with all that belongs to it (cta.c) */
void frame_drop(struct warp *w, struct frame *f);
struct ptx_func *func_at(struct launch *l, u64 addr); /* the function of an address; NULL: none */
char *local_of(struct warp *w);                       /* the stacks of its lanes, mapped when first used */
#endif
