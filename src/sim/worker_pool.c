/* Workers: how CTAs come to threads of the host, and how the end of a launch is known.
 *
 * A CTA stays on its worker until it is done or all its splits wait; then it is parked, and the worker takes a parked
 * CTA that can go on, or starts the next one while residency allows. So a plain grid holds one CTA a worker, and a grid
 * barrier holds all that fit. When no worker is inside a CTA and no parked CTA can go on, the launch is quiescent:
 * a deadlock (deadlock.c), unless the host can still write what is waited for. Worker 0 is the thread that called
 * sim_run; the others are threads of a pool that lives as long as the sim. */
#include "sim/worker_pool.h"
#include "sim/cta.h"
#include "sim/deadlock.h"
#include "sim/exited.h"
#include "sim/sim_run.h"
#include "sim/wait.h"

enum {
    PARK_SCAN = 32, /* parked CTAs that a worker looks at before it starts a new one, at most ... */
    PARK_TURN = 16  /* ... each time it has asked for so many CTAs */
};

/* ---- parked CTAs ---- */

static void park(struct launch *l, struct cta *c)
{
    c->next = NULL;
    struct cta **p = &l->parked_tail;
    if (*p)
        (*p)->next = c;
    else
        l->parked = c;
    *p = c;
    __atomic_store_n(&l->nparked, l->nparked + 1, __ATOMIC_RELAXED);
}

static struct cta *unpark(struct launch *l)
{
    struct cta *c = l->parked;
    l->parked = c->next;
    if (!l->parked) l->parked_tail = NULL;
    __atomic_store_n(&l->nparked, l->nparked - 1, __ATOMIC_RELAXED);
    return c;
}

/* Takes a parked CTA that woke up, looking at no more than `most`; those passed over go to the end. */
static struct cta *take_parked(struct launch *l, u32 most)
{
    for (u32 k = l->perturb && l->nparked ? (u32)(rand_next(&l->rng) % l->nparked) : 0; k; k--) park(l, unpark(l));
    for (u32 k = 0; k < most && l->parked; k++) {
        struct cta *c = unpark(l);
        if (cta_woken(c)) return c;
        park(l, c);
    }
    return NULL;
}

static void pause_for_others(u32 *wait)
{
    if (*wait < 64) {
        for (u32 k = 0; k < 50; k++) cpu_relax();
        (*wait)++;
        return;
    }
    thread_sleep_us(*wait < 128 ? 20 : 1000);
    if (*wait < 1000) (*wait)++;
}

/* ---- claiming CTAs ---- */

static u64 ctas_started(const struct launch *l) { return __atomic_load_n(&l->next, __ATOMIC_RELAXED); }

u64 launch_started(const struct launch *l)
{
    u64 n = ctas_started(l);
    for (u32 k = 0; k < l->nworkers; k++) n -= l->worker[k].to - l->worker[k].from; /* claimed only */
    return n;
}

static u64 cta_in_order(const struct launch *l, u64 n)
{
    return (u64)(((unsigned __int128)n * l->order_by + l->order_from) % l->total);
}

