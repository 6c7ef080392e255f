/* driver.h: the part of the CUDA driver API that dev_gpu*.c use, declared here so that no CUDA header is needed to
 * build. tests/facts/driver_abi.c compares it with NVIDIA's header.
 *
 * The library is opened by absolute path and kept out of the global scope: libcuda.so.1 by its bare name may be
 * Lockstep's own. */
#ifndef LOCKSTEP_DRIVER_H
#define LOCKSTEP_DRIVER_H
#include "abi/cuda_abi.h"
#include "base/base.h"
#include "queue/node_type.h"

typedef int cu_result; /* 0: success */
typedef struct cu_context_ *cu_context;
typedef struct cu_module_ *cu_module;
typedef struct cu_function_ *cu_function;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_link_ *cu_link;
typedef struct cu_event_ *cu_event;
typedef struct cu_graph_ *cu_graph;
typedef struct cu_node_ *cu_node;
typedef struct cu_exec_ *cu_exec;
typedef struct cu_pool_ *cu_pool;
enum { /* of cu_result */
       CU_OUT_OF_MEMORY = 2,
       CU_INVALID_CONTEXT = 201,
       CU_INVALID_HANDLE = 400,
       CU_NOT_READY = 600,
       CU_CONTEXT_GONE = 709,
       CU_NOT_SUPPORTED = 801
};
#define CU_LEGACY ((cu_stream)1)     /* the driver's own handles for the default streams */
#define CU_PER_THREAD ((cu_stream)2) /* that of the thread that calls */
enum cu_attribute {                  /* of cuDeviceGetAttribute; the numbers are the driver's ABI */
                    CU_THREADS_PER_BLOCK = 1,
                    CU_BLOCK_X = 2,
                    CU_GRID_X = 5,
                    CU_SHARED_PER_BLOCK = 8,
                    CU_REGS_PER_BLOCK = 12,
                    CU_CLOCK_KHZ = 13,
                    CU_SMS = 16,
                    CU_L2_BYTES = 38,
                    CU_THREADS_PER_SM = 39,
                    CU_MAJOR = 75,
                    CU_MINOR = 76,
                    CU_PAGEABLE = 88,
                    CU_SHARED_PER_SM = 81,
                    CU_REGS_PER_SM = 82,
                    CU_COOPERATIVE = 95,
                    CU_SHARED_OPTIN = 97,
                    CU_BLOCKS_PER_SM = 106,
                    CU_SHARED_RESERVED = 111,
                    CU_CLUSTERS = 120
};
enum { CU_FUNC_DYNAMIC_SHARED = 8, CU_FUNC_CLUSTER_ANY = 14 }; /* of cuFuncSetAttribute */
enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_SIZE = 6 };
enum { CU_POINTER_MEMORY_TYPE = 2 };             /* of cuPointerGetAttribute */
enum { CU_INPUT_PTX = 1, CU_INPUT_LIBRARY = 4 }; /* of cuLinkAddData */
enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2, CU_MANAGED_GLOBAL = 1 };
enum { CU_MEMORY_HOST = 1, CU_MEMORY_DEVICE = 2, CU_MEMORY_UNIFIED = 4 };              /* one side of a copy */
enum { CU_LAUNCH_COOPERATIVE = 2, CU_LAUNCH_CLUSTER = 4, CU_LAUNCH_PROGRAMMATIC = 6 }; /* attributes of a launch */
enum { CU_POOL_THRESHOLD = 4 };                                                        /* of cuMemPoolSetAttribute */
enum { CU_EDGE_FROM_TRIGGER = 1, CU_EDGE_PROGRAMMATIC = 1 }; /* port and type of struct cu_edge_data */

