/* Streams, events and host functions of the runtime: the driver's, with the thread's context made current first. */
#include "runtime/rt.h"

/* The driver's function for the legacy or the thread's default stream. */
#define VARIANT(name) (thread ? lkcu_##name##_ptsz : lkcu_##name)

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
RT_PAIR(cudaStreamSynchronize, _ptsz, (void *s), THEN(VARIANT(cuStreamSynchronize)(s)))
RT_PAIR(cudaStreamQuery, _ptsz, (void *s), THEN(VARIANT(cuStreamQuery)(s)))
RT_PAIR(cudaStreamWaitEvent, _ptsz, (void *s, void *e, unsigned f), THEN(VARIANT(cuStreamWaitEvent)(s, e, f)))
RT_PAIR(cudaStreamGetFlags, _ptsz, (void *s, unsigned *f), THEN(VARIANT(cuStreamGetFlags)(s, f)))
RT_PAIR(cudaStreamGetPriority, _ptsz, (void *s, int *p), THEN(VARIANT(cuStreamGetPriority)(s, p)))
RT_PAIR(cudaStreamGetId, _ptsz, (void *s, u64 *id), THEN(VARIANT(cuStreamGetId)(s, id)))
RT_PAIR(cudaStreamGetDevice, _ptsz, (void *s, int *d), THEN(VARIANT(cuStreamGetDevice)(s, d)))
RT_PAIR(cudaStreamAddCallback, _ptsz, (void *s, void (*f)(void *, cu_result, void *), void *self, unsigned flags),
        THEN(VARIANT(cuStreamAddCallback)(s, f, self, flags)))
RT_PAIR(cudaLaunchHostFunc, _ptsz, (void *s, void (*f)(void *), void *self),
        THEN(VARIANT(cuLaunchHostFunc)(s, f, self)))

#define VALUE union cu_launch_value
RT_PAIR(cudaStreamGetAttribute, _ptsz, (void *s, u32 id, VALUE *v), THEN(VARIANT(cuStreamGetAttribute)(s, id, v)))
RT_PAIR(cudaStreamSetAttribute, _ptsz, (void *s, u32 id, const VALUE *v), THEN(VARIANT(cuStreamSetAttribute)(s, id, v)))
RT_PAIR(cudaStreamCopyAttributes, _ptsz, (void *to, void *from), THEN(VARIANT(cuStreamCopyAttributes)(to, from)))

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
RT_PAIR(cudaEventRecord, _ptsz, (void *e, void *s), THEN(VARIANT(cuEventRecord)(e, s)))
RT_PAIR(cudaEventRecordWithFlags, _ptsz, (void *e, void *s, unsigned f), THEN(VARIANT(cuEventRecordWithFlags)(e, s, f)))

RT_API(cudaDeviceSynchronize)(void) { return rt_done(THEN(lkcu_cuCtxSynchronize())); }
RT_API(cudaThreadSynchronize)(void) { return lkrt_cudaDeviceSynchronize(); }
RT_API(cudaDeviceGetStreamPriorityRange)(int *least, int *greatest)
{
    return rt_done(THEN(lkcu_cuCtxGetStreamPriorityRange(least, greatest)));
}
