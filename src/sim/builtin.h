/* Functions that the machine provides: printf, malloc and the like (builtin.c). */
#ifndef LOCKSTEP_BUILTIN_H
#define LOCKSTEP_BUILTIN_H
#include "sim/machine.h"

bool builtin_call(struct warp *w, const struct call *c, const struct insn *i);
#endif
