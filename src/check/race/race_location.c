/* Synchronisation locations: what strong writes release, and strong reads acquire (8.8, 8.9.2; race_clock.h).
 *
 * A location is made by the first strong write to its extent and ended by any write that overlaps it otherwise. It has
 *   the count of its strong writes: a morally strong read is ordered after them (observation order);
 *   the release sequence of its value: the joined clocks that the writes since the last store have released;
 *   for each thread that uses release or acquire operations on it, the patterns of 8.8 that are not one operation: a
 *   release operation followed by a strong write, a strong read followed by an acquire operation.
 * An mbarrier is a location whose phases release: arrivals of a phase are joined, and waits for it acquire them. */
#include "race/race_async.h"
#include "race/race_clock.h"
#include "race/race_kernel.h"
#include "units/mbarrier.h"

struct release_sequence {
    struct released {
        /* What the writes of the sequence have released. An mbarrier: gpu has what phases before this one released. */
        struct scoped_clock clock;
        struct vclock *arrived;   /* an mbarrier: the joined clocks of the arrivals of this phase */
    } strict, weak;               /* in the two views */
    struct scoped_clock sc_clock; /* of the fence.sc operations before the writes */
    struct vclock *narrow;        /* what was released with a scope that is not wide, for anyone: for advice */
    u64 phase;                    /* the number of the phase of an mbarrier, modulo 8 */
};
/* What one thread has released by release operations on the location, which its later strong writes there release
 * again, and what it has read there, which its later acquire operations there acquire (8.8). */
struct pattern {
    u64 thread; /* CTA, warp and lane as one number, + 1; 0: none */
    bool gpu;   /* its last release operation was of gpu scope or wider */
    /* fence: the clock of its last release operation. pending, pending_cta: what it has read, for acquire operations of
     * gpu scope or wider, and of CTA scope. */
    struct view strict, weak;
    /* As fence, of its last release operation of gpu scope or wider; NULL: that is the last one, or there was none. */
    struct vclock *fence_gpu, *fence_gpu_weak;
};
/* A hash table of them, by thread. */
struct patterns {
    struct pattern *p;
    u32 n, cap; /* how many; size of the table */
};
struct location { /* one cache line: there may be one for every element of an array */
    _Alignas(64) u64 at;
    u32 id;                            /* no other location of the era has it; below launch_as_location */
    u32 writes;                        /* how many strong writes there were */
    u32 version;                       /* grows with whatever a read may acquire */
    u32 cta;                           /* of the last write */
    u8 scope;                          /* of the last write */
    u8 size;                           /* in bytes; 0: another write has ended the location */
    bool mbarrier;                     /* it is one */
    u32 time;                          /* of the last write */
    u32 until;                         /* the greatest time of a write, if all are by that CTA; ~0: they are not */
    struct release_sequence *sequence; /* NULL: nothing was released */
    struct patterns *patterns;         /* NULL: none; or the kernel has only patterns of one operation */
};
struct locations {
    struct location *l;
    u32 n, room;            /* how many; room for how many */
    u32 *index, cap;        /* a hash table: number of the location + 1; its size */
    u32 min_size, max_size; /* of the locations */
    u32 ids;                /* the last id that was given */
};

/* Words of one cache line of memory have entries in one cache line of the index, so that going over an array goes over
 * the index in the same way. */
static u32 location_hash(u64 at) { return (u32)(at / 64 * 0x9e3779b97f4a7c15u >> 32) << 4 | (at / 4 & 15); }

/* The bit of era->lines for the 64 bytes around it; no location crosses them. */
static u32 location_line(u64 at) { return (u32)(at / 64 * 0x9e3779b97f4a7c15u >> 48) % (64 * LOCATION_LINES); }

/* The entry of the index for the location at that place, or the empty one where it would be. */
static u32 *location_slot(const struct locations *t, u64 at)
{
    u32 k = location_hash(at) & (t->cap - 1);
    while (t->index[k] && t->l[t->index[k] - 1].at != at) k = (k + 1) & (t->cap - 1);
    return &t->index[k];
}

