/* Pools of stream-ordered allocation on the software GPU.
 *
 * Addresses and room are two things here. Each allocation is an object of its own in the arena, and a freed one rests
 * in the quarantine of mem like any other, so that a use by mistake is recognised; address space costs nothing. Room is
 * what the card has: a pool *reserves* it in units of POOL_UNIT as its allocations need it, and keeps it until a
 * synchronisation (above its threshold) or a trim.
 *
 *   used     bytes of allocations, from the call that allocates to the call that frees
 *   pending  bytes whose free is enqueued and has not run, by stream: room for an allocation that comes later in the
 * same stream, and for nobody else used + pending <= reserved <= the limit of the pool; all pools and all other memory
 * fit on the card
 *
 * So a loop that allocates, launches and frees in one stream needs the room of one turn, however far the host is ahead.
 * An allocation that would fit if the frees of other streams had run tells its caller, who may wait for them: a GPU
 * makes the allocation depend on these frees (cudaMemPoolReuseAllowInternalDependencies).
 *
 * A pool may also be of pinned memory of the host or of managed memory: its allocations are objects of that kind, which
 * the host uses as well, and what it reserves is no room of the card.
 *
 * One lock for the pools of all devices: a call holds it for some additions. */
#include "device/dev_memory.h"
#include "device/dev_work.h"
#include "device/op_races.h"
#include <inttypes.h>

#define POOL_UNIT (32ull << 20) /* what an H200 reserves at a time */
enum { BLOCK_UNIT = 512 };      /* allocations take multiples of this */

struct waiting { /* room of frees that have not run */
    u64 stream, bytes;
};

struct dev_pool {
    struct device *device;
    struct dev_pool *next; /* of the device */
    enum mem_kind kind;    /* of its allocations: MEM_POOL, memory of the device; MEM_PINNED; MEM_MANAGED */
    u64 most, threshold;   /* limit, 0: none; what it keeps at a synchronisation */
    u64 reserved, reserved_high;
    u64 used, used_high;
    u64 pending;             /* bytes of all of `waiting` */
    struct waiting *waiting; /* by stream */
    u32 nwaiting, capwaiting;
    bool closed;  /* the device has no right to its memory */
    u32 blocks;   /* allocations whose free has not run */
    bool deleted; /* by the program; gone with its last block */
};

struct pools {              /* of a device */
    struct dev_pool *first; /* all of them */
    struct dev_pool *standard, *current;
    u64 graphs, graphs_high; /* bytes of allocation nodes that exist, and the most there were */
};

struct pool_block {        /* mem_object.pool: an allocation, or other memory whose free is enqueued */
    struct dev_pool *pool; /* NULL: memory of dev_alloc */
    u64 bytes;             /* room it takes */
    u64 stream;            /* of its free */
    bool freed;            /* the free is enqueued */
    char site[96];         /* of that call, or "" */
    bool graph;            /* of an allocation node */
    bool at_start;         /* the host has freed it, and its allocation has not run: it is gone when that runs */
};

static lock_t pools_lock = PTHREAD_MUTEX_INITIALIZER;

static u64 round_to(u64 bytes, u64 unit) { return (bytes + unit - 1) & ~(unit - 1); }

static void reserve(struct dev_pool *p, u64 bytes)
{
    struct device *d = p->device;
    __atomic_store_n(&d->pool_held, d->pool_held + bytes - p->reserved, __ATOMIC_RELAXED);
    if (p->kind == MEM_POOL) __atomic_store_n(&d->pool_bytes, d->pool_bytes + bytes - p->reserved, __ATOMIC_RELAXED);
    p->reserved = bytes;
    p->reserved_high = MAX_OF(p->reserved_high, bytes);
}

static struct waiting *waiting_of(struct dev_pool *p, u64 stream)
{
    for (u32 k = 0; k < p->nwaiting; k++)
        if (p->waiting[k].stream == stream) return &p->waiting[k];
    return NULL;
}

static void waiting_add(struct dev_pool *p, u64 stream, u64 bytes)
{
    struct waiting *w = waiting_of(p, stream);
    if (!w) {
        NEED_ROOM(p->waiting, p->nwaiting, p->capwaiting, 4);
        w = &p->waiting[p->nwaiting++];
        *w = (struct waiting){ .stream = stream };
    }
    w->bytes += bytes;
    p->pending += bytes;
}

