/* Launches of the public interface. */
#include "gpu/dev_gpu.h"
#include "api/host_time.h"
#include "api/host_timeline.h"
#include "mem/host_pointer.h"
#include "check/views.h"
#include <inttypes.h>

/* The launch as dev wants it; 0 counts as 1 in y and z. */
static bool shape_read(const lk_launch *l, struct dev_launch *out, struct error *e)
{
    if (!l->grid[0] || !l->block[0])
        return error_set(e, ERR_INPUT, "%s.x is 0: nothing would run", l->grid[0] ? "block" : "grid");
    out->grid[0] = l->grid[0];
    out->grid[1] = MAX_OF(l->grid[1], 1u);
    out->grid[2] = MAX_OF(l->grid[2], 1u);
    out->block[0] = l->block[0];
    out->block[1] = MAX_OF(l->block[1], 1u);
    out->block[2] = MAX_OF(l->block[2], 1u);
    out->shared_bytes = l->shared_bytes;
    for (u32 k = 0; k < 3; k++) out->cluster[k] = l->cluster[0] ? MAX_OF(l->cluster[k], 1u) : 0;
    out->portable = l->portable;
    out->cooperative = l->cooperative;
    out->shared_consent = l->shared_optin;
    out->registers = l->registers;
    return true;
}

static const struct sim_trace *trace_read(const lk_trace *given, struct sim_trace *out)
{
    lk_trace in = { .size = sizeof in };
    memcpy(&in, given, MIN_OF(given->size, sizeof in));
    *out = (struct sim_trace){ .write = in.write,
                               .stop = in.break_at ? in.stop : NULL,
                               .self = in.self,
                               .lines = in.lines,
                               .break_at = in.stop ? in.break_at : NULL,
                               .one_cta = in.one_cta,
                               .one_warp = in.one_warp,
                               .cta = { in.cta[0], in.cta[1], in.cta[2] },
                               .warp = in.warp };
    return out;
}

/* A card that can use pageable memory takes it: whether the argument points into such. It is said, since other cards
 * end the kernel with error 700, and this one goes to the host's memory for each access. */
static bool pageable_used(const lk_kernel *k, const struct dev_launch *l, u32 i, u64 value)
{
    struct device *d = k->module->gpu->device;
    struct host_pointer h;
    char where[200], name[240], cause[500];
    if (!d->card->pageable || (d->gpu && gpu_knows(d, value)) || !host_pointer_look(d->mem, value, &h)) return false;
    host_pointer_text(&h, where, sizeof where);
    snprintf(name, sizeof name, "memory of the host%s", h.name ? h.name : "");
    if (d->mem && !mem_lend(d->mem, value, name)) return false;
    if (!(d->options.checks & CHECK_LAUNCH)) return true;
    snprintf(cause, sizeof cause, "%s is a pointer of the host, into %s; %s can use it", ptx_argument(k->func, i).text,
             where, d->card->title);
    launch_found(d, l, F_pageable_pointer, i, cause, NULL);
    return true;
}

/* Pointers that lead nowhere: not wrong yet, since the kernel may not follow them, but worth a word when it then
 * fails. Memory of an allocation node comes back with the next launch of its graph, which may still wait. */
static void pointers_check(const lk_kernel *k, const struct dev_launch *l)
{
    struct device *d = k->module->gpu->device;
    if (!d->mem && !d->card->pageable) return;
    for (u32 i = 0; i < k->func->nparam; i++) {
        u64 value;
        if (!k->arg[i].is_pointer) continue;
        memcpy(&value, l->args ? l->args[i] : (const u8 *)l->params + k->arg[i].offset, 8);
        const struct mem_object *o = value ? d->ops->find(d, value) : NULL;
        bool lives = o && __atomic_load_n(&o->state, __ATOMIC_ACQUIRE) != MEM_FREED;
        if (!value || (lives && !o->lent) || pageable_used(k, l, i, value)) continue;
        if (!d->mem || !(d->options.checks & CHECK_LAUNCH)) continue;
        if (o && sim_pool_is_graph(o)) continue;
        char cause[400], shadow[600];
        struct host_pointer h;
        const char *fix = NULL;
        struct ptx_argument a = ptx_argument(k->func, i);
        if (!o && host_pointer_look(d->mem, value, &h)) {
            char where[200];
            host_pointer_text(&h, where, sizeof where);
            snprintf(cause, sizeof cause, "%s is a pointer of the host, into %s; no device knows this memory", a.text,
                     where);
            fix = host_shadow_fix(value, shadow, sizeof shadow) ? shadow : finding_fix(F_host_pointer);
        } else if (o)
            snprintf(cause, sizeof cause, "%s points into %s, which was freed", a.text, o->name);
        else
            snprintf(cause, sizeof cause, "%s is 0x%" PRIx64 ": no allocation of this device is there", a.text, value);
        launch_found(d, l, F_launch_pointer, i, cause, fix);
    }
}

