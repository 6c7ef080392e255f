/* Launches as they were before CUDA 4: shape, shared memory and arguments are set one by one in the function. */
#include "driver/cu_check.h"
#include "driver/cu_launch.h"

enum { PARAMETER_BYTES = 4096 };
struct cu_old { /* what was set for the next launch of a function */
    u32 block[3], shared;
    u64 bytes; /* of parameters */
    u8 params[PARAMETER_BYTES];
};

static struct cu_old *old_of(struct cu_function *f)
{
    if (!f->old) f->old = base_need(sizeof *f->old);
    return f->old;
}

CU_DEFINE(cuFuncSetBlockShape, void *, f, int, x, int, y, int, z)
{
    struct cu_old *o = old_of(here.function);
    o->block[0] = (u32)x, o->block[1] = (u32)y, o->block[2] = (u32)z;
    return CU_OK;
}
CU_DEFINE(cuFuncSetSharedSize, void *, f, unsigned, bytes)
{
    old_of(here.function)->shared = bytes;
    return CU_OK;
}
CU_DEFINE(cuParamSetSize, void *, f, unsigned, bytes)
{
    old_of(here.function)->bytes = bytes;
    return CU_OK;
}
CU_DEFINE(cuParamSetv, void *, f, int, offset, const void *, value, unsigned, bytes)
{
    if (offset < 0 || (u64)offset + bytes > PARAMETER_BYTES) return CU_INVALID_VALUE;
    memcpy(old_of(here.function)->params + offset, value, bytes);
    return CU_OK;
}
CU_API(cuParamSeti)(void *f, int offset, unsigned value) { return lkcu_cuParamSetv(f, offset, &value, sizeof value); }
CU_API(cuParamSetf)(void *f, int offset, float value) { return lkcu_cuParamSetv(f, offset, &value, sizeof value); }

static cu_result go(struct cu_function *f, int width, int height, void *stream)
{
    struct cu_old *o = old_of(f);
    void *extra[] = { (void *)1, o->params, (void *)2, &o->bytes, NULL };
    return cu_launch(f, &(struct cu_launch){ .grid = { (u32)width, (u32)height, 1 },
                                             .block = { o->block[0], o->block[1], o->block[2] },
                                             .shared = o->shared,
                                             .stream = stream,
                                             .extra = extra });
}
CU_DEFINE(cuLaunch, void *, f) { return go(here.function, 1, 1, NULL); }
CU_DEFINE(cuLaunchGrid, void *, f, int, width, int, height) { return go(here.function, width, height, NULL); }
CU_DEFINE(cuLaunchGridAsync, void *, f, int, width, int, height, void *, stream)
{
    return go(here.function, width, height, stream);
}
