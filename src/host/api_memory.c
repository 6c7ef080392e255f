/* Memory of the public interface. */
#include "host/host.h"

lk_status lk_memory_alloc(lk_gpu *gpu, uint64_t bytes, lk_memory_kind kind, const char *name, uint64_t *address)
{
    if (!gpu || !address) return HOST_MISSING(gpu, gpu ? "place for the address" : "gpu");
    struct error *e = host_begin(gpu);
    *address = 0;
    if (kind > LK_MEMORY_MANAGED) {
        error_set(e, ERR_INPUT, "there is no kind of memory %d", (int)kind);
        return host_failed(gpu);
    }
    static const enum mem_kind kinds[] = { MEM_DEVICE, MEM_PINNED, MEM_MANAGED };
    struct mem_object *o = dev_alloc(gpu->device, bytes, kinds[kind], name, NULL, e);
    if (!o) return host_failed(gpu);
    *address = o->base;
    return LK_OK;
}

lk_status lk_memory_describe(lk_gpu *gpu, uint64_t address, const char *name, const char *type, uint32_t element_bytes)
{
    if (!gpu) return HOST_MISSING(gpu, "gpu");
    struct error *e = host_begin(gpu);
    return dev_describe(gpu->device, address, name, type, element_bytes, e) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_free(lk_gpu *gpu, uint64_t address)
{
    if (!gpu) return HOST_MISSING(gpu, "gpu");
    return !address || dev_free(gpu->device, address, NULL) ? LK_OK : LK_FINDINGS;
}

lk_status lk_memory_write(lk_gpu *gpu, uint64_t address, const void *from, uint64_t bytes)
{
    if (!gpu || (!from && bytes)) return HOST_MISSING(gpu, gpu ? "memory to copy from" : "gpu");
    return dev_write(gpu->device, address, from, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_read(lk_gpu *gpu, uint64_t address, void *to, uint64_t bytes)
{
    if (!gpu || (!to && bytes)) return HOST_MISSING(gpu, gpu ? "memory to copy to" : "gpu");
    return dev_read(gpu->device, address, to, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_output(lk_gpu *gpu, uint64_t address, uint64_t bytes)
{
    if (!gpu) return HOST_MISSING(gpu, "gpu");
    return dev_output(gpu->device, address, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_fill(lk_gpu *gpu, uint64_t address, int byte, uint64_t bytes)
{
    if (!gpu) return HOST_MISSING(gpu, "gpu");
    return dev_fill(gpu->device, address, byte, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

uint64_t lk_memory_live(const lk_gpu *gpu) { return gpu ? gpu->device->ops->live(gpu->device) : 0; }
