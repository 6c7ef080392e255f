/* The life of clusters, and barrier.cluster.
 *
 * The CTAs of a cluster run in turn on the worker that has the cluster: each until it is done, all of it waits, or it
 * has given way. The cluster is done with its last CTA; a CTA that is done before keeps its place, so that accesses of
 * its shared memory that come too late are seen.
 *
 * barrier.cluster is one barrier of all threads of the cluster, in two halves: a thread arrives and goes on, and waits
 * later. A phase is complete when every thread that has not left has arrived. */
#include "units/cluster.h"
#include "sim/cta.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/sim_run.h"
#include "sim/wait.h"

void cluster_shape(struct launch *l)
{
    const u32 *asked = l->in->cluster, *own = l->in->kernel->reqnctapercluster;
    l->per = 1;
    for (u32 k = 0; k < 3; k++) {
        l->cluster[k] = asked[0] ? MAX_OF(asked[k], 1u) : MAX_OF(own[k], 1u);
        l->per *= l->cluster[k];
    }
    /* the device refuses such a launch; tests may run it */
    bool fits = l->per && l->per <= CLUSTER_MOST;
    for (u32 k = 0; k < 3; k++) fits &= l->in->grid[k] % l->cluster[k] == 0;
    for (u32 k = 0; k < 3 && !fits; k++) l->cluster[k] = 1;
    if (!fits) l->per = 1;
    l->clusters = l->total / l->per;
}

/* ---- the life of a cluster ---- */

struct cta *cluster_new(struct worker *k)
{
    struct cta *first = cta_new(k, 0);
    if (!first) return NULL;
    struct cluster *x = first->cluster = &first->own_cluster;
    x->size = 1;
    x->cta[0] = first;
    for (u32 n = 1; n < k->launch->per; n++) {
        struct cta *c = cta_new(k, n);
        if (!c) {
            cluster_free(first);
            return NULL;
        }
        c->cluster = x;
        x->cta[x->size++] = c;
    }
    return first;
}

void cluster_free(struct cta *first)
{
    for (u32 n = first->cluster->size; n-- > 0;) cta_free(first->cluster->cta[n]);
}

void cluster_start(struct cta *first, u64 number, bool fresh)
{
    const struct launch *l = first->launch;
    struct cluster *x = first->cluster;
    u32 of[3], at[3];
    if (likely(x->size == 1)) {
        x->running = 1;
        x->number = number;
        x->arrived = false;
        cta_start(first, number, fresh);
        return;
    }
    for (u32 k = 0; k < 3; k++) of[k] = l->in->grid[k] / l->cluster[k];
    at[0] = (u32)(number % of[0]);
    at[1] = (u32)(number / of[0] % of[1]);
    at[2] = (u32)(number / of[0] / of[1]);
    x->running = x->size;
    x->number = number;
    x->phase = 0;
    x->arrived = x->began = false;
    for (u32 n = 0; n < x->size; n++) x->cta[n]->done = false;
    for (u32 n = 0; n < x->size; n++) {
        u64 id[3] = { n % l->cluster[0], n / l->cluster[0] % l->cluster[1], n / l->cluster[0] / l->cluster[1] };
        for (u32 k = 0; k < 3; k++) id[k] += (u64)at[k] * l->cluster[k];
        cta_start(x->cta[n], (id[2] * l->in->grid[1] + id[1]) * l->in->grid[0] + id[0], fresh);
    }
}

bool cluster_run(struct cta *first)
{
    struct cluster *x = first->cluster;
    struct launch *l = first->launch;
    if (likely(x->size == 1)) return cta_run(first);
    for (u32 rounds = 0;;) {
        bool ran = false, gave_way = false;
        u32 start = l->in->seeded ? (u32)(rand_next(&first->rng) % x->size) : 0;
        bool backwards = l->in->order && (l->in->order == 1 || rand_next(&first->rng) & 1);
        for (u32 n = 0; n < x->size; n++) {
            u32 at = (start + n) % x->size;
            struct cta *c = x->cta[backwards ? x->size - 1 - at : at];
            if (c->done || !cta_woken(c)) continue;
            ran = true;
            c->done = cta_run(c);
            if (launch_stopped(l)) {
                first->state = CTA_WAIT;
                return false;
            }
            if (c->done) {
                x->running--;
                if (x->arrived) cluster_recheck(c);
            } else
                gave_way |= c->state == CTA_READY;
        }
        if (!x->running) return true;
        if (!ran || (gave_way && ++rounds > 4)) {
            first->state = ran ? CTA_READY : CTA_WAIT;
            return false;
        }
    }
}

