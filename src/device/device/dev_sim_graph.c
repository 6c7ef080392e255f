/* Captures and graphs of the software GPU: those of graph.h, whose nodes have bodies. */
#include "device/dev_sim_async.h"
#include "units/condition.h"

u32 sim_capture_begin(struct dev_stream *st, enum capture_mode mode, struct error *e)
{
    return work_status(device_of_stream(st), capture_begin(stream_in(st), mode), e);
}

u32 sim_capture_end(struct dev_stream *st, struct dev_graph **out, struct error *e)
{
    struct graph *g = NULL;
    u32 status = capture_end(stream_in(st), &g);
    *out = graph_out(g);
    return work_status(device_of_stream(st), status, e);
}

u32 sim_capture_status(struct dev_stream *st, enum capture_status *out, u64 *id, struct error *e)
{
    *out = capture_status(stream_in(st), id);
    return work_status(device_of_stream(st), capture_hidden(stream_in(st)), e);
}

u32 sim_graph_new(struct device *d, struct dev_graph **out, struct error *e)
{
    struct streams *s = work_streams(d);
    *out = graph_out(s ? graph_new(s) : NULL);
    return work_status(d, *out ? OP_OK : OP_OUT_OF_MEMORY, e);
}

void sim_graph_delete(struct dev_graph *g) { graph_delete(graph_in(g)); }

/* The edges of a new node; with `overlap` programmatic where they come from launches. NULL: no memory. */
static struct graph_dep *edges_of(struct dev_node *const *dep, u32 deps, bool overlap)
{
    struct graph_dep *out = base_alloc((deps + 1) * sizeof *out);
    for (u32 i = 0; out && i < deps; i++) {
        bool launch = overlap && graph_node_kind(node_in(dep[i])) == OP_LAUNCH;
        out[i] = (struct graph_dep){ node_in(dep[i]), launch ? OP_EDGE_PROGRAMMATIC : OP_EDGE_COMPLETE };
    }
    return out;
}

static u32 add_node(struct dev_graph *g, struct dev_node *const *dep, u32 deps, const struct op_spec *spec,
                    struct dev_graph *child, struct dev_node **out, struct error *e)
{
    struct graph_dep *edge = edges_of(dep, deps, spec && spec->programmatic);
    struct graph_node *n = NULL;
    u32 status = !edge   ? (u32)OP_OUT_OF_MEMORY
                 : child ? graph_add_child(graph_in(g), edge, deps, graph_in(child), &n)
                         : graph_add(graph_in(g), edge, deps, spec, &n);
    base_free(edge);
    if (out) *out = (struct dev_node *)n;
    if (status == OP_NOT_SUPPORTED && child && !graph_fits(graph_in(g), graph_in(child)))
        error_set(e, ERR_UNSUPPORTED, "graphs in graphs are nested more than %u deep, or have more than %u nodes",
                  GRAPH_DEPTH, GRAPH_CHILD_NODES);
    return work_status(device_of_graph(g), status, e);
}

u32 sim_graph_add(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_task *t, struct dev_node **out,
                  struct error *e)
{
    struct device *d = device_of_graph(g);
    u32 status;
    struct body *b = sim_body_new(d, t, 0, &status, e);
    if (!b) return work_status(d, status, e);
    struct op_spec spec = sim_body_spec(b);
    status = add_node(g, dep, deps, &spec, NULL, out, e);
    if (status) sim_body_undo(b);
    return status;
}

u32 sim_graph_add_event(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_event *ev, bool wait,
                        struct dev_node **out, struct error *e)
{
    struct op_spec spec = { .kind = wait ? OP_WAIT : OP_RECORD, .event = event_in(ev) };
    return add_node(g, dep, deps, &spec, NULL, out, e);
}

u32 sim_graph_add_child(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_graph *child,
                        struct dev_node **out, struct error *e)
{
    return add_node(g, dep, deps, NULL, child, out, e);
}

u32 sim_graph_edge(struct dev_graph *g, struct dev_node *from, struct dev_node *to, bool remove, struct error *e)
{
    u32 status = remove ? graph_edge_remove(graph_in(g), node_in(from), node_in(to))
                        : graph_edge_add(graph_in(g), node_in(from), node_in(to), OP_EDGE_COMPLETE);
    return work_status(device_of_graph(g), status, e);
}

u32 sim_graph_nodes(struct dev_graph *g) { return graph_node_count(graph_in(g)); }

u32 sim_graph_instantiate(struct dev_graph *g, u32 flags, struct dev_exec **out, struct error *e)
{
    struct graph_exec *x = NULL;
    *out = NULL;
    note_unordered(device_of_graph(g));
    u32 status = capture_unsafe_call(work_streams(device_of_graph(g)));
    if (!status) status = graph_instantiate(graph_in(g), flags, &x, NULL);
    if (status == OP_INVALID_VALUE) error_set(e, ERR_INPUT, "the edges of the graph form a cycle");
    *out = (struct dev_exec *)x;
    return work_status(device_of_graph(g), status, e);
}

void sim_exec_delete(struct dev_exec *x) { graph_exec_delete(exec_in(x)); }

