/* Managed memory and batches of the runtime: the driver's. Some names took a device in releases 11 and 12, and take a
 * place since; shell.S gives each release its own. */
#include "driver/cu_mem.h"
#include "runtime/rt.h"

#define P(x) (u64)(uintptr_t)(x)

RT_API(cudaMemAdvise_11)(const void *p, u64 n, int advice, int device)
{
    return rt_done(THEN(lkcu_cuMemAdvise(P(p), n, advice, device)));
}
RT_API(cudaMemAdvise)(const void *p, u64 n, int advice, struct cu_location l)
{
    return rt_done(THEN(lkcu_cuMemAdvise_v2(P(p), n, advice, l)));
}
RT_API(cudaMemAdvise_v2)(const void *p, u64 n, int advice, struct cu_location l)
{
    return lkrt_cudaMemAdvise(p, n, advice, l);
}
RT_CALL(cudaMemPrefetchAsync_11, (const void *p, u64 n, int device, void *s),
        THEN(lkcu_cuMemPrefetchAsync(P(p), n, device, s)))
RT_CALL(cudaMemPrefetchAsync, (const void *p, u64 n, struct cu_location l, unsigned flags, void *s),
        THEN(lkcu_cuMemPrefetchAsync_v2(P(p), n, l, flags, s)))
RT_CALL(cudaMemPrefetchAsync_v2, (const void *p, u64 n, struct cu_location l, unsigned flags, void *s),
        THEN(lkcu_cuMemPrefetchAsync_v2(P(p), n, l, flags, s)))
RT_CALL(cudaMemPrefetchBatchAsync, (CU_RANGES, CU_PLACES, u64 flags, void *s),
        THEN(lkcu_cuMemPrefetchBatchAsync(a, b, n, l, index, places, flags, s)))
RT_CALL(cudaMemDiscardAndPrefetchBatchAsync, (CU_RANGES, CU_PLACES, u64 flags, void *s),
        THEN(lkcu_cuMemDiscardAndPrefetchBatchAsync(a, b, n, l, index, places, flags, s)))
RT_CALL(cudaMemDiscardBatchAsync, (CU_RANGES, u64 flags, void *s), THEN(lkcu_cuMemDiscardBatchAsync(a, b, n, flags, s)))
RT_API(cudaMemRangeGetAttribute)(void *out, u64 size, int which, const void *p, u64 n)
{
    return rt_done(THEN(lkcu_cuMemRangeGetAttribute(out, size, which, P(p), n)));
}
RT_API(cudaMemRangeGetAttributes)(void **out, u64 *size, int *which, u64 attributes, const void *p, u64 n)
{
    return rt_done(THEN(lkcu_cuMemRangeGetAttributes(out, size, which, attributes, P(p), n)));
}
RT_CALL(cudaStreamAttachMemAsync, (void *s, void *p, u64 n, unsigned flags),
        THEN(lkcu_cuStreamAttachMemAsync(s, P(p), n, flags)))

/* ---- batches ---- */

RT_CALL(cudaMemcpyBatchAsync_12, (CU_COPIES, u64 *failed, void *s),
        THEN(lkcu_cuMemcpyBatchAsync(to, from, bytes, n, x, index, attributes, failed, s)))
RT_CALL(cudaMemcpyBatchAsync, (CU_COPIES, void *s),
        THEN(lkcu_cuMemcpyBatchAsync_v2(to, from, bytes, n, x, index, attributes, s)))
RT_CALL(cudaMemcpy3DBatchAsync_12, (u64 n, struct cu_copy_op *o, u64 *failed, u64 flags, void *s),
        THEN(lkcu_cuMemcpy3DBatchAsync(n, o, failed, flags, s)))
RT_CALL(cudaMemcpy3DBatchAsync, (u64 n, struct cu_copy_op *o, u64 flags, void *s),
        THEN(lkcu_cuMemcpy3DBatchAsync_v2(n, o, flags, s)))
