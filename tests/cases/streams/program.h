/* What the programs of this folder share: a gpu under a seed, calls that say where they are, the report at the end. */
#include <lockstep.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static lk_gpu *gpu;
static lk_module *module;

static inline void check(lk_status status)
{
    if (status == LK_OK) return;
    fprintf(stderr, "%s\n", lk_gpu_error(gpu));
    exit(2);
}

/* DO(call, arguments): the report names the call with its line. */
static inline void name_call(const char *call, const char *file, int line)
{
    char site[200];
    const char *slash = strrchr(file, '/');
    snprintf(site, sizeof site, "%s at %s:%d", call, slash ? slash + 1 : file, line);
    lk_thread_site(site);
}
#define DO(call, ...) (name_call(#call, __FILE__, __LINE__), check(call(__VA_ARGS__)))

static inline void open_gpu(int seeded)
{
    lk_options o = { .size = sizeof o, .seeded = seeded != 0, .seed = 1, .managed = "report" };
    check(lk_gpu_create(&o, &gpu));
    check(lk_module_load_file(gpu, "kernels.ptx", &module));
}

/* Zeros, named and typed. */
static inline uint64_t memory(const char *name, uint32_t floats, lk_memory_kind kind)
{
    uint64_t address;
    char type[40];
    check(lk_memory_alloc(gpu, 4 * floats, kind, name, &address));
    snprintf(type, sizeof type, "f32[%u]", floats);
    check(lk_memory_describe(gpu, address, name, type, 4));
    check(lk_memory_fill(gpu, address, 0, 4 * floats));
    return address;
}

static inline lk_stream *stream(void)
{
    lk_stream *s;
    check(lk_stream_create(gpu, LK_STREAM_NON_BLOCKING, 0, &s));
    return s;
}

/* The event that orders what comes in `to` after what is in `from`. */
static inline void hand_over(lk_stream *from, lk_stream *to)
{
    lk_event *e;
    check(lk_event_create(gpu, 0, &e));
    check(lk_event_record(e, from));
    check(lk_stream_wait(to, e));
    lk_event_destroy(e);
}

/* A kernel of two pointers, with 64 threads in each of 4 blocks. */
static inline lk_status start(const char *kernel, lk_stream *s, uint64_t x, uint64_t y)
{
    lk_launch l = { .size = sizeof l, .grid = { 4 }, .block = { 64 }, .arg_count = 2, .stream = s };
    l.args = (const void *[]){ &x, &y };
    return lk_kernel_launch(lk_module_kernel(module, kernel), &l, NULL);
}

static inline int finish(void)
{
    check(lk_gpu_synchronise(gpu));
    char *text = lk_report_text(gpu, 0);
    fputs(text, stdout);
    free(text);
    int errors = lk_report_errors(gpu) != 0;
    lk_gpu_destroy(gpu);
    return errors;
}
