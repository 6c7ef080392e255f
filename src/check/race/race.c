/* The race check as an observer of sim: events of synchronisation, and accesses that the fast handlers leave to it.
 *
 * race.h has the idea and the map. Weak accesses go on to race_touch.c. Strong ones, which are here, do three things in
 * this order: acquire, record, release. */
#include "race/race_slow.h"
#include "race/race_report.h"
#include "race/race_async.h"
#include "units/flight.h"
#include "race/race_pending.h"
#include "race/race_release.h"
#include "race/race_clock.h"
#include "race/race_launch.h"
#include "race/race_kernel.h"
#include "race/race_touch.h"
#include "race/race_track.h"
#include "race/race_volatile.h"
#include "sim/cta.h"
#include "sim/cluster.h"
#include "sim/lanes.h"

/* ---- synchronisation ---- */

/* A barrier of all threads, in a simple kernel. */
static void barrier_simple(struct race_cta *c)
{
    race_cta_synced(c);
    notes_empty(&c->notes); /* all recorded accesses to shared memory happen before whatever comes now */
    if (c->ntransient) cell_drop_transients(c);
}

/* A barrier is complete. */
static void barrier(struct race_cta *c, struct cta *cta, u32 id)
{
    bool full = !c->exact || clock_barrier(c, id);
    c->bar_last[id] = c->bar_now[id];
    c->bar_now[id].warps = 0;
    if (!c->exact) barrier_simple(c);
    if (full) race_copies_relist(c, cta);
}

/* A warp arrives at a barrier whose last phase had another count. If the arrival is not ordered after that phase, a GPU
 * may count it there. */
static void barrier_count(struct race_warp *w, const struct sync_event *e)
{
    struct race_cta *c = w->c;
    const struct bar *b = &e->cta->bar[e->id];
    u32 count = b->expected ? b->expected : e->cta->nwarps * LANES, lane = (u32)__builtin_ctz(e->mask);
    struct bar_use *now = &c->bar_now[e->id], *last = &c->bar_last[e->id];
    EACH_SET (p, last->count != count ? last->warps : 0) {
        u32 thread = (word_thread(w->key) & ~1023u) | p * LANES;
        if (p == w->id || hb_thread(w, lane, thread, last->at[p], SPACE_SHARED, 0, 0)) continue;
        race_report_barrier(e, count, last, p);
        last->warps = 0;
        break;
    }
    now->count = count;
    now->warps |= 1u << w->id;
    now->at[w->id] = w->now;
    now->op = e->op;
    now->low = e->warp->code->low;
}

static void warp_synced(struct race_warp *w, u32 mask, bool orders)
{
    if (!orders && w->c->exact)
        clock_converge(w, mask);
    else if (!orders) {
        w->now++;
        w->recent[w->nrecent++ % RECENT].time = w->now;
        w->recent[(w->nrecent - 1) % RECENT].mask = mask;
    } else if (w->c->exact)
        clock_warp_barrier(w, mask);
    else
        w->warp_base = ++w->now;
}

/* A cluster of several CTAs counts as the whole gpu: what is synchronised with that scope between clusters is not told
 * apart. A cluster of one is a CTA. */
static u8 race_scope_of(const struct race_warp *w, u32 scope)
{
    return (u8)(scope != SCOPE_CLUSTER ? scope : w->c->launch->of->per > 1 ? SCOPE_GPU : SCOPE_CTA);
}

/* barrier.cluster is an mbarrier of all threads of the cluster, without a place in memory. */
static void cluster_synced(struct race_cta *c, struct race_warp *w, const struct sync_event *e)
{
    const struct cta *first = e->cta->cluster->cta[0];
    const struct race_cta *of = first->race;
    if (!of) return;
    u64 at = (u64)(uintptr_t)first->cluster ^ (u64)of->start << 36;
    if (e->kind == SYNC_CLUSTER) clock_cluster_phase(&c->warp[0], at);
    if (e->kind == SYNC_CLUSTER_ARRIVE)
        EACH_SET (l, e->mask) clock_mbarrier_arrive(w, l, at, e->id);
    else if (e->kind != SYNC_CLUSTER)
        clock_mbarrier_waited(w, e->mask, at, false);
}

