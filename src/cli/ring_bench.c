/* lockstep ring --bench: how long a message takes, by stages, beside a launch that does the same work. Only messages
 * whose answer was looked at and right are counted. */
#include "cli/ring_command.h"
#include <stdlib.h>

enum { STAGES = 4, BATCH = 64 };

struct figures { /* of one size, nanoseconds, sorted */
    u32 elements;
    u64 n, *trip, *stage[STAGES], *launch;
    double per_second;
};

static int by_value(const void *a, const void *b)
{
    u64 x = *(const u64 *)a, y = *(const u64 *)b;
    return x < y ? -1 : x > y;
}
static double at(const u64 *sorted, u64 n, double part)
{
    return (double)sorted[MIN_OF((u64)(part * (double)n), n - 1)] / 1e3;
}

static int failed(lk_ring *ring, const char *what) { return cli_error("%s: %s", what, lk_ring_error(ring)); }

/* One message after the other. */
static int measure_trips(struct ring_request *r, lk_ring *ring, const lk_ring_message *message, struct figures *f)
{
    for (u64 i = 0; i < f->n; i++) {
        lk_ring_message m = *message, got = { .size = sizeof got };
        u64 from = time_ns();
        if (lk_ring_ask(ring, &m, &got, r->seconds) != LK_OK) return failed(ring, "ask");
        f->trip[i] = time_ns() - from;
        if (!ring_suite_sum(f->elements, &m, &got))
            return cli_error("message %llu was answered wrongly", (unsigned long long)i);
        for (u32 k = 0; k < STAGES; k++) f->stage[k][i] = got.stage[k];
    }
    return EXIT_CLEAN;
}

/* As many as the queues hold. */
static int measure_rate(struct ring_request *r, lk_ring *ring, const lk_ring_message *message, struct figures *f)
{
    u64 sent = 0, got = 0, from = time_ns();
    while (got < f->n) {
        for (u32 i = 0; i < BATCH && sent < f->n && sent - got < 2 * BATCH; i++, sent++) {
            lk_ring_message m = *message;
            m.id = sent + 1;
            if (lk_ring_send(ring, &m, r->seconds) != LK_OK) return failed(ring, "send");
        }
        for (u32 i = 0; i < BATCH && got < sent; i++, got++) {
            lk_ring_message response = { .size = sizeof response }, m = *message;
            if (lk_ring_receive(ring, &response, r->seconds) != LK_OK) return failed(ring, "receive");
            m.id = got + 1;
            if (!ring_suite_sum(f->elements, &m, &response))
                return cli_error("message %llu was answered wrongly", (unsigned long long)got);
        }
    }
    f->per_second = (double)f->n * 1e9 / (double)(time_ns() - from);
    return EXIT_CLEAN;
}

/* The same sum by a kernel of its own: copy there, launch, copy back, wait. */
static int measure_launches(lk_gpu *gpu, lk_module *module, const lk_ring_message *message, struct figures *f)
{
    u32 n = f->elements;
    u64 in, out;
    lk_stream *stream;
    lk_kernel *kernel = lk_module_kernel(module, "add_once");
    float *sum = base_need(4 * (u64)n + 4);
    if (!kernel || lk_memory_alloc(gpu, message->bytes, LK_MEMORY_DEVICE, "in", &in) != LK_OK ||
        lk_memory_alloc(gpu, 4 * (u64)n + 4, LK_MEMORY_DEVICE, "out", &out) != LK_OK ||
        lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &stream) != LK_OK)
        return cli_error("%s", lk_gpu_error(gpu));
    const void *args[] = { &in, &out };
    lk_launch l = {
        .size = sizeof l, .grid = { 1, 1, 1 }, .block = { 32, 1, 1 }, .args = args, .arg_count = 2, .stream = stream
    };
    int code = EXIT_CLEAN;
    for (u64 i = 0; i < f->n && code == EXIT_CLEAN; i++) {
        u64 from = time_ns();
        if (lk_memory_write_async(stream, in, message->data, message->bytes) != LK_OK ||
            lk_kernel_launch(kernel, &l, NULL) != LK_OK ||
            lk_memory_read_async(stream, out, sum, 4 * (u64)n + 4) != LK_OK || lk_stream_synchronise(stream) != LK_OK)
            code = cli_error("%s", lk_gpu_error(gpu));
        f->launch[i] = time_ns() - from;
        lk_ring_message got = { .bytes = 4 * n, .data = sum, .id = message->id };
        if (code == EXIT_CLEAN && !ring_suite_sum(n, message, &got))
            code = cli_error("launch %llu gave a wrong sum", (unsigned long long)i);
    }
    base_free(sum);
    lk_stream_destroy(stream);
    lk_memory_free(gpu, in);
    lk_memory_free(gpu, out);
    return code;
}

