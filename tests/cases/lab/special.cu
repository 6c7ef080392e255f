// regen: -arch=sm_80
// NaN and infinities: what the oracle says nothing of is silent, what it says is a finding of its own.
//! kernel pass_over
//! dim n 1..700
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = relu(x)
extern "C" __global__ void pass_over(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.f);
}

//! kernel promised
//! dim n 1..700
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = relu(x)
extern "C" __global__ void promised(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = fmaxf(x[i], 0.f);
}

//! kernel logcosh
//! dim n 1..700
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = log(0.5 * (exp(x) + exp(-x)))
extern "C" __global__ void logcosh(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = fabsf(x[i]) + log1pf(expf(-2.f * fabsf(x[i]))) - 0.69314718f;
}

//! kernel conv
//! dim H 1..20, W 1..20
//! arg x f32[H, W] in
//! arg w f32[3, 3] in
//! arg y f32[H, W] out once
//! arg H i32
//! arg W i32
//! launch grid=H block=32
//! oracle y = reshape(conv2d(reshape(x, 1, 1, H, W), reshape(w, 1, 1, 3, 3), 1, 1, 1), H, W)
extern "C" __global__ void conv(const float *x, const float *w, float *y, int H, int W)
{
    int r = blockIdx.x, c = threadIdx.x;
    if (c >= W) return;
    float a = 0;
    for (int i = -1; i <= 1; i++)
        for (int j = -1; j <= 1; j++)
            if (r + i >= 0 && r + i < H && c + j >= 0 && c + j < W)
                a += x[(r + i) * W + c + j] * w[(i + 1) * 3 + j + 1];
    y[r * W + c] = a;
}

//! kernel remainder_right
//! dim n 1..700
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x % 3
extern "C" __global__ void remainder_right(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = x[i] - 3.f * floorf(x[i] / 3.f);
}

//! kernel remainder_signed
//! dim n 1..700
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x % 3
extern "C" __global__ void remainder_signed(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = fmodf(x[i], 3.f);
}

//! kernel no_infinity
//! dim n 1..700
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle y = x * 2
extern "C" __global__ void no_infinity(const float *x, float *y, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) y[i] = isinf(x[i]) ? 0.f : 2.f * x[i];
}
