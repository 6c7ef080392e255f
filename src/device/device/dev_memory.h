/* dev_memory.h: the memory of a device: what an address is, copies and fills, stream-ordered pools, managed memory,
 * several devices, leaks.
 *
 *   dev_memory.c    kinds, registered memory, pitched allocations; what an address is, on which device; leaks
 *   dev_copy.c      copies and fills of one to three dimensions: checked against objects first, then run
 *   dev_pool.c      pools of stream-ordered allocation on the software GPU
 *   dev_virtual.c   reserved addresses, and memory that is mapped there
 *   dev_managed.c   the host's accesses to managed memory while a kernel is in flight
 *
 * Kinds (mem/mem.h), with the pointer that the host has for each; device and host use the same address:
 *
 *   MEM_DEVICE      none
 *   MEM_POOL        none: device memory of a stream-ordered allocation
 *   MEM_PINNED      its address; write-combined memory is the same
 *   MEM_MANAGED     its address
 *   MEM_REGISTERED  its address: memory of the host's own, between dev_register and dev_unregister
 *
 * Any thread may call. */
#ifndef LOCKSTEP_DEV_MEMORY_H
#define LOCKSTEP_DEV_MEMORY_H
#include "device/dev_async.h"

/* ---- kinds ---- */

/* The pointer of the host to an address of this object; NULL: its kind has none. */
static inline void *dev_host_pointer(const struct mem_object *o, u64 address)
{
    bool visible = o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED;
    return visible ? (void *)(uintptr_t)address : NULL;
}
extern const char *const dev_kind_name[MEM_KINDS]; /* "pinned memory" */

/* Makes memory of the host usable by the device, at its own address. 0, or 712 (a part of it is registered already),
 * 1 (nothing is mapped there, or it cannot be written), 2, 801 (the device cannot). */
u32 dev_register(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
                 struct error *e);
/* `host` is what was registered. 0, 713, or 1: it is in the middle of such memory. No kernel and copy in flight may use
 * it: the caller waits for them first. */
u32 dev_unregister(struct device *d, void *host, const char *site, struct error *e);
/* those of the software GPU */
u32 sim_pin(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
            struct error *e);
u32 sim_unpin(struct device *d, void *host, const char *site, struct error *e);

/* Device memory starts at multiples of DEV_ALIGN, as textures need; what takes whole pages of a GPU has pages of its
 * own there, which some programs count on (Taichi). */
enum { DEV_ALIGN = 512, DEV_PAGE = 2 << 20 };
static inline u64 dev_align(u64 bytes) { return bytes >= DEV_PAGE ? DEV_PAGE : DEV_ALIGN; }
enum { DEV_PITCH = 512 }; /* rows of pitched memory start at multiples of this */
#define DEV_PITCH_MOST 2147483647ull
/* Memory of rows: slices * rows of `width` bytes, *pitch apart. NULL: e says why. */
struct mem_object *dev_alloc_pitched(struct device *d, u64 width, u64 rows, u64 slices, const char *name,
                                     const char *site, u64 *pitch, struct error *e);

/* ---- what an address is ---- */

struct dev_address {
    struct device *device;     /* whose memory it is */
    struct mem_object *object; /* live, reserved or freed */
    u64 offset;                /* of the address in it */
    void *host;                /* the host's pointer to it, or NULL */
};
/* The object of `d` that contains an address, or else that of any other device of this process. false: it is
 * in none. */
bool dev_address(struct device *d, u64 address, struct dev_address *out);
/* "x+0x10 of device 1 (NVIDIA L4)", "memory of the host that no device has registered", ...: where an address is that
 * is in no object of `d`, for a message. */
void dev_address_text(struct device *d, u64 address, char *out, size_t size);
/* The object of `d` with all of [address, address + bytes), which is not freed (stream-ordered memory whose allocation
 * has not run yet counts). NULL: e has the sentence. */
