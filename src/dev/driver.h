/* driver.h: the part of the CUDA driver API that dev_gpu.c uses, declared here so that no CUDA header is needed to
 * build.
 *
 * The library is opened by absolute path and kept out of the global scope: libcuda.so.1 by its bare name may be
 * Lockstep's own. */
#ifndef LOCKSTEP_DRIVER_H
#define LOCKSTEP_DRIVER_H
#include "base/base.h"

typedef int cu_result; /* 0: success */
typedef struct cu_context_ *cu_context;
typedef struct cu_module_ *cu_module;
typedef struct cu_function_ *cu_function;
typedef struct cu_stream_ *cu_stream;
typedef struct cu_link_ *cu_link;
enum { CU_NOT_READY = 600 };
enum cu_attribute { /* of cuDeviceGetAttribute; the numbers are the driver's ABI */
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
                    CU_SHARED_PER_SM = 81,
                    CU_REGS_PER_SM = 82,
                    CU_COOPERATIVE = 95,
                    CU_SHARED_OPTIN = 97,
                    CU_BLOCKS_PER_SM = 106,
                    CU_SHARED_RESERVED = 111,
                    CU_CLUSTERS = 120
};
enum { CU_FUNC_DYNAMIC_SHARED = 8 }; /* of cuFuncSetAttribute */
enum { CU_JIT_ERROR_LOG = 5, CU_JIT_ERROR_LOG_SIZE = 6 };
enum { CU_INPUT_PTX = 1 }; /* of cuLinkAddData */
enum { CU_HOST_PORTABLE = 1, CU_HOST_MAPPED = 2, CU_MANAGED_GLOBAL = 1 };

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

struct driver {
    void *library; /* of dlopen */
    char path[512];
#define X(field, name, params) cu_result(*field) params;
    CU_FUNCTIONS(X)
#undef X
};

/* Opens the driver's library; false: e says where it was looked for. LOCKSTEP_LIBCUDA names another path. */
bool driver_open(struct driver *c, struct error *e);
void driver_close(struct driver *c);
/* "CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered" */
const char *driver_error(const struct driver *c, cu_result code, char *out, size_t size);
#endif
