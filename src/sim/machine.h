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

enum { MAX_BARS = 16, MAX_WARPS = 32, READ_SET = 64 };

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

enum { LEAVES = 4 };
/* lanes that left the kernel, and the operation: a branch to the end, or the exit itself */
struct leave {
    u32 mask, op;
    struct lowered *in;
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
    struct leave left[LEAVES];
    u32 nleft;
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
    struct leave ended[LEAVES];
    u32 nended;       /* where threads of CTAs that are over left */
    struct arena mem; /* lives as long as the launch */
};

enum {
    PARK_SCAN = 32,
    PARK_TURN = 16,
    LOCAL_STACK = 1 << 19,
    FUEL_FIRST = 128,
    FUEL_SOME = 1024,
    FUEL_MAX = 1 << 16,
    LOOK_STEPS = 4096
};

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

enum { FUNCS = 4096 };
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
    /* serials given; the functions they were given to, as long as nobody else took the place */
    u32 lowered;
    struct lowered *func[FUNCS];
    u64 heap; /* bytes of device malloc that are not freed (atomic) */
};

/* ---- who does what ---- */
struct lowered *lower_func(struct sim *s, struct ptx_func *f, struct error *e); /* lower.c */
/* the variable or function that no module defines; NULL: all is there */
const struct ptx_operand *operand_undefined(const struct ptx_insn *i);
/* shared.c: once for a program */
void shared_layout(struct ptx_module *m);
/* which array an offset lies in; NULL: none */
const struct ptx_var *shared_variable(const struct ptx_func *kernel, u64 at);
/* bytes of shared memory that the system keeps; the part of cooperative groups in it */
enum { SHARED_RESERVED = 1024, SHARED_GROUPS = 256 };
u64 *flow_unwritten(struct lowered *l, struct arena *out);
/* flow.c: blocks, order, dominators, loops, liveness */
void flow_build(struct lowered *l);
/* per block; per register */
struct divergence {
    u8 *div;
    u8 *cls;
    s32 *stride;
};
void classes_find(struct lowered *l, u32 group, struct divergence *out, struct arena *a); /* classes.c */
void roots_find(struct lowered *l);                                                       /* roots.c */
void speculated_find(struct lowered *l);                                                  /* speculate.c */
void guesses_find(struct lowered *l);
void hazards_find(struct lowered *l); /* hazards.c */
handler hazards_look;
/* decode.c */
struct code *decode(struct sim *s, struct lowered *l, const struct sim_launch *in, bool plain, struct error *e);
/* wrap.c, roots.c */
handler lanes_mixed, lanes_blend, lanes_cmp_affine, lanes_guard_affine, roots_tagged;
handler *lanes_cmp_affine_for(const struct isa_form *f, u32 group, bool scalar_right);
enum guard_mode {
    GUARD_SIGNED,
    GUARD_UNSIGNED,
    GUARD_AND,
    GUARD_SHR_SIGNED,
    GUARD_SHR_SIGNED64,
    GUARD_SHR_UNSIGNED,
    GUARD_SHR_UNSIGNED64
};
/* memory.c */
handler *memory_handler(const struct site *s, const struct insn *i, u32 group, s32 stride);
/* async.c, matrix.c: NULL: not theirs */
handler *async_handler(enum isa_name name);
handler *matrix_handler(enum isa_name name);
struct async_flight { /* a copy that is under way */
    u32 group;        /* of its thread, from 1 */
    bool committed;   /* the group is complete */
    /* groups committed after it: the largest count that a wait for it may have */
    u32 newer;
    bool waited;
    u32 wait; /* its thread has waited since, and left so many groups in flight */
};
/* into the byte at `at`; false: none */
bool async_flight(const struct warp *w, u32 lane, const char *at, struct async_flight *out);
/* a copy into some of these bytes is under way */
bool async_covers(const struct cta *c, const char *at, u32 bytes);
struct mbarrier_word {
    u64 phase;
    u32 arrived, expected;
};
struct mbarrier_word async_mbarrier(u64 word);
void async_begin(struct cta *c);
void async_exit(struct warp *w, u32 mask);
void async_reset(struct warp *w);
handler memory_any, memory_watched, memory_noted, mem_hint, mem_isspacep, mem_fence, warp_alloca;

