/* The life of clusters.
 *
 * The CTAs of a cluster run in turn on the worker that has the cluster: each until it is done, all of it waits, or it
 * has given way. The cluster is done with its last CTA; a CTA that is done before keeps its place, so that accesses of
 * its shared memory that come too late are seen. */
#include "sim/cluster.h"
#include "sim/cta.h"
#include "sim/sim_run.h"

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
            if (c->done)
                x->running--;
            else
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
