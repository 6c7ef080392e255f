/* The machine, all of its state on one page.
 *
 * A kernel is lowered once (lower.c: operations over virtual registers, blocks in reverse post-order, liveness) and
 * decoded for a block shape (decode.c) into two versions of flat code with the same operations:
 *   fast   registers have a class: S, one scalar a warp; A(k), a base per group of gcd(ntid.x, 32) lanes and a
 *          constant stride k; V, 32 lanes. Valid while lanes run in the preferred order (lowest block first).
 *   plain  every register is V. Valid always.
 * A warp starts in fast code. When it has to leave the preferred order (a split waits while another goes on), or a
 * guard says that a value is not affine after all, its live registers are copied to the plain layout and it goes on
 * there. So the fast code needs no proof about schedules, and the plain code needs no speed.
 *
 * Execution: launch -> workers -> resident CTAs -> warps -> splits (lanes that are at one block of one frame). */
#ifndef LOCKSTEP_MACHINE_H
#define LOCKSTEP_MACHINE_H
#include "code/code.h"
#include "sim/sim.h"

struct planes;
struct shadow;
struct origins;
struct rendezvous_taints; /* planes.h, mem/shadow.h */

/* What a handler returns beside 0; the last: at the start of a block, which has not begun. */
enum { EV_NONE, EV_DEOPT, EV_STOP, EV_YIELD };

enum { AROUND_MOST = 3 }; /* observers of a launch that lie around instructions (observe.h) */
enum { MAX_WARPS = 32, READ_SET = 64 };

/* ---- execution ---- */

enum split_state { SP_RUN, SP_RDV, SP_BAR, SP_IDLE, SP_SLEEP };
/* what a spinning split looked at */
struct read {
    const char *ptr;
    u64 addr, value;
    u32 op;
    u8 size, space, lane;
};

/* an activation; a tree (cactus stack) when lanes call different functions */
struct frame {
    struct frame *up;
    struct code *code;
    char *R;    /* register file */
    char *pmem; /* .param memory, [lane][pmem_bytes] */
    u32 *tags;  /* tag planes, 32 object ids each */
    /* undefined bits of its registers; NULL: fast code, which has none, or not checked */
    struct planes *planes;
    struct shadow *init_params; /* which bytes of pmem are defined; NULL: all */
    u32 local_base;             /* offset of its local memory in the thread's stack */
    u32 top;                    /* bytes that alloca added behind it */
    u32 depth, refs;            /* refs: splits in it and frames above it */
    u32 ret_block;
    const struct call *call; /* where its lanes meet again in `up` */
    struct frame *next_free;
};

struct split {
    u32 mask, block;
    struct frame *fr;
    u8 state, bar; /* enum split_state; which barrier */
    /* SP_BAR, aligned: lanes of the warp that were elsewhere when it arrived */
    u32 missing;
    u32 op;  /* the operation it waits at */
    u32 rdv; /* SP_RDV: membermask */
    struct read *reads;
    u32 nreads; /* SP_IDLE: run again when one differs */
};

struct bar {                        /* one barrier of a CTA, between two phases all zero */
    u32 need;                       /* somebody is here */
    u32 arrived;                    /* threads that arrived without waiting */
    u32 expected;                   /* thread count given, 0: all of the CTA */
    u32 whole;                      /* warps of which every live lane waits */
    bool results;                   /* somebody wants the result of a reduction */
    bool partial;                   /* a split arrived without all lanes of its warp */
    u64 waiting;                    /* warps that arrived without waiting */
    u32 red_and, red_or, red_count; /* reductions so far */
};
struct probe; /* wait.c: watching a loop for idleness */

enum { EXIT_RECORDS = 4 };
struct exit_record { /* lanes that left the kernel */
    u32 mask, op;    /* the operation: a branch to the end, or the exit itself */
    struct lowered *low;
};

