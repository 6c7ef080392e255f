/* Graphs of a real GPU: they are the driver's, from the first node to the launch. What is kept here is a node's kind,
 * for its edges, and the addresses of allocation nodes, which leave the list of objects with the last graph or
 * executable graph that has them. Allocations that were captured have no node here; theirs stay. */
#include "gpu/dev_gpu.h"

struct dev_node {
    cu_node handle;
    enum op_kind kind;
    struct dev_node *next; /* of the graph */
};
struct graph_alloc { /* of an allocation node; the object is another one's by now when its id has changed */
    struct mem_object *o;
    u32 id;
};
struct graph_memory { /* of allocation nodes, shared by a graph and what was made from it */
    u32 users;        /* atomic */
    u32 n, room;      /* allocations, and how many fit */
    struct graph_alloc *at;
};
struct dev_graph {
    struct device *d;
    cu_graph handle;
    struct dev_node *nodes; /* that were added one by one, the newest first */
    struct graph_memory *memory;
};
struct dev_exec {
    struct device *d;
    cu_exec handle;
    struct graph_memory *memory;
};

static void memory_release(struct device *d, struct graph_memory *m)
{
    if (!m || __atomic_sub_fetch(&m->users, 1, __ATOMIC_ACQ_REL)) return;
    for (u32 i = 0; i < m->n; i++)
        if (m->at[i].o->id == m->at[i].id) gpu_leave(d->gpu, m->at[i].o, NULL);
    base_free(m->at);
    base_free(m);
}

static struct graph_memory *memory_share(struct graph_memory *m)
{
    __atomic_add_fetch(&m->users, 1, __ATOMIC_RELAXED);
    return m;
}

u32 gpu_graph_of(struct device *d, cu_graph handle, struct dev_graph **out, struct error *e)
{
    struct dev_graph *g = base_alloc(sizeof *g);
    struct graph_memory *m = g ? base_alloc(sizeof *m) : NULL;
    *out = NULL;
    if (!m) {
        base_free(g);
        ask_driver(&d->gpu->cu, graph_delete, handle);
        return gpu_no_memory(e);
    }
    *g = (struct dev_graph){ .d = d, .handle = handle, .memory = memory_share(m) };
    *out = g;
    return 0;
}

u32 gpu_graph_new(struct device *d, struct dev_graph **out, struct error *e)
{
    cu_graph handle = NULL;
    *out = NULL;
    u32 code = gpu_ready(d, e);
    if (!code) code = ASK(d, NULL, e, "cuGraphCreate", graph_new, &handle, 0);
    return code ? code : gpu_graph_of(d, handle, out, e);
}

void gpu_graph_delete(struct dev_graph *g)
{
    struct error e = { 0 };
    if (!gpu_ready(g->d, &e)) ask_driver(&g->d->gpu->cu, graph_delete, g->handle);
    while (g->nodes) {
        struct dev_node *n = g->nodes;
        g->nodes = n->next;
        base_free(n);
    }
    memory_release(g->d, g->memory);
    base_free(g);
}

/* The dependencies of a new node as the driver wants them. */
struct deps {
    cu_node *node;
    struct cu_edge_data *edge; /* NULL: all are plain */
    u32 n;
    struct arena mem;
};

static void deps_read(struct deps *x, struct dev_node *const *dep, u32 n, bool programmatic)
{
    *x = (struct deps){ .n = n };
    if (n) x->node = NEW_ARRAY(&x->mem, cu_node, n);
    if (n && programmatic) x->edge = NEW_ARRAY(&x->mem, struct cu_edge_data, n);
    for (u32 i = 0; i < n; i++) {
        x->node[i] = dep[i]->handle;
        if (x->edge && dep[i]->kind == OP_LAUNCH)
            x->edge[i] = (struct cu_edge_data){ .from_port = CU_EDGE_FROM_TRIGGER, .type = CU_EDGE_PROGRAMMATIC };
    }
}

static u32 add(struct dev_graph *g, struct dev_node *const *dep, u32 deps, bool programmatic, enum op_kind kind,
               struct cu_node_params *params, struct dev_node **out, struct error *e)
{
    struct dev_node *n = base_alloc(sizeof *n);
    struct deps x;
    if (out) *out = NULL;
    if (!n) return gpu_no_memory(e);
    deps_read(&x, dep, deps, programmatic);
    u32 code = ASK(g->d, NULL, e, "cuGraphAddNode", graph_add, &n->handle, g->handle, x.node, x.edge, x.n, params);
    arena_free(&x.mem);
    if (code) {
        base_free(n);
        return code;
    }
    n->kind = kind;
    n->next = g->nodes;
    g->nodes = n;
    if (out) *out = n;
    return 0;
}

