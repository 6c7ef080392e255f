/* Which launches run beside each other, and whether anything can still happen.
 *
 * With the race check on, a launch that waits for nobody runs alone: nothing starts beside it, and what has become
 * ready meanwhile is held back until it ends. It waits for nobody, so that nothing can depend on what is held back; a
 * launch that is held back is therefore nothing that could still change memory. */
#include "base/stop.h"
#include "device/dev_work.h"
#include "device/op_races.h"
#include "sites/where.h"
#include <sched.h>

/* ---- the streams ---- */

static bool is_before(void *self, u64 stamp, const void *op, bool waited)
{
    (void)self;
    return waited ? op_before_full(stamp, op) : op_before(stamp, op);
}

/* Under a seed: the launches in flight go on until one ends. */
static enum op_progress progress(void *of)
{
    struct device *d = of;
    switch (sim_drive(d->sim)) {
    case SIM_DRIVE_ENDED: return OP_PROGRESS_SOME;
    case SIM_DRIVE_BUSY: return OP_PROGRESS_BUSY;
    default: return OP_PROGRESS_BLOCKED;
    }
}

/* A launch that nobody has taken yet is run by the thread that waits for it. */
static void help(void *of, struct op *op)
{
    if (op_kind(op) == OP_LAUNCH && op_state(op) == OP_RUNNING) sim_help(((struct device *)of)->sim, op);
}

static bool start_soon(void *of) { return sim_start_soon(((struct device *)of)->sim); }
static void start_ready(void *of) { streams_start(work_used(of)); }

/* Memory of the host's, or that it shares with kernels. A launch is asked nothing: its pointers may lie anywhere. */
static bool seen(void *of, const struct op *op)
{
    const struct device *d = of;
    switch (op_kind(op)) {
    case OP_EMPTY:
    case OP_ALLOC:
    case OP_FREE:
    case OP_RECORD:
    case OP_WAIT: return false;
    case OP_LAUNCH:
    case OP_FILL:
        return mem_bytes_of(d->mem, MEM_PINNED) || mem_bytes_of(d->mem, MEM_MANAGED) ||
               mem_bytes_of(d->mem, MEM_REGISTERED);
    default: return true;
    }
}

/* Values carry order into kernels, and out of them. `address`: where the engine sees the value. */
static void value_used(void *of, u64 address, u32 bytes, bool writes)
{
    const struct device *d = of;
    if (d->race) race_outside(d->race, mem_address(d->mem, address), bytes, writes);
}

/* A seeded run that another one with the same seed need not repeat. */
static void unrepeatable(void *of, enum op_chance why)
{
    static const char *const text[OP_CHANCES] = {
        [OP_CHANCE_SILENT] = "the host made no call for 50 ms, as one that polls mapped memory, and operations that "
                             "were ready ran without waiting for it any longer",
        [OP_CHANCE_LONG] = "a host function took more than 50 ms, and other operations ran beside it",
        [OP_CHANCE_THREADS] = "several threads of the program make calls, and which of them comes first is up to the "
                              "machine"
    };
    struct device *d = of;
    struct finding f = { .kind = F_unrepeatable, .cause = text[why], .cause_key = why + 1, .once = true };
    report_add(d->report, &f);
}

struct streams *work_streams(struct device *d)
{
    struct dev_work *w = d->work;
    struct streams *s = work_used(d);
    if (s) return s;
    lock(&w->lock);
    s = w->streams;
    if (!s) {
        s = streams_new(&(struct streams_options){ .backend = { .self = d,
                                                                .help = help,
                                                                .start_soon = start_soon,
                                                                .progress = progress,
                                                                .unrepeatable = unrepeatable,
                                                                .seen = seen,
                                                                .value = value_used },
                                                   .seeded = d->options.seeded,
                                                   .seed = d->options.seed,
                                                   .closed = true });
        if (s && w->here) streams_acts(s);
        if (s) sim_starter(d->sim, start_ready, d); /* before anybody can enqueue */
        __atomic_store_n(&w->streams, s, __ATOMIC_RELEASE);
        if (s) sim_explain(d->sim, blocked_explain);
        if (s && d->race) race_order(d->race, is_before, d);
    }
    unlock(&w->lock);
    return s;
}

bool work_open(struct device *d, struct error *e)
{
    d->work = base_aligned(sizeof *d->work);
    if (!d->work) return error_set(e, ERR_MEMORY, "out of memory");
    pthread_mutex_init(&d->work->lock, NULL);
    pthread_mutex_init(&d->work->sync, NULL);
    d->work->misuses = (struct misuses){ .lock = (lock_t)LOCK_INIT };
    sim_outside(d->sim, blocked_may_change, d);
    sim_on_misuse(d->sim, misuse_note, &d->work->misuses);
    return true;
}

