// The k largest of rows with their indices, largest first; of equal ones the first comes first. A block takes a row and
// finds one after the other: the largest of what comes behind the one before, in this order. NaN is passed over.
#include "kernel.cuh"

//! op       topk(x) -> y, index
//! forward  topk(x) -> y, index
//! backward topk_backward(dy, index) -> dx

//! kernel topk<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 3, cols 0..1073741824 = 300, k 0..1073741824 = 5
//! dim    threads 32..1024 step 32 = 32
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
template <typename T> __global__ void topk(const T *x, long long ldx, T *y, int *index, int cols, int k)
{
    __shared__ int first;
    float last = INFINITY; // what was found before, and where
    int place = -1;
    x += blockIdx.x * ldx;
    for (int found = 0; found < k; found++) {
        float most = -INFINITY;
        auto is_behind = [&](int i, float v) { return v < last || (v == last && i > place); };
        each(x, 1, cols, threadIdx.x, blockDim.x, [&](int i, float v) {
            if (is_behind(i, v)) most = fmaxf(most, v);
        });
        if (threadIdx.x == 0) first = cols;
        most = block_max(most);
        each(x, 1, cols, threadIdx.x, blockDim.x, [&](int i, float v) {
            if (v == most && is_behind(i, v)) atomicMin(&first, i);
        });
        __syncthreads();
        last = most;
        place = first;
        __syncthreads(); // before `first` is set again
        if (threadIdx.x == 0) {
            y[blockIdx.x * (long long)k + found] = T(last);
            index[blockIdx.x * (long long)k + found] = place;
        }
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
    write_each(dx + blockIdx.x * (long long)cols, cols, threadIdx.x, blockDim.x, [&](int i) {
        float sum = 0;
        for (int found = 0; found < k; found++)
            if (index[found] == i) sum += float(dy[found * step]);
        return sum;
    });
}
