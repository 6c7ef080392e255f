/* lockstep ring --bench, the host's part: how long a message takes, by stages, beside launches and graphs that do the
 * same work. Only messages whose answer was looked at and right are counted. */
#include "verbs/ring_bench.h"
#include <stdlib.h>

enum { BATCH = 64, WINDOW = 2 * BATCH, LIVES = 100, ENDS = 10 };

void ring_bench_step(const struct bench *b, const char *fmt, ...)
{
    if (!b->verbose) return;
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}
void ring_bench_sort(double *v, u64 n) { qsort(v, n, sizeof *v, by_value); }
double ring_bench_at(const double *sorted, u64 n, double part)
{
    return n ? sorted[MIN_OF((u64)(part * (double)n), n - 1)] : 0;
}
const struct bench_row *ring_bench_find(const struct bench *b, const char *where, u32 bytes, bool raw)
{
    for (u32 i = 0; i < b->row.n; i++)
        if (b->row.p[i].raw == raw && b->row.p[i].bytes == bytes && !strcmp(b->row.p[i].where, where))
            return &b->row.p[i];
    return NULL;
}

static int failed(lk_ring *ring, const char *what) { return cli_error("%s: %s", what, lk_ring_error(ring)); }
static int answered_wrongly(u64 i) { return cli_error("message %llu was answered wrongly", (unsigned long long)i); }
static u32 elements_of(u32 bytes) { return (bytes - 8) / 8; }

/* One message after the other. */
static int measure_trips(struct bench *b, lk_ring *ring, const lk_ring_message *message, struct bench_row *row)
{
    u64 all = time_ns();
    row->ns = NEW_ARRAY(b->mem, double, row->n);
    for (u64 i = 0; i < row->n; i++) {
        lk_ring_message m = *message, got = { .size = sizeof got };
        if (lk_ring_ask(ring, &m, &got, b->seconds) != LK_OK) return failed(ring, "ask");
        if (!ring_suite_sum(elements_of(row->bytes), &m, &got)) return answered_wrongly(i);
        for (u32 k = 0; k < BENCH_STAGES; k++) {
            row->ns[i] += (double)got.stage[k];
            row->stage[k] += (double)got.stage[k] / (double)row->n;
        }
    }
    row->rate = (double)row->n * 1e9 / (double)(time_ns() - all);
    ring_bench_sort(row->ns, row->n);
    return EXIT_CLEAN;
}

/* `n` copies of a message through the queues, kept filled; every answer is looked at. */
static int keep_filled(struct bench *b, lk_ring *ring, const lk_ring_message *message, u32 units, u64 n, double *rate)
{
    lk_ring_message out[BATCH], in[BATCH];
    u64 sent = 0, got = 0, from = time_ns(), window = MIN_OF((u64)units, (u64)64) * WINDOW;
    u32 elements = elements_of(message->bytes);
    while (got < n) {
        while (sent < n && sent - got + BATCH <= window) {
            u32 some = (u32)MIN_OF(n - sent, (u64)BATCH), placed = 0;
            for (u32 i = 0; i < some; i++) {
                out[i] = *message;
                out[i].unit = (u32)(sent / BATCH % units);
                out[i].id = 1 + sent + i;
            }
            /* a thread that waits for room does not receive, and a unit whose responses nobody takes makes no room */
            lk_status s = lk_ring_send_batch(ring, out, some, 0, &placed);
            if (s != LK_OK && s != LK_NOT_READY) return failed(ring, "send");
            sent += placed;
            if (s != LK_OK) break;
        }
        u32 some = 0;
        for (u32 i = 0; i < BATCH; i++) in[i].size = sizeof *in;
        if (lk_ring_receive_batch(ring, in, BATCH, b->seconds, &some) != LK_OK) return failed(ring, "receive");
        for (u32 i = 0; i < some; i++) {
            lk_ring_message asked = *message;
            asked.id = in[i].id; /* each is answered once: the drain counts them */
            if (in[i].id > sent || !ring_suite_sum(elements, &asked, &in[i])) return answered_wrongly(got + i);
        }
        got += some;
    }
    *rate = (double)n * 1e9 / (double)(time_ns() - from);
    return EXIT_CLEAN;
}

