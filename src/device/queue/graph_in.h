/* graph_in.h: what graph.c, graph_exec.c and capture.c share. */
#ifndef LOCKSTEP_GRAPH_IN_H
#define LOCKSTEP_GRAPH_IN_H
#include "queue/graph.h"
#include "queue/op_in.h"

struct graph_body { /* of a node and its copies */
    u32 refs;       /* atomic */
    struct op_spec spec;
};
void body_release(struct graph_body *b);
struct graph_body *body_hold(struct graph_body *b);
struct graph_body *body_new(const struct op_spec *spec); /* NULL: no memory */

struct graph_node {
    struct graph *graph;     /* NULL: it was removed */
    u64 id;                  /* unique */
    u64 origin;              /* of a copy: the id of the node it was copied from; else its own */
    u32 index;               /* among the nodes */
    struct graph_body *body; /* NULL: a child graph */
    struct graph *child;     /* or NULL */
    struct graph **branch;   /* the graphs of a conditional node; NULL: it is not one */
    u32 branches;
    struct graph_dep *dep; /* the edges into it */
    u32 deps, cap;
    u32 mark;                   /* for walks: the place in a plan */
    struct graph_node *removed; /* the next one of those that were removed */
    void *user;                 /* the caller's, or NULL */
};

struct graph {
    struct streams *all;
    struct graph *within; /* that it is a part of: a child graph, or one of a conditional node; else NULL */
    struct graph_node **node;
    u32 nodes, cap;
    struct graph_node *removed; /* nodes that are only named any more, by the list and by edges: graph_settle */
    u32 bound;                  /* allocation nodes and conditional nodes */
    struct graph_exec *exec;    /* the only one that may exist, where there are such nodes */
    void *user;                 /* the caller's, or NULL */
};
/* In a plan the nodes lie in topological order. */
struct plan_edge {
    u32 from;
    u8 kind; /* op_edge_kind */
};
struct plan_node {
    struct graph_body *body;       /* NULL: nothing to do, a begin or end of a child graph */
    const struct graph_node *node; /* valid only while the graph that it came from is there: compared by id */
    u64 id;                        /* of that node */
    u32 first, deps;               /* its edges, in plan->edge */
    u32 chain;                     /* slot, as an index into exec->slot */
    u32 region;                    /* that it belongs to: an index into plan->region */
    u32 branch;                    /* of a conditional node: its first region; else 0 */
    u32 branches;                  /* of a conditional node: how many */
    u32 end;                       /* of a conditional node: the node that follows its graphs */
    bool sink;                     /* nothing depends on it */
    bool disabled;                 /* its edges hold, and it does nothing */
};
struct plan_region { /* nodes that come into being together: the graph itself, or one graph of a conditional node */
    u32 first, end;  /* they are among these */
    u32 chain;       /* of the decisions whether it runs once more */
};
struct plan {
    u32 refs; /* under the lock of the streams */
    u32 nodes, edges, chains;
    struct plan_node *node;
    struct plan_edge *edge;
    struct plan_region *region; /* the first is the graph itself */
    u32 regions;
    bool events; /* has nodes that record or wait for events */
    bool frees;  /* has nodes that free */
    bool works;  /* has launches or copies */
};
/* NULL: *status says why; *where: a node of the cycle. */
struct plan *plan_new(const struct graph *g, u32 *status, struct graph_node **where);
struct plan *plan_copy(const struct plan *p);
void plan_free(struct plan *p);
struct graph *graph_copy(const struct graph *g); /* NULL: no memory */
void graph_settle(const struct graph *g);        /* before the list of nodes is read, or edges: without those removed */

struct graph_exec {
    struct streams *all;
    u32 refs; /* handle and launches */
    u32 flags;
    struct plan *plan;
    struct graph *graph; /* where allocation or conditional nodes bind it to its graph; else NULL */
    u32 *slot;           /* one for each chain; NULL: not taken yet */
    u32 slots;
    struct op *last;    /* the end of the last launch, with a reference; NULL: none */
    const void **alloc; /* addresses of the allocations that the graph does not free itself */
    u32 allocs;
    void *user; /* the caller's, or NULL */
};
struct graph_launch {
    struct graph_exec *exec; /* with a reference, as is the plan */
    struct plan *plan;
    struct op *end;
    u64 tag;
};
struct graph_branch { /* what an operation of the kind OP_BRANCH decides */
    struct graph_launch *launch;
    u32 node;       /* in the plan */
    struct op *end; /* what follows */
};
void graph_unref_exec(struct graph_exec *x); /* under the lock of the streams, as is the next */
void graph_unref_plan(struct streams *s, struct plan *p);
struct graph_trash { /* one of them */
    struct graph_trash *next;
    struct plan *plan; /* or NULL */
    void *user;        /* of an executable graph; NULL: none */
};
void graph_user_gone(void *user); /* tells who asked; NULL: nothing */
/* With graphs_lock: a capture into the graph is invalid from now on, one that goes on after the node forgets it. */
void capture_graph_gone(const struct graph *g);
void capture_node_gone(const struct graph_node *n);
/* A launch in a captured stream: an error, and invalidation. */
u32 capture_graph(struct stream *st);
#endif
