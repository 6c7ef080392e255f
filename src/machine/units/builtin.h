/* Functions that the machine provides: printf, malloc and the like (builtin.c). */
#ifndef LOCKSTEP_BUILTIN_H
#define LOCKSTEP_BUILTIN_H
#include "sim/call.h"

void runtime_call(struct warp *w, const struct call *c, const struct insn *i); /* device_runtime.c */

/* ---- between the two ---- */

/* n bytes at a generic address of a lane, when they are the program's; NULL: they are not. */
const char *builtin_bytes(struct warp *w, u32 lane, u64 addr, u64 n);
/* The same, to write there. */
char *builtin_room(struct warp *w, u32 lane, u64 addr, u64 n);
/* The k-th argument of the call, its first 8 bytes; the result of the call. */
u64 builtin_argument(const struct frame *f, const struct call *c, u32 k, u32 lane);
void builtin_return(const struct frame *f, const struct call *c, u32 lane, u64 v);
/* "a.cu:6" */
void builtin_site(const struct lowered *l, u32 op, char *out, size_t n);
#endif