/* Takes at most so many of the bytes that wait in this stream; returns how many. */
static u64 waiting_take(struct dev_pool *p, u64 stream, u64 bytes)
{
    struct waiting *w = waiting_of(p, stream);
    if (!w) return 0;
    u64 taken = MIN_OF(bytes, w->bytes);
    w->bytes -= taken;
    p->pending -= taken;
    if (!w->bytes) *w = p->waiting[--p->nwaiting];
    return taken;
}

/* ---- pools ---- */

static struct pools *pools_of(struct device *d)
{
    if (!d->pools) d->pools = base_alloc(sizeof *d->pools);
    return d->pools;
}

static struct dev_pool *pool_make(struct device *d, u64 most, enum mem_kind kind)
{
    struct pools *all = pools_of(d);
    struct dev_pool *p = all ? base_alloc(sizeof *p) : NULL;
    if (!p) return NULL;
    *p = (struct dev_pool){ .device = d, .most = most, .kind = kind, .next = all->first };
    all->first = p;
    return p;
}

static void pool_drop(struct dev_pool *p)
{
    struct dev_pool **link = &p->device->pools->first;
    while (*link != p) link = &(*link)->next;
    *link = p->next;
    reserve(p, 0);
    base_free(p->waiting);
    base_free(p);
}

static struct dev_pool *standard_of(struct device *d)
{
    struct pools *all = pools_of(d);
    if (all && !all->standard) all->standard = pool_make(d, 0, MEM_POOL);
    if (all && !all->current) all->current = all->standard;
    return all ? all->standard : NULL;
}

u32 sim_pool_new(struct device *d, u64 most, enum mem_kind kind, struct dev_pool **out, struct error *e)
{
    *out = NULL;
    if (!dev_outside(d, e)) return e->cuda;
    lock(&pools_lock);
    *out = pool_make(d, most, kind);
    unlock(&pools_lock);
    if (*out) return OP_OK;
    error_set(e, ERR_MEMORY, "out of memory");
    return OP_OUT_OF_MEMORY;
}

struct dev_pool *sim_pool_default(struct device *d)
{
    lock(&pools_lock);
    struct dev_pool *p = standard_of(d);
    unlock(&pools_lock);
    return p;
}

u32 sim_pool_current(struct device *d, struct dev_pool *p, struct error *e)
{
    if (p->device != d || p->kind != MEM_POOL) {
        if (p->device != d)
            error_set(e, ERR_INPUT, "the pool belongs to device %u, and cannot be the current one of device %u",
                      p->device->number, d->number);
        else
            error_set(e, ERR_INPUT, "the pool is of %s, and cannot be the current one of a device",
                      dev_kind_name[p->kind]);
        return OP_INVALID_VALUE;
    }
    lock(&pools_lock);
    standard_of(d);
    d->pools->current = p;
    unlock(&pools_lock);
    return OP_OK;
}

u32 sim_pool_delete(struct dev_pool *p, struct error *e)
{
    lock(&pools_lock);
    struct pools *all = p->device->pools;
    bool standard = p == all->standard;
    if (!standard) {
        if (all->current == p) all->current = all->standard;
        p->deleted = true;
        if (!p->blocks) pool_drop(p);
    }
    unlock(&pools_lock);
    if (!standard) return OP_OK;
    error_set(e, ERR_INPUT, "the default pool of a device cannot be destroyed");
    return OP_INVALID_VALUE;
}

/* Gives back what is neither needed nor to be kept. */
static void shrink(struct dev_pool *p, u64 keep)
{
    u64 need = round_to(p->used + p->pending, POOL_UNIT);
    reserve(p, MAX_OF(need, MIN_OF(p->reserved, keep)));
}

u32 sim_pool_trim(struct dev_pool *p, u64 keep, struct error *e)
{
    (void)e;
    lock(&pools_lock);
    shrink(p, keep);
    unlock(&pools_lock);
    return OP_OK;
}

u32 sim_pool_threshold(struct dev_pool *p, u64 bytes, struct error *e)
{
    (void)e;
    lock(&pools_lock);
    p->threshold = bytes;
    unlock(&pools_lock);
    return OP_OK;
}

