// Whole-grid algorithms in one launch: look-back, chained scans, hand-made and cooperative grid barriers, work queues.
#include <cub/block/block_scan.cuh>
#include <cub/block/block_reduce.cuh>
#include <cuda/atomic>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

using gpu_word = cuda::atomic_ref<unsigned long long, cuda::thread_scope_device>;
using gpu_int = cuda::atomic_ref<int, cuda::thread_scope_device>;

// Look-back with value and status in one 64-bit word: relaxed is enough, for the word is all that is passed.
extern "C" __global__ void packed_look_back(const int *in, int *out, unsigned long long *state, int *next)
{
    using Scan = cub::BlockScan<int, 64>;
    __shared__ typename Scan::TempStorage temp;
    __shared__ int tile, before;
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    int own = tile, v = in[own * 64 + threadIdx.x], mine, all;
    Scan(temp).ExclusiveSum(v, mine, all);
    if (threadIdx.x == 0) {
        int sum = 0;
        gpu_word(state[own]).store((own == 0 ? 2ull : 1ull) << 32 | (unsigned)all, cuda::memory_order_relaxed);
        for (int k = own - 1; k >= 0;) {
            unsigned long long w = gpu_word(state[k]).load(cuda::memory_order_relaxed);
            if (w >> 32 == 0) continue;
            sum += (int)w;
            if (w >> 32 == 2) break;
            k--;
        }
        if (own > 0) gpu_word(state[own]).store(2ull << 32 | (unsigned)(sum + all), cuda::memory_order_relaxed);
        before = sum;
    }
    __syncthreads();
    out[own * 64 + threadIdx.x] = before + mine;
}

// Look-back with status apart from values: value, fence, status on one side; status, fence, value on the other.
extern "C" __global__ void fenced_look_back(const int *in, int *out, int *aggregate, int *prefix, int *status)
{
    using Scan = cub::BlockScan<int, 96, cub::BLOCK_SCAN_WARP_SCANS>;
    __shared__ typename Scan::TempStorage temp;
    __shared__ int before;
    int own = blockIdx.x, mine, all;
    Scan(temp).ExclusiveSum(in[own * 96 + threadIdx.x], mine, all);
    if (threadIdx.x == 0) {
        int sum = 0;
        aggregate[own] = all;
        __threadfence();
        atomicExch(&status[own], 1);
        for (int k = own - 1; k >= 0; k--) {
            int s;
            while ((s = *(volatile int *)&status[k]) == 0) {}
            __threadfence();
            if (s == 2) {
                sum += prefix[k];
                break;
            }
            sum += aggregate[k];
        }
        prefix[own] = sum + all;
        __threadfence();
        atomicExch(&status[own], 2);
        before = sum;
    }
    __syncthreads();
    out[own * 96 + threadIdx.x] = before + mine;
}

// A whole warp looks back at 32 tiles at once, by ballot; release and acquire in PTX.
extern "C" __global__ void warp_look_back(const int *in, int *out, int *total, int *status)
{
    int lane = threadIdx.x, own = blockIdx.x, v = in[own * 32 + lane], scan = v;
    for (int d = 1; d < 32; d *= 2) {
        int up = __shfl_up_sync(~0u, scan, d);
        if (lane >= d) scan += up;
    }
    if (lane == 31) {
        total[own] = scan;
        asm volatile("st.release.gpu.global.s32 [%0], 1;" ::"l"(&status[own]) : "memory");
    }
    int sum = 0;
    for (int base = own; base > 0; base -= 32) {
        int k = base - 1 - lane, s = 1;
        do {
            if (k >= 0) asm volatile("ld.acquire.gpu.global.s32 %0, [%1];" : "=r"(s) : "l"(&status[k]) : "memory");
        } while (!__all_sync(~0u, s != 0));
        int part = k >= 0 ? total[k] : 0;
        sum += __reduce_add_sync(~0u, part);
    }
    out[own * 32 + lane] = sum + scan - v;
}

// A chained scan: each CTA waits for the one before, and hands on its own sum.
extern "C" __global__ void chained_scan(const int *in, int *out, int *carry, int *flag)
{
    __shared__ int s[50];
    __shared__ int before;
    int t = threadIdx.x, own = blockIdx.x;
    s[t] = in[own * 50 + t];
    __syncthreads();
    int mine = 0, all = 0;
    for (int k = 0; k < 50; k++) {
        if (k < t) mine += s[k];
        all += s[k];
    }
    if (t == 0) {
        int from = 0;
        if (own > 0) {
            while (gpu_int(flag[own]).load(cuda::memory_order_acquire) == 0) {}
            from = carry[own];
        }
        before = from;
        carry[own + 1] = from + all;
        gpu_int(flag[own + 1]).store(1, cuda::memory_order_release);
    }
    __syncthreads();
    out[own * 50 + t] = before + mine;
}

