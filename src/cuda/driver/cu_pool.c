/* Pools as handles: the default and the current pool of each device and of each other place, those that the program
 * makes, and what they answer. The memory itself is dev_pool.c's.
 *
 * A pool is of pinned memory of a device or of the host, or of managed memory that prefers a place or none. Memory of
 * the host is nobody's, but each pool here is of the device that is current when it is made: streams of other devices
 * do not allocate from it. */
#include "driver/cu_check.h"
#include "driver/cu_mem.h"
#include <unistd.h>

struct place_pools { /* of a place that is no device's own memory */
    u32 type;
    struct cu_location location;
    struct cu_pool *standard, *current; /* current NULL: the default one */
};

static struct {
    lock_t lock;                          /* of the fields below */
    struct cu_pool *standard[CU_DEVICES]; /* by ordinal; NULL: nobody has asked yet */
    struct cu_pool *current[CU_DEVICES];  /* the same; NULL: the default one */
    struct cu_pool *list[1024];           /* those that are alive, for cu_pool_at; more are not found there */
    u32 n;                                /* of them */
    struct place_pools other[64];         /* places that somebody has asked for */
    u32 others;                           /* of them */
} all = { .lock = LOCK_INIT };

static void list_add(struct cu_pool *p)
{
    if (all.n < COUNT_OF(all.list)) all.list[all.n++] = p;
}
static void list_remove(const struct cu_pool *p)
{
    for (u32 i = 0; i < all.n; i++)
        if (all.list[i] == p) {
            all.list[i] = all.list[--all.n];
            return;
        }
}

static bool is_host_pool(const struct cu_pool *p) { return p->type == TYPE_PINNED && p->location.type != PLACE_DEVICE; }

/* With the lock. Memory of the host is the host's alone until a device is given the right to it; managed memory is
 * everybody's, whatever is told of it. */
static struct cu_pool *pool_make(struct cu_device *d, lk_pool *pool, u32 type, struct cu_location l, bool standard)
{
    struct cu_pool *p = cu_handle_new(CU_POOL, sizeof *p);
    if (!p) return NULL;
    *p = (struct cu_pool){
        .device = d, .pool = pool, .type = type, .location = l, .standard = standard, .reuse = { 1, 1, 1 }
    };
    if (type == TYPE_PINNED && l.type == PLACE_DEVICE) p->right[d->ordinal] = RIGHT_WRITE;
    if (is_host_pool(p)) lk_pool_access(pool, false);
    list_add(p);
    return cu_handle_open(p);
}

