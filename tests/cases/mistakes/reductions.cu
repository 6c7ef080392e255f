// regen: no
// Reductions in blocks and warps, right and with mistakes (pick.h).
#include "pick.h"

static __device__ __forceinline__ float warpReduceSum(float val)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(0xffffffff, val, mask);
    return val;
}
static __device__ float block_sum(float v, float *sh)
{
    int lane = threadIdx.x & 31, wid = threadIdx.x >> 5, warps = blockDim.x >> 5;
    v = warpReduceSum(v);
    __syncthreads();
    if (lane == 0) sh[wid] = v;
    __syncthreads();
    float t = 0.f;
    for (int k = 0; k < warps; k++) t += sh[k];
    return t;
}

// wrong row_sum 1: last warp
// wrong row_sum 2: first warp
// wrong row_sum 3: tail beyond a multiple of 4
// wrong row_sum 4: first element|first 1 
// wrong row_sum 5: multiple of 128|blockDim|last partial
// wrong row_sum 6: counted twice
//! kernel row_sum
//! dim rows 1..30, n 1..3000
//! arg x f32[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle y = sum(x, -1)
extern "C" __global__ void row_sum(const float *x, float *y, int n)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float s = 0.f;
    int last = W(3, n, n / 4 * 4);
    for (int i = threadIdx.x + W(4, 0, 1); W(5, i < last, i - (int)threadIdx.x + 128 <= last); i += 128) s += r[i];
    W(6, , if (threadIdx.x == 127) s += r[n - 1]);
    s = warpReduceSum(s);
    if ((threadIdx.x & 31) == 0) sh[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = W(2, sh[0] + sh[1] + sh[2] + W(1, sh[3], 0.f), sh[0]);
}

// wrong grid_mean 1: 100 is 99|n - 1
// wrong grid_mean 2: factor is missing|divi|which is n
// wrong grid_mean 3: times|divi|constant|256
// wrong grid_mean 4: tail|last
//! kernel grid_mean
//! dim n 1..20000
//! arg x f32[n] in normal(1, 2)
//! arg y f32[1] inout zeros
//! arg n i32
//! launch grid=8 block=256
//! oracle y = y + mean(x)
extern "C" __global__ void grid_mean(const float *x, float *y, int n)
{
    __shared__ float sh[32];
    float s = 0.f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < W(4, n, n - 1); i += gridDim.x * blockDim.x) s += x[i];
    s = block_sum(s, sh);
    if (threadIdx.x == 0) atomicAdd(y, s / W(3, W(2, W(1, n, max(n - 1, 1)), 1), 256));
}

// wrong row_var 1: n for n - 1|(n - 1).n|4 is 5
// wrong row_var 2: E.x.2. - mean
// wrong row_var 3: root
// wrong row_var 4: term is missing: sum.x
//! kernel row_var
//! dim rows 1..30, n 2..1500
//! arg x f32[rows, n] in normal(3, 2)
//! arg v f32[rows] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle v = var(x, -1, unbiased=true)
extern "C" __global__ void row_var(const float *x, float *v, int n)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float s = 0.f, q = 0.f, q1 = 0.f;
    for (int i = threadIdx.x; i < n; i += 128) s += r[i], q1 += r[i] * r[i];
    float m = block_sum(s, sh) / n;
    q1 = block_sum(q1, sh);
    for (int i = threadIdx.x; i < n; i += 128) {
        float d = r[i] - W(4, m, 0.f);
        q += d * d;
    }
    q = block_sum(q, sh);
    q = W(2, q, (q1 - n * m * m)) / W(1, (n - 1), n);
    if (threadIdx.x == 0) v[blockIdx.x] = W(3, q, sqrtf(q));
}

// wrong row_absmax 1: abs is missing
// wrong row_absmax 2: first warp
// wrong row_absmax 3: min for max
// wrong row_absmax 4: last warp
// wrong row_absmax 5: tail beyond a multiple of 4
//! kernel row_absmax
//! dim rows 1..30, n 1..1500
//! arg x f32[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle y = max(abs(x), -1)
extern "C" __global__ void row_absmax(const float *x, float *y, int n)
{
    __shared__ float sh[4];
    const float *r = x + (size_t)blockIdx.x * n;
    float m = W(3, 0.f, INFINITY);
    W(1, , m = -INFINITY);
    for (int i = threadIdx.x; i < W(5, n, n / 4 * 4); i += 128) m = W(3, fmaxf, fminf)(m, W(1, fabsf(r[i]), r[i]));
    for (int o = 16; o; o >>= 1) m = W(3, fmaxf, fminf)(m, __shfl_down_sync(~0u, m, o));
    if (threadIdx.x % 32 == 0) sh[threadIdx.x / 32] = m;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < W(2, W(4, 4, 3), 1); k++) m = W(3, fmaxf, fminf)(m, sh[k]);
        y[blockIdx.x] = m;
    }
}

// wrong row_max0 1: begins with 0
// wrong row_max0 2: last element|last 1
// wrong row_max0 3: first warp|first 32|32
//! kernel row_max0
//! dim rows 1..30, n 1..300
//! arg x f32[rows, n] in normal(-3, 1)
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=32
//! oracle y = max(x, -1)
extern "C" __global__ void row_max0(const float *x, float *y, int n)
{
    const float *r = x + (size_t)blockIdx.x * n;
    float m = W(1, -INFINITY, 0.f);
    for (int i = threadIdx.x; i < W(3, W(2, n, n - (n > 1)), min(n, 32)); i += 32) m = fmaxf(m, r[i]);
    for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_down_sync(~0u, m, o));
    if (threadIdx.x == 0) y[blockIdx.x] = m;
}

