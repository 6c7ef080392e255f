/* From a launch to its end: workers, CTAs, residency, parking, the verdict when nobody can run.
 *
 * A CTA stays on its worker until it is done or all its splits wait; then it is parked, and the worker takes a parked
 * CTA that woke up, or starts the next one while residency allows. So a plain grid holds one CTA a worker, and a grid
 * barrier holds all that fit. Small grids run on the caller's thread alone. */
#include "sim/machine.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "code/overflow.h"

/* ---- register files ---- */

static u64 sreg_value(const struct warp *w, u32 id, u32 comp, u32 lane)
{
    const struct launch *l = w->cta->launch;
    const struct sim_launch *in = l->in;
    u32 t = w->id * LANES + lane;
    switch (id) {
    case SR_TID:
        return comp == 0   ? t % in->block[0]
               : comp == 1 ? t / in->block[0] % in->block[1]
               : comp == 2 ? t / in->block[0] / in->block[1]
                           : 0;
    case SR_NTID: return comp < 3 ? in->block[comp] : 0;
    case SR_CTAID: return comp < 3 ? w->cta->id[comp] : 0;
    case SR_NCTAID: return comp < 3 ? in->grid[comp] : 0;
    case SR_LANEID: return lane;
    case SR_WARPID: return w->id;
    case SR_NWARPID: return l->sim->profile->warps_per_sm;
    case SR_SMID: return w->cta->linear % l->sim->profile->sms;
    case SR_NSMID: return l->sim->profile->sms;
    case SR_GRIDID: return l->serial;
    case SR_LANEMASK_EQ: return 1u << lane;
    case SR_LANEMASK_LE: return (2u << lane) - 1;
    case SR_LANEMASK_LT: return (1u << lane) - 1;
    case SR_LANEMASK_GE: return ~((1u << lane) - 1);
    case SR_LANEMASK_GT: return ~((2u << lane) - 1);
    case SR_DYNAMIC_SMEM_SIZE: return in->shared_bytes;
    case SR_TOTAL_SMEM_SIZE:
        return (l->shared_total - l->kernel->func->module->shared_base + 127) &
               ~127ull; /* in the units that shared memory is given out in */
    case SR_AGGR_SMEM_SIZE:
        return l->shared_total - l->kernel->func->module->shared_base + l->sim->profile->shared_reserved;
    case SR_RESERVED_SMEM_OFFSET_END:
    case SR_RESERVED_SMEM_OFFSET_CAP: return SHARED_RESERVED;
    case SR_RESERVED_SMEM_OFFSET_1: return SHARED_GROUPS;
    case SR_NCLUSTERID: return comp < 3 ? in->grid[comp] : 0;
    case SR_CLUSTERID: return comp < 3 ? w->cta->id[comp] : 0;
    case SR_CLUSTER_NCTAID: return comp < 3;
    case SR_CLUSTER_NCTARANK: return 1;
    case SR_ENVREG: return comp == 1 ? l->grid_workspace >> 32 : comp == 2 ? (u32)l->grid_workspace : 0;
    case SR_DYN_SHARED: return l->dyn_shared;
    default: return 0;
    }
}

static u64 window_base(const struct launch *l, u32 comp)
{
    return comp == 1   ? mem_shared_window(l->sim->mem)
           : comp == 2 ? mem_local_window(l->sim->mem)
           : comp == 3 ? l->param_address
                       : 0;
}

u64 opnd_value(const struct warp *w, struct opnd o, u32 lane)
{
    const struct launch *l = w->cta->launch;
    u64 v = 0;
    if (o.kind == O_CONST) return o.value + window_base(l, o.comp);
    if (o.kind == O_SREG) return sreg_value(w, o.reg, o.comp, lane);
    memcpy(&v, l->param_copy + o.value, 8);
    return v;
}

