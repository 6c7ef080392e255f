/* dev_graph.h: graphs of the software GPU from the inside, for who gives out handles of their nodes
 * (src/cuda/driver_graphs): what a node does, and changing it. A dev_graph is a graph of graph.h there, a dev_node one
 * of its nodes. */
#ifndef LOCKSTEP_DEV_GRAPH_H
#define LOCKSTEP_DEV_GRAPH_H
#include "device/dev_async.h"
#include "queue/graph.h"

/* The handles of dev_async.h are the objects of op.h and graph.h. */
static inline struct stream *stream_in(struct dev_stream *st) { return (struct stream *)st; }
static inline struct dev_stream *stream_out(struct stream *st) { return (struct dev_stream *)st; }
static inline struct event *event_in(struct dev_event *ev) { return (struct event *)ev; }
static inline struct graph *graph_in(struct dev_graph *g) { return (struct graph *)g; }
static inline struct dev_graph *graph_out(struct graph *g) { return (struct dev_graph *)g; }
static inline struct graph_node *node_in(struct dev_node *n) { return (struct graph_node *)n; }
static inline struct graph_exec *exec_in(struct dev_exec *x) { return (struct graph_exec *)x; }

/* What a node does; NULL: it has no task (events, values, child graphs, empty nodes of a capture). */
const struct dev_task *dev_node_task(const struct graph_node *n);
/* The node does this instead, a task of the same kind. */
u32 dev_node_set(struct graph_node *n, struct device *d, struct dev_task *task, struct error *e);
/* A node that waits for a value in memory, or writes one: spec.kind, bits, compare and value. */
u32 dev_graph_add_value(struct graph *g, const struct graph_dep *dep, u32 deps, struct op_spec *spec, u64 address,
                        struct graph_node **out, struct error *e);
/* A conditional node (graph_add_branch), whose condition it holds from now on, unless this fails. */
struct condition;
u32 dev_graph_add_branch(struct graph *g, const struct graph_dep *dep, u32 deps, enum op_branch how,
                         struct condition *c, u32 bodies, const char *site, struct graph_node **out);
/* Hands out the nodes of a launch as graph_exec_steps does; task NULL: what it does is no task, or nothing. */
void dev_exec_steps(struct dev_exec *x,
                    void (*each)(void *self, const struct graph_step *s, const struct dev_task *task), void *self);
#endif
