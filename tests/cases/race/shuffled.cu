// R5b: one lane acquires, and a shuffle tells the others. By the manual that orders nothing; on today's GPUs it does, and the order goes on from there through
// releases, acquires and barriers like any other.
#include <cuda/atomic>
typedef cuda::atomic_ref<int, cuda::thread_scope_block> flag_ref;

#define SYNC_NONE 0
#define SYNC_SHUFFLE 1
#define SYNC_WARP 2

__device__ int told(int how, int v)
{
    if (how == SYNC_WARP) { __syncwarp(); return v; }
    return how == SYNC_SHUFFLE ? __shfl_sync(~0u, v, 0) : v;
}

// Warp 0 to warp 1: lane 0 acquires for all.
template <int HOW> __device__ void one_hop(int *out)
{
    __shared__ int data[32], flag;
    int t = threadIdx.x % 32;
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    flag_ref f(flag);
    if (threadIdx.x < 32) {
        data[t] = t;
        __syncwarp();
        if (t == 0) f.store(1, cuda::memory_order_release);
    } else {
        if (t == 0) while (!f.load(cuda::memory_order_acquire)) ;
        out[t] = told(HOW, 1) ? data[31 - t] : 0;
    }
}

// Warp 0 to warp 1 to warp 2: in warp 1 a shuffle stands before the release, and what it told goes on with it.
template <int HOW, bool RELEASE> __device__ void two_hops(int *out)
{
    __shared__ int data[32], more[32], flag, next;
    int t = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) flag = next = 0;
    __syncthreads();
    flag_ref f(flag), g(next);
    if (warp == 0) {
        data[t] = t;
        __syncwarp();
        if (t == 0) f.store(1, cuda::memory_order_release);
    } else if (warp == 1) {
        if (t == 0) while (!f.load(cuda::memory_order_acquire)) ;
        __syncwarp();
        more[t] = data[31 - t];
        if (told(HOW, 1) && t == 0) g.fetch_add(1, RELEASE ? cuda::memory_order_acq_rel : cuda::memory_order_relaxed);
    } else {
        while (!g.load(cuda::memory_order_acquire)) ;
        out[t] = more[31 - t];
    }
}

extern "C" __global__ void hop_told(int *out) { one_hop<SYNC_SHUFFLE>(out); }
extern "C" __global__ void hop_untold(int *out) { one_hop<SYNC_NONE>(out); }
extern "C" __global__ void hop_synced(int *out) { one_hop<SYNC_WARP>(out); }
extern "C" __global__ void chain_told(int *out) { two_hops<SYNC_SHUFFLE, true>(out); }
extern "C" __global__ void chain_untold(int *out) { two_hops<SYNC_NONE, true>(out); }
extern "C" __global__ void chain_relaxed(int *out) { two_hops<SYNC_SHUFFLE, false>(out); }
extern "C" __global__ void chain_synced(int *out) { two_hops<SYNC_WARP, true>(out); }
