// regen: no
// Softmax and normalisations, forward and backward, right and with mistakes (pick.h).
#include "pick.h"
#include <cuda_bf16.h>

static __device__ float block_reduce(float v, float *sh, bool most)
{
    for (int o = 16; o; o >>= 1) {
        float u = __shfl_xor_sync(~0u, v, o);
        v = most ? fmaxf(v, u) : v + u;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) sh[threadIdx.x / 32] = v;
    __syncthreads();
    v = sh[0];
    for (int i = 1; i < (int)blockDim.x / 32; i++) v = most ? fmaxf(v, sh[i]) : v + sh[i];
    return v;
}

// wrong softmax_rows 1: no shift
// wrong softmax_rows 2: first warp|only the first 32
// wrong softmax_rows 3: scale|factor is missing
// wrong softmax_rows 4: divi|normal|sum
// wrong softmax_rows 5: base 2
// wrong softmax_rows 6: tail beyond a multiple of 4
//! kernel softmax_rows
//! dim rows 1..30, n 1..900
//! arg x f32[rows, n] in normal(0, 20)
//! arg y f32[rows, n] out once
//! arg n i32
//! arg scale f32 = 0.3
//! launch grid=rows block=128
//! oracle y = softmax(x * scale, -1)
extern "C" __global__ void softmax_rows(const float *x, float *y, int n, float scale)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float m = -INFINITY, s = 0.f;
    W(3, , scale = 1.f);
    for (int i = threadIdx.x; i < n; i += 128) m = fmaxf(m, r[i] * scale);
    m = block_reduce(m, sh, true);
    W(1, , m = 0.f);
    for (int i = threadIdx.x; i < W(6, n, (n < 4 ? n : n / 4 * 4)); i += 128) s += W(5, expf, exp2f)(r[i] * scale - m);
    s = block_reduce(s, sh, false);
    W(2, , s = sh[0]);
    W(4, , s = 1.f);
    for (int i = threadIdx.x; i < n; i += 128) y[(size_t)blockIdx.x * n + i] = W(5, expf, exp2f)(r[i] * scale - m) / s;
}

// wrong layer_norm 1: outside the root
// wrong layer_norm 2: E.x.2. - mean
// wrong layer_norm 3: n - 1|n/|constant|divi
// wrong layer_norm 4: term is missing: beta
// wrong layer_norm 5: mean.* not subtracted|term is missing
// wrong layer_norm 6: first element|gamma
// wrong layer_norm 7: last warp
// wrong layer_norm 8: root
//! kernel layer_norm
//! dim rows 1..30, n 2..900
//! arg x f32[rows, n] in normal(1, 2)
//! arg gamma f32[n] in normal(1, 0.5)
//! arg beta f32[n] in normal
//! arg y f32[rows, n] out once
//! arg mean f32[rows] out once
//! arg rstd f32[rows] out once
//! arg n i32
//! arg eps f32 = 0.001
//! launch grid=rows block=128
//! oracle mu = mean(x, -1, keep); r = rsqrt(mean((x - mu) * (x - mu), -1, keep) + eps)
//! oracle y = (x - mu) * r * gamma + beta; mean = squeeze(mu, -1); rstd = squeeze(r, -1)
extern "C" __global__ void layer_norm(const float *x, const float *gamma, const float *beta, float *y, float *mean, float *rstd, int n, float eps)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < n; i += 128) s += r[i];
    float mu = block_reduce(s, sh, false);
    W(7, , mu = sh[0] + sh[1] + sh[2]);
    mu /= n;
    for (int i = threadIdx.x; i < n; i += 128) q += W(2, (r[i] - mu) * (r[i] - mu), r[i] * r[i]);
    float var = block_reduce(q, sh, false) / W(3, n, (n - 1)) - W(2, 0.f, mu * mu);
    float rs = W(8, W(1, rsqrtf(var + eps), 1.f / (sqrtf(var) + eps)), 1.f / (var + eps));
    for (int i = threadIdx.x; i < n; i += 128)
        y[(size_t)blockIdx.x * n + i] = (r[i] - W(5, mu, 0.f)) * rs * gamma[W(6, i, 0)] + W(4, beta[i], 0.f);
    if (threadIdx.x == 0) mean[blockIdx.x] = mu, rstd[blockIdx.x] = rs;
}

