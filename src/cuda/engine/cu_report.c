/* Writes the report of the program that the engine is in. */
#include "count/count_write.h"
#include "engine/cu_growth.h"
#include "engine/cu_time.h"
#include "engine/cu_report.h"
#include "libraries/library.h"
#include "base/thread.h"
#include "engine/cu_choose.h"
#include "engine/cu_clock.h"
#include "engine/cu_contract.h"
#include "engine/cu_failed.h"
#include "engine/cu_fault.h"
#include "engine/cu_interrupt.h"
#include "engine/cu_run.h"
#include "engine/cu_where.h"
#include "device/dev_work.h"
#include "mem/sites.h"
#include "sites/where.h"
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

enum {
    STOPS_MS = 200,    /* for launches that a signal stops, before somebody waits for them in the program's place, */
    STOPPED_MS = 700,  /* and then */
    PAUSE_US = 50000,  /* of the thread that writes */
    LAST_US = 2000000, /* at the end, for what is still in flight */
    OLD = 20,          /* pauses after which a finding is written although its launch still runs, */
    COUNTS = 40,       /* and after which counts that have changed are */
    THREADS = 10,      /* after which the program's threads are looked for */
    TABLE_MOST = 20,   /* kernels that the table has */
    AT_ONCE = 64,      /* findings that are written when they come */
    CELL_US = 1000000, /* at the end of a cell, for what it has launched; */
    CELL_STEP_US = 2000,
    SHARE = 16 /* after that: so many times as long as the last whole report took, until there is a new one */
};

static struct {
    const struct cu_reporting *how; /* NULL: there is no gpu yet */
    struct report *alone;           /* there is no gpu, and findings are here; NULL: there is one */
    bool started;                   /* the thread that writes was started */
    lock_t lock;                    /* of writing whole reports */
    u64 written;                    /* atomic: what the last whole report had (found), + 1; 0: none was written yet */
    u64 again;                      /* when the thread that writes may write the next one (time_ns) */
    u64 counted;                    /* the same of counts */
    lock_t say_lock;                /* of the fields below */
    u32 said;                       /* findings in the log */
    u64 ended, since;               /* launches that have ended when that last changed; how many pauses ago */
    struct cu_kernel_count *last;   /* atomic: launched last */
    bool shown;                     /* CHANNEL_NOW is there */
    bool cells;                     /* findings are kept for the cell of a notebook, too */
    struct text cell;               /* those that no cell has shown yet */
    bool over;                      /* atomic: the last report is being written, or was */
    struct channel_writer to;       /* of this process */
} out = { .lock = LOCK_INIT, .say_lock = LOCK_INIT };

/* The i-th gpu that is open, from 0 on; NULL: there is none. */
static lk_gpu *gpu_at(u32 i)
{
    for (u32 k = 0; k < cu_process.devices; k++) {
        lk_gpu *gpu = __atomic_load_n(&cu_process.device[k].gpu, __ATOMIC_ACQUIRE);
        if (gpu && !i--) return gpu;
    }
    return NULL;
}

static struct report *report_of(lk_gpu *gpu) { return gpu->device->report; }

/* The i-th report, from 0 on; NULL: there is none. */
static struct report *report_at(u32 i)
{
    if (out.alone) return i ? NULL : out.alone;
    lk_gpu *gpu = gpu_at(i);
    return gpu ? report_of(gpu) : NULL;
}

static void put(enum channel_kind kind, struct text *t)
{
    if (t->n) channel_put(&out.to, kind, t->p, t->n);
    text_free(t);
}

/* Findings that fail: with --fail-on note the notes, too. */
static u64 errors_now(void)
{
    u64 n = 0;
    const struct report *r;
    for (u32 i = 0; (r = report_at(i)); i++) n += report_errors(r) + (out.how->fail_on_notes ? report_notes(r) : 0);
    return n;
}

/* ---- findings as they happen ---- */

