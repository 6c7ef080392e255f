/* machine.h: the running state of the software GPU, all of it on one page. No function is declared here.
 *
 * How the state hangs together. A sim lives as long as its device and runs the launches in flight side by side. A
 * launch has workers: places that threads of the host take in turn (worker_pool.c). A worker has CTAs: one that it
 * runs, free ones to use again, and what is parked is the launch's. A CTA has warps, barriers and shared memory. A warp
 * has 32 lanes, in splits: lanes that are at one block of one frame. A frame is an activation of a function: its code
 * and its registers.
 *
 *   sim -> launch -> worker -> cta -> warp -> split -> frame -> code (code/code.h)
 *
 * One split of a warp runs at a time; what it needs is copied from its frame into the head of struct warp (exec.c).
 * The others are runnable, or wait in one of the states of enum split_state.
 *
 * Code has two versions with the same operations. A warp starts in fast code, where a register may be one scalar a warp
 * or a base and a stride; it is right while lanes run in the preferred order (lowest block first). When a split has
 * to wait while another goes on, or a guard finds that a value is not affine after all, the live registers are copied
 * to the layout of plain code, where every register is 32 lanes, and the warp goes on there (deoptimisation, deopt.c).
 * So fast code needs no proof about schedules, and plain code needs no speed.
 *
 * Who writes what: a CTA and all below it belong to the worker that runs it; parked ones to whoever holds launch.lock.
 * Fields that workers share say so. */
#ifndef LOCKSTEP_MACHINE_H
#define LOCKSTEP_MACHINE_H
#include "code/code.h"
#include "sim/sim.h"

struct origins;           /* planes.h: where undefined values came from */
struct planes;            /* planes.h: undefined bits of registers */
struct pool;              /* worker_pool.c: threads of the host */
struct probe;             /* wait.c: a round of a loop that is watched */
struct residency;         /* residency.h: room on the multiprocessors */
struct rendezvous_taints; /* planes.h: undefined bits of operands at a rendezvous */
struct shadow;            /* mem/shadow.h: which bytes of memory are defined */
struct trace;             /* trace.h */

/* What a handler returns: go on with the next instruction; go on in plain code from this one; the launch stops; the
 * warp gives way before the block, of which nothing has run. */
enum { EV_NONE, EV_DEOPT, EV_STOP, EV_YIELD };

enum { AROUND_MOST = 3 };   /* observers of a launch that lie around instructions (observe.h) */
enum { MAX_WARPS = 32 };    /* of a CTA */
enum { ATTACH_SLOTS = 24 }; /* for what hangs at a warp, a CTA, a launch (attach.h) */

/* ---- frames and splits ---- */

/* An activation of a function. Frames are a tree (a cactus stack): lanes may call different functions. */
struct frame {
    struct frame *up; /* the caller's; NULL: the kernel's own */
    struct code *code;
    char *R;                    /* register file */
    char *pmem;                 /* .param memory, [lane][pmem_bytes] */
    u32 *tags;                  /* tag planes, 32 object ids each */
    struct planes *planes;      /* undefined bits of its registers; NULL: fast code, which has none, or not checked */
    struct shadow *init_params; /* which bytes of pmem are defined; NULL: all */
    u32 local_base;             /* offset of its local memory in the thread's stack */
    u32 params;                 /* bytes of .param memory of the frames below it, which count against the stack, too */
    u32 top;                    /* bytes that alloca added behind it */
    u32 depth, refs;            /* frames below it; splits in it and frames above it */
    u32 ret_block;              /* where its lanes go on in `up` */
    const struct call *call;    /* the call that made it */
    struct frame *next_free;    /* in warp.free_frames */
};

struct read {             /* what a spinning lane read */
    const char *ptr;      /* where the bytes are */
    u64 addr, value;      /* address as the program has it; what was there */
    u32 op;               /* the operation that read it */
    u8 size, space, lane; /* bytes; enum ptx_space */
};