/* The contract stays bound as it is while the launch is held against it; false: it is bound to another kernel. */
static bool contract_hold(const lk_launch *in, const lk_kernel *kernel)
{
    lk_contract *c = (lk_contract *)(uintptr_t)in->contract;
    HOST_LOCK(&c->lock);
    if (c->kernel != kernel) return false;
    if (in->stream)
        __atomic_store_n(&c->in_streams, true, __ATOMIC_RELEASE);
    else
        __atomic_add_fetch(&c->busy, 1, __ATOMIC_ACQUIRE);
    return true;
}

/* Everything that a caller can get wrong in lk_launch. Each field is set by itself: clearing the whole first took a
 * third of the call. */
static bool launch_read(struct host_launch *h, lk_kernel *kernel, struct error *e)
{
    const lk_launch *in = h->in;
    struct dev_launch *out = &h->task.launch;
    h->task.kind = OP_LAUNCH;
    h->task.programmatic = in->programmatic != 0;
    h->task.number = in->number;
    h->task.site = NULL;
    out->kernel = kernel->func;
    out->params = NULL;
    out->took = NULL;
    out->args = NULL;
    out->contract = NULL;
    out->trace = in->trace ? trace_read(in->trace, &h->trace) : NULL;
    if (!shape_read(in, out, e) || !host_arguments(kernel, h, e)) return false;
    out->views = host_views(kernel->func, out->params);
    if (out->views && kernel->module->gpu->device->mem)
        views_name(kernel->module->gpu->device->mem, out->views, out->params);
    if (in->contract && !contract_hold(in, kernel))
        return error_set(e, ERR_INPUT, "the contract is not bound to %s; lk_contract_bind does that", kernel->plain);
    out->contract = in->contract ? &in->contract->bound : NULL;
    if (unlikely(kernel->module->gpu->device->counts != NULL) && !in->registers) host_assembled(kernel);
    if (unlikely(kernel->module->gpu->assemble) && !in->registers)
        host_assembled_for(kernel, (u64)out->block[0] * out->block[1] * out->block[2]);
    u32 assembled = __atomic_load_n(&kernel->registers, __ATOMIC_ACQUIRE); /* stored last */
    out->registers = in->registers ? in->registers : assembled;
    out->stack = assembled ? kernel->stack : 0;
    out->spill_stores = assembled ? kernel->spill_stores : 0;
    out->spill_loads = assembled ? kernel->spill_loads : 0;
    out->order = in->order;
    out->origin = (struct launch_origin){ .nth = in->nth };
    out->count = (struct dev_count *)in->count;
    if (in->nth) out->origin.site = host_site(in->site);
    out->orders = in->orders;
    return true;
}

void host_launch_end(struct host_launch *h)
{
    const lk_launch *in = h->in;
    if (h->params != h->small) base_free(h->params);
    if (unlikely(in->contract != NULL) && h->task.launch.contract && !in->stream)
        __atomic_sub_fetch(&((lk_contract *)(uintptr_t)in->contract)->busy, 1, __ATOMIC_RELEASE);
}

