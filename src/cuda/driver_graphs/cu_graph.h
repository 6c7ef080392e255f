/* cu_graph.h: graphs of the driver interface: handles over the graphs of the engine (queue/graph.h).
 *
 *   cu_graph.c         graphs, their nodes and edges
 *   cu_graph_node.c    nodes by type: adding them, their parameters
 *   cu_conditional.c   conditional nodes and their conditions
 *   cu_graph_exec.c    executable graphs
 *   cu_graph_text.c    a graph as text, for Graphviz
 *   cu_capture.c       streams that record a graph
 *   cu_user_object.c   objects that live as long as graphs use them
 *
 * The engine's graph is the only one: a handle hangs on it (graph_set_user) and ends with it. Nodes that a capture made
 * get their handles when somebody asks. */
#ifndef LOCKSTEP_CU_GRAPH_H
#define LOCKSTEP_CU_GRAPH_H
#include "driver/cu.h"
#include "device/dev_graph.h"
#include "queue/node_type.h"

enum { CU_DEPENDENCIES = 1024, CU_NODE_ATTRIBUTES = 17 };

struct cu_node {
    u32 handle;              /* CU_NODE: what graph_on_gone is told of */
    struct graph_node *node; /* of the engine */
    enum cu_node_type type;
    void *used; /* the CUfunction or CUevent that it was last given, which may be gone since; NULL: not known */
    bool given; /* the parameters below are the caller's; else they are made from the node's task when asked for */
    union {
        struct cu_copy_3d copy;
        struct cu_fill_node fill;
        struct cu_alloc_node alloc;
    };
    void **arg;                 /* of a launch: where its arguments are; made when asked for */
    struct cu_memory_op *batch; /* of CU_NODE_BATCH */
    u32 batches;
    struct cu_graph **graphs;      /* of CU_NODE_CONDITIONAL: the handles of its graphs */
    u32 attributes;                /* bits: which of the next were set */
    union cu_launch_value *values; /* attributes of a launch, by id; NULL: none was set */
};
struct cu_owned { /* an object and how often a graph holds it */
    struct cu_user_object *object;
    u64 count;
    struct cu_owned *next;
};
struct cu_condition { /* a condition that was made for a graph */
    struct condition *condition;
    struct cu_condition *next;
};
struct cu_graph {
    u32 handle; /* CU_GRAPH: what graph_on_gone is told of */
    struct cu_device *device;
    lk_graph *graph; /* the same for the public interface, which has the engine's */
    bool owner;      /* the caller ends it, and it is in the list of its gpu; else it is a child, or is captured */
    struct cu_owned *owned;
    struct cu_condition *conditions;
};
struct cu_exec_user {       /* what hangs on the engine's executable graph: it outlives the handle while launches run */
    u32 handle;             /* CU_EXEC */
    struct cu_owned *owned; /* what the graph held when it was made */
};
struct cu_exec {
    struct cu_device *device;
    lk_exec *exec;
    u64 flags;
};

/* The handle of a graph or a node, made when there is none; NULL: no memory. */
struct cu_graph *cu_graph_of(struct cu_device *d, struct graph *g);
struct cu_node *cu_node_of(struct graph_node *n);
static inline struct graph *cu_engine_graph(const struct cu_graph *g) { return graph_in(g->graph->dev); }
static inline struct graph_exec *cu_engine_exec(struct cu_exec *x) { return exec_in(x->exec->dev); }
struct cu_device *cu_node_device(const struct cu_node *n);
/* A graph of the engine becomes the caller's: one that has a handle already keeps it. */
cu_result cu_graph_give(struct cu_device *d, struct graph *g, struct cu_graph **out);
/* Nodes of the caller's list as the engine has them, all of one graph. */
cu_result cu_nodes_read(const struct cu_graph *g, struct cu_node *const *list, u64 n, struct graph_node **out);

enum { CU_EDGE_DEFAULT, CU_EDGE_PROGRAMMATIC };
/* The edge's data as the caller gets them. */
struct cu_edge_data cu_edge_data(enum op_edge_kind kind);

/* cu_graph_node.c: what nodes of these types are given, read. */
cu_result cu_kernel_node_read(struct cu_context *c, const struct cu_kernel_node *x, bool second,
                              const void *arg[CU_ARGUMENTS], lk_kernel **k, lk_launch *l);
lk_fill cu_fill_node_read(const struct cu_fill_node *x);
CU_API(cuGraphAddMemAllocNode)(CU_ADDING, struct cu_alloc_node *x);
CU_API(cuGraphMemAllocNodeGetParams)(struct cu_node *n, struct cu_alloc_node *out);
CU_API(cuGraphAddNode_v2)
(struct cu_node **out, struct cu_graph *g, struct cu_node *const *dep, const struct cu_edge_data *data, u64 deps,
 struct cu_node_params *x);
CU_API(cuGraphExecBatchMemOpNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_batch_node *p);
CU_API(cuGraphNodeSetParams)(struct cu_node *n, struct cu_node_params *x);
CU_API(cuGraphExecNodeSetParams)(struct cu_exec *x, struct cu_node *n, struct cu_node_params *p);

/* cu_conditional.c */
cu_result cu_conditional_add(CU_ADDING, struct cu_conditional_node *x);
void cu_conditions_release(struct cu_graph *g);
CU_API(cuGraphConditionalHandleCreate)
(u64 *out, struct cu_graph *g, struct cu_context *c, unsigned initial, unsigned flags);

/* cu_user_object.c */
void cu_owned_copy(struct cu_owned *const from, struct cu_owned **to); /* one more reference of each */
void cu_owned_release(struct cu_owned **list);
#endif
