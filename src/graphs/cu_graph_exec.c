/* Executable graphs: made, updated, launched. */
#include "driver/cu_engine.h"
#include "graphs/cu_graph.h"

enum { FLAG_AUTO_FREE = 1, FLAGS = 15 };
enum { RESULT_OK, RESULT_ERROR, RESULT_INVALID_STRUCTURE, RESULT_NOT_SUPPORTED }; /* CUgraphInstantiateResult */

static cu_result instantiate(struct cu_exec **out, struct cu_graph *g, u64 flags)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out) || !cu_handle_is(g, CU_GRAPH) || flags & ~(u64)FLAGS) return CU_INVALID_VALUE;
    struct cu_exec *x = cu_handle_new(CU_EXEC, sizeof *x);
    if (!x) return CU_OUT_OF_MEMORY;
    *x = (struct cu_exec){ .device = g->device, .flags = flags };
    u32 given = flags & FLAG_AUTO_FREE ? LK_GRAPH_AUTO_FREE : 0;
    r = cu_status(g->device->gpu, lk_graph_instantiate(&g->view, given, &x->exec));
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
CU_API(cuGraphInstantiateWithFlags)(struct cu_exec **out, struct cu_graph *g, u64 flags)
{
    return instantiate(out, g, flags);
}
CU_API(cuGraphInstantiate)(struct cu_exec **out, struct cu_graph *g, struct cu_node **node, char *log, u64 bytes)
{
    if (cu_ok(node)) *node = NULL;
    if (bytes && cu_ok(log)) *log = 0;
    return instantiate(out, g, 0);
}
CU_API(cuGraphInstantiate_v2)(struct cu_exec **out, struct cu_graph *g, struct cu_node **node, char *log, u64 bytes)
{
    return lkcu_cuGraphInstantiate(out, g, node, log, bytes);
}
CU_API(cuGraphInstantiateWithParams)(struct cu_exec **out, struct cu_graph *g, struct cu_instantiation *x)
{
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    cu_result r = instantiate(out, g, x->flags);
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
CU_API(cuGraphExecDestroy)(struct cu_exec *x)
{
    cu_result r = cu_begin();
    if (r) return r;
    return cu_handle_take(x, CU_EXEC) ? cu_handle_drop(x, exec_end) : CU_INVALID_VALUE;
}
CU_API(cuGraphExecGetFlags)(struct cu_exec *x, u64 *flags)
{
    if (!cu_handle_is(x, CU_EXEC) || !cu_ok(flags)) return CU_INVALID_VALUE;
    *flags = x->flags;
    return CU_OK;
}

CU_API(cuGraphLaunch)(struct cu_exec *x, void *stream)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(stream, &c);
    if (r) return r;
    if (!cu_handle_is(x, CU_EXEC)) return CU_INVALID_VALUE;
    if ((r = cu_stream_of(c, stream, &st))) return r;
    return cu_status(x->device->gpu, lk_exec_launch(x->exec, st));
}
/* There is nothing to bring to the device ahead of the launch. */
CU_API(cuGraphUpload)(struct cu_exec *x, void *s)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current_for(s, &c);
    if (r) return r;
    return cu_handle_is(x, CU_EXEC) ? cu_stream_of(c, s, &st) : CU_INVALID_VALUE;
}

/* ---- updating ---- */

CU_API(cuGraphExecUpdate_v2)(struct cu_exec *x, struct cu_graph *g, struct cu_update *out)
{
    /* CUgraphExecUpdateResult */
    static const u32 result[] = { [GRAPH_UPDATE_OK] = 0,
                                  [GRAPH_UPDATE_TOPOLOGY] = 2,
                                  [GRAPH_UPDATE_KIND] = 3,
                                  [GRAPH_UPDATE_PARAMETERS] = 5,
                                  [GRAPH_UPDATE_NOT_SUPPORTED] = 6 };
    struct graph_update u = { 0 };
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(g, CU_GRAPH) || !cu_ok(out)) return CU_INVALID_VALUE;
    u32 status = graph_update(cu_engine_exec(x), g->graph, &u);
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

