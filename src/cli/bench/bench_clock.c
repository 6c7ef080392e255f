/* Timing in the worker. Times on the device are between two events in one stream, around as many launches as the events
 * can tell apart; what the host does is timed by its own clock. Every mode is warmed up before it counts. */
#include "bench/bench_worker.h"

enum { BATCH_MOST = 4096, WARM_LEAST = 3, GROUP = 16 };
#define BATCH_SECONDS 200e-6 /* of a sample: some hundred steps of the events' clock */
#define WARM_SECONDS 20e-3
#define TRY_SECONDS 5e-3     /* for an estimate alone */
#define AGAIN_SECONDS 2e-3   /* the same case once more: only what other processes left in the way */
#define COPY_MOST (1u << 30) /* bytes of pinned memory */

void worker_close_timing(struct bench_worker *w)
{
    if (w->pinned) lk_memory_free(w->gpu, w->pinned);
    w->pinned = 0;
    w->pinned_bytes = 0;
}

static bool between(struct bench_worker *w, double *seconds, struct error *e)
{
    double ms = 0;
    if (lk_event_synchronise(w->event[1]) != LK_OK || lk_event_elapsed(w->event[0], w->event[1], &ms) != LK_OK)
        return worker_refused(w, e);
    *seconds = ms * 1e-3;
    return true;
}

/* ---- warm: a chain of launches as a graph ---- */

static bool make_graph(struct bench_worker *w, u32 batch, lk_exec **out, struct error *e)
{
    lk_graph *g = NULL;
    lk_node *node = NULL, *before = NULL;
    bool ok = lk_graph_create(w->gpu, &g) == LK_OK;
    for (u32 i = 0; ok && i < batch; i++, before = node)
        ok = lk_graph_add_launch(g, &before, i ? 1 : 0, w->k, &w->launch, &node) == LK_OK;
    ok = ok && lk_graph_instantiate(g, 0, out) == LK_OK;
    if (!ok) worker_refused(w, e);
    if (g) lk_graph_destroy(g);
    return ok;
}

static bool time_graph(struct bench_worker *w, lk_exec *x, double *seconds, struct error *e)
{
    if (lk_event_record(w->event[0], w->stream) != LK_OK || lk_exec_launch(x, w->stream) != LK_OK ||
        lk_event_record(w->event[1], w->stream) != LK_OK)
        return worker_refused(w, e);
    return between(w, seconds, e);
}

/* *one: the least it took. The last may be late by anything, and the chain would be as much too short. */
static bool warm_graph(struct bench_worker *w, lk_exec *x, double seconds, double *one, struct error *e)
{
    double all = 0, last = 0;
    *one = 0;
    for (u32 i = 0; i < WARM_LEAST || (all < seconds && i < 1000); i++, all += last) {
        if (!time_graph(w, x, &last, e)) return false;
        if (!i || last < *one) *one = last;
    }
    return true;
}

void worker_close_graph(struct bench_worker *w)
{
    if (w->graph) lk_exec_destroy(w->graph);
    w->graph = NULL;
}

/* The graph, warm, with so many launches that a sample is long enough. */
static bool graph_ready(struct bench_worker *w, struct error *e)
{
    double one = 0;
    if (w->graph) return warm_graph(w, w->graph, AGAIN_SECONDS, &one, e);
    bool ok = make_graph(w, w->batch = 1, &w->graph, e) && warm_graph(w, w->graph, TRY_SECONDS, &one, e);
    u32 need = one > 0 ? (u32)MIN_OF(BATCH_SECONDS / one + 1, (double)BATCH_MOST) : 1;
    if (ok && need == BATCH_MOST) need = 64; /* the clock of the events did not move */
    if (need == 1) return ok && warm_graph(w, w->graph, WARM_SECONDS, &one, e);
    /* the first is mostly launch: what a longer chain takes tells how long it has to be */
    for (u32 k = 0; ok && k < 2 && need > w->batch; k++) {
        worker_close_graph(w);
        ok = make_graph(w, w->batch = need, &w->graph, e) && warm_graph(w, w->graph, WARM_SECONDS, &one, e);
        if (ok && one > 0) need = (u32)MIN_OF(BATCH_SECONDS / one * need + 1, (double)BATCH_MOST);
    }
    return ok;
}