struct warp { /* what every block touches comes first */
    char *R;  /* register file of the running split's frame */
    u32 mask; /* lanes of the running split */
    u32 live; /* lanes that have not exited */
    /* lowest pending block of this frame: jumps at or beyond it leave the straight line */
    u32 limit;
    s32 fuel;            /* back edges until somebody looks */
    struct code *code;   /* of the running split's frame */
    struct range *range; /* of the worker, by site */
    char *shared;        /* of the CTA */
    void *race;          /* what the race check knows of this warp, NULL: it is off */
    /* which bytes are defined; NULL: not checked, or all of them */
    struct shadow *init_global, *init_shared, *init_local;
    struct planes *planes; /* of the running split's frame */
    struct cta *cta;
    struct split *cur;   /* running split */
    struct probe *probe; /* not NULL: loads and stores are being recorded */
    bool rare;           /* a probe or a trace is on: blocks take the slow way */
    u64 steps;           /* warp instructions executed */
    u32 nsplit, id;      /* id: in the CTA */
    u32 event_at;        /* instruction that left the straight line */
    /* lanes that came to barrier came_bar without waiting, while others of the warp were elsewhere */
    u32 came;
    u8 came_bar;
    /* clock reads, and synchronisations with others: a loop with one is not idle */
    u32 clocks, syncs;
    u32 changed;    /* memory this warp changed since the probe began */
    u32 first_live; /* lanes at the start */
    /* where its lanes left, for as many places as there is room; the last one stands for all further ones */
    struct exit_record exits[EXIT_RECORDS];
    u32 nexits;
    u32 fuel_next;      /* size of the next tank */
    u64 counted;        /* of the steps, in launch.spent */
    struct frame *base; /* frame of the kernel */
    struct split split[LANES];
    char *local;            /* [lane][LOCAL_STACK], mapped when first used */
    struct wraps *wraps;    /* registers that hold an index that wrapped, NULL: none so far */
    struct copies *copies;  /* asynchronous copies in flight, NULL: none so far */
    char *fast_R, *plain_R; /* the two register files of the kernel frame, kept for the next CTA */
    struct frame base_frame;
    struct planes *base_planes; /* of the kernel's frame in plain code */
    u32 print_op;               /* the call of printf under way */
    bool noting;                /* the store under way is noted behind its handler (memory_noted) */
    /* the access under way was tried in fast code: what is wrong with it has been reported */
    bool retried;
    struct rendezvous_taints *rdv_taint; /* with the operands below; NULL: none so far */
    struct frame *free_frames;           /* of calls that ended, for the next ones */
    u64 rdv_a[LANES];
    u32 rdv_b[LANES], rdv_e[LANES]; /* operands of the .sync operation each lane waits at */
    /* the object a shuffled pointer points into; the lane that each lane read */
    u32 rdv_tag[LANES];
    u8 rdv_from[LANES];
    struct trace *trace; /* NULL: this warp is not traced */
    /* the operation each lane waits at whose result is still to be written, plus one; 0: none */
    u32 traced[LANES];
};

struct cta {
    u32 id[3];
    u64 linear;
    u32 nwarps, running; /* warps not yet done */
    bool exited;         /* some thread has left */
    /* a barrier was found divergent: threads that leave early are then a consequence */
    bool divergent;
    u32 noted; /* threads that had left when a note said so last */
    struct warp **warp;
    struct bar bar[MAX_BARS];
    u32 bars_used; /* mask of those somebody is at */
    char *shared;
    struct mbarriers *mbarriers; /* where the valid ones lie (async.c), NULL: none so far */
    /* which of its bytes are defined; NULL: not checked, or there is none */
    struct shadow *init;
    void *race; /* what the race check knows of this CTA */
    struct worker *worker;
    struct launch *launch;
    struct cta *next; /* in the parked or free list */
    u8 state;         /* CTA_READY: only gave way; CTA_WAIT: every split waits */
    u64 rng;
};
enum { CTA_READY, CTA_WAIT };