/* Adds what is new to the log; all: also of launches that still run. */
static u32 say(struct report *r, bool all)
{
    struct text t = { 0 };
    u32 most = out.how->most;
    lock(&out.say_lock);
    bool wanted = !most || out.said < most;
    struct report_style style = { .color = out.how->color,
                                  .max = most ? MAX_OF(most - MIN_OF(out.said, most), 1u) : 0 };
    u32 n = report_text_fresh(r, style, all, &t);
    if (wanted && t.n) channel_add(&out.to, CHANNEL_LOG, t.p, t.n);
    if (wanted && t.n && out.cells) text_put(&out.cell, t.p, t.n);
    if (wanted) out.said += n;
    if (n) channel_errors(&out.to, errors_now());
    text_free(&t);
    unlock(&out.say_lock);
    return n;
}

/* ---- cells of notebooks ---- */

static bool launches_run(void)
{
    lk_progress p = { .size = sizeof p };
    lk_gpu *gpu;
    for (u32 i = 0; (gpu = gpu_at(i)); i++) {
        struct streams *s = gpu->device->work ? work_used(gpu->device) : NULL;
        if (s && streams_unfinished(s)) return true; /* begun or not */
        if (lk_gpu_progress(gpu, &p) && p.ctas) return true;
    }
    return false;
}

/* What runs is looked at, and not waited for as by a call of the program: that would order it. */
void cu_report_cell(struct text *into)
{
    struct report *r;
    for (u32 us = 0; us < CELL_US && launches_run(); us += CELL_STEP_US) thread_sleep_us(CELL_STEP_US);
    for (u32 i = 0; out.how && (r = report_at(i)); i++)
        if (report_fresh(r)) say(r, false);
    lock(&out.say_lock);
    struct text t = out.cell;
    out.cell = (struct text){ 0 };
    unlock(&out.say_lock);
    if (t.n) where_expand((struct str){ t.p, (u32)t.n }, into);
    text_free(&t);
}

/* ---- the whole report ---- */

static int by_time(const void *a, const void *b)
{
    const struct cu_kernel_count *x = *(struct cu_kernel_count *const *)a, *y = *(struct cu_kernel_count *const *)b;
    u64 m = cu_count_nanoseconds(x), n = cu_count_nanoseconds(y);
    if (out.how->stable || m == n) return strcmp(x->plain, y->plain);
    return m < n ? 1 : -1;
}

/* "1 error, 2 notes", "-". */
static void findings_text(const char *kernel, char *text, size_t size)
{
    u32 errors = 0, notes = 0;
    lk_gpu *gpu;
    for (u32 i = 0; (gpu = gpu_at(i)); i++) {
        u32 e, n;
        report_of_kernel(report_of(gpu), kernel, &e, &n);
        errors += e;
        notes += n;
    }
    int k = errors ? snprintf(text, size, "%u error%s", errors, plural(errors)) : 0;
    if (notes) k += snprintf(text + k, size - (size_t)k, "%s%u note%s", k ? ", " : "", notes, plural(notes));
    if (!k) snprintf(text, size, "-");
}

static void time_text(u64 ns, char *text, size_t size)
{
    if (ns >= 10000000000ull)
        snprintf(text, size, "%.1f s", (double)ns * 1e-9);
    else if (ns >= 10000000)
        snprintf(text, size, "%.1f ms", (double)ns * 1e-6);
    else
        snprintf(text, size, "%.1f us", (double)ns * 1e-3);
}

/* A line for each kernel: launches, time, findings. */
static void table_add(struct text *t, u32 kernels)
{
    struct cu_kernel_count **v = base_need(sizeof *v * MAX_OF(kernels, 1u)), *c = cu_count_first();
    u32 n = 0;
    bool times = !out.how->stable;
    for (; c && n < kernels; c = c->next) v[n++] = c;
    qsort(v, n, sizeof *v, by_time);
    text_add(t, "%10s%s  %-18s  %s\n", "launches", times ? "        time" : "", "findings", "kernel");
    for (u32 i = 0; i < n && i < TABLE_MOST; i++) {
        char found[60], took[40];
        findings_text(v[i]->name, found, sizeof found);
        time_text(cu_count_nanoseconds(v[i]), took, sizeof took);
        text_add(t, "%10" PRIu64, cu_count_launches(v[i]));
        if (times) text_add(t, "%12s", took);
        text_add(t, "  %-18s  %s\n", found, v[i]->plain);
    }
    if (n > TABLE_MOST) text_add(t, "%10s and %u more kernels\n", "", n - TABLE_MOST);
    base_free(v);
}

