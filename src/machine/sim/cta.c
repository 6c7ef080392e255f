/* The life of a CTA: made once for a worker, started for one CTA of the grid after another, run until it is done or all
 * of it waits, freed when the launch ends.
 *
 * The warps of a CTA run in turn on the worker that has the CTA. A turn ends when every split of the warp waits, when
 * the warp gives way, or when it is done. The CTA is done with its last warp. */
#include "sim/cta.h"
#include "sim/attach.h"
#include "sim/cluster.h"
#include "sim/exec.h"
#include "sim/exits.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/sim_run.h"
#include "sim/special_registers.h"
#include "sim/asked.h"
#include "sim/wait.h"

enum { SPARE_MOST = 1 << 16 }; /* bytes of a CTA that are kept for the next launch */

/* ---- what hangs at warps and CTAs ---- */

static void free_attached_warp(struct warp *w)
{
    EACH_SET (row, w->has) {
        if (asked->attachments[row]->warp_free)
            asked->attachments[row]->warp_free(w);
        else
            base_free(w->attached[row]);
    }
    w->has = 0;
}

static void free_attached(struct cta *c)
{
    EACH_SET (row, c->has) {
        if (asked->attachments[row]->cta_free)
            asked->attachments[row]->cta_free(c);
        else
            base_free(c->attached[row]);
    }
    c->has = 0;
}

static bool push_attached(struct cta *c)
{
    bool some = false;
    EACH_SET (k, c->has) {
        const struct attachment *a = asked->attachments[k];
        some |= a->push && a->push(c);
    }
    return some;
}

/* ---- the end of a CTA, and its beginning ---- */

void frame_free(struct frame *f)
{
    asked->init_close_frame(f);
    base_free(f->R);
    base_free(f->pmem);
    base_free(f->tags);
    base_free(f);
}

void cta_free(struct cta *c)
{
    asked->init_close(c);
    for (u32 n = 0; n < c->nwarps; n++) {
        struct warp *w = c->warp[n];
        wait_probe_stop(w);
        free_attached_warp(w);
        for (u32 k = 0; k < w->nsplit; k++) {
            if (w->split[k].reads) base_free(w->split[k].reads);
            struct frame *f = w->split[k].fr; /* a launch that was stopped leaves frames behind */
            while (f && f != &w->base_frame && --f->refs == 0) {
                struct frame *up = f->up;
                frame_free(f);
                f = up;
            }
        }
        while (w->free_frames) {
            struct frame *f = w->free_frames;
            w->free_frames = f->next_free;
            frame_free(f);
        }
        base_free(w->plain_R);
        if (w->local) pages_release((u64)(uintptr_t)w->local, (u64)LANES * LOCAL_STACK);
    }
    free_attached(c);
    if (c->bytes <= SPARE_MOST) c = __atomic_exchange_n(&c->launch->sim->spare_cta, c, __ATOMIC_ACQ_REL);
    base_free(c);
}

/* Bytes from the start of one part of the block to the next. */
static size_t part(size_t bytes) { return (bytes + 127) / 128 * 128; }

/* A block of zeros, that of a CTA that is gone if it is as long; NULL: there is no memory. */
static struct cta *block_take(struct sim *s, size_t bytes)
{
    struct cta *c = bytes <= SPARE_MOST ? __atomic_exchange_n(&s->spare_cta, NULL, __ATOMIC_ACQUIRE) : NULL;
    if (c && c->bytes == bytes)
        memset(c, 0, bytes);
    else {
        base_free(c);
        c = base_aligned(bytes);
    }
    if (c) c->bytes = bytes;
    return c;
}

struct cta *cta_new(struct worker *k, u32 rank)
{
    struct launch *l = k->launch;
    u32 n = l->nwarps;
    size_t warps = part(sizeof(struct cta)), shared = warps + part(sizeof(struct warp *) * n),
           first = shared + part(l->shared_total + 128), regs = part(sizeof(struct warp)),
           pmem = regs + part(l->fast->bytes), tags = pmem + part((size_t)l->kernel->pmem_bytes * LANES + 1),
           each = tags + part((size_t)l->kernel->ntag * LANES * 4 + 1);
    struct cta *c = block_take(l->sim, first + each * n);
    if (!c) return NULL;
    char *block = (char *)c;
    c->launch = l;
    c->nwarps = n;
    c->worker = k;
    c->rank = rank;
    c->warp = (struct warp **)(block + warps);
    c->shared = block + shared;
    for (u32 i = 0; i < n; i++) {
        char *at = block + first + each * i;
        struct warp *w = c->warp[i] = (struct warp *)at;
        w->id = i;
        w->cta = c;
        w->shared = (char *)((uintptr_t)c->shared - cluster_base(rank));
        w->fast_R = at + regs;
        w->base_frame.pmem = at + pmem;
        w->base_frame.tags = (u32 *)(at + tags);
    }
    if (asked->init_shadows(c)) return c;
    cta_free(c);
    return NULL;
}

