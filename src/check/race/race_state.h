/* race_state.h: what the race check keeps of a CTA and its warps. race.h has the map of the whole.
 *
 * Times. Every warp has a time, T of its access words. Each synchronisation of the warp advances it, and a barrier of
 * the whole CTA sets the times of all its warps to one that is greater than any of them. So three comparisons answer
 * most questions of order inside a CTA: an access below cta_base was before the last barrier of the CTA, one of the
 * same warp below warp_base was before its last barrier, and times below start are another CTA's.
 *
 * Clocks. What orders beyond that is in vector clocks (race_clock.h), of exact kernels only. Each belongs to the widest
 * group that has it: the clock of a CTA is part of those of all its threads, that of a warp of those of its lanes. */
#ifndef LOCKSTEP_RACE_STATE_H
#define LOCKSTEP_RACE_STATE_H
#include "race/race_cell.h"
#include "race/race_list.h"
#include "clocks/vclock.h"
#include "sim/machine.h"

struct race;
struct race_era;
struct race_launch;
struct lane_clock;

enum { RECENT = 8, WARP_MEMO = 8, THREAD_MEMO = 32, PRODUCTS = 64, NEEDED_MEMO = 4 };
struct race_warp {
    struct race_cta *c;
    u64 key;       /* slot and warp bits of its access words */
    u32 now;       /* its time */
    u32 warp_base; /* the time of its last barrier of all lanes: each lane is ordered after what all did before */
    /* Each lane is ordered after what the whole CTA did before this time: that of the last full barrier, or a later one
     * that barriers of some warps come to. */
    u32 cta_base;
    u32 id, all; /* its number in the CTA; the lanes it began with */
    /* simple kernels: the last .sync operations that are no barriers, which order by R5b only */
    struct {
        u32 time, mask; /* the time since then, and the lanes */
    } recent[RECENT];
    u32 nrecent;                  /* how many there were */
    struct lane_clock *lane;      /* [LANES], NULL in simple kernels */
    u32 used;                     /* lanes whose clocks are not as new */
    u32 ahead;                    /* lanes whose clocks, or sc_clock, may have more than those of the warp */
    struct vclock *clock;         /* beyond the clock of the CTA: what all lanes are ordered after */
    struct scoped_clock sc_clock; /* of fence.sc, that all lanes have (race_clock.h) */
    u32 weak_base;                /* the time of its last .sync operation of all lanes (R5b) */
    struct vclock *weak;          /* as clock, in the weak order */
    u32 ahead_weak;               /* lanes whose clocks, strict or weak, may have more than `weak` */
    u32 version;                  /* grows whenever clocks of lanes may have grown */
    /* By warp: all lanes are ordered after what another warp of the CTA that began at `start` did below `below`; looked
     * up at that version. */
    struct {
        u32 warp, start, below, version;
    } warp_memo[WARP_MEMO];
    /* Accesses of one thread each that were found to be before one lane of this warp, by the access. A copy or a
     * product compares hundreds of sectors, whose accesses are of few threads at few times. */
    struct {
        u64 old;         /* time, thread and kind of the access */
        u32 lane, space; /* the lane that is after it, in this space */
        u32 start;       /* of the CTA that it was looked up for */
    } thread_memo[THREAD_MEMO];
    /* By the number of a wgmma: the time since when this warp has issued it. The warps of a warpgroup come together
     * there, as an H200 has it (R5). */
    u32 issued[PRODUCTS];
    u32 nissued;             /* the number of the last one */
    u32 ended;               /* the products that it has issued before this time have ended: its warpgroup has waited */
    u32 engine_lane;         /* the lane of the last copy of it that was complete (race_async.c) */
    struct pending *pending; /* speculated loads that are not judged yet: race_pending.c (R8) */
    u32 npending, cappending; /* how many; room for how many */
    /* Lanes that need the value of a load, where numbers of the threads alone tell: the same at each execution. */
    struct {
        const struct site *load;
        u32 lanes;
    } needed[NEEDED_MEMO];
};

/* A phase of a barrier that is not complete. */
struct bar_state {
    u32 waiting[MAX_WARPS];       /* by warp: lanes that have arrived and wait */
    u32 latest;                   /* the greatest time of a warp that has arrived and does not wait */
    struct vclock *clock, *weak;  /* the joined clocks of those who have arrived */
    struct scoped_clock sc_clock; /* and of their fence.sc */
};

