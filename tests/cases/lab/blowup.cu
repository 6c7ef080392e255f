// Right kernels for texts whose bounds blow up, six orders of summation each: tests/lab-experiments --blow-up.
// regen: no
#include <math.h>

// The sum of f(0) .. f(n - 1) in one of six orders: forwards, backwards, even then odd, in 32 parts, pairwise by halves, compensated.
template <int ORDER, typename F> __device__ float sum_of(int n, F f)
{
    float s = 0, c = 0, part[32] = {};
    switch (ORDER) {
    case 0: for (int i = 0; i < n; i++) s += f(i); break;
    case 1: for (int i = n; i-- > 0;) s += f(i); break;
    case 2:
        for (int i = 0; i < n; i += 2) s += f(i);
        for (int i = 1; i < n; i += 2) s += f(i);
        break;
    case 3:
        for (int i = 0; i < n; i++) part[i % 32] += f(i);
        for (int i = 0; i < 32; i++) s += part[i];
        break;
    case 4:
        for (int i = 0; i < n; i++) part[i % 32] += f(i);
        for (int d = 16; d; d /= 2)
            for (int i = 0; i < d; i++) part[i] += part[i + d];
        s = part[0];
        break;
    default:
        for (int i = 0; i < n; i++) {
            float y = f(i) - c, t = s + y;
            c = (t - s) - y;
            s = t;
        }
    }
    return s;
}

template <int ORDER> __device__ void normalise(const float *x, const float *g, const float *b, float *y)
{
    x += blockIdx.x * 256;
    float mean = sum_of<ORDER>(256, [&](int i) { return x[i]; }) / 256;
    float r = rsqrtf(sum_of<ORDER>(256, [&](int i) { return (x[i] - mean) * (x[i] - mean); }) / 256 + 1e-5f);
    for (int i = 0; i < 256; i++) y[blockIdx.x * 256 + i] = (x[i] - mean) * r * g[i] + b[i];
}

//! kernel layernorm_0<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 256] in normal(0, 1)
//! arg g f32[256] in normal(0, 1)
//! arg b f32[256] in normal(0, 1)
//! arg y f32[rows, 256] out once
//! launch grid=rows block=1
//! oracle y = layernorm(x, g, b, 1e-5)
template <int ORDER> __global__ void layernorm_0(const float *x, const float *g, const float *b, float *y)
{
    normalise<ORDER>(x, g, b, y);
}

//! kernel layernorm_1000<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 256] in normal(1000, 1)
//! arg g f32[256] in normal(0, 1)
//! arg b f32[256] in normal(0, 1)
//! arg y f32[rows, 256] out once
//! launch grid=rows block=1
//! oracle y = layernorm(x, g, b, 1e-5)
template <int ORDER> __global__ void layernorm_1000(const float *x, const float *g, const float *b, float *y)
{
    normalise<ORDER>(x, g, b, y);
}

//! kernel layernorm_100000<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 256] in normal(100000, 1)
//! arg g f32[256] in normal(0, 1)
//! arg b f32[256] in normal(0, 1)
//! arg y f32[rows, 256] out once
//! launch grid=rows block=1
//! oracle y = layernorm(x, g, b, 1e-5)
template <int ORDER> __global__ void layernorm_100000(const float *x, const float *g, const float *b, float *y)
{
    normalise<ORDER>(x, g, b, y);
}

//! kernel variance_100<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 256] in normal(100, 1)
//! arg y f32[rows] out once
//! launch grid=rows block=1
//! oracle y = var(x, -1)
template <int ORDER> __global__ void variance_100(const float *x, float *y)
{
    x += blockIdx.x * 256;
    float mean = sum_of<ORDER>(256, [&](int i) { return x[i]; }) / 256;
    y[blockIdx.x] = sum_of<ORDER>(256, [&](int i) { return (x[i] - mean) * (x[i] - mean); }) / 256;
}

//! kernel one_less_cos
//! dim    n 2048..2048
//! arg x f32[n] in normal(0, 0.001)
//! arg y f32[n] out once
//! launch grid=n / 32 block=32
//! oracle y = 1 - cos(x)
__global__ void one_less_cos(const float *x, float *y)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    y[i] = 1 - cosf(x[i]);
}

//! kernel matmul_4096<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    m 8..8
//! arg a f32[m, 4096] in normal(0, 1)
//! arg b f32[4096, 8] in normal(0, 1)
//! arg y f32[m, 8] out once
//! launch grid=m block=8
//! oracle y = a @ b
template <int ORDER> __global__ void matmul_4096(const float *a, const float *b, float *y)
{
    int i = blockIdx.x, j = threadIdx.x;
    y[i * 8 + j] = sum_of<ORDER>(4096, [&](int k) { return a[i * 4096 + k] * b[k * 8 + j]; });
}