/* The beginning of every call that changes one node. */
static cu_result enter(struct cu_exec *x, struct cu_node *n, enum cu_node_type type)
{
    cu_result r = cu_begin();
    if (r) return r;
    return cu_handle_is(x, CU_EXEC) && cu_handle_is(n, CU_NODE) && n->type == type ? CU_OK : CU_INVALID_VALUE;
}

static cu_result kernel_set(struct cu_exec *x, struct cu_node *n, const struct cu_kernel_node *p, bool second)
{
    struct cu_context *c;
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch l;
    cu_result r = enter(x, n, CU_NODE_KERNEL);
    if (r || (r = cu_current(&c)) || (r = cu_kernel_node_read(c, p, second, arg, &k, &l))) return r;
    return cu_status(x->device->gpu, lk_exec_set_launch(x->exec, (lk_node *)n->node, k, &l));
}
CU_API(cuGraphExecKernelNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_kernel_node *p)
{
    return kernel_set(x, n, p, false);
}
CU_API(cuGraphExecKernelNodeSetParams_v2)(struct cu_exec *x, struct cu_node *n, const struct cu_kernel_node_v2 *p)
{
    return kernel_set(x, n, &p->first, true);
}
CU_API(cuGraphExecMemcpyNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_copy_3d *p, void *context)
{
    struct cu_context *c;
    lk_copy y;
    (void)context;
    cu_result r = enter(x, n, CU_NODE_COPY);
    if (r || (r = cu_current(&c))) return r;
    if (!cu_ok(p)) return CU_INVALID_VALUE;
    if ((r = cu_copy_read(c, p, &y))) return r;
    return cu_status(x->device->gpu, lk_exec_set_copy(x->exec, (lk_node *)n->node, &y));
}
CU_API(cuGraphExecMemsetNodeSetParams)
(struct cu_exec *x, struct cu_node *n, const struct cu_fill_node *p, void *context)
{
    (void)context;
    cu_result r = enter(x, n, CU_NODE_FILL);
    if (r) return r;
    if (!cu_ok(p)) return CU_INVALID_VALUE;
    lk_fill y = cu_fill_node_read(p);
    return cu_status(x->device->gpu, lk_exec_set_fill(x->exec, (lk_node *)n->node, &y));
}
CU_API(cuGraphExecHostNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_host_node *p)
{
    cu_result r = enter(x, n, CU_NODE_HOST);
    if (r) return r;
    if (!cu_ok(p) || !bytes_readable((const void *)(uintptr_t)p->call, 1)) return CU_INVALID_VALUE;
    return cu_status(x->device->gpu, lk_exec_set_host(x->exec, (lk_node *)n->node, p->call, p->self));
}
CU_API(cuGraphExecChildGraphNodeSetParams)(struct cu_exec *x, struct cu_node *n, struct cu_graph *child)
{
    cu_result r = enter(x, n, CU_NODE_GRAPH);
    if (r) return r;
    if (!cu_handle_is(child, CU_GRAPH)) return CU_INVALID_VALUE;
    return (cu_result)graph_exec_set_child(cu_engine_exec(x), n->node, child->graph);
}
static cu_result event_set(struct cu_exec *x, struct cu_node *n, void *event, enum cu_node_type type)
{
    cu_result r = enter(x, n, type);
    if (r) return r;
    if (!cu_event_of(event)) return CU_INVALID_HANDLE;
    struct op_spec spec = { .kind = graph_node_kind(n->node), .event = (struct event *)cu_event_of(event)->dev };
    return (cu_result)graph_exec_set(cu_engine_exec(x), n->node, &spec);
}
CU_API(cuGraphExecEventRecordNodeSetEvent)(struct cu_exec *x, struct cu_node *n, void *event)
{
    return event_set(x, n, event, CU_NODE_RECORD);
}
CU_API(cuGraphExecEventWaitNodeSetEvent)(struct cu_exec *x, struct cu_node *n, void *event)
{
    return event_set(x, n, event, CU_NODE_WAIT);
}

