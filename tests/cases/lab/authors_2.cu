// regen: -arch=sm_80
// Kernels as their authors write them, each with a contract of a few lines: right as they stand, and with one planted mistake where BUG is defined (authors_bad.case),
// which `lockstep test` finds, and names where its words have a name for it.
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#ifdef BUG
#define PICK(right, wrong) wrong
#else
#define PICK(right, wrong) right
#endif
static __device__ float warp_sum(float v) { for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o); return v; }
static __device__ float warp_most(float v) { for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(~0u, v, o)); return v; }


//! kernel argmax
//! dim rows 1..100, cols 1..1000
//! arg x f32[rows, cols] in
//! arg at i32[rows] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle at = argmax(x, -1)
extern "C" __global__ void argmax(const float *x, int *at, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float m = -INFINITY;
    int k = cols;
    for (int i = threadIdx.x; i < cols; i += 32)
        if (p[i] > m || (p[i] == m && i < k)) { m = p[i]; k = i; }
    for (int o = 16; o; o /= 2) {
        float v = __shfl_xor_sync(~0u, m, o);
        int j = __shfl_xor_sync(~0u, k, o);
        if (v PICK(>, <) m || (v == m && j < k)) { m = v; k = j; }
    }
    if (threadIdx.x == 0) at[blockIdx.x] = k;
}

//! kernel sum_block
//! dim n 0..100000
//! arg x f32[n] in
//! arg y f32[1] inout zeros
//! arg n i32
//! launch grid=max(1, min(40, ceildiv(n, 256))) block=256
//! oracle y = y + sum(x)
extern "C" __global__ void sum_block(const float *x, float *y, int n)
{
    __shared__ float part[8];
    float s = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) s += x[i];
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 32) {
        s = warp_sum(threadIdx.x < PICK(8, 7) ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0) atomicAdd(y, s);
    }
}

//! kernel conv1d
//! dim batch 1..4, cin 1..8, cout 1..8, n 1..100, half 0..3
//! arg x f32[batch, cin, 1, n] in normal
//! arg w f32[cout, cin, 1, 2 * half + 1] in normal
//! arg y f32[batch, cout, 1, n] out once
//! arg cin i32
//! arg n i32
//! arg taps i32 = 2 * half + 1
//! launch grid=ceildiv(n, 32),cout,batch block=32
//! oracle y = conv2d(pad(x, 3, half, half), w, 1, 0, 1)
extern "C" __global__ void conv1d(const float *x, const float *w, float *y, int cin, int n, int taps)
{
    int i = blockIdx.x * 32 + threadIdx.x, o = blockIdx.y, b = blockIdx.z;
    if (i >= n) return;
    float s = 0;
    for (int c = 0; c < cin; c++)
        for (int k = 0; k < taps; k++) {
            int at = i + k - taps / 2;
            if (at >= 0 && at < n) s += x[(b * cin + c) * n + at] * w[(o * cin + c) * taps + PICK(k, taps - 1 - k)];
        }
    y[(b * gridDim.y + o) * n + i] = s;
}

//! kernel moe_gate
//! dim tokens 1..200, experts 2..64
//! arg x f32[tokens, experts] in normal
//! arg gate f32[tokens] out once
//! arg expert i32[tokens] out once
//! arg experts i32
//! launch grid=tokens block=32
//! oracle expert = argmax(x, -1); gate = max(softmax(x), -1)
extern "C" __global__ void moe_gate(const float *x, float *gate, int *expert, int experts)
{
    const float *p = x + blockIdx.x * experts;
    float m = -INFINITY, s = 0;
    int k = experts;
    for (int i = threadIdx.x; i < experts; i += 32)
        if (p[i] > m) { m = p[i]; k = i; }
    for (int o = 16; o; o /= 2) {
        float v = __shfl_xor_sync(~0u, m, o);
        int j = __shfl_xor_sync(~0u, k, o);
        if (v > m || (v == m && j < k)) { m = v; k = j; }
    }
    for (int i = threadIdx.x; i < experts; i += 32) s += expf(p[i] - m);
    s = warp_sum(s);
    if (threadIdx.x == 0) { gate[blockIdx.x] = PICK(1 / s, expf(m) / s); expert[blockIdx.x] = k; }
}