enum { DEOPT_MANY = 64 }; /* after so many, later CTAs start in plain code */

struct start {      /* what the warps of a CTA start with */
    bool fresh;     /* for the first time in this memory */
    bool init;      /* initialised values are checked ... */
    bool unwritten; /* ... and registers may be read that nothing was written to: only plain code knows of them */
    bool deopts;    /* so many deoptimised that plain code comes first, where it has registers */
    bool rare;      /* traced, followed by an observer, or perturbed */
    u32 fuel;       /* back edges before the first probe */
};

static void warp_start_rare(struct warp *w)
{
    const struct launch *l = w->cta->launch;
    w->trace = l->trace ? asked->trace_warp(w) : NULL;
    w->instrumented = wait_always_instrumented(w);
    if (w->trace) memset(w->traced, 0, sizeof w->traced);
    if (l->schedule.perturb) w->fuel = wait_refill(w, FUEL_FIRST);
}

static void warp_start(struct warp *w, const struct start *as)
{
    struct cta *c = w->cta;
    struct launch *l = c->launch;
    bool fresh = as->fresh;
    if (unlikely(as->unwritten) && !w->plain_R) {
        w->plain_R = base_aligned(l->plain->bytes);
        fresh = true;
        if (!w->plain_R) base_exhausted(l->plain->bytes, "registers");
    }
    bool plain = as->unwritten || (as->deopts && w->plain_R);
    struct frame *f = &w->base_frame;
    u32 first = w->id * LANES, left = l->threads - first;
    w->exits.n = w->arrived = 0;
    w->first_live = w->live = left >= LANES ? ALL_LANES : (1u << left) - 1;
    f->code = plain ? l->plain : l->fast;
    f->R = plain ? w->plain_R : w->fast_R;
    f->depth = 0;
    f->refs = 2; /* the warp's, and that of its first split */
    f->local_base = 0;
    f->top = 0;
    f->up = NULL;
    w->base = f;
    if (unlikely(w->probe != NULL)) wait_probe_stop(w); /* the CTA that ran here before may have left a probe */
    w->cur = NULL;
    w->code = NULL;
    w->trace = NULL;
    w->instrumented = false;
    if (unlikely(w->has)) ATTACH_EACH(w->has, warp_begin, w);
    w->blocks_seen = l->blocks_seen;
    w->loops.next_fuel = FUEL_FIRST;
    w->fuel = (s32)as->fuel;
    w->loops.woken = 0;
    w->locked = false;
    w->faults = 0;
    w->loops.outer_loop = NONE;
    w->loops.busy_loops = 0;
    if (unlikely(as->rare)) warp_start_rare(w);
    if (fresh || f->code->head_by_cta)
        head_fill(w, f->code, f->R, 0);
    else
        for (u32 k = 0; k < 3; k++) {
            u64 v = c->id[k];
            memcpy(SLOT(f->R, S_CTAID_X + k), &v, 8);
        }
    if (as->init) asked->init_frame(w, f, w->live);
    split_put(w->split, w->live, 0, f);
    w->nsplit = 1;
}

void cta_start(struct cta *c, u64 linear, bool fresh)
{
    struct launch *l = c->launch;
    c->linear = linear;
    if (unlikely(c->has)) ATTACH_EACH(c->has, cta_begin, c);
    if (linear < l->in->grid[0]) { /* most grids have one row, and a division takes as long as a few instructions */
        c->id[0] = (u32)linear;
        c->id[1] = c->id[2] = 0;
    } else {
        u64 rows = linear / l->in->grid[0];
        c->id[0] = (u32)(linear - rows * l->in->grid[0]);
        c->id[1] = (u32)(rows % l->in->grid[1]);
        c->id[2] = (u32)(rows / l->in->grid[1]);
    }
    c->running = c->nwarps;
    c->exited = c->divergent = c->triggered = c->gives_way = false;
    c->divergent_at = NULL;
    c->exits_reported = 0;
    if (c->bars_used) {
        memset(c->bar, 0, sizeof c->bar);
        c->bars_used = 0;
    }
    c->rng = l->in->seed ^ linear * 0x9e3779b97f4a7c15u ^ l->in->order * 0xbf58476d1ce4e5b9u;
    if (c->init) asked->init_cta(c);
    u32 system = l->kernel->func->module->shared_base;
    if (unlikely(system)) { /* cooperative groups find their part of it cleared */
        memset(c->shared, 0, system);
        if (c->init) shadow_define(c->init, cluster_base(c->rank), system);
    }
    struct start as = { .fresh = fresh,
                        .init = l->plain->watch & WATCH_INIT,
                        .deopts = __atomic_load_n(&l->deopts, __ATOMIC_RELAXED) > DEOPT_MANY,
                        .rare = l->trace || l->in->follow || l->schedule.perturb,
                        .fuel = __atomic_load_n(&l->schedule.locks, __ATOMIC_RELAXED) ? FUEL_LOCKED : FUEL_FIRST };
    as.unwritten = as.init && l->kernel->reads_unwritten && !l->fast->plain;
    for (u32 n = 0; n < c->nwarps; n++) warp_start(c->warp[n], &as);
    if (observed(l)) observe_sync(l, &(struct sync_event){ .kind = SYNC_CTA_BEGIN, .cta = c, .op = NONE });
}

