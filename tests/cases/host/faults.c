/* faults.c WORD sim|gpu FILE.ptx [blocking]: a program with a fault in one of its launches, as frameworks have them. It prints what the library says of it. With
 * LOCKSTEP_RECORD in the environment the launch is recorded before it runs. `cost` prints what recording costs. */
#include <lockstep.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static lk_gpu *gpu;
static lk_module *module;

static void says(const char *what, lk_status s)
{
    lk_error e = { .size = sizeof e };
    if (s == LK_OK) return;
    printf("%s: status %d\n", what, (int)s);
    if (!lk_gpu_last_error(gpu, &e)) return;
    printf("  error %u %s%s%s%s\n", e.cuda, e.name, *e.launch ? ", launch of " : "", e.launch, e.lasting == LK_CUDA_STICKY ? ", sticky" : "");
    printf("  %s\n", e.message);
    if (*e.record) printf("  record: %s\n", e.record);
    if (*e.suspects) printf("  suspects:\n%s", e.suspects);
}

static uint64_t buffer(const char *name, uint64_t bytes, int byte)
{
    uint64_t at = 0;
    says(name, lk_memory_alloc(gpu, bytes, LK_MEMORY_DEVICE, name, &at));
    says(name, lk_memory_fill(gpu, at, byte, bytes));
    return at;
}

static lk_status launch(const char *name, lk_stream *s, uint32_t gx, uint32_t gy, uint32_t block, const lk_value *v, uint32_t n)
{
    lk_kernel *k = lk_module_kernel(module, name);
    lk_launch l = { .size = sizeof l, .grid = { gx, gy }, .block = { block }, .values = v, .arg_count = n, .stream = s, .site = name };
    return lk_kernel_launch(k, &l, NULL);
}

static void stride(lk_stream *s)
{
    enum { ROWS = 1024, COLS = 256, PITCH = 16384 }; 
    uint64_t x = buffer("x", (uint64_t)ROWS * PITCH * 4, 0);
    /* The rows of the third run down from x, 4 GB apart: nothing is mapped there. Above x an H200 has the window of shared memory, 4 GB long, where the error would be 717. */
    for (int i = 0; i < 4; i++) {
        int pitch = i == 2 ? -ROWS * PITCH * 64 : PITCH, rows = i == 2 ? 16 : ROWS;
        lk_value v[] = { lk_value_buffer(x), lk_value_i32(rows), lk_value_i32(COLS), lk_value_i32(pitch), lk_value_f32(2) };
        says("scale_rows", launch("scale_rows", s, COLS / 256, (uint32_t)rows, 256, v, 5));
    }
    says("wait", lk_stream_synchronise(s));
}

static void rows130(lk_stream *s)
{
    uint64_t x = buffer("x", 64 * 130, 1), sums = buffer("sums", 256, 0);
    for (int pitch = 64; pitch < 66; pitch++) {
        lk_value v[] = { lk_value_buffer(x), lk_value_buffer(sums), lk_value_i32(64), lk_value_i32(pitch) };
        says("sum_rows", launch("sum_rows", s, 1, 1, 64, v, 4));
    }
    says("wait", lk_stream_synchronise(s));
}

static void race(lk_stream *s)
{
    enum { N = 1 << 16 };
    static int x[N], y[N];
    int wrong = 0;
    uint64_t dx = buffer("x", sizeof x, 0), dy = buffer("y", sizeof y, 0);
    for (int i = 0; i < N; i++) x[i] = i + 1;
    says("write", lk_memory_write(gpu, dx, x, sizeof x));
    lk_value v[] = { lk_value_buffer(dx), lk_value_buffer(dy), lk_value_i32(N) };
    says("flip", launch("flip", s, N / 1024, 1, 1024, v, 3));
    says("wait", lk_stream_synchronise(s));
    says("read", lk_memory_read(gpu, dy, y, sizeof y));
    for (int i = 0; i < N; i++) wrong += y[i] != (i / 1024 * 1024 + 1023 - i % 1024) + 1;
    printf("%s\n", wrong ? "wrong numbers" : "the numbers are right");
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* What lk_record takes for a launch that reaches so much memory, of numbers and of zeros. */
static void cost(const char *file)
{
    for (int noise = 0; noise < 2; noise++)
        for (uint64_t mib = 1; mib <= 256; mib *= 16) {
            uint64_t bytes = mib << 20, at = 0;
            uint32_t *fill = calloc(1, bytes), seed = 1;
            for (uint64_t i = 0; noise && i < bytes / 4; i++) fill[i] = seed = seed * 1664525u + 1013904223u;
            lk_memory_alloc(gpu, bytes, LK_MEMORY_DEVICE, "x", &at);
            lk_memory_write(gpu, at, fill, bytes);
            lk_value v[] = { lk_value_buffer(at), lk_value_buffer(at), lk_value_i32(0) };
            lk_launch l = { .size = sizeof l, .grid = { 1 }, .block = { 32 }, .values = v, .arg_count = 3 };
            double from = now();
            says("record", lk_record(lk_module_kernel(module, "flip"), &l, file));
            double took = now() - from;
            FILE *f = fopen(file, "rb");
            if (f) fseek(f, 0, SEEK_END);
            printf("%4llu MiB of %s: %8.1f ms, %ld bytes\n", (unsigned long long)mib, noise ? "noise" : "zeros", took, f ? ftell(f) : 0);
            if (f) fclose(f);
            remove(file);
            lk_memory_free(gpu, at);
            free(fill);
        }
}

int main(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    if (argc < 4) return 2;
    lk_options o = { .size = sizeof o, .on = argv[2], .keep = 8, .threads = 1, .blocking = argc > 4 };
    lk_stream *s = NULL;
    if (lk_gpu_create(&o, &gpu)) return puts(lk_gpu_error(NULL)), 2;
    if (lk_module_load_file(gpu, argv[3], &module)) return puts(lk_gpu_error(gpu)), 2;
    if (lk_stream_create(gpu, 0, 0, &s)) return 2;
    if (!strcmp(word, "stride")) stride(s);
    if (!strcmp(word, "rows130")) rows130(s);
    if (!strcmp(word, "race")) race(s);
    if (!strcmp(word, "cost")) cost("cost.rec");
    lk_gpu_destroy(gpu);
    return 0;
}
