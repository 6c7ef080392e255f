/* view_strides.h: views that are not contiguous, for kernels that are given an address alone (check/views.h). */
#ifndef LOCKSTEP_VIEW_STRIDES_H
#define LOCKSTEP_VIEW_STRIDES_H
#include "sim/machine.h"

/* Notes each of them that the kernel does not seem to know the strides of; for view_check_begin. */
void view_strides_judge(void *self, const struct launch *l);
#endif