bool warp_runnable(struct warp *w)
{
    bool run = false;
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *s = &w->split[k];
        if (s->state == SPLIT_IDLE && wait_changed(s)) {
            s->state = SPLIT_RUN;
            w->fuel = 0; /* its next round is probed */
            w->loops.woken = WOKEN_MOST;
        }
        if (s->state == SPLIT_SLEEP) s->state = SPLIT_RUN;
        run |= s->state == SPLIT_RUN;
    }
    return run;
}

bool cta_run(struct cta *c)
{
    struct launch *l = c->launch;
    u32 rounds = 0;
    if (launch_stopped(l)) { /* it is parked as it started, for the report */
        c->state = CTA_WAIT;
        return false;
    }
    for (;;) {
        bool ran = false, yielded = false;
        u32 start = l->in->seeded ? (u32)(rand_next(&c->rng) % c->nwarps) : 0;
        bool backwards = l->in->order && (l->in->order == 1 || rand_next(&c->rng) & 1);
        if (l->in->order == 1) start = 0;
        for (u32 n = 0; n < c->nwarps; n++) {
            u32 at = start + n;
            at = at < c->nwarps ? at : at - c->nwarps;
            struct warp *w = c->warp[backwards ? c->nwarps - 1 - at : at];
            bool plain_go = w->nsplit == 1 && w->split[0].state == SPLIT_RUN;
            if (!plain_go && (!w->nsplit || !warp_runnable(w))) continue;
            ran = true;
            enum exec_end e = exec_warp(w);
            if (launch_stopped(l)) {
                c->state = CTA_WAIT;
                return false;
            }
            if (e == EXEC_DONE) {
                c->running--;
                barrier_recheck(c);
            }
            if (e == EXEC_YIELD) yielded = true;
        }
        if (!c->running) {
            if (unlikely(c->has)) ATTACH_EACH(c->has, cta_end, c);
            if (observed(l)) observe_sync(l, &(struct sync_event){ .kind = SYNC_CTA_END, .cta = c, .op = NONE });
            return true;
        }
        if (!ran && unlikely(c->has) && push_attached(c)) continue; /* somebody may wait for it */
        if (!ran) {
            c->state = CTA_WAIT;
            return false;
        }
        bool handed = c->gives_way;
        c->gives_way = false;
        if (handed && l->nworkers > 1) thread_sleep_us(150); /* CTAs of other workers come to their locks, too */
        if (yielded && (handed || ++rounds > 4 || (l->schedule.perturb && rand_next(&c->rng) & 1))) {
            c->state = CTA_READY;
            return false;
        }
    }
}

bool cta_woken(const struct cta *c)
{
    if (c->state == CTA_READY) return true;
    for (u32 n = 0; n < c->nwarps; n++)
        for (u32 k = 0; k < c->warp[n]->nsplit; k++) {
            const struct split *s = &c->warp[n]->split[k];
            if (s->state == SPLIT_RUN || s->state == SPLIT_SLEEP || (s->state == SPLIT_IDLE && wait_changed(s)))
                return true;
        }
    return false;
}

/* ---- where threads left (exits.h) ---- */

void exit_record_join(struct exit_records *v, const struct exit_record *x)
{
    for (u32 k = 1; k < v->n; k++)
        if (v->at[k].op == x->op && v->at[k].low == x->low) {
            v->at[k].mask |= x->mask;
            return;
        }
    if (v->n < EXIT_RECORDS)
        v->at[v->n++] = *x;
    else
        v->at[EXIT_RECORDS - 1].mask |= x->mask;
}

void exit_record_cta(struct worker *k, const struct cta *c)
{
    for (u32 n = 0; n < c->nwarps; n++) {
        const struct warp *w = c->warp[n];
        for (u32 j = 0; j < w->exits.n; j++) exit_record_add(&k->exits, w->exits.at[j]);
    }
}
