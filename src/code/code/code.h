/* code.h: a kernel as code, from its lowering to what an engine runs. Data only: no warp, no memory, no schedule.
 *
 * A function is lowered once (lower.c: operations over virtual registers, blocks in reverse post-order, liveness) and
 * decoded for a block shape (decode.c) into two versions of flat code with the same operations:
 *   fast   registers have a class: S, one scalar a warp; A(k), a base per group of gcd(ntid.x, 32) lanes and a
 *          constant stride k; V, 32 lanes. Valid while lanes run in the preferred order (lowest block first).
 *   plain  every register is V. Valid always.
 * Between the two lie the analyses: control flow (flow.c), uniform and affine registers (classes.c), the object
 * behind an address (provenance.c), loads that nobody may need (speculate.c, optimistic.c), loads of flags (polls.c),
 * arithmetic that may overflow on its way to an address (overflow.c, intervals.c), operands to look at (hazards.c),
 * accesses of floats of 16 bits (halves.c). */
#ifndef LOCKSTEP_CODE_H
#define LOCKSTEP_CODE_H
#include "isa/isa.h"
#include "ptx/ptx.h"

enum { LANES = 32 };
#define ALL_LANES 0xffffffffu

enum cls { CLS_V, CLS_S, CLS_A }; /* of an operand; two bits each in insn.cls: d a b c */
#define CLS_AT(i, n) ((i)->cls >> 2 * (n)&3)

/* Lanes read the slots d a b c, and e for a fourth source. Operations of memory and warps have all their operands in
 * a list (insn_dst, insn_src), and of these also the first in slots: d the first result, or what a store takes first,
 * a b c the first three sources. */
struct insn {       /* 32 bytes, no pointers */
    u16 form;       /* of isa.def; of K_INSERTED: enum inserted */
    u8 kind;        /* enum isa_kind, or K_INSERTED */
    u8 flags;       /* IF_* */
    u16 d, a, b, c; /* slots: 8-byte units from the start of the register file */
    u8 cls;         /* classes of d a b c */
    u8 n;           /* scalars to compute: 1 for S, the number of groups for A */
    u16 guard;      /* slot of the guard predicate, 0: none */
    union {
        s64 imm;
        struct {
            s32 off;  /* memory: added to the address */
            u32 list; /* memory, warp: the first of its operands in code.operand */
        };
        struct {
            u32 f; /* lanes: modifiers, MOD_* */
            u16 e; /* slot of the fourth source */
        };
    };
    u32 site; /* number of the memory instruction */
    u32 op;   /* the operation it was made from: source line, liveness */
};
_Static_assert(sizeof(struct insn) == 32, "an instruction is 32 bytes");
enum {
    IF_GUARD_NEG = 1, /* the guard is negated */
    IF_BLEND = 2,     /* lanes that do not take part keep what their register holds */
    IF_TAG = 4,       /* its result has a tag plane (provenance.h) */
    IF_PLAIN_BAR = 8, /* bar.sync of a fixed barrier for all threads; site: its number */
    IF_CLS_E = 4      /* bits 4, 5: class of e */
};
#define CLS_E(i) ((i)->flags >> IF_CLS_E & 3)
/* the kind beyond isa.def: of an instruction that decode puts before another one (decode.h) */
enum { K_INSERTED = 16 };

struct warp;
/* Executes one instruction over the register file R. Returns 0, or an event that leaves the straight line: an engine's
 * own, of which code knows the type only. */
typedef int handler(char *restrict R, const struct insn *i, struct warp *w);
/* All that a handler of lanes knows of a warp: the lanes of the running split, a word that every engine has at this
 * place of its warps. */
enum { WARP_MASK_AT = 8 };
static inline u32 warp_mask(const struct warp *w)
{
    return *(const u32 *)(const void *)((const char *)w + WARP_MASK_AT);
}

#define SLOT(R, s) ((R) + 8 * (size_t)(s))

enum term {
    TERM_FALL,
    TERM_BRA,
    TERM_BRX,
    TERM_CALL,
    TERM_RET,
    TERM_EXIT,
    TERM_TRAP,
    TERM_WARP, /* a .sync operation */
    TERM_WAIT, /* the lanes wait, as block.wait says */
    TERM_SLEEP,
    TERM_UNSUPPORTED
};

