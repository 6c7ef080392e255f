/* Executable graphs: made, updated, launched. */
#include "driver/cu_check.h"
#include "driver/cu_engine.h"
#include "driver_graphs/cu_graph.h"

enum { FLAG_AUTO_FREE = 1 };
enum { RESULT_OK, RESULT_ERROR, RESULT_INVALID_STRUCTURE, RESULT_NOT_SUPPORTED }; /* CUgraphInstantiateResult */

static cu_result instantiate(struct cu_exec **out, struct cu_graph *g, u64 flags)
{
    struct cu_exec *x = cu_handle_new(CU_EXEC, sizeof *x);
    if (!x) return CU_OUT_OF_MEMORY;
    *x = (struct cu_exec){ .device = g->device, .flags = flags };
    u32 given = flags & FLAG_AUTO_FREE ? LK_GRAPH_AUTO_FREE : 0;
    cu_result r = cu_status(g->device->gpu, lk_graph_instantiate(g->graph, given, &x->exec));
    if (r) {
        cu_handle_end(x);
        return r;
    }
    if (g->owned) {
        struct cu_exec_user *user = base_need(sizeof *user);
        user->handle = CU_EXEC;
        cu_owned_copy(g->owned, &user->owned);
        graph_exec_set_user(cu_engine_exec(x), user);
    }
    *out = cu_handle_open(x);
    return CU_OK;
}
CU_DEFINE(cuGraphInstantiateWithFlags, struct cu_exec **, out, struct cu_graph *, g, u64, flags)
{
    return instantiate(out, g, flags);
}
CU_DEFINE(cuGraphInstantiate, struct cu_exec **, out, struct cu_graph *, g, struct cu_node **, node, char *, log, u64,
          bytes)
{
    if (cu_ok(node)) *node = NULL;
    if (bytes && cu_ok(log)) *log = 0;
    return instantiate(out, g, 0);
}
CU_API(cuGraphInstantiate_v2)(struct cu_exec **out, struct cu_graph *g, struct cu_node **node, char *log, u64 bytes)
{
    return lkcu_cuGraphInstantiate(out, g, node, log, bytes);
}
CU_DEFINE(cuGraphInstantiateWithParams, struct cu_exec **, out, struct cu_graph *, g, struct cu_instantiation *, x)
{
    cu_result r = lkcu_cuGraphInstantiateWithFlags(out, g, x->flags);
    x->node = NULL;
    x->result = !r                      ? RESULT_OK
                : r == CU_INVALID_VALUE ? RESULT_INVALID_STRUCTURE
                : r == CU_NOT_SUPPORTED ? RESULT_NOT_SUPPORTED
                                        : RESULT_ERROR;
    return r;
}

static cu_result exec_end(void *handle)
{
    struct cu_exec *x = handle;
    lk_exec_destroy(x->exec);
    return CU_OK;
}
CU_DEFINE(cuGraphExecDestroy, struct cu_exec *, x)
{
    return cu_handle_take(x, CU_EXEC) ? cu_handle_drop(x, exec_end) : CU_INVALID_VALUE;
}
CU_DEFINE(cuGraphExecGetFlags, struct cu_exec *, x, u64 *, flags)
{
    *flags = x->flags;
    return CU_OK;
}

CU_DEFINE(cuGraphLaunch, struct cu_exec *, x, void *, stream)
{
    return cu_status(x->device->gpu, lk_exec_launch(x->exec, here.stream));
}
/* There is nothing to bring to the device ahead of the launch. */
CU_DEFINE(cuGraphUpload, struct cu_exec *, x, void *, s) { return CU_OK; }

/* ---- updating ---- */

CU_DEFINE(cuGraphExecUpdate_v2, struct cu_exec *, x, struct cu_graph *, g, struct cu_update *, out)
{
    /* CUgraphExecUpdateResult */
    static const u32 result[] = { [GRAPH_UPDATE_OK] = 0,
                                  [GRAPH_UPDATE_TOPOLOGY] = 2,
                                  [GRAPH_UPDATE_KIND] = 3,
                                  [GRAPH_UPDATE_PARAMETERS] = 5,
                                  [GRAPH_UPDATE_NOT_SUPPORTED] = 6 };
    struct graph_update u = { 0 };
    u32 status = graph_update(cu_engine_exec(x), cu_engine_graph(g), &u);
    *out = (struct cu_update){ status ? MAX_OF(result[u.result], 1u) : 0, u.node ? cu_node_of(u.node) : NULL, NULL };
    return (cu_result)status;
}
CU_API(cuGraphExecUpdate)(struct cu_exec *x, struct cu_graph *g, struct cu_node **node, u32 *result)
{
    struct cu_update u = { 0 };
    cu_result r = lkcu_cuGraphExecUpdate_v2(x, g, &u);
    if (cu_ok(node)) *node = u.node;
    if (cu_ok(result)) *result = u.result;
    return r;
}