/* exec.c */
enum exec_end { EXEC_WAIT, EXEC_YIELD, EXEC_DONE };
/* runs until every split of the warp waits, it gives way, or it is done */
enum exec_end exec_warp(struct warp *w);
struct split *exec_split(struct warp *w, u32 mask, u32 block, struct frame *fr);
void exec_exit_lanes(struct warp *w, u32 mask, u32 op);
/* deopt.c: the kernel frame goes on in plain code; op: the running split stands before it, NONE: at a block */
void exec_to_plain(struct warp *w, u32 op);
/* the instruction there, as handlers answer; records what it reads while a probe is on */
int exec_one(struct warp *w, u32 at);
/* trace.c: NULL: e says why */
struct trace *trace_open(struct launch *l, struct error *e);
void trace_close(struct trace *t);
struct trace *trace_warp(const struct warp *w); /* of the launch; NULL: this warp is not selected */
/* the instructions [at, end) of block b, and what is said about them */
int trace_run(struct warp *w, u32 b, u32 at, u32 end);
/* deopt.c: registers live just before an operation */
void live_before(const struct lowered *l, u32 block, u32 op, u64 *live);

/* warpop.c: true: fired, the split may go on */
bool sync_arrive(struct warp *w, struct split *s, const struct insn *i);
void sync_recheck(struct warp *w);
/* barrier.c: the same */
bool barrier_arrive(struct warp *w, struct split *s, const struct insn *i);
void barrier_recheck(struct cta *c);
enum { BAR_SYNC, BAR_ARRIVE, BAR_AND, BAR_OR, BAR_POPC, BAR_ALIGNED = 16 };

enum wait_look { WAIT_GO, WAIT_IDLE, WAIT_YIELD };
enum wait_look wait_fuel(struct warp *w, u32 target); /* wait.c */
/* wait.c: n back edges until the next look, or fewer */
s32 wait_tank(struct warp *w, u32 n);
/* counts its steps; the launch was interrupted or has spent its budget, and stops */
bool wait_spent(struct warp *w);
bool wait_changed(const struct split *s, const struct warp *w);
void wait_record_read(struct warp *w, u32 op, u32 lane, u8 space, u64 addr, const char *ptr, u32 size, u64 value);
/* a loop is watched, and some lanes come there */
void wait_at(struct warp *w, u32 block);
void wait_stop(struct warp *w); /* forget the probe */
bool wait_for_host(const struct launch *l);
/* verdict.c: a deadlock, with its cause */
void wait_verdict(struct launch *l);
void wait_report_stopped(struct launch *l);
void leave_note(struct leave *v, u32 *n, struct leave x); /* left.c */
void leave_cta(struct worker *k, const struct cta *c);
/* the trap of code that finds no grid barrier: it was not launched cooperatively */
bool trap_needs_grid(const struct frame *f, u32 op);

/* call.c: false: a builtin, already done */
bool call_enter(struct warp *w, struct split *s, const struct insn *i, u32 next);
void call_return(struct warp *w, struct split *s, u32 mask);
void frame_drop(struct warp *w, struct frame *f);
bool builtin_call(struct warp *w, const struct call *c, const struct insn *i); /* builtin.c */
enum builtin builtin_find(struct str name);

/* found.c: fills in place and threads, and adds */
void found(struct warp *w, u32 op, struct finding *f, u32 mask);
/* the same, into another report */
void found_in(struct report *to, const struct warp *w, u32 op, struct finding *f, u32 mask);
struct place *found_place(struct arena *a, const struct lowered *l, u32 op);
/* it stands in a header of cooperative groups or of libcu++ */
bool found_in_library(const struct lowered *l, u32 op);
void words_find(struct lowered *l); /* found.c: SITE_WORD */
u32 found_call(const struct frame *f);
struct ptx_func *func_at(struct launch *l, u64 addr);
/* call.c: the lanes' stacks */
char *local_of(struct warp *w);
const char *plain_name(struct arena *a, struct str name); /* explain.c */

/* One value into a register that is uniform in each group: the groups that have lanes in the mask. */
void lanes_put_groups(const struct code *c, char *R, u32 slot, u32 mask, u64 v); /* wrap.c */
/* The lanes that execute an instruction: those of the split, under its guard. */
static inline u32 active_lanes(const struct warp *w, const char *R, const struct insn *i)
{
    if (!i->guard) return w->mask;
    u32 g = *(const u32 *)(const void *)SLOT(R, i->guard);
    return w->mask & (i->flags & IF_GUARD_NEG ? ~g : g);
}
/* Of the lanes in todo, those whose value equals that of the first: for doing one group after the other. */
static inline u32 lanes_alike(const u64 v[LANES], u32 todo)
{
    u32 first = (u32)__builtin_ctz(todo), same = 0;
    for (u32 l = first; l < LANES; l++)
        if (todo >> l & 1 && v[l] == v[first]) same |= 1u << l;
    return same;
}
/* Reads operand n of an instruction for all lanes, and for one lane. */
/* wrap.c */
void lane_values(const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u64 out[LANES]);
u64 lane_value(const struct warp *w, const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u32 lane);
#endif
