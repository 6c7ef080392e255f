/* Launches. */
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver/cu_engine.h"
#include "driver/cu_launch.h"
#include "driver/cu_image.h"
#include "card/card.h"
#include <inttypes.h>
#include <stdlib.h>

/* The kernel as a number that is the same in every run, with room below it. */
static u64 key_of(const lk_kernel *k)
{
    u64 h = 14695981039346656037u;
    for (const char *p = lk_kernel_name(k); *p; p++) h = (h ^ (u8)*p) * 0x100000001b3u;
    return h & ~(u64)0xffff;
}

/* An argument that cannot be read, or should not be: what it is instead. */
static void argument_report(lk_gpu *gpu, const lk_kernel *k, u32 i, const void *entry)
{
    char cause[500], takes[200];
    const struct mem_object *o = gpu->device->mem && entry ? mem_find(gpu->device->mem, (uintptr_t)entry) : NULL;
    lk_param p = { 0 };
    lk_kernel_param(k, i, &p);
    snprintf(takes, sizeof takes, "%s of %s%s%s", ptx_argument(k->func, i).text, lk_kernel_plain(k),
             p.source_type[0] ? ", " : "", p.source_type);
    if (o)
        snprintf(cause, sizeof cause,
                 "Entry %u of kernelParams is %p, an address in %s: the pointer itself, where the address of the "
                 "variable that holds it belongs (%s).",
                 i, entry, o->name, takes);
    else if (entry)
        snprintf(cause, sizeof cause, "Entry %u of kernelParams is %p, and no memory is there to be read (%s).", i,
                 entry, takes);
    else
        snprintf(cause, sizeof cause, "Entry %u of kernelParams is NULL (%s).", i, takes);
    struct finding f = { .kind = o ? F_args_by_value : F_params_null,
                         .kernel = lk_kernel_plain(k),
                         .call = host_site(NULL),
                         .cause_key = key_of(k) + i + (bytes_readable(entry, 1) ? 2 * (CU_ARGUMENTS + 1) : 0),
                         .cause = cause };
    cu_engine->cu_found(&f);
}

static cu_result argument_wrong(lk_gpu *gpu, const lk_kernel *k, u32 i, const void *entry)
{
    argument_report(gpu, k, i, entry);
    cu_reported();
    return CU_INVALID_VALUE;
}

static cu_result list_wrong(const lk_kernel *k, u32 n, const void *list)
{
    char cause[500], where[60] = "NULL";
    if (list) snprintf(where, sizeof where, "%p, where no memory can be read", list);
    snprintf(cause, sizeof cause, "kernelParams is %s; %s takes %u argument%s.", where, lk_kernel_plain(k), n,
             plural(n));
    struct finding f = { .kind = F_params_null,
                         .kernel = lk_kernel_plain(k),
                         .call = host_site(NULL),
                         .cause_key = key_of(k) + (list ? CU_ARGUMENTS + 1 : CU_ARGUMENTS),
                         .cause = cause };
    cu_engine->cu_found(&f);
    cu_reported();
    return CU_INVALID_VALUE;
}

/* The buffer of `extra` ends before this parameter does. */
static void buffer_short(const lk_kernel *k, u32 i, const lk_param *p, u64 bytes)
{
    char cause[400], fix[200];
    snprintf(cause, sizeof cause,
             "The buffer of extra has %" PRIu64 " bytes by CU_LAUNCH_PARAM_BUFFER_SIZE; %s of %s%s%s takes bytes %u to "
             "%u.",
             bytes, ptx_argument(k->func, i).text, lk_kernel_plain(k), p->source_type[0] ? ", " : "", p->source_type,
             p->offset, p->offset + p->bytes - 1);
    snprintf(fix, sizeof fix,
             "Give the buffer all arguments with the padding of a struct of them, %" PRIu64 " bytes, and say so.",
             k->func->param_bytes);
    cu_reason(cause, fix, false);
}

