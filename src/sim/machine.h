/* The machine, all of its state on one page.
 *
 * A kernel is lowered once (lower.c: operations over virtual registers, blocks in reverse post-order, liveness) and decoded
 * for a block shape (decode.c) into two versions of flat code with the same operations:
 *   fast   registers have a class: S, one scalar a warp; A(k), a base per group of gcd(ntid.x, 32) lanes and a constant
 *          stride k; V, 32 lanes. Valid while lanes run in the preferred order (lowest block first).
 *   plain  every register is V. Valid always.
 * A warp starts in fast code. When it has to leave the preferred order (a split waits while another goes on), or a guard says
 * that a value is not affine after all, its live registers are copied to the plain layout and it goes on there. So the
 * fast code needs no proof about schedules, and the plain code needs no speed.
 *
 * Execution: launch -> workers -> resident CTAs -> warps -> splits (lanes that are at one block of one frame). */
#ifndef LOCKSTEP_MACHINE_H
#define LOCKSTEP_MACHINE_H
#include "isa/isa.h"
#include "sim/sim.h"

enum { LANES = 32, MAX_BARS = 16, MAX_WARPS = 32, READ_SET = 64 };
#define ALL_LANES 0xffffffffu

/* ---- decoded code ---- */

enum cls { CLS_V, CLS_S, CLS_A };               /* of an operand; two bits each in insn.cls: d a b c */
#define CLS_AT(i, n) ((i)->cls >> 2 * (n) & 3)

struct insn {                                   /* 32 bytes, no pointers */
    u16 form;                                   /* of isa.def */
    u8 kind;                                    /* enum isa_kind, or KX_* below */
    u8 flags;                                   /* IF_* */
    u16 d, a, b, c;                             /* slots: 8-byte units from the start of the register file */
    u8 cls;                                     /* classes of d a b c */
    u8 n;                                       /* scalars to compute: 1 for S, the number of groups for A */
    u16 guard;                                  /* slot of the guard predicate, 0: none */
    union {
        s64 imm;
        struct { s32 off; u16 e, f; };          /* memory: address offset; e: the fourth register of a vector. Lanes: e the fourth operand, f the modifiers */
    };
    u32 site;                                   /* number of the memory instruction */
    u32 op;                                     /* the operation it was made from: source line, liveness */
};
_Static_assert(sizeof(struct insn) == 32, "an instruction is 32 bytes");
enum { IF_GUARD_NEG = 1, IF_BLEND = 2, IF_TAG = 4, IF_PLAIN_BAR = 8, IF_CLS_E = 4 };        /* bits 4, 5: class of e */
#define CLS_E(i) ((i)->flags >> IF_CLS_E & 3)
enum { KX_GUARD = 16, KX_DEAD, KX_USE, KX_PICK, KX_LOOK };      /* kinds beyond isa.def: an affine guard; an operation that was propagated away; the uses of a terminator; what a selection picks; arithmetic whose operands are looked at before it */

struct warp;
/* Executes one instruction over the register file R. Returns 0, or an event that leaves the straight line (EV_*). */
typedef int handler(char *restrict R, const struct insn *i, struct warp *w);
enum { EV_NONE, EV_DEOPT, EV_STOP, EV_YIELD };   /* the last: at the start of a block, which has not begun */

#define SLOT(R, s) ((R) + 8 * (size_t)(s))
struct planes; struct shadow; struct origins; struct rendezvous_taints;         /* planes.h, mem/shadow.h */

enum term { TERM_FALL, TERM_BRA, TERM_BRX, TERM_CALL, TERM_RET, TERM_EXIT, TERM_TRAP, TERM_BAR, TERM_WARP, TERM_SLEEP, TERM_UNSUPPORTED };

struct loop { u32 head, last, parent; bool polls; u64 *slice; };    /* blocks head..last; parent: number + 1 of the enclosing loop, 0: none; polls: reads memory
                                                 * that others may write; slice: registers its exits depend on, found when first needed (wait.c) */