static void locations_grow(struct locations *t)
{
    struct location *old = t->l;
    t->room = t->room ? 2 * t->room : 64;
    if (!(t->l = base_aligned(sizeof *t->l * t->room)))
        base_exhausted(sizeof *t->l * t->room, "the race check (--no-check race does without)");
    if (t->n) memcpy(t->l, old, sizeof *t->l * t->n);
    base_free(old);
    base_free(t->index);
    t->cap = 4 * t->room;
    t->index = base_need(sizeof *t->index * t->cap);
    for (u32 k = 0; k < t->n; k++) *location_slot(t, t->l[k].at) = k + 1;
}

/* The location at that place; NULL: there is none. The pointer is good until another location is created. */
static struct location *location_at(struct race_era *era, u64 at, bool create)
{
    struct locations *t = era->locations;
    if (!t && !create) return NULL;
    if (!t) {
        t = base_need(sizeof *t);
        __atomic_store_n(&era->locations, t, __ATOMIC_RELAXED);
    }
    if (create && t->n == t->room) locations_grow(t);
    u32 line = location_line(at);
    /* most reads of what the host writes have none: these bits are near, the index is not */
    if (!create && !(__atomic_load_n(&era->lines[line / 64], __ATOMIC_RELAXED) >> line % 64 & 1)) return NULL;
    u32 *slot = location_slot(t, at);
    if (*slot) return &t->l[*slot - 1];
    if (!create) return NULL;
    __atomic_fetch_or(&era->lines[line / 64], (u64)1 << line % 64, __ATOMIC_RELAXED);
    t->l[t->n] = (struct location){ .at = at };
    *slot = ++t->n;
    return &t->l[t->n - 1];
}

void clock_prefetch(const struct race_era *era, u64 at, u32 stage)
{
    const struct locations *t = era->locations;
    if (!t || !t->cap) return;
    const u32 *slot = &t->index[location_hash(at) & (t->cap - 1)];
    if (!stage) {
        __builtin_prefetch(slot);
        return;
    }
    if (!*slot) return;
    __builtin_prefetch(&t->l[*slot - 1]); /* it may be another one with the same hash */
}

static struct release_sequence *sequence_of(struct location *l)
{
    if (!l->sequence) l->sequence = base_need(sizeof *l->sequence);
    return l->sequence;
}

static void sequence_clear(struct vclock_store *vs, struct location *l)
{
    struct release_sequence *o = l->sequence;
    if (!o) return;
    scoped_clock_clear(vs, &o->strict.clock);
    scoped_clock_clear(vs, &o->weak.clock);
    scoped_clock_clear(vs, &o->sc_clock);
    vclock_drop(vs, o->strict.arrived);
    vclock_drop(vs, o->weak.arrived);
    vclock_drop(vs, o->narrow);
    base_free(o);
    l->sequence = NULL;
}

static void patterns_clear(struct vclock_store *vs, struct location *l)
{
    struct patterns *x = l->patterns;
    if (!x) return;
    for (u32 n = 0; n < x->cap; n++) {
        struct pattern *p = &x->p[n];
        clock_view_drop(vs, &p->strict);
        clock_view_drop(vs, &p->weak);
        vclock_drop(vs, p->fence_gpu);
        vclock_drop(vs, p->fence_gpu_weak);
    }
    base_free(x->p);
    base_free(x);
    l->patterns = NULL;
}

static struct pattern *pattern_slot(const struct patterns *x, u64 thread)
{
    u32 k = (u32)(thread * 0x9e3779b97f4a7c15u >> 32) & (x->cap - 1);
    while (x->p[k].thread && x->p[k].thread != thread) k = (k + 1) & (x->cap - 1);
    return &x->p[k];
}