struct mem_object *dev_range(struct device *d, u64 address, u64 bytes, struct error *e);

/* Reserved addresses: whether memory that the device may use (or write) is mapped at all of them; false: e has the
 * sentence. Memory of another kind is always there. */
bool dev_mapped(const struct mem_object *o, u64 address, u64 bytes, bool write, struct error *e);

/* Live bytes of one kind, or of all (MEM_KINDS), and the most there were at a time. */
struct mem_usage dev_usage(const struct device *d, enum mem_kind kind);

/* ---- several devices ---- */

/* Devices are numbered from 0 in the order of dev_new; a number is used again when its device is gone. */
void dev_attach(struct device *d); /* dev_new and dev_delete call these */
void dev_detach(struct device *d);
bool dev_alone(void); /* the process has one device */
/* false: a parameter of this launch points into memory of another device, and e names both. A test of one counter while
 * the process has one device. */
bool dev_pointers_own(struct device *d, const struct dev_launch *l, struct error *e);

/* ---- copies and fills ---- */

/* OP_INVALID_VALUE, with the sentence in e. */
u32 dev_refused(struct error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* One side of a checked copy. */
struct dev_side {
    struct device *device;     /* whose memory it is, or NULL: memory of the host that no device knows (pageable) */
    struct mem_object *object; /* or NULL, with device */
    u64 address;               /* of the first byte, as the program sees it */
    u8 *bytes;                 /* the same for this process; NULL: memory of a real GPU */
    u64 pitch, slice;          /* bytes from a row, a slice, to the next */
};
struct dev_copy_plan {
    struct dev_side to, from;
    u64 width, rows, slices; /* all at least 1; or all 0: nothing to do */
};
struct dev_fill_plan {
    struct dev_side to;
    u32 value, bytes;        /* the pattern, 1, 2 or 4 bytes */
    u64 width, rows, slices; /* width in bytes; 0: nothing to do */
};
union dev_plan { /* by the kind of its task */
    struct dev_copy_plan copy;
    struct dev_fill_plan fill;
};
/* Holds a copy against the objects of both sides: 0, or a status and one sentence, which names the row that does not
 * fit. A pointer of the host that is in pinned, managed or registered memory of the device is found as such. */
u32 dev_copy_plan(struct device *d, const struct dev_copy *c, struct dev_copy_plan *out, struct error *e);
u32 dev_fill_plan(struct device *d, const struct dev_fill *f, struct dev_fill_plan *out, struct error *e);
/* Software GPU: does it. Bytes that are undefined in the source are undefined in the destination, with their origin;
 * what the host gave is defined. */
void dev_copy_run(const struct dev_copy_plan *p);
void dev_fill_run(const struct dev_fill_plan *p);
/* Calls `range` for each run of bytes of a side, in order of their addresses; rows without a gap are one run. */
void dev_side_each(const struct dev_side *s, u64 width, u64 rows, u64 slices,
                   void (*range)(void *self, u64 from, u64 bytes), void *self);

/* ---- pools of the software GPU (struct dev_pool is private to dev_pool.c) ---- */

/* An allocation has its address from the call on (sim_pool_alloc, MEM_RESERVED), is usable when its operation has run
 * (sim_pool_start, MEM_LIVE) and gone when its free has run (sim_pool_end, MEM_FREED). `stream` is stream_id of the
 * stream: an allocation may take the room of what is freed before it in the same stream. No address is used again
 * before it has rested in the quarantine of mem, whatever the room of the pool. */
/* most: bytes; 0: no limit. kind: MEM_POOL, MEM_PINNED or MEM_MANAGED. */
u32 sim_pool_new(struct device *d, u64 most, enum mem_kind kind, struct dev_pool **out, struct error *e);
u32 sim_pool_delete(struct dev_pool *p, struct error *e); /* gone when its last allocation is; not the default pool */
u32 sim_pool_trim(struct dev_pool *p, u64 keep, struct error *e);
u32 sim_pool_threshold(struct dev_pool *p, u64 bytes, struct error *e);
void sim_pool_access(struct dev_pool *p,
                     bool allowed);                  /* whether the device may use memory of the host; at first yes */
struct dev_pool *sim_pool_default(struct device *d); /* NULL: no memory */
u32 sim_pool_current(struct device *d, struct dev_pool *p, struct error *e); /* makes it the current one */
/* In the call. *wait (may be NULL): it failed, and would not if the frees that are enqueued in other streams had run.
 */
u32 sim_pool_alloc(struct device *d, struct dev_pool *p, u64 bytes, u64 stream, const char *name, const char *site,
                   struct mem_object **out, bool *wait, struct error *e);
/* The operation of the allocation runs; true: the host has freed it before, and the caller ends it. */
bool sim_pool_start(struct device *d, struct mem_object *o);
/* In the call of a free: memory of a pool, or of dev_alloc. Not 0: the report has double_free or bad_free, and e the
 * sentence. */
u32 sim_pool_free(struct device *d, u64 address, u64 stream, const char *site, struct mem_object **out,
                  struct error *e);
void sim_pool_end(struct device *d, struct mem_object *o, const char *site); /* the operation of the free runs */
bool sim_pool_freed(const struct mem_object *o);                             /* its free is enqueued, and has not run */
/* A free that the host does itself waits for nothing that uses the memory, as on an H200 (cudaFree of what
 * cudaMallocAsync gave). */
bool sim_pool_lets_go(const struct mem_object *o);
/* In that call; false: it is no such memory. *later: its allocation has not run, and ends it; else the caller does. */
bool sim_pool_let_go(struct mem_object *o, const char *site, bool *later);
void sim_pool_site(const struct mem_object *o, char *out, size_t size); /* of the call that frees it, or "" */
struct dev_pool *sim_pool_of(const struct mem_object *o);               /* NULL: it is of none */
bool sim_pool_is_graph(const struct mem_object *o);                     /* memory of an allocation node */
/* Allocation nodes of graphs: the address is the node's until sim_pool_graph_delete; between, the nodes start and rest
 * it, any number of times. */
u32 sim_pool_graph_new(struct device *d, struct dev_pool *p, u64 bytes, const char *name, const char *site,
                       struct mem_object **out, struct error *e);
/* Its free node runs; false: nothing has allocated it since the last one did. */
bool sim_pool_graph_rest(struct device *d, struct mem_object *o, const char *site);
/* The graph has ended. What a launch has allocated and nobody has freed stays, as an allocation like others. */
void sim_pool_graph_delete(struct device *d, struct mem_object *o);
/* Bytes of allocation nodes that exist, and the most there were; reset: the most is what there is now. */
void sim_pool_graph_usage(struct device *d, u64 *now, u64 *high, bool reset);
/* A stream, an event or the device was waited for: pools give back what is above their thresholds. */
void sim_pools_synchronised(struct device *d);
void sim_pools_close(struct device *d);   /* with the device */
u64 sim_pools_reserved(struct device *d); /* bytes of the card that all pools hold */
struct dev_pool_usage {
    u64 reserved, reserved_high; /* bytes of the card that the pool holds, and the most it held */
    u64 used, used_high;         /* bytes in allocations */
    u64 most, threshold;         /* its limit, 0: none; what it keeps at a synchronisation */
};
void sim_pool_usage(struct dev_pool *p, struct dev_pool_usage *out);
/* The high-water marks of either kind start from what is there. */
void sim_pool_usage_reset(struct dev_pool *p, bool reserved, bool used);

/* ---- virtual memory management of the software GPU (dev_virtual.c) ---- */

/* Statuses as above: 801 on a real GPU. Addresses and sizes are multiples of MEM_GRANULE. */
u32 dev_virtual_reserve(struct device *d, u64 bytes, u64 align, const char *name, const char *site,
                        struct mem_object **out, struct error *e);
u32 dev_virtual_free(struct device *d, u64 address, u64 bytes, const char *site, struct error *e);
u32 dev_physical_new(struct device *d, u64 bytes, struct mem_physical **out, struct error *e);
void dev_physical_delete(struct device *d, struct mem_physical *p); /* it is mapped nowhere */
u32 dev_virtual_map(struct device *d, u64 address, u64 bytes, struct mem_physical *p, struct error *e);
/* Ends the mappings in a range, all of which lie in it whole. gone: is called with the memory of each. Work in flight
 * that uses the range is a finding, and is waited for. */
u32 dev_virtual_unmap(struct device *d, u64 address, u64 bytes, const char *site,
                      void (*gone)(void *self, struct mem_physical *p), void *self, struct error *e);
u32 dev_virtual_access(struct device *d, u64 address, u64 bytes, u32 rights, struct error *e); /* MEM_READABLE, ... */
/* The mapping of an address, and the rights of the device there; false: there is none. */
bool dev_virtual_at(struct device *d, u64 address, struct mem_mapping *out, u32 *rights);

/* ---- managed memory ---- */

/* The policy is enum dev_managed_policy of dev.h. */
struct dev_touch {                   /* one access of the host */
    u64 address;                     /* its first byte */
    bool write;                      /* it writes */
    const struct mem_object *object; /* managed memory that a launch in flight might use */
    u64 pc;                          /* of the host's instruction; 0: not known */
    const struct op *op;             /* the host function that it is an access of; NULL: of none */
};
/* A launch starts, or its operation is about to start it. Protects the managed memory that its parameters and variables
 * lead to, and pinned memory among its parameters where DEV_MANAGED_REPORT was asked for. polls: the kernel may wait
 * for the host (it reads memory in a loop until that changes): then nothing is protected. A token for dev_managed_end;
 * 0: nothing was protected. stream: the number of its stream. */
u32 dev_managed_begin(struct device *d, const struct dev_launch *l, bool polls, u64 stream);
/* A copy is enqueued, and DEV_MANAGED_REPORT was asked for: the same for its pinned and managed memory, whole pages of
 * it. The host may read the source meanwhile. */
u32 dev_managed_copy(struct device *d, const struct dev_copy_plan *p, u64 stream);
/* It has ended: memory that no other launch in flight may use is the host's again. */
void dev_managed_end(struct device *d, u32 token);
/* A host function of this stream runs on the calling thread, and has ended: what it touches is its own, and memory that
 * only operations of the same stream use, which wait for it, is open to it. */
void dev_managed_host_begin(struct device *d, const struct op *op, u64 stream);
void dev_managed_host_end(struct device *d);
/* Hands out what the host touched since the last call, in its order. To be called at the begin of every call that
 * enqueues something, so that the touches count as before it, and at the end of a launch. Two loads if there is none.
 */
void dev_managed_drain(struct device *d, void (*touch)(void *self, const struct dev_touch *t), void *self);
/* The object is freed; NULL: the device is closed. */
void dev_managed_forget(struct device *d, const struct mem_object *o);

/* ---- leaks ---- */

/* Adds a note for each place where the host allocated or registered memory that is still there: kind, number and bytes.
 */
void dev_leaks_host(struct device *d);
/* The memory ends, or the program does: what was computed there from undefined values is a note (rules.md I2). */
void dev_unseen(struct device *d, const struct mem_object *o);
/* Whether it is live memory that the host has allocated or registered. */
bool dev_host_owns(const struct device *d, const struct mem_object *o);
/* Adds a note: so many of these ("stream", "event", "graph") were made and never destroyed. site: the call that made
 * them, which lives for ever, or NULL. */
void dev_leaks_handles(struct device *d, const char *what, const char *site, u32 count);
#endif
