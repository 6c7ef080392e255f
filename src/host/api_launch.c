/* Memory and launches of the public interface. */
#include "host/host.h"
#include <inttypes.h>

lk_status lk_memory_alloc(lk_gpu *gpu, uint64_t bytes, lk_memory_kind kind, const char *name, uint64_t *address)
{
    struct error *e = host_begin(gpu);
    *address = 0;
    if (kind > LK_MEMORY_MANAGED) {
        error_set(e, ERR_INPUT, "there is no kind of memory %d", (int)kind);
        return host_failed(gpu);
    }
    static const enum mem_kind kinds[] = { MEM_DEVICE, MEM_PINNED, MEM_MANAGED };
    struct mem_object *o = dev_alloc(gpu->device, bytes, kinds[kind], name, NULL, e);
    if (!o) return host_failed(gpu);
    *address = o->base;
    return LK_OK;
}

lk_status lk_memory_describe(lk_gpu *gpu, uint64_t address, const char *name, const char *type, uint32_t element_bytes)
{
    struct error *e = host_begin(gpu);
    return dev_describe(gpu->device, address, name, type, element_bytes, e) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_free(lk_gpu *gpu, uint64_t address)
{
    return !address || dev_free(gpu->device, address, NULL) ? LK_OK : LK_FINDINGS;
}

lk_status lk_memory_write(lk_gpu *gpu, uint64_t address, const void *from, uint64_t bytes)
{
    return dev_write(gpu->device, address, from, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_read(lk_gpu *gpu, uint64_t address, void *to, uint64_t bytes)
{
    return dev_read(gpu->device, address, to, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_output(lk_gpu *gpu, uint64_t address, uint64_t bytes)
{
    return dev_output(gpu->device, address, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

lk_status lk_memory_fill(lk_gpu *gpu, uint64_t address, int byte, uint64_t bytes)
{
    return dev_fill(gpu->device, address, byte, bytes, host_begin(gpu)) ? LK_OK : host_failed(gpu);
}

uint64_t lk_memory_live(const lk_gpu *gpu) { return gpu->device->ops->live(gpu->device); }

static bool arguments_pack(lk_kernel *k, const lk_launch *l, struct error *e)
{
    const struct ptx_func *f = k->func;
    if (l->arg_count != f->nparam)
        return error_set(e, ERR_INPUT, "%s takes %u argument%s, %u given", k->plain, f->nparam,
                         f->nparam == 1 ? "" : "s", l->arg_count);
    for (u32 i = 0; i < f->nparam; i++) {
        const struct ptx_var *v = f->param[i];
        if (l->arg_bytes && l->arg_bytes[i] != v->size)
            return error_set(e, ERR_INPUT,
                             "argument %u: the kernel expects %" PRIu64 " bytes at offset %" PRIu64 " (.%s), %u given",
                             i, v->size, v->offset, type_name[v->type], l->arg_bytes[i]);
        if (!l->args || !l->args[i]) return error_set(e, ERR_INPUT, "argument %u: no pointer to its value is given", i);
        memcpy(k->params + v->offset, l->args[i], v->size);
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
static void pointers_check(lk_kernel *k, const struct dev_launch *l)
{
    struct device *d = k->module->gpu->device;
    for (u32 i = 0; d->mem && d->options.checks & CHECK_LAUNCH && i < k->func->nparam; i++) {
        const struct ptx_var *v = k->func->param[i];
        u64 value;
        if (v->size != 8 || !(v->is_ptr || strchr(k->param_type[i], '*'))) continue;
        memcpy(&value, k->params + v->offset, 8);
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

lk_status lk_kernel_launch(lk_kernel *kernel, const lk_launch *launch, lk_stats *stats)
{
    lk_gpu *gpu = kernel->module->gpu;
    struct error *e = host_begin(gpu);
    lk_launch in = { .size = sizeof in };
    memcpy(&in, launch, MIN_OF(launch->size, sizeof in));
    struct sim_trace trace;
    struct dev_launch l = { .kernel = kernel->func, .params = kernel->params, .trace = trace_read(in.trace, &trace) };
    if (stats) *stats = (lk_stats){ 0 };
    if (!shape_read(&in, &l, e) || !arguments_pack(kernel, &in, e)) return host_failed(gpu);
    if (in.contract && in.contract->kernel != kernel) {
        error_set(e, ERR_INPUT, "the contract is not bound to %s; lk_contract_bind does that", kernel->plain);
        return host_failed(gpu);
    }
    l.contract = in.contract ? &in.contract->bound : NULL;
    l.registers = l.registers ? l.registers : kernel->registers;
    l.order = in.order;
    l.orders = in.orders;
    report_launch(gpu->device->report, in.number);
    pointers_check(kernel, &l);
    struct report *report = gpu->device->report;
    u64 before = report_error_occurrences(report), t0 = stats ? time_ns() : 0;
    struct sim_result r;
    enum dev_result result = dev_launch(gpu->device, &l, &r, e);
    if (stats) *stats = (lk_stats){ r.warp_insns, r.ctas, time_ns() - t0, r.orders };
    if (result == DEV_FAILED) return host_failed(gpu);
    return report_error_occurrences(report) != before ? LK_FINDINGS : LK_OK;
}
