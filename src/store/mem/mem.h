/* mem: all device-visible memory, in one reserved arena.
 *
 * Device pointers are addresses of the process. Allocations are objects with red zones on both sides, so that [base,
 * end] names exactly one of them; freed ones stay in quarantine and are still recognised. Addresses repeat from run
 * to run. Layout of the arena, from its base: a guard, the generic windows of shared and local memory, then
 * allocations. */
#ifndef LOCKSTEP_MEM_H
#define LOCKSTEP_MEM_H
#include "base/scalar.h"

enum mem_kind {
    MEM_DEVICE,
    MEM_PINNED,
    MEM_MANAGED,
    MEM_GLOBAL, /* variables of a module */
    MEM_CONST,
    MEM_HEAP,       /* of device malloc */
    MEM_POOL,       /* of a stream-ordered allocation */
    MEM_REGISTERED, /* the host's own, made usable by the device; in no zone of the arena */
    MEM_VIRTUAL,    /* reserved addresses, to which memory is mapped (virtual.c) */
    MEM_KINDS
};
enum mem_state {
    MEM_LIVE,
    MEM_FREED,
    MEM_RESERVED /* the address is known, the operation that allocates has not run */
};

/* mem_object.loaded_as, stored_as, odd: integers are one thing, bits that may be floats another */
enum { MEM_AS_F32 = 1, MEM_AS_F64 = 2, MEM_AS_F16 = 4, MEM_AS_BF16 = 8, MEM_AS_INT = 16, MEM_AS_BITS = 32 };
enum { MEM_AS_FLOATS = MEM_AS_F32 | MEM_AS_F64 | MEM_AS_F16 | MEM_AS_BF16 };
enum { MEM_SEEN = 2 }; /* floats that stores are looked at as: f32, f64 */
struct mem_object {
    u64 base, size; /* [base, base + size) are its bytes */
    /* what to add to an address to reach the engine's view (0 of registered memory) */
    u64 engine;
    /* what to add to an address to reach the race check's notes on it; 0: there are none for this launch */
    u64 race;
    u64 reads;   /* the same of an object that the launch only reads (race_reads.h); 0: it is not, or race leads to them
                  */
    u32 tracked; /* the race check's number for it, + 1; 0: it has no cells */
    u32 id;      /* 0 is no object; used again with the region, after quarantine, by memory of the same kind */
    u32 born;    /* mem_generation when it was allocated */
    enum mem_kind kind;
    enum mem_state state;               /* read with acquire: another thread may free */
    const char *name;                   /* "x", or "buffer 3" when it was given no name */
    const char *type;                   /* "f32[1000]" or NULL */
    u32 element_size;                   /* 0: unknown */
    u64 pitch;                          /* bytes from a row to the next, as the allocation was asked for; 0: no rows */
    bool given;                         /* a variable: it has an initialiser, or the host wrote to it */
    u8 odd;                             /* atomic: MEM_AS_* of floats; taken for such, NaN or infinity was seen in it */
    bool numbered;                      /* it was given no name, or a mark, and has a number */
    bool kept;                          /* its region stays its own while it is freed (mem_rest) */
    u8 lent;                            /* MEM_REGISTERED: enum mem_lent; 0: by the program */
    bool closed;                        /* atomic: of a pool of the host, and the device has no right to it */
    bool let_go;                        /* atomic: of a pool, and freed by a call that waits for nothing */
    void *pool;                         /* the device's note of memory of a pool, or NULL */
    struct mem_maps *maps;              /* MEM_VIRTUAL: what is mapped there; else NULL */
    u64 defined;                        /* atomic: epoch of the shadow in which mem_define saw to all of it; 0: none */
    u64 read_by, written_by;            /* atomic: number of the last launch that did, where its sites tell; 0: none */
    u8 loaded_as, stored_as;            /* atomic: MEM_AS_*, by what launches did, as far as their sites tell */
    u64 finite[MEM_SEEN];               /* atomic: mem_unseen when no element was odd as f32, as f64; 0: not known */
    const char *alloc_site, *free_site; /* text or NULL */
};

