/* Launches, and the attributes of kernels. */
#include "cuda/cu_run.h"
#include "sim/profile.h"

/* Arguments in one buffer: { 1, pointer, 2, &bytes, 0 }. */
static cu_result buffer_read(void **extra, const char **buffer, u64 *bytes)
{
    *buffer = NULL;
    *bytes = 0;
    for (u32 i = 0; extra[i]; i += 2) {
        uintptr_t what = (uintptr_t)extra[i];
        if (what == 1)
            *buffer = extra[i + 1];
        else if (what == 2 && extra[i + 1])
            memcpy(bytes, extra[i + 1], 8);
        else
            return CU_INVALID_VALUE;
    }
    return *buffer || !*bytes ? CU_OK : CU_INVALID_VALUE;
}

static cu_result arguments_find(const struct cu_launch *l, const lk_kernel *k, const void *arg[CU_ARGUMENTS], u32 n)
{
    lk_param p;
    const char *buffer;
    u64 bytes;
    if (l->params && l->extra) return CU_INVALID_VALUE;
    if (l->params) {
        for (u32 i = 0; i < n; i++)
            if (!(arg[i] = l->params[i])) return CU_INVALID_VALUE;
        return CU_OK;
    }
    if (!l->extra) return n ? CU_INVALID_VALUE : CU_OK;
    cu_result r = buffer_read(l->extra, &buffer, &bytes);
    for (u32 i = 0; !r && i < n; i++) {
        if (lk_kernel_param(k, i, &p) || (u64)p.offset + p.bytes > bytes)
            r = CU_INVALID_VALUE;
        else
            arg[i] = buffer + p.offset;
    }
    return r;
}

cu_result cu_launch_read(struct cu_context *c, struct cu_function *f, const struct cu_launch *l,
                         const void *arg[CU_ARGUMENTS], lk_kernel **kernel, lk_launch *out)
{
    cu_result r = cu_function_on(f, c->device, kernel);
    if (r) return r;
    for (int i = 0; i < 3; i++)
        if (!l->grid[i] || !l->block[i]) return CU_INVALID_VALUE;
    u32 n = lk_kernel_param_count(*kernel);
    if (n > CU_ARGUMENTS) return CU_INVALID_VALUE;
    if ((r = arguments_find(l, *kernel, arg, n))) return r;
    *out = (lk_launch){ .size = sizeof *out,
                        .grid = { l->grid[0], l->grid[1], l->grid[2] },
                        .block = { l->block[0], l->block[1], l->block[2] },
                        .shared_bytes = l->shared,
                        .cooperative = l->cooperative,
                        .programmatic = l->programmatic,
                        .args = arg,
                        .arg_count = n,
                        .shared_optin = f->dynamic_shared };
    return CU_OK;
}

static cu_result launch(void *function, const struct cu_launch *l)
{
    struct cu_context *c;
    const void *arg[CU_ARGUMENTS];
    lk_kernel *k;
    lk_launch x;
    lk_stream *st;
    cu_result r = cu_current(&c);
    if (r) return r;
    struct cu_function *f = cu_function_launched(function, c->device);
    if (!f) return CU_INVALID_HANDLE;
    if ((r = cu_stream_of(c, l->stream, l->thread, &st)) || (r = cu_launch_read(c, f, l, arg, &k, &x))) return r;
    x.stream = st;
    cu_run_launched(lk_kernel_name(k));
    return cu_status(c->device->gpu, lk_kernel_launch(k, &x, NULL));
}

#define GIVEN .grid = { gx, gy, gz }, .block = { bx, by, bz }, .shared = shared, .stream = stream
CU_API(cuLaunchKernel)(void *f, CU_SHAPE, void **params, void **extra)
{
    return launch(f, &(struct cu_launch){ GIVEN, .params = params, .extra = extra });
}
CU_API(cuLaunchKernel_ptsz)(void *f, CU_SHAPE, void **params, void **extra)
{
    return launch(f, &(struct cu_launch){ GIVEN, .params = params, .extra = extra, .thread = true });
}
CU_API(cuLaunchCooperativeKernel)(void *f, CU_SHAPE, void **params)
{
    return launch(f, &(struct cu_launch){ GIVEN, .params = params, .cooperative = true });
}
CU_API(cuLaunchCooperativeKernel_ptsz)(void *f, CU_SHAPE, void **params)
{
    return launch(f, &(struct cu_launch){ GIVEN, .params = params, .cooperative = true, .thread = true });
}