/* Constants, parameters and special registers, as the code expects them. */
void head_fill(struct warp *w, const struct code *c, char *R, u32 local_base)
{
    for (u32 k = 0; k < 3; k++) {
        u64 v = w->cta->id[k];
        memcpy(SLOT(R, S_CTAID_X + k), &v, 8);
    }
    for (u32 k = 0; k < c->nhead; k++) {
        const struct head *h = &c->head[k];
        if (h->cls == CLS_V) {
            for (u32 n = 0; n < LANES; n++) {
                u32 x = (u32)opnd_value(w, h->o, n);
                memcpy(SLOT(R, h->slot) + 4 * n, &x, 4);
            }
            continue;
        }
        for (u32 g = 0; g < (h->cls == CLS_A ? c->groups : 1); g++) {
            u64 v = h->o.kind == O_SREG && h->o.reg == SR_LOCAL_BASE ? local_base : opnd_value(w, h->o, g * c->group);
            memcpy(SLOT(R, h->slot) + 8 * g, &v, 8);
        }
    }
}

struct range *ranges_of(struct warp *w, struct lowered *l)
{
    struct worker *k = w->cta->worker;
    for (u32 j = 0; j < k->nfunc; j++)
        if (k->func[j].low == l) return k->func[j].r;
    if (k->nfunc == k->capfunc) k->func = vec_grow(&k->mem, k->func, &k->capfunc, sizeof *k->func, 8);
    k->func[k->nfunc] = (struct ranges){ l, NEW_ARRAY(&k->mem, struct range, l->nsite + 1) };
    struct range *r = k->func[k->nfunc++].r;
    for (u32 j = 0; j < l->nsite; j++) { /* shared arrays are where they are for the whole launch */
        const struct site *s = &l->site[j];
        if (s->space != SP_SHARED) continue;
        const struct launch *lc = w->cta->launch;
        r[j] = (struct range){ .lo = 0, .size = lc->shared_total };
        if (s->root.kind != ROOT_VAR || s->root.var->space != SP_SHARED) continue;
        bool dynamic = !s->root.var->size && s->root.var->is_extern;
        r[j].lo = dynamic ? lc->dyn_shared : s->root.var->offset;
        r[j].size = dynamic ? lc->shared_total - lc->dyn_shared : s->root.var->size;
    }
    return r;
}

/* ---- CTAs ---- */

static void frame_free(struct frame *f)
{
    init_close_frame(f);
    base_free(f->R);
    base_free(f->pmem);
    base_free(f->tags);
    base_free(f);
}

static void cta_free(struct cta *c)
{
    init_close(c);
    for (u32 n = 0; c->warp && n < c->nwarps; n++) {
        struct warp *w = c->warp[n];
        if (!w) continue;
        wait_stop(w);
        base_free(w->copies);
        wraps_free(w);
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
        base_free(w->fast_R);
        base_free(w->plain_R);
        base_free(w->base_frame.pmem);
        base_free(w->base_frame.tags);
        if (w->local) pages_release((u64)(uintptr_t)w->local, (u64)LANES * LOCAL_STACK);
        base_free(w);
    }
    base_free(c->mbarriers);
    base_free(c->warp);
    base_free(c->shared);
    base_free(c);
}

static struct cta *cta_new(struct worker *k)
{
    struct launch *l = k->launch;
    struct cta *c = base_alloc(sizeof *c);
    if (!c) return NULL;
    c->launch = l;
    c->nwarps = l->nwarps;
    c->worker = k;
    c->warp = base_alloc(sizeof *c->warp * l->nwarps);
    c->shared = base_aligned(l->shared_total + 128);
    bool ok = c->warp && c->shared;
    for (u32 n = 0; ok && n < l->nwarps; n++) {
        struct warp *w = c->warp[n] = base_alloc(sizeof *w);
        if (!w) {
            ok = false;
            break;
        }
        w->id = n;
        w->cta = c;
        w->shared = c->shared;
        w->fast_R = base_aligned(l->fast->bytes);
        struct frame *f = &w->base_frame;
        f->pmem = base_aligned((size_t)l->kernel->pmem_bytes * LANES + 1);
        f->tags = base_aligned((size_t)l->kernel->ntag * LANES * 4 + 1);
        ok = w->fast_R && f->pmem && f->tags;
    }
    ok = ok && init_shadows(c);
    if (ok) return c;
    cta_free(c);
    return NULL;
}

