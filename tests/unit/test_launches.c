/* Several launches in flight: they run side by side, share the device's room, and stand still only together. */
#include "device/dev_parts.h"
#include "mem/shadow.h"
#include "sim/sim.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "unit.h"

/* ping  adds one to *a whenever it is even, or odd, `n` times: two of them need each other.
 * gather  every CTA counts itself in *count and waits until `all` have: they must be resident together.
 * answer  thread 0 answers each new number in mail[0] with twice that in mail[8], until it is 0xffffffff.
 * beat  counts in *count until *stop is set.
 * add  one to each of the elements.
 * await  waits until *flag is not 0, then sets *out. */
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .shared .align 16 .b8 pool[];\n"
    ".visible .entry ping(.param .u64 a, .param .u32 mine, .param .u32 n)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [a]; ld.param.u32 %r1, [mine]; ld.param.u32 %r2, [n];\n"
    "turn:\nld.relaxed.gpu.global.u32 %r3, [%rd];\nand.b32 %r4, %r3, 1;\nsetp.ne.u32 %p, %r4, %r1;\n@%p bra turn;\n"
    "add.u32 %r3, %r3, 1;\nst.relaxed.gpu.global.u32 [%rd], %r3;\nsub.u32 %r2, %r2, 1;\n"
    "setp.ne.u32 %p, %r2, 0;\n@%p bra turn;\nret;\n}\n"
    ".visible .entry gather(.param .u64 count, .param .u32 all)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [count]; ld.param.u32 %r1, [all];\n"
    "mov.u32 %r2, %tid.x; setp.ne.u32 %p, %r2, 0; @%p bra done;\natom.global.add.u32 %r3, [%rd], 1;\n"
    "again:\nld.relaxed.gpu.global.u32 %r3, [%rd];\nsetp.lt.u32 %p, %r3, %r1;\n@%p bra again;\ndone:\nret;\n}\n"
    ".visible .entry answer(.param .u64 mail)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [mail]; mov.u32 %r1, 0;\n"
    "again:\nld.relaxed.sys.global.u32 %r2, [%rd];\nsetp.eq.u32 %p, %r2, %r1;\n@%p bra again;\nmov.u32 %r1, %r2;\n"
    "setp.eq.u32 %p, %r2, 0xffffffff;\n@%p bra done;\nadd.u32 %r3, %r2, %r2;\n"
    "st.relaxed.sys.global.u32 [%rd+32], %r3;\nbra again;\ndone:\nret;\n}\n"
    ".visible .entry beat(.param .u64 count, .param .u64 stop)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [stop]; mov.u32 %r1, 0;\n"
    "again:\nadd.u32 %r1, %r1, 1;\nst.relaxed.gpu.global.u32 [%rd1], %r1;\nld.relaxed.sys.global.u32 %r2, [%rd2];\n"
    "setp.eq.u32 %p, %r2, 0;\n@%p bra again;\nret;\n}\n"
    ".visible .entry add(.param .u64 a)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>;\n"
    "ld.param.u64 %rd1, [a]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;\n"
    "mad.lo.u32 %r1, %r1, %r2, %r3; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, 1; st.global.u32 [%rd1], %r4;\nret;\n}\n"
    ".visible .entry await(.param .u64 flag, .param .u64 out)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
    "again:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p, %r1, 0;\n@%p bra again;\n"
    "mov.u32 %r2, 1;\nst.relaxed.gpu.global.u32 [%rd2], %r2;\nret;\n}\n";

struct bench { /* a software GPU of its own */
    struct mem *mem;
    struct sim *sim;
    struct report *report;
    struct ptx_module *module;
    bool seeded;
    u64 seed;
};

static struct bench bench_new(u32 workers)
{
    struct error e = { 0 };
    struct bench b = { .mem = mem_new(&e), .report = report_new() };
    b.module = ptx_parse("launches.ptx", (struct str){ text, sizeof text - 1 }, &e);
    UNIT(b.mem && b.module);
    b.sim = sim_new(b.mem, card_default(), workers, &dev_parts);
    return b;
}

static void bench_delete(struct bench *b)
{
    sim_forget(b->module);
    sim_delete(b->sim);
    ptx_free(b->module);
    report_free(b->report);
    mem_delete(b->mem);
}

