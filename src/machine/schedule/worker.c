/* A worker's turn: how the CTAs of a launch come to the thread that is in one of its places. They come as clusters
 * (cluster.h), of one CTA where the launch has none; the CTA of rank 0 stands for them.
 *
 * A CTA stays on its worker until it is done or all its splits wait; then it is parked, and the worker takes a parked
 * CTA that can go on, or starts the next one while the device has room. So a plain grid holds one CTA a worker, and a
 * grid barrier holds all that fit. A turn ends when the launch is over or nothing of it can go on; with other launches
 * in flight also when a CTA has given way, or after a while. */
#include "schedule/worker.h"
#include "sim/attach.h"
#include "sim/cluster.h"
#include "sim/exits.h"
#include "schedule/residency.h"
#include "sim/sim_run.h"
#include "sim/wait.h"

enum {
    PARK_SCAN = 32,    /* parked CTAs that a worker looks at before it starts a new one, at most ... */
    PARK_TURN = 16,    /* ... each time it has asked for so many CTAs */
    TURN_NS = 1000000, /* how long a turn takes at most, when other launches are in flight */
    TURN_CTAS = 256,   /* the same for seeded launches: runs of CTAs */
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
    for (u32 k = l->schedule.perturb && l->nparked ? (u32)(rand_next(&l->schedule.rng) % l->nparked) : 0; k; k--)
        park(l, unpark(l));
    for (u32 k = 0; k < most && l->parked; k++) {
        struct cta *c = unpark(l);
        if (cluster_woken(c)) return c;
        park(l, c);
    }
    return NULL;
}

/* ---- claiming CTAs ---- */

static u64 clusters_started(const struct launch *l) { return __atomic_load_n(&l->next, __ATOMIC_RELAXED); }

u64 launch_started(const struct launch *l)
{
    u64 n = clusters_started(l);
    for (u32 k = 0; k < l->nworkers; k++) n -= l->worker[k].to - l->worker[k].from; /* claimed only */
    return n * l->per;
}

static u64 cluster_in_order(const struct launch *l, u64 n)
{
    return (u64)(((unsigned __int128)n * l->schedule.by + l->schedule.from) % l->clusters);
}

