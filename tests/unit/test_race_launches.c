/* The race check over several launches: side by side, or one after another and not ordered. Accesses of two launches
 * are ordered by what one releases and the other acquires, by the order of operations (race_order), or they race. */
#include "device/dev_parts.h"
#include "mem/shadow.h"
#include "race/race.h"
#include "sim/sim.h"
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>
#include "unit.h"

/* give_X   writes data[t], then sets *flag: with a release (rel), relaxed (rlx), relaxed behind a fence (fen), volatile
 *          behind a fence (vol). None is simple: it reads *flag first.
 * take_X   waits for *flag: with an acquire (acq), relaxed (rlx), relaxed before a fence (fen), volatile (vol); then
 *          reads data[t].
 * peek     reads *flag once, with an acquire, then data[t].
 * use      reads data[t] and writes out[t]: simple.
 * add      adds one to data[t]: simple.
 * count    counts itself in *data, relaxed: no race with another one.
 * narrow   the same with the scope of a CTA.
 * stay     adds to data[0] until *stop, which it acquires, is set; sets *flag, with a release, when it has begun.
 * serve    answers each new number in *stop with the same in stop[8], releases it, after it has written data[0].
 * vput     writes data[t], vget reads it, both volatile.
 * gather   every CTA counts itself in *flag with a release and waits for all, twice; between, it reads what others
 *          wrote in data.
 * heap     takes memory, writes it, gives it to *data by a release, or frees it. */
#define GIVE(set)                                                                                             \
    "ld.relaxed.gpu.global.u32 %r5, [%rd2]; st.global.u32 [%rd5], %r1; bar.sync 0; mov.u32 %r4, 1; @%p1 bra " \
    "done;\n" set "done: ret;\n"
#define TAKE(see, then)                                                            \
    "@%p1 bra met;\nagain: " see "setp.eq.u32 %p2, %r4, 0; @%p2 bra again;\n" then \
    "met: bar.sync 0; ld.global.u32 %r5, [%rd5];\nst.global.u32 [%rd6], %r5; ret;\n"
