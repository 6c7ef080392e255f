/* Capture: a stream that records a graph instead of working. */
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver_graphs/cu_graph.h"

static struct stream *engine_stream(lk_stream *st) { return stream_in(st->dev); }

/* The beginning of every call about a capture. */
static cu_result enter(void *handle, struct cu_context **c, lk_stream **st)
{
    cu_result r = cu_current_for(handle, c);
    return r ? r : cu_stream_of(*c, handle, st);
}

CU_DEFINE(cuStreamBeginCapture_v2, void *, s, u32, mode)
{
    return cu_status(here.context->device->gpu, lk_stream_capture(here.stream, (lk_capture_mode)mode));
}
CU_DEFINE(cuStreamBeginCapture, void *, s)
{
    return cu_status(here.context->device->gpu, lk_stream_capture(here.stream, LK_CAPTURE_GLOBAL));
}

/* Into a graph that exists, after some of its nodes. */
static cu_result begin_in(void *handle, struct cu_graph *g, struct cu_node *const *dep, u64 deps, u32 mode)
{
    struct cu_context *c;
    lk_stream *st;
    struct graph_node *after[CU_DEPENDENCIES];
    cu_result r = enter(handle, &c, &st);
    if (r) return r;
    if (!cu_handle_is(g, CU_GRAPH) || mode > 2) return CU_INVALID_VALUE;
    if ((r = cu_nodes_read(g, dep, deps, after))) return r;
    return (cu_result)capture_begin_in(engine_stream(st), (enum capture_mode)mode, cu_engine_graph(g), after,
                                       (u32)deps);
}
#define INTO \
    void *s, struct cu_graph *g, struct cu_node *const *dep, const struct cu_edge_data *data, u64 deps, u32 mode
CU_API(cuStreamBeginCaptureToGraph)(INTO) { return (void)data, begin_in(s, g, dep, deps, mode); }

/* What an event has drawn into the capture, and the stream that it began in does not wait for. */
static void unjoined_reason(const char *others, lk_stream *st)
{
    char cause[500], stream[STREAM_TEXT];
    stream_text(engine_stream(st), stream);
    snprintf(
        cause, sizeof cause,
        "An event has drawn work of %s into the capture, and %s, in which the capture began, does not wait for the "
        "end of it.",
        others[0] ? others : "another stream", stream);
    cu_reason(cause,
              "Record an event after that work, in its stream, and let the first stream wait for it "
              "(cudaStreamWaitEvent) before cudaStreamEndCapture.",
              false);
}

CU_DEFINE(cuStreamEndCapture, void *, handle, struct cu_graph **, out)
{
    struct graph *g = NULL;
    cu_graphs_enter();
    bool had = capture_borrows(engine_stream(here.stream)); /* the caller has the graph, and need not ask for it */
    if (had ? out && !cu_ok(out) : !cu_ok(out)) return CU_INVALID_VALUE;
    if (out) *out = NULL;
    char others[120];
    capture_others_text(engine_stream(here.stream), others, sizeof others);
    u32 status = capture_end(engine_stream(here.stream), &g);
    if (status == OP_CAPTURE_UNJOINED) unjoined_reason(others, here.stream);
    if (status) return (cu_result)status;
    if (had) {
        if (out) *out = graph_user(g);
        return CU_OK;
    }
    return cu_graph_give(here.context->device, g, out);
}

/* ---- asking ---- */

static cu_result ask(void *handle, u32 *status, u64 *id, lk_stream **st)
{
    struct cu_context *c;
    cu_result r = enter(handle, &c, st);
    if (r) return r;
    if (!cu_ok(status)) return CU_INVALID_VALUE;
    u64 number;
    if ((r = (cu_result)capture_hidden(engine_stream(*st)))) return r;
    *status = capture_status(engine_stream(*st), &number);
    if (*status == CAPTURE_ACTIVE && cu_ok(id)) *id = number; /* else it stays as it is */
    return CU_OK;
}
CU_API(cuStreamIsCapturing)(void *s, u32 *out)
{
    lk_stream *st;
    return ask(s, out, NULL, &st);
}

