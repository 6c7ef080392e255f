/* Eras, launches, slots and CTAs: what the race check keeps from the begin of a launch to the end of its era.
 *
 * A launch begins a new era, with times above those of all launches before, if it is after all that the era has, and
 * runs beside nobody. Otherwise it joins the era: its CTAs get numbers, slots and clocks as if the grids were one. A
 * slot has the history of the CTAs that were in it, so that an access word, which has slot and time, names its CTA, and
 * its launch. The record of a launch says which others are before it, whole: the order of operations is asked once for
 * each pair, when the later one begins (race_order), and what is before something that is before is not asked for.
 *
 * A long era keeps the records of ERA_LAUNCHES launches. Beyond that number the oldest launch that has ended is
 * forgotten: it counts as ordered before all others. A race with it is missed then; none is invented. When nothing
 * runs, an era of so many launches ends. Reader sets leave out those whose launch is before the reader (race_set.c),
 * and cells of freed memory are given back (race_track.c). */
#include "race/race_launch.h"
#include "race/happens_before.h"
#include "race/race_async.h"
#include "race/race_clock.h"
#include "race/race_footprint.h"
#include "race/race_kernel.h"
#include "race/race_track.h"
#include "race/race_volatile.h"
#include "race/race_touch.h"
#include "sim/cluster.h"
#include "units/attachments.h"
#include "units/grids.h"

static void handed_drop(struct race_era *era);

/* ---- eras ---- */

/* The marks are shaped for a launch: each thread is likely to make one for each store of the kernel. Those of a launch
 * that joins the era fit into any shape, if not as well. */
static void shape(struct notes *n, const struct launch *l, const struct race_kernel *k)
{
    notes_shape(n, l->nwarps, l->total * l->threads * MAX_OF(k->stores, 1u));
}

/* Times begin at 0 again: whatever has a time is cleared. */
static void slot_anew(struct race_cta *c)
{
    c->now = 0;
    for (u32 k = 0; k < MAX_WARPS; k++) c->warp[k].now = 0;
    memset(c->note_cache, 0, sizeof c->note_cache);
    memset(c->set_memo, 0, sizeof c->set_memo);
    memset(c->ordered_memo, 0, sizeof c->ordered_memo);
    if (c->shared_cells) memset(c->shared_cells, 0, cells_for(c->shared_bytes));
}

/* T is about to overflow: all cells are released, and times begin at 0 again. No launch runs. */
static void times_anew(struct race *r)
{
    untrack(r, true);
    for (u32 n = 0; n < r->nslot; n++) slot_anew(r->slot[n]);
    r->last = 0;
}

struct race_era *era_new(struct race *r)
{
    struct race_era *era = base_alloc(sizeof *era);
    if (!era) return NULL;
    era->race = r;
    era->vclocks.large = VCLOCK_LARGE;
    era->lock = era->strong = (lock_t)LOCK_INIT;
    if (notes_open(&era->notes, CHUNKS_GLOBAL)) return era;
    notes_free(&era->notes);
    base_free(era);
    return NULL;
}

void era_free(struct race_era *era)
{
    if (!era) return;
    for (u32 n = 0; n < ERA_LAUNCHES; n++)
        if (era->launch[n]) {
            vclock_drop(&era->vclocks, era->launch[n]->begin);
            vclock_drop(&era->vclocks, era->launch[n]->seen);
        }
    vclock_drop(&era->vclocks, era->ended);
    vclock_drop(&era->vclocks, era->published);
    handed_drop(era);
    base_free(era->handed);
    clock_delete(era);
    volatile_free(era->volatiles);
    notes_free(&era->notes);
    for (u32 n = 0; n < ERA_LAUNCHES; n++) base_free(era->launch[n]);
    base_free(era);
}

