/* Locations: where strong writes left something that can be learned (race_clock.h). */
#include "race/race_clock.h"
#include "race/race_kernel.h"

struct lore { /* what can be learned there, beside the writes themselves */
    struct told {
        struct released released; /* by what led to the value; an mbarrier, wide: in the phases before */
        struct known *arrived;    /* an mbarrier: in this phase */
    } sure, weak;                 /* of what those who released know, would know by R5b */
    struct released news;         /* of fence.sc, of those who wrote */
    struct known *narrow;         /* what was released with a scope that may be too narrow */
    u64 phase;                    /* of an mbarrier */
};
/* What one thread has released there by release operations, which its later strong writes there release again, and
 * what it has read there, which its later acquire operations there acquire (8.8 of the manual). */
struct party {
    u64 thread; /* number + 1 of its CTA, warp, lane; 0: none */
    bool wide;  /* the last one that released was */
    /* fenced: by the last one; pend, pend_cta: what was read, for acquire operations of gpu and of CTA scope */
    struct view sure, weak;
    struct known *far, *far_weak; /* as fenced, of the last wide one, if that was another */
};
struct parties {
    struct party *p;
    u32 n, cap;
};                /* a hash of them */
struct location { /* a cache line: there may be one for every element of a table */
    _Alignas(64) u64 at;
    u32 id;      /* never given to another one in a launch */
    u32 writes;  /* strong ones so far */
    u32 version; /* grows with whatever can be learned */
    u32 cta;     /* of the last of them, and its scope */
    u8 scope;
    u8 size; /* 0: overwritten; nothing can be learned */
    bool mbarrier;
    u32 time;                /* of the last write */
    u32 until;               /* the greatest time of a write, if all are by that CTA; ~0: they are not */
    struct lore *lore;       /* NULL: nothing */
    struct parties *parties; /* NULL: there are none, or the kernel has no use for them */
};
struct locations {
    struct location *l;
    u32 n, room;
    u32 *index, cap;   /* hash of them: number + 1 */
    u32 narrow, broad; /* sizes there are */
    u32 ids;           /* given */
};

/* Words of one line of memory have places in one line of the index: who goes over an array goes over that in the same
 * way. */
static u32 location_hash(u64 at) { return (u32)(at / 64 * 0x9e3779b97f4a7c15u >> 32) << 4 | (at / 4 & 15); }

/* Where the number of the one at that place is, or would be. */
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

/* Good until another one is created. */
static struct location *location_at(struct race *r, u64 at, bool create)
{
    struct locations *t = r->locations;
    if (!t && !create) return NULL;
    if (!t) {
        t = base_need(sizeof *t);
        __atomic_store_n(&r->locations, t, __ATOMIC_RELAXED);
    }
    if (create && t->n == t->room) locations_grow(t);
    if (!t->cap) return NULL;
    u32 *slot = location_slot(t, at);
    if (*slot) return &t->l[*slot - 1];
    if (!create) return NULL;
    t->l[t->n] = (struct location){ .at = at };
    *slot = ++t->n;
    return &t->l[t->n - 1];
}

void clock_soon(const struct race *r, u64 at, u32 stage)
{
    const struct locations *t = r->locations;
    if (!t || !t->cap) return;
    const u32 *slot = &t->index[location_hash(at) & (t->cap - 1)];
    if (!stage) {
        __builtin_prefetch(slot);
        return;
    }
    if (!*slot) return;
    __builtin_prefetch(&t->l[*slot - 1]); /* or another one that is in the way */
}

static struct lore *lore_of(struct location *l)
{
    if (!l->lore) l->lore = base_need(sizeof *l->lore);
    return l->lore;
}

static void lore_clear(struct joins *j, struct location *l)
{
    struct lore *o = l->lore;
    if (!o) return;
    released_clear(j, &o->sure.released);
    released_clear(j, &o->weak.released);
    released_clear(j, &o->news);
    known_drop(j, o->sure.arrived);
    known_drop(j, o->weak.arrived);
    known_drop(j, o->narrow);
    base_free(o);
    l->lore = NULL;
}

static void parties_clear(struct joins *j, struct location *l)
{
    struct parties *x = l->parties;
    if (!x) return;
    for (u32 n = 0; n < x->cap; n++) {
        struct party *p = &x->p[n];
        clock_view_drop(j, &p->sure);
        clock_view_drop(j, &p->weak);
        known_drop(j, p->far);
        known_drop(j, p->far_weak);
    }
    base_free(x->p);
    base_free(x);
    l->parties = NULL;
}

static struct party *party_slot(const struct parties *x, u64 thread)
{
    u32 k = (u32)(thread * 0x9e3779b97f4a7c15u >> 32) & (x->cap - 1);
    while (x->p[k].thread && x->p[k].thread != thread) k = (k + 1) & (x->cap - 1);
    return &x->p[k];
}

