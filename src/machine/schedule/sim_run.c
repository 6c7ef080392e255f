/* From a launch to its end: sim_run and sim_start prepare the code, the parameters and the layout of shared memory, let
 * the workers run (worker_pool.c), and gather what they counted. The sim itself, which outlives launches, is made here,
 * too. */
#include "sim/sim_run.h"
#include "sim/attach.h"
#include "lower/functions.h"
#include "flow/overflow.h"
#include "code/shared_layout.h"
#include "sim/cluster.h"
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "schedule/residency.h"
#include "schedule/worker_pool.h"

enum { SPARE_ARENA = 1 << 16 }; /* bytes of an arena that are kept for the next launch */

static void launch_free(struct launch *l)
{
    if (l) arena_free(&l->one.mem);
    base_free(l);
}

/* ---- the sim ---- */

bool sim_next_grid(struct sim_launch *in, struct sim_result *r) { return asked->grids_next(in, r); }

struct sim *sim_new(struct mem *m, const struct card *p, u32 workers, const struct asked *parts)
{
    struct sim *s = base_alloc(sizeof *s);
    if (!s) return NULL;
    asked_set(parts);
    s->mem = m;
    s->card = p;
    s->workers = workers < 1 ? 1 : workers > MAX_WORKERS ? MAX_WORKERS : workers;
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->wide, NULL);
    lock_open_busy(&s->launches_lock);
    s->residency = residency_new(p);
    s->writers = base_alloc(sizeof *s->writers * WRITERS);
    s->origins = asked->origins_new();
    if (s->writers && s->origins && s->residency) return s;
    sim_delete(s);
    return NULL;
}

void sim_stack_limit(struct sim *s, u64 bytes) { __atomic_store_n(&s->stack_limit, bytes, __ATOMIC_RELAXED); }

void sim_heap_limit(struct sim *s, u64 bytes) { __atomic_store_n(&s->heap_limit, bytes, __ATOMIC_RELAXED); }

void sim_delete(struct sim *s)
{
    if (!s) return;
    pool_delete(s);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->wide);
    pthread_mutex_destroy(&s->launches_lock);
    residency_delete(s->residency);
    base_free(s->workspaces.o);
    base_free(s->params.o);
    base_free(s->writers);
    launch_free(s->spare);
    base_free(s->spare_cta);
    asked->origins_free(s->origins);
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

/* ---- before the first CTA ---- */

/* Memory for a launch in flight: one that another launch has given back, if it is large enough, or a new one. */
static struct mem_object *object_take(struct sim *s, struct object_list *list, u64 bytes, enum mem_kind kind,
                                      const char *name, struct error *e)
{
    struct mem_object *o = NULL;
    lock(&s->lock);
    for (u32 k = 0; k < list->n && !o; k++)
        if (list->o[k]->size >= bytes) {
            o = list->o[k];
            list->o[k] = list->o[--list->n];
        }
    unlock(&s->lock);
    return o ? o : mem_alloc(s->mem, bytes, 0, kind, name, NULL, e);
}

/* Keeps it for the next launch; one that cannot be kept is freed. */
static void object_give(struct sim *s, struct object_list *list, struct mem_object *o)
{
    if (!o) return;
    lock(&s->lock);
    bool room = list->n < list->cap;
    if (!room) {
        u32 cap = list->cap ? 2 * list->cap : 4;
        struct mem_object **more = base_realloc(list->o, sizeof *more * cap);
        if (more) list->o = more;
        if (more) list->cap = cap;
        room = more != NULL;
    }
    if (room) list->o[list->n++] = o;
    unlock(&s->lock);
    if (!room) mem_free(s->mem, o->base, NULL, &o);
}

static u64 bytes_of(const struct object_list *list)
{
    u64 bytes = 0;
    for (u32 k = 0; k < list->n; k++) bytes += list->o[k]->size;
    return bytes;
}

u64 sim_spare_bytes(struct sim *s)
{
    lock(&s->lock);
    u64 bytes = bytes_of(&s->workspaces) + bytes_of(&s->params);
    unlock(&s->lock);
    return bytes;
}