enum { DEOPT_MANY = 64 }; /* after so many, later CTAs start in plain code */

static void warp_start(struct warp *w, bool fresh)
{
    struct cta *c = w->cta;
    struct launch *l = c->launch;
    bool unwritten = l->plain->watch & WATCH_INIT && l->kernel->reads_unwritten && !l->fast->plain;
    if (unwritten && !w->plain_R) {
        w->plain_R = base_aligned(l->plain->bytes);
        fresh = true;
    }
    if (unwritten && !w->plain_R) base_exhausted(l->plain->bytes, "registers");
    bool plain = unwritten || (__atomic_load_n(&l->deopts, __ATOMIC_RELAXED) > DEOPT_MANY && w->plain_R);
    struct frame *f = &w->base_frame;
    u32 first = w->id * LANES, left = l->threads - first;
    w->nleft = w->came = 0;
    w->first_live = w->live = left >= LANES ? ALL_LANES : (1u << left) - 1;
    f->code = plain ? l->plain : l->fast;
    f->R = plain ? w->plain_R : w->fast_R;
    f->depth = 0;
    f->refs = 1;
    f->local_base = 0;
    f->top = 0;
    f->up = NULL;
    w->base = f;
    wait_stop(w); /* the CTA before may have left a loop that was watched */
    w->nsplit = 0;
    w->cur = NULL;
    w->code = NULL;
    w->trace = unlikely(l->trace != NULL) ? trace_warp(w) : NULL;
    w->rare = w->trace != NULL || l->in->follow || l->shaken;
    if (w->trace) memset(w->traced, 0, sizeof w->traced);
    if (w->copies) async_reset(w);
    if (w->wraps) wraps_reset(w);
    w->fuel_next = FUEL_FIRST;
    w->fuel = unlikely(l->shaken) ? wait_tank(w, FUEL_FIRST) : FUEL_FIRST;
    if (fresh || f->code->head_by_cta)
        head_fill(w, f->code, f->R, 0);
    else
        for (u32 k = 0; k < 3; k++) {
            u64 v = c->id[k];
            memcpy(SLOT(f->R, S_CTAID_X + k), &v, 8);
        }
    if (l->plain->watch & WATCH_INIT) init_frame(w, f, w->live);
    exec_split(w, w->live, 0, f);
}

static void cta_start(struct cta *c, u64 linear, bool fresh)
{
    struct launch *l = c->launch;
    c->linear = linear;
    async_begin(c);
    c->id[0] = (u32)(linear % l->in->grid[0]);
    c->id[1] = (u32)(linear / l->in->grid[0] % l->in->grid[1]);
    c->id[2] = (u32)(linear / l->in->grid[0] / l->in->grid[1]);
    c->running = c->nwarps;
    c->exited = c->divergent = false;
    c->noted = 0;
    if (c->bars_used) {
        memset(c->bar, 0, sizeof c->bar);
        c->bars_used = 0;
    }
    c->rng = l->in->seed ^ linear * 0x9e3779b97f4a7c15u ^ l->in->order * 0xbf58476d1ce4e5b9u;
    if (c->init) init_cta(c);
    u32 system = l->kernel->func->module->shared_base;
    if (unlikely(system)) { /* cooperative groups find their part of it cleared */
        memset(c->shared, 0, system);
        if (c->init) shadow_define(c->init, 0, system);
    }
    for (u32 n = 0; n < c->nwarps; n++) warp_start(c->warp[n], fresh);
    if (observed(l)) observe_sync(l, (struct sync_event){ .kind = SYNC_CTA_BEGIN, .cta = c, .op = NONE });
}

/* Wakes what can go on: sleepers, and spinning splits that saw a change. */
bool warp_runnable(struct warp *w)
{
    bool run = false;
    for (u32 k = 0; k < w->nsplit; k++) {
        struct split *s = &w->split[k];
        /* look again after one round */
        if (s->state == SP_IDLE && wait_changed(s, w)) {
            s->state = SP_RUN;
            w->fuel = 0;
        }
        if (s->state == SP_SLEEP) s->state = SP_RUN;
        run |= s->state == SP_RUN;
    }
    return run;
}