/* A new era begins. No launch runs. */
static void era_begin(struct race *r)
{
    struct race_era *era = r->era;
    if (r->last > 0xf0000000u) times_anew(r);
    for (u32 n = 0; n < MIN_OF(era->launches + 1, (u32)ERA_LAUNCHES); n++) {
        struct race_launch *old = era->launch[n];
        if (!old) continue;
        vclock_drop(&era->vclocks, old->begin);
        vclock_drop(&era->vclocks, old->seen);
        old->begin = old->seen = NULL;
        old->number = 0;
    }
    vclock_drop(&era->vclocks, era->ended);
    vclock_drop(&era->vclocks, era->published);
    era->ended = era->published = NULL;
    handed_drop(era);
    if (era->has_reported) memset(era->reported, 0, sizeof era->reported);
    era->has_reported = false;
    era->serial++;
    era->epoch = r->last + 1;
    era->ctas = era->grid_top = era->launches = 0;
    era->parallel = era->open = era->blind = era->has_flags = era->volatiles_used = era->vclocks.scoped = false;
    notes_empty(&era->notes);
    clock_begin_era(era);
    volatile_era_begin(era);
    untrack(r, false);
}

/* ---- the order of launches ---- */

static bool bit_get(const u64 *set, u32 number)
{
    u32 k = number % ERA_LAUNCHES;
    return set[k / 64] >> k % 64 & 1;
}

bool launch_before(const struct race_era *era, u32 number, const struct race_launch *me)
{
    const struct race_launch *old = era->launch[number % ERA_LAUNCHES];
    if (!old || old->number != number) return true; /* forgotten */
    if (number > me->number) return false;
    if (bit_get(me->before, number)) return true;
    /* after griddepcontrol.wait earlier launches have ended; before it they are not ordered with this one */
    const struct race *r = era->race;
    return __atomic_load_n(&me->depends, __ATOMIC_RELAXED) && number != me->number && me->of && me->stamp &&
           old->stamp && r->before && r->before(r->before_self, old->stamp, me->of->in->op, true);
}

/* The launch `old`, which has ended, is before l, whose operation has that stamp. */
static bool is_before(const struct race *r, const struct race_launch *old, const struct launch *l, u64 stamp)
{
    int known = l->in->as_grid ? grid_before(l->in->as_grid, old->serial) : -1; /* both are of one family */
    if (known >= 0) return known;
    if (!r->before || !old->stamp || !stamp) return true;
    return r->before(r->before_self, old->stamp, l->in->op, false);
}

/* Finds the launches of the era that are before l, the last ones first; true: all of them are. */
static bool find_before(const struct race *r, const struct launch *l, u64 stamp, u64 before[ERA_LAUNCHES / 64])
{
    const struct race_era *era = r->era;
    bool all = true;
    bytes_clear(before, sizeof(u64) * (ERA_LAUNCHES / 64));
    for (u32 n = 0, last = MIN_OF(era->launches, (u32)ERA_LAUNCHES); n < last; n++) {
        const struct race_launch *old = era->launch[(era->launches - n) % ERA_LAUNCHES];
        if (!old || !old->number || bit_get(before, old->number)) continue;
        if (old->of || !is_before(r, old, l, stamp)) {
            all = false;
            continue;
        }
        u32 k = old->number % ERA_LAUNCHES;
        before[k / 64] |= 1ull << k % 64;
        for (u32 j = 0; old->number > 1 && j < ERA_LAUNCHES / 64; j++) before[j] |= old->before[j];
    }
    return all;
}

void launches_forget(struct race_era *era)
{
    lock(&era->lock);
    for (u32 n = 0; n < ERA_LAUNCHES; n++) {
        struct race_launch *old = era->launch[n];
        if (!old || old->of) continue;
        old->number = 0;
        for (u32 k = 0; k < ERA_LAUNCHES; k++)
            if (era->launch[k]) era->launch[k]->before[n / 64] &= ~(1ull << n % 64);
    }
    unlock(&era->lock);
}

/* ---- launches ---- */

void launch_depends(struct race_launch *launch)
{
    if (launch && !__atomic_load_n(&launch->depends, __ATOMIC_RELAXED))
        __atomic_store_n(&launch->depends, true, __ATOMIC_RELAXED);
}

