/* args.c WORD: arguments of a launch, wrong and right; the library says which, what the kernel takes, what it got. */
#include <lockstep.h>
#include <stdlib.h>
#include <string.h>

/* scale(float *x, int n, float by), move(struct { float x, y, z; } p, long n, float *to); they do nothing. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry _Z5scalePfif(.param .u64 x, .param .u32 n, .param .f32 by)\n{\n ret;\n}\n"
                          ".visible .entry _ZN2ns4moveE6vec3_tlPf(.param .align 4 .b8 p[12], .param .u64 n,"
                          " .param .u64 to)\n{\n ret;\n}\n";
struct vec3_t {
    float x, y, z;
};

static lk_gpu *gpu, *second;
static lk_kernel *scale, *move;

static void says(const char *what, lk_status s)
{
    printf("%s: %d%s%s\n", what, (int)s, s ? " " : "", s ? lk_gpu_error(gpu) : "");
}

static void launch(const char *what, lk_kernel *k, const void *const *args, const uint32_t *bytes, uint32_t n)
{
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .args = args, .arg_bytes = bytes, .arg_count = n };
    says(what, lk_kernel_launch(k, &l, NULL));
}

static void launch_values(const char *what, lk_kernel *k, const lk_value *values, uint32_t n)
{
    lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 1 }, .values = values, .arg_count = n };
    says(what, lk_kernel_launch(k, &l, NULL));
}

static uint64_t buffer(lk_gpu *g, const char *name)
{
    uint64_t at = 0;
    lk_memory_alloc(g, 400, LK_MEMORY_DEVICE, name, &at);
    return at;
}

/* A device pointer in place of its address; an array in place of a variable; 9 arguments for 3. */
static void args_by_value(int bad)
{
    uint64_t x = buffer(gpu, "x"), gone = buffer(gpu, "gone"), other = buffer(second, "other");
    int32_t n = 100;
    float by = 2, array[100] = { 1, 2, 3 };
    void *heap = malloc(400);
    lk_memory_free(gpu, gone);
    if (!bad) {
        launch("a pointer to each", scale, (const void *[]){ &x, &n, &by }, NULL, 3);
        launch_values("values", scale, (lk_value[]){ lk_value_buffer(x), lk_value_i32(n), lk_value_f32(by) }, 3);
        launch_values("null", scale, (lk_value[]){ { 0 }, lk_value_i32(n), lk_value_f32(by) }, 3);
    } else {
        launch("by value", scale, (const void *[]){ (const void *)(uintptr_t)x, &n, &by }, NULL, 3);
        launch("a number", scale, (const void *[]){ &x, (const void *)(uintptr_t)100, &by }, NULL, 3);
        launch("an array", scale, (const void *[]){ array, &n, &by }, NULL, 3);
        launch("of the host", scale, (const void *[]){ &heap, &n, &by }, NULL, 3);
        launch("freed", scale, (const void *[]){ &gone, &n, &by }, NULL, 3);
        launch("another gpu", scale, (const void *[]){ &other, &n, &by }, NULL, 3);
        launch("too many", scale, (const void *[]){ &x, &n, &by, &x, &x, &x, &x, &x, &x }, NULL, 9);
        launch("too few", scale, (const void *[]){ &x, &n }, NULL, 2);
        launch("nothing", scale, (const void *[]){ &x, NULL, &by }, NULL, 3);
        launch("no list", scale, (const void *const *)(uintptr_t)16, NULL, 3);
        launch_values("a float", scale, (lk_value[]){ lk_value_buffer(x), lk_value_f32(1), lk_value_f32(by) }, 3);
        launch_values("an int", scale, (lk_value[]){ lk_value_i64(5), lk_value_i32(n), lk_value_f32(by) }, 3);
        launch_values("no kind", scale, (lk_value[]){ { .kind = 99 }, lk_value_i32(n), lk_value_f32(by) }, 3);
    }
    free(heap);
}

