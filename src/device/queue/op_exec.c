/* Who runs a ready operation.
 *
 * Without a seed: short operations and the start of launches are run by the thread that made them ready, which is the
 * enqueuing one or the one that reported the end of what was before; the enqueuing one leaves launches to a thread of
 * the backend that has nothing to do (start_soon). Copies have a thread for each direction, host
 * functions one. Each takes the most urgent, then the oldest.
 *
 * With a seed nothing runs until the host waits or asks. That thread then is the runner: it draws one of the ready
 * operations, runs it to its end, and draws again. A body that goes on after its return (OP_LATER) is waited for; when
 * the backend says that its launches are blocked, the next operation is drawn beside them. What takes longer than 50 ms
 * is left to itself, and a host that makes no call for 50 ms is not waited for: `unrepeatable` says so, unless it comes
 * to the same: what ran then was all that could, the host does not see it, and what it enqueues next is after it.
 *
 * The threads start when they have something to do. The timer thread polls values and watches for the 50 ms. */
#include "queue/op_in.h"
#include "base/thread.h"
#include <sched.h>
#include <stdlib.h>
#include <time.h>

enum {
    POLL_FIRST_US = 20,
    POLL_MOST_US = 1000,
    IDLE_NS = 50 * 1000 * 1000,
    WATCH_US = 5000,
    IDLE_TIMES = 10,
    SPIN_NS = 20 * 1000
};

static __thread struct streams *dispatching;   /* this thread is in exec_dispatch of it */
static __thread const struct streams *hosting; /* this is its thread of host functions */

/* ---- queues ---- */

/* How long is waited for the host: a slow machine, an emulator or a debugger needs more (LOCKSTEP_PATIENCE). */
static u64 idle_ns(void)
{
    static u64 known; /* atomic; 0: not asked yet */
    u64 is = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (is) return is;
    const char *ms = getenv("LOCKSTEP_PATIENCE");
    long given = ms ? strtol(ms, NULL, 10) : 0;
    is = given > 0 && given < 1000 * 1000 ? (u64)given * 1000 * 1000 : IDLE_NS;
    __atomic_store_n(&known, is, __ATOMIC_RELAXED);
    return is;
}

static bool sooner(const struct op *a, const struct op *b)
{
    s32 x = a->stream->priority, y = b->stream->priority;
    return x != y ? x < y : a->age < b->age;
}

static void array_push(struct op_heap *h, struct op *op)
{
    if (h->n == h->cap) {
        h->cap = MAX_OF(h->cap * 2, 16u);
        h->p = base_need_more(h->p, h->cap * sizeof *h->p);
    }
    h->p[h->n++] = op;
}

static struct op *array_take(struct op_heap *h, u32 i)
{
    struct op *op = h->p[i];
    memmove(h->p + i, h->p + i + 1, (--h->n - i) * sizeof *h->p);
    return op;
}

static void heap_push(struct op_heap *h, struct op *op)
{
    array_push(h, op);
    u32 i = h->n - 1;
    for (; i && sooner(op, h->p[(i - 1) / 2]); i = (i - 1) / 2) h->p[i] = h->p[(i - 1) / 2];
    h->p[i] = op;
}

static struct op *heap_pop(struct op_heap *h)
{
    struct op *top = h->p[0], *last = h->p[--h->n];
    u32 i = 0;
    for (u32 child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && sooner(h->p[child + 1], h->p[child])) child++;
        if (!sooner(h->p[child], last)) break;
        h->p[i] = h->p[child];
    }
    h->p[i] = last;
    return top;
}

static void here_push(struct streams *s, struct op *op)
{
    op->next = NULL;
    *s->here_end = op;
    s->here_end = &op->next;
}

static struct op *here_pop(struct streams *s)
{
    struct op *op = s->here;
    s->here = op->next;
    if (!s->here) s->here_end = &s->here;
    return op;
}

/* ---- running one ---- */

u64 exec_now(struct streams *s)
{
    const struct op_backend *b = &s->options.backend;
    return b->now ? b->now(b->self) : s->options.seeded ? s->virtual_ns : time_ns();
}

/* Calls the body; the lock is held before and after. */
static void run(struct op *op)
{
    struct streams *s = op->all;
    u32 status = s->poison;
    s->queued--;
    s->running[op->kind]++;
    s->moves++;
    if (op->full) opclock_join(&s->clocks, &op->full, op->clock);
    __atomic_store_n(&op->state, OP_RUNNING, __ATOMIC_RELEASE);
    if (op->kind == OP_GRAPH) graph_begin(op);
    if (op->run || op->drop) {
        unlock(&s->lock);
        if (op->run && !status) status = op->run(op, op->data);
        if (status != OP_LATER && op->drop) op->drop(op->data);
        lock(&s->lock);
        if (status == OP_LATER) return; /* op may be gone */
    }
    if (op->kind == OP_VALUE_WRITE && !status) value_write(op);
    if (op->kind == OP_BRANCH) graph_decide(op);
    op_finish(op, status);
    if (s->polls.n) exec_recheck(s);
}