static void sync_event(void *self, const struct sync_event *e)
{
    struct race *r = self;
    struct race_cta *c = e->cta->race;
    struct race_warp *w = e->warp ? e->warp->race : NULL;
    if (e->kind == SYNC_CTA_BEGIN) {
        race_cta_begin(r, (struct cta *)e->cta);
        return;
    }
    if (!c) return;
    if (e->kind == SYNC_CTA_END) {
        race_cta_end(c);
        return;
    }
    const struct lop *o = e->op != NONE && e->warp ? &e->warp->code->low->op[e->op] : NULL;
    bool orders = e->kind == SYNC_FENCE || e->kind == SYNC_BARRIER_ARRIVE || e->kind == SYNC_CLUSTER_ARRIVE ||
                  (e->kind == SYNC_WARP && o && o->flags & ISA_WARP_BARRIER);
    if (w && orders && w->npending) pending_drop(w, e->mask);
    switch (e->kind) {
    case SYNC_BARRIER: barrier(c, (struct cta *)e->cta, e->id); break;
    case SYNC_BARRIER_ARRIVE:
        if (c->exact) {
            barrier_count(w, e);
            release_met(w);
        }
        if (c->exact) clock_barrier_arrive(w, e->mask, e->id, (o->aux & 15) != BAR_ARRIVE);
        break;
    case SYNC_WARP: warp_synced(w, e->mask, o && o->flags & ISA_WARP_BARRIER); break;
    case SYNC_FENCE:
        if (c->exact && !(e->id & FENCE_PROXY)) clock_fence(w, e->mask, race_scope_of(w, e->id & 3), e->id & FENCE_SC);
        break;
    case SYNC_CLUSTER_ARRIVE:
    case SYNC_CLUSTER:
    case SYNC_CLUSTER_WAITED:
        if (c->exact) cluster_synced(c, w, e);
        break;
    case SYNC_GROUP:
        if (c->exact && e->mask) race_group_met(c, e->warp);
        break;
    case SYNC_DEPEND: launch_depends(c->launch); break;
    default: break;
    }
}

/* ---- accesses ---- */

/* The place in memory that names a synchronisation location. Shared memory of another CTA in the same slot is another
 * place: the time when the CTA began is part of it. */
ALWAYS_INLINE u64 location_of(const struct touch *t, const struct access *a, u32 lane)
{
    if (a->space[lane] != SP_SHARED) return a->addr[lane];
    const struct race_cta *c = t->w->c;
    if (unlikely(a->warp->cta->cluster->size > 1)) {
        const struct cta *owner = cluster_cta(a->warp->cta, a->addr[lane]);
        if (owner && owner->race) c = owner->race;
    }
    return (u64)(uintptr_t)a->ptr[lane] ^ (u64)c->start << 36;
}

enum { FEW_LANES = 3 }; /* so many lanes do not gain by a prefetch */

static u32 byte_mask(u32 bytes) { return (u32)((1ull << MIN_OF(bytes, 32u)) - 1); }

/* Records one element of a strong access of a lane, under the lock of its cell. In a simple kernel, strong writes to a
 * word need no list as long as there are no strong reads of it. */