/* blocks head..last; parent: number + 1 of the enclosing loop, 0: none; polls: reads memory that others may write;
 * slice: registers its exits depend on, found when first needed (wait.c); clocked: what a clock says is among them */
struct loop {
    u32 head, last, parent;
    bool polls, clocked;
    u64 *slice;
};

struct block {            /* of the lowered function: the same in both versions */
    u32 first, end;       /* operations [first, end); the terminator is the last one, if any */
    u8 term;              /* enum term */
    u8 wait;              /* TERM_WAIT: enum isa_wait; else WAIT_none */
    u8 is_exit;           /* nothing but ret/exit: lanes that branch here leave at once */
    u8 after_publication; /* it follows a publication point: a fence, a release or a strong store */
    u32 next, target;     /* fall-through and branch successor, NONE */
    u32 *succ;
    u32 nsucc; /* all successors */
    u32 *pred;
    u32 npred;
    u32 idom, ipdom;         /* immediate dominator and post-dominator, NONE: none */
    u32 loop;                /* innermost loop + 1, 0: none */
    u64 *live_in, *live_out; /* bit sets over virtual registers */
};
#define NONE 0xffffffffu

/* Special registers beyond the manual's: the base of dynamic shared memory, and of the frame's local memory. */
enum { SR_DYN_SHARED = SR_COUNT, SR_LOCAL_BASE };
/* site.space of .param variables that belong to calls, not to the kernel */
#define SP_CALL SP_REG

enum opnd_kind { O_NONE, O_REG, O_CONST, O_PARAM, O_SREG };
/* opnd.comp of a constant: what is added to it when a warp is set up. */
enum {
    CONST_SHARED_WINDOW = 1, /* where generic addresses of shared memory begin */
    CONST_LOCAL_WINDOW,
    CONST_PARAMS, /* the launch's copy of the parameters */
    CONST_SHARED  /* where the shared memory of the CTA begins in the window of its cluster */
};
struct opnd {     /* an operand before it has a slot */
    u8 kind, neg; /* neg: of a guard */
    /* SREG: component; CONST: 1, 2, 3: add the base of the shared, local window, of the parameters */
    u16 comp;
    /* REG: number; SREG: id; CONST: number + 1 in lowered.sym, 0: just a number */
    u32 reg;
    u64 value; /* CONST: bits; PARAM: offset */
};

/* Which object an address was made from (rules.md B). */
enum provenance_kind {
    FROM_UNSET, /* no definition seen yet, while provenance.c iterates */
    FROM_NONE,  /* a plain number */
    FROM_PARAM, /* the pointer in the kernel parameter at `off` */
    FROM_VAR,   /* the variable `var` */
    FROM_TAG,   /* the text does not tell: its register has a tag plane */
    FROM_MIXED  /* arithmetic between two pointers */
};
struct provenance {
    u8 kind;             /* enum provenance_kind */
    bool is_start;       /* FROM_VAR: the address is that of its first byte */
    bool mapped;         /* FROM_VAR: or the same place in another CTA of the cluster (mapa) */
    u32 off;             /* FROM_PARAM: of the parameter */
    struct ptx_var *var; /* FROM_VAR */
};