struct block {                                  /* of the lowered function: the same in both versions */
    u32 first, end;                             /* operations [first, end); the terminator is the last one, if any */
    u8 term;                                    /* enum term */
    u8 is_exit;                                 /* nothing but ret/exit: lanes that branch here leave at once */
    u8 told;                                    /* it follows a fence, a release or a strong store: others may act on that before this block */
    u32 next, target;                           /* fall-through and branch successor, NONE */
    u32 *succ; u32 nsucc;                       /* all successors */
    u32 *pred; u32 npred;
    u32 idom, ipdom;                            /* immediate dominator and post-dominator, NONE: none */
    u32 loop;                                   /* innermost loop + 1, 0: none */
    u64 *live_in, *live_out;                    /* bit sets over virtual registers */
};
#define NONE 0xffffffffu

/* Special registers beyond the manual's: the base of dynamic shared memory, and of the frame's local memory. */
enum { SR_DYN_SHARED = SR_COUNT, SR_LOCAL_BASE };
/* site.space of .param variables that belong to calls, not to the kernel */
#define SP_CALL SP_REG

enum opnd_kind { O_NONE, O_REG, O_CONST, O_PARAM, O_SREG };
struct opnd {                                   /* an operand before it has a slot */
    u8 kind, neg;                               /* neg: of a guard */
    u16 comp;                                   /* SREG: component; CONST: 1, 2, 3: add the base of the shared, local window, of the parameters */
    u32 reg;                                    /* REG: number; SREG: id; CONST: number + 1 in lowered.sym, 0: just a number */
    u64 value;                                  /* CONST: bits; PARAM: offset */
};

enum root_kind { ROOT_UNSET, ROOT_NONE, ROOT_PARAM, ROOT_VAR, ROOT_DYN, ROOT_MIXED };
struct root { u8 kind; bool is_start; u32 off; struct ptx_var *var; };  /* which object an address was made from (RULES.md B); whether it is its first byte */

struct site {                                   /* a memory instruction, whatever the version */
    u16 name;                                   /* N_ld N_st N_atom N_red */
    u8 space;                                   /* enum ptx_space */
    u8 width;                                   /* bytes of one element in memory */
    u8 reg_width;                               /* bytes of one element in the register */
    u8 vec;                                     /* elements */
    u8 is_signed, is_float;
    u8 sem, scope;                              /* enum mem_sem, enum mem_scope */
    u8 atom;                                    /* enum atom_op */
    u8 type;                                    /* enum ptx_type */
    u8 addr_width;                              /* bytes of the address in its register: 4 or 8 */
    u8 align;                                   /* alignment it needs when that is more than its bytes: half of a 32-byte access, a copy that reads less */
    u8 flags;                                   /* SITE_* */
    u8 which;                                   /* the operand that is the address: 0 a, 1 b (source of an asynchronous copy) */
    struct root root;
    u32 op;
};
enum { SITE_NC = 1, SITE_UNCACHED = 2, SITE_SPECULATED = 4, SITE_GUESS = 8, SITE_WORD = 16, SITE_FLAG = 32 };  /* ld.nc; .cg, .cv, .wt: what old code takes for volatile (RULES.md R5c);
                                                 * a load that observers may put off until a selection takes its value (R8); one that guesses for a compare-and-swap;
                                                 * a strong access of libcu++ to 8 or 16 bits, which stands for the word they lie in (R2); an uncached one beside fences: it may be a flag (R5c) */
enum mem_sem { SEM_WEAK, SEM_VOLATILE, SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL };
enum mem_scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };
enum { RED_SIGNED = 1, RED_FLOAT = 2, RED_ABS = 4, RED_NAN = 8 };       /* redux, in op.off: how its operands compare */
enum { MBAR_NOINC = 1, MBAR_RELAXED = 2 };       /* op.aux of mbarrier operations: of cp.async.mbarrier.arrive; it releases, or acquires, nothing */
enum { FENCE_PROXY = 16, FENCE_SC = 32 };      /* beside the scope in op.aux: orders no accesses between threads; membar and fence.sc */
enum atom_op { AT_ADD, AT_EXCH, AT_MIN, AT_MAX, AT_AND, AT_OR, AT_XOR, AT_CAS, AT_INC, AT_DEC };

