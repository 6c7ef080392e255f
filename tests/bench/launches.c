/* launches: what sim_start and sim_wait cost, below streams: src/machine/sim/sim.h alone, without the race check.
 *
 *     launches
 *
 * The call of sim_start with idle workers, and with workers that are busy. From sim_start to the return of sim_wait,
 * with one worker and with two. From the end of a launch, which its `done` tells, to the first store of one that `done`
 * starts. Two equal grids side by side on two workers, against one after the other. Medians; exit 1 when a target is
 * missed. */
#include "device/dev_parts.h"
#include "figure.h"
#include "mem/shadow.h"
#include "sim/sim.h"
#include <stdlib.h>

enum { ROUNDS = 20000, GRIDS = 31 };
static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry empty()\n{\nret;\n}\n"
    ".visible .entry await(.param .u64 flag)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r; .reg .pred %p;\nld.param.u64 %rd, [flag];\n"
    "again:\nld.relaxed.sys.global.u32 %r, [%rd];\nsetp.eq.u32 %p, %r, 0;\n@%p bra again;\nret;\n}\n"
    ".visible .entry count(.param .u64 to, .param .u32 n)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<6>; .reg .pred %p;\nld.param.u64 %rd1, [to]; ld.param.u32 %r1, [n];\n"
    "mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r2, %r2, %r3, %r4;\n"
    "mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2; mov.u32 %r5, 0;\n"
    "again:\nmad.lo.u32 %r5, %r5, 5, %r2;\nsub.u32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p bra again;\n"
    "st.global.u32 [%rd1], %r5;\nret;\n}\n";

static double t[ROUNDS];

static struct {
    struct mem *mem;
    struct sim *sim;
    struct report *report;
    struct ptx_module *module;
} gpu;

static void stop(const char *why, const struct error *e)
{
    fprintf(stderr, "launches: %s: %s\n", why, e->text);
    exit(2);
}

static void gpu_open(u32 workers)
{
    struct error e = { 0 };
    gpu.mem = mem_new(&e);
    gpu.report = report_new();
    gpu.module = ptx_parse("launches.ptx", (struct str){ text, sizeof text - 1 }, &e);
    if (!gpu.mem || !gpu.module) stop("open", &e);
    gpu.sim = sim_new(gpu.mem, card_default(), workers, &dev_parts);
}

static void gpu_close(void)
{
    sim_forget(gpu.module);
    sim_delete(gpu.sim);
    ptx_free(gpu.module);
    report_free(gpu.report);
    mem_delete(gpu.mem);
}

static u64 memory(u64 bytes)
{
    struct error e = { 0 };
    struct mem_object *o = mem_alloc(gpu.mem, bytes, 0, MEM_GLOBAL, "x", NULL, &e);
    if (!o) stop("memory", &e);
    memset(mem_view(o, o->base), 0, bytes);
    shadow_define(mem_shadow(gpu.mem), o->base, bytes);
    return o->base;
}

static struct sim_launch shape(const char *kernel, u32 ctas, u32 threads, const void *params)
{
    return (struct sim_launch){ .kernel = ptx_kernel(gpu.module, (struct str){ kernel, (u32)strlen(kernel) }),
                                .grid = { ctas, 1, 1 },
                                .block = { threads, 1, 1 },
                                .params = params,
                                .checks = CHECK_ALL & ~(CHECK_RACE | CHECK_ASYNC),
                                .report = gpu.report };
}

static struct launch *start(const struct sim_launch *in)
{
    struct error e = { 0 };
    struct launch *l = sim_start(gpu.sim, in, &e);
    if (!l) stop("sim_start", &e);
    return l;
}

static void end(struct launch *l)
{
    struct error e = { 0 };
    struct sim_result r;
    if (!sim_wait(l, &r, &e) || r.end != SIM_DONE) stop("sim_wait", &e);
}