static u64 memory(struct bench *b, u64 bytes, enum mem_kind kind)
{
    struct error e = { 0 };
    struct mem_object *o = mem_alloc(b->mem, bytes, 0, kind, "x", NULL, &e);
    UNIT(o != NULL);
    memset(mem_view(o, o->base), 0, bytes);
    shadow_define(mem_shadow(b->mem), o->base, bytes);
    return o->base;
}
static _Atomic u32 *view(struct bench *b, u64 at) { return mem_view(mem_find(b->mem, at), at); }

enum { WIDE = 200 << 10 }; /* shared memory of which a multiprocessor holds one */

static struct sim_launch shape(struct bench *b, const char *kernel, u32 ctas, u32 threads, const void *params)
{
    return (struct sim_launch){ .kernel = ptx_kernel(b->module, (struct str){ kernel, strlen(kernel) }),
                                .grid = { ctas, 1, 1 },
                                .block = { threads, 1, 1 },
                                .params = params,
                                .checks = CHECK_ALL & ~(CHECK_RACE | CHECK_ASYNC),
                                .report = b->report,
                                .seeded = b->seeded,
                                .seed = b->seed };
}

static struct launch *start(struct bench *b, const struct sim_launch *in)
{
    struct error e = { 0 };
    struct launch *l = sim_start(b->sim, in, &e);
    UNIT(l != NULL);
    return l;
}

static int end(struct launch *l)
{
    struct sim_result r = { 0 };
    struct error e = { 0 };
    sim_wait(l, &r, &e);
    return r.end;
}

struct two {
    u64 a;
    u32 b, c;
};
struct three {
    u64 a, b;
};

/* Two kernels hand a flag to each other. */
static void test_flag(struct bench *b)
{
    enum { ROUNDS = 50 };
    u64 at = memory(b, 4, MEM_DEVICE);
    struct two even = { at, 0, ROUNDS }, odd = { at, 1, ROUNDS };
    struct sim_launch x = shape(b, "ping", 1, 1, &even), y = shape(b, "ping", 1, 1, &odd);
    struct launch *first = start(b, &y), *second = start(b, &x);
    UNIT_EQ(end(first), SIM_DONE);
    UNIT_EQ(end(second), SIM_DONE);
    UNIT_EQ(*view(b, at), 2 * ROUNDS);
    UNIT_EQ(report_errors(b->report), 0);
}

/* Cooperative grids: each needs three fifths of the device. Neither is placed by halves, and a small one that came
 * later does not take the room that the second one waits for. */
static void test_cooperative(struct bench *b)
{
    u32 n = card_default()->sms * 3 / 5;
    u64 at[3];
    struct two p[3];
    struct launch *l[3];
    for (u32 k = 0; k < 3; k++) {
        at[k] = memory(b, 4, MEM_DEVICE);
        p[k] = (struct two){ at[k], k < 2 ? n : 8, 0 };
        struct sim_launch in = shape(b, "gather", p[k].b, 32, &p[k]);
        in.cooperative = true;
        in.shared_bytes = WIDE;
        l[k] = start(b, &in);
    }
    for (u32 k = 0; k < 3; k++) {
        UNIT_EQ(end(l[k]), SIM_DONE);
        UNIT_EQ(*view(b, at[k]), p[k].b);
    }
    UNIT_EQ(report_errors(b->report), 0);
}

/* A grid that needs all of the device comes behind a kernel that stays: it waits, and runs when that has left.
 */
static void test_behind_persistent(struct bench *b)
{
    u32 sms = card_default()->sms;
    u64 stop = memory(b, 4, MEM_PINNED), count = memory(b, 4, MEM_DEVICE), all = memory(b, 4, MEM_DEVICE);
    struct three p = { count, stop };
    struct two q = { all, sms, 0 };
    struct sim_launch stays = shape(b, "beat", sms / 10, 1, &p), grid = shape(b, "gather", sms, 32, &q);
    stays.shared_bytes = grid.shared_bytes = WIDE;
    grid.cooperative = true;
    struct launch *first = start(b, &stays);
    while (!*view(b, count)) usleep(100);
    struct launch *second = start(b, &grid);
    usleep(20000);
    UNIT(!sim_ended(second));
    UNIT_EQ(*view(b, all), 0);
    *view(b, stop) = 1;
    UNIT_EQ(end(second), SIM_DONE);
    UNIT_EQ(end(first), SIM_DONE);
    UNIT_EQ(report_errors(b->report), 0);
}

