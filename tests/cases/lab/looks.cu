// Kernels whose mistake has a name, and their twins: a last tile that is not masked, a term that is missing, fmaxf for a maximum that gives NaN.

//! kernel unmasked
//! dim heads 1..64 = 4, queries 1..4096 = 20, keys 1..4096 = 37, width 1..32 = 32
//! arg q f32[heads, queries, width] in normal
//! arg k f32[heads, keys, width] in normal
//! arg v f32[heads, keys, width] in normal
//! arg y f32[heads, queries, width] out once
//! arg queries i32
//! arg keys i32
//! arg width i32
//! launch grid=queries,heads block=32
//! oracle y = softmax(q @ transpose(k, 0, 2, 1) / sqrt(width), -1) @ v
extern "C" __global__ void unmasked(const float *q, const float *k, const float *v, float *y, int queries, int keys, int width)
{
    __shared__ float ks[16][32], vs[16][32];
    int h = blockIdx.y, t = threadIdx.x;
    q += (h * queries + blockIdx.x) * width; y += (h * queries + blockIdx.x) * width;
    k += h * keys * width; v += h * keys * width;
    float m = -INFINITY, l = 0, acc = 0;
    float mine = t < width ? q[t] : 0;
    for (int first = 0; first < keys; first += 16) {
        __syncthreads();
        for (int r = 0; r < 16; r++) {
            bool in = first + r < keys && t < width;
            ks[r][t] = in ? k[(first + r) * width + t] : 0;
            vs[r][t] = in ? v[(first + r) * width + t] : 0;
        }
        __syncthreads();
        for (int r = 0; r < 16; r++) {
            float s = mine * ks[r][t];
            for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
            s /= sqrtf(width);
            float n = fmaxf(m, s), c = expf(m - n), p = expf(s - n);
            l = l * c + p; acc = acc * c + p * vs[r][t]; m = n;
        }
    }
    if (t < width) y[t] = acc / l;
}

//! kernel masked
//! dim heads 1..64 = 4, queries 1..4096 = 20, keys 1..4096 = 37, width 1..32 = 32
//! arg q f32[heads, queries, width] in normal
//! arg k f32[heads, keys, width] in normal
//! arg v f32[heads, keys, width] in normal
//! arg y f32[heads, queries, width] out once
//! arg queries i32
//! arg keys i32
//! arg width i32
//! launch grid=queries,heads block=32
//! oracle y = softmax(q @ transpose(k, 0, 2, 1) / sqrt(width), -1) @ v
extern "C" __global__ void masked(const float *q, const float *k, const float *v, float *y, int queries, int keys, int width)
{
    __shared__ float ks[16][32], vs[16][32];
    int h = blockIdx.y, t = threadIdx.x;
    q += (h * queries + blockIdx.x) * width; y += (h * queries + blockIdx.x) * width;
    k += h * keys * width; v += h * keys * width;
    float m = -INFINITY, l = 0, acc = 0;
    float mine = t < width ? q[t] : 0;
    for (int first = 0; first < keys; first += 16) {
        __syncthreads();
        for (int r = 0; r < 16; r++) {
            bool in = first + r < keys && t < width;
            ks[r][t] = in ? k[(first + r) * width + t] : 0;
            vs[r][t] = in ? v[(first + r) * width + t] : 0;
        }
        __syncthreads();
        for (int r = 0; r < 16; r++) {
            float s = mine * ks[r][t];
            for (int o = 16; o; o /= 2) s += __shfl_xor_sync(~0u, s, o);
            s = first + r < keys ? s / sqrtf(width) : -INFINITY;
            float n = fmaxf(m, s), c = expf(m - n), p = expf(s - n);
            l = l * c + p; acc = acc * c + p * vs[r][t]; m = n;
        }
    }
    if (t < width) y[t] = acc / l;
}

//! kernel shorter
//! dim n 1..1000 = 100
//! arg x f32[n] in normal
//! arg w f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x * 2 + (w - 1) * sigmoid(x) * x + exp(-w * w)
extern "C" __global__ void shorter(const float *x, const float *w, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2 + expf(-w[i] * w[i]);
}

//! kernel passes_over
//! dim rows 1..64 = 4, cols 1..1000 = 100
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg z f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = max(x, -1); z = maximum(x, 0)
extern "C" __global__ void passes_over(const float *x, float *y, float *z, int cols)
{
    float m = -INFINITY;
    for (int i = blockIdx.x * cols + threadIdx.x; i < (blockIdx.x + 1) * cols; i += 32) m = fmaxf(m, x[i]), z[i] = fmaxf(x[i], 0);
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x == 0) y[blockIdx.x] = m;
}

//! kernel passes_meant
//! dim rows 1..64 = 4, cols 1..1000 = 100
//! arg x f32[rows, cols] in
//! arg y f32[rows] out once
//! arg z f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = max(where(x == x, x, -inf), -1); z = fmax(x, 0)
extern "C" __global__ void passes_meant(const float *x, float *y, float *z, int cols)
{
    float m = -INFINITY;
    for (int i = blockIdx.x * cols + threadIdx.x; i < (blockIdx.x + 1) * cols; i += 32) m = fmaxf(m, x[i]), z[i] = fmaxf(x[i], 0);
    for (int o = 16; o; o /= 2) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
    if (threadIdx.x == 0) y[blockIdx.x] = m;
}

//! kernel halves
//! dim n 1..1000 = 101
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = reshape(reshape(x, n / 2, 2) * 2, n)
extern "C" __global__ void halves(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}