bool cluster_woken(const struct cta *first)
{
    if (likely(first->cluster->size == 1)) return cta_woken(first);
    for (const struct cta *c = first; c; c = cluster_next(c))
        if (!c->done && cta_woken(c)) return true;
    return false;
}

void cluster_worker(struct cta *first, struct worker *k)
{
    for (struct cta *c = first; c; c = cluster_next(c)) {
        c->worker = k;
        for (u32 n = 0; n < c->nwarps; n++) c->warp[n]->code = NULL; /* the ranges are the worker's */
    }
}

/* ---- barrier.cluster ---- */

static bool all_arrived(const struct cluster *x)
{
    for (u32 n = x->size; n-- > 0;) {
        const struct cta *c = x->cta[n];
        for (u32 k = c->done ? 0 : c->nwarps; k-- > 0;)
            if (c->warp[k]->live & ~c->warp[k]->cluster_arrived) return false;
    }
    return true;
}

/* The phase is complete: who waits goes on. */
static void complete(struct cluster *x)
{
    const struct launch *l = x->cta[0]->launch;
    x->phase++;
    x->arrived = false;
    x->began = true;
    if (observed(l))
        observe_sync(l, (struct sync_event){ .kind = SYNC_CLUSTER, .cta = x->cta[0], .id = x->phase, .op = NONE });
    for (u32 n = 0; n < x->size; n++)
        for (u32 k = 0; k < x->cta[n]->nwarps; k++) {
            struct warp *w = x->cta[n]->warp[k];
            w->cluster_arrived = 0;
            for (u32 j = 0; j < w->nsplit; j++) {
                struct split *s = &w->split[j];
                if (s->state != SPLIT_AT(cluster)) continue;
                s->state = SPLIT_RUN;
                w->cluster_owes &= ~s->mask;
                if (observed(l))
                    observe_sync(
                        l, (struct sync_event){
                               .kind = SYNC_CLUSTER_WAITED, .cta = w->cta, .warp = w, .mask = s->mask, .op = NONE });
            }
        }
}

void cluster_recheck(struct cta *c)
{
    if (c->cluster->arrived && all_arrived(c->cluster)) complete(c->cluster);
}

static void misuse(struct warp *w, u32 op, u32 lanes, const char *cause, const char *fix)
{
    struct finding f = { .kind = F_barrier_turn, .cause = cause, .fix = fix };
    if (w->cta->launch->in->checks & CHECK_BARRIER) finding_add(w, op, &f, lanes);
}

int run_cluster_arrive(char *restrict R, const struct insn *i, struct warp *w)
{
    u32 lanes = active_lanes(w, R, i), again = lanes & w->cluster_owes;
    struct cluster *x = w->cta->cluster;
    if (!lanes) return 0;
    w->syncs++;
    if (again)
        misuse(w, i->op, again, "the thread has arrived at the barrier of the cluster before, and not waited since",
               "Wait with barrier.cluster.wait after each arrival.");
    if (observed(w->cta->launch))
        observe_sync(w->cta->launch, (struct sync_event){ .kind = SYNC_CLUSTER_ARRIVE,
                                                          .cta = w->cta,
                                                          .warp = w,
                                                          .mask = lanes,
                                                          .id = w->code->low->op[i->op].aux,
                                                          .op = i->op });
    x->arrived = true;
    w->cluster_arrived |= lanes;
    w->cluster_owes |= lanes;
    w->changed = 1;
    if (!(w->live & ~w->cluster_arrived) && all_arrived(x)) complete(x);
    return 0;
}

bool wait_cluster(struct warp *w, struct split *s, const struct insn *i)
{
    u32 never = s->mask & ~w->cluster_owes;
    w->syncs++;
    if (never)
        misuse(w, i->op, never, "the thread waits at the barrier of the cluster without having arrived there",
               "Arrive with barrier.cluster.arrive before each wait.");
    if (s->mask & w->cluster_arrived) {
        split_waits(s, i, WAIT_cluster);
        return false;
    }
    w->cluster_owes &= ~s->mask;
    if (observed(w->cta->launch))
        observe_sync(
            w->cta->launch,
            (struct sync_event){
                .kind = SYNC_CLUSTER_WAITED, .cta = w->cta, .warp = w, .mask = s->mask & ~never, .op = i->op });
    return true;
}
