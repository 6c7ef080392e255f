/* Random programs over many streams against a sequential oracle.
 *
 *     test_stream_random [FIRST COUNT]     programs FIRST .. FIRST + COUNT - 1 of each kind
 *
 * Each operation reads two small arrays and writes a third. Where two operations conflict and a naive model of the
 * streams does not order them, the generator adds an event, or a value write and wait. So the result must be that of
 * the same operations one after the other: under every seed, with any number of workers, captured into graphs or not,
 * with several host threads that enqueue at the same time. */
#include "unit.h"
#include "stream_backend.h"
#include <stdlib.h>

enum { STREAMS = 64, CELLS = 24, LENGTH = 8, EVENTS = 16, LEGACY = STREAMS, CHAINS, FORKS = 3, SEGMENT = 6 };

struct work { /* of one operation */
    u32 *a, *b, *c;
    u32 id;
    struct workers *workers;
};
struct place { /* an operation, for the model: its stream, and its place there */
    u32 stream, at;
};
struct cell {
    u32 real[LENGTH], oracle[LENGTH];
    struct place writer;
    struct place reader[CHAINS]; /* at 0: none since the write */
};
struct program {
    struct streams *s;
    struct workers *workers; /* NULL: bodies end in their calls */
    struct arena mem;
    u64 seed;
    u32 failed;       /* calls; UNIT is for one thread */
    u32 ids, streams; /* how many streams */
    bool captured;    /* segments are captured, else enqueued */
    bool legacy;      /* uses the legacy stream */
    struct stream *stream[CHAINS];
    struct event *event[EVENTS];
    u64 flag[CHAINS], flagged[CHAINS]; /* memory for value waits, the last value that a write will put there */
    u32 count[CHAINS];                 /* operations of each */
    u32 known[CHAINS][CHAINS];         /* the model: places that the next operation of a stream is after */
    struct cell cell[CELLS];
};

static u32 below(struct program *p, u32 n) { return (u32)(rand_next(&p->seed) % n); }

static void compute(struct op *op, void *data)
{
    (void)op;
    const struct work *w = data;
    for (u32 i = 0; i < LENGTH; i++) w->c[i] = w->a[i] * 33 + (w->b[LENGTH - 1 - i] ^ w->id);
}

static u32 body(struct op *op, void *data)
{
    compute(op, data);
    return OP_OK;
}

static u32 body_later(struct op *op, void *data)
{
    struct work *w = data;
    return workers_start(w->workers, op, compute, data);
}

#define EXPECT(call) (p->failed += (call) != OP_OK)

/* ---- the model ---- */

static bool blocking(const struct program *p, u32 st)
{
    return st != LEGACY && !(stream_flags(p->stream[st]) & STREAM_NON_BLOCKING);
}

static void learn(struct program *p, u32 to, u32 from)
{
    for (u32 i = 0; i < CHAINS; i++) p->known[to][i] = MAX_OF(p->known[to][i], p->known[from][i]);
}

/* An operation is enqueued in st: the legacy stream comes into it. */
static void model_enqueue(struct program *p, u32 st)
{
    if (st == LEGACY) {
        for (u32 i = 0; i < p->streams; i++)
            if (blocking(p, i)) learn(p, LEGACY, i);
    } else if (blocking(p, st)) {
        learn(p, st, LEGACY);
    }
    p->known[st][st] = ++p->count[st];
}

/* ---- calls ---- */

/* Everything of `from` so far is before what follows in `to`. */
static void order(struct program *p, u32 to, u32 from)
{
    if (below(p, 8) == 0) {
        u64 value = ++p->flagged[from];
        struct op_spec write = { .kind = OP_VALUE_WRITE, .address = &p->flag[from], .value = value, .bits = 64 };
        struct op_spec wait = { .kind = OP_VALUE_WAIT, .address = &p->flag[from], .value = value, .bits = 64 };
        EXPECT(op_enqueue(p->stream[from], &write, NULL));
        model_enqueue(p, from);
        EXPECT(op_enqueue(p->stream[to], &wait, NULL));
    } else {
        struct event *e = p->event[below(p, EVENTS)];
        EXPECT(event_record(e, p->stream[from], 0));
        model_enqueue(p, from);
        EXPECT(event_wait(p->stream[to], e, 0));
    }
    model_enqueue(p, to);
    learn(p, to, from);
}

static void after(struct program *p, u32 st, struct place q)
{
    if (q.at && p->known[st][q.stream] < q.at) order(p, st, q.stream);
}

/* Orders st after all that conflicts with reading a and b and writing c. */
static void order_conflicts(struct program *p, u32 st, u32 a, u32 b, u32 c)
{
    after(p, st, p->cell[a].writer);
    after(p, st, p->cell[b].writer);
    after(p, st, p->cell[c].writer);
    for (u32 i = 0; i < CHAINS; i++) after(p, st, p->cell[c].reader[i]);
}

