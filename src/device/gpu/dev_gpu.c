/* A real GPU through NVIDIA's driver: the same modules, memory and launches as the software GPU.
 *
 * The driver's errors come out by name and number; the ones that a kernel causes while it runs are findings, since they
 * are bugs of the kernel, and the context is lost after them: whatever comes next answers with the same error. */
#include "gpu/dev_gpu.h"
#include <inttypes.h>

bool gpu_done(const struct gpu *g, struct error *e, const char *what, cu_result code)
{
    char text[300];
    if (!code) return true;
    return error_set(e, dev_status_code((u32)code), "%s: %s", what, driver_error(&g->cu, code, text, sizeof text));
}

_Thread_local u64 gpu_was_current;
static u64 serials; /* atomic */

bool gpu_current(struct gpu *g, struct error *e)
{
    gpu_was_current = g->serial;
    return CALL(g, e, "cuCtxSetCurrent", set_current, g->context);
}

static u32 attribute(const struct gpu *g, int which)
{
    int v = 0;
    return g->cu.attribute(&v, which, g->device) || v < 0 ? 0 : (u32)v;
}

/* The limits that its driver tells, so that launch.c checks them. */
static void card_read(struct gpu *g)
{
    size_t bytes = 0;
    g->cu.total(&bytes, g->device);
    u32 threads = attribute(g, CU_THREADS_PER_SM), regs = attribute(g, CU_REGS_PER_BLOCK);
    g->card = (struct card){
        .name = "gpu",
        .title = g->title,
        .sm = attribute(g, CU_MAJOR) * 10 + attribute(g, CU_MINOR),
        .sms = attribute(g, CU_SMS),
        .threads_per_cta = attribute(g, CU_THREADS_PER_BLOCK),
        .threads_per_sm = threads,
        .ctas_per_sm = attribute(g, CU_BLOCKS_PER_SM),
        .warps_per_sm = threads / 32,
        .regs_per_sm = attribute(g, CU_REGS_PER_SM),
        .regs_per_cta = regs,
        .regs_per_thread = 255,
        .shared_per_cta = attribute(g, CU_SHARED_PER_BLOCK),
        .shared_optin = attribute(g, CU_SHARED_OPTIN),
        .shared_per_sm = attribute(g, CU_SHARED_PER_SM),
        .shared_reserved = attribute(g, CU_SHARED_RESERVED),
        .memory = bytes,
        .cluster_max = attribute(g, CU_CLUSTERS) ? 16 : 0,
        .l2 = attribute(g, CU_L2_BYTES),
        .clock_mhz = attribute(g, CU_CLOCK_KHZ) / 1000,
        .cooperative = attribute(g, CU_COOPERATIVE) != 0,
        .pageable = attribute(g, CU_PAGEABLE) != 0,
        .source = "the driver of this machine",
    };
    for (int i = 0; i < 3; i++) {
        g->card.block[i] = attribute(g, CU_BLOCK_X + i);
        g->card.grid[i] = attribute(g, CU_GRID_X + i);
    }
}

static bool open_gpu(struct device *d, struct error *e)
{
    struct gpu *g = d->gpu = base_alloc(sizeof *g);
    if (!g) return error_set(e, ERR_MEMORY, "out of memory");
    g->lock = (lock_t)LOCK_INIT;
    g->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    g->legacy = (struct dev_stream){ .d = d, .handle = CU_LEGACY };
    g->per_thread = (struct dev_stream){ .d = d, .handle = CU_PER_THREAD };
    if (d->options.card)
        return error_set(e, ERR_INPUT, "a real GPU is the card it is: --device is for the software GPU");
    if (!driver_open(&g->cu, e)) return false;
    char text[300];
    int n = 0;
    cu_result code = g->cu.init(0);
    if (!code) code = g->cu.count(&n);
    if (code || !n)
        return error_set(e, ERR_INPUT, "no GPU here: %s says %s", g->cu.path,
                         code ? driver_error(&g->cu, code, text, sizeof text) : "there is no device");
    if (d->options.ordinal >= (u32)n)
        return error_set(e, ERR_INPUT, "no GPU %u here: there %s %d, counted from 0", d->options.ordinal,
                         n == 1 ? "is" : "are", n);
    if (!CALL(g, e, "cuDeviceGet", get, &g->device, (int)d->options.ordinal) ||
        !CALL(g, e, "cuDeviceGetName", name, g->title, (int)sizeof g->title, g->device))
        return false;
    g->retained = CALL(g, e, "cuDevicePrimaryCtxRetain", retain, &g->context, g->device);
    if (!g->retained) return false;
    card_read(g);
    d->card = &g->card;
    return gpu_current(g, e);
}

static void close_gpu(struct device *d)
{
    struct gpu *g = d->gpu;
    if (!g) return;
    if (g->retained) g->cu.set_current(g->context);
    while (g->streams) dev_gpu_async.stream_delete(g->streams, &(struct error){ 0 });
    gpu_drop_all(g);
    if (g->retained) g->cu.release(g->device);
    driver_close(&g->cu);
    arena_free(&g->text);
    base_free(g);
}

