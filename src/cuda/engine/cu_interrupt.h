/* cu_interrupt.h: a signal ends the program while kernels run.
 *
 * Where every thread of a kernel stands is what somebody wants to know who presses Ctrl-C on a program that hangs. So
 * the launches are stopped as lk_gpu_interrupt stops them, which is a finding of each (interrupted), before the report
 * is written. A launch may run on the very thread that the signal came to: that thread returns from the handler and
 * goes on as far as the end of its call, where it stays, and whoever writes the report sends the signal again. */
#ifndef LOCKSTEP_CU_INTERRUPT_H
#define LOCKSTEP_CU_INTERRUPT_H
#include "base/base.h"

/* Whether this signal comes from somebody who wants the process to end, and kernels run. In a handler, too. */
bool cu_interrupt_concerns(int number);
/* Stops all launches, and waits for that as long; false: some run yet. */
bool cu_interrupt_launches(u32 ms);
/* From now on no call of the program returns; the process ends when cu_interrupt_end is called. */
void cu_interrupt_begin(int number);
/* That was less than two seconds ago: the same signal again, as a group and its leader both pass one on, changes
 * nothing. In a handler, too. */
bool cu_interrupt_goes_on(void);
/* Ends the process by that signal, if cu_interrupt_begin was called. */
void cu_interrupt_end(void);
/* A call is about to return: where the process ends, it does not. */
void cu_interrupt_returns(void);
#endif
