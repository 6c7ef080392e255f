/* planes.h: initialised values (rules.md I), inside the machine.
 *
 * Fast code has no planes. Its loads ask the shadow of the memory (mem/shadow.h) whether all their bytes are defined,
 * its stores define theirs; a load of an undefined byte deoptimises the warp and is executed again in plain code. Plain
 * code keeps a *plane* beside each register that has undefined bits in some lane: which bits, which of them arithmetic
 * made, and where they came from. A frame counts its planes in use; while there are none, an instruction pays for one
 * test.
 *
 *   planes.c       planes, and the origins that taints point to
 *   init_lane.c    what the lane operations do to them, by the rule in the row of isa.def
 *   init_memory.c  loads, stores and atomics: between planes and shadows
 *   init_warp.c    shuffles, calls, and the uses that are reported: branches, guards, votes, addresses
 *   init_choice.c  branches that are none: both ways only compute */
#ifndef LOCKSTEP_PLANES_H
#define LOCKSTEP_PLANES_H
#include "mem/shadow.h"
#include "sim/access.h"

struct plane { /* of one register; a predicate uses bit 0 of its taints */
    u32 lanes; /* that have undefined bits */
    struct taint t[LANES];
};

struct planes {                   /* of a frame's registers */
    u32 dirty;                    /* planes with lanes in them */
    u32 vector, n;                /* slot where the vectors start; entries of `of` */
    struct plane **of;            /* by place (plane_place); NULL: never needed */
    u32 undecided, branch[LANES]; /* lanes at an undefined branch that only chooses; its block */
};

struct rendezvous_taints { /* operands of the .sync operation each lane waits at */
    u32 lanes;             /* that brought undefined bits */
    struct taint t[LANES];
    u8 index[LANES]; /* the lane to read from is itself undefined */
};

/* A predicate or scalar has one slot, a vector 8 at least. */
static inline u32 plane_place(const struct planes *p, u32 slot)
{
    return slot < p->vector ? slot : p->vector + (slot - p->vector) / 8;
}
/* The lanes of a register that have undefined bits. */
static inline u32 plane_lanes(const struct planes *p, u32 slot)
{
    const struct plane *x = p->of[plane_place(p, slot)];
    return x ? x->lanes : 0;
}
static inline struct taint plane_taint(const struct planes *p, u32 slot, u32 lane)
{
    const struct plane *x = p->of[plane_place(p, slot)];
    return x && x->lanes >> lane & 1 ? x->t[lane] : (struct taint){ 0 };
}
static inline struct taint taint_all(u32 bits, u32 origin)
{
    return (struct taint){ low_bits(bits), low_bits(bits), origin };
}

struct planes *planes_new(const struct code *c); /* NULL: no memory */
void planes_free(struct planes *p);
void planes_reset(struct planes *p);
void planes_put(struct planes *p, u32 slot, u32 mask, const struct taint t[LANES]); /* lanes of mask get these */
void planes_clear(struct planes *p, u32 slot, u32 mask);

/* ---- origins: where an undefined value came from, kept as long as the sim ---- */

enum {                            /* flags in the origin of a taint */
       ORIGIN_PENDING = 1u << 31, /* loaded from an undefined address: reported when a selection takes the value (R8) */
       ORIGIN_CHOSEN = 1 << 30,   /* one of two defined values, chosen by an undefined condition (init_choice.c) */
       ORIGIN_SCALED = 1 << 29,   /* a value that was never written, shifted by a count that is not whole bytes */
       ORIGIN_FLAGS = ORIGIN_PENDING | ORIGIN_CHOSEN | ORIGIN_SCALED
};

struct origin {
    const struct place *place; /* where it was first read; NULL: a register that was never written */
    const char *text;          /* "read from tile (shared memory), which nobody had written" */
    const char *name;          /* the allocation, array, register or its variable */
    const char *fix;
    const struct raw_register *raw; /* a register whose variable has not been looked for yet (origin_get); NULL: none */
    const struct place *stored;     /* the store that carried it on; NULL: none */
    const struct place *branch;     /* the branch on it that decided the value (init_choice.c); NULL: none */
    const char *kernel;             /* of that store */
    const char *call;               /* of a library's operator that read it; NULL: it was a kernel */
    struct launch_origin host;      /* the host's side of the launch of that store; nth 0: nothing is known */
    u32 launch;                     /* of the load or that store, of several (report_launch) */
    /* of the load, or of the operation that carried it on: where a pending address was used */
    u32 op;
    u32 root;          /* the origin that was carried on; its own number otherwise */
    u64 key;           /* the same for the same text and place: what one cause is */
    struct span_read { /* what the smallest thread read there, in bytes of the object */
        u64 cta;
        u32 thread;
        u64 from, to; /* to 0: not known */
        u32 width;    /* of one read */
    } read;
    u64 low, high; /* of shared or global memory: the addresses that all threads read there; high 0: none */
    bool shared;   /* they are of shared memory */
    bool is_word;  /* no byte of it is padding: a value of a register, or what loads of single words read, whole */
};
struct origins;
struct origins *origins_new(void);
void origins_free(struct origins *o);
const struct origin *origin_get(const struct origins *o, u32 id);
/* an undefined byte that was never stored, read by this access; `whole`: so are all that it reads */
u32 origin_of_memory(const struct access *a, u32 lane, bool whole);
/* fills in where a value of that origin was read */
void origin_bytes(const struct origins *o, const struct origin *of, struct finding *f);
u32 origin_of_register(struct warp *w, const struct lowered *l, u32 reg);
u32 origin_of_shuffle(struct warp *w, const struct lowered *l, u32 op);
u32 origin_of_tensor(struct warp *w, const struct lowered *l, u32 op); /* a cell of tensor memory that nobody wrote */
/* the same, carried on by that store, or by a load from an address made of it */
u32 origin_stored(struct warp *w, u32 op, u32 origin);
/* the same, of a value that a branch on it has decided */
u32 origin_decided(struct warp *w, u32 op, u32 origin);

