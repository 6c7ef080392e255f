// regen: no
// Kernels in other styles, as strangers have written them, right and with mistakes (pick.h).
#include "pick.h"
#include <cooperative_groups.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
namespace cg = cooperative_groups;

// wrong argminmax 1: last|first|tie
// wrong argminmax 2: max|min|absolute|abs
// wrong argminmax 3: warp
// wrong argminmax 4: one|off|1
//! kernel argminmax
//! dim R 1..40, n 1..700
//! arg x f32[R, n] in normal
//! arg imax i32[R] out once
//! arg vmin f32[R] out once
//! arg n i32
//! launch grid=R block=128
//! oracle imax = argmax(x, -1, first); vmin = min(x, -1)
extern "C" __global__ void argminmax(const float *x, int *imax, float *vmin, int n)
{
    x += (size_t)blockIdx.x * n;
    float best = -INFINITY, low = INFINITY;
    int at = 0x7fffffff;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        float v = W(2, x[i], fabsf(x[i]));
        if (v W(1, >, >=) best) best = v, at = i;
        low = fminf(low, x[i]);
    }
    __shared__ float sb[128], sl[128];
    __shared__ int si[128];
    sb[threadIdx.x] = best, si[threadIdx.x] = at, sl[threadIdx.x] = low;
    __syncthreads();
    for (int k = W(3, 64, 32); k; k >>= 1) {
        if (threadIdx.x < k) {
            int o = threadIdx.x + k;
            if (sb[o] > sb[threadIdx.x] || (sb[o] == sb[threadIdx.x] && si[o] W(1, <, >) si[threadIdx.x])) sb[threadIdx.x] = sb[o], si[threadIdx.x] = si[o];
            sl[threadIdx.x] = fminf(sl[threadIdx.x], sl[o]);
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) imax[blockIdx.x] = si[0] + W(4, 0, 1), vmin[blockIdx.x] = sl[0];
}

// wrong half2_rmsnorm 1: one of every 2
// wrong half2_rmsnorm 2: rounded|f16
// wrong half2_rmsnorm 3: factor|weight
// wrong half2_rmsnorm 4: constant|eps|1e-0
//! kernel half2_rmsnorm
//! dim rows 1..12, h 1..300
//! arg x f16[rows, 2 * h] in normal(0, 0.3)
//! arg w f16[2 * h] in normal(1, 0.1)
//! arg y f16[rows, 2 * h] out once
//! arg h i32
//! arg eps f32 = 1e-5
//! launch grid=rows block=128
//! oracle y = x * rsqrt(mean(x * x, -1, keep) + eps) * w
extern "C" __global__ void half2_rmsnorm(const half2 *x, const half2 *w, half2 *y, int h, float eps)
{
    const half2 *r = x + (size_t)blockIdx.x * h;
    float ss = 0.f;
    for (int i = threadIdx.x; i < h; i += 128) { float2 f = __half22float2(r[i]); ss += f.x * f.x W(1, + f.y * f.y, ); }
    typedef cg::thread_block_tile<32> tile_t;
    __shared__ float acc;
    if (threadIdx.x == 0) acc = 0.f;
    __syncthreads();
    tile_t t = cg::tiled_partition<32>(cg::this_thread_block());
    for (int o = t.size() / 2; o; o >>= 1) ss += t.shfl_down(ss, o);
    if (t.thread_rank() == 0) atomicAdd(&acc, ss);
    __syncthreads();
    float s = rsqrtf(acc / (2.f * h) + W(4, eps, 1e-3f));
    for (int i = threadIdx.x; i < h; i += 128) {
        float2 f = __half22float2(r[i]), g = __half22float2(w[i]);
        W(2, y[(size_t)blockIdx.x * h + i] = __floats2half2_rn(f.x * s * W(3, g.x, 1), f.y * s * W(3, g.y, 1)),
             y[(size_t)blockIdx.x * h + i] = __hmul2(__floats2half2_rn(f.x * s, f.y * s), w[i]));
    }
}

