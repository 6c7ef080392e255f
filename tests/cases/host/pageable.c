/* pageable.c CARD: a kernel is given memory of malloc, of a variable and of the stack, on this card, and goes beyond a
 * block of malloc. */
#include <lockstep.h>
#include <stdlib.h>
#include <string.h>

/* twice(float *x): x[i] *= 2 for each of the threads. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry _Z5twicePf(.param .u64 x)\n{\n .reg .u64 %rd<4>;\n .reg .u32 %r<2>;\n .reg .f32 %f<2>;\n"
    " ld.param.u64 %rd0, [x];\n cvta.to.global.u64 %rd1, %rd0;\n mov.u32 %r0, %tid.x;\n mul.wide.u32 %rd2, %r0, 4;\n"
    " add.u64 %rd3, %rd1, %rd2;\n ld.global.f32 %f0, [%rd3];\n add.f32 %f0, %f0, %f0;\n st.global.f32 [%rd3], %f0;\n "
    "ret;\n}\n";
static lk_gpu *gpu;
static lk_kernel *twice;
static float variable[64];

static void launch(const char *what, float *x, uint32_t threads)
{
    uint64_t at = (uintptr_t)x;
    lk_launch l = {
        .size = sizeof l, .grid = { 1 }, .block = { threads }, .args = (const void *[]){ &at }, .arg_count = 1
    };
    x[63] = 21;
    lk_status s = lk_kernel_launch(twice, &l, NULL);
    printf("%s: %d%s%s, %g\n", what, (int)s, s == LK_BAD_INPUT ? " " : "", s == LK_BAD_INPUT ? lk_gpu_error(gpu) : "",
           x[63]);
}

int main(int argc, char **argv)
{
    lk_options o = { .size = sizeof o, .device = argc > 1 ? argv[1] : NULL, .seeded = 1, .seed = 1 };
    lk_module *m;
    float stack[64] = { 0 };
    if (lk_gpu_create(&o, &gpu) || lk_module_load(gpu, "twice.ptx", ptx, sizeof ptx - 1, &m)) return 2;
    twice = lk_module_kernel(m, "twice");
    float *heap = calloc(64, 4), *behind = calloc(64, 4);
    launch("malloc", heap, 64);
    launch("a variable", variable, 64);
    launch("the stack", stack, 64);
    free(heap);
    heap = calloc(1 << 20, 4); /* a mapping of its own */
    launch("a large one", heap, 64);
    launch("beyond a block", behind, 96);
    lk_memory_use use = { .size = sizeof use };
    lk_memory_usage(gpu, &use);
    printf("counted as memory of the device: %u bytes\n", (unsigned)use.used);
    lk_report_leaks(gpu);
    char *text = lk_report_text(gpu, 0);
    fputs(text ? text : "", stdout);
    lk_gpu_destroy(gpu);
    return 0;
}
