// cuda::pipeline over the block, two stages: a stage is released before it is read, or behind.
#include <cooperative_groups.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;
template <bool EARLY> __device__ inline void run(const int *x, int *y, int tiles)
{
    constexpr int S = 2;
    __shared__ int buf[S][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, S> state;
    auto b = cg::this_thread_block();
    auto p = cuda::make_pipeline(b, &state);
    int sum = 0, fetch = 0;
    for (int t = 0; t < tiles; t++) {
        for (; fetch < tiles && fetch < t + S; fetch++) {
            p.producer_acquire();
            cuda::memcpy_async(b, buf[fetch % S], x + fetch * 128, sizeof(int) * 128, p);
            p.producer_commit();
        }
        p.consumer_wait();
        if (EARLY) p.consumer_release();
        sum += buf[t % S][127 - threadIdx.x];
        if (!EARLY) p.consumer_release();
    }
    y[threadIdx.x] = sum;
}
__global__ void stage_bad(const int *x, int *y, int tiles) { run<true>(x, y, tiles); }
__global__ void stage_ok(const int *x, int *y, int tiles) { run<false>(x, y, tiles); }