static int measure(struct ring_request *r, lk_gpu *gpu, lk_module *module, struct figures *f)
{
    u64 seed = r->seed;
    lk_ring_message m;
    lk_ring *ring;
    lk_ring_options o = r->ring;
    o.size = sizeof o;
    o.module = module;
    o.kernel = "vectors";
    f->trip = NEW_ARRAY(&r->mem, u64, f->n);
    f->launch = NEW_ARRAY(&r->mem, u64, f->n);
    for (u32 k = 0; k < STAGES; k++) f->stage[k] = NEW_ARRAY(&r->mem, u64, f->n);
    ring_suite_pair(f->elements, &seed, &r->mem, &m);
    int code = measure_launches(gpu, module, &m, f);
    if (code != EXIT_CLEAN) return code;
    if (lk_ring_create(gpu, &o, &ring) != LK_OK) return failed(NULL, "create");
    if (lk_ring_launch(ring, r->seconds) != LK_OK || lk_ring_activate(ring, r->seconds) != LK_OK)
        return failed(ring, "launch");
    if ((code = measure_trips(r, ring, &m, f)) != EXIT_CLEAN || (code = measure_rate(r, ring, &m, f)) != EXIT_CLEAN)
        return code;
    if (lk_ring_drain(ring, r->seconds) != LK_OK || lk_ring_terminate(ring, r->seconds) != LK_OK)
        return failed(ring, "end");
    lk_ring_destroy(ring);
    qsort(f->trip, f->n, sizeof *f->trip, by_value);
    qsort(f->launch, f->n, sizeof *f->launch, by_value);
    for (u32 k = 0; k < STAGES; k++) qsort(f->stage[k], f->n, sizeof **f->stage, by_value);
    return EXIT_CLEAN;
}

static void print_row(const struct figures *f)
{
    printf("%8u %8.1f %8.1f %8.1f %8.1f  %7.1f %7.1f %7.1f %7.1f  %10.0f  %8.1f\n", 8 + 8 * f->elements,
           at(f->trip, f->n, 0.5), at(f->trip, f->n, 0.99), at(f->trip, f->n, 0.999), at(f->trip, f->n, 1),
           at(f->stage[0], f->n, 0.5), at(f->stage[1], f->n, 0.5), at(f->stage[2], f->n, 0.5),
           at(f->stage[3], f->n, 0.5), f->per_second, at(f->launch, f->n, 0.5));
    fflush(stdout);
}

static void add_json(struct text *t, const struct figures *f)
{
    static const char *const stage[] = { "to_seen", "in_actor", "to_visible", "to_received" };
    text_add(t,
             "{\"bytes\":%u,\"messages\":%llu,\"us\":{\"p50\":%.3f,\"p99\":%.3f,\"p99.9\":%.3f,\"max\":%.3f},\"stages_"
             "p50_us\":{",
             8 + 8 * f->elements, (unsigned long long)f->n, at(f->trip, f->n, 0.5), at(f->trip, f->n, 0.99),
             at(f->trip, f->n, 0.999), at(f->trip, f->n, 1));
    for (u32 k = 0; k < STAGES; k++) text_add(t, "%s\"%s\":%.3f", k ? "," : "", stage[k], at(f->stage[k], f->n, 0.5));
    text_add(t, "},\"messages_per_second\":%.0f,\"launch_and_wait_us\":{\"p50\":%.3f,\"p99\":%.3f}}", f->per_second,
             at(f->launch, f->n, 0.5), at(f->launch, f->n, 0.99));
}

int ring_bench(struct ring_request *r)
{
    static const u32 elements[] = { 1, 10, 100, 1000, 8000 };
    lk_gpu *gpu = NULL;
    lk_module *module;
    struct text json = { 0 };
    struct error e = { 0 };
    bool quiet = r->json && !strcmp(r->json, "-");
    lk_status status = ring_suite_open(r, &gpu, &module);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(gpu));
    text_add(&json, "{\"device\":");
    text_json(&json, lk_gpu_title(gpu));
    text_add(&json, ",\"on\":\"%s\",\"rows\":[", r->on ? r->on : "sim");
    if (!quiet)
        printf(
            "%s%s, vector add, every answer checked; microseconds\n%8s %8s %8s %8s %8s  %7s %7s %7s %7s  %10s  %8s\n",
            r->on && strcmp(r->on, "sim") ? "" : "software GPU as an ", lk_gpu_title(gpu), "bytes", "p50", "p99",
            "p99.9", "max", "to seen", "actor", "written", "to host", "messages/s", "launch");
    int code = EXIT_CLEAN;
    for (u32 i = 0; i < COUNT_OF(elements) && code == EXIT_CLEAN; i++) {
        struct figures f = { .elements = elements[i], .n = r->messages };
        code = measure(r, gpu, module, &f);
        if (code != EXIT_CLEAN) break;
        if (!quiet) print_row(&f);
        if (i) text_add(&json, ",");
        add_json(&json, &f);
    }
    text_add(&json, "]}\n");
    if (code != EXIT_CLEAN)
        lk_gpu_interrupt(gpu);
    else if (r->json && !file_write(r->json, json.p, json.n, &e))
        code = cli_error_value(&e);
    text_free(&json);
    lk_gpu_destroy(gpu);
    return code;
}
