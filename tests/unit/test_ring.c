/* Ring kernels (docs/reference/ring.md) on the software GPU: life cycle, messages of all sizes, queues of all sizes,
 * policies, routes, topics, and what goes wrong. test_ring N: N messages instead of some hundred; test_ring N gpu: on a
 * GPU. */
#include "../cases/ring/actors.h"
#include "ring/vectors.h"
#include "base/base.h"
#include "unit.h"
#include <execinfo.h>
#include <lockstep_ring.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static lk_gpu *gpu;
static lk_module *module;
static const char *on;
static const double LONG = 60; /* seconds: longer than any of this takes on a busy machine */
static bool says;              /* each step is named before it begins: on a card one that hangs is known by its name */

static void step(const char *name)
{
    if (says) fprintf(stderr, "%s\n", name);
}
/* A fault of the process, which may be the driver's: where it was. */
static void faulted(int number)
{
    void *frame[64];
    static const char text[] = "a fault of the process\n";
    if (write(2, text, sizeof text - 1) > 0) backtrace_symbols_fd(frame, backtrace(frame, 64), 2);
    _exit(128 + number);
}

#define OK(call) UNIT_EQ_STR((call) == LK_OK ? "" : lk_ring_error(NULL), "")
#define FAILS(call, status, part)            \
    do {                                     \
        UNIT_EQ(call, status);               \
        UNIT_HAS(lk_ring_error(NULL), part); \
    } while (0)

static void open_file(const char *file)
{
    lk_options o = { .size = sizeof o, .threads = 1, .on = on };
    char path[1024];
    snprintf(path, sizeof path, "%s/%s/%s", getenv("TOP") ? getenv("TOP") : ".",
             !strcmp(file, "vectors.ptx") ? "src/generated" : "tests/cases/ring", file);
    UNIT_EQ(lk_gpu_create(&o, &gpu), LK_OK);
    UNIT_EQ(lk_module_load_file(gpu, path, &module), LK_OK);
}

static void close_all(void)
{
    UNIT_EQ(lk_report_errors(gpu), 0);
    if (lk_report_errors(gpu)) puts(lk_report_text(gpu, 0));
    lk_gpu_destroy(gpu);
}

static lk_ring *create(lk_ring_options o)
{
    lk_ring *r = NULL;
    o.size = sizeof o;
    o.module = module;
    OK(lk_ring_create(gpu, &o, &r));
    if (!r) exit(unit_done() + 1);
    return r;
}
static lk_ring *start(lk_ring_options o)
{
    lk_ring *r = create(o);
    OK(lk_ring_launch(r, LONG));
    OK(lk_ring_activate(r, LONG));
    return r;
}
static void finish(lk_ring *r)
{
    OK(lk_ring_terminate(r, LONG));
    OK(lk_ring_destroy(r));
}

static lk_status send_number(lk_ring *r, u32 unit, u32 value, double seconds)
{
    struct number n = { .value = value };
    lk_ring_message m = { .size = sizeof m, .unit = unit, .type = number_number, .data = &n, .bytes = sizeof n };
    return lk_ring_send(r, &m, seconds);
}
static struct number receive_number(lk_ring *r)
{
    lk_ring_message m = { .size = sizeof m };
    OK(lk_ring_receive(r, &m, LONG));
    struct number n = { 0 };
    UNIT_EQ(m.bytes, sizeof n);
    if (m.bytes == sizeof n) memcpy(&n, m.data, sizeof n);
    return n;
}