void sim_pool_access(struct dev_pool *p, bool allowed)
{
    struct mem_object *o;
    lock(&pools_lock);
    p->closed = !allowed;
    for (u32 id = 1; p->blocks && (o = mem_by_id(p->device->mem, id)); id++) {
        const struct pool_block *b = o->pool;
        if (b && b->pool == p) __atomic_store_n(&o->closed, !allowed, __ATOMIC_RELAXED);
    }
    unlock(&pools_lock);
}

void sim_pools_synchronised(struct device *d)
{
    if (likely(!__atomic_load_n(&d->pool_held, __ATOMIC_RELAXED))) return;
    lock(&pools_lock);
    for (struct dev_pool *p = d->pools->first; p; p = p->next) shrink(p, p->threshold);
    unlock(&pools_lock);
}

void sim_pools_close(struct device *d)
{
    const struct mem_object *o;
    if (!d->pools) return;
    for (u32 id = 1; d->mem && (o = mem_by_id(d->mem, id)); id++) base_free(o->pool);
    while (d->pools->first) pool_drop(d->pools->first);
    base_free(d->pools);
    d->pools = NULL;
}

u64 sim_pools_reserved(struct device *d) { return __atomic_load_n(&d->pool_bytes, __ATOMIC_RELAXED); }

void sim_pool_usage(struct dev_pool *p, struct dev_pool_usage *out)
{
    lock(&pools_lock);
    *out = (struct dev_pool_usage){ p->reserved, p->reserved_high, p->used, p->used_high, p->most, p->threshold };
    unlock(&pools_lock);
}

void sim_pool_usage_reset(struct dev_pool *p, bool reserved, bool used)
{
    lock(&pools_lock);
    if (reserved) p->reserved_high = p->reserved;
    if (used) p->used_high = p->used;
    unlock(&pools_lock);
}

/* ---- allocations ---- */

/* Whether the pool can hold so many bytes in all; reserves them. */
static bool pool_grow(struct dev_pool *p, u64 bytes, u64 asked, struct error *e)
{
    if (bytes <= p->reserved) return true;
    u64 goal = round_to(bytes, POOL_UNIT);
    if (p->most && goal > p->most) goal = bytes;
    if (p->most && goal > p->most)
        return error_set(e, ERR_MEMORY,
                         "the pool is full: %" PRIu64 " bytes asked, %" PRIu64 " in use, and its limit is %" PRIu64,
                         asked, p->used + p->pending, p->most);
    if (p->kind == MEM_POOL && !sim_has_room(p->device, goal - p->reserved, NULL) &&
        !sim_has_room(p->device, (goal = bytes) - p->reserved, e))
        return false;
    reserve(p, goal);
    return true;
}

static u32 allocate(struct device *d, struct dev_pool *p, u64 bytes, u64 stream, bool graph, const char *name,
                    const char *site, struct mem_object **out, bool *wait, struct error *e)
{
    *out = NULL;
    if (wait) *wait = false;
    if (p && p->device != d) {
        error_set(e, ERR_INPUT, "the pool belongs to device %u, and the stream to device %u", p->device->number,
                  d->number);
        return OP_INVALID_VALUE;
    }
    if (!bytes || bytes > UINT64_MAX / 2) {
        error_set(e, bytes ? ERR_MEMORY : ERR_INPUT,
                  bytes ? "%" PRIu64 " bytes are more than any card has"
                        : "an allocation of %" PRIu64 " bytes: there is nothing to allocate",
                  bytes);
        return bytes ? OP_OUT_OF_MEMORY : OP_INVALID_VALUE;
    }
    if (p && p->kind == MEM_MANAGED && !sim_has_room(d, bytes, e)) return OP_OUT_OF_MEMORY;
    if (p && p->kind != MEM_POOL) note_host_uses(d, p->kind);
    struct pool_block *b = base_alloc(sizeof *b);
    lock(&pools_lock);
    if (!p && standard_of(d)) p = d->pools->current;
    if (!b || !p) {
        unlock(&pools_lock);
        base_free(b);
        error_set(e, ERR_MEMORY, "out of memory");
        return OP_OUT_OF_MEMORY;
    }
    *b = (struct pool_block){ .pool = p, .bytes = round_to(bytes, BLOCK_UNIT), .graph = graph };
    u64 before = stream ? waiting_take(p, stream, b->bytes) : 0, others = p->pending;
    bool fits = pool_grow(p, p->used + others + b->bytes, bytes, e);
    struct mem_object *o = fits ? mem_reserve(d->mem, bytes, dev_align(bytes), p->kind, name, site, e) : NULL;
    if (o) {
        o->pool = b;
        __atomic_store_n(&o->closed, p->closed, __ATOMIC_RELAXED);
        p->used += b->bytes;
        p->used_high = MAX_OF(p->used_high, p->used);
        p->blocks++;
    } else {
        if (before) waiting_add(p, stream, before);
        u64 room = p->reserved;
        if (wait) *wait = !fits && others && pool_grow(p, p->used + b->bytes, bytes, NULL);
        if (p->reserved > room) reserve(p, room);
        base_free(b);
    }
    unlock(&pools_lock);
    *out = o;
    return o ? OP_OK : OP_OUT_OF_MEMORY;
}

