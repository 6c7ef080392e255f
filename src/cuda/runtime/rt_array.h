/* rt_array.h: what copies and arrays of the runtime share. */
#ifndef LOCKSTEP_RT_ARRAY_H
#define LOCKSTEP_RT_ARRAY_H
#include "driver/cu_mem.h"
#include "runtime/rt.h"

/* rt_memory.c. Which memory one side of a copy is, by its kind; the copy as the driver has it. */
u32 rt_memory_type(u32 kind, bool to);
cu_result rt_copy_3d(const struct cu_copy_3d *x, bool async, void *s);
cu_result rt_copy_3d_read(const struct rt_copy_3d *x, struct cu_copy_3d *out);
/* rt_array.c. CUarray_format and channels by a description, and back. */
cu_result rt_channel_read(const struct rt_channel *c, u32 *format, u32 *channels);
struct rt_channel rt_channel_of(u32 format, u32 channels);
#endif
