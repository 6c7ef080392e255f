/* Streams, events and host functions of the runtime: the driver's, with the thread's context made current first. */
#include "runtime/rt_check.h"
#include "runtime/rt.h"

RT_DEFINE(cudaStreamCreateWithPriority, struct cu_stream **, s, unsigned, flags, int, priority)
{
    return lkcu_cuStreamCreateWithPriority(s, flags, priority);
}
RT_API(cudaStreamCreateWithFlags)(struct cu_stream **s, unsigned flags)
{
    return lkrt_cudaStreamCreateWithPriority(s, flags, 0);
}
RT_API(cudaStreamCreate)(struct cu_stream **s) { return lkrt_cudaStreamCreateWithPriority(s, 0, 0); }

RT_DEFINE(cudaEventCreateWithFlags, struct cu_event **, e, unsigned, flags) { return lkcu_cuEventCreate(e, flags); }
RT_API(cudaEventCreate)(struct cu_event **e) { return lkrt_cudaEventCreateWithFlags(e, 0); }
RT_DEFINE(cudaEventElapsedTime, float *, ms, void *, from, void *, to) { return lkcu_cuEventElapsedTime(ms, from, to); }
RT_API(cudaEventElapsedTime_v2)(float *ms, void *from, void *to) { return lkrt_cudaEventElapsedTime(ms, from, to); }

RT_DEFINE(cudaDeviceSynchronize) { return lkcu_cuCtxSynchronize(); }
RT_API(cudaThreadSynchronize)(void) { return lkrt_cudaDeviceSynchronize(); }
