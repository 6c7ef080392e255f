/* Streams, events and host functions of the runtime: the driver's, with the thread's context made current first. */
#include "runtime/rt.h"

RT_API(cudaStreamCreateWithPriority)(struct cu_stream **s, unsigned flags, int priority)
{
    return rt_done(THEN(lkcu_cuStreamCreateWithPriority(s, flags, priority)));
}
RT_API(cudaStreamCreateWithFlags)(struct cu_stream **s, unsigned flags)
{
    return lkrt_cudaStreamCreateWithPriority(s, flags, 0);
}
RT_API(cudaStreamCreate)(struct cu_stream **s) { return lkrt_cudaStreamCreateWithPriority(s, 0, 0); }
RT_API(cudaStreamDestroy)(void *s) { return rt_done(THEN(lkcu_cuStreamDestroy_v2(s))); }
RT_CALL(cudaStreamSynchronize, (void *s), THEN(lkcu_cuStreamSynchronize(s)))
RT_CALL(cudaStreamQuery, (void *s), THEN(lkcu_cuStreamQuery(s)))
RT_CALL(cudaStreamWaitEvent, (void *s, void *e, unsigned f), THEN(lkcu_cuStreamWaitEvent(s, e, f)))
RT_CALL(cudaStreamGetFlags, (void *s, unsigned *f), THEN(lkcu_cuStreamGetFlags(s, f)))
RT_CALL(cudaStreamGetPriority, (void *s, int *p), THEN(lkcu_cuStreamGetPriority(s, p)))
RT_CALL(cudaStreamGetId, (void *s, u64 *id), THEN(lkcu_cuStreamGetId(s, id)))
RT_CALL(cudaStreamGetDevice, (void *s, int *d), THEN(lkcu_cuStreamGetDevice(s, d)))
RT_CALL(cudaStreamAddCallback, (void *s, void (*f)(void *, cu_result, void *), void *self, unsigned flags),
        THEN(lkcu_cuStreamAddCallback(s, f, self, flags)))
RT_CALL(cudaLaunchHostFunc, (void *s, void (*f)(void *), void *self), THEN(lkcu_cuLaunchHostFunc(s, f, self)))

#define VALUE union cu_launch_value
RT_CALL(cudaStreamGetAttribute, (void *s, u32 id, VALUE *v), THEN(lkcu_cuStreamGetAttribute(s, id, v)))
RT_CALL(cudaStreamSetAttribute, (void *s, u32 id, const VALUE *v), THEN(lkcu_cuStreamSetAttribute(s, id, v)))
RT_CALL(cudaStreamCopyAttributes, (void *to, void *from), THEN(lkcu_cuStreamCopyAttributes(to, from)))

RT_API(cudaEventCreateWithFlags)(struct cu_event **e, unsigned flags)
{
    return rt_done(THEN(lkcu_cuEventCreate(e, flags)));
}
RT_API(cudaEventCreate)(struct cu_event **e) { return lkrt_cudaEventCreateWithFlags(e, 0); }
RT_API(cudaEventDestroy)(void *e) { return rt_done(THEN(lkcu_cuEventDestroy_v2(e))); }
RT_API(cudaEventQuery)(void *e) { return rt_done(THEN(lkcu_cuEventQuery(e))); }
RT_API(cudaEventSynchronize)(void *e) { return rt_done(THEN(lkcu_cuEventSynchronize(e))); }
RT_API(cudaEventElapsedTime)(float *ms, void *from, void *to)
{
    return rt_done(THEN(lkcu_cuEventElapsedTime(ms, from, to)));
}
RT_API(cudaEventElapsedTime_v2)(float *ms, void *from, void *to) { return lkrt_cudaEventElapsedTime(ms, from, to); }
RT_CALL(cudaEventRecord, (void *e, void *s), THEN(lkcu_cuEventRecord(e, s)))
RT_CALL(cudaEventRecordWithFlags, (void *e, void *s, unsigned f), THEN(lkcu_cuEventRecordWithFlags(e, s, f)))

RT_API(cudaDeviceSynchronize)(void) { return rt_done(THEN(lkcu_cuCtxSynchronize())); }
RT_API(cudaThreadSynchronize)(void) { return lkrt_cudaDeviceSynchronize(); }
RT_API(cudaDeviceGetStreamPriorityRange)(int *least, int *greatest)
{
    return rt_done(THEN(lkcu_cuCtxGetStreamPriorityRange(least, greatest)));
}
