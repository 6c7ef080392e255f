/* Contexts: the primary one of each device, others that cuCtxCreate makes, and each thread's stack of current ones. All
 * contexts of a device share its gpu: memory and streams are the device's. */
#include "driver/cu_check.h"
#include "driver/cu_reason.h"
#include "driver/cu_image.h"
#include "card/card.h"

enum { STACK = 64 };
static _Thread_local struct {
    struct cu_context *at[STACK];
    u32 n;
} stack;
static u64 ids;          /* given out */
static bool was_current; /* some context, in some thread; atomic */

enum { LIMIT_STACK, LIMIT_PRINTF, LIMIT_HEAP, LIMIT_SYNC_DEPTH, LIMIT_PENDING, LIMIT_FETCH, LIMIT_PERSISTING, LIMITS };

/* One limit holds for all contexts of a device; what another than the primary one asks for only raises it. */
static void stack_limit_set(const struct cu_context *c)
{
    static u64 set[CU_DEVICES]; /* atomic */
    u64 limit = c->limit[LIMIT_STACK], *most = &set[c->device - cu_process.device];
    struct sim *sim = c->device->gpu ? c->device->gpu->device->sim : NULL;
    if (!sim || (!c->primary && limit <= __atomic_load_n(most, __ATOMIC_RELAXED))) return;
    __atomic_store_n(most, limit, __ATOMIC_RELAXED);
    sim_stack_limit(sim, limit);
}

static void heap_limit_set(const struct cu_context *c)
{
    struct sim *sim = c->device->gpu ? c->device->gpu->device->sim : NULL;
    if (sim) sim_heap_limit(sim, c->limit[LIMIT_HEAP]);
}

/* What a program may have changed of a context, as it is at first. */
static void context_init(struct cu_context *c)
{
    static const u64 limit[LIMITS] = { [LIMIT_STACK] = 1024,   [LIMIT_PRINTF] = 1 << 20, [LIMIT_HEAP] = 8 << 20,
                                       [LIMIT_SYNC_DEPTH] = 2, [LIMIT_PENDING] = 2048,   [LIMIT_FETCH] = 64 };
    memcpy(c->limit, limit, sizeof limit);
    stack_limit_set(c);
    c->cache_config = c->shared_config = 0;
}

static struct cu_context *context_new(struct cu_device *d, u32 flags, bool primary)
{
    struct cu_context *c = cu_handle_new(CU_CONTEXT, sizeof *c);
    if (!c) return NULL;
    *c = (struct cu_context){ .device = d,
                              .primary = primary,
                              .alive = true,
                              .flags = flags,
                              .id = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED) };
    context_init(c);
    return cu_handle_open(c);
}

bool cu_context_lives(const struct cu_context *c) { return __atomic_load_n(&c->alive, __ATOMIC_RELAXED); }
static void context_set(struct cu_context *c, bool alive) { __atomic_store_n(&c->alive, alive, __ATOMIC_RELAXED); }

cu_result cu_context_retain(struct cu_device *d, struct cu_context **out)
{
    cu_result r = cu_device_open(d);
    if (r || (r = cu_sticky(d->gpu))) return r;
    lock(&cu_process.lock);
    if (!d->primary) d->primary = context_new(d, d->primary_flags, true);
    if (d->primary) {
        context_set(d->primary, true);
        d->retained++;
    }
    unlock(&cu_process.lock);
    *out = d->primary;
    return d->primary ? CU_OK : CU_OUT_OF_MEMORY;
}

static cu_result not_permitted(void)
{
    cu_reason("It was made in a host function, which runs in its stream, and may call nothing of CUDA: the call might "
              "wait for the stream.",
              "Let the host function wake a thread of the program, and make the call there; or enqueue an operation "
              "after it in place of the call.",
              false);
    return CU_NOT_PERMITTED;
}

/* Each thread has its own current context, and a new thread has none. */
static cu_result none_is_current(void)
{
    bool elsewhere = __atomic_load_n(&was_current, __ATOMIC_RELAXED);
    cu_reason(elsewhere ? "No context is current in the thread that makes this call; another thread has one, and each "
                          "thread has its own."
                        : "No context is current: none has been made current in any thread.",
              elsewhere ? "Call cuCtxSetCurrent(context) in this thread before its first other call."
                        : "Call cuDevicePrimaryCtxRetain and cuCtxSetCurrent, or cuCtxCreate, before.",
              false);
    return CU_INVALID_CONTEXT;
}

struct cu_context *cu_context_top(void) { return stack.n ? stack.at[stack.n - 1] : NULL; }