static void strong_cell(struct touch *t, const struct access *a, u32 l, u32 element, char *cells)
{
    const struct site *s = a->site;
    u64 sector = a->addr[l] & ~(u64)(SECTOR - 1);
    u32 begin = (u32)(a->addr[l] - sector), first = begin + element * s->width;
    struct cell *c = cell_of(cells, sector);
    u64 me = race_stamp(t->w, l, ES_ONE, WHO_ONE);
    t->at = sector;
    t->whole = s->flags & SITE_WORD ? 15u << (begin & ~3u) : byte_mask(a->bytes) << begin;
    if (t->op & OP_WRITE && !t->w->c->exact && s->vec == 1 && !(s->flags & SITE_WORD))
        cell_strong_write(t, c, first, s->width, me);
    else
        cell_access_bytes(t, c, me, byte_mask(s->width) << first, 0);
}

/* The host reads and writes it as well. */
static bool host_shares(const struct mem_object *o)
{
    return o->kind == MEM_PINNED || o->kind == MEM_MANAGED || o->kind == MEM_REGISTERED;
}

/* Volatile accesses are looked at, and the flags that may order them. */
static bool volatiles_used(const struct race_era *era)
{
    return __atomic_load_n(&era->volatiles_used, __ATOMIC_RELAXED);
}

/* Its order as the clocks have it: volatile, mmio and relaxed are one. */
static u8 sem_of(const struct site *s)
{
    return s->sem == SEM_ACQUIRE || s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL ? s->sem : SEM_RELAXED;
}

/* One element of a strong access of a lane, as the clocks have it; o: the object of global memory, NULL: it does not
 * matter. */
static struct strong strong_of(const struct touch *t, const struct access *a, u32 l, u32 element,
                               const struct mem_object *o)
{
    const struct site *s = a->site;
    bool word = s->flags & SITE_WORD;
    u64 at = location_of(t, a, l) + element * s->width;
    return (struct strong){ word ? at & ~(u64)3 : at,      word ? 4 : s->width, sem_of(s),
                            race_scope_of(t->w, s->scope), site_is_atomic(s),   o && host_shares(o) };
}

/* A red, or an atom whose result is not used, reads nothing. */
static bool strong_reads(const struct touch *t, const struct site *s)
{
    const struct lowered *l = t->warp->code->low;
    return site_is_load(s) ||
           (site_fetches(s) && (sem_of(s) != SEM_RELAXED || race_atom_reads(t->w->c->launch, l, &l->op[t->op_index])));
}

/* A strong access whose lanes are to be recorded: what the clocks have of each, and its cells. */
struct strong_access {
    struct strong x[LANES];
    struct write made[LANES]; /* of lanes that write */
    char *cells[LANES];       /* NULL: it has none */
    u8 space[LANES];
};

/* Records the accesses of these lanes. Neighbours are in one page, which is locked once. */
static void strong_cells(struct touch *t, const struct access *a, u32 lanes, u32 element, const struct strong_access *y)
{
    struct race_era *era = t->w->c->era;
    bool locked = false;
    u64 page = 0; /* locked: an address of it */
    EACH_SET (l, lanes) {
        u64 at = a->addr[l];
        bool global = y->space[l] == SPACE_GLOBAL;
        if (!y->cells[l]) continue;
        if (locked && (!global || (at ^ page) >> 12)) {
            cells_unlock(era, page);
            locked = false;
        }
        if (global && !locked) {
            cells_lock(era, page = at);
            locked = true;
        }
        t->space = y->space[l];
        t->op = OP_STRONG | (a->wrote >> l & 1 ? OP_WRITE : 0);
        t->id = t->write = 0;
        if (t->op & OP_WRITE && t->w->c->exact) {
            t->id = y->made[l].id;
            t->write = y->made[l].number;
        }
        strong_cell(t, a, l, element, y->cells[l]);
    }
    if (locked) cells_unlock(era, page);
}

