/* shared_layout.h: where the shared variables of a program lie. */
#ifndef LOCKSTEP_SHARED_LAYOUT_H
#define LOCKSTEP_SHARED_LAYOUT_H
#include "ptx/ptx.h"

/* bytes of shared memory that the system keeps; the part of cooperative groups in it */
enum { SHARED_RESERVED = 1024, SHARED_GROUPS = 256 };
/* Gives every shared variable its offset, once for a program. */
void shared_layout(struct ptx_module *m);
/* Bytes of shared memory that a kernel declares, itself and by the functions that it can reach. */
u64 shared_static_bytes(const struct ptx_func *kernel);
/* The variable that an offset lies in; NULL: none. */
const struct ptx_var *shared_variable(const struct ptx_func *kernel, u64 at);
#endif
