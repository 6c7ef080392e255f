/* From a launch to its end: sim_run prepares the code, the parameters and the layout of shared memory, lets the workers
 * run (worker_pool.c), and gathers what they counted. The sim itself, which outlives launches, is made here, too. */
#include "sim/sim_run.h"
#include "code/functions.h"
#include "code/overflow.h"
#include "code/shared_layout.h"
#include "sim/cta.h"
#include "sim/deadlock.h"
#include "sim/finding_place.h"
#include "sim/handlers.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/trace.h"
#include "sim/worker_pool.h"

/* ---- the sim ---- */

struct sim *sim_new(struct mem *m, const struct profile *p, u32 workers)
{
    struct sim *s = base_alloc(sizeof *s);
    if (!s) return NULL;
    s->mem = m;
    s->profile = p;
    s->workers = workers < 1 ? 1 : workers > MAX_WORKERS ? MAX_WORKERS : workers;
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

/* ---- before the first CTA ---- */

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

/* Another order of the CTAs: backwards, or steps of a random size that reach each of them once. */
static void order_choose(struct launch *l)
{
    u64 rng = l->in->seed ^ l->in->order * 0x94d049bb133111ebu, n = l->total;
    l->order_by = l->order_from = n ? n - 1 : 0;
    l->rng = rand_next(&rng);
    l->perturb = l->in->order > 1 ? 1u << l->rng % 5 : 0;
    if (l->in->order == 1 || n < 2) return;
    l->order_from = rand_next(&rng) % n;
    do l->order_by = 1 + rand_next(&rng) % (n - 1);
    while (gcd(l->order_by, n) != 1); /* each CTA is reached once */
}

static bool prepare(struct sim *s, struct launch *l, struct sim_launch *in, struct error *e)
{
    lock(&s->lock);
    l->kernel = lower_func(&s->functions, in->kernel, e);
    if (l->kernel) {
        struct launch_facts known = { .params = in->params, .param_bytes = in->kernel->param_bytes };
        memcpy(known.grid, in->grid, sizeof known.grid);
        memcpy(known.block, in->block, sizeof known.block);
        in->overflow = in->checks & CHECK_VALUES && overflow_possible(l->kernel, &known);
        l->fast = code_for(l->kernel, in, in->plain || in->trace || in->follow, e);
        l->plain = code_for(l->kernel, in, true, e);
    }
    l->serial = ++s->serial;
    unlock(&s->lock);
    return l->kernel && l->fast && l->plain;
}

/* The shape of the grid and where a CTA's shared memory has what: the system's part, static arrays, dynamic ones. */
static void lay_out(struct launch *l)
{
    const struct sim_launch *in = l->in;
    l->total = (u64)in->grid[0] * in->grid[1] * in->grid[2];
    l->threads = in->block[0] * in->block[1] * in->block[2];
    l->nwarps = (l->threads + LANES - 1) / LANES;
    u64 fixed = shared_static_bytes(in->kernel), system = in->kernel->module->shared_base;
    l->dyn_shared = (system + fixed + in->kernel->dynamic_align - 1) / in->kernel->dynamic_align *
                    in->kernel->dynamic_align;
    l->shared_total = in->shared_bytes ? l->dyn_shared + in->shared_bytes : system + fixed;
    if (!in->shared_bytes) l->dyn_shared = l->shared_total;
    u32 per_sm = sim_resident_per_sm(l->sim->profile, in->kernel, l->threads, l->shared_total - system);
    l->max_resident = (per_sm ? per_sm : 1) * l->sim->profile->sms;
}

/* ---- a launch from outside ---- */

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

/* Counts what was run, reports a launch that was stopped, and frees the CTAs. */
static void finish(struct launch *l, struct sim_result *r)
{
    r->end = l->stop;
    if (r->end == SIM_LIVELOCK || r->end == SIM_INTERRUPTED) stopped_report(l);
    for (u32 n = 0; n < l->nworkers; n++) {
        struct worker *k = &l->worker[n];
        r->warp_insns += k->steps;
        r->ctas += k->ctas;
        while (k->free) {
            struct cta *c = k->free;
            k->free = c->next;
            cta_free(c);
        }
        arena_free(&k->mem);
    }
    while (l->parked) {
        struct cta *c = l->parked;
        l->parked = c->next;
        for (u32 w = 0; w < c->nwarps; w++) r->warp_insns += c->warp[w]->steps;
        cta_free(c);
    }
}

/* The launch is ready but for its workers: they run it to its end. */
static void run(struct sim *s, struct launch *l, struct sim_result *r)
{
    struct worker k[MAX_WORKERS];
    const struct sim_launch *in = l->in;
    u32 n = in->seeded || in->trace || in->follow || l->total < 8 ? 1 : s->workers;
    if (n > l->total) n = (u32)l->total;
    l->nworkers = pool_workers(s, n);
    l->worker = k;
    for (u32 j = 0; j < l->nworkers; j++) k[j] = (struct worker){ .launch = l };
    l->batch = l->nworkers > 1 ? 16 : 1;
    if (in->order) order_choose(l);
    if (in->observers) observe_launch(l, true);
    show(s, l);
    if (l->total) pool_run(s, l);
    show(s, NULL);
    if (in->observers) observe_launch(l, false);
    finish(l, r);
    trace_close(l->trace);
}

bool sim_run(struct sim *s, const struct sim_launch *given, struct sim_result *r, struct error *e)
{
    struct sim_launch own = *given, *in = &own;
    struct launch l = { .in = in, .sim = s, .e = e, .lock = LOCK_INIT, .elock = LOCK_INIT, .writers = s->writers };
    u64 params[8 + 4096 / 8];
    u32 bytes = in->kernel->param_bytes;
    *r = (struct sim_result){ 0 };
    if (!prepare(s, &l, in, e)) return false;
    l.param_copy = bytes + 8 <= sizeof params ? (char *)params : base_alloc(bytes + 8);
    if (!l.param_copy) return error_set(e, ERR_MEMORY, "no memory for the parameters");
    if (bytes) memcpy(l.param_copy, in->params, bytes);
    memset(l.param_copy + bytes, 0, 8);
    lay_out(&l);
    bool ready = place_params(s, &l, e) && (!in->cooperative || (l.grid_workspace = grid_workspace(s, e))) &&
                 (!in->trace || (l.trace = trace_open(&l, e)));
    if (ready) run(s, &l, r);
    if (l.param_copy != (char *)params) base_free(l.param_copy);
    return ready && r->end != SIM_UNSUPPORTED;
}

/* ---- how a launch ends early ---- */

void launch_stop(struct launch *l, int end)
{
    int none = 0;
    __atomic_compare_exchange_n(&l->stop, &none, end, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* The line of the source in place of that of the PTX, which may be no file of the user's; the instruction stays as the
 * excerpt. */
static void place_in_source(struct error *e, const struct lowered *low, u32 op)
{
    struct arena a = { 0 };
    const struct place *p = finding_place(&a, low, op);
    struct text t = { 0 };
    if (p->file && p->line) place_brief(p, &t); /* the innermost line that is the user's */
    if (t.n) snprintf(e->where, sizeof e->where, "%.250s", t.p);
    text_free(&t);
    arena_free(&a);
}

void launch_fail(struct launch *l, int end, enum error_code code, const struct lowered *low, u32 op, const char *fmt,
                 ...)
{
    lock(&l->elock);
    if (code != ERR_NONE && l->e) {
        const struct ptx_insn *i = low ? low->op[op].src : NULL;
        const struct ptx_module *m = i && i->at ? low->func->module : NULL;
        va_list ap;
        va_start(ap, fmt);
        bool first = l->e->code == ERR_NONE;
        error_at_list(l->e, code, m ? m->name : "", m ? m->text : STR(""), m ? i->at : NULL, fmt, ap);
        va_end(ap);
        if (first && m) place_in_source(l->e, low, op);
    }
    unlock(&l->elock);
    launch_stop(l, end);
}
