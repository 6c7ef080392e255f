// Order as people forget it: in tiles, in place, around loops, behind copies. GOOD is what is missing; each kernel stands here twice.

#include <cuda_pipeline.h>

#define TILE 16
#define GX (blockIdx.x * blockDim.x + threadIdx.x)
#define GY (blockIdx.y * blockDim.y + threadIdx.y)

template <bool GOOD> __global__ void tile_next(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    float acc = 0;
    for (int k = 0; k < n; k += TILE) {
        as[ty][tx] = a[GY * n + k + tx];
        bs[ty][tx] = b[(k + ty) * n + GX];
        __syncthreads();
        for (int j = 0; j < TILE; j++) acc += as[ty][j] * bs[j][tx];
        if (GOOD) __syncthreads();
    }
    c[GY * n + GX] = acc;
}

template <bool GOOD> __global__ void reduce(const float *in, float *out)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int o = 128; o; o >>= 1) {
        if (t < o) s[t] += s[t + o];
        if (GOOD) __syncthreads();
    }
    if (!t) *out = s[0];
}

template <bool GOOD> __global__ void shift(const float *in, float *out)
{
    __shared__ float s[257];
    int t = threadIdx.x;
    s[t] = in[t];
    if (!t) s[256] = 0;
    __syncthreads();
    if (GOOD) { float next = s[t + 1]; __syncthreads(); s[t] = next; }
    else s[t] = s[t + 1];
    __syncthreads();
    out[t] = s[255 - t];
}

template <bool GOOD> __global__ void warp_sum(const float *in, float *out)
{
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float v = s[t] + s[t + 32];
        s[t] = v; if (GOOD) __syncwarp(); v += s[t + 16]; if (GOOD) __syncwarp();
        s[t] = v; if (GOOD) __syncwarp(); v += s[t + 8]; if (GOOD) __syncwarp();
        s[t] = v; if (GOOD) __syncwarp(); v += s[t + 4];
        out[t] = v;
    }
}

template <bool GOOD> __global__ void total(const float *in, float *sum)
{
    if (GOOD) atomicAdd(sum, in[GX]); else *sum += in[GX];
}

template <bool GOOD> __global__ void in_place(float *x, float *y, int n)
{
    int i = GX;
    if (i > 0 && i < n - 1) (GOOD ? y : x)[i] = (x[i - 1] + x[i + 1]) / 2;
}

template <bool GOOD> __global__ void transpose(const float *in, float *out, int w, int h)
{
    int x = GX, y = GY;
    if (x < w && y < h) out[x * (GOOD ? h : w) + y] = in[y * w + x];
}

template <bool GOOD> __global__ void copy(const float *in, float *out)
{
    __shared__ float4 s[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&s[t], (const float4 *)in + t, 16);
    __pipeline_commit();
    if (GOOD) __pipeline_wait_prior(0);
    __syncthreads();
    ((float4 *)out)[t] = s[63 - t];
}

template <bool GOOD> __global__ void stride(float *x, int n)
{
    for (int i = GX; i < n; i += GOOD ? gridDim.x * blockDim.x : blockDim.x) x[i] = 2 * x[i] + i;
}

extern __shared__ float mem[];
template <bool GOOD> __global__ void parts(const float *in, float *out)
{
    float *a = mem, *b = mem + (GOOD ? 128 : 64);
    int t = threadIdx.x;
    a[t] = in[t];
    b[t] = 2 * in[t];
    __syncthreads();
    out[t] = a[127 - t] + b[127 - t];
}

template __global__ void tile_next<false>(const float *, const float *, float *, int);
template __global__ void tile_next<true>(const float *, const float *, float *, int);
template __global__ void reduce<false>(const float *, float *);
template __global__ void reduce<true>(const float *, float *);
template __global__ void shift<false>(const float *, float *);
template __global__ void shift<true>(const float *, float *);
template __global__ void warp_sum<false>(const float *, float *);
template __global__ void warp_sum<true>(const float *, float *);
template __global__ void total<false>(const float *, float *);
template __global__ void total<true>(const float *, float *);
template __global__ void in_place<false>(float *, float *, int);
template __global__ void in_place<true>(float *, float *, int);
template __global__ void transpose<false>(const float *, float *, int, int);
template __global__ void transpose<true>(const float *, float *, int, int);
template __global__ void copy<false>(const float *, float *);
template __global__ void copy<true>(const float *, float *);
template __global__ void stride<false>(float *, int);
template __global__ void stride<true>(float *, int);
template __global__ void parts<false>(const float *, float *);
template __global__ void parts<true>(const float *, float *);