struct lop {                                    /* one operation of a lowered function */
    s32 form;                                   /* of isa.def; -1: unsupported, named when reached */
    u16 name;                                   /* enum isa_name */
    u8 kind;                                    /* enum isa_kind */
    struct opnd d, a, b, c, e;                  /* memory: a is the address, the data are d b c e (atomics: d the old value, b c the operands) */
    struct opnd d2;                             /* second result: the predicate of shfl and match, the upper half of a 128-bit atomic */
    struct opnd x;                              /* upper half of the third operand of a 128-bit atomic */
    struct opnd guard;                          /* O_REG or O_NONE; neg */
    s64 off;                                    /* address offset or immediate */
    u32 site;                                   /* memory: number in sites */
    u16 aux;                                    /* shfl mode, vote mode, barrier flavour ...; lanes: MOD_* of the opcode */
    const struct ptx_insn *src;
};

/* Who looks at the accesses of a version of the code: observers of every access (slow), the race check, the check of initialised values,
 * observers of what writes global memory; indices that wrap (wraps.h). */
enum { WATCH_OBSERVE = 1, WATCH_RACE = 2, WATCH_INIT = 4, WATCH_WRITES = 8, WATCH_WRAPS = 16, WATCH_SETS = 32 };

struct lowered {
    struct arena mem;
    u32 serial;                                 /* never given twice by a sim; it stands at sim.func[serial % FUNCS] */
    struct ptx_func *func;
    struct lop *op; u32 nop;
    struct block *block; u32 nblock;
    struct loop *loop; u32 nloop;
    u32 nreg, words;                            /* registers (those of the text and temporaries of lowering); u64s in a live set */
    u8 *reg_type;                               /* enum ptx_type of each */
    u8 *reg_width;                              /* bytes in the register file: 1 = predicate, 2, 4, 8, 16 */
    u32 *ndef;                                  /* writes of each register */
    u8 *local;                                  /* the register lives within one block only */
    struct root *root;                          /* where an address in it comes from */
    struct site *site; u32 nsite;
    u32 **brx; u32 nbrx;                        /* targets of indirect branches: brx[op.aux][0] is the count */
    bool has_alloca, has_param_address;         /* its frames grow; it takes generic addresses of its parameters */
    u32 local_bytes;                            /* local memory of one call */
    u32 pmem_bytes;                             /* .param memory of one call: its own parameters, results, and those of its calls */
    struct call *call; u32 ncall;
    u32 *arg_off, *ret_off;                     /* where its own parameters and results lie in pmem */
    struct ptx_var **sym; u32 nsym;             /* variables whose address stands in a constant (opnd.reg is the number + 1) */
    u8 *speculated;                             /* by operation: a load of which nothing is used but by selections (RULES.md R8), or a selection that takes from such a SITE_SPECULATED */
    u8 *wraps;                                  /* by operation: WRAP_*; NULL: no index of 32 bits is sign-extended (wraps.h) */
    u8 *hazard;                                 /* by operation: a division or a shift whose second operand is looked at (hazards.c) */
    u8 *wraps_on;                               /* the same, of those that could wrap in some launch so far, and what comes behind them; NULL: all */
    u64 wraps_key; bool wraps_may;              /* shape and parameters of the last launch, as a hash; whether an index can wrap in it */
    bool reads_unwritten;                       /* some path reads a register before anything was written to it */
    u32 *tag; u32 ntag;                         /* registers that carry their object at run time: number + 1 of the tag plane */
    struct code *code[6][2][WATCH_SETS];        /* decoded versions, by log2 of the group, plain, watched; guarded by the sim's lock */
};

struct call {                                   /* a call site */
    struct ptx_func *func;                      /* NULL: indirect through op.a */
    struct call_value { u32 from, size; bool in_register; } *arg, *ret; u32 narg, nret;  /* offsets in the caller's pmem; order of the prototype */
    u8 builtin;                                 /* enum builtin: vprintf and the like */
};
enum builtin { BI_NONE, BI_VPRINTF, BI_ASSERTFAIL, BI_MALLOC, BI_FREE };

struct where { u8 cls, width; u16 slot; s32 stride; };          /* a register in a version */

