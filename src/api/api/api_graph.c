/* Graphs of the public interface. A graph changes by more calls than that of its end, and its nodes point at each
 * other: a call that is given one has the lock of all graphs (queue/graph.h) until it returns. */
#include "api/host_timeline.h"
#include "queue/graph.h"

static const struct dev_async_ops *ops_of(const lk_gpu *gpu) { return gpu->device->async; }

int host_graphs_enter(void)
{
    graphs_lock();
    return 0;
}

void host_graphs_leave(const int *unused)
{
    (void)unused;
    graphs_unlock();
}

/* ---- making and ending ---- */

static lk_graph *graph_wrap(struct dev_graph *dev)
{
    lk_graph *g = handle_new(sizeof *g);
    if (g) g->dev = dev;
    return g;
}

lk_status host_graph(lk_gpu *gpu, struct dev_graph *dev, lk_graph **graph)
{
    lk_graph *g = graph_wrap(dev);
    if (!g) {
        ops_of(gpu)->graph_delete(dev);
        error_set(host_error(), ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    handle_add(&g->handle, gpu, HANDLE_GRAPH);
    *graph = g;
    return LK_OK;
}

lk_graph *host_graph_part(lk_gpu *gpu, struct dev_graph *dev)
{
    lk_graph *g = graph_wrap(dev);
    if (!g) return NULL;
    g->part = true;
    handle_open(&g->handle, gpu, HANDLE_GRAPH);
    return g;
}

static void graph_free(lk_graph *g)
{
    while (g->node) {
        lk_node *n = g->node;
        g->node = (lk_node *)n->handle.next;
        handle_free(n, sizeof *n);
    }
    handle_free(g, sizeof *g);
}

void host_graph_gone(lk_graph *graph)
{
    if (graph->ending) return;
    __atomic_store_n(&graph->handle.state, 0, __ATOMIC_RELEASE);
    handle_remove(&graph->handle);
    graph_free(graph);
}

lk_status host_graph_new(lk_gpu *gpu, struct dev_graph **dev)
{
    *dev = NULL;
    u32 status = ops_of(gpu)->graph_new(gpu->device, dev, host_begin(gpu));
    return status ? host_done(gpu, status) : LK_OK;
}

lk_status lk_graph_create(lk_gpu *gpu, lk_graph **graph)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!graph) return HOST_MISSING(gpu, "place for the graph");
    struct dev_graph *dev;
    *graph = NULL;
    lk_status status = host_graph_new(gpu, &dev);
    return status ? status : host_graph(gpu, dev, graph);
}

u32 host_graph_ended(struct handle *h)
{
    lk_graph *g = (lk_graph *)h;
    lk_gpu *gpu = h->gpu;
    g->ending = true;
    handle_remove(h);
    ops_of(gpu)->graph_delete(g->dev);
    graph_free(g);
    host_modules_end(gpu);
    return 0;
}