static lk_status launch_prepare(struct host_call *c, struct host_launch *h, lk_kernel *kernel, const lk_launch *launch,
                                const char *function, struct error *e)
{
    h->in = launch;
    if (unlikely(launch->size < offsetof(lk_launch, block) + sizeof launch->block)) {
        error_set(e, ERR_INPUT, "lk_launch.size is %zu: set it to sizeof(lk_launch), or nothing of the struct is read",
                  launch->size);
        return host_failed(kernel->module->gpu);
    }
    if (unlikely(launch->size < sizeof h->known)) { /* a caller that was built against a smaller struct */
        h->known = (lk_launch){ .size = sizeof h->known };
        memcpy(&h->known, launch, launch->size);
        h->in = &h->known;
    }
    h->params = h->small;
    if (!host_enter_also(c, function, (struct host_use)USE_IF(STREAM, h->in->stream)) ||
        !host_enter_also(c, function, (struct host_use)USE_IF(CONTRACT, h->in->contract)))
        return LK_BAD_INPUT;
    if (launch_read(h, kernel, e)) return LK_OK;
    host_launch_end(h);
    return host_failed(kernel->module->gpu);
}

/* What cannot be done while the caller goes on. */
static bool may_wait(const lk_launch *in, struct error *e)
{
    if (in->trace)
        return error_set(e, ERR_UNSUPPORTED, "a launch in a stream or graph is not traced; launch without one");
    if (in->orders)
        return error_set(e, ERR_UNSUPPORTED, "a launch in a stream or graph does not run again in other orders");
    return true;
}

lk_status host_launch_begin(struct host_call *c, struct host_launch *h, const lk_gpu *gpu, lk_kernel *kernel,
                            const lk_launch *launch, const char *function)
{
    if (!launch) return host_missing_in(gpu, function, "launch");
    if (kernel->module->gpu != gpu) return host_refuse(gpu, "%s was loaded on another gpu", kernel->plain);
    struct error *e = host_begin(gpu);
    lk_status status = launch_prepare(c, h, kernel, launch, function, e);
    if (status == LK_OK && h->in->contract)
        __atomic_store_n(&((lk_contract *)(uintptr_t)h->in->contract)->in_graphs, true, __ATOMIC_RELEASE);
    if (status == LK_OK && kernel->module->gpu->device->card->pageable) pointers_check(kernel, &h->task.launch);
    if (status != LK_OK || may_wait(h->in, e)) return status;
    host_launch_end(h);
    return host_failed(gpu);
}

static lk_status run(lk_gpu *gpu, const struct host_launch *h, lk_stats *stats, struct error *e)
{
    struct report *report = gpu->device->report;
    bool timed = stats || gpu->times;
    u64 before = report_error_occurrences(report), t0 = timed ? time_ns() : 0;
    struct sim_result r = { 0 };
    struct dev_launch l = h->task.launch;
    u64 took = 0;
    l.took = timed ? &took : NULL;
    enum dev_result result = dev_launch(gpu->device, &l, &r, e);
    if (timed && gpu->device->mem) took = time_ns() - t0;
    if (stats) *stats = (lk_stats){ r.warp_insns, r.ctas, took, r.orders };
    if (unlikely(gpu->times != NULL) && result == DEV_RAN) host_time_took(gpu, &h->task, took);
    if (result == DEV_FAILED || (result == DEV_REFUSED && e->code)) {
        lk_status status = host_failed(gpu);
        return result == DEV_FAILED ? status : LK_FINDINGS; /* a fault of a real GPU is a finding, and an error */
    }
    return report_error_occurrences(report) != before ? host_found(gpu) : LK_OK;
}

/* ---- repeats ----
 *
 * The last launch of this thread in a stream of a real GPU, if the driver took it and nothing was said of it. One that
 * is equal but for the values of its arguments goes to the driver at once: of the memory that a launch is usually read
 * from (kernel, module, gpu, device, report, limits), which the driver's own work has thrown out of the nearest cache,
 * it takes two lines. */

enum { SHAPE_WORDS = 4, REPEAT_POINTERS = 16 };

/* Grid, block, shared memory and whether it is cooperative: they are neighbours in lk_launch. */
struct given_shape {
    u64 word[SHAPE_WORDS];
};
_Static_assert(offsetof(lk_launch, args) - offsetof(lk_launch, grid) == sizeof(struct given_shape), "neighbours");

