/* cu_count.h: how often each kernel was launched and what that took, for the report of a run. */
#ifndef LOCKSTEP_CU_COUNT_H
#define LOCKSTEP_CU_COUNT_H
#include "cuda/cu.h"

struct cu_kernel_count {
    const char *name, *plain;     /* as in the PTX; as in the source */
    u64 issued;                   /* launches, atomic */
    lk_count ran;                 /* of those that have ended */
    struct cu_kernel_count *next; /* launched for the first time before it */
};
/* The counters of a kernel, made when there are none; they live for ever. */
struct cu_kernel_count *cu_count_of(const lk_kernel *kernel);
/* All of them, the one that was launched last for the first time first. */
struct cu_kernel_count *cu_count_first(void);
#endif