lk_status lk_graph_destroy(lk_graph *graph)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(GRAPH, graph));
    u32 none;
    return !graph || host_destroy(&call, &graph->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

uint32_t lk_graph_node_count(const lk_graph *graph)
{
    HOST_CALL(0, USE(GRAPH, graph));
    HOST_GRAPHS;
    return ops_of(graph->handle.gpu)->graph_nodes(graph->dev);
}

/* ---- nodes ---- */

/* What every function that adds a node is given. */
struct adding {
    lk_graph *graph;
    lk_node *const *after;
    u32 count;
    lk_node **node;
    const char *function;   /* for messages */
    struct dev_node **list; /* `after` as the device has them: `few`, or from base_alloc */
    struct dev_node *few[8];
};
static void adding_end(struct adding *a)
{
    if (a->list != a->few) base_free(a->list);
}
/* Begins a function that adds a node: LK_OK, or the error. */
#define ADDING                                                                                                      \
    HOST_GRAPHS;                                                                                                    \
    __attribute__((cleanup(adding_end))) struct adding a = { graph, after, count, node, __func__, NULL, { NULL } }; \
    lk_status bad = adding_begin(&a)

/* The nodes of the driver interface are those of the device. */
static lk_status node_read(const struct adding *a, u32 i, struct dev_node **out)
{
    const lk_node *n = a->after[i];
    lk_gpu *gpu = a->graph->handle.gpu;
    if (!n) return host_refuse(gpu, "%s: node %u of %u in the list is NULL", a->function, i, a->count);
    *out = (struct dev_node *)(uintptr_t)n;
    if (a->graph->part) return LK_OK;
    struct host_call one;
    bool is = host_enter(&one, a->function, &(struct host_use)USE(NODE, n), 1);
    bool here = is && n->handle.parent == &a->graph->handle;
    if (here) *out = n->dev;
    host_leave(&one);
    if (here) return LK_OK;
    return is ? host_refuse(gpu, "%s: node %u of %u in the list belongs to another graph", a->function, i, a->count)
              : host_failed(gpu);
}

static lk_status adding_begin(struct adding *a)
{
    lk_gpu *gpu = a->graph->handle.gpu;
    a->list = a->few;
    if (a->node) *a->node = NULL;
    if (!a->after && a->count) return host_missing_in(gpu, a->function, "list of nodes");
    if (a->count > COUNT_OF(a->few) && !(a->list = base_alloc(a->count * sizeof *a->list))) {
        error_set(host_begin(gpu), ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    lk_status bad = LK_OK;
    for (u32 i = 0; i < a->count && !bad; i++) bad = node_read(a, i, &a->list[i]);
    return bad;
}

static lk_status added(const struct adding *a, u32 status, struct dev_node *dev)
{
    lk_graph *g = a->graph;
    if (a->node && g->part) *a->node = (lk_node *)dev;
    if (!a->node || g->part || status) return host_done(g->handle.gpu, status);
    lk_node *n = handle_new(sizeof *n);
    if (!n) { /* the node is there, and has no name */
        error_set(host_begin(g->handle.gpu), ERR_MEMORY, "out of memory");
        return host_failed(g->handle.gpu);
    }
    n->dev = dev;
    n->handle.parent = &g->handle;
    n->handle.next = (struct handle *)g->node;
    g->node = n;
    handle_open(&n->handle, g->handle.gpu, HANDLE_NODE);
    *a->node = n;
    return LK_OK;
}

static lk_status add(const struct adding *a, struct dev_task *task, const char *site)
{
    struct dev_node *node = NULL;
    lk_gpu *gpu = a->graph->handle.gpu;
    task->site = host_site(site);
    u32 status = dev_graph_add(a->graph->dev, gpu->device, a->list, a->count, task, &node, host_begin(gpu));
    return added(a, status, node);
}

lk_status lk_graph_add_empty(lk_graph *graph, lk_node *const *after, uint32_t count, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    ADDING;
    return bad ? bad : add(&a, &(struct dev_task){ .kind = OP_EMPTY }, NULL);
}

lk_status lk_graph_add_launch(lk_graph *graph, lk_node *const *after, uint32_t count, lk_kernel *kernel,
                              const lk_launch *launch, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph), USE(KERNEL, kernel));
    ADDING;
    if (bad) return bad;
    struct host_launch l;
    bad = host_launch_begin(&call, &l, graph->handle.gpu, kernel, launch, __func__);
    if (bad) return bad;
    lk_status status = add(&a, &l.task, l.in->site);
    host_launch_end(&l);
    return status;
}

lk_status lk_graph_add_copy(lk_graph *graph, lk_node *const *after, uint32_t count, const lk_copy *copy, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    ADDING;
    struct dev_task task;
    const char *site;
    if (!bad) bad = host_copy(&call, graph->handle.gpu, copy, &task, &site, __func__);
    return bad ? bad : add(&a, &task, site);
}

lk_status lk_graph_add_fill(lk_graph *graph, lk_node *const *after, uint32_t count, const lk_fill *fill, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    ADDING;
    struct dev_task task;
    const char *site;
    if (!bad) bad = host_fill(graph->handle.gpu, fill, &task, &site, __func__);
    return bad ? bad : add(&a, &task, site);
}

lk_status lk_graph_add_host(lk_graph *graph, lk_node *const *after, uint32_t count, void (*function)(void *self),
                            void *self, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    ADDING;
    if (!bad && !function) bad = HOST_MISSING(graph->handle.gpu, "function");
    return bad ? bad : add(&a, &(struct dev_task){ .kind = OP_HOST, .host = { .call = function, .self = self } }, NULL);
}

static lk_status add_event(const struct adding *a, lk_event *event, bool wait)
{
    struct dev_node *node = NULL;
    lk_gpu *gpu = a->graph->handle.gpu;
    if (event->handle.gpu != gpu) return host_refuse(gpu, "the graph and the event belong to different gpus");
    u32 status = ops_of(gpu)->graph_add_event(a->graph->dev, a->list, a->count, event->dev, wait, &node,
                                              host_begin(gpu));
    return added(a, status, node);
}

lk_status lk_graph_add_record(lk_graph *graph, lk_node *const *after, uint32_t count, lk_event *event, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph), USE(EVENT, event));
    ADDING;
    return bad ? bad : add_event(&a, event, false);
}

