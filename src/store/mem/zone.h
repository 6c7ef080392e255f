/* zone.h: the inside of mem, shared by its files.
 *
 * The arena has three zones: plain (device memory, variables, heap), pinned and managed. The way from an address
 * to the engine's view of it is one constant a zone. The host zones exist twice, as views of one file in memory. Of the
 * plain zone only the engine's view is memory: a host that uses a device pointer faults, as on silicon.
 *
 * A zone is handed out from below in regions. A region is never split, merged or moved: freed, it waits in
 * quarantine, then on the free list of its size, and is used again as a whole. So the list of regions is sorted by
 * address for ever and only grows at its end, and a reader needs no lock: it takes the count, searches, and reads the
 * region's object pointer. */
#ifndef LOCKSTEP_ZONE_H
#define LOCKSTEP_ZONE_H
#include "mem/mem.h"
#include "mem/shadow.h"
#include "mem/sites.h"
#include <stdatomic.h>

/* A table whose entries never move: chunk k holds FIRST << k of them. Readers may look at any entry below a count they
 * have read with acquire. */
enum { STABLE_FIRST = 1024, STABLE_CHUNKS = 22 };
struct stable {
    void *_Atomic chunk[STABLE_CHUNKS];
};
static inline void *stable_at(const struct stable *t, u32 i, size_t size)
{
    u32 j = i + STABLE_FIRST, k = 31 - (u32)__builtin_clz(j) - 10;
    u8 *p = atomic_load_explicit(&t->chunk[k], memory_order_acquire);
    return p + (size_t)(j - ((u32)STABLE_FIRST << k)) * size;
}
/* Makes entry i exist, zeroed; false: no memory. Entries come in order. */
bool stable_reach(struct stable *t, u32 i, size_t size);
void stable_free(struct stable *t);

enum { ZONE_PLAIN, ZONE_PINNED, ZONE_MANAGED, ZONES };
enum { REGION_NONE = 0xffffffff, SIZE_CLASSES = 320 };

struct region {       /* a piece of a zone that holds at most one object */
    u64 start, bytes; /* with the red zone after the object; the one before it is the previous region's */
    struct mem_object *_Atomic object; /* who is or was here last; NULL only before the first */
    u32 next;                          /* in the quarantine or on a free list; REGION_NONE: last */
};

struct region_list { /* first in, first out, so that an address rests as long as it can */
    u32 head, tail;  /* REGION_NONE: empty */
};

struct zone {
    u64 from, to;         /* its addresses */
    u64 next;             /* where the next new region starts */
    u64 usable;           /* end of what can be accessed; grows in chunks */
    u64 engine;           /* from an address to the engine's view */
    bool shared;          /* the host may use the addresses, too; else only the engine's view is there */
    struct shadow *init;  /* grows with it; NULL: none */
    int file;             /* host zones: the file behind both views, -1 before the first use */
    struct stable region; /* struct region, sorted by start */
    atomic_uint regions;  /* entries of it */
    struct region_list free[SIZE_CLASSES]; /* left the quarantine, by size */
    struct region_list quarantine;
    u64 quarantined;      /* bytes there */
    u32 quarantine_count; /* regions there */
};

/* Registered memory (registered.c): objects over memory of the host's own, sorted by their start. Readers take no lock:
 * they read `version` before and after, and search again when it was odd or has changed. */
struct registry {
    struct mem_object **_Atomic list; /* `count` of them */
    atomic_uint count;
    atomic_uint version; /* odd while the list changes */
    u32 capacity;        /* of the list */
    u32 freed;           /* of them unregistered, kept for reports */
    void *old[32];       /* lists that were too small: a reader may still look at them */
    u32 olds;            /* of them */
};

struct usage {
    atomic_ullong live; /* bytes in live objects */
    u64 peak;           /* the most there were; under the lock */
};

struct mem {
    u64 base, bytes; /* the reservation */
    u64 shared_window, local_window;
    lock_t lock; /* held by who changes anything */
    struct zone zone[ZONES];
    struct stable object;              /* struct mem_object, by id - 1 */
    atomic_uint objects;               /* ids given */
    u32 unnamed;                       /* of them without a name of their own */
    struct usage usage[MEM_KINDS + 1]; /* by kind; then all of them */
    struct sites sites;                /* all of them by the place of their allocation */
    atomic_uint generation;
    struct registry registry;
    struct arena text;     /* names and sites */
    struct map texts;      /* of them those that are kept once */
    const char *recent[8]; /* texts that were kept last: many objects have the same */
    u32 nrecent;           /* texts kept so far */
    struct shadow init;    /* of the plain zone */
    u64 quarantine_budget; /* bytes a zone keeps from being used again */
    struct physical {
        int file;         /* of all physical memory, -1: none yet */
        u64 bytes;        /* of the file */
        u64 live;         /* of them in use */
        struct gap *gap;  /* pieces that were given back */
        u32 gaps, capgap; /* of them */
    } physical;
};

/* mem.c */
struct mem_object *object_at(const struct mem *m, u32 id);
const char *text_keep(struct mem *m, const char *z); /* with the lock; NULL of NULL */
/* mem.c: the name of an object that was given this one or NULL; before: what is used again, or NULL */
const char *name_make(struct mem *m, const char *name, const struct mem_object *before);
void live_add(struct mem *m, const struct mem_object *o);
void live_remove(struct mem *m, const struct mem_object *o);
u64 object_distance(const struct mem_object *o, u64 addr); /* bytes between; 0: it is in it or at its end */

/* virtual.c */
void physical_close(struct mem *m);

/* registered.c: as mem_find and mem_near, for addresses that are in no zone. */
struct mem_object *registered_find(const struct mem *m, u64 addr);
struct mem_object *registered_near(const struct mem *m, u64 addr);
void registry_free(struct registry *r);
void registered_end(struct mem *m, struct mem_object *o); /* what is lent is no longer there */
/* mem_register, or mem_lend. What is lent gives way to what the program registers. */
struct mem_object *registered_enter(struct mem *m, u64 addr, u64 bytes, const char *name, const char *site, u8 lent,
                                    struct mem_object **other, struct error *e);

/* space.c: the reservation and its division. */
bool space_reserve(struct mem *m, struct error *e);
void space_release(struct mem *m);
bool zone_reach(struct zone *z, u64 to);           /* makes everything below `to` usable; false: refused */
void zone_empty(struct zone *z, u64 from, u64 to); /* gives whole pages between back to the system */
#endif