/* What grid.sync() of a cooperative launch counts in: %envreg1 and %envreg2 hold its address. */
static bool place_grid_barrier(struct sim *s, struct launch *l, struct error *e)
{
    enum { BYTES = 64 };
    if (!l->in->cooperative) return true;
    l->workspace = object_take(s, &s->workspaces, BYTES, MEM_GLOBAL, "the grid barrier", e);
    if (!l->workspace) return false;
    memset(mem_view(l->workspace, l->workspace->base), 0, BYTES);
    l->grid_workspace = l->workspace->base;
    return true;
}

/* A place with an address for the parameters of kernels that take it (cvta.param). */
static bool place_params(struct sim *s, struct launch *l, struct error *e)
{
    u64 n = l->in->kernel->param_bytes;
    if (!l->kernel->has_param_address) return true;
    l->param.home = object_take(s, &s->params, n < 4096 ? 4096 : n, MEM_CONST, "the parameters", e);
    if (!l->param.home) return false;
    memcpy(mem_view(l->param.home, l->param.home->base), l->in->params, n);
    l->param.address = l->param.home->base;
    return true;
}

/* Another order of the CTAs: backwards, or steps of a random size that reach each of them once. */
static void order_choose(struct launch *l)
{
    u64 rng = l->in->seed ^ l->in->order * 0x94d049bb133111ebu, n = l->clusters;
    l->schedule.by = l->schedule.from = n ? n - 1 : 0;
    l->schedule.rng = rand_next(&rng);
    l->schedule.perturb = l->in->order > 1 ? 1u << l->schedule.rng % 5 : 0;
    if (l->in->order == 1 || n < 2) return;
    l->schedule.from = rand_next(&rng) % n;
    do l->schedule.by = 1 + rand_next(&rng) % (n - 1);
    while (gcd(l->schedule.by, n) != 1); /* each CTA is reached once */
}

struct lowered *sim_lowered(struct sim *s, struct ptx_func *kernel, struct error *e)
{
    lock(&s->lock);
    struct lowered *low = lower_func(&s->functions, kernel, e);
    unlock(&s->lock);
    return low;
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
    s->shape[l->serial % SIM_SHAPES] = (struct launch_shape){ l->serial,
                                                              in->grid[1] * in->grid[2] == 1 ? in->grid[0] : 0,
                                                              in->block[0] * in->block[1] * in->block[2] };
    unlock(&s->lock);
    return l->kernel && l->fast && l->plain;
}

/* The shape of the grid and where a CTA's shared memory has what: the system's part, static arrays, dynamic ones. */
static void lay_out(struct launch *l)
{
    const struct sim_launch *in = l->in;
    l->total = (u64)in->grid[0] * in->grid[1] * in->grid[2];
    cluster_shape(l);
    l->threads = in->block[0] * in->block[1] * in->block[2];
    l->nwarps = (l->threads + LANES - 1) / LANES;
    u64 fixed = shared_static_bytes(in->kernel), system = in->kernel->module->shared_base;
    l->dyn_shared = system + fixed;
    if (in->shared_bytes)
        l->dyn_shared = (l->dyn_shared + in->kernel->dynamic_align - 1) / in->kernel->dynamic_align *
                        in->kernel->dynamic_align;
    l->shared_total = l->dyn_shared + in->shared_bytes;
    residency_measure(l);
}

/* ---- a launch from outside ---- */

bool sim_progress(struct sim *s, struct sim_progress *p)
{
    *p = (struct sim_progress){ 0 };
    lock(&s->launches_lock);
    for (const struct launch *l = s->launches; l; l = l->behind) {
        p->total += l->total;
        p->warp_insns += __atomic_load_n(&l->spent, __ATOMIC_RELAXED);
        for (u32 k = 0; k < l->nworkers; k++) p->done += __atomic_load_n(&l->worker[k].ctas, __ATOMIC_RELAXED);
    }
    bool some = s->launches != NULL;
    unlock(&s->launches_lock);
    return some;
}

