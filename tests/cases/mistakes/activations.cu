// regen: no
// Activations, dropout and their gradients, right and with mistakes (pick.h).
#include "pick.h"

// wrong gelu_fwd 1: gelu_tanh
// wrong gelu_fwd 2: constant 0.5 is 1|y is 2 times
// wrong gelu_fwd 3: constant 0.7071068 is 1.414|divided where|multiplied where|0.7071068
//! kernel gelu_fwd
//! dim n 1..4000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 256) block=256
//! oracle y = gelu(x)
extern "C" __global__ void gelu_fwd(const float *__restrict__ x, float *__restrict__ y, int n)
{
    const int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < n) {
        const float v = x[idx];
        y[idx] = W(2, 0.5f, 1.0f) * v * (1.0f + W(1, erff(v * W(3, 0.70710678f, 1.41421356f)), tanhf(0.79788456f * (v + 0.044715f * v * v * v))));
    }
}

// wrong silu_backward 1: sign is turned
// wrong silu_backward 2: factor is missing.*dy
// wrong silu_backward 3: is missing
// wrong silu_backward 4: 1 - |term|minus|missing
//! kernel silu_backward
//! dim n 1..3000
//! arg dy f32[n] in normal
//! arg x f32[n] in normal
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle s = sigmoid(x); dx = dy * s * (1 + x * (1 - s))
extern "C" __global__ void silu_backward(const float *dy, const float *x, float *dx, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float sig = 1.0f / (1.0f + __expf(-x[i]));
        dx[i] = W(2, dy[i], 1.0f) * sig * (1.0f W(1, +, -) W(3, x[i], 0.0f) * (W(4, 1.0f - sig, sig)));
    }
}

// wrong leaky 1: constant 0.01 is 0.1
// wrong leaky 2: negated|the other way|exchanged|< for >
// wrong leaky 3: factor is missing: 0.01|constant 0.01 is 1
// wrong leaky 4: constant 0.01 is 0|maximum
//! kernel leaky
//! dim n 1..3000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = where(x > 0, x, 0.01 * x)
extern "C" __global__ void leaky(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = v W(2, >, <) 0.f ? v : W(3, W(1, 0.01f, 0.1f), 1.f) * W(4, v, 0.f);
}

// wrong hardswish 1: upper|minimum
// wrong hardswish 2: lower|maximum
// wrong hardswish 3: constant 6 is 5|times
// wrong hardswish 4: term is missing: 3|constant 3
//! kernel hardswish
//! dim n 1..3000
//! arg x f32[n] in normal(0, 4)
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x * clamp(x + 3, 0, 6) / 6
extern "C" __global__ void hardswish(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = x[i], g = W(4, v + 3.f, v);
    W(2, g = fmaxf(g, 0.f), );
    W(1, g = fminf(g, 6.f), );
    y[i] = v * g / W(3, 6.f, 5.f);
}

// wrong relu6_grad 1: half|condition|upper
// wrong relu6_grad 2: half|condition|lower
// wrong relu6_grad 3: negated|the other way|exchanged
//! kernel relu6_grad
//! dim n 1..3000
//! arg x f32[n] in normal(3, 4)
//! arg dy f32[n] in normal
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle dx = where((x > 0) & (x < 6), dy, 0)
extern "C" __global__ void relu6_grad(const float *x, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) dx[i] = (W(2, x[i] > 0.f, true) && W(1, x[i] < 6.f, true)) ? W(3, dy[i], 0.f) : W(3, 0.f, dy[i]);
}

// wrong mish 1: none
// wrong mish 2: sigmoid|tanh
//! kernel mish
//! dim n 1..3000
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x * tanh(softplus(x))
extern "C" __global__ void mish(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = x[i], sp = v > 20.f ? v : log1pf(W(1, expf(v), v * v));
    y[i] = v * W(2, tanhf(sp), 1.f / (1.f + expf(-sp)));
}

// wrong geglu 1: two slices of x are exchanged
// wrong geglu 2: gelu_tanh
// wrong geglu 3: neighbours for halves
// wrong geglu 4: factor is missing
//! kernel geglu
//! dim rows 1..40, d 1..300
//! arg x f32[rows, 2 * d] in normal
//! arg y f32[rows, d] out once
//! arg d i32
//! launch grid=rows block=128
//! oracle y = gelu(x[..., :d]) * x[..., d:]
extern "C" __global__ void geglu(const float *x, float *y, int d)
{
    const float *r = x + (size_t)blockIdx.x * 2 * d;
    for (int j = threadIdx.x; j < d; j += blockDim.x) {
        float a = W(3, r[W(1, j, d + j)], r[2 * j]), b = W(3, r[W(1, d + j, j)], r[2 * j + 1]);
        float g = W(2, 0.5f * a * (1.f + erff(a * 0.70710678f)), 0.5f * a * (1.f + tanhf(0.79788456f * (a + 0.044715f * a * a * a))));
        y[(size_t)blockIdx.x * d + j] = g * W(4, b, 1.f);
    }
}

// wrong bias_dropout 1: divisor is missing|which is|times
// wrong bias_dropout 2: == for !=|negated
// wrong bias_dropout 3: first element|bias
// wrong bias_dropout 4: term is missing: bias
// wrong bias_dropout 5: term is missing: res
//! kernel bias_dropout
//! dim rows 1..40, cols 1..300
//! arg x f32[rows, cols] in normal
//! arg bias f32[cols] in normal
//! arg res f32[rows, cols] in normal
//! arg mask u8[rows, cols] in randint(0, 1)
//! arg y f32[rows, cols] out once
//! arg cols i32
//! arg p f32 = 0.25
//! launch grid=rows block=128
//! oracle y = res + where(mask != 0, (x + bias) / (1 - p), 0)
extern "C" __global__ void bias_dropout(const float *x, const float *bias, const float *res, const unsigned char *mask, float *y, int cols, float p)
{
    float scale = W(1, 1.f / (1.f - p), 1.f);
    for (int c = threadIdx.x; c < cols; c += blockDim.x) {
        size_t i = (size_t)blockIdx.x * cols + c;
        float v = x[i] + W(4, bias[W(3, c, 0)], 0.f);
        y[i] = W(5, res[i], 0.f) + (W(2, mask[i], !mask[i]) ? v * scale : 0.f);
    }
}

// wrong elu_fwd 1: factor is missing: alpha|alpha
// wrong elu_fwd 2: term is missing|1
// wrong elu_fwd 3: negated|turned round|exchanged
//! kernel elu_fwd
//! dim n 1..3000
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! arg alpha f32 = 1.7
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = elu(x, alpha)
extern "C" __global__ void elu_fwd(const float *x, float *y, int n, float alpha)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float v = x[i], e = W(1, alpha, 1.f) * (expf(fminf(v, 0.f)) - W(2, 1.f, 0.f));
    y[i] = v > 0 ? W(3, v, e) : W(3, e, v);
}

// wrong tanhshrink 1: sign is turned
// wrong tanhshrink 2: none
// wrong tanhshrink 3: sigmoid
//! kernel tanhshrink
//! dim n 1..3000
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x - tanh(x)
extern "C" __global__ void tanhshrink(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = x[i] W(1, -, +) W(3, tanhf(W(2, x[i], 0.5f * x[i])), 1.f / (1.f + expf(-x[i])));
}