static void life(void)
{
    open_file("vectors.ptx");
    lk_ring *r = create((lk_ring_options){ .kernel = "vectors" });
    lk_ring_message m = { .size = sizeof m }, got = { .size = sizeof got };
    FAILS(lk_ring_activate(r, 1), LK_BAD_INPUT, "activate: the ring is created");
    FAILS(lk_ring_deactivate(r, 1), LK_BAD_INPUT, "deactivate: the ring is created");
    FAILS(lk_ring_drain(r, 1), LK_BAD_INPUT, "drain: the ring is created");
    FAILS(lk_ring_terminate(r, 1), LK_BAD_INPUT, "terminate: the ring is created");
    FAILS(lk_ring_send(r, &m, 0), LK_BAD_INPUT, "send: the ring is created");
    FAILS(lk_ring_receive(r, &got, 0), LK_BAD_INPUT, "receive: the ring is created");
    FAILS(lk_ring_ping(r, 0), LK_BAD_INPUT, "ping: the ring is created");
    OK(lk_ring_launch(r, LONG));
    FAILS(lk_ring_launch(r, 1), LK_BAD_INPUT, "launch: the ring is launched");
    FAILS(lk_ring_deactivate(r, 1), LK_BAD_INPUT, "deactivate: the ring is launched");
    FAILS(lk_ring_drain(r, 1), LK_BAD_INPUT, "drain: the ring is launched");
    FAILS(lk_ring_destroy(r), LK_NOT_READY, "its kernel runs");
    /* a message that is sent before the ring is active waits */
    struct point p = { .x = 1, .y = -2, .tag = { 1, 2, 3, 4, 5, 6 } };
    m = (lk_ring_message){
        .size = sizeof m, .unit = lk_ring_unit_of(r, "mirror"), .type = point_number, .data = &p, .bytes = sizeof p
    };
    OK(lk_ring_send(r, &m, 0));
    FAILS(lk_ring_receive(r, &got, 0.01), LK_NOT_READY, "1 not taken yet wait in vectors.mirror.0.point.in");
    OK(lk_ring_activate(r, LONG));
    FAILS(lk_ring_activate(r, 1), LK_BAD_INPUT, "activate: the ring is active");
    OK(lk_ring_receive(r, &got, LONG));
    const struct point *q = got.data;
    UNIT(got.id == m.id && got.bytes == sizeof p && q->x == -1 && q->y == 2 && q->tag[0] == 2 && q->tag[5] == 7);
    OK(lk_ring_ping(r, LONG));
    OK(lk_ring_deactivate(r, LONG));
    FAILS(lk_ring_deactivate(r, 1), LK_BAD_INPUT, "deactivate: the ring is inactive");
    OK(lk_ring_activate(r, LONG));
    OK(lk_ring_drain(r, LONG));
    OK(lk_ring_drain(r, LONG));
    FAILS(lk_ring_send(r, &m, 0), LK_BAD_INPUT, "send: the ring is draining");
    FAILS(lk_ring_activate(r, 1), LK_BAD_INPUT, "activate: the ring is draining");
    OK(lk_ring_terminate(r, LONG));
    FAILS(lk_ring_terminate(r, 1), LK_BAD_INPUT, "terminate: the ring is terminated");
    FAILS(lk_ring_receive(r, &got, 0), LK_NOTHING, "all responses have been received");
    OK(lk_ring_destroy(r));
    /* launched and ended at once */
    r = create((lk_ring_options){ .kernel = "vectors_warp", .instances = 3 });
    OK(lk_ring_launch(r, LONG));
    finish(r);
    OK(lk_ring_destroy(create((lk_ring_options){ .kernel = "vectors" })));
    close_all();
}

/* What lk_ring_create refuses, each with its limit. */
static void refusals(void)
{
    lk_ring *r;
    open_file("vectors.ptx");
#define REFUSED(part, ...)                                                                            \
    do {                                                                                              \
        lk_ring_options o = { .size = sizeof o, .module = module, .kernel = "vectors", __VA_ARGS__ }; \
        FAILS(lk_ring_create(gpu, &o, &r), LK_BAD_INPUT, part);                                       \
    } while (0)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#if defined __clang__
#pragma GCC diagnostic ignored "-Winitializer-overrides"
#endif
    REFUSED("nothing", .kernel = "nothing");
    REFUSED("has at most 1024", .threads = 1025);
    REFUSED("holds 264 of them at a time, by its warps", .threads = 1024, .instances = 200);
    REFUSED("a ring has at most 1024", .instances = 600);
    REFUSED("mail_policy is 2", .mail_policy = LK_RING_REFUSE);
    REFUSED("the most is 1048576", .inline_bytes = 2 << 20);
    REFUSED("the kernel has no actor addition", .route = &(lk_ring_route){ "add", "addition" }, .routes = 1);
    const char *const names[] = { "subtract" };
    REFUSED("topic 0: the kernel has no actor subtract", .topic = &(lk_ring_topic){ names, 1 }, .topics = 1);
    /* layouts: a struct of 64 bytes here against 32 there, a field elsewhere, of another size, too many, none at all */
    struct lk_ring_row row[5], *rows[] = { row };
    const struct lk_ring_row *const *types = (const struct lk_ring_row *const *)rows;
    memcpy(row, lk_ring_layout_point, sizeof row);
    row[0].size = 64;
    REFUSED("message point is 64 bytes (aligned to 4) on the host and 32 (aligned to 4) on the device", .type = types,
            .types = 1);
    row[0].size = 32;
    row[2].offset = 8;
    REFUSED("field y is 4 bytes at offset 8 on the host, 4 bytes at offset 4 on the device", .type = types, .types = 1);
    row[2].offset = 4;
    row[3].last = 1;
    REFUSED("field tag is known to the device only", .type = types, .types = 1);
    memcpy(row, lk_ring_layout_point, sizeof row);
    row[0].offset = 9;
    REFUSED("has the number 9 on the host and 2 on the device", .type = types, .types = 1);
    row[0].name[0] = 'j';
    REFUSED("the module has no layout of it", .type = types, .types = 1);
#pragma GCC diagnostic pop
    close_all();
}

