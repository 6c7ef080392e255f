/* The device runtime: what a kernel calls to launch kernels (dynamic parallelism, as CUDA 12 and later have it).
 *
 * nvcc makes two calls of `k<<<...>>>(...)` in device code: one for a buffer that has room for the parameters, and one
 * that launches with it. The functions are in libcudadevrt, whose PTX calls the driver; the driver's part is here
 * (lower_call.c has the names). A launch becomes a grid of the family (grids.h), which runs when this one has ended.
 *
 * Errors are of the thread, as cudaGetLastError has them. A launch that the device would refuse is also a finding: a
 * kernel that did not run is easily overlooked, since few programs ask. */
#include "base/demangle.h"
#include "sim/asked.h"
#include "code/shared_layout.h"
#include "mem/shadow.h"
#include "units/builtin.h"
#include "sim/call.h"
#include "sim/finding_place.h"
#include "units/grids.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "sim/sim_run.h"

/* cudaError_t, as far as the device runtime returns them. */
enum {
    E_OK = 0,
    E_VALUE = 1,
    E_MEMORY = 2,
    E_CONFIGURATION = 9,
    E_DEPTH = 65,
    E_PENDING = 69,
    E_FUNCTION = 98,
    E_RESOURCES = 701
};
/* cudaStream_t: the default ones, and those that the device runtime has beside its own. */
enum { STREAM_DEFAULT = 2, STREAM_TAIL = 3, STREAM_FIRE = 4 };
enum { EVENT_NO_TIMING = 2 }; /* a flag that events of the device need */

struct runtime { /* a call of one lane */
    struct warp *w;
    const struct call *c;
    const struct insn *i;
    u32 lane;
    struct grid *self; /* the grid that calls; its family is locked */
};

static u64 value(const struct runtime *t, u32 k)
{
    return k < t->c->narg ? builtin_argument(t->w->cur->fr, t->c, k, t->lane) : 0;
}

/* What libcudadevrt takes for that error, which it translates back. */
static u32 system_error(u32 code)
{
    static const struct {
        u16 is, was;
    } all[] = { { 1, E_VALUE },    { 4, E_MEMORY },   { 7, E_CONFIGURATION }, { 5, E_DEPTH },
                { 12, E_PENDING }, { 1, E_FUNCTION }, { 6, E_RESOURCES } };
    for (u32 k = 0; k < COUNT_OF(all); k++)
        if (all[k].was == code) return all[k].is;
    return 0;
}

/* ---- the last error of a thread ---- */

