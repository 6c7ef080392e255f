/* Managed memory of a program: a host that does not wait for the kernel is told so; one that waits, works on other
 * bytes, or signals a kernel that waits for it is not; and by policy the host waits. */
#include "unit.h"
#include <lockstep.h>
#include <stdbool.h>
#include <time.h>

/* add  1 to each of 64 elements of x. obey  adds 1 to *out when *flag is set. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry add(.param .u64 x)\n{\n .reg .b64 %rd<3>;\n .reg .b32 %r<4>;\n"
    " ld.param.u64 %rd1, [x];\n mov.u32 %r1, %tid.x;\n mul.wide.u32 %rd2, %r1, 4;\n add.u64 %rd1, %rd1, %rd2;\n"
    " ld.global.u32 %r2, [%rd1];\n add.u32 %r2, %r2, 1;\n st.global.u32 [%rd1], %r2;\n ret;\n}\n"
    ".visible .entry obey(.param .u64 flag, .param .u64 out)\n{\n .reg .b64 %rd<3>;\n .reg .b32 %r<3>;\n .reg .pred "
    "%p;\n"
    " ld.param.u64 %rd1, [flag];\n ld.param.u64 %rd2, [out];\n"
    "again:\n ld.acquire.sys.global.u32 %r1, [%rd1];\n setp.eq.u32 %p, %r1, 0;\n @%p bra again;\n"
    " ld.global.u32 %r2, [%rd2];\n add.u32 %r2, %r2, 1;\n st.global.u32 [%rd2], %r2;\n ret;\n}\n";

static lk_gpu *gpu;
static lk_module *module;
static lk_stream *stream;
static uint64_t gate; /* pinned: the stream waits until it is 1 */
static volatile uint32_t *x, *gate_here;
static uint64_t at;

static void ok_at(lk_status s, int line)
{
    if (!unit_check(s == LK_OK, __FILE__, line, "LK_OK")) fprintf(stderr, "  %d: %s\n", (int)s, lk_gpu_error(gpu));
}
#define OK(call) ok_at(call, __LINE__)

static void open_without(const char *policy, const char *no_check)
{
    lk_options o = { .size = sizeof o, .threads = 2, .managed = policy, .no_check = no_check };
    OK(lk_gpu_create(&o, &gpu));
    OK(lk_module_load(gpu, "managed.ptx", ptx, sizeof ptx - 1, &module));
    OK(lk_stream_create(gpu, 0, 0, &stream));
    OK(lk_memory_alloc(gpu, 8192, LK_MEMORY_MANAGED, "x", &at));
    OK(lk_memory_fill(gpu, at, 0, 8192));
    OK(lk_memory_alloc(gpu, 4, LK_MEMORY_PINNED, "gate", &gate));
    x = (volatile uint32_t *)(uintptr_t)at;
    gate_here = (volatile uint32_t *)(uintptr_t)gate;
    *gate_here = 0;
}

static void open_all(const char *policy) { open_without(policy, NULL); }

static void launch(const char *name, const void *const *args, uint32_t count, uint32_t threads)
{
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { threads }, .args = args, .arg_count = count };
    l.stream = stream;
    l.site = "the launch";
    OK(lk_kernel_launch(lk_module_kernel(module, name), &l, NULL));
}

static void add(void)
{
    const void *args[] = { &at };
    launch("add", args, 1, 64);
}

static uint32_t close_all(const char *part)
{
    uint32_t errors = lk_report_errors(gpu);
    char *text = lk_report_text(gpu, 0);
    if (part)
        UNIT_HAS(text, part);
    else if (!UNIT_EQ(errors, 0))
        fprintf(stderr, "%s\n", text);
    lk_text_free(text);
    lk_gpu_destroy(gpu);
    return errors;
}

static void unsynced(bool bad)
{
    open_all(NULL);
    OK(lk_stream_wait_value(stream, gate, 32, 1, LK_COMPARE_EQ));
    add();
    uint32_t seen = bad ? x[3] : 0;
    __atomic_store_n((uint32_t *)gate_here, 1, __ATOMIC_RELEASE);
    OK(lk_stream_synchronise(stream));
    UNIT_EQ(seen, 0);
    UNIT_EQ(x[3], 1);
    UNIT_EQ(close_all(bad ? "managed_touched" : NULL), bad);
}

/* The host writes what the kernel reads; and bytes of the same page that the kernel does not use. */
static void other_bytes(bool bad)
{
    open_all("report");
    OK(lk_stream_wait_value(stream, gate, 32, 1, LK_COMPARE_EQ));
    add();
    x[bad ? 63 : 64] = 5;
    x[1500] = 5;
    __atomic_store_n((uint32_t *)gate_here, 1, __ATOMIC_RELEASE);
    OK(lk_stream_synchronise(stream));
    UNIT_EQ(x[63], bad ? 6 : 1);
    UNIT_EQ(close_all(bad ? "managed_touched" : NULL), bad);
}

/* The host prepares the next turn of a kernel while its last one is queued: what comes later is ordered. */
static void in_turn(void)
{
    open_all("report");
    for (int k = 0; k < 3; k++) {
        x[5] = 10 * (uint32_t)k;
        add();
        OK(lk_stream_synchronise(stream));
        UNIT_EQ(x[5], 10 * (uint32_t)k + 1);
    }
    close_all(NULL);
}

/* A kernel that waits for the host through managed memory. */
static void signalled(const char *policy)
{
    open_all(policy);
    uint64_t out = at + 4096;
    const void *args[] = { &at, &out };
    launch("obey", args, 2, 1);
    nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
    __atomic_store_n((uint32_t *)(uintptr_t)at, 1, __ATOMIC_RELEASE);
    OK(lk_stream_synchronise(stream));
    UNIT_EQ(x[1024], 1);
    close_all(NULL);
}

static void call_slowly(void *self)
{
    (void)self;
    nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
}

/* By policy the host waits, and sees what the kernel wrote. */
static void waits(const char *no_check)
{
    open_without("wait", no_check);
    OK(lk_host_call(stream, call_slowly, NULL));
    add();
    UNIT_EQ(x[7], 1);
    x[7] = 9;
    OK(lk_stream_synchronise(stream));
    UNIT_EQ(x[7], 9);
    close_all(NULL);
}

int main(void)
{
    unsynced(true);
    unsynced(false);
    other_bytes(true);
    other_bytes(false);
    in_turn();
    signalled(NULL);
    signalled("report");
    signalled("wait");
    waits(NULL);
    waits("race");
    return unit_done();
}