static const struct {
    const char *name, *body;
} kernels[] = {
    { "give_rel", GIVE("st.release.gpu.global.u32 [%rd2], %r4;\n") },
    { "give_rlx", GIVE("st.relaxed.gpu.global.u32 [%rd2], %r4;\n") },
    { "give_fen", GIVE("fence.acq_rel.gpu; st.relaxed.gpu.global.u32 [%rd2], %r4;\n") },
    { "give_vol", GIVE("fence.acq_rel.gpu; st.volatile.global.u32 [%rd2], %r4;\n") },
    { "take_acq", TAKE("ld.acquire.gpu.global.u32 %r4, [%rd2];\n", "") },
    { "take_rlx", TAKE("ld.relaxed.gpu.global.u32 %r4, [%rd2];\n", "") },
    { "take_fen", TAKE("ld.relaxed.gpu.global.u32 %r4, [%rd2];\n", "fence.acq_rel.gpu;\n") },
    { "take_vol", TAKE("ld.volatile.global.u32 %r4, [%rd2];\n", "fence.acq_rel.gpu;\n") },
    { "peek", "ld.acquire.gpu.global.u32 %r4, [%rd2]; ld.global.u32 %r5, [%rd5]; st.global.u32 [%rd6], %r5; ret;\n" },
    { "use", "ld.global.u32 %r5, [%rd5]; st.global.u32 [%rd6], %r5; ret;\n" },
    { "add", "ld.global.u32 %r5, [%rd5]; add.u32 %r5, %r5, 1; st.global.u32 [%rd5], %r5; ret;\n" },
    { "count", "atom.relaxed.gpu.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd6], %r5; ret;\n" },
    { "narrow", "atom.relaxed.cta.global.add.u32 %r5, [%rd1], 1; st.global.u32 [%rd6], %r5; ret;\n" },
    { "vput", "st.volatile.global.u32 [%rd5], %r1; ret;\n" },
    { "vget", "ld.volatile.global.u32 %r5, [%rd5]; st.global.u32 [%rd6], %r5; ret;\n" },
    { "stay", "mov.u32 %r4, 1; st.release.gpu.global.u32 [%rd2], %r4;\n"
              "again: ld.global.u32 %r5, [%rd5]; add.u32 %r5, %r5, 1; st.global.u32 [%rd5], %r5;\n"
              "ld.acquire.sys.global.u32 %r4, [%rd3]; setp.eq.u32 %p2, %r4, 0; @%p2 bra again;\nret;\n" },
    { "serve", "mov.u32 %r6, 0;\n"
               "again: ld.acquire.sys.global.u32 %r4, [%rd3]; setp.eq.u32 %p2, %r4, %r6; @%p2 bra again;\n"
               "mov.u32 %r6, %r4; setp.eq.u32 %p2, %r4, 0xffffffff; @%p2 bra done;\n"
               "ld.global.u32 %r5, [%rd1]; add.u32 %r5, %r5, %r4; st.global.u32 [%rd1], %r5;\n"
               "st.release.sys.global.u32 [%rd3+32], %r4; bra again;\ndone: ret;\n" },
    { "gather", "st.global.u32 [%rd5], %r1; mov.u32 %r6, %nctaid.x; mov.u32 %r8, 0;\n"
                "round: bar.sync 0; add.u32 %r8, %r8, %r6; @%p1 bra met;\n"
                "atom.acq_rel.gpu.global.add.u32 %r4, [%rd2], 1;\n"
                "wait: ld.acquire.gpu.global.u32 %r4, [%rd2]; setp.lt.u32 %p2, %r4, %r8; @%p2 bra wait;\n"
                "met: bar.sync 0; xor.b32 %r5, %r1, %r2; mul.lo.u32 %r7, %r6, %r2; setp.lt.u32 %p3, %r5, %r7;\n"
                "mul.wide.u32 %rd7, %r5, 4; add.u64 %rd7, %rd1, %rd7; @%p3 ld.global.u32 %r5, [%rd7];\n"
                "add.u32 %r7, %r6, %r6; setp.lt.u32 %p2, %r8, %r7; @%p2 bra round;\n"
                "st.global.u32 [%rd6], %r5; ret;\n" },
    { "heap", "mov.u32 %r5, 0;\n"
              "round: { .param .b64 a; .param .b64 r; st.param.b64 [a], 64; call (r), malloc, (a);\n"
              "ld.param.b64 %rd7, [r]; }\n"
              "st.u32 [%rd7], %r1; st.u32 [%rd7+4], %r5; ld.u32 %r6, [%rd7];\n"
              "{ .param .b64 a; st.param.b64 [a], %rd7; call free, (a); }\n"
              "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 20; @%p2 bra round;\nret;\n" },
};

static struct ptx_module *module_new(struct text *t)
{
    struct error e = { 0 };
    text_add(t, ".version 8.0\n.target sm_80\n.address_size 64\n"
                ".extern .func (.param .b64 r) malloc(.param .b64 a);\n.extern .func free(.param .b64 a);\n");
    for (u32 k = 0; k < COUNT_OF(kernels); k++)
        text_add(t,
                 ".visible .entry %s(.param .u64 data, .param .u64 flag, .param .u64 out)\n{\n"
                 ".reg .u64 %%rd<8>; .reg .u32 %%r<9>; .reg .pred %%p<4>;\n"
                 "ld.param.u64 %%rd1, [data]; ld.param.u64 %%rd2, [flag]; ld.param.u64 %%rd3, [out];\n"
                 "mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x;\n"
                 "mad.lo.u32 %%r1, %%r1, %%r2, %%r3; mul.wide.u32 %%rd4, %%r1, 4;\n"
                 "add.u64 %%rd5, %%rd1, %%rd4; add.u64 %%rd6, %%rd3, %%rd4; setp.ne.u32 %%p1, %%r3, 0;\n%s}\n",
                 kernels[k].name, kernels[k].body);
    struct ptx_module *m = ptx_parse("launches.ptx", (struct str){ t->p, (u32)t->n }, &e);
    if (!m) error_print(stderr, &e);
    return m;
}

/* ---- a software GPU with the race check, and an order of operations ---- */

struct bench {
    struct mem *mem;
    struct sim *sim;
    struct race *race;
    struct report *report;
    struct text ptx;
    struct ptx_module *module;
    u64 data, flag, out, stop; /* memory: of the device, `stop` shared with the host */
    u32 ops;                   /* launches so far: their stamps */
    bool seeded;
    u64 seed;
};
enum { BYTES = 4096 };

