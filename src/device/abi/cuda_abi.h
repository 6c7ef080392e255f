/* cuda_abi.h: the structs of cuda.h that callers pass, as CUDA 13.0 has them, and numbers in them. Once: for the driver
 * interface and its graphs, which are called with them, and for the real driver, which is called with them (gpu).
 * Handles are pointers to what the driver interface makes of them; for the real driver they are opaque. */
#ifndef LOCKSTEP_CUDA_ABI_H
#define LOCKSTEP_CUDA_ABI_H
#include <stdint.h>

typedef uint8_t u8; /* as base.h has them, which is no layer of this one's */
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

struct cu_array;
struct cu_mipmapped;
struct cu_graph;
struct cu_node;

/* ---- places ---- */

struct cu_location { /* CUmemLocation */
    int type, id;    /* enum cu_place; a device's ordinal */
};
enum cu_place { PLACE_NONE, PLACE_DEVICE, PLACE_HOST, PLACE_NUMA, PLACE_NUMA_CURRENT }; /* CUmemLocationType */
struct cu_access {                                                                      /* CUmemAccessDesc */
    struct cu_location location;
    u32 flags; /* enum cu_right */
};
enum cu_right { RIGHT_NONE = 0, RIGHT_READ = 1, RIGHT_WRITE = 3 }; /* CUmemAccess_flags */
enum { TYPE_PINNED = 1, TYPE_MANAGED };                            /* CUmemAllocationType */
struct cu_allocation {                                             /* CUmemAllocationProp */
    u32 type, handles; /* CUmemAllocationType: 1: pinned; CUmemAllocationHandleType */
    struct cu_location location;
    void *security;
    u8 compression, rdma; /* allocFlags */
    u16 usage;
    u8 reserved[4];
};
struct cu_pool_props { /* CUmemPoolProps */
    u32 type, handles; /* CUmemAllocationType, CUmemAllocationHandleType */
    struct cu_location location;
    void *security;
    u64 most; /* bytes; 0: as many as there are */
    u16 usage;
    u8 reserved[54];
};

/* ---- copies and fills ---- */

enum { MEMORY_HOST = 1, MEMORY_DEVICE, MEMORY_ARRAY, MEMORY_UNIFIED }; /* CUmemorytype */
struct cu_copy_2d {                                                    /* CUDA_MEMCPY2D */
    u64 from_x, from_y;
    u32 from_type;
    const void *from_host;
    u64 from_device;
    void *from_array;
    u64 from_pitch;
    u64 to_x, to_y;
    u32 to_type;
    void *to_host;
    u64 to_device;
    void *to_array;
    u64 to_pitch;
    u64 width, height;
};
struct cu_copy_3d { /* CUDA_MEMCPY3D */
    u64 from_x, from_y, from_z, from_lod;
    u32 from_type;
    const void *from_host;
    u64 from_device;
    void *from_array, *reserved0; /* of cuMemcpy3DPeer: the context */
    u64 from_pitch, from_height;
    u64 to_x, to_y, to_z, to_lod;
    u32 to_type;
    void *to_host;
    u64 to_device;
    void *to_array, *reserved1;
    u64 to_pitch, to_height;
    u64 width, height, depth;
};
enum { ORDER_STREAM = 1, ORDER_CALL, ORDER_ANY }; /* CUmemcpySrcAccessOrder */
struct cu_copy_attributes {                       /* CUmemcpyAttributes */
    int order;
    struct cu_location from, to;
    u32 flags;
};
enum { OPERAND_POINTER = 1, OPERAND_ARRAY }; /* CUmemcpy3DOperandType */
struct cu_operand {                          /* CUmemcpy3DOperand */
    u32 type, padding;
    union {
        struct {
            u64 address, row, height; /* row: its length; 0: that of the copy */
            struct cu_location hint;
        } pointer;
        struct {
            struct cu_array *array;
            u64 at[3];
        } array;
    };
};
struct cu_copy_op { /* CUDA_MEMCPY3D_BATCH_OP */
    struct cu_operand from, to;
    u64 extent[3];
    int order;
    u32 flags;
};
enum { WAIT_32 = 1, WRITE_32, FLUSH, WAIT_64, WRITE_64, BARRIER }; /* CUstreamBatchMemOpType */
struct cu_memory_op {                                              /* CUstreamBatchMemOpParams, a union of 48 bytes */
    u32 operation, padding;
    u64 address, value;
    u32 flags, padding2;
    u64 alias, more;
};

/* ---- launches ---- */

struct cu_launch_attribute { /* CUlaunchAttribute, cudaLaunchAttribute */
    u32 id, padding;         /* id: CUlaunchAttributeID */
    union cu_launch_value {
        char bytes[64];
        int number;
        u32 cluster[3];
    } value; /* of the type that belongs to the id */
};
struct cu_launch_config { /* CUlaunchConfig */
    unsigned grid[3], block[3], shared;
    void *stream;
    const struct cu_launch_attribute *attribute;
    unsigned attributes; /* how many */
};
struct cu_launch_params { /* CUDA_LAUNCH_PARAMS */
    void *function;
    unsigned grid[3], block[3], shared;
    void *stream;
    void **params;
};
struct cu_context_params { /* CUctxCreateParams */
    const void *affinity;
    int count; /* of affinities */
    const void *graphics;
};

