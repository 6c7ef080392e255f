/* Clusters: CTAs that are resident together, run on one worker, and reach each other's shared memory (cluster.c).
 *
 * A cluster is claimed, started, run, parked and freed as a whole; its CTA of rank 0 stands for it in the lists of
 * workers and launches. A launch without clusters has clusters of one CTA, and costs nothing for it.
 *
 * Shared addresses. The window has room for CLUSTER_MOST shared memories, and an address in it is
 *   rank * MEM_WINDOW_CTA + offset,
 * as an address of .shared, .shared::cta and .shared::cluster alike, and as what a generic address has beyond the start
 * of the window. So every address means the same place in all CTAs of the cluster, also that of an own variable, as on
 * a card; mapa exchanges the rank, getctarank reads it. What a CTA has for its own shared memory (warp.shared, its
 * shadow, its cells of the race check, the ranges of sites) is placed by its rank, so a local access needs no test for
 * any of this. An access of another CTA's memory misses the range of its site, and the exact path finds the owner. */
#ifndef LOCKSTEP_CLUSTER_H
#define LOCKSTEP_CLUSTER_H
#include "sim/machine.h"

/* The shared address where the memory of a CTA begins. */
static inline u64 cluster_base(u32 rank) { return (u64)rank * MEM_WINDOW_CTA; }
/* What a shared address has beyond that. */
static inline u64 cluster_offset(u64 address) { return address & (MEM_WINDOW_CTA - 1); }
static inline u32 cluster_rank(u64 address) { return (u32)(address / MEM_WINDOW_CTA); }

/* The CTA whose shared memory has that address; NULL: no CTA of the cluster. */
static inline struct cta *cluster_cta(const struct cta *c, u64 address)
{
    u64 rank = address / MEM_WINDOW_CTA;
    return rank < c->cluster->size ? c->cluster->cta[rank] : NULL;
}

/* Where the byte at that offset of the shared memory of a CTA of the cluster is; the rank is one of the cluster. */
static inline char *cluster_place(const struct cta *c, u32 rank, u64 offset)
{
    return c->cluster->cta[rank]->shared + offset;
}

/* The clusters of a launch, by the CTA of rank 0. */
struct cta *cluster_new(struct worker *k);                     /* NULL: no memory */
void cluster_free(struct cta *first);                          /* with all its CTAs */
void cluster_start(struct cta *first, u64 number, bool fresh); /* as cta_start, cluster `number` of the grid */
bool cluster_run(struct cta *first);                           /* as cta_run */
bool cluster_woken(const struct cta *first);                   /* as cta_woken */
void cluster_worker(struct cta *first, struct worker *k);      /* another worker goes on with it */
/* The next CTA of the cluster, by rank; NULL: c is the last one. */
static inline struct cta *cluster_next(const struct cta *c)
{
    return c->rank + 1 < c->cluster->size ? c->cluster->cta[c->rank + 1] : NULL;
}
/* The shape of a launch's clusters: what it asks for, or what the kernel requires. */
void cluster_shape(struct launch *l);
#endif
