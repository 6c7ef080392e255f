/* Clocks of kernels whose threads are ordered by more than full barriers: fences, release and acquire, partial barriers, mbarriers. */
#include "check/race_clock.h"

/* ---- what a thread has learned ---- */

static void sync_drop(struct sync *s);

static void clk_drop(struct clk *k);
static struct clk *clk_hold(struct clk *k) { if (k) k->refs++; return k; }
static void clk_drop(struct clk *k)
{
    if (!k || --k->refs) return;
    for (u32 n = 0; n < k->n; n++) sync_drop(k->l[n].sync);
    base_free(k);
}

static void sync_drop(struct sync *s)
{
    if (--s->refs) return;
    clk_drop(s->loose);
    if (s->news) sync_drop(s->news);
    for (u32 n = 0; n < s->np; n++) sync_drop(s->p[n].l.sync);
    base_free(s->c); base_free(s->p); base_free(s->slots); base_free(s);
}

static struct sync *sync_new(struct race *r)
{
    struct sync *s = base_alloc(sizeof *s);
    CHECK(s);
    s->refs = 1;
    s->id = ++r->sync_ids;
    return s;
}

static bool same_view(const struct learned *a, const struct learned *b) { return a->slot == b->slot && a->start == b->start && a->scope == b->scope && a->rmw == b->rmw; }

/* Is `a` known to whoever knows `b`? The same log, not longer; or the earlier publications of one and the same thread. */
static bool includes(const struct learned *b, const struct learned *a)
{
    if (!same_view(a, b)) return false;
    if (a->sync == b->sync) return a->upto <= b->upto && a->writes <= b->writes;
    if (a->writes && (a->sync->id != b->sync->id || a->writes > b->writes)) return false;
    if (!a->upto) return true;
    return a->sync->single && a->sync->single != ~0u && a->sync->single == b->sync->single && a->sync->c[a->sync->n - 1].start == b->sync->c[0].start &&
           a->sync->c[a->sync->n - 1].scope <= b->sync->c[0].scope && a->sync->c[a->sync->n - 1].upto <= b->sync->c[0].upto && b->upto;
}

/* k and one more, as a new clock; takes over the reference to k. */
static struct clk *clk_learn(struct clk *k, struct learned l)
{
    u32 n = k ? k->n : 0, m = 0;
    if (!l.upto && !l.writes) return k;
    for (u32 j = 0; j < n; j++) if (includes(&k->l[j], &l)) return k;
    struct clk *x = base_alloc(sizeof *x + sizeof *x->l * (n + 1));
    CHECK(x);
    for (u32 j = 0; j < n; j++) if (!includes(&l, &k->l[j])) { x->l[m] = k->l[j]; x->l[m++].sync->refs++; }
    x->l[m] = l;
    x->l[m++].sync->refs++;
    x->n = m; x->refs = 1;
    clk_drop(k);
    return x;
}

static struct clk *clk_join(struct clk *k, const struct clk *o)
{
    if (!o || k == o) return k;
    if (!k) return clk_hold((struct clk *)o);
    for (u32 n = 0; n < o->n; n++) k = clk_learn(k, o->l[n]);
    return k;
}

/* ---- asking ---- */

static bool may_learn(const struct learned *l, const struct contribution *c)
{
    return (c->slot == l->slot && c->start == l->start) || (c->scope >= SCOPE_GPU && l->scope >= SCOPE_GPU);
}

static bool says(const struct contribution *c, u32 thread, u32 time)
{
    if (c->slot != thread >> 10 || time < c->start) return false;
    if (time < c->base) return true;
    if (c->warp != (thread >> 5 & 31)) return false;
    return time < c->wbase || (c->lanes >> (thread & 31) & 1 && time < c->upto);
}

/* Notes that the question was put to the first `upto` contributions, seen with these eyes; true: it was before, and the answer was no. */
static bool asked_before(struct race *r, const struct learned *l)
{
    struct questions *q = &r->questions;
    if (2 * q->n >= q->cap) {
        struct questions old = *q;
        q->cap = old.cap ? 2 * old.cap : 256; q->n = 0;
        q->a = base_alloc(sizeof *q->a * q->cap);
        CHECK(q->a);
        base_free(old.a);                       /* asked again at worst */
    }
    bool wide = l->scope >= SCOPE_GPU;
    u64 h = ((u64)(uintptr_t)l->sync >> 4 ^ (u64)l->slot << 33 ^ (u64)l->start << 1 ^ wide) * 0x9e3779b97f4a7c15u;
    for (u32 k = (u32)(h >> 32) & (q->cap - 1);; k = (k + 1) & (q->cap - 1)) {
        struct asked *a = &q->a[k];
        if (a->number != q->number) { *a = (struct asked){ l->sync, q->number, l->upto, l->slot, l->start, wide }; q->n++; return false; }
        if (a->sync != l->sync || a->slot != l->slot || a->start != l->start || a->wide != wide) continue;
        if (a->upto >= l->upto) return true;
        a->upto = l->upto;
        return false;
    }
}

