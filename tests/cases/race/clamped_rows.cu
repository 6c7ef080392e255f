// A tile whose rows behind the last one are clamped to it, in an inlined function and a loop that is unrolled: several warps write the last row, with equal values.
template <bool CLAMP> static __device__ __forceinline__ void load(int *tile, const int *x, int last)
{
#pragma unroll
    for (int i0 = 0; i0 < 64; i0 += 8) {
        int i = i0 + (int)threadIdx.y;
        if (CLAMP)
            i = min(i, last);
        else if (i > last)
            break;
        tile[i * 32 + threadIdx.x] = x[i * 32 + threadIdx.x] * 3;
    }
}
template <bool CLAMP> static __device__ void both(const int *x, int *y, int last)
{
    __shared__ int tile[16 * 32];
    load<CLAMP>(tile, x, last);
    __syncthreads();
    y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.y * 32 + threadIdx.x];
}
extern "C" __global__ void clamped_bad(const int *x, int *y, int last) { both<true>(x, y, last); }
extern "C" __global__ void clamped_ok(const int *x, int *y, int last) { both<false>(x, y, last); }