void exec_dispatch(struct streams *s)
{
    if (s->options.seeded || dispatching == s) return;
    struct streams *outer = dispatching;
    dispatching = s;
    s->dispatchers++;
    for (;;) {
        if (s->here)
            run(here_pop(s));
        else if (s->ready[LANE_LAUNCH].n)
            run(heap_pop(&s->ready[LANE_LAUNCH]));
        else if (s->trash)
            graph_collect(s);
        else
            break;
    }
    dispatching = outer;
    if (!--s->dispatchers && s->closing) pthread_cond_broadcast(&s->done);
}

bool exec_can_wait(const struct streams *s)
{
    return s->ready[LANE_LAUNCH].n && !s->here && !s->trash && !s->options.seeded && dispatching != s &&
           s->options.backend.start_soon;
}

void streams_start(struct streams *s)
{
    lock(&s->lock);
    exec_dispatch(s);
    unlock(&s->lock);
}

/* ---- the threads ---- */

static void *lane_main(struct streams *s, enum op_lane lane)
{
    thread_name(lane == LANE_HOST ? "lk-host" : "lk-copy");
    lock(&s->lock);
    for (;;) {
        while (!s->ready[lane].n && !s->quit) pthread_cond_wait(&s->work[lane], &s->lock);
        if (!s->ready[lane].n) break;
        run(heap_pop(&s->ready[lane]));
        exec_dispatch(s);
    }
    unlock(&s->lock);
    return NULL;
}

static void *main_in(void *s) { return lane_main(s, LANE_IN); }
static void *main_out(void *s) { return lane_main(s, LANE_OUT); }
static void *main_host(void *s)
{
    hosting = s;
    return lane_main(s, LANE_HOST);
}

/* False: the system gives no thread. */
static bool lane_start(struct streams *s, enum op_lane lane)
{
    static void *(*const entry[OP_LANES])(
        void *) = { [LANE_IN] = main_in, [LANE_OUT] = main_out, [LANE_HOST] = main_host };
    if (!s->started[lane]) s->started[lane] = !thread_start(&s->thread[lane], entry[lane], s);
    return s->started[lane];
}

static void sleep_on(struct streams *s, pthread_cond_t *c, u64 us)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    u64 ns = (u64)until.tv_nsec + us * 1000;
    until.tv_sec += (time_t)(ns / 1000000000u);
    until.tv_nsec = (long)(ns % 1000000000u);
    pthread_cond_timedwait(c, &s->lock, &until);
}

/* ---- under a seed ---- */

static enum op_progress let_progress(struct streams *s)
{
    const struct op_backend *b = &s->options.backend;
    s->in_backend = true;
    unlock(&s->lock);
    enum op_progress p = b->progress(b->self);
    lock(&s->lock);
    s->in_backend = false;
    return p;
}

void exec_chance(struct streams *s, enum op_chance why)
{
    const struct op_backend *b = &s->options.backend;
    if (!s->options.seeded || s->chances >> why & 1) return;
    s->chances |= 1u << why;
    if (b->unrepeatable) b->unrepeatable(b->self, why);
}

/* Waits until op, which went on after its body's return, is done; false: it is left to itself. Time counts only where
 * this thread gets to run: on a busy machine a short body may take long. */
static bool outlast(struct op *op)
{
    struct streams *s = op->all;
    const struct op_backend *b = &s->options.backend;
    u64 begin = time_ns();
    u32 woken = 0;
    while (op->state != OP_DONE && op->state != OP_ENDING) {
        if (op->kind == OP_EMPTY) return false; /* it waits for another device */
        if (b->progress && op->kind == OP_LAUNCH) {
            enum op_progress p = let_progress(s);
            if (p != OP_PROGRESS_SOME) return false;
            continue;
        }
        if (time_ns() - begin >= idle_ns() && woken >= IDLE_TIMES) {
            exec_chance(s, OP_CHANCE_LONG);
            return false;
        }
        op->waiters++;
        sleep_on(s, &s->done, IDLE_NS / IDLE_TIMES / 1000 + 1);
        op->waiters--;
        woken++;
    }
    return true;
}

/* The runner draws one operation and runs it. False: none is ready. */
static bool draw(struct streams *s)
{
    struct op_heap *h = &s->ready[0];
    exec_recheck(s);
    if (!h->n) return false;
    struct op *op = array_take(h, (u32)(rand_next(&s->random) % h->n));
    op_ref(op);
    if (op->lane == LANE_HOST && lane_start(s, LANE_HOST)) {
        heap_push(&s->ready[LANE_HOST], op);
        pthread_cond_signal(&s->work[LANE_HOST]);
    } else {
        run(op);
    }
    outlast(op);
    op_unref(op);
    if (s->trash) graph_collect(s);
    return true;
}

