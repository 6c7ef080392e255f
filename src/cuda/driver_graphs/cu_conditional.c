/* Conditional nodes of graphs: conditions, and nodes with graphs that a condition chooses from (if, while, switch). */
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver_graphs/cu_graph.h"
#include "units/condition.h"

enum { ASSIGN_DEFAULT = 1, SIZE_MOST = 1024 };

CU_DEFINE(cuGraphConditionalHandleCreate, u64 *, out, struct cu_graph *, g, struct cu_context *, c, unsigned, initial,
          unsigned, flags)
{
    if (c && c->device != g->device) return CU_INVALID_VALUE;
    struct cu_condition *x = base_alloc(sizeof *x);
    if (x) x->condition = condition_new(initial, flags & ASSIGN_DEFAULT);
    if (!x || !x->condition) {
        base_free(x);
        return CU_OUT_OF_MEMORY;
    }
    x->next = g->conditions;
    g->conditions = x;
    *out = x->condition->handle;
    return CU_OK;
}

void cu_conditions_release(struct cu_graph *g)
{
    for (struct cu_condition *x = g->conditions, *next; x; x = next) {
        next = x->next;
        condition_release(x->condition);
        base_free(x);
    }
    g->conditions = NULL;
}

static bool size_fits(const struct cu_conditional_node *x)
{
    switch (x->type) {
    case OP_IF: return x->size == 1 || x->size == 2;
    case OP_WHILE: return x->size == 1;
    case OP_SWITCH: return x->size && x->size <= SIZE_MOST;
    default: return false;
    }
}

/* The graphs of the node get handles, which live as long as the node. */
static cu_result graphs_give(struct cu_device *d, struct cu_node *n, u32 size)
{
    if (!n || !(n->graphs = base_alloc(size * sizeof *n->graphs))) return CU_OUT_OF_MEMORY;
    for (u32 i = 0; i < size; i++)
        if (!(n->graphs[i] = cu_graph_of(d, graph_node_body(n->node, i)))) return CU_OUT_OF_MEMORY;
    return CU_OK;
}

static const char too_deep[] = "graphs in graphs are nested too deep";

cu_result cu_conditional_add(CU_ADDING, struct cu_conditional_node *x)
{
    struct graph_node *after[CU_DEPENDENCIES], *made;
    if (!cu_handle_is(g, CU_GRAPH) || !size_fits(x)) return CU_INVALID_VALUE;
    cu_result r = cu_nodes_read(g, dep, deps, after);
    if (r) return r;
    struct condition *c = condition_hold(x->condition);
    if (!c) return CU_INVALID_VALUE;
    struct graph_dep *edge = base_need((deps + 1) * sizeof *edge);
    for (u64 i = 0; i < deps; i++) edge[i] = (struct graph_dep){ after[i], OP_EDGE_COMPLETE };
    r = CU_INVALID_VALUE;
    if (!c->used)
        r = (cu_result)dev_graph_add_branch(cu_engine_graph(g), edge, (u32)deps, (enum op_branch)x->type, c, x->size,
                                            host_site(NULL), &made);
    base_free(edge);
    if (r) {
        if (!graph_fits(cu_engine_graph(g), NULL)) cu_reason(too_deep, NULL, false);
        condition_release(c);
        return r;
    }
    c->used = true;
    *out = cu_node_of(made);
    r = graphs_give(g->device, *out, x->size);
    if (!r) x->graphs = (*out)->graphs;
    return r;
}
