/* thread.h: threads of our own inside a program. */
#ifndef LOCKSTEP_THREAD_H
#define LOCKSTEP_THREAD_H
#include "base/base.h"

/* pthread_create for a thread that no handler of the program may run on: from its first instruction on, all signals are
 * blocked in it but those of faults (SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT). */
int thread_start(pthread_t *thread, void *(*run)(void *self), void *self);
/* Runs it here, or, where `ulimit -s` leaves less stack than ours needs, in a thread that has it, and waits for that.
 */
void stack_enough(void (*run)(void *self), void *self);
/* Bytes of stack that the calling thread has left; many where nobody can tell. What recurses by what others have
 * written asks: callers of the library have threads with little. */
size_t stack_left(void);
/* Whether the calling thread is one of ours (thread_name). */
bool thread_is_ours(void);
/* Whether the first thread of the process has ended alone, by pthread_exit or since a filter of seccomp has killed it:
 * the process goes on until its last one has. *status as wait tells it. */
bool thread_main_ended(int *status);

/* The threads of the program, those that are not ours. */
struct threads {
    bool awake_wanted;        /* asked: `awake` */
    bool (*inside)(s32 task); /* asked: `blocked` and `mark`; whether a thread is in a call of ours. NULL: not asked */
    u32 all;                  /* a thread of ours that has not registered yet is not counted */
    u32 awake;                /* of these but the calling one, those that run just now */
    u32 blocked;              /* that sleep outside calls of ours until another thread of this process wakes them */
    u64 mark; /* the same in two answers: the threads are the same, and none of `blocked` has run between */
};
/* false: nobody can tell, or threads began or ended meanwhile. */
bool threads_count(struct threads *t);
#endif
