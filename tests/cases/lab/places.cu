// Right values at wrong places, another slope, bytes without a sign, an epsilon that only small variances show: each kernel has its twin, *_ok.
#include <cuda_runtime.h>

template <bool OK> __device__ void gate(const float *x, float *y, int rows, int hidden)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, r = i / hidden, c = i % hidden;
    if (i >= rows * hidden) return;
    x += r * 2 * hidden;
    float a = x[OK ? c : 2 * c], b = x[OK ? hidden + c : 2 * c + 1];
    y[i] = a / (1 + expf(-a)) * b;
}

// Positions of a rotation: elements i and i + half make a pair, or 2i and 2i + 1 where it is wrong.
template <bool OK> __device__ void turn(const float *x, const float *cs, const float *sn, float *y, int half)
{
    int r = blockIdx.x, i = threadIdx.x, a = OK ? i : 2 * i, b = OK ? i + half : 2 * i + 1;
    if (i >= half) return;
    x += r * 2 * half;
    y += r * 2 * half;
    y[a] = x[a] * cs[i] - x[b] * sn[i];
    y[b] = x[b] * cs[i] + x[a] * sn[i];
}

template <bool OK> __device__ void slope(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    y[i] = OK ? v / (1 + expf(-v)) : 0.5f * v * (1 + tanhf(0.79788456f * (v + 0.044715f * v * v * v)));
}

template <bool OK> __device__ void bytes(const signed char *w, const float *x, float *y, int k)
{
    float sum = 0;
    for (int i = threadIdx.x; i < k; i += 32) sum += (OK ? float(w[blockIdx.x * k + i]) : float((unsigned char)w[blockIdx.x * k + i])) * x[i];
    for (int d = 16; d; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}

template <bool OK> __device__ void channel(const float *x, const float *w, const float *b, float *y, int groups, int per)
{
    int g = blockIdx.x, i = threadIdx.x, c = OK ? g * per + i : i;
    if (i < per) y[(blockIdx.y * groups + g) * per + i] = x[(blockIdx.y * groups + g) * per + i] * w[c] + b[c];
}

template <bool OK> __device__ void lanes(const float *x, float *y)
{
    float kept[4];
    for (int i = 0; i < 4; i++) kept[i] = 2 * x[blockIdx.x * 128 + threadIdx.x + 32 * i];
    for (int i = 0; i < 4; i++) y[blockIdx.x * 128 + (OK ? threadIdx.x + 32 * i : threadIdx.x * 4 + i)] = kept[i];
}

template <bool OK> __device__ void root(const float *x, const float *v, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = OK ? x[i] / (sqrtf(v[i]) + 1e-8f) : x[i] / sqrtf(v[i] + 1e-8f);
}

//! kernel gate
//! dim rows 1..64, hidden 1..512
//! arg x f32[rows, 2 * hidden] in normal
//! arg y f32[rows, hidden] out once
//! arg rows i32
//! arg hidden i32
//! launch grid=ceildiv(rows * hidden, 256) block=256
//! oracle y = silu(x[:, :hidden]) * x[:, hidden:]
extern "C" __global__ void gate(const float *x, float *y, int rows, int hidden) { gate<false>(x, y, rows, hidden); }

//! kernel gate_ok
//! dim rows 1..64, hidden 1..512
//! arg x f32[rows, 2 * hidden] in normal
//! arg y f32[rows, hidden] out once
//! arg rows i32
//! arg hidden i32
//! launch grid=ceildiv(rows * hidden, 256) block=256
//! oracle y = silu(x[:, :hidden]) * x[:, hidden:]
extern "C" __global__ void gate_ok(const float *x, float *y, int rows, int hidden) { gate<true>(x, y, rows, hidden); }

//! kernel turn
//! dim rows 1..64, half 1..128
//! arg x f32[rows, 2 * half] in normal
//! arg cs f32[half] in uniform(-1, 1)
//! arg sn f32[half] in uniform(-1, 1)
//! arg y f32[rows, 2 * half] out once
//! arg half i32
//! launch grid=rows block=128
//! oracle y = rope(x, cs, sn, half)
extern "C" __global__ void turn(const float *x, const float *cs, const float *sn, float *y, int half) { turn<false>(x, cs, sn, y, half); }

//! kernel turn_ok
//! dim rows 1..64, half 1..128
//! arg x f32[rows, 2 * half] in normal
//! arg cs f32[half] in uniform(-1, 1)
//! arg sn f32[half] in uniform(-1, 1)
//! arg y f32[rows, 2 * half] out once
//! arg half i32
//! launch grid=rows block=128
//! oracle y = rope(x, cs, sn, half)
extern "C" __global__ void turn_ok(const float *x, const float *cs, const float *sn, float *y, int half) { turn<true>(x, cs, sn, y, half); }

//! kernel slope
//! dim n 1..4096
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 256) block=256
//! oracle y = silu(x)
extern "C" __global__ void slope(const float *x, float *y, int n) { slope<false>(x, y, n); }