static void issue(void)
{
    gpu_open(1);
    struct sim_launch empty = shape("empty", 1, 1, NULL);
    for (u32 i = 0; i < ROUNDS; i++) {
        u64 begin = time_ns();
        struct launch *l = start(&empty);
        t[i] = (double)(time_ns() - begin) / 1e3;
        end(l);
    }
    figure("sim_start of an empty kernel, its worker asleep", t, ROUNDS, 0);
    u64 flag = memory(4);
    struct sim_launch wait = shape("await", 1, 1, &flag);
    struct launch *busy = start(&wait), *l[8];
    for (u32 i = 0; i < ROUNDS; i += COUNT_OF(l)) {
        for (u32 k = 0; k < COUNT_OF(l); k++) {
            u64 begin = time_ns();
            l[k] = start(&empty);
            t[i + k] = (double)(time_ns() - begin) / 1e3;
        }
        for (u32 k = 0; k < COUNT_OF(l); k++) end(l[k]);
    }
    figure("the same, eight in a row beside a kernel that polls", t, ROUNDS, 2);
    __atomic_store_n((u32 *)mem_view(mem_find(gpu.mem, flag), flag), 1, __ATOMIC_RELEASE);
    end(busy);
    gpu_close();
}

static void start_and_wait(u32 workers)
{
    char what[80];
    gpu_open(workers);
    struct sim_launch empty = shape("empty", 1, 1, NULL);
    for (u32 i = 0; i < ROUNDS; i++) {
        u64 begin = time_ns();
        end(start(&empty));
        t[i] = (double)(time_ns() - begin) / 1e3;
    }
    snprintf(what, sizeof what, "sim_start + sim_wait of an empty kernel, %u worker%s", workers,
             workers > 1 ? "s" : "");
    figure(what, t, ROUNDS, 10);
    gpu_close();
}

static double two(const struct sim_launch *a, const struct sim_launch *b, bool together)
{
    u64 begin = time_ns();
    struct launch *x = start(a);
    if (!together) end(x);
    struct launch *y = start(b);
    if (together) end(x);
    end(y);
    return (double)(time_ns() - begin) / 1e6;
}

static void side_by_side(void)
{
    enum { CTAS = 256, THREADS = 256, STEPS = 200 };
    static double one[GRIDS], both[GRIDS];
    gpu_open(2);
    struct {
        u64 to;
        u32 n;
    } pa = { memory(CTAS * THREADS * 4), STEPS }, pb = { memory(CTAS * THREADS * 4), STEPS };
    struct sim_launch a = shape("count", CTAS, THREADS, &pa), b = shape("count", CTAS, THREADS, &pb);
    for (u32 i = 0; i < GRIDS; i++) {
        one[i] = two(&a, &b, false);
        both[i] = two(&a, &b, true);
    }
    qsort(one, GRIDS, sizeof *one, ascending);
    qsort(both, GRIDS, sizeof *both, ascending);
    double ratio = both[GRIDS / 2] / one[GRIDS / 2];
    printf("two equal grids, two workers: %.2f ms one after the other, %.2f ms side by side: %.3f (target 1.1: %s)\n",
           one[GRIDS / 2], both[GRIDS / 2], ratio, ratio <= 1.1 ? "met" : "MISSED");
    missed |= ratio > 1.1;
    gpu_close();
}

static struct sim_launch second;
static struct launch *second_launch;
static void start_second(void *self)
{
    *(u64 *)self = time_ns();
    __atomic_store_n(&second_launch, start(&second), __ATOMIC_RELEASE);
}
static void second_done(void *self) { __atomic_store_n((u64 *)self, time_ns(), __ATOMIC_RELEASE); }

static void chained(void)
{
    u64 from, to;
    gpu_open(2);
    struct sim_launch first = shape("empty", 1, 1, NULL);
    first.done = start_second;
    first.done_self = &from;
    second = shape("empty", 1, 1, NULL);
    second.done = second_done;
    second.done_self = &to;
    for (u32 i = 0; i < ROUNDS; i++) {
        to = 0;
        second_launch = NULL;
        end(start(&first));
        while (!__atomic_load_n(&to, __ATOMIC_ACQUIRE) || !__atomic_load_n(&second_launch, __ATOMIC_ACQUIRE))
            cpu_relax();
        end(second_launch);
        t[i] = (double)(to - from) / 1e3;
    }
    figure("from the end of a launch to the end of the one that it starts", t, ROUNDS, 5);
    gpu_close();
}

int main(void)
{
    start_and_wait(1);
    start_and_wait(2);
    issue();
    chained();
    side_by_side();
    return missed;
}