struct code {                                   /* a decoded version */
    struct lowered *low;
    bool plain;
    u8 watch;                                   /* WATCH_*: who looks at its accesses */
    struct insn *insn; handler **fn, **pure, **tagged;  /* pure: what a blending or guarded handler wraps; tagged: what a tagging one wraps */
    handler **inner;                            /* what the handlers of planes wrap (planes.h) */
    u32 ninsn; u32 *insn_of;                    /* insn_of: by operation */
    struct xblock {                             /* a block as execution sees it */
        u32 start, end;                         /* instructions; the terminator is at end when the block has one */
        u32 next, target;
        u8 term, div;                           /* div: may run with lanes missing */
        u8 next_exits, target_exits;            /* lanes that go there leave the kernel at once */
        u32 steps;                              /* instructions that count, with the terminator */
    } *block;
    struct where *reg;
    s32 *stride;                                /* by slot: stride of an A register */
    u32 bytes, vector;                          /* of the register file; where its vector part starts */
    u32 group, groups;                          /* lanes in a group, groups in a warp */
    struct head { struct opnd o; u16 slot; u8 cls, width; } *head; u32 nhead;   /* what stands in the head: constants, parameters, special registers */
    bool head_by_cta;           /* some of it differs between CTAs: %smid, %clusterid */
};

/* Fixed slots of every register file. */
enum { S_ZERO, S_CTAID_X, S_CTAID_Y, S_CTAID_Z, S_FIRST };
enum { SCRATCH_BYTES = 256, SCRATCHES = 6 };    /* at the start of the vector part: operands spread to 32 lanes, results before blending */
static inline u32 scratch_slot(const struct code *c, u32 k) { return c->vector + k * (SCRATCH_BYTES / 8); }

/* ---- execution ---- */

enum split_state { SP_RUN, SP_RDV, SP_BAR, SP_IDLE, SP_SLEEP };
struct read { const char *ptr; u64 addr, value; u32 op; u8 size, space, lane; };        /* what a spinning split looked at */

struct frame {                                  /* an activation; a tree (cactus stack) when lanes call different functions */
    struct frame *up;
    struct code *code;
    char *R;                                    /* register file */
    char *pmem;                                 /* .param memory, [lane][pmem_bytes] */
    u32 *tags;                                  /* tag planes, 32 object ids each */
    struct planes *planes;                      /* undefined bits of its registers; NULL: fast code, which has none, or not checked */
    struct shadow *init_params;                 /* which bytes of pmem are defined; NULL: all */
    u32 local_base;                             /* offset of its local memory in the thread's stack */
    u32 top;                                    /* bytes that alloca added behind it */
    u32 depth, refs;                            /* refs: splits in it and frames above it */
    u32 ret_block; const struct call *call;     /* where its lanes meet again in `up` */
    struct frame *next_free;
};

struct split {
    u32 mask, block;
    struct frame *fr;
    u8 state, bar;                              /* enum split_state; which barrier */
    u32 missing;                                /* SP_BAR, aligned: lanes of the warp that were elsewhere when it arrived */
    u32 op;                                     /* the operation it waits at */
    u32 rdv;                                    /* SP_RDV: membermask */
    struct read *reads; u32 nreads;             /* SP_IDLE: run again when one differs */
};

struct bar {                                    /* one barrier of a CTA, between two phases all zero */
    u32 need;                                   /* somebody is here */
    u32 arrived;                                /* threads that arrived without waiting */
    u32 expected;                               /* thread count given, 0: all of the CTA */
    u32 whole;                                  /* warps of which every live lane waits */
    bool results;                               /* somebody wants the result of a reduction */
    bool partial;                               /* a split arrived without all lanes of its warp */
    u64 waiting;                                /* warps that arrived without waiting */
    u32 red_and, red_or, red_count;             /* reductions so far */
};
struct probe;                                   /* wait.c: watching a loop for idleness */

enum { LEAVES = 4 };
struct leave { u32 mask, op; struct lowered *in; };     /* lanes that left the kernel, and the operation: a branch to the end, or the exit itself */

