/* Several launches in flight, through lockstep.h: kernels that need each other, grids that are placed whole, a kernel
 * that talks to the host while others come and go. With all checks, on one worker and on two, and under a seed where
 * the host need not act meanwhile; with the argument "gpu" the same programs on an H200. */
#include "unit.h"
#include <lockstep.h>
#include <stdlib.h>

/* pass  waits until *from is not 0 (unless from is null), then sets *to.
 * ping  adds one to *a whenever its lowest bit is `mine`, n times: two of them need each other.
 * meet  every CTA counts in *count and waits until n have.
 * beat  counts in count[CTA] until *stop is set.
 * serve  stores request + 1 to *answer whenever *request has changed, until that is 2^32 - 1.
 * add  n to each element. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry pass(.param .u64 from, .param .u64 to)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r; .reg .pred %p;\nld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to];\n"
    "setp.eq.u64 %p, %rd1, 0; @%p bra set;\n"
    "again: ld.acquire.gpu.global.u32 %r, [%rd1]; setp.eq.u32 %p, %r, 0; @%p bra again;\n"
    "set: st.release.gpu.global.u32 [%rd2], 1;\nret;\n}\n"
    ".visible .entry ping(.param .u64 a, .param .u32 mine, .param .u32 n)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<5>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [a]; ld.param.u32 %r1, [mine]; ld.param.u32 %r2, [n];\n"
    "turn: ld.acquire.gpu.global.u32 %r3, [%rd]; and.b32 %r4, %r3, 1; setp.ne.u32 %p, %r4, %r1; @%p bra turn;\n"
    "add.u32 %r3, %r3, 1; st.release.gpu.global.u32 [%rd], %r3; sub.u32 %r2, %r2, 1;\n"
    "setp.ne.u32 %p, %r2, 0; @%p bra turn;\nret;\n}\n"
    ".visible .entry meet(.param .u64 count, .param .u32 n)\n{\n"
    ".reg .u64 %rd; .reg .u32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %rd, [count]; ld.param.u32 %r1, [n]; atom.acq_rel.gpu.global.add.u32 %r2, [%rd], 1;\n"
    "again: ld.acquire.gpu.global.u32 %r2, [%rd]; setp.lt.u32 %p, %r2, %r1; @%p bra again;\nret;\n}\n"
    ".visible .entry beat(.param .u64 count, .param .u64 stop)\n{\n"
    ".reg .u64 %rd<4>; .reg .u32 %r<3>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [count]; ld.param.u64 %rd2, [stop]; mov.u32 %r1, %ctaid.x; mul.wide.u32 %rd3, %r1, 4;\n"
    "add.u64 %rd1, %rd1, %rd3; mov.u32 %r1, 0;\n"
    "again: add.u32 %r1, %r1, 1; st.relaxed.gpu.global.u32 [%rd1], %r1; ld.relaxed.sys.global.u32 %r2, [%rd2];\n"
    "setp.eq.u32 %p, %r2, 0; @%p bra again;\nret;\n}\n"
    ".visible .entry serve(.param .u64 request, .param .u64 answer)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [request]; ld.param.u64 %rd2, [answer]; mov.u32 %r2, 0;\n"
    "again: ld.acquire.sys.global.u32 %r1, [%rd1]; setp.eq.u32 %p, %r1, %r2; @%p bra again;\n"
    "mov.u32 %r2, %r1; setp.eq.u32 %p, %r1, 0xffffffff; @%p bra done;\n"
    "add.u32 %r3, %r1, 1; st.release.sys.global.u32 [%rd2], %r3; bra again;\ndone: ret;\n}\n"
    ".visible .entry add(.param .u64 x, .param .u32 n)\n{\n"
    ".reg .u64 %rd<3>; .reg .u32 %r<5>;\n"
    "ld.param.u64 %rd1, [x]; ld.param.u32 %r1, [n]; mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x;\n"
    "mad.lo.u32 %r2, %r3, 64, %r2; mul.wide.u32 %rd2, %r2, 4; add.u64 %rd1, %rd1, %rd2;\n"
    "ld.global.u32 %r4, [%rd1]; add.u32 %r4, %r4, %r1; st.global.u32 [%rd1], %r4;\nret;\n}\n";

enum { N = 256, MOST = 132 };
/* Of the device: multiprocessors, and how much shared memory makes one CTA fill one. */
static uint32_t sms = 132, shared = 200 << 10;

static const char *on; /* lk_options.on */
static lk_gpu *gpu;
static lk_module *module;
static lk_stream *x, *y, *z;