void sim_outside(struct sim *s, bool (*may_change)(void *self), void *self)
{
    lock(&s->launches_lock);
    s->ask.outside = may_change;
    s->ask.outside_self = self;
    unlock(&s->launches_lock);
}

void sim_explain(struct sim *s, sim_explainer *explain)
{
    lock(&s->launches_lock);
    s->ask.explain = explain;
    unlock(&s->launches_lock);
}

void sim_on_misuse(struct sim *s, sim_misuse *misused, void *self)
{
    s->ask.misused_self = self;
    __atomic_store_n(&s->ask.misused, misused, __ATOMIC_RELEASE);
}

static u64 steps_of(const struct cta *c)
{
    u64 n = 0;
    for (; c; c = cluster_next(c))
        for (u32 w = 0; w < c->nwarps; w++) n += c->warp[w]->steps;
    return n;
}

/* Whether it stores a constant that is finite as f32 and as f64, which compilers write as an integer. */
static bool stores_number(const struct lowered *low, const struct site *t)
{
    const struct lop *o = &low->op[t->op];
    if (!site_is_store(t) || !(o->flags & ISA_ACCESS)) return false;
    for (u32 k = 0; k < t->vec; k++) {
        const struct opnd *d = lop_src(o, SRC_DATA + k);
        if (d->kind != O_CONST || (d->value & 0x7f800000) == 0x7f800000 || (d->value >> 52 & 0x7ff) == 0x7ff)
            return false;
    }
    return true;
}

/* What a buffer without a type holds is what it is accessed as (value_scan.c). */
static void mark_types(struct mem_object *o, const struct lowered *low, const struct site *t)
{
    bool integer = t->type >= T_U8 && t->type <= T_S64 && t->vec == 1;
    static const u8 floats[T_COUNT] = {
        [T_F32] = MEM_AS_F32,   [T_F64] = MEM_AS_F64,     [T_F16] = MEM_AS_F16, [T_F16X2] = MEM_AS_F16,
        [T_BF16] = MEM_AS_BF16, [T_BF16X2] = MEM_AS_BF16, [T_B16] = MEM_AS_BITS
    };
    u8 as = floats[t->holds]  ? floats[t->holds]
            : floats[t->type] ? floats[t->type]
            : integer         ? MEM_AS_INT
                              : MEM_AS_BITS;
    if (!site_is_store(t)) __atomic_fetch_or(&o->loaded_as, as, __ATOMIC_RELAXED);
    if (!site_is_load(t) && !(as & (MEM_AS_INT | MEM_AS_BITS) && stores_number(low, t)))
        __atomic_fetch_or(&o->stored_as, as, __ATOMIC_RELAXED);
}

/* Notes in the objects of device memory that this launch read or wrote them, as far as its sites tell. The ranges of
 * neighbouring sites are often those of one object. */
static void mark_touched(const struct launch *l)
{
    u64 last = 0;
    struct mem_object *o = NULL;
    for (u32 n = 0; n < l->nworkers; n++)
        for (u32 j = 0; j < l->worker[n].nfunc; j++) {
            const struct ranges *f = &l->worker[n].func[j];
            for (u32 s = 0; s < f->low->nsite; s++) {
                const struct site *t = &f->low->site[s];
                if (t->space == SP_SHARED || !f->r[s].size) continue;
                if (!o || f->r[s].lo != last) o = mem_find(l->sim->mem, last = f->r[s].lo);
                if (!o) continue;
                if (!site_is_store(t)) __atomic_store_n(&o->read_by, l->serial, __ATOMIC_RELAXED);
                if (!site_is_load(t)) __atomic_store_n(&o->written_by, l->serial, __ATOMIC_RELAXED);
                mark_types(o, f->low, t);
            }
        }
}

/* Tells of values that went to global memory and may be odd, or were not looked at (lanes/stored.h). */
static void note_not_seen(const struct launch *l)
{
    u32 as = __atomic_load_n(&l->odd_stored, __ATOMIC_RELAXED);
    bool looked = observe_watch(l->in) & WATCH_INIT;
    for (u32 n = 0; n < l->nworkers; n++)
        for (u32 j = 0; j < l->worker[n].nfunc; j++) as |= looked ? l->worker[n].func[j].low->unseen : MEM_AS_FLOATS;
    if (as) mem_unseen_add((u8)as);
}

