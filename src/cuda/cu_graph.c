/* Graphs: built node by node or captured, made executable, updated and launched. */
#include "cuda/cu_run.h"

struct cu_node {
    struct cu_graph *graph;
    lk_node *node;
    u32 type; /* CUgraphNodeType */
    struct cu_node *next;
};
struct cu_graph {
    struct cu_device *device;
    lk_graph *graph;
    struct cu_node *first; /* those that were added here, the newest first; a captured graph has others */
};
struct cu_exec {
    struct cu_device *device;
    lk_exec *exec;
    u64 flags;
};
enum {
    NODE_KERNEL,
    NODE_COPY,
    NODE_FILL,
    NODE_HOST,
    NODE_GRAPH,
    NODE_EMPTY,
    NODE_WAIT,
    NODE_RECORD,
    NODE_ALLOC = 10,
    NODE_FREE
};
enum { DEPENDENCIES = 256 };

static cu_result graph_give(struct cu_device *d, lk_graph *g, struct cu_graph **out)
{
    struct cu_graph *x = cu_handle_new(CU_GRAPH, sizeof *x);
    if (!x) {
        lk_graph_destroy(g);
        return CU_OUT_OF_MEMORY;
    }
    *x = (struct cu_graph){ .device = d, .graph = g };
    *out = x;
    return CU_OK;
}

CU_API(cuGraphCreate)(struct cu_graph **out, unsigned flags)
{
    struct cu_context *c;
    lk_graph *g;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_ok(out) || flags) return CU_INVALID_VALUE;
    r = cu_status(c->device->gpu, lk_graph_create(c->device->gpu, &g));
    return r ? r : graph_give(c->device, g, out);
}

CU_API(cuGraphDestroy)(struct cu_graph *g)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_take(g, CU_GRAPH)) return CU_INVALID_VALUE;
    while (g->first) {
        struct cu_node *n = g->first;
        g->first = n->next;
        cu_handle_end(n);
    }
    lk_graph_destroy(g->graph);
    base_free(g);
    return CU_OK;
}

/* ---- nodes ---- */

/* The beginning of every call that adds a node: the graph, and what the node comes after. */
struct adding {
    struct cu_context *c;
    lk_node *after[DEPENDENCIES];
    lk_node *made;
};
static cu_result add_begin(struct adding *a, struct cu_node **out, struct cu_graph *g, struct cu_node *const *dep,
                           u64 n)
{
    cu_result r = cu_current(&a->c);
    if (r) return r;
    if (!cu_handle_is(g, CU_GRAPH) || !cu_ok(out) || n > DEPENDENCIES || (n && !cu_readable(dep, n * sizeof *dep)))
        return CU_INVALID_VALUE;
    for (u64 i = 0; i < n; i++) {
        if (!cu_handle_is(dep[i], CU_NODE) || dep[i]->graph != g) return CU_INVALID_VALUE;
        a->after[i] = dep[i]->node;
    }
    return CU_OK;
}
static cu_result add_end(struct adding *a, lk_status s, struct cu_graph *g, u32 type, struct cu_node **out)
{
    cu_result r = cu_status(g->device->gpu, s);
    if (r) return r;
    struct cu_node *n = cu_handle_new(CU_NODE, sizeof *n);
    if (!n) return CU_OUT_OF_MEMORY;
    *n = (struct cu_node){ g, a->made, type, g->first };
    g->first = n;
    *out = n;
    return CU_OK;
}
#define ADDING CU_ADDING
#define BEGIN                                       \
    struct adding a;                                \
    cu_result r = add_begin(&a, out, g, dep, deps); \
    if (r) return r
#define AFTER g->graph, a.after, (u32)deps

CU_API(cuGraphAddEmptyNode)(ADDING)
{
    BEGIN;
    return add_end(&a, lk_graph_add_empty(AFTER, &a.made), g, NODE_EMPTY, out);
}