/* A kernel stays and answers the host, while others come and go. */
static void test_answers(struct bench *b)
{
    u64 mail = memory(b, 64, MEM_PINNED), a = memory(b, 4096, MEM_DEVICE);
    struct sim_launch stays = shape(b, "answer", 1, 1, &mail), other = shape(b, "add", 8, 128, &a);
    struct launch *first = start(b, &stays);
    for (u32 k = 1; k <= 100; k++) {
        struct launch *l = start(b, &other);
        view(b, mail)[0] = k;
        u64 late = time_ns() + 20000000000u;
        while (view(b, mail)[8] != 2 * k && time_ns() < late) usleep(10);
        UNIT_EQ(view(b, mail)[8], 2 * k);
        UNIT_EQ(end(l), SIM_DONE);
    }
    view(b, mail)[0] = ~0u;
    UNIT_EQ(end(first), SIM_DONE);
    UNIT_EQ(view(b, a)[1023], 100);
    UNIT_EQ(report_errors(b->report), 0);
}

/* Two kernels that never wait have both workers; a third one gets its turn all the same, started or run at once. */
static void test_heartbeats(struct bench *b)
{
    u64 stop = memory(b, 4, MEM_PINNED), a = memory(b, 4096, MEM_DEVICE);
    struct three p[2] = { { memory(b, 4, MEM_DEVICE), stop }, { memory(b, 4, MEM_DEVICE), stop } };
    struct sim_launch x = shape(b, "beat", 1, 1, &p[0]), y = shape(b, "beat", 1, 1, &p[1]),
                      z = shape(b, "add", 8, 128, &a);
    struct launch *first = start(b, &x), *second = start(b, &y), *third = start(b, &z);
    UNIT_EQ(end(third), SIM_DONE);
    struct sim_result r = { 0 };
    struct error e = { 0 };
    UNIT(sim_run(b->sim, &z, &r, &e));
    UNIT_EQ(view(b, a)[1023], 2);
    while (!*view(b, p[0].a) || !*view(b, p[1].a)) usleep(100);
    *view(b, stop) = 1;
    UNIT_EQ(end(first), SIM_DONE);
    UNIT_EQ(end(second), SIM_DONE);
    UNIT_EQ(report_errors(b->report), 0);
}

static _Atomic int may_change;
static bool ask(void *self)
{
    (void)self;
    return may_change != 0;
}

/* Two kernels that wait for each other: a deadlock, of both, but not while something outside may still write. */
static void test_deadlock(struct bench *b, bool outside)
{
    u64 f = memory(b, 4, MEM_DEVICE), g = memory(b, 4, MEM_DEVICE);
    struct three p = { f, g }, q = { g, f };
    struct sim_launch x = shape(b, "await", 1, 1, &p), y = shape(b, "await", 1, 1, &q);
    may_change = outside;
    sim_outside(b->sim, ask, NULL);
    struct launch *first = start(b, &x), *second = start(b, &y);
    if (outside) {
        usleep(30000);
        UNIT(!sim_ended(first) && !sim_ended(second));
        *view(b, f) = 1; /* as a copy does */
    }
    UNIT_EQ(end(first), outside ? SIM_DONE : SIM_DEADLOCK);
    UNIT_EQ(end(second), outside ? SIM_DONE : SIM_DEADLOCK);
    UNIT_EQ(report_errors(b->report), outside ? 0 : 1); /* the same loop of the same kernel: one finding */
    sim_outside(b->sim, NULL, NULL);
    report_clear(b->report);
}