/* Counts what was run, and frees the CTAs. */
static void gather(struct launch *l)
{
    struct sim_result *r = &l->result;
    r->end = l->stop;
    r->fault = __atomic_load_n(&l->fault, __ATOMIC_RELAXED);
    r->serial = l->serial;
    r->infinite = l->kernel->has_infinity;
    r->nan = l->kernel->has_nan;
    mark_touched(l);
    note_not_seen(l);
    for (u32 n = 0; n < l->nworkers; n++) {
        struct worker *k = &l->worker[n];
        r->ctas += k->ctas;
        while (k->free) {
            struct cta *c = k->free;
            k->free = c->next;
            r->warp_insns += steps_of(c);
            cluster_free(c);
        }
        if (k == &l->one)
            arena_reset(&k->mem, SPARE_ARENA);
        else
            arena_free(&k->mem);
    }
    while (l->parked) {
        struct cta *c = l->parked;
        l->parked = c->next;
        r->warp_insns += steps_of(c);
        residency_leave_cluster(c);
        cluster_free(c);
    }
}

static void release(struct launch *l)
{
    struct sim *s = l->sim;
    residency_end(l);
    ATTACH_ALL(launch_free, l);
    object_give(s, &s->workspaces, l->workspace);
    object_give(s, &s->params, l->param.home);
    if (l->param.block != (char *)l->param.few) base_free(l->param.block);
    if (l->worker != &l->one) base_free(l->worker);
    l->param.block = NULL;
    l->worker = NULL;
    l->nworkers = 0;
}

void launch_finish(struct launch *l)
{
    if (l->in->observers) observe_launch(l, false);
    ATTACH_ALL(launch_over, l);
    gather(l);
    asked->trace_close(l->trace);
    release(l);
}

/* Workers for the launch, and what depends on their number. */
static bool man(struct launch *l, bool caller, struct error *e)
{
    struct sim *s = l->sim;
    const struct sim_launch *in = l->in;
    u32 n = in->seeded || in->trace || in->follow || (caller && l->total < 8) ? 1 : s->workers;
    if (n > l->clusters) n = (u32)MAX_OF(l->clusters, 1u);
    l->nworkers = in->seeded ? 1 : pool_workers(s, n, caller);
    l->worker = l->nworkers == 1 ? &l->one : base_alloc(sizeof *l->worker * l->nworkers);
    if (!l->worker) return error_set(e, ERR_MEMORY, "no memory for the workers of a launch");
    for (u32 k = 0; k < l->nworkers; k++) l->worker[k].launch = l;
    l->batch = l->nworkers > 1 ? 16 : 1;
    return true;
}

/* Keeps the memory of one launch: a synchronous launch after another needs no allocation for it. */
static void launch_give(struct launch *l)
{
    pthread_mutex_destroy(&l->lock);
    pthread_mutex_destroy(&l->elock);
    launch_free(__atomic_exchange_n(&l->sim->spare, l, __ATOMIC_ACQ_REL));
}

/* Memory for a launch, all zero but for an empty arena; NULL: there is none. */
static struct launch *launch_take(struct sim *s)
{
    struct launch *l = __atomic_exchange_n(&s->spare, NULL, __ATOMIC_ACQUIRE);
    if (!l) return base_aligned(sizeof *l);
    struct arena kept = l->one.mem;
    bytes_clear(l, sizeof *l);
    l->one.mem = kept;
    return l;
}

