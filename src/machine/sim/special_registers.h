/* Special registers, parameters and constants as operands (special_registers.c). */
#ifndef LOCKSTEP_SPECIAL_REGISTERS_H
#define LOCKSTEP_SPECIAL_REGISTERS_H
#include "sim/machine.h"

/* The value of a constant, parameter or special register in a lane. */
u64 opnd_value(const struct warp *w, struct opnd o, u32 lane);
/* Writes the head of register file R: constants, parameters and special registers where code c reads them.
 * local_base: offset of the frame's local memory in the stack of its thread. */
void head_fill(struct warp *w, const struct code *c, char *R, u32 local_base);

handler warp_sreg; /* clocks and timers */
#endif
