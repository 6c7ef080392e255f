/* race.h: what the race check keeps, on one page (rules.md R).
 *
 * Every 32-byte sector of memory that a launch may write has a cell with its last write and its last read(s), each an
 * access word:
 *
 *   63      32 31   19 18  14 13   9 8  6 5    4 3     2 1     0
 *      T        slot    warp   lane   es   kind   scope   flags
 *
 * T      time of the warp: every synchronisation of its own advances it, and one of the whole CTA sets the times of
 *        all its warps to one that is after them all, so "before my last barrier" is one comparison. T grows from
 *        launch to launch, so "before this launch" is one, too, and nothing is ever wiped.
 * slot   where the CTA is resident; slot and T name the CTA.
 * es     byte k of the sector was touched by lane + (k >> es), so a coalesced access is one word a sector. ES_ONE:
 *        all bytes by the same thread(s). ES_SET: by each member of a set (race_set.c). ES_MIXED: its bytes differ,
 *        and are noted one by one, or an exact list of accesses says it all (FLAG_LIST).
 * kind   ONE thread a byte, or a set: lanes of one WARP, warps of one CTA, threads of several CTAs (GRID), of which
 *        the word names the last.
 *
 * A kernel is simple when every barrier in it is one of all threads and nothing but barriers orders them
 * (race_kernel.c). There a set needs no members: they are concurrent, so they lie in one phase, and whoever comes
 * later is ordered after all of them or races with at least one. In other kernels readers are sets with their
 * members, what else meets unordered goes to the sector's list, and lanes have clocks (race_clock.h). A recorded
 * access is always a real one: nothing is reported that did not happen. */
#ifndef LOCKSTEP_RACE_H
#define LOCKSTEP_RACE_H
#include "race/race_cell.h"
#include "race/race_list.h"
#include "race/racecheck.h"
#include "race/vclock.h"
#include "sim/observe.h"

enum { STRIPES = 512, CTA_MEMO = 256 };

struct access;
struct view {                   /* what a lane knows */
    struct vclock *clock;       /* beyond the barriers of its warp and CTA */
    struct vclock *pending;     /* read by relaxed operations: known after the next fence of gpu scope or wider */
    struct vclock *pending_cta; /* the same for one of CTA scope */
    /* all that it knew at its last fence; what it had done itself is added when it is asked for */
    struct vclock *fence;
};
/* of a lane: what it has done itself is what its warp did before `now`, and all lanes of that before `warp_base` */
struct own_epoch {
    u32 now, warp_base;
    u32 weak_base;  /* as in race_warp; 0: not after warp_base */
    bool is_leader; /* the first lane of a CTA, which has had no barrier of its warp alone */
};
struct lane_clock {           /* only in kernels that are not simple: race_clock.h */
    struct view strict, weak; /* weak: what it would know beside that if .sync operations ordered their lanes (R5b) */
    struct vclock *rmw;       /* read by read-modify-writes of gpu scope: would be known behind a barrier (R5a) */
    struct vclock *unscoped;  /* would know if every scope were wide enough */
    struct scoped_clock sc_clock; /* of sequentially consistent fences */
    struct own_epoch fence_at;    /* its last one */
    /* what the views had as fenced, with all that the lane had done, at the last one of gpu scope or wider; NULL:
     * that was the last one of all, or there was none */
    struct vclock *fence_gpu, *fence_gpu_weak;
    bool has_fenced, fence_has_own; /* has had one; what is known behind that has all that the lane had done */
    bool has_released;              /* has had an operation that does */
    bool sc_deferred;               /* what it knew and had done then is news, too */
    bool sc_covers_cta;             /* its news include those of its warp and CTA */
    u8 fence_scope;                 /* of its last fence */
    /* what it read last, at which location: reading it again teaches nothing */
    struct {
        u32 id, version;
        u8 sem, scope;
    } read;
};

enum { RECENT = 8, WARP_MEMO = 8 };
struct race_warp {
    struct race_cta *c;
    u64 key;       /* slot and warp bits of its access words */
    u32 now;       /* its time */
    u32 warp_base; /* time of its last full warp barrier: all lanes know what all did before */
    /* all lanes know what the whole CTA did before this time: that of its last full barrier, or a later one, by
     * barriers of some warps */
    u32 cta_base;
    u32 id, all; /* in the CTA; its lanes at the start */
    /* simple kernels: .sync operations that order nothing by the manual (R5b) */
    struct {
        u32 time, mask;
    } recent[RECENT];
    u32 nrecent;
    struct lane_clock *lane;      /* [LANES], NULL in simple kernels */
    u32 used;                     /* lanes whose clocks have been anything but empty */
    u32 ahead;                    /* lanes that may know, or have news of, more than their warp */
    struct vclock *clock;         /* what all lanes know, beyond their CTA */
    struct scoped_clock sc_clock; /* that all of them have */
    u32 weak_base;                /* time of its last .sync operation of all lanes */
    struct vclock *weak;          /* what all lanes would know by R5b */
    u32 ahead_weak;               /* lanes that may know, or would know, more than that */
    u32 version;                  /* grows whenever lanes may have learned something */
    /* by warp: what another one of the CTA that began then did below that time all lanes know, by so many version */
    struct {
        u32 warp, start, below, version;
    } warp_memo[WARP_MEMO];
    /* speculated loads of which some lanes were not picked yet (R8): race_pending.c */
    struct pending *pending;
    u32 npending, cappending;
};