/* The patterns of a lane at the location; NULL: there are none, and none are to be made. */
static struct pattern *pattern_of(const struct race_warp *w, u32 lane, struct location *l, bool make)
{
    u64 thread = ((u64)w->c->number << 10 | w->id << 5 | lane) + 1;
    if (!w->c->launch->kernel->repeats || (!make && !l->patterns)) return NULL;
    if (!l->patterns) l->patterns = base_need(sizeof *l->patterns);
    struct patterns *x = l->patterns;
    if (2 * x->n >= x->cap) {
        struct patterns old = *x;
        x->cap = x->cap ? 2 * x->cap : 4;
        x->p = base_need(sizeof *x->p * x->cap);
        for (u32 n = 0; n < old.cap; n++)
            if (old.p[n].thread) *pattern_slot(x, old.p[n].thread) = old.p[n];
        base_free(old.p);
    }
    struct pattern *p = pattern_slot(x, thread);
    if (p->thread) return p;
    if (!make) return NULL;
    p->thread = thread;
    x->n++;
    return p;
}

static void vclock_replace(struct vclock_store *vs, struct vclock **k, struct vclock *by)
{
    vclock_drop(vs, *k);
    *k = vclock_hold(by);
}

/* A release operation of that thread. */
static void pattern_released(struct vclock_store *vs, struct pattern *p, bool gpu, struct vclock *what,
                             struct vclock *weak)
{
    if (gpu || p->gpu) {
        vclock_replace(vs, &p->fence_gpu, gpu ? NULL : p->strict.fence);
        vclock_replace(vs, &p->fence_gpu_weak, gpu ? NULL : p->weak.fence);
    }
    vclock_replace(vs, &p->strict.fence, what);
    vclock_replace(vs, &p->weak.fence, weak);
    p->gpu = gpu;
}

static void location_clear(struct vclock_store *vs, struct location *l)
{
    sequence_clear(vs, l);
    patterns_clear(vs, l);
    *l = (struct location){ .at = l->at };
}

/* Ends all locations that have one of these bytes, except the one at `at` of size `same`. */
static void end_overlapping(struct race_era *era, u64 at, u32 bytes, u32 same)
{
    const struct locations *t = era->locations;
    if (!t || !t->min_size) return;
    for (u64 k = at & ~(u64)(t->max_size - 1); k < at + bytes; k += t->min_size) {
        struct location *l = location_at(era, k, false);
        if (l && l->size && k + l->size > at && !(k == at && l->size == same)) location_clear(&era->vclocks, l);
    }
}

/* The location of that extent; makes it, and ends another one at that place. */
static struct location *location_made(struct race_era *era, u64 at, u32 size)
{
    struct location *l = location_at(era, at, true);
    struct locations *t = era->locations;
    if (l->size == size) return l;
    location_clear(&era->vclocks, l);
    l->size = (u8)size;
    l->id = ++t->ids;
    if (!t->min_size || size < t->min_size) t->min_size = size;
    if (size > t->max_size) t->max_size = size;
    return l;
}

/* Two strong accesses to the location, its last write and a read by the CTA, are each within the scope of the other. */
static bool observes(const struct race_cta *c, const struct location *l, u32 scope)
{
    return l->cta == c->number || (scope_is_wide(l->scope) && scope_is_wide(scope));
}

static bool acquires(const struct strong *s) { return s->sem == SEM_ACQUIRE || s->sem == SEM_ACQ_REL; }
static bool releases(const struct strong *s) { return s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL; }

/* A lane of that CTA has read a value that released r: it acquires that at once, or at its next fence. */
static void view_acquire(struct vclock_store *vs, struct view *v, const struct scoped_clock *r, u32 cta,
                         const struct strong *s)
{
    if (acquires(s)) {
        scoped_clock_acquire(vs, r, cta, scope_is_wide(s->scope), &v->clock);
        return;
    }
    scoped_clock_acquire(vs, r, cta, scope_is_wide(s->scope), &v->pending);
    scoped_clock_acquire(vs, r, cta, false, &v->pending_cta);
}

/* A strong read of the location by a thread that has patterns there. An acquire operation acquires what earlier strong
 * reads of the thread have read there; any other strong read adds to that. */
static void pattern_read(struct vclock_store *vs, struct lane_clock *k, struct pattern *p,
                         const struct release_sequence *o, u32 cta, const struct strong *s)
{
    if (acquires(s)) {
        vclock_join(vs, &k->strict.clock, scope_is_wide(s->scope) ? p->strict.pending : p->strict.pending_cta);
        vclock_join(vs, &k->weak.clock, scope_is_wide(s->scope) ? p->weak.pending : p->weak.pending_cta);
    } else if (o) {
        view_acquire(vs, &p->strict, &o->strict.clock, cta, s);
        view_acquire(vs, &p->weak, &o->weak.clock, cta, s);
    }
}

