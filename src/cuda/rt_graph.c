/* Graphs of the runtime: the driver's, with kernels by the address of their host functions. */
#include "cuda/rt.h"

#define ADDING CU_ADDING
#define GIVEN out, g, dep, deps

RT_API(cudaGraphCreate)(struct cu_graph **out, unsigned flags) { return rt_done(THEN(lkcu_cuGraphCreate(out, flags))); }
RT_API(cudaGraphDestroy)(struct cu_graph *g) { return rt_done(THEN(lkcu_cuGraphDestroy(g))); }
RT_API(cudaGraphAddEmptyNode)(ADDING) { return rt_done(THEN(lkcu_cuGraphAddEmptyNode(GIVEN))); }
RT_API(cudaGraphAddHostNode)(ADDING, const struct cu_host_node *x)
{
    return rt_done(THEN(lkcu_cuGraphAddHostNode(GIVEN, x)));
}
RT_API(cudaGraphAddChildGraphNode)(ADDING, void *c) { return rt_done(THEN(lkcu_cuGraphAddChildGraphNode(GIVEN, c))); }
RT_API(cudaGraphAddEventRecordNode)(ADDING, void *e) { return rt_done(THEN(lkcu_cuGraphAddEventRecordNode(GIVEN, e))); }
RT_API(cudaGraphAddEventWaitNode)(ADDING, void *e) { return rt_done(THEN(lkcu_cuGraphAddEventWaitNode(GIVEN, e))); }
RT_API(cudaGraphAddMemFreeNode)(ADDING, void *p)
{
    return rt_done(THEN(lkcu_cuGraphAddMemFreeNode(GIVEN, (uintptr_t)p)));
}
RT_API(cudaGraphAddMemsetNode)(ADDING, const struct cu_fill_node *x)
{
    return rt_done(THEN(lkcu_cuGraphAddMemsetNode(GIVEN, x, NULL)));
}

/* The kernel that a host function stands for, in its place. */
static cu_result kernel_read(const struct cu_kernel_node *x, struct cu_kernel_node *out)
{
    struct cu_function *f;
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (!cu_ok(x)) return CU_INVALID_VALUE;
    if ((r = rt_function_of(x->function, &f))) return r;
    *out = *x;
    out->function = f;
    return CU_OK;
}
RT_API(cudaGraphAddKernelNode)(ADDING, const struct cu_kernel_node *x)
{
    struct cu_kernel_node y;
    cu_result r = kernel_read(x, &y);
    return rt_done(r ? r : lkcu_cuGraphAddKernelNode(GIVEN, &y));
}
RT_API(cudaGraphExecKernelNodeSetParams)(struct cu_exec *exec, struct cu_node *node, const struct cu_kernel_node *x)
{
    struct cu_kernel_node y;
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
#define EDGES CU_EDGES
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
RT_API(cudaGraphGetNodes)(struct cu_graph *g, struct cu_node **out, u64 *n)
{
    return rt_done(THEN(lkcu_cuGraphGetNodes(g, out, n)));
}
RT_API(cudaGraphNodeGetType)(struct cu_node *n, u32 *type) { return rt_done(THEN(lkcu_cuGraphNodeGetType(n, type))); }

/* Release 11 had a log in the place of flags. */
RT_API(cudaGraphInstantiate)(struct cu_exec **out, struct cu_graph *g, u64 flags)
{
    return rt_done(THEN(lkcu_cuGraphInstantiateWithFlags(out, g, flags)));
}
RT_API(cudaGraphInstantiateWithFlags)(struct cu_exec **out, struct cu_graph *g, u64 flags)
{
    return lkrt_cudaGraphInstantiate(out, g, flags);
}
RT_API(cudaGraphInstantiate_11)(struct cu_exec **out, struct cu_graph *g, struct cu_node **node, char *log, u64 bytes)
{
    if (cu_ok(node)) *node = NULL;
    if (bytes && cu_ok(log)) *log = 0;
    return lkrt_cudaGraphInstantiate(out, g, 0);
}
RT_API(cudaGraphInstantiateWithParams)(struct cu_exec **out, struct cu_graph *g, struct cu_instantiation *x)
{
    return rt_done(THEN(lkcu_cuGraphInstantiateWithParams(out, g, x)));
}
RT_API(cudaGraphInstantiateWithParams_ptsz)(struct cu_exec **out, struct cu_graph *g, struct cu_instantiation *x)
{
    return lkrt_cudaGraphInstantiateWithParams(out, g, x);
}
RT_API(cudaGraphExecDestroy)(struct cu_exec *x) { return rt_done(THEN(lkcu_cuGraphExecDestroy(x))); }
RT_API(cudaGraphExecGetFlags)(struct cu_exec *x, u64 *flags)
{
    return rt_done(THEN(lkcu_cuGraphExecGetFlags(x, flags)));
}
RT_API(cudaGraphExecUpdate)(struct cu_exec *x, struct cu_graph *g, struct cu_update *info)
{
    return rt_done(THEN(lkcu_cuGraphExecUpdate_v2(x, g, info)));
}
RT_API(cudaGraphExecUpdate_11)(struct cu_exec *x, struct cu_graph *g, struct cu_node **node, u32 *result)
{
    return rt_done(THEN(lkcu_cuGraphExecUpdate(x, g, node, result)));
}
RT_PAIR(cudaGraphLaunch, _ptsz, (struct cu_exec * x, void *s),
        THEN((thread ? lkcu_cuGraphLaunch_ptsz : lkcu_cuGraphLaunch)(x, s)))
RT_PAIR(cudaGraphUpload, _ptsz, (struct cu_exec * x, void *s), THEN(((void)thread, lkcu_cuGraphUpload(x, s))))

RT_PAIR(cudaStreamBeginCapture, _ptsz, (void *s, u32 mode),
        THEN((thread ? lkcu_cuStreamBeginCapture_v2_ptsz : lkcu_cuStreamBeginCapture_v2)(s, mode)))
RT_PAIR(cudaStreamEndCapture, _ptsz, (void *s, struct cu_graph **g),
        THEN((thread ? lkcu_cuStreamEndCapture_ptsz : lkcu_cuStreamEndCapture)(s, g)))
RT_PAIR(cudaStreamIsCapturing, _ptsz, (void *s, u32 *out),
        THEN((thread ? lkcu_cuStreamIsCapturing_ptsz : lkcu_cuStreamIsCapturing)(s, out)))
