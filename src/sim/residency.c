/* Room on the multiprocessors: residency.h says what it is for.
 *
 * CTAs are handed out round robin, as cards do, so that the next multiprocessor nearly always has room and one look is
 * enough. Only where it has none are the others looked at. */
#include "sim/residency.h"
#include "sim/sim_run.h"

struct residency {
    lock_t lock;
    const struct profile *profile;
    u32 next;               /* where to look first */
    struct launch *waiting; /* a cooperative launch for which there is no room yet; NULL: none */
    struct sm {             /* taken on a multiprocessor */
        u32 ctas, warps, registers;
        u64 shared;
    } sm[];
};

struct residency *residency_new(const struct profile *p)
{
    struct residency *r = base_alloc(sizeof *r + sizeof r->sm[0] * p->sms);
    if (!r) return NULL;
    r->profile = p;
    pthread_mutex_init(&r->lock, NULL);
    return r;
}

void residency_delete(struct residency *r)
{
    if (!r) return;
    pthread_mutex_destroy(&r->lock);
    base_free(r);
}

void residency_measure(struct launch *l)
{
    const struct profile *p = l->sim->profile;
    const struct ptx_func *k = l->in->kernel;
    u64 shared = l->shared_total - k->module->shared_base;
    l->takes = (struct footprint){ .warps = l->nwarps, .shared = shared ? shared + p->shared_reserved : 0 };
    if (k->maxnreg) l->takes.registers = (k->maxnreg * LANES + 255) / 256 * 256 * l->nwarps;
    u32 per_sm = sim_resident_per_sm(p, k, l->threads, shared);
    /* a shape that no multiprocessor holds is refused by the device; tests may run it, one CTA at a time */
    if (!per_sm) l->takes = (struct footprint){ 0 };
    l->max_resident = (per_sm ? per_sm : 1) * p->sms;
    l->whole = l->in->cooperative && l->total <= l->max_resident;
}

static bool fits(const struct residency *r, const struct sm *m, const struct footprint *f)
{
    const struct profile *p = r->profile;
    return m->ctas < p->ctas_per_sm && m->warps + f->warps <= p->warps_per_sm &&
           m->shared + f->shared <= p->shared_per_sm && m->registers + f->registers <= p->regs_per_sm;
}

/* How many CTAs of this footprint a multiprocessor still holds. */
static u64 holds(const struct residency *r, const struct sm *m, const struct footprint *f)
{
    const struct profile *p = r->profile;
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

/* A multiprocessor with room, and the one behind it is looked at first next time; NONE: there is none. */
static u32 find(struct residency *r, const struct footprint *f)
{
    u32 n = r->profile->sms;
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
    r->next = at + 1 < r->profile->sms ? at + 1 : 0;
    return at;
}

/* Whether the launch has to wait behind a cooperative one that came before it and has no room. */
static bool behind(const struct residency *r, const struct launch *l)
{
    return r->waiting && r->waiting != l && launch_before(r->waiting, l);
}

/* Takes the room for all CTAs of a cooperative launch, or none. */
static bool take_all(struct residency *r, struct launch *l)
{
    u64 room = 0;
    for (u32 k = 0; k < r->profile->sms; k++) room += holds(r, &r->sm[k], &l->takes);
    if (room < l->total || behind(r, l)) {
        if (!r->waiting || launch_before(l, r->waiting)) r->waiting = l;
        return false;
    }
    if (!(l->reserved = base_alloc(sizeof *l->reserved * r->profile->sms)))
        base_exhausted(sizeof *l->reserved * r->profile->sms, "the places of a cooperative launch");
    for (u64 n = 0; n < l->total; n++) l->reserved[take_one(r, &l->takes)]++;
    if (r->waiting == l) r->waiting = NULL;
    return true;
}

bool residency_has_room(struct launch *l)
{
    struct residency *r = l->sim->residency;
    lock(&r->lock);
    bool yes;
    if (l->whole)
        yes = l->reserved || take_all(r, l);
    else
        yes = !behind(r, l) && find(r, &l->takes) != NONE;
    unlock(&r->lock);
    return yes;
}

bool residency_take(struct launch *l, u32 *sm)
{
    struct residency *r = l->sim->residency;
    lock(&r->lock);
    *sm = NONE;
    if (!l->whole && !behind(r, l)) *sm = take_one(r, &l->takes);
    if (l->whole && (l->reserved || take_all(r, l))) {
        u32 k = 0;
        while (!l->reserved[k]) k++;
        l->reserved[k]--;
        *sm = k;
    }
    unlock(&r->lock);
    return *sm != NONE;
}

void residency_leave(struct launch *l, u32 sm)
{
    struct residency *r = l->sim->residency;
    lock(&r->lock);
    give(&r->sm[sm], &l->takes);
    unlock(&r->lock);
}

void residency_end(struct launch *l)
{
    struct residency *r = l->sim->residency;
    if (!l->whole) return;
    lock(&r->lock);
    if (r->waiting == l) r->waiting = NULL;
    for (u32 k = 0; l->reserved && k < r->profile->sms; k++)
        for (; l->reserved[k]; l->reserved[k]--) give(&r->sm[k], &l->takes);
    base_free(l->reserved);
    l->reserved = NULL;
    unlock(&r->lock);
}
