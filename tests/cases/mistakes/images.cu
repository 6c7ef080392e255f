// regen: no
// Convolutions, pooling, resizing and colours, right and with mistakes (pick.h).
#include "pick.h"

// wrong conv3x3 1: reversed along the last two
// wrong conv3x3 2: one off|padding
// wrong conv3x3 3: transposed
// wrong conv3x3 4: first element|only the first
// wrong conv3x3 5: term is missing.*(bias|b)
// wrong conv3x3 6: first element along axis 1|w
//! kernel conv3x3
//! dim N 1..3, Ci 1..5, Co 1..5, H 1..16, Wd 1..16
//! arg x f32[N, Ci, H, Wd] in normal
//! arg w f32[Co, Ci, 3, 3] in normal
//! arg b f32[Co] in normal
//! arg y f32[N, Co, H, Wd] out once
//! arg Ci i32
//! arg H i32
//! arg Wd i32
//! launch grid=ceildiv(H * Wd, 64),Co,N block=64
//! oracle y = conv2d(x, w, 1, 1) + reshape(b, Co, 1, 1)
extern "C" __global__ void conv3x3(const float *x, const float *w, const float *b, float *y, int Ci, int H, int Wd)
{
    int i = blockIdx.x * 64 + threadIdx.x, o = blockIdx.y, n = blockIdx.z, r = i / Wd, c = i % Wd;
    if (i >= H * Wd) return;
    float s = W(5, b[o], 0.f);
    for (int k = 0; k < W(4, Ci, 1); k++)
        for (int u = 0; u < 3; u++)
            for (int v = 0; v < 3; v++) {
                int p = r + u - W(2, 1, 0), q = c + v - 1;
                if (p < 0 || p >= H || q < 0 || q >= Wd) continue;
                int tap = W(3, W(1, u * 3 + v, 8 - (u * 3 + v)), v * 3 + u);
                s += x[((n * Ci + k) * H + p) * Wd + q] * w[(o * Ci + W(6, k, 0)) * 9 + tap];
            }
    y[((n * gridDim.y + o) * H + r) * Wd + c] = s;
}

// wrong conv_strided 1: stride|one off
// wrong conv_strided 2: dilation
// wrong conv_strided 3: padding|one off
//! kernel conv_strided
//! dim Ci 1..4, Co 1..4, H 5..16, Wd 5..16
//! arg x f32[1, Ci, H, Wd] in normal
//! arg w f32[Co, Ci, 3, 3] in normal
//! arg y f32[1, Co, (H - 1) / 2 + 1, (Wd - 1) / 2 + 1] out once
//! arg Ci i32
//! arg H i32
//! arg Wd i32
//! launch grid=ceildiv(((H - 1) / 2 + 1) * ((Wd - 1) / 2 + 1), 64),Co block=64
//! oracle y = conv2d(x, w, 2, 2, 1, 2)
extern "C" __global__ void conv_strided(const float *x, const float *w, float *y, int Ci, int H, int Wd)
{
    int OH = (H - 1) / 2 + 1, OW = (Wd - 1) / 2 + 1, i = blockIdx.x * 64 + threadIdx.x, o = blockIdx.y;
    if (i >= OH * OW) return;
    float s = 0.f;
    for (int k = 0; k < Ci; k++)
        for (int t = 0; t < 9; t++) {
            int p = i / OW * W(1, 2, 1) - W(3, 2, 1) + t / 3 * W(2, 2, 1), q = i % OW * W(1, 2, 1) - W(3, 2, 1) + t % 3 * W(2, 2, 1);
            if (p >= 0 && p < H && q >= 0 && q < Wd) s += x[(k * H + p) * Wd + q] * w[(o * Ci + k) * 9 + t];
        }
    y[o * OH * OW + i] = s;
}

// wrong depthwise 1: first element|w
// wrong depthwise 2: reversed
// wrong depthwise 3: one off|causal|padding
//! kernel depthwise
//! dim N 1..3, C 1..8, L 1..60
//! arg x f32[N, C, L] in normal
//! arg w f32[C, 1, 4] in normal
//! arg y f32[N, C, L] out once
//! arg C i32
//! arg L i32
//! launch grid=N * C block=64
//! oracle y = conv1d(pad(x, 2, 3, 0), w, 1, 0, C)
extern "C" __global__ void depthwise(const float *x, const float *w, float *y, int C, int L)
{
    int c = blockIdx.x % C;
    const float *p = x + (size_t)blockIdx.x * L;
    for (int i = threadIdx.x; i < L; i += 64) {
        float s = 0.f;
        for (int k = 0; k < 4; k++) {
            int at = i + k - W(3, 3, 2);
            if (at >= 0 && at < L) s += p[at] * w[W(1, c, 0) * 4 + W(2, k, 3 - k)];
        }
        y[(size_t)blockIdx.x * L + i] = s;
    }
}