/* Arguments in one buffer: { 1, pointer, 2, &bytes, 0 }. */
static cu_result buffer_read(void **extra, const char **buffer, u64 *bytes)
{
    *buffer = NULL;
    *bytes = 0;
    for (u32 i = 0;; i += 2) {
        if (!bytes_readable(extra + i, sizeof *extra)) return CU_INVALID_VALUE;
        if (!extra[i]) break;
        if (!bytes_readable(extra + i, 2 * sizeof *extra)) return CU_INVALID_VALUE;
        uintptr_t what = (uintptr_t)extra[i];
        if (what == 1)
            *buffer = extra[i + 1];
        else if (what == 2 && bytes_readable(extra[i + 1], 8))
            memcpy(bytes, extra[i + 1], 8);
        else
            return CU_INVALID_VALUE;
    }
    return *buffer || !*bytes ? CU_OK : CU_INVALID_VALUE;
}

/* Entries that can be read, since the memory is the host's, too, and yet are pointers where addresses of variables
 * belong: the start of managed or pinned memory, for a parameter that is a pointer, with no pointer in it. */
static bool by_value(const lk_gpu *gpu, const lk_kernel *k, u32 i, const void *entry)
{
    const struct mem *m = gpu->device->mem;
    const struct mem_object *o = m ? mem_find(m, (uintptr_t)entry) : NULL;
    u64 value;
    if (!o || o->base != (uintptr_t)entry || o->size < 8 || !k->arg[i].is_pointer) return false;
    memcpy(&value, entry, 8);
    return value && !mem_find(m, value);
}

static cu_result arguments_find(lk_gpu *gpu, const struct cu_launch *l, const lk_kernel *k,
                                const void *arg[CU_ARGUMENTS], u32 n)
{
    lk_param p;
    const char *buffer;
    u64 bytes;
    if (l->params && l->extra) {
        cu_reason("Both kernelParams and extra are given.", "Pass one of them, and NULL for the other.", false);
        return CU_INVALID_VALUE;
    }
    if (l->params) {
        if (n && !bytes_readable(l->params, n * sizeof *l->params)) return list_wrong(k, n, l->params);
        for (u32 i = 0; i < n; i++) {
            arg[i] = l->params[i];
            if (unlikely(!bytes_readable(arg[i], MAX_OF(k->arg[i].bytes, 1u))))
                return argument_wrong(gpu, k, i, arg[i]);
            if (unlikely(k->arg[i].bytes == 8 && by_value(gpu, k, i, arg[i]))) argument_report(gpu, k, i, arg[i]);
        }
        return CU_OK;
    }
    if (!l->extra) return n ? list_wrong(k, n, NULL) : CU_OK;
    cu_result r = buffer_read(l->extra, &buffer, &bytes);
    if (r)
        cu_reason("extra is no list of CU_LAUNCH_PARAM_BUFFER_POINTER, an address, CU_LAUNCH_PARAM_BUFFER_SIZE, the "
                  "address of a size_t, CU_LAUNCH_PARAM_END.",
                  "Build the list in that order, and end it with CU_LAUNCH_PARAM_END.", false);
    if (!r && bytes && !bytes_readable(buffer, bytes)) {
        cu_wrong_pointer("p:the buffer of extra", 0, buffer, bytes);
        r = CU_INVALID_VALUE;
    }
    for (u32 i = 0; !r && i < n; i++) {
        if (lk_kernel_param(k, i, &p) || (u64)p.offset + p.bytes > bytes) {
            buffer_short(k, i, &p, bytes);
            r = CU_INVALID_VALUE;
        } else
            arg[i] = buffer + p.offset;
    }
    return r;
}

/* cuTile launches its kernels with the number of tiles and blocks of one thread: each tile is a block of the threads,
 * or a cluster of the blocks, that its compiler has chosen. */
static void shape_of_tiles(const struct ptx_func *f, lk_launch *x)
{
    if (likely(!f->is_tile)) return;
    for (u32 i = 0; i < 3; i++) {
        if (f->reqntid[0]) x->block[i] = MAX_OF(f->reqntid[i], 1u);
        if (f->reqnctapercluster[0]) x->grid[i] *= MAX_OF(f->reqnctapercluster[i], 1u);
    }
}

