// Bulk copies into two stages: the parity of their mbarriers is flipped when the ring wraps, or not.
#include <cstdint>
__device__ inline uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
template <bool FLIPS> __device__ inline void ring(const float *x, float *y, int tiles)
{
    __shared__ alignas(128) float buf[2][64];
    __shared__ uint64_t full[2];
    int t = threadIdx.x;
    if (t == 0) {
        for (int k = 0; k < 2; k++) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&full[k])));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    auto load = [&](int i) {
        if (t != 0) return;
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&full[i & 1])), "r"(256) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(buf[i & 1])), "l"(x + i * 64), "r"(256), "r"(at(&full[i & 1])) : "memory");
    };
    load(0);
    load(1);
    float s = 0;
    for (int i = 0; i < tiles; i++) {
        asm volatile("{\n .reg .pred p;\n L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n @!p bra L;\n}" ::"r"(at(&full[i & 1])), "r"(FLIPS ? i >> 1 & 1 : 0) : "memory");
        s += buf[i & 1][63 - t];
        __syncthreads();
        if (i + 2 < tiles) load(i + 2);
    }
    y[t] = s;
}
__global__ void parity_bad(const float *x, float *y, int tiles) { ring<false>(x, y, tiles); }
__global__ void parity_ok(const float *x, float *y, int tiles) { ring<true>(x, y, tiles); }
