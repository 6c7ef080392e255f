/* The engine inside a program: options from the launcher, reports to it. */
#include "count/timeline.h"
#include "device/dev_work.h"
#include "engine/cu_choose.h"
#include "engine/cu_clock.h"
#include "engine/cu_contract.h"
#include "driver/cu_count.h"
#include "engine/cu_failed.h"
#include "engine/cu_logs.h"
#include "engine/cu_growth.h"
#include "engine/cu_interrupt.h"
#include "engine/cu_record.h"
#include "engine/cu_time.h"
#include "engine/cu_report.h"
#include "engine/cu_run.h"
#include "engine/cu_where.h"
#include "engine/gate_log.h"
#include <stdlib.h>

enum { RULES = 16 };

static struct {
    bool read;      /* the environment was read */
    char *options;  /* the lines, each ended by a zero byte; they live for ever */
    bool strict;    /* --strict-arch: PTX that is newer than the device is refused */
    lk_options gpu; /* what a gpu is made with; strings in `options` */
    const char *rule[RULES];
    u32 rules;
    struct cu_reporting to; /* how reports are written */
} run;

/* ---- what the launcher said ---- */

/* A whole number. */
static bool number_take(const char *value, u64 most, u64 *out) { return whole_parse(value, most, out); }

/* 1 or 0. */
static bool flag_take(const char *value, bool *out)
{
    *out = value[0] == '1';
    return (value[0] == '0' || value[0] == '1') && !value[1];
}

/* Options of what a gpu is made with; *known: whether it is one of them. */
static bool gpu_option(const char *key, const char *value, bool *known)
{
    lk_options *o = &run.gpu;
    u64 n = 0;
    char *end;
    *known = true;
    if (!strcmp(key, "check")) return o->check = value, true;
    if (!strcmp(key, "no-check")) return o->no_check = value, true;
    if (!strcmp(key, "budget")) return number_take(value, UINT64_MAX, &o->budget);
    if (!strcmp(key, "threads")) {
        bool ok = number_take(value, 256, &n);
        o->threads = (u32)n;
        return ok;
    }
    if (!strcmp(key, "time-limit")) {
        o->time_limit = double_read(value, &end);
        return end != value && !*end && o->time_limit >= 0;
    }
    if (!strcmp(key, "seed")) {
        o->seeded = 1;
        return number_take(value, UINT64_MAX, &o->seed);
    }
    return *known = false;
}

/* Options of how reports are written; *known: whether it is one of them. */
static bool report_option(const char *key, const char *value, bool *known)
{
    u64 n = 0;
    *known = true;
    if (!strcmp(key, "profile")) {
        run.gpu.profile = 1;
        run.to.profile = true;
        run.to.lines = !strcmp(value, "lines");
        return run.to.lines || !strcmp(value, "top");
    }
    if (!strcmp(key, "timeline")) return flag_take(value, &run.to.timeline);
    if (!strcmp(key, "page")) return flag_take(value, &run.to.page);
    if (!strcmp(key, "stable")) return flag_take(value, &run.to.stable);
    if (!strcmp(key, "progress")) return flag_take(value, &run.to.progress);
    if (!strcmp(key, "color")) return flag_take(value, &run.to.color);
    if (!strcmp(key, "suppress")) {
        if (run.rules == RULES) return false;
        run.rule[run.rules++] = value;
        return true;
    }
    if (!strcmp(key, "fail-on")) {
        run.to.fail_on_notes = !strcmp(value, "note");
        return run.to.fail_on_notes || !strcmp(value, "error");
    }
    if (!strcmp(key, "max-findings")) {
        bool ok = number_take(value, UINT32_MAX, &n);
        run.to.most = (u32)n;
        return ok;
    }
    return *known = false;
}

/* false: unknown option, or invalid value. */
static bool option_take(const char *key, const char *value)
{
    bool known, ok = cu_choose_option(key, value, &known);
    if (known) return ok;
    if (cu_record_option(key, value) || cu_contract_option(key, value)) return true;
    if (cu_time_option(key, &run.gpu) || cu_growth_option(key)) return true;
    if (!strcmp(key, "strict-arch")) return run.strict = true;
    if (!strcmp(key, "faults")) return cu_process.faults = true;
    ok = gpu_option(key, value, &known);
    return known ? ok : report_option(key, value, &known) && known;
}

/* Set by lockstep-front.so when it sees the engine: where it has mapped the memory for reports (front_channel.c). */
__attribute__((visibility("default"))) void *lkfront_channel;

/* The report of a process has its findings alone: whether anything was judged at all the launcher knows, which sees all
 * processes. */
static void report_begin(struct report *r)
{
    report_conclude(r, &(struct outcome){ .judged = 1 }, NULL);
    report_fail_on_notes(r, run.to.fail_on_notes);
}

/* The memory for reports; false: there is no launcher, or it cannot be reached. */
static bool launcher_find(struct channel *c)
{
    void *mapped = __atomic_load_n(&lkfront_channel, __ATOMIC_ACQUIRE);
    const char *words = getenv("LOCKSTEP_RUN");
    if (mapped && channel_at(c, mapped)) return true;
    if (!words || !*words) return false;
    if (channel_open(c, words)) return true;
    fprintf(stderr,
            "lockstep: process %d cannot reach its launcher, since it was started under another user and without the "
            "descriptors of its parent: what is found in it is printed here, and the launcher knows nothing of it\n",
            process_id());
    return false;
}

/* Launches that the program makes through lockstep.h, as the Python package does in its own process: what is found in
 * them it is told by its own calls, and the launcher that something was checked. */