lk_status lk_graph_add_wait(lk_graph *graph, lk_node *const *after, uint32_t count, lk_event *event, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph), USE(EVENT, event));
    ADDING;
    return bad ? bad : add_event(&a, event, true);
}

lk_status lk_graph_add_child(lk_graph *graph, lk_node *const *after, uint32_t count, lk_graph *child, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph), USE_AS(GRAPH, child, "child graph"));
    ADDING;
    if (bad) return bad;
    lk_gpu *gpu = graph->handle.gpu;
    struct dev_node *out = NULL;
    if (child->handle.gpu != gpu) return host_refuse(gpu, "the two graphs belong to different gpus");
    if (child == graph) return host_refuse(gpu, "a graph cannot be a node of itself");
    u32 status = ops_of(gpu)->graph_add_child(graph->dev, a.list, count, child->dev, &out, host_begin(gpu));
    return added(&a, status, out);
}

lk_status lk_graph_add_alloc(lk_graph *graph, lk_node *const *after, uint32_t count, uint64_t bytes, const char *name,
                             uint64_t *address, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    ADDING;
    if (bad) return bad;
    if (!address) return HOST_MISSING(graph->handle.gpu, "place for the address");
    struct dev_task task = { .kind = OP_ALLOC, .alloc = { .bytes = bytes, .name = name } };
    lk_status status = add(&a, &task, NULL);
    *address = status == LK_OK ? task.alloc.address : 0;
    return status;
}

lk_status lk_graph_add_free(lk_graph *graph, lk_node *const *after, uint32_t count, uint64_t address, lk_node **node)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    ADDING;
    return bad ? bad : add(&a, &(struct dev_task){ .kind = OP_FREE, .free = { address } }, NULL);
}

/* A node of this graph, as the device has it; NULL: it is of another one. The driver interface has those. */
static struct dev_node *node_of(const lk_graph *graph, const lk_node *node)
{
    return node->handle.parent == &graph->handle ? node->dev : NULL;
}

static lk_status edge(lk_graph *graph, const lk_node *from, const lk_node *to, bool remove, const char *function)
{
    HOST_GRAPHS;
    lk_gpu *gpu = graph->handle.gpu;
    struct dev_node *a = node_of(graph, from), *b = node_of(graph, to);
    if (!a || !b) return host_refuse(gpu, "%s: the node belongs to another graph", function);
    return host_done(gpu, ops_of(gpu)->graph_edge(graph->dev, a, b, remove, host_begin(gpu)));
}

lk_status lk_graph_edge(lk_graph *graph, lk_node *from, lk_node *to)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph), USE(NODE, from), USE(NODE, to));
    return edge(graph, from, to, false, __func__);
}

lk_status lk_graph_edge_remove(lk_graph *graph, lk_node *from, lk_node *to)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph), USE(NODE, from), USE(NODE, to));
    return edge(graph, from, to, true, __func__);
}

/* ---- executable graphs ---- */

lk_status lk_graph_instantiate(lk_graph *graph, uint32_t flags, lk_exec **exec)
{
    HOST_CALL(LK_BAD_INPUT, USE(GRAPH, graph));
    HOST_GRAPHS;
    if (!exec) return HOST_MISSING(graph->handle.gpu, "place for the executable graph");
    lk_gpu *gpu = graph->handle.gpu;
    *exec = NULL;
    if (flags & ~(u32)LK_GRAPH_AUTO_FREE) return host_refuse(gpu, "an executable graph has no flags 0x%x", flags);
    struct error *e = host_begin(gpu);
    lk_exec *x = handle_new(sizeof *x);
    if (!x) {
        error_set(e, ERR_MEMORY, "out of memory");
        return host_failed(gpu);
    }
    u32 status = ops_of(gpu)->graph_instantiate(graph->dev, flags, &x->dev, e);
    if (status) {
        handle_free(x, sizeof *x);
        return host_done(gpu, status);
    }
    x->from = graph;
    x->part = graph->part;
    handle_add(&x->handle, gpu, HANDLE_EXEC);
    *exec = x;
    return LK_OK;
}

u32 host_exec_ended(struct handle *h)
{
    lk_exec *x = (lk_exec *)h;
    lk_gpu *gpu = h->gpu;
    handle_remove(h);
    ops_of(gpu)->exec_delete(x->dev);
    handle_free(x, sizeof *x);
    host_modules_end(gpu);
    return 0;
}

