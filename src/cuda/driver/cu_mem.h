/* cu_mem.h: what the memory functions of the driver share with each other and with the runtime's: pools, virtual
 * memory, arrays, textures and surfaces. */
#ifndef LOCKSTEP_CU_MEM_H
#define LOCKSTEP_CU_MEM_H
#include "driver/cu.h"
#include "mem/texels.h"

/* What is at an address, freed memory left out; false: nothing of ours. */
bool cu_memory_at(u64 address, lk_memory_info *info);
/* The device of a gpu; NULL: it is none of the process. */
struct cu_device *cu_device_of(const lk_gpu *gpu);

/* ---- cu_copy.c ---- */

enum cu_side { SIDE_ANY, SIDE_DEVICE, SIDE_HOST }; /* whose the caller says an address is; ANY: the address says it */
/* One row, in a stream, and waited for unless async. */
cu_result cu_copy_linear(u64 to, enum cu_side to_side, u64 from, enum cu_side from_side, u64 bytes, void *stream,
                         bool async);

/* ---- cu_managed.c ---- */

/* Remembers the flags that pinned or registered memory was made with, and what was set with cuPointerSetAttribute. */
void cu_note_flags(u64 address, u32 flags);
u32 cu_note_flags_of(const lk_memory_info *info);
void cu_note_sync(const lk_memory_info *info, bool sync);
bool cu_note_sync_of(const lk_memory_info *info, bool unsaid);
/* Indices of the first element that each of several things applies to: 0, and growing below `count`. */
bool cu_indices_ok(const u64 *index, u64 indices, u64 count);
CU_API(cuMemAdvise)(u64 a, u64 n, int advice, int device);
CU_API(cuMemAdvise_v2)(u64 a, u64 n, int advice, struct cu_location l);
CU_API(cuMemPrefetchAsync)(u64 a, u64 n, int device, void *s);
#define CU_RANGES u64 *a, u64 *b, u64 n
#define CU_PLACES const struct cu_location *l, u64 *index, u64 places

/* ---- cu_batch.c, cu_stream.c ---- */

#define CU_COPIES u64 *to, u64 *from, u64 *bytes, u64 n, struct cu_copy_attributes *x, u64 *index, u64 attributes
CU_API(cuMemcpyBatchAsync)(CU_COPIES, u64 *failed, void *s);
CU_API(cuMemcpy3DBatchAsync)(u64 n, struct cu_copy_op *o, u64 *failed, u64 flags, void *s);
/* A write of a value, or a wait for one, in a stream. */
cu_result cu_value_op(void *handle, u64 address, u64 value, unsigned flags, u32 bits, bool write);

/* ---- cu_pool.c ---- */

struct cu_pool {              /* CUmemoryPool */
    struct cu_device *device; /* whose streams allocate from it */
    lk_pool *pool;
    u32 type;                    /* TYPE_PINNED, TYPE_MANAGED */
    struct cu_location location; /* of its memory; the id of the host and of no place is 0 */
    bool standard;               /* the default one of its location */
    int reuse[3];                /* the first three attributes, which nothing here depends on */
    u8 right[CU_DEVICES];        /* of each device to its memory, enum cu_right */
};
CU_API(cuDeviceGetDefaultMemPool)(struct cu_pool **out, int device);
CU_API(cuDeviceGetMemPool)(struct cu_pool **out, int device);
CU_API(cuDeviceSetMemPool)(int device, struct cu_pool *p);
CU_API(cuMemAllocFromPoolAsync)(u64 *out, u64 n, struct cu_pool *p, void *s);
/* The pool that an address of pool memory is of; NULL: none. */
struct cu_pool *cu_pool_at(u64 address);
bool cu_pool_closed(u64 address); /* memory of a pool of the host's that the device was given no right to */

/* ---- cu_array.c ---- */

struct cu_array { /* CUarray, cudaArray_t */
    struct cu_device *device;
    struct cu_array_3d made;    /* as it was asked for */
    struct texels texels;       /* where its texels are */
    struct cu_mipmapped *whole; /* NULL: it is no level of one */
};
struct cu_mipmapped { /* CUmipmappedArray */
    struct cu_device *device;
    struct cu_array_3d made;
    u32 levels;
    struct cu_array *level[32];
};
/* Kind, channels and size of a channel by CUarray_format; CU_NOT_SUPPORTED: it was refused by name. */
cu_result cu_format_read(u32 format, u32 channels, struct texels *out);
CU_API(cuArray3DCreate_v2)(struct cu_array **out, const struct cu_array_3d *x);
CU_API(cuArray3DGetDescriptor_v2)(struct cu_array_3d *out, struct cu_array *a);
CU_API(cuArrayDestroy)(struct cu_array *a);
CU_API(cuMipmappedArrayCreate)(struct cu_mipmapped **out, const struct cu_array_3d *x, unsigned levels);
CU_API(cuMipmappedArrayDestroy)(struct cu_mipmapped *m);
/* One side of a copy of width x height x depth (bytes, rows, slices) in an array, checked against its extent. */
cu_result cu_array_end(struct cu_array *a, const u64 at[3], const u64 extent[3], lk_end *out);

/* ---- cu_texture.c ---- */

CU_API(cuTexObjectCreate)
(u64 *out, const struct cu_resource *r, const struct cu_texture *t, const struct cu_view *v);
CU_API(cuTexObjectDestroy)(u64 texture);
CU_API(cuTexObjectGetResourceDesc)(struct cu_resource *out, u64 texture);
CU_API(cuTexObjectGetTextureDesc)(struct cu_texture *out, u64 texture);
CU_API(cuTexObjectGetResourceViewDesc)(struct cu_view *out, u64 texture);
CU_API(cuSurfObjectCreate)(u64 *out, const struct cu_resource *r);
CU_API(cuSurfObjectDestroy)(u64 surface);
CU_API(cuSurfObjectGetResourceDesc)(struct cu_resource *out, u64 surface);
#endif
