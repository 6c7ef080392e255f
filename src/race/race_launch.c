/* What the race check keeps of a launch: which memory has cells, its interval of T, and the slots of its CTAs.
 *
 * A launch takes an object struct race_launch, slots for its CTAs as they become resident, and times above those of all
 * launches before; at its end the object and the slots are free again, and the cells stay with the memory objects. A
 * slot has the history of the CTAs that were in it, so that an access word, which has slot and time, names its CTA. */
#include "race/race_launch.h"
#include "race/happens_before.h"
#include "race/race_async.h"
#include "race/race_clock.h"
#include "race/race_footprint.h"
#include "race/race_kernel.h"
#include "race/race_volatile.h"
#include "race/race_touch.h"

/* ---- memory that has cells ---- */

/* SLAB: an object belongs to the slab in whose piece of this size it begins. SLAB_TAIL: the largest object of malloc
 * (HEAP_BYTES of builtin.c), which may begin at the end of the piece. */
enum { SLAB = 16 << 20, SLAB_TAIL = 8 << 20 };
_Static_assert(SLAB % SECTOR == 0, "a slab begins with a sector");

/* The bytes that are mapped for the cells of that much memory. */
static u64 cells_mapped(u64 bytes)
{
    return (cells_for(bytes) + page_size() - 1) / page_size() * page_size() + page_size();
}

/* New cells, all 0, for that many bytes of memory. */
static u64 cells_new(u64 bytes)
{
    u64 need = cells_mapped(bytes);
    u64 cells = pages_reserve(0, need);
    if (!cells || base_alloc_refused() || !pages_commit(cells, need))
        base_exhausted(need, "the race check (--no-check race does without)");
    return cells;
}

/* The slab whose piece has that address. */
static struct slab *slab_of(struct race *r, u64 addr)
{
    u64 from = addr / SLAB * SLAB;
    u32 low = 0, high = r->nslab;
    while (low < high) {
        u32 mid = low + (high - low) / 2;
        if (r->slab[mid].from < from)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < r->nslab && r->slab[low].from == from) return &r->slab[low];
    if (r->nslab == r->capslab) {
        r->capslab = r->capslab ? 2 * r->capslab : 16;
        r->slab = base_need_more(r->slab, sizeof *r->slab * r->capslab);
    }
    memmove(r->slab + low + 1, r->slab + low, sizeof *r->slab * (r->nslab - low));
    r->slab[low] = (struct slab){ from, cells_new((u64)SLAB + SLAB_TAIL), from };
    r->nslab++;
    return &r->slab[low];
}

/* Remembers an object that is in a slab. Those that are gone, or are other objects by now, make room. */
static void heap_add(struct race *r, struct mem_object *o)
{
    if (r->nheap == r->capheap) {
        u32 keep = 0;
        for (u32 n = 0; n < r->nheap; n++)
            if (r->heap[n]->state == MEM_LIVE && r->heap[n]->tracked == n + 1) {
                r->heap[keep++] = r->heap[n];
                r->heap[n]->tracked = keep;
            }
        r->nheap = keep;
        if (keep >= r->capheap / 2) {
            r->capheap = r->capheap ? 2 * r->capheap : 64;
            r->heap = base_need_more(r->heap, sizeof *r->heap * r->capheap);
        }
    }
    r->heap[r->nheap++] = o;
    o->tracked = r->nheap;
}

/* Gives cells to an object of malloc. Those that an object before it has left are cleared. */
static void track_heap(struct race *r, struct mem_object *o, struct race_warp *w)
{
    struct slab *s = slab_of(r, o->base);
    struct touch t = { .w = w, .space = SPACE_GLOBAL };
    u64 end = MIN_OF(o->base + o->size, s->used);
    for (u64 at = o->base & ~(u64)(SECTOR - 1); at < end; at += SECTOR) {
        struct cell *c = cell_of((const char *)(uintptr_t)s->cells, at - s->from);
        if (w)
            cell_clear(&t, c);
        else /* no CTA that has notes allocates: what the cell had of them is dropped with the launch */
            *c = (struct cell){ 0 };
    }
    s->used = MAX_OF(s->used, o->base + o->size);
    o->race = s->cells - cells_for(s->from);
    heap_add(r, o);
}