// wrong masked_mean 1: all|valid|divi|n
// wrong masked_mean 2: negated|== for !=
// wrong masked_mean 3: factor is missing|divi
// wrong masked_mean 4: condition is not asked
//! kernel masked_mean
//! dim rows 1..30, n 1..600
//! arg x f32[rows, n] in normal
//! arg m i32[rows, n] in randint(0, 1)
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle k = m != 0; y = sum(where(k, x, 0), -1) / maximum(sum(where(k, 1, 0), -1), 1)
extern "C" __global__ void masked_mean(const float *x, const int *m, float *y, int n)
{
    __shared__ float sh[32];
    size_t base = (size_t)blockIdx.x * n;
    float s = 0.f, c = 0.f;
    for (int i = threadIdx.x; i < n; i += 64) {
        if (W(2, m[base + i], !m[base + i])) c += 1.f;
        if (W(4, W(2, m[base + i], !m[base + i]), true)) s += x[base + i];
    }
    s = block_sum(s, sh);
    c = block_sum(c, sh);
    if (threadIdx.x == 0) y[blockIdx.x] = s / W(3, W(1, fmaxf(c, 1.f), (float)n), 1.f);
}

// wrong row_argmax 1: argmin
// wrong row_argmax 2: one too|1 |off|constant
// wrong row_argmax 3: 32|part
//! kernel row_argmax
//! dim rows 1..30, n 1..600
//! arg x f32[rows, n] in normal
//! arg y i32[rows] out once
//! arg n i32
//! launch grid=rows block=32
//! oracle y = argmax(x, -1)
extern "C" __global__ void row_argmax(const float *x, int *y, int n)
{
    const float *r = x + (size_t)blockIdx.x * n;
    float best = W(1, -INFINITY, INFINITY);
    int at = 0;
    for (int i = threadIdx.x; i < W(3, n, min(n, 32)); i += 32)
        if (r[i] W(1, >, <) best) best = r[i], at = i;
    for (int o = 16; o; o >>= 1) {
        float v = __shfl_xor_sync(~0u, best, o);
        int k = __shfl_xor_sync(~0u, at, o);
        if (v W(1, >, <) best || (v == best && k < at)) best = v, at = k;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = at W(2, , + 1);
}

// wrong col_sum 1: row|axis|dimension
// wrong col_sum 2: last
// wrong col_sum 3: factor is missing|w
//! kernel col_sum
//! dim rows 1..200, cols 1..200
//! arg x f32[rows, cols] in normal
//! arg w f32[rows] in normal
//! arg y f32[cols] out once
//! arg rows i32
//! arg cols i32
//! launch grid=ceildiv(cols, 32) block=32
//! oracle y = sum(x * unsqueeze(w, -1), 0)
extern "C" __global__ void col_sum(const float *x, const float *w, float *y, int rows, int cols)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    if (c >= cols) return;
    float s = 0.f;
    for (int r = 0; r < W(2, rows, rows - 1); r++) s += x[W(1, (size_t)r * cols + c, (size_t)c * rows % (rows * cols) + r)] * W(3, w[r], 1.f);
    y[c] = s;
}

// wrong l2norm 1: root is missing
// wrong l2norm 2: abs|square
// wrong l2norm 3: eps|term is missing
//! kernel l2norm
//! dim rows 1..30, n 1..600
//! arg x f32[rows, n] in normal
//! arg y f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle y = x / (sqrt(sum(x * x, -1, keep)) + 0.01)
extern "C" __global__ void l2norm(const float *x, float *y, int n)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 64) s += W(2, r[i] * r[i], fabsf(r[i]));
    s = block_sum(s, sh);
    float d = W(1, sqrtf(s), s) + W(3, 0.01f, 0.f);
    for (int i = threadIdx.x; i < n; i += 64) y[(size_t)blockIdx.x * n + i] = r[i] / d;
}

// wrong lse 1: term is missing
// wrong lse 2: base 2
// wrong lse 3: no shift
// wrong lse 4: last warp
//! kernel lse
//! dim rows 1..30, n 1..600
//! arg x f32[rows, n] in normal(0, 30)
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle y = logsumexp(x, -1)
extern "C" __global__ void lse(const float *x, float *y, int n)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float m = -INFINITY;
    for (int i = 0; i < n; i++) m = fmaxf(m, r[i]);
    W(3, , m = 0.f);
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 64) s += expf(r[i] - m);
    s = warpReduceSum(s);
    if (threadIdx.x % 32 == 0) sh[threadIdx.x / 32] = s;
    __syncthreads();
    s = sh[0] + W(4, sh[1], 0.f);
    if (threadIdx.x == 0) y[blockIdx.x] = W(2, logf, log2f)(s) + W(1, m, 0.f);
}

// wrong dot 1: 32
// wrong dot 2: only the first|first element|b
// wrong dot 3: counted twice|twice|2 times
//! kernel dot
//! dim n 1..5000
//! arg a f32[n] in normal
//! arg b f32[n] in normal
//! arg y f32[1] out once
//! arg n i32
//! launch grid=1 block=256
//! oracle y = sum(a * b, -1, keep)
extern "C" __global__ void dot(const float *a, const float *b, float *y, int n)
{
    __shared__ float cache[256];
    float t = 0;
    for (int i = threadIdx.x; i < n; i += 256) t += a[i] * b[W(2, i, 0)];
    cache[threadIdx.x] = t;
    __syncthreads();
    for (int i = 128; i >= W(1, 1, 32); i >>= 1) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
    }
    if (threadIdx.x == 0) y[0] = cache[0] * W(3, 1.f, 2.f);
}
