/* race.h: the race check, for readers: its parts, the way of an access through them, and where the memory model is.
 *
 * Two accesses to a byte race when one of them writes, they are not morally strong relative to each other, and neither
 * happens before the other (rules.md R). The check records accesses as they are executed, and asks of each new one
 * whether the recorded ones happen before it. Recorded accesses are real ones: no race is reported that did not happen.
 *
 * Parts
 *   access words              clocks/access_word.h    one access, or a set of them, in 64 bits: when, who, which bytes
 *   fast handlers, fast paths race_handlers.[ch], race_each.h, race_touch.[ch]   from an instruction to its cells
 *   shadow cells              race_cell.[ch]    32 bytes of memory: access words of the last write and the last reads
 *   elements, notes           race_notes.[ch]   of a sector whose bytes differ: one access for each element
 *   reader sets               race_set.[ch]     reads of several threads that are not ordered, with their members
 *   lists                     race_list.[ch]    sectors that are accessed strongly, or race: each access exactly
 *   pools                     race_pool.[ch]    numbered objects: notes, elements, sets and lists are in them
 *   happens-before            happens_before.[ch]   all questions of order: hb_*
 *   vector clocks             vclock.[ch]       the values: trees that share their common parts
 *   clocks of threads         race_clock.[ch]   what fences, barriers and warps join; the clocks of lanes, warps, CTAs
 *   synchronisation locations race_location.c   what strong writes release and strong reads acquire; release sequences
 *   asynchronous operations   race_async.[ch]   copies and products from their issue to their wait: engines
 *   pipelines                 race_release.[ch] which buffers products read, and which arrival gave them back when
 *   volatile accesses         race_volatile.[ch] races that volatile hides from the memory model of PTX
 *   speculated loads          race_pending.[ch] loads that the compiler made unconditional: judged when they are used
 *   launches                  race_launch.[ch]  eras and the order of launches, slots, times
 *   memory                    race_track.[ch]   which memory has cells
 *   what is only read         race_reads.[ch]   in simple kernels: which bytes, and no order
 *   kernels                   race_kernel.[ch]  what is known of a kernel before it runs
 *   footprints                race_footprint.[ch]   the bytes that a launch used, read out of the cells at its end
 *   report, advice            race_report.h   whom it tells; the words are made in explain (explain/race_advice.h)
 *
 * Two kinds of kernels. A kernel is simple when all its barriers are of all threads of the CTA and nothing but barriers
 * orders them (race_kernel.c). There the T of an access word answers every question of order, and a set of readers
 * needs no members: they are concurrent, so they are of one phase, and a later access is ordered after all of them or
 * races with at least one. All other kernels are exact: lanes have vector clocks, reader sets have members, and
 * accesses that are not ordered go to the list of their sector.
 *
 * Several launches. Launches of exact kernels that run side by side, or that nothing orders, share an era (struct
 * race_era): notes, clocks, locations and numbers of CTAs, so that what one releases and the other acquires is judged
 * as between CTAs of one grid. Three things order accesses of two launches:
 *   - the order of operations (race_order): the earlier launch is before the later one as a whole. It is asked when the
 *     later one begins; race_launch.before has the answers, and hb_cta_maybe and hb_thread_clock look there;
 *   - release and acquire inside the kernels, by the vector clocks;
 *   - the host and copies, which the check does not see. Whatever they may have handed over counts as handed over: a
 *     launch that begins is after what was released in memory that the host shares, or at a place that a copy or a
 * stream has read (race_era.published, race_outside); a strong read of such memory, and of a flag that no launch has
 * written, in a kernel that waits, is after all launches that have ended (race_era.ended). Races may be missed by that.
 * A launch begins a new era if it is after all launches of the era and none runs. A simple kernel runs alone, in an era
 * of its own (race_kernel_alone); how it stands to others is told by its footprint. Beside others, or not ordered after
 * exact launches of the era, it is checked as an exact one. race_launch.c says what is kept of a long era.
 *
 * The way of an access
 *   1. sim calls the handler of the instruction that race_handlers.c chose. The fast handlers go to the cells at once
 *      (race_touch.h); the others call observers, here before() and after() of race.c.
 *   2. The addresses of the lanes become runs of neighbours, and these sectors (race_touch.c). A strong access of an
 *      exact kernel first acquires what its location has released (clock_strong_reads), to be ordered after that.
 *   3. The cell of the sector is compared: if hb_by_barrier_maybe puts the recorded words before the access, the access
 *      word takes their place. That is the end of most accesses.
 *   4. Otherwise the slow path of race_cell.c looks at the elements, the reader set or the list of the sector, and asks
 *      the exact questions of happens_before.h.
 *   5. A conflicting access that is not before this one is a race: race_report drafts the finding, race_advice.c says
 *      what would order the two.
 *   6. The access is recorded. A strong write then releases (clock_strong_release).
 * Synchronisation comes as events (sync_event of race.c): it advances the times of warps, joins clocks (race_clock.c),
 * and lets go of what has become ordered.
 *
 * The memory model: chapter 8 of the PTX manual, by the numbers of PTX ISA 8.5
 *   8.5    Scope                           scope_is_wide, struct scoped_clock: a CTA, or the whole gpu and wider
 *   8.6    Proxies                         proxy fences order nothing here: all accesses are by the generic proxy
 *   8.7    Morally strong operations       morally_strong (race_list.c), observes (race_location.c)
 *   8.7.1  Conflict and Data-races         check_pair (race_list.c), access_piece (race_cell.c)
 *   8.8    Release and Acquire Patterns    race_location.c: struct release_sequence, struct pattern; clock_fence
 *   8.9.1  Program Order                   own_epoch (race_clock.c), hb_thread; asynchronous operations: race_async.c
 *   8.9.2  Observation Order               location.writes, vclock_add_writes, clock_strong_reads
 *   8.9.3  Fence-SC Order                  sc_clock: clock_fence, clock_publish_sc
 *   8.9.4  Memory synchronization          fences, barriers: race_clock.c; patterns: race_location.c; launches:
 *                                          hb_era_floor, launch_before
 *   8.9.5  Causality Order                 happens_before.c
 *
 * Threads and locks. A worker runs a CTA at a time. Cells of shared memory belong to the CTA; those of global memory
 * are locked by page (race.stripe) when several threads run CTAs of the era. Clocks, locations and records of launches
 * are used under the lock of the era. Locks are taken in this order: race.lock, race_era.strong, a page of cells,
 * race_era.lock.
 */