struct warp {                                   /* what every block touches comes first */
    char *R;                                    /* register file of the running split's frame */
    u32 mask;                                   /* lanes of the running split */
    u32 live;                                   /* lanes that have not exited */
    u32 limit;                                  /* lowest pending block of this frame: jumps at or beyond it leave the straight line */
    s32 fuel;                                   /* back edges until somebody looks */
    struct code *code;                          /* of the running split's frame */
    struct range *range;                        /* of the worker, by site */
    char *shared;                               /* of the CTA */
    void *race;                                 /* what the race check knows of this warp, NULL: it is off */
    struct shadow *init_global, *init_shared, *init_local;      /* which bytes are defined; NULL: not checked, or all of them */
    struct planes *planes;                      /* of the running split's frame */
    struct cta *cta;
    struct split *cur;                          /* running split */
    struct probe *probe;                        /* not NULL: loads and stores are being recorded */
    bool rare;                                  /* a probe or a trace is on: blocks take the slow way */
    u64 steps;                                  /* warp instructions executed */
    u32 nsplit, id;                             /* id: in the CTA */
    u32 event_at;                               /* instruction that left the straight line */
    u32 came; u8 came_bar;                      /* lanes that came to barrier came_bar without waiting, while others of the warp were elsewhere */
    u32 clocks, syncs;                          /* clock reads, and synchronisations with others: a loop with one is not idle */
    u32 changed;                                /* memory this warp changed since the probe began */
    u32 first_live;                             /* lanes at the start */
    struct leave left[LEAVES]; u32 nleft;       /* where its lanes left, for as many places as there is room; the last one stands for all further ones */
    u32 fuel_next;                              /* size of the next tank */
    u64 counted;                                /* of the steps, in launch.spent */
    struct frame *base;                         /* frame of the kernel */
    struct split split[LANES];
    char *local;                                /* [lane][LOCAL_STACK], mapped when first used */
    struct wraps *wraps;                        /* registers that hold an index that wrapped, NULL: none so far */
    struct copies *copies;                      /* asynchronous copies in flight, NULL: none so far */
    char *fast_R, *plain_R;                     /* the two register files of the kernel frame, kept for the next CTA */
    struct frame base_frame;
    struct planes *base_planes;                 /* of the kernel's frame in plain code */
    u32 print_op;                               /* the call of printf under way */
    bool noting;                                /* the store under way is noted behind its handler (memory_noted) */
    bool retried;                               /* the access under way was tried in fast code: what is wrong with it has been reported */
    struct rendezvous_taints *rdv_taint;        /* with the operands below; NULL: none so far */
    struct frame *free_frames;                  /* of calls that ended, for the next ones */
    u64 rdv_a[LANES]; u32 rdv_b[LANES], rdv_e[LANES];   /* operands of the .sync operation each lane waits at */
    u32 rdv_tag[LANES]; u8 rdv_from[LANES];     /* the object a shuffled pointer points into; the lane that each lane read */
    struct trace *trace;                        /* NULL: this warp is not traced */
    u32 traced[LANES];                          /* the operation each lane waits at whose result is still to be written, plus one; 0: none */
};

struct cta {
    u32 id[3]; u64 linear;
    u32 nwarps, running;                        /* warps not yet done */
    bool exited;                                /* some thread has left */
    bool divergent;                             /* a barrier was found divergent: threads that leave early are then a consequence */
    u32 noted;                                  /* threads that had left when a note said so last */
    struct warp **warp;
    struct bar bar[MAX_BARS]; u32 bars_used;    /* mask of those somebody is at */
    char *shared;
    struct mbarriers *mbarriers;                /* where the valid ones lie (async.c), NULL: none so far */
    struct shadow *init;                        /* which of its bytes are defined; NULL: not checked, or there is none */
    void *race;                                 /* what the race check knows of this CTA */
    struct worker *worker;
    struct launch *launch;
    struct cta *next;                           /* in the parked or free list */
    u8 state;                                   /* CTA_READY: only gave way; CTA_WAIT: every split waits */
    u64 rng;
};
enum { CTA_READY, CTA_WAIT };

struct range {                                  /* what a site may touch */
    u64 lo, size;                               /* address - lo < size */
    u64 view;                                   /* what to add to reach the bytes */
    u64 race;                                   /* to reach the race check's notes on them, 0: it keeps none */
    u64 init;                                   /* epoch of the shadow in which all of it was seen defined (init_fast.h) */
    u32 init_misses, init_after;                /* looks since then; how many must go before the whole is looked at again */
};