/* Runs a CTA until it is done (true) or all of it waits or has given way (false; c->state says which). */
static bool cta_run(struct cta *c)
{
    struct launch *l = c->launch;
    u32 rounds = 0;
    if (launch_stopped(l)) {
        c->state = CTA_WAIT;
        return false;
    } /* just started: the report says so */
    for (;;) {
        bool ran = false, yielded = false;
        u32 start = l->in->seeded ? (u32)(rand_next(&c->rng) % c->nwarps) : 0;
        bool backwards = l->in->order && (l->in->order == 1 || rand_next(&c->rng) & 1);
        if (l->in->order == 1) start = 0;
        for (u32 n = 0; n < c->nwarps; n++) {
            u32 at = start + n;
            at = at < c->nwarps ? at : at - c->nwarps;
            struct warp *w = c->warp[backwards ? c->nwarps - 1 - at : at];
            bool plain_go = w->nsplit == 1 && w->split[0].state == SP_RUN;
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
            if (observed(l)) observe_sync(l, (struct sync_event){ .kind = SYNC_CTA_END, .cta = c, .op = NONE });
            return true;
        }
        if (!ran) {
            c->state = CTA_WAIT;
            return false;
        }
        if (yielded && (++rounds > 4 || (l->shaken && rand_next(&c->rng) & 1))) {
            c->state = CTA_READY;
            return false;
        }
    }
}

/* ---- workers ---- */

static bool cta_woken(struct cta *c)
{
    if (c->state == CTA_READY) return true;
    for (u32 n = 0; n < c->nwarps; n++)
        for (u32 k = 0; k < c->warp[n]->nsplit; k++) {
            const struct split *s = &c->warp[n]->split[k];
            if (s->state == SP_RUN || s->state == SP_SLEEP || (s->state == SP_IDLE && wait_changed(s, c->warp[n])))
                return true;
        }
    return false;
}

static void park(struct launch *l, struct cta *c)
{
    c->next = NULL;
    struct cta **p = &l->parked_tail;
    if (*p)
        (*p)->next = c;
    else
        l->parked = c;
    *p = c;
    __atomic_store_n(&l->nparked, l->nparked + 1, __ATOMIC_RELAXED);
}

static struct cta *unpark(struct launch *l)
{
    struct cta *c = l->parked;
    l->parked = c->next;
    if (!l->parked) l->parked_tail = NULL;
    __atomic_store_n(&l->nparked, l->nparked - 1, __ATOMIC_RELAXED);
    return c;
}

/* Takes a parked CTA that woke up, looking at no more than `most`; those passed over go to the end. */
static struct cta *take_parked(struct launch *l, u32 most)
{
    for (u32 k = l->shaken && l->nparked ? (u32)(rand_next(&l->rng) % l->nparked) : 0; k; k--) park(l, unpark(l));
    for (u32 k = 0; k < most && l->parked; k++) {
        struct cta *c = unpark(l);
        if (cta_woken(c)) return c;
        park(l, c);
    }
    return NULL;
}

static void pause_for_others(u32 *wait)
{
    if (*wait < 64) {
        for (u32 k = 0; k < 50; k++) cpu_relax();
        (*wait)++;
        return;
    }
    thread_sleep_us(*wait < 128 ? 20 : 1000);
    if (*wait < 1000) (*wait)++;
}

static u64 ctas_started(const struct launch *l) { return __atomic_load_n(&l->next, __ATOMIC_RELAXED); }

u64 launch_started(const struct launch *l)
{
    u64 n = ctas_started(l);
    for (u32 k = 0; k < l->nworkers; k++) n -= l->worker[k].to - l->worker[k].from; /* claimed only */
    return n;
}

