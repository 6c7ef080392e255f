// Pipelines of asynchronous copies that wait for exactly what they use, and refill a stage only when all have read it.
// regen: -arch=sm_80 -std=c++17 -diag-suppress 20054
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;

__device__ void copy4(void *to, const void *from) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory"); }
__device__ void copy16(void *to, const void *from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory"); }
__device__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ void wait() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// A thread reads only what it copied itself: wait_all, and no barrier.
extern "C" __global__ void own_copy(const int *in, int *out)
{
    __shared__ int s[50];
    int t = threadIdx.x, i = blockIdx.x * 50 + t;
    copy4(&s[t], &in[i]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[i] = s[t];
}

// Others' copies: each waits for its own, then the barrier.
extern "C" __global__ void others_copy(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, base = blockIdx.x * 64;
    copy4(&s[t], &in[base + t]);
    commit();
    wait<0>();
    __syncthreads();
    out[base + 63 - t] = s[63 - t];
}

// Four stages, three in flight, empty groups at the end so that the count stays right; one barrier a step.
extern "C" __global__ void four_stages(const int *in, int *out, int steps)
{
    __shared__ int s[4][32];
    int t = threadIdx.x, sum = 0;
    const int *from = in + blockIdx.x * steps * 32;
    for (int k = 0; k < 3; k++) {
        copy4(&s[k][t], &from[k * 32 + t]);
        commit();
    }
    for (int k = 0; k < steps; k++) {
        wait<2>();
        __syncthreads();
        sum += s[k & 3][31 - t];
        if (k + 3 < steps) copy4(&s[(k + 3) & 3][t], &from[(k + 3) * 32 + t]);
        commit();
    }
    out[blockIdx.x * 32 + t] = sum;
}

// The oldest group is used while two younger ones fly.
extern "C" __global__ void oldest_first(const int *in, int *out)
{
    __shared__ int s[3][32];
    int t = threadIdx.x;
    for (int k = 0; k < 3; k++) {
        copy4(&s[k][t], &in[k * 32 + t]);
        commit();
    }
    wait<2>();
    out[t] = s[0][t];
    wait<1>();
    out[32 + t] = s[1][t];
    wait<0>();
    out[64 + t] = s[2][t];
}

// 16 bytes a copy, by a quarter of the threads, read as single words by all.
extern "C" __global__ void wide_copy(const int *in, int *out)
{
    __shared__ __align__(16) int s[64];
    int t = threadIdx.x, base = blockIdx.x * 64;
    if (t < 16) copy16(&s[4 * t], &in[base + 4 * t]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[base + t] = s[t];
}

// A short copy fills the rest with zeros: all 16 bytes are defined.
extern "C" __global__ void zero_fill(const int *in, int *out, int n)
{
    __shared__ __align__(16) int s[128];
    int t = threadIdx.x, left = max(0, min(4, n - 4 * t)) * 4;
    const int *from = left ? in + 4 * t : in;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(&s[4 * t])), "l"(from), "r"(left) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    for (int k = 0; k < 4; k++) out[4 * t + k] = s[4 * t + k];
}

// cp.async counted by an mbarrier: the wait for the phase is the wait for the copies.
extern "C" __global__ void copy_on_mbarrier(const int *in, int *out)
{
    __shared__ __align__(8) unsigned long long bar;
    __shared__ int s[64];
    int t = threadIdx.x, base = blockIdx.x * 64, done = 0;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (t == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at) : "memory");
    __syncthreads();
    copy4(&s[t], &in[base + t]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(at) : "memory");
    out[base + 63 - t] = s[63 - t];
}

// Cooperative groups' memcpy_async of a whole tile, odd length.
extern "C" __global__ void group_copy(const int *in, int *out)
{
    __shared__ int s[77];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in + blockIdx.x * 77, sizeof s);
    cg::wait(block);
    for (int k = threadIdx.x; k < 77; k += 64) out[blockIdx.x * 77 + k] = s[k];
}

// wait_prior: the second copy may still fly while the first is used.
extern "C" __global__ void group_copy_two(const int *in, int *out)
{
    __shared__ int a[64], b[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, a, in, sizeof a);
    cg::memcpy_async(block, b, in + 64, sizeof b);
    cg::wait_prior<1>(block);
    for (int k = threadIdx.x; k < 64; k += 32) out[k] = a[k];
    cg::wait(block);
    for (int k = threadIdx.x; k < 64; k += 32) out[64 + k] = b[k];
}

// cuda::memcpy_async on a cuda::barrier.
extern "C" __global__ void barrier_copy(const int *in, int *out)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[48];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 48);
    __syncthreads();
    cuda::memcpy_async(&s[t], &in[blockIdx.x * 48 + t], sizeof(int), bar);
    bar.arrive_and_wait();
    out[blockIdx.x * 48 + 47 - t] = s[47 - t];
}

// A pipeline of the thread's own, two stages, its own element only.
extern "C" __global__ void thread_pipeline(const int *in, int *out, int steps)
{
    __shared__ int s[2][32];
    auto pipe = cuda::make_pipeline();
    int t = threadIdx.x, sum = 0;
    const int *from = in + blockIdx.x * steps * 32 + t;
    pipe.producer_acquire();
    cuda::memcpy_async(&s[0][t], from, sizeof(int), pipe);
    pipe.producer_commit();
    for (int k = 0; k < steps; k++) {
        pipe.producer_acquire();
        if (k + 1 < steps) cuda::memcpy_async(&s[(k + 1) & 1][t], from + (k + 1) * 32, sizeof(int), pipe);
        pipe.producer_commit();
        cuda::pipeline_consumer_wait_prior<1>(pipe);
        sum += s[k & 1][t];
        pipe.consumer_release();
    }
    out[blockIdx.x * 32 + t] = sum;
}

// A pipeline of the block with shared state: all produce and all consume, stages wait for all.
extern "C" __global__ void block_pipeline(const int *in, int *out, int steps)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][64];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int t = threadIdx.x, sum = 0;
    const int *from = in + blockIdx.x * steps * 64;
    for (int k = 0, made = 0; k < steps; k++) {
        for (; made < steps && made < k + 2; made++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[made & 1], from + made * 64, sizeof s[0], pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[k & 1][63 - t];
        pipe.consumer_release();
    }
    block.sync();
    out[blockIdx.x * 64 + t] = sum;
}

// Warp 0 produces, warp 1 consumes: a partitioned pipeline.
extern "C" __global__ void split_pipeline(const int *in, int *out, int steps)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int s[2][32];
    auto block = cg::this_thread_block();
    bool makes = threadIdx.x < 32;
    auto pipe = cuda::make_pipeline(block, &state, makes ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int lane = threadIdx.x & 31, sum = 0;
    for (int k = 0; k < steps; k++) {
        if (makes) {
            pipe.producer_acquire();
            cuda::memcpy_async(&s[k & 1][lane], in + k * 32 + lane, sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += s[k & 1][31 - lane];
            pipe.consumer_release();
        }
    }
    block.sync();
    if (!makes) out[lane] = sum;
}