// grid.sync between two halves of the work: CTA k reads what CTA k+1 wrote.
extern "C" __global__ void grid_sync(int *a, int *b)
{
    int i = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
    a[i] = i;
    cg::this_grid().sync();
    b[(i + 64) % n] = a[(i + 64) % n];
}

// Jacobi steps over two buffers, a grid barrier each, odd length.
extern "C" __global__ void grid_steps(int *a, int *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    int i = blockIdx.x * 40 + threadIdx.x;
    for (int k = 0; k < steps; k++) {
        int *from = k & 1 ? b : a, *to = k & 1 ? a : b;
        if (i < n) to[i] = (from[(i + 1) % n] + from[(i + n - 1) % n]) / 2;
        grid.sync();
    }
}

// A grid barrier by hand: a counter that only grows, acquired by polling.
extern "C" __global__ void own_grid_barrier(int *a, int *b, int *count)
{
    int i = blockIdx.x * 48 + threadIdx.x, n = gridDim.x * 48;
    a[n - 1 - i] = n - 1 - i;
    __syncthreads();
    if (threadIdx.x == 0) {
        gpu_int(*count).fetch_add(1, cuda::memory_order_release);
        while (gpu_int(*count).load(cuda::memory_order_acquire) < (int)gridDim.x) {}
    }
    __syncthreads();
    b[i] = a[i];
}

// The same with a sense that flips, three rounds, fences and volatile.
extern "C" __global__ void sense_barrier(int *a, unsigned *bar)
{
    int n = gridDim.x * 33, i = blockIdx.x * 33 + threadIdx.x;
    for (unsigned round = 0; round < 3; round++) {
        a[(i + round * 33) % n] += 1;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            if (atomicInc(&bar[0], gridDim.x - 1) == gridDim.x - 1) {
                __threadfence();
                atomicAdd(&bar[1], 1);
            } else
                while (*(volatile unsigned *)&bar[1] <= round) {}
            __threadfence();
        }
        __syncthreads();
    }
}

// Persistent CTAs take tiles from a counter; the tile number goes through shared memory, with both barriers.
extern "C" __global__ void persistent(const int *in, int *out, int *next, int n)
{
    __shared__ int tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(next, 1);
        __syncthreads();
        int i = tile * 64 + threadIdx.x;
        bool any = tile * 64 < n;
        __syncthreads();
        if (!any) break;
        if (i < n) out[i] = in[i];
    }
}

// A queue that workers feed as they empty it: each item under 64 makes two more, ends when as many are done as were made.
extern "C" __global__ void growing_queue(int *queue, int *ends, int *seen)
{
    gpu_int head(ends[0]), tail(ends[1]), done(ends[2]);
    if (blockIdx.x == 0) {
        gpu_int(queue[tail.fetch_add(1, cuda::memory_order_relaxed)]).store(1, cuda::memory_order_relaxed);
    }
    for (;;) {
        int at = head.fetch_add(1, cuda::memory_order_relaxed), item;
        if (at >= 127) break;
        while ((item = gpu_int(queue[at]).load(cuda::memory_order_relaxed)) == 0) {}
        seen[item] = 1;
        if (item < 64)
            for (int k = 0; k < 2; k++) gpu_int(queue[tail.fetch_add(1, cuda::memory_order_relaxed)]).store(2 * item + k, cuda::memory_order_relaxed);
        done.fetch_add(1, cuda::memory_order_relaxed);
    }
}

// CUB's block reduction twice from the same storage, with the barrier that its documentation asks for.
extern "C" __global__ void storage_again(const int *in, int *out)
{
    using Reduce = cub::BlockReduce<int, 100>;
    __shared__ typename Reduce::TempStorage temp;
    int v = in[blockIdx.x * 100 + threadIdx.x];
    int one = Reduce(temp).Sum(v);
    __syncthreads();
    int two = Reduce(temp).Sum(v * 2);
    if (threadIdx.x == 0) out[blockIdx.x] = one + two;
}