/* Another order of the CTAs: backwards, or steps of a random size that reach each of them once. */
static void order_choose(struct launch *l)
{
    u64 rng = l->in->seed ^ l->in->order * 0x94d049bb133111ebu, n = l->total;
    l->order_by = l->order_from = n ? n - 1 : 0;
    l->rng = rand_next(&rng);
    l->shaken = l->in->order > 1 ? 1u << l->rng % 5 : 0;
    if (l->in->order == 1 || n < 2) return;
    l->order_from = rand_next(&rng) % n;
    for (u64 a = 0, b = 0; a != 1;) { /* until it has no divisor in common with n */
        l->order_by = a = 1 + rand_next(&rng) % (n - 1);
        for (b = n; b;) {
            u64 t = a % b;
            a = b;
            b = t;
        }
    }
}

static u64 cta_in_order(const struct launch *l, u64 n)
{
    return (u64)(((unsigned __int128)n * l->order_by + l->order_from) % l->total);
}

/* Takes the number of the next CTA to start; false: all have started. */
static bool claim(struct worker *k, u64 *id)
{
    struct launch *l = k->launch;
    if (k->from == k->to) {
        u64 at = __atomic_load_n(&l->next, __ATOMIC_RELAXED), n;
        do {
            if (at >= l->total) return false;
            /* smaller bites near the end, so that the workers finish together */
            n = (l->total - at) / (4 * l->nworkers);
            n = n < 1 ? 1 : n > l->batch ? l->batch : n;
        } while (!__atomic_compare_exchange_n(&l->next, &at, at + n, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        k->from = at;
        k->to = at + n;
        if (n > 1) __atomic_fetch_add(&l->holders, 1, __ATOMIC_SEQ_CST);
        k->holds = n > 1;
    }
    *id = unlikely(l->in->order) ? cta_in_order(l, k->from) : k->from;
    k->from++;
    if (k->from == k->to && k->holds) {
        __atomic_fetch_sub(&l->holders, 1, __ATOMIC_SEQ_CST);
        k->holds = false;
    }
    return true;
}

/* The next CTA for a worker; NULL: the launch is over for it. */
static struct cta *next_cta(struct worker *k, bool *fresh)
{
    struct launch *l = k->launch;
    u32 wait = 0;
    for (;;) {
        if (launch_stopped(l)) return NULL;
        if (launch_interrupted(l)) launch_stop(l, SIM_INTERRUPTED);
        lock(&l->lock);
        /* New CTAs first, with a look at the parked ones now and then: at a grid barrier every arrival changes the
         * counter that all the others poll, and waking them each time would be quadratic. */
        struct cta *c = NULL;
        bool room = (k->from < k->to || ctas_started(l) < l->total) && l->resident < l->max_resident;
        u64 id;
        if (room && (l->shaken ? (rand_next(&l->rng) & 1) : ++k->turns % PARK_TURN == 0))
            c = take_parked(l, l->nparked < PARK_SCAN ? l->nparked : PARK_SCAN);
        if (!c && room && claim(k, &id)) {
            l->resident++;
            l->active++;
            unlock(&l->lock);
            c = k->free;
            *fresh = !c;
            if (c)
                k->free = c->next;
            else if (!(c = cta_new(k))) {
                launch_fail(l, SIM_UNSUPPORTED, ERR_MEMORY, NULL, 0, "no memory for another resident CTA (%u warps)",
                            l->nwarps);
                return NULL;
            }
            if (launch_stopped(l)) {
                c->next = k->free;
                k->free = c;
                return NULL;
            }
            cta_start(c, id, *fresh);
            return c;
        }
        if (!c) c = take_parked(l, l->nparked);
        if (c) {
            l->active++;
            unlock(&l->lock);
            c->worker = k;
            for (u32 n = 0; n < c->nwarps; n++) c->warp[n]->code = NULL; /* the ranges are the worker's */
            return c;
        }
        if (!l->nparked && ctas_started(l) >= l->total && !l->active && k->from == k->to) {
            unlock(&l->lock);
            return NULL;
        }
        /* a worker that has claimed CTAs will start them as long as there is room */
        bool waiting_to_start = __atomic_load_n(&l->holders, __ATOMIC_SEQ_CST) && l->resident < l->max_resident;
        bool quiet = !l->active && l->nparked && !waiting_to_start;
        if (quiet && !wait_for_host(l)) {
            wait_verdict(l);
            unlock(&l->lock);
            return NULL;
        }
        unlock(&l->lock);
        pause_for_others(&wait);
    }
}

static void worker_run(struct worker *k)
{
    struct launch *l = k->launch;
    bool fresh = false;
    for (;;) {
        struct cta *c = k->again;
        k->again = NULL;
        if (!c) c = next_cta(k, &fresh);
        if (!c) break;
        bool done = cta_run(c);
        if (done) {
            leave_cta(k, c);
            __atomic_store_n(&k->ctas, k->ctas + 1, __ATOMIC_RELAXED);
            /* the common case, more CTAs of a plain grid, needs no lock */
            if (!__atomic_load_n(&l->nparked, __ATOMIC_RELAXED) && !launch_stopped(l) && !(launch_interrupted(l))) {
                u64 id;
                if (claim(k, &id)) {
                    cta_start(c, id, false);
                    for (u32 n = 0; n < c->nwarps; n++)
                        if (c->warp[n]->steps - c->warp[n]->counted > LOOK_STEPS) wait_spent(c->warp[n]);
                    k->again = c;
                    continue;
                }
            }
            c->next = k->free;
            k->free = c;
        }
        lock(&l->lock);
        l->active--;
        if (done)
            l->resident--;
        else
            park(l, c);
        unlock(&l->lock);
    }
    for (struct cta *c = k->free; c; c = c->next)
        for (u32 n = 0; n < c->nwarps; n++) k->steps += c->warp[n]->steps;
}

/* ---- the pool: threads that live as long as the sim ---- */

struct pool {
    lock_t lock;
    pthread_cond_t wake, idle;
    struct worker **work;
    u32 nwork, taken, busy; /* of the current launch */
    u64 round;
    bool quit;
    pthread_t *thread;
    u32 nthread;
};

static void *pool_main(void *arg)
{
    struct pool *p = arg;
    lock(&p->lock);
    for (;;) {
        while (!p->quit && p->taken >= p->nwork) pthread_cond_wait(&p->wake, &p->lock);
        if (p->quit) break;
        struct worker *k = p->work[p->taken++];
        p->busy++;
        unlock(&p->lock);
        worker_run(k);
        lock(&p->lock);
        if (--p->busy == 0) pthread_cond_signal(&p->idle);
    }
    unlock(&p->lock);
    return NULL;
}

static struct pool *pool_new(u32 threads)
{
    struct pool *p = base_alloc(sizeof *p);
    if (!p) return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    pthread_cond_init(&p->idle, NULL);
    p->thread = base_alloc(sizeof *p->thread * (threads + 1));
    for (u32 k = 0; p->thread && k < threads; k++)
        if (!pthread_create(&p->thread[p->nthread], NULL, pool_main, p)) p->nthread++;
    return p;
}

static void pool_delete(struct pool *p)
{
    if (!p) return;
    lock(&p->lock);
    p->quit = true;
    pthread_cond_broadcast(&p->wake);
    unlock(&p->lock);
    for (u32 k = 0; k < p->nthread; k++) pthread_join(p->thread[k], NULL);
    pthread_cond_destroy(&p->wake);
    pthread_cond_destroy(&p->idle);
    pthread_mutex_destroy(&p->lock);
    base_free(p->thread);
    base_free(p);
}

static void run_workers(struct sim *s, struct worker *k, u32 n)
{
    struct worker *ptr[256];
    struct pool *p = s->pool;
    for (u32 j = 1; j < n; j++) ptr[j - 1] = &k[j];
    if (n > 1) {
        lock(&p->lock);
        p->work = ptr;
        p->nwork = n - 1;
        p->taken = 0;
        pthread_cond_broadcast(&p->wake);
        unlock(&p->lock);
    }
    worker_run(&k[0]);
    if (n > 1) {
        lock(&p->lock);
        p->nwork = p->taken; /* those that never woke up are not needed any more */
        while (p->busy) pthread_cond_wait(&p->idle, &p->lock);
        p->nwork = p->taken = 0;
        unlock(&p->lock);
    }
}

/* ---- the outside ---- */

struct sim *sim_new(struct mem *m, const struct profile *p, u32 workers)
{
    struct sim *s = base_alloc(sizeof *s);
    if (!s) return NULL;
    s->mem = m;
    s->profile = p;
    s->workers = workers < 1 ? 1 : workers > 256 ? 256 : workers;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->wide, NULL);
    s->writers = base_alloc(sizeof *s->writers * WRITERS);
    s->origins = origins_new();
    if (!s->writers || !s->origins) {
        base_free(s->writers);
        origins_free(s->origins);
        base_free(s);
        return NULL;
    }
    return s;
}

void sim_delete(struct sim *s)
{
    if (!s) return;
    pool_delete(s->pool);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->wide);
    base_free(s->writers);
    origins_free(s->origins);
    base_free(s);
}

