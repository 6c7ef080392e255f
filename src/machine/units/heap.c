/* Device malloc and free.
 *
 * The heap is small (8 MB unless the host asks for more), and all threads that are on the card together take from it
 * together. Here CTAs run one after the other, and a thread that frees what it took would leave room for the next one,
 * so that nothing would ever be refused. What counts is therefore what the threads of a wave may hold at the same time:
 * for each thread the most that it held since the last barrier of its CTA, for each CTA the sum of these, and of the
 * CTAs as many as are resident together. Where threads may take turns by a lock (compare-and-swap, exchange), only
 * what is held at this moment counts. */
#include "units/heap.h"
#include "units/attachments.h"
#include "units/builtin.h"
#include "sim/finding_place.h"
#include "sim/observe.h"
#include "sim/sim_run.h"
#include <inttypes.h>

enum { HEAP_BYTES = 8 << 20 }; /* cudaLimitMallocHeapSize, as a program finds it */

struct heap_use {  /* of a CTA */
    u32 phases;    /* cta.phases when the sums began */
    u64 sum, most; /* of the most that its threads held since then; the largest such sum */
    struct held {  /* by thread */
        u64 now, most;
    } thread[];
};

enum { WAVE = 4096 }; /* CTAs that are remembered */
struct heap_wave {    /* of a launch; guarded by its elock */
    bool turns;       /* its threads may take turns by a lock */
    u64 running;      /* sum over CTAs that run: heap_use.most */
    u64 done[WAVE];   /* of the latest CTAs that have ended: the same; a ring */
    u32 ndone;        /* ended in all */
    u32 inside;       /* CTAs that run and have used the heap */
    /* the first malloc that gave a null pointer: where, for how many bytes, and what the threads of the wave ask for */
    const struct lowered *low;
    u32 op;
    u64 bytes, asked;
};

static u64 heap_size(const struct sim *s)
{
    u64 n = __atomic_load_n(&s->heap_limit, __ATOMIC_RELAXED);
    return n ? n : HEAP_BYTES;
}

static bool takes_turns(const struct lowered *l)
{
    for (u32 k = 0; k < l->nsite; k++)
        if (site_is_atomic(&l->site[k]) && (l->site[k].atom == AT_CAS || l->site[k].atom == AT_EXCH)) return true;
    return false;
}

/* What CTAs hold that are over and may be resident with those that run. */
static u64 held_before(const struct launch *l, const struct heap_wave *v)
{
    u64 sum = 0;
    u32 room = l->room.most > v->inside ? l->room.most - v->inside : 0;
    u32 n = MIN_OF(MIN_OF(room, v->ndone), (u32)WAVE);
    for (u32 k = 0; k < n; k++) sum += v->done[(v->ndone - 1 - k) % WAVE];
    return sum;
}

/* Of a CTA, and of its launch, guarded by elock; NULL: nothing so far. */
static struct heap_use *use_of(const struct cta *c) { return c->attached[AT_heap]; }
static struct heap_wave *wave_of(const struct launch *l) { return l->attached[AT_heap]; }

/* Both are there when this returns true. */
static bool opened(struct cta *c)
{
    struct launch *l = c->launch;
    if (!wave_of(l)) {
        struct heap_wave *v = l->attached[AT_heap] = base_alloc(sizeof *v);
        if (!v) return false;
        memset(v, 0, sizeof *v);
        v->turns = takes_turns(l->kernel);
    }
    if (!use_of(c)) {
        struct heap_use *u;
        size_t bytes = sizeof *u + sizeof *u->thread * c->nwarps * LANES;
        u = base_alloc(bytes);
        if (!u) return false;
        memset(u, 0, bytes);
        u->phases = c->phases;
        attach_cta(c, AT_heap, u);
        wave_of(l)->inside++;
    }
    return true;
}

/* After a barrier what others have freed before it is free. */
static void behind_barrier(struct cta *c)
{
    struct heap_use *u = use_of(c);
    if (u->phases == c->phases) return;
    u->phases = c->phases;
    u->sum = 0;
    for (u32 t = 0; t < c->nwarps * LANES; t++) u->sum += u->thread[t].most = u->thread[t].now;
}

