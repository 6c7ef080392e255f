/* cu_api.h: the functions of the driver interface that other files than their own call, the Runtime API (rt_*.c) above
 * all. cu.h includes it, so that the compiler holds every definition against it; it knows nothing of cu.h. */
#ifndef LOCKSTEP_CU_API_H
#define LOCKSTEP_CU_API_H
#include "abi/cuda_abi.h"
#include "base/base.h"

typedef int cu_result;
#define CU_API(symbol) __attribute__((visibility("default"))) cu_result lkcu_##symbol

struct cu_context;
struct cu_image;
struct cu_function;
struct cu_stream; /* a CUstream of cuStreamCreate; parameters are void *, since 0, 1 and 2 are streams, too */
struct cu_event;
struct cu_graph;
struct cu_node;
struct cu_exec;
struct cu_array;
struct cu_mipmapped;

/* ---- cu_process.c, cu_device.c, cu_context.c ---- */

CU_API(cuInit)(unsigned flags);
CU_API(cuGetErrorString)(int error, const char **out);
CU_API(cuDeviceGetAttribute)(int *value, int which, int device);
CU_API(cuDeviceGetUuid)(u8 *out, int device);
CU_API(cuDeviceGetPCIBusId)(char *out, int size, int device);
CU_API(cuDeviceGetByPCIBusId)(int *device, const char *id);
CU_API(cuDeviceCanAccessPeer)(int *can, int device, int peer);
CU_API(cuDeviceGetP2PAttribute)(int *value, int which, int device, int peer);
CU_API(cuDeviceGetHostAtomicCapabilities)(u32 *out, const u32 *operation, unsigned n, int device);
CU_API(cuDeviceGetP2PAtomicCapabilities)(u32 *out, const u32 *operation, unsigned n, int device, int peer);
CU_API(cuDevicePrimaryCtxReset_v2)(int device);
CU_API(cuDevicePrimaryCtxSetFlags_v2)(int device, unsigned flags);
CU_API(cuCtxDestroy_v2)(struct cu_context *c);
CU_API(cuCtxSetCurrent)(struct cu_context *c);
CU_API(cuCtxGetCurrent)(struct cu_context **out);
CU_API(cuCtxSynchronize)(void);
CU_API(cuCtxGetLimit)(u64 *value, u32 limit);
CU_API(cuCtxSetLimit)(u32 limit, u64 value);
CU_API(cuCtxGetCacheConfig)(u32 *config);
CU_API(cuCtxSetCacheConfig)(u32 config);

/* ---- cu_module.c, cu_library.c, cu_launch.c ---- */

/* An image of the program itself, which stays where it is. */
cu_result cu_library_load(struct cu_image **out, const void *code);

CU_API(cuFuncGetName)(const char **name, void *function);
CU_API(cuFuncGetParamInfo)(void *function, u64 index, u64 *offset, u64 *bytes);
CU_API(cuLibraryUnload)(struct cu_image *m);
CU_API(cuLibraryGetKernel)(struct cu_function **out, struct cu_image *m, const char *name);
CU_API(cuLibraryGetGlobal)(u64 *address, u64 *bytes, struct cu_image *m, const char *name);
CU_API(cuLibraryGetModule)(struct cu_image **out, struct cu_image *m);
CU_API(cuLibraryGetManaged)(u64 *address, u64 *bytes, struct cu_image *m, const char *name);
CU_API(cuKernelSetAttribute)(int which, int value, void *kernel, int device);
CU_API(cuGetProcAddress_v2)(const char *name, void **function, int version, u64 flags, int *result);
CU_API(cuGetExportTable)(const void **out, const void *id);
CU_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags)
(int *blocks, void *function, int threads, u64 dynamic, unsigned flags);
CU_API(cuOccupancyAvailableDynamicSMemPerBlock)(u64 *out, void *function, int blocks, int threads);
CU_API(cuOccupancyMaxActiveClusters)(int *clusters, void *function, const struct cu_launch_config *x);
CU_API(cuOccupancyMaxPotentialClusterSize)(int *size, void *function, const struct cu_launch_config *x);
CU_API(cuFuncGetAttribute)(int *value, int which, void *function);
CU_API(cuFuncSetAttribute)(void *function, int which, int value);
#define CU_SHAPE \
    unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream
CU_API(cuLaunchKernel)(void *f, CU_SHAPE, void **params, void **extra);
CU_API(cuLaunchCooperativeKernel)(void *f, CU_SHAPE, void **params);
CU_API(cuLaunchKernelEx)(const struct cu_launch_config *x, void *f, void **params, void **extra);

