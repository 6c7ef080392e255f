/* Memory that has cells: the objects that running launches may write, and those that they read if others may write
 * them.
 *
 * The cells of an object stay with it from launch to launch; mem_object.race leads to them while a launch needs them.
 * Memory of malloc, which kernels take and give back without end, has cells in slabs, which go with the era. */
#include "race/race_track.h"
#include "race/happens_before.h"
#include "race/race_footprint.h"
#include "race/race_kernel.h"
#include "race/race_launch.h"
#include "race/race_touch.h"

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
    NEED_ROOM(r->slab, r->nslab, r->capslab, 16);
    memmove(r->slab + low + 1, r->slab + low, sizeof *r->slab * (r->nslab - low));
    r->slab[low] = (struct slab){ from, cells_new((u64)SLAB + SLAB_TAIL), from };
    r->nslab++;
    return &r->slab[low];
}

/* The object leads to its cells. Launches that run may look. */
static void lead_to(struct mem_object *o, u64 cells) { __atomic_store_n(&o->race, cells, __ATOMIC_RELEASE); }

/* Remembers an object that is in a slab. Those that are gone, or are other objects by now, make room. */
static void heap_add(struct race *r, struct mem_object *o)
{
    if (r->nheap == r->capheap) {
        u32 keep = 0;
        for (u32 n = 0; n < r->nheap; n++)
            if (mem_is_live(r->heap[n]) && r->heap[n]->tracked == n + 1) {
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
    lead_to(o, s->cells - cells_for(s->from));
    heap_add(r, o);
}

void race_track(struct race *r, struct mem_object *o, struct race_warp *w)
{
    if (!o || o->race || !mem_is_live(o)) return;
    if (o->kind == MEM_HEAP && o->size <= SLAB_TAIL) {
        track_heap(r, o, w);
        return;
    }
    if (o->tracked && o->tracked <= r->ntracked && r->tracked[o->tracked - 1].o == o) {
        lead_to(o, r->tracked[o->tracked - 1].cells - cells_for(o->base & ~(u64)(SECTOR - 1)));
        return;
    }
    u64 from = o->base & ~(u64)(SECTOR - 1), bytes = ((o->base + o->size + SECTOR - 1) & ~(u64)(SECTOR - 1)) - from;
    u64 cells = cells_new(bytes);
    NEED_ROOM(r->tracked, r->ntracked, r->captracked, 64);
    r->tracked[r->ntracked++] = (struct tracked){ o, cells, cells_mapped(bytes), 0 };
    o->tracked = r->ntracked;
    lead_to(o, cells - cells_for(from));
}

/* The launch only reads the object, and nothing shares its era. What malloc gave has cells as usual: there are many of
 * them in a slab. */
static void track_read_only(struct race *r, struct mem_object *o)
{
    if (!o || o->race || o->reads) return;
    race_track(r, o, NULL);
    if (o->kind == MEM_HEAP && o->size <= SLAB_TAIL) return;
    __atomic_store_n(&o->reads, o->race, __ATOMIC_RELEASE);
    lead_to(o, 0);
}

static void slabs_release(struct race *r)
{
    for (u32 n = 0; n < r->nslab; n++) pages_release(r->slab[n].cells, cells_mapped((u64)SLAB + SLAB_TAIL));
    r->nslab = r->nheap = 0;
}

enum { SWEEP_LEAST = 64 }; /* tracked objects */

/* What launches that run have done to the object is told; what the cells refer to is given back, then their memory. A
 * launch that runs may still use an object that the host
 * has freed: the addresses of its cells stay. */
static void sweep_object(struct race *r, struct tracked *t)
{
    footprint_report_gone(r, t);
    struct race_cta *c = r->sweeper;
    struct touch touch = { .w = &c->warp[0], .space = SPACE_GLOBAL };
    u64 from = t->o->base & ~(u64)(SECTOR - 1), lo = c->lo[SPACE_GLOBAL];
    bool read_only = t->o->reads != 0;
    __atomic_store_n(&t->o->race, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&t->o->reads, 0, __ATOMIC_RELEASE);
    t->o->tracked = 0;
    u64 run, bytes;
    for (u64 next = t->o->base; mem_run_next(t->o, next, true, &run, &bytes); next = run + bytes)
        for (u64 at = run & ~(u64)(SECTOR - 1); at < run + bytes; at += SECTOR) {
            struct cell *x = cell_of((const char *)(uintptr_t)t->cells, at - from);
            cells_lock(c->era, at);
            if (!read_only && (x->w >= lo || x->r >= lo)) cell_clear(&touch, x);
            cells_unlock(c->era, at);
        }
    pages_discard(t->cells, t->bytes);
    NEED_ROOM(r->gone, r->ngone, r->capgone, 64);
    r->gone[r->ngone++] = *t;
}

void track_sweep(struct race *r)
{
    u32 keep = 0;
    if (r->ntracked < MAX_OF(r->sweep_at, (u32)SWEEP_LEAST)) return;
    if (!r->sweeper) r->sweeper = base_need(sizeof *r->sweeper);
    r->sweeper->race = r;
    r->sweeper->era = r->era;
    r->sweeper->exact = true;
    r->sweeper->lo[SPACE_GLOBAL] = hb_era_floor(r->era);
    r->sweeper->warp[0].c = r->sweeper;
    for (u32 n = 0; n < r->ntracked; n++) {
        struct tracked t = r->tracked[n];
        if (__atomic_load_n(&t.o->state, __ATOMIC_ACQUIRE) == MEM_FREED) {
            sweep_object(r, &t);
            continue;
        }
        r->tracked[keep++] = t;
        t.o->tracked = keep;
    }
    r->ntracked = keep;
    r->sweep_at = 2 * keep;
}

void untrack(struct race *r, bool all)
{
    u32 keep = 0;
    while (r->ngone) {
        const struct tracked *t = &r->gone[--r->ngone];
        pages_release(t->cells, t->bytes);
    }
    for (u32 n = 0; n < r->ntracked; n++) {
        struct tracked t = r->tracked[n];
        t.o->race = t.o->reads = t.o->tracked = 0;
        if (all || !mem_is_live(t.o)) {
            pages_release(t.cells, t.bytes);
            continue;
        }
        r->tracked[keep++] = t;
        t.o->tracked = keep;
    }
    r->ntracked = keep;
    for (u32 n = 0; n < r->nheap; n++) r->heap[n]->race = r->heap[n]->tracked = 0;
    slabs_release(r);
}

static void track_one(struct race *r, struct mem_object *o, bool read_only)
{
    if (read_only)
        track_read_only(r, o);
    else
        race_track(r, o, NULL);
}

static void track_reach(struct race *r, const struct launch *l, const struct objects *k, bool read_only)
{
    for (u32 id = 1; k->anywhere; id++) {
        struct mem_object *o = mem_by_id(r->mem, id);
        if (!o) return;
        if (o->kind != MEM_CONST) track_one(r, o, read_only);
    }
    for (u32 n = 0; n < k->nparam; n++) {
        u64 p;
        memcpy(&p, l->param.block + k->param[n], 8);
        track_one(r, mem_find(r->mem, p), read_only);
    }
    for (u32 n = 0; n < k->nvar; n++)
        if (k->var[n]->addr) track_one(r, mem_find(r->mem, k->var[n]->addr), read_only);
}

void track_launch(struct race *r, const struct launch *l, const struct race_kernel *k, bool reads)
{
    track_reach(r, l, &k->written, false);
    if (reads) track_reach(r, l, &k->read, !r->era->exact);
}

void tracked_free(struct race *r)
{
    untrack(r, true);
    base_free(r->tracked);
    base_free(r->gone);
    base_free(r->sweeper);
    base_free(r->slab);
    base_free(r->heap);
}