/* ---- cuLaunchKernelEx ---- */

enum { ATTRIBUTE_COOPERATIVE = 2, ATTRIBUTE_CLUSTER = 4, ATTRIBUTE_PROGRAMMATIC = 6 }; /* CUlaunchAttributeID */

static cu_result launch_ex(const struct cu_launch_config *x, void *f, void **params, void **extra, bool thread)
{
    if (!cu_ok(x) || (x->attributes && !x->attribute)) return CU_INVALID_VALUE;
    struct cu_launch l = { .grid = { x->grid[0], x->grid[1], x->grid[2] },
                           .block = { x->block[0], x->block[1], x->block[2] },
                           .shared = x->shared,
                           .stream = x->stream,
                           .thread = thread,
                           .params = params,
                           .extra = extra };
    for (u32 i = 0; i < x->attributes; i++) {
        const struct cu_launch_attribute *a = &x->attribute[i];
        if (a->id == ATTRIBUTE_COOPERATIVE) l.cooperative = a->value.number;
        if (a->id == ATTRIBUTE_PROGRAMMATIC) l.programmatic = a->value.number;
        if (a->id == ATTRIBUTE_CLUSTER && (u64)a->value.cluster[0] * a->value.cluster[1] * a->value.cluster[2] > 1) {
            cu_refused("cuLaunchKernelEx with a cluster dimension");
            return CU_NOT_SUPPORTED;
        }
    }
    return launch(f, &l);
}
CU_API(cuLaunchKernelEx)(const struct cu_launch_config *x, void *f, void **params, void **extra)
{
    return launch_ex(x, f, params, extra, false);
}
CU_API(cuLaunchKernelEx_ptsz)(const struct cu_launch_config *x, void *f, void **params, void **extra)
{
    return launch_ex(x, f, params, extra, true);
}

/* ---- attributes of kernels ---- */

enum { /* CUfunction_attribute */
       FUNC_MAX_THREADS,
       FUNC_SHARED,
       FUNC_CONST,
       FUNC_LOCAL,
       FUNC_REGISTERS,
       FUNC_PTX,
       FUNC_BINARY,
       FUNC_CACHE_CA,
       FUNC_DYNAMIC_SHARED,
       FUNC_CARVEOUT,
       FUNC_CLUSTER_MUST_BE_SET,
       FUNC_CLUSTER_X,
       FUNC_CLUSTER_Y,
       FUNC_CLUSTER_Z,
       FUNC_CLUSTER_ANY,
       FUNC_CLUSTER_POLICY
};

static int attribute_of(const struct cu_function *f, const lk_usage *u, const struct profile *p, u32 sm, int which)
{
    u64 most = (u64)u->max_threads[0] * MAX_OF(u->max_threads[1], 1u) * MAX_OF(u->max_threads[2], 1u),
        exact = (u64)u->required_threads[0] * MAX_OF(u->required_threads[1], 1u) * MAX_OF(u->required_threads[2], 1u);
    u32 free_shared = p->shared_per_cta > u->shared_bytes ? p->shared_per_cta - (u32)u->shared_bytes : 0;
    switch (which) {
    case FUNC_MAX_THREADS: return (int)(exact ? exact : most ? most : p->threads_per_cta);
    case FUNC_SHARED: return (int)u->shared_bytes;
    case FUNC_CONST: return (int)u->const_bytes;
    case FUNC_LOCAL: return (int)(u->assembled ? u->stack_bytes : u->local_bytes);
    case FUNC_REGISTERS: return (int)(u->registers ? u->registers : u->max_registers ? u->max_registers : 32);
    case FUNC_PTX: return (int)sm;
    case FUNC_BINARY: return (int)p->sm;
    case FUNC_DYNAMIC_SHARED: return (int)(f->dynamic_shared ? f->dynamic_shared : free_shared);
    case FUNC_CARVEOUT: return f->carveout;
    case FUNC_CLUSTER_MUST_BE_SET: return 0;
    case FUNC_CLUSTER_X: return (int)(u->cluster[0] ? u->cluster[0] : f->cluster[0]);
    case FUNC_CLUSTER_Y: return (int)(u->cluster[0] ? u->cluster[1] : f->cluster[1]);
    case FUNC_CLUSTER_Z: return (int)(u->cluster[0] ? u->cluster[2] : f->cluster[2]);
    case FUNC_CLUSTER_ANY: return f->cluster_any;
    default: return 0;
    }
}