/* The newest contribution of a slot among the first `upto`; number + 1, 0: none. */
static u32 newest_of(const struct sync *s, u32 slot, u32 upto)
{
    u32 n = 0;
    if (!s->slots) { for (n = upto; n && s->c[n - 1].slot != slot; n--) { } return n; }
    for (u32 k = slot & (s->nslots - 1); s->slots[k]; k = (k + 1) & (s->nslots - 1))
        if (s->c[s->slots[k] - 1].slot == slot) { n = s->slots[k]; break; }
    while (n > upto) n = s->c[n - 1].before;
    return n;
}

/* The thread's access at `time`; when that was a strong write, `write` is its number at the location `id`. */
struct asking { struct race *r; u32 thread, time, id, write; };

/* What stands in the log itself. */
static bool log_knows(const struct asking *q, const struct learned *l)
{
    const struct sync *s = l->sync;
    if (q->id && s->id == q->id && q->write < l->writes) return true;
    if (s->transparent) return false;
    for (u32 n = newest_of(s, q->thread >> 10, l->upto); n; n = s->c[n - 1].before) {
        if (says(&s->c[n - 1], q->thread, q->time) && may_learn(l, &s->c[n - 1])) return true;
        if (s->c[n - 1].start <= q->time && s->c[n - 1].before && s->c[s->c[n - 1].before - 1].start != s->c[n - 1].start) break;      /* an earlier CTA of the slot */
    }
    return false;
}

/* And what its contributors had learned elsewhere, as far as it takes. */
static bool learned_knows(const struct asking *q, const struct learned *l)
{
    struct sync *s = l->sync;
    if (!l->upto || asked_before(q->r, l)) return false;
    if (log_knows(q, l)) return true;
    for (u32 n = s->transparent ? l->upto : s->np; n-- > 0;) {
        struct learned x = s->p[n].l;
        if (s->transparent) { x.slot = l->slot; x.start = l->start; x.scope = l->scope; }
        else if (s->p[n].at >= l->upto || !may_learn(l, &s->c[s->p[n].at])) continue;
        if ((q->id && x.sync->id == q->id && q->write < x.writes) || learned_knows(q, &x)) return true;
    }
    return false;
}

static bool clk_knows(const struct asking *q, const struct clk *k, bool by_rmw)
{
    if (!k) return false;
    for (u32 n = k->n; n-- > 0;) if (!by_rmw && log_knows(q, &k->l[n])) return true;
    q->r->questions.number++; q->r->questions.n = 0;
    for (u32 n = k->n; n-- > 0;)
        if ((!by_rmw || (k->l[n].rmw && k->l[n].scope >= SCOPE_GPU)) && learned_knows(q, &k->l[n])) return true;
    return false;
}

bool clock_knows(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 id, u32 write)
{
    struct race_cta *c = w->c;
    if (!c->seen && (!w->lane || !w->lane[lane].seen)) return false;
    struct asking q = { c->race, thread, time, id, write };
    lock(&c->race->lock);
    bool yes = clk_knows(&q, c->seen, false) || (w->lane && clk_knows(&q, w->lane[lane].seen, false));
    unlock(&c->race->lock);
    return yes;
}

bool clock_knows_weakly(struct race_warp *w, u32 lane, u32 thread, u32 time)
{
    struct race_cta *c = w->c;
    if (!c->exact) return false;
    struct asking q = { c->race, thread, time, 0, 0 };
    lock(&c->race->lock);
    bool yes = clk_knows(&q, c->weak, true) || (w->lane && clk_knows(&q, w->lane[lane].pend, true));
    unlock(&c->race->lock);
    return yes;
}

/* ---- teaching ---- */

