/* cu_clock.h: programs that measure: what their clocks and events measure (docs/reference/rules.md, A).
 *
 * A launch returns before the kernel has run, and a kernel's first launch loads it. Two notes come of it:
 * timing_unsynced, a launch between two reads of a clock and nothing that waits for it; timing_cold, the first launch
 * of a kernel between two reads of a clock, or two events whose difference is asked for. What is no near certainty is
 * left out: the two reads are of the same clock, by the function that launches, in the same activation. */
#ifndef LOCKSTEP_CU_CLOCK_H
#define LOCKSTEP_CU_CLOCK_H
#include "driver/cu_count.h"
#include "driver/cu_engine.h"
#include "driver/gate.h"

/* The program has read the clock of this number (front/front_clock.c), in the call that returns to `address`, with this
 * stack pointer after the return. */
void cu_clock_read(u32 clock, const void *address, const void *stack);
/* The calling thread launches a kernel in a stream, for the nth time. */
void cu_clock_launch(const struct cu_kernel_count *kernel, u64 nth, const void *stream, const char *site);
/* The calling thread, a script's, has had an operator done that a library would have launched kernels for. `name` lives
 * for ever. */
void cu_clock_operator(const char *name, const char *site);
/* Of the gate, at the end of a call while cu_clock_watches. */
bool cu_clock_watches(void);
void cu_clock_call(const struct cu_call *c);
void cu_clock_thread_end(void);
/* The program has ended. */
void cu_clock_end(void);
/* The thread has run a cell of a notebook to its end: what it has measured there is complete. */
void cu_clock_cell(void);
#endif