/* Becomes the runner for one draw. False: there was nothing to draw, or another thread is the runner. */
static bool draw_as_runner(struct streams *s)
{
    if (s->runner) return false;
    s->runner = true;
    bool drawn = draw(s);
    s->runner = false;
    pthread_cond_broadcast(&s->done);
    return drawn;
}

bool exec_drive(struct streams *s)
{
    if (draw_as_runner(s)) return true;
    if (s->runner || !s->options.backend.progress || !s->running[OP_LAUNCH]) return false;
    s->runner = true;
    enum op_progress p = let_progress(s);
    s->runner = false;
    return p != OP_PROGRESS_BLOCKED;
}

static void wait_seeded(struct op *op)
{
    struct streams *s = op->all;
    s->hosts++;
    op->sleepers++;
    s->moves++;
    op->waiters++;
    while (op->state != OP_DONE) {
        if (exec_drive(s) || (s->cross_device && cross_device_drive(s, 0))) continue;
        if (op->state != OP_DONE) sleep_on(s, &s->done, s->runner ? WATCH_US : POLL_FIRST_US * 5);
    }
    op->waiters--;
    s->moves++;
}

/* Whether what ran while the host was silent is before this, however long the host had been silent. */
static bool behind_quiet(const struct streams *s, const struct op *op)
{
    u32 slot = stamp_slot(s->quiet);
    return !s->quiet || op->slot == slot || opclock_at(op->clock, slot) >= stamp_number(s->quiet);
}

/* The operation that the silent host leaves to run, if it is the only one that can, in whatever order the host goes on,
 * and the host does not see it; NULL: it matters when it runs. */
static const struct op *unnoticed(struct streams *s)
{
    const struct op_backend *b = &s->options.backend;
    exec_recheck(s);
    if (s->ready[0].n != 1 || s->polls.n) return NULL;
    const struct op *op = s->ready[0].p[0];
    return op->node || !behind_quiet(s, op) || !b->seen || b->seen(b->self, op) ? NULL : op;
}

static void noticed(struct streams *s)
{
    if (s->quiet) exec_chance(s, OP_CHANCE_SILENT);
    s->quiet = 0;
}

void exec_enqueued(struct op *op)
{
    struct streams *s = op->all;
    if (s->quiet && !op->node && !behind_quiet(s, op)) noticed(s);
}

/* Runs what is ready when the host has made no call for a while. */
static void watch(struct streams *s)
{
    if (!s->ready[0].n && !s->polls.n) {
        pthread_cond_wait(&s->timer_work, &s->lock);
        return;
    }
    u64 called = s->called;
    sleep_on(s, &s->timer_work, WATCH_US);
    s->silent = s->called == called && !s->hosts ? s->silent + 1 : 0;
    while (!s->quit && !s->runner && !s->hosts && time_ns() - s->called >= idle_ns() && s->silent >= IDLE_TIMES) {
        const struct op *alone = unnoticed(s);
        op_stamp quiet = alone ? op_stamp_of(alone) : 0;
        if (!draw_as_runner(s)) break;
        if (alone)
            s->quiet = quiet;
        else
            exec_chance(s, OP_CHANCE_SILENT);
    }
}

/* ---- values ---- */

static void poll_values(struct streams *s)
{
    if (!s->polls.n) {
        pthread_cond_wait(&s->timer_work, &s->lock);
        return;
    }
    sleep_on(s, &s->timer_work, s->pause_us);
    u32 before = s->polls.n;
    exec_recheck(s);
    s->pause_us = s->polls.n != before ? POLL_FIRST_US : MIN_OF(s->pause_us * 2, (u32)POLL_MOST_US);
    exec_dispatch(s);
}

static void *timer_main(void *of)
{
    struct streams *s = of;
    thread_name("lk-timer");
    lock(&s->lock);
    while (!s->quit) s->options.seeded ? watch(s) : poll_values(s);
    unlock(&s->lock);
    return NULL;
}

static void timer_wake(struct streams *s)
{
    if (!s->timer_started) s->timer_started = !thread_start(&s->timer, timer_main, s);
    pthread_cond_signal(&s->timer_work);
}

void exec_recheck(struct streams *s)
{
    for (u32 i = 0; i < s->polls.n;) {
        struct op *op = s->polls.p[i];
        if (!s->poison && !value_holds(op)) {
            i++;
            continue;
        }
        array_take(&s->polls, i);
        value_waited(op);
        op->lane = LANE_HERE;
        if (s->options.seeded)
            array_push(&s->ready[0], op);
        else
            here_push(s, op);
    }
}