// wrong maxpool 1: begins with 0
// wrong maxpool 2: window|last|part
// wrong maxpool 3: stride|window
// wrong maxpool 4: mean|avg|average
//! kernel maxpool
//! dim C 1..6, H 4..20, Wd 4..20
//! arg x f32[1, C, H, Wd] in normal(-1, 1)
//! arg y f32[1, C, (H - 3) / 2 + 1, (Wd - 3) / 2 + 1] out once
//! arg H i32
//! arg Wd i32
//! launch grid=C block=64
//! oracle y = max_pool2d(x, 3, 2)
extern "C" __global__ void maxpool(const float *x, float *y, int H, int Wd)
{
    int OH = (H - 3) / 2 + 1, OW = (Wd - 3) / 2 + 1;
    for (int i = threadIdx.x; i < OH * OW; i += 64) {
        float m = W(1, -INFINITY, 0.f), t = 0.f;
        for (int u = 0; u < W(2, 3, 2); u++)
            for (int v = 0; v < W(2, 3, 2); v++) {
                float e = x[(blockIdx.x * H + i / OW * W(3, 2, 1) + u) * Wd + i % OW * W(3, 2, 1) + v];
                m = fmaxf(m, e);
                t += e;
            }
        y[blockIdx.x * OH * OW + i] = W(4, m, t / 9.f);
    }
}

// wrong avgpool 1: divi|constant|times|factor
// wrong avgpool 2: valid|count|padding
// wrong avgpool 3: max
//! kernel avgpool
//! dim C 1..6, H 4..20, Wd 4..20
//! arg x f32[1, C, H, Wd] in normal
//! arg y f32[1, C, H, Wd] out once
//! arg H i32
//! arg Wd i32
//! launch grid=C block=64
//! oracle y = avg_pool2d(x, 3, 1, 1)
extern "C" __global__ void avgpool(const float *x, float *y, int H, int Wd)
{
    for (int i = threadIdx.x; i < H * Wd; i += 64) {
        float t = 0.f, m = 0.f;
        int n = 0;
        for (int u = -1; u <= 1; u++)
            for (int v = -1; v <= 1; v++) {
                int r = i / Wd + u, c = i % Wd + v;
                if (r < 0 || r >= H || c < 0 || c >= Wd) continue;
                t += x[(blockIdx.x * H + r) * Wd + c];
                m = fmaxf(m, x[(blockIdx.x * H + r) * Wd + c]);
                n++;
            }
        y[blockIdx.x * H * Wd + i] = W(3, t / W(2, W(1, 9.f, 3.f), (float)n), m);
    }
}

// wrong bilinear 1: half.pixel
// wrong bilinear 2: align|corners|constant
// wrong bilinear 3: none
// wrong bilinear 4: half.pixel
//! kernel bilinear
//! dim C 1..4, H 2..14, Wd 2..14, OH 2..30, OW 2..30
//! arg x f32[C, H, Wd] in normal
//! arg y f32[C, OH, OW] out once
//! arg H i32
//! arg Wd i32
//! arg OH i32
//! arg OW i32
//! launch grid=ceildiv(OH * OW, 64),C block=64
//! oracle fr = clamp((iota(OH) + 0.5) * (H / OH) - 0.5, 0, H - 1); fc = clamp((iota(OW) + 0.5) * (Wd / OW) - 0.5, 0, Wd - 1)
//! oracle wr = maximum(0, 1 - abs(unsqueeze(fr, -1) - iota(H))); wc = maximum(0, 1 - abs(unsqueeze(fc, -1) - iota(Wd)))
//! oracle y = wr @ x @ T(wc)
extern "C" __global__ void bilinear(const float *x, float *y, int H, int Wd, int OH, int OW)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i >= OH * OW) return;
    float sr = W(2, (float)H / OH, (float)(H - 1) / (OH - 1)), sc = W(2, (float)Wd / OW, (float)(Wd - 1) / (OW - 1));
    float fr = W(2, W(1, W(4, sr * (i / OW + 0.5f) - 0.5f, sr * (i / OW)), sr * (i / OW)), sr * (i / OW));
    float fc = W(2, W(1, sc * (i % OW + 0.5f) - 0.5f, sc * (i % OW)), sc * (i % OW));
    fr = fminf(fmaxf(fr, 0.f), H - 1.f);
    fc = fminf(fmaxf(fc, 0.f), Wd - 1.f);
    int r = (int)fr, c = (int)fc, r1 = min(r + 1, H - 1), c1 = min(c + 1, Wd - 1);
    float a = fr - r, b = fc - c;
    W(3, , b = 1.f - b);
    const float *p = x + (size_t)blockIdx.y * H * Wd;
    y[(size_t)blockIdx.y * OH * OW + i] = (1 - a) * ((1 - b) * p[r * Wd + c] + b * p[r * Wd + c1]) + a * ((1 - b) * p[r1 * Wd + c] + b * p[r1 * Wd + c1]);
}