/* The graph so far, and the nodes that the next operation depends on: a list that lives until the thread asks again. */
struct captured {
    struct cu_graph **graph;
    struct cu_node *const **nodes;
    const struct cu_edge_data **edges;
    u64 *count;
};
static cu_result answer(lk_stream *st, const struct captured *t)
{
    static _Thread_local struct cu_node *list[CU_DEPENDENCIES];
    static _Thread_local struct cu_edge_data data[CU_DEPENDENCIES];
    struct graph_node *node[CU_DEPENDENCIES];
    struct cu_context *c;
    u32 n;
    cu_result r = cu_current(&c);
    cu_graphs_enter();
    struct graph *g = capture_graph_now(engine_stream(st), node, CU_DEPENDENCIES, &n);
    if (r || !g) return r;
    if (n > CU_DEPENDENCIES) return CU_NOT_SUPPORTED;
    struct cu_graph *x = cu_graph_of(c->device, g);
    if (!x) return CU_OUT_OF_MEMORY;
    for (u32 i = 0; i < n; i++) {
        list[i] = cu_node_of(node[i]);
        data[i] = cu_edge_data(OP_EDGE_COMPLETE);
    }
    if (t->graph) *t->graph = x;
    if (t->nodes) *t->nodes = list;
    if (t->edges) *t->edges = data;
    if (t->count) *t->count = n;
    return CU_OK;
}
static cu_result info(void *s, u32 *status, u64 *id, const struct captured *t)
{
    lk_stream *st;
    cu_result r = ask(s, status, id, &st);
    if ((t->graph && !cu_ok(t->graph)) || (t->nodes && !cu_ok(t->nodes)) || (t->edges && !cu_ok(t->edges)) ||
        (t->count && !cu_ok(t->count)))
        return CU_INVALID_VALUE;
    return r || *status != CAPTURE_ACTIVE ? r : answer(st, t);
}
#define INFO CU_CAPTURE_INFO
#define MORE struct cu_graph **graph, struct cu_node *const **nodes, u64 *count
#define MORE_3 struct cu_graph **graph, struct cu_node *const **nodes, const struct cu_edge_data **edges, u64 *count
CU_API(cuStreamGetCaptureInfo)(INFO) { return info(s, status, id, &(struct captured){ 0 }); }
CU_API(cuStreamGetCaptureInfo_v2)(INFO, MORE)
{
    return info(s, status, id, &(struct captured){ graph, nodes, NULL, count });
}
CU_API(cuStreamGetCaptureInfo_v3)(INFO, MORE_3)
{
    return info(s, status, id, &(struct captured){ graph, nodes, edges, count });
}

/* ---- changing what comes next ---- */

static cu_result depend(void *handle, struct cu_node *const *dep, u64 deps, unsigned flags)
{
    enum { ADD, SET };
    struct cu_context *c;
    lk_stream *st;
    struct graph_node *node[CU_DEPENDENCIES];
    cu_result r = enter(handle, &c, &st);
    if (r) return r;
    if (flags > SET) return CU_INVALID_VALUE;
    if ((r = cu_nodes_read(NULL, dep, deps, node))) return r;
    return (cu_result)capture_depend(engine_stream(st), node, (u32)deps, flags == SET);
}
#define DEPEND void *s, struct cu_node *const *dep
#define DEPEND_2 DEPEND, const struct cu_edge_data *data
CU_API(cuStreamUpdateCaptureDependencies)(DEPEND, u64 n, unsigned f) { return depend(s, dep, n, f); }
CU_API(cuStreamUpdateCaptureDependencies_v2)(DEPEND_2, u64 n, unsigned f) { return (void)data, depend(s, dep, n, f); }

CU_DEFINE(cuThreadExchangeStreamCaptureMode, u32 *, mode)
{
    if (*mode > 2) return CU_INVALID_VALUE;
    *mode = capture_exchange_mode((enum capture_mode) * mode);
    return CU_OK;
}