struct race_cta {
    u64 lo[2]; /* by space: access words below this precede all that the CTA does now */
    /* times: to which all its warps were set last, of its start, of its last full barrier */
    u32 now, start, base;
    u32 slot;
    u32 number;                                  /* of the CTA in its launch, in the order of their starts */
    bool exact;                                  /* the kernel is not simple */
    bool has_refs;                               /* its caches have references to notes or sets of global memory */
    struct note_cache note_cache[2][NOTE_CACHE]; /* by space and a hash of the note */
    struct set_memo set_memo[2][SET_MEMOS * SET_MEMO_WAYS]; /* by space and a hash of the set */
    u32 nset_memo;                                          /* how many were made: which way is replaced next */
    struct ordered_memo ordered_memo[2];                    /* by space */
    /* below this time every thread of it is behind all that the grid did, when that was its base; readers it had to
     * look at since */
    u32 grid_base, grid_base_at, walked;
    /* all its threads know what whoever had the slot did between those times, and that was its base when it was
     * looked up: hb_cta_maybe */
    struct {
        u32 slot, from, below, base;
    } cta_memo[CTA_MEMO];
    struct race *race;
    struct race_launch *launch;       /* that has the slot; NULL: none */
    char *shared;                     /* its cells: cell_of(this, offset of a sector) */
    u64 shared_bytes;                 /* that there are cells for */
    struct notes notes;               /* of shared memory; empty again after every full barrier */
    struct transient_read *transient; /* race_cell.c: reads that matter until the next barrier */
    u32 ntransient, captransient;
    struct vclock *clock, *weak; /* what every thread of it knows, since its base; would know by R5 */
    /* what some thread had read and not acquired, or not with the scope it takes, before a barrier */
    struct vclock *pending, *unscoped;
    struct scoped_clock sc_clock;     /* of fences, to every thread of it */
    bool sc_acquired;                 /* all threads of it know what these say */
    struct bar_state {                /* a phase of a barrier that is not over */
        u32 waiting[MAX_WARPS];       /* lanes that arrived and wait */
        u32 latest;                   /* the greatest time of a warp that arrived and does not wait */
        struct vclock *known, *weak;  /* what the arrived know, would know by R5 */
        struct scoped_clock sc_clock; /* and have news of */
    } bar[MAX_BARS];
    struct race_warp warp[MAX_WARPS];
    /* CTAs that were in this slot during the launch */
    struct resident {
        u32 start, number;
        u64 linear;
    } * residents;
    u32 nresidents, capresidents;
    struct flight *flights;
    u32 nflights, capflights; /* race_async.h */
    struct race_cta *next_free;
    struct cell *shared_cells;
};

struct race_kernel;
struct touch;
/* What belongs to one launch, from its begin to its end. Several may exist at once: each has its own
 * interval of T, slots, clocks and notes, and whether another launch is before this one is asked in hb_launch_before.
 */
struct race_launch {
    struct race *race;
    const struct launch *of;          /* NULL: idle */
    const struct race_kernel *kernel; /* facts about its kernel */
    u32 epoch;                        /* first T of the launch: all its times are at least this */
    u32 ctas;                         /* number of its CTAs that have begun */
    bool exact;                       /* its kernel is not simple: lanes have clocks */
    bool parallel;                    /* several workers run it: cells of global memory are locked */
    /* one worker: weak accesses of this launch were taken for flags (R5c), and may have made locations */
    bool has_flags;
    lock_t lock;                 /* clocks, synchronisation locations, histories of its slots */
    lock_t strong;               /* parallel: held around a strong access and the acquire and release it performs */
    struct vclock_store vclocks; /* the nodes of its vector clocks */
    struct locations *locations; /* its synchronisation locations: race_location.c; NULL: none yet */
    struct notes notes;          /* of global memory */
    struct race_launch *next;    /* in the list of running or of idle ones */
};

/* What outlives launches. */
struct race {
    struct mem *mem;
    struct race_kernel *kernels;        /* facts about every kernel that was launched */
    u32 last;                           /* greatest T of launches that have ended */
    struct race_launch *running, *idle; /* launches; objects whose launch has ended, to be used again */
    u32 nslot;                          /* slots that exist */
    struct race_cta *slot[SLOTS];       /* by the number that access words have */
    struct race_cta *free;              /* slots of no launch, in the order of their numbers */
    /* spin locks of pages of cells, each on a cache line of its own */
    struct {
        u8 taken, padding[63];
    } stripe[STRIPES];
    lock_t lock; /* slots, tracked objects, lists of launches */
    /* memory objects that have cells, which live as long as the object; mem_object.race leads to them while a launch
     * runs that may write the object */
    struct tracked {
        struct mem_object *o;
        u64 cells, bytes;
    } * tracked;
    u32 ntracked, captracked;
    /* tests: called for every racy byte, instead of the report; weak: ordered by R5 */
    void (*hook)(void *self, const struct touch *t, u32 byte, bool weak);
    void *hook_self;
    struct observer observer;
};
#endif