// wrong groupnorm_fwd 1: n - 1|divi|constant|unbiased
// wrong groupnorm_fwd 2: channel|index|gamma|weight
// wrong groupnorm_fwd 3: outside
// wrong groupnorm_fwd 4: E.x|mean
// wrong groupnorm_fwd 5: term is missing|bias
//! kernel groupnorm_fwd
//! dim N 1..5, G 1..6, CG 1..6, HW 1..90
//! arg x f32[N, G * CG, HW] in normal(0.5, 2)
//! arg weight f32[G * CG] in normal(1, 0.3)
//! arg bias f32[G * CG] in normal
//! arg y f32[N, G * CG, HW] out once
//! arg mean f32[N, G] out once
//! arg rstd f32[N, G] out once
//! arg G i32
//! arg CG i32
//! arg HW i32
//! arg eps f32 = 1e-5
//! launch grid=N * G block=64
//! oracle g = reshape(x, N, G, CG * HW); m = mean(g, -1, keep); r = rsqrt(var(g, -1, keep) + eps)
//! oracle y = reshape((g - m) * r, N, G * CG, HW) * unsqueeze(weight, -1) + unsqueeze(bias, -1); mean = squeeze(m, -1); rstd = squeeze(r, -1)
extern "C" __global__ void groupnorm_fwd(const float *x, const float *weight, const float *bias, float *y, float *mean, float *rstd, int G, int CG, int HW, float eps)
{
    int D = CG * HW, g = blockIdx.x % G;
    const float *p = x + (size_t)blockIdx.x * D;
    __shared__ float s1[64], s2[64];
    float a = 0, b = 0;
    for (int i = threadIdx.x; i < D; i += blockDim.x) a += p[i];
    s1[threadIdx.x] = a;
    __syncthreads();
    for (int k = 32; k > 0; k >>= 1) { if (threadIdx.x < k) s1[threadIdx.x] += s1[threadIdx.x + k]; __syncthreads(); }
    float mu = s1[0] / D;
    for (int i = threadIdx.x; i < D; i += blockDim.x) { float d = p[i] - W(4, mu, 0.f); b = fmaf(d, d, b); }
    s2[threadIdx.x] = b;
    __syncthreads();
    for (int k = 32; k > 0; k >>= 1) { if (threadIdx.x < k) s2[threadIdx.x] += s2[threadIdx.x + k]; __syncthreads(); }
    float var = s2[0] / W(1, D, fmaxf(D - 1, 1.f));
    float rs = W(3, rsqrtf(var + eps), 1.f / (sqrtf(var) + eps));
    if (threadIdx.x == 0) { mean[blockIdx.x] = mu; rstd[blockIdx.x] = rs; }
    for (int i = threadIdx.x; i < D; i += blockDim.x) {
        int c = W(2, g * CG + i / HW, i / HW);
        float sc = weight[c] * rs, sh = W(5, bias[c] - mu * sc, -mu * sc);
        y[(size_t)blockIdx.x * D + i] = fmaf(p[i], sc, sh);
    }
}

// wrong kahan_dot 3: square|exchanged|a|b
//! kernel kahan_dot
//! dim rows 1..30, n 1..3000
//! arg a f32[rows, n] in normal
//! arg b f32[rows, n] in normal
//! arg y f32[rows] out once
//! arg n i32
//! launch grid=rows block=32
//! accumulate f32 compensated
//! oracle y = sum(a * b, -1)
extern "C" __global__ void kahan_dot(const float *a, const float *b, float *y, int n)
{
    a += (size_t)blockIdx.x * n, b += (size_t)blockIdx.x * n;
    float s = 0.f, c = 0.f;
    for (int i = threadIdx.x; i < W(2, n, n & ~31); i += 32) {
        float p = __fmul_rn(a[i], W(3, b, a)[i]), e = fmaf(a[i], W(3, b, a)[i], -p);
        float t = __fadd_rn(s, p), z = __fsub_rn(t, s);
        c += W(1, __fadd_rn(__fsub_rn(s, __fsub_rn(t, z)), __fsub_rn(p, z)), 0.f) + e;
        s = t;
    }
    for (int o = 16; o; o >>= 1) {
        float p = __shfl_xor_sync(~0u, s, o), d = __shfl_xor_sync(~0u, c, o);
        float t = __fadd_rn(s, p), z = __fsub_rn(t, s);
        c += d + __fadd_rn(__fsub_rn(s, __fsub_rn(t, z)), __fsub_rn(p, z));
        s = t;
    }
    if (threadIdx.x == 0) y[blockIdx.x] = s + c;
}

