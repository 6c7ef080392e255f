/* cudart_abi.h: the structs of the runtime's headers that callers pass, as far as they are not the driver's
 * (cuda_abi.h).
 */
#ifndef LOCKSTEP_CUDART_ABI_H
#define LOCKSTEP_CUDART_ABI_H
#include "abi/cuda_abi.h"

struct rt_dim3 { /* dim3 */
    u32 x, y, z;
};
enum { TO_DEVICE = 1, TO_HOST = 2, ON_DEVICE = 3, BY_ADDRESS = 4 }; /* cudaMemcpyKind; 0: between host and host */
struct rt_extent {                                                  /* cudaExtent; cudaPos: x, y, z */
    u64 width, height, depth;
};
struct rt_pitched { /* cudaPitchedPtr */
    void *p;
    u64 pitch, width, height;
};
struct rt_copy_3d { /* cudaMemcpy3DParms */
    void *from_array;
    struct rt_extent from_at;
    struct rt_pitched from;
    void *to_array;
    struct rt_extent to_at;
    struct rt_pitched to;
    struct rt_extent extent;
    u32 kind;
};
struct rt_copy_3d_peer { /* cudaMemcpy3DPeerParms */
    void *from_array;
    struct rt_extent from_at;
    struct rt_pitched from;
    int from_device;
    void *to_array;
    struct rt_extent to_at;
    struct rt_pitched to;
    int to_device;
    struct rt_extent extent;
};
struct rt_pointer { /* cudaPointerAttributes */
    int type, device;
    void *on_device, *on_host;
};
struct rt_channel {       /* cudaChannelFormatDesc */
    int x, y, z, w, kind; /* bits of each channel; cudaChannelFormatKind */
};
struct rt_resource { /* cudaResourceDesc, as all releases have it; 13 has room after */
    u32 type, padding;
    union {
        struct cu_array *array;
        struct cu_mipmapped *mipmapped;
        struct {
            void *p;
            struct rt_channel texel;
            u64 bytes;
        } linear;
        struct {
            void *p;
            struct rt_channel texel;
            u64 width, height, pitch;
        } pitched;
    };
};
struct rt_texture {                     /* cudaTextureDesc */
    u32 address[3], filter, read, srgb; /* read: 0: as it is, 1: as floats from 0 to 1 */
    float border[4];
    u32 normalized, anisotropy, mip_filter;
    float bias, least, most;
    u32 no_trilinear;
    u32 seamless; /* not in the first version of release 11 */
};
struct rt_launch_config { /* cudaLaunchConfig_t */
    struct rt_dim3 grid, block;
    u64 shared;
    void *stream;
    const struct cu_launch_attribute *attribute;
    unsigned attributes;
};
struct rt_launch_params { /* cudaLaunchParams */
    void *function;
    struct rt_dim3 grid, block;
    void **args;
    u64 shared;
    void *stream;
};
struct rt_func_attributes { /* cudaFuncAttributes */
    u64 shared, constant, local;
    int threads, registers, ptx, binary, cache_ca, dynamic, carveout, cluster_must, cluster[3], policy, cluster_any,
        reserved[16];
};
struct rt_node_params { /* cudaGraphNodeParams */
    u32 type, reserved[3];
    union {
        long long room[29];
        struct cu_kernel_node kernel; /* with a host function */
        struct {
            int flags, reserved[3];
            struct rt_copy_3d copy;
        } copy;
    };
    long long reserved_too;
};
#endif