void sim_forget(struct ptx_module *m)
{
    for (u32 k = 0; k < m->nfunc; k++) {
        struct lowered *l = m->func[k]->decoded;
        m->func[k]->decoded = NULL;
        if (l) {
            struct arena a = l->mem;
            arena_free(&a);
        }
    }
}

u32 sim_resident_per_sm(const struct profile *p, const struct ptx_func *kernel, u32 threads, u64 shared_total)
{
    u32 warps = (threads + LANES - 1) / LANES, n = p->ctas_per_sm;
    if (warps && p->warps_per_sm / warps < n) n = p->warps_per_sm / warps;
    u64 each = shared_total + p->shared_reserved;
    if (shared_total && p->shared_per_sm / each < n) n = (u32)(p->shared_per_sm / each);
    if (kernel->maxnreg && warps) {
        u32 regs = (kernel->maxnreg * LANES + 255) / 256 * 256 * warps;
        if (p->regs_per_sm / regs < n) n = p->regs_per_sm / regs;
    }
    return n;
}

/* What grid.sync() of a cooperative launch counts in: %envreg1 and %envreg2 hold its address. */
static u64 grid_workspace(struct sim *s, struct error *e)
{
    enum { BYTES = 64 };
    if (!s->workspace) s->workspace = mem_alloc(s->mem, BYTES, 0, MEM_GLOBAL, "the grid barrier", NULL, e);
    if (!s->workspace) return 0;
    memset(mem_view(s->workspace, s->workspace->base), 0, BYTES);
    return s->workspace->base;
}