static void index_slot(struct sync *s, u32 n)
{
    u32 slot = s->c[n].slot, k = slot & (s->nslots - 1);
    while (s->slots[k] && s->c[s->slots[k] - 1].slot != slot) k = (k + 1) & (s->nslots - 1);
    s->slots[k] = n + 1;
}

/* Beyond a few contributions each slot's newest is found by hash. */
static void index_contribution(struct sync *s)
{
    u32 n = s->n - 1;
    if (s->n < 16) return;
    if (!s->slots || s->n * 2 > s->nslots) {    /* at most as many slots as contributions */
        base_free(s->slots);
        s->nslots = s->nslots ? 4 * s->nslots : 64;
        s->slots = base_alloc(sizeof *s->slots * s->nslots);
        CHECK(s->slots);
        for (u32 k = 0; k < n; k++) index_slot(s, k);
    }
    index_slot(s, n);
}

/* What a contributor, number `at`, had learned elsewhere goes with it. */
static void pass_on(struct sync *s, const struct clk *k, u32 at, u32 scope)
{
    for (u32 n = 0; k && n < k->n; n++) {
        struct learned l = k->l[n];
        if (l.sync == s) continue;              /* what stands before in this log is known to all who read on to here */
        bool there = false;
        for (u32 j = s->np; j-- > 0 && j + 16 > s->np && !there;)
            there = s->p[j].l.sync == l.sync && s->p[j].l.upto >= l.upto && s->p[j].l.writes >= l.writes && same_view(&s->p[j].l, &l) && (s->transparent || (s->c[s->p[j].at].scope >= scope && scope >= SCOPE_GPU));
        if (there) continue;
        if (s->np == s->capp) {
            s->capp = s->capp ? 2 * s->capp : 2;
            s->p = base_realloc(s->p, sizeof *s->p * s->capp);
            CHECK(s->p);
        }
        l.sync->refs++;
        s->p[s->np++] = (struct passed){ l, at };
    }
}

static void teach(struct sync *s, struct contribution c, struct clk *const *knew, u32 nknew)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 2;
        s->c = base_realloc(s->c, sizeof *s->c * s->cap);
        CHECK(s->c);
    }
    u32 single = c.lanes & (c.lanes - 1) ? ~0u : (c.slot << 10 | c.warp << 5 | (u32)__builtin_ctz(c.lanes)) + 1;
    s->single = !s->single || s->single == single ? single : ~0u;
    c.before = newest_of(s, c.slot, s->n);
    s->c[s->n++] = c;
    for (u32 k = 0; k < nknew; k++) pass_on(s, knew[k], s->n - 1, c.scope);
    index_contribution(s);
}

static struct contribution now_of(const struct race_warp *w, u32 lanes, u32 scope)
{
    const struct race_cta *c = w->c;
    return (struct contribution){ c->slot, c->start, c->base, w->wbase, c->now, w->id, lanes, 0, (u8)scope };
}

static struct learned learn_from(const struct race_warp *w, struct sync *s, u32 upto, u32 scope)
{
    return (struct learned){ s, upto, 0, w->c->slot, w->c->start, (u8)scope, false };
}

/* ---- the synchronisations of a CTA ---- */

void clock_lanes(struct race_warp *w)
{
    if (w->lane) return;
    w->lane = base_alloc(sizeof *w->lane * LANES);
    CHECK(w->lane);
}

void clock_reset(struct race_cta *c)
{
    lock(&c->race->lock);
    clk_drop(c->seen); clk_drop(c->loose); clk_drop(c->weak);
    c->seen = c->loose = c->weak = NULL;
    for (u32 n = 0; n < MAX_BARS; n++) {
        if (c->bar[n].sync) sync_drop(c->bar[n].sync);
        c->bar[n] = (struct bar_state){ 0 };
    }
    for (u32 n = 0; n < MAX_WARPS; n++)
        for (u32 l = 0; c->warp[n].lane && l < LANES; l++) {
            struct lane_clock *k = &c->warp[n].lane[l];
            clk_drop(k->seen); clk_drop(k->loose); clk_drop(k->pend); clk_drop(k->fenced);
            *k = (struct lane_clock){ 0 };
        }
    unlock(&c->race->lock);
}

