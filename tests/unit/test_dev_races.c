/* Races between operations on the software GPU, with real kernels: the bug and its twin, and random programs over three
 * streams, with and without their events, against the transitive closure of a naive model.
 *
 *     test_dev_races [FIRST COUNT]     random programs FIRST .. FIRST + COUNT - 1 */
#include "device/dev_async.h"
#include "device/dev_memory.h"
#include "unit.h"
#include <stdlib.h>

/* scale  out[i] = 2 * in[i], words at a distance of `step`.
 * count  adds one to an element of out for each in[i] (atomics that return nothing).
 * ticket as scale, and each thread draws a number from a counter: its threads may synchronise with others.
 * linger as scale, after `step` rounds of a loop between the load and the store.
 * give   writes data, then sets a flag; take waits for the flag, then reads the data. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry scale(.param .u64 in, .param .u64 out, .param .u64 step)\n{\n"
    ".reg .u64 %rd<6>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r5, [step];\n"
    "mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x; mad.lo.u32 %r1, %r1, %r2, %r3;\n"
    "mul.lo.u32 %r1, %r1, %r5; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    "ld.global.u32 %r4, [%rd4]; add.u32 %r4, %r4, %r4; st.global.u32 [%rd5], %r4;\nret;\n}\n"
    ".visible .entry linger(.param .u64 in, .param .u64 out, .param .u64 step)\n{\n"
    ".reg .u64 %rd<6>; .reg .u32 %r<6>; .reg .pred %p1;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r5, [step]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3; ld.global.u32 %r4, [%rd4];\n"
    "L: mad.lo.u32 %r4, %r4, 5, %r1; sub.u32 %r5, %r5, 1; setp.ne.u32 %p1, %r5, 0; @%p1 bra L;\n"
    "st.global.u32 [%rd5], %r4;\nret;\n}\n"
    ".visible .entry count(.param .u64 in, .param .u64 out, .param .u64 step)\n{\n"
    ".reg .u64 %rd<6>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; ld.global.u32 %r4, [%rd4]; and.b32 %r4, %r4, 3;\n"
    "mul.wide.u32 %rd3, %r4, 4; add.u64 %rd4, %rd2, %rd3; red.global.add.u32 [%rd4], 1;\nret;\n}\n"
    ".visible .entry ticket(.param .u64 in, .param .u64 out, .param .u64 step, .param .u64 counter)\n{\n"
    ".reg .u64 %rd<7>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [in]; ld.param.u64 %rd2, [out]; ld.param.u32 %r5, [step]; ld.param.u64 %rd6, [counter];\n"
    "atom.global.add.u32 %r1, [%rd6], 1; mov.u32 %r1, %tid.x;\n"
    "mul.lo.u32 %r1, %r1, %r5; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
    "ld.global.u32 %r4, [%rd4]; add.u32 %r4, %r4, %r4; st.global.u32 [%rd5], %r4;\nret;\n}\n"
    ".visible .entry give(.param .u64 data, .param .u64 flag, .param .u64 none, .param .u64 counter)\n{\n"
    ".reg .u64 %rd<4>;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag];\n"
    "st.global.u32 [%rd1], 7; st.release.gpu.global.u32 [%rd2], 1; ret;\n}\n"
    ".visible .entry take(.param .u64 data, .param .u64 flag, .param .u64 none, .param .u64 counter)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<4>; .reg .pred %p1;\n"
    "ld.param.u64 %rd1, [data]; ld.param.u64 %rd2, [flag];\n"
    "L: ld.acquire.gpu.global.u32 %r1, [%rd2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra L;\n"
    "ld.global.u32 %r2, [%rd1]; ret;\n}\n";

enum { BUFFERS = 4, WORDS = 64 };
static struct device *d;
static struct dev_module *module;
static const struct dev_async_ops *ops;
static struct error e;
static u64 buffer[BUFFERS];
static struct dev_stream *stream[3];
static struct dev_event *event;
static u32 counter; /* launches */