static cu_result kernel_set(struct cu_context *c, struct cu_exec *x, struct cu_node *n, const struct cu_kernel_node *p,
                            bool second)
{
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch l;
    cu_result r = cu_kernel_node_read(c, p, second, arg, &k, &l);
    if (r) return r;
    return cu_status(x->device->gpu, lk_exec_set_launch(x->exec, (lk_node *)n->node, k, &l));
}
CU_DEFINE(cuGraphExecKernelNodeSetParams, struct cu_exec *, x, struct cu_node *, n, const struct cu_kernel_node *, p)
{
    return kernel_set(here.context, x, n, p, false);
}
CU_DEFINE(cuGraphExecKernelNodeSetParams_v2, struct cu_exec *, x, struct cu_node *, n, const struct cu_kernel_node_v2 *,
          p)
{
    return kernel_set(here.context, x, n, p ? &p->first : NULL, true);
}
CU_DEFINE(cuGraphExecMemcpyNodeSetParams, struct cu_exec *, x, struct cu_node *, n, const struct cu_copy_3d *, p,
          void *, context)
{
    lk_copy y;
    cu_result r = cu_copy_read(here.context, p, &y);
    if (r) return r;
    return cu_status(x->device->gpu, lk_exec_set_copy(x->exec, (lk_node *)n->node, &y));
}
CU_DEFINE(cuGraphExecMemsetNodeSetParams, struct cu_exec *, x, struct cu_node *, n, const struct cu_fill_node *, p,
          void *, context)
{
    lk_fill y = cu_fill_node_read(p);
    return cu_status(x->device->gpu, lk_exec_set_fill(x->exec, (lk_node *)n->node, &y));
}
CU_DEFINE(cuGraphExecHostNodeSetParams, struct cu_exec *, x, struct cu_node *, n, const struct cu_host_node *, p)
{
    if (!bytes_readable((const void *)(uintptr_t)p->call, 1)) return CU_INVALID_VALUE;
    return cu_status(x->device->gpu, lk_exec_set_host(x->exec, (lk_node *)n->node, p->call, p->self));
}
CU_DEFINE(cuGraphExecChildGraphNodeSetParams, struct cu_exec *, x, struct cu_node *, n, struct cu_graph *, child)
{
    return (cu_result)graph_exec_set_child(cu_engine_exec(x), n->node, cu_engine_graph(child));
}
static cu_result event_set(struct cu_exec *x, struct cu_node *n, void *event)
{
    struct op_spec spec = { .kind = graph_node_kind(n->node), .event = event_in(cu_event_of(event)->dev) };
    return (cu_result)graph_exec_set(cu_engine_exec(x), n->node, &spec);
}
CU_DEFINE(cuGraphExecEventRecordNodeSetEvent, struct cu_exec *, x, struct cu_node *, n, void *, event)
{
    return event_set(x, n, event);
}
CU_DEFINE(cuGraphExecEventWaitNodeSetEvent, struct cu_exec *, x, struct cu_node *, n, void *, event)
{
    return event_set(x, n, event);
}

CU_DEFINE(cuGraphExecNodeSetParams, struct cu_exec *, x, struct cu_node *, n, struct cu_node_params *, p)
{
    if (p->type != n->type) return CU_INVALID_VALUE;
    switch (n->type) {
    case CU_NODE_KERNEL: return lkcu_cuGraphExecKernelNodeSetParams_v2(x, n, &p->kernel);
    case CU_NODE_COPY: return lkcu_cuGraphExecMemcpyNodeSetParams(x, n, &p->copy.copy, p->copy.context);
    case CU_NODE_FILL: return lkcu_cuGraphExecMemsetNodeSetParams(x, n, &p->fill, NULL);
    case CU_NODE_HOST: return lkcu_cuGraphExecHostNodeSetParams(x, n, &p->host);
    case CU_NODE_GRAPH: return lkcu_cuGraphExecChildGraphNodeSetParams(x, n, p->graph);
    case CU_NODE_WAIT: return lkcu_cuGraphExecEventWaitNodeSetEvent(x, n, p->event);
    case CU_NODE_RECORD: return lkcu_cuGraphExecEventRecordNodeSetEvent(x, n, p->event);
    case CU_NODE_BATCH: return lkcu_cuGraphExecBatchMemOpNodeSetParams(x, n, &p->batch);
    default: return CU_NOT_SUPPORTED;
    }
}

/* ---- nodes that are switched off ---- */

CU_DEFINE(cuGraphNodeSetEnabled, struct cu_exec *, x, struct cu_node *, n, unsigned, enabled)
{
    return (cu_result)graph_exec_enable(cu_engine_exec(x), n->node, enabled);
}
CU_DEFINE(cuGraphNodeGetEnabled, struct cu_exec *, x, struct cu_node *, n, unsigned *, enabled)
{
    bool on;
    u32 status = graph_exec_enabled(cu_engine_exec(x), n->node, &on);
    if (!status) *enabled = on;
    return (cu_result)status;
}

/* ---- memory of allocation nodes ---- */

enum { USED_NOW, USED_HIGH, RESERVED_NOW, RESERVED_HIGH, MEMORY_ATTRIBUTES }; /* CUgraphMem_attribute */

CU_DEFINE(cuDeviceGetGraphMemAttribute, int, device, u32, which, u64 *, value)
{
    u64 now, high;
    cu_result r = cu_device_open(here.device);
    if (r) return r;
    if (which >= MEMORY_ATTRIBUTES) return CU_INVALID_VALUE;
    sim_pool_graph_usage(here.device->gpu->device, &now, &high, false);
    *value = which == USED_NOW || which == RESERVED_NOW ? now : high;
    return CU_OK;
}
/* Only the highest values can be set, and only to 0. */
CU_DEFINE(cuDeviceSetGraphMemAttribute, int, device, u32, which, u64 *, value)
{
    u64 now, high;
    cu_result r = cu_device_open(here.device);
    if (r) return r;
    if ((which != USED_HIGH && which != RESERVED_HIGH) || *value) return CU_INVALID_VALUE;
    sim_pool_graph_usage(here.device->gpu->device, &now, &high, true);
    return CU_OK;
}
/* Memory belongs to its nodes, and goes with them: nothing is kept that could be given back. */
CU_DEFINE(cuDeviceGraphMemTrim, int, device) { return cu_device_open(here.device); }