/* Where most of the memory came from when there was most, if it came in many pieces from few lines: what grows. */
static void sites_add_text(struct text *t, lk_gpu *gpu)
{
    enum { PIECES = 16, MOST = 3, LITTLE = 1 << 20 };
    struct site_usage v[MOST];
    u64 all = lk_memory_peak(gpu);
    u32 n = gpu->device->mem && all >= LITTLE ? mem_sites(gpu->device->mem, v, MOST) : 0;
    for (u32 i = 0; i < n; i++)
        if (v[i].peak_count >= PIECES && v[i].peak >= all / 4)
            text_add(t, "%" PRIu64 " of these bytes were live in %u allocations of one line, %s\n", v[i].peak,
                     v[i].peak_count, v[i].site);
}

/* "4 launches of 3 kernels, 8068 bytes of memory at most", after a table of the kernels. */
static void summary_add(struct text *t)
{
    u64 bytes = 0, launches = 0;
    u32 kernels = 0;
    lk_gpu *gpu;
    for (u32 i = 0; (gpu = gpu_at(i)); i++) bytes += lk_memory_peak(gpu);
    for (const struct cu_kernel_count *c = cu_count_first(); c; c = c->next) {
        kernels++;
        launches += cu_count_launches(c);
    }
    if (kernels > 1) table_add(t, kernels);
    text_add(t, "%" PRIu64 " launch%s of %u kernel%s, %" PRIu64 " bytes of memory at most\n", launches,
             launches == 1 ? "" : "es", kernels, plural(kernels), bytes);
    for (u32 i = 0; (gpu = gpu_at(i)); i++) {
        sites_add_text(t, gpu);
        cu_time_text(gpu, t);
        cu_growth_text(gpu, t);
    }
    cu_choose_summary(t);
}

/* What follows the findings, which the log has. */
static void end_write(void)
{
    struct text t = { 0 };
    struct report *r;
    for (u32 i = 0; (r = report_at(i)); i++)
        if (report_errors(r) || report_notes(r)) report_text_end(r, &t);
    if (!out.alone) summary_add(&t);
    put(CHANNEL_END, &t);
}

static void text_write(void)
{
    struct text t = { 0 };
    struct report *r;
    for (u32 i = 0; (r = report_at(i)); i++)
        if (report_errors(r) || report_notes(r))
            report_text(r, (struct report_style){ .color = out.how->color, .max = out.how->most }, &t);
    if (out.how->launched) {
        if (!out.alone) summary_add(&t);
        put(CHANNEL_TXT, &t);
        return;
    }
    struct text plain = { 0 };
    if (t.n) where_expand((struct str){ t.p, (u32)t.n }, &plain);
    if (plain.n) fputs(plain.p, stderr);
    text_free(&plain);
    text_free(&t);
}

static u64 found_now(void)
{
    u64 n = 0;
    const struct report *r;
    for (u32 i = 0; (r = report_at(i)); i++) n += report_errors(r) + report_notes(r);
    return n;
}

static u64 ended_now(void)
{
    u64 n = 0;
    for (const struct cu_kernel_count *c = cu_count_first(); c; c = c->next) n += cu_count_ended(c);
    return n;
}

/* The number of launches, and of those that had any check on and ran to their end. Calls that were refused count where
 * there is nothing else: what such a program computes is not right. */
static void launches_write(void)
{
    u64 launches = 0;
    bool any = false;
    lk_gpu *gpu;
    if (out.alone) return; /* in a child of fork these are its parent's */
    for (const struct cu_kernel_count *c = cu_count_first(); c; c = c->next) launches += cu_count_launches(c);
    for (u32 i = 0; (gpu = gpu_at(i)); i++) any |= gpu->device->options.checks || gpu->device->counts;
    u64 checked = any ? MIN_OF(cu_choose_checked(launches), ended_now()) : 0;
    channel_launches(&out.to, launches ? launches : cu_failed_launches(), checked);
}

