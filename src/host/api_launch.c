/* Launches of the public interface. */
#include "host/host.h"
#include <inttypes.h>

/* The parameters of one launch. Most kernels have less than a kilobyte of them; PTX allows 32,764 bytes. */
struct block {
    _Alignas(16) u8 small[1024];
    u8 *p; /* small, or from base_alloc */
};

static void block_free(struct block *b)
{
    if (b->p != b->small) base_free(b->p);
}

static bool arguments_pack(const lk_kernel *k, const lk_launch *l, struct block *b, struct error *e)
{
    const struct ptx_func *f = k->func;
    if (l->arg_count != f->nparam)
        return error_set(e, ERR_INPUT, "%s takes %u argument%s, %u given", k->plain, f->nparam,
                         f->nparam == 1 ? "" : "s", l->arg_count);
    if (f->param_bytes > sizeof b->small && !(b->p = base_alloc(f->param_bytes))) {
        b->p = b->small;
        return error_set(e, ERR_MEMORY, "out of memory");
    }
    if (b->p == b->small) memset(b->p, 0, f->param_bytes);
    for (u32 i = 0; i < f->nparam; i++) {
        const struct ptx_var *v = f->param[i];
        if (l->arg_bytes && l->arg_bytes[i] != v->size)
            return error_set(e, ERR_INPUT,
                             "argument %u: the kernel expects %" PRIu64 " bytes at offset %" PRIu64 " (.%s), %u given",
                             i, v->size, v->offset, type_name[v->type], l->arg_bytes[i]);
        if (!l->args || !l->args[i]) return error_set(e, ERR_INPUT, "argument %u: no pointer to its value is given", i);
        memcpy(b->p + v->offset, l->args[i], v->size);
    }
    return true;
}

/* The launch as dev wants it; 0 counts as 1 in y and z. */
static bool shape_read(const lk_launch *l, struct dev_launch *out, struct error *e)
{
    if (!l->grid[0] || !l->block[0])
        return error_set(e, ERR_INPUT, "%s.x is 0: nothing would run", l->grid[0] ? "block" : "grid");
    for (int i = 0; i < 3; i++) {
        out->grid[i] = MAX_OF(l->grid[i], 1u);
        out->block[i] = MAX_OF(l->block[i], 1u);
    }
    out->shared_bytes = l->shared_bytes;
    out->cooperative = l->cooperative;
    out->shared_consent = l->shared_optin;
    out->registers = l->registers;
    return true;
}

static const struct sim_trace *trace_read(const lk_trace *given, struct sim_trace *out)
{
    lk_trace in = { .size = sizeof in };
    if (!given) return NULL;
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

/* Pointers that lead nowhere: not wrong yet, since the kernel may not follow them, but worth a word when it then
 * fails. */
static void pointers_check(const lk_kernel *k, const struct dev_launch *l)
{
    struct device *d = k->module->gpu->device;
    for (u32 i = 0; d->mem && d->options.checks & CHECK_LAUNCH && i < k->func->nparam; i++) {
        const struct ptx_var *v = k->func->param[i];
        u64 value;
        if (v->size != 8 || !(v->is_ptr || strchr(k->param_type[i], '*'))) continue;
        memcpy(&value, (const u8 *)l->params + v->offset, 8);
        const struct mem_object *o = value ? mem_find(d->mem, value) : NULL;
        if (!value || (o && o->state == MEM_LIVE)) continue;
        char cause[300];
        if (o)
            snprintf(cause, sizeof cause, "argument %u points into %s, which was freed", i, o->name);
        else
            snprintf(cause, sizeof cause, "argument %u is 0x%" PRIx64 ": no allocation of this device is there", i,
                     value);
        launch_found(d, l, F_launch_pointer, i, cause, NULL);
    }
}

/* Everything that a caller can get wrong in lk_launch; `out` is filled in, its parameters are in `b`. */
static bool launch_read(lk_kernel *kernel, const lk_launch *in, struct block *b, struct dev_launch *out,
                        struct sim_trace *trace, struct error *e)
{
    u32 registers = in->registers ? in->registers : __atomic_load_n(&kernel->registers, __ATOMIC_RELAXED);
    *out = (struct dev_launch){ .kernel = kernel->func, .trace = trace_read(in->trace, trace) };
    if (!shape_read(in, out, e) || !arguments_pack(kernel, in, b, e)) return false;
    if (in->contract && in->contract->kernel != kernel)
        return error_set(e, ERR_INPUT, "the contract is not bound to %s; lk_contract_bind does that", kernel->plain);
    out->params = b->p;
    out->contract = in->contract ? &in->contract->bound : NULL;
    out->registers = registers;
    out->order = in->order;
    out->orders = in->orders;
    return true;
}

static lk_status run(lk_gpu *gpu, const struct dev_launch *l, lk_stats *stats, struct error *e)
{
    struct report *report = gpu->device->report;
    u64 before = report_error_occurrences(report), t0 = stats ? time_ns() : 0;
    struct sim_result r;
    enum dev_result result = dev_launch(gpu->device, l, &r, e);
    if (stats) *stats = (lk_stats){ r.warp_insns, r.ctas, time_ns() - t0, r.orders };
    if (result == DEV_FAILED) return host_failed(gpu);
    return report_error_occurrences(report) != before ? LK_FINDINGS : LK_OK;
}

lk_status lk_kernel_launch(lk_kernel *kernel, const lk_launch *launch, lk_stats *stats)
{
    if (!kernel || !launch) return HOST_MISSING(kernel ? kernel->module->gpu : NULL, kernel ? "launch" : "kernel");
    lk_gpu *gpu = kernel->module->gpu;
    struct error *e = host_begin(gpu);
    lk_launch in = { .size = sizeof in };
    memcpy(&in, launch, MIN_OF(launch->size, sizeof in));
    struct sim_trace trace;
    struct block b;
    struct dev_launch l;
    b.p = b.small;
    if (stats) *stats = (lk_stats){ 0 };
    bool ok = launch_read(kernel, &in, &b, &l, &trace, e);
    if (ok) {
        report_launch(gpu->device->report, in.number);
        pointers_check(kernel, &l);
    }
    lk_status status = ok ? run(gpu, &l, stats, e) : host_failed(gpu);
    block_free(&b);
    return status;
}