/* Both versions begin in the same way; second: it is a cu_kernel_node_v2. */
static cu_result kernel_read(struct cu_context *c, const struct cu_kernel_node *x, bool second,
                             const void *arg[CU_ARGUMENTS], lk_kernel **k, lk_launch *l)
{
    const struct cu_kernel_node_v2 *y = (const void *)x;
    if (second ? !cu_ok(y) : !cu_ok(x)) return CU_INVALID_VALUE;
    struct cu_function *f = cu_function_of(x->function);
    if (!f && second) f = cu_function_of(y->kernel);
    if (!f) return CU_INVALID_HANDLE;
    struct cu_launch in = { .grid = { x->grid[0], x->grid[1], x->grid[2] },
                            .block = { x->block[0], x->block[1], x->block[2] },
                            .shared = x->shared,
                            .params = x->params,
                            .extra = x->extra };
    return cu_launch_read(c, f, &in, arg, k, l);
}
static cu_result kernel_add(ADDING, const struct cu_kernel_node *x, bool second)
{
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch l;
    BEGIN;
    if ((r = kernel_read(a.c, x, second, arg, &k, &l))) return r;
    return add_end(&a, lk_graph_add_launch(AFTER, k, &l, &a.made), g, NODE_KERNEL, out);
}
CU_API(cuGraphAddKernelNode)(ADDING, const struct cu_kernel_node *x) { return kernel_add(out, g, dep, deps, x, false); }
CU_API(cuGraphAddKernelNode_v2)(ADDING, const struct cu_kernel_node_v2 *x)
{
    return kernel_add(out, g, dep, deps, &x->first, true);
}

CU_API(cuGraphAddMemcpyNode)(ADDING, const struct cu_copy_3d *x, void *context)
{
    lk_copy y;
    (void)context;
    BEGIN;
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    if ((r = cu_copy_read(a.c, x, &y))) return r;
    return add_end(&a, lk_graph_add_copy(AFTER, &y, &a.made), g, NODE_COPY, out);
}

static lk_fill fill_read(const struct cu_fill_node *x)
{
    return (lk_fill){ .size = sizeof(lk_fill),
                      .address = x->address,
                      .value = x->value,
                      .bytes = x->bytes,
                      .width = x->width,
                      .rows = x->height,
                      .pitch = x->height > 1 ? x->pitch : 0 };
}
CU_API(cuGraphAddMemsetNode)(ADDING, const struct cu_fill_node *x, void *context)
{
    (void)context;
    BEGIN;
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    lk_fill y = fill_read(x);
    return add_end(&a, lk_graph_add_fill(AFTER, &y, &a.made), g, NODE_FILL, out);
}

CU_API(cuGraphAddHostNode)(ADDING, const struct cu_host_node *x)
{
    BEGIN;
    if (!cu_ok(x) || !cu_readable((const void *)(uintptr_t)x->call, 1)) return CU_INVALID_VALUE;
    return add_end(&a, lk_graph_add_host(AFTER, x->call, x->self, &a.made), g, NODE_HOST, out);
}

CU_API(cuGraphAddChildGraphNode)(ADDING, struct cu_graph *child)
{
    BEGIN;
    if (!cu_handle_is(child, CU_GRAPH)) return CU_INVALID_VALUE;
    return add_end(&a, lk_graph_add_child(AFTER, child->graph, &a.made), g, NODE_GRAPH, out);
}
CU_API(cuGraphAddEventRecordNode)(ADDING, void *event)
{
    BEGIN;
    if (!cu_event_of(event)) return CU_INVALID_HANDLE;
    return add_end(&a, lk_graph_add_record(AFTER, cu_event_of(event), &a.made), g, NODE_RECORD, out);
}
CU_API(cuGraphAddEventWaitNode)(ADDING, void *event)
{
    BEGIN;
    if (!cu_event_of(event)) return CU_INVALID_HANDLE;
    return add_end(&a, lk_graph_add_wait(AFTER, cu_event_of(event), &a.made), g, NODE_WAIT, out);
}
CU_API(cuGraphAddMemFreeNode)(ADDING, u64 address)
{
    BEGIN;
    return add_end(&a, lk_graph_add_free(AFTER, address, &a.made), g, NODE_FREE, out);
}
struct alloc_node { /* CUDA_MEM_ALLOC_NODE_PARAMS */
    char pool[88];  /* CUmemPoolProps: which pool, and where */
    const void *access;
    u64 accesses, bytes, address;
};
CU_API(cuGraphAddMemAllocNode)(ADDING, struct alloc_node *x)
{
    BEGIN;
    if (!cu_ok(x) || !x->bytes) return CU_INVALID_VALUE;
    return add_end(&a, lk_graph_add_alloc(AFTER, x->bytes, NULL, &x->address, &a.made), g, NODE_ALLOC, out);
}