/* The sum of two vectors, checked; rooms as the message says. */
static void add(lk_ring *r, u32 n, u64 *seed)
{
    u32 bytes = (u32)sizeof(struct vector_pair) + 8 * n;
    struct vector_pair *pair = base_need(bytes);
    float *a = (float *)(pair + 1), *b = a + n;
    pair->count = n;
    for (u32 i = 0; i < n; i++) {
        a[i] = (float)(rand_next(seed) % 1000);
        b[i] = (float)(rand_next(seed) % 1000);
    }
    lk_ring_message m = { .size = sizeof m,
                          .unit = lk_ring_unit_of(r, "add"),
                          .type = vector_pair_number,
                          .data = pair,
                          .bytes = bytes },
                    got = { .size = sizeof got };
    OK(lk_ring_ask(r, &m, &got, LONG));
    const float *sum = got.data;
    bool right = got.bytes == 4 * n && got.result == LK_RING_DONE;
    for (u32 i = 0; right && i < n; i++) right = sum[i] == a[i] + b[i];
    UNIT(right);
    base_free(pair);
}

static void sizes(const char *kernel)
{
    u64 seed = 7;
    open_file("vectors.ptx");
    const struct lk_ring_row *types[] = { lk_ring_layout_vector_pair, lk_ring_layout_point };
    lk_ring *r = start((lk_ring_options){ .kernel = kernel,
                                          .instances = 2,
                                          .inline_bytes = 208,
                                          .type = types,
                                          .types = 2,
                                          .cooperative = 1,
                                          .probe = 1 });
    add(r, 10, &seed); /* inline */
    add(r, 25, &seed); /* as much as is inline */
    add(r, 26, &seed); /* by reference, the response inline */
    add(r, 100, &seed);
    add(r, 0, &seed);
    add(r, 1 << 17, &seed); /* a megabyte */
    for (u32 i = 0; i < 6; i++) add(r, (u32)(rand_next(&seed) % (1 << (7 + i))), &seed);
    OK(lk_ring_drain(r, LONG));
    finish(r);
    close_all();
}

/* `count` messages through queues of so many slots, in order, none lost and none twice. */
/* Every place that a payload can lie in, both ways: the first line of words, more words, behind the words, device
 * memory with and without the payload in words; for units of part of a warp, a warp and several. A size follows
 * another one, so that a unit which looks at more words than a line finds fewer, and the other way round. */
static void places(void)
{
    static const u32 inlined[] = { 8, 40, 100, 256, 1000 }, threads[] = { 1, 20, 32, 64 },
                     n[] = { 0, 1, 3, 4, 9, 1, 10, 30, 31, 32, 2, 60, 61, 123, 124, 125, 5 };
    u64 seed = 11;
    open_file("vectors.ptx");
    for (u32 i = 0; i < COUNT_OF(inlined); i++)
        for (u32 k = 0; k < COUNT_OF(threads); k++) {
            lk_ring *r = start((lk_ring_options){ .kernel = "vectors",
                                                  .inline_bytes = inlined[i],
                                                  .threads = threads[k],
                                                  .inbox_slots = 3,
                                                  .outbox_slots = 3 });
            for (u32 j = 0; j < COUNT_OF(n); j++) add(r, n[j], &seed);
            /* the payload is inline, and its response would have room elsewhere */
            u32 pair[2] = { 0 };
            lk_ring_message m = { .size = sizeof m,
                                  .type = vector_pair_number,
                                  .data = pair,
                                  .bytes = sizeof pair,
                                  .room_bytes = 5000 },
                            got = { .size = sizeof got };
            OK(lk_ring_ask(r, &m, &got, LONG));
            UNIT(got.bytes == 0 && got.result == LK_RING_DONE);
            OK(lk_ring_drain(r, LONG));
            finish(r);
        }
    close_all();
}

