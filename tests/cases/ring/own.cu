// regen: -arch=sm_90 -I../../../include
// Rings of a kernel's own (lockstep_ring.cuh) in global, shared and distributed shared memory: every message arrives once, those of one producer in their order.
#include <lockstep_ring.cuh>
using namespace lk_ring;

// The k-th message of producer p, of n each, is p * n + k: that element of `out` becomes 1, or 99 where a message of this producer came too early.
struct seen {
    u32 next[8];
    __device__ void begin() { for (u32 p = 0; p < 8; p++) next[p] = 0; }
    __device__ void count(u32 *out, u32 v, u32 n) { out[v] = v % n >= next[v / n] ? 1 : 99; next[v / n] = v % n + 1; }
};

template <class R> __device__ void produce(R &ring, u32 p, u32 n)
{
    for (u32 k = 0; k < n; k++) while (!ring.put(p * n + k)) {}
}
template <class R> __device__ void consume(R &ring, u32 *out, u32 messages, u32 n)
{
    seen s;
    s.begin();
    for (u32 k = 0; k < messages; k++) {
        u32 v;
        while (!ring.take(v)) {}
        s.count(out, v, n);
    }
}

// Memory that is zero is a ring that has begun. What is left in the cells depends on the order of execution: the last one to leave clears them.
__device__ spsc<u32, 3, gpu> three;
__device__ spsc<u32, 1, gpu> single;
__device__ mpsc<u32, 2, gpu> inbox;
__device__ mpmc<u32, 2, gpu> market;
__device__ u32 gone;
template <class R> __device__ void leave(R &ring)
{
    __threadfence();
    if (atomicAdd(&gone, 1) != gridDim.x - 1) return;
    __threadfence();
    for (u32 i = 0; i < sizeof ring / 4; i++) ((u32 *)&ring)[i] = 0;
    gone = 0;
}
extern "C" __global__ void spsc_global(u32 *out, u32 n)
{
    if (blockIdx.x) consume(three, out, n, n);
    else produce(three, 0, n);
    leave(three);
}
extern "C" __global__ void spsc_one(u32 *out, u32 n)
{
    if (blockIdx.x) consume(single, out, n, n);
    else produce(single, 0, n);
    leave(single);
}
// The last block takes, the others put.
extern "C" __global__ void mpsc_global(u32 *out, u32 n)
{
    u32 p = gridDim.x - 1;
    if (blockIdx.x == p) consume(inbox, out, p * n, n);
    else produce(inbox, blockIdx.x, n);
    leave(inbox);
}
// Half of the blocks put, the other half takes.
extern "C" __global__ void mpmc_global(u32 *out, u32 n)
{
    u32 half = gridDim.x / 2;
    if (blockIdx.x >= half) consume(market, out, n, n);
    else produce(market, blockIdx.x, n);
    leave(market);
}
// Warps of a block.
extern "C" __global__ void shared_rings(u32 *out, u32 n)
{
    __shared__ spsc<u32, 2, cta> one;
    __shared__ mpsc<u32, 2, cta> many;
    __shared__ mpmc<u32, 2, cta> all;
    if (threadIdx.x == 0) {
        one.begin();
        many.begin();
        all.begin();
    }
    __syncthreads();
    if (threadIdx.x % 32) return;
    u32 w = threadIdx.x / 32;
    if (w == 0) produce(one, 0, n);
    if (w == 1) consume(one, out, n, n);
    if (w == 2 || w == 3) produce(many, w - 2, n);
    if (w == 4) consume(many, out + n, 2 * n, n);
    if (w == 5 || w == 6) produce(all, w - 5, n);
    if (w == 7 || w == 8) consume(all, out + 3 * n, n, n);
}
// The ring is in the shared memory of rank 0; ranks 1 and 2 put, rank 0 takes.
extern "C" __global__ void __cluster_dims__(3, 1, 1) cluster_ring(u32 *out, u32 n)
{
    __shared__ mpsc<u32, 2, cluster> own;
    u32 rank;
    u64 there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0) own.begin();
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm("mapa.u64 %0, %1, 0;" : "=l"(there) : "l"(&own));
    if (rank == 0) consume(own, out, 2 * n, n);
    else produce(*(mpsc<u32, 2, cluster> *)there, rank - 1, n);
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

// Pipes of two slots: block 0 sends n messages of 12 bytes, and behind each a long one of 128; block 1 takes them.
__device__ u64 pipe_memory[(LK_RING_LINE + 2 * pipe<gpu>::slot_bytes(128)) / 8];
extern "C" __global__ void pipe_global(u32 *out, u32 n)
{
    pipe<gpu> ring(pipe_memory, 2, 128, blockIdx.x == 0);
    u32 lane = threadIdx.x % 32;
    for (u32 k = 0; k < n; k++) {
        bool is_long = k % 2;
        if (blockIdx.x == 0) {
            u32 *at = 0;
            if (!is_long) while (!ring.put(k * 100 + lane, 12)) {}
            else while (!(at = (u32 *)ring.begin())) {}
            if (!is_long) continue;
            at[lane] = k * 100 + lane;
            ring.send(128);
        } else {
            u32 word, bytes;
            while (!ring.look(&word, &bytes)) {}
            if (is_long) word = ((const u32 *)ring.payload())[lane];
            bool right = bytes == (is_long ? 128 : 12) && (word == k * 100 + lane || (!is_long && lane > 2));
            u32 all = __ballot_sync(0xffffffffu, right);
            ring.done();
            if (!lane) out[k] = all == 0xffffffffu ? 1 : 99;
        }
    }
    __threadfence();
    if (lane || atomicAdd(&gone, 1) != gridDim.x - 1) return;
    __threadfence();
    for (u32 i = 0; i < sizeof pipe_memory / 8; i++) pipe_memory[i] = 0;
    gone = 0;
}