/* ---- the code ---- */

handler init_lane;       /* a lane operation in plain code with planes */
handler init_result;     /* another operation with a defined result */
handler init_terminator; /* the uses of the terminator behind it */
/* their condition is undefined, and the branch only chooses: true, done */
bool init_choice(struct warp *w, const struct insn *i, u32 lanes);
/* those on one of the ways of such a branch: what they write is as computed as before */
u32 init_undecided(const struct warp *w, const struct insn *i, u32 lanes);
handler init_memory, init_watched; /* an access in plain code with planes; the same by the common path only */
/* a frame begins: its planes and local memory are as at birth */
void init_frame(struct warp *w, struct frame *f, u32 mask);
void init_alloca(struct warp *w, u64 from, u64 bytes, u32 mask);
bool init_shadows(struct cta *c); /* makes those of a new CTA; false: no memory */
void init_cta(struct cta *c);     /* shared memory is raw again */

bool init_defined(const struct access *a); /* every byte of the lanes that may go on */
void init_define(const struct access *a, u32 lanes);
void init_before(struct access *a, const char *R); /* with planes: address and guard are used */
void init_load(struct access *a, const char *R);
void init_store(struct access *a, const char *R);
void init_atomic(struct access *a, const char *R);
/* n bytes, 8 at most, at an offset of what a lane accesses. */
struct taint init_read(const struct access *a, u32 lane, u64 offset, u32 n);
void init_write(const struct access *a, u32 lane, u64 offset, u32 n, struct taint t);
void init_gather(struct warp *w, const struct insn *i, u32 mask);
/* some lane reads an undefined value, and the kernel's frame has nowhere to keep it */
bool init_needs_planes(const struct warp *w, u32 absent);
void init_scatter(struct warp *w, const struct split *s, const struct insn *i, const struct lop *o, u32 who,
                  u32 absent);
void init_call(const struct frame *up, struct frame *f, const struct call *c, u32 mask);
/* its arguments are used, its result is defined */
void init_builtin(struct warp *w, struct frame *f, const struct call *c, u32 op);
void init_return(const struct frame *f, struct frame *up, u32 mask);
struct shadow *init_params(struct frame *f); /* of its parameters, made if need be, all defined */
void init_close(struct cta *c);              /* frees what the CTA and its warps made */
void init_close_frame(struct frame *f);
/* The shadow that speaks of this lane's address, and the address in it; NULL: always defined. */
struct shadow *init_shadow(const struct warp *w, u32 space, u32 lane, u64 addr, u64 *at);

/* Reports a use of the register in the lanes of mask that have undefined bits there, and takes them for defined from
 * then on. */
enum init_use { USE_BRANCH, USE_GUARD, USE_ADDRESS, USE_ATOMIC, USE_PRINT, USE_OUTPUT };
void init_use(struct warp *w, u32 op, enum init_use use, u32 slot, u32 mask, const char *what);
void init_report(struct warp *w, u32 op, enum init_use use, u32 mask, const struct taint t[LANES], const char *what);

/* ---- what the fast handlers of loads and stores (memory_fast.h) do; i and w are in scope ----
 *
 * A site's range remembers in which epoch of the shadow all of it was defined. While that is so, an access costs one
 * comparison, and the handler stays a function that calls nothing. Otherwise it hands over to init_unknown, which
 * checks the bytes: a load of an undefined byte deoptimises, a store defines its own bytes; the access itself is then
 * done by the handler without this check. So in handlers of several checks this one comes first. */

handler init_unknown; /* init_memory.c */
/* init_fast.c: for launches without another check of accesses */
handler *init_handler(const struct site *s, const struct insn *i, u32 group, s32 stride);

#define INIT_FIRST(sp)                                                              \
    do {                                                                            \
        if (unlikely(r->init != w->init_##sp->epoch)) return init_unknown(R, i, w); \
    } while (0)
#endif