void work_close(struct device *d)
{
    struct dev_work *w = d->work;
    if (!w) return;
    if (w->races) {
        streams_settle(w->streams);
        op_races_delete(w->races);
    }
    if (d->sim) sim_starter(d->sim, NULL, NULL);
    if (w->streams) streams_delete(w->streams);
    if (d->sim) sim_outside(d->sim, NULL, NULL);
    if (d->sim) sim_explain(d->sim, NULL);
    if (d->sim) sim_on_misuse(d->sim, NULL, NULL);
    base_free(w->misuses.of);
    pthread_mutex_destroy(&w->lock);
    pthread_mutex_destroy(&w->sync);
    arena_free(&w->mem);
    spares_free(&w->bodies);
    base_free(w->unseen);
    base_free(w);
    d->work = NULL;
}

u64 work_tag(struct device *d, const char *site)
{
    struct dev_work *w = d->work;
    if (!site || where_kept(site)) return (u64)(uintptr_t)site;
    lock(&w->lock);
    char *text = map_get(&w->sites, str_of(site));
    if (!text) {
        text = arena_str(&w->mem, str_of(site));
        map_put(&w->mem, &w->sites, str_of(text), text);
    }
    unlock(&w->lock);
    return (u64)(uintptr_t)text;
}

/* ---- errors ---- */

void work_failed(struct device *d, const struct error *e)
{
    lock(&d->work->lock);
    if (!d->work->error.code) d->work->error = *e;
    if (!d->work->lost.code) d->work->lost = *e;
    unlock(&d->work->lock);
}

bool work_lost(struct device *d, struct error *e)
{
    lock(&d->work->lock);
    *e = d->work->lost;
    unlock(&d->work->lock);
    return e->code != ERR_NONE;
}

u32 work_status(struct device *d, u32 status, struct error *e)
{
    struct dev_work *w = d->work;
    if (!status) return status;
    if (status == DEV_LAUNCH_FAILED) {
        lock(&w->lock);
        if (w->error.code && !e->code) {
            *e = w->error;
            /* no finding of the kernel: what it needs is not there */
            e->cuda = e->code == ERR_UNSUPPORTED ? OP_NOT_SUPPORTED : e->code == ERR_MEMORY ? OP_OUT_OF_MEMORY : 999;
        }
        w->error.code = ERR_NONE;
        unlock(&w->lock);
    }
    error_set(e, status == OP_OUT_OF_MEMORY ? ERR_MEMORY : ERR_INPUT, "%s", dev_status_text(status));
    if (status != DEV_LAUNCH_FAILED) e->cuda = status;
    return status;
}

/* ---- synchronous calls ---- */

bool work_sync_begin(struct device *d)
{
    lock(&d->work->sync);
    struct streams *s = work_used(d);
    if (!s || streams_act(s)) return true;
    unlock(&d->work->sync);
    return false;
}

void work_sync_end(struct device *d)
{
    struct streams *s = work_used(d);
    if (s) streams_acted(s);
    unlock(&d->work->sync);
}

void work_sync_sleeps(void *of, bool asleep)
{
    struct dev_run *r = of;
    if (asleep) r->asleep = work_used(r->device);
    if (r->asleep) streams_asleep(r->asleep, asleep);
}

/* ---- launches ---- */

/* Whether it may start now; counts it. Beside others that run already, one that would run alone is checked as they are.
 * Under the lock. */
static bool admit(struct dev_run *r)
{
    struct dev_work *w = r->device->work;
    if (w->alone) return false;
    if (w->running++) r->alone = false;
    w->alone = r->alone;
    return true;
}

void work_run_here(struct dev_run *r)
{
    struct dev_work *w = r->device->work;
    lock(&w->lock);
    r->alone &= w->running == 0;
    if (!admit(r)) w->running++; /* another thread's first operation has come between */
    w->here = true;
    unlock(&w->lock);
}

static void start(struct dev_run *r);
static void start_in_sim(struct dev_run *r, struct sim_result *so_far);

/* Of the launches that are held back, the last one with the priority of this. */
static struct dev_run **last_of(struct dev_work *w, const struct dev_run *r)
{
    return &w->last[stream_priority(op_stream(r->op)) - STREAM_PRIORITY_MOST];
}

static void hold_back(struct dev_work *w, struct dev_run *r)
{
    struct dev_run **last = last_of(w, r), **before = last;
    while (before > w->last && !*before) before--;
    struct dev_run **at = *before ? &(*before)->next : &w->held; /* after those that are as urgent */
    r->next = *at;
    *at = *last = r;
}

void work_run_left(struct dev_run *r)
{
    struct dev_work *w = r->device->work;
    struct dev_run *go = NULL, **end = &go;
    lock(&w->lock);
    w->running--;
    if (!r->op) w->here = false;
    if (r->alone) w->alone = false;
    while (w->held && admit(w->held)) {
        *end = w->held;
        struct dev_run **last = last_of(w, *end);
        if (*last == *end) *last = NULL;
        w->held = w->held->next;
        end = &(*end)->next;
        *end = NULL;
    }
    /* everything that runs watches the same flag: it counts until the last one has seen it */
    if (!w->running && !w->held) __atomic_store_n(&r->device->interrupt, 0, __ATOMIC_RELAXED);
    unlock(&w->lock);
    while (go) {
        struct dev_run *next = go->next;
        start(go);
        go = next;
    }
}

