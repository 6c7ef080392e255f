/* lockstep ring --validate: whether ring kernels work here, on the software GPU or on a real one. Each line is a claim,
 * and what was seen when it does not hold. */
#include "base/embed.h"
#include "verbs/ring_bench.h"
#include <stdlib.h>

/* The PTX is part of the command, so that nothing has to be compiled or found. */
EMBED(ring_suite_ptx, "src/generated/vectors.ptx");

enum { MOST_HOST = 1000000 }; /* messages that the host sends through one queue */
enum { PAIR = 1, POINT = 2 }; /* numbers of the types in src/api/ring/vectors.h */
struct validated_pair {
    u32 count, scale;
};
struct point {
    float x, y;
    u32 tag[6];
};

lk_status ring_suite_open(const struct ring_request *r, lk_gpu **gpu, lk_module **module)
{
    lk_options o = { .size = sizeof o, .on = r->on, .device = r->device, .threads = (u32)r->workers };
    lk_status s = lk_gpu_create(&o, gpu);
    return s != LK_OK ? s
                      : lk_module_load(*gpu, "vectors.ptx", ring_suite_ptx,
                                       (size_t)(ring_suite_ptx_end - ring_suite_ptx), module);
}

void ring_suite_pair(u32 n, u64 *seed, struct arena *mem, lk_ring_message *m)
{
    u32 bytes = (u32)sizeof(struct validated_pair) + 8 * n;
    struct validated_pair *p = arena_alloc(mem, bytes, 16);
    float *a = (float *)(p + 1);
    p->count = n;
    for (u32 i = 0; i < 2 * n; i++) a[i] = (float)(rand_next(seed) % 4096);
    *m = (lk_ring_message){ .size = sizeof *m, .type = PAIR, .data = p, .bytes = bytes };
}

bool ring_suite_sum(u32 n, const lk_ring_message *sent, const lk_ring_message *response)
{
    const float *a = (const float *)((const struct validated_pair *)sent->data + 1), *sum = response->data;
    if (response->result != LK_RING_DONE || response->bytes != 4 * n || response->id != sent->id) return false;
    for (u32 i = 0; i < n; i++)
        if (sum[i] != a[i] + a[n + i]) return false;
    return true;
}

/* ---- claims ---- */

bool suite_wrong(struct suite *s, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(s->why, sizeof s->why, fmt, ap);
    va_end(ap);
    return false;
}
bool suite_said(struct suite *s, lk_status status)
{
    return status == LK_OK || suite_wrong(s, "%.380s", lk_ring_error(s->ring));
}

static bool start(struct suite *s, lk_ring_options o)
{
    double limit = s->r->seconds;
    o.size = sizeof o;
    o.module = s->module;
    if (!o.kernel) o.kernel = "vectors";
    s->ring = NULL;
    return suite_said(s, lk_ring_create(s->gpu, &o, &s->ring)) && suite_said(s, lk_ring_launch(s->ring, limit)) &&
           suite_said(s, lk_ring_activate(s->ring, limit));
}
static bool finish(struct suite *s)
{
    return suite_said(s, lk_ring_drain(s->ring, s->r->seconds)) &&
           suite_said(s, lk_ring_terminate(s->ring, s->r->seconds)) && suite_said(s, lk_ring_destroy(s->ring));
}

static bool add(struct suite *s, u32 n)
{
    struct arena mem = { 0 };
    lk_ring_message m, got = { .size = sizeof got };
    ring_suite_pair(n, &s->seed, &mem, &m);
    m.unit = lk_ring_unit_of(s->ring, "add");
    bool right = suite_said(s, lk_ring_ask(s->ring, &m, &got, s->r->seconds));
    if (right && !ring_suite_sum(n, &m, &got))
        right = suite_wrong(s, "the sum of %u elements is wrong (result %u, %u bytes)", n, got.result, got.bytes);
    arena_free(&mem);
    return right;
}

static bool vectors_of(struct suite *s, const char *kernel)
{
    if (!start(s, (lk_ring_options){ .kernel = kernel, .inline_bytes = 208, .instances = 2 })) return false;
    static const u32 sizes[] = { 10, 25, 100, 1, 0, 26, 1 << 17 };
    for (u32 i = 0; i < COUNT_OF(sizes); i++)
        if (!add(s, sizes[i])) return false;
    for (u32 i = 0; i < 8; i++)
        if (!add(s, (u32)(rand_next(&s->seed) % (2u << (2 * i))))) return false;
    return finish(s);
}
static bool vectors_block(struct suite *s) { return vectors_of(s, "vectors"); }
static bool vectors_warp(struct suite *s) { return vectors_of(s, "vectors_warp"); }

