/* race_release.h: which buffers products read, and which mbarrier gave them back when (race_release.c). */
#ifndef LOCKSTEP_RACE_RELEASE_H
#define LOCKSTEP_RACE_RELEASE_H
#include "race/race.h"

struct flight;
enum { READS_KEPT = 128, MBARRIERS_KEPT = 64, ARRIVALS_KEPT = 8, WAITS_KEPT = 4, WARPGROUP = 4 };

struct code_place { /* an operation of a function */
    const struct lowered *low;
    u32 op;
};
struct released_read {      /* a product that reads shared memory */
    u64 from, end;          /* between these addresses; 0, 0: none */
    struct code_place at;   /* where it was issued ... */
    struct code_place wait; /* ... and where its warpgroup has waited for it */
    u32 warp, number;       /* the warp that stands for it, and its number there */
    u32 issued;             /* the time of that warp */
    bool over;              /* it has been waited for */
    u32 ended[WARPGROUP];   /* then: the times of the warps of its warpgroup */
};
struct release_arrival { /* an arrival without bytes at an mbarrier */
    struct code_place at;
    u32 warp, lane, time;
};
struct release_barrier {                        /* an mbarrier */
    u64 where;                                  /* its place, as the clocks have it; 0: none */
    u64 shared_at;                              /* and in shared memory */
    u32 n;                                      /* arrivals so far */
    struct release_arrival last[ARRIVALS_KEPT]; /* by number */
};
struct release_wait { /* of a warp: for a phase of an mbarrier */
    struct release_barrier *bar;
    struct code_place at;
    u32 lane, upto; /* arrivals until then */
};
struct releases { /* of a CTA */
    u32 nread;    /* products so far */
    struct released_read read[READS_KEPT];
    struct release_barrier bar[MBARRIERS_KEPT];
    struct { /* by warp: its waits since the last copy that it has issued */
        u32 n;
        bool filled; /* it has issued one since: the next wait begins anew */
        struct release_wait wait[WAITS_KEPT];
    } run[MAX_WARPS];
};

void release_reset(struct race_cta *c);
void release_read_issued(struct race_warp *w, const struct flight *f);
void release_read_ended(struct race_warp *w, const struct flight *f);
void release_arrived(struct race_warp *w, const struct touch *t, u32 lane, u64 where, u64 shared_at);
void release_waited(struct race_warp *w, const struct touch *t, u32 lane, u64 where);
void release_met(struct race_warp *w); /* it has come to a barrier: what it does then does not rest on its waits */
void release_filled(struct race_warp *w, const struct flight *f);
#endif
