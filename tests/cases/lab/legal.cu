// regen: -arch=sm_80
// More that is right (orders.cu has the first ones): sums by atomics, Kahan's, four at a time; scans in blocks; Chan's merging of variances; softmax in powers
// of two; attention in one pass; tensor cores in f16 and tf32, rounded or cut off; approximate functions where the contract says `fast`. None may be flagged.
#include <cuda_fp16.h>

//! kernel sum_atomic
//! dim rows 1..20, cols 1..1024
//! arg x f32[rows, cols] in
//! arg y f32[rows] inout zeros
//! arg cols i32
//! launch grid=rows block=64
//! oracle y = y + sum(x, -1)
extern "C" __global__ void sum_atomic(const float *x, float *y, int cols)
{
    for (int i = threadIdx.x; i < cols; i += 64) atomicAdd(&y[blockIdx.x], x[blockIdx.x * cols + i]);
}

//! kernel sum_kahan
//! dim rows 1..40, cols 1..1024
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = sum(x, -1)
extern "C" __global__ void sum_kahan(const float *x, float *y, int cols)
{
    float sum = 0, lost = 0;
    for (int i = 0; i < cols; i++) {
        float v = x[blockIdx.x * cols + i];
        float next = __fadd_rn(sum, __fsub_rn(v, lost));
        if (!isfinite(next)) { // the compensation of an infinity is none
            sum += v;
            continue;
        }
        lost = __fsub_rn(__fsub_rn(next, sum), __fsub_rn(v, lost));
        sum = next;
    }
    y[blockIdx.x] = sum;
}

//! kernel sum_four
//! dim rows 1..40, cols 1..1024
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = mean(x, -1)
extern "C" __global__ void sum_four(const float *x, float *y, int cols)
{
    float sum[4] = { 0, 0, 0, 0 };
    for (int i = 0; i < cols; i++) sum[i % 4] += x[blockIdx.x * cols + i];
    y[blockIdx.x] = ((sum[0] + sum[2]) + (sum[1] + sum[3])) * (1.0f / cols);
}

//! kernel scan_block
//! dim rows 1..20, cols 1..256
//! arg x f32[rows, cols] in
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=256
//! oracle y = cumsum(x, -1)
extern "C" __global__ void scan_block(const float *x, float *y, int cols)
{
    __shared__ float s[256];
    int t = threadIdx.x;
    s[t] = t < cols ? x[blockIdx.x * cols + t] : 0;
    for (int d = 1; d < 256; d *= 2) {
        __syncthreads();
        float v = t >= d ? s[t - d] : 0;
        __syncthreads();
        if (t >= d) s[t] += v; // nothing is added to an infinity twice
    }
    if (t < cols) y[blockIdx.x * cols + t] = s[t];
}

//! kernel variance_chan
//! dim rows 1..40, cols 1..512
//! arg x f32[rows, cols] in normal
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = var(x, -1)
extern "C" __global__ void variance_chan(const float *x, float *y, int cols)
{
    float n = 0, mean = 0, square = 0;
    for (int i = threadIdx.x; i < cols; i += 32) {
        float v = x[blockIdx.x * cols + i], d = v - mean;
        n += 1;
        mean += d / n;
        square += d * (v - mean);
    }
    for (int o = 16; o; o /= 2) {
        float m = __shfl_down_sync(~0u, n, o), a = __shfl_down_sync(~0u, mean, o), b = __shfl_down_sync(~0u, square, o);
        float all = n + m, d = a - mean;
        if (all > 0) {
            mean += d * m / all;
            square += b + d * d * n * m / all;
        }
        n = all;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = square / cols;
}

//! kernel softmax_exp2
//! dim rows 1..40, cols 1..300
//! arg x f32[rows, cols] in normal(0, 4)
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = softmax(x, -1)
extern "C" __global__ void softmax_exp2(const float *x, float *y, int cols)
{
    const float *p = x + blockIdx.x * cols, log2e = 1.44269504f;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < cols; i++) most = fmaxf(most, p[i]);
    for (int i = 0; i < cols; i++) sum += exp2f(fmaf(p[i], log2e, -most * log2e));
    float scale = 1 / sum;
    for (int i = 0; i < cols; i++) y[blockIdx.x * cols + i] = exp2f(fmaf(p[i], log2e, -most * log2e)) * scale;
}

//! kernel attention_online
//! dim heads 1..4, queries 1..40, keys 1..80, width 1..32
//! arg q f32[heads, queries, width] in normal
//! arg k f32[heads, keys, width] in normal
//! arg v f32[heads, keys, width] in normal
//! arg y f32[heads, queries, width] out once
//! arg queries i32
//! arg keys i32
//! arg width i32
//! launch grid=queries,heads block=32
//! oracle y = softmax(einsum("hqd,hkd->hqk", q, k) * rsqrt(width), -1) @ v
extern "C" __global__ void attention_online(const float *q, const float *k, const float *v, float *y, int queries, int keys, int width)
{
    int row = blockIdx.y * queries + blockIdx.x, t = threadIdx.x;
    const float *at = q + row * width;
    float most = -INFINITY, sum = 0, out = 0, scale = rsqrtf(width);
    for (int j = 0; j < keys; j++) {
        const float *key = k + (blockIdx.y * keys + j) * width;
        float s = t < width ? at[t] * scale * key[t] : 0;
        for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
        float next = fmaxf(most, s), less = expf(most - next), w = expf(s - next);
        sum = sum * less + w;
        out = out * less + (t < width ? w * v[(blockIdx.y * keys + j) * width + t] : 0);
        most = next;
    }
    if (t < width) y[row * width + t] = out / sum;
}