u32 sim_pool_alloc(struct device *d, struct dev_pool *p, u64 bytes, u64 stream, const char *name, const char *site,
                   struct mem_object **out, bool *wait, struct error *e)
{
    return allocate(d, p, bytes, stream, false, name, site, out, wait, e);
}

/* Two launches of a graph whose memory is freed by the next one may start it at once. */
bool sim_pool_start(struct device *d, struct mem_object *o)
{
    lock(&pools_lock);
    if (mem_is_live(o)) mem_rest(d->mem, o, NULL);
    mem_start(d->mem, o);
    const struct pool_block *b = o->pool;
    bool gone = b && b->at_start;
    unlock(&pools_lock);
    return gone;
}

/* Memory that a stream can free, or has freed; with the lock. */
static bool is_freeable(const struct mem_object *o)
{
    bool host = o->kind == MEM_PINNED || o->kind == MEM_MANAGED;
    return o->kind == MEM_POOL || o->kind == MEM_DEVICE ||
           (host && (o->pool || __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED));
}

/* In the call of the free, with the lock: false, it is freed already or no start of an allocation. */
static bool free_begin(struct mem_object *o, u64 address, u64 stream, const char *site)
{
    struct pool_block *b = o && is_freeable(o) ? o->pool : NULL;
    if (!o || !is_freeable(o) || o->base != address || __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_FREED ||
        (b && b->freed))
        return false;
    if (!b) o->pool = b = base_need(sizeof *b);
    b->freed = true;
    b->stream = stream;
    snprintf(b->site, sizeof b->site, "%s", site ? site : "");
    if (b->pool && !b->graph) {
        b->pool->used -= b->bytes;
        waiting_add(b->pool, stream, b->bytes);
    }
    return true;
}

u32 sim_pool_free(struct device *d, u64 address, u64 stream, const char *site, struct mem_object **out, struct error *e)
{
    struct mem_object *o = mem_find(d->mem, address);
    char first[200] = "";
    *out = NULL;
    lock(&pools_lock);
    bool ok = free_begin(o, address, stream, site);
    bool twice = !ok && o && o->base == address && is_freeable(o);
    const struct pool_block *b = twice ? o->pool : NULL;
    if (twice && (b ? b->site : o->free_site ? o->free_site : "")[0])
        snprintf(first, sizeof first, ", at %s", b ? b->site : o->free_site);
    unlock(&pools_lock);
    if (ok) {
        *out = o;
        return OP_OK;
    }
    dev_free_found(d, twice, address, o, site);
    if (twice)
        error_set(e, ERR_INPUT, "%s was freed before%s, and is freed again", o->name, first);
    else if (o)
        error_set(e, ERR_INPUT,
                  "0x%" PRIx64 " is %s+0x%" PRIx64 ", %s, and not the start of an allocation to free in a stream",
                  address, o->name, address - o->base, dev_kind_name[o->kind]);
    else
        dev_range(d, address, 1, e);
    return OP_INVALID_VALUE;
}