/* What is kept of a running launch; NULL: it is not watched. This and the next two: under the lock of the race check.
 */
static struct race_launch *launch_of(const struct race *r, const struct launch *l)
{
    struct race_launch *launch = r->running;
    while (launch && launch->of != l) launch = launch->next;
    return launch;
}

/* A record for a launch that begins: a new one, or that of the launch that began first of those that have ended, which
 * is forgotten. Under the lock of the era. NULL: too many launches run. */
static struct race_launch *record_take(struct race_era *era)
{
    struct race_launch **at;
    u32 tried = 0;
    do {
        if (tried++ == ERA_LAUNCHES) return NULL;
        at = &era->launch[++era->launches % ERA_LAUNCHES];
    } while (*at && (*at)->of);
    if (!*at) *at = base_need(sizeof **at);
    u32 k = era->launches % ERA_LAUNCHES;
    for (u32 n = 0; (*at)->number && n < ERA_LAUNCHES; n++)
        if (era->launch[n]) era->launch[n]->before[k / 64] &= ~(1ull << k % 64);
    vclock_drop(&era->vclocks, (*at)->begin);
    vclock_drop(&era->vclocks, (*at)->seen);
    bytes_clear(*at, sizeof **at);
    (*at)->number = era->launches;
    return *at;
}

/* Several threads may run CTAs of this launch, or of others beside it: workers, and whoever waits for one of them. */
static bool is_parallel(const struct launch *l) { return l->nworkers > 1 || l->beside; }

/* The launch that begins can share the era with those that run. */
static bool can_join(const struct race *r)
{
    const struct race_era *era = r->era;
    return era->open && era->exact && !era->blind && !r->unwatched;
}

/* ---- launches by kernels ---- */

void launch_handed(struct race_warp *w, u32 lane, u64 *handle)
{
    struct race_era *era = w->c->era;
    lock(&era->lock);
    if (era->nhanded == era->caphanded) {
        era->caphanded = era->caphanded ? 2 * era->caphanded : 16;
        era->handed = base_need_more(era->handed, sizeof(struct vclock *) * era->caphanded);
    }
    w->now++; /* later operations of the thread are not ordered before the launch */
    struct vclock *k = clock_of_lane(w, lane), *weak = clock_of_lane_weak(w, lane);
    vclock_join(&era->vclocks, &k, weak);
    vclock_drop(&era->vclocks, weak);
    era->handed[era->nhanded++] = k;
    *handle = (u64)era->serial << 32 | era->nhanded;
    unlock(&era->lock);
}

/* Joins the clock that was kept under the handle into *to; a clock of another era needs no join, since it is before all
 * of this one. */
static void handed_take(struct race_era *era, u64 handle, struct vclock **to)
{
    u32 k = (u32)handle;
    if (!k || (u32)(handle >> 32) != era->serial || !era->handed[k - 1]) return;
    vclock_join(&era->vclocks, to, era->handed[k - 1]);
    vclock_drop(&era->vclocks, era->handed[k - 1]);
    era->handed[k - 1] = NULL;
}

static void handed_drop(struct race_era *era)
{
    for (u32 k = 0; k < era->nhanded; k++) vclock_drop(&era->vclocks, era->handed[k]);
    era->nhanded = 0;
}

/* ---- operations ---- */

/* Its place among those that are expected; NULL: it is not. Under the lock of the race check. */
static struct race_operation *expected_find(const struct race *r, const void *op)
{
    for (u32 k = 0; k < r->nexpected; k++)
        if (r->expected[k].op == op) return &r->expected[k];
    return NULL;
}

void race_expect(struct race *r, const struct race_operation *o)
{
    lock(&r->lock);
    struct race_operation *at = expected_find(r, o->op);
    if (!at) {
        NEED_ROOM(r->expected, r->nexpected, r->capexpected, 16);
        at = &r->expected[r->nexpected++];
    }
    *at = *o;
    unlock(&r->lock);
}