/* ---- cu_memory.c, cu_copy.c ---- */

CU_API(cuMemAlloc_v2)(u64 *out, u64 bytes);
CU_API(cuMemAllocManaged)(u64 *out, u64 bytes, unsigned flags);
CU_API(cuMemAllocPitch_v2)(u64 *out, u64 *pitch, u64 width, u64 rows, unsigned element);
CU_API(cuMemHostAlloc)(void **out, u64 bytes, unsigned flags);
CU_API(cuMemHostRegister_v2)(void *p, u64 bytes, unsigned flags);
CU_API(cuMemHostGetDevicePointer_v2)(u64 *out, void *p, unsigned flags);
CU_API(cuPointerGetAttribute)(void *out, int which, u64 address);
CU_API(cuMemAllocAsync)(u64 *out, u64 n, void *s);
CU_API(cuMemcpy)(u64 to, u64 from, u64 n);
CU_API(cuMemcpyAsync)(u64 to, u64 from, u64 n, void *s);
CU_API(cuMemcpyHtoD_v2)(u64 to, const void *from, u64 n);
CU_API(cuMemcpyHtoDAsync_v2)(u64 to, const void *from, u64 n, void *s);
CU_API(cuMemcpyDtoH_v2)(void *to, u64 from, u64 n);
CU_API(cuMemcpyDtoHAsync_v2)(void *to, u64 from, u64 n, void *s);
CU_API(cuMemcpyDtoD_v2)(u64 to, u64 from, u64 n);
CU_API(cuMemcpyDtoDAsync_v2)(u64 to, u64 from, u64 n, void *s);
CU_API(cuMemcpy3D_v2)(const struct cu_copy_3d *x);
CU_API(cuMemcpy3DAsync_v2)(const struct cu_copy_3d *x, void *s);
CU_API(cuMemsetD8_v2)(u64 a, u8 v, u64 n);
CU_API(cuMemsetD8Async)(u64 a, u8 v, u64 n, void *s);
CU_API(cuMemsetD2D8_v2)(u64 a, u64 pitch, u8 v, u64 w, u64 h);
CU_API(cuMemsetD2D8Async)(u64 a, u64 pitch, u8 v, u64 w, u64 h, void *s);

/* ---- cu_stream.c ---- */

CU_API(cuStreamCreateWithPriority)(struct cu_stream **out, unsigned flags, int priority);
CU_API(cuStreamDestroy_v2)(struct cu_stream *s);
CU_API(cuStreamSynchronize)(void *s);
CU_API(cuEventCreate)(struct cu_event **out, unsigned flags);
CU_API(cuEventDestroy_v2)(struct cu_event *e);
CU_API(cuEventElapsedTime)(float *ms, struct cu_event *from, struct cu_event *to);

/* ---- cu_graph.c, cu_graph_node.c ---- */

