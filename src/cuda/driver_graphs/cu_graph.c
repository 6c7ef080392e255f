/* Graphs, their nodes and edges. */
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver/cu_engine.h"
#include "driver_graphs/cu_graph.h"

/* ---- handles ---- */

/* A graph or a node of the engine is gone, and with it the handle. */
static void user_gone(void *user)
{
    struct cu_node *n = user;
    struct cu_graph *g = user;
    struct cu_exec_user *x = user;
    if (n->handle == CU_EXEC) {
        cu_owned_release(&x->owned);
        base_free(x);
        return;
    }
    if (n->handle == CU_NODE) {
        base_free(n->arg);
        base_free(n->batch);
        base_free(n->graphs);
        base_free(n->values);
    } else {
        cu_owned_release(&g->owned);
        cu_conditions_release(g);
        host_graph_gone(g->graph);
    }
    cu_handle_end(user);
}

struct cu_graph *cu_graph_of(struct cu_device *d, struct graph *g)
{
    struct cu_graph *x = graph_user(g);
    if (x || !(x = cu_handle_new(CU_GRAPH, sizeof *x))) return x;
    graph_on_gone(user_gone);
    *x = (struct cu_graph){ .handle = CU_GRAPH, .device = d, .graph = host_graph_part(d->gpu, graph_out(g)) };
    if (!x->graph) {
        cu_handle_end(x);
        return NULL;
    }
    graph_set_user(g, x);
    return cu_handle_open(x);
}

static enum cu_node_type type_of(const struct graph_node *n)
{
    switch (graph_node_kind(n)) {
    case OP_LAUNCH: return CU_NODE_KERNEL;
    case OP_COPY: return CU_NODE_COPY;
    case OP_FILL: return CU_NODE_FILL;
    case OP_HOST: return CU_NODE_HOST;
    case OP_GRAPH: return CU_NODE_GRAPH;
    case OP_WAIT: return CU_NODE_WAIT;
    case OP_RECORD: return CU_NODE_RECORD;
    case OP_ALLOC: return CU_NODE_ALLOC;
    case OP_FREE: return CU_NODE_FREE;
    case OP_BRANCH: return CU_NODE_CONDITIONAL;
    case OP_VALUE_WAIT:
    case OP_VALUE_WRITE: return CU_NODE_BATCH;
    default: return CU_NODE_EMPTY;
    }
}

struct cu_node *cu_node_of(struct graph_node *n)
{
    struct cu_node *x = graph_node_user(n);
    if (x || !(x = cu_handle_new(CU_NODE, sizeof *x))) return x;
    graph_on_gone(user_gone);
    *x = (struct cu_node){ .handle = CU_NODE, .node = n, .type = type_of(n) };
    graph_node_set_user(n, x);
    return cu_handle_open(x);
}

struct cu_device *cu_node_device(const struct cu_node *n)
{
    const struct device *of = streams_self(graph_owner(graph_node_graph(n->node)));
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].gpu && cu_process.device[i].gpu->device == of) return &cu_process.device[i];
    return cu_device_at(0);
}

cu_result cu_graph_give(struct cu_device *d, struct graph *g, struct cu_graph **out)
{
    struct cu_graph *x = cu_graph_of(d, g);
    if (!x) {
        graph_delete(g);
        host_modules_end(d->gpu);
        return CU_OUT_OF_MEMORY;
    }
    handle_list(&x->graph->handle);
    x->owner = true;
    *out = x;
    return CU_OK;
}

/* ---- graphs ---- */

CU_DEFINE(cuGraphCreate, struct cu_graph **, out, unsigned, flags)
{
    struct dev_graph *g;
    struct cu_device *d = here.context->device;
    cu_result r = cu_status(d->gpu, host_graph_new(d->gpu, &g));
    return r ? r : cu_graph_give(d, graph_in(g), out);
}