static void open_all(u32 workers, s64 seed)
{
    static const char *const names[] = { "a", "b", "c", "counters" };
    e = (struct error){ 0 };
    struct dev_options o = { .workers = workers, .checks = CHECK_ALL, .seeded = seed >= 0, .seed = (u64)seed };
    d = dev_new(&o, &e);
    CHECK(d);
    ops = d->async;
    struct dev_part part = { "between.ptx", { text, sizeof text - 1 } };
    module = dev_load(d, &part, 1, &e);
    UNIT(module != NULL);
    for (u32 k = 0; k < BUFFERS; k++) {
        struct mem_object *m = dev_alloc(d, 4 * WORDS, MEM_DEVICE, names[k], NULL, &e);
        UNIT(m && dev_describe(d, m->base, names[k], "i32[64]", 4, &e) && dev_fill(d, m->base, 0, 4 * WORDS, &e));
        buffer[k] = m->base;
    }
    for (u32 k = 0; k < 3; k++) UNIT_EQ(ops->stream_new(d, STREAM_NON_BLOCKING, 0, &stream[k], &e), OP_OK);
    UNIT_EQ(ops->event_new(d, 0, &event, &e), OP_OK);
}

static void close_all(void)
{
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    ops->event_delete(event);
    for (u32 k = 0; k < 3; k++) UNIT_EQ(ops->stream_delete(stream[k], &e), OP_OK);
    dev_delete(d);
}

static bool says(const char *words)
{
    struct text t = { 0 };
    report_text(d->report, (struct report_style){ 0 }, &t);
    bool has = strstr(t.p, words) != NULL;
    if (!has) fprintf(stderr, "no `%s` in\n%s", words, t.p);
    text_free(&t);
    return has;
}

static void enqueue(u32 st, struct dev_task t) { UNIT_EQ(dev_enqueue(stream[st], d, &t, &e), OP_OK); }

static void launch(u32 st, const char *kernel, u64 in, u64 out, u32 threads, u32 step, const char *site)
{
    u64 params[] = { in, out, step, buffer[3] + 4 * (counter++ % WORDS) }; /* each launch has its own */
    enqueue(st, (struct dev_task){ .kind = OP_LAUNCH,
                                   .launch = { .kernel = ptx_kernel(module->ptx, str_of(kernel)),
                                               .grid = { 1, 1, 1 },
                                               .block = { threads, 1, 1 },
                                               .params = params },
                                   .site = site });
}
static void copy(u32 st, u64 to, u64 from, u64 bytes, const char *site)
{
    enqueue(st, (struct dev_task){
                    .kind = OP_COPY, .copy = { { .address = to }, { .address = from }, bytes, 1, 1 }, .site = site });
}
static void fill(u32 st, u64 at, u64 bytes, const char *site)
{
    enqueue(st, (struct dev_task){
                    .kind = OP_FILL, .fill = { .address = at, .bytes = 1, .width = bytes, .rows = 1 }, .site = site });
}
static void hand_over(u32 from, u32 to)
{
    UNIT_EQ(ops->event_record(event, stream[from], false, NULL, &e), OP_OK);
    UNIT_EQ(ops->event_wait(stream[to], event, false, NULL, &e), OP_OK);
}

/* ---- the rules ---- */