static cu_result edges(struct cu_graph *g, struct cu_node *const *from, struct cu_node *const *to, u64 n, bool remove)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_is(g, CU_GRAPH) || (n && (!cu_readable(from, n * sizeof *from) || !cu_readable(to, n * sizeof *to))))
        return CU_INVALID_VALUE;
    for (u64 i = 0; i < n && !r; i++) {
        if (!cu_handle_is(from[i], CU_NODE) || !cu_handle_is(to[i], CU_NODE)) return CU_INVALID_VALUE;
        r = cu_status(g->device->gpu,
                      (remove ? lk_graph_edge_remove : lk_graph_edge)(g->graph, from[i]->node, to[i]->node));
    }
    return r;
}
#define EDGES CU_EDGES
CU_API(cuGraphAddDependencies)(EDGES, u64 n) { return edges(g, from, to, n, false); }
CU_API(cuGraphRemoveDependencies)(EDGES, u64 n) { return edges(g, from, to, n, true); }
/* Data of an edge are ports of programmatic launches: such an edge is a full one here, which is never too early. */
CU_API(cuGraphAddDependencies_v2)(EDGES, const void *data, u64 n) { return (void)data, edges(g, from, to, n, false); }
CU_API(cuGraphRemoveDependencies_v2)(EDGES, const void *data, u64 n) { return (void)data, edges(g, from, to, n, true); }

CU_API(cuGraphNodeGetType)(struct cu_node *n, u32 *type)
{
    if (!cu_handle_is(n, CU_NODE) || !cu_ok(type)) return CU_INVALID_VALUE;
    *type = n->type;
    return CU_OK;
}

CU_API(cuGraphGetNodes)(struct cu_graph *g, struct cu_node **out, u64 *n)
{
    u64 most, count = 0;
    if (!cu_handle_is(g, CU_GRAPH) || !cu_ok(n)) return CU_INVALID_VALUE;
    most = *n;
    for (struct cu_node *x = g->first; x; x = x->next) count++;
    if (count != lk_graph_node_count(g->graph) && out) { /* captured nodes have no handles of the caller's */
        cu_refused("cuGraphGetNodes of a captured graph");
        return CU_NOT_SUPPORTED;
    }
    *n = lk_graph_node_count(g->graph);
    if (!out) return CU_OK;
    if (!cu_readable(out, MIN_OF(most, count) * sizeof *out)) return CU_INVALID_VALUE;
    u64 i = count;
    for (struct cu_node *x = g->first; x; x = x->next)
        if (--i < most) out[i] = x;
    for (i = count; i < most; i++) out[i] = NULL;
    *n = MIN_OF(most, count);
    return CU_OK;
}

/* ---- executable graphs ---- */

enum { FLAG_AUTO_FREE = 1 };
static cu_result instantiate(struct cu_exec **out, struct cu_graph *g, u64 flags)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_ok(out) || !cu_handle_is(g, CU_GRAPH) || flags & ~(u64)15) return CU_INVALID_VALUE;
    struct cu_exec *x = cu_handle_new(CU_EXEC, sizeof *x);
    if (!x) return CU_OUT_OF_MEMORY;
    *x = (struct cu_exec){ .device = g->device, .flags = flags };
    u32 given = flags & FLAG_AUTO_FREE ? LK_GRAPH_AUTO_FREE : 0;
    r = cu_status(g->device->gpu, lk_graph_instantiate(g->graph, given, &x->exec));
    if (r)
        cu_handle_end(x);
    else
        *out = x;
    return r;
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
    x->result = r ? 1 : 0;
    return r;
}
CU_API(cuGraphInstantiateWithParams_ptsz)(struct cu_exec **out, struct cu_graph *g, struct cu_instantiation *x)
{
    return lkcu_cuGraphInstantiateWithParams(out, g, x);
}