void race_track(struct race *r, struct mem_object *o, struct race_warp *w)
{
    if (!o || o->race || o->state != MEM_LIVE) return;
    if (o->kind == MEM_HEAP && o->size <= SLAB_TAIL) {
        track_heap(r, o, w);
        return;
    }
    if (o->tracked && o->tracked <= r->ntracked && r->tracked[o->tracked - 1].o == o) {
        o->race = r->tracked[o->tracked - 1].cells - cells_for(o->base & ~(u64)(SECTOR - 1));
        return;
    }
    u64 from = o->base & ~(u64)(SECTOR - 1), bytes = ((o->base + o->size + SECTOR - 1) & ~(u64)(SECTOR - 1)) - from;
    u64 cells = cells_new(bytes);
    if (r->ntracked == r->captracked) {
        u32 cap = r->captracked ? 2 * r->captracked : 64;
        r->tracked = base_need_more(r->tracked, sizeof *r->tracked * cap);
        r->captracked = cap;
    }
    r->tracked[r->ntracked++] = (struct tracked){ o, cells, cells_mapped(bytes) };
    o->tracked = r->ntracked;
    o->race = cells - cells_for(from);
}

static void slabs_release(struct race *r)
{
    for (u32 n = 0; n < r->nslab; n++) pages_release(r->slab[n].cells, cells_mapped((u64)SLAB + SLAB_TAIL));
    r->nslab = r->nheap = 0;
}

/* Objects lead to their cells no more, until a launch asks for that. Cells of freed objects, or all, are released;
 * those of malloc only if there are no other launches. */
static void untrack(struct race *r, bool all, bool others)
{
    u32 keep = 0;
    for (u32 n = 0; n < r->ntracked; n++) {
        struct tracked t = r->tracked[n];
        t.o->race = t.o->tracked = 0;
        if (all || t.o->state != MEM_LIVE) {
            pages_release(t.cells, t.bytes);
            continue;
        }
        r->tracked[keep++] = t;
        t.o->tracked = keep;
    }
    r->ntracked = keep;
    if (others) return;
    for (u32 n = 0; n < r->nheap; n++) r->heap[n]->race = r->heap[n]->tracked = 0;
    slabs_release(r);
}

/* Gives cells to all objects that the kernel may write: those that its parameters and variables lead to, or all. */
static void track_launch(struct race *r, const struct launch *l, const struct race_kernel *k)
{
    if (k->anywhere || l->in->sink) {
        for (u32 id = 1;; id++) {
            struct mem_object *o = mem_by_id(r->mem, id);
            if (!o) break;
            if (o->kind != MEM_CONST) race_track(r, o, NULL);
        }
        return;
    }
    for (u32 n = 0; n < k->nparam; n++) {
        u64 p;
        memcpy(&p, l->param_copy + k->param[n], 8);
        race_track(r, mem_find(r->mem, p), NULL);
    }
    for (u32 n = 0; n < k->nvar; n++)
        if (k->var[n]->addr) race_track(r, mem_find(r->mem, k->var[n]->addr), NULL);
}

/* ---- launches and CTAs ---- */

/* The marks are shaped for a launch: each thread is likely to make one for each store of the kernel. */
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
    untrack(r, true, false);
    for (u32 n = 0; n < r->nslot; n++) slot_anew(r->slot[n]);
    r->last = 0;
}

struct race_launch *launch_new(struct race *r)
{
    struct race_launch *launch = base_alloc(sizeof *launch);
    if (!launch) return NULL;
    launch->race = r;
    launch->vclocks.large = VCLOCK_LARGE;
    launch->lock = launch->strong = (lock_t)LOCK_INIT;
    if (notes_open(&launch->notes, CHUNKS_GLOBAL)) return launch;
    notes_free(&launch->notes);
    base_free(launch);
    return NULL;
}