/* X(result-name, exported name, parameters) */
#define CU_FUNCTIONS(X)                                                                                            \
    X(init, "cuInit", (unsigned flags))                                                                            \
    X(version, "cuDriverGetVersion", (int *version))                                                               \
    X(count, "cuDeviceGetCount", (int *count))                                                                     \
    X(get, "cuDeviceGet", (int *device, int ordinal))                                                              \
    X(name, "cuDeviceGetName", (char *name, int size, int device))                                                 \
    X(total, "cuDeviceTotalMem_v2", (size_t * bytes, int device))                                                  \
    X(attribute, "cuDeviceGetAttribute", (int *value, int attribute, int device))                                  \
    X(retain, "cuDevicePrimaryCtxRetain", (cu_context * context, int device))                                      \
    X(release, "cuDevicePrimaryCtxRelease_v2", (int device))                                                       \
    X(set_current, "cuCtxSetCurrent", (cu_context context))                                                        \
    X(load, "cuModuleLoadDataEx", (cu_module * module, const void *image, unsigned n, int *option, void **value))  \
    X(link_begin, "cuLinkCreate_v2", (unsigned n, int *option, void **value, cu_link *link))                       \
    X(link_add, "cuLinkAddData_v2",                                                                                \
      (cu_link link, int type, void *data, size_t bytes, const char *name, unsigned n, int *option, void **value)) \
    X(link_end, "cuLinkComplete", (cu_link link, void **image, size_t *bytes))                                     \
    X(link_free, "cuLinkDestroy", (cu_link link))                                                                  \
    X(unload, "cuModuleUnload", (cu_module module))                                                                \
    X(function, "cuModuleGetFunction", (cu_function * function, cu_module module, const char *name))               \
    X(global, "cuModuleGetGlobal_v2", (u64 * address, size_t * bytes, cu_module module, const char *name))         \
    X(alloc, "cuMemAlloc_v2", (u64 * address, size_t bytes))                                                       \
    X(free, "cuMemFree_v2", (u64 address))                                                                         \
    X(alloc_host, "cuMemHostAlloc", (void **address, size_t bytes, unsigned flags))                                \
    X(free_host, "cuMemFreeHost", (void *address))                                                                 \
    X(alloc_managed, "cuMemAllocManaged", (u64 * address, size_t bytes, unsigned flags))                           \
    X(write, "cuMemcpyHtoD_v2", (u64 to, const void *from, size_t bytes))                                          \
    X(read, "cuMemcpyDtoH_v2", (void *to, u64 from, size_t bytes))                                                 \
    X(fill, "cuMemsetD8_v2", (u64 to, unsigned char byte, size_t bytes))                                           \
    X(func_set, "cuFuncSetAttribute", (cu_function function, int attribute, int value))                            \
    X(launch, "cuLaunchKernel",                                                                                    \
      (cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,         \
       unsigned shared, cu_stream stream, void **params, void **extra))                                            \
    X(launch_cooperative, "cuLaunchCooperativeKernel",                                                             \
      (cu_function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,         \
       unsigned shared, cu_stream stream, void **params))                                                          \
    X(query, "cuStreamQuery", (cu_stream stream))                                                                  \
    X(error_name, "cuGetErrorName", (cu_result code, const char **name))                                           \
    X(error_text, "cuGetErrorString", (cu_result code, const char **text))

