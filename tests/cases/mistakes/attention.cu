// regen: no
// Attention and positions, right and with mistakes (pick.h).
#include "pick.h"

// wrong flash_causal 1: mask is off by .1
// wrong flash_causal 2: mask is off by -1
// wrong flash_causal 3: factor is missing|1/sqrt|times|scale
// wrong flash_causal 4: root is missing|1/sqrt.D
// wrong flash_causal 5: no mask
// wrong flash_causal 6: does not rescale the accumulator
// wrong flash_causal 7: does not rescale the sum
// wrong flash_causal 8: no shift|begins with 0
//! kernel flash_causal
//! dim B 1..3, S 2..70, D 4..40
//! arg q f32[B, S, D] in normal
//! arg k f32[B, S, D] in normal
//! arg v f32[B, S, D] in normal
//! arg o f32[B, S, D] out once
//! arg S i32
//! arg D i32
//! launch grid=S,B block=64
//! oracle o = softmax(einsum("bqd,bkd->bqk", q, k) * (1 / sqrt(D)) + causal, -1) @ v
extern "C" __global__ void flash_causal(const float *q, const float *k, const float *v, float *o, int S, int D)
{
    int i = blockIdx.x, d = threadIdx.x;
    size_t base = (size_t)blockIdx.y * S * D;
    float m = W(8, -INFINITY, 0.f), l = 0.f, acc = 0.f, scale = W(4, W(3, rsqrtf((float)D), 1.f), 1.f / D);
    for (int j = 0; j < S; j++) {
        if (!(W(5, j W(1, <=, <= 1 +) i W(2, , - (i > 0)), true))) continue;
        float s = 0.f;
        for (int e = 0; e < D; e++) s += q[base + (size_t)i * D + e] * k[base + (size_t)j * D + e];
        s *= scale;
        float mn = fmaxf(m, s), c = expf(m - mn), p = expf(s - mn);
        acc = acc * W(6, c, 1.f) + (d < D ? p * v[base + (size_t)j * D + d] : 0.f);
        l = l * W(7, c, 1.f) + p;
        m = mn;
    }
    if (d < D) o[base + (size_t)i * D + d] = acc / l;
}

// wrong gqa_decode 1: %|/|index|order
// wrong gqa_decode 2: last element|last 1
// wrong gqa_decode 3: divi|normal|factor
// wrong gqa_decode 4: k and v|exchanged
// wrong gqa_decode 5: tail beyond a multiple of 16
//! kernel gqa_decode
//! dim G 2..3, R 2..3, S 2..90, D 4..32
//! arg q f32[G * R, D] in normal
//! arg k f32[G, S, D] in normal
//! arg v f32[G, S, D] in normal
//! arg o f32[G * R, D] out once
//! arg G i32
//! arg R i32
//! arg S i32
//! arg D i32
//! launch grid=G * R block=32
//! oracle h = reshape(q, G, R, D); s = einsum("grd,gsd->grs", h, k) / sqrt(D)
//! oracle o = reshape(einsum("grs,gsd->grd", softmax(s, -1), v), G * R, D)
extern "C" __global__ void gqa_decode(const float *q, const float *k, const float *v, float *o, int G, int R, int S, int D)
{
    __shared__ float w[90];
    int h = blockIdx.x, g = W(1, h / R, h % G), n = W(2, S, S - 1);
    W(5, , n = S < 16 ? S : S / 16 * 16);
    float m = -INFINITY, l = 0.f;
    for (int s = 0; s < n; s++) {
        float a = threadIdx.x < D ? q[h * D + threadIdx.x] * W(4, k, v)[(g * S + s) * D + threadIdx.x] : 0.f;
        for (int t = 16; t; t /= 2) a += __shfl_xor_sync(~0u, a, t);
        a /= sqrtf((float)D);
        if (threadIdx.x == 0) w[s] = a;
        m = fmaxf(m, a);
    }
    __syncwarp();
    float acc = 0.f;
    for (int s = 0; s < n; s++) {
        float p = expf(w[s] - m);
        l += p;
        if (threadIdx.x < D) acc += p * W(4, v, k)[(g * S + s) * D + threadIdx.x];
    }
    if (threadIdx.x < D) o[h * D + threadIdx.x] = acc / W(3, l, 1.f);
}

