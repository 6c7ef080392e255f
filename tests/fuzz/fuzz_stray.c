/* Fuzz target of reports about accesses that go astray (gen_stray.h): sparse masks, steps of any size, copies left in
 * flight. As many occurrences are reported as there are; with every check on, and with the checks of bounds and
 * alignment off, a launch ends with a status and a report in every form. With -DREPLAY: a program that runs the files
 * it is given. */
#include "lockstep.h"
#include "base/base.h"
#include "gen_stray.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* "2 findings: 2 errors (5 occurrences)": the number at the end; 0: there is none. */
static u32 occurrences(const char *text)
{
    const char *at = text ? strrchr(text, '(') : NULL;
    unsigned n = 0;
    return at && sscanf(at, "(%u occurrence", &n) == 1 ? n : 0;
}

/* *kept: the GPU, kept from one input to the next. */
static void run(const struct stray_program *p, lk_gpu **kept, const char *kernel, const char *check, bool counted)
{
    lk_options o = { .size = sizeof o, .seeded = 1, .seed = 1, .budget = 1000000, .check = check };
    lk_module *m = NULL;
    u64 buffer, other;
    if (!*kept) CHECK(lk_gpu_create(&o, kept) == LK_OK);
    lk_gpu *gpu = *kept;
    if (lk_module_load(gpu, "stray.ptx", p->ptx.p, p->ptx.n, &m) != LK_OK) {
        fprintf(stderr, "%s%s\n", p->ptx.p, lk_gpu_error(gpu));
        CHECK(!"the module is refused");
    }
    CHECK(lk_memory_alloc(gpu, STRAY_BUFFER, LK_MEMORY_DEVICE, "buffer", &buffer) == LK_OK);
    CHECK(lk_memory_alloc(gpu, STRAY_BUFFER, LK_MEMORY_DEVICE, "other", &other) == LK_OK);
    CHECK(lk_memory_fill(gpu, buffer, 0, STRAY_BUFFER) == LK_OK);
    const void *args[] = { &buffer };
    lk_launch l = {
        .size = sizeof l, .grid = { 1, 1, 1 }, .block = { STRAY_THREADS, 1, 1 }, .args = args, .arg_count = 1
    };
    lk_stats stats = { 0 };
    lk_status status = lk_kernel_launch(lk_module_kernel(m, kernel), &l, &stats);
    CHECK(status == LK_OK || status == LK_FINDINGS || lk_gpu_error(gpu)[0]);
    char *text = lk_report_text(gpu, 0);
    if (counted && occurrences(text) != p->wrong) {
        fprintf(stderr, "%s%s\n%u wrong accesses\n", p->ptx.p, text ? text : "", p->wrong);
        CHECK(!"another number of occurrences");
    }
    lk_text_free(text);
    lk_text_free(lk_report_json(gpu));
    lk_text_free(lk_report_sarif(gpu));
    lk_text_free(lk_report_junit(gpu, "stray"));
    lk_module_unload(m);
    CHECK(lk_memory_free(gpu, buffer) == LK_OK && lk_memory_free(gpu, other) == LK_OK);
    lk_report_clear(gpu);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct stray_program p;
    static lk_gpu *bounds, *all, *others, *async;
    if (size > 4096) return 0;
    stray_make(&p, data, size);
    run(&p, &bounds, "strays", "bounds,alignment", true);
    run(&p, &all, "strays", NULL, false);
    run(&p, &others, "strays", "race,init", false);
    run(&p, &all, "flies", NULL, false);
    run(&p, &async, "flies", "async", false);
    stray_free(&p);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