/* The order of operations: op points to the bits of the stamps that are before it; all bits: everything is. */
static bool before(void *self, u64 stamp, const void *op, bool waited)
{
    (void)self;
    (void)waited;
    const u64 *bits = op;
    return *bits == ~0ull || (stamp < 64 && *bits >> stamp & 1);
}

static u64 memory(struct bench *b, u64 bytes, enum mem_kind kind, const char *name)
{
    struct error e = { 0 };
    struct mem_object *o = mem_alloc(b->mem, bytes, 0, kind, name, NULL, &e);
    UNIT(o != NULL);
    memset(mem_view(o, o->base), 0, bytes);
    shadow_define(mem_shadow(b->mem), o->base, bytes);
    return o->base;
}
static _Atomic u32 *view(struct bench *b, u64 at) { return mem_view(mem_find(b->mem, at), at); }

static struct bench bench_new(u32 workers)
{
    struct error e = { 0 };
    struct bench b = { .mem = mem_new(&e), .report = report_new() };
    b.module = module_new(&b.ptx);
    UNIT(b.mem && b.module);
    b.sim = sim_new(b.mem, card_default(), workers, &dev_parts);
    b.race = race_new(b.mem);
    race_order(b.race, before, NULL);
    b.data = memory(&b, BYTES, MEM_DEVICE, "data");
    b.flag = memory(&b, BYTES, MEM_DEVICE, "flag");
    b.out = memory(&b, BYTES, MEM_DEVICE, "out");
    b.stop = memory(&b, 64, MEM_PINNED, "stop");
    return b;
}

static void bench_delete(struct bench *b)
{
    race_delete(b->race);
    sim_forget(b->module);
    sim_delete(b->sim);
    ptx_free(b->module);
    text_free(&b->ptx);
    report_free(b->report);
    mem_delete(b->mem);
}

/* All as at first: nothing is known of launches before. */
static void again(struct bench *b)
{
    race_forget(b->race);
    report_clear(b->report);
    b->ops = 0;
    memset((void *)view(b, b->data), 0, BYTES);
    memset((void *)view(b, b->flag), 0, BYTES);
    memset((void *)view(b, b->out), 0, BYTES);
    memset((void *)view(b, b->stop), 0, 64);
}

struct how { /* a launch */
    const char *kernel;
    u32 ctas, threads;
    u64 after;           /* bits of the stamps that are before it; the first launch has stamp 1 */
    u64 data, flag, out; /* 0: those of the bench */
    bool cooperative;
};

static struct launch *start(struct bench *b, struct how h)
{
    struct error e = { 0 };
    u64 params[3] = { h.data ? h.data : b->data, h.flag ? h.flag : b->flag, h.out ? h.out : b->out };
    struct sim_launch in = { .kernel = ptx_kernel(b->module, str_of(h.kernel)),
                             .grid = { h.ctas ? h.ctas : 1, 1, 1 },
                             .block = { h.threads ? h.threads : 64, 1, 1 },
                             .params = params,
                             .checks = CHECK_RACE | CHECK_ASYNC,
                             .report = b->report,
                             .observers = race_observer(b->race),
                             .cooperative = h.cooperative,
                             .seeded = b->seeded,
                             .seed = b->seed,
                             .op = &h.after };
    race_expect(b->race, &(struct race_operation){ .op = &h.after, .stamp = ++b->ops, .shared = true });
    struct launch *l = sim_start(b->sim, &in, &e);
    if (!l) error_print(stderr, &e);
    UNIT(l != NULL);
    return l;
}

static void end(struct launch *l)
{
    struct sim_result r = { 0 };
    struct error e = { 0 };
    sim_wait(l, &r, &e);
    UNIT_EQ(r.end, SIM_DONE);
}

static void run(struct bench *b, struct how h) { end(start(b, h)); }

/* Whether there is a race between two launches, and nothing else. */
static void expect(struct bench *b, bool race, const char *what, int line)
{
    struct text t = { 0 };
    report_text(b->report, (struct report_style){ 0 }, &t);
    bool found = t.p && strstr(t.p, "[race_stream]"), ok = race ? found : !report_errors(b->report);
    if (race && report_errors(b->report) != 1) ok = false;
    if (!unit_check(ok, __FILE__, line, what))
        fprintf(stderr, "  %s\n%s\n", race ? "a race_stream, and nothing else" : "no finding", t.p ? t.p : "none");
    text_free(&t);
    again(b);
}
#define EXPECT(b, race, what) expect(b, race, what, __LINE__)