static int start(struct bench *b, const lk_ring_options *options, lk_ring **ring)
{
    lk_ring_options o = *options;
    o.size = sizeof o;
    o.module = b->vectors;
    if (!o.kernel) o.kernel = "vectors";
    if (lk_ring_create(b->gpu, &o, ring) != LK_OK) return failed(NULL, "create");
    if (lk_ring_launch(*ring, b->seconds) != LK_OK || lk_ring_activate(*ring, b->seconds) != LK_OK)
        return failed(*ring, "launch");
    return EXIT_CLEAN;
}
static int finish(struct bench *b, lk_ring *ring)
{
    if (lk_ring_drain(ring, b->seconds) != LK_OK || lk_ring_terminate(ring, b->seconds) != LK_OK ||
        lk_ring_destroy(ring) != LK_OK)
        return failed(ring, "end");
    return EXIT_CLEAN;
}

/* The same sum by a kernel of its own. */
struct once {
    const lk_ring_message *message;
    u32 n;             /* elements */
    u64 in, out, both; /* addresses: device memory, and pinned memory for what goes there and comes back */
    u8 *from, *sum;    /* the host's pointers into the last */
    lk_stream *stream;
    lk_kernel *kernel;
};

static bool once_begin(struct bench *b, struct once *x)
{
    u64 in = x->message->bytes, out = 4 * (u64)x->n + 4;
    void *pinned;
    x->kernel = lk_module_kernel(b->vectors, "add_once");
    if (!x->kernel || lk_memory_alloc(b->gpu, in, LK_MEMORY_DEVICE, "in", &x->in) != LK_OK ||
        lk_memory_alloc(b->gpu, out, LK_MEMORY_DEVICE, "out", &x->out) != LK_OK ||
        lk_memory_alloc(b->gpu, in + out, LK_MEMORY_PINNED, "staging", &x->both) != LK_OK ||
        lk_memory_host(b->gpu, x->both, &pinned) != LK_OK ||
        lk_stream_create(b->gpu, LK_STREAM_NON_BLOCKING, 0, &x->stream) != LK_OK)
        return false;
    x->from = pinned;
    x->sum = x->from + in;
    memcpy(x->from, x->message->data, in);
    return true;
}
static void once_end(struct bench *b, struct once *x)
{
    lk_stream_destroy(x->stream);
    lk_memory_free(b->gpu, x->in);
    lk_memory_free(b->gpu, x->out);
    lk_memory_free(b->gpu, x->both);
}

/* Copy there, launch, copy back: into the stream, or into the graph that is captured from it. */
static bool once_enqueue(struct once *x)
{
    const void *args[] = { &x->in, &x->out };
    lk_launch l = {
        .size = sizeof l, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .args = args, .arg_count = 2, .stream = x->stream
    };
    return lk_memory_write_async(x->stream, x->in, x->from, x->message->bytes) == LK_OK &&
           lk_kernel_launch(x->kernel, &l, NULL) == LK_OK &&
           lk_memory_read_async(x->stream, x->out, x->sum, 4 * (u64)x->n + 4) == LK_OK;
}

/* Nanoseconds of `n` times, by launches or by launches of a graph, each waited for and looked at; sorted. */
static int measure_once(struct bench *b, struct once *x, lk_exec *exec, u64 n, double *ns)
{
    for (u64 i = 0; i < n; i++) {
        u64 began = time_ns();
        bool ok = exec ? lk_exec_launch(exec, x->stream) == LK_OK : once_enqueue(x);
        if (!ok || lk_stream_synchronise(x->stream) != LK_OK) return cli_error("launch: %s", lk_gpu_error(b->gpu));
        ns[i] = (double)(time_ns() - began);
        lk_ring_message got = { .bytes = 4 * x->n, .data = x->sum, .id = x->message->id };
        if (!ring_suite_sum(x->n, x->message, &got))
            return cli_error("%s %llu gave a wrong sum", exec ? "graph" : "launch", (unsigned long long)i);
        memset(x->sum, 0, 4 * (u64)x->n);
    }
    ring_bench_sort(ns, n);
    return EXIT_CLEAN;
}