/* A higher priority goes first where both are ready: with one worker that is an order. */
static void test_priority(struct bench *b)
{
    u64 stop = memory(b, 4, MEM_PINNED), beat = memory(b, 4, MEM_DEVICE), a = memory(b, 4096, MEM_DEVICE),
        c = memory(b, 4096, MEM_DEVICE);
    struct three p = { beat, stop };
    struct sim_launch stays = shape(b, "beat", 1, 1, &p), low = shape(b, "add", 8, 128, &a),
                      high = shape(b, "add", 8, 128, &c);
    high.priority = -1;
    struct launch *first = start(b, &stays), *l = start(b, &low), *h = start(b, &high);
    UNIT_EQ(end(h), SIM_DONE);
    UNIT_EQ(end(l), SIM_DONE);
    *view(b, stop) = 1;
    UNIT_EQ(end(first), SIM_DONE);
    UNIT_EQ(view(b, a)[1023] + view(b, c)[1023], 2);
}

/* ---- many ---- */

enum { THREADS = 4, EACH = 100 };
static _Atomic u32 done_calls;
static void count_done(void *self)
{
    (void)self;
    done_calls++;
}

struct user {
    struct bench *b;
    u64 a;
};
static void *use(void *arg)
{
    struct user *u = arg;
    for (u32 k = 0; k < EACH; k++) {
        struct sim_launch in = shape(u->b, "add", k % 3 ? 8 : 1, 128, &u->a);
        in.done = count_done;
        if (k % 4) {
            UNIT_EQ(end(start(u->b, &in)), SIM_DONE);
        } else {
            struct sim_result r = { 0 };
            struct error e = { 0 };
            UNIT(sim_run(u->b->sim, &in, &r, &e));
        }
    }
    return NULL;
}

/* Several threads of the host, each with launches of its own. */
static void test_threads(struct bench *b)
{
    pthread_t t[THREADS];
    struct user u[THREADS];
    u32 far = 0;
    for (u32 k = 0; k < EACH; k++) far += k % 3 != 0;
    done_calls = 0;
    for (u32 k = 0; k < THREADS; k++) {
        u[k] = (struct user){ b, memory(b, 4096, MEM_DEVICE) };
        UNIT(!pthread_create(&t[k], NULL, use, &u[k]));
    }
    for (u32 k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    for (u32 k = 0; k < THREADS; k++) {
        UNIT_EQ(view(b, u[k].a)[0], EACH);
        UNIT_EQ(view(b, u[k].a)[1023], far);
    }
    u64 late = time_ns() + 20000000000u;
    while (done_calls != THREADS * (EACH - EACH / 4) && time_ns() < late) usleep(10); /* the last may be under way */
    UNIT_EQ(done_calls, THREADS * (EACH - EACH / 4));
    UNIT_EQ(report_errors(b->report), 0);
}

/* ---- seeds ---- */

/* Under a seed launches run only when somebody waits, in turns that it draws: the same seed, the same instructions. */
static u64 seeded_steps(u64 seed)
{
    struct bench b = bench_new(1);
    b.seeded = true;
    b.seed = seed;
    u64 at = memory(&b, 4, MEM_DEVICE);
    struct two even = { at, 0, 20 }, odd = { at, 1, 20 };
    struct sim_launch x = shape(&b, "ping", 1, 1, &even), y = shape(&b, "ping", 1, 1, &odd);
    struct launch *first = start(&b, &y), *second = start(&b, &x);
    usleep(1000);
    UNIT_EQ(*view(&b, at), 0);
    struct sim_result r = { 0 }, q = { 0 };
    struct error e = { 0 };
    UNIT(sim_wait(first, &r, &e) && sim_wait(second, &q, &e));
    UNIT_EQ(*view(&b, at), 40);
    bench_delete(&b);
    return r.warp_insns << 32 | q.warp_insns;
}

int main(void)
{
    for (u32 workers = 1; workers <= 2; workers++) {
        struct bench b = bench_new(workers);
        test_flag(&b);
        test_cooperative(&b);
        test_behind_persistent(&b);
        test_answers(&b);
        test_heartbeats(&b);
        test_deadlock(&b, false);
        test_deadlock(&b, true);
        test_priority(&b);
        test_threads(&b);
        bench_delete(&b);
    }
    for (u64 seed = 1; seed <= 3; seed++) UNIT_EQ(seeded_steps(seed), seeded_steps(seed));
    return unit_done();
}
