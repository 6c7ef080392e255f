/* Nodes of graphs by type: adding them, asking for their parameters, changing these. */
#include "driver/cu_check.h"
#include "driver/cu_engine.h"
#include "driver_graphs/cu_graph.h"
#include "driver/cu_count.h"

/* ---- adding ---- */

/* The beginning of every call that adds a node: the graph, and what the node comes after. */
struct adding {
    struct graph_node *after[CU_DEPENDENCIES];
    lk_node *made;
};
static cu_result add_end(struct adding *a, lk_status s, struct cu_graph *g, struct cu_node **out)
{
    cu_result r = cu_status(g->device->gpu, s);
    if (r) return r;
    *out = cu_node_of((struct graph_node *)a->made);
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}
#define ADDED struct cu_node **, out, struct cu_graph *, g, struct cu_node *const *, dep, u64, deps
#define BEGIN                                           \
    struct adding a;                                    \
    cu_result r = cu_nodes_read(g, dep, deps, a.after); \
    if (r) return r
#define AFTER g->graph, (lk_node *const *)a.after, (u32)deps

CU_DEFINE(cuGraphAddEmptyNode, ADDED)
{
    BEGIN;
    return add_end(&a, lk_graph_add_empty(AFTER, &a.made), g, out);
}

/* Gives a node another task; `s` is how that was read. */
static cu_result task_set(struct cu_node *n, lk_status s, struct dev_task *task)
{
    struct cu_device *d = cu_node_device(n);
    if (s) return cu_status(d->gpu, s);
    return (cu_result)dev_node_set(n->node, d->gpu->device, task, host_begin(d->gpu));
}

/* ---- kernels ---- */

/* Both versions begin in the same way; second: it is a cu_kernel_node_v2. */
cu_result cu_kernel_node_read(struct cu_context *c, const struct cu_kernel_node *x, bool second,
                              const void *arg[CU_ARGUMENTS], lk_kernel **k, lk_launch *l)
{
    const struct cu_kernel_node_v2 *y = (const void *)x;
    if (second ? !cu_ok(y) : !cu_ok(x)) return CU_INVALID_VALUE;
    struct cu_function *f = cu_function_launched(x->function, c->device);
    if (!f && second) f = cu_function_launched(y->kernel, c->device);
    if (!f) return CU_INVALID_HANDLE;
    struct cu_launch in = { .grid = { x->grid[0], x->grid[1], x->grid[2] },
                            .block = { x->block[0], x->block[1], x->block[2] },
                            .shared = x->shared,
                            .params = x->params,
                            .extra = x->extra };
    cu_result r = cu_launch_read(c, f, &in, arg, k, l);
    if (!r) l->count = &cu_count_of(*k)->nodes;
    return r;
}
static cu_result kernel_add(struct cu_context *c, CU_ADDING, const struct cu_kernel_node *x, bool second)
{
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch l;
    BEGIN;
    if ((r = cu_kernel_node_read(c, x, second, arg, &k, &l))) return r;
    if (!(r = add_end(&a, lk_graph_add_launch(AFTER, k, &l, &a.made), g, out))) (*out)->used = x->function;
    return r;
}
CU_DEFINE(cuGraphAddKernelNode, ADDED, const struct cu_kernel_node *, x)
{
    return kernel_add(here.context, out, g, dep, deps, x, false);
}
CU_DEFINE(cuGraphAddKernelNode_v2, ADDED, const struct cu_kernel_node_v2 *, x)
{
    return kernel_add(here.context, out, g, dep, deps, x ? &x->first : NULL, true);
}

static bool function_has(void *handle, void *func)
{
    const struct cu_function *f = handle;
    for (u32 i = 0; i < CU_DEVICES; i++)
        if (f->on[i] && f->on[i]->func == func) return true;
    return false;
}

/* The handle of this kind that `has` what the node uses. The node remembers it, so that the next lookup needs no
 * search. */
static void *used(struct cu_node *n, enum cu_kind kind, bool (*has)(void *handle, void *self), void *what)
{
    if (!cu_handle_is(n->used, kind) || !has(n->used, what)) n->used = cu_handle_find(kind, has, what);
    return n->used;
}

