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

//! kernel softmax_online
//! dim rows 0..300, cols 1..2000
//! arg x f32[rows, cols] in
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = softmax(x)
extern "C" __global__ void softmax_online(const float *x, float *y, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float m = -INFINITY, s = 0;
    for (int i = threadIdx.x; i < cols; i += 32) {
        float n = fmaxf(m, p[i]);
        if (n == -INFINITY) continue; // a score that is masked
        s = s * PICK(__expf(m - n), 1) + __expf(p[i] - n);
        m = n;
    }
    float all = warp_most(m);
    s = warp_sum(m == -INFINITY ? 0 : s * __expf(m - all));
    for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = __expf(p[i] - all) / s;
}

//! kernel layernorm
//! dim rows 1..200, cols 1..2048
//! arg x f32[rows, cols] in normal
//! arg g f32[cols] in normal
//! arg b f32[cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! arg eps f32 = 1e-5
//! launch grid=rows block=32
//! oracle y = layernorm(x, g, b, eps)
extern "C" __global__ void layernorm(const float *x, const float *g, const float *b, float *y, int cols, float eps)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float n = 0, mean = 0, m2 = 0;
    for (int i = threadIdx.x; i < cols; i += 32) {
        n++;
        float d = p[i] - mean;
        mean += d / n;
        m2 += d * (p[i] - mean);
    }
    for (int o = 16; o; o /= 2) {
        float n2 = __shfl_xor_sync(~0u, n, o), mean2 = __shfl_xor_sync(~0u, mean, o), other = __shfl_xor_sync(~0u, m2, o);
        float t = n + n2;
        if (t > 0) {
            float d = mean2 - mean;
            m2 += other + d * d * n * n2 / t;
            mean = (n * mean + n2 * mean2) / t;
        }
        n = t;
    }
    float r = PICK(rsqrtf(m2 / cols + eps), 1 / (sqrtf(m2 / cols) + eps));
    for (int i = threadIdx.x; i < cols; i += 32) y[(size_t)blockIdx.x * cols + i] = (p[i] - mean) * r * g[i] + b[i];
}

//! kernel rmsnorm
//! dim rows 1..200, cols 2..1024 step 2
//! arg x f16[rows, cols] in normal
//! arg g f16[cols] in normal
//! arg y f16[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=64
//! oracle y = rmsnorm(x, g, 1e-6)
extern "C" __global__ void rmsnorm(const __half2 *x, const __half2 *g, __half2 *y, int cols)
{
    __shared__ float part[2];
    const __half2 *p = x + (size_t)blockIdx.x * cols / 2;
    float s = 0;
    for (int i = threadIdx.x; i < cols / 2; i += 64) {
        float2 v = __half22float2(p[i]);
        s += v.x * v.x + v.y * v.y;
    }
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    float r = rsqrtf((part[0] + PICK(part[1], 0)) / cols + 1e-6f);
    for (int i = threadIdx.x; i < cols / 2; i += 64) {
        float2 v = __half22float2(p[i]), w = __half22float2(g[i]);
        y[(size_t)blockIdx.x * cols / 2 + i] = __floats2half2_rn(v.x * r * w.x, v.y * r * w.y);
    }
}

//! kernel rope
//! dim seq 1..70, heads 1..8, width 2..128 step 2
//! arg x f32[seq, heads, width] in normal
//! arg cs f32[seq, width / 2] in uniform(-1, 1)
//! arg sn f32[seq, width / 2] in uniform(-1, 1)
//! arg y f32[seq, heads, width] out once
//! arg heads i32
//! arg width i32
//! launch grid=seq,heads block=64
//! oracle y = { c = unsqueeze(cs, 1); s = unsqueeze(sn, 1); a = x[..., :width/2]; b = x[..., width/2:]; concat(a*c - b*s, b*c + a*s, -1) }
extern "C" __global__ void rope(const float *x, const float *cs, const float *sn, float *y, int heads, int width)
{
    int h = width / 2, i = threadIdx.x;
    if (i >= h) return;
    size_t at = ((size_t)blockIdx.x * heads + blockIdx.y) * width;
    float c = cs[blockIdx.x * h + i], s = sn[blockIdx.x * h + i], a = x[at + i], b = x[at + h + i];
    y[at + i] = a * c - b * s;
    y[at + h + i] = b * c PICK(+, -) a * s;
}

//! kernel attention_causal
//! dim n 1..96, width 1..64
//! arg q f32[n, width] in normal
//! arg k f32[n, width] in normal
//! arg v f32[n, width] in normal
//! arg y f32[n, width] out once
//! arg width i32
//! arg scale f32 = 0.125
//! launch grid=n block=64
//! oracle y = attention_causal(q, k, v, scale)
extern "C" __global__ void attention_causal(const float *q, const float *k, const float *v, float *y, int width, float scale)
{
    __shared__ float part[2];
    int i = blockIdx.x, t = threadIdx.x;
    float m = -INFINITY, l = 0, o = 0, mine = t < width ? q[i * width + t] * scale : 0;
    for (int j = 0; j < PICK(i + 1, (int)gridDim.x); j++) {
        float s = warp_sum(t < width ? mine * k[j * width + t] : 0);
        if (t % 32 == 0) part[t / 32] = s;
        __syncthreads();
        s = part[0] + part[1];
        __syncthreads();
        float n = fmaxf(m, s), c = __expf(m - n), w = __expf(s - n);
        l = l * c + w;
        o = o * c + (t < width ? w * v[j * width + t] : 0);
        m = n;
    }
    if (t < width) y[i * width + t] = o / l;
}