/* A place with an address for the parameters of kernels that take it (cvta.param). */
static bool place_params(struct sim *s, struct launch *l, struct error *e)
{
    u64 n = l->in->kernel->param_bytes;
    if (!l->kernel->has_param_address) return true;
    if (s->params && s->params->size < n) {
        mem_free(s->mem, s->params->base, NULL, &s->params);
        s->params = NULL;
    }
    if (!s->params) s->params = mem_alloc(s->mem, n < 4096 ? 4096 : n, 0, MEM_CONST, "the parameters", NULL, e);
    if (!s->params) return false;
    memcpy(mem_view(s->params, s->params->base), l->in->params, n);
    l->param_address = s->params->base;
    return true;
}

static bool prepare(struct sim *s, struct launch *l, struct sim_launch *in, struct error *e)
{
    lock(&s->lock);
    l->kernel = lower_func(s, in->kernel, e);
    if (l->kernel) {
        in->wraps = in->checks & CHECK_VALUES && wraps_watched(l->kernel, in);
        l->fast = decode(s, l->kernel, in, in->plain || in->trace || in->follow, e);
        l->plain = decode(s, l->kernel, in, true, e);
    }
    l->serial = ++s->serial;
    unlock(&s->lock);
    return l->kernel && l->fast && l->plain;
}

/* Lets others see the launch, or no longer. */
static void show(struct sim *s, struct launch *l)
{
    lock(&s->lock);
    s->running = l;
    unlock(&s->lock);
}

bool sim_progress(struct sim *s, struct sim_progress *p)
{
    lock(&s->lock);
    const struct launch *l = s->running;
    *p = (struct sim_progress){ 0 };
    if (l) {
        p->total = l->total;
        p->warp_insns = __atomic_load_n(&l->spent, __ATOMIC_RELAXED);
        for (u32 k = 0; k < l->nworkers; k++) p->done += __atomic_load_n(&l->worker[k].ctas, __ATOMIC_RELAXED);
    }
    unlock(&s->lock);
    return l != NULL;
}