u32 sim_exec_update(struct dev_exec *x, struct dev_graph *g, struct error *e)
{
    static const char fixed[] = "a node that differs in more than can be changed: whether a launch is cooperative, "
                                "between which memories a copy is, whether a fill has rows";
    static const char *const what[] = { "", "other nodes or edges", "a node of another kind", fixed,
                                        "another allocation" };
    struct graph_update u = { 0 };
    u32 status = graph_update(exec_in(x), graph_in(g), &u);
    if (status) error_set(e, ERR_INPUT, "the executable graph cannot be updated: the new graph has %s", what[u.result]);
    return work_status(device_of_graph(g), status, e);
}

u32 sim_exec_set(struct dev_exec *x, struct dev_node *n, struct dev_task *t, struct error *e)
{
    struct device *d = device_of_exec(x);
    u32 status;
    struct body *b = sim_body_new(d, t, 0, &status, e);
    if (!b) return work_status(d, status, e);
    struct op_spec spec = sim_body_spec(b);
    status = graph_exec_set(exec_in(x), node_in(n), &spec);
    if (status) sim_body_undo(b);
    return work_status(d, status, e);
}

/* Copies and launches of a graph that is launched: the host must not touch their memory until it has waited for the
 * end. */
struct exec_flights {
    struct device *device;
    u64 stream;
    op_stamp end;
};

static void exec_flight(void *self, const struct op_spec *spec)
{
    const struct exec_flights *f = self;
    const struct body *b = spec->data;
    u32 token = note_queued(f->device, &b->task, &b->copy, f->stream);
    note_unseen(f->device, token, f->end, spec->kind == OP_COPY ? (const void *)&b->copy : &b->task.launch);
}

u32 sim_exec_launch(struct dev_exec *x, struct dev_stream *st, const char *site, struct error *e)
{
    struct device *d = device_of_stream(st);
    struct op *end = NULL;
    note_touches(d);
    u32 status = graph_launch(exec_in(x), stream_in(st), work_tag(d, site), &end);
    if (end) {
        struct exec_flights f = { d, stream_id(stream_in(st)), op_stamp_of(end) };
        bool shared = d->mem && (mem_bytes_of(d->mem, MEM_PINNED) || mem_bytes_of(d->mem, MEM_MANAGED));
        if (work_races(d) && shared) graph_exec_each(exec_in(x), exec_flight, &f);
        op_release(end);
    }
    return work_status(d, status, e);
}

/* ---- from the inside ---- */

const struct dev_task *dev_node_task(const struct graph_node *n)
{
    const struct op_spec *spec = graph_node_spec(n);
    bool other = spec && (spec->kind == OP_VALUE_WAIT || spec->kind == OP_VALUE_WRITE || spec->kind == OP_BRANCH);
    const struct body *b = spec && !other ? spec->data : NULL;
    return b ? &b->task : NULL;
}

struct exec_steps {
    void (*each)(void *self, const struct graph_step *s, const struct dev_task *task);
    void *self;
};
static void exec_step(void *self, const struct graph_step *s)
{
    const struct exec_steps *x = self;
    enum op_kind kind = s->spec ? s->spec->kind : OP_EMPTY;
    bool is_task = kind == OP_LAUNCH || kind == OP_COPY || kind == OP_FILL || kind == OP_HOST;
    x->each(x->self, s, is_task ? &((const struct body *)s->spec->data)->task : NULL);
}
void dev_exec_steps(struct dev_exec *x,
                    void (*each)(void *self, const struct graph_step *s, const struct dev_task *task), void *self)
{
    graph_exec_steps(exec_in(x), exec_step, &(struct exec_steps){ each, self });
}

u32 dev_node_set(struct graph_node *n, struct device *d, struct dev_task *t, struct error *e)
{
    union dev_plan plan;
    u32 status = dev_task_plan(d, t, &plan, e);
    struct body *b = status ? NULL : sim_body_new(d, t, 0, &status, e);
    t->plan = NULL;
    if (!b) return work_status(d, status, e);
    struct op_spec spec = sim_body_spec(b);
    status = graph_node_set(n, &spec);
    if (status) sim_body_undo(b);
    return work_status(d, status, e);
}

static u32 branch_run(struct op *op, void *condition)
{
    note_decided(streams_self(stream_owner(op_stream(op))), op, condition);
    return OP_OK;
}
static void branch_drop(void *condition) { condition_release(condition); }

u32 dev_graph_add_branch(struct graph *g, const struct graph_dep *dep, u32 deps, enum op_branch how,
                         struct condition *c, u32 bodies, const char *site, struct graph_node **out)
{
    struct op_spec spec = { .kind = OP_BRANCH,
                            .compare = (u8)how,
                            .assigns = c->assigns,
                            .value = c->initial,
                            .address = &c->value,
                            .run = branch_run,
                            .data = c,
                            .drop = branch_drop,
                            .tag = work_tag(streams_self(graph_owner(g)), site) };
    note_conditions();
    return graph_add_branch(g, dep, deps, &spec, bodies, out);
}

u32 dev_graph_add_value(struct graph *g, const struct graph_dep *dep, u32 deps, struct op_spec *spec, u64 address,
                        struct graph_node **out, struct error *e)
{
    struct device *d = device_of(graph_owner(g));
    u32 status = sim_value_read(d, spec, address, NULL, e);
    if (status) return status;
    status = graph_add(g, dep, deps, spec, out);
    if (status && spec->data) sim_body_drop(spec->data);
    return work_status(d, status, e);
}
