/* Fuzz target of calls: the bytes choose functions with parameters and results of every kind, prototypes and arguments
 * (gen_calls.h). What is right must give the values that are known, without a finding; what reaches a function by a
 * prototype of other sizes must be call_prototype. With -DREPLAY: a program that runs the files it is given. */
#include "lockstep.h"
#include "base/base.h"
#include "gen_calls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const struct calls_program *p, lk_gpu *gpu, const char *what)
{
    char *text = lk_report_text(gpu, 0);
    fprintf(stderr, "%s\n%s\n%s\n%s", p->ptx.p, what, lk_gpu_error(gpu), text ? text : "");
    CHECK(!"calls");
}

static void compare(const struct calls_program *p, lk_gpu *gpu, u64 buffer)
{
    static u8 got[CALLS_THREADS * CALLS_BYTES];
    CHECK(lk_memory_read(gpu, buffer, got, sizeof got) == LK_OK);
    for (u32 t = 0; t < CALLS_THREADS; t++)
        for (u32 j = 0; j < p->bytes; j++)
            if (got[t * CALLS_BYTES + j] != p->expected[t * CALLS_BYTES + j]) {
                fprintf(stderr, "thread %u, byte %u: %u instead of %u\n", t, j, got[t * CALLS_BYTES + j],
                        p->expected[t * CALLS_BYTES + j]);
                fail(p, gpu, "another value came back");
            }
}

/* *kept: the GPU, kept from one input to the next. */
static void run(const struct calls_program *p, lk_gpu **kept, const char *check)
{
    lk_options o = { .size = sizeof o, .seeded = 1, .seed = 1, .budget = 1000000, .check = check };
    lk_module *m = NULL;
    u64 buffer;
    if (!*kept) CHECK(lk_gpu_create(&o, kept) == LK_OK);
    lk_gpu *gpu = *kept;
    if (lk_module_load(gpu, "calls.ptx", p->ptx.p, p->ptx.n, &m) != LK_OK) fail(p, gpu, "the module is refused");
    CHECK(lk_memory_alloc(gpu, CALLS_THREADS * CALLS_BYTES, LK_MEMORY_DEVICE, "out", &buffer) == LK_OK);
    CHECK(lk_memory_fill(gpu, buffer, 0, CALLS_THREADS * CALLS_BYTES) == LK_OK);
    const void *args[] = { &buffer };
    lk_launch l = {
        .size = sizeof l, .grid = { 1, 1, 1 }, .block = { CALLS_THREADS, 1, 1 }, .args = args, .arg_count = 1
    };
    lk_stats stats = { 0 };
    lk_status status = lk_kernel_launch(lk_module_kernel_at(m, 0), &l, &stats);
    if (p->mismatch) {
        char *text = lk_report_text(gpu, 0);
        if (status != LK_FINDINGS || !strstr(text, "[call_prototype]"))
            fail(p, gpu, "a prototype of other sizes is not found");
        lk_text_free(text);
    } else if (status != LK_OK || lk_report_errors(gpu) || lk_report_notes(gpu))
        fail(p, gpu, "a call that is right is reported");
    else
        compare(p, gpu, buffer);
    lk_module_unload(m);
    CHECK(lk_memory_free(gpu, buffer) == LK_OK);
    lk_report_clear(gpu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct calls_program p;
    static lk_gpu *all, *bounds;
    if (size > 4096) return 0;
    calls_make(&p, data, size);
    run(&p, &all, NULL);
    run(&p, &bounds, "bounds");
    calls_free(&p);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