/* One element of the strong access of each of these lanes; reads: it reads; *cached: as in lane_cells. */
static void strong_lanes(struct touch *t, const struct access *a, u32 lanes, u32 element, bool reads,
                         struct mem_object **cached)
{
    const struct site *s = a->site;
    struct race_era *era = t->w->c->era;
    bool exact = t->w->c->exact;
    struct strong_access y;
    u32 m = lanes;
    do {
        u32 l = (u32)__builtin_ctz(m);
        y.cells[l] = lane_cells(a, l, cached);
        y.space[l] = (u8)lane_space(a, l);
        if (exact) y.x[l] = strong_of(t, a, l, element, y.space[l] == SPACE_GLOBAL && era->open ? *cached : NULL);
    } while (m &= m - 1);
    /* The acquire comes before the access is recorded, so that the access is ordered after what it acquires. */
    if (exact && reads) clock_strong_reads(t->w, lanes, y.x);
    if (exact && lanes & a->wrote) clock_strong_writes(t->w, lanes & a->wrote, y.x, y.made);
    strong_cells(t, a, lanes, element, &y);
    for (m = volatiles_used(era) ? lanes : 0; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        t->space = y.space[l];
        t->op = OP_STRONG | (a->wrote >> l & 1 ? OP_WRITE : 0);
        if (y.cells[l] && !(a->space[l] == SP_SHARED && t->w->c->distributed))
            (s->sem == SEM_VOLATILE && !site_is_atomic(s) ? volatile_access : volatile_flag)(t, a, l, element);
    }
    for (m = exact ? lanes & a->wrote : 0; m; m &= m - 1)
        clock_strong_release(t->w, (u32)__builtin_ctz(m), &y.x[__builtin_ctz(m)]);
}

/* The accesses of the lanes do not affect each other, so all lanes are checked at once. Loads release
 * nothing. A store that is no release operation does not advance the time of the warp; its lanes write places of their
 * own, so that none ends what another one releases there. */
static bool strong_apart(const struct access *a)
{
    const struct site *s = a->site;
    if (s->vec > 1 || site_is_atomic(s) || s->flags & SITE_WORD || s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL)
        return false;
    for (u32 m = a->ok, last = LANES; site_is_store(s) && m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        if (last < LANES && (a->addr[l] < a->addr[last] + a->bytes || a->space[l] != a->space[last])) return false;
        last = l;
    }
    return true;
}

/* Lanes that access places far from each other would wait for memory one after another. So the cells and the locations
 * of all lanes are prefetched first, then what the cells refer to. */
static void strong_prefetch(const struct touch *t, const struct access *a, struct mem_object **cached)
{
    const struct cell *cell[LANES];
    u32 lanes = 0;
    EACH_SET (l, a->ok) {
        const char *cells = a->space[l] == SP_SHARED ? NULL : lane_cells(a, l, cached);
        if (!cells) continue;
        lanes |= 1u << l;
        cell[l] = cell_of(cells, a->addr[l] & ~(u64)(SECTOR - 1));
        __builtin_prefetch(cell[l]);
        clock_prefetch(t->w->c->era, a->addr[l], 0);
    }
    for (u32 stage = 0; stage < 2; stage++)
        EACH_SET (l, lanes) {
            list_prefetch(t, cell[l], stage);
            if (!stage) clock_prefetch(t->w->c->era, a->addr[l], 1);
        }
}

static void touch_strong(struct touch *t, const struct access *a)
{
    const struct race_era *era = t->w->c->era;
    struct mem_object *cached = NULL;
    bool reads = t->w->c->exact && strong_reads(t, a->site);
    t->scope = race_scope_of(t->w, a->site->scope);
    pending_drop(t->w, a->ok);
    if (t->w->c->exact && !era->parallel && __builtin_popcount(a->ok) > FEW_LANES) strong_prefetch(t, a, &cached);
    /* a simple kernel has no clocks: nothing of what a lane does is the next one's matter */
    if ((t->w->c->exact ? strong_apart(a) : a->site->vec == 1) && !volatiles_used(era)) {
        strong_lanes(t, a, a->ok, 0, reads, &cached);
        return;
    }
    for (u32 m = a->ok; m; m &= m - 1)
        for (u32 k = 0; k < a->site->vec; k++) strong_lanes(t, a, m & -m, k, reads, &cached);
}