/* NULL: it is none, and is not to be one. */
static struct party *party_of(const struct race_warp *w, u32 lane, struct location *l, bool make)
{
    u64 thread = ((u64)w->c->number << 10 | w->id << 5 | lane) + 1;
    if (!w->c->race->kernel->repeats || (!make && !l->parties)) return NULL;
    if (!l->parties) l->parties = base_need(sizeof *l->parties);
    struct parties *x = l->parties;
    if (2 * x->n >= x->cap) {
        struct parties old = *x;
        x->cap = x->cap ? 2 * x->cap : 4;
        x->p = base_need(sizeof *x->p * x->cap);
        for (u32 n = 0; n < old.cap; n++)
            if (old.p[n].thread) *party_slot(x, old.p[n].thread) = old.p[n];
        base_free(old.p);
    }
    struct party *p = party_slot(x, thread);
    if (p->thread) return p;
    if (!make) return NULL;
    p->thread = thread;
    x->n++;
    return p;
}

static void replace(struct joins *j, struct known **k, struct known *by)
{
    known_drop(j, *k);
    *k = known_hold(by);
}

static void party_released(struct joins *j, struct party *p, bool far, struct known *what, struct known *weak)
{
    if (far || p->wide) {
        replace(j, &p->far, far ? NULL : p->sure.fenced);
        replace(j, &p->far_weak, far ? NULL : p->weak.fenced);
    }
    replace(j, &p->sure.fenced, what);
    replace(j, &p->weak.fenced, weak);
    p->wide = far;
}

static void location_clear(struct joins *j, struct location *l)
{
    lore_clear(j, l);
    parties_clear(j, l);
    *l = (struct location){ .at = l->at };
}

/* Other locations with bytes among these are over. */
static void overwrite(struct race *r, u64 at, u32 bytes, u32 same)
{
    const struct locations *t = r->locations;
    if (!t || !t->narrow) return;
    for (u64 k = at & ~(u64)(t->broad - 1); k < at + bytes; k += t->narrow) {
        struct location *l = location_at(r, k, false);
        if (l && l->size && k + l->size > at && !(k == at && l->size == same)) location_clear(&r->joins, l);
    }
}

static struct location *location_made(struct race *r, u64 at, u32 size)
{
    struct location *l = location_at(r, at, true);
    struct locations *t = r->locations;
    if (l->size == size) return l;
    location_clear(&r->joins, l);
    l->size = (u8)size;
    l->id = ++t->ids;
    if (!t->narrow || size < t->narrow) t->narrow = size;
    if (size > t->broad) t->broad = size;
    return l;
}

static bool observes(const struct race_cta *c, const struct location *l, u32 scope)
{
    return l->cta == c->number || (wide(l->scope) && wide(scope));
}

static bool acquires(const struct strong *s) { return s->sem == SEM_ACQUIRE || s->sem == SEM_ACQ_REL; }
static bool releases(const struct strong *s) { return s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL; }

/* A lane of that CTA has read a value with what it released: known at once if it acquires, otherwise behind a fence. */
static void view_learn(struct joins *j, struct view *v, const struct released *r, u32 cta, const struct strong *s)
{
    if (acquires(s)) {
        released_learn(j, r, cta, wide(s->scope), &v->seen);
        return;
    }
    released_learn(j, r, cta, wide(s->scope), &v->pend);
    released_learn(j, r, cta, false, &v->pend_cta);
}

/* A read of that place by a party: what it reads counts behind an acquire operation there, as if that had read it. */
static void party_reads(struct joins *j, struct lane_clock *k, struct party *p, const struct lore *o, u32 cta,
                        const struct strong *s)
{
    if (acquires(s)) {
        known_join(j, &k->sure.seen, wide(s->scope) ? p->sure.pend : p->sure.pend_cta);
        known_join(j, &k->weak.seen, wide(s->scope) ? p->weak.pend : p->weak.pend_cta);
    } else if (o) {
        view_learn(j, &p->sure, &o->sure.released, cta, s);
        view_learn(j, &p->weak, &o->weak.released, cta, s);
    }
}

static void lore_learn(const struct race_warp *w, struct lane_clock *k, const struct lore *o, const struct strong *s)
{
    struct joins *j = joins_of(w);
    u32 me = w->c->number;
    released_join(j, &k->news, &o->news);
    view_learn(j, &k->sure, &o->sure.released, me, s);
    view_learn(j, &k->weak, &o->weak.released, me, s);
    if (!acquires(s) && s->rmw && wide(s->scope)) {
        released_learn(j, &o->sure.released, me, true, &k->rmw);
        released_learn(j, &o->weak.released, me, true, &k->rmw);
    }
    if (!wide(s->scope)) known_join(j, &k->unscoped, o->sure.released.wide);
    known_join(j, &k->unscoped, o->narrow);
}

