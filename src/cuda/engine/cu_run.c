/* The engine inside a program: options from the launcher, reports to it. */
#include "count/timeline.h"
#include "run/cu_choose.h"
#include "run/cu_clock.h"
#include "run/cu_contract.h"
#include "driver/cu_count.h"
#include "run/cu_failed.h"
#include "run/cu_logs.h"
#include "run/cu_growth.h"
#include "run/cu_record.h"
#include "run/cu_time.h"
#include "run/cu_report.h"
#include "run/cu_run.h"
#include "run/cu_where.h"
#include "run/gate_log.h"
#include <inttypes.h>
#include <stdlib.h>

enum { RULES = 16 };

static struct {
    bool read;          /* the environment was read */
    char options[4000]; /* the lines, each ended by a zero byte */
    bool strict;        /* --strict-arch: PTX that is newer than the device is refused */
    lk_options gpu;     /* what a gpu is made with; strings in `options` */
    const char *rule[RULES];
    u32 rules;
    struct cu_reporting to; /* how reports are written */
} run;

/* ---- what the launcher said ---- */

static void option_take(const char *key, const char *value)
{
    lk_options *o = &run.gpu;
    if (cu_choose_option(key, value) || cu_record_option(key, value) || cu_contract_option(key, value)) return;
    if (cu_time_option(key, o) || cu_growth_option(key)) return;
    if (!strcmp(key, "check")) o->check = value;
    if (!strcmp(key, "no-check")) o->no_check = value;
    if (!strcmp(key, "threads")) o->threads = (u32)strtoul(value, NULL, 10);
    if (!strcmp(key, "budget")) o->budget = strtoull(value, NULL, 10);
    if (!strcmp(key, "strict-arch")) run.strict = true;
    if (!strcmp(key, "faults")) cu_process.faults = true;
    if (!strcmp(key, "profile")) {
        o->profile = 1;
        run.to.profile = true;
        run.to.lines = !strcmp(value, "lines");
    }
    if (!strcmp(key, "timeline")) run.to.timeline = value[0] == '1';
    if (!strcmp(key, "page")) run.to.page = value[0] == '1';
    if (!strcmp(key, "time-limit")) o->time_limit = double_read(value, NULL);
    if (!strcmp(key, "seed")) {
        o->seeded = 1;
        o->seed = strtoull(value, NULL, 10);
    }
    if (!strcmp(key, "suppress") && run.rules < RULES) run.rule[run.rules++] = value;
    if (!strcmp(key, "max-findings")) run.to.most = (u32)strtoul(value, NULL, 10);
    if (!strcmp(key, "stable")) run.to.stable = value[0] == '1';
    if (!strcmp(key, "progress")) run.to.progress = value[0] == '1';
    if (!strcmp(key, "color")) run.to.color = value[0] == '1';
}

/* Set by lockstep-front.so when it sees the engine: where it has mapped the memory for reports (front_channel.c). */
__attribute__((visibility("default"))) void *lkfront_channel;

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

static void options_read(void)
{
    const char *options = getenv("LOCKSTEP_RUN_OPTIONS");
    run.read = true;
    run.gpu = (lk_options){ .size = sizeof run.gpu, .managed = "report" };
    run.to.launched = launcher_find(&run.to.channel);
    snprintf(run.options, sizeof run.options, "%s", options ? options : "");
    for (char *line = run.options; *line;) {
        char *end = line + strcspn(line, "\n"), *value = strchr(line, '=');
        bool last = !*end;
        *end = 0;
        if (value && value < end) {
            *value = 0;
            option_take(line, value + 1);
        }
        if (last) break;
        line = end + 1;
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
    if (s) {
        fprintf(stderr, "lockstep: %s\n", lk_gpu_error(NULL));
        return s;
    }
    __atomic_store_n(&d->gpu, gpu, __ATOMIC_RELEASE); /* the thread that writes reports looks at it */
    d->gpu->device->options.driver = true;
    if (d->gpu->device->counts) timeline_open(d->gpu->device->counts);
    lk_report_limit(d->gpu, run.to.most);
    cu_choose_open(d->gpu);
    for (u32 i = 0; i < run.rules; i++)
        if (lk_report_suppress(d->gpu, run.rule[i])) fprintf(stderr, "lockstep: %s\n", lk_gpu_error(d->gpu));
    cu_report_watch(&run.to, d->gpu);
    return LK_OK;
}

struct report *cu_run_alone(void)
{
    if (!run.read) options_read();
    struct report *r = report_new();
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

bool cu_engine_asks = true;

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