struct mem;
struct mem *mem_new(struct error *e); /* one arena a process is the rule; several work, at other bases */
void mem_delete(struct mem *m);
/* NULL: refused, e says why. align: power of two, 0 = 256. Contents are zero pages the first time, never promised. */
struct mem_object *mem_alloc(struct mem *m, u64 bytes, u64 align, enum mem_kind kind, const char *name,
                             const char *site, struct error *e);
enum mem_free_result { MEM_FREE_OK, MEM_FREE_TWICE, MEM_FREE_BAD };
enum mem_free_result mem_free(struct mem *m, u64 addr, const char *site, struct mem_object **object);
/* An allocation in two steps: the address now, MEM_RESERVED, and the memory with mem_start, when its bytes are
 * undefined. mem_rest ends it but keeps its region, so that mem_start may follow again; mem_free ends it for good in
 * any state. */
struct mem_object *mem_reserve(struct mem *m, u64 bytes, u64 align, enum mem_kind kind, const char *name,
                               const char *site, struct error *e);
void mem_start(struct mem *m, struct mem_object *o);
void mem_rest(struct mem *m, struct mem_object *o, const char *site);
/* Registered memory: an object over memory that is not of the arena. NULL: e says why; a part of it is in another live
 * object: *other is that one. mem_unregister: as mem_free; addr is where it starts. */
struct mem_object *mem_register(struct mem *m, u64 addr, u64 bytes, const char *name, const char *site,
                                struct mem_object **other, struct error *e);
enum mem_free_result mem_unregister(struct mem *m, u64 addr, const char *site, struct mem_object **object);
/* Of a card that can use pageable memory (lent.c): the host's memory at an address becomes an object, as if it were
 * registered: the block of malloc or the variable that begins there, or else what the process has around it. One that
 * is there is looked at again. NULL: nothing can be read and written there. */
enum mem_lent { MEM_LENT_BLOCK = 1, MEM_LENT_MAPPING };
struct mem_object *mem_lend(struct mem *m, u64 addr, const char *name);
void mem_describe(struct mem *m, struct mem_object *o, const char *name, const char *type, u32 element_size);
/* An object that has only a number is called so where no variable of the host is found for it; the first name stays. */
void mem_call(struct mem *m, struct mem_object *o, const char *name);
/* The object, live or freed, with base <= addr <= base + size; NULL: none. Lock-free, callable while others allocate.
 */
struct mem_object *mem_find(const struct mem *m, u64 addr);
/* Whether the address lies in the arena, inside an object or not. */
bool mem_covers(const struct mem *m, u64 addr);
/* The nearest object below or above, for reports; NULL: none. */
struct mem_object *mem_near(const struct mem *m, u64 addr);
struct mem_object *mem_by_id(const struct mem *m, u32 id);
/* The type of its elements by its description "f32[100]"; NULL: not known. */
const struct scalar *mem_scalar(const struct mem_object *o);
/* Another thread may free it at any time: the answer is of this moment. */
static inline bool mem_is_live(const struct mem_object *o)
{
    return __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_LIVE;
}
/* ---- addresses without memory, and memory without addresses (virtual.c) ---- */

/* Reserved addresses are an object, MEM_VIRTUAL. Physical memory is mapped there in granules, with rights; the same
 * memory may be mapped at several addresses. The calls below have one caller at a time for each object (dev_virtual.c
 * holds a lock); mem_rights and mem_run may be called at any time. */
#define MEM_GRANULE (2ull << 20)
enum { MEM_MAPPED = 1, MEM_READABLE = 2, MEM_WRITABLE = 4 }; /* of a granule */
struct mem_physical {
    u64 offset, bytes; /* in the file of the arena */
    u32 mappings;      /* how often it is mapped */
    u64 first;         /* where, if it is once */
    bool used;         /* it was mapped before: what is in it is not known */
    void *owner;       /* of who made it */
};
struct mem_mapping {
    u64 at, bytes;
    struct mem_physical *physical;
};
struct mem_object *mem_virtual_new(struct mem *m, u64 bytes, u64 align, const char *name, const char *site,
                                   struct error *e);
