/* cu_count.h: how often each kernel was launched and what that took, for the report of a run. */
#ifndef LOCKSTEP_CU_COUNT_H
#define LOCKSTEP_CU_COUNT_H
#include "driver/cu.h"

struct cu_kernel_count {
    const char *name, *plain;     /* as in the PTX; as in the source */
    struct cu_kernel_count *next; /* launched for the first time before it */
    u64 issued;                   /* calls that launch it, atomic */
    u64 recorded;                 /* of them those that a capture made nodes of, atomic */
    /* apart from what the calls write */
    _Alignas(128) lk_count ran; /* of the others, as far as they have ended */
    lk_count nodes;             /* launches of nodes of graphs that have ended */
};
/* The counters of a kernel, made when there are none; they live for ever. */
struct cu_kernel_count *cu_count_of(const lk_kernel *kernel);
/* Launches: those of calls, whether they have ended or not, and those of nodes. */
u64 cu_count_launches(const struct cu_kernel_count *c);
u64 cu_count_nanoseconds(const struct cu_kernel_count *c); /* of all that have ended */
u64 cu_count_ended(const struct cu_kernel_count *c);
/* All of them, the one that was launched last for the first time first. */
struct cu_kernel_count *cu_count_first(void);
#endif
