/* thread.h: threads of our own inside a program. */
#ifndef LOCKSTEP_THREAD_H
#define LOCKSTEP_THREAD_H
#include "base/base.h"

/* pthread_create for a thread that no handler of the program may run on: from its first instruction on, all signals are
 * blocked in it but those of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT). */
int thread_start(pthread_t *thread, void *(*run)(void *self), void *self);
#endif