struct mem_physical *mem_physical_new(struct mem *m, u64 bytes, struct error *e); /* NULL: e says why */
void mem_physical_delete(struct mem *m, struct mem_physical *p);                  /* it is mapped nowhere */
bool mem_map(struct mem *m, struct mem_object *o, u64 at, u64 bytes, struct mem_physical *p, struct error *e);
void mem_unmap(struct mem *m, struct mem_object *o, const struct mem_mapping *x); /* *x is gone afterwards */
void mem_protect(struct mem *m, struct mem_object *o, u64 at, u64 bytes, u32 rights);
/* The mapping that has an address; NULL: none. */
const struct mem_mapping *mem_mapping_at(const struct mem_object *o, u64 addr);
const struct mem_mapping *mem_mappings(const struct mem_object *o, u32 *n); /* in order of their addresses */
u32 mem_rights(const struct mem_object *o, u64 addr);                       /* of the granule of an address */
/* The run of granules around an address that have all of these rights, no more than some to either side; false: the
 * address has not. An object of another kind is one run. */
bool mem_run(const struct mem_object *o, u64 addr, u32 rights, u64 *lo, u64 *bytes);
/* The next run at or after an address that has memory, or, `ever`, had some; false: there is none. */
bool mem_run_next(const struct mem_object *o, u64 from, bool ever, u64 *lo, u64 *bytes);

/* Makes all bytes of an object zero, without touching pages that can be given back instead. */
void mem_zero(struct mem *m, const struct mem_object *o);
u64 mem_bytes_live(const struct mem *m);
u64 mem_bytes_of(const struct mem *m, enum mem_kind kind); /* live ones of one kind */
struct mem_usage {
    u64 live, peak; /* bytes in live objects, and the most there were at a time */
};
struct mem_usage mem_usage(struct mem *m, enum mem_kind kind); /* MEM_KINDS: of all kinds together */
struct site_usage;
/* The places of allocation that held most when there were most bytes, at most `most` of them (sites.h). How many. */
u32 mem_sites(struct mem *m, struct site_usage *out, u32 most);
/* changes with every alloc and free: what is cached by it is stale then */
u32 mem_generation(const struct mem *m);
/* Engine's view of host-visible bytes. */
static inline void *mem_view(const struct mem_object *o, u64 addr) { return (void *)(uintptr_t)(addr + o->engine); }
/* The address whose byte the engine sees at `view`. */
u64 mem_address(const struct mem *m, u64 view);

/* Which bytes of device memory are defined (mem/shadow.h). Device and heap memory is born raw, variables and what the
 * host sees are not covered or defined. */
struct shadow *mem_shadow(struct mem *m);
/* All of an object counts as defined from now on: somebody has written to it who does not say where. */
void mem_define(struct mem *m, struct mem_object *o);
/* The same for every live object. */
void mem_define_all(struct mem *m);

/* Values that are stored are looked at on their way, as f32 or f64, so that finite memory need not be read for it. How
 * often something may have been stored somewhere unseen, or odd, as the k-th of those; from 1 on. */
u64 mem_unseen(u32 k);
void mem_unseen_add(u8 as); /* once more, as what: MEM_AS_* */
/* Nothing is known of its values any more. */
void mem_unseen_in(struct mem_object *o);

/* Generic windows: an address in one of them is shared or local memory of the thread that uses it. */
enum { MEM_WINDOW_CTA = 1 << 24, MEM_WINDOW_CTAS = 16 }; /* bytes of shared window per CTA of a cluster, as on cards */
u64 mem_shared_window(const struct mem *m); /* MEM_WINDOW_CTAS * MEM_WINDOW_CTA bytes, aligned to its size */
u64 mem_local_window(const struct mem *m);  /* MEM_LOCAL_BYTES */
#define MEM_LOCAL_BYTES (1ull << 30)
#endif