#ifndef LOCKSTEP_RACE_H
#define LOCKSTEP_RACE_H
#include "race/race_state.h"
#include "race/racecheck.h"
#include "sim/observe.h"

struct race_kernel;

/* Of an era: launches that are remembered; races between launches, likewise. */
enum { ERA_LAUNCHES = 1024, ERA_REPORTED = 64 };
/* What is known of a launch, also after its end, while records of its accesses may be met. */
struct race_launch {
    const struct launch *of;          /* the launch; NULL: it has ended */
    const struct race_kernel *kernel; /* facts about its kernel */
    u32 number;                       /* in its era, from 1 on, in the order in which launches begin; 0: none */
    u32 epoch;                        /* its first T: all its times are at least this */
    u64 total;                        /* its CTAs */
    u64 stamp;                        /* of its operation; 0: none */
    const struct access_sink *sink;   /* while it runs: told which bytes it used; NULL: nobody asks */
    u64 serial;                       /* as in struct launch */
    u32 grid[3], block[3];            /* its shape, for reports */
    bool depends;                     /* atomic: a thread of it waits for the launches in front: launch_depends */
    bool exact;                       /* its lanes have clocks: the kernel is not simple, or not alone */
    u64 before[ERA_LAUNCHES / 64];    /* by number % ERA_LAUNCHES: launches of the era that are before it, whole */
    struct vclock *begin;             /* what each of its CTAs is ordered after from the beginning, beyond those */
    struct vclock *seen;              /* in a stream: what its CTAs that have ended had acquired */
    struct report *held;              /* races of volatile accesses, until it is known which are flags; NULL: none */
    u64 void_pairs;                   /* bits of those findings that a flag in shared memory voids */
    struct race_launch *next;         /* in race.running */
};

/* What launches share that run side by side, or that nothing orders: an era. A launch that is after all launches of
 * the era, and runs beside none, begins a new one. Most eras have one launch. */