static cu_result attribute_get(int *value, int which, void *function, struct cu_device *d)
{
    struct cu_function *f = cu_function_of(function);
    lk_usage u = { .size = sizeof u };
    lk_kernel *k;
    if (!cu_ok(value) || which < 0 || which > FUNC_CLUSTER_POLICY) return CU_INVALID_VALUE;
    if (!f) return CU_INVALID_HANDLE;
    cu_result r = cu_function_on(f, d, &k);
    if (r) return r;
    if ((r = cu_status(d->gpu, lk_kernel_usage(k, &u)))) return r;
    u32 sm = 0;
    sscanf(lk_module_arch(k->module), "sm_%u", &sm);
    *value = attribute_of(f, &u, d->profile, sm, which);
    return CU_OK;
}

static cu_result attribute_set(int which, int value, void *function, struct cu_device *d)
{
    struct cu_function *f = cu_function_of(function);
    if (!f) return CU_INVALID_HANDLE;
    switch (which) {
    case FUNC_DYNAMIC_SHARED:
        if (value < 0 || (u32)value > d->profile->shared_optin) return CU_INVALID_VALUE;
        f->dynamic_shared = (u32)value;
        return CU_OK;
    case FUNC_CARVEOUT:
        if (value < -1 || value > 100) return CU_INVALID_VALUE;
        f->carveout = value;
        return CU_OK;
    case FUNC_CLUSTER_X:
    case FUNC_CLUSTER_Y:
    case FUNC_CLUSTER_Z: f->cluster[which - FUNC_CLUSTER_X] = (u32)value; return CU_OK;
    case FUNC_CLUSTER_ANY: f->cluster_any = value != 0; return CU_OK;
    case FUNC_CLUSTER_POLICY: return CU_OK;
    default: return CU_INVALID_VALUE;
    }
}

CU_API(cuFuncGetAttribute)(int *value, int which, void *function)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    return r ? r : attribute_get(value, which, function, c->device);
}
CU_API(cuFuncSetAttribute)(void *function, int which, int value)
{
    struct cu_context *c;
    cu_result r = cu_current(&c);
    return r ? r : attribute_set(which, value, function, c->device);
}
CU_API(cuKernelGetAttribute)(int *value, int which, void *kernel, int device)
{
    cu_result r = cu_begin();
    struct cu_device *d = cu_device_at(device);
    return r ? r : d ? attribute_get(value, which, kernel, d) : CU_INVALID_DEVICE;
}
CU_API(cuKernelSetAttribute)(int which, int value, void *kernel, int device)
{
    cu_result r = cu_begin();
    struct cu_device *d = cu_device_at(device);
    return r ? r : d ? attribute_set(which, value, kernel, d) : CU_INVALID_DEVICE;
}
CU_API(cuFuncSetCacheConfig)(void *function, u32 config)
{
    (void)config; /* a wish about caches, which hold no state here */
    return cu_function_of(function) ? CU_OK : CU_INVALID_HANDLE;
}
CU_API(cuKernelSetCacheConfig)(void *kernel, u32 config, int device)
{
    (void)device;
    return lkcu_cuFuncSetCacheConfig(kernel, config);
}
CU_API(cuFuncSetSharedMemConfig)(void *function, u32 config) { return lkcu_cuFuncSetCacheConfig(function, config); }