//! kernel adamw
//! dim n 1..3000
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg m f32[n] inout normal
//! arg v f32[n] inout uniform
//! arg n i32
//! arg lr f32 = 1e-3
//! arg step i32 = 3
//! launch grid=ceildiv(n, 256) block=256
//! oracle m = 0.9 * m + 0.1 * g; v = 0.999 * v + 0.001 * g * g; p = p * (1 - lr * 0.01) - lr * (m / (1 - 0.9 ** step)) / (sqrt(v / (1 - 0.999 ** step)) + 1e-8)
extern "C" __global__ void adamw(float *p, const float *g, float *m, float *v, int n, float lr, int step)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float a = m[i] = 0.9f * m[i] + 0.1f * g[i], b = v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
    float ah = a / (1 - powf(0.9f, step)), bh = b / (1 - powf(0.999f, step));
    p[i] = p[i] * (1 - lr * 0.01f) - lr * ah / (sqrtf(PICK(bh, b)) + 1e-8f);
}

//! kernel matmul_half
//! dim m 1..40, n 1..40, k 1..512
//! arg a f16[m, k] in normal
//! arg b f16[k, n] in normal
//! arg c f16[m, n] out once
//! arg m i32
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(n, 16),ceildiv(m, 16) block=16,16
//! oracle c = a @ b
extern "C" __global__ void matmul_half(const __half *a, const __half *b, __half *c, int m, int n, int k)
{
    int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
    if (x >= n || y >= m) return;
    PICK(float, __half) s = PICK(0, __float2half(0));
    for (int i = 0; i < k; i++) {
#ifdef BUG
        s = __hadd(s, __hmul(a[y * k + i], b[i * n + x]));
#else
        s += __half2float(a[y * k + i]) * __half2float(b[i * n + x]);
#endif
    }
    c[y * n + x] = PICK(__float2half(s), s);
}

//! kernel split_k
//! dim m 1..20, n 1..40, k 0..1024, split 1..8
//! arg a f32[m, k] in normal
//! arg b f32[k, n] in normal
//! arg c f32[m, n] inout zeros
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(n, 32),m,split block=32
//! oracle c = c + a @ b
extern "C" __global__ void split_k(const float *a, const float *b, float *c, int n, int k)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y, each = PICK((k + gridDim.z - 1) / gridDim.z, k / gridDim.z), from = blockIdx.z * each;
    if (x >= n) return;
    float s = 0;
    for (int i = from; i < min(k, from + each); i++) s += a[y * k + i] * b[i * n + x];
    atomicAdd(&c[y * n + x], s);
}

//! kernel gelu_tanh
//! dim n 1..5000
//! arg x bf16[n] in
//! arg y bf16[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = gelu_tanh(x)
extern "C" __global__ void gelu_tanh(const __nv_bfloat16 *x, __nv_bfloat16 *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = __bfloat162float(x[i]), u = 0.7978845608f * (v + PICK(0.044715f, 0.44715f) * v * v * v);
    y[i] = __float2bfloat16(0.5f * v * (1 + tanhf(u)));
}

//! kernel swiglu
//! dim rows 1..60, width 1..300
//! arg x f32[rows, 2 * width] in normal(0, 3)
//! arg y f32[rows, width] out once
//! arg width i32
//! launch grid=rows block=64
//! oracle y = silu(x[..., :width]) * x[..., width:]
extern "C" __global__ void swiglu(const float *x, float *y, int width)
{
    const float *p = x + (size_t)blockIdx.x * 2 * width;
    for (int i = threadIdx.x; i < width; i += 64) {
        float a = p[i], b = p[width + i], gate = PICK(a, b), up = PICK(b, a);
        y[(size_t)blockIdx.x * width + i] = gate / (1 + expf(-gate)) * up;
    }
}

//! kernel cross_entropy
//! dim rows 1..200, classes 2..500
//! arg x f32[rows, classes] in normal(0, 4)
//! arg t i32[rows] in randint(0, classes - 1)
//! arg loss f32[rows] out once
//! arg classes i32
//! launch grid=rows block=32
//! oracle loss = token_loss(x, t)
extern "C" __global__ void cross_entropy(const float *x, const int *t, float *loss, int classes)
{
    const float *p = x + (size_t)blockIdx.x * classes;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < classes; i += 32) m = fmaxf(m, p[i]);
    m = warp_most(m);
    for (int i = threadIdx.x; i < classes; i += 32) s += expf(p[i] - m);
    s = warp_sum(s);
    if (threadIdx.x == 0) loss[blockIdx.x] = PICK(logf(s), log2f(s)) + m - p[t[blockIdx.x]];
}

