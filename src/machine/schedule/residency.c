/* Room on the multiprocessors: residency.h says what it is for.
 *
 * CTAs are handed out round robin, as cards do, so that the next multiprocessor nearly always has room and one look is
 * enough. Only where it has none are the others looked at. */
#include "schedule/residency.h"
#include "card/occupancy.h"
#include "sim/sim_run.h"

struct residency {
    lock_t lock;
    const struct card *card;
    u32 next;               /* where to look first */
    struct launch *waiting; /* a cooperative launch for which there is no room yet; NULL: none */
    struct sm {             /* taken on a multiprocessor */
        u32 ctas, warps, registers;
        u32 clustered; /* of the CTAs, those of clusters */
        u64 shared;
    } sm[];
};

struct residency *residency_new(const struct card *p)
{
    struct residency *r = base_alloc(sizeof *r + sizeof r->sm[0] * p->sms);
    if (!r) return NULL;
    r->card = p;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void residency_delete(struct residency *r)
{
    if (!r) return;
    pthread_mutex_destroy(&r->lock);
    base_free(r);
}

static struct occupancy measure(const struct card *p, const struct ptx_func *kernel, u32 threads, u64 shared)
{
    struct cta_needs needs = { threads, kernel->maxnreg, shared, UINT64_MAX };
    return occupancy_of(p, &needs);
}

u32 sim_resident_per_sm(const struct card *p, const struct ptx_func *kernel, u32 threads, u64 shared_total)
{
    return measure(p, kernel, threads, shared_total).ctas;
}

void residency_measure(struct launch *l)
{
    const struct card *p = l->sim->card;
    const struct ptx_func *k = l->in->kernel;
    u64 shared = l->shared_total - k->module->shared_base;
    struct occupancy o = measure(p, k, l->threads, shared);
    u32 per_sm = o.ctas, by_registers = o.most[LIMIT_REGISTERS];
    l->room.takes = (struct footprint){ .warps = l->nwarps, .shared = shared ? occupancy_shared(p, shared) : 0 };
    /* as many as fit share all registers: those that its partitions cannot give out count as taken */
    if (k->maxnreg && by_registers) l->room.takes.registers = p->regs_per_sm / by_registers;
    /* a shape that no multiprocessor holds is refused by the device; tests may run it, one CTA at a time */
    if (!per_sm) l->room.takes = (struct footprint){ 0 };
    per_sm = MAX_OF(per_sm, 1u);
    l->room.most = l->per > 1 ? card_clusters(p, l->per, per_sm) * l->per : per_sm * p->sms;
    l->room.whole = l->in->cooperative && l->total <= l->room.most;
}

static bool fits(const struct residency *r, const struct sm *m, const struct footprint *f)
{
    const struct card *p = r->card;
    return m->ctas < p->ctas_per_sm && m->warps + f->warps <= p->warps_per_sm &&
           m->shared + f->shared <= p->shared_per_sm && m->registers + f->registers <= p->regs_per_sm;
}

/* How many CTAs of this footprint a multiprocessor still holds. */
static u64 holds(const struct residency *r, const struct sm *m, const struct footprint *f)
{
    const struct card *p = r->card;
    u64 n = p->ctas_per_sm - m->ctas;
    if (f->warps) n = MIN_OF(n, (p->warps_per_sm - m->warps) / f->warps);
    if (f->shared) n = MIN_OF(n, (p->shared_per_sm - m->shared) / f->shared);
    if (f->registers) n = MIN_OF(n, (p->regs_per_sm - m->registers) / f->registers);
    return n;
}

static void take(struct sm *m, const struct footprint *f)
{
    m->ctas++;
    m->warps += f->warps;
    m->shared += f->shared;
    m->registers += f->registers;
}

static void give(struct sm *m, const struct footprint *f)
{
    m->ctas--;
    m->warps -= f->warps;
    m->shared -= f->shared;
    m->registers -= f->registers;
}

/* A multiprocessor with room, and the one after it is looked at first next time; NONE: there is none. */
static u32 find(struct residency *r, const struct footprint *f)
{
    u32 n = r->card->sms;
    for (u32 k = 0; k < n; k++) {
        u32 at = r->next + k < n ? r->next + k : r->next + k - n;
        if (fits(r, &r->sm[at], f)) return at;
    }
    return NONE;
}

static u32 take_one(struct residency *r, const struct footprint *f)
{
    u32 at = find(r, f);
    if (at == NONE) return NONE;
    take(&r->sm[at], f);
    r->next = at + 1 < r->card->sms ? at + 1 : 0;
    return at;
}

/* ---- clusters ---- */

/* CTAs of clusters that the multiprocessor still takes. */
static u32 holds_clustered(const struct residency *r, const struct sm *m, const struct footprint *f)
{
    return (u32)MIN_OF(holds(r, m, f), (u64)CLUSTER_CTAS_PER_SM - m->clustered);
}

/* Clusters of the launch that a GPC of n multiprocessors still holds. Its CTAs may share multiprocessors, but a GPC
 * with fewer of them than the cluster has CTAs takes none: so an H200 answers (tests/facts/clusters.cu). */
static u64 gpc_holds(const struct residency *r, const struct launch *l, u32 first, u32 n)
{
    u64 places = 0;
    for (u32 k = 0; k < n && n >= l->per; k++) places += holds_clustered(r, &r->sm[first + k], &l->room.takes);
    return places / l->per;
}

/* The first multiprocessor of a GPC with room for a cluster, and how many it has; NONE: there is none. */
static u32 find_cluster(const struct residency *r, const struct launch *l, u32 *sms)
{
    for (u32 g = 0, first = 0; (*sms = card_gpc(r->card, g)); first += *sms, g++)
        if (gpc_holds(r, l, first, *sms)) return first;
    return NONE;
}

/* How many clusters of the launch the device still holds. */
static u64 holds_clusters(const struct residency *r, const struct launch *l)
{
    u64 sum = 0;
    for (u32 g = 0, first = 0, n; (n = card_gpc(r->card, g)); first += n, g++) sum += gpc_holds(r, l, first, n);
    return sum;
}

/* Each CTA goes to the multiprocessor of the GPC that holds the most further ones, so that they share none unless they
 * must. */
static bool take_cluster(struct residency *r, const struct launch *l, u32 *sm)
{
    if (l->per == 1) return (*sm = take_one(r, &l->room.takes)) != NONE;
    u32 sms, first = find_cluster(r, l, &sms);
    if (first == NONE) return false;
    for (u32 n = 0; n < l->per; n++) {
        u32 most = 0;
        for (u32 k = first; k < first + sms; k++) {
            u32 room = holds_clustered(r, &r->sm[k], &l->room.takes);
            if (room > most) most = room, sm[n] = k;
        }
        take(&r->sm[sm[n]], &l->room.takes);
        r->sm[sm[n]].clustered++;
    }
    return true;
}

static void give_cluster(struct residency *r, const struct launch *l, const u32 *sm)
{
    for (u32 n = 0; n < l->per; n++) {
        give(&r->sm[sm[n]], &l->room.takes);
        if (l->per > 1) r->sm[sm[n]].clustered--;
    }
}

/* Reserved places of a cooperative launch: those of a cluster are in one GPC, where only whole clusters have any. */
static void take_reserved(const struct launch *l, u32 *sm)
{
    for (u32 n = 0, at = 0; n < l->per; n++) {
        while (!l->room.reserved[at]) at++;
        sm[n] = at;
        l->room.reserved[at]--;
    }
}

/* ---- launches ---- */

/* Whether the launch has to wait for a cooperative one that came before it and has no room. */
static bool behind(const struct residency *r, const struct launch *l)
{
    return r->waiting && r->waiting != l && launch_precedes(r->waiting, l);
}

/* Takes the room for all CTAs of a cooperative launch, or none. */
static bool take_all(struct residency *r, struct launch *l)
{
    u64 room = l->per > 1 ? holds_clusters(r, l) : 0;
    for (u32 k = 0; l->per == 1 && k < r->card->sms; k++) room += holds(r, &r->sm[k], &l->room.takes);
    if (room < l->clusters || behind(r, l)) {
        if (!r->waiting || launch_precedes(l, r->waiting)) r->waiting = l;
        return false;
    }
    if (!(l->room.reserved = base_alloc(sizeof *l->room.reserved * r->card->sms)))
        base_exhausted(sizeof *l->room.reserved * r->card->sms, "the places of a cooperative launch");
    for (u64 n = 0; n < l->clusters; n++) {
        u32 sm[CLUSTER_MOST];
        take_cluster(r, l, sm);
        for (u32 k = 0; k < l->per; k++) l->room.reserved[sm[k]]++;
    }
    if (r->waiting == l) r->waiting = NULL;
    return true;
}

bool residency_has_room(struct launch *l)
{
    struct residency *r = l->sim->residency;
    lock(&r->lock);
    bool yes;
    u32 sms;
    if (l->room.whole)
        yes = l->room.reserved || take_all(r, l);
    else
        yes = !behind(r, l) && (l->per == 1 ? find(r, &l->room.takes) : find_cluster(r, l, &sms)) != NONE;
    unlock(&r->lock);
    return yes;
}

bool residency_take(struct launch *l, u32 *sm)
{
    struct residency *r = l->sim->residency;
    bool yes = false;
    lock(&r->lock);
    if (!l->room.whole && !behind(r, l)) yes = take_cluster(r, l, sm);
    if (l->room.whole && (l->room.reserved || take_all(r, l))) {
        take_reserved(l, sm);
        yes = true;
    }
    unlock(&r->lock);
    return yes;
}

void residency_leave(struct launch *l, const u32 *sm)
{
    struct residency *r = l->sim->residency;
    lock(&r->lock);
    give_cluster(r, l, sm);
    unlock(&r->lock);
}

void residency_leave_cluster(const struct cta *first)
{
    u32 sm[CLUSTER_MOST];
    for (u32 n = 0; n < first->launch->per; n++) sm[n] = first->cluster->cta[n]->sm;
    residency_leave(first->launch, sm);
}

void residency_end(struct launch *l)
{
    struct residency *r = l->sim->residency;
    if (!l->room.whole) return;
    lock(&r->lock);
    if (r->waiting == l) r->waiting = NULL;
    for (u32 k = 0; l->room.reserved && k < r->card->sms; k++)
        for (; l->room.reserved[k]; l->room.reserved[k]--) {
            give(&r->sm[k], &l->room.takes);
            if (l->per > 1) r->sm[k].clustered--;
        }
    base_free(l->room.reserved);
    l->room.reserved = NULL;
    unlock(&r->lock);
}