// wrong trsv 1: diagonal|divi|quotient|not divided
// wrong trsv 2: sign
// wrong trsv 3: term|first|last|tail
//! kernel trsv
//! dim R 1..50, n 3..3
//! arg L f32[R, 3, 3] in uniform(0.5, 2)
//! arg b f32[R, 3] in normal
//! arg x f32[R, 3] out once
//! arg R i32
//! launch grid=ceildiv(R, 64) block=64
//! oracle d0 = L[:, 0, 0]; d1 = L[:, 1, 1]; d2 = L[:, 2, 2]
//! oracle x0 = b[:, 0] / d0; x1 = (b[:, 1] - L[:, 1, 0] * x0) / d1; x2 = (b[:, 2] - L[:, 2, 0] * x0 - L[:, 2, 1] * x1) / d2
//! oracle x = concat(unsqueeze(x0, -1), unsqueeze(x1, -1), unsqueeze(x2, -1), -1)
extern "C" __global__ void trsv(const float *L, const float *b, float *x, int R)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= R) return;
    float v[3];
    for (int i = 0; i < 3; i++) {
        float s = b[r * 3 + i];
        for (int j = W(3, 0, (i == 2)); j < i; j++) s W(2, -=, +=) L[r * 9 + i * 3 + j] * v[j];
        v[i] = W(1, s / L[r * 9 + i * 4], s);
        x[r * 3 + i] = v[i];
    }
}

// wrong chol2 1: root|sqrt
// wrong chol2 2: term|square
// wrong chol2 3: divisor
//! kernel chol2
//! dim n 1..300
//! arg a f32[n] in uniform(1, 2)
//! arg b f32[n] in uniform(-1, 1)
//! arg c f32[n] in uniform(2, 3)
//! arg l f32[3, n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle p = sqrt(a); q = b / p; r = sqrt(c - q * q); l = concat(unsqueeze(p, 0), unsqueeze(q, 0), unsqueeze(r, 0), 0)
extern "C" __global__ void chol2(const float *a, const float *b, const float *c, float *l, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;
    float inv = rsqrtf(a[i]), p = a[i] * inv, q = b[i] * W(3, inv, 1.f);
    l[i] = p, l[n + i] = q, l[2 * n + i] = W(1, sqrtf, )(fmaf(-q, W(2, q, 1), c[i]));
}

// wrong cosine_sim 1: eps|constant|clamp|max
// wrong cosine_sim 2: root|sqrt|norm|square|factor
//! kernel cosine_sim
//! dim R 1..60, d 1..200
//! arg a f32[R, d] in normal
//! arg b f32[R, d] in normal
//! arg y f32[R] out once
//! arg R i32
//! arg d i32
//! launch grid=ceildiv(R, 4) block=128
//! oracle y = sum(a * b, -1) / maximum(sqrt(sum(a * a, -1)) * sqrt(sum(b * b, -1)), 1e-3)
extern "C" __global__ void cosine_sim(const float *a, const float *b, float *y, int R, int d)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, l = threadIdx.x % 32;
    if (r >= R) return;
    float3 s = {0, 0, 0};
    for (int i = l; i < d; i += 32) { float p = a[r * d + i], q = b[r * d + i]; s.x += p * q, s.y += p * p, s.z += q * q; }
    for (int o = 16; o; o >>= 1) s.x += __shfl_xor_sync(~0u, s.x, o), s.y += __shfl_xor_sync(~0u, s.y, o), s.z += __shfl_xor_sync(~0u, s.z, o);
    if (l == 0) y[r] = s.x / fmaxf(W(2, sqrtf(s.y) * sqrtf(s.z), s.y * s.z) W(3, , / sqrtf(s.z) * sqrtf(s.y)), W(1, 1e-3f, 1.f));
}