static void sequence_acquire(const struct race_warp *w, struct lane_clock *k, const struct release_sequence *o,
                             const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    u32 me = w->c->number;
    scoped_clock_join(vs, &k->sc_clock, &o->sc_clock);
    view_acquire(vs, &k->strict, &o->strict.clock, me, s);
    view_acquire(vs, &k->weak, &o->weak.clock, me, s);
    if (!acquires(s) && s->rmw && scope_is_wide(s->scope)) {
        scoped_clock_acquire(vs, &o->strict.clock, me, true, &k->rmw);
        scoped_clock_acquire(vs, &o->weak.clock, me, true, &k->rmw);
    }
    if (!scope_is_wide(s->scope)) vclock_join(vs, &k->unscoped, o->strict.clock.gpu);
    vclock_join(vs, &k->unscoped, o->narrow);
}

/* The lane reads what the host, or a copy, may have written after launches had ended: it is ordered after those, and
 * after what was released to the host, at once or from its next fence on. */
static void outside_acquire(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    struct race_era *era = w->c->era;
    struct lane_clock *k = &w->lane[lane];
    if (k->outside_acquired == era->outside || (!acquires(s) && k->outside_pending == era->outside)) return;
    clock_grew(w, 1u << lane);
    *(acquires(s) ? &k->outside_acquired : &k->outside_pending) = era->outside;
    for (u32 n = 0; n < 2; n++) {
        const struct vclock *what = n ? era->published : era->ended;
        vclock_join(vs, acquires(s) ? &k->strict.clock : &k->strict.pending, what);
        if (!acquires(s)) vclock_join(vs, &k->strict.pending_cta, what);
    }
}

static void strong_read(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    struct race_era *era = w->c->era;
    struct lane_clock *k = &w->lane[lane];
    struct location *l = location_at(era, s->at, false);
    bool again = l && l->id == k->read.id && l->version == k->read.version && s->sem == k->read.sem &&
                 s->scope == k->read.scope && !s->rmw;
    if (l && l->size == s->size && !l->mbarrier && !again) {
        k->read.id = l->id;
        k->read.version = l->version;
        k->read.sem = s->sem;
        k->read.scope = s->scope;
        clock_grew(w, 1u << lane);
        /* otherwise the clock of the CTA has all writes */
        if (observes(w->c, l, s->scope) && l->until >= vclock_cta_time(w->c->clock, l->cta))
            vclock_add_writes(vs, &k->strict.clock, l->id, l->writes);
        if (l->sequence) sequence_acquire(w, k, l->sequence, s);
        struct pattern *p = pattern_of(w, lane, l, l->sequence && !acquires(s));
        if (p) pattern_read(vs, k, p, l->sequence, w->c->number, s);
    }
    /* a value that no launch has written strongly, in a kernel that waits for such */
    bool outside = s->host || (w->c->launch->kernel->polls && !s->rmw && !(l && l->size && l->writes));
    if (outside && era->open && era->outside && !era->race->eras_only) outside_acquire(w, lane, s);
}

void clock_strong_reads(struct race_warp *w, u32 lanes, const struct strong *s)
{
    lock(&w->c->era->lock);
    EACH_SET (l, lanes) strong_read(w, l, &s[l]);
    unlock(&w->c->era->lock);
}

/* All locations are as large as this one, and aligned: none overlaps it. */
static bool has_own_extent(const struct race_era *era, const struct strong *s)
{
    const struct locations *t = era->locations;
    return t && t->min_size == s->size && t->max_size == s->size && !(s->at & (s->size - 1));
}

