// regen: -arch=sm_80 -std=c++17
// A pipeline of the block that ends without a barrier of its own: ~pipeline lets the lanes of a warp agree by match.sync, counts them down with
// one atomic, and the last invalidates the mbarriers that all have used. Correct code of the CUDA library.
#include <cuda/pipeline>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

extern "C" __global__ void pipeline_end(const int *in, int *out, int steps)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][64];
    auto pipe = cuda::make_pipeline(cg::this_thread_block(), &state);
    int t = threadIdx.x, sum = 0;
    const int *from = in + blockIdx.x * steps * 64;
    for (int k = 0, made = 0; k < steps; k++) {
        for (; made < steps && made < k + 2; made++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[made & 1][t], from + made * 64 + t, sizeof(int), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[k & 1][63 - t];
        pipe.consumer_release();
    }
    out[blockIdx.x * 64 + t] = sum;
}