struct worker {
    struct launch *launch;
    struct ranges { struct lowered *low; struct range *r; } *func; u32 nfunc, capfunc;     /* what each site may touch, by function */
    struct cta *free, *again;                   /* again: started already, to be run next */
    u64 steps, ctas;                            /* executed; run to their end (read by sim_progress: atomic) */
    u32 turns;
    u64 from, to; bool holds;                   /* CTAs it has claimed and not started; whether it counts in launch.holders */
    struct leave ended[LEAVES]; u32 nended;     /* where threads of CTAs that are over left */
    struct arena mem;                           /* lives as long as the launch */
};

enum { PARK_SCAN = 32, PARK_TURN = 16, LOCAL_STACK = 1 << 19, FUEL_FIRST = 128, FUEL_SOME = 1024, FUEL_MAX = 1 << 16, LOOK_STEPS = 4096 };

struct launch {                                 /* read by all workers all the time; what they write has lines of its own */
    const struct sim_launch *in;
    struct sim *sim;
    struct lowered *kernel;
    struct code *fast, *plain;
    u64 total;                                  /* CTAs */
    u64 order_by, order_from;                   /* the n-th to start is number n * order_by + order_from of them, cut to `total` */
    u32 shaken; u64 rng;                        /* orders from 2 on: who runs gives way at random, the sooner the smaller this is; one worker. 0: not so */
    u32 nwarps, threads, nworkers, batch;       /* of a CTA; batch: CTAs a worker claims at once */
    u64 shared_total, dyn_shared;               /* bytes of a CTA; where the dynamic part starts */
    char *param_copy;                           /* the parameter block, and 8 readable bytes behind it */
    u64 grid_workspace;                         /* 0: not a cooperative launch */
    u64 param_address;                          /* generic address of the parameters, when the kernel takes it */
    u64 serial;                                 /* number of the launch */
    struct writer { u64 addr, value, cta, serial; u32 thread, op; struct lowered *low; } *writers;     /* who changed a lock last: a lossy table of the sim */
    u64 epochs;                                 /* atomic: where the shadow of the next CTA's shared memory starts to count */
    u64 vtime_base;                             /* where clocks start */
    int stop;                                   /* atomic: SIM_* end to take, 0: go on */
    u32 deopts;                                 /* atomic: many of them make later CTAs start in plain code */
    u32 nparked;                                /* written under the lock, read without */
    u32 max_resident;
    struct worker *worker;                      /* nworkers of them */
    struct trace *trace;                        /* trace.c; NULL: none */
    _Alignas(128) u64 next;                     /* atomic: CTA to claim next */
    _Alignas(128) lock_t lock;                  /* guards what follows */
    u32 resident, active;                       /* active: workers inside a CTA or about to take one */
    u32 holders;                                /* workers that have claimed CTAs and not started them all */
    struct cta *parked, *parked_tail;
    struct error *e; lock_t elock;
    u64 vtime;                                  /* atomic: virtual nanoseconds slept */
    u64 spent;                                  /* atomic: warp instructions so far, when there is a budget */
};
enum { WRITERS = 1024 };

enum { FUNCS = 4096 };
struct sim {
    struct mem *mem; const struct profile *profile;
    u32 workers;
    lock_t lock;                                /* decoding, worker pool */
    lock_t wide;                                /* 128-bit atomics */
    struct pool *pool;
    struct writer *writers; u64 serial;
    struct mem_object *workspace;               /* of grid.sync(), made for the first cooperative launch */
    struct mem_object *params;                  /* a copy of the parameters that has an address, for kernels that take it */
    struct launch *running;                     /* guarded by the lock, NULL: none */
    struct origins *origins;                    /* where undefined values came from */
    u32 lowered; struct lowered *func[FUNCS];   /* serials given; the functions they were given to, as long as nobody else took the place */
    u64 heap;                                   /* bytes of device malloc that are not freed (atomic) */
};

