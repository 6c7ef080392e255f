/* dev_sim_async.h: what the files of the asynchronous work of the software GPU share: the bodies of operations
 * (dev_sim_body.c), streams, values and events (dev_sim_async.c), captures and graphs (dev_sim_graph.c). */
#ifndef LOCKSTEP_DEV_SIM_ASYNC_H
#define LOCKSTEP_DEV_SIM_ASYNC_H
#include "device/dev_graph.h"
#include "device/dev_work.h"

/* The body of an operation: what it does, kept until it, or the last graph with it, is gone. */
struct body {
    struct device *device;
    struct dev_task task; /* what it points to lies after this struct */
    union {
        struct dev_copy_plan copy;
        struct dev_fill_plan fill;
        struct {
            struct mem_object *object; /* that is allocated or freed */
            bool graph;                /* an allocation node owns it */
            bool at_once;              /* it was allocated in the call */
        };
    };
    void *staged; /* the source of a copy; NULL: none */
    u32 managed;  /* of note_queued; 0: none */
    u32 enqueued; /* of a host function: operations that were enqueued up to it */
    bool spare;   /* one of those that are kept */
    /* of a synchronous launch: where its caller wants the result */
    struct sim_result *result;
    struct error *error;
    enum dev_result *came;
    u64 params[]; /* of a launch */
};

/* A body for a task. NULL: *status and e say why. stream: where it is enqueued, 0: it becomes a node. */
struct body *sim_body_new(struct device *d, struct dev_task *t, u64 stream, u32 *status, struct error *e);
void sim_body_drop(void *of);       /* an op_spec.drop */
void sim_body_undo(struct body *b); /* the operation was not enqueued */
struct op_spec sim_body_spec(struct body *b);
bool sim_body_stage(struct body *b, struct error *e); /* takes the bytes of a pageable source now */
/* Completes the spec of a wait for a value or of a write. */
u32 sim_value_read(struct device *d, struct op_spec *spec, u64 address, const char *site, struct error *e);

static inline struct device *device_of(const struct streams *s) { return streams_self(s); }
static inline struct device *device_of_stream(struct dev_stream *st) { return device_of(stream_owner(stream_in(st))); }
static inline struct device *device_of_graph(struct dev_graph *g) { return device_of(graph_owner(graph_in(g))); }
static inline struct device *device_of_event(struct dev_event *ev) { return device_of(event_owner(event_in(ev))); }
static inline struct device *device_of_exec(struct dev_exec *x) { return device_of(graph_exec_owner(exec_in(x))); }

/* The rows of dev_sim_async that are about captures and graphs. */
u32 sim_capture_begin(struct dev_stream *st, enum capture_mode mode, struct error *e);
u32 sim_capture_end(struct dev_stream *st, struct dev_graph **out, struct error *e);
u32 sim_capture_status(struct dev_stream *st, enum capture_status *out, u64 *id, struct error *e);
u32 sim_graph_new(struct device *d, struct dev_graph **out, struct error *e);
void sim_graph_delete(struct dev_graph *g);
u32 sim_graph_add(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_task *t, struct dev_node **out,
                  struct error *e);
u32 sim_graph_add_event(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_event *ev, bool wait,
                        struct dev_node **out, struct error *e);
u32 sim_graph_add_child(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_graph *child,
                        struct dev_node **out, struct error *e);
u32 sim_graph_edge(struct dev_graph *g, struct dev_node *from, struct dev_node *to, bool remove, struct error *e);
u32 sim_graph_nodes(struct dev_graph *g);
u32 sim_graph_instantiate(struct dev_graph *g, u32 flags, struct dev_exec **out, struct error *e);
void sim_exec_delete(struct dev_exec *x);
u32 sim_exec_update(struct dev_exec *x, struct dev_graph *g, struct error *e);
u32 sim_exec_set(struct dev_exec *x, struct dev_node *n, struct dev_task *t, struct error *e);
u32 sim_exec_launch(struct dev_exec *x, struct dev_stream *st, const char *site, struct error *e);
#endif
