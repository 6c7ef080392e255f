/* race_list.h: lists: sectors whose accesses are recorded one by one, exactly (race_list.c). */
#ifndef LOCKSTEP_RACE_LIST_H
#define LOCKSTEP_RACE_LIST_H
#include "race/race_set.h"

struct cell;

/* Operations of an entry. OP_ASYNC: an asynchronous copy in flight. */
enum { OP_READ = 0, OP_WRITE = 1, OP_STRONG = 2, OP_ASYNC = 4 };

struct list_entry { /* one access of a warp to a sector, exactly */
    u64 a;          /* es and kind say who accessed which byte */
    u32 bytes;      /* of the sector, as a mask */
    u32 whole;      /* a strong access: bytes of the vector that it is an element of, otherwise its own */
    u32 lanes;      /* kind WHO_WARP: its members; 0: unknown (simple kernels) */
    u32 site;       /* of the instruction */
    u8 op, scope;   /* OP_*; of a strong access: enum scope */
    u32 id, write; /* a strong write of a kernel that is not simple: its location and its number there (race_clock.h) */
};

/* Strong accesses to one location. All of a list have one size and include each other, so that none conflicts with
 * another: who made them is a set. */
struct strong_at {
    u32 bytes, whole, id; /* as in list_entry */
    u32 set;              /* the accesses, a reader set with strong members */
};
struct list {
    struct list_entry *e; /* the other accesses, the oldest first */
    u32 n, cap;           /* how many; room for how many */
    u32 touched;          /* bytes of the sector that entries have, or had */
    u32 ops;              /* OP_ bits that entries have, or had */
    u32 strongly;         /* bytes that the sets of s have */
    struct strong_at *s;  /* by location */
    u32 ns, caps;         /* how many; room for how many */
    u32 size;             /* of the accesses in s, in bytes */
    u32 latest;           /* none of them is later than this time */
};

void list_drop(const struct touch *t, struct cell *c); /* gives up the list of a cell */
/* an access to a sector with a list; the list is made if need be */
void list_access(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes);
/* asks for the memory of a list (stage 0), then for that of its entries (stage 1) */
void list_prefetch(const struct touch *t, const struct cell *c, u32 stage);
/* the last write of this launch to those bytes; false: there is none */
bool list_last_write(const struct touch *t, struct cell *c, u32 bytes, struct list_entry *old);
void list_insert(const struct touch *t, struct cell *c, struct list_entry e); /* an access that is checked already */
/* the copy of a lane into those bytes is done: its entries become writes of that thread now */
void list_copy_done(const struct touch *t, struct cell *c, u32 bytes, u32 lane, u64 done);
#endif