static bool time_warm(struct bench_worker *w, u32 samples, double *out, u32 *batch, struct error *e)
{
    bool ok = graph_ready(w, e);
    *batch = w->batch;
    for (u32 i = 0; ok && i < samples; i++) {
        ok = time_graph(w, w->graph, &out[i], e);
        out[i] /= w->batch;
    }
    if (!ok) worker_close_graph(w);
    return ok;
}

/* ---- cold: L2 is overwritten before each launch ----
 *
 * While the device overwrites, the host has long enqueued what follows: the launch starts at once when its turn comes.
 */

static bool flush_ready(struct bench_worker *w, struct error *e)
{
    if (w->flush) return true;
    w->flush_bytes = 256u << 20;
    lk_gpu_info info = { .size = sizeof info };
    if (lk_gpu_properties(w->gpu, &info) == LK_OK && info.memory < (8ull << 30)) w->flush_bytes = 64u << 20;
    return lk_memory_alloc(w->gpu, w->flush_bytes, LK_MEMORY_DEVICE, "flush", &w->flush) == LK_OK ||
           worker_refused(w, e);
}

static bool time_cold(struct bench_worker *w, u32 samples, double *out, struct error *e)
{
    lk_event *event[GROUP][2] = { { 0 } };
    bool ok = flush_ready(w, e);
    for (u32 i = 0; ok && i < GROUP * 2; i++)
        ok = lk_event_create(w->gpu, 0, &event[i / 2][i % 2]) == LK_OK || worker_refused(w, e);
    u32 skip = GROUP; /* the first group warms up */
    for (u32 done = 0; ok && done < samples + skip;) {
        u32 n = MIN_OF(samples + skip - done, (u32)GROUP);
        for (u32 i = 0; ok && i < n; i++) {
            lk_launch l = w->launch;
            l.stream = w->stream;
            ok = lk_memory_fill_async(w->stream, w->flush, (int)(done + i) & 0xff, w->flush_bytes) == LK_OK &&
                 lk_event_record(event[i][0], w->stream) == LK_OK && lk_kernel_launch(w->k, &l, NULL) == LK_OK &&
                 lk_event_record(event[i][1], w->stream) == LK_OK;
        }
        ok = (ok && lk_stream_synchronise(w->stream) == LK_OK) || worker_refused(w, e);
        for (u32 i = 0; ok && i < n; i++, done++) {
            double ms = 0;
            ok = lk_event_elapsed(event[i][0], event[i][1], &ms) == LK_OK || worker_refused(w, e);
            if (done >= skip) out[done - skip] = ms * 1e-3;
        }
    }
    for (u32 i = 0; i < GROUP * 2; i++)
        if (event[i / 2][i % 2]) lk_event_destroy(event[i / 2][i % 2]);
    return ok;
}

/* ---- launches, by the host's clock ---- */

static bool time_host(struct bench_worker *w, bool wait, u32 samples, double *out, struct error *e)
{
    lk_launch l = w->launch;
    l.stream = w->stream;
    for (u32 i = 0; i < samples + 20; i++) {
        u64 begin = time_ns();
        if (lk_kernel_launch(w->k, &l, NULL) != LK_OK) return worker_refused(w, e);
        if (wait && lk_stream_synchronise(w->stream) != LK_OK) return worker_refused(w, e);
        u64 end = time_ns();
        if (!wait && i % 64 == 63 && lk_stream_synchronise(w->stream) != LK_OK) return worker_refused(w, e);
        if (i >= 20) out[i - 20] = (double)(end - begin) * 1e-9;
    }
    return lk_stream_synchronise(w->stream) == LK_OK || worker_refused(w, e);
}

/* ---- copies ---- */

