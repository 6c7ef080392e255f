/* A seed is an order: a program over streams leaves the same bytes and the same report each time that it runs under one
 * seed, with one worker or several, and other seeds give other orders. What takes the order from the seed is noted. */
#include "device/dev_async.h"
#include "device/dev_memory.h"
#include "unit.h"
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* sign    x[0] = who, by an atomic that does not commute, and adds its number to x[1] in digits.
 * scale   out[i] = 2 * in[i] + who.
 * give    writes data, then sets a flag; take waits for the flag, then copies data. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry sign(.param .u64 x, .param .u64 y, .param .u64 who)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [who]; atom.global.exch.b32 %r2, [%rd1], %r1; ret;\n}\n"
    ".visible .entry scale(.param .u64 in, .param .u64 out, .param .u64 who)\n{\n"
    ".reg .u64 %rd<6>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r5, [who]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    "ld.global.u32 %r4, [%rd4]; add.u32 %r4, %r4, %r4; add.u32 %r4, %r4, %r5; st.global.u32 [%rd5], %r4;\nret;\n}\n"
    ".visible .entry give(.param .u64 data, .param .u64 flag, .param .u64 who)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<4>;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag]; ld.param.u32 %r1, [who];\n"
    "st.global.u32 [%rd1], %r1; st.release.gpu.global.u32 [%rd2], 1; ret;\n}\n"
    ".visible .entry take(.param .u64 data, .param .u64 flag, .param .u64 who)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .pred %p1;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag];\n"
    "L: ld.acquire.gpu.global.u32 %r1, [%rd2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;\n"
    "ld.global.u32 %r2, [%rd1]; st.global.u32 [%rd1+4], %r2; ret;\n}\n";

enum { BUFFERS = 4, WORDS = 64, STREAMS = 4, OPS = 24 };
static struct device *d;
static struct dev_module *module;
static const struct dev_async_ops *ops;
static struct error e;
static u64 buffer[BUFFERS];
static struct dev_stream *stream[STREAMS];
static u32 order[OPS], called; /* in which order host functions were called */

static void open_all(u32 workers, u64 seed)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    e = (struct error){ 0 };
    struct dev_options o = { .workers = workers, .checks = CHECK_ALL, .seeded = true, .seed = seed };
    d = dev_new(&o, &e);
    CHECK(d);
    ops = d->async;
    struct dev_part part = { "seeds.ptx", { text, sizeof text - 1 } };
    module = dev_load(d, &part, 1, &e);
    UNIT(module != NULL);
    for (u32 k = 0; k < BUFFERS; k++) {
        struct mem_object *m = dev_alloc(d, 4 * WORDS, MEM_DEVICE, names[k], NULL, &e);
        UNIT(m && dev_describe(d, m->base, names[k], "i32[64]", 4, &e) && dev_fill(d, m->base, 0, 4 * WORDS, &e));
        buffer[k] = m->base;
    }
    for (u32 k = 0; k < STREAMS; k++) UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &stream[k], &e), OP_OK);
    called = 0;
}

static void close_all(void)
{
    for (u32 k = 0; k < STREAMS; k++) UNIT_EQ(ops->stream_delete(stream[k], &e), OP_OK);
    dev_delete(d);
}

static void enqueue(u32 st, struct dev_task t) { UNIT_EQ(dev_enqueue(stream[st], d, &t, &e), OP_OK); }

static void launch(u32 st, const char *kernel, u64 x, u64 y, u32 threads, u32 who)
{
    u64 params[] = { x, y, who };
    enqueue(st, (struct dev_task){ .kind = OP_LAUNCH,
                                   .launch = { .kernel = ptx_kernel(module->ptx, str_of(kernel)),
                                               .grid = { 1, 1, 1 },
                                               .block = { threads, 1, 1 },
                                               .params = params },
                                   .number = who + 1 });
}

static void was_called(void *number) { order[called++] = (u32)(uintptr_t)number; }

static u64 rng;
static u32 below(u32 n) { return (u32)(rand_next(&rng) >> 33) % n; }

/* Operations in streams that nothing orders, the same for every seed. */
static void program(u64 number)
{
    rng = number;
    for (u32 k = 0; k < OPS; k++) {
        u32 st = below(STREAMS), b = below(BUFFERS - 1), c = below(BUFFERS - 1);
        switch (below(6)) {
        case 0: launch(st, "scale", buffer[b], buffer[c], 1 + below(WORDS), k); break;
        case 1:
            enqueue(st, (struct dev_task){
                            .kind = OP_FILL,
                            .fill = { .address = buffer[b], .value = k, .bytes = 4, .width = 8, .rows = 1 } });
            break;
        case 2:
            enqueue(st,
                    (struct dev_task){ .kind = OP_HOST, .host = { .call = was_called, .self = (void *)(uintptr_t)k } });
            break;
        case 3: UNIT(ops->stream_query(stream[st], &e) <= OP_NOT_READY); break;
        default: launch(st, "sign", buffer[b], buffer[b], 1, k);
        }
    }
    /* whatever comes first, one waits for the other */
    launch(0, "take", buffer[3], buffer[3] + 128, 1, OPS);
    launch(1, "give", buffer[3], buffer[3] + 128, 1, OPS + 1);
}