static void struct_truncated(int bad)
{
    struct vec3_t p = { 1, 2, 3 };
    int64_t n = 4;
    uint64_t to = buffer(gpu, "to");
    const void *args[] = { &p, &n, &to };
    launch("sizes", move, args, bad ? (uint32_t[]){ 8, 8, 8 } : (uint32_t[]){ 12, 8, 8 }, 3);
    lk_value v[] = { lk_value_struct(&p, bad ? 8 : 12), lk_value_i64(n), lk_value_buffer(to) };
    launch_values("values", move, v, 3);
    if (bad) v[0] = lk_value_struct((const void *)(uintptr_t)16, 12);
    launch_values(bad ? "a struct nowhere" : "again", move, v, 3);
}

static void scalar_overread(int bad)
{
    struct vec3_t p = { 1, 2, 3 };
    int32_t four = 4;
    int64_t eight = 4;
    uint64_t to = buffer(gpu, "to");
    const void *args[] = { &p, bad ? (const void *)&four : &eight, &to };
    launch("sizes", move, args, bad ? (uint32_t[]){ 12, 4, 8 } : (uint32_t[]){ 12, 8, 8 }, 3);
    lk_value v[] = { lk_value_struct(&p, 12), bad ? lk_value_i32(four) : lk_value_i64(eight), lk_value_buffer(to) };
    launch_values("values", move, v, 3);
}

static void name_mangled(int bad, lk_module *m)
{
    static const char *const names[] = { "scale", "ns::move", "scale(float*, int, float)", "_Z5scalePfif" },
                             *const wrong[] = { "scal", "mover", "_Z5scalePfii", "scale<float>" };
    for (int i = 0; i < 4; i++) {
        lk_kernel *k = lk_module_kernel(m, bad ? wrong[i] : names[i]);
        printf("%s: %s\n", bad ? wrong[i] : names[i], k ? lk_kernel_signature(k) : lk_gpu_error(gpu));
    }
}

static void occupancy(int bad)
{
    lk_occupancy o = { .size = sizeof o };
    if (bad) {
        says("no threads", lk_kernel_occupancy(scale, 0, 0, &o));
        says("too many", lk_kernel_occupancy(scale, 2048, 0, &o));
        says("no place", lk_kernel_occupancy(scale, 32, 0, NULL));
        return;
    }
    static const struct {
        uint32_t threads;
        uint64_t shared;
    } list[] = { { 32, 0 }, { 1024, 0 }, { 256, 100000 }, { 64, 300000 } };
    for (int i = 0; i < 4; i++) {
        says("occupancy", lk_kernel_occupancy(scale, list[i].threads, list[i].shared, &o));
        printf("  %u blocks, %u of %u warps, by %s\n", o.blocks, o.warps, o.of_warps, o.limiter);
    }
    lk_kernel_occupancy(scale, 32, 0, &o);
    printf("  suggested: %u threads\n", o.suggested_block);
}

int main(int argc, char **argv)
{
    lk_options options = { .size = sizeof options, .threads = 1 };
    lk_module *m = NULL;
    int bad = argc > 2 && !strcmp(argv[2], "bad");
    const char *word = argc > 1 ? argv[1] : "";
    if (lk_gpu_create(&options, &gpu) || lk_gpu_create(&options, &second)) return 2;
    if (lk_module_load(gpu, "args.ptx", ptx, sizeof ptx - 1, &m)) return puts(lk_gpu_error(gpu)), 2;
    scale = lk_module_kernel(m, "scale");
    move = lk_module_kernel(m, "ns::move");
    if (!scale || !move) return puts(lk_gpu_error(gpu)), 2;
    if (!strcmp(word, "args_by_value")) args_by_value(bad);
    if (!strcmp(word, "struct_truncated")) struct_truncated(bad);
    if (!strcmp(word, "scalar_overread")) scalar_overread(bad);
    if (!strcmp(word, "name_mangled")) name_mangled(bad, m);
    if (!strcmp(word, "occupancy")) occupancy(bad);
    lk_gpu_destroy(gpu);
    lk_gpu_destroy(second);
    return 0;
}