CU_API(cuGraphExecDestroy)(struct cu_exec *x)
{
    cu_result r = cu_begin();
    if (r) return r;
    if (!cu_handle_take(x, CU_EXEC)) return CU_INVALID_VALUE;
    lk_exec_destroy(x->exec);
    base_free(x);
    return CU_OK;
}
CU_API(cuGraphExecGetFlags)(struct cu_exec *x, u64 *flags)
{
    if (!cu_handle_is(x, CU_EXEC) || !cu_ok(flags)) return CU_INVALID_VALUE;
    *flags = x->flags;
    return CU_OK;
}

static cu_result exec_launch(struct cu_exec *x, void *stream, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_handle_is(x, CU_EXEC)) return CU_INVALID_VALUE;
    r = cu_stream_of(c, stream, thread, &st);
    return r ? r : cu_status(x->device->gpu, lk_exec_launch(x->exec, st));
}
CU_API(cuGraphLaunch)(struct cu_exec *x, void *s) { return exec_launch(x, s, false); }
CU_API(cuGraphLaunch_ptsz)(struct cu_exec *x, void *s) { return exec_launch(x, s, true); }
/* There is nothing to bring to the device ahead of the launch. */
CU_API(cuGraphUpload)(struct cu_exec *x, void *s)
{
    return (void)s, cu_handle_is(x, CU_EXEC) ? CU_OK : CU_INVALID_VALUE;
}
CU_API(cuGraphUpload_ptsz)(struct cu_exec *x, void *s) { return lkcu_cuGraphUpload(x, s); }

CU_API(cuGraphExecUpdate_v2)(struct cu_exec *x, struct cu_graph *g, struct cu_update *out)
{
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(g, CU_GRAPH) || !cu_ok(out)) return CU_INVALID_VALUE;
    cu_result r = cu_status(x->device->gpu, lk_exec_update(x->exec, g->graph));
    *out = (struct cu_update){ r ? 1 : 0, NULL, NULL };
    return r;
}
CU_API(cuGraphExecUpdate)(struct cu_exec *x, struct cu_graph *g, struct cu_node **node, u32 *result)
{
    struct cu_update u = { 0 };
    cu_result r = lkcu_cuGraphExecUpdate_v2(x, g, &u);
    if (cu_ok(node)) *node = NULL;
    if (cu_ok(result)) *result = u.result;
    return r;
}

static cu_result kernel_set(struct cu_exec *x, struct cu_node *n, const struct cu_kernel_node *p, bool second)
{
    struct cu_context *c;
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch l;
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE)) return CU_INVALID_VALUE;
    if ((r = kernel_read(c, p, second, arg, &k, &l))) return r;
    return cu_status(x->device->gpu, lk_exec_set_launch(x->exec, n->node, k, &l));
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
    cu_result r = cu_current(&c);
    if (r) return r;
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE) || !cu_ok(p)) return CU_INVALID_VALUE;
    if ((r = cu_copy_read(c, p, &y))) return r;
    return cu_status(x->device->gpu, lk_exec_set_copy(x->exec, n->node, &y));
}
CU_API(cuGraphExecMemsetNodeSetParams)
(struct cu_exec *x, struct cu_node *n, const struct cu_fill_node *p, void *context)
{
    (void)context;
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE) || !cu_ok(p)) return CU_INVALID_VALUE;
    lk_fill y = fill_read(p);
    return cu_status(x->device->gpu, lk_exec_set_fill(x->exec, n->node, &y));
}
CU_API(cuGraphExecHostNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_host_node *p)
{
    if (!cu_handle_is(x, CU_EXEC) || !cu_handle_is(n, CU_NODE) || !cu_ok(p)) return CU_INVALID_VALUE;
    return cu_status(x->device->gpu, lk_exec_set_host(x->exec, n->node, p->call, p->self));
}

