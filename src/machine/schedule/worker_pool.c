/* The launches in flight, the threads that run them, and how it is known that all of them stand still.
 *
 * A thread goes round the launches, by priority and then age: it takes a place in one (struct worker), has a turn there
 * (worker.c), leaves it, and goes on with the next. So a launch of which every CTA waits holds no thread, and two CTAs
 * that run for ever do not keep a third launch from its turn. With one launch in flight the turn ends when it is over
 * or quiet, and there is no going round.
 *
 * The thread that called sim_run is in worker 0 of its launch from the beginning to the end; launches of sim_start have
 * the threads of the pool, and whoever leaves such a launch last, when it is over, ends it. Seeded launches are run by
 * the calling thread alone: those of sim_start in sim_wait.
 *
 * Standing still is a matter of all launches together: one may wait for what another will write. A thread that found
 * nothing to do holds the locks of all of them at once and looks: nobody is in a CTA, no parked CTA can go on, none can
 * start. If nothing outside can change memory either (the host, a copy), that is a deadlock, proved (deadlock.c). */
#include "schedule/worker_pool.h"
#include "base/thread.h"
#include "sim/asked.h"
#include "sim/sim_run.h"
#include "sim/wait.h"
#include "schedule/worker.h"
#include <sched.h>
#include <time.h>

enum { SPIN_NS = 50 * 1000 }; /* see wait_for_work */

/* Short at first, longer the longer nothing has happened; 0: no sleep, the processor is only given a rest. */
static u32 pause_us(u32 *wait)
{
    if (*wait < 1000) (*wait)++;
    return *wait <= 64 ? 0 : *wait <= 128 ? 20 : 1000;
}

static void pause_for_others(u32 *wait)
{
    u32 us = pause_us(wait);
    if (us) thread_sleep_us(us);
    for (u32 k = 0; !us && k < 50; k++) cpu_relax();
}

/* ---- launches in flight ---- */

static bool is_over(const struct launch *l) { return __atomic_load_n(&l->over, __ATOMIC_ACQUIRE); }

static void enlist(struct sim *s, struct launch *l)
{
    struct launch **at = &s->launches;
    while (*at && !launch_precedes(l, *at)) at = &(*at)->behind;
    l->behind = *at;
    *at = l;
    __atomic_store_n(&s->nlaunches, s->nlaunches + 1, __ATOMIC_RELAXED);
}

static void delist(struct sim *s, struct launch *l)
{
    struct launch **at = &s->launches;
    while (*at != l) at = &(*at)->behind;
    *at = l->behind;
    __atomic_store_n(&s->nlaunches, s->nlaunches - 1, __ATOMIC_RELAXED);
}

/* A free place, one with claimed CTAs first; NULL: none. */
static struct worker *free_place(struct launch *l)
{
    struct worker *free = NULL;
    for (u32 n = 0; n < l->nworkers; n++) {
        struct worker *k = &l->worker[n];
        if (k->busy) continue;
        if (k->from < k->to) return k;
        if (!free) free = k;
    }
    return free;
}

/* Takes a place in the launch; NULL: it is over, or there is none. Under the lock of the launches. */
static struct worker *enter(struct launch *l)
{
    struct worker *k = is_over(l) ? NULL : free_place(l);
    if (!k) return NULL;
    k->busy = true;
    l->inside++;
    return k;
}

/* ---- threads ---- */

struct pool {
    pthread_cond_t wake, idle; /* there is a launch for threads; somebody has left a launch that is over */
    bool quit;
    pthread_t *thread;
    u32 nthread, sleeping; /* threads; those that wait for `wake` */
    u32 posted;            /* atomic: counts what a thread that spins is to look at */
    u32 spin;              /* atomic, enum spin */
    bool may_spin;         /* there is a processor for it */
};
enum spin { /* of the one thread that may spin instead of sleeping */
            SPIN_NONE,
            SPIN_FREE,   /* nothing was left to it yet */
            SPIN_LAUNCH, /* a launch was */
            SPIN_START   /* it is to start others */
};
static __thread struct sim *in_pool; /* this is a thread of its pool */
static __thread bool comes_back;     /* and is about to look for a launch, but is not yet counted as available */