/* Takes the number of the next cluster to start; false: all have started. */
static bool claim(struct worker *k, u64 *id)
{
    struct launch *l = k->launch;
    if (k->from == k->to) {
        u64 at = __atomic_load_n(&l->next, __ATOMIC_RELAXED), n;
        do {
            if (at >= l->clusters) return false;
            /* smaller bites near the end, so that the workers finish together */
            n = (l->clusters - at) / (4 * l->nworkers);
            n = n < 1 ? 1 : n > l->batch ? l->batch : n;
        } while (!__atomic_compare_exchange_n(&l->next, &at, at + n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        k->from = at;
        k->to = at + n;
        if (n > 1) __atomic_fetch_add(&l->holders, 1, __ATOMIC_SEQ_CST);
        k->holds = n > 1;
    }
    *id = unlikely(l->in->order) ? cluster_in_order(l, k->from) : k->from;
    k->from++;
    if (k->from == k->to && k->holds) {
        __atomic_fetch_sub(&l->holders, 1, __ATOMIC_SEQ_CST);
        k->holds = false;
    }
    return true;
}

bool worker_cancel(struct worker *k, u64 *id)
{
    struct launch *l = k->launch;
    if (!claim(k, id)) return false;
    __atomic_fetch_add(&k->silent, l->per, __ATOMIC_SEQ_CST); /* none of its CTAs will trigger */
    __atomic_store_n(&k->ctas, k->ctas + l->per, __ATOMIC_RELAXED);
    return true;
}

/* Starts the cluster whose number the worker has claimed, on these multiprocessors; NULL: the launch was stopped. */
static struct cta *start_claimed(struct worker *k, u64 id, const u32 *sm)
{
    struct launch *l = k->launch;
    struct cta *c = k->free;
    bool fresh = !c;
    if (c)
        k->free = c->next;
    else if (!(c = cluster_new(k)))
        launch_fail(l, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for another resident block (%u warps)",
                    l->nwarps);
    if (launch_stopped(l)) {
        if (c) c->next = k->free;
        if (c) k->free = c;
        residency_leave(l, sm);
        lock(&l->lock);
        l->active--;
        unlock(&l->lock);
        return NULL;
    }
    for (u32 n = 0; n < l->per; n++) c->cluster->cta[n]->sm = sm[n];
    cluster_start(c, id, fresh);
    return c;
}

/* ---- a turn ---- */

static bool has_claims(const struct launch *l)
{
    for (u32 k = 0; k < l->nworkers; k++)
        if (l->worker[k].from < l->worker[k].to) return true;
    return false;
}

bool launch_is_quiescent(struct launch *l)
{
    if (l->active) return false;
    for (const struct cta *c = l->parked; c; c = c->next)
        if (cluster_woken(c)) return false;
    bool unstarted = clusters_started(l) < l->clusters || has_claims(l);
    if (!unstarted && !l->nparked) return false; /* all have ended: whoever ran the last one is about to say so */
    return !unstarted || !residency_has_room(l);
}

/* The worker has run `c`, and leaves it. Under the lock of the launch. */
static void put_down(struct launch *l, struct cta *c, bool done)
{
    l->active--;
    if (!done) park(l, c);
}

/* The next CTA for a worker, which puts `last` down (NULL: it had none); NULL: there is none, and *over says whether
 * there never will be. */
static struct cta *next_cta(struct worker *k, struct cta *last, bool done, bool *over)
{
    struct launch *l = k->launch;
    launch_called_off(l);
    *over = launch_stopped(l);
    if (*over && !last) return NULL;
    lock(&l->lock);
    if (last) put_down(l, last, done);
    if (*over) {
        unlock(&l->lock);
        return NULL;
    }
    /* New CTAs first, parked ones now and then: at a grid barrier every arrival changes the
     * counter that all the others poll, and waking them each time would be quadratic. */
    struct cta *c = NULL;
    bool room = (k->from < k->to || clusters_started(l) < l->clusters) && (!l->nparked || residency_has_room(l));
    u32 sm[CLUSTER_MOST];
    u64 id;
    if (room && (l->schedule.perturb ? (rand_next(&l->schedule.rng) & 1) : ++k->turns % PARK_TURN == 0))
        c = take_parked(l, l->nparked < PARK_SCAN ? l->nparked : PARK_SCAN);
    if (!c && room && residency_take(l, sm)) {
        if (claim(k, &id)) {
            l->active++;
            unlock(&l->lock);
            c = start_claimed(k, id, sm);
            *over = !c;
            return c;
        }
        residency_leave(l, sm);
    }
    if (!c) c = take_parked(l, l->nparked);
    if (c)
        l->active++;
    else
        *over = !l->nparked && !l->active && clusters_started(l) >= l->clusters && !has_claims(l);
    unlock(&l->lock);
    if (!c) return NULL;
    cluster_worker(c, k);
    return c;
}

static bool others_in_flight(const struct launch *l)
{
    return __atomic_load_n(&l->sim->nlaunches, __ATOMIC_RELAXED) > 1;
}

/* The CTA is done: the next one of a plain grid takes its place, without a lock. */
static bool start_in_place(struct worker *k, struct cta *c)
{
    struct launch *l = k->launch;
    u64 id;
    if (__atomic_load_n(&l->nparked, __ATOMIC_RELAXED) || launch_stopped(l) || launch_interrupted(l)) return false;
    if (!claim(k, &id)) return false;
    cluster_start(c, id, false);
    for (struct cta *x = c; x; x = cluster_next(x))
        for (u32 n = 0; n < x->nwarps; n++)
            if (x->warp[n]->steps - x->warp[n]->counted > BUDGET_STEPS) wait_budget_spent(x->warp[n]);
    return true;
}

enum turn worker_turn(struct worker *k)
{
    struct launch *l = k->launch;
    enum turn came = TURN_QUIET;
    u64 end = 0;
    u32 ran = 0;
    bool over = false;
    stop_watch(l->in->interrupt, l->deadline);
    report_launch_here(l->in->number);
    report_origin_here(l->in->origin);
    struct cta *c = next_cta(k, NULL, false, &over);
    while (c) {
        bool done = cluster_run(c), leave = false;
        for (struct cta *x = c; unlikely(l->in->trigger != NULL) && x; x = cluster_next(x))
            ATTACH_ALL(turn, k, x, done);
        came = TURN_WENT;
        if (l->in->seeded && (l->started || others_in_flight(l))) { /* by numbers, so that it can be repeated */
            leave = ++ran >= TURN_CTAS || (!done && c->state == CTA_READY);
        } else if (unlikely(others_in_flight(l))) {
            u64 now = time_ns();
            if (!end) end = now + TURN_NS;
            leave = now >= end || (!done && c->state == CTA_READY);
        }
        if (done) {
            for (struct cta *x = c; x; x = cluster_next(x)) exit_record_cta(k, x);
            __atomic_store_n(&k->ctas, k->ctas + l->per, __ATOMIC_RELAXED);
            if (!leave && start_in_place(k, c)) continue;
            residency_leave_cluster(c);
            c->next = k->free;
            k->free = c;
        }
        if (leave) {
            lock(&l->lock);
            put_down(l, c, done);
            unlock(&l->lock);
            return TURN_WENT;
        }
        c = next_cta(k, c, done, &over);
    }
    return over ? TURN_OVER : came;
}