static int measure_launches(struct bench *b, const lk_ring_message *message, struct bench_row *row)
{
    struct once x = { .message = message, .n = elements_of(row->bytes) };
    lk_graph *graph = NULL;
    lk_exec *exec = NULL;
    row->launch = NEW_ARRAY(b->mem, double, row->n);
    row->graph = NEW_ARRAY(b->mem, double, row->n);
    if (!once_begin(b, &x)) return cli_error("%s", lk_gpu_error(b->gpu));
    int code = measure_once(b, &x, NULL, row->n, row->launch);
    if (code == EXIT_CLEAN &&
        (lk_stream_capture(x.stream, LK_CAPTURE_THREAD_LOCAL) != LK_OK || !once_enqueue(&x) ||
         lk_stream_capture_end(x.stream, &graph) != LK_OK || lk_graph_instantiate(graph, 0, &exec) != LK_OK))
        code = cli_error("capture: %s", lk_gpu_error(b->gpu));
    if (code == EXIT_CLEAN) code = measure_once(b, &x, exec, row->n, row->graph);
    if (exec) lk_exec_destroy(exec);
    if (graph) lk_graph_destroy(graph);
    once_end(b, &x);
    return code;
}

static int measure_size(struct bench *b, const lk_ring_options *o, u32 bytes, bool launches)
{
    struct bench_row row = { .where = "host", .bytes = bytes, .n = b->messages };
    u64 seed = b->seed;
    lk_ring_message m;
    lk_ring *ring;
    ring_suite_pair(elements_of(bytes), &seed, b->mem, &m);
    ring_bench_step(b, "host, %u bytes", bytes);
    int code = launches ? measure_launches(b, &m, &row) : EXIT_CLEAN;
    if (code != EXIT_CLEAN || (code = start(b, o, &ring)) != EXIT_CLEAN) return code;
    if ((code = measure_trips(b, ring, &m, &row)) != EXIT_CLEAN ||
        (code = keep_filled(b, ring, &m, 1, row.n, &row.filled)) != EXIT_CLEAN)
        return code;
    VEC_PUSH(b->mem, &b->row, row);
    return finish(b, ring);
}

struct sender { /* a thread of the host with a ring of its own */
    struct bench *b;
    lk_ring *ring;
    const lk_ring_message *message;
    u32 units;
    u64 n;
    double rate; /* its own */
    int code;
    pthread_t thread;
};
static void *send_batches(void *self)
{
    struct sender *s = self;
    s->code = keep_filled(s->b, s->ring, s->message, s->units, s->n, &s->rate);
    return NULL;
}

/* A ring that did not answer: how it stands is said, and it is told to end. */
static void give_up(struct bench *b, lk_ring *ring)
{
    char *text = lk_ring_text(ring);
    fprintf(stderr, "%.3000s\n", text ? text : "");
    lk_text_free(text);
    if (lk_ring_terminate(ring, MIN_OF(b->seconds, 5)) == LK_OK)
        lk_ring_destroy(ring);
    else
        b->unended = true;
}