static _Thread_local _Alignas(64) struct {
    const lk_kernel *kernel; /* NULL: none */
    const lk_stream *stream;
    u64 forgets; /* launch_forgets then */
    struct given_shape shape;
    u32 args;
    struct dev_repeat dev;
    const struct host_arg *arg; /* of the kernel */
    u64 known[REPEAT_POINTERS]; /* pointers that were found right since then, each in its place */
} repeat;

static u64 *known_at(u64 pointer) { return &repeat.known[(pointer >> 8 ^ pointer >> 16) % REPEAT_POINTERS]; }

/* Whether the arguments can be read, and the pointers among them are known to be right. */
static bool repeat_arguments(const lk_launch *l)
{
    if (!bytes_readable(l->args, l->arg_count * sizeof *l->args)) return false;
    for (u32 i = 0; i < l->arg_count; i++) {
        u64 value;
        if (!bytes_readable(l->args[i], repeat.arg[i].bytes)) return false;
        if (!repeat.arg[i].is_pointer || l->as_given) continue;
        memcpy(&value, l->args[i], 8);
        if (value && *known_at(value) != value) return false;
    }
    return true;
}

static struct given_shape shape_of(const lk_launch *l)
{
    struct given_shape s;
    memcpy(&s, l->grid, sizeof s);
    return s;
}

/* Whether nothing is asked for that a repeat leaves out. */
static bool is_plain(const lk_launch *l)
{
    return !((uintptr_t)l->arg_bytes | (uintptr_t)l->trace | (uintptr_t)l->contract | l->shared_optin | l->registers |
             l->order | l->orders | l->number | l->programmatic | l->cluster[0] | l->portable | (uintptr_t)l->values);
}

static bool repeat_launch(const lk_launch *l)
{
    const struct dev_repeat *d = &repeat.dev;
    const u32 *n = l->grid, *b = l->block;
    if (d->launch(d->function, n[0], MAX_OF(n[1], 1u), MAX_OF(n[2], 1u), b[0], MAX_OF(b[1], 1u), MAX_OF(b[2], 1u),
                  l->shared_bytes, d->stream, (void **)(uintptr_t)l->args, NULL))
        return false;
    __atomic_store_n(d->last, d->kernel, __ATOMIC_RELEASE);
    return true;
}

/* true: it is enqueued. A launch that the driver refuses is made again on the long way, which says why. */
static bool repeated(const lk_kernel *k, const lk_launch *l)
{
    if (repeat.kernel != k || l->size < sizeof *l || repeat.stream != l->stream ||
        repeat.forgets != __atomic_load_n(&launch_forgets, __ATOMIC_ACQUIRE) || !is_plain(l) ||
        l->arg_count != repeat.args)
        return false;
    struct given_shape s = shape_of(l);
    u64 differ = 0;
    for (u32 i = 0; i < SHAPE_WORDS; i++) differ |= s.word[i] ^ repeat.shape.word[i];
    if (differ || (l->arg_count && !repeat_arguments(l))) return false;
    /* Handles that ended made others forget before: who ends one waits for the threads that are counted here. The
     * memory of a handle is nobody else's when it has ended. */
    __atomic_add_fetch(&l->stream->repeats, 1, __ATOMIC_SEQ_CST);
    bool done = repeat.forgets == __atomic_load_n(&launch_forgets, __ATOMIC_SEQ_CST) && repeat_launch(l);
    __atomic_sub_fetch(&l->stream->repeats, 1, __ATOMIC_RELEASE);
    return done;
}