/* A kernel that waits for a copy of another stream, and the same without the event. */
static void twins(u32 workers, s64 seed)
{
    for (u32 with = 0; with < 2; with++) {
        open_all(workers, seed);
        copy(0, buffer[0], buffer[2], 256, "copy 1");
        if (with) hand_over(0, 1);
        launch(1, "scale", buffer[0], buffer[1], 64, 1, "launch 1");
        UNIT_EQ(ops->synchronise(d, &e), OP_OK);
        UNIT_EQ(report_errors(d->report), !with);
        if (!with)
            UNIT(says("copy 1 in stream 1 writes elements [0..63] of a (i32[64]), launch 1 (kernel scale) in stream 2 "
                      "reads them") &&
                 says("error[race_stream]") && says("between.ptx:") && says("ld.global.u32"));
        close_all();

        open_all(workers, seed); /* a read-only input that an unordered copy overwrites */
        launch(1, "scale", buffer[0], buffer[1], 64, 1, "launch 1");
        if (with) hand_over(1, 0);
        copy(0, buffer[0], buffer[2], 256, "copy 1");
        UNIT_EQ(ops->synchronise(d, &e), OP_OK);
        UNIT_EQ(report_errors(d->report), !with);
        close_all();

        open_all(workers, seed); /* two kernels */
        launch(0, "scale", buffer[0], buffer[1], 64, 1, "launch 1");
        if (with) hand_over(0, 1);
        launch(1, "scale", buffer[1], buffer[2], 32, 2, "launch 2");
        UNIT_EQ(ops->synchronise(d, &e), OP_OK);
        UNIT_EQ(report_errors(d->report), !with);
        if (!with) UNIT(says("launch 1 (kernel scale) in stream 1 writes 32 of the elements [0..62] of b"));
        close_all();

        open_all(workers, seed); /* stream-ordered memory in another stream */
        struct dev_task t = { .kind = OP_ALLOC, .alloc = { .bytes = 256, .name = "pool" }, .site = "alloc 1" };
        UNIT_EQ(dev_enqueue(stream[0], d, &t, &e), OP_OK);
        if (with) hand_over(0, 1);
        fill(1, t.alloc.address, 256, "fill 1");
        UNIT_EQ(ops->synchronise(d, &e), OP_OK);
        UNIT_EQ(report_errors(d->report), !with);
        if (!with) UNIT(says("error[use_before_alloc]"));
        close_all();

        for (u32 long_one = 0; long_one < 2; long_one++) { /* a free before, while or after the kernel runs */
            open_all(workers, seed);
            t = (struct dev_task){ .kind = OP_ALLOC, .alloc = { .bytes = 256, .name = "pool" }, .site = "alloc 1" };
            UNIT_EQ(dev_enqueue(stream[0], d, &t, &e), OP_OK);
            fill(0, t.alloc.address, 256, "fill 1");
            hand_over(0, 1);
            if (long_one)
                launch(1, "linger", t.alloc.address, buffer[0], 64, 50000, "launch 1");
            else
                launch(1, "scale", t.alloc.address, buffer[0], 64, 1, "launch 1");
            if (with) hand_over(1, 0);
            if (long_one && seed < 0 && !with) thread_sleep_us(200);
            enqueue(0, (struct dev_task){ .kind = OP_FREE, .free = { t.alloc.address }, .site = "free 1" });
            UNIT_EQ(ops->synchronise(d, &e), OP_OK);
            UNIT_EQ(report_errors(d->report), !with);
            if (!with) UNIT(says("error[use_after_free_stream]") && says("free 1"));
            close_all();
        }
    }
    /* kernels that may synchronise, one of which begins anew with all before it: the first and the last are unordered
     */
    for (u32 with = 0; with < 2; with++) {
        open_all(workers, seed);
        launch(0, "ticket", buffer[0], buffer[1], 64, 1, "launch 1");
        launch(0, "ticket", buffer[2], buffer[2], 64, 1, "launch 2");
        if (with) hand_over(0, 1);
        launch(1, "ticket", buffer[2] + 128, buffer[1], 16, 1, "launch 3");
        UNIT_EQ(ops->synchronise(d, &e), OP_OK);
        UNIT_EQ(report_errors(d->report) != 0, !with);
        close_all();
    }
    /* a flag orders what comes behind the kernel that waits for it, whatever ran in between */
    open_all(workers, seed);
    launch(0, "give", buffer[0], buffer[1], 1, 1, "launch 1");
    launch(0, "ticket", buffer[2], buffer[2], 64, 1, "launch 2");
    launch(1, "take", buffer[0], buffer[1], 1, 1, "launch 3");
    launch(1, "ticket", buffer[0], buffer[0], 64, 1, "launch 4");
    launch(1, "ticket", buffer[0], buffer[0], 64, 1, "launch 5");
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(report_errors(d->report), 0);
    if (report_errors(d->report)) says("(this)");
    close_all();
    open_all(workers, seed); /* two histograms in one array, and parts of one array */
    launch(0, "count", buffer[0], buffer[2], 64, 1, "launch 1");
    launch(1, "count", buffer[1], buffer[2], 64, 1, "launch 2");
    launch(2, "scale", buffer[0], buffer[0] + 128, 1, 1, "launch 3");
    fill(1, buffer[0] + 132, 4, "fill 1");
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    UNIT_EQ(report_errors(d->report), 2); /* launch 1 reads what launch 3 and the fill write, and no more */
    close_all();
}

/* ---- random programs ---- */

enum { OPS = 12 };
struct range {
    u64 from, bytes; /* an address */
    u32 step;        /* words from one to the next; 0: bytes without a gap */
    bool write, strong;
};
static struct {
    u32 n, stream[OPS];
    struct range use[OPS][2];
    bool before[OPS][OPS]; /* [a][b]: a is before b */
    u32 last[3];           /* + 1: the last operation of a stream */
    bool waits[3][OPS];    /* what the next operation of a stream is after */
} model;
static u64 rng;
static u32 below(u32 n) { return (u32)(rand_next(&rng) >> 33) % n; }