struct site {     /* a memory instruction, whatever the version */
    u8 access;    /* ISA_READS, ISA_WRITES, ISA_ATOMIC, ISA_FETCHES */
    u8 space;     /* enum ptx_space */
    u8 width;     /* bytes of one element in memory */
    u8 reg_width; /* bytes of one element in the register */
    u8 vec;       /* elements */
    u8 is_signed, is_float;
    u8 sem, scope; /* enum mem_sem, enum mem_scope */
    u8 atom;       /* enum atom_op */
    u8 type;       /* enum ptx_type */
    u8 addr_width; /* bytes of the address in its register: 4 or 8 */
    /* alignment it needs when its bytes do not say: half of a 32-byte access, a copy that reads less, a length */
    u8 align;
    /* the source that is the address: 0, 1 for what an asynchronous copy reads, 2 for the mbarrier that it signals */
    u8 which;
    /* of elements of b16, b32 or b64: T_F16 or T_BF16 where the code uses them so, T_B16 of a load whose value only
     * moves on (halves.c); else T_NONE */
    u8 holds;
    u8 length;  /* the source that says how many bytes a lane accesses, in `align`; 0: width * vec */
    u8 surplus; /* bytes at the end of a vector load that nobody reads (speculate.c) */
    u16 flags;  /* SITE_* */
    /* of a load whose value only those lanes use in which a predicate is true: 2 * register + negated + 1; 0: all may
     * (unneeded.c); late: the predicate is made of the thread's number, and may be written after the load */
    u32 needed_by;
    bool needed_late;
    struct provenance prov; /* the object that its address was made from */
    u32 op;
};
enum {                         /* site.flags */
       SITE_NC = 1,            /* ld.nc */
       SITE_UNCACHED = 2,      /* .cg, .cv, .wt: what old code takes for volatile (rules.md R5c) */
       SITE_SPECULATED = 4,    /* a load that observers may put off until a selection takes its value (R8) */
       SITE_OPTIMISTIC = 8,    /* a load whose value a compare-and-swap then verifies (R2) */
       SITE_WORD = 16,         /* a strong access of libcu++ to 8 or 16 bits: it stands for the word they lie in (R2) */
       SITE_FLAG = 32,         /* an uncached access in a function with fences: it may be a flag (R5c) */
       SITE_POLLED = 64,       /* a volatile load whose value decides whether its loop ends: it reads a flag (R2b) */
       SITE_CLUSTER = 128,     /* .shared::cluster: it may reach the shared memory of other CTAs of the cluster */
       SITE_DISTRIBUTED = 256, /* other CTAs may reach the shared memory that it accesses */
       SITE_BULK = 512,        /* of a bulk copy: its bytes come from an operand or a map, aligned to `align` */
       SITE_LOCAL_ADDRESS = 1024, /* a store of an address of local memory (rules.md B10) */
       SITE_MATRIX_ROWS = 2048,   /* of a wmma.load that ptxas makes ldmatrix of: rows begin at multiples of 16 bytes */
       SITE_MATRIX_COLUMNS = 4096, /* the same of columns */
       SITE_DECIDES = 8192         /* as SITE_POLLED, by its own value, not by standing in the same statement */
};
enum mem_sem { SEM_WEAK, SEM_VOLATILE, SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL };
enum mem_scope { SCOPE_CTA, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYS };
enum { RED_SIGNED = 1, RED_FLOAT = 2, RED_ABS = 4, RED_NAN = 8 }; /* redux, in op.off: how its operands compare */
/* op.aux of mbarrier operations: of cp.async.mbarrier.arrive; it releases, or acquires, nothing; its arrivals must not
 * complete the phase; its operand is a number of bytes to expect (expect_tx), of bytes that have come (complete_tx) */
enum { MBAR_NOINC = 1, MBAR_RELAXED = 2, MBAR_NO_COMPLETE = 4, MBAR_EXPECT = 8, MBAR_BYTES = 16 };
/* op.aux of tensor copies, beside the rank; from bit TENSOR_ATOM_SHIFT on the atom_op of a reduction */
enum {
    TENSOR_RANK = 7,
    TENSOR_IM2COL = 8,
    TENSOR_STORE = 16,
    TENSOR_REDUCE = 32,
    TENSOR_ROWS = 64,         /* four rows of a matrix */
    TENSOR_PAIR = 128,        /* .cta_group::2: the mbarrier may be that of the peer CTA */
    TENSOR_WIDE = 1 << 12,    /* .im2col::w: pixels of one row of each image */
    TENSOR_WIDE_128 = 1 << 13 /* .im2col::w::128: 128 of them */
};
enum { TENSOR_ATOM_SHIFT = 8 };
/* op.aux of what is said of a tensor map in global memory: it was changed; a fence makes the change known */
enum map_event { MAP_CHANGED, MAP_ACQUIRED };
/* beside the scope in op.aux: orders no accesses between threads; membar and fence.sc; of shared memory and the async
 * proxy; fence.mbarrier_init */