void launch_free(struct race_launch *launch)
{
    clock_delete(launch);
    volatile_free(launch->volatiles);
    notes_free(&launch->notes);
    base_free(launch);
}

/* What is kept of a running launch; NULL: it is not watched. This and the two below: under the lock of the race check.
 */
static struct race_launch *launch_of(const struct race *r, const struct launch *l)
{
    struct race_launch *launch = r->running;
    while (launch && launch->of != l) launch = launch->next;
    return launch;
}

static struct race_launch *launch_take(struct race *r, const struct launch *l)
{
    struct race_launch *launch = r->idle;
    if (launch)
        r->idle = launch->next;
    else if (!(launch = launch_new(r)))
        base_exhausted(sizeof *launch, "the race check (--no-check race does without)");
    launch->of = l;
    launch->next = r->running;
    return r->running = launch;
}

static void launch_give(struct race_launch *launch)
{
    struct race *r = launch->race;
    struct race_launch **at = &r->running;
    while (*at != launch) at = &(*at)->next;
    *at = launch->next;
    launch->of = NULL;
    launch->next = r->idle;
    r->idle = launch;
}

void launch_begin(struct race *r, const struct launch *l)
{
    lock(&r->lock);
    if (r->running) { /* cells have the records of one launch at a time */
        unlock(&r->lock);
        return;
    }
    const struct race_kernel *k = race_kernel_of(r, l->kernel);
    if (r->last > 0xf0000000u) times_anew(r);
    report_ran(l->in->report, CHECK_RACE);
    report_ran(l->in->report, CHECK_ASYNC);
    struct race_launch *launch = launch_take(r, l);
    launch->epoch = r->last + 1;
    launch->kernel = k;
    launch->exact = !k->simple;
    launch->vclocks.scoped = k->scoped;
    launch->parallel = l->nworkers > 1;
    launch->ctas = 0;
    launch->has_flags = false;
    notes_empty(&launch->notes);
    shape(&launch->notes, l, k);
    clock_begin_launch(launch);
    volatile_launch_begin(launch);
    untrack(r, false, false);
    track_launch(r, l, k);
    unlock(&r->lock);
}

void launch_end(struct race *r, const struct launch *l)
{
    lock(&r->lock);
    struct race_launch *launch = launch_of(r, l);
    if (launch && l->in->sink) footprint_tell(r, launch);
    for (u32 n = launch ? r->nslot : 0; n--;) { /* a launch that was stopped leaves CTAs in their slots */
        struct race_cta *c = r->slot[n];
        if (c->launch != launch) continue;
        race_tick(c, MAX_WARPS);
        r->last = MAX_OF(r->last, c->now);
        if (c->exact) clock_reset(c);
        volatile_cta_begin(c);
        c->nresidents = 0;
        c->launch = NULL;
        c->next_free = r->free;
        r->free = c;
    }
    if (launch) {
        volatile_launch_end(launch);
        launch_give(launch);
        untrack(r, false, false);
    }
    unlock(&r->lock);
}

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
    if (c) c->launch = launch;
    unlock(&r->lock);
    return c;
}

static void shared_ready(struct race_cta *c, u64 bytes)
{
    bytes = (bytes + SECTOR - 1) & ~(u64)(SECTOR - 1);
    if (bytes <= c->shared_bytes) return;
    base_free(c->shared_cells);
    if (!(c->shared_cells = base_aligned(cells_for(bytes))))
        base_exhausted(cells_for(bytes), "the race check (--no-check race does without)");
    c->shared = (char *)c->shared_cells;
    c->shared_bytes = bytes;
}

/* What the k-th CTA of a run is. */
static struct resident resident_of(const struct resident_run *r, u32 k)
{
    return (struct resident){ r->first.start + k * r->by.start, r->first.number + k * r->by.number,
                              r->first.linear + k * r->by.linear };
}