/* ---- handing over ---- */

static void hand_over(struct bench *b, const char *give, const char *take, bool race)
{
    /* side by side, either one first */
    struct launch *x = start(b, (struct how){ .kernel = give }), *y = start(b, (struct how){ .kernel = take });
    end(x);
    end(y);
    EXPECT(b, race, take);
    y = start(b, (struct how){ .kernel = take });
    x = start(b, (struct how){ .kernel = give });
    end(y);
    end(x);
    EXPECT(b, race, take);
    /* one after the other, and not ordered */
    run(b, (struct how){ .kernel = give });
    run(b, (struct how){ .kernel = take });
    EXPECT(b, race, take);
    /* ordered */
    run(b, (struct how){ .kernel = give });
    run(b, (struct how){ .kernel = take, .after = 1 << 1 });
    EXPECT(b, false, take);
}

static void test_hand_over(struct bench *b)
{
    hand_over(b, "give_rel", "take_acq", false);
    hand_over(b, "give_rel", "take_fen", false);
    hand_over(b, "give_fen", "take_acq", false);
    hand_over(b, "give_fen", "take_fen", false);
    hand_over(b, "give_vol", "take_vol", false);
    hand_over(b, "give_rlx", "take_acq", true);
    hand_over(b, "give_rel", "take_rlx", true);
    hand_over(b, "give_rlx", "take_rlx", true);
}

/* What the finding says: both kernels, both places, that streams do not order the two. */
static void test_text(struct bench *b)
{
    struct text t = { 0 };
    run(b, (struct how){ .kernel = "give_rlx", .ctas = 2, .threads = 32 });
    run(b, (struct how){ .kernel = "take_rlx", .ctas = 1, .threads = 64 });
    report_text(b->report, (struct report_style){ 0 }, &t);
    UNIT_HAS(t.p, "[race_stream]");
    UNIT_HAS(t.p, "of another launch, of give_rlx, has accessed the same bytes at launches.ptx:");
    UNIT_HAS(t.p, "kernel: take_rlx");
    UNIT_HAS(t.p, "the two launches are not ordered by streams, and nothing else orders the two accesses");
    text_free(&t);
    again(b);
}

/* ---- order ---- */

/* One writes, two read it, the fourth writes again: if it is after both of them. */
static void test_diamond(struct bench *b)
{
    for (u32 missing = 0; missing <= 4; missing++) { /* 2: the second launch is not before the fourth, and so on */
        u64 other = b->out + 1024;
        run(b, (struct how){ .kernel = "give_rel" });
        run(b, (struct how){ .kernel = "peek", .after = missing == 1 ? 0 : 1 << 1, .flag = b->out + 2048 });
        run(b, (struct how){ .kernel = "peek", .after = 1 << 1, .flag = b->out + 2048, .out = other });
        run(b, (struct how){ .kernel = "give_rel", .after = 15 & ~(1u << missing) });
        EXPECT(b, missing >= 1 && missing <= 3, "a diamond");
    }
}

/* Launches that are ordered begin a new era each; one that is not joins that of the others. */
static void test_eras(struct bench *b)
{
    run(b, (struct how){ .kernel = "give_rel" });
    u32 serial = b->race->era->serial;
    run(b, (struct how){ .kernel = "peek", .after = 1 << 1 });
    UNIT_EQ(b->race->era->serial, serial + 1);
    run(b, (struct how){ .kernel = "peek", .after = 1 << 1, .out = b->out + 1024 });
    UNIT_EQ(b->race->era->serial, serial + 1);
    UNIT_EQ(b->race->era->launches, 2);
    run(b, (struct how){ .kernel = "give_rel", .after = 14 });
    UNIT_EQ(b->race->era->serial, serial + 2);
    EXPECT(b, false, "eras");
}

/* ---- beside a kernel that stays ---- */

static struct launch *start_stay(struct bench *b)
{
    struct launch *l = start(b, (struct how){ .kernel = "stay", .threads = 32, .out = b->stop });
    while (!*view(b, b->flag)) usleep(100);
    return l;
}

static void end_stay(struct bench *b, struct launch *l)
{
    *view(b, b->stop) = 1;
    end(l);
}