/* What a lane knew at a sequentially consistent fence, and the news of it to itself. All that it had news of is known by now, and passed on with this. */
static void fence_news(struct race_warp *w, u32 lane, u32 scope)
{
    struct race_cta *c = w->c;
    struct lane_clock *k = &w->lane[lane];
    struct clk *knew[2] = { c->seen, k->seen };
    struct sync *s = sync_new(c->race);
    teach(s, now_of(w, 1u << lane, scope), knew, 2);
    clk_drop(k->loose);
    k->loose = clk_learn(NULL, learn_from(w, s, 1, scope));
    sync_drop(s);
}

void clock_fence(struct race_warp *w, u32 mask, u32 scope, bool sc)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    c->now++;
    for (u32 m = mask; m; m &= m - 1) {
        struct lane_clock *k = &w->lane[__builtin_ctz(m)];
        for (u32 n = 0; k->pend && n < k->pend->n; n++) {
            struct learned l = k->pend->l[n];
            if (scope < l.scope) l.scope = (u8)scope;
            k->seen = clk_learn(k->seen, l);
        }
        clk_drop(k->pend); k->pend = NULL;
        const struct clk *news[2] = { sc ? k->loose : NULL, sc ? c->loose : NULL };
        for (u32 x = 0; x < 2; x++)
            for (u32 n = 0; news[x] && n < news[x]->n; n++) {
                struct learned l = news[x]->l[n];
                l.slot = c->slot; l.start = c->start; l.scope = (u8)scope;
                k->seen = clk_learn(k->seen, l);
            }
        clk_drop(k->fenced);
        k->fenced = clk_join(clk_hold(c->seen), k->seen);
        k->ftime = c->now; k->fbase = c->base; k->fwbase = w->wbase; k->fscope = (u8)scope;
        if (sc) fence_news(w, (u32)__builtin_ctz(m), scope);
    }
    unlock(&c->race->lock);
}

static void pass_news(struct race_warp *w, u32 mask)
{
    struct clk *all = NULL;
    for (u32 m = mask; m; m &= m - 1) all = clk_join(all, w->lane[__builtin_ctz(m)].loose);
    for (u32 m = mask; m && all; m &= m - 1) { struct lane_clock *k = &w->lane[__builtin_ctz(m)]; clk_drop(k->loose); k->loose = clk_hold(all); }
    clk_drop(all);
}

void clock_warp(struct race_warp *w, u32 mask)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    bool whole = mask == w->all;
    if (whole) {
        c->now++;
        w->wbase = c->now;
        struct clk *all = NULL;
        for (u32 l = 0; l < LANES; l++) all = clk_join(all, w->lane[l].seen);
        if (all) for (u32 l = 0; l < LANES; l++) { clk_drop(w->lane[l].seen); w->lane[l].seen = clk_hold(all); }
        clk_drop(all);
        pass_news(w, mask);
    } else {
        struct sync *s = sync_new(c->race);
        struct clk *knew[LANES];
        u32 n = 0;
        for (u32 m = mask; m; m &= m - 1) knew[n++] = w->lane[__builtin_ctz(m)].seen;
        c->now++;
        teach(s, now_of(w, mask, SCOPE_CTA), knew, n);
        for (u32 m = mask; m; m &= m - 1) {
            struct lane_clock *k = &w->lane[__builtin_ctz(m)];
            k->seen = clk_learn(k->seen, learn_from(w, s, 1, SCOPE_CTA));
        }
        sync_drop(s);
        pass_news(w, mask);
    }
    unlock(&c->race->lock);
}

void clock_arrive(struct race_warp *w, u32 mask, u32 bar, bool waits)
{
    struct race_cta *c = w->c;
    struct bar_state *b = &c->bar[bar];
    struct clk *knew[LANES];
    u32 n = 0;
    lock(&c->race->lock);
    if (!b->sync) b->sync = sync_new(c->race);
    for (u32 m = mask; m; m &= m - 1) {
        knew[n++] = w->lane[__builtin_ctz(m)].seen;
        b->sync->loose = clk_join(b->sync->loose, w->lane[__builtin_ctz(m)].loose);
    }
    c->now++;
    teach(b->sync, now_of(w, mask, SCOPE_CTA), knew, n);
    if (waits) b->waits[w->id] |= mask;
    unlock(&c->race->lock);
}

/* R5a: what a thread read from a released value would be known behind a barrier. */
static void weak_join(struct race_cta *c, struct lane_clock *k) { if (k->pend) c->weak = clk_join(c->weak, k->pend); }

static bool all_wait(const struct race_cta *c, const struct bar_state *b)
{
    for (u32 n = 0; n < c->launch->nwarps; n++) if (b->waits[n] != c->warp[n].all) return false;
    return true;
}