enum split_state {
    SPLIT_RUN,        /* runnable */
    SPLIT_RENDEZVOUS, /* waits in a .sync operation for the lanes of its mask (warpop.c) */
    SPLIT_IDLE,       /* spins in a loop that can end only when something it reads changes (wait.c) */
    SPLIT_SLEEP,      /* has given way; runs again with the next turn */
    SPLIT_WAITS       /* this and enum isa_wait: waits at the end of its block */
};
#define SPLIT_AT(wait) (SPLIT_WAITS + WAIT_##wait)

struct split {
    u32 mask, block;    /* its lanes; the block they are at, or go on with */
    struct frame *fr;   /* the frame they are in */
    u8 state, bar;      /* enum split_state; at a barrier: which one; SPLIT_IDLE: turns given away (exec.c) */
    u32 missing;        /* waiting in an .aligned operation: lanes of the warp that were elsewhere when it arrived */
    u32 op;             /* the operation it waits at */
    u32 rdv;            /* SPLIT_RENDEZVOUS: the member mask */
    struct read *reads; /* SPLIT_IDLE: it runs again when one of these differs */
    u32 nreads;
    u64 polled; /* a mark of what the last watched round that was not idle polled, and its value (wait.c); 0: nothing */
};

/* ---- warps ---- */

enum { EXIT_RECORDS = 4 };
struct exit_record { /* lanes that left the kernel */
    u32 mask, op;    /* the operation: a branch to the end, or the exit itself */
    struct lowered *low;
};

enum { CHANGED_ALL = 1, CHANGED_OWN = 2 }; /* memory that others see; local variables and arguments of calls */

struct warp { /* what every block touches comes first */
    char *R;  /* register file of the running split's frame */
    u32 mask; /* lanes of the running split */
    u32 live; /* lanes that have not exited */
    u32 has;  /* bit set: which of `attached` are in use */
    /* lowest block that another runnable split of this frame is at: a jump to it or beyond ends the split's run */
    u32 limit;
    s32 fuel;            /* back edges until wait_out_of_fuel is called */
    struct code *code;   /* of the running split's frame */
    struct range *range; /* of the worker, by site */
    char *shared;        /* of the CTA: where the byte of shared address 0 would be (cluster.h) */
    void *race;          /* state of the race check for this warp; NULL: it is off */
    /* which bytes are defined; NULL: not checked, or all of them */
    struct shadow *init_global, *init_shared, *init_local;
    struct planes *planes; /* of the running split's frame */
    struct cta *cta;
    struct split *cur;   /* the running split */
    struct probe *probe; /* not NULL: a loop is watched, and its loads and stores are recorded */
    bool blocks_seen;    /* observers see its blocks */
    bool instrumented;   /* blocks go through run_instrumented: a probe, a trace, an observer of steps, perturbation */
    u64 steps;           /* warp instructions executed */
    u32 nsplit, id;      /* splits it has; its number in the CTA */
    u32 event_at;        /* the instruction whose handler returned an event */
    u32 faults;          /* accesses of it that were wrong */
    bool locked;         /* it has taken a lock, and is to give way (atomic.c) */
    /* lanes that arrived at barrier arrived_bar without waiting, while other lanes of the warp were elsewhere */
    u32 arrived;
    u8 arrived_bar;
    /* its wait has let a product of tcgen05 be done: others that wait for the same phase come first, as they would on a
     * card, where the next phase takes a while */
    bool met;
    u32 clocks, syncs; /* clock reads, and synchronisations with others: a loop with one is not idle */
    u32 changed;       /* this warp has changed memory since the probe began: a bit set of CHANGED_ALL, CHANGED_OWN */
    u32 first_live;    /* lanes at the start */
    /* where its lanes left the kernel; when there is no room for more places, the last one has all further lanes */
    struct exit_record exits[EXIT_RECORDS];
    u32 nexits;
    u32 next_fuel;                /* the fuel of the next refill */
    u32 idled_at;                 /* the first block of the loop that it was idle in last */
    u32 woken;                    /* it has woken up: what back edges of other loops may cost before one is probed */
    u32 outer_loop;               /* the first block of the loop to be probed next, around one that was left; NONE */
    u32 outer_edges;              /* back edges that may pass before it comes round */
    u64 busy_loops;               /* bit set, by first block modulo 64: their last probe was not idle */
    u64 counted;                  /* of the steps, those that launch.spent has */
    struct frame *base;           /* frame of the kernel */
    struct split split[LANES];    /* nsplit of them, in no order */
    char *local;                  /* [lane][LOCAL_STACK], mapped when first used */
    void *attached[ATTACH_SLOTS]; /* by row of the table of attachments (attach.h) */
    char *fast_R, *plain_R;       /* the two register files of the kernel's frame, kept for the next CTA */
    struct frame base_frame;
    struct planes *base_planes; /* of the kernel's frame in plain code */
    u32 print_op;               /* the call of printf under way */
    bool observed_after;        /* observers of writes see the store under way after its handler (memory.c) */
    /* the access under way is being repeated in plain code: its faults have been reported */
    bool faults_reported;
    struct rendezvous_taints *rdv_taint; /* with the operands below; NULL: none so far */
    struct frame *free_frames;           /* of calls that ended, for the next ones */
    u64 rdv_a[LANES];                    /* operands of the .sync operation that each lane waits at */
    u32 rdv_b[LANES], rdv_e[LANES];
    u32 rdv_tag[LANES];  /* the object a shuffled pointer points into */
    u8 rdv_from[LANES];  /* the lane that each lane read */
    struct trace *trace; /* NULL: this warp is not traced */
    struct {             /* of an observer that counts (src/count); it clears them when the CTA begins */
        u64 since;       /* instructions since the last barrier that it passed */
        u32 bar, bar_op; /* the barrier that it arrived at last, and the operation */
        const struct lowered *bar_low;
        u32 did;    /* lanes that have accessed memory */
        void *func; /* where it counted last */
    } count;
    /* the operation each lane waits at whose result is still to be written, plus one; 0: none */
    u32 traced[LANES];
};
_Static_assert(offsetof(struct warp, mask) == WARP_MASK_AT, "where the handlers of lanes look for it");