//! kernel attention_gqa
//! dim heads 1..4, group 1..4, n 1..20, m 1..30, width 1..32
//! arg q f32[heads * group, n, width] in normal
//! arg k f32[heads, m, width] in normal
//! arg v f32[heads, m, width] in normal
//! arg y f32[heads * group, n, width] out once
//! arg heads i32
//! arg group i32
//! arg m i32
//! arg width i32
//! launch grid=n,heads * group block=32
//! oracle y = { r = reshape(q, heads, group, n, width); s = einsum("hgnd,hmd->hgnm", r, k) / sqrt(width); reshape(einsum("hgnm,hmd->hgnd", softmax(s), v), heads * group, n, width) }
extern "C" __global__ void attention_gqa(const float *q, const float *k, const float *v, float *y, int heads, int group, int m, int width)
{
    int t = threadIdx.x, row = blockIdx.y * gridDim.x + blockIdx.x, kv = PICK(blockIdx.y / group, blockIdx.y % heads);
    float most = -INFINITY, l = 0, o = 0, mine = t < width ? q[row * width + t] : 0;
    for (int j = 0; j < m; j++) {
        float s = warp_sum(t < width ? mine * k[(kv * m + j) * width + t] : 0) * rsqrtf(width);
        float n = fmaxf(most, s), c = expf(most - n), w = expf(s - n);
        l = l * c + w;
        o = o * c + (t < width ? w * v[(kv * m + j) * width + t] : 0);
        most = n;
    }
    if (t < width) y[row * width + t] = o / l;
}

//! kernel dequant_int4
//! dim rows 1..40, groups 1..8
//! arg w u8[rows, groups * 16] in
//! arg scale f16[rows, groups] in normal
//! arg zero u8[rows, groups] in randint(0, 15)
//! arg y f16[rows, groups * 32] out once
//! arg groups i32
//! launch grid=rows,groups block=16
//! oracle y = { lo = mod(w, 16); hi = floor(w / 16); q = reshape(concat(unsqueeze(lo, -1), unsqueeze(hi, -1), -1), rows, groups, 32); reshape((q - unsqueeze(zero, -1)) * unsqueeze(scale, -1), rows, groups * 32) }
extern "C" __global__ void dequant_int4(const unsigned char *w, const __half *scale, const unsigned char *zero, __half *y, int groups)
{
    int g = blockIdx.x * groups + blockIdx.y, t = threadIdx.x;
    int b = w[g * 16 + t], z = zero[g];
    __half s = scale[g];
    y[g * 32 + 2 * t] = __hmul(__int2half_rn(PICK((b & 15), (b >> 4)) - z), s);
    y[g * 32 + 2 * t + 1] = __hmul(__int2half_rn(PICK((b >> 4), (b & 15)) - z), s);
}

//! kernel quant_int8
//! dim rows 1..60, cols 1..600
//! arg x f32[rows, cols] in normal
//! arg q i8[rows, cols] out once
//! arg s f32[rows] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle s = max(abs(x), -1) / 127; q = round(x / unsqueeze(s, -1))
extern "C" __global__ void quant_int8(const float *x, signed char *q, float *s, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float m = 0;
    for (int i = threadIdx.x; i < cols; i += 32) m = fmaxf(m, fabsf(p[i]));
    m = warp_most(m) / 127;
    if (threadIdx.x == 0) s[blockIdx.x] = m;
    for (int i = threadIdx.x; i < cols; i += 32) q[(size_t)blockIdx.x * cols + i] = PICK(__float2int_rn(p[i] / m), (int)(p[i] / m));
}

//! kernel scan_exclusive
//! dim rows 1..30, cols 1..1500
//! arg x f32[rows, cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = cumsum(x, -1) - x
extern "C" __global__ void scan_exclusive(const float *x, float *y, int cols)
{
    const float *p = x + (size_t)blockIdx.x * cols;
    float before = 0;
    for (int first = 0; first < cols; first += 32) {
        int i = first + threadIdx.x;
        float v = i < cols ? p[i] : 0;
        for (int d = 1; d < 32; d *= 2) {
            float u = __shfl_up_sync(~0u, v, d);
            if ((int)threadIdx.x >= d) v += u;
        }
        float ex = __shfl_up_sync(~0u, v, 1);
        if (threadIdx.x == 0) ex = 0;
        if (i < cols) y[(size_t)blockIdx.x * cols + i] = before + PICK(ex, v);
        before += __shfl_sync(~0u, v, 31);
    }
}

//! kernel histogram
//! dim n 0..5000, bins 1..256
//! arg x i32[n] in randint(0, 255)
//! arg h i32[bins] inout zeros
//! arg n i32
//! arg bins i32
//! launch grid=ceildiv(n, 256) block=256
//! oracle h = h + sum(where(unsqueeze(iota(bins), -1) == unsqueeze(x, 0), 1, 0), -1)
extern "C" __global__ void histogram(const int *x, int *h, int n, int bins)
{
    __shared__ int part[256];
    for (int i = threadIdx.x; i < bins; i += 256) part[i] = 0;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n && x[i] < bins PICK(, - 1)) atomicAdd(&part[x[i]], 1);
    __syncthreads();
    for (int i = threadIdx.x; i < bins; i += 256) atomicAdd(&h[i], part[i]);
}
