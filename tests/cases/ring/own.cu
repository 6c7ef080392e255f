// regen: -arch=sm_90 -I../../../include
// Rings of a kernel's own (lockstep_ring.cuh) in global, shared, distributed shared and mapped memory: every message arrives once, those of one producer in their order.
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
// The rings are in the shared memory of rank 0. One: rank 1 puts, rank 0 takes; many: ranks 1 and 2 put, rank 0 takes; all: ranks 1 and 2 put, ranks 0 and 3 take.
struct three_rings {
    spsc<u32, 2, cluster> one;
    mpsc<u32, 2, cluster> many;
    mpmc<u32, 2, cluster> all;
};
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_rings(u32 *out, u32 n)
{
    __shared__ three_rings own;
    u32 rank;
    u64 there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (rank == 0) {
        own.one.begin();
        own.many.begin();
        own.all.begin();
    }
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm("mapa.u64 %0, %1, 0;" : "=l"(there) : "l"(&own));
    three_rings &r = *(three_rings *)there;
    if (rank == 1) produce(r.one, 0, n);
    if (rank == 0) consume(r.one, out, n, n);
    if (rank == 1 || rank == 2) produce(r.many, rank - 1, n);
    if (rank == 0) consume(r.many, out + n, 2 * n, n);
    if (rank == 1 || rank == 2) produce(r.all, rank - 1, n);
    if (rank == 0 || rank == 3) consume(r.all, out + 3 * n, n, n);
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
// The same in memory that the host has mapped, which begins as zeros: blocks in place of ranks.
struct mapped_three {
    spsc<u32, 2, sys> one;
    mpsc<u32, 2, sys> many;
    mpmc<u32, 2, sys> all;
};
extern "C" __global__ void mapped_rings(u32 *out, u32 n, void *memory)
{
    mapped_three &r = *(mapped_three *)(((u64)memory + LK_RING_LINE - 1) / LK_RING_LINE * LK_RING_LINE);
    u32 b = blockIdx.x;
    if (b == 1) produce(r.one, 0, n);
    if (b == 0) consume(r.one, out, n, n);
    if (b == 1 || b == 2) produce(r.many, b - 1, n);
    if (b == 0) consume(r.many, out + n, 2 * n, n);
    if (b == 1 || b == 2) produce(r.all, b - 1, n);
    if (b == 0 || b == 3) consume(r.all, out + 3 * n, n, n);
    leave(r);
}

// Pipes of four words and two slots, by addresses of shared memory: room is waited for ahead, and each lane waits for its own word. Messages of 0 to 16 bytes.
template <class P> __device__ void stream(P &ring, bool sends, u32 *out, u32 n)
{
    u32 lane = threadIdx.x % 32;
    for (u32 k = 0; k < n; k++) {
        u32 word, bytes;
        if (sends) {
            ring.reserve();
            ring.place(k * 100 + lane, k % 17);
            continue;
        }
        ring.pull(&word, &bytes);
        u32 all = __ballot_sync(0xffffffffu, bytes == k % 17 && word == k * 100 + lane % P::words);
        ring.done();
        if (!lane) out[k] = all == 0xffffffffu ? 1 : 99;
    }
}
extern "C" __global__ void pipe_block(u32 *out, u32 n)
{
    __shared__ __align__(128) u64 memory[3 * LK_RING_LINE / 8];
    for (u32 i = threadIdx.x; i < sizeof memory / 8; i += blockDim.x) memory[i] = 0;
    __syncthreads();
    pipe<cta, false, 4, true> ring(memory, 2, 16, threadIdx.x < 32);
    stream(ring, threadIdx.x < 32, out, n);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1) pipe_cluster(u32 *out, u32 n)
{
    __shared__ __align__(128) u64 memory[3 * LK_RING_LINE / 8];
    u32 rank;
    u64 there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (u32 i = threadIdx.x; i < sizeof memory / 8; i += blockDim.x) memory[i] = 0;
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm("mapa.u64 %0, %1, 1;" : "=l"(there) : "l"(memory)); // near the receiver
    pipe<cluster, false, 4, true> ring((void *)there, 2, 16, rank == 0);
    stream(ring, rank == 0, out, n);
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