/* The entry of a thread, or the empty one where it belongs. */
static struct grid_error *error_entry(struct grid_error *table, u32 cap, u64 cta, u32 thread)
{
    u32 k = (u32)((cta * 0x9e3779b97f4a7c15u + thread) * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (table[k].thread && (table[k].cta != cta || table[k].thread != thread)) k = (k + 1) & (cap - 1);
    return &table[k];
}

static void errors_grow(struct grid_making *m)
{
    u32 cap = m->caperror ? 2 * m->caperror : 8;
    struct grid_error *table = base_need(sizeof *table * cap), *e = m->error;
    for (u32 k = 0; k < m->caperror; k++, e++)
        if (e->thread) *error_entry(table, cap, e->cta, e->thread) = *e;
    base_free(m->error);
    m->error = table;
    m->caperror = cap;
}

static u32 error_last(const struct runtime *t)
{
    struct grid_making *m = t->self->making;
    return m->nerror ? error_entry(m->error, m->caperror, t->w->cta->linear, t->w->id * LANES + t->lane + 1)->code : 0;
}

static void error_set_last(const struct runtime *t, u32 code)
{
    struct grid_making *m = t->self->making;
    if (!code && !error_last(t)) return;
    if (2 * m->nerror >= m->caperror) errors_grow(m);
    u32 thread = t->w->id * LANES + t->lane + 1;
    struct grid_error *e = error_entry(m->error, m->caperror, t->w->cta->linear, thread);
    m->nerror += !e->thread;
    *e = (struct grid_error){ t->w->cta->linear, thread, code };
}

/* The call returns that error. */
static u64 came(const struct runtime *t, u32 code)
{
    if (code) error_set_last(t, code);
    return t->c->system ? system_error(code) : code;
}

/* ---- memory of the caller ---- */

/* Writes a result to where the caller wants it; false: that is not the program's memory. */
static bool put(const struct runtime *t, u64 to, const void *from, u32 bytes)
{
    const struct mem *m = t->w->cta->launch->sim->mem;
    char *p = builtin_room(t->w, t->lane, to, bytes);
    if (!p) return false;
    memcpy(p, from, bytes);
    mem_unseen_add(MEM_AS_FLOATS);
    u64 local = to - mem_local_window(m), shared = to - mem_shared_window(m), at;
    bool is_local = local < MEM_LOCAL_BYTES, is_shared = shared < (u64)MEM_WINDOW_CTA * MEM_WINDOW_CTAS;
    if (!(t->w->code->watch & WATCH_INIT)) return true;
    struct shadow *s = asked->init_shadow(t->w,
                                          is_local    ? SP_LOCAL
                                          : is_shared ? SP_SHARED
                                                      : SP_GLOBAL,
                                          t->lane,
                                          is_local    ? local
                                          : is_shared ? shared
                                                      : to,
                                          &at);
    if (s) shadow_define(s, at, bytes);
    return true;
}

/* Three numbers of an argument: in the call, or where it points to. */
static bool shape_of(const struct runtime *t, u32 k, u32 shape[3])
{
    const struct frame *f = t->w->cur->fr;
    const char *p = k >= t->c->narg           ? NULL
                    : t->c->arg[k].size == 12 ? f->pmem + (size_t)t->lane * f->code->low->pmem_bytes + t->c->arg[k].from
                                              : builtin_bytes(t->w, t->lane, value(t, k), 12);
    if (p) memcpy(shape, p, 12);
    return p != NULL;
}

/* ---- launches ---- */

/* The operation of the kernel's own text that calls: not one of libcudadevrt. */
static void call_site(const struct runtime *t, const struct lowered **low, u32 *op)
{
    const struct frame *f = t->w->cur->fr;
    *low = f->code->low;
    *op = t->i->op;
    while (f->up && (*low)->func->name.n > 10 && !memcmp((*low)->func->name.p, "__cudaCDP2", 10)) {
        u32 at = frame_call_site(f);
        if (at == NONE) return;
        f = f->up;
        *low = f->code->low;
        *op = at;
    }
}

static void refused(const struct runtime *t, const struct grid *g, const char *cause, const char *fix)
{
    const struct lowered *low;
    u32 op;
    char name[200], text[500];
    call_site(t, &low, &op);
    name_plain(g->kernel->name, name, sizeof name);
    snprintf(text, sizeof text, "this launch of `%s` is refused: %s", name, cause);
    struct finding f = { .kind = F_launch_limit, .cause = text, .fix = fix };
    finding_add_of(t->w, low, op, &f, 1u << t->lane);
}

static u64 volume(const u32 v[3]) { return (u64)v[0] * v[1] * v[2]; }

/* The error with which the launch is refused; 0: it may run. The limits are those of a launch by the host. */
static u32 limits_broken(const struct runtime *t, const struct grid *g)
{
    const struct card *p = t->w->cta->launch->sim->card;
    const struct ptx_func *k = g->kernel;
    char cause[240];
    u64 threads = volume(g->block), shared = shared_static_bytes(k) + g->shared_bytes, most;
    if (!volume(g->grid) || !threads) {
        refused(t, g, "a dimension of its grid or block is 0 (cudaErrorInvalidConfiguration, 9).",
                "Launch only where there is something to do.");
        return E_CONFIGURATION;
    }
    for (u32 d = 0; d < 3; d++) {
        bool grid = g->grid[d] > p->grid[d];
        if (!grid && g->block[d] <= p->block[d]) continue;
        snprintf(cause, sizeof cause, "%s.%c is %u, and %s allows at most %u (cudaErrorInvalidConfiguration, 9).",
                 grid ? "grid" : "block", "xyz"[d], grid ? g->grid[d] : g->block[d], p->title,
                 grid ? p->grid[d] : p->block[d]);
        refused(t, g, cause, "Use a shape within the limits of the device.");
        return E_CONFIGURATION;
    }
    u64 bound = k->maxntid[0] ? (u64)k->maxntid[0] * MAX_OF(k->maxntid[1], 1u) * MAX_OF(k->maxntid[2], 1u) : 0;
    most = bound && bound < p->threads_per_cta ? bound : p->threads_per_cta;
    if (threads > most) {
        bool promised = most == bound;
        snprintf(cause, sizeof cause, "its block has %llu threads, and at most %llu are allowed (%s).",
                 (unsigned long long)threads, (unsigned long long)most,
                 promised ? "cudaErrorLaunchOutOfResources, 701" : "cudaErrorInvalidConfiguration, 9");
        refused(t, g, cause,
                promised ? "Raise __launch_bounds__ of the kernel, or use smaller blocks."
                         : "Use smaller blocks, and more of them.");
        return promised ? E_RESOURCES : E_CONFIGURATION;
    }
    u32 want[3] = { k->reqntid[0], MAX_OF(k->reqntid[1], 1u), MAX_OF(k->reqntid[2], 1u) };
    if (k->reqntid[0] && memcmp(want, g->block, sizeof want)) {
        snprintf(cause, sizeof cause,
                 "its block is %u x %u x %u, and the kernel was compiled for exactly %u x %u x %u.", g->block[0],
                 g->block[1], g->block[2], want[0], want[1], want[2]);
        refused(t, g, cause, "Launch it with that block.");
        return E_CONFIGURATION;
    }
    if (shared > p->shared_optin) {
        snprintf(cause, sizeof cause,
                 "it needs %llu bytes of shared memory, and a block of %s has at most %u "
                 "(cudaErrorInvalidConfiguration, 9).",
                 (unsigned long long)shared, p->title, p->shared_optin);
        refused(t, g, cause, "Use less shared memory.");
        return E_CONFIGURATION;
    }
    return E_OK;
}

/* The error of a launch that there is no place for. */
static u32 no_place(const struct runtime *t, struct grid *g, bool tail)
{
    char cause[240];
    g->level = t->self->level + !tail;
    if (g->level > GRID_DEPTH) {
        snprintf(cause, sizeof cause,
                 "kernels launch kernels %u deep, and %u is the most "
                 "(cudaErrorLaunchMaxDepthExceeded, 65).",
                 g->level, GRID_DEPTH);
        refused(t, g, cause, "Bound the depth; a tail launch does not nest.");
        return E_DEPTH;
    }
    if (tail && t->self->making->tails >= GRID_TAILS) {
        snprintf(cause, sizeof cause,
                 "%u tail launches of its grid wait already, for which there is room "
                 "(cudaErrorLaunchPendingCountExceeded, 69).",
                 GRID_TAILS);
        refused(t, g, cause, "Launch fewer, larger grids, or raise cudaLimitDevRuntimePendingLaunchCount.");
        return E_PENDING;
    }
    return E_OK;
}

static u64 buffer_take(const struct runtime *t, struct grid *g, u64 bytes)
{
    struct sim *s = t->w->cta->launch->sim;
    struct error e = { 0 };
    const struct lowered *low;
    u32 op;
    char site[300];
    call_site(t, &low, &op);
    builtin_site(low, op, site, sizeof site);
    g->buffer = mem_alloc(s->mem, MAX_OF(bytes, 1ull), 16, MEM_HEAP, "the parameters of a launch", site, &e);
    if (g->buffer && observed(t->w->cta->launch)) observe_allocated(t->w, g->buffer);
    if (!g->buffer) error_set_last(t, E_MEMORY);
    return g->buffer ? g->buffer->base : 0;
}

/* cudaGetParameterBufferV2: 0 where there is none; the reason is the last error. */
static u64 buffer_for(const struct runtime *t)
{
    struct ptx_func *k = func_at(t->w->cta->launch, value(t, 0));
    struct grid *g = k && k->is_entry && k->has_body ? grid_new(t->self) : NULL;
    if (!g) {
        error_set_last(t, k ? E_MEMORY : E_FUNCTION);
        return 0;
    }
    g->kernel = k;
    if (!shape_of(t, 1, g->grid) || !shape_of(t, 2, g->block)) return 0;
    g->shared_bytes = (u32)value(t, 3);
    return buffer_take(t, g, k->param_bytes);
}

static u64 buffer_plain(const struct runtime *t)
{
    struct grid *g = grid_new(t->self);
    return g ? buffer_take(t, g, value(t, 1)) : 0;
}

/* The stream of a launch: of the grid, or the default one of the CTA. NULL: it has no such stream. */
static struct grid_handle *stream_of(const struct runtime *t, u64 stream)
{
    u64 own = 1ull << 63 | t->w->cta->linear;
    if (stream > STREAM_DEFAULT) return grid_handle_of(t->self, stream, false);
    struct grid_handle *h = grid_handle_of(t->self, own, false);
    return h ? h : grid_handle_new(t->self, own, false);
}

static void origin_set(const struct runtime *t, struct grid *g)
{
    const struct lowered *low;
    const struct launch *l = t->w->cta->launch;
    u32 op;
    char name[200];
    call_site(t, &low, &op);
    struct arena a = { 0 };
    struct text site = { 0 };
    place_brief(finding_place(&a, low, op), &site);
    name_plain(l->kernel->func->name, name, sizeof name);
    size_t n = strlen(name) + site.n + 16;
    char *by = base_need(n);
    snprintf(by, n, "`%s` at %s", name, site.p ? site.p : "?");
    text_free(&site);
    arena_free(&a);
    g->origin = t->self->origin;
    g->origin.by = by;
}

/* Launches the grid whose parameters are in the buffer. */
static u32 launch(const struct runtime *t, struct grid *g, u64 stream)
{
    bool tail = stream == STREAM_TAIL;
    struct grid_handle *h = tail || stream == STREAM_FIRE ? NULL : stream_of(t, stream);
    if (!h && !tail && stream != STREAM_FIRE) return E_VALUE;
    u32 code = limits_broken(t, g);
    if (!code) code = no_place(t, g, tail);
    if (code) return code;
    struct mem_object *o = g->buffer;
    u32 bytes = g->kernel->param_bytes;
    g->params = base_need(bytes + 8);
    memcpy(g->params, mem_view(o, o->base), MIN_OF((u64)bytes, o->size));
    mem_free(t->w->cta->launch->sim->mem, o->base, NULL, &o);
    g->buffer = NULL;
    origin_set(t, g);
    if (observed(t->w->cta->launch)) observe_launched(t->w, t->lane, &g->race);
    grid_launched(g, tail ? GRID_TAIL : h ? GRID_STREAM : GRID_FIRE, h);
    return E_OK;
}

static struct grid *with_buffer(const struct runtime *t, u64 address)
{
    struct grid *g = t->self->making->buffers;
    while (g && (!g->buffer || g->buffer->base != address)) g = g->next;
    return g;
}

static u32 launch_plain(const struct runtime *t)
{
    struct grid *g = with_buffer(t, value(t, 1));
    struct ptx_func *k = func_at(t->w->cta->launch, value(t, 0));
    if (!g) return E_VALUE;
    if (!k || !k->is_entry || !k->has_body) return E_FUNCTION;
    g->kernel = k;
    if (!shape_of(t, 2, g->grid) || !shape_of(t, 3, g->block)) return E_VALUE;
    g->shared_bytes = (u32)value(t, 4);
    return launch(t, g, value(t, 5));
}

/* ---- streams and events ---- */

static u32 handle_create(const struct runtime *t, bool event)
{
    u64 handle = (u64)(t->self->making->nhandle + 1) << 8;
    /* an H200 makes streams with any flags, though the guide wants cudaStreamNonBlocking */
    if ((event && !(value(t, 1) & EVENT_NO_TIMING)) || !put(t, value(t, 0), &handle, 8)) return E_VALUE;
    grid_handle_new(t->self, handle, event);
    return E_OK;
}

static u32 device_handle_destroy(const struct runtime *t, bool event)
{
    struct grid_handle *h = grid_handle_of(t->self, value(t, 0), event);
    if (h) h->gone = true;
    return h ? E_OK : E_VALUE;
}

static u32 stream_wait(const struct runtime *t)
{
    struct grid_handle *h = stream_of(t, value(t, 0)), *e = grid_handle_of(t->self, value(t, 1), true);
    if (h && e) grid_wait_for(t->self, h, e);
    return h && e ? E_OK : E_VALUE;
}

static u32 device_event_record(const struct runtime *t)
{
    const struct grid_handle *h = stream_of(t, value(t, 1));
    struct grid_handle *e = grid_handle_of(t->self, value(t, 0), true);
    if (!h || !e) return E_VALUE;
    e->nwait = 0;
    grid_wait_for(t->self, e, h);
    return E_OK;
}

/* ---- questions ---- */

static u32 put_number(const struct runtime *t, u64 v, u32 bytes)
{
    return put(t, value(t, 0), &v, bytes) ? E_OK : E_VALUE;
}

/* cudaDeviceGetAttribute, of those that a kernel computes a launch from. */
static u32 attribute(const struct runtime *t)
{
    const struct card *p = t->w->cta->launch->sim->card;
    switch (value(t, 1)) {
    case 1: return put_number(t, p->threads_per_cta, 4);
    case 2:
    case 3:
    case 4: return put_number(t, p->block[value(t, 1) - 2], 4);
    case 5:
    case 6:
    case 7: return put_number(t, p->grid[value(t, 1) - 5], 4);
    case 8: return put_number(t, p->shared_per_cta, 4);
    case 10: return put_number(t, LANES, 4);
    case 12: return put_number(t, p->regs_per_cta, 4);
    case 16: return put_number(t, p->sms, 4);
    case 39: return put_number(t, p->threads_per_sm, 4);
    case 75: return put_number(t, p->sm / 10, 4);
    case 76: return put_number(t, p->sm % 10, 4);
    case 81: return put_number(t, p->shared_per_sm, 4);
    case 97: return put_number(t, p->shared_optin, 4);
    case 106: return put_number(t, p->ctas_per_sm, 4);
    default:
        launch_fail(t->w->cta->launch, SIM_UNSUPPORTED, ERR_UNSUPPORTED, t->w->code->low, t->i->op,
                    "cudaDeviceGetAttribute of attribute %u in a kernel is not supported", (u32)value(t, 1));
        return E_VALUE;
    }
}

/* cudaDeviceGetLimit: as a program finds them. */
static u32 limit(const struct runtime *t)
{
    static const u64 is[] = { 1024, 1 << 20, 8 << 20, 2, GRID_TAILS };
    return value(t, 1) < COUNT_OF(is) ? put_number(t, is[value(t, 1)], 8) : E_VALUE;
}

static u32 resident(const struct runtime *t)
{
    const struct launch *l = t->w->cta->launch;
    const struct ptx_func *k = func_at(t->w->cta->launch, value(t, 1));
    u32 threads = (u32)value(t, 2);
    if (!k || !k->is_entry || !threads || threads > l->sim->card->threads_per_cta) return E_VALUE;
    u64 shared = k->module->shared_base + shared_static_bytes(k) + value(t, 3);
    return put_number(t, sim_resident_per_sm(l->sim->card, k, threads, shared), 4);
}

/* What the call returns. */
static u64 answer(const struct runtime *t)
{
    struct grid *g;
    u32 last = error_last(t);
    switch ((enum builtin)t->c->builtin) {
    case BI_BUFFER: return buffer_for(t);
    case BI_BUFFER_PLAIN: return buffer_plain(t);
    case BI_LAUNCH:
        g = with_buffer(t, value(t, 0));
        return came(t, g && g->kernel ? launch(t, g, value(t, 1)) : E_VALUE);
    case BI_LAUNCH_PLAIN: return came(t, launch_plain(t));
    case BI_TAKE_ERROR: error_set_last(t, 0); return last;
    case BI_PEEK_ERROR: return last;
    case BI_SET_ERROR: error_set_last(t, (u32)value(t, 0)); return (u32)value(t, 0);
    case BI_STREAM_CREATE: return came(t, handle_create(t, false));
    case BI_STREAM_DESTROY: return came(t, device_handle_destroy(t, false));
    case BI_STREAM_WAIT: return came(t, stream_wait(t));
    case BI_EVENT_CREATE: return came(t, handle_create(t, true));
    case BI_EVENT_RECORD: return came(t, device_event_record(t));
    case BI_EVENT_DESTROY: return came(t, device_handle_destroy(t, true));
    case BI_DEVICE: return came(t, put_number(t, 0, 4));
    case BI_DEVICES: return came(t, put_number(t, 1, 4));
    case BI_ATTRIBUTE: return came(t, attribute(t));
    case BI_LIMIT: return came(t, limit(t));
    case BI_RESIDENT: return came(t, resident(t));
    default: return came(t, E_VALUE);
    }
}

void runtime_call(struct warp *w, const struct call *c, const struct insn *i)
{
    struct grid *g = grid_lock(w->cta->launch);
    if (!g) return;
    w->changed = 1;
    EACH_SET (l, w->mask) {
        struct runtime t = { .w = w, .c = c, .i = i, .lane = l, .self = g };
        builtin_return(w->cur->fr, c, t.lane, answer(&t));
    }
    grid_unlock(g);
}
