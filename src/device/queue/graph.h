/* graph.h: graphs of operations: built node by node or captured, made executable, launched again and again.
 *
 * A graph is data: nodes, each an op_spec, and edges. graph_instantiate checks that it has no cycle, puts the nodes of
 * child graphs in their place and fixes an order; the result, a plan, does not change any more. An executable graph
 * holds a plan; updating it gives it another plan of the same topology, and launches in flight keep the one they were
 * enqueued with. A launch is two operations of the stream, begin and end, and one for each node between them.
 *
 * A conditional node has graphs of its own, which the caller fills. In a plan their nodes form regions. They come into
 * being when the node is reached in a launch, and only those of the graph that the condition chooses.
 *
 * An executable graph never overlaps itself: its launch is ordered after the one before, in whatever stream.
 *
 * Bodies: a node's `run` may be called once for each launch, `drop` once, when the last graph and executable graph with
 * the node is gone.
 *
 * One lock for all graphs, graphs_lock: whoever builds, reads, updates or deletes one takes it around all that it does
 * with pointers to graphs and nodes. A thread may take it several times. Nobody waits for work of a device with it, and
 * the lock of streams is taken after it (a capture: capture_lock). Launching needs none. */
#ifndef LOCKSTEP_GRAPH_H
#define LOCKSTEP_GRAPH_H
#include "queue/op.h"

struct graph;
struct graph_node;
struct graph_exec;
struct graph_dep { /* an edge into a new node */
    struct graph_node *from;
    enum op_edge_kind kind;
};

void graphs_lock(void);
void graphs_unlock(void);

struct graph *graph_new(struct streams *s); /* NULL: no memory */
void graph_delete(struct graph *g);
struct streams *graph_owner(const struct graph *g);
/* Adds a node. Its data are the graph's from now on, unless this fails. OP_ALLOC: `address` is what the allocation has
 * in every launch, and the body makes it usable. OP_FREE: `address` is that of an allocation node or of other memory.
 */
u32 graph_add(struct graph *g, const struct graph_dep *dep, u32 deps, const struct op_spec *spec,
              struct graph_node **node);
/* Graphs in graphs, a child or that of a conditional node, go this deep, since some of what is done with them goes down
 * and comes back. A child has this many nodes at most, with those of its own children: it is copied, and a graph that
 * is put twice into the next has 2^n of them. */
enum { GRAPH_DEPTH = 512, GRAPH_CHILD_NODES = 1 << 18 };
bool graph_fits(const struct graph *g,
                const struct graph *child); /* NULL: an empty one. What is added is neither too deep nor too large */
/* A graph as a node; it is copied. OP_NOT_SUPPORTED: it has nodes of which there can be no copy, or does not fit. */
u32 graph_add_child(struct graph *g, const struct graph_dep *dep, u32 deps, const struct graph *child,
                    struct graph_node **node);
/* A conditional node, OP_BRANCH, with `bodies` empty graphs (graph_node_body). OP_NOT_SUPPORTED: too deep. */
u32 graph_add_branch(struct graph *g, const struct graph_dep *dep, u32 deps, const struct op_spec *spec, u32 bodies,
                     struct graph_node **node);
u32 graph_edge_add(struct graph *g, struct graph_node *from, struct graph_node *to, enum op_edge_kind kind);
u32 graph_edge_remove(struct graph *g, struct graph_node *from, struct graph_node *to);
u32 graph_node_remove(struct graph_node *n); /* with its edges; not allocation and free nodes */
u32 graph_node_set(struct graph_node *n, const struct op_spec *spec);       /* another body of the same kind */
void graph_node_share(struct graph_node *n, const struct graph_node *like); /* the body of another of its kind */
u32 graph_node_count(const struct graph *g);
u32 graph_edge_count(const struct graph *g);
struct graph_node *graph_node_at(const struct graph *g, u32 i);
enum op_kind graph_node_kind(const struct graph_node *n);
const struct op_spec *graph_node_spec(const struct graph_node *n);                /* NULL: a child graph */
struct graph *graph_node_graph(const struct graph_node *n);                       /* that it belongs to */
struct graph *graph_node_child(const struct graph_node *n);                       /* NULL: it is no child graph */
struct graph *graph_node_body(const struct graph_node *n, u32 i);                 /* NULL: it has no such graph */
u32 graph_node_deps(const struct graph_node *n, struct graph_dep *out, u32 most); /* how many there are */
/* What a caller hangs on a graph or a node, its own handle: NULL at first, and in copies. `gone` is called with it when
 * the graph or the node is freed. */
