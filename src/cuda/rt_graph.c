/* Graphs of the runtime: the driver's, with kernels by the address of their host functions. */
#include "cuda/rt.h"

#define ADDING void **out, void *g, void *const *dep, u64 deps
#define GIVEN out, g, dep, deps
extern cu_result lkcu_cuGraphCreate(void **, unsigned), lkcu_cuGraphDestroy(void *), lkcu_cuGraphAddEmptyNode(ADDING),
    lkcu_cuGraphAddKernelNode(ADDING, const void *), lkcu_cuGraphAddMemcpyNode(ADDING, const void *, void *),
    lkcu_cuGraphAddMemsetNode(ADDING, const void *, void *), lkcu_cuGraphAddHostNode(ADDING, const void *),
    lkcu_cuGraphAddChildGraphNode(ADDING, void *), lkcu_cuGraphAddEventRecordNode(ADDING, void *),
    lkcu_cuGraphAddEventWaitNode(ADDING, void *), lkcu_cuGraphAddMemFreeNode(ADDING, u64),
    lkcu_cuGraphAddDependencies(void *, void *const *, void *const *, u64),
    lkcu_cuGraphRemoveDependencies(void *, void *const *, void *const *, u64),
    lkcu_cuGraphInstantiateWithFlags(void **, void *, u64), lkcu_cuGraphExecDestroy(void *),
    lkcu_cuGraphLaunch(void *, void *), lkcu_cuGraphLaunch_ptsz(void *, void *), lkcu_cuGraphUpload(void *, void *),
    lkcu_cuGraphExecUpdate_v2(void *, void *, void *), lkcu_cuGraphExecUpdate(void *, void *, void **, u32 *),
    lkcu_cuGraphExecKernelNodeSetParams(void *, void *, const void *), lkcu_cuGraphGetNodes(void *, void **, u64 *),
    lkcu_cuGraphNodeGetType(void *, u32 *), lkcu_cuStreamBeginCapture_v2(void *, u32),
    lkcu_cuStreamBeginCapture_v2_ptsz(void *, u32), lkcu_cuStreamEndCapture(void *, void **),
    lkcu_cuStreamEndCapture_ptsz(void *, void **), lkcu_cuStreamIsCapturing(void *, u32 *),
    lkcu_cuStreamIsCapturing_ptsz(void *, u32 *), lkcu_cuGraphInstantiateWithParams(void **, void *, void *),
    lkcu_cuGraphExecGetFlags(void *, u64 *);

RT_API(cudaGraphCreate)(void **out, unsigned flags) { return rt_done(THEN(lkcu_cuGraphCreate(out, flags))); }
RT_API(cudaGraphDestroy)(void *g) { return rt_done(THEN(lkcu_cuGraphDestroy(g))); }
RT_API(cudaGraphAddEmptyNode)(ADDING) { return rt_done(THEN(lkcu_cuGraphAddEmptyNode(GIVEN))); }
RT_API(cudaGraphAddHostNode)(ADDING, const void *x) { return rt_done(THEN(lkcu_cuGraphAddHostNode(GIVEN, x))); }
RT_API(cudaGraphAddChildGraphNode)(ADDING, void *c) { return rt_done(THEN(lkcu_cuGraphAddChildGraphNode(GIVEN, c))); }
RT_API(cudaGraphAddEventRecordNode)(ADDING, void *e) { return rt_done(THEN(lkcu_cuGraphAddEventRecordNode(GIVEN, e))); }
RT_API(cudaGraphAddEventWaitNode)(ADDING, void *e) { return rt_done(THEN(lkcu_cuGraphAddEventWaitNode(GIVEN, e))); }
RT_API(cudaGraphAddMemFreeNode)(ADDING, void *p)
{
    return rt_done(THEN(lkcu_cuGraphAddMemFreeNode(GIVEN, (uintptr_t)p)));
}
RT_API(cudaGraphAddMemsetNode)(ADDING, const void *x)
{
    return rt_done(THEN(lkcu_cuGraphAddMemsetNode(GIVEN, x, NULL)));
}

struct rt_kernel_node { /* cudaKernelNodeParams */
    const void *function;
    struct rt_dim3 grid, block;
    unsigned shared;
    void **params, **extra;
};
struct kernel_node { /* CUDA_KERNEL_NODE_PARAMS, first version */
    void *function;
    struct rt_dim3 grid, block;
    unsigned shared;
    void **params, **extra;
};
static cu_result kernel_read(const struct rt_kernel_node *x, struct kernel_node *out)
{
    struct cu_function *f;
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    r = rt_function_of(x->function, &f);
    *out = (struct kernel_node){ f, x->grid, x->block, x->shared, x->params, x->extra };
    return r;
}
RT_API(cudaGraphAddKernelNode)(ADDING, const struct rt_kernel_node *x)
{
    struct kernel_node y;
    cu_result r = kernel_read(x, &y);
    return rt_done(r ? r : lkcu_cuGraphAddKernelNode(GIVEN, &y));
}
RT_API(cudaGraphExecKernelNodeSetParams)(void *exec, void *node, const struct rt_kernel_node *x)
{
    struct kernel_node y;
    cu_result r = kernel_read(x, &y);
    return rt_done(r ? r : lkcu_cuGraphExecKernelNodeSetParams(exec, node, &y));
}

