/* Two devices side by side: a second gpu of the same kind, where there is one, else the software one. */
#include "suite.h"

static lk_gpu *second;

static int begin(void)
{
    lk_options o = { .size = sizeof o, .on = on_gpu && lk_gpu_count() > 1 ? "gpu:1" : "sim", .threads = 1 };
    return OK(lk_gpu_create(&o, &second));
}
static void end(void) { OK(lk_gpu_destroy(second)); }

static lk_module *load(lk_gpu *to)
{
    char path[700];
    lk_module *m = NULL;
    snprintf(path, sizeof path, "%s/jobs.ptx", folder);
    OK(lk_module_load_file(to, path, &m));
    return m;
}

static void both_work(int unused)
{
    int32_t x[32] = { 0 }, y[32];
    uint64_t here = buffer(128, x), there = 0;
    (void)unused;
    if (!begin()) return;
    lk_module *m = load(second);
    OK(lk_memory_alloc(second, 128, LK_MEMORY_DEVICE, "there", &there));
    OK(lk_memory_write(second, there, x, 128));
    OK(LAUNCH(job("increment"), 32, 32, B(here), I(32)));
    OK(LAUNCH(lk_module_kernel(m, "multiply"), 32, 32, B(there), I(32), I(3)));
    OK(lk_memory_read(second, there, y, 128));
    CHECK(y[5] == 0);
    OK(lk_memory_read(gpu, here, y, 128));
    CHECK(y[5] == 1);
    OK(lk_memory_free(second, there));
    end();
}

static void memory_of_the_other(int unused)
{
    uint64_t there = 0;
    (void)unused;
    if (!begin()) return;
    OK(lk_memory_alloc(second, 128, LK_MEMORY_DEVICE, "there", &there));
    REFUSED(LAUNCH(job("increment"), 32, 32, B(there), I(32)), "; the kernel runs on device");
    lk_memory_info info = { .size = sizeof info };
    OK(lk_memory_at(NULL, there, &info));
    CHECK(info.gpu == second);
    CHECK(lk_memory_at(gpu, there, &info) == LK_NOTHING);
    OK(lk_memory_free(second, there));
    end();
}

static void copy_between(int back)
{
    int32_t x[64], y[64] = { 0 };
    uint64_t here = buffer(256, NULL), there = 0;
    numbers(x, 64, 1);
    if (!begin()) return;
    OK(lk_memory_alloc(second, 256, LK_MEMORY_DEVICE, "there", &there));
    OK(lk_memory_write(back ? second : gpu, back ? there : here, x, 256));
    lk_copy c = {
        .size = sizeof c, .to = { .gpu = second, .address = there }, .from = { .address = here }, .width = 256
    };
    if (back) c.to = (lk_end){ .address = here }, c.from = (lk_end){ .gpu = second, .address = there };
    lk_status s = lk_memory_copy(gpu, &c);
    if (on_gpu && lk_gpu_count() < 2) { /* a real and a software one have no way to each other but the host */
        CHECK(s != LK_OK && *lk_gpu_error(gpu));
    } else {
        suite_ok(__FILE__, __LINE__, "lk_memory_copy", s);
        OK(lk_memory_read(back ? gpu : second, back ? here : there, y, 256));
        CHECK(!memcmp(x, y, 256));
    }
    OK(lk_memory_free(second, there));
    end();
}

static void kernel_of_the_other(int unused)
{
    uint64_t d = buffer(128, NULL);
    lk_stream *s = stream_of(0);
    (void)unused;
    if (!begin()) return;
    lk_module *m = load(second);
    lk_value v[] = { B(d), I(32) };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 }, .values = v, .arg_count = 2, .stream = s };
    lk_status status = lk_kernel_launch(lk_module_kernel(m, "increment"), &l, NULL);
    CHECK(status == LK_BAD_INPUT);
    end();
}

static void properties(int unused)
{
    lk_gpu_info a = { .size = sizeof a }, b = { .size = sizeof b };
    (void)unused;
    OK(lk_gpu_properties(gpu, &a));
    CHECK(*a.name && a.arch >= 50 && a.multiprocessors && a.memory > 1 << 20 && a.is_real == (uint32_t)on_gpu);
    CHECK(!strcmp(a.name, lk_gpu_title(gpu)) && a.arch == lk_gpu_arch(gpu));
    uint32_t n = lk_gpu_count();
    CHECK(on_gpu ? n > 0 : 1);
    for (uint32_t i = 0; i < n; i++) CHECK(lk_gpu_at(i, &b) == LK_OK && *b.name && b.is_real);
    CHECK(lk_gpu_at(n, &b) == LK_BAD_INPUT && *lk_gpu_error(NULL));
}

static void one_after_the_other(int times)
{
    for (int i = 0; i < times; i++) {
        uint64_t at = 0;
        lk_options o = { .size = sizeof o, .on = on, .threads = 1 };
        lk_gpu *g = NULL;
        if (!OK(lk_gpu_create(&o, &g))) return;
        lk_module *m = load(g);
        int32_t x[32] = { 0 };
        OK(lk_memory_alloc(g, 128, LK_MEMORY_DEVICE, "x", &at));
        OK(lk_memory_write(g, at, x, 128));
        OK(LAUNCH(lk_module_kernel(m, "increment"), 32, 32, B(at), I(32)));
        OK(lk_memory_read(g, at, x, 128));
        CHECK(x[31] == 1);
        OK(lk_gpu_destroy(g)); /* with all that is its own */
    }
}

const struct test device_tests[] = { { "both_work", both_work, 0 },
                                     { "memory_of_the_other", memory_of_the_other, 0 },
                                     { "copy_to", copy_between, 0 },
                                     { "copy_from", copy_between, 1 },
                                     { "kernel_of_the_other", kernel_of_the_other, 0 },
                                     { "properties", properties, 0 },
                                     { "one_after_the_other", one_after_the_other, 3 },
                                     { 0 } };