/* The same for asynchronous work. An older driver may lack some: NULL, and a call through ask_driver says so. */
#define CU_ASYNC_FUNCTIONS(X)                                                                                        \
    X(func_load, "cuFuncLoad", (cu_function function))                                                               \
    X(link_file, "cuLinkAddFile_v2",                                                                                 \
      (cu_link link, int type, const char *path, unsigned n, int *option, void **value))                             \
    X(array_new, "cuArray3DCreate_v2", (void **array, const struct cu_array_3d *info))                               \
    X(array_delete, "cuArrayDestroy", (void *array))                                                                 \
    X(texture_new, "cuTexObjectCreate",                                                                              \
      (u64 * object, const struct cu_resource *from, const struct cu_texture *how, const struct cu_view *view))      \
    X(texture_delete, "cuTexObjectDestroy", (u64 object))                                                            \
    X(surface_new, "cuSurfObjectCreate", (u64 * object, const struct cu_resource *of))                               \
    X(surface_delete, "cuSurfObjectDestroy", (u64 object))                                                           \
    X(pointer, "cuPointerGetAttribute", (void *data, int attribute, u64 pointer))                                    \
    X(stream_new, "cuStreamCreateWithPriority", (cu_stream * stream, unsigned flags, int priority))                  \
    X(stream_delete, "cuStreamDestroy_v2", (cu_stream stream))                                                       \
    X(stream_wait, "cuStreamWaitEvent", (cu_stream stream, cu_event event, unsigned flags))                          \
    X(stream_sync, "cuStreamSynchronize", (cu_stream stream))                                                        \
    X(capturing, "cuStreamIsCapturing", (cu_stream stream, int *status))                                             \
    X(capture_begin, "cuStreamBeginCapture_v2", (cu_stream stream, int mode))                                        \
    X(capture_end, "cuStreamEndCapture", (cu_stream stream, cu_graph * graph))                                       \
    X(capture_info, "cuStreamGetCaptureInfo_v2",                                                                     \
      (cu_stream stream, int *status, u64 *id, cu_graph *graph, const cu_node **dep, size_t *deps))                  \
    X(synchronise, "cuCtxSynchronize", (void))                                                                       \
    X(event_new, "cuEventCreate", (cu_event * event, unsigned flags))                                                \
    X(event_delete, "cuEventDestroy_v2", (cu_event event))                                                           \
    X(event_record, "cuEventRecordWithFlags", (cu_event event, cu_stream stream, unsigned flags))                    \
    X(event_query, "cuEventQuery", (cu_event event))                                                                 \
    X(event_elapsed, "cuEventElapsedTime", (float *ms, cu_event from, cu_event to))                                  \
    X(launch_ex, "cuLaunchKernelEx",                                                                                 \
      (const struct cu_launch_config *config, cu_function function, void **params, void **extra))                    \
    X(host_call, "cuLaunchHostFunc", (cu_stream stream, void (*call)(void *self), void *self))                       \
    X(wait_value32, "cuStreamWaitValue32_v2", (cu_stream stream, u64 address, u32 value, unsigned flags))            \
    X(wait_value64, "cuStreamWaitValue64_v2", (cu_stream stream, u64 address, u64 value, unsigned flags))            \
    X(write_value32, "cuStreamWriteValue32_v2", (cu_stream stream, u64 address, u32 value, unsigned flags))          \
    X(write_value64, "cuStreamWriteValue64_v2", (cu_stream stream, u64 address, u64 value, unsigned flags))          \
    X(copy, "cuMemcpyAsync", (u64 to, u64 from, size_t bytes, cu_stream stream))                                     \
    X(copy_in, "cuMemcpyHtoDAsync_v2", (u64 to, const void *from, size_t bytes, cu_stream stream))                   \
    X(copy_out, "cuMemcpyDtoHAsync_v2", (void *to, u64 from, size_t bytes, cu_stream stream))                        \
    X(copy_peer, "cuMemcpyPeerAsync",                                                                                \
      (u64 to, cu_context to_context, u64 from, cu_context from_context, size_t bytes, cu_stream stream))            \
    X(copy2, "cuMemcpy2DAsync_v2", (const struct cu_copy_2d *copy, cu_stream stream))                                \
    X(copy3, "cuMemcpy3DAsync_v2", (const struct cu_copy_3d *copy, cu_stream stream))                                \
    X(fill8, "cuMemsetD8Async", (u64 to, u8 value, size_t n, cu_stream stream))                                      \
    X(fill16, "cuMemsetD16Async", (u64 to, u16 value, size_t n, cu_stream stream))                                   \
    X(fill32, "cuMemsetD32Async", (u64 to, u32 value, size_t n, cu_stream stream))                                   \
    X(fill_rows8, "cuMemsetD2D8Async", (u64 to, size_t pitch, u8 value, size_t n, size_t rows, cu_stream stream))    \
    X(fill_rows16, "cuMemsetD2D16Async", (u64 to, size_t pitch, u16 value, size_t n, size_t rows, cu_stream stream)) \
    X(fill_rows32, "cuMemsetD2D32Async", (u64 to, size_t pitch, u32 value, size_t n, size_t rows, cu_stream stream)) \
    X(alloc_async, "cuMemAllocAsync", (u64 * address, size_t bytes, cu_stream stream))                               \
    X(alloc_pool, "cuMemAllocFromPoolAsync", (u64 * address, size_t bytes, cu_pool pool, cu_stream stream))          \
    X(free_async, "cuMemFreeAsync", (u64 address, cu_stream stream))                                                 \
    X(pool_new, "cuMemPoolCreate", (cu_pool * pool, const struct cu_pool_props *props))                              \
    X(pool_delete, "cuMemPoolDestroy", (cu_pool pool))                                                               \
    X(pool_trim, "cuMemPoolTrimTo", (cu_pool pool, size_t keep))                                                     \
    X(pool_set, "cuMemPoolSetAttribute", (cu_pool pool, int attribute, void *value))                                 \
    X(host_register, "cuMemHostRegister_v2", (void *host, size_t bytes, unsigned flags))                             \
    X(host_unregister, "cuMemHostUnregister", (void *host))                                                          \
    X(host_address, "cuMemHostGetDevicePointer_v2", (u64 * address, void *host, unsigned flags))                     \
    X(graph_new, "cuGraphCreate", (cu_graph * graph, unsigned flags))                                                \
    X(graph_delete, "cuGraphDestroy", (cu_graph graph))                                                              \
    X(graph_add, "cuGraphAddNode_v2",                                                                                \
      (cu_node * node, cu_graph graph, const cu_node *dep, const struct cu_edge_data *edge, size_t deps,             \
       struct cu_node_params *params))                                                                               \
    X(graph_edge_add, "cuGraphAddDependencies_v2",                                                                   \
      (cu_graph graph, const cu_node *from, const cu_node *to, const struct cu_edge_data *edge, size_t n))           \
    X(graph_edge_remove, "cuGraphRemoveDependencies_v2",                                                             \
      (cu_graph graph, const cu_node *from, const cu_node *to, const struct cu_edge_data *edge, size_t n))           \
    X(graph_nodes, "cuGraphGetNodes", (cu_graph graph, cu_node * node, size_t * nodes))                              \
    X(node_attribute, "cuGraphKernelNodeSetAttribute", (cu_node node, int attribute, const void *value))             \
    X(instantiate, "cuGraphInstantiateWithFlags", (cu_exec * exec, cu_graph graph, unsigned long long flags))        \
    X(exec_delete, "cuGraphExecDestroy", (cu_exec exec))                                                             \
    X(exec_update, "cuGraphExecUpdate_v2", (cu_exec exec, cu_graph graph, struct cu_update * result))                \
    X(exec_set, "cuGraphExecNodeSetParams", (cu_exec exec, cu_node node, struct cu_node_params * params))            \
    X(exec_launch, "cuGraphLaunch", (cu_exec exec, cu_stream stream))

struct driver {
    void *library; /* of dlopen */
    char path[512];
#define X(field, name, params) cu_result(*field) params;
    CU_FUNCTIONS(X)
    CU_ASYNC_FUNCTIONS(X)
#undef X
};
/* Calls a function of CU_ASYNC_FUNCTIONS. */
#define ask_driver(c, f, ...) ((c)->f ? (c)->f(__VA_ARGS__) : (cu_result)CU_NOT_SUPPORTED)

/* Opens the driver's library; false: e says where it was looked for. LOCKSTEP_LIBCUDA names another path. */
bool driver_open(struct driver *c, struct error *e);
void driver_close(struct driver *c);
/* gpu_list.c: how many GPUs the driver has, 0: e says why; and what it says of the i-th one, where out is not NULL. */
struct gpu_found {
    char name[128];
    u32 sm, multiprocessors, clock_khz, pageable;
    u64 memory; /* bytes */
};
u32 gpu_list(u32 i, struct gpu_found *out, struct error *e);
/* "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" */
const char *driver_error(const struct driver *c, cu_result code, char *out, size_t size);
#endif