static void ok_at(lk_status s, int line)
{
    if (!unit_check(s == LK_OK, __FILE__, line, "LK_OK")) fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, __LINE__)

static lk_stream *stream_new(void)
{
    lk_stream *s = NULL;
    OK(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    return s;
}

/* seed: < 0: none. */
static void open_as(uint32_t workers, int seed, const char *device)
{
    lk_options o = {
        .size = sizeof o, .threads = workers, .seeded = seed >= 0, .seed = (uint64_t)seed, .on = on, .device = device
    };
    if (!UNIT(lk_gpu_create(&o, &gpu) == LK_OK)) {
        fprintf(stderr, "%s\n", lk_gpu_error(NULL));
        exit(unit_done());
    }
    OK(lk_module_load(gpu, "launches.ptx", ptx, sizeof ptx - 1, &module));
    x = stream_new();
    y = stream_new();
    z = stream_new();
}

static void open_all(uint32_t workers, int seed) { open_as(workers, seed, NULL); }

/* All is done, without a finding. */
static void close_all(void)
{
    OK(lk_gpu_synchronise(gpu));
    if (!UNIT(!lk_report_errors(gpu))) {
        char *text = lk_report_text(gpu, 0);
        fprintf(stderr, "%s\n", text);
        lk_text_free(text);
    }
    lk_gpu_destroy(gpu);
}

static uint64_t memory(lk_memory_kind kind, uint64_t bytes)
{
    uint64_t at = 0;
    OK(lk_memory_alloc(gpu, bytes, kind, "x", &at));
    OK(lk_memory_fill(gpu, at, 0, bytes));
    return at;
}

static volatile uint32_t *host(uint64_t at)
{
    void *p = NULL;
    OK(lk_memory_host(gpu, at, &p));
    return p;
}

static uint32_t value(uint64_t at)
{
    uint32_t v = 0;
    OK(lk_memory_read(gpu, at, &v, 4));
    return v;
}

/* Of a kernel whose first parameter is an address; the others are given by `second` and `third`. */
struct task {
    const char *kernel;
    uint32_t grid, block, shared, cooperative;
    uint64_t first, second, third;
};
static void start(lk_stream *s, struct task t)
{
    lk_kernel *k = lk_module_kernel(module, t.kernel);
    const void *args[] = { &t.first, &t.second, &t.third };
    lk_launch l = { .size = sizeof l,
                    .grid = { t.grid },
                    .block = { t.block },
                    .shared_bytes = t.shared,
                    .shared_optin = t.shared,
                    .cooperative = t.cooperative,
                    .args = args,
                    .arg_count = lk_kernel_param_count(k),
                    .stream = s };
    OK(lk_kernel_launch(k, &l, NULL));
}
#define START(s, ...) start(s, (struct task){ __VA_ARGS__ })

/* Two kernels hand a flag to each other, in either order of their calls. */
static void handing_over(uint32_t workers, int seed)
{
    open_all(workers, seed);
    uint64_t a = memory(LK_MEMORY_DEVICE, 4);
    for (uint32_t k = 0; k < 2; k++) {
        START(x, "ping", 1, 1, .first = a, .second = k, .third = 20);
        START(y, "ping", 1, 1, .first = a, .second = !k, .third = 20);
        OK(lk_gpu_synchronise(gpu));
        UNIT_EQ(value(a), 40 * (k + 1));
    }
    close_all();
}

/* Nine kernels of nine streams, one more than a GPU has connections by default, each waiting for the one that is
 * enqueued after it: the first to start is the last to end. */
static void nine_streams(uint32_t workers, int seed)
{
    open_all(workers, seed);
    enum { STREAMS = 9 };
    uint64_t flag = memory(LK_MEMORY_DEVICE, 4 * STREAMS);
    for (uint32_t k = 0; k < STREAMS; k++) {
        uint64_t next = k + 1 < STREAMS ? flag + 4 * (k + 1) : 0;
        START(stream_new(), "pass", 1, 1, .first = next, .second = flag + 4 * k);
    }
    OK(lk_gpu_synchronise(gpu));
    for (uint32_t k = 0; k < STREAMS; k++) UNIT_EQ(value(flag + 4 * k), 1);
    close_all();
}

/* Two cooperative grids of 60 % of the multiprocessors each, enqueued together; then one of 60 % behind a kernel of
 * 10 % that stays: it is placed beside it, whole. */
#ifndef UNIT_SANITIZED
static void whole_grids(uint32_t workers, int seed)
{
    open_as(workers, seed, on ? NULL : "l4"); /* 58 multiprocessors, for the time it takes */
    uint64_t a = memory(LK_MEMORY_DEVICE, 4), b = memory(LK_MEMORY_DEVICE, 4),
             count = memory(LK_MEMORY_DEVICE, 4 * MOST), stop = memory(LK_MEMORY_PINNED, 4);
    uint32_t n = sms * 6 / 10;
    START(x, "meet", n, 1, shared, 1, .first = a, .second = n);
    START(y, "meet", n, 1, shared, 1, .first = b, .second = n);
    OK(lk_gpu_synchronise(gpu));
    UNIT(value(a) == n && value(b) == n);
    START(z, "beat", sms / 10, 1, shared, .first = count, .second = stop);
    START(x, "meet", n, 1, shared, 1, .first = a, .second = 2 * n);
    OK(lk_stream_synchronise(x));
    UNIT_EQ(value(a), 2 * n);
    UNIT_EQ(lk_stream_query(z), LK_NOT_READY);
    *host(stop) = 1;
    OK(lk_gpu_synchronise(gpu));
    for (uint32_t k = 0; k < sms / 10; k++) UNIT(value(count + 4 * k) > 0);
    close_all();
}
#endif

/* A kernel that stays answers the host through mapped memory while kernels and copies of other streams come and go. */
static void persistent(uint32_t workers)
{
    open_all(workers, -1);
    uint64_t request = memory(LK_MEMORY_PINNED, 4), answer = memory(LK_MEMORY_PINNED, 4),
             a = memory(LK_MEMORY_DEVICE, 4 * N), b = memory(LK_MEMORY_DEVICE, 4 * N);
    volatile uint32_t *asked = host(request), *told = host(answer);
    START(x, "serve", 1, 1, .first = request, .second = answer);
    uint32_t got[N];
    for (uint32_t i = 1; i <= 20; i++) {
        START(y, "add", N / 64, 64, .first = a, .second = i);
        OK(lk_memory_copy_async(y, b, a, 4 * N));
        __atomic_store_n(asked, i * 10, __ATOMIC_RELEASE);
        while (__atomic_load_n(told, __ATOMIC_ACQUIRE) != i * 10 + 1) {}
        OK(lk_memory_read_async(y, b, got, sizeof got)); /* pageable: done when it returns */
        UNIT(got[0] == i * (i + 1) / 2 && got[N - 1] == got[0]);
        UNIT_EQ(lk_stream_query(x), LK_NOT_READY);
    }
    __atomic_store_n(asked, UINT32_MAX, __ATOMIC_RELEASE);
    OK(lk_stream_synchronise(x));
    close_all();
}

/* Two CTAs that do nothing but write, and with them both workers busy: a copy and a kernel of another stream run all
 * the same, and a written value ends it. */
static void heartbeats(uint32_t workers, int seed)
{
    open_all(workers, seed);
    uint64_t count = memory(LK_MEMORY_DEVICE, 8), stop = memory(LK_MEMORY_DEVICE, 4), a = memory(LK_MEMORY_DEVICE, 256),
             back = memory(LK_MEMORY_PINNED, 256);
    START(x, "beat", 2, 1, .first = count, .second = stop);
    uint32_t in[64];
    for (uint32_t i = 0; i < 64; i++) in[i] = i;
    OK(lk_memory_write_async(y, a, in, sizeof in));
    START(y, "add", 1, 64, .first = a, .second = 5);
    OK(lk_memory_copy_async(y, back, a, 256));
    OK(lk_stream_synchronise(y));
    for (uint32_t i = 0; i < 64; i++) UNIT_EQ(host(back)[i], i + 5);
    UNIT_EQ(lk_stream_query(x), LK_NOT_READY);
    OK(lk_stream_write_value(y, stop, 32, 1));
    OK(lk_stream_synchronise(x));
    UNIT(value(count) > 0 && value(count + 4) > 0);
    close_all();
}

static void all(uint32_t workers, int seed)
{
    handing_over(workers, seed);
    nine_streams(workers, seed);
#ifndef UNIT_SANITIZED /* dozens of CTAs that poll: minutes under a sanitizer */
    whole_grids(workers, seed);
#endif
    heartbeats(workers, seed);
}

int main(int argc, char **argv)
{
    if (argc > 1) {
        on = argv[1];
        all(0, -1);
        persistent(0);
        return unit_done();
    }
    sms = 58;
    shared = 90 << 10;
    for (uint32_t workers = 1; workers <= 2; workers++) {
        all(workers, -1);
        persistent(workers);
    }
    all(1, 1);
    for (int seed = 2; seed <= 20; seed++) {
        handing_over(1, seed);
        nine_streams(1, seed);
    }
    return unit_done();
}
