// regen: no
// Optimisers and losses, right and with mistakes (pick.h).
#include "pick.h"

// wrong adamw_step 1: factor is missing.*bc2|bc2
// wrong adamw_step 2: term is missing|wd|decay
// wrong adamw_step 3: root
// wrong adamw_step 4: exchanged|b1
// wrong adamw_step 5: factor is missing|g
// wrong adamw_step 6: root|eps
// wrong adamw_step 7: sign
// wrong adamw_step 8: old|before|stale|previous
//! kernel adamw_step
//! dim n 1..3000
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg m f32[n] inout normal(0, 0.1)
//! arg v f32[n] inout uniform(0, 0.1)
//! arg n i32
//! arg lr f32 = 0.01
//! arg b1 f32 = 0.9
//! arg b2 f32 = 0.99
//! arg eps f32 = 0.001
//! arg wd f32 = 0.1
//! arg bc1 f32 = 0.52
//! arg bc2 f32 = 0.07
//! launch grid=ceildiv(n, 256) block=256
//! oracle m = b1 * m + (1 - b1) * g
//! oracle v = b2 * v + (1 - b2) * g * g
//! oracle p = p - lr * wd * p - lr * (m / bc1) / (sqrt(v / bc2) + eps)
extern "C" __global__ void adamw_step(float *p, const float *g, float *m, float *v, int n, float lr, float b1, float b2, float eps, float wd, float bc1, float bc2)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float gi = g[i], w = p[i], mo = m[i];
    float mi = W(4, b1, b2) * mo + (1.f - W(4, b1, b2)) * gi, vi = b2 * v[i] + (1.f - b2) * gi * W(5, gi, 1.f);
    m[i] = mi;
    v[i] = vi;
    float vh = vi / W(1, bc2, 1.f), den = W(3, W(6, sqrtf(vh) + eps, sqrtf(vh + eps)), vh + eps);
    p[i] = w - W(2, lr * wd * w, 0.f) W(7, -, +) lr * (W(8, mi, mo) / bc1) / den;
}

// wrong sgd_nesterov 1: nesterov|term|factor|buf as it was before
// wrong sgd_nesterov 2: factor is missing.*lr|lr
// wrong sgd_nesterov 3: term is missing|wd
// wrong sgd_nesterov 4: sign
//! kernel sgd_nesterov
//! dim n 1..3000
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg buf f32[n] inout normal
//! arg n i32
//! arg lr f32 = 0.1
//! arg mu f32 = 0.9
//! arg wd f32 = 0.02
//! launch grid=ceildiv(n, 256) block=256
//! oracle d = g + wd * p; buf = mu * buf + d; p = p - lr * (d + mu * buf)
extern "C" __global__ void sgd_nesterov(float *p, const float *g, float *buf, int n, float lr, float mu, float wd)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float d = g[i] + W(3, wd * p[i], 0.f), b = mu * buf[i] + d;
    buf[i] = b;
    p[i] = p[i] W(4, -, +) W(2, lr, 1.f) * W(1, (d + mu * b), b);
}

// wrong lion 1: exchanged|b1|b2
// wrong lion 2: sign
// wrong lion 3: term is missing|factor is missing
//! kernel lion
//! dim n 1..3000
//! arg p f32[n] inout normal
//! arg g f32[n] in normal
//! arg m f32[n] inout normal
//! arg n i32
//! arg lr f32 = 0.01
//! arg b1 f32 = 0.9
//! arg b2 f32 = 0.5
//! arg wd f32 = 0.1
//! launch grid=ceildiv(n, 256) block=256
//! oracle u = sign(b1 * m + (1 - b1) * g); p = p * (1 - lr * wd) - lr * u; m = b2 * m + (1 - b2) * g
extern "C" __global__ void lion(float *p, const float *g, float *m, int n, float lr, float b1, float b2, float wd)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float c = b1 * m[i] + (1.f - b1) * g[i], u = (c > 0.f) - (c < 0.f);
    W(2, , u = c);
    p[i] = p[i] * (1.f - W(3, lr * wd, 0.f)) - lr * u;
    m[i] = W(1, b2, b1) * m[i] + (1.f - W(1, b2, b1)) * g[i];
}