enum { FENCE_PROXY = 16, FENCE_SC = 32, FENCE_ASYNC = 64, FENCE_MBARRIER = 128 };
/* op.aux of isspacep: the space, and whether it is .shared::cluster */
enum { ISSPACEP_CLUSTER = 1 << 8 };
/* op.aux of barriers; how many barriers a CTA has */
enum { BAR_SYNC, BAR_ARRIVE, BAR_AND, BAR_OR, BAR_POPC, BAR_ALIGNED = 16, MAX_BARS = 16 };
/* bytes of local memory that a thread has, for all functions that it is in */
enum { LOCAL_STACK = 1 << 19 };
enum atom_op { AT_ADD, AT_EXCH, AT_MIN, AT_MAX, AT_AND, AT_OR, AT_XOR, AT_CAS, AT_INC, AT_DEC };

/* One operation of a lowered function. Its operands are a list of any length, results first. Rows of lanes have one
 * result and the sources of their syntax. Others:
 *   load, ldmatrix    results: the elements         sources: address
 *   store, stmatrix                                 sources: address, the elements
 *   atom, red         results: the old value        sources: address, the operands of the row
 *                     (128 bits: lower and upper half of each, one after the other)
 *   cp.async                                        sources: where to, where from, how many bytes are read
 *   mbarrier          results: state or truth       sources: address, count or state
 *   bulk copies                                     sources: where to, where from, mbarrier, bytes, a mask of CTAs or,
 *                                                   to global memory, of bytes of each 16 (SRC_BULK_*)
 *   tensor copies                                   the same: shared memory, the map, mbarrier, 0, CTAs, then five
 *                                                   coordinates and three offsets
 *   st.async, red.async                             sources: where to, mbarrier, the elements (SRC_ASYNC_*)
 *   mma               results: d                    sources: a, b, c, and the metadata of a sparse a
 *   warp              results: value, predicate     sources: value, lane, member mask, clamp (SRC_*)
 *   bar               results: of the reduction     sources: number, count, predicate
 * An element that goes nowhere (_ in the text), and a source that an operation does without, is O_NONE. */
struct lop {
    s32 form;          /* of isa.def; -1: unsupported, named when reached */
    u16 name;          /* enum isa_name */
    u8 kind;           /* enum isa_kind */
    u8 shape;          /* enum isa_shape of the form */
    bool dead;         /* a copy that was propagated: nothing executes it, who read its result reads its source */
    u64 flags;         /* ISA_* of the form */
    u16 ndst, nsrc;    /* results and sources */
    struct opnd *opnd; /* ndst results, then nsrc sources */
    struct opnd guard; /* O_REG or O_NONE; neg */
    s64 off;           /* address offset or immediate */
    u32 site;          /* memory: number in sites */
    union {
        u32 aux;   /* what the words of the opcode say, by kinds of operations: BAR_*, MBAR_*, FENCE_*, TENSOR_* ... */
        u32 mods;  /* lanes: MOD_* */
        u32 table; /* brx: its targets in lowered.brx */
        u32 product; /* ISA_MMA: its form in lowered.mma */
    };
    const struct ptx_insn *src;
};
enum { SRC_ASYNC_TO, SRC_ASYNC_MBARRIER, SRC_ASYNC_DATA, SRC_ASYNC_MOST = SRC_ASYNC_DATA + 4 };
enum { SRC_BULK_TO, SRC_BULK_FROM, SRC_BULK_MBARRIER, SRC_BULK_BYTES, SRC_BULK_MASK, SRC_BULK_MORE };
/* op.aux of clusterlaunchcontrol.query_cancel: whether there was a cluster to cancel, or a coordinate of its first CTA.
 */
enum { CANCEL_DONE, CANCEL_X, CANCEL_Y, CANCEL_Z };
/* op.aux of ldmatrix and stmatrix: registers, and what they hold. */
enum {
    MATRIX_COUNT = 15,
    MATRIX_TRANS = 16, /* by columns */
    MATRIX_BYTES = 32, /* elements of 8 bits, else of 16 */
    MATRIX_TALL = 64,  /* m16n16: two registers a matrix */
    MATRIX_B6 = 128,   /* in memory an element has 6 bits */
    MATRIX_B4 = 256    /* or 4 */
};
enum { SRC_ADDRESS = 0, SRC_DATA = 1, SRC_LENGTH = 1, SRC_VALUE = 0, SRC_LANE = 1, SRC_MEMBERS = 2, SRC_CLAMP = 3 };