static struct write strong_write(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    struct race_cta *c = w->c;
    if (!has_own_extent(c->era, s)) end_overlapping(c->era, s->at, s->size, s->size);
    struct location *l = location_made(c->era, s->at, s->size);
    if (!s->rmw) sequence_clear(vs, l); /* the count of writes goes on: a read is ordered after all of them */
    if (clock_has_sc(w, lane)) clock_publish_sc(w, lane, &sequence_of(l)->sc_clock);
    l->until = l->writes && (l->cta != c->number || l->until == ~0u) ? ~0u : MAX_OF(l->until, w->now);
    l->cta = c->number;
    l->scope = s->scope;
    l->time = w->now;
    struct write x = { l->id, l->writes++ };
    l->version++;
    return x;
}

void clock_strong_writes(struct race_warp *w, u32 lanes, const struct strong *s, struct write *made)
{
    lock(&w->c->era->lock);
    EACH_SET (l, lanes) {
        made[l] = strong_write(w, l, &s[l]);
    }
    unlock(&w->c->era->lock);
}

/* A strong write of a thread that has had a release operation there: it releases the clock of that again. */
static void pattern_release_again(struct race_cta *c, struct release_sequence *o, const struct pattern *p, bool gpu)
{
    struct vclock_store *vs = &c->era->vclocks;
    scoped_clock_release(vs, &o->strict.clock, c->number, gpu && p->gpu, p->strict.fence);
    scoped_clock_release(vs, &o->weak.clock, c->number, gpu && p->gpu, p->weak.fence);
    if (!gpu || !p->fence_gpu) return;
    scoped_clock_release(vs, &o->strict.clock, c->number, true, p->fence_gpu);
    scoped_clock_release(vs, &o->weak.clock, c->number, true, p->fence_gpu_weak);
}

/* What was released to the host is before launches that it starts from now on. */
static void publish(struct race_era *era, const struct vclock *what)
{
    if (!what || vclock_covers_maybe(era->published, what)) return;
    vclock_join(&era->vclocks, &era->published, what);
    era->outside++;
}

void clock_outside(struct race_era *era, u64 at, u64 bytes, bool writes)
{
    const struct locations *t = era->locations;
    for (u32 n = 0; t && n < t->n; n++) {
        struct location *l = &t->l[n];
        if (!l->size || l->at >= at + bytes || l->at + l->size <= at) continue;
        if (l->sequence) publish(era, l->sequence->strict.clock.gpu);
        if (writes) location_clear(&era->vclocks, l);
    }
}

void clock_strong_release(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    struct race_cta *c = w->c;
    struct lane_clock *k = &w->lane[lane];
    bool release = releases(s);
    if (release) {
        k->has_released = true;
        w->used |= 1u << lane;
    }
    if (!k->has_released && !k->has_fenced) return;
    lock(&c->era->lock);
    struct location *l = location_made(c->era, s->at, s->size);
    struct pattern *p = k->has_released ? pattern_of(w, lane, l, release) : NULL;
    if (!release && p && p->strict.fence) {
        pattern_release_again(c, sequence_of(l), p, scope_is_wide(s->scope));
        l->version++;
    }
    if (!release && !k->has_fenced) {
        unlock(&c->era->lock);
        return;
    }
    struct release_sequence *o = sequence_of(l);
    l->version++;
    bool gpu = scope_is_wide(s->scope) && (release || scope_is_wide(k->fence_scope));
    if (release) w->now++;
    if (!release) clock_fence_clocks(w, lane);
    struct vclock *what = release ? clock_of_lane(w, lane) : vclock_hold(k->strict.fence),
                  *weak = release ? clock_of_lane_weak(w, lane) : vclock_hold(k->weak.fence);
    scoped_clock_release(vs, &o->strict.clock, c->number, gpu, what);
    scoped_clock_release(vs, &o->weak.clock, c->number, gpu, weak);
    if (!gpu) vclock_join(vs, &o->narrow, what);
    if (s->host) publish(c->era, what);
    if (!release && k->fence_gpu && scope_is_wide(s->scope)) {
        scoped_clock_release(vs, &o->strict.clock, c->number, true, k->fence_gpu);
        scoped_clock_release(vs, &o->weak.clock, c->number, true, k->fence_gpu_weak);
    }
    if (release && p) pattern_released(vs, p, gpu, what, weak);
    /* in most kernels the two clocks are equal */
    if (k->sc_deferred) vclock_share(vs, &o->sc_clock.gpu, o->strict.clock.gpu);
    vclock_drop(vs, what);
    vclock_drop(vs, weak);
    unlock(&c->era->lock);
}

