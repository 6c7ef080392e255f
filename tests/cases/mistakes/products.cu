// regen: no
// Products of matrices, right and with mistakes (pick.h).
#include "pick.h"
#include <cuda_fp16.h>

// wrong sgemm_tiled 1: tail beyond a multiple of 16
// wrong sgemm_tiled 2: factor is missing.*alpha
// wrong sgemm_tiled 3: term is missing|beta
// wrong sgemm_tiled 4: transposed|stride of the other
// wrong sgemm_tiled 5: bias
// wrong sgemm_tiled 6: first.*(16|element)
//! kernel sgemm_tiled
//! dim M 1..50, N 1..50, K 1..90
//! arg A f32[M, K] in normal
//! arg B f32[K, N] in normal
//! arg bias f32[N] in normal
//! arg C f32[M, N] inout normal
//! arg M i32
//! arg N i32
//! arg K i32
//! arg alpha f32 = 1.5
//! arg beta f32 = 0.75
//! launch grid=ceildiv(N, 16),ceildiv(M, 16) block=16,16
//! oracle C = alpha * (A @ B) + beta * C + bias
extern "C" __global__ void sgemm_tiled(const float *A, const float *B, const float *bias, float *C, int M, int N, int K, float alpha, float beta)
{
    __shared__ float As[16][16], Bs[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, col = blockIdx.x * 16 + tx;
    float acc = 0.f;
    for (int t = 0; t < W(6, W(1, (K + 15) / 16, K / 16), 1); t++) {
        As[ty][tx] = row < M && t * 16 + tx < K ? A[row * K + t * 16 + tx] : 0.f;
        Bs[ty][tx] = t * 16 + ty < K && col < N ? B[W(4, (t * 16 + ty) * N + col, col * K + t * 16 + ty)] : 0.f;
        __syncthreads();
        for (int k = 0; k < 16; k++) acc = fmaf(As[ty][k], Bs[k][tx], acc);
        __syncthreads();
    }
    if (row < M && col < N) C[row * N + col] = W(2, alpha, 1.f) * acc + W(3, beta * C[row * N + col], 0.f) + bias[W(5, col, 0)];
}

// wrong bmm 1: first element|batch|index
// wrong bmm 2: transposed|other
// wrong bmm 3: last element|last 1
// wrong bmm 4: factor is missing|8 times
//! kernel bmm
//! dim b 1..6, m 1..20, n 1..20, k 1..60
//! arg x f32[b, m, k] in normal
//! arg w f32[b, n, k] in normal
//! arg y f32[b, m, n] out once
//! arg m i32
//! arg n i32
//! arg k i32
//! arg scale f32 = 0.125
//! launch grid=ceildiv(n, 32),m,b block=32
//! oracle y = einsum("bmk,bnk->bmn", x, w) * scale
extern "C" __global__ void bmm(const float *x, const float *w, float *y, int m, int n, int k, float scale)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y, z = blockIdx.z;
    if (c >= n) return;
    const float *p = x + ((size_t)z * m + r) * k, *q = w + (size_t)W(1, z, 0) * n * k;
    float s = 0.f;
    for (int i = 0; i < W(3, k, k - 1); i++) s += p[i] * q[W(2, c * k + i, i * n + c)];
    y[((size_t)z * m + r) * n + c] = s * W(4, scale, 1.f);
}

// wrong gemv_warp 1: tail beyond a multiple of 4
// wrong gemv_warp 2: only.*first 16|half
// wrong gemv_warp 3: term is missing
// wrong gemv_warp 4: relu|maximum
//! kernel gemv_warp
//! dim m 1..60, k 1..600
//! arg A f32[m, k] in normal
//! arg x f32[k] in normal
//! arg b f32[m] in normal
//! arg y f32[m] out once
//! arg m i32
//! arg k i32
//! launch grid=ceildiv(m, 4) block=32,4
//! oracle y = relu(A @ x + b)
extern "C" __global__ void gemv_warp(const float *A, const float *x, const float *b, float *y, int m, int k)
{
    int r = blockIdx.x * 4 + threadIdx.y, lane = threadIdx.x;
    if (r >= m) return;
    float s = 0.f;
    for (int i = lane; i < W(1, k, k / 4 * 4); i += 32) s += A[(size_t)r * k + i] * x[i];
    for (int o = W(2, 16, 8); o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if (lane == 0) {
        s += W(3, b[r], 0.f);
        y[r] = W(4, fmaxf(s, 0.f), s);
    }
}

// wrong int8_gemm 1: no sign|unsigned
// wrong int8_gemm 2: exchanged|index|first
// wrong int8_gemm 3: term is missing|zero
// wrong int8_gemm 4: wrap|16 bits
// wrong int8_gemm 5: factor is missing
//! kernel int8_gemm
//! dim M 1..30, N 1..30, K 1..400
//! arg A s8[M, K] in
//! arg B s8[K, N] in
//! arg sa f32[M] in uniform(0.01, 0.1)
//! arg sb f32[N] in uniform(0.01, 0.1)
//! arg C f32[M, N] out once
//! arg M i32
//! arg N i32
//! arg K i32
//! arg zp i32 = 3
//! launch grid=ceildiv(N, 32),M block=32
//! oracle C = ((A - zp) @ B) * unsqueeze(sa, -1) * sb
extern "C" __global__ void int8_gemm(const signed char *A, const signed char *B, const float *sa, const float *sb, float *C, int M, int N, int K, int zp)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y;
    if (c >= N) return;
    W(4, int, short) s = 0;
    for (int i = 0; i < K; i++) s += (W(1, A[r * K + i], (int)(unsigned char)A[r * K + i]) - W(3, zp, 0)) * B[i * N + c];
    C[r * N + c] = (float)s * sa[W(2, r, 0)] * W(5, sb[c], 1.f);
}