//! kernel tf32_rounded
//! dim m 1..24, n 1..24, k 1..200
//! arg a f32[m, k] in
//! arg b f32[k, n] in
//! arg c f32[m, n] out once
//! arg m i32
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(n, 8),ceildiv(m, 8) block=8,8
//! oracle c = a @ b
//! accumulate tf32
static __device__ float to_tf32(float x)
{
    unsigned r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return __uint_as_float(r);
}
extern "C" __global__ void tf32_rounded(const float *a, const float *b, float *c, int m, int n, int k)
{
    int row = blockIdx.y * 8 + threadIdx.y, col = blockIdx.x * 8 + threadIdx.x;
    if (row >= m || col >= n) return;
    float sum = 0;
    for (int i = 0; i < k; i++) sum = fmaf(to_tf32(a[row * k + i]), to_tf32(b[i * n + col]), sum);
    c[row * n + col] = sum;
}

// The operands are not rounded: the tensor cores do not look at the last 13 bits.
//! kernel tf32_tensor
//! dim m 1..32, n 1..24, k 1..100
//! arg a f32[m, k] in
//! arg b f32[k, n] in
//! arg c f32[m, n] out once
//! arg m i32
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(n, 8),ceildiv(m, 16) block=32
//! oracle c = a @ b
//! accumulate tf32
extern "C" __global__ void tf32_tensor(const float *a, const float *b, float *c, int m, int n, int k)
{
    int t = threadIdx.x, group = t / 4, in = t % 4, row = blockIdx.y * 16 + group, col = blockIdx.x * 8 + group;
    float d[4] = { 0, 0, 0, 0 };
    for (int i = 0; i < k; i += 8) {
        unsigned x[4], y[2];
        for (int j = 0; j < 4; j++) {
            int r = row + j % 2 * 8, s = i + in + j / 2 * 4;
            x[j] = r < m && s < k ? __float_as_uint(a[r * k + s]) : 0;
        }
        for (int j = 0; j < 2; j++) y[j] = col < n && i + in + j * 4 < k ? __float_as_uint(b[(i + in + j * 4) * n + col]) : 0;
        asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int j = 0; j < 4; j++) {
        int r = row + j / 2 * 8, s = blockIdx.x * 8 + in * 2 + j % 2;
        if (r < m && s < n) c[r * n + s] = d[j];
    }
}

//! kernel f16_tensor
//! dim m 1..32, n 1..24, k 1..100
//! arg a f16[m, k] in
//! arg b f16[k, n] in
//! arg c f32[m, n] out once
//! arg m i32
//! arg n i32
//! arg k i32
//! launch grid=ceildiv(n, 8),ceildiv(m, 16) block=32
//! oracle c = a @ b
static __device__ unsigned two(const __half *p, bool first, bool second, int step)
{
    __half2 v = __halves2half2(first ? p[0] : __half(0), second ? p[step] : __half(0));
    return *(unsigned *)&v;
}
extern "C" __global__ void f16_tensor(const __half *a, const __half *b, float *c, int m, int n, int k)
{
    int t = threadIdx.x, group = t / 4, in = t % 4, row = blockIdx.y * 16 + group, col = blockIdx.x * 8 + group;
    float d[4] = { 0, 0, 0, 0 };
    for (int i = 0; i < k; i += 16) {
        unsigned x[4], y[2];
        for (int j = 0; j < 4; j++) {
            int r = row + j % 2 * 8, s = i + in * 2 + j / 2 * 8;
            x[j] = two(a + r * k + s, r < m && s < k, r < m && s + 1 < k, 1);
        }
        for (int j = 0; j < 2; j++) {
            int s = i + in * 2 + j * 8;
            y[j] = two(b + s * n + col, col < n && s < k, col < n && s + 1 < k, n);
        }
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
            : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int j = 0; j < 4; j++) {
        int r = row + j / 2 * 8, s = blockIdx.x * 8 + in * 2 + j % 2;
        if (r < m && s < n) c[r * n + s] = d[j];
    }
}

//! kernel fast_functions
//! dim n 1..2000
//! arg x f32[n] in uniform(0.01, 3)
//! arg e f32[n] out once
//! arg l f32[n] out once
//! arg s f32[n] out once
//! arg p f32[n] out once
//! arg t f32[n] out once
//! arg r f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle e = exp(-x); l = log(x); s = sin(x); p = pow(x, 2.5); t = tanh(x); r = x / sqrt(x + 1)
//! accumulate f32 fast
extern "C" __global__ void fast_functions(const float *x, float *e, float *l, float *s, float *p, float *t, float *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i], w;
    e[i] = __expf(-v);
    l[i] = __logf(v);
    s[i] = __sinf(v);
    p[i] = __powf(v, 2.5f);
    asm("tanh.approx.f32 %0, %1;" : "=f"(w) : "f"(v));
    t[i] = w;
    r[i] = __fdividef(v, __fsqrt_rn(v + 1));
}

// A compensated sum of what overflows is NaN where a plain one is infinite: how a kernel overflows is not judged.
//! kernel exp_kahan
//! dim rows 1..20, cols 1..600
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg cols i32
//! launch grid=rows block=1
//! oracle y = sum(exp(x), -1)
extern "C" __global__ void exp_kahan(const float *x, float *y, int cols)
{
    float sum = 0, lost = 0;
    for (int i = 0; i < cols; i++) {
        float v = __fsub_rn(expf(x[blockIdx.x * cols + i]), lost), next = __fadd_rn(sum, v);
        lost = __fsub_rn(__fsub_rn(next, sum), v);
        sum = next;
    }
    y[blockIdx.x] = sum;
}