void clock_flag_read(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    struct race_era *era = w->c->era;
    struct view *weak = &w->lane[lane].weak;
    lock(&era->lock);
    const struct location *l = location_at(era, s->at, false);
    if (l && l->size == s->size && !l->mbarrier && l->sequence) {
        clock_grew(w, 1u << lane);
        view_acquire(vs, weak, &l->sequence->strict.clock, w->c->number, s);
        view_acquire(vs, weak, &l->sequence->weak.clock, w->c->number, s);
    }
    unlock(&era->lock);
}

void clock_flag_write(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct vclock_store *vs = clock_store(w);
    struct race_era *era = w->c->era;
    const struct lane_clock *k = &w->lane[lane];
    if (!k->has_fenced) return;
    lock(&era->lock);
    struct location *l = location_made(era, s->at, s->size);
    l->version++;
    clock_fence_clocks(w, lane);
    scoped_clock_release(vs, &sequence_of(l)->weak.clock, w->c->number, scope_is_wide(k->fence_scope), k->strict.fence);
    scoped_clock_release(vs, &sequence_of(l)->weak.clock, w->c->number, scope_is_wide(k->fence_scope), k->weak.fence);
    if (k->fence_gpu) scoped_clock_release(vs, &sequence_of(l)->weak.clock, w->c->number, true, k->fence_gpu);
    if (k->fence_gpu) scoped_clock_release(vs, &sequence_of(l)->weak.clock, w->c->number, true, k->fence_gpu_weak);
    unlock(&era->lock);
}

void clock_weak_write(struct race_warp *w, u64 at, u32 bytes)
{
    struct race_era *era = w->c->era;
    bool any = false;
    if (!__atomic_load_n(&era->locations, __ATOMIC_RELAXED)) return;
    for (u64 k = at & ~(u64)63; k < at + bytes && !any; k += 64) {
        u32 line = location_line(k);
        any = __atomic_load_n(&era->lines[line / 64], __ATOMIC_RELAXED) >> line % 64 & 1;
    }
    if (!any) return; /* the lock is everybody's, and most stores are nowhere near a location */
    lock(&era->lock);
    end_overlapping(era, at, bytes, 0);
    unlock(&era->lock);
}

/* The location of an mbarrier; it has a sequence. */
static struct location *mbarrier_at(struct race_era *era, u64 at)
{
    struct location *l = location_made(era, at, 8);
    l->mbarrier = true;
    sequence_of(l);
    return l;
}

void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at, bool relaxed)
{
    struct vclock_store *vs = clock_store(w);
    struct race_cta *c = w->c;
    lock(&c->era->lock);
    struct location *l = mbarrier_at(c->era, at);
    if (!relaxed)
        w->now++;
    else if (w->lane[lane].has_fenced)
        clock_fence_clocks(w, lane);
    struct vclock *all = relaxed ? vclock_hold(w->lane[lane].strict.fence) : clock_of_lane(w, lane),
                  *weak = relaxed ? vclock_hold(w->lane[lane].weak.fence) : clock_of_lane_weak(w, lane);
    vclock_join(vs, &l->sequence->strict.arrived, all);
    vclock_join(vs, &l->sequence->weak.arrived, weak);
    vclock_drop(vs, all);
    vclock_drop(vs, weak);
    clock_publish_sc(w, lane, &l->sequence->sc_clock);
    unlock(&c->era->lock);
}

void clock_engine_arrive(struct race_warp *w, u32 lane, u64 at, u32 time)
{
    struct vclock_store *vs = clock_store(w);
    struct vclock *k = NULL;
    lock(&w->c->era->lock);
    if (lane == LANES)
        vclock_add_warp(vs, &k, w->c->number, w->id + ENGINES, time);
    else
        vclock_add_lanes(vs, &k, w->c->number, w->id + ENGINES, 0, 1u << lane, time);
    vclock_join(vs, &mbarrier_at(w->c->era, at)->sequence->strict.arrived, k);
    vclock_drop(vs, k);
    unlock(&w->c->era->lock);
}