static void through(lk_ring *r, u32 unit, u32 count)
{
    u32 sent = 0, got = 0;
    bool right = true;
    while (got < count && right) {
        while (sent < count) {
            struct point p = { .x = (float)sent };
            lk_ring_message m = {
                .size = sizeof m, .unit = unit, .type = point_number, .id = sent + 1, .data = &p, .bytes = sizeof p
            };
            /* a slot is free again only behind the release of its response, so the first of all waits */
            if (lk_ring_send(r, &m, sent == got ? LONG : 0) != LK_OK) break;
            sent++;
        }
        lk_ring_message m = { .size = sizeof m };
        right = lk_ring_receive(r, &m, LONG) == LK_OK && m.id == ++got && m.sequence == got &&
                m.bytes == sizeof(struct point) && ((const struct point *)m.data)->x == -(float)(got - 1);
    }
    UNIT(right);
    if (!right) puts(lk_ring_error(r));
}

static void queues(u32 count)
{
    static const u32 slots[] = { 1, 2, 255, 256, 4096 };
    open_file("vectors.ptx");
    for (u32 i = 0; i < COUNT_OF(slots); i++) {
        lk_ring *r = start(
            (lk_ring_options){ .kernel = "vectors", .threads = 1, .inbox_slots = slots[i], .outbox_slots = slots[i] });
        lk_ring_info info = { .size = sizeof info };
        lk_ring_queue_info q = { .size = sizeof q };
        through(r, lk_ring_unit_of(r, "mirror"), i < 2 ? count / 2 : count);
        OK(lk_ring_drain(r, LONG));
        OK(lk_ring_inspect(r, &info));
        OK(lk_ring_queue(r, 3, &q));
        UNIT_EQ_STR(q.name, "vectors.mirror.0.point.in");
        UNIT(q.sent == q.received + q.depth + q.dropped && q.high <= slots[i] && q.bytes < 8 << 20);
        UNIT_EQ(info.sent, info.received);
        finish(r);
    }
    close_all();
}

static void policies(void)
{
    open_file("vectors.ptx");
    struct point p = { 0 };
    lk_ring_message m = { .size = sizeof m, .unit = 1, .type = point_number, .data = &p, .bytes = sizeof p };
    lk_ring_letter letter;
    lk_ring_queue_info q = { .size = sizeof q };
    /* refused: the host is told */
    lk_ring *r = create((lk_ring_options){ .kernel = "vectors", .inbox_slots = 2, .inbox_policy = LK_RING_REFUSE });
    OK(lk_ring_launch(r, LONG));
    for (u32 i = 0; i < 2; i++) OK(lk_ring_send(r, &m, 0));
    FAILS(lk_ring_send(r, &m, LONG), LK_NOT_READY, "vectors.mirror.0.point.in is full (2 messages)");
    lk_ring_info info = { .size = sizeof info };
    OK(lk_ring_inspect(r, &info));
    UNIT_EQ_STR(info.last_error, "send: vectors.mirror.0.point.in is full (2 messages)");
    OK(lk_ring_queue_find(r, "vectors.mirror.0.point.in", &q));
    UNIT(q.depth == 2 && q.capacity == 2);
    FAILS(lk_ring_queue_find(r, "vectors.mirror.1.point.in", &q), LK_NOTHING, "there is no queue");
    /* what is left becomes dead letters */
    OK(lk_ring_terminate(r, LONG));
    for (u32 i = 0; i < 2; i++) {
        OK(lk_ring_letter_take(r, &letter));
        UNIT_EQ_STR(letter.why, "not taken before the end");
        UNIT_EQ_STR(letter.queue, "vectors.mirror.0.point.in");
    }
    FAILS(lk_ring_letter_take(r, &letter), LK_NOTHING, "no dead letters");
    OK(lk_ring_destroy(r));
    /* dropped and counted, with a letter; the numbers of the others have a gap */
    r = create((lk_ring_options){ .kernel = "vectors", .inbox_slots = 2, .inbox_policy = LK_RING_DROP });
    OK(lk_ring_launch(r, LONG));
    for (u32 i = 0; i < 5; i++) OK(lk_ring_send(r, &m, 0));
    OK(lk_ring_letter_take(r, &letter));
    UNIT_EQ_STR(letter.why, "inbox full");
    OK(lk_ring_activate(r, LONG));
    OK(lk_ring_drain(r, LONG));
    OK(lk_ring_queue(r, 3, &q));
    UNIT(q.sent == 5 && q.received == 2 && q.dropped == 3 && !q.depth);
    finish(r);
    /* a unit that drops responses */
    r = start((lk_ring_options){ .kernel = "vectors", .outbox_slots = 2, .respond_policy = LK_RING_DROP });
    for (u32 i = 0; i < 5; i++) OK(lk_ring_send(r, &m, 0));
    OK(lk_ring_drain(r, LONG));
    OK(lk_ring_queue(r, 4, &q));
    UNIT(q.sent == 5 && q.placed == 2 && q.dropped == 3 && q.depth == 2);
    finish(r);
    /* one that waits, and is ended while it waits: a slow consumer, terminate under load */
    r = start((lk_ring_options){ .kernel = "vectors", .outbox_slots = 1, .inbox_slots = 4 });
    for (u32 i = 0; i < 4; i++) OK(lk_ring_send(r, &m, LONG));
    FAILS(lk_ring_drain(r, 0.05), LK_NOT_READY, "waits for room in vectors.mirror.0.point.out");
    OK(lk_ring_ping(r, LONG));
    OK(lk_ring_terminate(r, LONG));
    OK(lk_ring_letter_take(r, &letter));
    lk_ring_message got = { .size = sizeof got };
    OK(lk_ring_receive(r, &got, 0)); /* what was answered can still be read */
    FAILS(lk_ring_receive(r, &got, 0), LK_NOTHING, "terminated");
    OK(lk_ring_destroy(r));
    close_all();
}

