/* condition.h: conditions of graphs: 32-bit words that kernels set by their handle (cudaGraphSetConditional) and that
 * conditional nodes read (queue/graph.h). They lie in no memory of a device. */
#ifndef LOCKSTEP_CONDITION_H
#define LOCKSTEP_CONDITION_H
#include "base/base.h"

struct condition {
    u64 handle;   /* what kernels and callers have of it, never 0 and never used again */
    u32 value;    /* atomic */
    u32 refs;     /* the graph, and each node of a graph or plan */
    u32 initial;  /* its value at the begin of each launch, where `assigns` */
    bool assigns; /* else it stays as the launch before has left it */
    bool used;    /* a node has it */
    struct condition *next;
};

struct condition *condition_new(u32 initial, bool assigns); /* NULL: no memory */
struct condition *condition_hold(u64 handle);               /* one more reference; NULL: there is none */
void condition_release(struct condition *c);
/* A launch sets it; op: of its sim_launch. False: there is none. */
bool condition_set(u64 handle, u32 value, const void *op);
bool condition_at(u64 address); /* whether the value of a condition is there */
/* Who is told of what launches set, before they do; once. */
void condition_on_set(void (*on_set)(const void *op, struct condition *c));
#endif