/* The launch of an operation is over, one way or the other. */
static void over(struct dev_run *r, bool ok, struct sim_result *result, struct error *e)
{
    enum dev_result came = ok ? run_end(r, true, result, e) : run_end(r, false, result, e);
    bool whole = came == DEV_RAN && (result->end == SIM_DONE || result->end == SIM_BREAK);
    if (r->result) *r->result = *result;
    if (r->error && e->code) *r->error = *e;
    if (r->came) *r->came = came;
    if (!r->error && e->code) work_failed(r->device, e);
    if (r->device->race) race_expect_none(r->device->race, r->op);
    note_launch_end(r);
    work_run_left(r);
    op_done(r->op, whole ? OP_OK : DEV_LAUNCH_FAILED);
    base_free(r);
}

static void ended(void *of)
{
    struct dev_run *r = of;
    struct launch *l;
    for (u32 n = 0; !(l = __atomic_load_n(&r->sim, __ATOMIC_ACQUIRE)); n++)
        n < 50 ? cpu_relax() : (void)sched_yield(); /* who has started it may share this processor */
    struct sim_result result = { 0 };
    struct error e = { 0 };
    bool ok = sim_wait(l, &result, &e);
    if (likely(!sim_next_grid(&r->in, &result))) {
        over(r, ok, &result, &e);
        return;
    }
    __atomic_store_n(&r->sim, NULL, __ATOMIC_RELEASE);
    start_in_sim(r, &result); /* the next of those that its kernels have launched */
}

/* Every CTA has triggered or left. */
static void triggered(void *of) { op_trigger(((struct dev_run *)of)->op); }

static void start_in_sim(struct dev_run *r, struct sim_result *so_far)
{
    struct error e = { 0 };
    struct race_operation as = { .op = r->op, .stamp = op_stamp_of(r->op), .sink = r->sink, .shared = true };
    if (r->device->race) race_expect(r->device->race, &as);
    struct launch *l = sim_start(r->device->sim, &r->in, &e);
    if (l) {
        __atomic_store_n(&r->sim, l, __ATOMIC_RELEASE);
        return;
    }
    struct sim_result result = { .end = SIM_UNSUPPORTED, .grids = so_far->grids };
    bool stopped = e.code == ERR_STOPPED; /* called off while it was prepared: reported */
    if (stopped) {
        result.end = r->device->interrupt ? SIM_INTERRUPTED : SIM_OVERDUE;
        e = (struct error){ 0 };
    }
    sim_next_grid(&r->in, &result); /* there is no next one: it failed */
    over(r, stopped, &result, &e);
}

static void start(struct dev_run *r)
{
    r->in.done = ended;
    r->in.done_self = r;
    r->in.trigger = triggered;
    r->in.overlaps = op_overlaps(r->op);
    r->in.priority = stream_priority(op_stream(r->op));
    r->in.op = r->op;
    note_launch_begin(r);
    start_in_sim(r, &(struct sim_result){ 0 });
}

/* Asks the race check about a kernel, by limits that a launch has, unless the thread has something of its own to stop
 * by. Where that took as long as a launch may, the answer is no, and the launch will say so. */
static bool ask_race(struct device *d, struct ptx_func *kernel,
                     bool (*ask)(struct race *r, struct sim *s, struct ptx_func *kernel))
{
    struct stop was = stop_state();
    double limit = d->options.time_limit;
    if (__atomic_load_n(&d->work->overdue, __ATOMIC_RELAXED) == kernel) return false;
    bool ours = !was.asked && !was.deadline;
    if (ours) stop_watch(&d->interrupt, limit > 0 ? time_ns() + (u64)(MIN_OF(limit, 1e9) * 1e9) : 0);
    bool yes = ask(d->race, d->sim, kernel);
    if (ours && stop_state().is && !d->interrupt) __atomic_store_n(&d->work->overdue, kernel, __ATOMIC_RELAXED);
    stop_restore(was);
    return yes;
}

bool work_kernel_alone(struct device *d, struct ptx_func *kernel) { return ask_race(d, kernel, race_kernel_alone); }
bool work_kernel_polls(struct device *d, struct ptx_func *kernel) { return ask_race(d, kernel, race_kernel_polls); }

void work_start(struct dev_run *r)
{
    struct dev_work *w = r->device->work;
    r->alone = r->raced && !r->unchecked && work_kernel_alone(r->device, r->launch->kernel);
    lock(&w->lock);
    bool now = !w->held && admit(r);
    if (!now) hold_back(w, r);
    unlock(&w->lock);
    if (now) start(r);
}
