/* Pools of the public interface. */
#include "api/host.h"

lk_status lk_pool_create(lk_gpu *gpu, uint64_t most, lk_pool **pool)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return lk_pool_create_of(gpu, LK_MEMORY_DEVICE, most, 0, pool);
}

lk_status lk_pool_create_of(lk_gpu *gpu, lk_memory_kind kind, uint64_t most, uint32_t flags, lk_pool **pool)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    static const enum mem_kind kinds[] = { MEM_POOL, MEM_PINNED, MEM_MANAGED };
    if (!pool) return HOST_MISSING(gpu, "place for the pool");
    struct error *e = host_begin(gpu);
    *pool = NULL;
    if ((u32)kind >= COUNT_OF(kinds)) return host_refuse(gpu, "a pool is of device, pinned or managed memory");
    if (!gpu->device->async->pool_new) return host_done(gpu, OP_NOT_SUPPORTED);
    lk_pool *p = handle_new(sizeof *p);
    if (!p) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    u32 status = gpu->device->async->pool_new(gpu->device, most, kinds[kind], &p->dev, e);
    if (status) {
        handle_free(p, sizeof *p);
        return host_done(gpu, status);
    }
    p->is_default = flags & LK_POOL_OWN;
    handle_add(&p->handle, gpu, HANDLE_POOL);
    *pool = p;
    return LK_OK;
}

lk_status lk_pool_destroy(lk_pool *pool)
{
    HOST_CALL(LK_BAD_INPUT, USE(POOL, pool));
    lk_gpu *gpu = pool->handle.gpu;
    if (pool->is_default) return host_refuse(gpu, "the default pool of a device cannot be destroyed");
    u32 status;
    return host_destroy(&call, &pool->handle, __func__, &status) ? host_done(gpu, status) : LK_BAD_INPUT;
}

u32 host_pool_ended(struct handle *h)
{
    lk_pool *pool = (lk_pool *)h;
    u32 status = h->gpu->device->async->pool_delete(pool->dev, host_begin(h->gpu));
    handle_remove(h);
    handle_free(pool, sizeof *pool);
    return status;
}

lk_status lk_pool_trim(lk_pool *pool, uint64_t keep)
{
    HOST_CALL(LK_BAD_INPUT, USE(POOL, pool));
    lk_gpu *gpu = pool->handle.gpu;
    return host_done(gpu, gpu->device->async->pool_trim(pool->dev, keep, host_begin(gpu)));
}

lk_status lk_pool_threshold(lk_pool *pool, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(POOL, pool));
    lk_gpu *gpu = pool->handle.gpu;
    return host_done(gpu, gpu->device->async->pool_threshold(pool->dev, bytes, host_begin(gpu)));
}

lk_status lk_pool_access(lk_pool *pool, uint32_t allowed)
{
    HOST_CALL(LK_BAD_INPUT, USE(POOL, pool));
    lk_gpu *gpu = pool->handle.gpu;
    host_begin(gpu);
    if (!gpu->device->mem) return host_done(gpu, OP_NOT_SUPPORTED);
    sim_pool_access(pool->dev, allowed);
    return LK_OK;
}

lk_pool *lk_pool_default(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct error *e = host_begin(gpu);
    lk_pool *p = __atomic_load_n(&gpu->pool, __ATOMIC_ACQUIRE);
    if (p) return p;
    struct dev_pool *dev = gpu->device->mem ? sim_pool_default(gpu->device) : NULL;
    p = dev ? handle_new(sizeof *p) : NULL;
    if (!p) {
        error_set(e, gpu->device->mem ? ERR_MEMORY : ERR_UNSUPPORTED,
                  gpu->device->mem ? "out of memory" : "the default pool of a real GPU is its driver's");
        return (void)host_failed(gpu), NULL;
    }
    p->dev = dev;
    p->is_default = true;
    handle_open(&p->handle, gpu, HANDLE_POOL); /* in no list: it is no leak */
    lk_pool *first = NULL;
    if (__atomic_compare_exchange_n(&gpu->pool, &first, p, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) return p;
    handle_free(p, sizeof *p); /* another thread was faster */
    return first;
}

lk_status lk_pool_current(lk_gpu *gpu, lk_pool *pool)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu), USE(POOL, pool));
    if (pool->handle.gpu != gpu) return host_refuse(gpu, "the pool belongs to another gpu");
    struct error *e = host_begin(gpu);
    if (!gpu->device->mem) return host_done(gpu, OP_NOT_SUPPORTED);
    return host_done(gpu, sim_pool_current(gpu->device, pool->dev, e));
}

lk_status lk_pool_usage(lk_pool *pool, lk_pool_info *info, uint32_t reset)
{
    HOST_CALL(LK_BAD_INPUT, USE(POOL, pool));
    if (!info) return HOST_MISSING(pool->handle.gpu, "place for it");
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
    HOST_CALL(0, USE(POOL, pool));
    struct dev_address at;
    struct device *d = pool->handle.gpu->device;
    return d->mem && dev_address(d, address, &at) && at.device == d && sim_pool_of(at.object) == pool->dev;
}