//! kernel groupnorm
//! dim n 1..6, groups 1..6, each 1..6, hw 1..100
//! arg x f32[n, groups, each, hw] in normal
//! arg g f32[groups, each] in normal
//! arg b f32[groups, each] in normal
//! arg y f32[n, groups, each, hw] out once
//! arg each i32
//! arg hw i32
//! launch grid=groups,n block=32
//! oracle y = { m = mean(x, (2, 3), keep); d = x - m; d * rsqrt(mean(d * d, (2, 3), keep) + 1e-5) * unsqueeze(g, -1) + unsqueeze(b, -1) }
extern "C" __global__ void groupnorm(const float *x, const float *g, const float *b, float *y, int each, int hw)
{
    size_t at = ((size_t)blockIdx.y * gridDim.x + blockIdx.x) * each * hw;
    int n = each * hw;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < n; i += 32) s += x[at + i];
    s = warp_sum(s) / n;
    for (int i = threadIdx.x; i < n; i += 32) q += (x[at + i] - s) * (x[at + i] - s);
    float r = rsqrtf(warp_sum(q) / PICK(n, hw) + 1e-5f);
    for (int i = threadIdx.x; i < n; i += 32) {
        int c = blockIdx.x * each + i / hw;
        y[at + i] = (x[at + i] - s) * r * g[c] + b[c];
    }
}

//! kernel batchnorm_infer
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
extern "C" __global__ void batchnorm_infer(const float *x, const float *mean, const float *var, const float *g, const float *b, float *y, int hw)
{
    int c = blockIdx.x;
    size_t at = ((size_t)blockIdx.y * gridDim.x + c) * hw;
    float r = rsqrtf(var[c] + 1e-5f);
    for (int i = threadIdx.x; i < hw; i += 64) y[at + i] = (x[at + i] - mean[PICK(c, 0)]) * r * g[c] + b[c];
}

//! kernel maxpool2
//! dim c 1..10, h 2..40 step 2, w 2..40 step 2
//! arg x f32[c, h, w] in normal
//! arg y f32[c, h / 2, w / 2] out once
//! arg h i32
//! arg w i32
//! launch grid=h / 2,c block=32
//! oracle y = max(reshape(x, c, h / 2, 2, w / 2, 2), (2, 4))
extern "C" __global__ void maxpool2(const float *x, float *y, int h, int w)
{
    for (int i = threadIdx.x; i < w / 2; i += 32) {
        float m = PICK(-INFINITY, 0);
        for (int a = 0; a < 2; a++)
            for (int b = 0; b < 2; b++) m = fmaxf(m, x[(blockIdx.y * h + 2 * blockIdx.x + a) * w + 2 * i + b]);
        y[(blockIdx.y * (h / 2) + blockIdx.x) * (w / 2) + i] = m;
    }
}

//! kernel lengths_softmax
//! dim rows 1..60, cols 1..300
//! arg x f32[rows, cols] in normal
//! arg len i32[rows] in randint(1, cols)
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = softmax(where(iota(cols) < unsqueeze(len, -1), x, -inf))
extern "C" __global__ void lengths_softmax(const float *x, const int *len, float *y, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    int n = len[blockIdx.x];
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < n; i += 32) m = fmaxf(m, p[i]);
    m = warp_most(m);
    for (int i = threadIdx.x; i PICK(<, <=) PICK(n, min(n, cols - 1)); i += 32) s += expf(p[i] - m);
    s = warp_sum(s);
    for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = i < n ? expf(p[i] - m) / s : 0;
}