/* Threads that send, receive and look at once: every message arrives once. */
enum { SENDERS = 3, RECEIVERS = 2, EACH = 40 };
struct crowd {
    lk_ring *ring;
    u32 number, got; /* of a sender; atomic: messages received by all */
    u32 seen[SENDERS][EACH];
};
static void *sender(void *self)
{
    struct crowd *c = self;
    u32 number = __atomic_fetch_add(&c->number, 1, __ATOMIC_RELAXED);
    for (u32 i = 0; i < EACH; i++) {
        struct point p = { .x = (float)i };
        lk_ring_message m = { .size = sizeof m, .unit = 1, .type = point_number, .id = number * EACH + i + 1 };
        m.data = &p;
        m.bytes = sizeof p;
        OK(lk_ring_send(c->ring, &m, LONG));
    }
    return NULL;
}
static void *receiver(void *self)
{
    struct crowd *c = self;
    while (__atomic_load_n(&c->got, __ATOMIC_ACQUIRE) < SENDERS * EACH) {
        lk_ring_message m = { .size = sizeof m };
        if (lk_ring_receive(c->ring, &m, 0.01) != LK_OK) continue;
        u32 k = (u32)(m.id - 1);
        __atomic_fetch_add(&c->seen[k / EACH][k % EACH], 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&c->got, 1, __ATOMIC_RELEASE);
    }
    return NULL;
}
static void *watcher(void *self)
{
    struct crowd *c = self;
    while (__atomic_load_n(&c->got, __ATOMIC_ACQUIRE) < SENDERS * EACH) {
        lk_text_free(lk_ring_json(c->ring));
        lk_ring_ping(c->ring, 1);
        thread_sleep_us(1000);
    }
    return NULL;
}
static void threads(void)
{
    open_file("vectors.ptx");
    lk_ring *r = start((lk_ring_options){ .kernel = "vectors", .inbox_slots = 8, .outbox_slots = 8 });
    struct crowd crowd = { .ring = r };
    pthread_t all[SENDERS + RECEIVERS + 1];
    u32 n = 0;
    for (u32 i = 0; i < SENDERS; i++) pthread_create(&all[n++], NULL, sender, &crowd);
    for (u32 i = 0; i < RECEIVERS; i++) pthread_create(&all[n++], NULL, receiver, &crowd);
    pthread_create(&all[n++], NULL, watcher, &crowd);
    while (n) pthread_join(all[--n], NULL);
    bool once = true;
    for (u32 i = 0; i < SENDERS * EACH; i++) once &= crowd.seen[i / EACH][i % EACH] == 1;
    UNIT(once);
    OK(lk_ring_drain(r, LONG));
    finish(r);
    close_all();
}