/* Lanes arrive at an mbarrier, or have waited for a phase of it. */
static void note_release(const struct touch *t, const struct access *a, u32 lanes, bool waits)
{
    EACH_SET (l, lanes) {
        if (waits)
            release_waited(t->w, t, l, location_of(t, a, l));
        else
            release_arrived(t->w, t, l, location_of(t, a, l), cluster_offset(a->addr[l]));
    }
}

/* mbarrier operations are strong, except init and inval, which need a barrier before and after them. */
static void mbarrier(struct touch *t, const struct access *a, const struct lop *o)
{
    struct race_warp *w = t->w;
    bool makes = o->flags & (ISA_MBAR_INIT | ISA_MBAR_INVAL), waits = o->flags & ISA_MBAR_WAIT;
    bool relaxed = o->aux & MBAR_RELAXED;
    struct mem_object *none = NULL;
    u32 truth;
    t->space = w->c->distributed ? SPACE_GLOBAL : SPACE_SHARED;
    t->scope = w->c->distributed ? SCOPE_GPU : SCOPE_CTA;
    t->op = makes ? OP_WRITE : waits ? OP_STRONG : OP_STRONG | OP_WRITE;
    pending_drop(w, a->ok);
    memcpy(&truth, SLOT(a->warp->R, a->insn->d), 4);
    u32 lanes = 0;
    for (u32 m = a->ok; m; m &= m - 1) lanes |= a->space[__builtin_ctz(m)] == SP_SHARED ? m & -m : 0;
    bool arrives = o->flags & ISA_MBAR_ARRIVE && !(o->flags & ISA_MBAR_COPIES);
    if (w->c->releases && (waits || (arrives && !(o->aux & (MBAR_EXPECT | MBAR_BYTES)))))
        note_release(t, a, waits ? lanes & truth : lanes, waits);
    for (u32 m = lanes; m && arrives && w->c->exact; m &= m - 1)
        clock_mbarrier_arrive(w, (u32)__builtin_ctz(m), location_of(t, a, (u32)__builtin_ctz(m)), relaxed);
    for (u32 left = lanes, same; left; left &= ~same) { /* lanes at one mbarrier together */
        u32 first = (u32)__builtin_ctz(left);
        u64 word, at = a->addr[first] & ~(u64)(SECTOR - 1), where = location_of(t, a, first);
        same = lanes_alike(a->addr, left);
        memcpy(&word, a->ptr[first], 8);
        if (makes && w->c->exact) clock_weak_write(w, where, 8);
        if (!makes && w->c->exact) clock_mbarrier_phase(w, where, word);
        if (waits && w->c->exact && truth & same) clock_mbarrier_waited(w, truth & same, where, relaxed);
        t->at = at;
        t->whole = 255u << (a->addr[first] - at);
        char *cells = lane_cells(a, first, &none);
        EACH_SET (l, cells ? same : 0)
            cell_access_bytes(t, cell_of(cells, at), race_stamp(w, l, ES_ONE, WHO_ONE), t->whole, 0);
    }
}

static bool is_plain(const struct lop *o) { return o->flags & ISA_ACCESS; }
/* No other thread has that memory. */
static bool is_private(const struct site *s) { return s->space == SP_LOCAL || s->space == SP_CALL; }
static bool is_strong(const struct site *s) { return site_is_atomic(s) || s->sem != SEM_WEAK; }

/* A weak access past the first cache is taken for a volatile one (R5c): it acquires or releases in the weak view. */
static void flag_lane(struct touch *t, const struct access *a, u32 lane)
{
    const struct site *s = a->site;
    t->space = lane_space(a, lane);
    if (!t->w->c->era->parallel) t->w->c->era->has_flags = true;
    for (u32 e = 0; e < s->vec; e++) {
        struct strong x = { location_of(t, a, lane) + e * s->width, s->width, SEM_RELAXED, SCOPE_SYS, false, false };
        if (site_is_store(s))
            clock_flag_write(t->w, lane, &x);
        else
            clock_flag_read(t->w, lane, &x);
    }
}