void clock_learn(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct joins *j = joins_of(w);
    struct race *r = w->c->race;
    struct lane_clock *k = &w->lane[lane];
    lock(&r->lock);
    struct location *l = location_at(r, s->at, false);
    bool again = l && l->id == k->read.id && l->version == k->read.version && s->sem == k->read.sem &&
                 s->scope == k->read.scope && !s->rmw;
    if (l && l->size == s->size && !l->mbarrier && !again) {
        k->read.id = l->id;
        k->read.version = l->version;
        k->read.sem = s->sem;
        k->read.scope = s->scope;
        clock_learned(w, 1u << lane);
        /* otherwise its CTA knows them all */
        if (observes(w->c, l, s->scope) && l->until >= known_cta(w->c->seen, l->cta))
            known_add_writes(j, &k->sure.seen, l->id, l->writes);
        if (l->lore) lore_learn(w, k, l->lore, s);
        struct party *p = party_of(w, lane, l, l->lore && !acquires(s));
        if (p) party_reads(j, k, p, l->lore, w->c->number, s);
    }
    unlock(&r->lock);
}

struct write clock_write(struct race_warp *w, const struct strong *s, u32 lane)
{
    struct joins *j = joins_of(w);
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    overwrite(c->race, s->at, s->size, s->size);
    struct location *l = location_made(c->race, s->at, s->size);
    if (!s->rmw) lore_clear(j, l); /* who reads it still knows the writes before it */
    if (clock_has_news(w, lane)) clock_spread(w, lane, &lore_of(l)->news);
    l->until = l->writes && (l->cta != c->number || l->until == ~0u) ? ~0u : MAX_OF(l->until, w->now);
    l->cta = c->number;
    l->scope = s->scope;
    l->time = w->now;
    struct write x = { l->id, l->writes++ };
    l->version++;
    unlock(&c->race->lock);
    return x;
}

/* A strong write of a party that had released something there. */
static void party_adds(struct race_cta *c, struct lore *o, const struct party *p, bool far)
{
    struct joins *j = &c->race->joins;
    released_add(j, &o->sure.released, c->number, far && p->wide, p->sure.fenced);
    released_add(j, &o->weak.released, c->number, far && p->wide, p->weak.fenced);
    if (!far || !p->far) return;
    released_add(j, &o->sure.released, c->number, true, p->far);
    released_add(j, &o->weak.released, c->number, true, p->far_weak);
}

void clock_teach(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct joins *j = joins_of(w);
    struct race_cta *c = w->c;
    struct lane_clock *k = &w->lane[lane];
    bool release = releases(s);
    if (release) {
        k->releases = true;
        w->used |= 1u << lane;
    }
    if (!k->releases && !k->fences) return;
    lock(&c->race->lock);
    struct location *l = location_made(c->race, s->at, s->size);
    struct party *p = k->releases ? party_of(w, lane, l, release) : NULL;
    if (!release && p && p->sure.fenced) {
        party_adds(c, lore_of(l), p, wide(s->scope));
        l->version++;
    }
    if (!release && !k->fences) {
        unlock(&c->race->lock);
        return;
    }
    struct lore *o = lore_of(l);
    l->version++;
    bool far = wide(s->scope) && (release || wide(k->fscope));
    if (release) w->now++;
    if (!release) clock_fenced(w, lane);
    struct known *what = release ? clock_all(w, lane) : known_hold(k->sure.fenced),
                 *weak = release ? clock_all_weak(w, lane) : known_hold(k->weak.fenced);
    released_add(j, &o->sure.released, c->number, far, what);
    released_add(j, &o->weak.released, c->number, far, weak);
    if (!far) known_join(j, &o->narrow, what);
    if (!release && k->far && wide(s->scope)) {
        released_add(j, &o->sure.released, c->number, true, k->far);
        released_add(j, &o->weak.released, c->number, true, k->far_weak);
    }
    if (release && p) party_released(j, p, far, what, weak);
    /* the two come to the same in most kernels */
    if (k->spreads) known_unite(j, &o->news.wide, o->sure.released.wide);
    known_drop(j, what);
    known_drop(j, weak);
    unlock(&c->race->lock);
}

void clock_learn_weakly(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct joins *j = joins_of(w);
    struct race *r = w->c->race;
    struct view *weak = &w->lane[lane].weak;
    lock(&r->lock);
    const struct location *l = location_at(r, s->at, false);
    if (l && l->size == s->size && !l->mbarrier && l->lore) {
        clock_learned(w, 1u << lane);
        view_learn(j, weak, &l->lore->sure.released, w->c->number, s);
        view_learn(j, weak, &l->lore->weak.released, w->c->number, s);
    }
    unlock(&r->lock);
}

