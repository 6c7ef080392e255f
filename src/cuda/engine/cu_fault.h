/* cu_fault.h: a program that faults, is killed or leaves by _exit still gets its report.
 *
 * The handler of a signal (base/fault.h) may take no lock and no memory. It notes what happened and where, as numbers,
 * for the launcher (CHANNEL_FAULT), wakes the thread that writes reports, and waits for it, at most two seconds:
 * then the program's own handler runs, or the process ends as it would have. So the finding is in every form of the
 * report; where that thread cannot write, because the fault came under a lock, the launcher has the numbers.
 *
 * SIGKILL has no handler. A call that takes long is therefore noted while it runs (CHANNEL_LAST), as are the last
 * launches. */
#ifndef LOCKSTEP_CU_FAULT_H
#define LOCKSTEP_CU_FAULT_H
#include "driver/cu_count.h"

/* From now on; `to` lives for ever. */
struct channel_writer;
void cu_fault_open(struct channel_writer *to);
/* A kernel is launched. */
void cu_fault_launch(const struct cu_kernel_count *c, const lk_launch *launch);

/* Of the thread that writes reports: sleeps for a while, or until it is asked for something. */
enum cu_asked_for {
    CU_ASKED_NOTHING,
    CU_ASKED_FAULT,
    CU_ASKED_END,
    CU_ASKED_REPLACED /* the program becomes another one by exec, if that succeeds */
};
enum cu_asked_for cu_fault_wait(u32 us);
/* Whether the fault is a signal that is to stop the kernels which run (cu_interrupt.h). */
bool cu_fault_interrupts(void);
/* Adds the finding of a fault to the report, if it is one. */
void cu_fault_found(void);
/* Writes CHANNEL_LAST: of a fault, or of calls that are in progress since the last time. */
void cu_fault_last(bool fault);
/* What was asked for is done. */
void cu_fault_done(void);
#endif