/* Sides are found by their addresses, whatever the kind says. */
RT_API(cudaGraphAddMemcpyNode1D)(ADDING, void *to, const void *from, u64 bytes, u32 kind)
{
    enum { UNIFIED = 4 };
    struct cu_copy_3d x = { .to_type = UNIFIED,
                            .from_type = UNIFIED,
                            .to_device = (uintptr_t)to,
                            .from_device = (uintptr_t)from,
                            .width = bytes,
                            .height = 1,
                            .depth = 1 };
    if (kind > 4) return rt_done(RT_INVALID_DIRECTION);
    return rt_done(THEN(lkcu_cuGraphAddMemcpyNode(GIVEN, &x, NULL)));
}

/* Data of edges came as an argument of its own with release 12.3, and under the old name with 13. */
#define EDGES void *g, void *const *from, void *const *to
RT_API(cudaGraphAddDependencies_11)(EDGES, u64 n) { return rt_done(THEN(lkcu_cuGraphAddDependencies(g, from, to, n))); }
RT_API(cudaGraphAddDependencies)(EDGES, const void *data, u64 n)
{
    return (void)data, lkrt_cudaGraphAddDependencies_11(g, from, to, n);
}
RT_API(cudaGraphAddDependencies_v2)(EDGES, const void *data, u64 n)
{
    return (void)data, lkrt_cudaGraphAddDependencies_11(g, from, to, n);
}
RT_API(cudaGraphRemoveDependencies_11)(EDGES, u64 n)
{
    return rt_done(THEN(lkcu_cuGraphRemoveDependencies(g, from, to, n)));
}
RT_API(cudaGraphRemoveDependencies)(EDGES, const void *data, u64 n)
{
    return (void)data, lkrt_cudaGraphRemoveDependencies_11(g, from, to, n);
}
RT_API(cudaGraphRemoveDependencies_v2)(EDGES, const void *data, u64 n)
{
    return (void)data, lkrt_cudaGraphRemoveDependencies_11(g, from, to, n);
}
RT_API(cudaGraphGetNodes)(void *g, void **out, u64 *n) { return rt_done(THEN(lkcu_cuGraphGetNodes(g, out, n))); }
RT_API(cudaGraphNodeGetType)(void *n, u32 *type) { return rt_done(THEN(lkcu_cuGraphNodeGetType(n, type))); }

/* Release 11 had a log in the place of flags. */
RT_API(cudaGraphInstantiate)(void **out, void *g, u64 flags)
{
    return rt_done(THEN(lkcu_cuGraphInstantiateWithFlags(out, g, flags)));
}
RT_API(cudaGraphInstantiateWithFlags)(void **out, void *g, u64 flags)
{
    return lkrt_cudaGraphInstantiate(out, g, flags);
}
RT_API(cudaGraphInstantiate_11)(void **out, void *g, void **node, char *log, u64 bytes)
{
    if (cu_ok(node)) *node = NULL;
    if (bytes && cu_ok(log)) *log = 0;
    return lkrt_cudaGraphInstantiate(out, g, 0);
}
RT_API(cudaGraphInstantiateWithParams)(void **out, void *g, void *x)
{
    return rt_done(THEN(lkcu_cuGraphInstantiateWithParams(out, g, x)));
}
RT_API(cudaGraphInstantiateWithParams_ptsz)(void **out, void *g, void *x)
{
    return lkrt_cudaGraphInstantiateWithParams(out, g, x);
}
RT_API(cudaGraphExecDestroy)(void *x) { return rt_done(THEN(lkcu_cuGraphExecDestroy(x))); }
RT_API(cudaGraphExecGetFlags)(void *x, u64 *flags) { return rt_done(THEN(lkcu_cuGraphExecGetFlags(x, flags))); }
RT_API(cudaGraphExecUpdate)(void *x, void *g, void *info)
{
    return rt_done(THEN(lkcu_cuGraphExecUpdate_v2(x, g, info)));
}
RT_API(cudaGraphExecUpdate_11)(void *x, void *g, void **node, u32 *result)
{
    return rt_done(THEN(lkcu_cuGraphExecUpdate(x, g, node, result)));
}
RT_PAIR(cudaGraphLaunch, _ptsz, (void *x, void *s), THEN((thread ? lkcu_cuGraphLaunch_ptsz : lkcu_cuGraphLaunch)(x, s)))
RT_PAIR(cudaGraphUpload, _ptsz, (void *x, void *s), THEN(((void)thread, lkcu_cuGraphUpload(x, s))))

RT_PAIR(cudaStreamBeginCapture, _ptsz, (void *s, u32 mode),
        THEN((thread ? lkcu_cuStreamBeginCapture_v2_ptsz : lkcu_cuStreamBeginCapture_v2)(s, mode)))
RT_PAIR(cudaStreamEndCapture, _ptsz, (void *s, void **g),
        THEN((thread ? lkcu_cuStreamEndCapture_ptsz : lkcu_cuStreamEndCapture)(s, g)))
RT_PAIR(cudaStreamIsCapturing, _ptsz, (void *s, u32 *out),
        THEN((thread ? lkcu_cuStreamIsCapturing_ptsz : lkcu_cuStreamIsCapturing)(s, out)))