static void own_launch(void)
{
    static lock_t guard = LOCK_INIT;
    static struct channel_writer to;
    static s32 pid;
    static u64 launches;
    struct channel c;
    lock(&guard);
    if (pid != process_id()) {
        pid = process_id();
        launches = 0;
        to.sender = NULL;
        if (launcher_find(&c) && channel_begin(&to, &c, pid)) channel_mark(&to, CHANNEL_GPU | CHANNEL_DONE, true);
    }
    launches++;
    channel_launches(&to, launches, launches);
    unlock(&guard);
}

const struct cu_engine cu_engine_of_run = {
#define ROW(type, name, parameters) .name = name,
    CU_ENGINE(ROW)
#undef ROW
};

__attribute__((constructor)) static void own_begin(void)
{
    cu_engine = &cu_engine_of_run;
    if (getenv("LOCKSTEP_RUN")) dev_launch_checked = own_launch;
}

static void line_wrong(const char *key, const char *value)
{
    char what[400];
    snprintf(what, sizeof what,
             "LOCKSTEP_RUN_OPTIONS: %.80s%s%.200s: this is not an option of the engine, or no value for it", key,
             value ? "=" : "", value ? value : "");
    cu_given_wrong(what);
}

static void options_read(void)
{
    const char *options = getenv("LOCKSTEP_RUN_OPTIONS");
    size_t n = options ? strlen(options) : 0;
    run.read = true;
    run.gpu = (lk_options){ .size = sizeof run.gpu, .managed = "report" };
    run.to.launched = launcher_find(&run.to.channel);
    struct error e = { 0 };
    if (!environment_reads(&e)) cu_given_wrong(e.text);
    run.options = base_need(n + 1);
    if (n) memcpy(run.options, options, n);
    run.options[n] = 0;
    for (char *line = run.options, *next; *line; line = next) {
        char *end = line + strcspn(line, "\n"), *value = memchr(line, '=', (size_t)(end - line));
        next = end + (*end != 0);
        *end = 0;
        if (line == end) continue;
        if (value) *value++ = 0;
        if (!value || !option_take(line, value)) line_wrong(line, value);
    }
}

lk_status cu_run_open(struct cu_device *d)
{
    if (!run.read) options_read();
    lk_options o = run.gpu;
    o.device = d->card->name;
    o.any_arch = 1; /* cu_text.c chooses what is loaded */
    lk_gpu *gpu;
    lk_status s = lk_gpu_create(&o, &gpu);
    if (s == LK_BAD_INPUT) cu_given_wrong(lk_gpu_error(NULL));
    if (s) {
        fprintf(stderr, "lockstep: %s\n", lk_gpu_error(NULL));
        return s;
    }
    lk_report_limit(gpu, run.to.most);
    report_begin(gpu->device->report);
    for (u32 i = 0; i < run.rules; i++)
        if (lk_report_suppress(gpu, run.rule[i])) cu_given_wrong(lk_gpu_error(gpu));
    __atomic_store_n(&d->gpu, gpu, __ATOMIC_RELEASE); /* the thread that writes reports looks at it */
    d->gpu->device->options.driver = true;
    if (d->gpu->device->counts) timeline_open(d->gpu->device->counts);
    cu_choose_open(d->gpu);
    cu_report_watch(&run.to, d->gpu);
    return LK_OK;
}

struct report *cu_run_alone(void)
{
    if (!run.read) options_read();
    struct report *r = report_new();
    report_begin(r);
    cu_report_alone(&run.to, r);
    return r;
}

bool cu_run_strict(void)
{
    if (!run.read) options_read();
    return run.strict;
}

void cu_run_launch(const lk_kernel *kernel, lk_launch *launch)
{
    struct cu_kernel_count *c = cu_count_of(kernel);
    launch->nth = __atomic_add_fetch(&c->issued, 1, __ATOMIC_RELAXED);
    lk_capture_status captured = LK_CAPTURE_NONE;
    if (launch->stream) lk_stream_capture_status(launch->stream, &captured);
    if (captured) __atomic_add_fetch(&c->recorded, 1, __ATOMIC_RELAXED);
    launch->count = captured ? &c->nodes : &c->ran;
    launch->site = host_site(NULL);
    cu_record_launch(kernel, launch, captured != LK_CAPTURE_NONE);
    cu_growth_launch(kernel->module->gpu, c->plain);
    cu_contract_launch(kernel, launch);
    cu_report_launch(c, launch);
    cu_clock_launch(c, launch->nth, launch->stream, launch->site);
}

/* ---- the calls of the program ---- */

/* The first call finds out whether calls are logged. An interpreter may come later, and asks then (cu_where.c). */
void cu_engine_begin(struct cu_call *c)
{
    if (cu_log_wanted()) c->start = cu_log_now();
    if (cu_where_scripts()) cu_where_begin(c);
    if (cu_log_wanted() || cu_where_scripts()) return;
    __atomic_store_n(&cu_engine_asks, false, __ATOMIC_SEQ_CST);
    if (cu_where_scripts()) __atomic_store_n(&cu_engine_asks, true, __ATOMIC_SEQ_CST);
}

void cu_engine_end(const struct cu_call *c)
{
    cu_interrupt_returns();
    if (unlikely((s32)c->result != 0 || cu_failed_watches())) cu_failed_done(c);
    if (unlikely(cu_clock_watches())) cu_clock_call(c);
    if (c->start) cu_log_call(c);
    if (unlikely((s32)c->result != 0) && cu_failed_is_error(c)) cu_logs_failed(c); /* may call the program: last */
}

void cu_engine_thread_end(void)
{
    cu_failed_thread_end();
    cu_clock_thread_end();
}