/* Adds a CTA to the run; false: it does not fit in. */
static bool continue_run(struct resident_run *r, struct resident next)
{
    struct resident by = { next.start - r->first.start, next.number - r->first.number, next.linear - r->first.linear },
                    due = resident_of(r, r->count);
    if (r->count == 1)
        r->by = by;
    else if (due.start != next.start || due.number != next.number || due.linear != next.linear)
        return false;
    r->count++;
    return true;
}

/* Gives the CTA its number, and adds it to the history of its slot, which other workers may be reading. */
static void remember_cta(struct race_cta *c, u64 linear)
{
    if (c->launch->parallel) lock(&c->launch->lock);
    c->number = c->launch->ctas++;
    /* without clocks nobody asks for numbers, which are in no order when several workers run */
    struct resident next = { c->start, c->exact ? c->number : 0, linear };
    if (!c->nresidents || !continue_run(&c->residents[c->nresidents - 1], next)) {
        if (c->nresidents == c->capresidents) {
            u32 cap = c->capresidents ? 2 * c->capresidents : 16;
            c->residents = base_need_more(c->residents, sizeof *c->residents * cap);
            c->capresidents = cap;
        }
        c->residents[c->nresidents++] = (struct resident_run){ .first = next, .count = 1 };
    }
    if (c->launch->parallel) unlock(&c->launch->lock);
}

void race_cta_begin(struct race *r, struct cta *cta)
{
    const struct launch *l = cta->launch;
    struct race_cta *c = cta->race ? cta->race : slot_take(r, l);
    if (c) shared_ready(c, l->shared_total);
    cta->race = c;
    for (u32 n = 0; n < cta->nwarps; n++) cta->warp[n]->race = c ? &c->warp[n] : NULL;
    if (!c) return;
    const struct race_launch *launch = c->launch;
    c->exact = launch->exact;
    c->now = MAX_OF(c->now, launch->epoch);
    race_tick(c, c->launch->of->nwarps);
    c->start = c->base = c->now;
    c->lo[SPACE_SHARED] = (u64)c->base << 32;
    c->lo[SPACE_GLOBAL] = hb_launch_floor(launch);
    race_copies_reset(c);
    if (c->exact) memset(c->cta_memo, 0, sizeof c->cta_memo);
    c->grid_base = c->walked = c->grid_base_at = 0;
    c->ntransient = 0;
    notes_empty(&c->notes);
    shape(&c->notes, l, launch->kernel);
    if (c->exact) clock_reset(c);
    volatile_cta_begin(c);
    for (u32 n = 0; n < cta->nwarps; n++) {
        struct race_warp *w = &c->warp[n];
        w->warp_base = w->cta_base = c->now;
        w->all = cta->warp[n]->first_live;
        w->npending = 0;
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
    race_tick(c, c->launch->of->nwarps);
    c->base = c->now;
    c->lo[SPACE_SHARED] = (u64)c->base << 32;
    for (u32 n = 0; n < c->launch->of->nwarps; n++) c->warp[n].warp_base = c->warp[n].cta_base = c->now;
}

void race_cta_end(struct race_cta *c)
{
    if (!c->exact && c->ntransient) {
        race_tick(c, c->launch->of->nwarps);
        c->base = c->now;
        cell_drop_transients(c);
    }
    note_caches_drop(c);
}

bool resident_at(const struct race *r, u32 slot, u32 time, struct resident *was)
{
    const struct race_cta *c = r->slot[slot];
    u32 from = 0, to = c->nresidents; /* the index of its run, if there is one, is at least from, and below to */
    if (!to) return false;
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
        volatile_free(c->volatiles);
        base_free(c->transient);
        base_free(c);
    }
    while (r->idle) {
        struct race_launch *launch = r->idle;
        r->idle = launch->next;
        launch_free(launch);
    }
    for (u32 n = 0; n < r->ntracked; n++) pages_release(r->tracked[n].cells, r->tracked[n].bytes);
    base_free(r->tracked);
    slabs_release(r);
    base_free(r->slab);
    base_free(r->heap);
}