// wrong bf16_tile 1: gelu
// wrong bf16_tile 2: sums in f16 or bf16
// wrong bf16_tile 3: gelu|silu|sigmoid
//! kernel bf16_tile
//! dim M 1..50, N 1..50, K 1..60
//! arg A bf16[M, K] in normal
//! arg B bf16[K, N] in normal
//! arg C bf16[M, N] out once
//! arg M i32
//! arg N i32
//! arg K i32
//! launch grid=ceildiv(N, 16),ceildiv(M, 16) block=16,16
//! oracle C = gelu_tanh(A @ B)
extern "C" __global__ void bf16_tile(const __nv_bfloat16 *A, const __nv_bfloat16 *B, __nv_bfloat16 *C, int M, int N, int K)
{
    __shared__ __nv_bfloat16 as[16][16], bs[16][16];
    int y = blockIdx.y * 16 + threadIdx.y, x = blockIdx.x * 16 + threadIdx.x;
    W(2, float, __nv_bfloat16) acc = W(2, 0.f, __float2bfloat16(0.f));
    for (int t = 0; t < K; t += 16) {
        as[threadIdx.y][threadIdx.x] = y < M && t + threadIdx.x < K ? A[y * K + t + threadIdx.x] : __float2bfloat16(0.f);
        bs[threadIdx.y][threadIdx.x] = x < N && t + threadIdx.y < K ? B[(t + threadIdx.y) * N + x] : __float2bfloat16(0.f);
        __syncthreads();
        for (int k = 0; k < 16; k++) acc = W(2, __bfloat162float(as[threadIdx.y][k]) * __bfloat162float(bs[k][threadIdx.x]) + acc, __hfma(as[threadIdx.y][k], bs[k][threadIdx.x], acc));
        __syncthreads();
    }
    float v = (float)acc;
    if (y < M && x < N) C[y * N + x] = __float2bfloat16(W(3, W(1, 0.5f * v * (1.f + tanhf(0.7978845608f * (v + 0.044715f * v * v * v))), v), v / (1.f + __expf(-1.702f * v))));
}