CU_DEFINE(cuGraphDestroy, struct cu_graph *, g)
{
    if (!g->owner) return CU_INVALID_VALUE;
    if (graph_is_captured(cu_engine_graph(g))) { /* as an H200's driver answers; the capture goes on */
        cu_reason("A stream is being captured into this graph.", "End the capture before the graph is destroyed.",
                  false);
        return CU_ILLEGAL_STATE;
    }
    if (!cu_handle_take(g, CU_GRAPH)) return CU_INVALID_VALUE;
    cu_graphs_leave();          /* modules that only this graph had kept may end with it, and that waits for launches */
    lk_graph_destroy(g->graph); /* the handles of its nodes, and its own, end with it */
    return CU_OK;
}

CU_DEFINE(cuGraphClone, struct cu_graph **, out, struct cu_graph *, from)
{
    struct graph *copy;
    u32 status = graph_clone(cu_engine_graph(from), &copy);
    if (status) return (cu_result)status;
    cu_result r = cu_graph_give(from->device, copy, out);
    if (r) return r;
    for (u32 i = 0; i < graph_node_count(copy); i++) { /* what the caller gave of its nodes holds of the copies, too */
        const struct cu_node *a = graph_node_user(graph_node_at(cu_engine_graph(from), i));
        struct cu_node *b = a && a->given ? cu_node_of(graph_node_at(copy, i)) : NULL;
        if (!b) continue;
        b->given = true;
        if (a->type == CU_NODE_COPY) b->copy = a->copy;
        if (a->type == CU_NODE_FILL) b->fill = a->fill;
    }
    cu_owned_copy(from->owned, &(*out)->owned);
    return CU_OK;
}

CU_DEFINE(cuGraphNodeFindInClone, struct cu_node **, out, struct cu_node *, n, struct cu_graph *, clone)
{
    struct graph_node *found = cu_engine_graph(clone) == graph_node_graph(n->node)
                                   ? NULL
                                   : graph_in_clone(n->node, cu_engine_graph(clone));
    if (!found) return CU_INVALID_VALUE;
    *out = cu_node_of(found);
    return *out ? CU_OK : CU_OUT_OF_MEMORY;
}

CU_DEFINE(cuGraphDestroyNode, struct cu_node *, n) { return (cu_result)graph_node_remove(n->node); }

bool cu_node_is(const void *handle, u32 type)
{
    return cu_handle_is(handle, CU_NODE) && ((const struct cu_node *)handle)->type == type;
}

CU_DEFINE(cuGraphNodeGetType, struct cu_node *, n, u32 *, type)
{
    *type = n->type;
    return CU_OK;
}

/* ---- lists ---- */

cu_result cu_nodes_read(const struct cu_graph *g, struct cu_node *const *list, u64 n, struct graph_node **out)
{
    if (n > CU_DEPENDENCIES || (n && !bytes_readable(list, n * sizeof *list))) return CU_INVALID_VALUE;
    for (u64 i = 0; i < n; i++) {
        if (!cu_handle_is(list[i], CU_NODE) || (g && graph_node_graph(list[i]->node) != cu_engine_graph(g)))
            return CU_INVALID_VALUE;
        out[i] = list[i]->node;
    }
    return CU_OK;
}

/* A list as the driver gives it: without room, how many there are; else as many as fit, NULL after the last. */
struct node_list {
    struct cu_node **out;
    u64 most, n;
};
static cu_result list_begin(struct node_list *l, struct cu_node **out, u64 *n)
{
    *l = (struct node_list){ out, out ? *n : 0, 0 };
    return out && l->most && !bytes_readable(out, l->most * sizeof *out) ? CU_INVALID_VALUE : CU_OK;
}
static void list_add(struct node_list *l, struct graph_node *n)
{
    if (l->n++ < l->most) l->out[l->n - 1] = cu_node_of(n);
}
static cu_result list_end(const struct node_list *l, u64 *n)
{
    for (u64 i = l->n; i < l->most; i++) l->out[i] = NULL;
    *n = l->out ? MIN_OF(l->n, l->most) : l->n;
    return CU_OK;
}

