/* Fuzz target of what came with sm_90 and later (gen_modern.h). A launch ends with a status and a report, and nothing
 * is touched that is not the program's: ASan, UBSan and the machine's own checks say so. With -DREPLAY: a program that
 * runs the files it is given; MODERN_SHOW=1 in the environment prints the kernels and the reports. */
#include "lockstep.h"
#include "base/base.h"
#include "gen_modern.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const cards[MODERN_CARDS] = { "h200", "b200", "rtx5090" };
static const char *const checks[] = { NULL, NULL, "bounds,alignment,memory", "race", "init", "async" };

/* GPUs are kept from one input to the next, but for those whose launch has failed. */
static lk_gpu *gpus[MODERN_CARDS][COUNT_OF(checks)];

static void show(const struct modern_program *p, lk_gpu *gpu, const char *title)
{
    char *text = lk_report_text(gpu, 0);
    if (getenv("MODERN_SHOW")) fprintf(stderr, "%s%s\n%s\n%s\n", p->ptx.p, title, lk_gpu_error(gpu), text ? text : "");
    lk_text_free(text);
}

static lk_status launch(const struct modern_program *p, lk_gpu *gpu, lk_module *m)
{
    u64 buffer, map[16];
    CHECK(lk_memory_alloc(gpu, MODERN_BUFFER, LK_MEMORY_DEVICE, "buffer", &buffer) == LK_OK);
    CHECK(lk_memory_fill(gpu, buffer, 1, MODERN_BUFFER) == LK_OK);
    memcpy(map, p->map, sizeof map);
    if (!p->map_is_own) map[0] += buffer;
    const void *args[] = { &buffer, map };
    lk_launch l = { .size = sizeof l,
                    .grid = { p->cluster, 1, 1 },
                    .block = { p->threads, 1, 1 },
                    .args = args,
                    .arg_count = COUNT_OF(args) };
    lk_stats stats = { 0 };
    lk_status status = lk_kernel_launch(lk_module_kernel(m, "k"), &l, &stats);
    CHECK(status == LK_OK || status == LK_FINDINGS || lk_gpu_error(gpu)[0]);
    show(p, gpu, "");
    lk_text_free(lk_report_json(gpu));
    lk_memory_free(gpu, buffer);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct modern_program p;
    lk_module *m = NULL;
    if (size > 4096) return 0;
    modern_make(&p, data, size);
    u32 check = p.checks % COUNT_OF(checks);
    lk_options o = { .size = sizeof o,
                     .seeded = 1,
                     .seed = 1,
                     .budget = 20000,
                     .time_limit = 5,
                     .device = cards[p.card],
                     .check = checks[check] };
    lk_gpu **gpu = &gpus[p.card][check];
    if (!*gpu) CHECK(lk_gpu_create(&o, gpu) == LK_OK);
    lk_status status = lk_module_load(*gpu, "modern.ptx", p.ptx.p, p.ptx.n, &m);
    if (status == LK_OK) {
        status = launch(&p, *gpu, m);
        lk_module_unload(m);
    } else
        show(&p, *gpu, "refused:");
    lk_report_clear(*gpu);
    if (status != LK_OK && status != LK_FINDINGS) {
        lk_gpu_destroy(*gpu);
        *gpu = NULL;
    }
    modern_free(&p);
    return 0;
}

#ifdef REPLAY
#include "replay.h"
#endif