extern const struct opnd opnd_none; /* operands.c */
/* Result k, source k of an operation; opnd_none after the last. */
static inline const struct opnd *lop_dst(const struct lop *o, u32 k) { return k < o->ndst ? &o->opnd[k] : &opnd_none; }
static inline const struct opnd *lop_src(const struct lop *o, u32 k)
{
    return k < o->nsrc ? &o->opnd[o->ndst + k] : &opnd_none;
}
/* The results are what was loaded, and there is no source but the address. */
static inline bool lop_gives_data(const struct lop *o)
{
    return o->flags & (ISA_ACCESS | ISA_MATRIX) && !(o->flags & ISA_WRITES);
}
/* Element k of what a memory operation loads, or of what it stores or combines. */
static inline const struct opnd *lop_data(const struct lop *o, u32 k)
{
    return lop_gives_data(o) ? lop_dst(o, k) : lop_src(o, SRC_DATA + k);
}

/* EACH_DEF, EACH_USE: loops over the registers r that an operation writes, and reads (its guard, too). */
static inline bool lop_next_def(const struct lop *o, u32 *k, u32 *r)
{
    while (!o->dead && *k < o->ndst) {
        const struct opnd *x = &o->opnd[(*k)++];
        *r = x->reg;
        if (x->kind == O_REG) return true;
    }
    return false;
}
static inline bool lop_next_use(const struct lop *o, u32 *k, u32 *r)
{
    while (!o->dead && *k <= o->nsrc) {
        const struct opnd *x = *k ? &o->opnd[o->ndst + *k - 1] : &o->guard;
        ++*k;
        *r = x->reg;
        if (x->kind == O_REG) return true;
    }
    return false;
}
#define EACH_DEF(r, o) for (u32 at_##r = 0, r = 0; lop_next_def((o), &at_##r, &r);)
#define EACH_USE(r, o) for (u32 at_##r = 0, r = 0; lop_next_use((o), &at_##r, &r);)

/* An asynchronous product of a warpgroup; an operation that orders those, by enum wgmma_order. */
static inline bool lop_is_wgmma(const struct lop *o) { return (o->flags & ISA_GROUP) && (o->flags & ISA_MMA); }
static inline bool lop_orders_wgmma(const struct lop *o, u32 how)
{
    return (o->flags & ISA_GROUP) && !(o->flags & ISA_MMA) && o->aux == how;
}

/* What an access does to memory: a load reads and a store writes, an atomic does both at once; it fetches when its
 * result is the old value (atom), or not (red). */
static inline bool site_is_load(const struct site *s) { return !(s->access & ISA_WRITES); }
static inline bool site_is_store(const struct site *s) { return !(s->access & ISA_READS); }
static inline bool site_is_atomic(const struct site *s) { return s->access & ISA_ATOMIC; }
static inline bool site_fetches(const struct site *s) { return s->access & ISA_FETCHES; }
/* The same of an operation that is one access a lane (ISA_ACCESS). */
static inline bool lop_is_load(const struct lop *o) { return (o->flags & (ISA_ACCESS | ISA_WRITES)) == ISA_ACCESS; }
static inline bool lop_is_store(const struct lop *o) { return (o->flags & (ISA_ACCESS | ISA_READS)) == ISA_ACCESS; }
static inline bool lop_is_atomic(const struct lop *o) { return o->flags & ISA_ATOMIC; }
static inline bool lop_fetches(const struct lop *o) { return o->flags & ISA_FETCHES; }

/* What a version of the code is watched for. */
enum {
    WATCH_OBSERVE = 1,   /* an observer wants a record of every access: the slow way */
    WATCH_RACE = 2,      /* the race check */
    WATCH_INIT = 4,      /* the check of initialised values */
    WATCH_WRITES = 8,    /* an observer wants what writes global memory */
    WATCH_OVERFLOW = 16, /* indices that overflow (overflow.h) */
    WATCH_SETS = 32      /* how many sets there are */
};

/* The operation touches a register that an asynchronous product may have; it may store to shared memory, and the
 * function has operations that read shared memory by the async proxy; it writes a register that a product has, with no
 * wgmma.fence on some way there. */
enum { TOUCHES_PRODUCT = 1, STORES_FOR_ASYNC = 2, WRITES_UNFENCED = 4 };

