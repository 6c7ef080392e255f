// Running sums of rows. A block takes a row, and from it as many pieces of 16 bytes at a time as it has threads; what
// was summed before is carried on. The gradient is the running sum from the other end.
#include "kernel.cuh"

//! op       cumsum(x) -> y
//! forward  cumsum(x) -> y
//! backward cumsum_backward(dy) -> dx
//! oracle   y = cumsum(x, -1)

// The sum of v over the threads before this one in a block of whole warps; *all is that over the block.
__device__ inline float block_scan(float v, float *all)
{
    __shared__ float part[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
    for (int step = 1; step < 32; step *= 2) {
        float before = __shfl_up_sync(~0u, v, step);
        if (lane >= step) v += before;
    }
    __syncthreads(); // the parts of the scan before may still be read
    if (lane == 31) part[warp] = v;
    __syncthreads();
    float before = 0, own = __shfl_up_sync(~0u, v, 1);
    *all = 0;
    for (int i = 0; i < warps; i++) {
        if (i < warp) before += part[i];
        *all += part[i];
    }
    return lane == 0 ? before : before + own;
}

// The running sums y of a row x, or those from its end.
template <bool FROM_END, typename T> __device__ void scan(strided<T> x, T *y, int cols)
{
    constexpr int N = IN_CHUNK<T>;
    float before = 0, all;
    for (int first = 0; first < cols; first += blockDim.x * N, before += all) {
        int i = first + threadIdx.x * N, at = FROM_END ? cols - i - N : i; // its chunk is that at `at`
        bool whole = i + N <= cols;
        chunk<T> c;
        if (whole)
            c = load<N>(x, at);
        else
            for (int k = 0; k < N; k++) c.set(k, at + k >= 0 && at + k < cols ? x[at + k] : T(0.0f));
        float sum[N], last = 0;
        for (int k = 0; k < N; k++) sum[k] = last += float(c.get(FROM_END ? N - 1 - k : k));
        last = before + block_scan(last, &all);
        for (int k = 0; k < N; k++) c.set(k, T(last + sum[FROM_END ? N - 1 - k : k]));
        if (whole)
            store(y, at, c);
        else
            for (int k = 0; k < N; k++)
                if (at + k >= 0 && at + k < cols) y[at + k] = c.get(k);
    }
}

//! kernel cumsum<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg x     T[rows, cols] in view dense|rows|offset|broadcast
//! arg ldx   i64 = x.stride0
//! arg step  i64 = x.stride1
//! arg y     T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle y = cumsum(x, -1)
template <typename T> __global__ void cumsum(const T *x, long long ldx, long long step, T *y, int cols)
{
    scan<false>(strided<T>(x + blockIdx.x * ldx, step), y + blockIdx.x * (long long)cols, cols);
}

//! kernel cumsum_backward<T>
//! type   T f32|f16|bf16
//! dim    rows 0..2147483647 = 40, cols 0..1073741824 = 300
//! dim    threads 32..1024 step 32 = 32
//! arg dy    T[rows, cols] in view dense|rows|offset|broadcast
//! arg lddy  i64 = dy.stride0
//! arg step  i64 = dy.stride1
//! arg dx    T[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=threads
//! oracle dx = flip(cumsum(flip(dy, -1), -1), -1)
template <typename T> __global__ void cumsum_backward(const T *dy, long long lddy, long long step, T *dx, int cols)
{
    scan<true>(strided<T>(dy + blockIdx.x * lddy, step), dx + blockIdx.x * (long long)cols, cols);
}
