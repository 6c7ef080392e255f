/* registers.h: setmaxnreg, by which the warps of a warpgroup give registers away or take more (registers.c). */
#ifndef LOCKSTEP_REGISTERS_H
#define LOCKSTEP_REGISTERS_H
#include "sim/machine.h"

void registers_reset(struct cta *c); /* a CTA starts */
void registers_exit(struct warp *w); /* its last lanes leave */
#endif