void clock_barrier(struct race_cta *c, u32 bar)
{
    struct bar_state *b = &c->bar[bar];
    lock(&c->race->lock);
    c->now++;
    if (all_wait(c, b)) {
        c->base = c->now;
        c->lo[SPACE_SHARED] = (u64)c->base << 32;
        for (u32 n = 0; n < c->launch->nwarps; n++) {
            c->warp[n].wbase = c->now;
            for (u32 l = 0; l < LANES; l++) {
                struct lane_clock *k = &c->warp[n].lane[l];
                weak_join(c, k);
                c->seen = clk_join(c->seen, k->seen);
                c->loose = clk_join(c->loose, k->loose);
                clk_drop(k->seen); clk_drop(k->loose);
                k->seen = k->loose = NULL;
            }
        }
    } else for (u32 n = 0; b->sync && n < c->launch->nwarps; n++)
        for (u32 m = b->waits[n]; m; m &= m - 1) {
            struct lane_clock *k = &c->warp[n].lane[__builtin_ctz(m)];
            weak_join(c, k);
            k->seen = clk_learn(k->seen, learn_from(&c->warp[n], b->sync, b->sync->n, SCOPE_CTA));
            k->loose = clk_join(k->loose, b->sync->loose);
        }
    if (b->sync) sync_drop(b->sync);
    *b = (struct bar_state){ 0 };
    unlock(&c->race->lock);
}

/* ---- locations ---- */

struct location { u64 at; struct sync *sync; };
struct sync_table { struct location *l; u32 n, cap; };

static struct location *location_at(struct race *r, u64 at, bool make)
{
    struct sync_table *t = r->syncs;
    if (!t) { if (!make) return NULL; t = r->syncs = base_alloc(sizeof *t); CHECK(t); }
    if (make && 2 * t->n >= t->cap) {
        struct sync_table old = *t;
        t->cap = old.cap ? 2 * old.cap : 256; t->n = 0;
        t->l = base_alloc(sizeof *t->l * t->cap);
        CHECK(t->l);
        for (u32 k = 0; k < old.cap; k++) if (old.l[k].at) { *location_at(r, old.l[k].at, true) = old.l[k]; }
        base_free(old.l);
    }
    if (!t->cap) return NULL;
    u32 k = (u32)(at * 0x9e3779b97f4a7c15u >> 32) & (t->cap - 1);
    while (t->l[k].at && t->l[k].at != at) k = (k + 1) & (t->cap - 1);
    if (t->l[k].at == at) return &t->l[k];
    if (!make) return NULL;
    t->n++;
    t->l[k].at = at;
    return &t->l[k];
}

static void publish(struct race_warp *w, u32 lane, struct sync *s, u32 sem, u32 scope)
{
    struct race_cta *c = w->c;
    struct lane_clock *k = &w->lane[lane];
    if (sem == SEM_RELEASE || sem == SEM_ACQ_REL) {
        struct clk *knew[2] = { c->seen, k->seen };
        c->now++;
        teach(s, now_of(w, 1u << lane, scope), knew, 2);
    } else if (k->ftime) {
        struct contribution x = { c->slot, c->start, k->fbase, k->fwbase, k->ftime, w->id, 1u << lane, 0, k->fscope < scope ? k->fscope : (u8)scope };
        teach(s, x, &k->fenced, 1);
    }
}

static bool observes(const struct race_cta *c, const struct sync *s, u32 scope, u32 size)
{
    return s->wsize == size && ((s->wslot == c->slot && s->wstart == c->start) || (s->wscope >= SCOPE_GPU && scope >= SCOPE_GPU));
}

void clock_learn(struct race_warp *w, u32 lane, u64 at, bool rmw, u32 sem, u32 scope, u32 size)
{
    struct race *r = w->c->race;
    struct lane_clock *k = &w->lane[lane];
    lock(&r->lock);
    struct location *l = location_at(r, at, false);
    if (l && l->sync) {
        struct learned x = learn_from(w, l->sync, l->sync->n, scope);
        x.rmw = rmw;
        if (l->sync->news) k->loose = clk_learn(k->loose, learn_from(w, l->sync->news, l->sync->news->np, SCOPE_SYS));
        x.writes = observes(w->c, l->sync, scope, size) ? l->sync->writes : 0;
        if (sem == SEM_ACQUIRE || sem == SEM_ACQ_REL) k->seen = clk_learn(k->seen, x);
        else {
            struct learned point = x;           /* the writes themselves are known at once, what they released behind a fence */
            point.upto = 0;
            k->seen = clk_learn(k->seen, point);
            if (x.upto) k->pend = clk_learn(k->pend, x);
        }
    }
    unlock(&r->lock);
}