/* ---- CTAs ---- */

struct bar {                        /* one barrier of a CTA, between two phases all zero */
    u32 in_use;                     /* some thread has arrived in this phase */
    u32 arrived_threads;            /* threads that arrived without waiting */
    u32 expected;                   /* thread count given, 0: all of the CTA */
    u32 waiting_warps;              /* count of warps of which every live lane waits */
    bool results;                   /* some thread wants the result of a reduction */
    bool partial;                   /* a split arrived without all lanes of its warp */
    u64 arrived_warps;              /* bit set of warps that arrived without waiting */
    u32 red_and, red_or, red_count; /* reductions so far */
};

enum { CTA_READY, CTA_WAIT };
enum { CLUSTER_MOST = MEM_WINDOW_CTAS }; /* CTAs of a cluster */
/* CTAs that are resident together and reach each other's shared memory (cluster.h). A launch without clusters has
 * clusters of one. */
struct cluster {
    u32 size, running;             /* CTAs; those not yet done */
    u64 number;                    /* of the cluster in the grid */
    u32 phase;                     /* of barrier.cluster: how many are complete */
    bool arrived;                  /* some thread has arrived in this phase */
    bool began;                    /* all its threads have met at barrier.cluster: every CTA has started */
    struct cta *cta[CLUSTER_MOST]; /* by rank */
};