//! kernel slope_ok
//! dim n 1..4096
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 256) block=256
//! oracle y = silu(x)
extern "C" __global__ void slope_ok(const float *x, float *y, int n) { slope<true>(x, y, n); }

//! kernel bytes
//! dim rows 1..64, k 1..200
//! arg w i8[rows, k] in randint(-127, 127)
//! arg x f32[k] in normal
//! arg y f32[rows] out once
//! arg k i32
//! launch grid=rows block=32
//! oracle y = sum(w * x, -1)
extern "C" __global__ void bytes(const signed char *w, const float *x, float *y, int k) { bytes<false>(w, x, y, k); }

//! kernel bytes_ok
//! dim rows 1..64, k 1..200
//! arg w i8[rows, k] in randint(-127, 127)
//! arg x f32[k] in normal
//! arg y f32[rows] out once
//! arg k i32
//! launch grid=rows block=32
//! oracle y = sum(w * x, -1)
extern "C" __global__ void bytes_ok(const signed char *w, const float *x, float *y, int k) { bytes<true>(w, x, y, k); }

//! kernel channel
//! dim batch 1..4, groups 1..8 = 3, per 1..32 = 6
//! arg x f32[batch, groups * per] in normal
//! arg w f32[groups * per] in normal
//! arg b f32[groups * per] in normal
//! arg y f32[batch, groups * per] out once
//! arg groups i32
//! arg per i32
//! launch grid=groups,batch block=32
//! oracle y = x * w + b
extern "C" __global__ void channel(const float *x, const float *w, const float *b, float *y, int groups, int per) { channel<false>(x, w, b, y, groups, per); }

//! kernel channel_ok
//! dim batch 1..4, groups 1..8 = 3, per 1..32 = 6
//! arg x f32[batch, groups * per] in normal
//! arg w f32[groups * per] in normal
//! arg b f32[groups * per] in normal
//! arg y f32[batch, groups * per] out once
//! arg groups i32
//! arg per i32
//! launch grid=groups,batch block=32
//! oracle y = x * w + b
extern "C" __global__ void channel_ok(const float *x, const float *w, const float *b, float *y, int groups, int per) { channel<true>(x, w, b, y, groups, per); }

//! kernel lanes
//! dim rows 1..64
//! arg x f32[rows, 128] in normal
//! arg y f32[rows, 128] out once
//! launch grid=rows block=32
//! oracle y = 2 * x
extern "C" __global__ void lanes(const float *x, float *y) { lanes<false>(x, y); }

//! kernel lanes_ok
//! dim rows 1..64
//! arg x f32[rows, 128] in normal
//! arg y f32[rows, 128] out once
//! launch grid=rows block=32
//! oracle y = 2 * x
extern "C" __global__ void lanes_ok(const float *x, float *y) { lanes<true>(x, y); }

//! kernel root
//! dim n 1..4096
//! arg x f32[n] in normal
//! arg v f32[n] in uniform
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 256) block=256
//! oracle y = x / (sqrt(v) + 1e-8)
extern "C" __global__ void root(const float *x, const float *v, float *y, int n) { root<false>(x, v, y, n); }

//! kernel root_ok
//! dim n 1..4096
//! arg x f32[n] in normal
//! arg v f32[n] in uniform
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 256) block=256
//! oracle y = x / (sqrt(v) + 1e-8)
extern "C" __global__ void root_ok(const float *x, const float *v, float *y, int n) { root<true>(x, v, y, n); }