/* Small messages in batches from so many threads, each to the units of a ring of its own; idle_ns as in the options. */
static int measure_batches(struct bench *b, const lk_ring_options *options, u32 threads, u32 idle_ns)
{
    struct sender s[BENCH_THREADS] = { { 0 } };
    lk_ring_options o = *options;
    struct bench_batches x = { .threads = threads, .idle_ns = options->idle_ns ? options->idle_ns : idle_ns };
    u64 seed = b->seed;
    u32 started = 0;
    lk_ring_message m;
    int code = EXIT_CLEAN;
    if (o.instances < 2) o.instances = !b->on_gpu ? 1 : threads == 1 ? 64 : 8;
    o.idle_ns = x.idle_ns;
    o.inline_bytes = 64;
    x.units = o.instances * threads;
    ring_suite_pair(1, &seed, b->mem, &m);
    ring_bench_step(b, "batches of %u threads to %u units, sleeps of %u ns", threads, x.units, x.idle_ns);
    for (u32 i = 0; i < threads && code == EXIT_CLEAN; i++) {
        s[i] = (struct sender){ .b = b, .message = &m, .units = o.instances, .n = b->messages * (b->on_gpu ? 50 : 4) };
        code = start(b, &o, &s[i].ring);
    }
    u64 from = time_ns();
    for (; code == EXIT_CLEAN && started < threads; started++)
        if (pthread_create(&s[started].thread, NULL, send_batches, &s[started])) {
            code = cli_error("no thread for the batches");
            break;
        }
    for (u32 i = 0; i < started; i++) {
        pthread_join(s[i].thread, NULL);
        if (code == EXIT_CLEAN) code = s[i].code;
        x.messages += s[i].n;
    }
    x.rate = (double)x.messages * 1e9 / (double)(time_ns() - from);
    for (u32 i = 0; i < threads && s[i].ring; i++) {
        if (code == EXIT_CLEAN)
            code = finish(b, s[i].ring);
        else
            give_up(b, s[i].ring);
    }
    if (code == EXIT_CLEAN) VEC_PUSH(b->mem, &b->batches, x);
    if (code == EXIT_CLEAN) ring_bench_step(b, "    %.0f a second", x.rate);
    return code;
}

/* How long the calls of a ring's life take, when its units are idle. */
static int measure_life(struct bench *b, const lk_ring_options *o)
{
    struct bench_life *l = &b->life;
    ring_bench_step(b, "activate, deactivate, terminate");
    l->n = LIVES;
    l->ends = ENDS;
    l->activate = NEW_ARRAY(b->mem, double, l->n);
    l->deactivate = NEW_ARRAY(b->mem, double, l->n);
    l->terminate = NEW_ARRAY(b->mem, double, l->ends);
    for (u64 k = 0; k < l->ends; k++) {
        lk_ring *ring;
        int code = start(b, o, &ring);
        if (code != EXIT_CLEAN) return code;
        for (u64 i = 0; k == 0 && i < l->n; i++) {
            u64 from = time_ns();
            if (lk_ring_deactivate(ring, b->seconds) != LK_OK) return failed(ring, "deactivate");
            u64 middle = time_ns();
            if (lk_ring_activate(ring, b->seconds) != LK_OK) return failed(ring, "activate");
            l->deactivate[i] = (double)(middle - from);
            l->activate[i] = (double)(time_ns() - middle);
        }
        u64 from = time_ns();
        if (lk_ring_terminate(ring, b->seconds) != LK_OK) return failed(ring, "terminate");
        l->terminate[k] = (double)(time_ns() - from);
        lk_ring_destroy(ring);
    }
    ring_bench_sort(l->activate, l->n);
    ring_bench_sort(l->deactivate, l->n);
    ring_bench_sort(l->terminate, l->ends);
    return EXIT_CLEAN;
}

/* Batches of one thread and of several; units without messages that sleep leave the link to the others. */
static int measure_all_batches(struct bench *b, const lk_ring_options *o)
{
    int code = measure_batches(b, o, 1, 0);
    if (code == EXIT_CLEAN && b->on_gpu) code = measure_batches(b, o, BENCH_THREADS, 0);
    if (code == EXIT_CLEAN && b->on_gpu) code = measure_batches(b, o, BENCH_THREADS, 1000);
    return code;
}

static int measure_host(struct bench *b, const lk_ring_options *o)
{
    static const u32 size[] = { 16, 64, 256, 1024, 4096, 16384, 65536 };
    int code = ring_bench_raw_host(b);
    for (u32 i = 0; i < COUNT_OF(size) && code == EXIT_CLEAN; i++) code = measure_size(b, o, size[i], true);
    return code == EXIT_CLEAN ? measure_life(b, o) : code;
}

