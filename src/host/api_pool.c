/* Pools of the public interface. */
#include "host/host.h"

lk_status lk_pool_create(lk_gpu *gpu, uint64_t most, lk_pool **pool)
{
    return lk_pool_create_of(gpu, LK_MEMORY_DEVICE, most, 0, pool);
}

lk_status lk_pool_create_of(lk_gpu *gpu, lk_memory_kind kind, uint64_t most, uint32_t flags, lk_pool **pool)
{
    static const enum mem_kind kinds[] = { MEM_POOL, MEM_PINNED, MEM_MANAGED };
    if (!gpu || !pool) return HOST_MISSING(gpu, gpu ? "place for the pool" : "gpu");
    struct error *e = host_begin(gpu);
    *pool = NULL;
    if ((u32)kind >= COUNT_OF(kinds)) return host_refuse(gpu, "a pool is of device, pinned or managed memory");
    if (!gpu->device->async->pool_new) return host_done(gpu, OP_NOT_SUPPORTED);
    lk_pool *p = base_alloc(sizeof *p);
    if (!p) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    u32 status = gpu->device->async->pool_new(gpu->device, most, kinds[kind], &p->dev, e);
    if (status) {
        base_free(p);
        return host_done(gpu, status);
    }
    p->is_default = flags & LK_POOL_OWN;
    handle_add(&p->handle, gpu, HANDLE_POOL);
    *pool = p;
    return LK_OK;
}

lk_status lk_pool_destroy(lk_pool *pool)
{
    if (!pool) return HOST_MISSING(NULL, "pool");
    lk_gpu *gpu = pool->handle.gpu;
    if (pool->is_default) return host_refuse(gpu, "the default pool of a device cannot be destroyed");
    return host_done(gpu, host_pool_end(pool));
}

u32 host_pool_end(lk_pool *pool)
{
    lk_gpu *gpu = pool->handle.gpu;
    u32 status = gpu->device->async->pool_delete(pool->dev, host_begin(gpu));
    handle_remove(&pool->handle);
    base_free(pool);
    return status;
}

lk_status lk_pool_trim(lk_pool *pool, uint64_t keep)
{
    if (!pool) return HOST_MISSING(NULL, "pool");
    lk_gpu *gpu = pool->handle.gpu;
    return host_done(gpu, gpu->device->async->pool_trim(pool->dev, keep, host_begin(gpu)));
}

lk_status lk_pool_threshold(lk_pool *pool, uint64_t bytes)
{
    if (!pool) return HOST_MISSING(NULL, "pool");
    lk_gpu *gpu = pool->handle.gpu;
    return host_done(gpu, gpu->device->async->pool_threshold(pool->dev, bytes, host_begin(gpu)));
}

lk_status lk_pool_access(lk_pool *pool, uint32_t allowed)
{
    if (!pool) return HOST_MISSING(NULL, "pool");
    lk_gpu *gpu = pool->handle.gpu;
    host_begin(gpu);
    if (!gpu->device->mem) return host_done(gpu, OP_NOT_SUPPORTED);
    sim_pool_access(pool->dev, allowed);
    return LK_OK;
}

lk_pool *lk_pool_default(lk_gpu *gpu)
{
    if (!gpu) return (void)HOST_MISSING(gpu, "gpu"), NULL;
    struct error *e = host_begin(gpu);
    lk_pool *p = __atomic_load_n(&gpu->pool, __ATOMIC_ACQUIRE);
    if (p) return p;
    struct dev_pool *dev = gpu->device->mem ? sim_pool_default(gpu->device) : NULL;
    p = dev ? base_alloc(sizeof *p) : NULL;
    if (!p) {
        error_set(e, gpu->device->mem ? ERR_MEMORY : ERR_UNSUPPORTED,
                  gpu->device->mem ? "out of memory" : "the default pool of a real GPU is its driver's");
        return (void)host_failed(gpu), NULL;
    }
    *p = (lk_pool){ .handle = { .gpu = gpu }, .dev = dev, .is_default = true }; /* in no list: it is no leak */
    lk_pool *first = NULL;
    if (__atomic_compare_exchange_n(&gpu->pool, &first, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return p;
    base_free(p); /* another thread was faster */
    return first;
}

lk_status lk_pool_current(lk_gpu *gpu, lk_pool *pool)
{
    if (!gpu || !pool) return HOST_MISSING(gpu, gpu ? "pool" : "gpu");
    struct error *e = host_begin(gpu);
    if (!gpu->device->mem) return host_done(gpu, OP_NOT_SUPPORTED);
    return host_done(gpu, sim_pool_current(gpu->device, pool->dev, e));
}

lk_status lk_pool_usage(lk_pool *pool, lk_pool_info *info, uint32_t reset)
{
    if (!pool || !info) return HOST_MISSING(pool ? pool->handle.gpu : NULL, pool ? "place for it" : "pool");
    lk_gpu *gpu = pool->handle.gpu;
    host_begin(gpu);
    if (!gpu->device->mem) return host_done(gpu, OP_NOT_SUPPORTED);
    struct dev_pool_usage u;
    sim_pool_usage(pool->dev, &u);
    sim_pool_usage_reset(pool->dev, reset & LK_POOL_RESET_RESERVED, reset & LK_POOL_RESET_USED);
    lk_pool_info out = { .size = info->size,
                         .reserved = u.reserved,
                         .reserved_high = u.reserved_high,
                         .used = u.used,
                         .used_high = u.used_high,
                         .most = u.most,
                         .threshold = u.threshold };
    memcpy(info, &out, MIN_OF(info->size, sizeof out));
    return LK_OK;
}

uint32_t lk_pool_has(lk_pool *pool, uint64_t address)
{
    struct dev_address at;
    if (!pool) return false;
    struct device *d = pool->handle.gpu->device;
    return d->mem && dev_address(d, address, &at) && at.device == d && sim_pool_of(at.object) == pool->dev;
}