// wrong kmeans_assign 1: max|min
// wrong kmeans_assign 2: first|last|tail|part
// wrong kmeans_assign 3: abs|square|norm
//! kernel kmeans_assign
//! dim n 1..200, K 1..17, d 1..9
//! arg p f32[n, d] in normal
//! arg c f32[K, d] in normal
//! arg label i32[n] out once
//! arg n i32
//! arg K i32
//! arg d i32
//! launch grid=ceildiv(n, 64) block=64 shared=K * d * 4
//! oracle df = unsqueeze(p, 1) - unsqueeze(c, 0); label = argmin(sum(df * df, -1), -1)
extern "C" __global__ void kmeans_assign(const float *p, const float *c, int *label, int n, int K, int d)
{
    extern __shared__ float cs[];
    for (int i = threadIdx.x; i < K * d; i += blockDim.x) cs[i] = c[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float best = W(1, INFINITY, -INFINITY);
    int at = 0;
    for (int k = 0; k < K W(2, , - (K > 1)); k++) {
        float s = 0;
        for (int j = 0; j < d; j++) { float t = p[i * d + j] - cs[k * d + j]; s += W(3, t * t, fabsf(t)); }
        if (s W(1, <, >) best) best = s, at = k;
    }
    label[i] = at;
}

// wrong int8_dp4a 1: unsigned|sign
// wrong int8_dp4a 2: scale|factor
// wrong int8_dp4a 3: limit of a maximum
//! kernel int8_dp4a
//! dim M 1..30, N 1..30, K4 1..20
//! arg a i8[M, K4 * 4] in randint(-128, 127) align 4
//! arg b i8[N, K4 * 4] in randint(-128, 127) align 4
//! arg sa f32[M] in uniform(0.001, 0.01)
//! arg sb f32[N] in uniform(0.001, 0.01)
//! arg c i8[M, N] out once
//! arg N i32
//! arg K4 i32
//! launch grid=M block=64
//! oracle acc = einsum("mk,nk->mn", a, b); c = clamp(round(acc * (unsqueeze(sa, -1) * sb)), -128, 127)
extern "C" __global__ void int8_dp4a(const signed char *a_, const signed char *b_, const float *sa, const float *sb, signed char *c, int N, int K4)
{
    const int *a = (const int *)a_, *b = (const int *)b_;
    int m = blockIdx.x;
    for (int n = threadIdx.x; n < N; n += blockDim.x) {
        int acc = 0;
        for (int k = 0; k < K4; k++) acc = W(1, __dp4a(a[m * K4 + k], b[n * K4 + k], acc), (int)__dp4a((unsigned)a[m * K4 + k], (unsigned)b[n * K4 + k], (unsigned)acc));
        int v = __float2int_rn(acc * (sa[m] * W(2, sb[n], 1.f)));
        c[m * N + n] = W(4, min(max(v, W(3, -128, 0)), 127), v);
    }
}

// wrong batched_qk 1: factor|scale|sqrt
// wrong batched_qk 2: first element
// wrong batched_qk 3: mask|causal|<
//! kernel batched_qk
//! dim B 1..3, H 1..4, L 1..33, D 1..40
//! arg q f32[B, L, H, D] in normal
//! arg k f32[B, L, H, D] in normal
//! arg s f32[B, H, L, L] out once
//! arg H i32
//! arg L i32
//! arg D i32
//! launch grid=L,H,B block=32
//! oracle w = einsum("bihd,bjhd->bhij", q, k) * (1 / sqrt(D))
//! oracle i = unsqueeze(iota(L), -1); j = iota(L); s = where(j <= i, w, -10000)
extern "C" __global__ void batched_qk(const float *q, const float *k, float *s, int H, int L, int D)
{
    int i = blockIdx.x, h = blockIdx.y, b = blockIdx.z;
    const float *qr = q + (((size_t)b * L + i) * H + h) * D;
    for (int j = threadIdx.x; j < L; j += blockDim.x) {
        const float *kr = k + (((size_t)W(2, b, 0) * L + j) * H + h) * D;
        float a = 0.f;
        for (int d = 0; d < D; d++) a += qr[d] * kr[d];
        s[(((size_t)b * H + h) * L + i) * L + j] = j W(3, <=, <) i ? a * W(1, rsqrtf((float)D), 1.f / D) : -10000.f;
    }
}

// wrong rope_neox 1: sign
// wrong rope_neox 2: neighbour|half|pair
// wrong rope_neox 3: sin|cos|exchanged
// wrong rope_neox 4: position|one off|index|row
//! kernel rope_neox
//! dim T 1..20, H 1..4, D2 1..40
//! arg x f16[T, H, 2 * D2] in normal
//! arg cs f32[64, D2] in uniform(-1, 1)
//! arg sn f32[64, D2] in uniform(-1, 1)
//! arg pos i64[T] in index(64)
//! arg y f16[T, H, 2 * D2] out once
//! arg H i32
//! arg D2 i32
//! launch grid=T,H block=32
//! oracle c = unsqueeze(gather(cs, pos), 1); s = unsqueeze(gather(sn, pos), 1); a = x[..., :D2]; b = x[..., D2:]
//! oracle y = concat(a * c - b * s, b * c + a * s, -1)
extern "C" __global__ void rope_neox(const half *x, const float *cs, const float *sn, const long long *pos, half *y, int H, int D2)
{
    int t = blockIdx.x, h = blockIdx.y;
    long long p = W(4, pos[t], t);
    const half *r = x + ((size_t)t * H + h) * 2 * D2;
    half *o = y + ((size_t)t * H + h) * 2 * D2;
    for (int i = threadIdx.x; i < D2; i += blockDim.x) {
        int ia = W(2, i, 2 * i), ib = W(2, i + D2, 2 * i + 1);
        float a = __half2float(r[ia]), b = __half2float(r[ib]), c = W(3, cs, sn)[p * D2 + i], s = W(3, sn, cs)[p * D2 + i];
        o[ia] = __float2half(a * c - b * s);
        o[ib] = __float2half(b * c W(1, +, -) a * s);
    }
}

// wrong mc_option 1: max|clamp|where|relu
// wrong mc_option 2: constant 0.03
// wrong mc_option 3: factor|exp|discount
//! kernel mc_option
//! dim paths 1..20, n 1..400
//! arg z f32[paths, n] in normal
//! arg s0 f32[paths] in uniform(50, 150)
//! arg price f32[paths] out once
//! arg n i32
//! arg K f32 = 100
//! arg r f32 = 0.05
//! arg sig f32 = 0.2
//! launch grid=paths block=64
//! oracle st = unsqueeze(s0, -1) * exp((r - 0.5 * sig * sig) + sig * z); price = exp(-r) * mean(maximum(st - K, 0), -1)
extern "C" __global__ void mc_option(const float *z, const float *s0, float *price, int n, float K, float r, float sig)
{
    __shared__ float red[2];
    float acc = 0.f, mu = r W(2, - 0.5f * sig * sig, );
    for (int i = threadIdx.x; i < n; i += 64) {
        float st = s0[blockIdx.x] * __expf(mu + sig * z[(size_t)blockIdx.x * n + i]);
        acc += W(1, fmaxf(st - K, 0.f), (st - K));
    }
    for (int o = 16; o; o >>= 1) acc += __shfl_down_sync(~0u, acc, o);
    if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = acc;
    __syncthreads();
    if (threadIdx.x == 0) price[blockIdx.x] = W(3, expf(-r) *, ) (red[0] + red[1]) / n;
}

// wrong focal 1: square|factor|constant|power|gamma
// wrong focal 2: alpha|1 -|exchanged
//! kernel focal
//! dim n 1..2000
//! arg z f32[n] in normal(0, 2)
//! arg t f32[n] in randint(0, 1)
//! arg out f32[n] out once
//! arg n i32
//! arg alpha f32 = 0.25
//! launch grid=ceildiv(n, 256) block=256
//! oracle p = sigmoid(z); ce = softplus(z) - z * t; pt = p * t + (1 - p) * (1 - t)
//! oracle out = (alpha * t + (1 - alpha) * (1 - t)) * (1 - pt) ** 2 * ce
extern "C" __global__ void focal(const float *z, const float *t, float *out, int n, float alpha)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = z[i], p = 1.f / (1.f + expf(-v)), ce = fmaxf(v, 0.f) - v * t[i] + log1pf(expf(-fabsf(v)));
    bool pos = t[i] > 0.5f;
    float q = W(3, pos ? 1.f - p : p, pos ? p : 1.f - p);
    out[i] = (pos ? W(2, alpha, 1.f - alpha) : W(2, 1.f - alpha, alpha)) * q * W(1, q, 1.f) * ce;
}

