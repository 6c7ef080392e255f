/* cudaDeviceReset: what the primary context of a device had is gone, memory and handles alike. */
#include "driver/cu_api.h"
#include "driver_graphs/cu_graph.h"
#include "driver/cu_image.h"
#include "driver/cu_mem.h"
#include "driver/cu_stream.h"

/* Each is asked by cu_handle_find, which goes on while the answer is no. */
static bool exec_end(void *handle, void *device)
{
    struct cu_exec *x = handle;
    if (x->device == device) lkcu_cuGraphExecDestroy(x);
    return false;
}
static bool graph_end(void *handle, void *device)
{
    struct cu_graph *g = handle;
    /* a child ends with the graph that it is in */
    if (cu_handle_is(g, CU_GRAPH) && g->device == device && g->owner) lkcu_cuGraphDestroy(g);
    return false;
}
static bool mipmapped_end(void *handle, void *device)
{
    struct cu_mipmapped *m = handle;
    if (m->device == device) lkcu_cuMipmappedArrayDestroy(m);
    return false;
}
static bool array_end(void *handle, void *device)
{
    struct cu_array *a = handle;
    if (cu_handle_is(a, CU_ARRAY) && a->device == device && !a->whole) lkcu_cuArrayDestroy(a);
    return false;
}
static bool stream_end(void *handle, void *device)
{
    struct cu_stream *s = handle;
    if (s->device == device) lkcu_cuStreamDestroy_v2(s);
    return false;
}
static bool event_end(void *handle, void *device)
{
    lk_event *e = cu_event_of(handle);
    if (e && e->handle.gpu == ((struct cu_device *)device)->gpu) lkcu_cuEventDestroy_v2(handle);
    return false;
}
static bool is_other(void *handle, void *device)
{
    struct cu_context *c = handle;
    return c->device == device && c != c->device->primary;
}

static const char *site; /* of the last reset, atomic; NULL: there was none, or the call is not known */

bool cu_reset_ended(const lk_gpu *gpu, u64 address)
{
    const char *at = __atomic_load_n(&site, __ATOMIC_ACQUIRE);
    const struct mem_object *o = at && gpu->device->mem ? mem_find(gpu->device->mem, address) : NULL;
    return o && o->base == address && !mem_is_live(o) && o->free_site && !strcmp(o->free_site, at);
}

void cu_reset(struct cu_device *d)
{
    struct mem *mem = d->gpu->device->mem;
    const struct mem_object *o;
    /* memory belongs to the device here: another context of it may use some */
    if (!mem || cu_handle_find(CU_CONTEXT, is_other, d)) return;
    cu_handle_find(CU_EXEC, exec_end, d);
    cu_handle_find(CU_GRAPH, graph_end, d);
    cu_handle_find(CU_MIPMAPPED, mipmapped_end, d);
    cu_handle_find(CU_ARRAY, array_end, d);
    cu_handle_find(CU_STREAM, stream_end, d);
    cu_handle_find(CU_EVENT, event_end, d);
    lk_gpu_synchronise(d->gpu);
    __atomic_store_n(&site, host_site(NULL), __ATOMIC_RELEASE);
    for (u32 id = 1; (o = mem_by_id(mem, id)); id++)
        if (dev_host_owns(d->gpu->device, o)) {
            if (o->kind == MEM_REGISTERED)
                lk_memory_unregister(d->gpu, (void *)(uintptr_t)o->base);
            else
                lk_memory_free(d->gpu, o->base);
        }
}
