// Two bulk copies that signal one mbarrier, and the bytes that are announced for them.
#include <cstdint>
__device__ inline uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__global__ void both(const float *x, float *y, int announced)
{
    __shared__ alignas(128) float tile[2][1024];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (t == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(announced) : "memory");
        for (int k = 0; k < 2; k++)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(tile[k])), "l"(x + k * 1024), "r"(4096), "r"(at(&bar)) : "memory");
    }
    asm volatile("{\n .reg .pred p;\n L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n @!p bra L;\n}" ::"r"(at(&bar)) : "memory");
    y[t] = tile[0][t] + tile[1][t];
}
