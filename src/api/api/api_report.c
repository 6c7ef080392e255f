/* The report of the public interface, and what is known of kinds of findings and checks. */
#include "api/host.h"
#include "device/dev_order.h"
#include "report/cuda_error.h"
#include <inttypes.h>

uint32_t lk_report_errors(const lk_gpu *gpu)
{
    HOST_CALL(0, USE(GPU, gpu));
    return report_errors(gpu->device->report);
}

uint32_t lk_report_notes(const lk_gpu *gpu)
{
    HOST_CALL(0, USE(GPU, gpu));
    return report_notes(gpu->device->report);
}

/* Whether a launch on it says anything: it is checked, counted, or runs on a real GPU, which has its own errors. The
 * oracle is asked after the launch. */
static bool launches_say(const struct device *d)
{
    return d->options.checks & ~CHECK_ORACLE || d->counts || d->options.gpu;
}

lk_status lk_report_conclude(lk_gpu *gpu, const lk_outcome *outcome)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    lk_outcome o = { 0 };
    if (outcome) memcpy(&o, outcome, MIN_OF(outcome->size, sizeof o));
    struct outcome facts = { .failed = o.failed, .judged = o.judged, .unjudged = o.unjudged };
    if (launches_say(gpu->device)) facts.judged += o.launched;
    facts.unsupported = o.unsupported;
    facts.undone = o.undone;
    if (outcome) report_conclude(gpu->device->report, &facts, o.why);
    facts = report_outcome(&gpu->device->report, 1);
    return (lk_status)ending_code(outcome_ending(&facts));
}

lk_status lk_report_fail_on(lk_gpu *gpu, uint32_t severity)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (severity > LK_FAIL_ON_NOTE) {
        error_set(host_begin(gpu), ERR_INPUT, "lk_report_fail_on: severity %u; LK_FAIL_ON_ERROR or LK_FAIL_ON_NOTE",
                  severity);
        return host_failed(gpu);
    }
    report_fail_on_notes(gpu->device->report, severity == LK_FAIL_ON_NOTE);
    return LK_OK;
}

uint32_t lk_report_suppressed(const lk_gpu *gpu)
{
    HOST_CALL(0, USE(GPU, gpu));
    return report_suppressed(gpu->device->report);
}

void lk_report_leaks(lk_gpu *gpu)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu));
    report_launch(gpu->device->report, 0); /* which of several launches took the memory is not known */
    dev_leaks(gpu->device);
}

void lk_report_leaks_host(lk_gpu *gpu)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu));
    static const char *const what[HANDLE_LEAKS] = { "executable graph",    "graph",  "event", "stream", "pool",
                                                    "physical allocation", "module", "array" };
    struct made { /* at one place */
        enum handle_kind kind;
        const char *site;
        u32 count;
    } *list = NULL;
    u32 n = 0, cap = 0;
    lock(&gpu->lock);
    for (u32 kind = 0; kind < HANDLE_LEAKS; kind++)
        for (const struct handle *h = gpu->handle[kind]; h; h = h->next) {
            u32 k = 0;
            if (kind == HANDLE_STREAM && ((const lk_stream *)h)->is_default) continue;
            if (kind == HANDLE_POOL && ((const lk_pool *)h)->is_default) continue;
            while (k < n && (list[k].kind != h->kind || list[k].site != h->site)) k++;
            if (k == n && n == cap) list = base_need_more(list, sizeof *list * (cap = cap ? 2 * cap : 16));
            if (k == n) list[n++] = (struct made){ .kind = h->kind, .site = h->site };
            list[k].count++;
        }
    unlock(&gpu->lock);
    report_launch(gpu->device->report, 0);
    dev_leaks_host(gpu->device);
    for (u32 k = 0; k < n; k++) dev_leaks_handles(gpu->device, what[list[k].kind], list[k].site, list[k].count);
    base_free(list);
}

void lk_report_run(lk_gpu *gpu, lk_gpu *other)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu), USE(GPU, other));
    char remark[64];
    if (gpu == other) return;
    snprintf(remark, sizeof remark, "  not in the first run: under --seed %" PRIu64, other->device->options.seed);
    report_take_run(gpu->device->report, other->device->report, remark);
}