static cu_result nodes_list(struct cu_graph *g, struct cu_node **out, u64 *n, bool roots)
{
    struct node_list l;
    cu_result r = list_begin(&l, out, n);
    if (r) return r;
    for (u32 i = 0; i < graph_node_count(cu_engine_graph(g)); i++) {
        struct graph_node *x = graph_node_at(cu_engine_graph(g), i);
        if (!roots || !graph_node_deps(x, NULL, 0)) list_add(&l, x);
    }
    return list_end(&l, n);
}
CU_DEFINE(cuGraphGetNodes, struct cu_graph *, g, struct cu_node **, out, u64 *, n)
{
    return nodes_list(g, out, n, false);
}
CU_DEFINE(cuGraphGetRootNodes, struct cu_graph *, g, struct cu_node **, out, u64 *, n)
{
    return nodes_list(g, out, n, true);
}

struct cu_edge_data cu_edge_data(enum op_edge_kind kind)
{
    bool early = kind == OP_EDGE_PROGRAMMATIC; /* from the port where the launch triggers */
    return (struct cu_edge_data){ .from_port = early, .type = early ? CU_EDGE_PROGRAMMATIC : CU_EDGE_DEFAULT };
}

/* The edges into a node, from the engine; released with base_free. */
static struct graph_dep *deps_of(const struct graph_node *n, u32 *count)
{
    *count = graph_node_deps(n, NULL, 0);
    struct graph_dep *d = base_need((*count + 1) * sizeof *d);
    graph_node_deps(n, d, *count);
    return d;
}

/* All edges, those into one node, or those out of one; `data` may be NULL, and so may the list that is not wanted. */
struct edge_list {
    struct node_list from, to;
    struct cu_edge_data *data;
    bool plain;  /* the caller cannot be told of data */
    bool hidden; /* there are some */
};
static void edges_into(struct edge_list *l, struct graph_node *to, const struct graph_node *only_from)
{
    u32 n;
    struct graph_dep *d = deps_of(to, &n);
    for (u32 i = 0; i < n; i++) {
        if (only_from && d[i].from != only_from) continue;
        u64 at = l->from.n, most = MAX_OF(l->from.most, l->to.most);
        l->hidden |= l->plain && d[i].kind != OP_EDGE_COMPLETE;
        if (l->data && at < most) l->data[at] = cu_edge_data(d[i].kind);
        list_add(&l->from, d[i].from);
        list_add(&l->to, to);
    }
    base_free(d);
}

enum { LOSSY = 918 }; /* CUDA_ERROR_LOSSY_QUERY */
static cu_result edges_get(struct cu_graph *g, struct cu_node **from, struct cu_node **to, struct cu_edge_data *data,
                           bool plain, u64 *n)
{
    struct edge_list l = { .data = data, .plain = plain };
    u64 same;
    cu_result r = CU_OK;
    if (!from != !to) return CU_INVALID_VALUE;
    if ((r = list_begin(&l.from, from, n)) || (r = list_begin(&l.to, to, n))) return r;
    if (data && l.from.most && !bytes_readable(data, l.from.most * sizeof *data)) return CU_INVALID_VALUE;
    for (u32 i = 0; i < graph_node_count(cu_engine_graph(g)); i++)
        edges_into(&l, graph_node_at(cu_engine_graph(g), i), NULL);
    same = *n;
    list_end(&l.to, &same);
    list_end(&l.from, n);
    return l.hidden ? LOSSY : CU_OK;
}
CU_DEFINE(cuGraphGetEdges, struct cu_graph *, g, struct cu_node **, from, struct cu_node **, to, u64 *, n)
{
    return edges_get(g, from, to, NULL, true, n);
}
CU_DEFINE(cuGraphGetEdges_v2, struct cu_graph *, g, struct cu_node **, from, struct cu_node **, to,
          struct cu_edge_data *, data, u64 *, n)
{
    return edges_get(g, from, to, data, !data && from, n);
}