struct write clock_write(struct race_warp *w, u32 lane, u64 at, bool rmw, u32 scope, u32 size)
{
    struct race_cta *c = w->c;
    lock(&c->race->lock);
    struct location *l = location_at(c->race, at, true);
    if (!l->sync) l->sync = sync_new(c->race);
    else if (!rmw) {                            /* nothing of what was released is released by this store; but who reads it knows those before it */
        struct sync *old = l->sync;
        l->sync = sync_new(c->race);
        l->sync->id = old->id; l->sync->writes = old->writes;
        sync_drop(old);
    }
    const struct clk *news[2] = { c->loose, w->lane[lane].loose };
    if ((news[0] || news[1]) && !l->sync->news) { l->sync->news = sync_new(c->race); l->sync->news->transparent = true; }
    for (u32 n = 0; n < 2; n++) if (news[n]) pass_on(l->sync->news, news[n], 0, SCOPE_SYS);
    struct write x = { l->sync->id, l->sync->writes++ };
    l->sync->wslot = c->slot; l->sync->wstart = c->start; l->sync->wscope = (u8)scope; l->sync->wsize = (u8)size;
    unlock(&c->race->lock);
    return x;
}

void clock_teach(struct race_warp *w, u32 lane, u64 at, u32 sem, u32 scope)
{
    struct race *r = w->c->race;
    if (sem != SEM_RELEASE && sem != SEM_ACQ_REL && !w->lane[lane].ftime) return;
    lock(&r->lock);
    struct location *l = location_at(r, at, false);
    if (l && l->sync) publish(w, lane, l->sync, sem, scope);
    unlock(&r->lock);
}

void clock_forget(struct race_warp *w, u64 at, u32 bytes)
{
    struct race *r = w->c->race;
    if (!r->syncs) return;
    lock(&r->lock);
    for (u32 k = 0; k < bytes; k++) {
        struct location *l = location_at(r, at + k, false);
        if (l && l->sync) { sync_drop(l->sync); l->sync = NULL; }
    }
    unlock(&r->lock);
}

static struct sync *mbarrier_at(struct race *r, u64 at)
{
    struct location *l = location_at(r, at, true);
    if (!l->sync) l->sync = sync_new(r);
    return l->sync;
}

void clock_mbarrier_arrive(struct race_warp *w, u32 lane, u64 at)
{
    struct race_cta *c = w->c;
    struct clk *knew[2] = { c->seen, w->lane[lane].seen };
    lock(&c->race->lock);
    struct sync *s = mbarrier_at(c->race, at);
    c->now++;
    teach(s, now_of(w, 1u << lane, SCOPE_CTA), knew, 2);
    s->loose = clk_join(s->loose, w->lane[lane].loose);
    unlock(&c->race->lock);
}

void clock_mbarrier_settle(struct race_warp *w, u64 at, u64 word)
{
    lock(&w->c->race->lock);
    struct sync *s = mbarrier_at(w->c->race, at);
    if (word >> 40 != s->phase) { s->phase = word >> 40; s->done = s->n; }
    unlock(&w->c->race->lock);
}

void clock_mbarrier_passed(struct race_warp *w, u32 lane, u64 at)
{
    struct lane_clock *k = &w->lane[lane];
    lock(&w->c->race->lock);
    struct sync *s = mbarrier_at(w->c->race, at);
    k->seen = clk_learn(k->seen, learn_from(w, s, s->done, SCOPE_CTA));
    k->loose = clk_join(k->loose, s->loose);
    unlock(&w->c->race->lock);
}

void clock_launch(struct race *r)
{
    struct sync_table *t = r->syncs;
    if (!t) return;
    for (u32 k = 0; k < t->cap; k++) if (t->l[k].sync) sync_drop(t->l[k].sync);
    if (t->cap) memset(t->l, 0, sizeof *t->l * t->cap);
    t->n = 0;
}

void clock_delete(struct race *r)
{
    clock_launch(r);
    if (r->syncs) base_free(r->syncs->l);
    base_free(r->syncs);
    base_free(r->questions.a);
}