void *graph_user(const struct graph *g);
void graph_set_user(struct graph *g, void *user);
void *graph_node_user(const struct graph_node *n);
void graph_node_set_user(struct graph_node *n, void *user);
/* The same of an executable graph: gone with its last launch. */
void graph_exec_set_user(struct graph_exec *x, void *user);
void graph_on_gone(void (*gone)(void *user)); /* once, before the first graph */
/* OP_NOT_SUPPORTED with allocation nodes and conditional nodes. */
u32 graph_clone(const struct graph *g, struct graph **out);
struct graph_node *graph_in_clone(const struct graph_node *n, const struct graph *clone); /* NULL: not there */

enum { GRAPH_AUTO_FREE = 1 }; /* allocations that the graph does not free are made anew by each launch */
/* OP_INVALID_VALUE: a cycle, and *where (may be NULL) a node of it. OP_NOT_SUPPORTED: it has allocation or
 * conditional nodes, and another executable graph of it exists; or a conditional node's graph has nodes other than
 * launches, copies, fills, empty ones, graphs and conditional ones. */
u32 graph_instantiate(struct graph *g, u32 flags, struct graph_exec **exec, struct graph_node **where);
void graph_exec_delete(struct graph_exec *x); /* launches in flight go on */
struct streams *graph_exec_owner(const struct graph_exec *x);

enum graph_update_result {
    GRAPH_UPDATE_OK,
    GRAPH_UPDATE_TOPOLOGY,      /* other nodes or edges */
    GRAPH_UPDATE_KIND,          /* a node of another kind */
    GRAPH_UPDATE_PARAMETERS,    /* a change of what must stay: op_spec.key */
    GRAPH_UPDATE_NOT_SUPPORTED, /* another allocation */
};
struct graph_update {
    enum graph_update_result result;
    struct graph_node *node; /* of the new graph, where they differ; NULL: the whole */
};
/* The executable graph runs what g says from its next launch on. OP_GRAPH_UPDATE_FAILURE: it is as before. */
u32 graph_update(struct graph_exec *x, const struct graph *g, struct graph_update *out);
/* The same for a single node of the original graph. */
u32 graph_exec_set(struct graph_exec *x, const struct graph_node *n, const struct op_spec *spec);
/* The same for all nodes of a child graph: those of g, which must have the same kinds and edges. */
u32 graph_exec_set_child(struct graph_exec *x, const struct graph_node *n, const struct graph *g);
/* Whether later launches run the node, or only its edges. OP_INVALID_VALUE: the node is not there, or is neither a
 * launch, a copy nor a fill. */
u32 graph_exec_enable(struct graph_exec *x, const struct graph_node *n, bool enabled);
u32 graph_exec_enabled(const struct graph_exec *x, const struct graph_node *n, bool *enabled);
/* OP_INVALID_VALUE: allocations of the launch before are still there (not with GRAPH_AUTO_FREE). A captured stream
 * refuses it. *end (may be NULL) gets a reference to the operation that ends it. */
u32 graph_launch(struct graph_exec *x, struct stream *st, u64 tag, struct op **end);
/* A stream is being captured into it. */
bool graph_is_captured(const struct graph *g);
/* Hands out the launches and copies that each launch of it runs, but for those of graphs of conditional nodes. */
void graph_exec_each(struct graph_exec *x, void (*each)(void *self, const struct op_spec *spec), void *self);
/* Hands out all nodes of a launch, but for those of graphs of conditional nodes, in an order in which each comes after
 * those it depends on, which are `from`, numbers of nodes before it. */
struct graph_step {
    u32 number, nodes;          /* of all */
    const struct op_spec *spec; /* NULL: it does nothing: disabled, the begin or end of a child graph */
    const u32 *from;
    u32 deps;
};
void graph_exec_steps(struct graph_exec *x, void (*each)(void *self, const struct graph_step *s), void *self);
/* Memory of an allocation node was freed by other means than an operation of the kind OP_FREE. */
void graph_freed(struct streams *s, const void *address);
/* Whether a launch has allocated it, and nothing has freed it since; in the order of the calls. */
bool graph_lives(struct streams *s, const void *address);
#endif