/* The operation of a launch that begins; all 0: none was expected. Under the lock. */
static struct race_operation expected_take(struct race *r, const void *op)
{
    struct race_operation *at = op ? expected_find(r, op) : NULL, o = { 0 };
    if (!at) return o;
    o = *at;
    *at = r->expected[--r->nexpected];
    return o;
}

void race_expect_none(struct race *r, const void *op)
{
    lock(&r->lock);
    expected_take(r, op);
    unlock(&r->lock);
}

/* Fills the record of a launch that begins. Under the lock of the era. */
static void launch_open(struct race *r, struct race_launch *launch, const struct launch *l, const struct race_kernel *k,
                        const struct race_operation *as)
{
    struct race_era *era = r->era;
    launch->of = l;
    launch->kernel = k;
    launch->epoch = MAX_OF(era->epoch, era->grid_top);
    launch->total = l->total;
    launch->stamp = as->stamp;
    launch->sink = as->sink;
    launch->serial = l->serial;
    memcpy(launch->grid, l->in->grid, sizeof launch->grid);
    memcpy(launch->block, l->in->block, sizeof launch->block);
    launch->begin = vclock_hold(era->published);
    if (l->in->as_grid) handed_take(era, l->in->as_grid->race, &launch->begin);
    launch->exact = era->exact;
    launch->next = r->running;
    r->running = launch;
    era->vclocks.scoped |= k->scoped;
    if (k->has_volatile) __atomic_store_n(&era->volatiles_used, true, __ATOMIC_RELAXED);
}

/* Whether CTAs of the launch may reach the shared memory of each other: its cells are as those of global memory then,
 * and the launch is checked by clocks, whatever its kernel does. */
static bool is_distributed(const struct launch *l) { return l->per > 1 && l->kernel->func->module->first->distributed; }

/* Order is transitive: what earlier launches acquired from others is before this launch. Under the lock of the era. */
static void join_seen(struct race_era *era, struct race_launch *launch)
{
    for (u32 k = 0; k < ERA_LAUNCHES / 64; k++)
        EACH_SET64 (bit, launch->before[k]) {
            const struct race_launch *old = era->launch[k * 64 + bit];
            if (old && old->number && old->seen) vclock_join(&era->vclocks, &launch->begin, old->seen);
        }
}

void launch_begin(struct race *r, const struct launch *l)
{
    struct race_era *era = r->era;
    u64 before[ERA_LAUNCHES / 64];
    lock(&r->lock);
    const struct race_kernel *k = race_kernel_of(r, l->kernel);
    struct race_operation as = expected_take(r, l->in->op);
    bool ends = !r->running && (!era->exact || era->blind || era->launches >= ERA_LAUNCHES),
         all = find_before(r, l, as.stamp, before), fresh = !r->running && !r->unwatched && (ends || all);
    if (!fresh && (r->unwatched || (r->running && !can_join(r)))) {
        era->blind = true;
        r->unwatched++;
        unlock(&r->lock);
        return;
    }
    report_ran(l->in->report, CHECK_RACE);
    report_ran(l->in->report, CHECK_ASYNC);
    if (fresh) {
        era_begin(r);
        era->exact = !k->simple || (l->beside && k->polls) || r->eras_only || is_distributed(l);
        shape(&era->notes, l, k);
    }
    if (!r->running) {
        era->parallel = is_parallel(l);
        era->open = l->beside;
    }
    bool shared = r->running != NULL; /* others use the era */
    if (shared) lock(&era->strong);   /* what a strong access has shown to the host is also released by now */
    if (shared) lock(&era->lock);
    struct race_launch *launch = record_take(era);
    if (launch) {
        launch_open(r, launch, l, k, &as);
        if (!fresh) memcpy(launch->before, before, sizeof before);
        join_seen(era, launch);
    } else {
        era->blind = true;
        r->unwatched++;
    }
    if (shared) unlock(&era->lock);
    if (shared) unlock(&era->strong);
    track_sweep(r);
    if (launch) track_launch(r, l, k, as.shared || as.sink);
    unlock(&r->lock);
}