/* Who has arrived at a barrier in one phase: with which count, and when, by warp. */
struct bar_use {
    u32 count, warps; /* threads; a bit for each warp */
    u32 at[MAX_WARPS];
    u32 op; /* of one of them, of function `low` */
    const struct lowered *low;
};

/* A CTA that was in a slot. */
struct resident {
    u32 start, number; /* as in race_cta */
    u64 linear;        /* its linear index in the grid */
    u32 launch;        /* race_launch.number of its launch */
};
/* CTAs that were in a slot one after another, in arithmetic progression: every field grows by its own step. A grid has
 * more CTAs, perhaps, than there is memory for one by one. */
struct resident_run {
    struct resident first, by; /* the first; the step from each to the next */
    u32 count;
};

enum { CTA_MEMO = 256 };
/* A slot, and the CTA that is resident there. */
struct race_cta {
    u64 lo[2]; /* by space: access words below this happen before all that the CTA does now */
    u32 now;   /* the time that all its warps were set to last */
    u32 start; /* the time when it began */
    u32 base;  /* the time of its last full barrier */
    u32 slot;
    u32 number;                                  /* of the CTA in its era, in the order of their starts */
    bool exact;                                  /* as in race_launch */
    bool has_refs;                               /* its caches have references to notes or sets of global memory */
    struct note_cache note_cache[2][NOTE_CACHE]; /* by space and a hash of the note */
    struct set_memo set_memo[2][SET_MEMOS * SET_MEMO_WAYS]; /* by space and a hash of the set */
    u32 nset_memo;                                          /* how many were made: which way is replaced next */
    struct ordered_memo ordered_memo[2];                    /* by space */
    u32 grid_base;    /* all that the grid did before this time happens before whatever the CTA does now */
    u32 grid_base_at; /* its base when grid_base was computed */
    u32 walked;       /* members of sets that were looked at since */
    /* By slot: all that the CTA there did from `from` until `below` happens before whatever this CTA does now; base: of
     * this CTA when that was looked up. */
    struct {
        u32 slot, from, below, base;
    } cta_memo[CTA_MEMO];
    struct race *race;
    struct race_era *era;       /* of the launch */
    struct race_launch *launch; /* that has the slot; NULL: none */
    u32 nwarps;                 /* warps of its CTAs */
    struct cell *shared_cells;  /* of its shared memory */
    char *shared;               /* the same, for cell_of: cell_of(shared, shared address of a sector) */
    u64 shared_bytes;           /* of shared memory that have cells */
    /* Other CTAs of its cluster reach its shared memory: the cells of that are as those of global memory. */
    bool distributed;
    u32 distributed_in;               /* serial of the era in which that was so last; 0: never */
    struct notes notes;               /* of shared memory; emptied at every full barrier */
    struct transient_read *transient; /* race_cell.c: reads that matter until the next barrier */
    u32 ntransient, captransient;     /* how many; room for how many */
    struct vclock *clock, *weak;      /* what all its threads are ordered after, strictly and weakly */
    /* The joined clocks of what threads had read and not acquired, or not with a scope that is wide enough, before a
     * barrier: for advice. */
    struct vclock *pending, *unscoped;
    struct scoped_clock sc_clock; /* of fence.sc, that all its threads have */
    bool sc_acquired;             /* all its threads are ordered after what sc_clock has */
    struct bar_state bar[MAX_BARS];
    struct bar_use bar_now[MAX_BARS], bar_last[MAX_BARS]; /* in this phase, and in the one before */
    struct race_warp warp[MAX_WARPS];
    struct resident_run *residents; /* the CTAs that were in this slot during the era, in their order */
    u32 nresidents, capresidents;   /* how many; room for how many */
    u32 serial;                     /* of that era */
    bool forgot;                    /* CTAs of launches that are forgotten were there before */
    struct volatiles *volatiles;    /* race_volatile.c: of its shared memory */
    struct in_flight *flights;      /* race_async.c: copies in flight */
    u32 nflights, capflights;       /* how many; room for how many */
    struct releases *releases;      /* race_release.c; NULL: no product so far */
    bool multiplies;                /* a warp of it has issued a wgmma */
    struct issuer_clock *issuers;   /* of copies in flight: the clocks of those who issued them */
    u32 nissuers, capissuers;
    u32 *side, capside;         /* the bytes of each sector that a new one has; room for how many sectors */
    struct race_cta *next_free; /* in race.free */
};
#endif