struct lowered {
    struct arena mem;
    u32 serial; /* never given twice by a table; it stands at func_table.func[serial % FUNCS] */
    struct ptx_func *func;
    struct lop *op;
    u32 nop;
    struct block *block;
    u32 nblock;
    struct loop *loop;
    u32 nloop;
    /* registers (those of the text and temporaries of lowering); u64s in a live set */
    u32 nreg, words;
    u8 *reg_type;            /* enum ptx_type of each */
    u8 *reg_width;           /* bytes in the register file: 1 = predicate, 2, 4, 8, 16 */
    u32 *ndef;               /* writes of each register */
    const u32 *def;          /* of each the one operation that writes it, or NONE; NULL: nobody asked (unneeded.c) */
    u8 *local;               /* the register lives within one block only */
    struct provenance *prov; /* the object that an address in it was made from */
    /* arrays in its frame of local memory, by offset, where only the code tells (provenance.c); 0: none are known */
    struct ptx_var *frame_part;
    u32 nframe_part;
    struct site *site;
    u32 nsite;
    /* loads of __constant__ and __device__ variables by their names */
    struct var_load {
        u32 site;
        /* atomic: whether an instruction of the program may change the variable; 0: nobody has looked (unset.c) */
        enum { MAY_CHANGE_NOT = 1, MAY_CHANGE } change;
    } * var_load;
    u32 nvar_load;
    u32 **brx;
    u32 nbrx;                           /* targets of indirect branches: brx[op.table][0] is the count */
    bool has_alloca, has_param_address; /* its frames grow; it takes generic addresses of its parameters */
    u32 local_bytes;                    /* local memory of one call */
    /* .param memory of a lane: its own parameters and results, and those of the functions it calls */
    u32 pmem_bytes;
    struct mma *mma; /* the forms of matrix products that it has, by lop.product (mma.h) */
    struct call *call;
    u32 ncall;
    u32 *arg_off, *ret_off; /* where its own parameters and results lie in pmem */
    /* variables whose address stands in a constant (opnd.reg is the number + 1) */
    struct ptx_var **sym;
    u32 nsym;
    /* by operation: a load of which nothing is used but by selections (rules.md R8), or a selection that takes from
     * such a SITE_SPECULATED */
    u8 *speculated;
    /* by operation: OVERFLOW_*; NULL: no index of 32 bits is sign-extended (overflow.h) */
    u8 *overflow;
    /* by operation: a division or a shift whose second operand is looked at (hazards.c) */
    u8 *hazard;
    u8 *in_flight; /* by operation: TOUCHES_PRODUCT, STORES_FOR_ASYNC, WRITES_UNFENCED (in_flight.c) */
    /* lowered.overflow of the operations that can overflow in some launch so far, and of those that use their results;
     * NULL: all are watched */
    u8 *overflow_on;
    u64 overflow_key;     /* a hash of shape and parameters of the last launch */
    bool overflow_may;    /* an index can overflow in that launch */
    bool has_infinity;    /* an infinity is among its constants */
    bool has_nan;         /* a NaN, as CUDART_NAN and NAN write it */
    u8 unseen;            /* as what its stores are not looked at on their way to global memory: MEM_AS_* */
    bool reads_unwritten; /* some path reads a register before anything was written to it */
    /* registers that carry their object at run time: number + 1 of the tag plane */
    u32 *tag;
    u32 ntag;
    /* decoded versions, by log2 of the group, plain, watched; guarded by the sim's lock */
    struct code *code[6][2][WATCH_SETS];
};

/* The functions that were lowered for one engine. */
enum { FUNCS = 4096 };
struct func_table {
    u32 serial;                  /* the last one given */
    struct lowered *func[FUNCS]; /* by serial % FUNCS: the last function that took the place */
};