static cu_result standard_of(struct cu_device *d, struct cu_pool **out)
{
    cu_result r = cu_device_open(d);
    if (r) return r;
    lock(&all.lock);
    struct cu_pool **at = &all.standard[d->ordinal];
    lk_pool *pool = *at ? NULL : lk_pool_default(d->gpu);
    if (pool) *at = pool_make(d, pool, TYPE_PINNED, (struct cu_location){ PLACE_DEVICE, (int)d->ordinal }, true);
    *out = *at;
    unlock(&all.lock);
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

CU_DEFINE(cuDeviceGetDefaultMemPool, struct cu_pool **, out, int, device)
{
    struct cu_pool *p;
    cu_result r = standard_of(here.device, &p);
    if (!r) *out = p;
    return r;
}

CU_DEFINE(cuDeviceGetMemPool, struct cu_pool **, out, int, device)
{
    struct cu_pool *p;
    cu_result r = standard_of(here.device, &p);
    if (r) return r;
    lock(&all.lock);
    *out = all.current[here.device->ordinal] ? all.current[here.device->ordinal] : p;
    unlock(&all.lock);
    return CU_OK;
}

CU_DEFINE(cuDeviceSetMemPool, int, device, struct cu_pool *, p)
{
    struct cu_device *d = here.device;
    struct cu_pool *standard;
    cu_result r = standard_of(d, &standard);
    if (r) return r;
    if (p->device != d || p->type != TYPE_PINNED || p->location.type != PLACE_DEVICE) return CU_INVALID_VALUE;
    if ((r = cu_status(d->gpu, lk_pool_current(d->gpu, p->pool)))) return r;
    lock(&all.lock);
    all.current[d->ordinal] = p;
    unlock(&all.lock);
    return CU_OK;
}

/* ---- by places, since release 13 ---- */

static bool numa_node(int id)
{
    char path[64];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d", id);
    return id == 0 || (id > 0 && !access(path, F_OK));
}

/* Whether memory of this type has pools there; *l becomes the location as pools have it. */
static cu_result place_check(u32 type, const struct cu_location *from, struct cu_location *l)
{
    if (type != TYPE_PINNED && type != TYPE_MANAGED) return CU_INVALID_VALUE;
    *l = *from;
    switch (l->type) {
    case PLACE_DEVICE: return cu_device_at(l->id) ? CU_OK : CU_INVALID_VALUE;
    case PLACE_NUMA: return numa_node(l->id) ? CU_OK : CU_INVALID_VALUE;
    case PLACE_NONE:
        if (type != TYPE_MANAGED) return CU_INVALID_VALUE;
        l->id = 0;
        return CU_OK;
    case PLACE_NUMA_CURRENT: l->id = 0; return type == TYPE_MANAGED ? CU_OK : CU_INVALID_VALUE;
    case PLACE_HOST: l->id = 0; return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

/* The device that a pool of this place belongs to: its own, or the current one, or the first. */
static cu_result place_device(const struct cu_location *l, struct cu_device **d)
{
    struct cu_context *c;
    *d = l->type == PLACE_DEVICE ? cu_device_at(l->id) : !cu_current(&c) ? c->device : cu_device_at(0);
    return *d ? cu_device_open(*d) : CU_NO_DEVICE;
}

static cu_result make(u32 type, const struct cu_location *l, u64 most, bool standard, struct cu_pool **out)
{
    lk_pool *pool;
    struct cu_device *d;
    lk_memory_kind kind = type == TYPE_MANAGED      ? LK_MEMORY_MANAGED
                          : l->type == PLACE_DEVICE ? LK_MEMORY_DEVICE
                                                    : LK_MEMORY_PINNED;
    cu_result r = place_device(l, &d);
    if (!r) r = cu_status(d->gpu, lk_pool_create_of(d->gpu, kind, most, standard ? LK_POOL_OWN : 0, &pool));
    if (r) return r;
    *out = pool_make(d, pool, type, *l, standard);
    if (*out) return CU_OK;
    lk_pool_destroy(pool);
    return CU_OUT_OF_MEMORY;
}

static bool same_pool_place(const struct cu_location *a, const struct cu_location *b)
{
    return a->type == b->type && a->id == b->id;
}

/* With the lock: the pools of a place that is no device's own memory; NULL: too many places. */
static struct place_pools *place_pools(u32 type, const struct cu_location *l)
{
    u32 k = 0;
    while (k < all.others && (all.other[k].type != type || !same_pool_place(&all.other[k].location, l))) k++;
    if (k == COUNT_OF(all.other)) return NULL;
    if (k == all.others) all.other[all.others++] = (struct place_pools){ .type = type, .location = *l };
    return &all.other[k];
}

enum which_pool { POOL_DEFAULT, POOL_CURRENT };
static cu_result of_place(struct cu_pool **out, const struct cu_location *from, u32 type, enum which_pool which)
{
    struct cu_location l;
    cu_result r = place_check(type, from, &l);
    if (r) return r;
    if (l.type == PLACE_NUMA_CURRENT) return CU_NOT_SUPPORTED;
    if (l.type == PLACE_DEVICE && type == TYPE_PINNED)
        return (which == POOL_DEFAULT ? lkcu_cuDeviceGetDefaultMemPool : lkcu_cuDeviceGetMemPool)(out, l.id);
    lock(&all.lock);
    struct place_pools *x = place_pools(type, &l);
    if (!x)
        r = CU_OUT_OF_MEMORY;
    else if (!x->standard)
        r = make(type, &l, 0, true, &x->standard);
    if (!r) *out = which == POOL_CURRENT && x->current ? x->current : x->standard;
    unlock(&all.lock);
    return r;
}
CU_DEFINE(cuMemGetDefaultMemPool, struct cu_pool **, out, const struct cu_location *, l, u32, type)
{
    return of_place(out, l, type, POOL_DEFAULT);
}
CU_DEFINE(cuMemGetMemPool, struct cu_pool **, out, const struct cu_location *, l, u32, type)
{
    return of_place(out, l, type, POOL_CURRENT);
}
CU_DEFINE(cuMemSetMemPool, const struct cu_location *, from, u32, type, struct cu_pool *, p)
{
    struct cu_location l;
    cu_result r = place_check(type, from, &l);
    if (r) return r;
    if (p->type != type || !same_pool_place(&p->location, &l)) return CU_INVALID_VALUE;
    if (l.type == PLACE_DEVICE && type == TYPE_PINNED) return lkcu_cuDeviceSetMemPool(l.id, p);
    lock(&all.lock);
    struct place_pools *x = place_pools(type, &l);
    if (x) x->current = p;
    unlock(&all.lock);
    return x ? CU_OK : CU_OUT_OF_MEMORY;
}

CU_DEFINE(cuMemPoolCreate, struct cu_pool **, out, const struct cu_pool_props *, x)
{
    struct cu_location l;
    cu_result r = place_check(x->type, &x->location, &l);
    if (r) return r;
    if (x->handles && (x->type == TYPE_MANAGED || l.type == PLACE_HOST)) return CU_INVALID_VALUE;
    if (x->handles) {
        cu_refused("cuMemPoolCreate with a handle type for other processes");
        return CU_NOT_SUPPORTED;
    }
    lock(&all.lock);
    r = make(x->type, &l, x->most, false, out);
    unlock(&all.lock);
    return r;
}

static cu_result pool_end(void *handle)
{
    struct cu_pool *p = handle;
    lock(&all.lock);
    if (all.current[p->device->ordinal] == p) all.current[p->device->ordinal] = NULL;
    for (u32 k = 0; k < all.others; k++)
        if (all.other[k].current == p) all.other[k].current = NULL;
    list_remove(p);
    unlock(&all.lock);
    return cu_status(p->device->gpu, lk_pool_destroy(p->pool));
}
CU_DEFINE(cuMemPoolDestroy, struct cu_pool *, p)
{
    if (p->standard || !cu_handle_take(p, CU_POOL)) return CU_INVALID_VALUE;
    return cu_handle_drop(p, pool_end);
}

CU_DEFINE(cuMemPoolTrimTo, struct cu_pool *, p, u64, keep)
{
    return cu_status(p->device->gpu, lk_pool_trim(p->pool, keep));
}

enum { /* CUmemPool_attribute */
       REUSE_EVENTS = 1,
       REUSE_INTERNAL = 3,
       THRESHOLD,
       RESERVED,
       RESERVED_HIGH,
       USED,
       USED_HIGH
};

CU_DEFINE(cuMemPoolSetAttribute, struct cu_pool *, p, u32, which, const void *, value)
{
    if (which < REUSE_EVENTS || which > USED_HIGH || !bytes_readable(value, which <= REUSE_INTERNAL ? 4 : 8))
        return CU_INVALID_VALUE;
    lk_pool_info info = { .size = sizeof info };
    lk_gpu *gpu = p->device->gpu;
    switch (which) {
    default: p->reuse[which - REUSE_EVENTS] = *(const int *)value; return CU_OK;
    case THRESHOLD: return cu_status(gpu, lk_pool_threshold(p->pool, *(const u64 *)value));
    case RESERVED_HIGH:
    case USED_HIGH:
        if (*(const u64 *)value) return CU_INVALID_VALUE; /* a mark can only be made to start anew */
        return cu_status(
            gpu, lk_pool_usage(p->pool, &info, which == USED_HIGH ? LK_POOL_RESET_USED : LK_POOL_RESET_RESERVED));
    case RESERVED:
    case USED: return CU_INVALID_VALUE;
    }
}

CU_DEFINE(cuMemPoolGetAttribute, struct cu_pool *, p, u32, which, void *, value)
{
    if (which < REUSE_EVENTS || which > USED_HIGH || !bytes_readable(value, which <= REUSE_INTERNAL ? 4 : 8))
        return CU_INVALID_VALUE;
    lk_pool_info info = { .size = sizeof info };
    cu_result r = cu_status(p->device->gpu, lk_pool_usage(p->pool, &info, 0));
    if (r) return r;
    switch (which) {
    default: *(int *)value = p->reuse[which - REUSE_EVENTS]; break;
    case THRESHOLD: *(u64 *)value = info.threshold; break;
    case RESERVED: *(u64 *)value = info.reserved; break;
    case RESERVED_HIGH: *(u64 *)value = info.reserved_high; break;
    case USED: *(u64 *)value = info.used; break;
    case USED_HIGH: *(u64 *)value = info.used_high; break;
    }
    return CU_OK;
}

static bool is_host_place(const struct cu_location *l) { return l->type == PLACE_HOST || l->type == PLACE_NUMA; }

/* A device always has all rights to its own memory, and the host to its. */
CU_DEFINE(cuMemPoolSetAccess, struct cu_pool *, p, const struct cu_access *, a, u64, n)
{
    cu_result r = CU_OK;
    bool device = p->type == TYPE_PINNED && p->location.type == PLACE_DEVICE;
    for (u64 i = 0; i < n; i++) {
        const struct cu_location *l = &a[i].location;
        const struct cu_device *d = l->type == PLACE_DEVICE ? cu_device_at(l->id) : NULL;
        if (is_host_place(l) && device) return CU_NOT_SUPPORTED;
        if (!d && !is_host_place(l)) return CU_INVALID_DEVICE;
        if (a[i].flags == RIGHT_READ) return CU_NOT_SUPPORTED;
        if (a[i].flags != RIGHT_NONE && a[i].flags != RIGHT_WRITE) return CU_INVALID_VALUE;
        if (device && d == p->device && a[i].flags != RIGHT_WRITE) return CU_INVALID_DEVICE;
    }
    for (u64 i = 0; i < n && !r; i++) {
        const struct cu_device *d = a[i].location.type == PLACE_DEVICE ? cu_device_at(a[i].location.id) : NULL;
        if (d) p->right[d->ordinal] = (u8)a[i].flags;
        if (d == p->device && is_host_pool(p)) r = cu_status(d->gpu, lk_pool_access(p->pool, a[i].flags != RIGHT_NONE));
    }
    return r;
}

CU_DEFINE(cuMemPoolGetAccess, u32 *, flags, struct cu_pool *, p, const struct cu_location *, l)
{
    const struct cu_device *d = l->type == PLACE_DEVICE ? cu_device_at(l->id) : NULL;
    if (!d && !is_host_place(l)) return CU_INVALID_VALUE;
    *flags = d ? p->right[d->ordinal] : is_host_pool(p) ? RIGHT_WRITE : RIGHT_NONE;
    return CU_OK;
}

bool cu_pool_closed(u64 address)
{
    const struct cu_pool *p = cu_pool_at(address);
    return p && is_host_pool(p) && !p->right[p->device->ordinal];
}

CU_DEFINE(cuMemAllocFromPoolAsync, u64 *, out, u64, bytes, struct cu_pool *, p, void *, stream)
{
    *out = 0;
    if (!bytes) return CU_OK;
    if (p->type == TYPE_MANAGED || is_host_pool(p)) { /* no allocation node is of such a pool */
        u32 capturing = 0;
        cu_result r = lkcu_cuStreamIsCapturing(stream, &capturing);
        if (r || capturing) return r ? r : p->location.type == PLACE_NONE ? CU_INVALID_VALUE : CU_NOT_SUPPORTED;
    }
    return cu_status(here.context->device->gpu, lk_memory_alloc_async(here.stream, bytes, p->pool, NULL, out));
}

struct cu_pool *cu_pool_at(u64 address)
{
    struct cu_pool *found = NULL;
    lock(&all.lock);
    for (u32 i = 0; i < all.n && !found; i++)
        if (lk_pool_has(all.list[i]->pool, address)) found = all.list[i];
    if (!cu_handle_is(found, CU_POOL)) found = NULL; /* it is ending */
    unlock(&all.lock);
    return found;
}
