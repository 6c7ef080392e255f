/* Which threads left the kernel, and where (exited.c). */
#ifndef LOCKSTEP_EXITED_H
#define LOCKSTEP_EXITED_H
#include "sim/machine.h"

void leave_note(struct leave *v, u32 *n, struct leave x);
void leave_cta(struct worker *k, const struct cta *c);
/* the trap of code that finds no grid barrier: it was not launched cooperatively */
bool trap_needs_grid(const struct frame *f, u32 op);
#endif