struct call {              /* a call site */
    struct ptx_func *func; /* NULL: indirect through the first source */
    /* indirect: the prototype that the call names, or the first function of its .calltargets */
    const struct ptx_func *proto;
    /* offsets in the caller's pmem; order of the prototype */
    struct call_value {
        u32 from, size;
        bool in_register;
    } * arg, *ret;
    u32 narg, nret;
    u8 builtin;  /* enum builtin: vprintf and the like */
    bool system; /* of the device runtime: by the name that libcudadevrt calls, whose errors have their own numbers */
};
enum builtin {
    BI_NONE,
    BI_VPRINTF,
    BI_ASSERTFAIL,
    BI_MALLOC,
    BI_FREE,
    BI_CONDITION, /* sets the condition of a graph */
    /* the device runtime, by which kernels launch kernels (device_runtime.c) */
    BI_RUNTIME,
    BI_BUFFER = BI_RUNTIME, /* a parameter buffer, for a launch of that shape */
    BI_LAUNCH,              /* launches with such a buffer */
    BI_BUFFER_PLAIN,        /* a parameter buffer of that alignment and size */
    BI_LAUNCH_PLAIN,        /* launches a kernel of that shape with such a buffer */
    BI_TAKE_ERROR,          /* the last error, which is cleared */
    BI_PEEK_ERROR,
    BI_SET_ERROR,
    BI_STREAM_CREATE,
    BI_STREAM_DESTROY,
    BI_STREAM_WAIT,
    BI_EVENT_CREATE,
    BI_EVENT_RECORD,
    BI_EVENT_DESTROY,
    BI_DEVICE,
    BI_DEVICES,
    BI_ATTRIBUTE,
    BI_LIMIT,
    BI_RESIDENT /* CTAs of a kernel that fit on a multiprocessor */
};

struct where {
    u8 cls, width;
    u16 slot;
    s32 stride;
}; /* a register in a version */

struct insn_opnd { /* an operand in a version */
    u16 slot;
    u8 cls;   /* enum cls */
    u8 width; /* bytes of the register; 0: there is no operand (O_NONE) */
};

enum { CODE_LAYERS = 12 }; /* of handlers around an instruction, at most */
struct code {              /* a decoded version */
    struct lowered *low;
    bool plain;
    u8 watch; /* WATCH_*: who looks at its accesses */
    struct insn *insn;
    u32 ninsn;
    u32 *insn_of; /* by operation: the first instruction made from it */
    /* An engine's side arrays, by instruction: what executes it; of each layer around it, what that one calls. */
    handler **fn, **under[CODE_LAYERS];
    const void *bound_for; /* an engine's own: what the handlers were chosen for beside `watch`; NULL: not yet chosen */
    struct code *variant;  /* the same code with other handlers; NULL: none */
    struct xblock {        /* a block as execution sees it */
        u32 start, end;    /* instructions; the terminator is at end when the block has one */
        u32 next, target;
        u8 term, wait, div;          /* div: may run with lanes missing */
        u8 next_exits, target_exits; /* lanes that go there leave the kernel at once */
        u32 steps;                   /* instructions that count, with the terminator */
    } * block;
    struct insn_opnd *operand; /* the lists of all instructions: results, then sources, as in lop.opnd */
    struct where *reg;
    s32 *stride;       /* by slot: stride of an A register */
    u32 bytes, vector; /* of the register file; where its vector part starts */
    u32 group, groups; /* lanes in a group, groups in a warp */
    /* what stands in the head: constants, parameters, special registers */
    struct head {
        struct opnd o;
        u16 slot;
        u8 cls, width;
    } * head;
    u32 nhead;
    bool head_by_cta; /* some of it differs between CTAs: %smid, %clusterid */
};

/* Result k, source k of an operation of memory or a warp; k is below lop.ndst, lop.nsrc. */
static inline const struct insn_opnd *insn_dst(const struct code *c, const struct insn *i, u32 k)
{
    return &c->operand[i->list + k];
}
static inline const struct insn_opnd *insn_src(const struct code *c, const struct insn *i, u32 k)
{
    return &c->operand[i->list + c->low->op[i->op].ndst + k];
}
/* Element k of what a memory operation loads, or of what it stores or combines. */
static inline const struct insn_opnd *insn_data(const struct code *c, const struct insn *i, u32 k)
{
    return lop_gives_data(&c->low->op[i->op]) ? insn_dst(c, i, k) : insn_src(c, i, SRC_DATA + k);
}

/* Fixed slots of every register file. */
enum { S_ZERO, S_CTAID_X, S_CTAID_Y, S_CTAID_Z, S_FIRST };
/* at the start of the vector part: operands spread to 32 lanes, results before blending */
enum { SCRATCH_BYTES = 256, SCRATCHES = 6 };
static inline u32 scratch_slot(const struct code *c, u32 k) { return c->vector + k * (SCRATCH_BYTES / 8); }
#endif