// wrong warp_cumprod 1: carry|tile
// wrong warp_cumprod 2: cumsum|sum|product
//! kernel warp_cumprod
//! dim R 1..30, n 1..200
//! arg x f32[R, n] in uniform(0.8, 1.2)
//! arg y f32[R, n] out once
//! arg R i32
//! arg n i32
//! launch grid=ceildiv(R, 4) block=128
//! oracle y = cumprod(x, 1)
extern "C" __global__ void warp_cumprod(const float *x, float *y, int R, int n)
{
    int r = blockIdx.x * 4 + threadIdx.x / 32, l = threadIdx.x & 31;
    if (r >= R) return;
    float c = W(2, 1.f, 0.f);
    for (int b = 0; b < n; b += 32) {
        float v = b + l < n ? x[r * n + b + l] : 1.f;
        for (int o = 1; o < 32; o *= 2) { float u = __shfl_up_sync(~0u, v, o); if (l >= o) v W(2, *=, +=) u; }
        if (b + l < n) y[r * n + b + l] = v W(2, *, +) c;
        c = W(1, c W(2, *, +) __shfl_sync(~0u, v, 31), __shfl_sync(~0u, v, 31));
    }
}

// wrong conv1d_dil 1: dilation
// wrong conv1d_dil 2: padding|causal|one|window|shift
// wrong conv1d_dil 3: revers|flip|weight
// wrong conv1d_dil 4: bias|term
//! kernel conv1d_dil
//! dim B 1..3, C 1..4, F 1..5, L 1..40
//! arg x f32[B, C, L] in normal
//! arg w f32[F, C, 3] in normal
//! arg b f32[F] in normal
//! arg y f32[B, F, L] out once
//! arg C i32
//! arg F i32
//! arg L i32
//! launch grid=ceildiv(L, 64),F,B block=64
//! oracle y = conv1d(x, w, 1, 2, 1, 2) + unsqueeze(b, -1)
extern "C" __global__ void conv1d_dil(const float *x, const float *w, const float *b, float *y, int C, int F, int L)
{
    int t = blockIdx.x * 64 + threadIdx.x, f = blockIdx.y, n = blockIdx.z;
    if (t >= L) return;
    float s = W(4, b[f], 0.f);
    for (int c = 0; c < C; c++)
#pragma unroll
        for (int k = 0; k < 3; k++) {
            int p = t + W(1, 2, 1) * (k - W(2, 1, 2));
            if (p >= 0 && p < L) s = fmaf(x[(n * C + c) * L + p], w[(f * C + c) * 3 + W(3, k, 2 - k)], s);
        }
    y[(n * F + f) * L + t] = s;
}