cu_result cu_current(struct cu_context **out)
{
    cu_result r = cu_begin();
    *out = cu_context_top();
    if (r) return r;
    if (op_in_host_function()) return not_permitted();
    if (!*out) return none_is_current();
    return cu_context_lives(*out) ? cu_sticky((*out)->device->gpu) : CU_CONTEXT_DESTROYED;
}

/* ---- primary contexts ---- */

CU_DEFINE(cuDevicePrimaryCtxRetain, struct cu_context **, out, int, device)
{
    struct cu_device *d = cu_device_at(device);
    return d ? cu_context_retain(d, out) : CU_INVALID_DEVICE;
}

CU_DEFINE(cuDevicePrimaryCtxRelease_v2, int, device)
{
    struct cu_device *d = here.device;
    lock(&cu_process.lock);
    cu_result r = d->retained ? CU_OK : CU_INVALID_CONTEXT;
    if (d->retained && !--d->retained) context_set(d->primary, false);
    unlock(&cu_process.lock);
    return r;
}
CU_API(cuDevicePrimaryCtxRelease)(int device) { return lkcu_cuDevicePrimaryCtxRelease_v2(device); }

CU_DEFINE(cuDevicePrimaryCtxSetFlags_v2, int, device, unsigned, flags)
{
    here.device->primary_flags = flags;
    if (here.device->primary) here.device->primary->flags = flags;
    return CU_OK;
}
CU_API(cuDevicePrimaryCtxSetFlags)(int device, unsigned flags)
{
    return lkcu_cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CU_DEFINE(cuDevicePrimaryCtxGetState, int, device, unsigned *, flags, int *, active)
{
    *flags = here.device->primary_flags;
    *active = here.device->retained != 0;
    return CU_OK;
}

CU_DEFINE(cuDevicePrimaryCtxReset_v2, int, device)
{
    struct cu_device *d = here.device;
    if (!d->gpu) return CU_OK;
    lk_gpu_synchronise(d->gpu);
    cu_images_reset(d);
    cu_reset(d);
    lock(&cu_process.lock);
    if (d->primary) {
        context_init(d->primary);
        context_set(d->primary, false); /* calls in it return an error until it is retained again */
    }
    unlock(&cu_process.lock);
    return CU_OK;
}
CU_API(cuDevicePrimaryCtxReset)(int device) { return lkcu_cuDevicePrimaryCtxReset_v2(device); }

/* ---- other contexts ---- */

static cu_result push(struct cu_context *c)
{
    if (stack.n == STACK) return CU_INVALID_VALUE;
    stack.at[stack.n++] = c;
    if (!__atomic_load_n(&was_current, __ATOMIC_RELAXED)) __atomic_store_n(&was_current, true, __ATOMIC_RELAXED);
    return CU_OK;
}

CU_DEFINE(cuCtxCreate_v2, struct cu_context **, out, unsigned, flags, int, device)
{
    cu_result r = CU_OK;
    if ((r = cu_device_open(here.device)) || (r = cu_sticky(here.device->gpu))) return r;
    struct cu_context *c = context_new(here.device, flags, false);
    if (!c) return CU_OUT_OF_MEMORY;
    *out = c;
    return push(c);
}
CU_API(cuCtxCreate)(struct cu_context **out, unsigned flags, int device)
{
    return lkcu_cuCtxCreate_v2(out, flags, device);
}
/* Affinity is a share of a device that several processes use (MPS). */
CU_API(cuCtxCreate_v3)(struct cu_context **out, const void *affinity, int count, unsigned flags, int device)
{
    (void)affinity;
    if (!count) return lkcu_cuCtxCreate_v2(out, flags, device);
    cu_refused("cuCtxCreate with an execution affinity");
    return CU_NOT_SUPPORTED;
}
CU_DEFINE(cuCtxCreate_v4, struct cu_context **, out, const struct cu_context_params *, x, unsigned, flags, int, device)
{
    if (x && x->graphics) {
        cu_refused("cuCtxCreate for use with graphics");
        return CU_NOT_SUPPORTED;
    }
    return lkcu_cuCtxCreate_v3(out, x ? x->affinity : NULL, x ? x->count : 0, flags, device);
}
CU_DEFINE(cuCtxGetExecAffinity, void *, out, u32, type) { return CU_UNSUPPORTED_AFFINITY; }

/* Contexts that are counted, as they were before CUDA 4. */
CU_DEFINE(cuCtxAttach, struct cu_context **, out, unsigned, flags)
{
    here.context->attached++;
    *out = here.context;
    return CU_OK;
}
CU_DEFINE(cuCtxDetach, struct cu_context *, c)
{
    if (!c->attached) return lkcu_cuCtxDestroy_v2(c);
    c->attached--;
    return CU_OK;
}

CU_DEFINE(cuCtxDestroy_v2, struct cu_context *, c)
{
    if (c->primary) return CU_INVALID_CONTEXT;
    cu_result r = cu_status(c->device->gpu, lk_gpu_synchronise(c->device->gpu));
    context_set(c, false); /* other threads may have it as their current one: they are told */
    cu_handle_remove(c);
    if (stack.n && stack.at[stack.n - 1] == c) stack.n--;
    return r;
}
CU_API(cuCtxDestroy)(struct cu_context *c) { return lkcu_cuCtxDestroy_v2(c); }

CU_DEFINE(cuCtxPushCurrent_v2, struct cu_context *, c) { return push(c); }
CU_API(cuCtxPushCurrent)(struct cu_context *c) { return lkcu_cuCtxPushCurrent_v2(c); }

CU_DEFINE(cuCtxPopCurrent_v2, struct cu_context **, out)
{
    if (!stack.n) return CU_INVALID_CONTEXT;
    if (out && !cu_ok(out)) return CU_INVALID_VALUE;
    stack.n--;
    if (out) *out = stack.at[stack.n];
    return CU_OK;
}
CU_API(cuCtxPopCurrent)(struct cu_context **out) { return lkcu_cuCtxPopCurrent_v2(out); }

CU_DEFINE(cuCtxSetCurrent, struct cu_context *, c)
{
    if (stack.n) stack.n--;
    return c ? push(c) : CU_OK;
}

CU_DEFINE(cuCtxGetCurrent, struct cu_context **, out)
{
    *out = cu_context_top();
    return CU_OK;
}

CU_API(cuCtxGetDevice)(int *device)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    if (r && !(c && cu_context_lives(c))) return r; /* an error of a kernel does not matter here */
    if (!cu_ok(device)) return CU_INVALID_VALUE;
    *device = (int)c->device->ordinal;
    return CU_OK;
}
CU_DEFINE(cuCtxGetDevice_v2, int *, device, struct cu_context *, c)
{
    if (!c) return lkcu_cuCtxGetDevice(device);
    if (!cu_ok(device)) return CU_INVALID_VALUE;
    *device = (int)c->device->ordinal;
    return CU_OK;
}