/* A launch that lacks nothing but threads; NULL: e says why. ERR_STOPPED: it was called off, and is reported. */
static struct launch *launch_new(struct sim *s, const struct sim_launch *given, bool caller, struct error *e)
{
    struct launch *l = launch_take(s);
    u32 bytes = given->kernel->param_bytes;
    if (!l) {
        error_set(e, ERR_MEMORY, "no memory for a launch");
        return NULL;
    }
    l->own = *given;
    l->in = &l->own;
    l->sim = s;
    l->writers = s->writers;
    l->beside = !caller;
    l->e = caller ? e : NULL; /* launch_fail makes one */
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_init(&l->elock, NULL);
    if (given->time_limit > 0) l->deadline = time_ns() + (u64)(MIN_OF(given->time_limit, 1e9) * 1e9);
    stop_watch(given->interrupt, l->deadline);
    bool ok = prepare(s, l, &l->own, e);
    l->param.block = bytes + 8 <= sizeof l->param.few ? (char *)l->param.few : base_alloc(bytes + 8);
    if (ok && !l->param.block) ok = error_set(e, ERR_MEMORY, "no memory for the parameters");
    if (ok) {
        if (bytes) memcpy(l->param.block, given->params, bytes);
        l->own.params = l->param.block;
        lay_out(l);
        ok = place_params(s, l, e) && place_grid_barrier(s, l, e) &&
             (!given->trace || (l->trace = asked->trace_open(l, e))) && man(l, caller, e);
    }
    if (ok) {
        if (given->order) order_choose(l);
        ATTACH_ALL(launch_begin, l);
        l->blocks_seen = observe_blocks_wanted(given);
        if (given->observers) observe_launch(l, true);
        return l;
    }
    if (e->code == ERR_STOPPED && launch_called_off(l)) asked->stopped_report(l);
    asked->trace_close(l->trace);
    release(l);
    if (!caller) base_free(l->e);
    launch_give(l);
    return NULL;
}

/* One launch, without those that its kernel launches. */
static bool run_one(struct sim *s, const struct sim_launch *given, struct sim_result *r, struct error *e)
{
    struct grids *family = r->grids;
    *r = (struct sim_result){ .grids = family };
    struct launch *l = launch_new(s, given, true, e);
    if (!l) stop_watch(NULL, 0);
    if (!l && e->code == ERR_STOPPED) {
        bool asked = given->interrupt && *given->interrupt;
        r->end = asked ? SIM_INTERRUPTED : SIM_OVERDUE;
        *e = (struct error){ 0 };
        return true;
    }
    if (!l) return false;
    pool_run(s, l);
    launch_finish(l);
    stop_watch(NULL, 0);
    *r = l->result;
    launch_give(l);
    return r->end != SIM_UNSUPPORTED;
}

bool sim_run(struct sim *s, const struct sim_launch *given, struct sim_result *r, struct error *e)
{
    r->grids = NULL;
    bool ok = run_one(s, given, r, e);
    if (likely(!r->grids)) return ok;
    struct sim_launch next = *given;
    while (ok && sim_next_grid(&next, r)) {
        report_tickets_end(given->report);
        ok = run_one(s, &next, r, e);
    }
    if (!ok) r->end = SIM_UNSUPPORTED;
    sim_next_grid(&next, r); /* frees what is left of a family that failed */
    return ok;
}

struct launch *sim_start(struct sim *s, const struct sim_launch *given, struct error *e)
{
    struct launch *l = launch_new(s, given, false, e);
    stop_watch(NULL, 0); /* the caller may outlive it and its device */
    if (l) pool_start(s, l);
    return l;
}

void sim_help(struct sim *s, const void *op) { pool_help(s, op); }

void sim_starter(struct sim *s, void (*start)(void *self), void *self) { pool_starter(s, start, self); }
bool sim_start_soon(struct sim *s) { return pool_start_soon(s); }

enum sim_drive sim_drive(struct sim *s) { return pool_drive(s); }

bool sim_ended(struct launch *l)
{
    lock(&l->sim->launches_lock);
    bool ended = l->ended;
    unlock(&l->sim->launches_lock);
    return ended;
}

bool sim_wait(struct launch *l, struct sim_result *r, struct error *e)
{
    pool_wait(l->sim, l);
    *r = l->result;
    if (r->end == SIM_UNSUPPORTED && l->e)
        *e = *l->e;
    else if (r->end == SIM_UNSUPPORTED)
        error_set(e, ERR_MEMORY, "no memory to say why a launch failed");
    base_free(l->e);
    launch_give(l);
    return r->end != SIM_UNSUPPORTED;
}