static bool one_thread(struct suite *s)
{
    return start(s, (lk_ring_options){ .threads = 1, .inbox_slots = 1, .outbox_slots = 1 }) && add(s, 10) &&
           add(s, 100) && finish(s);
}

/* `count` points through queues of so many slots: in order, none lost, none twice. */
static bool through(struct suite *s, u32 slots, u64 count)
{
    if (!start(s, (lk_ring_options){ .inbox_slots = slots, .outbox_slots = slots, .threads = 1 })) return false;
    u32 unit = lk_ring_unit_of(s->ring, "mirror");
    u64 sent = 0, got = 0;
    while (got < count) {
        while (sent < count) {
            struct point p = { .x = (float)(sent % 1000) };
            lk_ring_message m = {
                .size = sizeof m, .unit = unit, .type = POINT, .id = sent + 1, .data = &p, .bytes = sizeof p
            };
            lk_status status = lk_ring_send(s->ring, &m, sent == got ? s->r->seconds : 0);
            if (status == LK_NOT_READY && sent > got) break;
            if (!suite_said(s, status)) return false;
            sent++;
        }
        lk_ring_message m = { .size = sizeof m };
        if (!suite_said(s, lk_ring_receive(s->ring, &m, s->r->seconds))) return false;
        if (m.id != ++got || m.sequence != got || m.bytes != sizeof(struct point) ||
            ((const struct point *)m.data)->x != -(float)((got - 1) % 1000))
            return suite_wrong(s, "message %llu: id %llu, number %llu", (unsigned long long)got,
                               (unsigned long long)m.id, (unsigned long long)m.sequence);
    }
    return finish(s);
}
static bool queues(struct suite *s)
{
    static const u32 slots[] = { 1, 2, 255, 256, 4096 };
    for (u32 i = 0; i < COUNT_OF(slots); i++)
        if (!through(s, slots[i], MIN_OF(s->r->messages, (u64)1000))) return false;
    return true;
}
static bool many(struct suite *s) { return through(s, 256, MIN_OF(s->r->messages, (u64)MOST_HOST)); }

/* From warp to warp on the device: more than the host could look at. */
static bool many_on_device(struct suite *s)
{
    struct bench b = { .mem = &s->r->mem,
                       .gpu = s->gpu,
                       .seconds = s->r->seconds,
                       .on_gpu = s->r->on && strcmp(s->r->on, "sim"),
                       .verbose = s->r->common.verbose };
    if (ring_pairs_load(s->gpu, &b.pairs) != LK_OK) return suite_wrong(s, "%.380s", lk_gpu_error(s->gpu));
    if (ring_bench_card(&b) != EXIT_CLEAN || ring_bench_flood(&b, s->r->messages) != EXIT_CLEAN)
        return suite_wrong(s, "the error says what");
    return b.flood_messages >= s->r->messages || suite_wrong(s, "%llu messages", (unsigned long long)b.flood_messages);
}

static bool expect_value(struct suite *s, const char *call, lk_status is, lk_status wanted)
{
    return is == wanted ||
           suite_wrong(s, "%s gives %d, not %d: %.300s", call, (int)is, (int)wanted, lk_ring_error(s->ring));
}
static bool orders(struct suite *s)
{
    lk_ring_options o = { .size = sizeof o, .module = s->module, .kernel = "vectors" };
    if (!suite_said(s, lk_ring_create(s->gpu, &o, &s->ring))) return false;
    lk_ring *r = s->ring;
    double limit = s->r->seconds;
#define WRONG_ORDER(call) expect_value(s, #call, lk_ring_##call(r, limit), LK_BAD_INPUT)
#define RIGHT_ORDER(call) expect_value(s, #call, lk_ring_##call(r, limit), LK_OK)
    return WRONG_ORDER(activate) && WRONG_ORDER(deactivate) && WRONG_ORDER(drain) && WRONG_ORDER(terminate) &&
           RIGHT_ORDER(launch) && WRONG_ORDER(launch) && WRONG_ORDER(deactivate) && WRONG_ORDER(drain) &&
           RIGHT_ORDER(activate) && WRONG_ORDER(activate) && RIGHT_ORDER(deactivate) && WRONG_ORDER(deactivate) &&
           RIGHT_ORDER(activate) && RIGHT_ORDER(drain) && WRONG_ORDER(activate) && RIGHT_ORDER(terminate) &&
           WRONG_ORDER(terminate) && WRONG_ORDER(launch) && suite_said(s, lk_ring_destroy(r));
}