//! kernel layernorm_dgamma
//! dim rows 1..200, cols 1..300
//! arg x f32[rows, cols] in normal
//! arg mean f32[rows] in normal
//! arg rstd f32[rows] in uniform(0.5, 2)
//! arg dy f32[rows, cols] in normal view dense|broadcast(all)
//! arg s0 i32 = dy.stride0
//! arg s1 i32 = dy.stride1
//! arg dg f32[cols] out once
//! arg rows i32
//! arg cols i32
//! launch grid=ceildiv(cols, 32) block=32,8
//! oracle dg = sum(dy * (x - unsqueeze(mean, -1)) * unsqueeze(rstd, -1), 0)
extern "C" __global__ void layernorm_dgamma(const float *x, const float *mean, const float *rstd, const float *dy, int s0, int s1, float *dg, int rows, int cols)
{
    __shared__ float part[8][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    float s = 0;
    for (int r = threadIdx.y; r < PICK(rows, rows / 8 * 8) && c < cols; r += 8) s += dy[r * s0 + c * s1] * (x[r * cols + c] - mean[r]) * rstd[r];
    part[threadIdx.y][threadIdx.x] = s;
    __syncthreads();
    if (threadIdx.y || c >= cols) return;
    for (int i = 1; i < 8; i++) s += part[i][threadIdx.x];
    dg[c] = s;
}

//! kernel embedding_bag
//! dim bags 1..60, per 1..20, width 1..100, words 1..500
//! arg table f32[words, width] in normal
//! arg t i64[bags, per] in randint(0, words - 1)
//! arg y f32[bags, width] out once
//! arg per i32
//! arg width i32
//! launch grid=bags block=64
//! oracle y = mean(gather(table, t), 1)
extern "C" __global__ void embedding_bag(const float *table, const long long *t, float *y, int per, int width)
{
    for (int i = threadIdx.x; i < width; i += 64) {
        float s = 0;
        for (int k = 0; k < per; k++) s += table[t[blockIdx.x * per + k] * width + i];
        y[blockIdx.x * width + i] = PICK(s / per, s);
    }
}

//! kernel bce_logits
//! dim n 1..4000
//! arg x f32[n] in normal(0, 30)
//! arg t f32[n] in uniform
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = maximum(x, 0) - x * t + log1p(exp(-abs(x)))
extern "C" __global__ void bce_logits(const float *x, const float *t, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = PICK(fmaxf(x[i], 0) - x[i] * t[i] + log1pf(expf(-fabsf(x[i]))), logf(1 + expf(x[i])) - x[i] * t[i]);
}

//! kernel permute_bshd
//! dim b 1..4, s 1..30, h 1..8, d 1..40
//! arg x f32[b, s, h, d] in
//! arg y f32[b, h, s, d] out once
//! arg s i32
//! arg h i32
//! arg d i32
//! launch grid=s,h,b block=32
//! oracle y = transpose(x, 0, 2, 1, 3)
extern "C" __global__ void permute_bshd(const float *x, float *y, int s, int h, int d)
{
    int i = blockIdx.x, j = blockIdx.y, b = blockIdx.z;
    for (int k = threadIdx.x; k < d; k += 32) y[((b * h + j) * s + i) * d + k] = x[PICK(((b * s + i) * h + j), ((b * h + j) * s + i)) * d + k];
}

//! kernel l2norm_fast
//! compile --use_fast_math
//! dim rows 1..60, cols 1..600
//! arg x f32[rows, cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! accumulate f32 fast
//! oracle y = x / maximum(norm(x, -1, keep), 1e-12)
extern "C" __global__ void l2norm_fast(const float *x, float *y, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float s = 0;
    for (int i = threadIdx.x; i < cols; i += 32) s += p[i] * p[i];
    s = fmaxf(sqrtf(warp_sum(s)), PICK(1e-12f, 1e-1f));
    for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = p[i] / s;
}

//! kernel var_unbiased
//! dim rows 1..60, cols 2..600
//! arg x f32[rows, cols] in normal
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = var(x, -1) * cols / (cols - 1)
extern "C" __global__ void var_unbiased(const float *x, float *y, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float s = 0, q = 0;
    for (int i = threadIdx.x; i < cols; i += 32) s += p[i];
    s = warp_sum(s) / cols;
    for (int i = threadIdx.x; i < cols; i += 32) q += (p[i] - s) * (p[i] - s);
    q = warp_sum(q);
    if (threadIdx.x == 0) y[blockIdx.x] = q / PICK((cols - 1), cols);
}
