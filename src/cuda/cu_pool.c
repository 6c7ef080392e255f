/* Pools as handles: the default and the current pool of each device, those that the program makes, and what they
 * answer. The memory itself is dev_pool.c's. */
#include "cuda/cu_mem.h"

static struct {
    lock_t lock;                          /* of the fields below */
    struct cu_pool *standard[CU_DEVICES]; /* by ordinal; NULL: nobody has asked yet */
    struct cu_pool *current[CU_DEVICES];  /* the same; NULL: the default one */
    struct cu_pool *list[1024];           /* those that are alive, for cu_pool_at; more are not found there */
    u32 n;                                /* of them */
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

/* With the lock. */
static struct cu_pool *pool_make(struct cu_device *d, lk_pool *pool, bool standard)
{
    struct cu_pool *p = cu_handle_new(CU_POOL, sizeof *p);
    if (!p) return NULL;
    *p = (struct cu_pool){ .device = d, .pool = pool, .standard = standard, .reuse = { 1, 1, 1 } };
    p->right[d->ordinal] = RIGHT_WRITE;
    list_add(p);
    return p;
}

static cu_result standard_of(int device, struct cu_device **d, struct cu_pool **out)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!(*d = cu_device_at(device))) return CU_INVALID_DEVICE;
    if ((r = cu_device_open(*d))) return r;
    lock(&all.lock);
    struct cu_pool **at = &all.standard[(*d)->ordinal];
    lk_pool *pool = *at ? NULL : lk_pool_default((*d)->gpu);
    if (pool) *at = pool_make(*d, pool, true);
    *out = *at;
    unlock(&all.lock);
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

CU_API(cuDeviceGetDefaultMemPool)(struct cu_pool **out, int device)
{
    struct cu_device *d;
    struct cu_pool *p;
    cu_result r = cu_ok(out) ? standard_of(device, &d, &p) : CU_INVALID_VALUE;
    if (!r) *out = p;
    return r;
}

CU_API(cuDeviceGetMemPool)(struct cu_pool **out, int device)
{
    struct cu_device *d;
    struct cu_pool *p;
    cu_result r = cu_ok(out) ? standard_of(device, &d, &p) : CU_INVALID_VALUE;
    if (r) return r;
    lock(&all.lock);
    *out = all.current[d->ordinal] ? all.current[d->ordinal] : p;
    unlock(&all.lock);
    return CU_OK;
}

CU_API(cuDeviceSetMemPool)(int device, struct cu_pool *p)
{
    struct cu_device *d;
    struct cu_pool *standard;
    cu_result r = standard_of(device, &d, &standard);
    if (r) return r;
    if (!cu_handle_is(p, CU_POOL) || p->device != d) return CU_INVALID_VALUE;
    if ((r = cu_status(d->gpu, lk_pool_current(d->gpu, p->pool)))) return r;
    lock(&all.lock);
    all.current[d->ordinal] = p;
    unlock(&all.lock);
    return CU_OK;
}

/* The same by a place, since release 13: only devices have pools here. */
static cu_result place_of(const struct cu_location *l, u32 type)
{
    if (!cu_ok(l)) return CU_INVALID_VALUE;
    if (l->type == PLACE_DEVICE && type == 1) return CU_OK;
    if (l->type < PLACE_NONE || l->type > PLACE_NUMA_CURRENT) return CU_INVALID_VALUE;
    cu_refused("a memory pool that is not of pinned memory of a device");
    return CU_NOT_SUPPORTED;
}
CU_API(cuMemGetDefaultMemPool)(struct cu_pool **out, const struct cu_location *l, u32 type)
{
    cu_result r = place_of(l, type);
    return r ? r : lkcu_cuDeviceGetDefaultMemPool(out, l->id);
}
CU_API(cuMemGetMemPool)(struct cu_pool **out, const struct cu_location *l, u32 type)
{
    cu_result r = place_of(l, type);
    return r ? r : lkcu_cuDeviceGetMemPool(out, l->id);
}
CU_API(cuMemSetMemPool)(const struct cu_location *l, u32 type, struct cu_pool *p)
{
    cu_result r = place_of(l, type);
    return r ? r : lkcu_cuDeviceSetMemPool(l->id, p);
}

CU_API(cuMemPoolCreate)(struct cu_pool **out, const struct cu_pool_props *x)
{
    lk_pool *pool;
    struct cu_device *d;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out) || !cu_ok(x) || x->type != 1) return CU_INVALID_VALUE;
    if (x->handles) {
        cu_refused("cuMemPoolCreate with a handle type for other processes");
        return CU_NOT_SUPPORTED;
    }
    if (x->location.type == PLACE_HOST || x->location.type == PLACE_NUMA) {
        cu_refused("cuMemPoolCreate of memory of the host");
        return CU_NOT_SUPPORTED;
    }
    if (x->location.type != PLACE_DEVICE) return CU_INVALID_VALUE;
    if (!(d = cu_device_at(x->location.id))) return CU_INVALID_VALUE;
    if ((r = cu_device_open(d)) || (r = cu_status(d->gpu, lk_pool_create(d->gpu, x->most, &pool)))) return r;
    lock(&all.lock);
    *out = pool_make(d, pool, false);
    unlock(&all.lock);
    if (*out) return CU_OK;
    lk_pool_destroy(pool);
    return CU_OUT_OF_MEMORY;
}

