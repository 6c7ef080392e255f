// regen: no
// The headers that kernels of today include, all at once, by NVRTC.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <curand_kernel.h>
#include <mma.h>
#include <stdint.h>
#include <stdio.h>
namespace cg = cooperative_groups;
__global__ void real(float *out, uint64_t *bits)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    curandStatePhilox4_32_10_t state;
    curand_init(1, threadIdx.x, 0, &state);
    float x = curand_uniform(&state);
    int sum = cg::reduce(warp, (int)threadIdx.x, cg::plus<int>());
    cuda::atomic_ref<uint64_t, cuda::thread_scope_device> all(*bits);
    all.fetch_or(1ull << threadIdx.x);
    __half half = __float2half(sum);
    out[threadIdx.x] = x > 0 && x <= 1 ? __half2float(half) + __bfloat162float(__float2bfloat16(1.0f)) : -1;
}
