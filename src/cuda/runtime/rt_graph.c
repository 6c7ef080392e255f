/* Graphs of the runtime: the driver's, with kernels by the address of their host functions. */
#include "runtime/rt_check.h"
#include "driver_graphs/cu_graph.h"
#include "runtime/rt_array.h"

#define ADDING CU_ADDING
#define GIVEN out, g, dep, deps
#define NODE struct cu_node *n
#define EXEC struct cu_exec *x, struct cu_node *n
/* A function that is the driver's, with the thread's context made current first. */
#define PASS(name, parameters, call) \
    RT_API(name) parameters { return rt_done(THEN(call)); }

/* ---- graphs, edges ---- */

/* Data of edges came as an argument of its own with release 12.3, under names with _v2, and under the old names with
 * 13. The shells of releases 11 and 12 export what ends in _11 under the old name. */
#define WITH_DATA(name, parameters, call) \
    PASS(name, parameters, call)          \
    PASS(name##_v2, parameters, call)
#define EDGES CU_EDGES
#define DATA const struct cu_edge_data *data
#define DATA_OUT struct cu_edge_data *data
#define LISTS struct cu_graph *g, struct cu_node **from, struct cu_node **to
PASS(cudaGraphAddDependencies_11, (EDGES, u64 n), lkcu_cuGraphAddDependencies(g, from, to, n))
WITH_DATA(cudaGraphAddDependencies, (EDGES, DATA, u64 n), lkcu_cuGraphAddDependencies_v2(g, from, to, data, n))
PASS(cudaGraphRemoveDependencies_11, (EDGES, u64 n), lkcu_cuGraphRemoveDependencies(g, from, to, n))
WITH_DATA(cudaGraphRemoveDependencies, (EDGES, DATA, u64 n), lkcu_cuGraphRemoveDependencies_v2(g, from, to, data, n))
PASS(cudaGraphGetEdges_11, (LISTS, u64 *n), lkcu_cuGraphGetEdges(g, from, to, n))
WITH_DATA(cudaGraphGetEdges, (LISTS, DATA_OUT, u64 *n), lkcu_cuGraphGetEdges_v2(g, from, to, data, n))
PASS(cudaGraphNodeGetDependencies_11, (CU_NODES, u64 *count), lkcu_cuGraphNodeGetDependencies(n, out, count))
WITH_DATA(cudaGraphNodeGetDependencies, (CU_NODES, DATA_OUT, u64 *count),
          lkcu_cuGraphNodeGetDependencies_v2(n, out, data, count))
PASS(cudaGraphNodeGetDependentNodes_11, (CU_NODES, u64 *count), lkcu_cuGraphNodeGetDependentNodes(n, out, count))
WITH_DATA(cudaGraphNodeGetDependentNodes, (CU_NODES, DATA_OUT, u64 *count),
          lkcu_cuGraphNodeGetDependentNodes_v2(n, out, data, count))

PASS(cudaGraphConditionalHandleCreate, (u64 * out, struct cu_graph *g, unsigned initial, unsigned flags),
     lkcu_cuGraphConditionalHandleCreate(out, g, NULL, initial, flags))

/* ---- kernels ---- */

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
RT_API(cudaGraphKernelNodeSetParams)(NODE, const struct cu_kernel_node *x)
{
    struct cu_kernel_node y;
    cu_result r = kernel_read(x, &y);
    return rt_done(r ? r : lkcu_cuGraphKernelNodeSetParams(n, &y));
}
RT_API(cudaGraphKernelNodeGetParams)(NODE, struct cu_kernel_node *out)
{
    cu_result r = THEN(lkcu_cuGraphKernelNodeGetParams(n, out));
    if (!r) out->function = rt_host_of(out->function);
    return rt_done(r);
}
RT_API(cudaGraphExecKernelNodeSetParams)(EXEC, const struct cu_kernel_node *p)
{
    struct cu_kernel_node y;
    cu_result r = kernel_read(p, &y);
    return rt_done(r ? r : lkcu_cuGraphExecKernelNodeSetParams(x, n, &y));
}

/* ---- copies ---- */

enum { UNIFIED = 4 };
/* Sides are found by their addresses, whatever the kind says. */
static cu_result linear(void *to, const void *from, u64 bytes, u32 kind, struct cu_copy_3d *out)
{
    *out = (struct cu_copy_3d){ .to_type = UNIFIED,
                                .from_type = UNIFIED,
                                .to_device = (uintptr_t)to,
                                .from_device = (uintptr_t)from,
                                .width = bytes,
                                .height = 1,
                                .depth = 1 };
    return kind > BY_ADDRESS ? RT_INVALID_DIRECTION : rt_enter(NULL);
}
/* To or from a variable, `offset` bytes into it. */
static cu_result symbol(const void *variable, const void *host, u64 bytes, u64 offset, u32 kind, bool to_symbol,
                        struct cu_copy_3d *out)
{
    u64 address, size;
    cu_result r = rt_symbol_of(variable, &address, &size);
    if (r) return r;
    if (offset > size || bytes > size - offset) return CU_INVALID_VALUE;
    void *at = (void *)(uintptr_t)(address + offset), *other = (void *)(uintptr_t)host;
    return linear(to_symbol ? at : other, to_symbol ? other : at, bytes, kind, out);
}
static cu_result cubic(const struct rt_copy_3d *x, struct cu_copy_3d *out)
{
    cu_result r = rt_enter(NULL);
    return r ? r : cu_ok(x) ? rt_copy_3d_read(x, out) : CU_INVALID_VALUE;
}
#define CUBIC const struct rt_copy_3d *p
#define LINEAR void *to, const void *from, u64 bytes, u32 kind
#define TO_SYMBOL const void *variable, const void *from, u64 bytes, u64 offset, u32 kind
#define FROM_SYMBOL void *to, const void *variable, u64 bytes, u64 offset, u32 kind
#define READ_CUBIC cubic(p, &y)
#define READ_LINEAR linear(to, from, bytes, kind, &y)
#define READ_TO_SYMBOL symbol(variable, from, bytes, offset, kind, true, &y)
#define READ_FROM_SYMBOL symbol(variable, to, bytes, offset, kind, false, &y)
/* Adding, changing a node, and changing it in an executable graph, for each form. */
#define COPY_FORM(suffix, LIST, READ)                                                \
    RT_API(cudaGraphAddMemcpyNode##suffix)(ADDING, LIST)                             \
    {                                                                                \
        struct cu_copy_3d y;                                                         \
        cu_result r = READ;                                                          \
        return rt_done(r ? r : lkcu_cuGraphAddMemcpyNode(GIVEN, &y, NULL));          \
    }                                                                                \
    RT_API(cudaGraphMemcpyNodeSetParams##suffix)(NODE, LIST)                         \
    {                                                                                \
        struct cu_copy_3d y;                                                         \
        cu_result r = READ;                                                          \
        return rt_done(r ? r : lkcu_cuGraphMemcpyNodeSetParams(n, &y));              \
    }                                                                                \
    RT_API(cudaGraphExecMemcpyNodeSetParams##suffix)(EXEC, LIST)                     \
    {                                                                                \
        struct cu_copy_3d y;                                                         \
        cu_result r = READ;                                                          \
        return rt_done(r ? r : lkcu_cuGraphExecMemcpyNodeSetParams(x, n, &y, NULL)); \
    }
COPY_FORM(, CUBIC, READ_CUBIC)
COPY_FORM(1D, LINEAR, READ_LINEAR)
COPY_FORM(ToSymbol, TO_SYMBOL, READ_TO_SYMBOL)
COPY_FORM(FromSymbol, FROM_SYMBOL, READ_FROM_SYMBOL)

/* One side of a copy, as cudaMemcpy3DParms has it. */
static struct rt_pitched side_of(u32 type, const void *host, u64 address, u64 pitch, u64 height, u64 width)
{
    enum { HOST = 1 };
    void *p = type == HOST ? (void *)(uintptr_t)host : (void *)(uintptr_t)address;
    return (struct rt_pitched){ p, pitch ? pitch : width, width, height ? height : 1 };
}
RT_DEFINE(cudaGraphMemcpyNodeGetParams, struct cu_node *, n, struct rt_copy_3d *, out)
{
    struct cu_copy_3d y;
    enum { HOST = 1, DEVICE = 2, ARRAY = 3 };
    cu_result r = lkcu_cuGraphMemcpyNodeGetParams(n, &y);
    if (r) return r;
    bool to_known = y.to_type == HOST || y.to_type == DEVICE || y.to_type == ARRAY;
    bool known = to_known && (y.from_type == HOST || y.from_type == DEVICE || y.from_type == ARRAY);
    u32 kind = (y.from_type != HOST ? 2u : 0) | (y.to_type != HOST); /* 0 host to host, 1 to the device, 2, 3 on it */
    *out = (struct rt_copy_3d){ .from_array = y.from_type == ARRAY ? y.from_array : NULL,
                                .from_at = { y.from_x, y.from_y, y.from_z },
                                .from = side_of(y.from_type, y.from_host, y.from_device, y.from_pitch, y.from_height,
                                                y.width),
                                .to_array = y.to_type == ARRAY ? y.to_array : NULL,
                                .to_at = { y.to_x, y.to_y, y.to_z },
                                .to = side_of(y.to_type, y.to_host, y.to_device, y.to_pitch, y.to_height, y.width),
                                .extent = { y.width, y.height, y.depth },
                                .kind = known ? kind : BY_ADDRESS };
    return CU_OK;
}

/* ---- other nodes ---- */

PASS(cudaGraphAddMemsetNode, (ADDING, const struct cu_fill_node *p), lkcu_cuGraphAddMemsetNode(GIVEN, p, NULL))
PASS(cudaGraphExecMemsetNodeSetParams, (EXEC, const struct cu_fill_node *p),
     lkcu_cuGraphExecMemsetNodeSetParams(x, n, p, NULL))

/* The driver's form: kernels and copies differ. */
static cu_result node_read(const struct rt_node_params *p, struct cu_node_params *out)
{
    cu_result r = rt_enter(NULL);
    if (r) return r;
    if (!cu_ok(p)) return CU_INVALID_VALUE;
    _Static_assert(sizeof *p == sizeof *out, "both are 256 bytes");
    memcpy(out, p, sizeof *out);
    if (p->type == CU_NODE_COPY) {
        memset(out->room, 0, sizeof out->room);
        return rt_copy_3d_read(&p->copy.copy, &out->copy.copy);
    }
    if (p->type != CU_NODE_KERNEL) return CU_OK;
    memset(out->room, 0, sizeof out->room);
    return kernel_read(&p->kernel, &out->kernel.first);
}
static cu_result node_add(ADDING, const struct cu_edge_data *data, struct rt_node_params *p)
{
    struct cu_node_params y;
    cu_result r = node_read(p, &y);
    if (r || (r = lkcu_cuGraphAddNode_v2(out, g, dep, data, deps, &y))) return r;
    if (p->type == CU_NODE_ALLOC || p->type == CU_NODE_CONDITIONAL) /* the address and the graphs are answers */
        memcpy(p->room, y.room, sizeof y.room);
    return CU_OK;
}
#define ADD_DATA \
    struct cu_node **out, struct cu_graph *g, struct cu_node *const *dep, const struct cu_edge_data *data, u64 deps
PASS(cudaGraphAddNode_11, (ADDING, struct rt_node_params *p), node_add(GIVEN, NULL, p))
WITH_DATA(cudaGraphAddNode, (ADD_DATA, struct rt_node_params *p), node_add(GIVEN, data, p))
RT_API(cudaGraphNodeSetParams)(NODE, struct rt_node_params *p)
{
    struct cu_node_params y;
    cu_result r = node_read(p, &y);
    return rt_done(r ? r : lkcu_cuGraphNodeSetParams(n, &y));
}
RT_API(cudaGraphExecNodeSetParams)(EXEC, struct rt_node_params *p)
{
    struct cu_node_params y;
    cu_result r = node_read(p, &y);
    return rt_done(r ? r : lkcu_cuGraphExecNodeSetParams(x, n, &y));
}

/* ---- executable graphs ---- */

#define MAKING struct cu_exec **out, struct cu_graph *g
/* Release 11 had a log in the place of flags. */
PASS(cudaGraphInstantiate, (MAKING, u64 flags), lkcu_cuGraphInstantiateWithFlags(out, g, flags))
RT_API(cudaGraphInstantiate_11)(MAKING, struct cu_node **node, char *log, u64 bytes)
{
    if (cu_ok(node)) *node = NULL;
    if (bytes && cu_ok(log)) *log = 0;
    return lkrt_cudaGraphInstantiate(out, g, 0);
}
PASS(cudaGraphExecUpdate_11, (struct cu_exec * x, struct cu_graph *g, struct cu_node **node, u32 *result),
     lkcu_cuGraphExecUpdate(x, g, node, result))

/* ---- capture ---- */

#define CAPTURED struct cu_graph **graph, struct cu_node *const **nodes
#define CAPTURED_EDGES const struct cu_edge_data **edges
/* As with edges: data came with 12.3. */
#define ASK_3 THEN(lkcu_cuStreamGetCaptureInfo_v3(s, status, id, graph, nodes, edges, count))
RT_CALL(cudaStreamGetCaptureInfo_11, (CU_CAPTURE_INFO), THEN(lkcu_cuStreamGetCaptureInfo(s, status, id)))
RT_CALL(cudaStreamGetCaptureInfo_v3, (CU_CAPTURE_INFO, CAPTURED, CAPTURED_EDGES, u64 *count), ASK_3)
RT_CALL(cudaStreamGetCaptureInfo, (CU_CAPTURE_INFO, CAPTURED, CAPTURED_EDGES, u64 *count), ASK_3)
#define NEXT void *s, struct cu_node *const *dep
#define SET_2 THEN(lkcu_cuStreamUpdateCaptureDependencies_v2(s, dep, data, deps, flags))
RT_CALL(cudaStreamUpdateCaptureDependencies_11, (NEXT, u64 deps, unsigned flags),
        THEN(lkcu_cuStreamUpdateCaptureDependencies(s, dep, deps, flags)))
RT_CALL(cudaStreamUpdateCaptureDependencies_v2, (NEXT, DATA, u64 deps, unsigned flags), SET_2)
RT_CALL(cudaStreamUpdateCaptureDependencies, (NEXT, DATA, u64 deps, unsigned flags), SET_2)