static int finish(struct launch *l, struct worker *k, u32 n, struct sim_result *r)
{
    int end = l->stop;
    if ((end == SIM_LIVELOCK || end == SIM_INTERRUPTED) && l->parked) wait_report_stopped(l);
    for (u32 j = 0; j < n; j++) {
        r->warp_insns += k[j].steps;
        r->ctas += k[j].ctas;
        while (k[j].free) {
            struct cta *c = k[j].free;
            k[j].free = c->next;
            cta_free(c);
        }
        arena_free(&k[j].mem);
    }
    while (l->parked) {
        struct cta *c = l->parked;
        l->parked = c->next;
        for (u32 w = 0; w < c->nwarps; w++) r->warp_insns += c->warp[w]->steps;
        cta_free(c);
    }
    r->end = end;
    return end;
}

bool sim_run(struct sim *s, const struct sim_launch *given, struct sim_result *r, struct error *e)
{
    struct sim_launch own = *given, *in = &own;
    struct launch l = { .in = in, .sim = s, .e = e, .lock = LOCK_INIT, .elock = LOCK_INIT, .writers = s->writers };
    u64 params[8 + 4096 / 8];
    *r = (struct sim_result){ 0 };
    if (!prepare(s, &l, in, e)) return false;
    l.param_copy = in->kernel->param_bytes + 8 <= sizeof params ? (char *)params
                                                                : base_alloc(in->kernel->param_bytes + 8);
    if (!l.param_copy) return error_set(e, ERR_MEMORY, "no memory for the parameters");
    if (in->kernel->param_bytes) memcpy(l.param_copy, in->params, in->kernel->param_bytes);
    memset(l.param_copy + in->kernel->param_bytes, 0, 8);
    l.total = (u64)in->grid[0] * in->grid[1] * in->grid[2];
    l.threads = in->block[0] * in->block[1] * in->block[2];
    l.nwarps = (l.threads + LANES - 1) / LANES;
    u64 fixed = sim_static_shared(in->kernel), system = in->kernel->module->shared_base;
    l.dyn_shared = (system + fixed + in->kernel->dynamic_align - 1) / in->kernel->dynamic_align *
                   in->kernel->dynamic_align;
    l.shared_total = in->shared_bytes ? l.dyn_shared + in->shared_bytes : system + fixed;
    if (!in->shared_bytes) l.dyn_shared = l.shared_total;
    bool ready = place_params(s, &l, e) && (!in->cooperative || (l.grid_workspace = grid_workspace(s, e))) &&
                 (!in->trace || (l.trace = trace_open(&l, e)));
    if (!ready) {
        if (l.param_copy != (char *)params) base_free(l.param_copy);
        return false;
    }
    u32 per_sm = sim_resident_per_sm(s->profile, in->kernel, l.threads, l.shared_total - system);
    l.max_resident = (per_sm ? per_sm : 1) * s->profile->sms;
    u32 n = in->seeded || in->trace || in->follow || l.total < 8 ? 1 : s->workers;
    if (n > l.total) n = (u32)l.total;
    if (n > 1 && !s->pool) s->pool = pool_new(s->workers - 1);
    if (n > 1 && (!s->pool || s->pool->nthread < n - 1)) n = s->pool ? s->pool->nthread + 1 : 1;
    struct worker k[256];
    for (u32 j = 0; j < n; j++) k[j] = (struct worker){ .launch = &l };
    l.nworkers = n;
    l.worker = k;
    l.batch = n > 1 ? 16 : 1;
    if (in->order) order_choose(&l);
    if (in->observers) observe_launch(&l, true);
    show(s, &l);
    if (l.total) run_workers(s, k, n);
    show(s, NULL);
    if (in->observers) observe_launch(&l, false);
    finish(&l, k, n, r);
    trace_close(l.trace);
    if (l.param_copy != (char *)params) base_free(l.param_copy);
    return r->end != SIM_UNSUPPORTED;
}
