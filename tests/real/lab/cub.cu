// Block algorithms of CUB, as a kernel of their users has them, each with a contract: lockstep test tests/real/lab/cub.cu
// regen: no
// Blocks have 64 threads; a thread takes ITEMS elements where an algorithm is about several.
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>

constexpr int THREADS = 64, ITEMS = 3, TILE = THREADS * ITEMS;

// Sums of tiles, by each of the algorithms of BlockReduce.
//! kernel reduce<ALGORITHM>
//! config ALGORITHM 0 {0, 1, 2}
//! dim    n 1..100000 = 1000, blocks 1..2000 = ceildiv(n, 64)
//! arg x  f32[n] in normal
//! arg y  f32[blocks] out once
//! arg n  i32
//! launch grid=blocks block=64
//! oracle y = sum(reshape(concat(x, broadcast(0, blocks * 64 - n), 0), blocks, 64), -1)
template <int ALGORITHM> __global__ void reduce(const float *x, float *y, int n)
{
    using Reduce = cub::BlockReduce<float, THREADS, (cub::BlockReduceAlgorithm)ALGORITHM>;
    __shared__ typename Reduce::TempStorage temp;
    int i = blockIdx.x * THREADS + threadIdx.x;
    float sum = Reduce(temp).Sum(i < n ? x[i] : 0.0f);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

// The largest of the valid elements alone.
//! kernel reduce_some
//! dim    n 1..64 = 41
//! arg x  f32[n] in normal
//! arg y  f32[1] out once
//! arg n  i32
//! launch grid=1 block=64
//! oracle y = max(x, 0, keep)
__global__ void reduce_some(const float *x, float *y, int n)
{
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ Reduce::TempStorage temp;
    float mine = threadIdx.x < n ? x[threadIdx.x] : 0.0f;
    float most = Reduce(temp).Reduce(mine, [](float a, float b) { return a > b ? a : b; }, n);
    if (threadIdx.x == 0) y[0] = most;
}

// Running sums of a row of tiles, with what came before carried on by a prefix callback.
struct Carry {
    float sum;
    __device__ float operator()(float all)
    {
        float before = sum;
        sum += all;
        return before;
    }
};

//! kernel scan<WAY>
//! config WAY 2 {0, 1, 2}
//! dim    n 0..10000 = 500
//! arg x  f32[n] in normal
//! arg y  f32[n] out once
//! arg n  i32
//! launch grid=1 block=64
//! oracle y = cumsum(x, -1)
template <int WAY> __global__ void scan(const float *x, float *y, int n)
{
    using Scan = cub::BlockScan<float, THREADS, (cub::BlockScanAlgorithm)WAY>;
    using Load = cub::BlockLoad<float, THREADS, ITEMS, cub::BLOCK_LOAD_TRANSPOSE>;
    using Store = cub::BlockStore<float, THREADS, ITEMS, cub::BLOCK_STORE_TRANSPOSE>;
    __shared__ union {
        typename Scan::TempStorage scan;
        typename Load::TempStorage load;
        typename Store::TempStorage store;
    } temp;
    Carry carry = { 0 };
    for (int first = 0; first < n; first += TILE) {
        float v[ITEMS];
        Load(temp.load).Load(x + first, v, n - first, 0.0f);
        __syncthreads();
        Scan(temp.scan).InclusiveSum(v, v, carry);
        __syncthreads();
        Store(temp.store).Store(y + first, v, n - first);
        __syncthreads();
    }
}

// Exclusive sums of counts, and their total.
//! kernel scan_counts
//! dim    n 1..64 = 50
//! arg x  i32[n] in randint(0, 9)
//! arg y  i32[n] out once
//! arg total i32[1] out once
//! arg n  i32
//! launch grid=1 block=64
//! oracle y = cumsum(x, -1) - x; total = sum(x, 0, keep)
__global__ void scan_counts(const int *x, int *y, int *total, int n)
{
    using Scan = cub::BlockScan<int, THREADS>;
    __shared__ Scan::TempStorage temp;
    int place, all;
    Scan(temp).ExclusiveSum(threadIdx.x < n ? x[threadIdx.x] : 0, place, all);
    if (threadIdx.x < n) y[threadIdx.x] = place;
    if (threadIdx.x == 0) total[0] = all;
}

// Every output of a sort is compared with the element of its rank.
//! kernel radix_sort
//! dim    n 192..192 = 192
//! arg x  f32[n] in normal
//! arg y  f32[n] out once
//! launch grid=1 block=64
//! oracle i = iota(n); a = unsqueeze(x, -1); rank = sum((x < a) | ((x == a) & (i < unsqueeze(i, -1))), -1)
//! oracle y = sum(where(unsqueeze(rank, 0) == unsqueeze(i, -1), x, 0), -1)
__global__ void radix_sort(const float *x, float *y)
{
    using Sort = cub::BlockRadixSort<float, THREADS, ITEMS>;
    __shared__ Sort::TempStorage temp;
    float v[ITEMS];
    for (int k = 0; k < ITEMS; k++) v[k] = x[threadIdx.x * ITEMS + k];
    Sort(temp).Sort(v);
    for (int k = 0; k < ITEMS; k++) y[threadIdx.x * ITEMS + k] = v[k];
}

//! kernel merge_sort
//! dim    n 1..192 = 150
//! arg x  f32[n] in normal
//! arg y  f32[n] out once
//! arg n  i32
//! launch grid=1 block=64
//! oracle i = iota(n); a = unsqueeze(x, -1); rank = sum((x < a) | ((x == a) & (i < unsqueeze(i, -1))), -1)
//! oracle y = sum(where(unsqueeze(rank, 0) == unsqueeze(i, -1), x, 0), -1)
__global__ void merge_sort(const float *x, float *y, int n)
{
    using Sort = cub::BlockMergeSort<float, THREADS, ITEMS>;
    __shared__ Sort::TempStorage temp;
    float v[ITEMS];
    for (int k = 0; k < ITEMS; k++) v[k] = threadIdx.x * ITEMS + k < n ? x[threadIdx.x * ITEMS + k] : INFINITY;
    Sort(temp).Sort(v, [](float a, float b) { return a < b; }, n, INFINITY);
    for (int k = 0; k < ITEMS; k++)
        if (threadIdx.x * ITEMS + k < n) y[threadIdx.x * ITEMS + k] = v[k];
}

//! kernel histogram<MODE>
//! config MODE 0 {0, 1}
//! dim    n 192..192 = 192
//! arg x  u8[n] in index(16)
//! arg y  i32[16] out once
//! launch grid=1 block=64
//! oracle y = sum(iota(16) == unsqueeze(x, -1), 0)
template <int MODE> __global__ void histogram(const unsigned char *x, int *y)
{
    using Histogram = cub::BlockHistogram<unsigned char, THREADS, ITEMS, 16, (cub::BlockHistogramAlgorithm)MODE>;
    __shared__ typename Histogram::TempStorage temp;
    __shared__ int count[16];
    unsigned char v[ITEMS];
    for (int k = 0; k < ITEMS; k++) v[k] = x[threadIdx.x * ITEMS + k];
    Histogram(temp).Histogram(v, count);
    __syncthreads();
    if (threadIdx.x < 16) y[threadIdx.x] = count[threadIdx.x];
}

// Blocked to striped and back, scaled between.
//! kernel exchange
//! dim    n 192..192 = 192
//! arg x  f32[n] in normal
//! arg striped f32[n] out once
//! arg blocked f32[n] out once
//! launch grid=1 block=64
//! oracle striped = x; blocked = x * 2
__global__ void exchange(const float *x, float *striped, float *blocked)
{
    using Exchange = cub::BlockExchange<float, THREADS, ITEMS>;
    __shared__ Exchange::TempStorage temp;
    float v[ITEMS];
    for (int k = 0; k < ITEMS; k++) v[k] = x[threadIdx.x * ITEMS + k];
    Exchange(temp).BlockedToStriped(v, v);
    for (int k = 0; k < ITEMS; k++) {
        striped[k * THREADS + threadIdx.x] = v[k];
        v[k] *= 2;
    }
    __syncthreads();
    Exchange(temp).StripedToBlocked(v, v);
    for (int k = 0; k < ITEMS; k++) blocked[threadIdx.x * ITEMS + k] = v[k];
}

//! kernel difference
//! dim    n 192..192 = 192
//! arg x  f32[n] in normal
//! arg y  f32[n] out once
//! launch grid=1 block=64
//! oracle y = concat(x[0:1], x[1:n] - x[0:n - 1], 0)
__global__ void difference(const float *x, float *y)
{
    using Difference = cub::BlockAdjacentDifference<float, THREADS>;
    __shared__ Difference::TempStorage temp;
    float v[ITEMS], d[ITEMS];
    for (int k = 0; k < ITEMS; k++) v[k] = x[threadIdx.x * ITEMS + k];
    Difference(temp).SubtractLeft(v, d, [](float now, float before) { return now - before; });
    for (int k = 0; k < ITEMS; k++) y[threadIdx.x * ITEMS + k] = d[k];
}

// 1 where a run of equal keys begins.
//! kernel heads
//! dim    n 192..192 = 192
//! arg x  i32[n] in index(3)
//! arg y  i32[n] out once
//! launch grid=1 block=64
//! oracle y = concat(broadcast(1, 1), x[1:n] != x[0:n - 1], 0)
__global__ void heads(const int *x, int *y)
{
    using Discontinuity = cub::BlockDiscontinuity<int, THREADS>;
    __shared__ Discontinuity::TempStorage temp;
    int v[ITEMS], head[ITEMS];
    for (int k = 0; k < ITEMS; k++) v[k] = x[threadIdx.x * ITEMS + k];
    Discontinuity(temp).FlagHeads(head, v, [](int a, int b) { return a != b; });
    for (int k = 0; k < ITEMS; k++) y[threadIdx.x * ITEMS + k] = head[k];
}

// Each thread the value of the thread before it, the first its own.
//! kernel up
//! dim    n 64..64 = 64
//! arg x  f32[n] in normal
//! arg y  f32[n] out once
//! launch grid=1 block=64
//! oracle y = concat(x[0:1], x[0:n - 1], 0)
__global__ void up(const float *x, float *y)
{
    using Shuffle = cub::BlockShuffle<float, THREADS>;
    __shared__ Shuffle::TempStorage temp;
    float v = x[threadIdx.x], before = v;
    Shuffle(temp).Offset(v, before, -1);
    y[threadIdx.x] = before;
}

// What a user of CUB gets wrong most often: the storage is used again without a barrier between.
//! kernel reduce_twice_bad
//! dim    n 64..64 = 64
//! arg x  f32[n] in normal
//! arg y  f32[2] out once
//! launch grid=1 block=64
//! oracle y = concat(sum(x, 0, keep), sum(x * x, 0, keep), 0)
__global__ void reduce_twice_bad(const float *x, float *y)
{
    using Reduce = cub::BlockReduce<float, THREADS>;
    __shared__ Reduce::TempStorage temp;
    float v = x[threadIdx.x], sum = Reduce(temp).Sum(v), squares = Reduce(temp).Sum(v * v);
    if (threadIdx.x == 0) y[0] = sum, y[1] = squares;
}
