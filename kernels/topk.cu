// The k largest of rows with their indices, largest first; of equal ones the first comes first. A block takes a row and
// finds up to LIST of them at a time: bit by bit the largest number that so many elements reach, then these elements,
// each at the place that the number of those before it gives. Of rows with fewer than k numbers, the rest being NaN,
// less than k are written.
#include "kernel.cuh"

//! op       topk(x) -> y, index
//! forward  topk(x) -> y, index
//! backward topk_backward(dy, index) -> dx

// The number whose place in the order of floats is `key`, from all negative ones to all positive ones.
__device__ inline float number_of(unsigned key) { return __uint_as_float(key >> 31 ? key ^ 1u << 31 : ~key); }

// Numbers of f16 and bf16 have this many zeros at the end of their f32.
template <typename T> constexpr int ZEROS = sizeof(T) == 4 ? 0 : 13;

// The sum over a block of whole warps, the same for every thread.
__device__ inline int block_count(int v)
{
    __shared__ int part[32];
    int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    v = __reduce_add_sync(~0u, v);
    __syncthreads(); // the parts of the count before may still be read
    if (lane == 0) part[threadIdx.x / 32] = v;
    __syncthreads();
    return __reduce_add_sync(~0u, lane < warps ? part[lane] : 0);
}

//! kernel topk<T,LIST>
//! type   T f32|f16|bf16
//! config LIST 1024 {1024, 8}   # how many are found at a time
//! dim    rows 0..2147483647 = 3, cols 0..1073741824 = 300, k 0..1073741824 = 5
//! dim    threads 32..512 step 32 = 32
//! arg x     T[rows, cols] in normal view dense|rows|offset|broadcast(0)
//! arg ldx   i64 = x.stride0
//! arg y     T[rows, k] out once
//! arg index i32[rows, k] out once
//! arg cols  i32
//! arg k     i32
//! require k <= cols
//! launch grid=rows block=threads
//! oracle a = unsqueeze(x, -1); b = unsqueeze(x, -2); i = iota(cols)
//! oracle place = sum((b > a) | ((b == a) & (i < unsqueeze(i, -1))), -1)
//! oracle at = unsqueeze(place, -2) == unsqueeze(iota(k), -1)
//! oracle y = sum(where(at, b, 0), -1); index = sum(where(at, i, 0), -1)
template <typename T, int LIST>
__global__ void __launch_bounds__(512) topk(const T *x, long long ldx, T *y, int *index, int cols, int k)
{
    __shared__ float values[LIST];
    __shared__ int places[LIST], filled;
    x += blockIdx.x * ldx;
    auto path = along(x, cols);
    kept_row<T> row(x, path);
    float last = INFINITY; // of those taken before, and its place
    int last_place = -1;
    for (int taken = 0; taken < k; taken += LIST) {
        int wanted = min(k, taken + LIST), end = cols;
        auto count = [&](auto is_meant) {
            int mine = 0;
            each(
                path, [&](int i, float v) { mine += is_meant(i, v); }, row);
            return block_count(mine);
        };
        // The least of those that are wanted, bit by bit; of several like it, those up to `end` are.
        unsigned key = 0;
        for (unsigned bit = 1u << 31; bit >> ZEROS<T>; bit >>= 1) {
            float tried = number_of(key | bit);
            if (count([&](int, float v) { return v >= tried; }) >= wanted) key |= bit;
        }
        float least = number_of(key >> 31 ? key : key | ((1 << ZEROS<T>)-1));
        auto is_wanted = [&](int i, float v) { return v > least | (v == least & i <= end); };
        if (count(is_wanted) > wanted)
            for (int bit = 1 << 30; bit > 0; bit >>= 1) {
                end -= bit;
                if (end < 0 || count(is_wanted) < wanted) end += bit;
            }
        if (threadIdx.x == 0) filled = 0;
        __syncthreads();
        auto gather = [&](int i, float v) {
            bool is_taken = v > last || (v == last && i <= last_place);
            if (is_taken || !is_wanted(i, v)) return;
            int at = atomicAdd(&filled, 1);
            values[at] = v;
            places[at] = i;
        };
        each(path, gather, row);
        __syncthreads();
        for (int i = threadIdx.x; i < filled; i += blockDim.x) {
            long long at = blockIdx.x * (long long)k + taken;
            for (int j = 0; j < filled; j++)
                at += values[j] > values[i] || (values[j] == values[i] && places[j] < places[i]);
            y[at] = T(values[i]);
            index[at] = places[i];
        }
        last = least;
        last_place = end;
        __syncthreads(); // before the list is filled again
    }
}

//! kernel topk_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 8, cols 1..1073741824 = 300, k 0..1073741824 = 5
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[rows, k] in normal view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i64 = dy.stride1
//! arg index i32[rows, k] in index(cols)
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! arg k     i32
//! launch grid=rows block=threads
//! oracle dx = sum(where(unsqueeze(index, -1) == iota(cols), unsqueeze(dy, -1), 0), -2)
template <typename T>
__global__ void topk_backward(const T *dy, long long lddy, long long step, const int *index, T *dx, int cols, int k)
{
    dy += blockIdx.x * lddy;
    index += blockIdx.x * (long long)k;
    dx += blockIdx.x * (long long)cols;
    auto gradient = [&](int i) {
        float sum = 0;
        for (int found = 0; found < k; found++)
            if (index[found] == i) sum += float(dy[found * step]);
        return sum;
    };
    write_each(along(dx, cols), dx, gradient);
}
