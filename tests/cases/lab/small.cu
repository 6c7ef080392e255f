// Kernels with mistakes of the kinds that have no better specimen, and their good twins.

//! kernel wrong_bad
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = x * x + 1
extern "C" __global__ void wrong_bad(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i] + (i % 5 == 3 ? 1.5f + i * 0.001f : 1);
}

//! kernel wrong_ok
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = x * x + 1
extern "C" __global__ void wrong_ok(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * x[i] + 1;
}

// Off by as much as some hundred roundings that all go one way: no order of summation does that, and none is forbidden to.
//! kernel suspect_bad
//! dim n 1..1000 = 1000
//! arg x f32[n] in normal
//! arg y f32[1] out once
//! arg n i32
//! launch grid=1 block=1
//! oracle y = sum(x, 0, keep)
extern "C" __global__ void suspect_bad(const float *x, float *y, int n)
{
    double sum = 0, size = 0;
    for (int i = 0; i < n; i++) {
        sum += x[i];
        size += fabs((double)x[i]);
    }
    y[0] = (float)(sum + 0.4 * n * 0x1p-24 * size);
}

//! kernel suspect_ok
//! dim n 1..1000 = 1000
//! arg x f32[n] in normal
//! arg y f32[1] out once
//! arg n i32
//! launch grid=1 block=1
//! oracle y = sum(x, 0, keep)
extern "C" __global__ void suspect_ok(const float *x, float *y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    y[0] = sum;
}

//! kernel gradient_bad
//! dim n 1..1000
//! arg x  f32[n] in
//! arg dy f32[n] in
//! arg dx f32[n] out once
//! arg n  i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle dx = grad(x * sigmoid(x), dy)
extern "C" __global__ void gradient_bad(const float *x, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 1 / (1 + expf(-x[i]));
    dx[i] = dy[i] * s * (1 - s);
}

//! kernel gradient_ok
//! dim n 1..1000
//! arg x  f32[n] in normal
//! arg dy f32[n] in normal
//! arg dx f32[n] out once
//! arg n  i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle dx = grad(x * sigmoid(x), dy)
extern "C" __global__ void gradient_ok(const float *x, const float *dy, float *dx, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float s = 1 / (1 + expf(-x[i]));
    dx[i] = dy[i] * (s + x[i] * s * (1 - s));
}

//! kernel input_bad
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = x + 1
extern "C" __global__ void input_bad(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] + 1;
    x[i] = y[i];
}

//! kernel input_ok
//! dim n 1..1000
//! arg x f32[n] inout
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = x + 1
extern "C" __global__ void input_ok(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    y[i] = x[i] + 1;
    x[i] = y[i];
}
