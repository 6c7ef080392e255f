/* thread.h: threads of our own inside a program. */
#ifndef LOCKSTEP_THREAD_H
#define LOCKSTEP_THREAD_H
#include "base/base.h"

/* pthread_create for a thread that no handler of the program may run on: from its first instruction on, all signals are
 * blocked in it but those of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT). */
int thread_start(pthread_t *thread, void *(*run)(void *self), void *self);
/* Whether the calling thread is one of ours (thread_name). */
bool thread_is_ours(void);
/* Whether the first thread of the process has ended, by pthread_exit: the process goes on until its last one has. */
bool thread_main_ended(void);
#endif