// wrong nearest 1: half a pixel
// wrong nearest 2: floor|round
//! kernel nearest
//! dim C 1..4, n 2..40, m 2..60
//! arg x f32[n, C] in normal
//! arg y f32[m, C] out once
//! arg C i32
//! arg n i32
//! arg m i32
//! launch grid=m block=32
//! oracle y = gather(x, minimum(iota(m) * n // m, n - 1))
extern "C" __global__ void nearest(const float *x, float *y, int C, int n, int m)
{
    int i = blockIdx.x, from = W(2, W(1, i * n / m, (int)((i + 0.5f) * n / m)), min((int)rintf((float)i * n / m), n - 1));
    from = min(from, n - 1);
    for (int c = threadIdx.x; c < C; c += 32) y[i * C + c] = x[from * C + c];
}

// wrong rgb2gray 1: reversed|exchanged|constant
// wrong rgb2gray 2: constant
// wrong rgb2gray 3: stride of the other|transposed
//! kernel rgb2gray
//! dim n 1..2000
//! arg x f32[n, 3] in uniform(0, 1)
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = 0.299 * x[:, 0] + 0.587 * x[:, 1] + 0.114 * x[:, 2]
extern "C" __global__ void rgb2gray(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float r = W(3, x[3 * i], x[i]), g = W(3, x[3 * i + 1], x[n + i]), b = W(3, x[3 * i + 2], x[2 * n + i]);
    y[i] = 0.299f * W(1, r, b) + W(2, 0.587f, 0.578f) * g + 0.114f * W(1, b, r);
}

// wrong normalize_u8 1: constant|factor|255
// wrong normalize_u8 2: index|first
// wrong normalize_u8 3: exchanged|multiplied
//! kernel normalize_u8
//! dim n 1..1000
//! arg x u8[3, n] in
//! arg mean f32[3] in uniform(0.4, 0.5)
//! arg std f32[3] in uniform(0.2, 0.3)
//! arg y f32[3, n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128),3 block=128
//! oracle y = (x / 255 - unsqueeze(mean, -1)) / unsqueeze(std, -1)
extern "C" __global__ void normalize_u8(const unsigned char *x, const float *mean, const float *std, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x, c = blockIdx.y;
    if (i < n) y[c * n + i] = (x[c * n + i] / W(1, 255.f, 256.f) - mean[W(2, c, 0)]) W(3, /, *) std[c];
}

// wrong stencil 1: constant|times|factor|term
// wrong stencil 2: sign|term
// wrong stencil 3: begins one later
//! kernel stencil
//! dim n 3..500
//! arg u f32[n] in normal
//! arg v f32[n] out once
//! arg n i32
//! arg c f32 = 0.2
//! launch grid=ceildiv(n, 128) block=128
//! oracle v = concat(u[:1], u[1:n - 1] + c * (u[:n - 2] - 2 * u[1:n - 1] + u[2:]), u[n - 1:], 0)
extern "C" __global__ void stencil(const float *u, float *v, int n, float c)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    if (i == 0 || i == n - 1)
        v[i] = u[i];
    else
        v[i] = u[i] + c * (u[W(3, i - 1, i)] - W(1, 2.f, 1.f) * u[i] W(2, +, -) u[i + 1]);
}