// h + gelu(rmsnorm(h, g) w) v, DEPTH times. A block takes a row of 16; a thread an element of 32.
template <int ORDER, int DEPTH> __device__ void blocks(const float *x, const float *g, const float *w, const float *v, float *y)
{
    __shared__ float h[16], n[16], u[32];
    int t = threadIdx.x;
    if (t < 16) h[t] = x[blockIdx.x * 16 + t];
    for (int d = 0; d < DEPTH; d++, w += 16 * 32, v += 32 * 16) {
        __syncthreads();
        float r = rsqrtf(sum_of<ORDER>(16, [&](int i) { return h[i] * h[i]; }) / 16 + 1e-5f);
        if (t < 16) n[t] = h[t] * r * g[t];
        __syncthreads();
        float s = sum_of<ORDER>(16, [&](int i) { return n[i] * w[i * 32 + t]; });
        u[t] = 0.5f * s * (1 + erff(s * 0.70710678f));
        __syncthreads();
        if (t < 16) h[t] += sum_of<ORDER>(32, [&](int i) { return u[i] * v[i * 16 + t]; });
    }
    if (t < 16) y[blockIdx.x * 16 + t] = h[t];
}

//! kernel blocks_1<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 16] in normal(0, 1)
//! arg g f32[16] in normal(1, 0.1)
//! arg w f32[1, 16, 32] in normal(0, 0.25)
//! arg v f32[1, 32, 16] in normal(0, 0.1768)
//! arg y f32[rows, 16] out once
//! launch grid=rows block=32
//! oracle def block(h, w, v) = h + gelu(rmsnorm(h, g, 1e-5) @ w) @ v; y = block(x, w[0], v[0])
template <int ORDER> __global__ void blocks_1(const float *x, const float *g, const float *w, const float *v, float *y)
{
    blocks<ORDER, 1>(x, g, w, v, y);
}

//! kernel blocks_2<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 16] in normal(0, 1)
//! arg g f32[16] in normal(1, 0.1)
//! arg w f32[2, 16, 32] in normal(0, 0.25)
//! arg v f32[2, 32, 16] in normal(0, 0.1768)
//! arg y f32[rows, 16] out once
//! launch grid=rows block=32
//! oracle def block(h, w, v) = h + gelu(rmsnorm(h, g, 1e-5) @ w) @ v; y = block(block(x, w[0], v[0]), w[1], v[1])
template <int ORDER> __global__ void blocks_2(const float *x, const float *g, const float *w, const float *v, float *y)
{
    blocks<ORDER, 2>(x, g, w, v, y);
}

//! kernel blocks_4<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 16] in normal(0, 1)
//! arg g f32[16] in normal(1, 0.1)
//! arg w f32[4, 16, 32] in normal(0, 0.25)
//! arg v f32[4, 32, 16] in normal(0, 0.1768)
//! arg y f32[rows, 16] out once
//! launch grid=rows block=32
//! oracle def block(h, w, v) = h + gelu(rmsnorm(h, g, 1e-5) @ w) @ v; y = block(block(block(block(x, w[0], v[0]), w[1], v[1]), w[2], v[2]), w[3], v[3])
template <int ORDER> __global__ void blocks_4(const float *x, const float *g, const float *w, const float *v, float *y)
{
    blocks<ORDER, 4>(x, g, w, v, y);
}

//! kernel blocks_8<ORDER>
//! config ORDER 0 {0, 1, 2, 3, 4, 5}
//! dim    rows 8..8
//! arg x f32[rows, 16] in normal(0, 1)
//! arg g f32[16] in normal(1, 0.1)
//! arg w f32[8, 16, 32] in normal(0, 0.25)
//! arg v f32[8, 32, 16] in normal(0, 0.1768)
//! arg y f32[rows, 16] out once
//! launch grid=rows block=32
//! oracle def block(h, w, v) = h + gelu(rmsnorm(h, g, 1e-5) @ w) @ v; y = block(block(block(block(block(block(block(block(x, w[0], v[0]), w[1], v[1]), w[2], v[2]), w[3], v[3]), w[4], v[4]), w[5], v[5]), w[6], v[6]), w[7], v[7])
template <int ORDER> __global__ void blocks_8(const float *x, const float *g, const float *w, const float *v, float *y)
{
    blocks<ORDER, 8>(x, g, w, v, y);
}