static bool full(struct suite *s)
{
    lk_ring_options o = { .inbox_slots = 4, .outbox_slots = 1 };
    struct point p = { 0 };
    lk_ring_message m = { .size = sizeof m, .unit = 1, .type = POINT, .data = &p, .bytes = sizeof p };
    lk_ring_letter letter;
    if (!start(s, o)) return false;
    lk_status status = LK_OK;
    for (u32 i = 0; i < 20 && status == LK_OK; i++) status = lk_ring_send(s->ring, &m, 0.02);
    return expect_value(s, "send into a full queue", status, LK_NOT_READY) &&
           expect_value(s, "drain after a slow consumer", lk_ring_drain(s->ring, 0.02), LK_NOT_READY) &&
           suite_said(s, lk_ring_terminate(s->ring, s->r->seconds)) &&
           expect_value(s, "dead letters", lk_ring_letter_take(s->ring, &letter), LK_OK) &&
           suite_said(s, lk_ring_destroy(s->ring));
}

int ring_validate(struct ring_request *r)
{
    static const struct {
        const char *claim;
        bool (*holds)(struct suite *s);
    } claims[] = {
        { "life cycle: legal orders work, others are refused", orders },
        { "vector add by blocks: 10, 25 and 100 elements, random sizes, a megabyte", vectors_block },
        { "vector add by warps: the same", vectors_warp },
        { "one block of one thread, queues of one slot", one_thread },
        { "queues of 1, 2, 255, 256 and 4096 slots: in order, none lost, none twice", queues },
        { "messages between units: chains of many hops, copied and by reference, every answer once and in order",
          ring_mail_chains },
        { "messages between units: from one to all and from all to one, mailboxes of one slot", ring_mail_spread },
        { "messages between units: the same with several workers, delays, and all processors busy", ring_mail_load },
        { "full queues, a slow consumer, terminate under load", full },
        { "many messages through one queue of the host: in order, none lost, none twice", many },
        { "many messages between warps of the device: the same", many_on_device },
    };
    struct suite s = { .r = r, .seed = r->seed };
    struct text json = { 0 };
    lk_status status = ring_suite_open(r, &s.gpu, &s.module);
    if (status != LK_OK) return cli_error_status(status, lk_gpu_error(s.gpu));
    u32 bad = 0;
    bool quiet = r->json && !strcmp(r->json, "-");
    text_add(&json, "{\"device\":");
    text_json(&json, lk_gpu_title(s.gpu));
    text_add(&json, ",\"messages\":%llu,\"claims\":[", (unsigned long long)r->messages);
    for (u32 i = 0; i < COUNT_OF(claims); i++) {
        s.why[0] = 0;
        bool holds = claims[i].holds(&s);
        if (holds && lk_report_errors(s.gpu))
            holds = suite_wrong(&s, "%u findings of the checks", lk_report_errors(s.gpu));
        bad += !holds;
        if (!quiet) printf("%s  %s%s%s\n", holds ? "ok" : "--", claims[i].claim, holds ? "" : ": ", s.why);
        if (!quiet) fflush(stdout);
        text_add(&json, "%s{\"claim\":", i ? "," : "");
        text_json(&json, claims[i].claim);
        text_add(&json, ",\"holds\":%s,\"seen\":", holds ? "true" : "false");
        text_json(&json, s.why);
        text_add(&json, "}");
        if (!holds) break; /* its ring may still run */
    }
    text_add(&json, "],\"failed\":%u}\n", bad);
    if (lk_report_errors(s.gpu)) {
        char *report = lk_report_text(s.gpu, cli_color(&r->common));
        cli_put(stderr, report, strlen(report));
        lk_text_free(report);
    }
    struct error e = { 0 };
    bool written = !r->json || file_write(r->json, json.p, json.n, &e);
    text_free(&json);
    if (bad) lk_gpu_interrupt(s.gpu);
    lk_gpu_destroy(s.gpu);
    if (!written) return cli_error_value(&e);
    return bad ? EXIT_FINDINGS : EXIT_CLEAN;
}
