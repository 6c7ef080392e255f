/* Graphs of the public interface. A node is the device's own: it is passed on as it is. */
#include "host/host_timeline.h"

static const struct dev_async_ops *ops_of(const lk_gpu *gpu) { return gpu->device->async; }

static struct dev_node *const *nodes(lk_node *const *after) { return (struct dev_node *const *)after; }

/* ---- making and ending ---- */

lk_status host_graph(lk_gpu *gpu, struct dev_graph *dev, lk_graph **graph)
{
    lk_graph *g = base_alloc(sizeof *g);
    if (!g) {
        ops_of(gpu)->graph_delete(dev);
        error_set(host_error(), ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    g->dev = dev;
    handle_add(&g->handle, gpu, HANDLE_GRAPH);
    *graph = g;
    return LK_OK;
}

lk_status host_graph_new(lk_gpu *gpu, struct dev_graph **dev)
{
    *dev = NULL;
    u32 status = ops_of(gpu)->graph_new(gpu->device, dev, host_begin(gpu));
    return status ? host_done(gpu, status) : LK_OK;
}

lk_status lk_graph_create(lk_gpu *gpu, lk_graph **graph)
{
    if (!gpu || !graph) return HOST_MISSING(gpu, gpu ? "place for the graph" : "gpu");
    struct dev_graph *dev;
    *graph = NULL;
    lk_status status = host_graph_new(gpu, &dev);
    return status ? status : host_graph(gpu, dev, graph);
}

void lk_graph_destroy(lk_graph *graph)
{
    if (!graph) return;
    lk_gpu *gpu = graph->handle.gpu;
    bool part = graph->part;
    handle_remove(&graph->handle);
    ops_of(gpu)->graph_delete(graph->dev);
    if (!part) base_free(graph);
    host_modules_end(gpu);
}

uint32_t lk_graph_node_count(const lk_graph *graph)
{
    return graph ? ops_of(graph->handle.gpu)->graph_nodes(graph->dev) : 0;
}

/* ---- nodes ---- */

/* What every function that adds a node is given. */
struct adding {
    lk_graph *graph;
    lk_node *const *after;
    u32 count;
    lk_node **node;
    const char *function; /* for messages */
};
#define ADDING (&(struct adding){ .graph = graph, .after = after, .count = count, .node = node, .function = __func__ })

static lk_status adding_check(const struct adding *a)
{
    if (!a->graph) return host_missing_in(NULL, a->function, "graph");
    lk_gpu *gpu = a->graph->handle.gpu;
    if (a->node) *a->node = NULL;
    if (!a->after && a->count) return host_missing_in(gpu, a->function, "list of nodes");
    for (u32 i = 0; i < a->count; i++)
        if (!a->after[i]) return host_refuse(gpu, "%s: node %u of %u in the list is NULL", a->function, i, a->count);
    return LK_OK;
}

static lk_status added(const struct adding *a, u32 status, struct dev_node *node)
{
    if (a->node) *a->node = (lk_node *)node;
    return host_done(a->graph->handle.gpu, status);
}

static lk_status add(const struct adding *a, struct dev_task *task, const char *site)
{
    struct dev_node *node = NULL;
    lk_gpu *gpu = a->graph->handle.gpu;
    task->site = host_site(site);
    u32 status = dev_graph_add(a->graph->dev, gpu->device, nodes(a->after), a->count, task, &node, host_begin(gpu));
    return added(a, status, node);
}

lk_status lk_graph_add_empty(lk_graph *graph, lk_node *const *after, uint32_t count, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    return bad ? bad : add(ADDING, &(struct dev_task){ .kind = OP_EMPTY }, NULL);
}

lk_status lk_graph_add_launch(lk_graph *graph, lk_node *const *after, uint32_t count, lk_kernel *kernel,
                              const lk_launch *launch, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    if (bad) return bad;
    struct host_launch l;
    bad = host_launch_begin(&l, graph->handle.gpu, kernel, launch, __func__);
    if (bad) return bad;
    lk_status status = add(ADDING, &l.task, l.in->site);
    host_launch_end(&l);
    return status;
}

lk_status lk_graph_add_copy(lk_graph *graph, lk_node *const *after, uint32_t count, const lk_copy *copy, lk_node **node)
{
    struct dev_task task;
    const char *site;
    lk_status bad = adding_check(ADDING);
    if (!bad) bad = host_copy(graph->handle.gpu, copy, &task, &site, __func__);
    return bad ? bad : add(ADDING, &task, site);
}

lk_status lk_graph_add_fill(lk_graph *graph, lk_node *const *after, uint32_t count, const lk_fill *fill, lk_node **node)
{
    struct dev_task task;
    const char *site;
    lk_status bad = adding_check(ADDING);
    if (!bad) bad = host_fill(graph->handle.gpu, fill, &task, &site, __func__);
    return bad ? bad : add(ADDING, &task, site);
}

lk_status lk_graph_add_host(lk_graph *graph, lk_node *const *after, uint32_t count, void (*function)(void *self),
                            void *self, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    if (!bad && !function) bad = HOST_MISSING(graph->handle.gpu, "function");
    return bad ? bad : add(ADDING, &(struct dev_task){ .kind = OP_HOST, .host = { function, self } }, NULL);
}

static lk_status add_event(const struct adding *a, lk_event *event, bool wait)
{
    struct dev_node *node = NULL;
    lk_gpu *gpu = a->graph->handle.gpu;
    if (!event) return host_missing_in(gpu, a->function, "event");
    if (event->handle.gpu != gpu) return host_refuse(gpu, "the graph and the event belong to different gpus");
    u32 status = ops_of(gpu)->graph_add_event(a->graph->dev, nodes(a->after), a->count, event->dev, wait, &node,
                                              host_begin(gpu));
    return added(a, status, node);
}

lk_status lk_graph_add_record(lk_graph *graph, lk_node *const *after, uint32_t count, lk_event *event, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    return bad ? bad : add_event(ADDING, event, false);
}

lk_status lk_graph_add_wait(lk_graph *graph, lk_node *const *after, uint32_t count, lk_event *event, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    return bad ? bad : add_event(ADDING, event, true);
}

lk_status lk_graph_add_child(lk_graph *graph, lk_node *const *after, uint32_t count, lk_graph *child, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    if (bad) return bad;
    lk_gpu *gpu = graph->handle.gpu;
    struct dev_node *out = NULL;
    if (!child) return HOST_MISSING(gpu, "child graph");
    if (child->handle.gpu != gpu) return host_refuse(gpu, "the two graphs belong to different gpus");
    if (child == graph) return host_refuse(gpu, "a graph cannot be a node of itself");
    u32 status = ops_of(gpu)->graph_add_child(graph->dev, nodes(after), count, child->dev, &out, host_begin(gpu));
    return added(ADDING, status, out);
}

lk_status lk_graph_add_alloc(lk_graph *graph, lk_node *const *after, uint32_t count, uint64_t bytes, const char *name,
                             uint64_t *address, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    if (bad) return bad;
    if (!address) return HOST_MISSING(graph->handle.gpu, "place for the address");
    struct dev_task task = { .kind = OP_ALLOC, .alloc = { .bytes = bytes, .name = name } };
    lk_status status = add(ADDING, &task, NULL);
    *address = status == LK_OK ? task.alloc.address : 0;
    return status;
}

lk_status lk_graph_add_free(lk_graph *graph, lk_node *const *after, uint32_t count, uint64_t address, lk_node **node)
{
    lk_status bad = adding_check(ADDING);
    return bad ? bad : add(ADDING, &(struct dev_task){ .kind = OP_FREE, .free = { address } }, NULL);
}

static lk_status edge(lk_graph *graph, lk_node *from, lk_node *to, bool remove, const char *function)
{
    if (!graph || !from || !to)
        return host_missing_in(graph ? graph->handle.gpu : NULL, function, graph ? "node" : "graph");
    lk_gpu *gpu = graph->handle.gpu;
    return host_done(gpu, ops_of(gpu)->graph_edge(graph->dev, (struct dev_node *)from, (struct dev_node *)to, remove,
                                                  host_begin(gpu)));
}

lk_status lk_graph_edge(lk_graph *graph, lk_node *from, lk_node *to) { return edge(graph, from, to, false, __func__); }

lk_status lk_graph_edge_remove(lk_graph *graph, lk_node *from, lk_node *to)
{
    return edge(graph, from, to, true, __func__);
}

/* ---- executable graphs ---- */

lk_status lk_graph_instantiate(lk_graph *graph, uint32_t flags, lk_exec **exec)
{
    if (!graph || !exec)
        return HOST_MISSING(graph ? graph->handle.gpu : NULL, graph ? "place for the executable graph" : "graph");
    lk_gpu *gpu = graph->handle.gpu;
    *exec = NULL;
    if (flags & ~(u32)LK_GRAPH_AUTO_FREE) return host_refuse(gpu, "an executable graph has no flags 0x%x", flags);
    struct error *e = host_begin(gpu);
    lk_exec *x = base_alloc(sizeof *x);
    if (!x) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    u32 status = ops_of(gpu)->graph_instantiate(graph->dev, flags, &x->dev, e);
    if (status) {
        base_free(x);
        return host_done(gpu, status);
    }
    handle_add(&x->handle, gpu, HANDLE_EXEC);
    *exec = x;
    return LK_OK;
}

void lk_exec_destroy(lk_exec *exec)
{
    if (!exec) return;
    lk_gpu *gpu = exec->handle.gpu;
    handle_remove(&exec->handle);
    ops_of(gpu)->exec_delete(exec->dev);
    base_free(exec);
    host_modules_end(gpu);
}

lk_status lk_exec_launch(lk_exec *exec, lk_stream *stream)
{
    if (!exec || !stream) return HOST_MISSING(exec ? exec->handle.gpu : NULL, exec ? "stream" : "executable graph");
    lk_gpu *gpu = exec->handle.gpu;
    if (stream->handle.gpu != gpu) return host_refuse(gpu, "the graph and the stream belong to different gpus");
    host_note_graph(gpu, stream, exec->dev);
    return host_done(gpu, ops_of(gpu)->exec_launch(exec->dev, stream->dev, host_site(NULL), host_begin(gpu)));
}

lk_status lk_exec_update(lk_exec *exec, lk_graph *graph)
{
    if (!exec || !graph) return HOST_MISSING(exec ? exec->handle.gpu : NULL, exec ? "graph" : "executable graph");
    lk_gpu *gpu = exec->handle.gpu;
    if (graph->handle.gpu != gpu) return host_refuse(gpu, "the two graphs belong to different gpus");
    return host_done(gpu, ops_of(gpu)->exec_update(exec->dev, graph->dev, host_begin(gpu)));
}

static lk_status exec_missing(const lk_exec *exec, const lk_node *node, const char *function)
{
    if (exec && node) return LK_OK;
    return host_missing_in(exec ? exec->handle.gpu : NULL, function, exec ? "node" : "executable graph");
}

static lk_status exec_set(lk_exec *exec, lk_node *node, struct dev_task *task, const char *site)
{
    lk_gpu *gpu = exec->handle.gpu;
    task->site = host_site(site);
    return host_done(gpu, dev_exec_set(exec->dev, gpu->device, (struct dev_node *)node, task, host_begin(gpu)));
}

lk_status lk_exec_set_launch(lk_exec *exec, lk_node *node, lk_kernel *kernel, const lk_launch *launch)
{
    struct host_launch l;
    lk_status bad = exec_missing(exec, node, __func__);
    if (!bad) bad = host_launch_begin(&l, exec->handle.gpu, kernel, launch, __func__);
    if (bad) return bad;
    lk_status status = exec_set(exec, node, &l.task, l.in->site);
    host_launch_end(&l);
    return status;
}

lk_status lk_exec_set_copy(lk_exec *exec, lk_node *node, const lk_copy *copy)
{
    struct dev_task task;
    const char *site;
    lk_status bad = exec_missing(exec, node, __func__);
    if (!bad) bad = host_copy(exec->handle.gpu, copy, &task, &site, __func__);
    return bad ? bad : exec_set(exec, node, &task, site);
}

lk_status lk_exec_set_fill(lk_exec *exec, lk_node *node, const lk_fill *fill)
{
    struct dev_task task;
    const char *site;
    lk_status bad = exec_missing(exec, node, __func__);
    if (!bad) bad = host_fill(exec->handle.gpu, fill, &task, &site, __func__);
    return bad ? bad : exec_set(exec, node, &task, site);
}

lk_status lk_exec_set_host(lk_exec *exec, lk_node *node, void (*function)(void *self), void *self)
{
    lk_status bad = exec_missing(exec, node, __func__);
    if (!bad && !function) bad = HOST_MISSING(exec->handle.gpu, "function");
    return bad ? bad : exec_set(exec, node, &(struct dev_task){ .kind = OP_HOST, .host = { function, self } }, NULL);
}
