/* rt_array.h: what copies and arrays of the runtime share. */
#ifndef LOCKSTEP_RT_ARRAY_H
#define LOCKSTEP_RT_ARRAY_H
#include "driver/cu_mem.h"
#include "runtime/rt.h"

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
struct rt_channel {       /* cudaChannelFormatDesc */
    int x, y, z, w, kind; /* bits of each channel; cudaChannelFormatKind */
};

/* rt_memory.c. Which memory one side of a copy is, by its kind; the copy as the driver has it. */
u32 rt_memory_type(u32 kind, bool to);
cu_result rt_copy_3d(const struct cu_copy_3d *x, bool async, void *s);
cu_result rt_copy_3d_read(const struct rt_copy_3d *x, struct cu_copy_3d *out);
/* rt_array.c. CUarray_format and channels by a description, and back. */
cu_result rt_channel_read(const struct rt_channel *c, u32 *format, u32 *channels);
struct rt_channel rt_channel_of(u32 format, u32 channels);
#endif
