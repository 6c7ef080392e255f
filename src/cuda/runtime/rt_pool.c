/* Pools of the runtime: the driver's. Structs and numbers are the same. */
#include "driver/cu_mem.h"
#include "runtime/rt.h"

static cu_result alloc(void **out, u64 n, struct cu_pool *p, void *s)
{
    u64 address = 0;
    if (!cu_ok(out)) return CU_INVALID_VALUE;
    cu_result r = THEN(lkcu_cuMemAllocFromPoolAsync(&address, n, p, s));
    if (!r) *out = (void *)(uintptr_t)address;
    return r;
}
RT_CALL(cudaMallocFromPoolAsync, (void **out, u64 n, struct cu_pool *p, void *s), alloc(out, n, p, s))
