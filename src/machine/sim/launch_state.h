/* launch_state.h: a launch, the workers that run it, and the sim that has it in flight. The first half is what their
 * parts keep: the worker's, the launch's, the sim's; who writes what is said in machine.h. */
#ifndef LOCKSTEP_LAUNCH_STATE_H
#define LOCKSTEP_LAUNCH_STATE_H
#include "code/code.h"
#include "sim/cta_state.h"
#include "sim/sim.h"

struct origins;   /* planes.h: where undefined values came from */
struct pool;      /* worker_pool.c: threads of the host */
struct residency; /* residency.h: room on the multiprocessors */
struct trace;     /* trace.h */

enum { ATTACH_SLOTS = 24 }; /* for what hangs at a warp, a CTA, a launch (attach.h) */

/* ---- of a worker ---- */

struct range {    /* what a site may touch without a closer check */
    u64 lo, size; /* address - lo < size */
    u64 view;     /* added to an address: where its byte is */
    u64 race;     /* added to an address: its shadow cell of the race check; 0: none */
    u64 reads;    /* the same, of an object that the launch only reads */
    u64 init;     /* epoch of the shadow in which all of the range was seen defined (planes.h) */
    /* accesses checked byte by byte since then; after how many the whole range is checked again */
    u32 init_misses, init_after;
};

struct ranges { /* of the sites of a function, for CTAs of one rank (ranges_of) */
    struct lowered *low;
    struct range *r;
    u32 rank;
};

/* ---- of a launch ---- */

enum { WRITERS = 1024 };
struct writer { /* the last change of a lock */
    u64 addr, value, cta, serial;
    u32 thread, op;
    struct lowered *low;
};

struct footprint { /* what a CTA takes of a multiprocessor, besides its slot */
    u32 warps, registers;
    u64 shared;
};

struct schedule { /* in which order CTAs start, and warps run (schedule/worker.c) */
    u64 by, from; /* the n-th cluster to start is number (n * by + from) % clusters */
    /* a perturbed schedule (orders from 2 on, one worker): warps give way at random, the more often the smaller this
     * is; 0: not perturbed */
    u32 perturb;
    u64 rng;   /* of a perturbed schedule */
    u32 locks; /* atomic: turns that were given away after a lock */
};

struct room {               /* on the multiprocessors (schedule/residency.c) */
    u32 most;               /* CTAs that fit on the device when nothing else is on it */
    struct footprint takes; /* of one CTA */
    bool whole;             /* cooperative: all its CTAs take their room at once, or none does */
    u32 *reserved;          /* whole: by multiprocessor, room taken for CTAs that have not started */
};

struct launch_params {       /* memory that a launch needs for its own */
    char *block;             /* the parameters, and 8 readable bytes after them */
    u64 few[24];             /* what `block` points to when they fit */
    u64 address;             /* generic address of the parameters, when the kernel takes it */
    struct mem_object *home; /* that has `address`; NULL: none */
};

struct busy_wait { /* loops that poll and are not idle, since they read clocks or count (wait.c) */
    u64 since;     /* atomic: from then on every watched round was one of them; 0: the last was not */
    u64 done;      /* atomic: CTAs that had ended then */
    bool reported; /* atomic: it is */
    /* the loop that alone still runs, and writes: what its end depends on was the same, of which warp, since when */
    const void *beats_of;
    u64 beats_read, beats_since;
};

/* ---- of the sim ---- */

enum { SIM_SHAPES = 64 };
struct launch_shape { /* of a launch */
    u64 serial;       /* which */
    u32 blocks;       /* along x; 0: the grid has more than one dimension */
    u32 threads;      /* of a block */
};

struct object_list { /* memory that launches need while they are in flight, kept for the next ones */
    struct mem_object **o;
    u32 n, cap;
};

struct sim_listeners { /* who is asked and told outside of launches (sim.h) */
    /* whether something outside of launches may still change memory that they wait for; NULL: see sim_outside */
    bool (*outside)(void *self);
    void *outside_self;
    void (*start)(void *self); /* of sim_starter; under the lock of the launches, as are those below */
    void *start_self;
    u32 starting; /* threads in it */
    /* what holds up others than launches; NULL: nothing is known of them (sim_explain) */
    sim_explainer *explain;
    sim_misuse *misused; /* atomic, set with its first argument before launches: sim_on_misuse; NULL: nobody asks */
    void *misused_self;
};

/* ---- workers ---- */

struct worker {
    struct launch *launch;
    bool busy;           /* a thread is in this place; guarded by sim.launches_lock */
    struct ranges *func; /* nfunc of them: what sites may touch */
    u32 nfunc, capfunc;
    struct cta *free, *again;  /* clusters to use again; the one that is started already, to be run next */
    u64 steps, ctas;           /* warp instructions; CTAs run to their end (atomic: sim_progress reads it) */
    u32 turns;                 /* times it asked for a CTA */
    u64 from, to;              /* numbers of the clusters it has claimed and not started */
    u64 silent;                /* atomic: CTAs that left without a trigger (dependent.c) */
    bool holds;                /* it counts in launch.holders */
    struct exit_records exits; /* where threads of its finished CTAs left */
    struct arena mem;          /* lives as long as the launch */
};

/* ---- the launch ---- */

