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
 *   init_choice.c  branches that do not count: both ways only compute */
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
    const void *raw_of;           /* the lowered kernel whose registers `raw` is about; NULL: none */
    u64 raw_serial;               /* of the launch that it is of */
    u32 *raw;                     /* origins of registers that are raw at birth, in their order */
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

void planes_free(struct planes *p);
void planes_fill(struct planes *p, u32 slot, struct taint t); /* all lanes get this, which is undefined */

/* ---- origins: where an undefined value came from, kept as long as the sim ---- */

enum {                            /* flags in the origin of a taint */
       ORIGIN_PENDING = 1u << 31, /* loaded from an undefined address: reported when a selection takes the value (R8) */
       ORIGIN_CHOSEN = 1 << 30,   /* one of two defined values, chosen by an undefined condition (init_choice.c) */
       ORIGIN_SCALED = 1 << 29,   /* a value that was never written, shifted by a count that is not whole bytes */
       ORIGIN_FLAGS = ORIGIN_PENDING | ORIGIN_CHOSEN | ORIGIN_SCALED
};

struct origin {
    const struct place *place; /* where it was first read; NULL: a register that was never written */
    const char *text;          /* "read from tile (shared memory), which was never written" */
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
const struct origin *origin_get(const struct origins *o, u32 id);
/* fills in where a value of that origin was read */
void origin_bytes(const struct origins *o, const struct origin *of, struct finding *f);
u32 origin_of_register(struct warp *w, const struct lowered *l, u32 reg);
u32 origin_of_shuffle(struct warp *w, const struct lowered *l, u32 op);
/* the same, carried on by that store, or by a load from an address made of it */
u32 origin_stored(struct warp *w, u32 op, u32 origin);
/* the same, of a value that a branch on it has decided */
u32 origin_decided(struct warp *w, u32 op, u32 origin);

/* ---- the code ---- */

/* Terminators: their condition is undefined, and the branch only chooses: true, done */
bool init_choice(struct warp *w, const struct insn *i, u32 lanes);
/* blocks on one side of such a branch: results there stay as defined as before */
u32 init_undecided(const struct warp *w, const struct insn *i, u32 lanes);
struct shadow *init_params(struct frame *f); /* of its parameters, made if need be, all defined */
enum init_use { USE_BRANCH, USE_GUARD, USE_ADDRESS, USE_ATOMIC, USE_PRINT, USE_OUTPUT };

/* ---- what the fast handlers of loads and stores (memory_fast.h) do; i and w are in scope ----
 *
 * A site's range remembers in which epoch of the shadow all of it was defined. While that is so, an access costs one
 * comparison, and the handler stays a function that calls nothing. Otherwise it hands over to init_unknown, which
 * checks the bytes: a load of an undefined byte deoptimises, a store defines its own bytes; the access itself is then
 * done by the handler without this check. So in handlers of several checks this one comes first. */

handler init_unknown; /* init_memory.c */

#define INIT_FIRST(sp)                                                              \
    do {                                                                            \
        if (unlikely(r->init != w->init_##sp->epoch)) return init_unknown(R, i, w); \
    } while (0)
#endif