/* Whether so many more bytes fit for the thread, beside those that other threads of its wave may hold. */
static bool heap_take(struct warp *w, const struct insn *i, u32 lane, u64 bytes)
{
    struct cta *c = w->cta;
    struct launch *l = c->launch;
    u64 size = heap_size(l->sim), held = __atomic_add_fetch(&l->sim->heap, bytes, __ATOMIC_RELAXED);
    bool fits = bytes <= size && held <= size;
    lock(&l->elock);
    if (opened(c)) {
        struct heap_wave *v = wave_of(l);
        struct heap_use *u = use_of(c);
        struct held *h = &u->thread[w->id * LANES + lane];
        behind_barrier(c);
        u64 most = MAX_OF(h->most, h->now + bytes), sum = u->sum + most - h->most, top = MAX_OF(u->most, sum);
        u64 asked = v->running - u->most + top + held_before(l, v);
        fits &= v->turns || asked <= size;
        if (!fits && !v->low) {
            v->low = w->code->low;
            v->op = i->op;
            v->bytes = bytes;
        }
        if (!fits) v->asked = MAX_OF(v->asked, asked);
        if (fits) {
            v->running += top - u->most;
            u->most = top;
            u->sum = sum;
            h->most = most;
            h->now += bytes;
        }
    }
    unlock(&l->elock);
    if (!fits) __atomic_sub_fetch(&l->sim->heap, bytes, __ATOMIC_RELAXED);
    return fits;
}

static void heap_give(struct warp *w, u32 lane, u64 bytes)
{
    struct launch *l = w->cta->launch;
    __atomic_sub_fetch(&l->sim->heap, bytes, __ATOMIC_RELAXED);
    lock(&l->elock);
    struct held *h = use_of(w->cta) ? &use_of(w->cta)->thread[w->id * LANES + lane] : NULL;
    if (h) h->now -= MIN_OF(h->now, bytes); /* what another thread took is that one's */
    unlock(&l->elock);
}

static void cta_ends(struct cta *c)
{
    struct launch *l = c->launch;
    struct heap_use *u = use_of(c);
    lock(&l->elock);
    struct heap_wave *v = wave_of(l);
    v->done[v->ndone++ % WAVE] = u->most;
    v->running -= u->most;
    v->inside--;
    unlock(&l->elock);
    base_free(u);
    attach_cta(c, AT_heap, NULL);
}

static void launch_ends(struct launch *l)
{
    base_free(wave_of(l));
    l->attached[AT_heap] = NULL;
}

const struct attachment attach_heap = { .cta_end = cta_ends, .launch_free = launch_ends };

const char *heap_refused(const struct launch *l, struct arena *mem)
{
    char site[300];
    lock_t *guard = (lock_t *)&l->elock;
    lock(guard);
    struct heap_wave v = wave_of(l) ? *wave_of(l) : (struct heap_wave){ 0 };
    unlock(guard);
    if (!v.low) return NULL;
    builtin_site(v.low, v.op, site, sizeof site);
    const char *slash = strrchr(site, '/');
    return arena_printf(mem,
                        "malloc of %" PRIu64 " bytes at %s gave a null pointer: the device heap has %" PRIu64
                        " bytes, and the threads that run together ask for %" PRIu64 " and more",
                        v.bytes, slash ? slash + 1 : site, heap_size(l->sim), v.asked);
}

u64 heap_alloc(struct warp *w, const struct insn *i, u32 lane, u64 bytes)
{
    struct sim *s = w->cta->launch->sim;
    struct error e = { 0 };
    char site[300];
    if (!heap_take(w, i, lane, bytes)) return 0;
    builtin_site(w->code->low, i->op, site, sizeof site);
    struct mem_object *o = mem_alloc(s->mem, bytes, 16, MEM_HEAP, "memory of malloc", site, &e);
    if (!o) heap_give(w, lane, bytes);
    if (o && observed(w->cta->launch)) observe_allocated(w, o);
    return o ? o->base : 0;
}

void heap_free(struct warp *w, const struct insn *i, u32 lane, u64 addr)
{
    struct sim *s = w->cta->launch->sim;
    struct mem_object *o = mem_find(s->mem, addr);
    char site[300], cause[400];
    if (!addr) return;
    builtin_site(w->code->low, i->op, site, sizeof site);
    bool heap = o && o->kind == MEM_HEAP && o->base == addr;
    enum mem_free_result r = heap ? mem_free(s->mem, addr, site, &o) : MEM_FREE_BAD;
    if (r == MEM_FREE_OK) {
        heap_give(w, lane, o->size);
        return;
    }
    struct finding f = { .kind = r == MEM_FREE_TWICE ? F_double_free : F_bad_free, .cause = cause };
    if (r == MEM_FREE_TWICE)
        snprintf(cause, sizeof cause, "it was freed before, at %s", o->free_site ? o->free_site : "an unknown place");
    else
        snprintf(cause, sizeof cause, "the address is %s%s, and not what device malloc returned",
                 o ? "inside " : "no allocation", o ? o->name : "");
    finding_add(w, i->op, &f, 1u << lane);
}
