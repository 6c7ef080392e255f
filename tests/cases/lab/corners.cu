// regen: -arch=sm_80
// Derivatives where a function has a corner: every member of the set is right, and nothing beyond it.
//! kernel relu_gt
//! dim n 1..700
//! arg dy f32[n] in normal
//! arg x f32[n] in normal
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle dx = grad(relu(x), dy)
extern "C" __global__ void relu_gt(const float *dy, const float *x, float *dx, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 ? dy[i] : 0.f;
}

//! kernel relu_ge
//! dim n 1..700
//! arg dy f32[n] in normal
//! arg x f32[n] in normal
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle dx = grad(relu(x), dy)
extern "C" __global__ void relu_ge(const float *dy, const float *x, float *dx, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) dx[i] = x[i] >= 0 ? dy[i] : 0.f;
}

//! kernel softplus_back
//! dim n 1..700
//! arg dy f32[n] in normal
//! arg x f32[n] in normal
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle dx = grad(softplus(x), dy)
extern "C" __global__ void softplus_back(const float *dy, const float *x, float *dx, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) dx[i] = dy[i] / (1.f + __expf(-x[i]));
}

//! kernel silu_back
//! dim n 1..700
//! arg dy f32[n] in
//! arg x f32[n] in
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle dx = grad(silu(x), dy)
extern "C" __global__ void silu_back(const float *dy, const float *x, float *dx, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= n) return;
    float s = 1.f / (1.f + __expf(-x[i]));
    dx[i] = dy[i] * s * (1.f + x[i] * (1.f - s));
}

//! kernel abs_twice
//! dim n 1..700
//! arg dy f32[n] in normal
//! arg x f32[n] in normal
//! arg dx f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 128) block=128
//! oracle dx = grad(abs(x), dy)
extern "C" __global__ void abs_twice(const float *dy, const float *x, float *dx, int n)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    if (i < n) dx[i] = x[i] > 0 ? dy[i] : x[i] < 0 ? -dy[i] : 2 * dy[i];
}