cu_result cu_launch_read(struct cu_context *c, struct cu_function *f, const struct cu_launch *l,
                         const void *arg[CU_ARGUMENTS], lk_kernel **kernel, lk_launch *out)
{
    cu_result r = cu_function_on(f, c->device, kernel);
    if (r) return r;
    for (int i = 0; i < 3; i++)
        if (!l->grid[i] || !l->block[i]) {
            char cause[80];
            snprintf(cause, sizeof cause, "%s.%c is 0.", l->grid[i] ? "block" : "grid", "xyz"[i]);
            cu_reason(cause, "Launch nothing where there is nothing to do, and give every dimension at least 1.", true);
            return CU_INVALID_VALUE;
        }
    u32 n = lk_kernel_param_count(*kernel);
    if (n > CU_ARGUMENTS) return CU_INVALID_VALUE;
    if ((r = arguments_find(c->device->gpu, l, *kernel, arg, n))) return r;
    const u32 *of = l->cluster[0] ? l->cluster : f->cluster; /* of the launch, or an attribute of the function */
    *out = (lk_launch){ .size = sizeof *out,
                        .grid = { l->grid[0], l->grid[1], l->grid[2] },
                        .block = { l->block[0], l->block[1], l->block[2] },
                        .shared_bytes = l->shared,
                        .cooperative = l->cooperative,
                        .cluster = { of[0], of[1], of[2] },
                        .portable = !f->cluster_any,
                        .programmatic = l->programmatic,
                        .args = arg,
                        .arg_count = n,
                        .as_given = true,
                        .shared_optin = f->dynamic_shared };
    shape_of_tiles((*kernel)->func, out);
    return CU_OK;
}

bool cu_launch_blocks(void)
{
    static s32 is = -1; /* atomic; -1: not asked yet */
    s32 now = __atomic_load_n(&is, __ATOMIC_RELAXED);
    if (now < 0) {
        const char *v = getenv("CUDA_LAUNCH_BLOCKING");
        __atomic_store_n(&is, now = v && atoi(v) != 0, __ATOMIC_RELAXED);
    }
    return now;
}

/* CUDA_LAUNCH_BLOCKING: the call ends when the kernel does, unless the launch is captured. */
static cu_result launched_wait(struct cu_context *c, lk_stream *st)
{
    lk_capture_status captured = LK_CAPTURE_NONE;
    if (lk_stream_capture_status(st, &captured) || captured != LK_CAPTURE_NONE) return CU_OK;
    return cu_status(c->device->gpu, lk_stream_synchronise(st));
}

/* A block of so many threads has not enough registers for what some kernel takes. */
static bool may_lack_registers(const struct cu_device *d, const lk_launch *x)
{
    enum { MOST = 256 }; /* registers of a thread */
    u64 threads = (u64)x->block[0] * MAX_OF(x->block[1], 1u) * MAX_OF(x->block[2], 1u);
    return threads * MOST > d->card->regs_per_cta;
}

cu_result cu_launch(void *function, const struct cu_launch *l)
{
    struct cu_context *c;
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch x;
    lk_stream *st;
    cu_result r = cu_current_for(l->stream, &c);
    if (r) return r;
    struct cu_function *f = cu_function_launched(function, c->device);
    if (!f) {
        cu_wrong_handle("h:f", 0, function, CU_KERNEL);
        return CU_INVALID_HANDLE;
    }
    if ((r = cu_stream_of(c, l->stream, &st)) || (r = cu_launch_read(c, f, l, arg, &k, &x))) return r;
    x.stream = st;
    cu_engine->cu_launch_given(k, arg, x.arg_count);
    if (unlikely(c->device->gpu->device->counts != NULL) || may_lack_registers(c->device, &x))
        cu_image_assembled(f->image, c->device); /* its registers */
    cu_engine->cu_run_launch(k, &x);
    r = cu_status(c->device->gpu, lk_kernel_launch(k, &x, NULL));
    if (!r && unlikely(cu_launch_blocks())) r = launched_wait(c, st);
    return r || !l->event ? r : cu_status(c->device->gpu, lk_event_record(cu_event_of(l->event), st));
}