// wrong rope_half 1: neighbours for halves
// wrong rope_half 2: sign
// wrong rope_half 3: one off|index
// wrong rope_half 4: exchanged
//! kernel rope_half
//! dim T 2..30, D2 1..20
//! arg x f32[T, 2 * D2] in normal
//! arg c f32[T, D2] in normal
//! arg s f32[T, D2] in normal
//! arg y f32[T, 2 * D2] out once
//! arg T i32
//! arg D2 i32
//! launch grid=T block=32
//! oracle a = x[:, :D2]; b = x[:, D2:]; y = concat(a * c - b * s, b * c + a * s, -1)
extern "C" __global__ void rope_half(const float *x, const float *c, const float *s, float *y, int T, int D2)
{
    int t = blockIdx.x, p = W(3, t, (t + 1) % T);
    for (int i = threadIdx.x; i < D2; i += 32) {
        int u = t * 2 * D2 + W(1, i, 2 * i), w = t * 2 * D2 + W(1, i + D2, 2 * i + 1);
        float co = W(4, c, s)[p * D2 + i], si = W(4, s, c)[p * D2 + i];
        y[u] = x[u] * co - x[w] * si;
        y[w] = x[w] * co W(2, +, -) x[u] * si;
    }
}

// wrong alibi 1: sign
// wrong alibi 2: factor is missing|slope
// wrong alibi 3: first element|index
// wrong alibi 4: negated|mask|other
//! kernel alibi
//! dim Hd 2..6, S 2..40
//! arg x f32[Hd, S, S] in normal
//! arg slope f32[Hd] in uniform(0.1, 0.9)
//! arg y f32[Hd, S, S] out once
//! arg S i32
//! launch grid=S,Hd block=64
//! oracle d = unsqueeze(iota(S), -1) - iota(S); y = where(d >= 0, x - unsqueeze(unsqueeze(slope, -1), -1) * d, -10000)
extern "C" __global__ void alibi(const float *x, const float *slope, float *y, int S)
{
    int i = blockIdx.x, h = blockIdx.y;
    for (int j = threadIdx.x; j < S; j += 64) {
        size_t at = ((size_t)h * S + i) * S + j;
        y[at] = W(4, i >= j, i < j) ? x[at] W(1, -, +) W(2, slope[W(3, h, 0)], 1.f) * (i - j) : -10000.f;
    }
}

// wrong window_attn 1: window|constant|one|<
// wrong window_attn 2: half|condition|window
// wrong window_attn 3: negated|other
//! kernel window_attn
//! dim S 2..70
//! arg x f32[S, S] in normal
//! arg y f32[S, S] out once
//! arg S i32
//! arg w i32 = 9
//! launch grid=S block=32
//! oracle d = unsqueeze(iota(S), -1) - iota(S); y = softmax(where((d >= 0) & (d < w), x, -inf), -1)
extern "C" __global__ void window_attn(const float *x, float *y, int S, int w)
{
    int i = blockIdx.x;
    float m = -INFINITY, l = 0.f;
    auto seen = [&](int j) { return W(3, i >= j && W(2, i - j W(1, <, <=) w, true), i <= j && j - i < w); };
    for (int j = threadIdx.x; j < S; j += 32) if (seen(j)) m = fmaxf(m, x[i * S + j]);
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    for (int j = threadIdx.x; j < S; j += 32) if (seen(j)) l += expf(x[i * S + j] - m);
    for (int o = 16; o; o /= 2) l += __shfl_xor_sync(~0u, l, o);
    for (int j = threadIdx.x; j < S; j += 32) y[i * S + j] = seen(j) ? expf(x[i * S + j] - m) / l : 0.f;
}