static void report_write(void)
{
    lock(&out.lock);
    u64 begin = time_ns();
    __atomic_store_n(&out.written, found_now() + 1, __ATOMIC_RELAXED);
    out.counted = ended_now() + 1;
    struct report *r[CU_DEVICES];
    u32 n = 0;
    while (n < CU_DEVICES && (r[n] = report_at(n))) n++;
    text_write();
    if (out.how->launched) {
        struct text json = { 0 }, sarif = { 0 }, junit = { 0 }, rules = { 0 };
        end_write();
        report_json(r, n, &json);
        report_sarif(r, n, LK_VERSION, &sarif);
        report_junit(r, n, "run", &junit);
        report_rules(r, n, &rules);
        put(CHANNEL_JSON, &json);
        put(CHANNEL_SARIF, &sarif);
        put(CHANNEL_JUNIT, &junit);
        put(CHANNEL_RULES, &rules);
        if (out.how->page && !out.how->profile) {
            struct text page = { 0 };
            counts_json(NULL, 0, r, n, &page);
            put(CHANNEL_COUNTS, &page);
        }
        channel_errors(&out.to, errors_now());
        launches_write();
    }
    out.again = time_ns() + (out.written > AT_ONCE ? SHARE * (time_ns() - begin) : 0);
    unlock(&out.lock);
}

/* Something was found. The first findings are in the log and in the whole report at once. Later a finding is in the log
 * with others, since what follows from another one is looked for among all; the writer brings them in any case. */
static void say_fresh(void *report)
{
    if (cu_process.pid != process_id() && !out.alone) return;
    u64 had = __atomic_load_n(&out.written, __ATOMIC_RELAXED);
    if (out.started && !out.alone && had > AT_ONCE && SHARE * (u64)report_fresh(report) < had) return;
    if (say(report, false) && found_now() <= AT_ONCE) report_write();
}

/* ---- how far a long launch is ---- */

/* "scale, launch 12: 345 of 1024 blocks, 12 million instructions, 4 s", in CHANNEL_NOW while a launch takes long. */
static void progress_write(void)
{
    lk_progress p = { .size = sizeof p };
    const struct cu_kernel_count *c = __atomic_load_n(&out.last, __ATOMIC_ACQUIRE);
    u64 ended = ended_now();
    lk_gpu *gpu;
    bool runs = false;
    for (u32 i = 0; !runs && (gpu = gpu_at(i)); i++) runs = lk_gpu_progress(gpu, &p) && p.ctas;
    out.since = runs && ended == out.ended ? out.since + 1 : 0;
    out.ended = ended;
    if (c && out.since >= OLD) {
        struct text t = { 0 };
        text_add(&t,
                 "%s, launch %" PRIu64 ": %" PRIu64 " of %" PRIu64 " blocks, %" PRIu64 " million instructions, %u s",
                 c->plain, __atomic_load_n(&c->issued, __ATOMIC_RELAXED), p.ctas_done, p.ctas,
                 p.warp_instructions / 1000000, (u32)(out.since * PAUSE_US / 1000000));
        out.shown = true;
        put(CHANNEL_NOW, &t);
    } else if (out.shown) {
        channel_put(&out.to, CHANNEL_NOW, NULL, 0);
        out.shown = false;
    }
}

/* ---- when ---- */

/* The last findings, whether their launches have ended or not. */
static void say_all(void)
{
    lk_gpu *gpu;
    for (u32 i = 0; (gpu = gpu_at(i)); i++) say(report_of(gpu), true);
}

/* A kernel that could not be executed: that is no finding, and what it would have computed is missing. */
static void say_lost(lk_gpu *gpu)
{
    struct error e;
    if (!work_lost(gpu->device, &e)) return;
    fprintf(stderr, "lockstep: a kernel was not executed to its end: %s%s%s\n", e.where, e.where[0] ? ": " : "",
            e.text);
    channel_mark(&out.to, CHANNEL_CUT, true);
}