static cu_result kernel_get(struct cu_node *n, struct cu_kernel_node *out)
{
    const struct dev_launch *l = &dev_node_task(n->node)->launch;
    struct cu_function *f = used(n, CU_KERNEL, function_has, l->kernel);
    base_free(n->arg);
    if (!(n->arg = base_alloc((l->kernel->nparam + 1) * sizeof *n->arg))) return CU_OUT_OF_MEMORY;
    for (u32 i = 0; i < l->kernel->nparam; i++) n->arg[i] = (u8 *)(uintptr_t)l->params + l->kernel->param[i]->offset;
    *out = (struct cu_kernel_node){ .function = f,
                                    .grid = { l->grid[0], l->grid[1], l->grid[2] },
                                    .block = { l->block[0], l->block[1], l->block[2] },
                                    .shared = l->shared_bytes,
                                    .params = l->kernel->nparam ? n->arg : NULL };
    return CU_OK;
}
CU_DEFINE(cuGraphKernelNodeGetParams, struct cu_node *, n, struct cu_kernel_node *, out) { return kernel_get(n, out); }
CU_DEFINE(cuGraphKernelNodeGetParams_v2, struct cu_node *, n, struct cu_kernel_node_v2 *, out)
{
    struct cu_kernel_node first;
    cu_result r = kernel_get(n, &first);
    if (!r) *out = (struct cu_kernel_node_v2){ .first = first };
    return r;
}

static cu_result kernel_set(struct cu_context *c, struct cu_node *n, const struct cu_kernel_node *x, bool second)
{
    HOST_CALL(CU_INVALID_VALUE, USE(GPU, cu_node_device(n)->gpu));
    struct host_launch h;
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch l;
    cu_result r = cu_kernel_node_read(c, x, second, arg, &k, &l);
    if (r) return r;
    lk_status s = host_launch_begin(&call, &h, cu_node_device(n)->gpu, k, &l, __func__);
    r = task_set(n, s, &h.task);
    if (!s) host_launch_end(&h);
    return r;
}
CU_DEFINE(cuGraphKernelNodeSetParams, struct cu_node *, n, const struct cu_kernel_node *, x)
{
    return kernel_set(here.context, n, x, false);
}
CU_DEFINE(cuGraphKernelNodeSetParams_v2, struct cu_node *, n, const struct cu_kernel_node_v2 *, x)
{
    return kernel_set(here.context, n, x ? &x->first : NULL, true);
}

/* Attributes of a launch, by their ids: wishes, but for whether it is cooperative, and its clusters. */
enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4 };
CU_DEFINE(cuGraphKernelNodeSetAttribute, struct cu_node *, n, u32, which, const union cu_launch_value *, value)
{
    if (which >= CU_NODE_ATTRIBUTES) return CU_INVALID_VALUE;
    if (which == ATTRIBUTE_COOPERATIVE) {
        struct dev_task task = *dev_node_task(n->node);
        task.launch.cooperative = value->number;
        return task_set(n, LK_OK, &task);
    }
    if (which == ATTRIBUTE_CLUSTER) {
        struct dev_task task = *dev_node_task(n->node);
        memcpy(task.launch.cluster, value->cluster, sizeof task.launch.cluster);
        return task_set(n, LK_OK, &task);
    }
    if (!n->values && !(n->values = base_alloc(sizeof *n->values * CU_NODE_ATTRIBUTES))) return CU_OUT_OF_MEMORY;
    n->values[which] = *value;
    return CU_OK;
}
CU_DEFINE(cuGraphKernelNodeGetAttribute, struct cu_node *, n, u32, which, union cu_launch_value *, out)
{
    if (which >= CU_NODE_ATTRIBUTES) return CU_INVALID_VALUE;
    *out = n->values ? n->values[which] : (union cu_launch_value){ .number = 0 };
    if (which == ATTRIBUTE_COOPERATIVE) out->number = dev_node_task(n->node)->launch.cooperative;
    if (which == ATTRIBUTE_CLUSTER) memcpy(out->cluster, dev_node_task(n->node)->launch.cluster, sizeof out->cluster);
    return CU_OK;
}
CU_DEFINE(cuGraphKernelNodeCopyAttributes, struct cu_node *, to, struct cu_node *, from)
{
    union cu_launch_value v;
    cu_result r = CU_OK;
    for (u32 i = 0; i < CU_NODE_ATTRIBUTES && !r; i++)
        if (!(r = lkcu_cuGraphKernelNodeGetAttribute(from, i, &v)) && (from->values || i == ATTRIBUTE_COOPERATIVE))
            r = lkcu_cuGraphKernelNodeSetAttribute(to, i, &v);
    return r;
}