/* ---- graphs ---- */

struct cu_kernel_node { /* CUDA_KERNEL_NODE_PARAMS, first version; cudaKernelNodeParams, with a host function */
    void *function;
    unsigned grid[3], block[3], shared;
    void **params, **extra; /* arguments, in one of two forms */
};
struct cu_kernel_node_v2 {
    struct cu_kernel_node first;
    void *kernel, *context; /* kernel: a CUkernel, where there is no function */
};
struct cu_fill_node { /* CUDA_MEMSET_NODE_PARAMS */
    u64 address, pitch;
    unsigned value, bytes; /* bytes of an element: 1, 2 or 4 */
    u64 width, height;     /* elements of a row, rows */
};
struct cu_host_node { /* CUDA_HOST_NODE_PARAMS */
    void (*call)(void *self);
    void *self;
};
struct cu_alloc_node { /* CUDA_MEM_ALLOC_NODE_PARAMS */
    struct cu_pool_props pool;
    const void *access;
    u64 accesses, bytes, address;
};
struct cu_batch_node { /* CUDA_BATCH_MEM_OP_NODE_PARAMS */
    void *context;
    unsigned count;
    struct cu_memory_op *op;
    unsigned flags;
};
struct cu_conditional_node { /* CUDA_CONDITIONAL_NODE_PARAMS */
    u64 condition;
    u32 type, size;
    struct cu_graph **graphs; /* out: the node's */
    void *context;
};
struct cu_node_params { /* CUgraphNodeParams */
    u32 type, reserved[3];
    union {
        long long room[29];
        struct cu_kernel_node_v2 kernel;
        struct {
            int flags, reserved;
            void *context;
            struct cu_copy_3d copy;
        } copy;
        struct { /* CUDA_MEMSET_NODE_PARAMS_v2 */
            struct cu_fill_node fill;
            void *fill_context;
        };
        struct cu_host_node host;
        struct cu_graph *graph;
        void *event;
        struct cu_alloc_node alloc;
        u64 address; /* CU_NODE_FREE */
        struct cu_batch_node batch;
        struct cu_conditional_node conditional;
    };
    long long reserved_too;
};
struct cu_instantiation { /* CUDA_GRAPH_INSTANTIATE_PARAMS */
    u64 flags;
    void *upload, *node; /* upload: a stream; node: that was wrong */
    u32 result;          /* CUgraphInstantiateResult */
};
struct cu_update { /* CUgraphExecUpdateResultInfo */
    u32 result;    /* CUgraphExecUpdateResult */
    struct cu_node *node, *from;
};
struct cu_edge_data { /* CUgraphEdgeData */
    u8 from_port, to_port, type, reserved[5];
};

/* ---- arrays, textures ---- */

struct cu_array_2d { /* CUDA_ARRAY_DESCRIPTOR */
    u64 width, height;
    u32 format, channels; /* CUarray_format */
};
struct cu_array_3d { /* CUDA_ARRAY3D_DESCRIPTOR */
    u64 width, height, depth;
    u32 format, channels, flags; /* flags: enum cu_array_flags */
};
enum cu_array_flags { /* CUDA_ARRAY3D_ */
                      ARRAY_LAYERED = 1,
                      ARRAY_SURFACE = 2,
                      ARRAY_CUBE = 4,
                      ARRAY_GATHER = 8,
                      ARRAY_DEPTH = 16,
                      ARRAY_COLOUR = 32,
                      ARRAY_SPARSE = 64,
                      ARRAY_DEFERRED = 128,
                      ARRAY_VIDEO = 256
};
struct cu_requirements { /* CUDA_ARRAY_MEMORY_REQUIREMENTS */
    u64 bytes, align;
    u32 reserved[4];
};
enum cu_resource_type { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCHED };
struct cu_resource { /* CUDA_RESOURCE_DESC */
    u32 type, padding;
    union {
        struct cu_array *array;
        struct cu_mipmapped *mipmapped;
        struct {
            u64 address;
            u32 format, channels;
            u64 bytes;
        } linear;
        struct {
            u64 address;
            u32 format, channels;
            u64 width, height, pitch; /* texels, rows, bytes */
        } pitched;
        u32 reserved[32];
    };
    u32 flags, padding1;
};
struct cu_texture { /* CUDA_TEXTURE_DESC */
    u32 address[3], filter, flags, anisotropy, mip_filter;
    float bias, least, most, border[4];
    u32 reserved[12];
};
enum cu_texture_flags { /* CU_TRSF_ */
                        TEXTURE_INTEGER = 1,
                        TEXTURE_NORMALIZED = 2,
                        TEXTURE_SRGB = 16,
                        TEXTURE_NO_TRILINEAR = 32,
                        TEXTURE_SEAMLESS = 64
};
struct cu_view { /* CUDA_RESOURCE_VIEW_DESC */
    u32 format, padding;
    u64 width, height, depth;
    u32 first_level, last_level, first_layer, last_layer;
    u32 reserved[16];
};
struct map_words { /* CUtensorMap */
    u64 word[16];
};
#endif