struct cu_user_object;
/* What every call that adds a node begins with: where the node goes, and what it comes after. */
#define CU_ADDING struct cu_node **out, struct cu_graph *g, struct cu_node *const *dep, u64 deps
#define CU_EDGES struct cu_graph *g, struct cu_node *const *from, struct cu_node *const *to
#define CU_NODES struct cu_node *n, struct cu_node **out
/* Whether a handle is a node of this type, enum cu_node_type. */
bool cu_node_is(const void *handle, u32 type);
CU_API(cuGraphDestroy)(struct cu_graph *g);
CU_API(cuArrayDestroy)(struct cu_array *a);
CU_API(cuMipmappedArrayDestroy)(struct cu_mipmapped *m);
CU_API(cuGraphGetEdges)(struct cu_graph *g, struct cu_node **from, struct cu_node **to, u64 *n);
CU_API(cuGraphGetEdges_v2)
(struct cu_graph *g, struct cu_node **from, struct cu_node **to, struct cu_edge_data *data, u64 *n);
CU_API(cuGraphNodeGetDependencies)(CU_NODES, u64 *count);
CU_API(cuGraphNodeGetDependencies_v2)(CU_NODES, struct cu_edge_data *data, u64 *count);
CU_API(cuGraphNodeGetDependentNodes)(CU_NODES, u64 *count);
CU_API(cuGraphNodeGetDependentNodes_v2)(CU_NODES, struct cu_edge_data *data, u64 *count);
CU_API(cuGraphAddDependencies)(CU_EDGES, u64 n);
CU_API(cuGraphRemoveDependencies)(CU_EDGES, u64 n);
CU_API(cuGraphAddDependencies_v2)(CU_EDGES, const struct cu_edge_data *data, u64 n);
CU_API(cuGraphRemoveDependencies_v2)(CU_EDGES, const struct cu_edge_data *data, u64 n);
CU_API(cuGraphAddEmptyNode)(CU_ADDING);
CU_API(cuGraphAddKernelNode)(CU_ADDING, const struct cu_kernel_node *x);
CU_API(cuGraphAddKernelNode_v2)(CU_ADDING, const struct cu_kernel_node_v2 *x);
CU_API(cuGraphKernelNodeGetParams)(struct cu_node *n, struct cu_kernel_node *out);
CU_API(cuGraphKernelNodeSetParams)(struct cu_node *n, const struct cu_kernel_node *x);
CU_API(cuGraphKernelNodeSetParams_v2)(struct cu_node *n, const struct cu_kernel_node_v2 *x);
CU_API(cuGraphKernelNodeGetAttribute)(struct cu_node *n, u32 which, union cu_launch_value *out);
CU_API(cuGraphKernelNodeSetAttribute)(struct cu_node *n, u32 which, const union cu_launch_value *value);
CU_API(cuGraphAddMemcpyNode)(CU_ADDING, const struct cu_copy_3d *x, void *context);
CU_API(cuGraphMemcpyNodeGetParams)(struct cu_node *n, struct cu_copy_3d *out);
CU_API(cuGraphMemcpyNodeSetParams)(struct cu_node *n, const struct cu_copy_3d *x);
CU_API(cuGraphAddMemsetNode)(CU_ADDING, const struct cu_fill_node *x, void *context);
CU_API(cuGraphMemsetNodeSetParams)(struct cu_node *n, const struct cu_fill_node *x);
CU_API(cuGraphAddHostNode)(CU_ADDING, const struct cu_host_node *x);
CU_API(cuGraphHostNodeSetParams)(struct cu_node *n, const struct cu_host_node *x);
CU_API(cuGraphAddChildGraphNode)(CU_ADDING, struct cu_graph *child);
CU_API(cuGraphAddEventRecordNode)(CU_ADDING, void *event);
CU_API(cuGraphAddEventWaitNode)(CU_ADDING, void *event);
CU_API(cuGraphEventRecordNodeSetEvent)(struct cu_node *n, void *event);
CU_API(cuGraphEventWaitNodeSetEvent)(struct cu_node *n, void *event);
CU_API(cuGraphAddMemFreeNode)(CU_ADDING, u64 address);

/* ---- cu_graph_exec.c, cu_capture.c ---- */

CU_API(cuGraphInstantiateWithFlags)(struct cu_exec **out, struct cu_graph *g, u64 flags);
CU_API(cuGraphExecDestroy)(struct cu_exec *x);
CU_API(cuGraphExecUpdate)(struct cu_exec *x, struct cu_graph *g, struct cu_node **node, u32 *result);
CU_API(cuGraphExecUpdate_v2)(struct cu_exec *x, struct cu_graph *g, struct cu_update *out);
CU_API(cuGraphExecKernelNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_kernel_node *p);
CU_API(cuGraphExecMemcpyNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_copy_3d *p, void *context);
CU_API(cuGraphExecMemsetNodeSetParams)
(struct cu_exec *x, struct cu_node *n, const struct cu_fill_node *p, void *context);
CU_API(cuGraphExecHostNodeSetParams)(struct cu_exec *x, struct cu_node *n, const struct cu_host_node *p);
CU_API(cuGraphExecChildGraphNodeSetParams)(struct cu_exec *x, struct cu_node *n, struct cu_graph *child);
CU_API(cuStreamIsCapturing)(void *s, u32 *out);
#define CU_CAPTURE_INFO void *s, u32 *status, u64 *id
CU_API(cuStreamGetCaptureInfo)(CU_CAPTURE_INFO);
CU_API(cuStreamGetCaptureInfo_v3)
(CU_CAPTURE_INFO, struct cu_graph **graph, struct cu_node *const **nodes, const struct cu_edge_data **edges,
 u64 *count);
CU_API(cuStreamUpdateCaptureDependencies)(void *s, struct cu_node *const *dep, u64 deps, unsigned flags);
CU_API(cuStreamUpdateCaptureDependencies_v2)
(void *s, struct cu_node *const *dep, const struct cu_edge_data *data, u64 deps, unsigned flags);
#endif
