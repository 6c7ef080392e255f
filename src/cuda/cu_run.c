/* The engine inside a program: options from the launcher, reports to it. */
#include "cuda/cu_count.h"
#include "cuda/cu_run.h"
#include "cuda/cu_where.h"
#include "where/where.h"
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { RULES = 16, PAUSE_US = 50000, LAST_WAIT = 40 }; /* pauses of the writer; so many of them at the end */

static struct {
    bool read;          /* the environment was read */
    char folder[400];   /* where reports go; "": there is no launcher */
    char options[4000]; /* the lines, each ended by a zero byte */
    bool strict;        /* --strict-arch: PTX that is newer than the device is refused */
    lk_options gpu;     /* what a gpu is made with; strings in `options` */
    const char *rule[RULES];
    u32 rules, most;
    bool color;
    bool writes; /* the thread that writes was started */
    lock_t lock; /* of writing and the counts below */
    u64 written; /* occurrences that the last report had, + 1; 0: none was written yet */
} run = { .lock = LOCK_INIT };

/* ---- what the launcher said ---- */

static void option_take(const char *key, const char *value)
{
    lk_options *o = &run.gpu;
    if (!strcmp(key, "check")) o->check = value;
    if (!strcmp(key, "no-check")) o->no_check = value;
    if (!strcmp(key, "threads")) o->threads = (u32)strtoul(value, NULL, 10);
    if (!strcmp(key, "budget")) o->budget = strtoull(value, NULL, 10);
    if (!strcmp(key, "strict-arch")) run.strict = true;
    if (!strcmp(key, "time-limit")) o->time_limit = strtod(value, NULL);
    if (!strcmp(key, "seed")) {
        o->seeded = 1;
        o->seed = strtoull(value, NULL, 10);
    }
    if (!strcmp(key, "suppress") && run.rules < RULES) run.rule[run.rules++] = value;
    if (!strcmp(key, "max-findings")) run.most = (u32)strtoul(value, NULL, 10);
    if (!strcmp(key, "color")) run.color = value[0] == '1';
}

static void options_read(void)
{
    const char *folder = getenv("LOCKSTEP_RUN"), *options = getenv("LOCKSTEP_RUN_OPTIONS");
    run.read = true;
    run.gpu = (lk_options){ .size = sizeof run.gpu, .managed = "report" };
    snprintf(run.folder, sizeof run.folder, "%s", folder ? folder : "");
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

/* ---- the report ---- */

static u64 occurrences(void)
{
    u64 n = 0;
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].gpu)
            n += lk_report_errors(cu_process.device[i].gpu) + lk_report_notes(cu_process.device[i].gpu);
    return n;
}

static void put(const char *suffix, char *text)
{
    char to[500];
    struct error e = { 0 };
    snprintf(to, sizeof to, "%s/%d.%s", run.folder, (int)getpid(), suffix);
    if (text && *text) file_write(to, text, strlen(text), &e);
    lk_text_free(text);
}

/* "4 launches of 3 kernels, 8068 bytes of memory at most". */
static void summary_add(struct text *t)
{
    u64 bytes = 0, launches = 0;
    u32 kernels = 0;
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].gpu) bytes += lk_memory_peak(cu_process.device[i].gpu);
    for (const struct cu_kernel_count *c = cu_count_first(); c; c = c->next) {
        kernels++;
        launches += __atomic_load_n(&c->issued, __ATOMIC_RELAXED);
    }
    text_add(t, "%" PRIu64 " launch%s of %u kernel%s, %" PRIu64 " bytes of memory at most\n", launches,
             launches == 1 ? "" : "es", kernels, kernels == 1 ? "" : "s", bytes);
}

/* All of it, as far as it is known now. */
static void report_write(void)
{
    struct text t = { 0 };
    lock(&run.lock);
    run.written = occurrences() + 1;
    for (u32 i = 0; i < cu_process.devices; i++) {
        lk_gpu *gpu = cu_process.device[i].gpu;
        if (!gpu) continue;
        char *text = lk_report_errors(gpu) || lk_report_notes(gpu) ? lk_report_text(gpu, run.color) : NULL;
        if (text) text_add(&t, "%s", text);
        lk_text_free(text);
        if (!run.folder[0] || i) continue;
        put("json", lk_report_json(gpu));
        put("sarif", lk_report_sarif(gpu));
        put("junit", lk_report_junit(gpu, "run"));
        put("rules", lk_report_rules(gpu));
    }
    u32 errors = 0;
    for (u32 i = 0; i < cu_process.devices; i++)
        if (cu_process.device[i].gpu) errors += lk_report_errors(cu_process.device[i].gpu);
    if (run.folder[0]) {
        char number[40], *copy = NULL;
        summary_add(&t);
        if (t.p && (copy = base_alloc(t.n + 1))) memcpy(copy, t.p, t.n + 1);
        put("txt", copy);
        snprintf(number, sizeof number, "%u\n", errors);
        if ((copy = base_alloc(strlen(number) + 1))) memcpy(copy, number, strlen(number) + 1);
        put("errors", copy);
    } else if (t.n) {
        struct text plain = { 0 };
        where_expand((struct str){ t.p, (u32)t.n }, &plain);
        fputs(plain.p, stderr);
        text_free(&plain);
    }
    text_free(&t);
    unlock(&run.lock);
}

static void *writer(void *self)
{
    (void)self;
    thread_name("lk-report"); /* one of ours: it will not wake a kernel */
    for (;;) {
        thread_sleep_us(PAUSE_US);
        lock(&cu_process.lock); /* no gpu is being made */
        bool fresh = occurrences() + 1 != run.written;
        unlock(&cu_process.lock);
        if (fresh) report_write();
    }
    return NULL;
}

/* The program has ended, and its own handlers have run. What is still in flight gets a moment to end. */
__attribute__((destructor)) static void end(void)
{
    bool any = false;
    if (!cu_process.ready || cu_process.pid != (s32)getpid()) return;
    for (u32 i = 0; i < cu_process.devices; i++) {
        lk_gpu *gpu = cu_process.device[i].gpu;
        lk_progress p = { .size = sizeof p };
        if (!gpu) continue;
        any = true;
        for (u32 k = 0; k < LAST_WAIT && lk_gpu_progress(gpu, &p); k++) thread_sleep_us(PAUSE_US);
        lk_report_leaks(gpu);
        lk_report_leaks_host(gpu);
    }
    if (any) report_write();
}

lk_status cu_run_open(struct cu_device *d)
{
    pthread_t thread;
    if (!run.read) options_read();
    lk_options o = run.gpu;
    o.device = d->profile->name;
    o.any_arch = 1; /* cu_text.c chooses what is loaded */
    lk_status s = lk_gpu_create(&o, &d->gpu);
    if (s) {
        fprintf(stderr, "lockstep: %s\n", lk_gpu_error(NULL));
        return s;
    }
    char sites[500];
    snprintf(sites, sizeof sites, run.folder[0] ? "%s/%d.sites" : "", run.folder, (int)getpid());
    cu_where_open(sites);
    lk_report_limit(d->gpu, run.most);
    for (u32 i = 0; i < run.rules; i++)
        if (lk_report_suppress(d->gpu, run.rule[i])) fprintf(stderr, "lockstep: %s\n", lk_gpu_error(d->gpu));
    if (run.folder[0] && !run.writes && !pthread_create(&thread, NULL, writer, NULL)) {
        pthread_detach(thread);
        run.writes = true;
    }
    return LK_OK;
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
    launch->count = &c->ran;
}
