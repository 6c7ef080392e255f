/* Launches: what <<<>>> becomes, and the attributes of kernels. */
#include "runtime/rt_check.h"
#include "driver/cu_reason.h"
#include "driver/cu_engine.h"
#include "runtime/rt.h"

enum { NESTED = 16 };
struct configuration { /* of a <<<>>> whose arguments are being evaluated */
    struct rt_dim3 grid, block;
    u64 shared;
    void *stream;
};
static _Thread_local struct {
    struct configuration at[NESTED];
    u32 n;
} pushed;

__attribute__((visibility("default"))) unsigned
lkrt___cudaPushCallConfiguration(struct rt_dim3 grid, struct rt_dim3 block, u64 shared, void *stream);
unsigned lkrt___cudaPushCallConfiguration(struct rt_dim3 grid, struct rt_dim3 block, u64 shared, void *stream)
{
    if (pushed.n == NESTED) return 1;
    pushed.at[pushed.n++] = (struct configuration){ grid, block, shared, stream };
    return 0;
}

RT_API(__cudaPopCallConfiguration)(struct rt_dim3 *grid, struct rt_dim3 *block, u64 *shared, void *stream)
{
    if (!pushed.n) return rt_done(RT_MISSING_CONFIGURATION);
    const struct configuration *c = &pushed.at[--pushed.n];
    if (grid) *grid = c->grid;
    if (block) *block = c->block;
    if (shared) *shared = c->shared;
    if (stream) memcpy(stream, &c->stream, sizeof c->stream);
    cu_engine->cu_chevron();
    return CU_OK;
}

/* Of a shape that no card takes, the driver says that a value is wrong, and the runtime says which. */
static cu_result launched(cu_result r)
{
    const struct cu_why *why = r == CU_INVALID_VALUE ? cu_reason_now() : NULL;
    return why && why->configuration ? (cu_result)RT_INVALID_CONFIGURATION : r;
}

static cu_result launch(const void *host, struct rt_dim3 g, struct rt_dim3 b, void **args, u64 shared, void *stream,
                        bool cooperative)
{
    struct cu_function *f;
    cu_result r = rt_enter(NULL);
    if (r || (r = rt_function_of(host, &f))) return r;
    if (shared > UINT32_MAX) return CU_INVALID_VALUE;
    if (cooperative) return lkcu_cuLaunchCooperativeKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, (u32)shared, stream, args);
    return lkcu_cuLaunchKernel(f, g.x, g.y, g.z, b.x, b.y, b.z, (u32)shared, stream, args, NULL);
}
#define LAUNCH (const void *f, struct rt_dim3 g, struct rt_dim3 b, void **args, u64 shared, void *s)
RT_CALL(cudaLaunchKernel, LAUNCH, launched(launch(f, g, b, args, shared, s, false)))
RT_CALL(__cudaLaunchKernel, LAUNCH, launched(launch(f, g, b, args, shared, s, false)))
RT_CALL(cudaLaunchCooperativeKernel, LAUNCH, launched(launch(f, g, b, args, shared, s, true)))

/* The configuration as the driver has it, and the kernel. */
static cu_result config_read(const struct rt_launch_config *x, const void *host, struct cu_launch_config *out,
                             struct cu_function **f)
{
    cu_result r = rt_enter(NULL);
    if (r || (r = rt_function_of(host, f))) return r;
    if (!cu_ok(x) || x->shared > UINT32_MAX) return CU_INVALID_VALUE;
    *out = (struct cu_launch_config){ .grid = { x->grid.x, x->grid.y, x->grid.z },
                                      .block = { x->block.x, x->block.y, x->block.z },
                                      .shared = (u32)x->shared,
                                      .stream = x->stream,
                                      .attribute = x->attribute,
                                      .attributes = x->attributes };
    return CU_OK;
}
static cu_result launch_ex(const struct rt_launch_config *x, const void *host, void **args)
{
    struct cu_launch_config y;
    struct cu_function *f;
    cu_result r = config_read(x, host, &y, &f);
    return r ? r : lkcu_cuLaunchKernelEx(&y, f, args, NULL);
}
RT_CALL(cudaLaunchKernelExC, (const struct rt_launch_config *x, const void *f, void **args),
        launched(launch_ex(x, f, args)))

RT_DEFINE(cudaLaunchCooperativeKernelMultiDevice, const struct rt_launch_params *, list, unsigned, n, unsigned, flags)
{
    if (n > 1) {
        cu_refused("cudaLaunchCooperativeKernelMultiDevice over several devices");
        return CU_NOT_SUPPORTED;
    }
    return launch(list->function, list->grid, list->block, list->args, list->shared, list->stream, true);
}