enum { LOCATION_LINES = 1024 };
struct race_era {
    struct race *race;
    u32 serial;          /* the era; the history of a slot with an older era is void */
    u32 epoch;           /* its first T: all its times are at least this */
    u32 ctas;            /* how many CTAs have begun in it */
    u32 grid_top;        /* the greatest race_cta.grid_base: launches that begin later have no times below it */
    u32 launches;        /* the number of its last launch */
    bool exact;          /* its launches are exact; otherwise it has one, which is simple */
    bool open;           /* others may begin beside those that run: what they share is guarded for it */
    bool blind;          /* a launch that is not watched runs, or ran, beside one of the era */
    bool parallel;       /* several workers run its CTAs: cells of global memory are locked */
    bool volatiles_used; /* some kernel of it may have volatile accesses; atomic */
    /* not parallel: weak accesses of the era were taken for flags (R5c), and may have made locations */
    bool has_flags;
    lock_t lock;                 /* of clocks, synchronisation locations, histories of slots, records of launches */
    lock_t strong;               /* parallel: held around a strong access and what it acquires and releases */
    struct vclock_store vclocks; /* the nodes of its vector clocks */
    struct locations *locations; /* its synchronisation locations (race_location.c); NULL: none yet */
    /* atomic: a bit for each 64 bytes that may have a location, by a hash; read without the lock, too */
    u64 lines[LOCATION_LINES];
    struct notes notes;          /* of global memory */
    struct volatiles *volatiles; /* of global memory: locations of volatile accesses (race_volatile.c) */
    struct vclock *ended;        /* the launches that have ended: for those who read what the host or a copy wrote */
    struct vclock *published;    /* what was released to the host: for launches that begin */
    u32 outside;                 /* grows with `ended` */
    struct vclock **handed;      /* what threads have had when they launched a kernel that has not begun */
    u32 nhanded, caphanded;      /* how many; room for how many */
    bool has_reported;           /* `reported` is not all empty */
    struct era_reported {
        u64 what;                             /* two kernels and an object, as a hash; 0: the entry is empty */
        u64 pair;                             /* the two instructions that are shown for them */
    } reported[ERA_REPORTED];                 /* races between launches that were reported, by a hash */
    struct race_launch *launch[ERA_LAUNCHES]; /* by number % ERA_LAUNCHES; NULL: none so far */
};

enum { STRIPES = 512 };       /* locks of pages of cells */
enum { RACE_KERNELS = 1024 }; /* lists of them */
/* What outlives launches. */
struct race {
    struct mem *mem;                          /* whose objects have cells */
    struct race_kernel *kernel[RACE_KERNELS]; /* facts about every kernel that was launched, by its serial */
    /* atomic, by lowered.serial % RACE_KERNELS: what is asked of a kernel at every launch (race_kernel.c) */
    u64 answers[RACE_KERNELS];
    u32 last;                     /* the greatest T of launches that have ended */
    struct race_era *era;         /* the era, until the next one begins */
    struct race_launch *running;  /* launches that run, all of this era */
    u32 unwatched;                /* launches that run and are not watched */
    u32 nslot;                    /* slots that exist */
    struct race_cta *slot[SLOTS]; /* by the number that access words have */
    struct race_cta *free;        /* slots of no launch, in the order of their numbers */
    struct {
        u8 taken, padding[63]; /* a spin lock, on a cache line of its own */
    } stripe[STRIPES];
    /* which operations are before one that begins: race_order; NULL: all that have ended */
    bool (*before)(void *self, u64 stamp, const void *op, bool waited);
    void *before_self;
    lock_t lock;                     /* of kernels, slots, tracked objects, the list of launches, expected operations */
    struct race_operation *expected; /* launches of them are to begin */
    u32 nexpected, capexpected;      /* how many; room for how many */
    /* Memory objects that have cells. The cells live as long as the object; mem_object.race leads to them while a
     * launch runs that may write the object. */
    struct tracked {
        struct mem_object *o;
        u64 cells, bytes; /* their address and size */
        u32 idle;         /* so many launches in a row left most of their pages as they were (race_footprint.c) */
    } * tracked;
    u32 ntracked, captracked; /* how many; room for how many */
    u32 sweep_at;             /* with so many of them, those that were freed are looked for, also while launches run */
    struct tracked *gone;     /* cells of such objects: their memory is given back, their addresses are not */
    u32 ngone, capgone;       /* how many; room for how many */
    struct race_cta *sweeper; /* in no slot: has what is needed to clear cells; NULL: none so far */
    /* Memory of malloc, which kernels take and give back without end: its cells are in slabs, each for the objects that
     * begin in one piece of the address space. They live as long as the launch. */
    struct slab {
        u64 from;  /* the first address of the piece */
        u64 cells; /* their address */
        u64 used;  /* below this address, cells may have been used by objects that are gone */
    } * slab;      /* by address */
    u32 nslab, capslab;
    struct mem_object **heap; /* the objects in slabs; some may be freed */
    u32 nheap, capheap;
    /* tests: called for every racy byte, instead of the report; weak: R5 orders the two */
    void (*hook)(void *self, const struct touch *t, u32 byte, bool weak);
    /* tests: called for every race of volatile accesses (R2b), with the first byte of the element */
    void (*volatile_hook)(void *self, const struct touch *t, u32 byte);
    void *hook_self;          /* their first argument */
    bool eras_only;           /* tests: every kernel is exact, and neither the host nor copies order anything */
    struct observer observer; /* what sim calls */
};
#endif