struct cta {
    u32 id[3];                      /* %ctaid */
    u64 linear;                     /* its number in the grid */
    u32 nwarps, running;            /* warps; those not yet done */
    bool exited;                    /* some thread has left */
    bool triggered;                 /* a thread has executed griddepcontrol.launch_dependents */
    bool divergent;                 /* a barrier was found divergent: threads that leave early are then a consequence */
    const struct lop *divergent_at; /* the first of them; what other barriers find from then on is a consequence */
    u32 exits_reported;             /* threads that had left when report_exited looked last */
    bool gives_way;                 /* a warp has taken a lock: another CTA is to run */
    struct warp **warp;
    struct bar bar[MAX_BARS];
    u32 bars_used; /* bit set of barriers in use */
    char *shared;
    struct cluster *cluster;      /* that it is in */
    struct cluster own_cluster;   /* what `cluster` of all its CTAs points to, in the one of rank 0 */
    u32 rank;                     /* in the cluster: %cluster_ctarank */
    bool done;                    /* in a cluster: all its threads have left, and other CTAs go on */
    u32 phases;                   /* of its barriers that have completed */
    u32 has;                      /* bit set: which of `attached` are in use */
    void *attached[ATTACH_SLOTS]; /* by row of the table of attachments (attach.h) */
    struct shadow *init;          /* which bytes of shared memory are defined; NULL: not checked, or there is none */
    void *race;                   /* state of the race check for this CTA */
    struct worker *worker;
    struct launch *launch;
    struct cta *next; /* in the parked or free list */
    u8 state;         /* after cta_run: CTA_READY: gave way; CTA_WAIT: every split waits */
    u64 rng;          /* of this CTA's schedule */
    u32 sm;           /* the multiprocessor that has it */
    size_t bytes;     /* of the block of memory that it begins, and its warps and their registers lie in */
};

/* ---- workers ---- */

struct range {    /* what a site may touch without a closer check */
    u64 lo, size; /* address - lo < size */
    u64 view;     /* added to an address: where its byte is */
    u64 race;     /* added to an address: its shadow cell of the race check; 0: none */
    u64 init;     /* epoch of the shadow in which all of the range was seen defined (planes.h) */
    /* accesses checked byte by byte since then; after how many the whole range is checked again */
    u32 init_misses, init_after;
};

struct worker {
    struct launch *launch;
    bool busy;      /* a thread is in this place; guarded by sim.launches_lock */
    struct ranges { /* of the sites of a function, for CTAs of one rank */
        struct lowered *low;
        struct range *r;
        u32 rank;
    } * func;
    u32 nfunc, capfunc;
    struct cta *free, *again; /* clusters to use again; the one that is started already, to be run next */
    u64 steps, ctas;          /* warp instructions; CTAs run to their end (atomic: sim_progress reads it) */
    u32 turns;                /* times it asked for a CTA */
    u64 from, to;             /* numbers of the clusters it has claimed and not started */
    u64 silent;               /* atomic: CTAs that left without a trigger (dependent.c) */
    bool holds;               /* it counts in launch.holders */
    struct exit_record exits[EXIT_RECORDS]; /* where threads of its finished CTAs left */
    u32 nexits;
    struct arena mem; /* lives as long as the launch */
};

/* ---- the launch ---- */

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