/* Keeps a launch that was enqueued. `forgets` is from before it. */
static void repeat_keep(const lk_kernel *k, const lk_launch *l, const struct dev_launch *dev, u64 forgets)
{
    const struct dev_async_ops *ops = k->module->gpu->device->async;
    if (repeat.forgets != forgets || repeat.kernel != k) memset(repeat.known, 0, sizeof repeat.known);
    repeat.kernel = NULL;
    if (!ops->repeat || !is_plain(l) || !dev_alone() || !launch_was_allowed(dev)) return;
    if (!ops->repeat(l->stream->dev, dev, &repeat.dev)) return;
    repeat.kernel = k;
    repeat.stream = l->stream;
    repeat.forgets = forgets;
    repeat.shape = shape_of(l);
    repeat.args = l->arg_count;
    repeat.arg = k->arg;
    for (u32 i = 0; i < l->arg_count; i++) {
        u64 value;
        if (!k->arg[i].is_pointer || !l->args) continue;
        memcpy(&value, l->args[i], 8);
        *known_at(value) = value;
    }
}

/* lk_options.blocking: the launch has ended when the call returns, unless it is captured. */
static lk_status waited(lk_gpu *gpu, lk_stream *stream)
{
    enum capture_status captured = CAPTURE_NONE;
    gpu->device->async->capture_status(stream->dev, &captured, &(u64){ 0 }, &(struct error){ 0 });
    if (captured != CAPTURE_NONE) return LK_OK;
    return host_done(gpu, gpu->device->async->stream_synchronise(stream->dev, host_begin(gpu)));
}

static lk_status enqueue(lk_gpu *gpu, const lk_kernel *kernel, struct host_launch *h, struct error *e)
{
    if (h->in->stream->handle.gpu != gpu) return host_refuse(gpu, "the kernel and the stream belong to different gpus");
    if (!may_wait(h->in, e)) return host_failed(gpu);
    u64 forgets = __atomic_load_n(&launch_forgets, __ATOMIC_ACQUIRE);
    lk_status status = host_enqueue(h->in->stream, &h->task, h->in->site);
    if (status == LK_OK && unlikely(gpu->blocking)) return waited(gpu, h->in->stream);
    if (status == LK_OK && gpu->device->gpu && !gpu->keep && !gpu->times && !host_record_asked())
        repeat_keep(kernel, h->in, &h->task.launch, forgets);
    return status;
}

static lk_status launch(struct host_call *c, lk_kernel *kernel, const lk_launch *given, lk_stats *stats)
{
    lk_gpu *gpu = kernel->module->gpu;
    struct error *e = host_begin(gpu);
    struct host_launch h;
    u64 nth = 0;
    if (unlikely(gpu->keep || host_record_asked())) nth = __atomic_add_fetch(&kernel->launches, 1, __ATOMIC_RELAXED);
    host_launching(kernel->plain, nth);
    lk_status status = launch_prepare(c, &h, kernel, given, "lk_kernel_launch", e);
    if (status != LK_OK) {
        host_launching(NULL, 0);
        return status;
    }
    if (unlikely(nth != 0) && host_record_asked()) host_record_launch(kernel, h.in, nth);
    /* launches of streams run side by side: what is found in one of them says so itself */
    report_launch(gpu->device->report, h.in->stream ? 0 : h.in->number);
    report_launch_here(h.in->stream ? h.in->number : 0);
    if (!h.in->stream && h.in->number) launch_forget(); /* a repeat would leave the number as it is */
    report_origin_here(&h.task.launch.origin);
    pointers_check(kernel, &h.task.launch);
    if (!h.in->stream) host_note_task(gpu, NULL, &h.task);
    if (unlikely(gpu->keep) && !h.in->stream) host_kept_add(gpu, NULL, &h.task);
    status = h.in->stream ? enqueue(gpu, kernel, &h, e) : run(gpu, &h, stats, e);
    host_launching(NULL, 0);
    report_launch_here(0);
    report_origin_here(NULL);
    report_origin_ended(gpu->device->report, &h.task.launch.origin);
    host_launch_end(&h);
    return status;
}

lk_status lk_kernel_launch(lk_kernel *kernel, const lk_launch *given, lk_stats *stats)
{
    if (stats) *stats = (lk_stats){ 0 };
    if (given && repeated(kernel, given)) return LK_OK;
    HOST_CALL(LK_BAD_INPUT, USE(KERNEL, kernel));
    return given ? launch(&call, kernel, given, stats) : HOST_MISSING(kernel->module->gpu, "launch");
}