struct settling {
    lk_gpu *gpu;
    u32 done; /* atomic */
};
static void *synchronise(void *self)
{
    struct settling *s = self;
    thread_name("lk-settle");
    lk_gpu_synchronise(s->gpu);
    __atomic_store_n(&s->done, 1, __ATOMIC_RELEASE);
    return NULL;
}

/* What was launched and has not ended gets a moment for it, also what has not begun: under a seed nothing does before
 * somebody waits. A thread of its own waits, since a kernel may never end. */
static void settle(lk_gpu *gpu)
{
    pthread_t thread;
    if (!work_used(gpu->device)) return;       /* all that was done was waited for */
    struct settling *s = base_need(sizeof *s); /* stays: the thread may still wait when the process ends */
    *s = (struct settling){ .gpu = gpu };
    if (thread_start(&thread, synchronise, s)) return;
    pthread_detach(thread);
    for (u32 us = 0, step = 50; us < LAST_US && !__atomic_load_n(&s->done, __ATOMIC_ACQUIRE); us += step) {
        thread_sleep_us(step);
        if (step < PAUSE_US / 8) step *= 2;
    }
}

/* What was counted, of all devices of the process. */
static void profile_write(void)
{
    struct text text = { 0 }, json = { 0 };
    struct counts *c[CU_DEVICES];
    struct report *r[CU_DEVICES];
    u32 n = 0, all = 0;
    lk_gpu *gpu;
    if (!out.how->profile) return;
    for (u32 i = 0; all < CU_DEVICES && (gpu = gpu_at(i)); i++) {
        r[all++] = report_of(gpu);
        if (!gpu->device->counts) continue;
        c[n++] = gpu->device->counts;
        struct count_style style = { out.how->color, out.how->lines, out.how->timeline, 0 };
        counts_text(gpu->device->counts, style, &text);
    }
    if (!n) return;
    counts_json(c, n, r, all, &json);
    put(CHANNEL_PROFILE, &text);
    put(CHANNEL_COUNTS, &json);
}

/* The program has ended, and its own handlers have run. */
__attribute__((destructor)) static void end(void)
{
    lk_gpu *gpu;
    if (!cu_process.ready || cu_process.pid != process_id() || !out.how) return;
    if (__atomic_exchange_n(&out.over, true, __ATOMIC_ACQ_REL)) return;
    cu_failed_end();
    cu_clock_end();
    cu_contract_end();
    for (u32 i = 0; (gpu = gpu_at(i)); i++) {
        settle(gpu);
        /* nothing could be freed after a sticky error; what an interpreter's objects hold to the end was not forgotten
         */
        if (!cu_sticky(gpu) && !cu_where_holds()) {
            lk_report_leaks(gpu);
            lk_report_leaks_host(gpu);
            if (!i) library_leaks(gpu->device);
        }
        if (out.how->launched) say(report_of(gpu), true);
        say_lost(gpu);
    }
    if (report_at(0)) report_write();
    profile_write();
    channel_mark(&out.to, CHANNEL_DONE, true);
}

/* The report is complete although the program is not at its end: a signal or exec is about to end it. */
static void complete(void)
{
    say_all();
    report_write();
    profile_write();
    channel_mark(&out.to, CHANNEL_WHOLE, true);
}

/* Kernels are stopped where they stand. Seeded launches need a thread that waits for them. */
static void interrupt(void)
{
    lk_gpu *gpu;
    if (cu_interrupt_launches(STOPS_MS)) return;
    for (u32 i = 0; (gpu = gpu_at(i)); i++) settle(gpu);
    cu_interrupt_launches(STOPPED_MS);
}

/* What a signal, _exit or exec has asked for. */
static void answer(enum cu_asked_for asked)
{
    lk_gpu *gpu;
    if (asked == CU_ASKED_FAULT) {
        cu_fault_found();
        cu_fault_last(true); /* with the calls that wait for the kernels which are stopped next */
        if (cu_fault_interrupts()) interrupt();
        complete();
        cu_interrupt_end();
    }
    if (asked == CU_ASKED_END) end();
    if (asked == CU_ASKED_REPLACED) {
        for (u32 i = 0; (gpu = gpu_at(i)); i++) settle(gpu);
        complete();
    }
    cu_fault_done();
}

