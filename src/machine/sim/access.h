/* The access record: every memory instruction that is not on the fast path, and every one that an observer wants to
 * see, becomes one of these, built once per warp instruction. */
#ifndef LOCKSTEP_ACCESS_H
#define LOCKSTEP_ACCESS_H
#include "sim/machine.h"

#define TAG_MIXED 0xffffffffu
/* The tag of a pointer to the local memory of another thread: this and the number of the thread in the grid. */
#define TAG_LOCAL 0x80000000u
static inline bool tag_is_local(u32 t) { return t & TAG_LOCAL && t != TAG_MIXED; }

enum access_shape { SHAPE_U, SHAPE_A, SHAPE_V };
struct access {
    const struct site *site;
    const struct insn *insn;
    struct warp *warp;
    u32 mask;    /* lanes that take part */
    u32 ok;      /* lanes that passed the checks */
    u32 wrote;   /* of them, those that write; a CAS that fails does not */
    u32 pending; /* loads: lanes whose address is undefined, to be reported when their value is picked */
    /* lanes whose address is one of several defined ones, chosen by an undefined condition (init_choice.c) */
    u32 chosen;
    u8 shape;         /* enum access_shape */
    u8 space[LANES];  /* enum ptx_space of each lane: a generic access may reach several */
    u32 bytes;        /* of one lane: width * vec */
    u64 addr[LANES];  /* as the program has it: an address, or an offset in shared or local memory */
    char *ptr[LANES]; /* where the bytes are, valid for lanes in ok */
};

/* What the check of an access (access.c) found for each lane; those who report it are in ask.def. */
enum lane_fault {
    FAULT_NONE,
    FAULT_PAST,
    FAULT_NEIGHBOUR,
    FAULT_NULL_POINTER,
    FAULT_INVALID,
    FAULT_FREED,
    FAULT_RESERVED, /* its stream-ordered allocation has not run yet */
    FAULT_UNMAPPED, /* reserved addresses without memory, or memory without a right to it */
    FAULT_READ_ONLY,
    FAULT_MISALIGNED,
    FAULT_SHARED_PAST,
    FAULT_LOCAL_PAST,
    FAULT_NO_CTA,        /* shared memory of a CTA that the cluster has not */
    FAULT_FOREIGN_LOCAL, /* an address of local memory that another thread has handed out */
    FAULT_CTA_GONE,      /* shared memory of a CTA of the cluster whose threads have all left */
    FAULTS
};

struct lane_check { /* what was found for one lane */
    u8 fault;
    bool stops;                      /* its check is off, and a GPU would stop the kernel all the same */
    bool done;                       /* the access is performed all the same, as a GPU does */
    u32 thread;                      /* FOREIGN_LOCAL: whose, by its number in the grid */
    bool strict;                     /* the pointer came from `object`; otherwise only the address says so */
    struct mem_object *object, *hit; /* the object the pointer came from; the one the access falls into */
    const struct ptx_var *var;       /* shared or local array */
    const struct cta *owner;         /* of the shared memory; NULL: there is none */
    u64 lo, size;                    /* legal range in shared or local memory */
    u64 closed_at;                   /* FAULT_UNMAPPED: the first byte that is */
    struct report *held;             /* where it is reported; NULL: in the launch's report (moved_pointer.c) */
};

/* Puts the address operand of the site into addr: register of any class, plus the offset. */
void access_addresses(struct access *a, const char *R);
/* How many bytes that lane is to access. */
u64 access_length(const struct access *a, const char *R, u32 lane);
/* The same as access_check where the address came out of memory and nothing is wrong with any lane; false: nothing was
 * done. */
bool access_tagged(struct access *a);
/* Fills addr, checks every lane (bounds with provenance, alignment), reports, sets ok and ptr. */
void access_check(struct access *a);
/* What its address must be a multiple of: half of a 32-byte access asks for what the whole needs. */
static inline u64 access_align(const struct access *a)
{
    const struct site *s = a->site;
    return s->align > a->bytes || s->length || s->flags & SITE_BULK ? s->align : a->bytes;
}
/* the object that a global address must stay inside, NULL: none */
const struct mem_object *access_owner(const struct access *a, u32 lane);
/* What each site of a function may touch, by site, kept by the worker: shared arrays are filled in, the rest as it
 * is reached. */
struct range *ranges_of(struct warp *w, struct lowered *l);
/* The same. Most kernels have one function, and CTAs no cluster. */
static inline struct range *ranges_get(struct warp *w, struct lowered *l)
{
    const struct worker *k = w->cta->worker;
    bool first = likely(k->nfunc && k->func[0].low == l && k->func[0].rank == w->cta->rank);
    return first ? k->func[0].r : ranges_of(w, l);
}
bool access_is_host_visible(const struct warp *w, u64 addr);
/* 1, 2, 4 or 8 bytes that other threads may be writing. */
static inline u64 load_strong(const char *p, u32 width)
{
    switch (width) {
    case 1: return __atomic_load_n((const u8 *)p, __ATOMIC_ACQUIRE);
    case 2: return __atomic_load_n((const u16 *)(const void *)p, __ATOMIC_ACQUIRE);
    case 4: return __atomic_load_n((const u32 *)(const void *)p, __ATOMIC_ACQUIRE);
    default: return __atomic_load_n((const u64 *)(const void *)p, __ATOMIC_ACQUIRE);
    }
}
#endif