#define GIVEN .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared, .stream = stream
CU_API(cuLaunchKernel)(void *f, CU_SHAPE, void **params, void **extra)
{
    return cu_launch(f, &(struct cu_launch){ GIVEN, .params = params, .extra = extra });
}
CU_API(cuLaunchCooperativeKernel)(void *f, CU_SHAPE, void **params)
{
    return cu_launch(f, &(struct cu_launch){ GIVEN, .params = params, .cooperative = true });
}

/* ---- cuLaunchKernelEx ---- */

enum { /* CUlaunchAttributeID */
       ATTRIBUTE_COOPERATIVE = 2,
       ATTRIBUTE_CLUSTER = 4,
       ATTRIBUTE_PROGRAMMATIC = 6,
       ATTRIBUTE_PROGRAMMATIC_EVENT = 7,
       ATTRIBUTE_PRIORITY = 8,
       ATTRIBUTE_COMPLETION_EVENT = 12,
       ATTRIBUTE_UPDATABLE = 13,
       ATTRIBUTES = 17
};

static cu_result attribute_read(const struct cu_launch_attribute *a, struct cu_launch *l)
{
    switch (a->id) {
    case ATTRIBUTE_COOPERATIVE: l->cooperative = a->value.number; return CU_OK;
    case ATTRIBUTE_PROGRAMMATIC: l->programmatic = a->value.number; return CU_OK;
    case ATTRIBUTE_CLUSTER:
        memcpy(l->cluster, a->value.cluster, sizeof l->cluster);
        return l->cluster[0] && l->cluster[1] && l->cluster[2] ? CU_OK : CU_INVALID_CLUSTER;
    /* the event is recorded after the launch, when all its blocks have begun, and more */
    case ATTRIBUTE_PROGRAMMATIC_EVENT:
    case ATTRIBUTE_COMPLETION_EVENT:
        memcpy(&l->event, a->value.bytes, sizeof l->event);
        return cu_event_of(l->event) ? CU_OK : CU_INVALID_HANDLE;
    case ATTRIBUTE_UPDATABLE:
        if (!a->value.number) return CU_OK;
        cu_refused("a launch with CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE");
        return CU_NOT_SUPPORTED;
    default: return a->id < ATTRIBUTES ? CU_OK : CU_INVALID_VALUE; /* wishes about caches and scheduling */
    }
}

cu_result cu_launch_config_read(const struct cu_launch_config *x, struct cu_function *f, struct cu_launch *out)
{
    if (!cu_ok(x) || (x->attributes && !bytes_readable(x->attribute, x->attributes * sizeof *x->attribute)))
        return CU_INVALID_VALUE;
    *out = (struct cu_launch){ .grid = { x->grid[0], x->grid[1], x->grid[2] },
                               .block = { x->block[0], x->block[1], x->block[2] },
                               .shared = x->shared,
                               .stream = x->stream };
    cu_result r = CU_OK;
    if (f && f->cluster[0]) memcpy(out->cluster, f->cluster, sizeof out->cluster);
    for (u32 i = 0; i < x->attributes && !r; i++) r = attribute_read(&x->attribute[i], out);
    return r;
}

CU_API(cuLaunchKernelEx)(const struct cu_launch_config *x, void *function, void **params, void **extra)
{
    struct cu_launch l;
    struct cu_function *f = cu_function_of(function);
    cu_result r = cu_launch_config_read(x, f, &l);
    if (r) return r;
    l.params = params;
    l.extra = extra;
    return cu_launch(function, &l);
}

/* ---- several devices ---- */

CU_DEFINE(cuLaunchCooperativeKernelMultiDevice, const struct cu_launch_params *, list, unsigned, n, unsigned, flags)
{
    if (n > 1) {
        cu_refused("cuLaunchCooperativeKernelMultiDevice over several devices");
        return CU_NOT_SUPPORTED;
    }
    return cu_launch(list->function, &(struct cu_launch){ .grid = { list->grid[0], list->grid[1], list->grid[2] },
                                                          .block = { list->block[0], list->block[1], list->block[2] },
                                                          .shared = list->shared,
                                                          .stream = list->stream,
                                                          .cooperative = true,
                                                          .params = list->params });
}