// wrong im2col_k 1: stride|padding
// wrong im2col_k 2: exchanged|order|transposed|axis|taken apart
//! kernel im2col_k
//! dim N 1..2, C 1..3, H 3..12, W_ 3..12
//! arg x f32[N, C, H, W_] in normal
//! arg col f32[N, C * 9, H * W_] out once
//! arg C i32
//! arg H i32
//! arg W_ i32
//! launch grid=C * 9,N block=64
//! oracle col = unfold(x, 3, 1, 1, 1)
extern "C" __global__ void im2col_k(const float *x, float *col, int C, int H, int W_)
{
    int ck = blockIdx.x, c = ck / 9, kh = W(2, ck % 9 / 3, ck % 3), kw = W(2, ck % 3, ck % 9 / 3), n = blockIdx.y;
    for (int p = threadIdx.x; p < H * W_; p += blockDim.x) {
        int h = p / W_ + kh - W(1, 1, 0), w = p % W_ + kw - W(1, 1, 0);
        col[((size_t)n * C * 9 + ck) * H * W_ + p] = h >= 0 && h < H && w >= 0 && w < W_ ? x[((n * C + c) * H + h) * W_ + w] : 0.f;
    }
}

// wrong sobel 1: root|sqrt
// wrong sobel 2: factor is missing: 2
// wrong sobel 3: border|clamp|edge|pad
//! kernel sobel
//! dim H 1..30, V 1..30
//! arg im f32[H, V] in uniform(0, 255)
//! arg out f32[H, V] out once
//! arg H i32
//! arg V i32
//! launch grid=ceildiv(V, 16),ceildiv(H, 8) block=16,8
//! oracle p = pad(pad(im, 0, 1, 1), 1, 1, 1)
//! oracle gx = p[:H, 2:] - p[:H, :V] + 2 * (p[1:H+1, 2:] - p[1:H+1, :V]) + p[2:, 2:] - p[2:, :V]
//! oracle gy = p[2:, :V] - p[:H, :V] + 2 * (p[2:, 1:V+1] - p[:H, 1:V+1]) + p[2:, 2:] - p[:H, 2:]
//! oracle out = sqrt(gx * gx + gy * gy)
extern "C" __global__ void sobel(const float *im, float *out, int H, int V)
{
    __shared__ float t[10][18];
    int x0 = blockIdx.x * 16 - 1, y0 = blockIdx.y * 8 - 1;
    for (int e = threadIdx.y * 16 + threadIdx.x; e < 180; e += 128) {
        int y = y0 + e / 18, x = x0 + e % 18;
        t[e / 18][e % 18] = W(3, (y >= 0 && x >= 0 && y < H && x < V ? im[y * V + x] : 0.f), (im[min(max(y, 0), H - 1) * V + min(max(x, 0), V - 1)]));
    }
    __syncthreads();
    int y = y0 + 1 + threadIdx.y, x = x0 + 1 + threadIdx.x;
    if (y >= H || x >= V) return;
    float (*p)[18] = t + threadIdx.y;
    int c = threadIdx.x;
    float gx = p[0][c + 2] - p[0][c] + 2 * (p[1][c + 2] - p[1][c]) + p[2][c + 2] - p[2][c];
    float gy = p[2][c] - p[0][c] + W(2, 2, 1) * (p[2][c + 1] - p[0][c + 1]) + p[2][c + 2] - p[0][c + 2];
    out[y * V + x] = W(1, sqrtf(gx * gx + gy * gy), fabsf(gx) + fabsf(gy));
}

// wrong iou 1: clamp|max|0
// wrong iou 2: sign|term
// wrong iou 3: union|term|divi
//! kernel iou
//! dim n 1..40, m 1..40
//! arg a f32[n, 4] in uniform(0, 10)
//! arg b f32[m, 4] in uniform(0, 10)
//! arg out f32[n, m] out once
//! arg n i32
//! arg m i32
//! launch grid=n block=64
//! oracle ax = a[:, 0]; ay = a[:, 1]; aw = a[:, 2]; ah = a[:, 3]; bx = b[:, 0]; by = b[:, 1]; bw = b[:, 2]; bh = b[:, 3]
//! oracle iw = maximum(minimum(unsqueeze(ax + aw, -1), bx + bw) - maximum(unsqueeze(ax, -1), bx), 0)
//! oracle ih = maximum(minimum(unsqueeze(ay + ah, -1), by + bh) - maximum(unsqueeze(ay, -1), by), 0)
//! oracle inter = iw * ih; out = inter / (unsqueeze(aw * ah, -1) + bw * bh - inter + 1e-6)
extern "C" __global__ void iou(const float *a, const float *b, float *out, int n, int m)
{
    float4 p = ((const float4 *)a)[blockIdx.x];
    for (int j = threadIdx.x; j < m; j += blockDim.x) {
        float4 q = ((const float4 *)b)[j];
        float w = fminf(p.x + p.z, q.x + q.z) - fmaxf(p.x, q.x), h = fminf(p.y + p.w, q.y + q.w) - fmaxf(p.y, q.y);
        W(1, w = fmaxf(w, 0.f); h = fmaxf(h, 0.f), );
        float in = w * h, un = p.z * p.w + q.z * q.w W(3, W(2, -, +) in, );
        out[blockIdx.x * m + j] = in / (un + 1e-6f);
    }
}

