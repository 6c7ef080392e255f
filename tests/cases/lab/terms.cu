// regen: -arch=sm_80
// Kernels that add the terms of their text in another order: the bias first, onto what is there, scaled before the sum, (x - mean) * r folded.
// Then whole numbers behind a quotient, and indices that are halves: right, and with a mistake of one.

#include <cuda_fp16.h>

//! kernel bias_first
//! dim M 1..20, N 1..40, K 1..400
//! arg x f32[M, K] in normal
//! arg w f32[N, K] in normal
//! arg b f32[N] in normal
//! arg y f32[M, N] out once
//! arg N i32
//! arg K i32
//! launch grid=ceildiv(N, 32),M block=32
//! oracle y = linear(x, w) + b
extern "C" __global__ void bias_first(const float *x, const float *w, const float *b, float *y, int N, int K)
{
    int n = blockIdx.x * 32 + threadIdx.x, m = blockIdx.y;
    if (n >= N) return;
    float s = b[n];
    for (int k = 0; k < K; k++) s += x[m * K + k] * w[n * K + k];
    y[m * N + n] = s;
}

//! kernel onto
//! dim n 1..3000, S 1..40
//! arg x f32[n] in normal
//! arg seg i32[n] in index(S)
//! arg y f32[S] inout normal
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = y + scatter_add(x, seg, S)
extern "C" __global__ void onto(const float *x, const int *seg, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) atomicAdd(y + seg[i], x[i]);
}

//! kernel scaled_first
//! dim M 1..20, N 1..40, K 1..400
//! arg A f32[M, K] in normal
//! arg B f32[K, N] in normal
//! arg C f32[M, N] inout normal
//! arg N i32
//! arg K i32
//! arg alpha f32 = 0.7
//! arg beta f32 = 1.3
//! launch grid=ceildiv(N, 32),M block=32
//! oracle C = alpha * (A @ B) + beta * C
extern "C" __global__ void scaled_first(const float *A, const float *B, float *C, int N, int K, float alpha, float beta)
{
    int n = blockIdx.x * 32 + threadIdx.x, m = blockIdx.y;
    if (n >= N) return;
    float s = beta * C[m * N + n];
    for (int k = 0; k < K; k++) s += alpha * A[m * K + k] * B[k * N + n];
    C[m * N + n] = s;
}

//! kernel folded
//! dim n 1..8, c 1..16, hw 1..100
//! arg x f32[n, c, hw] in normal
//! arg mean f32[c] in normal
//! arg var f32[c] in uniform(0, 2)
//! arg g f32[c] in normal
//! arg b f32[c] in normal
//! arg y f32[n, c, hw] out once
//! arg hw i32
//! launch grid=c,n block=64
//! oracle y = (x - unsqueeze(mean, -1)) / sqrt(unsqueeze(var, -1) + 1e-5) * unsqueeze(g, -1) + unsqueeze(b, -1)
extern "C" __global__ void folded(const float *x, const float *mean, const float *var, const float *g, const float *b, float *y, int hw)
{
    int c = blockIdx.x;
    size_t at = ((size_t)blockIdx.y * gridDim.x + c) * hw;
    float r = rsqrtf(var[c] + 1e-5f) * g[c], shift = b[c] - mean[c] * r;
    for (int i = threadIdx.x; i < hw; i += 64) y[at + i] = x[at + i] * r + shift;
}

//! kernel quantised
//! dim n 1..3000
//! arg x f32[n] in normal(0, 50)
//! arg q i8[n] out once
//! arg n i32
//! arg scale f32 = 0.7
//! arg zero i32 = 3
//! launch grid=ceildiv(n, 256) block=256
//! oracle q = clamp(round(x / scale) + zero, -128, 127)
extern "C" __global__ void quantised(const float *x, signed char *q, int n, float scale, int zero)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) q[i] = max(-128, min(127, __float2int_rn(x[i] / scale) + zero));
}

