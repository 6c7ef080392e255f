/* race_footprint.h: which bytes of global memory a launch used, read out of the race cells when it ends.
 *
 * A launch gets a sink (race_operation.sink) where operations of several streams may be unordered. When it ends, the
 * sink is called for every run of sectors that the launch used alike. With a sink, memory that the kernel only reads
 * has cells as well, of a simpler kind where nothing shares the era (race_reads.h).
 *
 * What a footprint says of a byte: whether the launch wrote it weakly, wrote it strongly, read it weakly, or read it
 * strongly. A weak write hides all others: whatever conflicts with them conflicts with it. A weak read beside a strong
 * write is kept, and so is the other way round. Strong accesses of a scope below the GPU count as weak: another launch
 * is outside of it. race_footprint.c says how each form of record is read. */
#ifndef LOCKSTEP_RACE_FOOTPRINT_H
#define LOCKSTEP_RACE_FOOTPRINT_H
#include "base/base.h"

struct lowered;
struct footprint_run {
    u64 from, to; /* addresses: whole sectors of 32 bytes */
    u32 bytes;    /* these bytes of each sector: bit k is byte k */
    bool write;
    bool strong;               /* and its scope includes other launches */
    const struct lowered *low; /* the function of one instruction that did it; NULL: not known */
    u32 op;                    /* its number there */
};
struct access_sink {
    void *self;
    /* once, when the launch ends, before the runs. exact: the launch ran as one whose threads may synchronise with
     * those of other launches, and was judged together with those of the same era */
    void (*begin)(void *self, bool exact, u32 era);
    /* for each object that has cells, those of each kind in the order of addresses; for one that was freed perhaps
     * before `begin` */
    void (*run)(void *self, const struct footprint_run *r);
};

struct race;
struct race_launch;
struct tracked;
/* The launch ends, and has a sink. Under the lock of the race check. */
void footprint_report(const struct race *r, const struct race_launch *launch);
/* The cells of an object that was freed are about to be cleared: what the launches that run have of it. Likewise. */
void footprint_report_gone(const struct race *r, struct tracked *t);
#endif