static int measure_device(struct bench *b, const struct ring_request *r)
{
    int code = ring_bench_card(b);
    if (code == EXIT_CLEAN) code = ring_bench_pairs(b);
    return code == EXIT_CLEAN && r->matrix ? ring_bench_matrix(b, (u32)r->matrix_sms) : code;
}

/* The smallest size on the software GPU, for the table beside a real one. */
static int measure_sim(struct ring_request *r, struct bench *b)
{
    struct ring_request sim = *r;
    struct bench s = { .mem = b->mem, .seconds = b->seconds, .seed = b->seed, .messages = 200 };
    sim.on = NULL;
    if (ring_suite_open(&sim, &s.gpu, &s.vectors) != LK_OK) return cli_error("%s", lk_gpu_error(s.gpu));
    int code = measure_size(&s, &r->ring, 16, false);
    if (code == EXIT_CLEAN)
        b->sim_p50 = ring_bench_at(s.row.p[0].ns, s.row.p[0].n, 0.5);
    else
        lk_gpu_interrupt(s.gpu);
    lk_gpu_destroy(s.gpu);
    return code;
}

static int write_files(const struct ring_request *r, const struct bench *b)
{
    struct error e = { 0 };
    struct text t = { 0 };
    bool ok = true;
    if (r->json) {
        ring_bench_json(b, r->on ? r->on : "sim", &t);
        ok = file_write(r->json, t.p, t.n, &e);
        text_free(&t);
    }
    if (ok && r->svg) {
        t = (struct text){ 0 };
        ring_bench_svg(b, &t);
        ok = file_write(r->svg, t.p, t.n, &e);
        text_free(&t);
    }
    return ok ? EXIT_CLEAN : cli_error_value(&e);
}

int ring_bench(struct ring_request *r)
{
    struct bench b = { .mem = &r->mem, .seconds = r->seconds, .seed = r->seed, .messages = r->messages };
    b.on_gpu = r->on && strcmp(r->on, "sim");
    b.device_messages = b.on_gpu ? MAX_OF(r->messages, (u64)1000) : MIN_OF(r->messages, (u64)50);
    b.half_sm = 120 << 10;
    b.verbose = r->common.verbose;
    lk_status status = ring_suite_open(r, &b.gpu, &b.vectors);
    if (status == LK_OK) status = ring_pairs_load(b.gpu, &b.pairs);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(b.gpu));
    bool quiet = r->json && !strcmp(r->json, "-");
    int code = measure_host(&b, &r->ring),
        batches = code == EXIT_CLEAN ? measure_all_batches(&b, &r->ring) : EXIT_CLEAN;
    if (code == EXIT_CLEAN && b.on_gpu) code = measure_sim(r, &b);
    if (!quiet) { /* what was measured before something failed is shown, too, also where the process is killed */
        ring_bench_print_host(&b);
        ring_bench_print_batches(&b);
        fflush(stdout);
    }
    if (code == EXIT_CLEAN && !b.unended) code = measure_device(&b, r);
    if (!quiet) {
        ring_bench_print_device(&b);
        fflush(stdout);
    }
    if (code == EXIT_CLEAN && !b.unended) code = ring_bench_flood(&b, b.on_gpu ? 500000000 : 2 * b.device_messages);
    if (!quiet && b.flood_rate > 0)
        printf("\n%u warps, each to the next: %llu messages of 16 bytes, %.1f million a second\n", b.flood_warps,
               (unsigned long long)b.flood_messages, b.flood_rate / 1e6);
    if (code == EXIT_CLEAN) code = batches;
    int written = write_files(r, &b); /* what there is, even when something failed */
    if (code == EXIT_CLEAN) code = written;
    if (b.unended && b.on_gpu) return code; /* frees would wait for its kernel; the end of the process is its end */
    if (code != EXIT_CLEAN) lk_gpu_interrupt(b.gpu);
    lk_gpu_destroy(b.gpu);
    return code;
}