// wrong ema_clip 1: lower|maximum
// wrong ema_clip 2: upper|minimum
// wrong ema_clip 3: 1 - d for d
//! kernel ema_clip
//! dim n 1..3000
//! arg e f32[n] inout normal
//! arg g f32[n] in normal(0, 3)
//! arg n i32
//! arg d f32 = 0.8
//! launch grid=ceildiv(n, 256) block=256
//! oracle e = d * e + (1 - d) * clamp(g, -1, 1)
extern "C" __global__ void ema_clip(float *e, const float *g, int n, float d)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n) return;
    float v = g[i];
    W(1, v = fmaxf(v, -1.f), );
    W(2, v = fminf(v, 1.f), );
    e[i] = W(3, d, (1.f - d)) * e[i] + W(3, (1.f - d), d) * v;
}

// wrong xent 1: index t is
// wrong xent 2: smoothing|term|factor
// wrong xent 3: sign
// wrong xent 4: no shift|term
// wrong xent 5: base 2
//! kernel xent
//! dim n 1..60, c 2..200
//! arg x f32[n, c] in normal(0, 3)
//! arg t i32[n] in index(c)
//! arg loss f32[n] out once
//! arg n i32
//! arg c i32
//! arg ls f32 = 0.1
//! launch grid=ceildiv(n, 32) block=32
//! oracle z = log_softmax(x, -1); loss = 0 - (1 - ls) * pick(z, t) - ls * mean(z, -1)
extern "C" __global__ void xent(const float *x, const int *t, float *loss, int n, int c, float ls)
{
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= n) return;
    const float *p = x + (size_t)r * c;
    float m = -INFINITY, s = 0.f, a = 0.f;
    for (int i = 0; i < c; i++) m = fmaxf(m, p[i]);
    for (int i = 0; i < c; i++) s += expf(p[i] - m), a += p[i];
    float l = m + W(5, logf, log2f)(s);
    W(4, , l -= m);
    float hit = p[W(1, t[r], min(t[r] + 1, c - 1))] - l;
    loss[r] = W(3, -, +)((1.f - ls) * hit) - W(2, ls * (a / c - l), 0.f);
}

// wrong mean_nll 1: all|valid|divi|n
// wrong mean_nll 2: negated|mask|condition|ignored
// wrong mean_nll 3: sign|times
// wrong mean_nll 4: divi|factor
//! kernel mean_nll
//! dim n 1..200, c 2..20
//! arg z f32[n, c] in normal
//! arg t i32[n] in index(c)
//! arg loss f32[1] out once
//! arg n i32
//! arg c i32
//! launch grid=1 block=32
//! oracle ok = t != 0; k = maximum(sum(where(ok, 1, 0), -1, keep), 1); loss = 0 - sum(where(ok, pick(z, t), 0), -1, keep) / k
extern "C" __global__ void mean_nll(const float *z, const int *t, float *loss, int n, int c)
{
    float s = 0.f, k = 0.f;
    for (int i = threadIdx.x; i < n; i += 32)
        if (W(2, t[i] != 0, true)) s += z[i * c + t[i]], k += 1.f;
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o), k += __shfl_xor_sync(~0u, k, o);
    if (threadIdx.x == 0) loss[0] = W(3, -, +) s / W(4, W(1, fmaxf(k, 1.f), (float)n), 1.f);
}

// wrong bce_logits 1: sign
// wrong bce_logits 2: abs is missing
// wrong bce_logits 3: factor is missing|w
// wrong bce_logits 4: maximum|term
//! kernel bce_logits
//! dim n 1..3000
//! arg x f32[n] in normal(0, 3)
//! arg t f32[n] in uniform(0, 1)
//! arg w f32[n] in uniform(0.5, 2)
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = w * (maximum(x, 0) - x * t + log(1 + exp(-abs(x))))
extern "C" __global__ void bce_logits(const float *x, const float *t, const float *w, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = W(3, w[i], 1.f) * (W(4, fmaxf(v, 0.f), v) W(1, -, +) v * t[i] + logf(1.f + expf(-W(2, fabsf(v), v))));
}

// wrong huber 1: factor is missing|constant
// wrong huber 2: factor is missing|delta
// wrong huber 3: negated|exchanged|turned round
// wrong huber 4: abs
// wrong huber 5: term is missing|constant
//! kernel huber
//! dim n 1..3000
//! arg x f32[n] in normal(0, 2)
//! arg t f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! arg delta f32 = 1.5
//! launch grid=ceildiv(n, 128) block=128
//! oracle d = abs(x - t); y = where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta))
extern "C" __global__ void huber(const float *x, const float *t, float *y, int n, float delta)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float d = W(4, fabsf(x[i] - t[i]), x[i] - t[i]), q = W(1, 0.5f, 1.f) * d * d, l = W(2, delta, 1.f) * (d - W(5, 0.5f * delta, 0.f));
    y[i] = d < delta ? W(3, q, l) : W(3, l, q);
}

