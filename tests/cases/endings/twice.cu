// Right; what judges it is not always: functions.py.
//! kernel flaky
//! dim n 1..64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n,32) block=32
//! oracle python functions:flaky within 1e-5*abs(value)+1e-6
extern "C" __global__ void flaky(const float *x, float *y, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}

//! kernel unjudged
//! dim n 1..64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n,32) block=32
//! oracle python functions:unknown within 1e-5*abs(value)+1e-6
extern "C" __global__ void unjudged(const float *x, float *y, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}

// Two outputs, and only of one can elements be judged.
//! kernel half
//! dim n 1..64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg z f32[n] out
//! arg n i32
//! launch grid=ceildiv(n,32) block=32
//! oracle y = x * 2
//! oracle z = x * 1e30 * 1e30
extern "C" __global__ void half(const float *x, float *y, float *z, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = x[i] * 2, z[i] = 0;
}

//! kernel right
//! dim n 1..64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n,32) block=32
//! oracle y = x * 2
extern "C" __global__ void right(const float *x, float *y, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = x[i] * 2;
}

//! kernel wrong
//! dim n 1..64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n,32) block=32
//! oracle y = x * 2
extern "C" __global__ void wrong(const float *x, float *y, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = x[i] * 3;
}