/* Takes the number of the next CTA to start; false: all have started. */
static bool claim(struct worker *k, u64 *id)
{
    struct launch *l = k->launch;
    if (k->from == k->to) {
        u64 at = __atomic_load_n(&l->next, __ATOMIC_RELAXED), n;
        do {
            if (at >= l->total) return false;
            /* smaller bites near the end, so that the workers finish together */
            n = (l->total - at) / (4 * l->nworkers);
            n = n < 1 ? 1 : n > l->batch ? l->batch : n;
        } while (!__atomic_compare_exchange_n(&l->next, &at, at + n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        k->from = at;
        k->to = at + n;
        if (n > 1) __atomic_fetch_add(&l->holders, 1, __ATOMIC_SEQ_CST);
        k->holds = n > 1;
    }
    *id = unlikely(l->in->order) ? cta_in_order(l, k->from) : k->from;
    k->from++;
    if (k->from == k->to && k->holds) {
        __atomic_fetch_sub(&l->holders, 1, __ATOMIC_SEQ_CST);
        k->holds = false;
    }
    return true;
}

/* Starts the CTA whose number the worker has claimed; NULL: the launch was stopped. */
static struct cta *start_claimed(struct worker *k, u64 id)
{
    struct launch *l = k->launch;
    struct cta *c = k->free;
    bool fresh = !c;
    if (c)
        k->free = c->next;
    else if (!(c = cta_new(k))) {
        launch_fail(l, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for another resident CTA (%u warps)",
                    l->nwarps);
        return NULL;
    }
    if (launch_stopped(l)) {
        c->next = k->free;
        k->free = c;
        return NULL;
    }
    cta_start(c, id, fresh);
    return c;
}

/* Whether nothing can happen any more without the host: no worker is in a CTA, CTAs are parked, and no claimed CTA has
 * room to start. The caller has seen that no parked CTA can go on. */
static bool quiescent(const struct launch *l)
{
    /* a worker that has claimed CTAs will start them as long as there is room */
    bool waiting_to_start = __atomic_load_n(&l->holders, __ATOMIC_SEQ_CST) && l->resident < l->max_resident;
    return !l->active && l->nparked && !waiting_to_start;
}

/* The next CTA for a worker; NULL: the launch is over for it. */
static struct cta *next_cta(struct worker *k)
{
    struct launch *l = k->launch;
    u32 wait = 0;
    for (;;) {
        if (launch_stopped(l)) return NULL;
        if (launch_interrupted(l)) launch_stop(l, SIM_INTERRUPTED);
        lock(&l->lock);
        /* New CTAs first, parked ones now and then: at a grid barrier every arrival changes the
         * counter that all the others poll, and waking them each time would be quadratic. */
        struct cta *c = NULL;
        bool room = (k->from < k->to || ctas_started(l) < l->total) && l->resident < l->max_resident;
        u64 id;
        if (room && (l->perturb ? (rand_next(&l->rng) & 1) : ++k->turns % PARK_TURN == 0))
            c = take_parked(l, l->nparked < PARK_SCAN ? l->nparked : PARK_SCAN);
        if (!c && room && claim(k, &id)) {
            l->resident++;
            l->active++;
            unlock(&l->lock);
            return start_claimed(k, id);
        }
        if (!c) c = take_parked(l, l->nparked);
        if (c) {
            l->active++;
            unlock(&l->lock);
            c->worker = k;
            for (u32 n = 0; n < c->nwarps; n++) c->warp[n]->code = NULL; /* the ranges are the worker's */
            return c;
        }
        bool over = !l->nparked && ctas_started(l) >= l->total && !l->active && k->from == k->to;
        if (!over && quiescent(l) && !wait_for_host(l)) {
            deadlock_report(l);
            over = true;
        }
        unlock(&l->lock);
        if (over) return NULL;
        pause_for_others(&wait);
    }
}

static void worker_run(struct worker *k)
{
    struct launch *l = k->launch;
    for (;;) {
        struct cta *c = k->again;
        k->again = NULL;
        if (!c) c = next_cta(k);
        if (!c) break;
        bool done = cta_run(c);
        if (done) {
            exit_record_cta(k, c);
            __atomic_store_n(&k->ctas, k->ctas + 1, __ATOMIC_RELAXED);
            /* the common case, more CTAs of a plain grid, needs no lock */
            if (!__atomic_load_n(&l->nparked, __ATOMIC_RELAXED) && !launch_stopped(l) && !(launch_interrupted(l))) {
                u64 id;
                if (claim(k, &id)) {
                    cta_start(c, id, false);
                    for (u32 n = 0; n < c->nwarps; n++)
                        if (c->warp[n]->steps - c->warp[n]->counted > BUDGET_STEPS) wait_budget_spent(c->warp[n]);
                    k->again = c;
                    continue;
                }
            }
            c->next = k->free;
            k->free = c;
        }
        lock(&l->lock);
        l->active--;
        if (done)
            l->resident--;
        else
            park(l, c);
        unlock(&l->lock);
    }
    for (struct cta *c = k->free; c; c = c->next)
        for (u32 n = 0; n < c->nwarps; n++) k->steps += c->warp[n]->steps;
}

/* ---- the pool: threads that live as long as the sim ---- */

struct pool {
    lock_t lock;
    pthread_cond_t wake, idle;
    struct worker **work;
    u32 nwork, taken, busy; /* of the current launch */
    u64 round;
    bool quit;
    pthread_t *thread;
    u32 nthread;
};

static void *pool_main(void *arg)
{
    struct pool *p = arg;
    lock(&p->lock);
    for (;;) {
        while (!p->quit && p->taken >= p->nwork) pthread_cond_wait(&p->wake, &p->lock);
        if (p->quit) break;
        struct worker *k = p->work[p->taken++];
        p->busy++;
        unlock(&p->lock);
        worker_run(k);
        lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->idle);
    }
    unlock(&p->lock);
    return NULL;
}

static struct pool *pool_new(u32 threads)
{
    struct pool *p = base_alloc(sizeof *p);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->thread = base_alloc(sizeof *p->thread * (threads + 1));
    for (u32 k = 0; p->thread && k < threads; k++)
        if (!pthread_create(&p->thread[p->nthread], NULL, pool_main, p)) p->nthread++;
    return p;
}

void pool_delete(struct pool *p)
{
    if (!p) return;
    lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->wake);
    unlock(&p->lock);
    for (u32 k = 0; k < p->nthread; k++) pthread_join(p->thread[k], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    base_free(p->thread);
    base_free(p);
}

u32 pool_workers(struct sim *s, u32 n)
{
    if (n < 2) return n;
    if (!s->pool) s->pool = pool_new(s->workers - 1);
    u32 most = s->pool ? s->pool->nthread + 1 : 1;
    return n < most ? n : most;
}

void pool_run(struct sim *s, struct launch *l)
{
    struct worker *work[MAX_WORKERS];
    struct pool *p = s->pool;
    for (u32 k = 1; k < l->nworkers; k++) work[k - 1] = &l->worker[k];
    if (l->nworkers > 1) {
        lock(&p->lock);
        p->work = work;
        p->nwork = l->nworkers - 1;
        p->taken = 0;
        pthread_cond_broadcast(&p->wake);
        unlock(&p->lock);
    }
    worker_run(&l->worker[0]);
    if (l->nworkers > 1) {
        lock(&p->lock);
        p->nwork = p->taken; /* those that never woke up are not needed any more */
        while (p->busy) pthread_cond_wait(&p->idle, &p->lock);
        p->nwork = p->taken = 0;
        unlock(&p->lock);
    }
}