/* ---- capture ---- */

static cu_result capture(void *handle, u32 mode, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    cu_result r = cu_current(&c);
    if (r || (r = cu_stream_of(c, handle, thread, &st))) return r;
    return mode > 2 ? CU_INVALID_VALUE : cu_status(c->device->gpu, lk_stream_capture(st, (lk_capture_mode)mode));
}
CU_API(cuStreamBeginCapture_v2)(void *s, u32 mode) { return capture(s, mode, false); }
CU_API(cuStreamBeginCapture_v2_ptsz)(void *s, u32 mode) { return capture(s, mode, true); }
CU_API(cuStreamBeginCapture)(void *s) { return capture(s, 0, false); }
CU_API(cuStreamBeginCapture_ptsz)(void *s) { return capture(s, 0, true); }

static cu_result capture_finish(void *handle, struct cu_graph **out, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    lk_graph *g = NULL;
    cu_result r = cu_current(&c);
    if (r || (r = cu_stream_of(c, handle, thread, &st))) return r;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    *out = NULL;
    r = cu_status(c->device->gpu, lk_stream_capture_end(st, &g));
    return r ? r : graph_give(c->device, g, out);
}
CU_API(cuStreamEndCapture)(void *s, struct cu_graph **out) { return capture_finish(s, out, false); }
CU_API(cuStreamEndCapture_ptsz)(void *s, struct cu_graph **out) { return capture_finish(s, out, true); }

static cu_result capture_ask(void *handle, u32 *status, bool thread)
{
    struct cu_context *c;
    lk_stream *st;
    lk_capture_status is = LK_CAPTURE_NONE;
    cu_result r = cu_current(&c);
    if (r || (r = cu_stream_of(c, handle, thread, &st))) return r;
    if (!cu_ok(status)) return CU_INVALID_VALUE;
    r = cu_status(c->device->gpu, lk_stream_capture_status(st, &is));
    *status = is;
    return r;
}
CU_API(cuStreamIsCapturing)(void *s, u32 *out) { return capture_ask(s, out, false); }
CU_API(cuStreamIsCapturing_ptsz)(void *s, u32 *out) { return capture_ask(s, out, true); }

/* Whether, and under which number; the nodes that the next operation depends on are not told. */
static cu_result capture_info(void *s, u32 *status, u64 *id, bool more, bool thread)
{
    cu_result r = capture_ask(s, status, thread);
    if (!r && *status == LK_CAPTURE_ACTIVE && more) {
        cu_refused("cuStreamGetCaptureInfo with the graph of the capture");
        return CU_NOT_SUPPORTED;
    }
    if (!r && cu_ok(id)) *id = *status ? (uintptr_t)s | 1 : 0;
    return r;
}
#define INFO void *s, u32 *status, u64 *id
#define MORE void **graph, void **nodes, u64 *count
#define MORE_3 void **graph, void **nodes, void **edges, u64 *count
CU_API(cuStreamGetCaptureInfo)(INFO) { return capture_info(s, status, id, false, false); }
CU_API(cuStreamGetCaptureInfo_ptsz)(INFO) { return capture_info(s, status, id, false, true); }
CU_API(cuStreamGetCaptureInfo_v2)(INFO, MORE) { return capture_info(s, status, id, graph || nodes || count, false); }
CU_API(cuStreamGetCaptureInfo_v2_ptsz)(INFO, MORE)
{
    return capture_info(s, status, id, graph || nodes || count, true);
}
CU_API(cuStreamGetCaptureInfo_v3)(INFO, MORE_3)
{
    return capture_info(s, status, id, graph || nodes || edges || count, false);
}
CU_API(cuStreamGetCaptureInfo_v3_ptsz)(INFO, MORE_3)
{
    return capture_info(s, status, id, graph || nodes || edges || count, true);
}