CU_API(cuGraphExecNodeSetParams)(struct cu_exec *x, struct cu_node *n, struct cu_node_params *p)
{
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE) || !cu_ok(p) || p->type != n->type)
        return CU_INVALID_VALUE;
    switch (n->type) {
    case CU_NODE_KERNEL: return kernel_set(x, n, &p->kernel.first, true);
    case CU_NODE_COPY: return lkcu_cuGraphExecMemcpyNodeSetParams(x, n, &p->copy.copy, p->copy.context);
    case CU_NODE_FILL: return lkcu_cuGraphExecMemsetNodeSetParams(x, n, &p->fill, NULL);
    case CU_NODE_HOST: return lkcu_cuGraphExecHostNodeSetParams(x, n, &p->host);
    case CU_NODE_GRAPH: return lkcu_cuGraphExecChildGraphNodeSetParams(x, n, p->graph);
    case CU_NODE_WAIT: return event_set(x, n, p->event, CU_NODE_WAIT);
    case CU_NODE_RECORD: return event_set(x, n, p->event, CU_NODE_RECORD);
    case CU_NODE_BATCH: return lkcu_cuGraphExecBatchMemOpNodeSetParams(x, n, &p->batch);
    default: return CU_NOT_SUPPORTED;
    }
}

/* ---- nodes that are switched off ---- */

CU_API(cuGraphNodeSetEnabled)(struct cu_exec *x, struct cu_node *n, unsigned enabled)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE) || enabled > 1) return CU_INVALID_VALUE;
    return (cu_result)graph_exec_enable(cu_engine_exec(x), n->node, enabled);
}
CU_API(cuGraphNodeGetEnabled)(struct cu_exec *x, struct cu_node *n, unsigned *enabled)
{
    bool on;
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE) || !cu_ok(enabled)) return CU_INVALID_VALUE;
    u32 status = graph_exec_enabled(cu_engine_exec(x), n->node, &on);
    if (!status) *enabled = on;
    return (cu_result)status;
}

/* ---- memory of allocation nodes ---- */

enum { USED_NOW, USED_HIGH, RESERVED_NOW, RESERVED_HIGH, MEMORY_ATTRIBUTES }; /* CUgraphMem_attribute */

static cu_result memory_device(int device, struct cu_device **d)
{
    cu_result r = cu_begin();
    *d = cu_device_at(device);
    if (r) return r;
    return *d ? cu_device_open(*d) : CU_INVALID_DEVICE;
}
CU_API(cuDeviceGetGraphMemAttribute)(int device, u32 which, u64 *value)
{
    struct cu_device *d;
    u64 now, high;
    cu_result r = memory_device(device, &d);
    if (r) return r;
    if (which >= MEMORY_ATTRIBUTES || !cu_ok(value)) return CU_INVALID_VALUE;
    sim_pool_graph_usage(d->gpu->device, &now, &high, false);
    *value = which == USED_NOW || which == RESERVED_NOW ? now : high;
    return CU_OK;
}
/* Only the highest values can be set, and only to 0. */
CU_API(cuDeviceSetGraphMemAttribute)(int device, u32 which, u64 *value)
{
    struct cu_device *d;
    u64 now, high;
    cu_result r = memory_device(device, &d);
    if (r) return r;
    if ((which != USED_HIGH && which != RESERVED_HIGH) || !cu_ok(value) || *value) return CU_INVALID_VALUE;
    sim_pool_graph_usage(d->gpu->device, &now, &high, true);
    return CU_OK;
}
/* Memory belongs to its nodes, and goes with them: nothing is kept that could be given back. */
CU_API(cuDeviceGraphMemTrim)(int device)
{
    struct cu_device *d;
    return memory_device(device, &d);
}