/* ---- from the other files ---- */

void exec_ready(struct op *op)
{
    struct streams *s = op->all;
    __atomic_store_n(&op->state, OP_READY, __ATOMIC_RELEASE);
    if (op->lane == LANE_POLL) {
        if (value_holds(op) || s->poison) {
            value_waited(op);
            op->lane = LANE_HERE;
        } else {
            array_push(&s->polls, op);
            s->pause_us = POLL_FIRST_US;
            timer_wake(s);
            return;
        }
    }
    if (s->options.seeded) {
        array_push(&s->ready[0], op);
        if (s->ready[0].n == 1) timer_wake(s);
    } else if (op->lane == LANE_HERE) {
        here_push(s, op);
    } else if (op->lane == LANE_LAUNCH || !lane_start(s, op->lane)) {
        heap_push(&s->ready[LANE_LAUNCH], op);
    } else {
        heap_push(&s->ready[op->lane], op);
        pthread_cond_signal(&s->work[op->lane]);
    }
}

void exec_call(struct streams *s)
{
    quiescence_called(s);
    if (s->options.seeded) s->called = time_ns();
}

bool op_in_host_function(void) { return hosting; }

u32 exec_permitted(const struct streams *s) { return hosting == s ? OP_NOT_PERMITTED : OP_OK; }

void exec_ask(struct streams *s)
{
    exec_call(s);
    if (s->quiet && opclock_at(s->clocks.host, stamp_slot(s->quiet)) < stamp_number(s->quiet)) noticed(s);
    exec_recheck(s);
    if (s->options.seeded)
        (void)(draw_as_runner(s) || (s->cross_device && cross_device_drive(s, 0)));
    else
        exec_dispatch(s);
}

/* A thread that sleeps needs several microseconds to wake up, and much of what it waits for takes less. */
static void spin(const struct op *op)
{
    for (u64 end = 0; op_state(op) != OP_DONE;) {
        u64 now = time_ns();
        if (!end) end = now + SPIN_NS;
        if (now >= end) break;
        for (u32 i = 0; i < 8 && op_state(op) != OP_DONE; i++) cpu_relax();
        if (op_state(op) != OP_DONE) sched_yield(); /* whoever runs it may share this processor */
    }
}

void exec_wait(struct op *op)
{
    struct streams *s = op->all;
    const struct op_backend *b = &s->options.backend;
    exec_call(s);
    if (op->state == OP_DONE) return;
    op_ref(op);
    if (s->options.seeded) {
        wait_seeded(op);
        exec_call(s);
        op_unref(op);
        return;
    }
    exec_dispatch(s); /* who was asked to start launches may still be on its way */
    unlock(&s->lock);
    if (b->help) b->help(b->self, op);
    if (s->spins) spin(op);
    lock(&s->lock);
    if (op->state != OP_DONE) {
        s->hosts++;
        op->sleepers++;
        s->moves++;
        op->waiters++;
        while (op->state != OP_DONE) pthread_cond_wait(&s->done, &s->lock);
        op->waiters--;
        s->moves++;
    }
    op_unref(op);
}

void exec_open(struct streams *s)
{
    pthread_condattr_t a;
    pthread_condattr_init(&a);
    pthread_condattr_setclock(&a, CLOCK_MONOTONIC);
    for (int i = 0; i < OP_LANES; i++) pthread_cond_init(&s->work[i], &a);
    pthread_cond_init(&s->timer_work, &a);
    pthread_cond_init(&s->done, &a);
    pthread_condattr_destroy(&a);
    s->here_end = &s->here;
    s->spins = cpu_count() > 1;
    s->random = s->options.seed;
    s->pause_us = POLL_FIRST_US;
    s->called = time_ns();
}

void exec_close(struct streams *s)
{
    lock(&s->lock);
    s->closing = true;
    while (s->live) exec_wait(s->live);
    while (s->dispatchers || s->runner) pthread_cond_wait(&s->done, &s->lock); /* threads of others, still in op_done */
    while (s->trash) graph_collect(s);
    s->quit = true;
    for (int i = 0; i < OP_LANES; i++) pthread_cond_broadcast(&s->work[i]);
    pthread_cond_broadcast(&s->timer_work);
    unlock(&s->lock);
    for (int i = 0; i < OP_LANES; i++)
        if (s->started[i]) pthread_join(s->thread[i], NULL);
    if (s->timer_started) pthread_join(s->timer, NULL);
    for (int i = 0; i < OP_LANES; i++) {
        pthread_cond_destroy(&s->work[i]);
        base_free(s->ready[i].p);
    }
    pthread_cond_destroy(&s->timer_work);
    pthread_cond_destroy(&s->done);
    base_free(s->polls.p);
}
