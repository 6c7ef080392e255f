// regen: no
// Running sums, sorts, histograms, gathers and scatters, right and with mistakes (pick.h).
#include "pick.h"

// wrong scan_rows 1: carry|only.*128|since the last multiple of 128
// wrong scan_rows 2: exclusive|one off|before
// wrong scan_rows 3: carry|tile
// wrong scan_rows 4: reverse|from the end
//! kernel scan_rows
//! dim rows 1..20, n 1..900
//! arg x f32[rows, n] in normal
//! arg y f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle y = cumsum(x, -1)
extern "C" __global__ void scan_rows(const float *x, float *y, int n)
{
    __shared__ float t[128];
    size_t base = (size_t)blockIdx.x * n;
    float carry = 0.f;
    for (int at = 0; at < n; at += 128) {
        int i = at + threadIdx.x, from = W(4, i, n - 1 - i);
        float own = i < n ? x[base + from] : 0.f;
        t[threadIdx.x] = own;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            float v = threadIdx.x >= d ? t[threadIdx.x - d] : 0.f;
            __syncthreads();
            t[threadIdx.x] += v;
            __syncthreads();
        }
        if (i < n) y[base + from] = W(1, carry, 0.f) + t[threadIdx.x] - W(2, 0.f, own);
        carry = W(3, carry, 0.f) + t[127];
        __syncthreads();
    }
}

// wrong rev_scan 1: reverse|forward|from the start
// wrong rev_scan 2: exclusive|one off
//! kernel rev_scan
//! dim rows 1..40, n 1..300
//! arg x f32[rows, n] in normal
//! arg y f32[rows, n] out once
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(rows, 32) block=32
//! oracle y = flip(cumsum(flip(x, -1), -1), -1)
extern "C" __global__ void rev_scan(const float *x, float *y, int rows, int n)
{
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= rows) return;
    float s = 0.f;
    for (int k = 0; k < n; k++) {
        int i = W(1, n - 1 - k, k);
        W(2, , y[(size_t)r * n + i] = s);
        s += x[(size_t)r * n + i];
        W(2, y[(size_t)r * n + i] = s, );
    }
}

// wrong run_max 1: carry|since the last multiple
// wrong run_max 2: begins with 0
// wrong run_max 3: cummin|min for max
//! kernel run_max
//! dim rows 1..40, n 1..300
//! arg x f32[rows, n] in normal
//! arg y f32[rows, n] out once
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(rows, 32) block=32
//! oracle y = cummax(x, -1)
extern "C" __global__ void run_max(const float *x, float *y, int rows, int n)
{
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= rows) return;
    float m = W(3, W(2, -INFINITY, 0.f), INFINITY);
    for (int i = 0; i < n; i++) {
        W(1, , if (i % 64 == 0) m = -INFINITY);
        m = W(3, fmaxf, fminf)(m, x[(size_t)r * n + i]);
        y[(size_t)r * n + i] = m;
    }
}

// wrong bitonic 1: reversed|order
// wrong bitonic 2: NaN or infinity
//! kernel bitonic
//! dim rows 1..20, n 1..128
//! arg x f32[rows, n] in normal
//! arg y f32[rows, n] out once
//! arg n i32
//! launch grid=rows block=128
//! oracle y = sort(x, -1)
extern "C" __global__ void bitonic(const float *x, float *y, int n)
{
    __shared__ float s[128];
    int t = threadIdx.x;
    s[t] = t < n ? x[blockIdx.x * n + t] : W(1, INFINITY, -INFINITY);
    __syncthreads();
    for (int k = 2; k <= W(2, 128, 64); k *= 2)
        for (int j = k / 2; j; j /= 2) {
            int p = t ^ j;
            if (p > t && ((t & k) == 0) == (s[t] W(1, >, <) s[p])) {
                float a = s[t];
                s[t] = s[p];
                s[p] = a;
            }
            __syncthreads();
        }
    if (t < n) y[blockIdx.x * n + t] = s[t];
}

// wrong topk_rows 1: smallest|order
// wrong topk_rows 2: reversed|order
//! kernel topk_rows
//! dim rows 1..30, n 4..200
//! arg x f32[rows, n] in normal
//! arg y f32[rows, 4] out once
//! arg rows i32
//! arg n i32
//! launch grid=ceildiv(rows, 32) block=32
//! oracle y = topk(x, 4)
extern "C" __global__ void topk_rows(const float *x, float *y, int rows, int n)
{
    int r = blockIdx.x * 32 + threadIdx.x;
    if (r >= rows) return;
    float b[4];
    for (int k = 0; k < 4; k++) b[k] = W(1, -INFINITY, INFINITY);
    for (int i = 0; i < n; i++) {
        float v = x[r * n + i];
        for (int k = 0; k < 4; k++)
            if (v W(1, >, <) b[k]) {
                float o = b[k];
                b[k] = v;
                v = o;
            }
    }
    for (int k = 0; k < 4; k++) y[r * 4 + W(2, k, 3 - k)] = b[k];
}