static void mark(struct program *p, u32 st, u32 a, u32 b, u32 c)
{
    struct place me = { st, p->count[st] };
    p->cell[a].reader[st] = p->cell[b].reader[st] = me;
    memset(p->cell[c].reader, 0, sizeof p->cell[c].reader);
    p->cell[c].writer = me;
}

static void enqueue(struct program *p, struct stream *st, u32 a, u32 b, u32 c)
{
    static const enum op_kind kinds[] = {
        OP_LAUNCH, OP_LAUNCH, OP_LAUNCH, OP_COPY, OP_COPY, OP_FILL, OP_HOST, OP_ALLOC
    };
    struct work *w = NEW(&p->mem, struct work), model;
    *w = (struct work){ p->cell[a].real, p->cell[b].real, p->cell[c].real, ++p->ids, p->workers };
    model = (struct work){ p->cell[a].oracle, p->cell[b].oracle, p->cell[c].oracle, p->ids, NULL };
    struct op_spec spec = { .kind = kinds[below(p, COUNT_OF(kinds))], .data = w, .to_host = below(p, 2) };
    spec.run = spec.kind == OP_LAUNCH && p->workers ? body_later : body;
    if (spec.kind == OP_ALLOC) spec.address = w;
    EXPECT(op_enqueue(st, &spec, NULL));
    compute(NULL, &model);
}

static void plain(struct program *p, u32 st)
{
    u32 a = below(p, CELLS), b = below(p, CELLS), c = below(p, CELLS);
    order_conflicts(p, st, a, b, c);
    enqueue(p, p->stream[st], a, b, c);
    model_enqueue(p, st);
    mark(p, st, a, b, c);
}

/* ---- a segment: a fork, some operations, a join; captured and launched, or as it is ---- */

struct segment {
    u32 fork[FORKS]; /* its streams, the origin first */
    u32 n, on[SEGMENT], a[SEGMENT], b[SEGMENT], c[SEGMENT];
};

static bool conflict(const struct segment *g, u32 i, u32 k)
{
    return g->c[i] == g->a[k] || g->c[i] == g->b[k] || g->c[i] == g->c[k] || g->a[i] == g->c[k] || g->b[i] == g->c[k];
}

static void pass(struct program *p, u32 from, u32 to)
{
    struct event *e = p->event[below(p, EVENTS)];
    EXPECT(event_record(e, p->stream[from], 0));
    EXPECT(event_wait(p->stream[to], e, 0));
}

static void emit(struct program *p, const struct segment *g)
{
    for (u32 f = 1; f < FORKS; f++) pass(p, g->fork[0], g->fork[f]);
    for (u32 i = 0; i < g->n; i++) {
        for (u32 k = 0; k < i; k++)
            if (g->on[k] != g->on[i] && conflict(g, i, k)) pass(p, g->fork[g->on[k]], g->fork[g->on[i]]);
        enqueue(p, p->stream[g->fork[g->on[i]]], g->a[i], g->b[i], g->c[i]);
    }
    for (u32 f = 1; f < FORKS; f++) pass(p, g->fork[f], g->fork[0]);
}

static void run_captured(struct program *p, const struct segment *g)
{
    struct stream *origin = p->stream[g->fork[0]];
    struct graph *graph = NULL;
    struct graph_exec *x;
    /* Thread-local: other threads go on with what is unsafe in a capture. */
    EXPECT(capture_begin(origin, CAPTURE_THREAD_LOCAL));
    emit(p, g);
    EXPECT(capture_end(origin, &graph));
    if (!graph) return;
    EXPECT(graph_instantiate(graph, 0, &x, NULL));
    graph_delete(graph);
    EXPECT(graph_launch(x, origin, 0, NULL));
    graph_exec_delete(x);
}

static void segment(struct program *p)
{
    struct segment g = { .n = 1 + below(p, SEGMENT) };
    u32 first = below(p, p->streams);
    for (u32 f = 0; f < FORKS; f++) g.fork[f] = (first + f) % p->streams;
    for (u32 i = 0; i < g.n; i++) {
        g.on[i] = below(p, FORKS);
        g.a[i] = below(p, CELLS);
        g.b[i] = below(p, CELLS);
        g.c[i] = below(p, CELLS);
    }
    u32 origin = g.fork[0];
    for (u32 i = 0; i < g.n; i++) order_conflicts(p, origin, g.a[i], g.b[i], g.c[i]);
    if (p->captured) {
        run_captured(p, &g);
    } else {
        emit(p, &g);
        for (u32 f = 1; f < FORKS; f++) model_enqueue(p, g.fork[f]);
    }
    model_enqueue(p, origin); /* the join */
    for (u32 i = 0; i < g.n; i++) mark(p, origin, g.a[i], g.b[i], g.c[i]);
}