// wrong hgemm 1: sums in f16|f16
// wrong hgemm 2: maximum is missing
// wrong hgemm 3: transposed|other
//! kernel hgemm
//! dim M 1..30, N 1..30, K 1..300
//! arg A f16[M, K] in normal
//! arg B f16[N, K] in normal
//! arg C f16[M, N] out once
//! arg M i32
//! arg N i32
//! arg K i32
//! launch grid=ceildiv(N, 16),ceildiv(M, 16) block=16,16
//! oracle C = maximum(A @ T(B), 0)
extern "C" __global__ void hgemm(const half *A, const half *B, half *C, int M, int N, int K)
{
    int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
    if (c >= N || r >= M) return;
    W(1, float, half) s = 0.f;
    for (int i = 0; i < K; i++) {
        half a = A[r * K + i], b = B[W(3, c * K + i, i * N + c)];
        s = W(1, s + __half2float(a) * __half2float(b), __hfma(a, b, s));
    }
    float v = (float)s;
    C[r * N + c] = __float2half(W(2, fmaxf(v, 0.f), v));
}

// wrong splitk 1: tail beyond a multiple of
// wrong splitk 2: last
// wrong splitk 3: term|counted
//! kernel splitk
//! dim M 1..20, N 1..40, K 8..300, S 1..4
//! arg A f32[M, K] in normal
//! arg B f32[K, N] in normal
//! arg C f32[M, N] inout zeros
//! arg N i32
//! arg K i32
//! launch grid=ceildiv(N, 32),M,S block=32
//! oracle C = C + A @ B
extern "C" __global__ void splitk(const float *A, const float *B, float *C, int N, int K)
{
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y, S = gridDim.z;
    int each = W(1, (K + S - 1) / S, K / S), from = blockIdx.z * each, to = min(K, from + each + W(3, 0, 1));
    if (c >= N) return;
    float s = 0.f;
    for (int k = from; k < to; k++) s += A[r * K + k] * B[k * N + c];
    if (W(2, true, blockIdx.z + 1 < S || S == 1)) atomicAdd(&C[r * N + c], s);
}

// wrong lora 1: factor is missing
// wrong lora 2: term is missing
// wrong lora 3: root of r|constant 2 is 5.65
//! kernel lora
//! dim m 1..20, k 1..60, n 1..40, r 2..8
//! arg x f32[m, k] in normal
//! arg w f32[k, n] in normal
//! arg a f32[k, r] in normal
//! arg b f32[r, n] in normal
//! arg y f32[m, n] out once
//! arg k i32
//! arg n i32
//! arg r i32
//! arg alpha f32 = 16
//! launch grid=m block=64
//! oracle y = x @ w + (alpha / r) * ((x @ a) @ b)
extern "C" __global__ void lora(const float *x, const float *w, const float *a, const float *b, float *y, int k, int n, int r, float alpha)
{
    __shared__ float h[8];
    const float *p = x + blockIdx.x * k;
    if (threadIdx.x < r) {
        float s = 0.f;
        for (int i = 0; i < k; i++) s += p[i] * a[i * r + threadIdx.x];
        h[threadIdx.x] = s;
    }
    __syncthreads();
    for (int c = threadIdx.x; c < n; c += 64) {
        float s = 0.f, l = 0.f;
        for (int i = 0; i < k; i++) s += p[i] * w[i * n + c];
        for (int j = 0; j < r; j++) l += h[j] * b[j * n + c];
        y[blockIdx.x * n + c] = s + W(1, W(3, alpha / r, alpha / sqrtf((float)r)), 1.f) * W(2, l, 0.f);
    }
}