/* Asks of several threads at once: each gets the response to its own message. */
enum { ASKERS = 4, ASKS = 50 };
struct asker {
    lk_ring *ring;
    u32 first, wrong;
};
static void *asker(void *self)
{
    struct asker *a = self;
    for (u32 i = 0; i < ASKS; i++) {
        struct number n = { .value = a->first + i };
        lk_ring_message m = { .size = sizeof m,
                              .unit = lk_ring_unit_of(a->ring, "twice"),
                              .type = number_number,
                              .data = &n,
                              .bytes = sizeof n },
                        got = { .size = sizeof got };
        struct number answer = { 0 };
        bool ok = lk_ring_ask(a->ring, &m, &got, LONG) == LK_OK && got.id == m.id && got.bytes == sizeof answer;
        if (ok) memcpy(&answer, got.data, sizeof answer);
        a->wrong += !ok || answer.value != 2 * n.value;
    }
    return NULL;
}
static void asks(void)
{
    open_file("actors.ptx");
    lk_ring *r = start((lk_ring_options){ .kernel = "zoo", .mail_slots = 2 });
    struct asker a[ASKERS];
    pthread_t thread[ASKERS];
    for (u32 i = 0; i < ASKERS; i++) {
        a[i] = (struct asker){ r, 1000 * i, 0 };
        pthread_create(&thread[i], NULL, asker, &a[i]);
    }
    for (u32 i = 0; i < ASKERS; i++) {
        pthread_join(thread[i], NULL);
        UNIT_EQ(a[i].wrong, 0);
    }
    u32 page = (u32)page_size();
    u8 *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(two + page, page);
    lk_ring_message beyond = { .size = sizeof beyond,
                               .unit = lk_ring_unit_of(r, "twice"),
                               .type = number_number,
                               .data = two + page - 8,
                               .bytes = 16 };
    FAILS(lk_ring_send(r, &beyond, 0), LK_BAD_INPUT,
          "send: message.bytes is 16, and only 8 bytes can be read at message.data");
    munmap(two, page);
    finish(r);
    close_all();
}

static void routes(void)
{
    open_file("actors.ptx");
    static const char *const hear[] = { "relay", "twice" };
    const lk_ring_route route[] = { { "relay", "twice" } };
    const lk_ring_topic topic = { hear, 2 };
    lk_ring *r = start((lk_ring_options){
        .kernel = "zoo", .route = route, .routes = 1, .topic = &topic, .topics = 1, .mail_slots = 2 });
    u32 relay = lk_ring_unit_of(r, "relay"), herald = lk_ring_unit_of(r, "herald");
    for (u32 i = 0; i < 20; i++) OK(send_number(r, relay, i, LONG));
    for (u32 i = 0; i < 20; i++) {
        struct number n = receive_number(r);
        UNIT(n.value == 2 * i && n.hops == 2);
    }
    /* the herald's message comes back twice from the last actor: directly, and by the relay */
    OK(send_number(r, herald, 50, LONG));
    u32 hundreds = 0, told = 0;
    for (u32 i = 0; i < 3; i++) {
        struct number n = receive_number(r);
        hundreds += n.value == 100;
        told += n.value == 2;
    }
    UNIT(hundreds == 2 && told == 1);
    OK(lk_ring_drain(r, LONG));
    lk_ring_queue_info q = { .size = sizeof q };
    OK(lk_ring_queue(r, 3 * lk_ring_unit_of(r, "twice") + 2, &q));
    UNIT_EQ_STR(q.name, "zoo.twice.0.number.mail");
    UNIT(q.sent == 22 && q.received == 22 && !q.dropped && !q.missing && !q.depth);
    finish(r);
    close_all();
}