static void model_op(u32 st, struct range x, struct range y)
{
    u32 n = model.n++;
    for (u32 k = 0; k < n; k++) model.before[k][n] = model.waits[st][k];
    model.use[n][0] = x;
    model.use[n][1] = y;
    model.waits[st][n] = true;
}

static bool has(const struct range *r, u64 at)
{
    return at - r->from < r->bytes && (!r->step || (at - r->from) / 4 % r->step == 0);
}

static bool model_racy(void)
{
    for (u32 a = 0; a < model.n; a++)
        for (u32 b = a + 1; b < model.n; b++)
            for (u32 k = 0; !model.before[a][b] && k < 4; k++) {
                const struct range *x = &model.use[a][k / 2], *y = &model.use[b][k % 2];
                if (!(x->write || y->write) || (x->strong && y->strong)) continue;
                for (u64 at = x->from; at < x->from + x->bytes; at++)
                    if (has(x, at) && has(y, at)) return true;
            }
    return false;
}

static u64 any_words(u32 words) { return buffer[below(2)] + 4 * below(WORDS - words + 1); }

static void any_op(u32 st)
{
    u32 words = 1 + below(16), step = 1 + below(2);
    u64 x = any_words(words * step), y = any_words(words * step);
    bool ticket = below(2) && d->options.seeded; /* side by side they may hand over what nobody sees */
    switch (below(4)) {
    case 0:
        if (x + 4 * words > y && y + 4 * words > x) return; /* one copy onto itself */
        model_op(st, (struct range){ x, 4 * words, 0, true, false }, (struct range){ y, 4 * words, 0, false, false });
        copy(st, x, y, 4 * words, "copy");
        break;
    case 1:
        model_op(st, (struct range){ x, 4 * words, 0, true, false }, (struct range){ x, 0, 0, false, false });
        fill(st, x, 4 * words, "fill");
        break;
    case 2:
        if (x != y && x + 4 * words * step > y && y + 4 * words * step > x) return; /* races in itself */
        model_op(st, (struct range){ x, 4 * words * step, step, false, false },
                 (struct range){ y, 4 * words * step, step, true, false });
        launch(st, ticket ? "ticket" : "scale", x, y, words, step, "launch");
        break;
    default: /* nothing is counted but zeros: the first element */
        x = buffer[below(2)];
        model_op(st, (struct range){ x, 4 * words, 0, false, false }, (struct range){ buffer[2], 4, 0, true, true });
        launch(st, "count", x, buffer[2], words, 1, "launch");
    }
}

/* Up to a dozen operations; `order` of 8 times a stream first waits for the others. */
static bool program(u64 seed, u32 order, bool *racy)
{
    open_all(seed % 2 ? 1 : 2, seed % 3 ? (s64)seed : -1);
    memset(&model, 0, sizeof model);
    rng = seed;
    counter = 0;
    u32 n = 2 + below(OPS - 2);
    while (model.n < n) {
        u32 st = below(3);
        for (u32 k = 0; k < 3; k++) {
            if (k == st || below(8) >= order) continue;
            hand_over(k, st);
            for (u32 i = 0; i < model.n; i++) model.waits[st][i] |= model.waits[k][i];
        }
        any_op(st);
        if (below(16)) continue;
        UNIT_EQ(ops->stream_synchronise(stream[st], &e), OP_OK); /* all later ones are after these */
        for (u32 k = 0; k < 3; k++)
            for (u32 i = 0; i < model.n; i++) model.waits[k][i] |= model.waits[st][i];
    }
    UNIT_EQ(ops->synchronise(d, &e), OP_OK);
    *racy = model_racy();
    bool found = report_errors(d->report) != 0, right = found == *racy;
    if (!right) {
        fprintf(stderr, "program %" PRIu64 " with order %u: %s\n", seed, order, found ? "made up" : "missed");
        if (found) says("(this)");
    }
    close_all();
    return right;
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
    u64 racy = 0, clean = 0;
    bool is;
    twins(1, -1);
    twins(2, -1);
    for (s64 seed = 0; seed < 4; seed++) twins(1, seed);
    for (u64 i = first; i < first + n; i++) {
        UNIT(program(i, (u32)(i % 9), &is)); /* none missed, none false */
        *(is ? &racy : &clean) += 1;
    }
    if (n >= 300) UNIT(racy > n / 10 && clean > n / 10); /* both kinds came up */
    printf("%" PRIu64 " racy, %" PRIu64 " clean\n", racy, clean);
    return unit_done();
}