// wrong histogram 1: axis 0: 59
// wrong histogram 2: one too|off
// wrong histogram 3: w is taken as 1
//! kernel histogram
//! dim n 1..3000, bins 2..60
//! arg x i32[n] in index(bins)
//! arg w f32[n] in normal
//! arg y f32[bins] inout zeros
//! arg n i32
//! arg bins i32
//! launch grid=4 block=128
//! oracle y = y + scatter_add(w, x, bins)
extern "C" __global__ void histogram(const int *x, const float *w, float *y, int n, int bins)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        int b = W(2, x[i], min(x[i] + 1, bins - 1));
        if (b < W(1, bins, bins - 1)) atomicAdd(&y[b], W(3, w[i], 1.f));
    }
}

// wrong embed 1: index t is
// wrong embed 2: factor is missing|sqrt
// wrong embed 3: term is missing.*pos
// wrong embed 4: one off|index
// wrong embed 5: padding|negated|where|condition
//! kernel embed
//! dim T 1..60, V 2..50, D 1..100
//! arg table f32[V, D] in normal
//! arg pos f32[T, D] in normal
//! arg t i32[T] in index(V)
//! arg y f32[T, D] out once
//! arg T i32
//! arg V i32
//! arg D i32
//! launch grid=T block=64
//! oracle y = where(unsqueeze(t, -1) == 0, 0, gather(table, t) * sqrt(D)) + pos
extern "C" __global__ void embed(const float *table, const float *pos, const int *t, float *y, int T, int V, int D)
{
    int k = W(1, t[blockIdx.x], min(t[blockIdx.x] + 1, V - 1));
    float s = W(2, sqrtf((float)D), 1.f);
    for (int i = threadIdx.x; i < D; i += 64) {
        float v = W(5, k == 0, false) ? 0.f : table[k * D + i] * s;
        y[blockIdx.x * D + i] = v + W(3, pos[W(4, blockIdx.x, (blockIdx.x + 1) % T) * D + i], 0.f);
    }
}

// wrong seg_mean 1: divi|factor|count|term is missing: 1
// wrong seg_mean 2: last
// wrong seg_mean 3: n|divi
//! kernel seg_mean
//! dim n 1..200, S 1..12, D 1..40
//! arg x f32[n, D] in normal
//! arg seg i32[n] in index(S)
//! arg y f32[S, D] out once
//! arg n i32
//! arg S i32
//! arg D i32
//! launch grid=S block=64
//! oracle c = maximum(scatter_add(like(x * 0 + 1, x), seg, S), 1); y = scatter_add(x, seg, S) / c
extern "C" __global__ void seg_mean(const float *x, const int *seg, float *y, int n, int S, int D)
{
    for (int d = threadIdx.x; d < D; d += 64) {
        float s = 0.f, c = 0.f;
        for (int i = 0; i < W(2, n, n - 1); i++)
            if (seg[i] == blockIdx.x) s += x[i * D + d], c += 1.f;
        y[blockIdx.x * D + d] = s / W(3, W(1, fmaxf(c, 1.f), 1.f), (float)n);
    }
}

// wrong transpose_tiled 1: reversed|transposed|other dimension|order
// wrong transpose_tiled 2: none
//! kernel transpose_tiled
//! dim m 1..100, n 1..100
//! arg x f32[m, n] in
//! arg y f32[n, m] out once
//! arg m i32
//! arg n i32
//! launch grid=ceildiv(n, 32),ceildiv(m, 32) block=32,8
//! oracle y = T(x)
extern "C" __global__ void transpose_tiled(const float *x, float *y, int m, int n)
{
    __shared__ float t[32][33];
    int c = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y * 32;
    for (int k = threadIdx.y; k < 32; k += 8)
        if (c < n && r + k < m) t[k][threadIdx.x] = x[(r + k) * n + c];
    __syncthreads();
    for (int k = threadIdx.y; k < 32; k += 8) {
        int o = blockIdx.x * 32 + k, p = r + threadIdx.x;
        if (o < n && p < m) y[W(1, o * m + p, p * n + o)] = W(2, t[threadIdx.x][k], t[threadIdx.x][k & 30]);
    }
}