//! kernel quantised_down
//! dim n 1..3000
//! arg x f32[n] in normal(0, 50)
//! arg q i8[n] out once
//! arg n i32
//! arg scale f32 = 0.7
//! arg zero i32 = 3
//! launch grid=ceildiv(n, 256) block=256
//! oracle q = clamp(round(x / scale) + zero, -128, 127)
extern "C" __global__ void quantised_down(const float *x, signed char *q, int n, float scale, int zero)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) q[i] = max(-128, min(127, __float2int_rd(x[i] / scale) + zero));
}

//! kernel counts
//! dim n 1..3000, bins 1..40
//! arg x f32[n] in uniform
//! arg h u32[bins] inout zeros
//! arg n i32
//! arg bins i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle h = h + sum(where(unsqueeze(floor(x * bins / 1.1), 0) == unsqueeze(iota(bins), 1), 1, 0), 1)
extern "C" __global__ void counts(const float *x, unsigned *h, int n, int bins)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float at = floorf(x[i] * bins / 1.1f);
    if (at >= 0 && at < bins) atomicAdd(h + (int)at, 1);
}

//! kernel counts_but_last
//! dim n 1..3000, bins 1..40
//! arg x f32[n] in uniform
//! arg h u32[bins] inout zeros
//! arg n i32
//! arg bins i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle h = h + sum(where(unsqueeze(floor(x * bins / 1.1), 0) == unsqueeze(iota(bins), 1), 1, 0), 1)
extern "C" __global__ void counts_but_last(const float *x, unsigned *h, int n, int bins)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n - 1) return;
    float at = floorf(x[i] * bins / 1.1f);
    if (at >= 0 && at < bins) atomicAdd(h + (int)at, 1);
}

//! kernel between
//! dim c 1..5, w 2..40
//! arg x f32[w, c] in
//! arg y f32[2 * w - 1, c] out once
//! arg w i32
//! launch grid=2 * w - 1 block=c
//! oracle i = floor(iota(2 * w - 1) / 2); u = mod(iota(2 * w - 1), 2) / 2; y = gather(x, i) * (1 - unsqueeze(u, -1)) + gather(x, minimum(i + 1, w - 1)) * unsqueeze(u, -1)
extern "C" __global__ void between(const float *x, float *y, int w)
{
    int o = blockIdx.x, i = o / 2, c = threadIdx.x, C = blockDim.x, next = min(i + 1, w - 1);
    float u = o * 0.5f - i;
    y[o * C + c] = x[i * C + c] * (1 - u) + x[next * C + c] * u;
}

//! kernel two_outputs
//! dim rows 1..40, cols 1..100
//! arg x f32[rows, cols] in normal
//! arg s f32[rows] out once
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle s = max(abs(x), -1) / 448; y = x / unsqueeze(s, -1)
extern "C" __global__ void two_outputs(const float *x, float *s, float *y, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float m = 0;
    for (int i = threadIdx.x; i < cols; i += 32) m = fmaxf(m, fabsf(p[i]));
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    m /= 240;
    if (threadIdx.x == 0) s[blockIdx.x] = m;
    for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = p[i] / m;
}

//! kernel kept<T>
//! type T f16
//! dim rows 1..40, cols 1..300
//! arg x T[rows, cols] in normal
//! arg r T[rows, cols] in normal
//! arg s T[rows, cols] out once
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle h = x + r; s = h; y = sum(via(h, T), -1)
template <class T> __global__ void kept(const T *x, const T *r, T *s, float *y, int cols)
{
    size_t at = (size_t)blockIdx.x * cols;
    float sum = 0;
    for (int i = threadIdx.x; i < cols; i += 32) sum += (float)(s[at + i] = (T)((float)x[at + i] + (float)r[at + i]));
    for (int o = 16; o; o /= 2) sum += __shfl_xor_sync(~0u, sum, o);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
template __global__ void kept<__half>(const __half *, const __half *, __half *, float *, int);

//! kernel picked
//! dim n 1..100, V 1..50
//! arg x f32[V] in
//! arg at i32[n] in
//! arg y f32[n] out once
//! arg n i32
//! arg V i32
//! launch grid=ceildiv(n, 32) block=32
//! oracle y = gather(x, at)
extern "C" __global__ void picked(const float *x, const int *at, float *y, int n, int V)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = x[min(at[i], V - 1)];
}
