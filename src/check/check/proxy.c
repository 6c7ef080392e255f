/* Proxies. Ordinary stores go by the generic proxy; bulk and tensor copies and wgmma read shared memory by the async
 * proxy, which need not see those stores before a fence.proxy.async lies between the two.
 *
 * By the memory model the fence may be anywhere on the way from the store to the reader: in the thread that stored, in
 * the one that reads, or in one between them. Which threads are on that way is not looked at. A store counts as fenced
 * when any thread of its CTA has executed the fence since, so that nothing is reported of a kernel that orders its
 * proxies in another way than most do; that one warp lacks a fence which another one executes is not found.
 *
 * Stores of kernels that have such readers are marked (INS_PROXY of decode.h), in chunks of 16 bytes. Bytes that
 * cp.async brings are left out. */
#include "check/proxy.h"
#include "units/attachments.h"
#include "sim/access.h"
#include "sim/cluster.h"
#include "sim/finding_place.h"
#include "units/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/sim_run.h"

enum { CHUNK = 16 };

struct stored {                /* a chunk of shared memory */
    u32 age;                   /* proxies.age when an ordinary store wrote it last */
    u32 op;                    /* the operation */
    const struct lowered *low; /* its function */
    u32 thread;                /* who it was */
};
struct proxies { /* of a CTA */
    u32 age;     /* fences so far, and CTAs that were here before; never 0 */
    u32 begun;   /* the age when the CTA began */
    u32 n;       /* chunks */
    struct stored at[];
};

static struct proxies *proxies_in(const struct cta *c) { return c->attached[AT_proxies]; } /* NULL: nothing so far */

static struct proxies *proxies_of(struct cta *c)
{
    struct proxies *p = proxies_in(c);
    if (p) return p;
    u32 n = (u32)((c->launch->shared_total + CHUNK - 1) / CHUNK);
    p = base_need(sizeof *p + n * sizeof *p->at);
    memset(p, 0, sizeof *p + n * sizeof *p->at);
    p->age = p->begun = 1;
    p->n = n;
    attach_cta(c, AT_proxies, p);
    return p;
}

static void begin(struct cta *c) { proxies_in(c)->begun = ++proxies_in(c)->age; }

static void fence(struct warp *w, const struct lop *o)
{
    if (o->aux & FENCE_ASYNC) proxies_in(w->cta)->age++;
}

bool proxy_stored(const struct cta *c, u64 offset)
{
    const struct proxies *p = proxies_in(c);
    return p && offset / CHUNK < p->n && p->at[offset / CHUNK].age >= p->begun;
}

/* The offset of an address in the shared memory of the CTA; beyond its end: it is elsewhere. */
static u64 own_offset(const struct access *a, u32 lane)
{
    const struct cta *c = a->warp->cta;
    u64 at = a->addr[lane];
    if (a->site->space == SP_GENERIC) at -= mem_shared_window(c->launch->sim->mem);
    return at - cluster_base(c->rank);
}

int proxy_store(char *restrict R, const struct insn *i, struct warp *w)
{
    struct access a = { .site = &w->code->low->site[i->site], .insn = i, .warp = w, .mask = active_lanes(w, R, i) };
    struct cta *c = w->cta;
    if (!a.mask || !(c->launch->in->checks & CHECK_ASYNC)) return 0;
    struct proxies *p = proxies_of(c);
    access_addresses(&a, R);
    EACH_SET (l, a.mask) {
        u64 at = own_offset(&a, l), bytes = access_length(&a, R, l);
        if (at >= c->launch->shared_total || !bytes) continue;
        for (u64 k = at / CHUNK; k <= (at + bytes - 1) / CHUNK && k < p->n; k++)
            p->at[k] = (struct stored){ p->age, i->op, w->code->low, w->id * LANES + l };
    }
    return 0;
}

/* Something else than an ordinary store has written there. */
static void wrote(struct cta *c, const char *at, u32 bytes)
{
    struct proxies *p = proxies_in(c);
    u64 from = (u64)(at - c->shared);
    for (u64 k = from / CHUNK; k <= (from + bytes - 1) / CHUNK && k < p->n; k++) p->at[k].age = 0;
}

static void missing(const struct flight *f, const struct stored *s, u64 offset)
{
    const struct cta *c = f->from_cta;
    struct arena mem = { 0 };
    const char *reader = f->end == FLIGHT_WGMMA ? "wgmma" : f->end == FLIGHT_TENSOR ? "tcgen05" : "a bulk copy";
    struct finding x = { .kind = F_async_proxy,
                         .cause = arena_printf(
                             &mem,
                             "thread %u wrote the 16 bytes at shared memory+0x%llx with an ordinary store, and no "
                             "thread of the block has executed fence.proxy.async since: %s reads by another proxy, "
                             "which need not see the store, whatever barriers lie between",
                             s->thread, (unsigned long long)offset, reader),
                         .order = "fence.proxy.async by each thread that stores, and the barrier after it" };
    x.other = finding_place(&mem, s->low, s->op);
    if (c->launch->in->checks & CHECK_ASYNC) finding_add_of(f->warp, f->low, f->op, &x, 1u << f->lane);
    arena_free(&mem);
}