/* False: no such thread, or it is busy. */
static bool leave_to_spinning(struct pool *p, u32 what)
{
    u32 free = SPIN_FREE;
    return __atomic_load_n(&p->spin, __ATOMIC_RELAXED) == SPIN_FREE &&
           __atomic_compare_exchange_n(&p->spin, &free, what, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* A place that a thread of the pool could take is there: one looks for it. A thread that spins needs no waking, nor
 * does this thread if it will look for itself. Under the lock of the launches. True: post_seen is to be called without
 * it. */
static bool post(struct sim *s)
{
    struct pool *p = s->pool;
    if (!p) return false;
    if (in_pool == s && comes_back) {
        comes_back = false;
        return false;
    }
    if (leave_to_spinning(p, SPIN_LAUNCH)) return true;
    if (p->sleeping) pthread_cond_signal(&p->wake);
    return false;
}

/* The thread that spins looks now. It would have to sleep for a lock that is still held. */
static void post_seen(struct sim *s) { __atomic_fetch_add(&s->pool->posted, 1, __ATOMIC_RELAXED); }

/* Leaves the place; the last one to leave a launch that is over ends it, if nobody waits in it. */
static void leave(struct sim *s, struct worker *k, enum turn came)
{
    struct launch *l = k->launch;
    lock(&s->launches_lock);
    if (came == TURN_OVER) __atomic_store_n(&l->over, true, __ATOMIC_RELEASE);
    k->busy = false;
    bool last = --l->inside == 0 && is_over(l), ends = last && l->started;
    if (ends) {
        delist(s, l);
        s->ending++;
    }
    if (last && !ends && s->pool) pthread_cond_broadcast(&s->pool->idle);
    bool posted = !is_over(l) && !l->in->seeded && post(s); /* its place is free again */
    unlock(&s->launches_lock);
    if (posted) post_seen(s);
    if (ends) launch_finish(l);
    report_launch_here(0); /* what `done` goes on with is of others */
    report_origin_here(NULL);
    stop_watch(NULL, 0); /* and nobody stops it who stopped this one */
    if (!ends) return;
    void (*done)(void *) = l->in->done;
    void *self = l->in->done_self;
    lock(&s->launches_lock);
    l->ended = true; /* whoever waits may free it from here on */
    if (s->pool) pthread_cond_broadcast(&s->pool->idle);
    unlock(&s->launches_lock);
    if (done) done(self);
    lock(&s->launches_lock);
    s->ending--;
    __atomic_store_n(&s->ends, s->ends + 1, __ATOMIC_RELAXED);
    unlock(&s->launches_lock);
}

/* Whether threads of the pool, or those that drive seeded launches, have something to do in it. */
static bool is_for(const struct launch *l, bool seeded)
{
    return l->in->seeded == seeded && !is_over(l) && (l->started || l->nworkers > 1);
}

/* Takes a place in the launch that has its turn: the one after `last`, or `skip` further on. NULL: there is none. */
static struct worker *enter_next(struct sim *s, u64 *last, bool seeded, u32 skip)
{
    struct launch *l = s->launches;
    while (l && l->serial != *last) l = l->behind;
    for (u32 n = 0; n <= skip; n++) l = l && l->behind ? l->behind : s->launches;
    for (u32 n = 0; n < s->nlaunches; n++, l = l->behind ? l->behind : s->launches) {
        struct worker *k = is_for(l, seeded) ? enter(l) : NULL;
        if (!k) continue;
        *last = l->serial;
        return k;
    }
    return NULL;
}

/* Whether a thread of the pool could take a place; whoever leaves one that is not over tells (`post`). */
static bool work_for_pool(const struct sim *s)
{
    for (struct launch *l = s->launches; l; l = l->behind)
        if (is_for(l, false) && free_place(l)) return true;
    return false;
}

/* A turn in each launch; false: nothing went. */
static bool go_round(struct sim *s, u64 *last, bool seeded)
{
    bool went = false;
    lock(&s->launches_lock);
    u32 n = s->nlaunches;
    unlock(&s->launches_lock);
    for (u32 k = 0; k < n; k++) {
        lock(&s->launches_lock);
        struct worker *w = enter_next(s, last, seeded, seeded && n > 1 ? (u32)(rand_next(&s->rng) % n) : 0);
        /* this thread may have been counted on for another one */
        if (w && in_pool == s && n > 1 && s->pool->sleeping && work_for_pool(s)) pthread_cond_signal(&s->pool->wake);
        unlock(&s->launches_lock);
        if (!w) break;
        enum turn came = worker_turn(w);
        comes_back = true;
        leave(s, w, came);
        comes_back = false;
        went |= came != TURN_QUIET;
    }
    report_launch_here(0);
    report_origin_here(NULL);
    if (went) __atomic_store_n(&s->quiet_since, 0, __ATOMIC_RELAXED);
    return went;
}

/* For how long nothing has gone on, as far as it was looked at, in nanoseconds. */
static u64 quiet_for(struct sim *s)
{
    u64 now = time_ns(), since = __atomic_load_n(&s->quiet_since, __ATOMIC_RELAXED);
    if (!since) __atomic_store_n(&s->quiet_since, now, __ATOMIC_RELAXED);
    return since && now > since ? now - since : 0;
}

/* Nothing has gone on for a while, and the threads of the program sleep, too. */
static bool suspicious(struct sim *s)
{
    u32 all, awake;
    if (quiet_for(s) < SUSPECT_SECONDS * 1000000000ull) return false;
    __atomic_store_n(&s->quiet_since, time_ns(), __ATOMIC_RELAXED); /* and look again only after the same time */
    return threads_of_program(&all, &awake) && !awake;
}

/* Whether the launches that wait for the host can be looked at for a proof: a thread of the program that sleeps in a
 * call writes nothing, and whoever else could is asked. A host that answers at once is not to pay for the question. */
static bool host_may_be_asked(struct sim *s)
{
    bool waits = false, others = false;
    for (const struct launch *l = s->launches; l && !waits; l = l->behind) waits = wait_for_host(l);
    if (!waits) return true;
    if (!s->ask.outside || quiet_for(s) < HOST_QUIET_MS * 1000000ull) return false;
    for (const struct launch *l = s->launches; l && !others; l = l->behind) others = wait_for_others_maybe(l);
    return !others;
}

static bool outside_may_change(const struct sim *s) { return s->ask.outside && s->ask.outside(s->ask.outside_self); }

/* Under the locks of all launches. */
static bool all_quiescent(const struct sim *s)
{
    for (struct launch *l = s->launches; l; l = l->behind)
        if (launch_stopped(l) || is_over(l) || !launch_is_quiescent(l)) return false;
    return true;
}

/* Nothing went. If nothing ever will, the launches are stopped with a report. What lies outside is asked first: what it
 * has just finished is then seen in memory. It is asked again at last: it may have begun something meanwhile, which
 * memory does not show yet. A launch that has ended, or is about to, may still have launches queued after it until its
 * end is published. */
static void look_for_quiescence(struct sim *s)
{
    lock(&s->launches_lock);
    for (struct launch *l = s->launches; l; l = l->behind) lock(&l->lock);
    bool quiet = s->launches && !s->ending && all_quiescent(s), quiescent = quiet;
    for (struct launch *l = s->launches; l && quiescent; l = l->behind) quiescent = s->ask.outside || !l->started;
    quiescent = quiescent && host_may_be_asked(s);
    if (quiescent && (quiescent = !outside_may_change(s))) {
        quiet = all_quiescent(s);
        quiescent = quiet && !outside_may_change(s);
    }
    for (struct launch *l = s->launches; l && quiet && !quiescent; l = l->behind)
        if (wait_for_itself(l)) asked->deadlock_report(l); /* whatever others may still do */
    if (quiet && !quiescent && suspicious(s))
        for (struct launch *l = s->launches; l; l = l->behind)
            if (!l->suspected && l->nparked && !launch_stopped(l)) asked->suspected_report(l);
    for (struct launch *l = s->launches; l && quiescent; l = l->behind)
        if (l->nparked || launch_started(l) < l->total) asked->deadlock_report(l);
    for (struct launch *l = s->launches; l; l = l->behind) unlock(&l->lock);
    unlock(&s->launches_lock);
}

/* The same pause for a thread of the pool, which a new launch ends. */
static void pause_until_launch(struct sim *s, u32 *wait)
{
    u32 us = pause_us(wait);
    for (u32 k = 0; !us && k < 50; k++) cpu_relax();
    if (!us) return;
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    u64 ns = (u64)at.tv_nsec + us * 1000ull;
    at.tv_sec += (time_t)(ns / 1000000000u);
    at.tv_nsec = (long)(ns % 1000000000u);
    lock(&s->launches_lock);
    s->pool->sleeping++;
    if (!s->pool->quit) pthread_cond_timedwait(&s->pool->wake, &s->launches_lock, &at);
    s->pool->sleeping--;
    unlock(&s->launches_lock);
}

/* For less than a microsecond, or until *at changes. Who shares this processor goes first: it may be whoever is waited
 * for. */
static void spin_briefly(const u32 *at, u32 seen)
{
    for (u32 k = 0; k < 8 && __atomic_load_n(at, __ATOMIC_RELAXED) == seen; k++) cpu_relax();
    sched_yield();
}

/* Under the lock of the launches, which it releases meanwhile. */
static void start_others(struct sim *s)
{
    void (*start)(void *self) = s->ask.start;
    void *self = s->ask.start_self;
    if (!start) return;
    s->ask.starting++;
    unlock(&s->launches_lock);
    comes_back = true;
    start(self);
    comes_back = false;
    lock(&s->launches_lock);
    if (!--s->ask.starting && !s->ask.start) pthread_cond_broadcast(&s->pool->idle);
}

/* Sleeps until there is something to do. A thread that is woken needs several microseconds: the last one that has been
 * at work looks for itself for a while, since a program that launches and waits comes back soon. Under the lock of the
 * launches. */
static void wait_for_work(struct sim *s)
{
    struct pool *p = s->pool;
    if (p->may_spin && p->sleeping + 1 == p->nthread && __atomic_load_n(&p->spin, __ATOMIC_RELAXED) == SPIN_NONE) {
        u32 seen = __atomic_load_n(&p->posted, __ATOMIC_RELAXED);
        __atomic_store_n(&p->spin, SPIN_FREE, __ATOMIC_RELEASE);
        unlock(&s->launches_lock);
        for (u64 end = time_ns() + SPIN_NS; __atomic_load_n(&p->posted, __ATOMIC_RELAXED) == seen && time_ns() < end;)
            spin_briefly(&p->posted, seen);
        lock(&s->launches_lock);
        u32 left = __atomic_exchange_n(&p->spin, SPIN_NONE, __ATOMIC_ACQ_REL);
        if (left == SPIN_START) start_others(s);
        if (left != SPIN_FREE || __atomic_load_n(&p->posted, __ATOMIC_RELAXED) != seen || work_for_pool(s)) return;
    }
    p->sleeping++;
    pthread_cond_wait(&p->wake, &s->launches_lock);
    p->sleeping--;
}

static void *pool_main(void *arg)
{
    struct sim *s = arg;
    struct pool *p = s->pool;
    u64 last = 0;
    u32 wait = 0;
    thread_name("lk-worker");
    in_pool = s;
    for (;;) {
        lock(&s->launches_lock);
        while (!p->quit && !work_for_pool(s)) {
            wait_for_work(s);
            wait = 0;
        }
        bool quit = p->quit;
        unlock(&s->launches_lock);
        if (quit) return NULL;
        if (go_round(s, &last, false)) {
            wait = 0;
            continue;
        }
        look_for_quiescence(s);
        pause_until_launch(s, &wait);
    }
}

/* Starts up to the requested number of threads; returns how many could be started. */
static u32 pool_grow(struct sim *s, u32 threads)
{
    lock(&s->launches_lock);
    struct pool *p = s->pool;
    if (!p && (p = base_alloc(sizeof *p))) {
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&p->wake, &monotonic);
        pthread_condattr_destroy(&monotonic);
        pthread_cond_init(&p->idle, NULL);
        p->may_spin = cpu_count() > 1;
        p->thread = base_alloc(sizeof *p->thread * (s->workers + 1));
        __atomic_store_n(&s->pool, p, __ATOMIC_RELEASE);
    }
    while (p && p->thread && p->nthread < threads && !thread_start(&p->thread[p->nthread], pool_main, s)) p->nthread++;
    u32 n = p ? p->nthread : 0;
    unlock(&s->launches_lock);
    return n;
}

void pool_delete(struct sim *s)
{
    struct pool *p = s->pool;
    if (!p) return;
    lock(&s->launches_lock);
    p->quit = true;
    pthread_cond_broadcast(&p->wake);
    post_seen(s);
    unlock(&s->launches_lock);
    for (u32 k = 0; k < p->nthread; k++) pthread_join(p->thread[k], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->idle);
    base_free(p->thread);
    base_free(p);
}

u32 pool_workers(struct sim *s, u32 n, bool caller)
{
    u32 threads = caller ? s->workers - 1 : s->workers;
    if (caller && n < 2) return n;
    u32 most = pool_grow(s, threads) + caller;
    return n < most ? n : most ? most : 1;
}

static void put_in_flight(struct sim *s, struct launch *l)
{
    lock(&s->launches_lock);
    if (!s->launches) s->rng = l->in->seed;
    enlist(s, l);
    if (l->worker[0].busy) l->inside++;
    bool posted = is_for(l, false) && post(s);
    if (is_for(l, false) && l->nworkers > 1 && s->pool && s->pool->sleeping) pthread_cond_broadcast(&s->pool->wake);
    unlock(&s->launches_lock);
    if (posted) post_seen(s);
}

void pool_run(struct sim *s, struct launch *l)
{
    u32 wait = 0;
    u64 last = 0;
    l->worker[0].busy = true;
    put_in_flight(s, l);
    if (l->in->sleeps) l->in->sleeps(l->in->done_self, true);
    for (;;) {
        enum turn came = worker_turn(&l->worker[0]);
        if (came == TURN_OVER) break;
        if (l->in->seeded && go_round(s, &last, true)) came = TURN_WENT;
        if (came == TURN_WENT) {
            wait = 0;
            __atomic_store_n(&s->quiet_since, 0, __ATOMIC_RELAXED);
            continue;
        }
        look_for_quiescence(s);
        pause_for_others(&wait);
    }
    if (l->in->sleeps) l->in->sleeps(l->in->done_self, false); /* still in flight, and not quiet */
    lock(&s->launches_lock);
    __atomic_store_n(&l->over, true, __ATOMIC_RELEASE);
    l->inside--;
    while (l->inside) pthread_cond_wait(&s->pool->idle, &s->launches_lock);
    delist(s, l);
    unlock(&s->launches_lock);
}

void pool_starter(struct sim *s, void (*start)(void *self), void *self)
{
    lock(&s->launches_lock);
    s->ask.start = start;
    s->ask.start_self = self;
    while (!start && s->ask.starting) pthread_cond_wait(&s->pool->idle, &s->launches_lock);
    unlock(&s->launches_lock);
}

bool pool_start_soon(struct sim *s)
{
    struct pool *p = __atomic_load_n(&s->pool, __ATOMIC_ACQUIRE);
    if (!p || !leave_to_spinning(p, SPIN_START)) return false;
    post_seen(s);
    return true;
}

void pool_start(struct sim *s, struct launch *l)
{
    l->started = true;
    put_in_flight(s, l);
}

enum sim_drive pool_drive(struct sim *s)
{
    enum { ROUNDS = 16 };
    u64 before = __atomic_load_n(&s->ends, __ATOMIC_RELAXED), last = 0;
    bool looked = false;
    for (u32 k = 0; k < ROUNDS; k++) {
        bool went = go_round(s, &last, true);
        if (__atomic_load_n(&s->ends, __ATOMIC_RELAXED) != before) return SIM_DRIVE_ENDED;
        if (!went && looked) return SIM_DRIVE_QUIESCENT;
        if (!went) look_for_quiescence(s); /* stops those that will never go on, which then end */
        looked = !went;
    }
    return SIM_DRIVE_BUSY;
}

/* A turn in a launch that no thread has taken yet: it is done before one is awake. Under the lock of the launches,
 * which it releases meanwhile. */
static void run_first(struct sim *s, struct launch *l)
{
    struct worker *k = !is_over(l) && !l->inside && l->nworkers == 1 ? enter(l) : NULL;
    if (!k) return;
    unlock(&s->launches_lock);
    leave(s, k, worker_turn(k));
    lock(&s->launches_lock);
}

void pool_help(struct sim *s, const void *op)
{
    lock(&s->launches_lock);
    struct launch *l = s->launches;
    while (l && l->in->op != op) l = l->behind;
    if (l && is_for(l, false)) run_first(s, l);
    unlock(&s->launches_lock);
}

void pool_wait(struct sim *s, struct launch *l)
{
    u64 last = 0;
    u32 wait = 0;
    lock(&s->launches_lock);
    bool drive = l->in->seeded || !s->pool || !s->pool->nthread;
    if (!drive) run_first(s, l);
    while (!l->ended && !drive) pthread_cond_wait(&s->pool->idle, &s->launches_lock);
    while (!l->ended) {
        unlock(&s->launches_lock);
        if (go_round(s, &last, l->in->seeded))
            wait = 0;
        else {
            look_for_quiescence(s);
            pause_for_others(&wait);
        }
        lock(&s->launches_lock);
    }
    unlock(&s->launches_lock);
}
