/* A quick start over lockstep.h: cc quick.c -llockstep; ./a.out [gpu]. No GPU is needed without the word. */
#include <lockstep.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry scale(.param .u64 x, .param .f32 by)\n{\n"
                          " .reg .b64 %d<3>;\n .reg .b32 %r;\n .reg .f32 %f<3>;\n ld.param.u64 %d1, [x];\n"
                          " ld.param.f32 %f1, [by];\n mov.u32 %r, %tid.x;\n mul.wide.u32 %d2, %r, 4;\n"
                          " add.u64 %d1, %d1, %d2;\n ld.global.f32 %f2, [%d1];\n mul.f32 %f2, %f2, %f1;\n"
                          " st.global.f32 [%d1], %f2;\n ret;\n}\n";

int main(int argc, char **argv)
{
    lk_options o = { .size = sizeof o, .on = argc > 1 ? argv[1] : "sim" };
    lk_gpu *gpu;
    lk_module *m;
    uint64_t x;
    float data[4] = { 1, 2, 3, 4 };
    if (lk_gpu_create(&o, &gpu)) return puts(lk_gpu_error(NULL)), 2;
    if (lk_module_load(gpu, "quick.ptx", ptx, sizeof ptx - 1, &m)) return puts(lk_gpu_error(gpu)), 2;
    lk_memory_alloc(gpu, sizeof data, LK_MEMORY_DEVICE, "x", &x);
    lk_memory_write(gpu, x, data, sizeof data);
    lk_value v[] = { lk_value_buffer(x), lk_value_f32(3) };
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 4 }, .values = v, .arg_count = 2 };
    if (lk_kernel_launch(lk_module_kernel(m, "scale"), &l, NULL)) puts(lk_gpu_error(gpu));
    lk_memory_read(gpu, x, data, sizeof data);
    printf("%g %g %g %g\n", data[0], data[1], data[2], data[3]);
    v[1] = lk_value_i64(3); /* refused, by its number */
    if (lk_kernel_launch(lk_module_kernel(m, "scale"), &l, NULL)) puts(lk_gpu_error(gpu));
    return lk_gpu_destroy(gpu);
}