CU_API(cuMemPoolDestroy)(struct cu_pool *p)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(p, CU_POOL) || p->standard || !cu_handle_take(p, CU_POOL)) return CU_INVALID_VALUE;
    lock(&all.lock);
    if (all.current[p->device->ordinal] == p) all.current[p->device->ordinal] = NULL;
    list_remove(p);
    unlock(&all.lock);
    r = cu_status(p->device->gpu, lk_pool_destroy(p->pool));
    base_free(p);
    return r;
}

static cu_result enter(const struct cu_pool *p)
{
    cu_result r = cu_begin();
    return r ? r : cu_handle_is(p, CU_POOL) ? CU_OK : CU_INVALID_VALUE;
}

CU_API(cuMemPoolTrimTo)(struct cu_pool *p, u64 keep)
{
    cu_result r = enter(p);
    return r ? r : cu_status(p->device->gpu, lk_pool_trim(p->pool, keep));
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

CU_API(cuMemPoolSetAttribute)(struct cu_pool *p, u32 which, const void *value)
{
    cu_result r = enter(p);
    if (r) return r;
    if (which < REUSE_EVENTS || which > USED_HIGH || !cu_readable(value, which <= REUSE_INTERNAL ? 4 : 8))
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

CU_API(cuMemPoolGetAttribute)(struct cu_pool *p, u32 which, void *value)
{
    cu_result r = enter(p);
    if (r) return r;
    if (which < REUSE_EVENTS || which > USED_HIGH || !cu_readable(value, which <= REUSE_INTERNAL ? 4 : 8))
        return CU_INVALID_VALUE;
    lk_pool_info info = { .size = sizeof info };
    if ((r = cu_status(p->device->gpu, lk_pool_usage(p->pool, &info, 0)))) return r;
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

/* The device itself always has all rights. */
CU_API(cuMemPoolSetAccess)(struct cu_pool *p, const struct cu_access *a, u64 n)
{
    cu_result r = enter(p);
    if (r) return r;
    if (!n || n > CU_DEVICES || !cu_readable(a, n * sizeof *a)) return CU_INVALID_VALUE;
    for (u64 i = 0; i < n; i++) {
        const struct cu_device *d = a[i].location.type == PLACE_DEVICE ? cu_device_at(a[i].location.id) : NULL;
        if (!d) return CU_INVALID_DEVICE;
        if (a[i].flags != RIGHT_NONE && a[i].flags != RIGHT_WRITE) return CU_INVALID_VALUE;
        if (d == p->device && a[i].flags != RIGHT_WRITE) return CU_INVALID_DEVICE;
    }
    for (u64 i = 0; i < n; i++) p->right[a[i].location.id] = (u8)a[i].flags;
    return CU_OK;
}

CU_API(cuMemPoolGetAccess)(u32 *flags, struct cu_pool *p, const struct cu_location *l)
{
    cu_result r = enter(p);
    if (r) return r;
    if (!cu_ok(flags) || !cu_ok(l)) return CU_INVALID_VALUE;
    const struct cu_device *d = l->type == PLACE_DEVICE ? cu_device_at(l->id) : NULL;
    if (!d) return CU_INVALID_VALUE;
    *flags = p->right[d->ordinal];
    return CU_OK;
}

static cu_result alloc(u64 *out, u64 bytes, struct cu_pool *p, void *stream, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(stream, &c);
    if (r || (r = cu_stream_of(c, stream, thread, &st))) return r;
    if (!cu_ok(out) || !cu_handle_is(p, CU_POOL)) return CU_INVALID_VALUE;
    *out = 0;
    if (!bytes) return CU_OK;
    return cu_status(c->device->gpu, lk_memory_alloc_async(st, bytes, p->pool, NULL, out));
}
CU_API(cuMemAllocFromPoolAsync)(u64 *out, u64 n, struct cu_pool *p, void *s) { return alloc(out, n, p, s, false); }
CU_API(cuMemAllocFromPoolAsync_ptsz)(u64 *out, u64 n, struct cu_pool *p, void *s) { return alloc(out, n, p, s, true); }

struct cu_pool *cu_pool_at(u64 address)
{
    struct cu_pool *found = NULL;
    lock(&all.lock);
    for (u32 i = 0; i < all.n && !found; i++)
        if (lk_pool_has(all.list[i]->pool, address)) found = all.list[i];
    unlock(&all.lock);
    return found;
}