/* ---- copies and fills ---- */

CU_DEFINE(cuGraphAddMemcpyNode, ADDED, const struct cu_copy_3d *, x, void *, context)
{
    lk_copy y;
    BEGIN;
    if ((r = cu_copy_read(here.context, x, &y))) return r;
    if ((r = add_end(&a, lk_graph_add_copy(AFTER, &y, &a.made), g, out))) return r;
    (*out)->copy = *x;
    (*out)->given = true;
    return CU_OK;
}

/* A copy that a capture has recorded, as CUDA_MEMCPY3D has it. */
static struct cu_copy_3d copy_of(const struct dev_copy *x)
{
    struct cu_copy_3d y = { .from_type = x->from.host ? MEMORY_HOST : MEMORY_DEVICE,
                            .from_host = x->from.host,
                            .from_device = x->from.host ? 0 : x->from.address,
                            .from_pitch = x->from.pitch ? x->from.pitch : x->width,
                            .to_type = x->to.host ? MEMORY_HOST : MEMORY_DEVICE,
                            .to_host = x->to.host,
                            .to_device = x->to.host ? 0 : x->to.address,
                            .to_pitch = x->to.pitch ? x->to.pitch : x->width,
                            .width = x->width,
                            .height = x->rows,
                            .depth = x->slices };
    y.from_height = x->from.slice && y.from_pitch ? x->from.slice / y.from_pitch : x->rows;
    y.to_height = x->to.slice && y.to_pitch ? x->to.slice / y.to_pitch : x->rows;
    return y;
}
CU_DEFINE(cuGraphMemcpyNodeGetParams, struct cu_node *, n, struct cu_copy_3d *, out)
{
    *out = n->given ? n->copy : copy_of(&dev_node_task(n->node)->copy);
    return CU_OK;
}
CU_DEFINE(cuGraphMemcpyNodeSetParams, struct cu_node *, n, const struct cu_copy_3d *, x)
{
    lk_gpu *gpu = cu_node_device(n)->gpu;
    HOST_CALL(CU_INVALID_VALUE, USE(GPU, gpu));
    struct dev_task task;
    const char *site;
    lk_copy y;
    cu_result r = cu_copy_read(here.context, x, &y);
    if (r) return r;
    r = task_set(n, host_copy(&call, gpu, &y, &task, &site, "lkcu_cuGraphMemcpyNodeSetParams"), &task);
    if (r) return r;
    n->copy = *x;
    n->given = true;
    return CU_OK;
}

lk_fill cu_fill_node_read(const struct cu_fill_node *x)
{
    return (lk_fill){ .size = sizeof(lk_fill),
                      .address = x->address,
                      .value = x->value,
                      .bytes = x->bytes,
                      .width = x->width,
                      .rows = x->height,
                      .pitch = x->height > 1 ? x->pitch : 0 };
}
CU_DEFINE(cuGraphAddMemsetNode, ADDED, const struct cu_fill_node *, x, void *, context)
{
    BEGIN;
    lk_fill y = cu_fill_node_read(x);
    if ((r = add_end(&a, lk_graph_add_fill(AFTER, &y, &a.made), g, out))) return r;
    (*out)->fill = *x;
    (*out)->given = true;
    return CU_OK;
}
CU_DEFINE(cuGraphMemsetNodeGetParams, struct cu_node *, n, struct cu_fill_node *, out)
{
    const struct dev_fill *f = &dev_node_task(n->node)->fill;
    *out = n->given ? n->fill
                    : (struct cu_fill_node){ f->address, f->pitch, f->value, f->bytes, f->width, MAX_OF(f->rows, 1ul) };
    return CU_OK;
}
CU_DEFINE(cuGraphMemsetNodeSetParams, struct cu_node *, n, const struct cu_fill_node *, x)
{
    struct dev_task task;
    const char *site;
    lk_fill y = cu_fill_node_read(x);
    cu_result r = task_set(n, host_fill(cu_node_device(n)->gpu, &y, &task, &site, "lkcu_cuGraphMemsetNodeSetParams"),
                           &task);
    if (r) return r;
    n->fill = *x;
    n->given = true;
    return CU_OK;
}

/* ---- host functions, child graphs, events ---- */