/* With the lock. Memory of a node is the graph's, and a tensor's is its library's. */
static bool lets_go(const struct mem_object *o)
{
    const struct pool_block *b = o->kind == MEM_POOL ? o->pool : NULL;
    return b && b->pool && !b->graph && !b->freed && !op_races_has_tensors();
}

bool sim_pool_lets_go(const struct mem_object *o)
{
    lock(&pools_lock);
    bool is = lets_go(o);
    unlock(&pools_lock);
    return is;
}

bool sim_pool_let_go(struct mem_object *o, const char *site, bool *later)
{
    lock(&pools_lock);
    bool is = lets_go(o) && free_begin(o, o->base, 0, site);
    struct pool_block *b = o->pool;
    *later = is && __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) == MEM_RESERVED;
    if (is) __atomic_store_n(&o->let_go, true, __ATOMIC_RELEASE);
    if (*later) b->at_start = true;
    unlock(&pools_lock);
    return is;
}

void sim_pool_site(const struct mem_object *o, char *out, size_t size)
{
    lock(&pools_lock);
    const struct pool_block *b = o->pool;
    snprintf(out, size, "%s", b ? b->site : "");
    unlock(&pools_lock);
}

/* The room of a block goes back to its pool. */
static void free_end(struct pool_block *b)
{
    if (!b || !b->pool) return;
    struct dev_pool *p = b->pool;
    if (!b->freed || b->graph)
        p->used -= b->bytes;
    else
        waiting_take(p, b->stream, b->bytes);
    if (!--p->blocks && p->deleted) pool_drop(p);
}

void sim_pool_end(struct device *d, struct mem_object *o, const char *site)
{
    if (o->kind == MEM_MANAGED || o->kind == MEM_PINNED) dev_managed_forget(d, o);
    lock(&pools_lock);
    struct pool_block *b = o->pool;
    o->pool = NULL;
    free_end(b);
    unlock(&pools_lock);
    base_free(b);
    mem_free(d->mem, o->base, site, NULL);
}

bool sim_pool_freed(const struct mem_object *o)
{
    lock(&pools_lock);
    const struct pool_block *b = o->pool;
    bool freed = b && b->freed;
    unlock(&pools_lock);
    return freed;
}

struct dev_pool *sim_pool_of(const struct mem_object *o)
{
    lock(&pools_lock);
    const struct pool_block *b = o->pool;
    struct dev_pool *p = b ? b->pool : NULL;
    unlock(&pools_lock);
    return p;
}

/* ---- allocation nodes ---- */

bool sim_pool_is_graph(const struct mem_object *o)
{
    lock(&pools_lock);
    const struct pool_block *b = o->pool;
    bool graph = b && b->graph;
    unlock(&pools_lock);
    return graph;
}

u32 sim_pool_graph_new(struct device *d, struct dev_pool *p, u64 bytes, const char *name, const char *site,
                       struct mem_object **out, struct error *e)
{
    u32 status = allocate(d, p, bytes, 0, true, name, site, out, NULL, e);
    if (status) return status;
    lock(&pools_lock);
    struct pools *all = pools_of(d);
    all->graphs += (*out)->size;
    all->graphs_high = MAX_OF(all->graphs_high, all->graphs);
    unlock(&pools_lock);
    return OP_OK;
}

void sim_pool_graph_usage(struct device *d, u64 *now, u64 *high, bool reset)
{
    lock(&pools_lock);
    struct pools *all = pools_of(d);
    *now = all->graphs;
    *high = all->graphs_high;
    if (reset) all->graphs_high = all->graphs;
    unlock(&pools_lock);
}

bool sim_pool_graph_rest(struct device *d, struct mem_object *o, const char *site)
{
    lock(&pools_lock);
    bool live = mem_is_live(o);
    if (live) mem_rest(d->mem, o, site);
    unlock(&pools_lock);
    return live;
}

void sim_pool_graph_delete(struct device *d, struct mem_object *o)
{
    lock(&pools_lock);
    pools_of(d)->graphs -= o->size;
    struct pool_block *b = o->pool;
    bool live = b && mem_is_live(o);
    if (live) b->graph = false;
    unlock(&pools_lock);
    if (!live) sim_pool_end(d, o, "the end of its graph");
}
