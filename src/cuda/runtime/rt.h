/* rt.h: the CUDA Runtime API, libcudart.so.*, over the driver interface of cu.h.
 *
 *   abi/cudart.def    every call, with the releases that have it
 *   rt_check.h        what a row asks of a call before its function runs
 *   abi/rt_stubs.S    an export that nobody defines: it is refused by name
 *   rt_thread.c       what a thread has: its device, its last error
 *   rt_register.c     what nvcc's code registers before main: images, kernels, variables
 *   rt_library.c      libraries, functions of the driver by name
 *   rt_launch.c       launches and attributes of kernels
 *   rt_device.c       devices and their properties
 *   rt_memory.c       memory, copies, symbols
 *   rt_pool.c         pools
 *   rt_managed.c      managed memory, several copies in one call
 *   rt_array.c        arrays, and copies of them
 *   rt_texture.c      texture and surface objects, texture references
 *   rt_stream.c       streams and events
 *   rt_graph.c        graphs and capture
 *
 * A function of the API is RT_API(cudaMalloc)(...): an exported symbol lkrt_cudaMalloc of liblockstep.so. Errors have
 * the driver's numbers, as they do in CUDA since release 10, but for a few that only the runtime has. */
#ifndef LOCKSTEP_RT_H
#define LOCKSTEP_RT_H
#include "driver/cu.h"
#include "abi/cudart_abi.h"

#define RT_API(symbol) __attribute__((visibility("default"))) cu_result lkrt_##symbol
enum rt_error {
    RT_INVALID_CONFIGURATION = 9,
    RT_INVALID_SYMBOL = 13,
    RT_INVALID_DEVICE_FUNCTION = 98,
    RT_MISSING_CONFIGURATION = 52,
    RT_INVALID_CHANNEL = 20,
    RT_INVALID_DIRECTION = 21,
};
enum { RT_VERSION_11 = 11080, RT_VERSION_12 = 12090 }; /* what the libraries of these releases say they are */

/* The devices at first: cuInit, which programs of the runtime do not call. */
cu_result rt_ready(void);
/* Makes the primary context of the thread's device current, and the devices at first; its context, NULL: not wanted. */
cu_result rt_enter(struct cu_context **c);
/* A call of the driver's, with that context made current first. */
#define THEN(call)                           \
    ({                                       \
        cu_result entered_ = rt_enter(NULL); \
        entered_ ? entered_ : (call);        \
    })
/* The device of threads that have chosen none; 0 unless cudaSetValidDevices said another. */
void rt_device_prefer(int device);
/* Keeps an error as the thread's last one, and returns it. */
cu_result rt_done(cu_result r);
/* A function of the API that comes to this. */
#define RT_CALL(name, parameters, call) \
    RT_API(name) parameters { return rt_done(call); }

/* rt_thread.c. "cudaErrorInvalidValue"; "unrecognized error code" */
const char *rt_error_name(int error);

/* rt_register.c. What a host function or variable stands for on the device. */
cu_result rt_function_of(const void *host, struct cu_function **out);
/* CUDA_MODULE_LOADING=EAGER: all images that are registered are loaded now. */
void rt_load_all(void);
/* The host function that stands for a kernel; the kernel itself where there is none. */
void *rt_host_of(struct cu_function *f);
/* The kernel's name in its image, loaded or not; NULL: it is not one. */
const char *rt_name_of(const void *host);
cu_result rt_symbol_of(const void *host, u64 *address, u64 *bytes);
#endif