CU_DEFINE(cuGraphAddHostNode, ADDED, const struct cu_host_node *, x)
{
    BEGIN;
    if (!bytes_readable((const void *)(uintptr_t)x->call, 1)) return CU_INVALID_VALUE;
    return add_end(&a, lk_graph_add_host(AFTER, x->call, x->self, &a.made), g, out);
}
CU_DEFINE(cuGraphHostNodeGetParams, struct cu_node *, n, struct cu_host_node *, out)
{
    const struct dev_task *t = dev_node_task(n->node);
    *out = (struct cu_host_node){ t->host.call, t->host.self };
    return CU_OK;
}
CU_DEFINE(cuGraphHostNodeSetParams, struct cu_node *, n, const struct cu_host_node *, x)
{
    if (!bytes_readable((const void *)(uintptr_t)x->call, 1)) return CU_INVALID_VALUE;
    return task_set(n, LK_OK, &(struct dev_task){ .kind = OP_HOST, .host = { .call = x->call, .self = x->self } });
}

CU_DEFINE(cuGraphAddChildGraphNode, ADDED, struct cu_graph *, child)
{
    BEGIN;
    if ((r = add_end(&a, lk_graph_add_child(AFTER, child->graph, &a.made), g, out))) return r;
    cu_owned_copy(child->owned, &g->owned);
    return CU_OK;
}
CU_DEFINE(cuGraphChildGraphNodeGetGraph, struct cu_node *, n, struct cu_graph **, out)
{
    *out = cu_graph_of(cu_node_device(n), graph_node_child(n->node));
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

CU_DEFINE(cuGraphAddEventRecordNode, ADDED, void *, event)
{
    BEGIN;
    if (!cu_event_of(event)) return CU_INVALID_HANDLE;
    if (!(r = add_end(&a, lk_graph_add_record(AFTER, cu_event_of(event), &a.made), g, out))) (*out)->used = event;
    return r;
}
CU_DEFINE(cuGraphAddEventWaitNode, ADDED, void *, event)
{
    BEGIN;
    if (!cu_event_of(event)) return CU_INVALID_HANDLE;
    if (!(r = add_end(&a, lk_graph_add_wait(AFTER, cu_event_of(event), &a.made), g, out))) (*out)->used = event;
    return r;
}
static bool event_has(void *handle, void *event)
{
    const lk_event *e = cu_event_of(handle);
    return e && (void *)e->dev == event;
}
static cu_result event_get(struct cu_node *n, void **out)
{
    *out = used(n, CU_EVENT, event_has, graph_node_spec(n->node)->event);
    return *out ? CU_OK : CU_INVALID_HANDLE;
}
static cu_result event_set(struct cu_node *n, void *event)
{
    struct op_spec spec = { .kind = graph_node_kind(n->node), .event = event_in(cu_event_of(event)->dev) };
    n->used = event;
    return (cu_result)graph_node_set(n->node, &spec);
}
CU_DEFINE(cuGraphEventRecordNodeGetEvent, struct cu_node *, n, void **, out) { return event_get(n, out); }
CU_DEFINE(cuGraphEventRecordNodeSetEvent, struct cu_node *, n, void *, event) { return event_set(n, event); }
CU_DEFINE(cuGraphEventWaitNodeGetEvent, struct cu_node *, n, void **, out) { return event_get(n, out); }
CU_DEFINE(cuGraphEventWaitNodeSetEvent, struct cu_node *, n, void *, event) { return event_set(n, event); }

/* ---- memory ---- */

CU_DEFINE(cuGraphAddMemAllocNode, ADDED, struct cu_alloc_node *, x)
{
    BEGIN;
    if (!x->bytes) return CU_INVALID_VALUE;
    r = add_end(&a, lk_graph_add_alloc(AFTER, x->bytes, NULL, &x->address, &a.made), g, out);
    if (r) return r;
    (*out)->alloc = *x;
    (*out)->given = true;
    return CU_OK;
}
CU_DEFINE(cuGraphMemAllocNodeGetParams, struct cu_node *, n, struct cu_alloc_node *, out)
{
    const struct dev_task *t = dev_node_task(n->node);
    struct cu_alloc_node made = { .bytes = t->alloc.bytes, .address = t->alloc.address };
    *out = n->given ? n->alloc : made;
    return CU_OK;
}
CU_DEFINE(cuGraphAddMemFreeNode, ADDED, u64, address)
{
    BEGIN;
    return add_end(&a, lk_graph_add_free(AFTER, address, &a.made), g, out);
}
CU_DEFINE(cuGraphMemFreeNodeGetParams, struct cu_node *, n, u64 *, out)
{
    *out = dev_node_task(n->node)->free.address;
    return CU_OK;
}

/* ---- several waits for values and writes of them, as one node: a child graph, in which they follow each other ---- */

static bool memory_op_read(const struct cu_memory_op *x, struct op_spec *out)
{
    static const enum op_compare compare[] = { OP_GEQ, OP_EQ, OP_AND, OP_NOR };
    bool wait = x->operation == 1 || x->operation == 4, write = x->operation == 2 || x->operation == 5;
    *out = (struct op_spec){ .kind = wait ? OP_VALUE_WAIT : OP_VALUE_WRITE,
                             .bits = x->operation >= 4 ? 64 : 32,
                             .compare = (u8)compare[x->flags & 3],
                             .value = x->operation >= 4 ? x->value : (u32)x->value };
    return wait || write;
}

static cu_result batch_graph(struct cu_device *d, const struct cu_memory_op *op, u32 n, struct graph **out)
{
    struct graph *g = graph_new(graph_owner(*out));
    struct graph_node *last = NULL;
    cu_result r = g ? CU_OK : CU_OUT_OF_MEMORY;
    for (u32 i = 0; i < n && !r; i++) {
        struct op_spec spec;
        struct graph_dep dep = { last, OP_EDGE_COMPLETE };
        if (op[i].operation == 3 || op[i].operation == 6) continue; /* flush and barrier: they follow each other */
        r = memory_op_read(&op[i], &spec)
                ? (cu_result)dev_graph_add_value(g, &dep, last != NULL, &spec, op[i].address, &last, host_begin(d->gpu))
                : CU_INVALID_VALUE;
    }
    if (r) graph_delete(g);
    *out = r ? NULL : g;
    return r;
}

CU_DEFINE(cuGraphAddBatchMemOpNode, ADDED, const struct cu_batch_node *, x)
{
    BEGIN;
    if (!x->count || x->count > 256 || !bytes_readable(x->op, x->count * sizeof *x->op) || x->flags)
        return CU_INVALID_VALUE;
    struct graph *child = cu_engine_graph(g);
    struct graph_dep *edge = base_need((deps + 1) * sizeof *edge);
    for (u64 i = 0; i < deps; i++) edge[i] = (struct graph_dep){ a.after[i], OP_EDGE_COMPLETE };
    struct graph_node *made = NULL;
    if (!(r = batch_graph(g->device, x->op, x->count, &child))) {
        r = (cu_result)graph_add_child(cu_engine_graph(g), edge, (u32)deps, child, &made);
        graph_delete(child);
    }
    base_free(edge);
    if (r) return r;
    if (!(*out = cu_node_of(made))) return CU_OUT_OF_MEMORY;
    (*out)->type = CU_NODE_BATCH;
    (*out)->batch = base_need(x->count * sizeof *x->op);
    memcpy((*out)->batch, x->op, x->count * sizeof *x->op);
    (*out)->batches = x->count;
    return CU_OK;
}
/* Other waits and writes in their place, of the same kinds. */
static cu_result batch_read(struct cu_node *n, const struct cu_batch_node *x, struct graph **out)
{
    if (x->count != n->batches || !bytes_readable(x->op, x->count * sizeof *x->op) || x->flags) return CU_INVALID_VALUE;
    *out = graph_node_child(n->node);
    return *out ? batch_graph(cu_node_device(n), x->op, x->count, out) : CU_NOT_SUPPORTED;
}
CU_DEFINE(cuGraphBatchMemOpNodeSetParams, struct cu_node *, n, const struct cu_batch_node *, x)
{
    struct graph *g;
    cu_result r = batch_read(n, x, &g);
    if (r) return r;
    struct graph *mine = graph_node_child(n->node);
    bool same = graph_node_count(mine) == graph_node_count(g);
    for (u32 i = 0; same && i < graph_node_count(g); i++)
        same = graph_node_kind(graph_node_at(mine, i)) == graph_node_kind(graph_node_at(g, i));
    for (u32 i = 0; same && i < graph_node_count(g); i++) graph_node_share(graph_node_at(mine, i), graph_node_at(g, i));
    if (same) memcpy(n->batch, x->op, x->count * sizeof *x->op);
    graph_delete(g);
    return same ? CU_OK : CU_INVALID_VALUE;
}
CU_DEFINE(cuGraphExecBatchMemOpNodeSetParams, struct cu_exec *, x, struct cu_node *, n, const struct cu_batch_node *, p)
{
    struct graph *g;
    cu_result r = batch_read(n, p, &g);
    if (r) return r;
    u32 status = graph_exec_set_child(cu_engine_exec(x), n->node, g);
    graph_delete(g);
    return status ? CU_INVALID_VALUE : CU_OK;
}
CU_DEFINE(cuGraphBatchMemOpNodeGetParams, struct cu_node *, n, struct cu_batch_node *, out)
{
    *out = (struct cu_batch_node){ NULL, n->batches, n->batch, 0 };
    return CU_OK;
}

/* ---- nodes of whichever type ---- */

CU_DEFINE(cuGraphAddNode_v2, struct cu_node **, out, struct cu_graph *, g, struct cu_node *const *, dep,
          const struct cu_edge_data *, data, u64, deps, struct cu_node_params *, x)
{
    cu_result r = CU_OK;
    if (data && deps && !bytes_readable(data, deps * sizeof *data)) return CU_INVALID_VALUE;
    switch (x->type) {
    case CU_NODE_KERNEL: r = lkcu_cuGraphAddKernelNode_v2(out, g, dep, deps, &x->kernel); break;
    case CU_NODE_COPY: r = lkcu_cuGraphAddMemcpyNode(out, g, dep, deps, &x->copy.copy, x->copy.context); break;
    case CU_NODE_FILL: r = lkcu_cuGraphAddMemsetNode(out, g, dep, deps, &x->fill, NULL); break;
    case CU_NODE_HOST: r = lkcu_cuGraphAddHostNode(out, g, dep, deps, &x->host); break;
    case CU_NODE_GRAPH: r = lkcu_cuGraphAddChildGraphNode(out, g, dep, deps, x->graph); break;
    case CU_NODE_EMPTY: r = lkcu_cuGraphAddEmptyNode(out, g, dep, deps); break;
    case CU_NODE_WAIT: r = lkcu_cuGraphAddEventWaitNode(out, g, dep, deps, x->event); break;
    case CU_NODE_RECORD: r = lkcu_cuGraphAddEventRecordNode(out, g, dep, deps, x->event); break;
    case CU_NODE_ALLOC: r = lkcu_cuGraphAddMemAllocNode(out, g, dep, deps, &x->alloc); break;
    case CU_NODE_FREE: r = lkcu_cuGraphAddMemFreeNode(out, g, dep, deps, x->address); break;
    case CU_NODE_BATCH: r = lkcu_cuGraphAddBatchMemOpNode(out, g, dep, deps, &x->batch); break;
    case CU_NODE_CONDITIONAL: r = cu_conditional_add(out, g, dep, deps, &x->conditional); break;
    default: return CU_INVALID_VALUE;
    }
    for (u64 i = 0; i < deps && data && !r; i++) { /* the edges are full ones; some may be passed early */
        if (!data[i].type) continue;
        struct cu_node *to = *out;
        r = lkcu_cuGraphRemoveDependencies_v2(g, &dep[i], &to, NULL, 1);
        if (!r) r = lkcu_cuGraphAddDependencies_v2(g, &dep[i], &to, &data[i], 1);
    }
    return r;
}
CU_API(cuGraphAddNode)(CU_ADDING, struct cu_node_params *x)
{
    return lkcu_cuGraphAddNode_v2(out, g, dep, NULL, deps, x);
}

CU_DEFINE(cuGraphNodeSetParams, struct cu_node *, n, struct cu_node_params *, x)
{
    if (x->type != n->type) return CU_INVALID_VALUE;
    switch (n->type) {
    case CU_NODE_KERNEL: return lkcu_cuGraphKernelNodeSetParams_v2(n, &x->kernel);
    case CU_NODE_COPY: return lkcu_cuGraphMemcpyNodeSetParams(n, &x->copy.copy);
    case CU_NODE_FILL: return lkcu_cuGraphMemsetNodeSetParams(n, &x->fill);
    case CU_NODE_HOST: return lkcu_cuGraphHostNodeSetParams(n, &x->host);
    case CU_NODE_WAIT: return lkcu_cuGraphEventWaitNodeSetEvent(n, x->event);
    case CU_NODE_RECORD: return lkcu_cuGraphEventRecordNodeSetEvent(n, x->event);
    case CU_NODE_BATCH: return lkcu_cuGraphBatchMemOpNodeSetParams(n, &x->batch);
    default: return CU_NOT_SUPPORTED;
    }
}