static u32 launch_params(struct device *d, const struct dev_launch *l, struct cu_node_params *p, void **room,
                         struct arena *mem, struct error *e)
{
    const char *call = "";
    cu_result code;
    const struct gpu_kernel *x = gpu_kernel(d, l, &call, &code);
    if (!x) return gpu_status(d, NULL, call, code, e);
    p->type = CU_NODE_KERNEL;
    p->kernel.first.function = x->function;
    for (int i = 0; i < 3; i++) {
        p->kernel.first.grid[i] = l->grid[i];
        p->kernel.first.block[i] = l->block[i];
    }
    p->kernel.first.shared = l->shared_bytes;
    p->kernel.first.params = gpu_params(x, l, room, mem);
    return 0;
}

static u32 fill_params(struct device *d, const struct dev_fill *given, struct cu_node_params *p, struct error *e)
{
    struct dev_fill f;
    if (!gpu_flat_fill(given, &f) || !f.width || !f.rows) {
        error_set(e, ERR_INPUT, "%s",
                  f.slices > 1 ? "a fill node has rows, and no slices apart" : "a fill of no elements");
        return OP_INVALID_VALUE;
    }
    p->type = CU_NODE_FILL;
    p->fill.address = f.address;
    p->fill.pitch = f.pitch;
    p->fill.value = f.bytes < 4 ? f.value & ((1u << f.bytes * 8) - 1) : f.value; /* the driver takes all bits */
    p->fill.bytes = f.bytes;
    p->fill.width = f.width;
    p->fill.height = f.rows;
    p->fill_context = d->gpu->context;
    return 0;
}

/* A task as the parameters of a node. */
static u32 params_read(struct device *d, const struct dev_task *t, struct cu_node_params *p, void **room,
                       struct arena *mem, struct error *e)
{
    *p = (struct cu_node_params){ 0 };
    switch (t->kind) {
    case OP_LAUNCH: return launch_params(d, &t->launch, p, room, mem, e);
    case OP_COPY:
        p->type = CU_NODE_COPY;
        p->copy.context = d->gpu->context;
        return gpu_copy3(&t->copy, &p->copy.copy, e);
    case OP_FILL: return fill_params(d, &t->fill, p, e);
    case OP_HOST:
        p->type = CU_NODE_HOST;
        p->host.call = t->host.call;
        p->host.self = t->host.self;
        return 0;
    case OP_ALLOC:
        p->type = CU_NODE_ALLOC;
        p->alloc.pool = (struct cu_pool_props){ .type = TYPE_PINNED, .location = { PLACE_DEVICE, d->gpu->device } };
        p->alloc.bytes = MAX_OF(t->alloc.bytes, 1u);
        return 0;
    case OP_FREE:
        p->type = CU_NODE_FREE;
        p->address = t->free.address;
        return 0;
    case OP_EMPTY: p->type = CU_NODE_EMPTY; return 0;
    default: error_set(e, ERR_INPUT, "a graph has no node of kind %d", (int)t->kind); return OP_INVALID_VALUE;
    }
}

static u32 alloc_added(struct dev_graph *g, struct dev_task *t, u64 address, struct error *e)
{
    struct graph_memory *m = g->memory;
    if (m->n == m->room) {
        u32 room = MAX_OF(8u, m->room * 2);
        void *p = base_realloc(m->at, room * sizeof *m->at);
        if (!p) return gpu_no_memory(e);
        m->at = p;
        m->room = room;
    }
    struct mem_object *o = gpu_enter(g->d->gpu, address, t->alloc.bytes, MEM_POOL, true, t->alloc.name, t->site);
    if (!o) return gpu_no_memory(e);
    m->at[m->n++] = (struct graph_alloc){ o, o->id };
    t->alloc.address = address;
    return 0;
}

/* What only attributes of the node say: whether it is cooperative, its clusters. */
static u32 set_attributes(struct device *d, const struct dev_node *n, const struct dev_launch *l, struct error *e)
{
    struct cu_launch_attribute a = { .value.number = 1 }, c = { 0 };
    u32 code = 0;
    if (l->cooperative)
        code = ASK(d, NULL, e, "cuGraphKernelNodeSetAttribute", node_attribute, n->handle, CU_LAUNCH_COOPERATIVE,
                   &a.value);
    if (code || !l->cluster[0]) return code;
    memcpy(c.value.cluster, l->cluster, sizeof c.value.cluster);
    return ASK(d, NULL, e, "cuGraphKernelNodeSetAttribute", node_attribute, n->handle, CU_LAUNCH_CLUSTER, &c.value);
}

u32 gpu_graph_add(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_task *t, struct dev_node **out,
                  struct error *e)
{
    struct cu_node_params p;
    struct arena mem = { 0 };
    void *room[GPU_PARAMS];
    struct dev_node *n = NULL;
    u32 code = gpu_ready(g->d, e);
    if (!code) code = params_read(g->d, t, &p, room, &mem, e);
    if (!code) code = add(g, dep, deps, t->kind == OP_LAUNCH && t->programmatic, t->kind, &p, &n, e);
    arena_free(&mem);
    if (!code && t->kind == OP_ALLOC) code = alloc_added(g, t, p.alloc.address, e);
    if (!code && t->kind == OP_LAUNCH) code = set_attributes(g->d, n, &t->launch, e);
    if (out) *out = code ? NULL : n;
    return code;
}