struct range {    /* what a site may touch */
    u64 lo, size; /* address - lo < size */
    u64 view;     /* what to add to reach the bytes */
    u64 race;     /* to reach the race check's notes on them, 0: it keeps none */
    /* epoch of the shadow in which all of it was seen defined (init_fast.h) */
    u64 init;
    /* looks since then; how many must go before the whole is looked at again */
    u32 init_misses, init_after;
};

struct worker {
    struct launch *launch;
    /* what each site may touch, by function */
    struct ranges {
        struct lowered *low;
        struct range *r;
    } * func;
    u32 nfunc, capfunc;
    struct cta *free, *again; /* again: started already, to be run next */
    u64 steps, ctas;          /* executed; run to their end (read by sim_progress: atomic) */
    u32 turns;
    /* CTAs it has claimed and not started; whether it counts in launch.holders */
    u64 from, to;
    bool holds;
    struct exit_record exits[EXIT_RECORDS];
    u32 nexits;       /* where threads of CTAs that are over left */
    struct arena mem; /* lives as long as the launch */
};

enum { PARK_SCAN = 32, PARK_TURN = 16, FUEL_FIRST = 128, FUEL_SOME = 1024, FUEL_MAX = 1 << 16, LOOK_STEPS = 4096 };

/* read by all workers all the time; what they write has lines of its own */
struct launch {
    const struct sim_launch *in;
    struct sim *sim;
    struct lowered *kernel;
    struct code *fast, *plain;
    u64 total; /* CTAs */
    /* the n-th to start is number n * order_by + order_from of them, cut to `total` */
    u64 order_by, order_from;
    /* orders from 2 on: who runs gives way at random, the sooner the smaller this is; one worker. 0: not so */
    u32 shaken;
    u64 rng;
    u32 nwarps, threads, nworkers, batch; /* of a CTA; batch: CTAs a worker claims at once */
    u64 shared_total, dyn_shared;         /* bytes of a CTA; where the dynamic part starts */
    char *param_copy;                     /* the parameter block, and 8 readable bytes behind it */
    u64 grid_workspace;                   /* 0: not a cooperative launch */
    u64 param_address;                    /* generic address of the parameters, when the kernel takes it */
    u64 serial;                           /* number of the launch */
    /* who changed a lock last: a lossy table of the sim */
    struct writer {
        u64 addr, value, cta, serial;
        u32 thread, op;
        struct lowered *low;
    } * writers;
    /* atomic: where the shadow of the next CTA's shared memory starts to count */
    u64 epochs;
    u64 vtime_base; /* where clocks start */
    int stop;       /* atomic: SIM_* end to take, 0: go on */
    u32 deopts;     /* atomic: many of them make later CTAs start in plain code */
    u32 nparked;    /* written under the lock, read without */
    u32 max_resident;
    struct worker *worker;     /* nworkers of them */
    struct trace *trace;       /* trace.c; NULL: none */
    _Alignas(128) u64 next;    /* atomic: CTA to claim next */
    _Alignas(128) lock_t lock; /* guards what follows */
    u32 resident, active;      /* active: workers inside a CTA or about to take one */
    u32 holders;               /* workers that have claimed CTAs and not started them all */
    struct cta *parked, *parked_tail;
    struct error *e;
    lock_t elock;
    u64 vtime; /* atomic: virtual nanoseconds slept */
    u64 spent; /* atomic: warp instructions so far, when there is a budget */
};
enum { WRITERS = 1024 };

struct sim {
    struct mem *mem;
    const struct profile *profile;
    u32 workers;
    lock_t lock; /* decoding, worker pool */
    lock_t wide; /* 128-bit atomics */
    struct pool *pool;
    struct writer *writers;
    u64 serial;
    struct mem_object *workspace; /* of grid.sync(), made for the first cooperative launch */
    /* a copy of the parameters that has an address, for kernels that take it */
    struct mem_object *params;
    struct launch *running;  /* guarded by the lock, NULL: none */
    struct origins *origins; /* where undefined values came from */
    struct func_table functions;
    u64 heap; /* bytes of device malloc that are not freed (atomic) */
};
#endif
