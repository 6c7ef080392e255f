/* machine.h: the running state of the software GPU: what a warp and a CTA are, on one page. No function is declared
 * here. Of what they are made is in cta_state.h; workers, launches and the sim are in launch_state.h; what hangs at one
 * of them and works beside it is attach.h's.
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
#include "sim/launch_state.h"

struct probe; /* wait.c: a round of a loop that is watched */

/* What a handler returns: go on with the next instruction; go on in plain code from this one; the launch stops; the
 * warp gives way before the block, of which nothing has run. */
enum { EV_NONE, EV_DEOPT, EV_STOP, EV_YIELD };

enum { AROUND_MOST = 3 }; /* observers of a launch that lie around instructions (observe.h) */
enum { MAX_WARPS = 32 };  /* of a CTA */

/* ---- warps ---- */

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
    struct exit_records exits;    /* where its lanes left the kernel */
    struct warp_loops loops;      /* its loops that may wait */
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
    struct frame *free_frames; /* of calls that ended, for the next ones */
    struct rendezvous rdv;     /* the .sync operation that each lane waits at */
    struct trace *trace;       /* NULL: this warp is not traced */
    struct warp_count count;   /* what src/check/count keeps of it */
    /* the operation each lane waits at whose result is still to be written, plus one; 0: none */
    u32 traced[LANES];
};
_Static_assert(offsetof(struct warp, mask) == WARP_MASK_AT, "where the handlers of lanes look for it");

/* ---- CTAs ---- */

enum { CTA_READY, CTA_WAIT };
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

#endif