lk_status lk_report_compare(lk_gpu *gpu, uint64_t address, lk_gpu *other, uint64_t other_address, uint64_t bytes,
                            int *same)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu), USE(GPU, other));
    bool is;
    struct error *e = host_begin(gpu);
    struct order_range at = { address, other_address, bytes };
    report_launch(gpu->device->report, 0);
    bool ok = order_compare(gpu->device, other->device, &at, gpu->differs, &is, e);
    gpu->differs |= ok && !is;
    if (same) *same = ok && is;
    return ok ? LK_OK : host_failed(gpu);
}

void lk_report_limit(lk_gpu *gpu, uint32_t most)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu));
    __atomic_store_n(&gpu->report_most, most, __ATOMIC_RELAXED);
}

char *lk_report_text(lk_gpu *gpu, int color)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    u32 most = __atomic_load_n(&gpu->report_most, __ATOMIC_RELAXED);
    report_text(gpu->device->report, (struct report_style){ .color = color, .max = most }, &t);
    return t.p;
}

char *lk_report_json(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    report_json(&gpu->device->report, 1, &t);
    return t.p;
}

char *lk_report_sarif(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    report_sarif(&gpu->device->report, 1, LK_VERSION, &t);
    return t.p;
}

char *lk_report_junit(lk_gpu *gpu, const char *suite)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    report_junit(&gpu->device->report, 1, suite ? suite : "lockstep", &t);
    return t.p;
}

lk_status lk_report_suppress(lk_gpu *gpu, const char *path)
{
    HOST_CALL(LK_BAD_INPUT, USE(GPU, gpu));
    if (!path) return HOST_MISSING(gpu, "path");
    struct error *e = host_begin(gpu);
    struct str text;
    if (!file_read(path, &text, e)) return host_failed(gpu);
    bool ok = report_suppress(gpu->device->report, path, text, e);
    base_free((void *)text.p);
    return ok ? LK_OK : host_failed(gpu);
}

char *lk_report_rules(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    text_add(&t, "%s", "");
    report_rules(&gpu->device->report, 1, &t);
    return t.p;
}

char *lk_report_unused(lk_gpu *gpu)
{
    HOST_CALL(NULL, USE(GPU, gpu));
    struct text t = { 0 };
    text_add(&t, "%s", "");
    report_unused(gpu->device->report, &t);
    return t.p;
}

void lk_text_free(char *text)
{
    struct text t = { .p = text };
    text_free(&t);
}

void lk_report_clear(lk_gpu *gpu)
{
    HOST_CALL(/* nothing */, USE(GPU, gpu));
    report_clear(gpu->device->report);
}

int lk_kind_at(uint32_t i, lk_kind_info *info)
{
    if (i >= F_COUNT || !info) return 0;
    u32 check = finding_check(i);
    *info = (lk_kind_info){ .id = finding_id(i),
                            .code = finding_code(i),
                            .is_error = finding_severity(i) == SEV_ERROR,
                            .check = check ? check_name((u32)__builtin_ctz(check)) : "",
                            .rule = finding_rule(i),
                            .example = finding_example(i),
                            .title = finding_title(i),
                            .meaning = finding_meaning(i),
                            .fix = finding_fix(i) };
    return 1;
}

const char *lk_check_at(uint32_t i, const char **purpose)
{
    if (purpose) *purpose = check_purpose(i);
    return check_name(i);
}

int lk_cuda_error_at(uint32_t i, lk_cuda_error *error)
{
    const struct cuda_error *x = cuda_error_at(i);
    if (x && error)
        *error = (lk_cuda_error){ x->number, x->driver,  x->runtime, (lk_cuda_lasting)x->lasting,
                                  x->kinds,  x->meaning, x->causes,  x->fix };
    return x != NULL;
}

int lk_cuda_sign_at(uint32_t i, lk_cuda_sign *sign)
{
    struct cuda_sign x;
    if (!cuda_sign_at(i, &x)) return 0;
    if (sign) *sign = (lk_cuda_sign){ x.name, x.words, x.meaning, x.fix };
    return 1;
}

const char *lk_cuda_phrase_at(uint32_t i, uint32_t *number)
{
    u32 none;
    return cuda_phrase_at(i, number ? number : &none);
}
