/* Virtual memory management of the public interface. */
#include "api/host.h"
#include <inttypes.h>

static lock_t holders_lock = LOCK_INIT;

lk_status lk_virtual_reserve(lk_gpu *gpu, uint64_t bytes, uint64_t align, const char *name, uint64_t *address)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!address) return HOST_MISSING(gpu, "place for the address");
    struct mem_object *o;
    *address = 0;
    u32 status = dev_virtual_reserve(gpu->device, bytes, align, name, host_site(NULL), &o, host_begin(gpu));
    if (!status) *address = o->base;
    return host_done(gpu, status);
}

lk_status lk_virtual_free(lk_gpu *gpu, uint64_t address, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    return host_done(gpu, dev_virtual_free(gpu->device, address, bytes, host_site(NULL), host_begin(gpu)));
}

lk_status lk_physical_create(lk_gpu *gpu, uint64_t bytes, lk_physical **physical)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!physical) return HOST_MISSING(gpu, "place for the memory");
    struct error *e = host_begin(gpu);
    struct mem_physical *dev;
    *physical = NULL;
    u32 status = dev_physical_new(gpu->device, bytes, &dev, e);
    if (status) return host_done(gpu, status);
    lk_physical *p = handle_new(sizeof *p);
    if (!p) {
        dev_physical_delete(gpu->device, dev);
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    p->dev = dev;
    p->holders = 1;
    dev->owner = p;
    handle_add(&p->handle, gpu, HANDLE_PHYSICAL);
    *physical = p;
    return LK_OK;
}

/* One holder or one mapping less; false: there is none. */
static bool drop(lk_physical *p, bool holder)
{
    u32 *count = holder ? &p->holders : &p->mappings;
    lock(&holders_lock);
    bool any = *count;
    if (any) --*count;
    u32 left = p->holders + p->mappings;
    unlock(&holders_lock);
    if (!any) return false;
    if (!left) handle_destroy(&p->handle);
    return true;
}

u32 host_physical_ended(struct handle *h)
{
    lk_physical *p = (lk_physical *)h;
    dev_physical_delete(h->gpu->device, p->dev);
    handle_remove(h);
    handle_free(p, sizeof *p);
    return 0;
}

lk_status lk_physical_release(lk_physical *physical)
{
    HOST_CALL(LK_BAD_INPUT, USE(PHYSICAL, physical));
    lk_gpu *gpu = physical->handle.gpu;
    host_begin(gpu);
    if (drop(physical, true)) return LK_OK;
    return host_refuse(gpu, "lk_physical_release: the memory was released before; it lives only while it is mapped");
}

lk_status lk_virtual_map(lk_gpu *gpu, uint64_t address, uint64_t bytes, lk_physical *physical)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu), USE(PHYSICAL, physical));
    if (!physical) return HOST_MISSING(gpu, "memory");
    if (physical->handle.gpu != gpu) return host_refuse(gpu, "the memory belongs to another gpu");
    struct error *e = host_begin(gpu);
    lock(&holders_lock);
    physical->mappings++;
    unlock(&holders_lock);
    u32 status = dev_virtual_map(gpu->device, address, bytes, physical->dev, e);
    if (status) drop(physical, false);
    return host_done(gpu, status);
}

struct dropped {
    struct mem_physical **list;
    u32 n, cap;
};
static void gone(void *self, struct mem_physical *p)
{
    struct dropped *d = self;
    NEED_ROOM(d->list, d->n, d->cap, 8);
    d->list[d->n++] = p;
}

lk_status lk_virtual_unmap(lk_gpu *gpu, uint64_t address, uint64_t bytes)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    struct dropped d = { 0 };
    u32 status = dev_virtual_unmap(gpu->device, address, bytes, host_site(NULL), gone, &d, host_begin(gpu));
    for (u32 i = 0; i < d.n; i++) drop(d.list[i]->owner, false);
    base_free(d.list);
    return host_done(gpu, status);
}

lk_status lk_virtual_access(lk_gpu *gpu, uint64_t address, uint64_t bytes, lk_access access)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    static const u32 rights[] = { 0, MEM_READABLE, MEM_READABLE | MEM_WRITABLE };
    if (access > LK_ACCESS_WRITE) return host_refuse(gpu, "there is no access with number %d", (int)access);
    return host_done(gpu, dev_virtual_access(gpu->device, address, bytes, rights[access], host_begin(gpu)));
}

lk_status lk_virtual_at(lk_gpu *gpu, uint64_t address, lk_virtual_info *info)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    struct mem_mapping x;
    u32 rights;
    if (!info) return HOST_MISSING(gpu, "place for it");
    struct error *e = host_begin(gpu);
    if (!dev_virtual_at(gpu->device, address, &x, &rights)) {
        error_set(e, ERR_NOTHING, "no memory is mapped at 0x%" PRIx64, address);
        return host_failed(gpu);
    }
    lk_virtual_info out = { .size = info->size,
                            .base = x.at,
                            .bytes = x.bytes,
                            .physical = x.physical->owner,
                            .access = rights & MEM_WRITABLE   ? LK_ACCESS_WRITE
                                      : rights & MEM_READABLE ? LK_ACCESS_READ
                                                              : LK_ACCESS_NONE };
    memcpy(info, &out, MIN_OF(info->size, sizeof out));
    return LK_OK;
}

/* Software GPU, for libcuda: one holder more. */
void host_physical_retain(lk_physical *p)
{
    lock(&holders_lock);
    p->holders++;
    unlock(&holders_lock);
}