void clock_teach_weakly(struct race_warp *w, u32 lane, const struct strong *s)
{
    struct joins *j = joins_of(w);
    struct race *r = w->c->race;
    const struct lane_clock *k = &w->lane[lane];
    if (!k->fences) return;
    lock(&r->lock);
    struct location *l = location_made(r, s->at, s->size);
    l->version++;
    clock_fenced(w, lane);
    released_add(j, &lore_of(l)->weak.released, w->c->number, wide(k->fscope), k->sure.fenced);
    released_add(j, &lore_of(l)->weak.released, w->c->number, wide(k->fscope), k->weak.fenced);
    if (k->far) released_add(j, &lore_of(l)->weak.released, w->c->number, true, k->far);
    if (k->far) released_add(j, &lore_of(l)->weak.released, w->c->number, true, k->far_weak);
    unlock(&r->lock);
}

void clock_forget(struct race_warp *w, u64 at, u32 bytes)
{
    struct race *r = w->c->race;
    if (!__atomic_load_n(&r->locations, __ATOMIC_RELAXED)) return;
    lock(&r->lock);
    overwrite(r, at, bytes, 0);
    unlock(&r->lock);
}

/* It has lore. */
static struct location *mbarrier_at(struct race *r, u64 at)
{
    struct location *l = location_made(r, at, 8);
    l->mbarrier = true;
    lore_of(l);
    return l;
}

void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at, bool relaxed)
{
    struct joins *j = joins_of(w);
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    struct location *l = mbarrier_at(c->race, at);
    if (!relaxed)
        w->now++;
    else if (w->lane[lane].fences)
        clock_fenced(w, lane);
    struct known *all = relaxed ? known_hold(w->lane[lane].sure.fenced) : clock_all(w, lane),
                 *weak = relaxed ? known_hold(w->lane[lane].weak.fenced) : clock_all_weak(w, lane);
    known_join(j, &l->lore->sure.arrived, all);
    known_join(j, &l->lore->weak.arrived, weak);
    known_drop(j, all);
    known_drop(j, weak);
    clock_spread(w, lane, &l->lore->news);
    unlock(&c->race->lock);
}

static void phase_over(struct joins *j, struct told *o)
{
    known_join(j, &o->released.wide, o->arrived);
    known_drop(j, o->arrived);
    o->arrived = NULL;
}

void clock_mbarrier_settle(struct race_warp *w, u64 at, u64 word)
{
    struct joins *j = joins_of(w);
    lock(&w->c->race->lock);
    struct location *l = mbarrier_at(w->c->race, at);
    if (word >> 40 != l->lore->phase) {
        l->lore->phase = word >> 40;
        phase_over(j, &l->lore->sure);
        phase_over(j, &l->lore->weak);
    }
    unlock(&w->c->race->lock);
}

void clock_mbarrier_passed(struct race_warp *w, u32 lane, u64 at, bool relaxed)
{
    struct joins *j = joins_of(w);
    lock(&w->c->race->lock);
    struct lane_clock *k = &w->lane[lane];
    struct location *l = mbarrier_at(w->c->race, at);
    struct common all = { l->lore->sure.released.wide, l->lore->weak.released.wide, l->lore->news };
    if (!relaxed)
        clock_give(w, 1u << lane, &all);
    else { /* known behind a fence */
        clock_learned(w, 1u << lane);
        known_join(j, &k->sure.pend, all.known);
        known_join(j, &k->sure.pend_cta, all.known);
        known_join(j, &k->weak.pend, all.weak);
        known_join(j, &k->weak.pend_cta, all.weak);
        released_join(j, &k->news, &all.news);
    }
    unlock(&w->c->race->lock);
}

bool clock_saw_flag(const struct race_warp *w, u32 lane, u32 cta, u32 time)
{
    const struct locations *t = w->c->race->locations;
    for (u32 n = 0; t && n < t->n; n++) {
        const struct location *l = &t->l[n];
        if (!l->size || l->mbarrier || l->cta != cta || l->time < time || !l->writes) continue;
        u32 last = l->writes - 1;
        if (known_write(w->c->seen, l->id, last) || known_write(w->seen, l->id, last) ||
            known_write(w->lane[lane].sure.seen, l->id, last))
            return true;
    }
    return false;
}

void clock_launch(struct race *r)
{
    struct locations *t = r->locations;
    joins_forget(&r->joins);
    if (!t) return;
    for (u32 k = 0; k < t->n; k++) location_clear(&r->joins, &t->l[k]);
    if (t->n) memset(t->index, 0, sizeof *t->index * t->cap);
    t->n = t->narrow = t->broad = t->ids = 0;
}

void clock_delete(struct race *r)
{
    clock_launch(r);
    if (r->locations) {
        base_free(r->locations->l);
        base_free(r->locations->index);
    }
    joins_free(&r->joins);
    base_free(r->locations);
}
