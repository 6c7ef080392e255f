// regen: -arch=sm_100a
/* A persistent kernel by clusterlaunchcontrol: a CTA that is done takes the work of one that has not started. Every block of the grid is done once, by whomever. */
#include <stdint.h>
__device__ static uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ static void wait(const uint64_t *bar, int parity)
{
    uint32_t done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
extern "C" __global__ void persistent(uint32_t *done, uint32_t *most)
{
    __shared__ __align__(16) uint64_t answer[2];
    __shared__ __align__(8) uint64_t bar;
    uint32_t x = blockIdx.x, y = blockIdx.y, again, one, rounds = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)));
    __syncthreads();
    for (int phase = 0;; phase ^= 1) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 16;" ::"r"(at(&bar)) : "memory");
            asm volatile("clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%0], [%1];" ::"r"(at(answer)), "r"(at(&bar)) : "memory");
            atomicAdd(&done[y * gridDim.x + x], 1);
            rounds++;
        }
        wait(&bar, phase);
        asm volatile("{.reg .b128 a; .reg .pred p; ld.shared.b128 a, [%4]; clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, a; selp.u32 %0, 1, 0, p;\n"
                     "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, _, _}, a;\n"
                     "clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 %3, a;}" : "=r"(again), "+r"(x), "+r"(y), "=r"(one) : "r"(at(answer)) : "memory");
        if (again && one != x) atomicAdd(&done[0], 100);
        __syncthreads();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        if (!again) break;
    }
    if (threadIdx.x == 0) atomicMax(most, rounds);
}