/* The slots of a launch that has ended are free again. One that was stopped has left CTAs in them. */
static void slots_give(struct race *r, const struct race_launch *launch)
{
    for (u32 n = r->nslot; n--;) {
        struct race_cta *c = r->slot[n];
        if (c->launch != launch) continue;
        race_tick(c, c->nwarps);
        r->last = MAX_OF(r->last, c->now);
        note_caches_drop(c);
        if (c->exact) clock_reset(c);
        volatile_cta_begin(c);
        c->launch = NULL;
        c->next_free = r->free;
        r->free = c;
    }
}

void launch_end(struct race *r, const struct launch *l)
{
    struct race_era *era = r->era;
    lock(&r->lock);
    struct race_launch *launch = launch_of(r, l);
    if (!launch) {
        r->unwatched--;
        unlock(&r->lock);
        return;
    }
    if (launch->sink) footprint_report(r, launch);
    slots_give(r, launch);
    bool shared = r->running != launch || launch->next; /* others use the era */
    if (shared) lock(&era->strong);
    volatile_launch_end(launch, era);
    if (shared) unlock(&era->strong);
    struct race_launch **at = &r->running;
    while (*at != launch) at = &(*at)->next;
    *at = launch->next;
    if (shared) lock(&era->lock);
    launch->of = NULL;
    vclock_add_writes(&era->vclocks, &era->ended, launch_as_location(launch->number), 1);
    era->outside++;
    if (shared) unlock(&era->lock);
    /* a launch that is not ordered after this one may still come, and joins the era */
    if (!r->running && !(era->exact && (l->beside || launch->stamp || grid_has_more(l)))) untrack(r, false);
    unlock(&r->lock);
}

/* ---- slots and CTAs ---- */

static struct race_cta *slot_new(struct race *r)
{
    if (r->nslot == SLOTS) return NULL;
    struct race_cta *c = base_need(sizeof *c);
    c->race = r;
    c->slot = r->nslot;
    if (!notes_open(&c->notes, CHUNKS_SHARED))
        base_exhausted(CHUNKS_SHARED * sizeof(void *), "the race check (--no-check race does without)");
    for (u32 n = 0; n < MAX_WARPS; n++)
        c->warp[n] = (struct race_warp){ .c = c, .id = n, .key = (u64)c->slot << 19 | n << 14 };
    return r->slot[r->nslot++] = c;
}

/* A slot for a CTA that becomes resident; NULL: it is not watched. */
static struct race_cta *slot_take(struct race *r, const struct launch *l)
{
    lock(&r->lock);
    struct race_launch *launch = launch_of(r, l);
    struct race_cta *c = launch ? r->free : NULL;
    if (c)
        r->free = c->next_free;
    else if (launch)
        c = slot_new(r);
    if (c) {
        c->era = r->era;
        c->launch = launch;
        c->nwarps = l->nwarps;
        c->exact = launch->exact;
    }
    if (c && c->serial != r->era->serial) {
        c->serial = r->era->serial;
        c->nresidents = 0;
        c->forgot = false;
    }
    unlock(&r->lock);
    return c;
}

/* Cells for the shared memory of a CTA of that rank in its cluster. */
static void shared_ready(struct race_cta *c, u64 bytes, u32 rank)
{
    bytes = (bytes + SECTOR - 1) & ~(u64)(SECTOR - 1);
    if (bytes > c->shared_bytes) {
        base_free(c->shared_cells);
        if (!(c->shared_cells = base_aligned(cells_for(bytes))))
            base_exhausted(cells_for(bytes), "the race check (--no-check race does without)");
        c->shared_bytes = bytes;
        c->distributed_in = 0;
    }
    c->shared = (char *)((uintptr_t)c->shared_cells - cells_for(cluster_base(rank)));
}

/* Whether other CTAs reach the shared memory of the CTA that begins. Then times do not tell which records are of CTAs
 * that were there before, and the cells begin empty. */