struct launch { /* read by all workers all the time; what they write has cache lines of its own */
    const struct sim_launch *in;
    struct sim *sim;
    struct lowered *kernel;
    struct code *fast, *plain;
    u64 total;                            /* CTAs */
    u64 clusters;                         /* of them; without clusters as many as CTAs */
    u32 cluster[3], per;                  /* the shape of a cluster; its CTAs */
    struct schedule schedule;             /* in which order they start */
    u32 nwarps, threads, nworkers, batch; /* of a CTA: warps, threads; workers; CTAs a worker claims at once */
    u64 shared_total, dyn_shared;         /* bytes of a CTA; where the dynamic part starts */
    struct launch_params param;           /* its parameters */
    u64 grid_workspace;                   /* what grid.sync() counts in; 0: not a cooperative launch */
    u64 serial;                           /* number of the launch */
    struct writer *writers;               /* of the sim */
    u64 epochs;                           /* atomic: where the shadow of the next CTA's shared memory starts to count */
    u64 vtime_base;                       /* where clocks start */
    int stop;                             /* atomic: SIM_* end to take, 0: go on */
    u32 fault;                            /* atomic: as in sim_result */
    u64 deadline;                         /* time_ns of its time limit; 0: none */
    u32 odd_stored;                       /* atomic: MEM_AS_* as which a store was odd (stored.h) */
    u32 deopts;                           /* atomic: many of them make later CTAs start in plain code */
    u32 nparked;                          /* written under the lock, read without */
    struct room room;                     /* that it takes on the device */
    struct mem_object *workspace;         /* that has grid_workspace; NULL: none */
    struct worker *worker;                /* nworkers of them */
    struct trace *trace;                  /* NULL: none */
    bool blocks_seen;                     /* observers see the blocks that warps execute */
    _Alignas(128) u64 next;               /* atomic: cluster to claim next */
    _Alignas(128) lock_t lock;            /* guards what follows */
    u32 resident, active;                 /* CTAs on the device; workers inside a CTA or about to take one */
    u32 holders;                          /* atomic: workers that have claimed CTAs and not started them all */
    struct cta *parked, *parked_tail;     /* CTAs of rank 0 of clusters that wait or gave way */
    struct error *e;                      /* guarded by elock */
    lock_t elock;
    u64 vtime;         /* atomic: virtual nanoseconds slept */
    u64 spent;         /* atomic: warp instructions so far, for the budget and for sim_progress */
    u64 triggered;     /* atomic: CTAs that have triggered */
    bool trigger_done; /* atomic: all have triggered or left, and in->trigger was called */
    /* in flight: guarded by sim.launches_lock */
    struct launch *behind;        /* the next one in flight, of lower priority or younger */
    u32 inside;                   /* threads that are in places of its workers */
    bool over;                    /* atomic: nothing of it will run any more */
    bool ended;                   /* it is not in flight any more, and has its result */
    bool suspected;               /* it is reported that it may wait for ever */
    bool deep;                    /* atomic: it is reported that a recursion is beyond the stack limit */
    struct busy_wait busy;        /* loops of it that poll and are not idle */
    bool beside;                  /* sim_start made it: other launches may run beside it */
    bool started;                 /* by sim_start: whoever leaves it last ends it, and sim_wait takes its result */
    struct sim_launch own;        /* what `in` points to */
    struct sim_result result;     /* when it has ended */
    struct worker one;            /* what `worker` points to when there is one */
    void *attached[ATTACH_SLOTS]; /* by row of the table of attachments (attach.h); who writes them says how */
    u64 own_param[8];             /* atomic: parameters whose own object was accessed through them (moved_pointer.c) */
};

/* ---- the sim ---- */

struct sim {
    struct mem *mem;
    const struct card *card;
    u32 workers;
    lock_t lock; /* decoding, worker pool */
    lock_t wide; /* 128-bit atomics */
    struct pool *pool;
    struct writer *writers;                /* a lossy table, by address: who changed a lock last */
    u64 serial;                            /* launches so far */
    u64 stack_limit;                       /* atomic: sim_stack_limit */
    struct launch_shape shape[SIM_SHAPES]; /* of the latest launches, by their number. Guarded by the lock */
    struct object_list workspaces, params; /* of grid.sync(); parameters that have an address. Guarded by the lock */
    struct residency *residency;           /* room on the multiprocessors */
    lock_t launches_lock;                  /* protects the list of launches in flight, and the threads in each */
    struct launch *launches;               /* in flight: by priority, then age */
    u32 nlaunches;                         /* how many; atomic: read without the lock */
    u64 ends;                              /* launches of sim_start that have ended; atomic: read without the lock */
    u32 ending;            /* launches that are in flight no more, and whose end is not yet known to who started them */
    struct launch *spare;  /* atomic: the memory of one that has ended, for the next; NULL: none */
    struct cta *spare_cta; /* atomic: the same of a CTA */
    u64 rng;               /* which of several seeded launches gets the next turn */
    struct sim_listeners ask;    /* who is asked and told outside of launches */
    u64 quiet_since;             /* atomic: since when nothing has gone on, time_ns; 0: something did */
    struct origins *origins;     /* where undefined values came from */
    struct func_table functions; /* by their serial numbers */
    u64 heap;                    /* atomic: bytes of device malloc that are not freed */
    u64 heap_limit;              /* atomic: sim_heap_limit */
};
#endif