/* ---- occupancy ---- */

/* The kernel that a host function stands for, for a question to the driver. */
static cu_result ask(const void *host, struct cu_function **f)
{
    cu_result r = rt_enter(NULL);
    return r ? r : rt_function_of(host, f);
}
RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int *blocks, const void *host, int threads, u64 shared, unsigned flags)
{
    struct cu_function *f;
    cu_result r = ask(host, &f);
    if (!r) r = lkcu_cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, f, threads, shared, flags);
    return rt_done(r);
}
RT_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor)(int *blocks, const void *host, int threads, u64 shared)
{
    return lkrt_cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, host, threads, shared, 0);
}
RT_API(cudaOccupancyAvailableDynamicSMemPerBlock)(u64 *bytes, const void *host, int blocks, int threads)
{
    struct cu_function *f;
    cu_result r = ask(host, &f);
    return rt_done(r ? r : lkcu_cuOccupancyAvailableDynamicSMemPerBlock(bytes, f, blocks, threads));
}
RT_API(cudaOccupancyMaxActiveClusters)(int *clusters, const void *host, const struct rt_launch_config *x)
{
    struct cu_launch_config y;
    struct cu_function *f;
    cu_result r = config_read(x, host, &y, &f);
    return rt_done(r ? r : lkcu_cuOccupancyMaxActiveClusters(clusters, f, &y));
}
RT_API(cudaOccupancyMaxPotentialClusterSize)(int *size, const void *host, const struct rt_launch_config *x)
{
    struct cu_launch_config y;
    struct cu_function *f;
    cu_result r = config_read(x, host, &y, &f);
    return rt_done(r ? r : lkcu_cuOccupancyMaxPotentialClusterSize(size, f, &y));
}

/* ---- attributes ---- */

enum { OLD_ATTRIBUTES = 56 }; /* bytes of it in release 11 before clusters, up to carveout */

static cu_result attributes(struct rt_func_attributes *out, u32 bytes, const void *host)
{
    struct cu_function *f;
    cu_result r = rt_enter(NULL);
    if (r || (r = rt_function_of(host, &f))) return r;
    if (!bytes_readable(out, bytes)) return CU_INVALID_VALUE;
    int v[16] = { 0 };
    for (int i = 0; i < 16; i++) lkcu_cuFuncGetAttribute(&v[i], i, f);
    struct rt_func_attributes made = { .shared = (u32)v[1],
                                       .constant = (u32)v[2],
                                       .local = (u32)v[3],
                                       .threads = v[0],
                                       .registers = v[4],
                                       .ptx = v[5],
                                       .binary = v[6],
                                       .cache_ca = v[7],
                                       .dynamic = v[8],
                                       .carveout = v[9],
                                       .cluster_must = v[10],
                                       .cluster = { v[11], v[12], v[13] },
                                       .cluster_any = v[14],
                                       .policy = v[15] };
    memcpy(out, &made, bytes);
    return CU_OK;
}

RT_API(cudaFuncGetAttributes)(struct rt_func_attributes *out, const void *host)
{
    return rt_done(attributes(out, sizeof *out, host));
}
RT_API(cudaFuncGetAttributes_11)(struct rt_func_attributes *out, const void *host)
{
    return rt_done(attributes(out, OLD_ATTRIBUTES, host));
}

RT_API(cudaFuncSetAttribute)(const void *host, int which, int value)
{
    struct cu_function *f;
    cu_result r = rt_enter(NULL);
    if (r || (r = rt_function_of(host, &f))) return rt_done(r);
    return rt_done(lkcu_cuFuncSetAttribute(f, which, value));
}
RT_API(cudaFuncSetCacheConfig)(const void *host, u32 config)
{
    struct cu_function *f;
    (void)config;
    return rt_done(rt_function_of(host, &f));
}
RT_API(cudaFuncSetSharedMemConfig)(const void *host, u32 config) { return lkrt_cudaFuncSetCacheConfig(host, config); }
RT_API(cudaFuncGetName)(const char **name, const void *host)
{
    struct cu_function *f;
    cu_result r = rt_function_of(host, &f);
    if (!r && !cu_ok(name)) r = CU_INVALID_VALUE;
    if (!r) *name = f->name;
    return rt_done(r);
}
RT_API(cudaFuncGetParamInfo)(const void *host, u64 index, u64 *offset, u64 *bytes)
{
    struct cu_function *f;
    cu_result r = ask(host, &f);
    return rt_done(r ? r : lkcu_cuFuncGetParamInfo(f, index, offset, bytes));
}