static void test_persistent(struct bench *b)
{
    /* simple kernels, which are checked in the exact way now: with memory of their own, and with that of the other */
    struct launch *l = start_stay(b);
    for (u32 k = 0; k < 3; k++) run(b, (struct how){ .kernel = "add", .data = b->data + 1024, .after = (4u << k) - 4 });
    end_stay(b, l);
    EXPECT(b, false, "simple kernels beside one that stays");
    l = start_stay(b);
    run(b, (struct how){ .kernel = "add" });
    end_stay(b, l);
    EXPECT(b, true, "a simple kernel with the memory of one that stays");
    l = start_stay(b);
    run(b, (struct how){ .kernel = "use" });
    end_stay(b, l);
    EXPECT(b, true, "a simple kernel that reads what one that stays writes");
    /* two of them that are not ordered */
    l = start_stay(b);
    run(b, (struct how){ .kernel = "add", .data = b->data + 1024 });
    run(b, (struct how){ .kernel = "add", .data = b->data + 1024 });
    end_stay(b, l);
    EXPECT(b, true, "two simple kernels beside one that stays");
    /* what was computed before the kernel began */
    run(b, (struct how){ .kernel = "add" });
    l = start(b, (struct how){ .kernel = "stay", .threads = 32, .out = b->stop, .after = 1 << 1 });
    end_stay(b, l);
    EXPECT(b, false, "a kernel that stays, behind another one");
}

/* The host hands over in both directions: it asks a kernel that stays, waits for the answer, lets another kernel use
 * the same memory, waits for that, and asks again. */
static void test_server(struct bench *b)
{
    struct launch *l = start(b, (struct how){ .kernel = "serve", .threads = 1, .out = b->stop });
    for (u32 k = 1; k <= 20; k++) {
        view(b, b->stop)[0] = k;
        while (view(b, b->stop)[8] != k) usleep(10);
        run(b, (struct how){ .kernel = "add", .threads = 1, .after = (2u << k) - 4 });
    }
    view(b, b->stop)[0] = ~0u;
    end(l);
    UNIT_EQ(*view(b, b->data), 20 * 21 / 2 + 20);
    EXPECT(b, false, "a server and the host");
}

/* A copy writes the flag that a kernel waits for, behind a kernel that has written the data. */
static void test_outside(struct bench *b)
{
    static const char *const take[] = { "take_acq", "take_fen", "take_rlx" };
    for (u32 k = 0; k < 3; k++) {
        struct launch *l = start(b, (struct how){ .kernel = take[k] });
        run(b, (struct how){ .kernel = "add" });
        *view(b, b->flag) = 1;
        race_outside(b->race, b->flag, 4, true);
        end(l);
        EXPECT(b, k == 2, take[k]);
    }
    /* a stream waits for a flag that a kernel in flight has set, and starts another one */
    for (u32 waits = 0; waits < 2; waits++) {
        struct launch *l = start_stay(b);
        run(b, (struct how){ .kernel = "give_rel", .data = b->data + 1024, .flag = b->flag + 256 });
        if (waits) race_outside(b->race, b->flag + 256, 4, false);
        run(b, (struct how){ .kernel = "use", .data = b->data + 1024 });
        end_stay(b, l);
        EXPECT(b, !waits, "a value that a stream waits for");
    }
}

/* ---- the rest of what launches share ---- */

static void test_shared(struct bench *b)
{
    struct launch *x = start(b, (struct how){ .kernel = "count", .ctas = 4 }),
                  *y = start(b, (struct how){ .kernel = "count", .ctas = 4, .out = b->out + 2048 });
    end(x);
    end(y);
    EXPECT(b, false, "atomics of the gpu scope");
    x = start(b, (struct how){ .kernel = "heap", .ctas = 4 });
    y = start(b, (struct how){ .kernel = "heap", .ctas = 4 });
    end(x);
    end(y);
    run(b, (struct how){ .kernel = "heap", .ctas = 4 });
    EXPECT(b, false, "memory of malloc");
    for (u32 same = 0; same < 2; same++) {
        x = start(b, (struct how){ .kernel = "gather", .ctas = 8, .threads = 32, .cooperative = true });
        y = start(b, (struct how){ .kernel = "gather",
                                   .ctas = 8,
                                   .threads = 32,
                                   .cooperative = true,
                                   .data = same ? 0 : b->data + 2048,
                                   .flag = b->flag + 512,
                                   .out = b->out + 2048 });
        end(x);
        end(y);
        struct text t = { 0 };
        report_text(b->report, (struct report_style){ 0 }, &t);
        UNIT_EQ(t.p && strstr(t.p, "[race_stream]"), same);
        UNIT(same || !report_errors(b->report));
        text_free(&t);
        again(b);
    }
    run(b, (struct how){ .kernel = "vput" });
    run(b, (struct how){ .kernel = "vget" });
    struct text t = { 0 };
    report_text(b->report, (struct report_style){ 0 }, &t);
    UNIT_HAS(t.p, "[race_volatile]");
    UNIT_HAS(t.p, "not ordered by streams");
    text_free(&t);
    again(b);
    run(b, (struct how){ .kernel = "narrow" });
    run(b, (struct how){ .kernel = "narrow", .out = b->out + 2048 });
    report_text(b->report, (struct report_style){ 0 }, &t);
    UNIT_HAS(t.p, "[race_scope]");
    text_free(&t);
    again(b);
}