static bool copy_in(struct device *d, const struct mem_object *o, u64 addr, const void *from, u64 bytes,
                    struct error *e)
{
    (void)o;
    return gpu_current(d->gpu, e) && CALL(d->gpu, e, "cuMemcpyHtoD", write, addr, from, bytes);
}

static bool copy_out(struct device *d, const struct mem_object *o, u64 addr, void *to, u64 bytes, struct error *e)
{
    (void)o;
    return gpu_current(d->gpu, e) && CALL(d->gpu, e, "cuMemcpyDtoH", read, to, addr, bytes);
}

static bool fill(struct device *d, const struct mem_object *o, u64 addr, int byte, u64 bytes, struct error *e)
{
    (void)o;
    return gpu_current(d->gpu, e) && CALL(d->gpu, e, "cuMemsetD8", fill, addr, (unsigned char)byte, bytes);
}

/* Errors that a kernel causes while it runs: addresses, alignment, instructions, assertions, traps, stack. */
static bool is_fault(cu_result code)
{
    return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

static const char fault_fix[] = "Run it with --on sim: the software GPU says where, which threads and why.";

/* Of a launch that somebody waits for: the kernel is known. */
static enum dev_result failed(struct device *d, const struct dev_launch *l, cu_result code, const char *call,
                              struct error *e)
{
    char text[300], cause[500];
    driver_error(&d->gpu->cu, code, text, sizeof text);
    if (!is_fault(code)) {
        error_set(e, ERR_SYSTEM, "%s: %s", call, text);
        return DEV_FAILED;
    }
    snprintf(cause, sizeof cause, "%s: %s.", d->gpu->title, text);
    launch_found(d, l, F_gpu_fault, (u64)code, cause, fault_fix);
    error_set(e, ERR_SYSTEM, "%s: %s", call, text);
    e->cuda = (u32)code;
    return DEV_REFUSED;
}

u32 gpu_status(struct device *d, const struct dev_stream *st, const char *call, cu_result code, struct error *e)
{
    if (likely(!code)) return 0;
    if (code == CU_NOT_READY) {
        error_set(e, ERR_NOTHING, "%s: not ready", call);
        return (u32)code;
    }
    gpu_done(d->gpu, e, call, code);
    if (!is_fault(code)) return (u32)code;
    char text[300], cause[900], name[256];
    const struct ptx_func *k = st ? __atomic_load_n(&st->last, __ATOMIC_ACQUIRE) : NULL;
    driver_error(&d->gpu->cu, code, text, sizeof text);
    if (k) {
        name_plain(k->name, name, sizeof name);
        snprintf(cause, sizeof cause,
                 "%s: %s. %s reported it; %s was launched last in its stream, and another launch before that may be to "
                 "blame.",
                 d->gpu->title, text, call, name);
        launch_found(d, &(struct dev_launch){ .kernel = (struct ptx_func *)k }, F_gpu_fault, (u64)code, cause,
                     fault_fix);
    } else {
        snprintf(cause, sizeof cause, "%s: %s. %s reported it; any launch before may be to blame.", d->gpu->title, text,
                 call);
        struct finding f = { .kind = F_gpu_fault, .cause_key = (u64)code, .cause = cause, .fix = fault_fix };
        report_add(d->report, &f);
    }
    return (u32)code;
}

u32 gpu_no_memory(struct error *e)
{
    error_set(e, ERR_MEMORY, "out of memory");
    return OP_OUT_OF_MEMORY;
}

/* Asks without a pause for ten milliseconds, as the driver's own waiting does: sleeping costs 50 us at least. Then with
 * pauses of a hundredth of the time waited so far, at most a millisecond. */
cu_result gpu_wait(struct device *d, cu_result (*done)(const struct driver *cu, void *of), void *of, bool *interrupted)
{
    cu_result code = done(&d->gpu->cu, of);
    u64 start = 0;
    for (u32 turn = 0; code == CU_NOT_READY && !__atomic_load_n(&d->interrupt, __ATOMIC_RELAXED); turn++) {
        if (turn % 16 == 15) {
            u64 now = time_ns(), waited = start ? now - start : 0;
            start = start ? start : now;
            if (waited > 10000000) {
                thread_sleep_us((u32)MIN_OF(waited / 100000, 1000u));
                turn--;
            }
        }
        cpu_relax();
        code = done(&d->gpu->cu, of);
    }
    *interrupted = code == CU_NOT_READY;
    return code;
}

bool gpu_interrupted(struct device *d, struct error *e)
{
    return error_set(e, ERR_SYSTEM,
                     "interrupted while the kernel still runs on %s, which nobody can stop but the end of this process",
                     d->gpu->title);
}

void **gpu_params(const struct gpu_kernel *x, const struct dev_launch *l, void *room[GPU_PARAMS], struct arena *mem)
{
    if (l->args) return (void **)(uintptr_t)l->args;
    void **params = x->params <= GPU_PARAMS ? room : NEW_ARRAY(mem, void *, x->params);
    for (u32 i = 0; i < x->params; i++) params[i] = (char *)l->params + x->offset[i];
    return params;
}

static cu_result launch_with(const struct gpu *g, const struct dev_launch *l, cu_function f, bool programmatic,
                             cu_stream stream, void **params, const char **call)
{
    const u32 *n = l->grid, *b = l->block;
    if (!programmatic && !l->cluster[0]) {
        *call = l->cooperative ? "cuLaunchCooperativeKernel" : "cuLaunchKernel";
        return l->cooperative
                   ? g->cu.launch_cooperative(f, n[0], n[1], n[2], b[0], b[1], b[2], l->shared_bytes, stream, params)
                   : g->cu.launch(f, n[0], n[1], n[2], b[0], b[1], b[2], l->shared_bytes, stream, params, NULL);
    }
    struct cu_launch_attribute a[3];
    u32 attributes = 0;
    if (programmatic) a[attributes++] = (struct cu_launch_attribute){ .id = CU_LAUNCH_PROGRAMMATIC, .value.number = 1 };
    if (l->cooperative)
        a[attributes++] = (struct cu_launch_attribute){ .id = CU_LAUNCH_COOPERATIVE, .value.number = 1 };
    if (l->cluster[0])
        a[attributes++] = (struct cu_launch_attribute){
            .id = CU_LAUNCH_CLUSTER, .value.cluster = { l->cluster[0], l->cluster[1], l->cluster[2] }
        };
    struct cu_launch_config config = { .grid = { n[0], n[1], n[2] },
                                       .block = { b[0], b[1], b[2] },
                                       .shared = l->shared_bytes,
                                       .stream = stream,
                                       .attribute = a,
                                       .attributes = attributes };
    *call = "cuLaunchKernelEx";
    return ask_driver(&g->cu, launch_ex, &config, f, params, NULL);
}

cu_result gpu_launch(struct device *d, const struct dev_launch *l, bool programmatic, cu_stream stream,
                     const char **call)
{
    void *room[GPU_PARAMS];
    struct arena mem = { 0 };
    cu_result code;
    const struct gpu_kernel *x = gpu_kernel(d, l, call, &code);
    if (!x) return code;
    code = launch_with(d->gpu, l, x->function, programmatic, stream, gpu_params(x, l, room, &mem), call);
    if (unlikely(mem.head)) arena_free(&mem);
    return code;
}

static cu_result legacy_done(const struct driver *cu, void *of)
{
    (void)of;
    return cu->query(CU_LEGACY);
}

/* Events around a launch whose time is wanted. */
struct around {
    cu_event from, to;
};

static void around_begin(struct gpu *g, struct around *x)
{
    *x = (struct around){ 0 };
    if (ask_driver(&g->cu, event_new, &x->from, 0) || ask_driver(&g->cu, event_new, &x->to, 0)) return;
    ask_driver(&g->cu, event_record, x->from, CU_LEGACY, 0);
}

static void around_end(struct gpu *g, struct around *x, bool ran, u64 *ns)
{
    float ms = 0;
    if (ran && x->to && !ask_driver(&g->cu, event_elapsed, &ms, x->from, x->to)) *ns = (u64)((double)ms * 1e6);
    if (x->from) ask_driver(&g->cu, event_delete, x->from);
    if (x->to) ask_driver(&g->cu, event_delete, x->to);
}

static enum dev_result launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e)
{
    struct gpu *g = d->gpu;
    if (l->trace) {
        error_set(e, ERR_INPUT, "a trace or a break needs the software GPU: %s does not let itself be followed",
                  g->title);
        return DEV_FAILED;
    }
    if (!gpu_current(g, e)) return DEV_FAILED;
    const char *call;
    bool interrupted = false;
    struct around events;
    if (l->took) around_begin(g, &events);
    cu_result code = gpu_launch(d, l, false, CU_LEGACY, &call);
    if (l->took && events.to) ask_driver(&g->cu, event_record, events.to, CU_LEGACY, 0);
    if (!code) code = gpu_wait(d, legacy_done, NULL, &interrupted);
    if (l->took) around_end(g, &events, !code && !interrupted, l->took);
    if (interrupted) {
        gpu_interrupted(d, e);
        return DEV_FAILED;
    }
    if (code) return failed(d, l, code, call, e);
    r->ctas = (u64)l->grid[0] * l->grid[1] * l->grid[2];
    return DEV_RAN;
}

const struct dev_ops dev_gpu = { open_gpu,       close_gpu,    gpu_alloc, gpu_free,      gpu_find,
                                 gpu_describe,   gpu_live,     gpu_usage, gpu_object_at, gpu_register,
                                 gpu_unregister, copy_in,      copy_out,  NULL,          fill,
                                 gpu_place,      gpu_displace, launch,    NULL };