void clock_issuer_arrive(struct race_warp *w, u64 at, const struct issuer_clock *k)
{
    struct vclock_store *vs = clock_store(w);
    lock(&w->c->era->lock);
    struct location *l = mbarrier_at(w->c->era, at);
    vclock_join(vs, &l->sequence->strict.arrived, k->strict);
    vclock_join(vs, &l->sequence->weak.arrived, k->weak);
    vclock_drop(vs, k->strict);
    vclock_drop(vs, k->weak);
    unlock(&w->c->era->lock);
}

static void phase_over(struct vclock_store *vs, struct released *o)
{
    vclock_join(vs, &o->clock.gpu, o->arrived);
    vclock_drop(vs, o->arrived);
    o->arrived = NULL;
}

void clock_mbarrier_phase(struct race_warp *w, u64 at, u64 word)
{
    struct vclock_store *vs = clock_store(w);
    lock(&w->c->era->lock);
    struct location *l = mbarrier_at(w->c->era, at);
    if (mbarrier_phase(word) != l->sequence->phase) {
        l->sequence->phase = mbarrier_phase(word);
        phase_over(vs, &l->sequence->strict);
        phase_over(vs, &l->sequence->weak);
    }
    unlock(&w->c->era->lock);
}

void clock_cluster_phase(struct race_warp *w, u64 at)
{
    struct vclock_store *vs = clock_store(w);
    lock(&w->c->era->lock);
    struct location *l = mbarrier_at(w->c->era, at);
    phase_over(vs, &l->sequence->strict);
    phase_over(vs, &l->sequence->weak);
    unlock(&w->c->era->lock);
}

void clock_mbarrier_waited(struct race_warp *w, u32 lanes, u64 at, bool relaxed)
{
    struct vclock_store *vs = clock_store(w);
    lock(&w->c->era->lock);
    struct location *l = mbarrier_at(w->c->era, at);
    struct joint_clock all = { l->sequence->strict.clock.gpu, l->sequence->weak.clock.gpu, l->sequence->sc_clock };
    if (!relaxed) clock_join_lanes(w, lanes, &all);
    for (u32 m = relaxed ? lanes : 0; m; m &= m - 1) { /* the next fence acquires it */
        struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        clock_grew(w, m & -m);
        vclock_join(vs, &k->strict.pending, all.clock);
        vclock_join(vs, &k->strict.pending_cta, all.clock);
        vclock_join(vs, &k->weak.pending, all.weak);
        vclock_join(vs, &k->weak.pending_cta, all.weak);
        scoped_clock_join(vs, &k->sc_clock, &all.sc_clock);
    }
    unlock(&w->c->era->lock);
}

bool clock_saw_later_write(const struct race_warp *w, u32 lane, u32 cta, u32 time)
{
    const struct locations *t = w->c->era->locations;
    for (u32 n = 0; t && n < t->n; n++) {
        const struct location *l = &t->l[n];
        if (!l->size || l->mbarrier || l->cta != cta || l->time < time || !l->writes) continue;
        u32 last = l->writes - 1;
        if (vclock_has_write(w->c->clock, l->id, last) || vclock_has_write(w->clock, l->id, last) ||
            vclock_has_write(w->lane[lane].strict.clock, l->id, last))
            return true;
    }
    return false;
}

void clock_begin_era(struct race_era *era)
{
    struct locations *t = era->locations;
    vclock_store_forget(&era->vclocks);
    if (!t) return;
    for (u32 k = 0; k < t->n; k++) location_clear(&era->vclocks, &t->l[k]);
    if (t->n) memset(t->index, 0, sizeof *t->index * t->cap);
    if (t->n) memset(era->lines, 0, sizeof era->lines);
    t->n = t->min_size = t->max_size = t->ids = 0;
}

void clock_delete(struct race_era *era)
{
    clock_begin_era(era);
    if (era->locations) {
        base_free(era->locations->l);
        base_free(era->locations->index);
    }
    vclock_store_free(&era->vclocks);
    base_free(era->locations);
}