// wrong rms_norm 1: divi|n
// wrong rms_norm 2: term is missing|constant
// wrong rms_norm 3: term is missing|1
// wrong rms_norm 4: mean is subtracted
// wrong rms_norm 5: rounded to|bf16
//! kernel rms_norm
//! dim rows 1..30, n 1..900
//! arg x bf16[rows, n] in normal(0, 0.2)
//! arg w f32[n] in normal
//! arg y f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle y = x * rsqrt(mean(x * x, -1, keep) + 0.01) * (1 + w)
extern "C" __global__ void rms_norm(const __nv_bfloat16 *x, const float *w, float *y, int n)
{
    __shared__ float sh[32];
    const __nv_bfloat16 *r = x + (size_t)blockIdx.x * n;
    float q = 0.f, s = 0.f;
    for (int i = threadIdx.x; i < n; i += 64) s += __bfloat162float(r[i]);
    s = block_reduce(s, sh, false) / n;
    for (int i = threadIdx.x; i < n; i += 64) {
        float v = __bfloat162float(r[i]) - W(4, 0.f, s);
        q += v * v;
    }
    q = block_reduce(q, sh, false);
    float rs = rsqrtf(q / W(1, n, 1) + W(2, 0.01f, 0.f));
    for (int i = threadIdx.x; i < n; i += 64) {
        float h = __bfloat162float(r[i]) * rs;
        h = W(5, h, __bfloat162float(__float2bfloat16(h)));
        y[(size_t)blockIdx.x * n + i] = h * (W(3, 1.f, 0.f) + w[i]);
    }
}

// wrong ln_bwd_x 1: term is missing
// wrong ln_bwd_x 2: term is missing
// wrong ln_bwd_x 3: factor is missing.*(gamma|g)
// wrong ln_bwd_x 4: factor is missing|rs
//! kernel ln_bwd_x
//! dim rows 1..30, n 2..600
//! arg dy f32[rows, n] in normal
//! arg x f32[rows, n] in normal
//! arg gamma f32[n] in normal(1, 0.5)
//! arg mu f32[rows] in normal(0, 0.1)
//! arg rs f32[rows] in uniform(0.8, 1.2)
//! arg dx f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle h = (x - unsqueeze(mu, -1)) * unsqueeze(rs, -1); w = dy * gamma
//! oracle dx = (w - mean(w, -1, keep) - h * mean(w * h, -1, keep)) * unsqueeze(rs, -1)
extern "C" __global__ void ln_bwd_x(const float *dy, const float *x, const float *gamma, const float *mu, const float *rs, float *dx, int n)
{
    __shared__ float sh[32];
    size_t base = (size_t)blockIdx.x * n;
    float m = mu[blockIdx.x], r = rs[blockIdx.x], a = 0.f, b = 0.f;
    for (int i = threadIdx.x; i < n; i += 64) {
        float w = dy[base + i] * W(3, gamma[i], 1.f), h = (x[base + i] - m) * r;
        a += w;
        b += w * h;
    }
    a = block_reduce(a, sh, false) / n;
    b = block_reduce(b, sh, false) / n;
    for (int i = threadIdx.x; i < n; i += 64) {
        float w = dy[base + i] * W(3, gamma[i], 1.f), h = (x[base + i] - m) * r;
        dx[base + i] = (w - W(1, a, 0.f) - W(2, h * b, 0.f)) * W(4, r, 1.f);
    }
}

// wrong ln_bwd_affine 1: factor is missing.*rs
// wrong ln_bwd_affine 2: term is missing.*mu
// wrong ln_bwd_affine 3: last
// wrong ln_bwd_affine 4: factor is missing
//! kernel ln_bwd_affine
//! dim rows 1..60, n 1..200
//! arg dy f32[rows, n] in normal
//! arg x f32[rows, n] in normal
//! arg mu f32[rows] in normal(0, 0.5)
//! arg rs f32[rows] in uniform(0.5, 1.2)
//! arg h f32[rows, n] out once
//! arg dg f32[n] out once
//! arg db f32[n] out once
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(n, 32) block=32
//! oracle h = (x - unsqueeze(mu, -1)) * unsqueeze(rs, -1); dg = sum(dy * h, 0); db = sum(dy, 0)
extern "C" __global__ void ln_bwd_affine(const float *dy, const float *x, const float *mu, const float *rs, float *h, float *dg, float *db, int rows, int n)
{
    int c = blockIdx.x * 32 + threadIdx.x;
    if (c >= n) return;
    float g = 0.f, b = 0.f;
    for (int r = 0; r < rows; r++) {
        float d = dy[r * n + c];
        h[r * n + c] = (x[r * n + c] - mu[r]) * rs[r];
        g += W(4, d, 1.f) * (x[r * n + c] - W(2, mu[r], 0.f)) * W(1, rs[r], 1.f);
        if (r < W(3, rows, rows - 1)) b += d;
    }
    dg[c] = g;
    db[c] = b;
}