CU_DEFINE(cuCtxSynchronize)
{
    return cu_status(here.context->device->gpu, lk_gpu_synchronise(here.context->device->gpu));
}
CU_DEFINE(cuCtxSynchronize_v2, struct cu_context *, c)
{
    return c ? cu_status(c->device->gpu, lk_gpu_synchronise(c->device->gpu)) : lkcu_cuCtxSynchronize();
}

/* ---- what a context has ---- */

CU_DEFINE(cuCtxGetFlags, unsigned *, flags)
{
    *flags = here.context->flags;
    return CU_OK;
}

CU_DEFINE(cuCtxSetFlags, unsigned, flags)
{
    here.context->flags = flags;
    return CU_OK;
}

CU_DEFINE(cuCtxGetId, struct cu_context *, c, u64 *, id)
{
    cu_result r = CU_OK;
    if (!c) r = cu_current(&c);
    if (r) return r;
    if (!cu_handle_is(c, CU_CONTEXT)) return CU_INVALID_CONTEXT;
    *id = c->id;
    return CU_OK;
}

CU_DEFINE(cuCtxGetApiVersion, struct cu_context *, c, unsigned *, version)
{
    *version = 3020;
    return CU_OK;
}

CU_DEFINE(cuCtxGetStreamPriorityRange, int *, least, int *, greatest)
{
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CU_OK;
}

CU_DEFINE(cuCtxGetLimit, u64 *, value, u32, limit)
{
    if (limit >= LIMITS) return CU_UNSUPPORTED_LIMIT;
    *value = here.context->limit[limit];
    return CU_OK;
}

CU_DEFINE(cuCtxSetLimit, u32, limit, u64, value)
{
    if (limit >= LIMITS) return CU_UNSUPPORTED_LIMIT;
    here.context->limit[limit] = value;
    if (limit == LIMIT_STACK) stack_limit_set(here.context);
    if (limit == LIMIT_HEAP) heap_limit_set(here.context);
    return CU_OK;
}

CU_DEFINE(cuCtxGetCacheConfig, u32 *, config)
{
    *config = here.context->cache_config;
    return CU_OK;
}
CU_DEFINE(cuCtxSetCacheConfig, u32, config)
{
    here.context->cache_config = config;
    return CU_OK;
}
CU_DEFINE(cuCtxGetSharedMemConfig, u32 *, config)
{
    *config = here.context->shared_config;
    return CU_OK;
}
CU_DEFINE(cuCtxSetSharedMemConfig, u32, config)
{
    here.context->shared_config = config;
    return CU_OK;
}
CU_DEFINE(cuCtxResetPersistingL2Cache) { return CU_OK; }