/* A program whose main has ended by pthread_exit ends with its last thread. Ours are none of its threads, and they take
 * no signal that would end it. It ends as it would without ours: where main was killed, maybe in a call, by that
 * signal. */
static void end_without_threads(void)
{
    int status;
    u32 left;
    if (!thread_main_ended(&status) || !threads_of_program(&left, NULL) || left > 1) return;
    if (!WIFSIGNALED(status)) exit(WEXITSTATUS(status));
    complete();
    kill(process_id(), WTERMSIG(status));
}

static void *writer(void *self)
{
    u32 old = 0, pauses = 0;
    (void)self;
    thread_name("lk-report"); /* one of ours: it will not wake a kernel */
    for (;;) {
        enum cu_asked_for asked = cu_fault_wait(PAUSE_US);
        bool fresh = false;
        if (asked) {
            answer(asked);
            continue;
        }
        cu_fault_last(false);
        lk_gpu *gpu;
        for (u32 i = 0; (gpu = gpu_at(i)); i++) {
            if (!report_fresh(report_of(gpu))) continue;
            say(report_of(gpu), old >= OLD);
            fresh |= report_fresh(report_of(gpu)) != 0;
        }
        old = fresh && old < OLD ? old + 1 : 0;
        bool counts = ++pauses % COUNTS == 0 && ended_now() + 1 != out.counted;
        if ((found_now() + 1 != out.written || counts) && time_ns() >= out.again) report_write();
        if (out.how->progress) progress_write();
        if (pauses % THREADS == 0) end_without_threads();
    }
    return NULL;
}

/* ---- without a gpu ---- */

/* Nothing is being written while a process forks: the child finds no lock taken that it needs. */
static void fork_begin(void)
{
    lock(&out.lock);
    lock(&out.say_lock);
    where_fork_begin();
}
static void fork_end(void)
{
    where_fork_end();
    unlock(&out.say_lock);
    unlock(&out.lock);
}

/* This process is a sender; NULL: there is no launcher. */
static struct channel_writer *begin(const struct cu_reporting *how)
{
    if (!how->launched) return NULL;
    out.cells = getenv("LOCKSTEP_CELLS") != NULL;
    if (!channel_begin(&out.to, &how->channel, process_id()))
        fprintf(stderr, "lockstep: there is no room for the report of process %d; LOCKSTEP_REPORT_MIB gives more\n",
                process_id());
    return &out.to;
}

void cu_report_alone(const struct cu_reporting *how, struct report *r)
{
    bool child = out.how && cu_process.pid != process_id();
    struct channel_writer *to = begin(how);
    out.how = how;
    out.alone = r;
    if (child) {
        out.said = 0;
        out.over = true; /* the report is complete with each finding */
        cu_where_forked(to);
    } else {
        cu_where_open(to);
    }
    if (!to) return;
    channel_mark(to, CHANNEL_DONE, true);
    report_on_fresh(r, say_fresh, r);
}

void cu_report_watch(const struct cu_reporting *how, lk_gpu *gpu)
{
    pthread_t thread;
    bool first = !out.how;
    out.how = how;
    if (first) cu_where_open(begin(how));
    if (!how->launched) return;
    channel_mark(&out.to, CHANNEL_GPU, true);
    if (first) {
        pthread_atfork(fork_begin, fork_end, fork_end);
        cu_fault_open(&out.to);
    }
    report_on_fresh(report_of(gpu), say_fresh, report_of(gpu));
    if (!out.started && !thread_start(&thread, writer, NULL)) {
        pthread_detach(thread);
        out.started = true;
    }
}

void cu_report_unsupported(void) { channel_mark(&out.to, CHANNEL_CUT, true); }

void cu_report_undone(void) { channel_mark(&out.to, CHANNEL_UNDONE, true); }

void cu_report_launch(struct cu_kernel_count *c, const lk_launch *launch)
{
    __atomic_store_n(&out.last, c, __ATOMIC_RELEASE);
    cu_fault_launch(c, launch);
}