/* Payloads that are not copied: mail and a topic by reference to device memory, beyond what is inline. */
static void loans(void)
{
    enum { ADDERS = 2, EACH = 1024 };
    static const char *const hear[] = { "adder" };
    const lk_ring_topic topic = { hear, 1 };
    open_file("actors.ptx");
    lk_ring *r = start((lk_ring_options){
        .kernel = "zoo", .instances = ADDERS, .topic = &topic, .topics = 1, .threads = 64, .inline_bytes = 64 });
    u32 lender = lk_ring_unit_of(r, "lender"), adder = lk_ring_unit_of(r, "adder");
    for (u32 round = 1; round < 6; round++) {
        bool all = round % 2;
        struct number n = { .value = round, .hops = all ? 99 : adder };
        lk_ring_message m = { .size = sizeof m, .unit = lender, .type = number_number, .data = &n, .bytes = sizeof n };
        OK(lk_ring_send(r, &m, LONG));
        u32 lent = 0, added = 0, others = 0;
        for (u32 i = 0; i < (all ? ADDERS : 1u) + 1; i++) {
            n = receive_number(r);
            lent += !n.hops && n.value == (all ? ADDERS : 1u);
            added += n.hops && n.value == EACH * round + EACH * (EACH - 1) / 2;
            others += n.hops > 1;
        }
        UNIT(lent == 1 && added == (all ? ADDERS : 1u) && !others);
    }
    OK(lk_ring_drain(r, LONG));
    finish(r);
    close_all();
}

/* Several rings of one gpu run side by side, and one is destroyed while the others run. */
static void several(void)
{
    enum { RINGS = 8 };
    lk_ring *r[RINGS];
    open_file("actors.ptx");
    for (u32 i = 0; i < RINGS; i++) r[i] = start((lk_ring_options){ .kernel = "zoo" });
    for (u32 round = 0; round < 3; round++) {
        for (u32 i = 0; i < RINGS; i++) OK(send_number(r[i], lk_ring_unit_of(r[i], "twice"), i + round, LONG));
        for (u32 i = 0; i < RINGS; i++) UNIT_EQ(receive_number(r[i]).value, 2 * (i + round));
    }
    for (u32 i = 0; i < RINGS; i += 2) finish(r[i]);
    r[0] = start((lk_ring_options){ .kernel = "zoo", .name = "again" });
    for (u32 i = 0; i < RINGS; i = i ? i + 2 : 1) {
        OK(send_number(r[i], lk_ring_unit_of(r[i], "twice"), 40 + i, LONG));
        UNIT_EQ(receive_number(r[i]).value, 2 * (40 + i));
        finish(r[i]);
    }
    close_all();
}

