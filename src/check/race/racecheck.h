/* racecheck.h: the race check, seen by those who launch: an observer of sim/observe.h. race.h shows it from inside. */
#ifndef LOCKSTEP_RACECHECK_H
#define LOCKSTEP_RACECHECK_H
#include "sim/sim.h"

struct observer;
struct access_sink;
struct race;
struct race *race_new(struct mem *m); /* NULL: no memory */
void race_delete(struct race *r);
const struct observer *race_observer(struct race *r); /* for sim_launch.observers */

/* Several launches. Those of kernels that may synchronise with each other are judged together, like blocks of one grid;
 * what one did is before another one if the order of operations says so, or if their accesses hand it over (release,
 * acquire). `before` says whether the operation of that stamp is before the operation `op` (struct race_operation;
 * op_before), `waited`: before what op does after griddepcontrol.wait. It is called while a launch begins, on the
 * thread that calls sim_start or sim_run, for launches that have ended, and for its accesses where a thread of it waits
 * so; it must not call the sim or the race check. Without it, what has ended is before what begins. Launches with stamp
 * 0 are not asked about: they are after all that has ended, and before all that begins after their end. */
void race_order(struct race *r, bool (*before)(void *self, u64 stamp, const void *op, bool waited), void *self);
/* The operation of a stream that a launch is. */
struct race_operation {
    const void *op;                 /* as in sim_launch */
    u64 stamp;                      /* of it (op_stamp of queue/op.h); 0: none */
    const struct access_sink *sink; /* is told which bytes the launch used (race_footprint.h); NULL: nobody asks */
    /* other operations may be unordered with it: reads of memory that the kernel cannot write are tracked, too */
    bool shared;
};
/* The next launch that begins as o->op is this operation. */
void race_expect(struct race *r, const struct race_operation *o);
/* No launch of that operation is to begin any more. */
void race_expect_none(struct race *r, const void *op);
/* A launch of this kernel is to run while no other one is in flight, and no other one is to start before it has ended:
 * it is checked in the fast way, which knows no other launches (a simple kernel, race.h). It waits for nobody, so that
 * holding it or others back blocks nothing. A launch that begins beside others all the same is checked in the exact
 * way; one that begins beside a launch that is checked in the fast way is not checked. */
bool race_kernel_alone(struct race *r, struct sim *s, struct ptx_func *kernel);
/* Something that is no launch has used these bytes while launches are in flight: a copy, a fill, a value that a stream
 * waited for or wrote. It carries order: launches that begin later are after what was released at a place that it has
 * read, and who reads a flag that it has written is after the launches that have ended. (Memory that host and device
 * share needs no such call: each strong access there is taken for one that the host may see, or answers.) Called when
 * the copy or the wait is done, before what is after it in its stream starts. */
void race_outside(struct race *r, u64 address, u64 bytes, bool writes);
/* Code is about to be freed: launches that have ended are not reported on any more. */
void race_forget(struct race *r);
/* Some loop of the kernel may wait for what another launch, a copy or the host writes. */
bool race_kernel_polls(struct race *r, struct sim *s, struct ptx_func *kernel);
#endif