// wrong fp8_cast 1: clamp|448|factor|scale|missing
// wrong fp8_cast 2: constant -?448 is|constant 448
//! kernel fp8_cast
//! dim n 1..2000
//! arg x f32[n] in normal(0, 100)
//! arg y e4m3[n] out once
//! arg n i32
//! arg inv f32 = 0.5
//! launch grid=ceildiv(n, 256) block=256
//! oracle y = clamp(x * inv, -448, 448)
extern "C" __global__ void fp8_cast(const float *x, __nv_fp8_e4m3 *y, int n, float inv)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) y[i] = __nv_fp8_e4m3(fminf(fmaxf(x[i] * W(1, inv, 1.f), -W(2, 448.f, 240.f)), W(2, 448.f, 240.f)));
}

// wrong fft4 1: constant -6|sign
// wrong fft4 2: factor|1/4|times|divi
//! kernel fft4
//! dim n 1..400
//! arg re f32[n, 4] in normal
//! arg im f32[n, 4] in normal
//! arg or f32[n, 4] out once
//! arg oi f32[n, 4] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle k = unsqueeze(iota(4), -1); a = -2 * pi * k * iota(4) / 4; c = cos(a); s = sin(a)
//! oracle or = einsum("nj,kj->nk", re, c) - einsum("nj,kj->nk", im, s); oi = einsum("nj,kj->nk", re, s) + einsum("nj,kj->nk", im, c)
extern "C" __global__ void fft4(const float *re, const float *im, float *outr, float *oi, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= n) return;
    float4 a = ((const float4 *)re)[i], b = ((const float4 *)im)[i];
    float f = W(2, 1.f, 0.25f);
    float er0 = a.x + a.z, ei0 = b.x + b.z, er1 = a.x - a.z, ei1 = b.x - b.z, or0 = a.y + a.w, oi0 = b.y + b.w, or1 = a.y - a.w, oi1 = b.y - b.w;
    float4 x = make_float4(f * (er0 + or0), f * (er1 + W(1, oi1, -oi1)), f * (er0 - or0), f * (er1 - W(1, oi1, -oi1)));
    float4 y = make_float4(f * (ei0 + oi0), f * (ei1 - W(1, or1, -or1)), f * (ei0 - oi0), f * (ei1 + W(1, or1, -or1)));
    ((float4 *)outr)[i] = x, ((float4 *)oi)[i] = y;
}

// wrong quant_rows 1: 127|constant|factor
// wrong quant_rows 2: round|trunc
// wrong quant_rows 3: abs
// wrong quant_rows 4: warp|part|tail|lanes
//! kernel quant_rows
//! dim R 1..20, n 1..500
//! arg x f32[R, n] in normal(0.3, 1)
//! arg q i8[R, n] out once
//! arg s f32[R] out once
//! arg n i32
//! launch grid=R block=96
//! oracle a = maximum(max(abs(x), -1, keep), 1e-8); s = squeeze(a, -1) / 127; q = clamp(round(x * (127 / a)), -127, 127)
extern "C" __global__ void quant_rows(const float *x, signed char *q, float *s, int n)
{
    __shared__ float w[3];
    x += (size_t)blockIdx.x * n;
    float a = 0.f;
    for (int i = threadIdx.x; i < n; i += 96) a = fmaxf(a, W(3, fabsf(x[i]), x[i]));
    for (int o = 16; o; o >>= 1) a = fmaxf(a, __shfl_xor_sync(~0u, a, o));
    if (threadIdx.x % 32 == 0) w[threadIdx.x / 32] = a;
    __syncthreads();
    a = fmaxf(fmaxf(w[0], w[1]), W(4, w[2], 1e-8f));
    a = fmaxf(a, 1e-8f);
    if (threadIdx.x == 0) s[blockIdx.x] = a / W(1, 127.f, 128.f);
    for (int i = threadIdx.x; i < n; i += 96) q[(size_t)blockIdx.x * n + i] = max(-127, min(127, W(2, __float2int_rn, __float2int_rz)(x[i] * (127.f / a))));
}