/* ---- who does what ---- */
struct lowered *lower_func(struct sim *s, struct ptx_func *f, struct error *e);                 /* lower.c */
const struct ptx_operand *operand_undefined(const struct ptx_insn *i);                         /* the variable or function that no module defines; NULL: all is there */
void shared_layout(struct ptx_module *m);                                                      /* shared.c: once for a program */
const struct ptx_var *shared_variable(const struct ptx_func *kernel, u64 at);                  /* which array an offset lies in; NULL: none */
enum { SHARED_RESERVED = 1024, SHARED_GROUPS = 256 };          /* bytes of shared memory that the system keeps; the part of cooperative groups in it */
u64 *flow_unwritten(struct lowered *l, struct arena *out);
void flow_build(struct lowered *l);                                                            /* flow.c: blocks, order, dominators, loops, liveness */
struct divergence { u8 *div; u8 *cls; s32 *stride; };                                           /* per block; per register */
void classes_find(struct lowered *l, u32 group, struct divergence *out, struct arena *a);    /* classes.c */
void roots_find(struct lowered *l);                                                            /* roots.c */
void speculated_find(struct lowered *l);                                                       /* speculate.c */
void guesses_find(struct lowered *l);
void hazards_find(struct lowered *l);                                                          /* hazards.c */
handler hazards_look;
struct code *decode(struct sim *s, struct lowered *l, const struct sim_launch *in, bool plain, struct error *e);          /* decode.c */
handler lanes_mixed, lanes_blend, lanes_cmp_affine, lanes_guard_affine, roots_tagged;                             /* wrap.c, roots.c */
handler *lanes_cmp_affine_for(const struct isa_form *f, u32 group, bool scalar_right);
enum guard_mode { GUARD_SIGNED, GUARD_UNSIGNED, GUARD_AND, GUARD_SHR_SIGNED, GUARD_SHR_SIGNED64, GUARD_SHR_UNSIGNED, GUARD_SHR_UNSIGNED64 };
handler *memory_handler(const struct site *s, const struct insn *i, u32 group, s32 stride);                 /* memory.c */
handler *async_handler(enum isa_name name);                                                     /* async.c, matrix.c: NULL: not theirs */
handler *matrix_handler(enum isa_name name);
struct async_flight {                           /* a copy that is under way */
    u32 group;                                  /* of its thread, from 1 */
    bool committed;                             /* the group is complete */
    u32 newer;                                  /* groups committed after it: the largest count that a wait for it may have */
    bool waited; u32 wait;                      /* its thread has waited since, and left so many groups in flight */
};
bool async_flight(const struct warp *w, u32 lane, const char *at, struct async_flight *out);    /* into the byte at `at`; false: none */
bool async_covers(const struct cta *c, const char *at, u32 bytes);              /* a copy into some of these bytes is under way */
struct mbarrier_word { u64 phase; u32 arrived, expected; };
struct mbarrier_word async_mbarrier(u64 word);
void async_begin(struct cta *c);
void async_exit(struct warp *w, u32 mask);
void async_reset(struct warp *w);
handler memory_any, memory_watched, memory_noted, mem_hint, mem_isspacep, mem_fence, warp_activemask, warp_sreg, warp_alloca;

/* exec.c */
enum exec_end { EXEC_WAIT, EXEC_YIELD, EXEC_DONE };
enum exec_end exec_warp(struct warp *w);                        /* runs until every split of the warp waits, it gives way, or it is done */
struct split *exec_split(struct warp *w, u32 mask, u32 block, struct frame *fr);
void exec_exit_lanes(struct warp *w, u32 mask, u32 op);
static inline bool launch_stopped(const struct launch *l) { return __atomic_load_n(&l->stop, __ATOMIC_RELAXED) != 0; }
static inline bool launch_interrupted(const struct launch *l) { return l->in->interrupt && __atomic_load_n(l->in->interrupt, __ATOMIC_RELAXED); }
void exec_to_plain(struct warp *w, u32 op);                     /* deopt.c: the kernel frame goes on in plain code; op: the running split stands before it, NONE: at a block */
int exec_one(struct warp *w, u32 at);                           /* the instruction there, as handlers answer; records what it reads while a probe is on */
struct trace *trace_open(struct launch *l, struct error *e);                                    /* trace.c: NULL: e says why */
void trace_close(struct trace *t);
struct trace *trace_warp(const struct warp *w);                 /* of the launch; NULL: this warp is not selected */
int trace_run(struct warp *w, u32 b, u32 at, u32 end);          /* the instructions [at, end) of block b, and what is said about them */
void live_before(const struct lowered *l, u32 block, u32 op, u64 *live);                        /* deopt.c: registers live just before an operation */
u64 opnd_value(const struct warp *w, struct opnd o, u32 lane);  /* schedule.c: of a constant, parameter or special register */
struct range *ranges_of(struct warp *w, struct lowered *l);     /* schedule.c */
void head_fill(struct warp *w, const struct code *c, char *R, u32 local_base);
bool warp_runnable(struct warp *w);