/* ---- long eras ---- */

/* Numbered objects of the era that are in use. */
static u32 in_use(const struct pool *p) { return p->n - p->nspare; }

/* Thousands of launches beside one that stays: what is kept of them does not grow. */
static void test_long(struct bench *b)
{
    enum { ROUNDS = 2300, FIRST = 1200 };
    u32 notes = 0, sets = 0, forms = 0;
    const struct race_era *era = b->race->era;
    struct launch *l = start(b, (struct how){ .kernel = "serve", .threads = 1, .out = b->stop });
    for (u32 k = 0; k < ROUNDS; k++) {
        run(b, (struct how){ .kernel = k % 2 ? "add" : "use", .threads = 33, .data = b->data + 1024, .after = ~0ull });
        if (k != FIRST) continue;
        notes = in_use(&era->notes.note);
        sets = in_use(&era->notes.set);
        forms = in_use(&era->notes.form[FORM_WORDS]);
    }
    UNIT_EQ(era->launches, ROUNDS + 1 + ROUNDS / ERA_LAUNCHES); /* the number of the one that stays is passed over */
    UNIT(in_use(&era->notes.note) <= notes + 8);
    UNIT(in_use(&era->notes.set) <= sets + 8);
    UNIT(in_use(&era->notes.form[FORM_WORDS]) <= forms + 8);
    for (u32 k = 0; k < b->race->nslot; k++) UNIT(b->race->slot[k]->capresidents <= 4 * ERA_LAUNCHES);
    /* races with launches that are remembered are still found */
    run(b, (struct how){ .kernel = "add", .threads = 33, .data = b->data + 1024 });
    *view(b, b->stop) = ~0u;
    end(l);
    EXPECT(b, true, "the end of a long era");
    /* nothing runs: a long era ends, though nothing orders its launches */
    for (u32 k = 0; k <= ERA_LAUNCHES; k++) run(b, (struct how){ .kernel = "count", .threads = 32 });
    UNIT(era->launches <= 1);
    again(b);
}

/* Memory comes and goes beside a kernel that stays: its cells go, too. */
static void test_freed(struct bench *b)
{
    u32 notes = 0;
    const struct race_era *era = b->race->era;
    struct launch *l = start(b, (struct how){ .kernel = "serve", .threads = 1, .out = b->stop });
    for (u32 k = 0; k < 400; k++) {
        u64 at = memory(b, 4096, MEM_DEVICE, "temporary");
        run(b, (struct how){ .kernel = "add", .threads = 33, .data = at, .after = ~0ull });
        UNIT_EQ(mem_free(b->mem, at, NULL, NULL), MEM_FREE_OK);
        if (k == 200) notes = in_use(&era->notes.note);
    }
    UNIT(b->race->ntracked <= 140);
    UNIT(in_use(&era->notes.note) <= notes + 140);
    *view(b, b->stop) = ~0u;
    end(l);
    EXPECT(b, false, "memory that comes and goes");
    run(b, (struct how){ .kernel = "use" });
    UNIT_EQ(b->race->ngone, 0);
    again(b);
}

int main(int argc, char **argv)
{
    (void)argc;
    (void)argv;
    for (u32 workers = 1; workers <= 2; workers++) {
        struct bench b = bench_new(workers);
        test_hand_over(&b);
        test_text(&b);
        test_diamond(&b);
        test_eras(&b);
        test_persistent(&b);
        test_server(&b);
        test_outside(&b);
        test_shared(&b);
        test_freed(&b);
        test_long(&b);
        bench_delete(&b);
    }
    return unit_done();
}