static void cells_distribute(struct race_cta *c, bool distributed)
{
    struct touch t = { .w = &c->warp[0], .space = SPACE_GLOBAL };
    bool refer = c->distributed_in == c->era->serial; /* to notes of the era that there still are */
    for (u64 k = 0; refer && k < c->shared_bytes / SECTOR; k++) cell_clear(&t, &c->shared_cells[k]);
    if (c->shared_bytes && !refer && (distributed || c->distributed_in))
        memset(c->shared_cells, 0, cells_for(c->shared_bytes));
    c->distributed = distributed;
    c->distributed_in = distributed ? c->era->serial : 0;
}

/* What the k-th CTA of a run is. */
static struct resident resident_of(const struct resident_run *r, u32 k)
{
    return (struct resident){ r->first.start + k * r->by.start, r->first.number + k * r->by.number,
                              r->first.linear + k * r->by.linear, r->first.launch };
}

/* Adds a CTA to the run; false: it does not fit in. */
static bool continue_run(struct resident_run *r, struct resident next)
{
    struct resident by = { next.start - r->first.start, next.number - r->first.number, next.linear - r->first.linear,
                           0 },
                    due = resident_of(r, r->count);
    if (next.launch != r->first.launch) return false;
    if (r->count == 1)
        r->by = by;
    else if (due.start != next.start || due.number != next.number || due.linear != next.linear)
        return false;
    r->count++;
    return true;
}

/* The history of the slot begins after the CTAs of launches that are forgotten. */
static void forget_residents(struct race_cta *c)
{
    u32 gone = 0;
    while (gone < c->nresidents) {
        u32 number = c->residents[gone].first.launch;
        if (c->era->launch[number % ERA_LAUNCHES]->number == number) break;
        gone++;
    }
    if (!gone) return;
    c->forgot = true;
    c->nresidents -= gone;
    memmove(c->residents, c->residents + gone, sizeof *c->residents * c->nresidents);
}

/* Gives the CTA its number, and adds it to the history of its slot, which other workers may be reading. */
static void remember_cta(struct race_cta *c, u64 linear)
{
    if (c->era->parallel) lock(&c->era->lock);
    c->number = c->era->ctas++;
    /* without clocks nobody asks for numbers, which are in no order when several workers run */
    struct resident next = { c->start, c->exact ? c->number : 0, linear, c->launch->number };
    if (!c->nresidents || !continue_run(&c->residents[c->nresidents - 1], next)) {
        if (c->nresidents == c->capresidents) forget_residents(c);
        NEED_ROOM(c->residents, c->nresidents, c->capresidents, 16);
        c->residents[c->nresidents++] = (struct resident_run){ .first = next, .count = 1 };
    }
    if (c->era->parallel) unlock(&c->era->lock);
}

void race_cta_begin(struct race *r, struct cta *cta)
{
    const struct launch *l = cta->launch;
    struct race_cta *c = cta->race ? cta->race : slot_take(r, l);
    if (c) shared_ready(c, l->shared_total, cta->rank);
    cta->race = c;
    for (u32 n = 0; n < cta->nwarps; n++) cta->warp[n]->race = c ? &c->warp[n] : NULL;
    if (!c) return;
    const struct race_launch *launch = c->launch;
    c->now = MAX_OF(c->now, launch->epoch);
    race_tick(c, c->nwarps);
    c->start = c->base = c->now;
    c->lo[SPACE_SHARED] = (u64)c->base << 32;
    c->lo[SPACE_GLOBAL] = hb_era_floor(c->era);
    cells_distribute(c, is_distributed(l));
    race_copies_reset(c);
    for (u32 n = 0; n < MAX_BARS; n++) c->bar_now[n].warps = c->bar_last[n].warps = 0;
    if (c->exact) memset(c->cta_memo, 0, sizeof c->cta_memo);
    c->grid_base = c->walked = c->grid_base_at = 0;
    c->ntransient = 0;
    notes_empty(&c->notes);
    shape(&c->notes, l, launch->kernel);
    if (c->exact) clock_reset(c);
    if (launch->begin) clock_begin(c, launch->begin);
    volatile_cta_begin(c);
    for (u32 n = 0; n < cta->nwarps; n++) {
        struct race_warp *w = &c->warp[n];
        w->warp_base = w->cta_base = c->now;
        w->all = cta->warp[n]->first_live;
        w->npending = w->nissued = w->ended = 0;
        memset(w->needed, 0, sizeof w->needed);
        if (w->nrecent) {
            memset(w->recent, 0, sizeof w->recent);
            w->nrecent = 0;
        }
        if (c->exact) clock_make_lanes(w);
    }
    remember_cta(c, cta->linear);
}