struct launch { /* read by all workers all the time; what they write has cache lines of its own */
    const struct sim_launch *in;
    struct sim *sim;
    struct lowered *kernel;
    struct code *fast, *plain;
    u64 total;                /* CTAs */
    u64 clusters;             /* of them; without clusters as many as CTAs */
    u32 cluster[3], per;      /* the shape of a cluster; its CTAs */
    u64 order_by, order_from; /* the n-th cluster to start is number (n * order_by + order_from) % clusters */
    /* a perturbed schedule (orders from 2 on, one worker): warps give way at random, the more often the smaller this
     * is; 0: not perturbed */
    u32 perturb;
    u64 rng;                              /* of a perturbed schedule */
    u32 locks;                            /* atomic: turns that were given away behind a lock */
    u32 nwarps, threads, nworkers, batch; /* of a CTA: warps, threads; workers; CTAs a worker claims at once */
    u64 shared_total, dyn_shared;         /* bytes of a CTA; where the dynamic part starts */
    char *param_copy;                     /* the parameter block, and 8 readable bytes behind it */
    u64 grid_workspace;                   /* what grid.sync() counts in; 0: not a cooperative launch */
    u64 param_address;                    /* generic address of the parameters, when the kernel takes it */
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
    u32 max_resident;                     /* CTAs that fit on the device when nothing else is on it */
    struct footprint takes;               /* of one CTA */
    bool whole;                           /* cooperative: all its CTAs take their room at once, or none does */
    u32 *reserved;                        /* whole: by multiprocessor, room taken for CTAs that have not started */
    struct mem_object *workspace;         /* that has grid_workspace; NULL: none */
    struct mem_object *params;            /* that has param_address; NULL: none */
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
    bool trigger_told; /* atomic: all have triggered or left, and in->trigger was called */
    /* in flight: guarded by sim.launches_lock */
    struct launch *behind; /* the next one in flight, of lower priority or younger */
    u32 inside;            /* threads that are in places of its workers */
    bool over;             /* atomic: nothing of it will run any more */
    bool ended;            /* it is not in flight any more, and has its result */
    bool suspected;        /* it is reported that it may wait for ever */
    bool deep;             /* atomic: it is reported that a recursion is beyond the stack limit */
    struct busy_wait {     /* loops that poll and are not idle, since they read clocks or count (wait.c) */
        u64 since;         /* atomic: from then on every watched round was one of them; 0: the last was not */
        u64 done;          /* atomic: CTAs that had ended then */
        bool told;         /* atomic: it is reported */
    } busy;
    bool beside;                  /* sim_start made it: other launches may run beside it */
    bool started;                 /* by sim_start: whoever leaves it last ends it, and sim_wait takes its result */
    struct sim_launch own;        /* what `in` points to */
    struct sim_result result;     /* when it has ended */
    struct worker one;            /* what `worker` points to when there is one */
    u64 few_params[24];           /* what `param_copy` points to when they fit */
    void *attached[ATTACH_SLOTS]; /* by row of the table of attachments (attach.h); who writes them says how */
    u64 own_param[8];             /* atomic: parameters whose own object was accessed through them (moved_pointer.c) */
};

/* ---- the sim ---- */

enum { SIM_SHAPES = 64 };

struct sim {
    struct mem *mem;
    const struct card *card;
    u32 workers;
    lock_t lock; /* decoding, worker pool */
    lock_t wide; /* 128-bit atomics */
    struct pool *pool;
    struct writer *writers; /* a lossy table, by address: who changed a lock last */
    u64 serial;             /* launches so far */
    u64 stack_limit;        /* atomic: sim_stack_limit */
    struct launch_shape {   /* of a launch */
        u64 serial;         /* which */
        u32 blocks;         /* along x; 0: the grid has more than one dimension */
        u32 threads;        /* of a block */
    } shape[SIM_SHAPES];    /* of the latest launches, by their number. Guarded by the lock */
    struct object_list {    /* memory that launches need while they are in flight, kept for the next ones */
        struct mem_object **o;
        u32 n, cap;
    } workspaces, params;        /* of grid.sync(); parameters that have an address. Guarded by the lock */
    struct residency *residency; /* room on the multiprocessors */
    lock_t launches_lock;        /* of the list of launches in flight, and of who is in them */
    struct launch *launches;     /* in flight: by priority, then age */
    u32 nlaunches;               /* how many; atomic: read without the lock */
    u64 ends;                    /* launches of sim_start that have ended; atomic: read without the lock */
    u32 ending;            /* launches that are in flight no more, and whose end is not yet known to who started them */
    struct launch *spare;  /* atomic: the memory of one that has ended, for the next; NULL: none */
    struct cta *spare_cta; /* atomic: the same of a CTA */
    u64 rng;               /* which of several seeded launches gets the next turn */
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
    u64 quiet_since;             /* atomic: since when nothing has gone on, time_ns; 0: something did */
    struct origins *origins;     /* where undefined values came from */
    struct func_table functions; /* by their serial numbers */
    u64 heap;                    /* atomic: bytes of device malloc that are not freed */
    u64 heap_limit;              /* atomic: sim_heap_limit */
};
#endif