static void failures(void)
{
    lk_ring_message got = { .size = sizeof got };
    lk_ring_letter letter;
    lk_ring_unit_info unit = { .size = sizeof unit };
    open_file("actors.ptx");
    lk_ring *r = start((lk_ring_options){ .kernel = "zoo", .threads = 64 });
    u32 touchy = lk_ring_unit_of(r, "touchy"), leaver = lk_ring_unit_of(r, "leaver"),
        sticky = lk_ring_unit_of(r, "sticky");
    /* a poison message names itself */
    OK(send_number(r, touchy, 13, LONG));
    OK(lk_ring_receive(r, &got, LONG));
    UNIT(got.result == LK_RING_USER + 4 && !got.bytes);
    OK(lk_ring_letter_take(r, &letter));
    UNIT_EQ_STR(letter.why, "result 20 of the actor");
    UNIT_EQ_STR(letter.queue, "zoo.touchy.0.number.out");
    lk_ring_message wrong = { .size = sizeof wrong, .unit = touchy, .type = 77, .data = "12345678", .bytes = 8 };
    OK(lk_ring_ask(r, &wrong, &got, LONG));
    UNIT_EQ(got.result, LK_RING_WRONG_TYPE);
    wrong.type = number_number;
    wrong.bytes = 4;
    wrong.id = 0;
    OK(lk_ring_ask(r, &wrong, &got, LONG));
    UNIT_EQ(got.result, LK_RING_TOO_SHORT);
    FAILS(lk_ring_send(r, &(lk_ring_message){ .size = sizeof got, .unit = 8 }, 0), LK_BAD_INPUT,
          "there is no unit 8; the ring has 8");
    step("  an actor leaves");
    /* an actor that left after its first message */
    OK(send_number(r, leaver, 1, LONG));
    OK(lk_ring_receive(r, &got, LONG));
    do OK(lk_ring_unit(r, leaver, &unit));
    while (unit.phase != LK_RING_LEFT);
    FAILS(send_number(r, leaver, 2, 0), LK_BAD_INPUT, "unit zoo.leaver.0 has left by itself after 1 messages");
    OK(lk_ring_ping(r, LONG));
    step("  threads of a unit do not meet");
    /* a unit whose threads do not meet, told from one that is busy */
    OK(send_number(r, sticky, 1, LONG));
    OK(send_number(r, sticky, 2, LONG));
    do OK(lk_ring_unit(r, sticky, &unit));
    while (unit.phase != LK_RING_BARRIER);
    FAILS(lk_ring_ping(r, 0.05), LK_NOT_READY, "zoo.sticky.0 is blocked at the barrier after its actor");
    FAILS(lk_ring_receive(r, &got, 0.01), LK_NOT_READY, "1 not taken yet wait in zoo.sticky.0.number.in");
    FAILS(lk_ring_drain(r, 0.05), LK_NOT_READY, "zoo.sticky.0");
    char *text = lk_ring_text(r), *json = lk_ring_json(r);
    UNIT_HAS(text, "zoo.leaver.0 has left by itself after 1 message");
    UNIT_HAS(json, "\"phase\":\"at barrier\"");
    lk_text_free(text);
    lk_text_free(json);
    step("  its end");
    finish(r);
    close_all();
    /* a trap: what the unit was in is named, and nothing hangs */
    step("  a trap");
    open_file("actors.ptx");
    r = start((lk_ring_options){ .kernel = "zoo" });
    OK(send_number(r, touchy, 1, LONG));
    OK(lk_ring_receive(r, &got, LONG));
    OK(send_number(r, touchy, 666, LONG));
    FAILS(lk_ring_receive(r, &got, LONG), LK_FINDINGS, "zoo.touchy.0 is in the actor with message 2");
    step("  calls behind it");
    FAILS(send_number(r, touchy, 1, LONG), LK_FINDINGS, "the kernel ended");
    FAILS(lk_ring_terminate(r, 1), LK_FINDINGS, "the kernel ended");
    step("  the ring is destroyed");
    OK(lk_ring_destroy(r));
    step("  the gpu is destroyed");
    lk_gpu_destroy(gpu);
    if (strcmp(on, "sim")) return; /* CUDA: behind a fault the process has no GPU any more */
    open_file("actors.ptx");
    finish(start((lk_ring_options){ .kernel = "zoo" }));
    close_all();
    /* a gpu ends although a unit of a ring does not */
    open_file("actors.ptx");
    r = start((lk_ring_options){ .kernel = "zoo", .threads = 64 });
    OK(send_number(r, lk_ring_unit_of(r, "sticky"), 1, LONG));
    FAILS(lk_ring_drain(r, 0.05), LK_NOT_READY, "zoo.sticky.0");
    FAILS(lk_ring_destroy(r), LK_NOT_READY, "terminate it first");
    UNIT_EQ(lk_gpu_destroy(gpu), LK_OK);
}

/* Mail that is not done with is under way, whoever waits for it. */
static void mail(void)
{
    lk_ring_message got = { .size = sizeof got };
    lk_ring_unit_info unit = { .size = sizeof unit };
    lk_ring_route to_sticky = { "relay", "sticky" };
    open_file("actors.ptx");
    lk_ring *r = start((lk_ring_options){ .kernel = "zoo", .threads = 64, .route = &to_sticky, .routes = 1 });
    u32 relay = lk_ring_unit_of(r, "relay");
    OK(send_number(r, relay, 1, LONG));
    OK(send_number(r, relay, 2, LONG));
    static const char both[] = "2 messages of zoo.relay.0 are not done with in zoo.sticky.0.number.mail";
    do OK(lk_ring_unit(r, relay, &unit));
    while (unit.done < 2);
    FAILS(lk_ring_receive(r, &got, 0.01), LK_NOT_READY, both);
    FAILS(lk_ring_drain(r, 0.05), LK_NOT_READY, both);
    finish(r);
    close_all();
}

int main(int argc, char **argv)
{
    u32 count = argc > 1 ? (u32)strtoul(argv[1], NULL, 10) : 300;
    on = argc > 2 ? argv[2] : "sim";
    says = argc > 2;
    if (says) signal(SIGSEGV, faulted);
#define STEP(call)   \
    do {             \
        step(#call); \
        call;        \
    } while (0)
    STEP(life());
    STEP(refusals());
    STEP(sizes("vectors"));
    STEP(sizes("vectors_warp"));
    STEP(places());
    STEP(queues(count));
    STEP(policies());
    STEP(threads());
    STEP(asks());
    STEP(routes());
    STEP(loans());
    STEP(several());
    STEP(mail());
    STEP(failures());
    return unit_done();
}