/* Lanes whose weak store may end a location. In global memory, with one worker, a sector with locations has a list,
 * unless flags made them. */
static u32 may_end(const struct race_warp *w, const struct access *a)
{
    struct mem_object *cached = NULL;
    u32 lanes = 0;
    if (w->c->era->parallel || w->c->era->has_flags) return a->ok;
    for (u32 m = a->ok; m; m &= m - 1) {
        u32 l = (u32)__builtin_ctz(m);
        const char *cells = a->space[l] == SP_SHARED ? NULL : lane_cells(a, l, &cached);
        u64 sector = a->addr[l] & ~(u64)(SECTOR - 1);
        bool none = cells && a->addr[l] + a->bytes <= sector + SECTOR &&
                    !cell_has_list(cell_of(cells, sector), w->c->lo[SPACE_GLOBAL]);
        lanes |= none ? 0 : m & -m;
    }
    return lanes;
}

/* What an instruction that is no single access a lane stores, and ends by that: its pieces come one by one. */
static void touch_stored(struct touch *t, const struct access *a)
{
    struct race_warp *w = t->w;
    t->op = OP_WRITE;
    race_weak(t, a);
    EACH_SET (l, w->c->exact ? a->ok : 0) {
        t->space = lane_space(a, l);
        clock_weak_write(w, location_of(t, a, l), a->bytes);
    }
}

static void before(void *self, const struct access *a)
{
    (void)self;
    struct race_warp *w = a->warp->race;
    const struct site *s = a->site;
    if (!w || !a->ok || is_private(s) || !is_plain(&a->warp->code->low->op[a->insn->op])) return;
    if (is_strong(s)) {
        if (w->c->era->parallel && w->c->exact) lock(&w->c->era->strong);
        return;
    }
    if (s->flags & SITE_SPECULATED) {
        pending_add(w, a, a->ok);
        return;
    }
    u32 used = s->needed_by ? race_lanes_needed(a->warp, s) : ~0u;
    if (a->ok & ~used) {
        struct access needed = *a;
        needed.ok &= used;
        struct touch t = race_touch(a->warp, a->insn, OP_READ, SPACE_GLOBAL);
        if (needed.ok) race_weak(&t, &needed);
        return;
    }
    struct touch t = race_touch(a->warp, a->insn, site_is_store(s) ? OP_WRITE : OP_READ, SPACE_GLOBAL);
    u32 end = w->c->exact && site_is_store(s) ? may_end(w, a) : 0;
    race_weak(&t, a);
    /* lanes with neighbouring addresses at once */
    for (u32 m = end, n; m; m &= n == 32 ? 0 : ~(((1u << n) - 1) << __builtin_ctz(m))) {
        u32 l = (u32)__builtin_ctz(m);
        for (n = 1; l + n < LANES && m >> (l + n) & 1 && a->addr[l + n] == a->addr[l] + n * a->bytes &&
                    a->space[l + n] == a->space[l];)
            n++;
        t.space = lane_space(a, l);
        clock_weak_write(w, location_of(&t, a, l), n * a->bytes);
    }
    if (w->c->exact && site_is_store(s) && s->flags & SITE_FLAG)
        EACH_SET (l, a->ok) flag_lane(&t, a, l);
}