// wrong bn_infer 1: index|%|/
// wrong bn_infer 2: root
// wrong bn_infer 3: sign|term is missing
// wrong bn_infer 4: var and mean|mean and var|exchanged
// wrong bn_infer 5: first element|index
//! kernel bn_infer
//! dim N 1..6, C 1..12, HW 1..80
//! arg x f32[N, C, HW] in normal
//! arg mean f32[C] in normal
//! arg var f32[C] in uniform(0.5, 2)
//! arg g f32[C] in normal(1, 0.5)
//! arg b f32[C] in normal
//! arg y f32[N, C, HW] out once
//! arg C i32
//! arg HW i32
//! arg total i32 = N * C * HW
//! launch grid=ceildiv(N * C * HW, 128) block=128
//! oracle y = (x - unsqueeze(mean, -1)) * rsqrt(unsqueeze(var, -1) + 1e-5) * unsqueeze(g, -1) + unsqueeze(b, -1)
extern "C" __global__ void bn_infer(const float *x, const float *mean, const float *var, const float *g, const float *b, float *y, int C, int HW, int total)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= total) return;
    int c = W(1, i / HW % C, i % C);
    float m = W(4, mean[c], var[c]), v = W(4, var[c], mean[c]);
    W(5, , m = mean[0]);
    y[i] = (x[i] - W(3, m, 0.f)) * W(2, rsqrtf(v + 1e-5f), 1.f / (v + 1e-5f)) * g[c] + b[c];
}

// wrong softmax_bwd 1: term is missing
// wrong softmax_bwd 2: factor is missing
// wrong softmax_bwd 3: sign
// wrong softmax_bwd 4: first warp|first 32|last warp of 64
//! kernel softmax_bwd
//! dim rows 1..30, n 1..300
//! arg dy f32[rows, n] in normal
//! arg p f32[rows, n] in uniform(0, 1)
//! arg dx f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle dx = p * (dy - sum(dy * p, -1, keep))
extern "C" __global__ void softmax_bwd(const float *dy, const float *p, float *dx, int n)
{
    __shared__ float sh[32];
    size_t base = (size_t)blockIdx.x * n;
    float s = 0.f;
    for (int i = threadIdx.x; i < n; i += 64) s += dy[base + i] * W(2, p[base + i], 1.f);
    s = block_reduce(s, sh, false);
    W(4, , s = sh[0]);
    for (int i = threadIdx.x; i < n; i += 64) dx[base + i] = p[base + i] * (dy[base + i] W(3, -, +) W(1, s, 0.f));
}

// wrong log_softmax 1: term is missing
// wrong log_softmax 2: base 2
// wrong log_softmax 3: factor is missing|term|log
//! kernel log_softmax
//! dim rows 1..30, n 1..300
//! arg x f32[rows, n] in normal(0, 3)
//! arg y f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=32
//! oracle y = log_softmax(x, -1)
extern "C" __global__ void log_softmax(const float *x, float *y, int n)
{
    __shared__ float sh[32];
    const float *r = x + (size_t)blockIdx.x * n;
    float m = -INFINITY, s = 0.f;
    for (int i = threadIdx.x; i < n; i += 32) m = fmaxf(m, r[i]);
    m = block_reduce(m, sh, true);
    for (int i = threadIdx.x; i < n; i += 32) s += expf(r[i] - m);
    s = block_reduce(s, sh, false);
    float l = W(3, W(2, logf, log2f)(s), s);
    for (int i = threadIdx.x; i < n; i += 32) y[(size_t)blockIdx.x * n + i] = r[i] - W(1, m, 0.f) - l;
}

// wrong group_norm 1: index
// wrong group_norm 2: divi|n|constant|times
// wrong group_norm 3: mean is not subtracted
//! kernel group_norm
//! dim N 1..4, G 1..4, per 1..4, HW 1..60
//! arg x f32[N, G * per, HW] in normal(1, 1)
//! arg gamma f32[G * per] in normal
//! arg beta f32[G * per] in normal
//! arg y f32[N, G * per, HW] out once
//! arg G i32
//! arg per i32
//! arg HW i32
//! launch grid=N * G block=64
//! oracle y = group_norm(x, G, gamma, beta, 1e-5)
extern "C" __global__ void group_norm(const float *x, const float *gamma, const float *beta, float *y, int G, int per, int HW)
{
    __shared__ float sh[32];
    int g = blockIdx.x % G, D = per * HW;
    size_t base = (size_t)blockIdx.x * D;
    float s = 0.f, q = 0.f;
    for (int i = threadIdx.x; i < D; i += 64) s += x[base + i];
    float mu = block_reduce(s, sh, false) / D;
    for (int i = threadIdx.x; i < D; i += 64) {
        float d = x[base + i] - W(3, mu, 0.f);
        q += d * d;
    }
    float rs = rsqrtf(block_reduce(q, sh, false) / W(2, D, HW) + 1e-5f);
    for (int i = threadIdx.x; i < D; i += 64) {
        int c = W(1, g * per + i / HW, g + i / HW * G);
        y[base + i] = (x[base + i] - mu) * rs * gamma[c] + beta[c];
    }
}