bool sync_arrive(struct warp *w, struct split *s, const struct insn *i);                        /* warpop.c: true: fired, the split may go on */
void sync_recheck(struct warp *w);
bool barrier_arrive(struct warp *w, struct split *s, const struct insn *i);                     /* barrier.c: the same */
void barrier_recheck(struct cta *c);
enum { BAR_SYNC, BAR_ARRIVE, BAR_AND, BAR_OR, BAR_POPC, BAR_ALIGNED = 16 };

enum wait_look { WAIT_GO, WAIT_IDLE, WAIT_YIELD };
enum wait_look wait_fuel(struct warp *w, u32 target);                                           /* wait.c */
s32 wait_tank(struct warp *w, u32 n);                                                           /* wait.c: n back edges until the next look, or fewer */
bool wait_spent(struct warp *w);                                /* counts its steps; the launch was interrupted or has spent its budget, and stops */
bool wait_changed(const struct split *s, const struct warp *w);
void wait_record_read(struct warp *w, u32 op, u32 lane, u8 space, u64 addr, const char *ptr, u32 size, u64 value);
u64 launch_started(const struct launch *l);                                                     /* schedule.c: CTAs that were resident at some time */
void wait_at(struct warp *w, u32 block);                                                        /* a loop is watched, and some lanes come there */
void wait_stop(struct warp *w);                                                                 /* forget the probe */
bool wait_for_host(const struct launch *l);
void wait_verdict(struct launch *l);                                                            /* verdict.c: a deadlock, with its cause */
void wait_report_stopped(struct launch *l);
void leave_note(struct leave *v, u32 *n, struct leave x);                                       /* left.c */
void leave_cta(struct worker *k, const struct cta *c);
bool trap_needs_grid(const struct frame *f, u32 op);         /* the trap of code that finds no grid barrier: it was not launched cooperatively */

bool call_enter(struct warp *w, struct split *s, const struct insn *i, u32 next);               /* call.c: false: a builtin, already done */
void call_return(struct warp *w, struct split *s, u32 mask);
void frame_drop(struct warp *w, struct frame *f);
bool builtin_call(struct warp *w, const struct call *c, const struct insn *i);                  /* builtin.c */
enum builtin builtin_find(struct str name);

void found(struct warp *w, u32 op, struct finding *f, u32 mask);                                /* found.c: fills in place and threads, and adds */
void found_in(struct report *to, const struct warp *w, u32 op, struct finding *f, u32 mask);    /* the same, into another report */
struct place *found_place(struct arena *a, const struct lowered *l, u32 op);
bool found_in_library(const struct lowered *l, u32 op);         /* it stands in a header of cooperative groups or of libcu++ */
void words_find(struct lowered *l);                             /* found.c: SITE_WORD */
u32 found_call(const struct frame *f);
void launch_stop(struct launch *l, int end);                                                    /* the workers take this end; the first one wins */
void launch_fail(struct launch *l, int end, enum error_code code, const struct lowered *low, u32 op, const char *fmt, ...) PRINTF_LIKE(6, 7);
struct ptx_func *func_at(struct launch *l, u64 addr);
char *local_of(struct warp *w);                                                                 /* call.c: the lanes' stacks */
const char *plain_name(struct arena *a, struct str name);                                       /* explain.c */

/* One value into a register that is uniform in each group: the groups that have lanes in the mask. */
void lanes_put_groups(const struct code *c, char *R, u32 slot, u32 mask, u64 v);                /* wrap.c */
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
    for (u32 l = first; l < LANES; l++) if (todo >> l & 1 && v[l] == v[first]) same |= 1u << l;
    return same;
}
/* Reads operand n of an instruction for all lanes, and for one lane. */
void lane_values(const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u64 out[LANES]);                     /* wrap.c */
u64 lane_value(const struct warp *w, const struct code *c, const char *R, u32 slot, u32 cls, u32 width, u32 lane);
#endif