static void after(void *self, const struct access *a)
{
    (void)self;
    struct race_warp *w = a->warp->race;
    const struct site *s = a->site;
    if (!w || !a->ok || is_private(s)) return;
    struct touch t = race_touch(a->warp, a->insn, OP_READ, SPACE_GLOBAL);
    const struct lop *o = &a->warp->code->low->op[a->insn->op];
    if (is_plain(o)) {
        if (!is_strong(s)) {
            if (w->c->exact && site_is_load(s) && s->flags & SITE_FLAG)
                EACH_SET (l, a->ok) flag_lane(&t, a, l);
            return;
        }
        touch_strong(&t, a);
        if (w->c->era->parallel && w->c->exact) unlock(&w->c->era->strong);
    } else if (o->flags & ISA_COPY) {
        t.op = s->which ? OP_READ : OP_WRITE | OP_ASYNC;
        if (s->which)
            race_touch_weak(&t, a, a->ok);
        else
            race_copy_issued(&t, a);
    } else if (o->flags & ISA_MATRIX) {
        t.op = o->flags & ISA_WRITES ? OP_WRITE : OP_READ;
        race_weak(&t, a);
    } else if (o->flags & ISA_MBARRIER)
        mbarrier(&t, a, o);
    else
        touch_stored(&t, a);
}

/* An asynchronous copy of a lane is done. */
static void copied(void *self, const struct warp *warp, u32 lane, const char *to, u32 bytes)
{
    struct race_warp *w = warp->race;
    (void)self;
    if (!w) return;
    race_copy_done(w, (struct warp *)warp, lane, (u64)(to - warp->shared), bytes);
}

static void flight(void *self, struct flight *f, enum flight_moment m)
{
    struct race_warp *w = f->warp->race;
    (void)self;
    if (w) (m == FLIGHT_ISSUED ? race_flight_issued : m == FLIGHT_READ ? race_flight_read : race_flight_done)(w, f);
}

static void allocated(void *self, const struct warp *warp, struct mem_object *o)
{
    struct race *r = self;
    lock(&r->lock);
    race_track(r, o, warp->race);
    unlock(&r->lock);
}

static void launched(void *self, const struct warp *warp, u32 lane, u64 *handle)
{
    struct race_warp *w = warp->race;
    (void)self;
    if (w && w->c->exact) launch_handed(w, lane, handle);
}

/* ---- the check as a whole ---- */

static void begin(void *self, const struct launch *l) { launch_begin(self, l); }
static void end(void *self, const struct launch *l) { launch_end(self, l); }

struct race *race_new(struct mem *m)
{
    struct race *r = base_alloc(sizeof *r);
    if (!r) return NULL;
    r->mem = m;
    r->lock = (lock_t)LOCK_INIT;
    if (!(r->era = era_new(r))) {
        base_free(r);
        return NULL;
    }
    r->observer = (struct observer){ .self = r,
                                     .watch = WATCH_RACE,
                                     .memory = race_memory,
                                     .begin = begin,
                                     .end = end,
                                     .before = before,
                                     .access = after,
                                     .sync = sync_event,
                                     .selected = pending_selected,
                                     .copied = copied,
                                     .flight = flight,
                                     .allocated = allocated,
                                     .launched = launched };
    return r;
}

void race_delete(struct race *r)
{
    if (!r) return;
    launches_free(r);
    race_kernels_free(r);
    base_free(r->expected);
    base_free(r);
}

void race_order(struct race *r, bool (*before)(void *self, u64 stamp, const void *op, bool waited), void *self)
{
    lock(&r->lock);
    r->before = before;
    r->before_self = self;
    unlock(&r->lock);
}

void race_outside(struct race *r, u64 address, u64 bytes, bool writes)
{
    lock(&r->lock);
    if (r->running && r->era->exact) {
        lock(&r->era->strong); /* what a strong access has written is also released by now */
        lock(&r->era->lock);
        clock_outside(r->era, address, bytes, writes);
        unlock(&r->era->lock);
        unlock(&r->era->strong);
    }
    unlock(&r->lock);
}

void race_forget(struct race *r)
{
    lock(&r->lock);
    launches_forget(r->era);
    unlock(&r->lock);
}

const struct observer *race_observer(struct race *r) { return &r->observer; }