// wrong kl_div 1: exchanged|sign
// wrong kl_div 2: term is missing|factor
// wrong kl_div 3: divi|constant|times|which is
//! kernel kl_div
//! dim n 1..40, c 2..200
//! arg p f32[n, c] in uniform(0.01, 1)
//! arg q f32[n, c] in uniform(0.01, 1)
//! arg y f32[n] out once
//! arg c i32
//! launch grid=n block=32
//! oracle y = sum(p * (log(p) - log(q)), -1)
extern "C" __global__ void kl_div(const float *p, const float *q, float *y, int c)
{
    float s = 0.f;
    for (int i = threadIdx.x; i < c; i += 32) {
        float a = p[blockIdx.x * c + i], b = q[blockIdx.x * c + i];
        s += W(1, a, b) * (W(2, W(1, logf(a), logf(b)), 0.f) - W(1, logf(b), logf(a)));
    }
    for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
    if (threadIdx.x == 0) y[blockIdx.x] = s / W(3, 1.f, (float)c);
}

// wrong quantize_s8 1: trunc for round
// wrong quantize_s8 2: lower|upper|wrap|clamp
// wrong quantize_s8 3: term is missing|zp
// wrong quantize_s8 4: multiplied where|factor
// wrong quantize_s8 5: floor
// wrong quantize_s8 6: constant
//! kernel quantize_s8
//! dim n 1..3000
//! arg x f32[n] in normal(0, 6)
//! arg y s8[n] out once
//! arg n i32
//! arg s f32 = 0.07
//! arg zp i32 = 5
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = clamp(round(x / s) + zp, -128, 127)
extern "C" __global__ void quantize_s8(const float *x, signed char *y, int n, float s, int zp)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = x[i] W(4, /, *) s;
    int q = W(1, W(5, __float2int_rn(v), (int)floorf(v)), (int)v) + W(3, zp, 0);
    W(2, q = max(W(6, -128, -127), min(127, q)), );
    y[i] = (signed char)q;
}

// wrong dequant_q4 1: exchanged|reversed|nibble|order
// wrong dequant_q4 2: term is missing|8
// wrong dequant_q4 3: index|first|scale
//! kernel dequant_q4
//! dim rows 1..20, n 1..100
//! arg q u8[rows, n] in
//! arg s f32[rows] in uniform(0.1, 1)
//! arg y f32[rows, 2 * n] out once
//! arg n i32
//! launch grid=rows block=64
//! oracle lo = (q & 15) - 8; hi = (q >> 4) - 8; y = concat(lo, hi, -1) * unsqueeze(s, -1)
extern "C" __global__ void dequant_q4(const unsigned char *q, const float *s, float *y, int n)
{
    for (int i = threadIdx.x; i < n; i += 64) {
        int b = q[blockIdx.x * n + i], z = W(2, 8, 0);
        float k = s[W(3, blockIdx.x, 0)];
        y[blockIdx.x * 2 * n + i] = (W(1, (b & 15), (b >> 4)) - z) * k;
        y[blockIdx.x * 2 * n + n + i] = (W(1, (b >> 4), (b & 15)) - z) * k;
    }
}

// wrong absmax_quant 1: constant
// wrong absmax_quant 2: abs is missing
// wrong absmax_quant 3: trunc for round
// wrong absmax_quant 4: upside down
//! kernel absmax_quant
//! dim rows 1..20, n 1..300
//! arg x f32[rows, n] in normal
//! arg y s8[rows, n] out once
//! arg scale f32[rows] out once
//! arg n i32
//! launch grid=rows block=32
//! oracle a = maximum(max(abs(x), -1, keep), 0.0001); y = round(x / a * 127); scale = squeeze(a, -1) / 127
extern "C" __global__ void absmax_quant(const float *x, signed char *y, float *scale, int n)
{
    const float *r = x + blockIdx.x * n;
    float a = 0.f;
    for (int i = threadIdx.x; i < n; i += 32) a = fmaxf(a, W(2, fabsf(r[i]), r[i]));
    for (int o = 16; o; o /= 2) a = fmaxf(a, __shfl_xor_sync(~0u, a, o));
    a = fmaxf(a, 0.0001f);
    for (int i = threadIdx.x; i < n; i += 32) y[blockIdx.x * n + i] = (signed char)W(3, rintf, truncf)(r[i] / a * W(1, 127.f, 128.f));
    if (threadIdx.x == 0) scale[blockIdx.x] = W(4, a / 127.f, 127.f / a);
}
