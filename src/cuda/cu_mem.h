/* cu_mem.h: what the memory functions of the driver share with each other and with the runtime's: pools, virtual memory,
 * arrays, textures and surfaces, and the structs of cuda.h that they take. */
#ifndef LOCKSTEP_CU_MEM_H
#define LOCKSTEP_CU_MEM_H
#include "cuda/cu.h"

struct cu_location { /* CUmemLocation */
    int type, id;    /* enum cu_place; a device's ordinal */
};
enum cu_place { PLACE_NONE, PLACE_DEVICE, PLACE_HOST, PLACE_NUMA, PLACE_NUMA_CURRENT }; /* CUmemLocationType */
struct cu_access { /* CUmemAccessDesc */
    struct cu_location location;
    u32 flags; /* enum cu_right */
};
enum cu_right { RIGHT_NONE = 0, RIGHT_READ = 1, RIGHT_WRITE = 3 }; /* CUmemAccess_flags */

/* What is at an address, freed memory left out; false: nothing of ours. */
bool cu_memory_at(u64 address, lk_memory_info *info);
/* The device of a gpu; NULL: it is none of the process. */
struct cu_device *cu_device_of(const lk_gpu *gpu);

/* ---- cu_pool.c ---- */

struct cu_pool_props { /* CUmemPoolProps */
    u32 type, handles; /* CUmemAllocationType, CUmemAllocationHandleType */
    struct cu_location location;
    void *security;
    u64 most; /* bytes; 0: as many as there are */
    u16 usage;
    u8 reserved[54];
};
struct cu_pool { /* CUmemoryPool */
    struct cu_device *device;
    lk_pool *pool;
    bool standard;       /* the device's own */
    int reuse[3];        /* the first three attributes, which nothing here depends on */
    u8 right[CU_DEVICES]; /* of each device to its memory, enum cu_right */
};
CU_API(cuDeviceGetDefaultMemPool)(struct cu_pool **out, int device);
CU_API(cuDeviceGetMemPool)(struct cu_pool **out, int device);
CU_API(cuDeviceSetMemPool)(int device, struct cu_pool *p);
CU_API(cuMemGetDefaultMemPool)(struct cu_pool **out, const struct cu_location *l, u32 type);
CU_API(cuMemGetMemPool)(struct cu_pool **out, const struct cu_location *l, u32 type);
CU_API(cuMemSetMemPool)(const struct cu_location *l, u32 type, struct cu_pool *p);
CU_API(cuMemPoolCreate)(struct cu_pool **out, const struct cu_pool_props *x);
CU_API(cuMemPoolDestroy)(struct cu_pool *p);
CU_API(cuMemPoolTrimTo)(struct cu_pool *p, u64 keep);
CU_API(cuMemPoolSetAttribute)(struct cu_pool *p, u32 which, const void *value);
CU_API(cuMemPoolGetAttribute)(struct cu_pool *p, u32 which, void *value);
CU_API(cuMemPoolSetAccess)(struct cu_pool *p, const struct cu_access *a, u64 n);
CU_API(cuMemPoolGetAccess)(u32 *flags, struct cu_pool *p, const struct cu_location *l);
CU_BOTH(cuMemAllocFromPoolAsync, _ptsz, u64 *out, u64 n, struct cu_pool *p, void *s);
/* The pool that an address of pool memory is of; NULL: none. */
struct cu_pool *cu_pool_at(u64 address);
#endif