void race_tick(struct race_cta *c, u32 warps)
{
    for (u32 n = 0; n < warps; n++) c->now = MAX_OF(c->now, c->warp[n].now);
    c->now++;
    for (u32 n = 0; n < warps; n++) c->warp[n].now = c->now;
}

void race_cta_synced(struct race_cta *c)
{
    race_tick(c, c->nwarps);
    c->base = c->now;
    c->lo[SPACE_SHARED] = (u64)c->base << 32;
    for (u32 n = 0; n < c->nwarps; n++) c->warp[n].warp_base = c->warp[n].cta_base = c->now;
}

/* Adds what the threads of a CTA that ends have acquired, for launches that are after this one. */
static void keep_seen(struct race_cta *c)
{
    struct race_launch *launch = c->launch;
    struct vclock_store *vs = &c->era->vclocks;
    lock(&c->era->lock);
    if (c->clock) vclock_accumulate(vs, &launch->seen, c->clock);
    for (u32 n = 0; n < c->nwarps; n++) {
        const struct race_warp *w = &c->warp[n];
        const struct vclock *last = NULL;
        if (w->clock) vclock_accumulate(vs, &launch->seen, w->clock);
        for (u32 k = 0; w->lane && k < LANES; k++) {
            const struct vclock *own = w->lane[k].strict.clock;
            if (own && own != last) vclock_accumulate(vs, &launch->seen, own);
            last = own;
        }
    }
    unlock(&c->era->lock);
}

void race_cta_end(struct race_cta *c)
{
    if (c->exact && (c->launch->stamp || (c->launch->of && c->launch->of->attached[AT_grids]))) keep_seen(c);
    if (!c->exact && c->ntransient) {
        race_tick(c, c->nwarps);
        c->base = c->now;
        cell_drop_transients(c);
    }
    note_caches_drop(c);
}

bool resident_at(const struct race *r, u32 slot, u32 time, struct resident *was)
{
    const struct race_cta *c = r->slot[slot];
    u32 from = 0, to = c->nresidents; /* the index of its run, if any, lies in [from, to) */
    if (!to || (c->forgot && time < c->residents[0].first.start)) return false;
    while (to - from > 1) {
        u32 k = from + (to - from) / 2;
        if (c->residents[k].first.start > time)
            to = k;
        else
            from = k;
    }
    const struct resident_run *run = &c->residents[from];
    u32 since = time > run->first.start ? time - run->first.start : 0;
    *was = resident_of(run, run->count > 1 ? MIN_OF(since / MAX_OF(run->by.start, 1u), run->count - 1) : 0);
    return true;
}

void launches_free(struct race *r)
{
    for (u32 n = 0; n < r->nslot; n++) {
        struct race_cta *c = r->slot[n];
        for (u32 k = 0; k < MAX_WARPS; k++) {
            base_free(c->warp[k].lane);
            base_free(c->warp[k].pending);
        }
        notes_free(&c->notes);
        base_free(c->shared_cells);
        base_free(c->residents);
        base_free(c->flights);
        base_free(c->side);
        base_free(c->issuers);
        base_free(c->releases);
        volatile_free(c->volatiles);
        base_free(c->transient);
        base_free(c);
    }
    era_free(r->era);
    tracked_free(r);
}