lk_status lk_exec_destroy(lk_exec *exec)
{
    HOST_CALL(LK_BAD_INPUT, USE_IF(EXEC, exec));
    u32 none;
    return !exec || host_destroy(&call, &exec->handle, __func__, &none) ? LK_OK : LK_BAD_INPUT;
}

lk_status lk_exec_launch(lk_exec *exec, lk_stream *stream)
{
    HOST_CALL(LK_BAD_INPUT, USE(EXEC, exec), USE(STREAM, stream));
    lk_gpu *gpu = exec->handle.gpu;
    if (stream->handle.gpu != gpu) return host_refuse(gpu, "the graph and the stream belong to different gpus");
    host_note_graph(gpu, stream, exec->dev);
    return host_done(gpu, ops_of(gpu)->exec_launch(exec->dev, stream->dev, host_site(NULL), host_begin(gpu)));
}

lk_status lk_exec_update(lk_exec *exec, lk_graph *graph)
{
    HOST_CALL(LK_BAD_INPUT, USE(EXEC, exec), USE(GRAPH, graph));
    HOST_GRAPHS;
    lk_gpu *gpu = exec->handle.gpu;
    if (graph->handle.gpu != gpu) return host_refuse(gpu, "the two graphs belong to different gpus");
    return host_done(gpu, ops_of(gpu)->exec_update(exec->dev, graph->dev, host_begin(gpu)));
}

/* A node of the graph that it was made from, while that lives. */
static lk_status exec_node(struct host_call *c, const lk_exec *exec, const lk_node *node, struct dev_node **out,
                           const char *function)
{
    *out = (struct dev_node *)(uintptr_t)node;
    if (exec->part && node) return LK_OK;
    if (!host_enter_also(c, function, (struct host_use)USE(NODE, node))) return LK_BAD_INPUT;
    *out = node_of(exec->from, node);
    return *out ? LK_OK
                : host_refuse(exec->handle.gpu,
                              "%s: the node is not of the graph that the executable graph was made "
                              "from",
                              function);
}

static lk_status exec_set(lk_exec *exec, struct dev_node *node, struct dev_task *task, const char *site)
{
    lk_gpu *gpu = exec->handle.gpu;
    task->site = host_site(site);
    return host_done(gpu, dev_exec_set(exec->dev, gpu->device, node, task, host_begin(gpu)));
}

lk_status lk_exec_set_launch(lk_exec *exec, lk_node *node, lk_kernel *kernel, const lk_launch *launch)
{
    HOST_CALL(LK_BAD_INPUT, USE(EXEC, exec), USE(KERNEL, kernel));
    HOST_GRAPHS;
    struct dev_node *dev;
    struct host_launch l;
    lk_status bad = exec_node(&call, exec, node, &dev, __func__);
    if (!bad) bad = host_launch_begin(&call, &l, exec->handle.gpu, kernel, launch, __func__);
    if (bad) return bad;
    lk_status status = exec_set(exec, dev, &l.task, l.in->site);
    host_launch_end(&l);
    return status;
}

lk_status lk_exec_set_copy(lk_exec *exec, lk_node *node, const lk_copy *copy)
{
    HOST_CALL(LK_BAD_INPUT, USE(EXEC, exec));
    HOST_GRAPHS;
    struct dev_node *dev;
    struct dev_task task;
    const char *site;
    lk_status bad = exec_node(&call, exec, node, &dev, __func__);
    if (!bad) bad = host_copy(&call, exec->handle.gpu, copy, &task, &site, __func__);
    return bad ? bad : exec_set(exec, dev, &task, site);
}

lk_status lk_exec_set_fill(lk_exec *exec, lk_node *node, const lk_fill *fill)
{
    HOST_CALL(LK_BAD_INPUT, USE(EXEC, exec));
    HOST_GRAPHS;
    struct dev_node *dev;
    struct dev_task task;
    const char *site;
    lk_status bad = exec_node(&call, exec, node, &dev, __func__);
    if (!bad) bad = host_fill(exec->handle.gpu, fill, &task, &site, __func__);
    return bad ? bad : exec_set(exec, dev, &task, site);
}

lk_status lk_exec_set_host(lk_exec *exec, lk_node *node, void (*function)(void *self), void *self)
{
    HOST_CALL(LK_BAD_INPUT, USE(EXEC, exec));
    HOST_GRAPHS;
    struct dev_node *dev;
    lk_status bad = exec_node(&call, exec, node, &dev, __func__);
    if (!bad && !function) bad = HOST_MISSING(exec->handle.gpu, "function");
    return bad ? bad
               : exec_set(exec, dev, &(struct dev_task){ .kind = OP_HOST, .host = { .call = function, .self = self } },
                          NULL);
}