u32 gpu_graph_add_event(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_event *ev, bool wait,
                        struct dev_node **out, struct error *e)
{
    struct cu_node_params p = { .type = wait ? CU_NODE_WAIT : CU_NODE_RECORD, .event = ev->handle };
    u32 code = gpu_ready(g->d, e);
    return code ? code : add(g, dep, deps, false, wait ? OP_WAIT : OP_RECORD, &p, out, e);
}

u32 gpu_graph_add_child(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_graph *child,
                        struct dev_node **out, struct error *e)
{
    struct cu_node_params p = { .type = CU_NODE_GRAPH, .graph = (struct cu_graph *)child->handle };
    u32 code = gpu_ready(g->d, e);
    return code ? code : add(g, dep, deps, false, OP_GRAPH, &p, out, e);
}

u32 gpu_graph_edge(struct dev_graph *g, struct dev_node *from, struct dev_node *to, bool remove, struct error *e)
{
    u32 code = gpu_ready(g->d, e);
    if (code) return code;
    return remove ? ASK(g->d, NULL, e, "cuGraphRemoveDependencies", graph_edge_remove, g->handle, &from->handle,
                        &to->handle, NULL, 1)
                  : ASK(g->d, NULL, e, "cuGraphAddDependencies", graph_edge_add, g->handle, &from->handle, &to->handle,
                        NULL, 1);
}

u32 gpu_graph_nodes(struct dev_graph *g)
{
    size_t n = 0;
    struct error e = { 0 };
    return gpu_ready(g->d, &e) || ask_driver(&g->d->gpu->cu, graph_nodes, g->handle, NULL, &n) ? 0 : (u32)n;
}

u32 gpu_graph_instantiate(struct dev_graph *g, u32 flags, struct dev_exec **out, struct error *e)
{
    struct dev_exec *x = base_alloc(sizeof *x);
    *out = NULL;
    if (!x) return gpu_no_memory(e);
    u32 code = gpu_ready(g->d, e);
    if (!code) code = ASK(g->d, NULL, e, "cuGraphInstantiate", instantiate, &x->handle, g->handle, flags);
    if (code) {
        base_free(x);
        return code;
    }
    x->d = g->d;
    x->memory = memory_share(g->memory);
    *out = x;
    return 0;
}

void gpu_exec_delete(struct dev_exec *x)
{
    struct error e = { 0 };
    if (!gpu_ready(x->d, &e)) ask_driver(&x->d->gpu->cu, exec_delete, x->handle);
    memory_release(x->d, x->memory);
    base_free(x);
}

u32 gpu_exec_update(struct dev_exec *x, struct dev_graph *g, struct error *e)
{
    /* of CUgraphExecUpdateResult, from 2 on */
    static const char *const why[] = {
        "it has other nodes or edges",    "a node is of another kind",
        "a node has another kernel",      "a node has parameters that cannot be changed",
        "a node of it cannot be changed", "a node has a kernel that cannot take the place of the old one",
        "a node has other attributes"
    };
    struct cu_update result = { 0 };
    u32 code = gpu_ready(x->d, e);
    if (code) return code;
    code = (u32)ask_driver(&x->d->gpu->cu, exec_update, x->handle, g->handle, &result);
    if (code != OP_GRAPH_UPDATE_FAILURE || result.result < 2 || result.result - 2 >= COUNT_OF(why))
        return gpu_status(x->d, NULL, "cuGraphExecUpdate", (cu_result)code, e);
    error_set(e, ERR_INPUT, "the executable graph cannot become this graph: %s", why[result.result - 2]);
    return code;
}

u32 gpu_exec_set(struct dev_exec *x, struct dev_node *n, struct dev_task *t, struct error *e)
{
    struct cu_node_params p;
    struct arena mem = { 0 };
    void *room[GPU_PARAMS];
    u32 code = gpu_ready(x->d, e);
    if (!code && t->kind != n->kind) {
        error_set(e, ERR_INPUT, "the node is of another kind");
        code = OP_INVALID_VALUE;
    }
    if (!code) code = params_read(x->d, t, &p, room, &mem, e);
    if (!code) code = ASK(x->d, NULL, e, "cuGraphExecNodeSetParams", exec_set, x->handle, n->handle, &p);
    arena_free(&mem);
    return code;
}

u32 gpu_exec_launch(struct dev_exec *x, struct dev_stream *st, const char *site, struct error *e)
{
    (void)site;
    u32 code = gpu_ready(x->d, e);
    return code ? code : ASK(x->d, st, e, "cuGraphLaunch", exec_launch, x->handle, st->handle);
}