struct seeded {
    struct text report;
    u32 bytes[BUFFERS][WORDS], order[OPS], called;
};

static void run(struct seeded *x, u64 number, u64 seed, u32 workers)
{
    *x = (struct seeded){ 0 };
    open_all(workers, seed);
    program(number);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    for (u32 k = 0; k < BUFFERS; k++) UNIT(dev_read(d, buffer[k], x->bytes[k], sizeof x->bytes[k], &e));
    memcpy(x->order, order, sizeof order);
    x->called = called;
    report_text(d->report, (struct report_style){ 0 }, &x->report);
    close_all();
}

static bool same(const struct seeded *a, const struct seeded *b)
{
    return !strcmp(a->report.p, b->report.p) && !memcmp(a->bytes, b->bytes, sizeof a->bytes) &&
           a->called == b->called && !memcmp(a->order, b->order, a->called * sizeof a->order[0]);
}

/* Three times under each seed, with one worker and with two; the seeds differ. */
static void repeats(u64 number)
{
    enum { SEEDS = 6 };
    struct seeded first[SEEDS], again;
    u32 others = 0;
    for (u32 seed = 0; seed < SEEDS; seed++) {
        run(&first[seed], number, seed, 1);
        UNIT(!strstr(first[seed].report.p, "unrepeatable"));
        for (u32 k = 0; k < 2; k++) {
            run(&again, number, seed, 1 + k);
            bool is = same(&first[seed], &again);
            UNIT(is);
            if (!is)
                fprintf(stderr, "program %" PRIu64 ", seed %u, %u workers:\n%s\nand\n%s\n", number, seed, 1 + k,
                        first[seed].report.p, again.report.p);
            text_free(&again.report);
        }
        others += seed && !same(&first[0], &first[seed]);
    }
    UNIT(others > 0);
    for (u32 seed = 0; seed < SEEDS; seed++) text_free(&first[seed].report);
}

/* ---- what takes the order from the seed ---- */

static bool noted(const char *words)
{
    struct text t = { 0 };
    report_text(d->report, (struct report_style){ 0 }, &t);
    bool has = strstr(t.p, "note[unrepeatable]") && strstr(t.p, words);
    text_free(&t);
    return has;
}

static void slow(void *none)
{
    (void)none;
    usleep(200 * 1000);
}

static void *second(void *none)
{
    (void)none;
    launch(2, "sign", buffer[0], buffer[0], 1, 1);
    return NULL;
}

static void chances(void)
{
    pthread_t thread;
    open_all(1, 1);
    enqueue(0, (struct dev_task){ .kind = OP_HOST, .host = { .call = slow, .self = NULL } });
    launch(1, "sign", buffer[0], buffer[0], 1, 1);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT(noted("a host function took more than 50 ms"));
    close_all();

    open_all(1, 1); /* one operation, which the host does not see: the pause changes nothing */
    launch(1, "sign", buffer[0], buffer[0], 1, 1);
    usleep(300 * 1000);
    UNIT(!noted("the host made no call for 50 ms"));
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    close_all();

    open_all(1, 1); /* two that may run in either order */
    launch(1, "sign", buffer[0], buffer[0], 1, 1);
    launch(2, "sign", buffer[1], buffer[1], 1, 1);
    for (u32 n = 0; n < 400 && !noted("the host made no call for 50 ms"); n++) usleep(10 * 1000);
    UNIT(noted("the host made no call for 50 ms"));
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    close_all();

    open_all(1, 1);
    launch(1, "sign", buffer[0], buffer[0], 1, 1);
    pthread_create(&thread, NULL, second, NULL);
    pthread_join(thread, NULL);
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT(noted("several threads of the program make calls"));
    close_all();
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 12;
    /* Pauses shorter than the patience of a slow machine (tests/other-arch) are for a process with the usual one. */
    pid_t pid = fork();
    if (!pid) {
        setenv("LOCKSTEP_PATIENCE", "50", 1);
        chances();
        exit(unit_done());
    }
    for (u64 i = first; i < first + n; i++) repeats(i);
    int status = -1;
    waitpid(pid, &status, 0);
    UNIT_EQ(status, 0);
    return unit_done();
}