static cu_result near(struct cu_node *x, struct cu_node **out, struct cu_edge_data *data, bool plain, u64 *n, bool into)
{
    struct edge_list l = { .data = data, .plain = plain };
    struct node_list *wanted = into ? &l.from : &l.to;
    cu_result r = list_begin(wanted, out, n);
    if (r) return r;
    if (data && wanted->most && !bytes_readable(data, wanted->most * sizeof *data)) return CU_INVALID_VALUE;
    struct graph *g = graph_node_graph(x->node);
    if (into) edges_into(&l, x->node, NULL);
    for (u32 i = 0; !into && i < graph_node_count(g); i++) edges_into(&l, graph_node_at(g, i), x->node);
    list_end(wanted, n);
    return l.hidden ? LOSSY : CU_OK;
}
CU_DEFINE(cuGraphNodeGetDependencies, struct cu_node *, x, struct cu_node **, out, u64 *, n)
{
    return near(x, out, NULL, true, n, true);
}
CU_DEFINE(cuGraphNodeGetDependencies_v2, struct cu_node *, x, struct cu_node **, out, struct cu_edge_data *, data,
          u64 *, n)
{
    return near(x, out, data, !data && out, n, true);
}
CU_DEFINE(cuGraphNodeGetDependentNodes, struct cu_node *, x, struct cu_node **, out, u64 *, n)
{
    return near(x, out, NULL, true, n, false);
}
CU_DEFINE(cuGraphNodeGetDependentNodes_v2, struct cu_node *, x, struct cu_node **, out, struct cu_edge_data *, data,
          u64 *, n)
{
    return near(x, out, data, !data && out, n, false);
}

/* ---- edges ---- */

/* An edge that may be passed early is one between launches. */
static cu_result kind_of(const struct graph_node *from, const struct graph_node *to, const struct cu_edge_data *data,
                         enum op_edge_kind *out)
{
    *out = OP_EDGE_COMPLETE;
    if (!data || data->type == CU_EDGE_DEFAULT) return CU_OK;
    bool launches = graph_node_kind(from) == OP_LAUNCH && graph_node_kind(to) == OP_LAUNCH;
    *out = OP_EDGE_PROGRAMMATIC;
    return data->type == CU_EDGE_PROGRAMMATIC && launches ? CU_OK : CU_INVALID_VALUE;
}

static cu_result edges_change(struct cu_graph *g, struct cu_node *const *from, struct cu_node *const *to,
                              const struct cu_edge_data *data, u64 n, bool remove)
{
    cu_result r = CU_OK;
    if (n && (!bytes_readable(from, n * sizeof *from) || !bytes_readable(to, n * sizeof *to))) return CU_INVALID_VALUE;
    if (data && n && !bytes_readable(data, n * sizeof *data)) return CU_INVALID_VALUE;
    for (u64 i = 0; i < n && !r; i++) {
        enum op_edge_kind kind;
        if (!cu_handle_is(from[i], CU_NODE) || !cu_handle_is(to[i], CU_NODE)) return CU_INVALID_VALUE;
        if ((r = kind_of(from[i]->node, to[i]->node, data ? &data[i] : NULL, &kind))) return r;
        r = (cu_result)(remove ? graph_edge_remove(cu_engine_graph(g), from[i]->node, to[i]->node)
                               : graph_edge_add(cu_engine_graph(g), from[i]->node, to[i]->node, kind));
    }
    return r;
}
CU_DEFINE(cuGraphAddDependencies, struct cu_graph *, g, struct cu_node *const *, from, struct cu_node *const *, to, u64,
          n)
{
    return edges_change(g, from, to, NULL, n, false);
}
CU_DEFINE(cuGraphRemoveDependencies, struct cu_graph *, g, struct cu_node *const *, from, struct cu_node *const *, to,
          u64, n)
{
    return edges_change(g, from, to, NULL, n, true);
}
CU_DEFINE(cuGraphAddDependencies_v2, struct cu_graph *, g, struct cu_node *const *, from, struct cu_node *const *, to,
          const struct cu_edge_data *, data, u64, n)
{
    return edges_change(g, from, to, data, n, false);
}
CU_DEFINE(cuGraphRemoveDependencies_v2, struct cu_graph *, g, struct cu_node *const *, from, struct cu_node *const *,
          to, const struct cu_edge_data *, data, u64, n)
{
    return edges_change(g, from, to, data, n, true);
}