/* ---- programs ---- */

static void generate(struct program *p, u32 ops)
{
    for (u32 i = 0; i < CELLS; i++)
        for (u32 k = 0; k < LENGTH; k++) p->cell[i].real[k] = p->cell[i].oracle[k] = i * 1000 + k;
    for (u32 i = 0; i < p->streams; i++)
        p->stream[i] = stream_new(p->s, below(p, 2) ? STREAM_NON_BLOCKING : STREAM_BLOCKING, -(s32)below(p, 3));
    p->stream[LEGACY] = stream_legacy(p->s);
    for (u32 i = 0; i < EVENTS; i++) p->event[i] = event_new(p->s, i & 1 ? EVENT_NO_TIMING : 0);
    while (p->ids < ops) {
        u32 what = below(p, 400);
        if (what == 0) {
            u32 st = below(p, p->streams);
            EXPECT(stream_synchronise(p->stream[st]));
        } else if (what == 1 && p->legacy) {
            plain(p, LEGACY);
        } else if (what < 12) {
            segment(p);
        } else if (what < 14) {
            stream_query(p->stream[below(p, p->streams)]);
        } else {
            plain(p, below(p, p->streams));
        }
    }
    for (u32 i = 0; i < p->streams; i++) {
        EXPECT(stream_synchronise(p->stream[i]));
        stream_delete(p->stream[i]);
    }
    if (p->legacy) EXPECT(stream_synchronise(p->stream[LEGACY]));
    for (u32 i = 0; i < EVENTS; i++) event_delete(p->event[i]);
}

static bool right(const struct program *p)
{
    bool same = true;
    for (u32 i = 0; i < CELLS; i++) same &= !memcmp(p->cell[i].real, p->cell[i].oracle, sizeof p->cell[i].real);
    return same;
}

static void one(u64 seed, u32 ops, u32 workers, bool seeded, bool captured)
{
    struct streams_options o = { .seeded = seeded, .seed = seed };
    struct workers pool;
    struct program *p = base_need(sizeof *p);
    if (workers) workers_open(&pool, workers);
    *p = (struct program){ .s = streams_new(&o), .workers = workers ? &pool : NULL, .seed = seed };
    p->streams = STREAMS;
    p->captured = captured;
    p->legacy = !captured; /* a captured blocking stream forbids it */
    generate(p, ops);
    if (!UNIT(right(p)))
        fprintf(stderr, "program %" PRIu64 ", %u workers, seeded %d, captured %d\n", seed, workers, seeded, captured);
    UNIT_EQ(p->failed, 0);
    UNIT(!streams_inexact(p->s));
    streams_delete(p->s);
    if (workers) workers_close(&pool);
    arena_free(&p->mem);
    base_free(p);
}

struct host {
    struct program p;
    u32 ops;
    pthread_t thread;
};
static void *host_main(void *of)
{
    struct host *h = of;
    generate(&h->p, h->ops);
    return NULL;
}

/* Several host threads, each with streams and arrays of its own, on one device. */
static void threads(u64 seed, u32 hosts, u32 ops, u32 workers, bool seeded)
{
    struct streams_options o = { .seeded = seeded, .seed = seed };
    struct streams *s = streams_new(&o);
    struct workers pool;
    struct host *h = base_need(hosts * sizeof *h);
    workers_open(&pool, workers);
    for (u32 i = 0; i < hosts; i++) {
        h[i].p = (struct program){ .s = s, .workers = &pool, .seed = seed * 16 + i, .streams = STREAMS / hosts };
        h[i].p.captured = i & 1;
        h[i].p.legacy = false; /* a capture of another thread may forbid it */
        h[i].ops = ops;
        pthread_create(&h[i].thread, NULL, host_main, &h[i]);
    }
    for (u32 i = 0; i < hosts; i++) {
        pthread_join(h[i].thread, NULL);
        UNIT(right(&h[i].p));
        UNIT_EQ(h[i].p.failed, 0);
        arena_free(&h[i].p.mem);
    }
    streams_delete(s);
    workers_close(&pool);
    base_free(h);
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
#ifdef UNIT_SANITIZED
    u32 full = 6000, few = 1500;
#else
    u32 full = STREAMS * 1000, few = 6000;
#endif
    for (u64 i = first; i < first + n; i++) {
        one(i, full, 2, false, false); /* 64 streams x 1,000 operations */
        one(i, full, 0, true, false);
        for (u32 k = 0; k < 8; k++) one(i * 100 + k, few, k & 3, k & 4, k & 1);
        for (u32 k = 0; k < 4; k++) threads(i * 100 + k, 4, few / 4, 1 + k, k == 3);
    }
    return unit_done();
}