/* The async proxy reads the sources of a flight: reports the first that an ordinary store has written since the last
 * fence between the two proxies. */
static void reads(struct cta *c, const struct flight *f)
{
    const struct proxies *p = proxies_in(c);
    if (f->from_space != SP_SHARED || f->was_read) return;
    for (u32 n = 0; n < f->n; n++) {
        const struct flight_move *m = &f->move[n];
        u64 at = m->from ? cluster_offset(m->from_at) : 0;
        for (u64 k = at / CHUNK; m->from && k <= (at + m->bytes - 1) / CHUNK && k < p->n; k++)
            if (p->at[k].age == p->age) {
                missing(f, &p->at[k], k * CHUNK);
                return;
            }
    }
}

const struct attachment attach_proxies = {
    .cta_begin = begin, .fence = fence, .async_wrote = wrote, .async_reads = reads
};

/* ---- tensor maps ---- */

/* A map that tensormap.replace or tensormap.cp_fenceproxy has changed is read by the tensormap proxy, which need not
 * see that before a fence.proxy.tensormap::generic.acquire of the map. As above, any thread of the CTA may execute it;
 * that a release came first is not looked at, nor maps that other CTAs change. */
enum { MAPS = 64 };
struct changed_maps { /* of a CTA */
    u32 n;
    struct {
        u64 at;                    /* of a map that was changed and not acquired */
        u32 op;                    /* the operation that changed it */
        const struct lowered *low; /* its function */
        u32 thread;                /* who it was */
    } p[MAPS];
};

static struct changed_maps *maps_of(const struct cta *c) { return c->attached[AT_maps]; } /* NULL: none so far */

static void maps_begin(struct cta *c)
{
    base_free(maps_of(c));
    attach_cta(c, AT_maps, NULL);
}

int run_map_event(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct insn_opnd *o = insn_src(w->code, i, 0);
    struct cta *c = w->cta;
    bool changed = w->code->low->op[i->op].aux == MAP_CHANGED;
    u64 at[LANES];
    if (!(c->launch->in->checks & CHECK_ASYNC) || (!changed && !maps_of(c))) return 0;
    lane_values(w->code, R, o->slot, o->cls, 8, at);
    if (!maps_of(c)) {
        attach_cta(c, AT_maps, base_need(sizeof(struct changed_maps)));
        maps_of(c)->n = 0;
    }
    EACH_SET (l, active_lanes(w, R, i)) {
        u32 k = 0;
        struct changed_maps *maps = maps_of(c);
        while (k < maps->n && maps->p[k].at != at[l]) k++;
        if (!changed && k < maps->n) maps->p[k] = maps->p[--maps->n];
        if (!changed || k == MAPS) continue;
        if (k < maps->n && maps->p[k].op == i->op) continue;
        if (k == maps->n) maps->n++;
        maps->p[k].at = at[l];
        maps->p[k].op = i->op;
        maps->p[k].low = w->code->low;
        maps->p[k].thread = w->id * LANES + l;
    }
    return 0;
}

/* Reports a map that was changed without the fence that makes it known to the tensor unit. */
static void map_used(struct warp *w, const struct insn *i, u32 lane, u64 at)
{
    const struct changed_maps *maps = maps_of(w->cta);
    struct arena mem = { 0 };
    for (u32 k = 0; maps && k < maps->n; k++) {
        if (maps->p[k].at != at) continue;
        struct finding x = {
            .kind = F_async_proxy,
            .cause = arena_printf(&mem,
                                  "thread %u changed the tensor map in global memory, and no thread of the "
                                  "block has executed fence.proxy.tensormap::generic.acquire for it since: the tensor "
                                  "unit may use the map as it was",
                                  maps->p[k].thread),
            .order = "fence.proxy.tensormap::generic.acquire of the map's 128 bytes, after the barrier that follows "
                     "the change",
            .fix = "Execute fence.proxy.tensormap::generic.acquire.gpu [map], 128 in the thread that issues the copy."
        };
        x.other = finding_place(&mem, maps->p[k].low, maps->p[k].op);
        finding_add(w, i->op, &x, 1u << lane);
        break;
    }
    arena_free(&mem);
}

const struct attachment attach_maps = { .cta_begin = maps_begin, .map_used = map_used };
