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

/* ---- batches ---- */

RT_CALL(cudaMemcpyBatchAsync_12, (CU_COPIES, u64 *failed, void *s),
        THEN(lkcu_cuMemcpyBatchAsync(to, from, bytes, n, x, index, attributes, failed, s)))
RT_CALL(cudaMemcpy3DBatchAsync_12, (u64 n, struct cu_copy_op *o, u64 *failed, u64 flags, void *s),
        THEN(lkcu_cuMemcpy3DBatchAsync(n, o, failed, flags, s)))