static u64 moved(const struct bench_worker *w, bool in)
{
    u64 n = 0;
    for (u32 i = 0; i < w->args; i++)
        if (w->arg[i].address && w->arg[i].is.flow != (in ? LK_FLOW_OUT : LK_FLOW_IN)) n += w->arg[i].bytes;
    return n;
}

static bool staging_ready(struct bench_worker *w, struct error *e)
{
    u64 in = moved(w, true), out = moved(w, false), bytes = in > out ? in : out;
    void *host = NULL;
    if (w->pinned && w->pinned_bytes >= bytes) return true;
    if (bytes > COPY_MOST)
        return error_set(e, ERR_UNSUPPORTED, "copies are timed up to %u MiB of pinned memory", COPY_MOST >> 20);
    worker_close_timing(w);
    if (lk_memory_alloc(w->gpu, bytes ? bytes : 1, LK_MEMORY_PINNED, "staging", &w->pinned) != LK_OK ||
        lk_memory_host(w->gpu, w->pinned, &host) != LK_OK)
        return worker_refused(w, e);
    w->pinned_bytes = bytes;
    w->staging = host;
    return true;
}

/* All arrays of one direction. Pageable: as cudaMemcpy does it, in the call. */
static bool move(struct bench_worker *w, bool in, bool pinned)
{
    u64 at = 0;
    for (u32 i = 0; i < w->args; i++) {
        struct worker_array *a = &w->arg[i];
        if (!a->address || a->is.flow == (in ? LK_FLOW_OUT : LK_FLOW_IN)) continue;
        u8 *host = pinned ? w->staging + at : a->host;
        at += a->bytes;
        lk_status s = !pinned && in ? lk_memory_write(w->gpu, a->address, host, a->bytes)
                      : !pinned     ? lk_memory_read(w->gpu, a->address, host, a->bytes)
                      : in          ? lk_memory_write_async(w->stream, a->address, host, a->bytes)
                                    : lk_memory_read_async(w->stream, a->address, host, a->bytes);
        if (s != LK_OK) return false;
    }
    return !pinned || lk_stream_synchronise(w->stream) == LK_OK;
}

static void stage_inputs(struct bench_worker *w)
{
    u64 at = 0;
    for (u32 i = 0; i < w->args; i++) {
        const struct worker_array *a = &w->arg[i];
        if (!a->address || a->is.flow == LK_FLOW_OUT) continue;
        memcpy(w->staging + at, a->host, a->bytes);
        at += a->bytes;
    }
}

static bool time_moves(struct bench_worker *w, enum bench_mode mode, u32 samples, double *out, struct error *e)
{
    bool in = mode == BENCH_IN_PAGEABLE || mode == BENCH_IN_PINNED, whole = mode == BENCH_WHOLE;
    bool pinned = mode != BENCH_IN_PAGEABLE && mode != BENCH_OUT_PAGEABLE;
    lk_launch l = w->launch;
    l.stream = w->stream;
    if (pinned && !staging_ready(w, e)) return false;
    if (pinned) stage_inputs(w);
    for (u32 i = 0; i < samples + 2; i++) {
        u64 begin = time_ns();
        bool ok = whole ? move(w, true, true) && lk_kernel_launch(w->k, &l, NULL) == LK_OK && move(w, false, true)
                        : move(w, in, pinned);
        if (!ok) return worker_refused(w, e);
        if (i >= 2) out[i - 2] = (double)(time_ns() - begin) * 1e-9;
        if (whole) stage_inputs(w); /* the outputs came to the same memory */
    }
    return true;
}

bool worker_time(struct bench_worker *w, enum bench_mode mode, u32 samples, double *out, u32 *batch, struct error *e)
{
    *batch = 1;
    switch (mode) {
    case BENCH_WARM: return time_warm(w, samples, out, batch, e);
    case BENCH_COLD: return time_cold(w, samples, out, e);
    case BENCH_ISSUE: return time_host(w, false, samples, out, e);
    case BENCH_LAUNCH: return time_host(w, true, samples, out, e);
    default: return time_moves(w, mode, samples, out, e);
    }
}
