// The bad one takes the thread's number in its block for its number in the grid: every block writes the first tile.
//! kernel twice_bad
//! dim   n 1..100000
//! arg x  f32[n] in iota
//! arg y  f32[n] out once partial
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64

//! kernel twice_ok
//! dim   n 1..100000
//! arg x  f32[n] in iota
//! arg y  f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64

//! kernel again_bad
//! dim   n 1..100000
//! arg x  f32[n] in iota
//! arg y  f32[n] inout once zeros
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64

//! kernel again_ok
//! dim   n 1..100000
//! arg x  f32[n] in iota
//! arg y  f32[n] out           # nobody says once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
extern "C" __global__ void twice_bad(const float *x, float *y, int n)
{
    int i = threadIdx.x;
    if (i < n)
        y[i] = x[i] * 2;
}

extern "C" __global__ void twice_ok(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = x[i] * 2;
}

// A thread stores an intermediate result, then the final one.
extern "C" __global__ void again_bad(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float *out = y;
    if (i >= n)
        return;
    out[i] = x[i];
    out[i] = x[i] * 2;
}

extern "C" __global__ void again_ok(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float *out = y;
    if (i >= n)
        return;
    out[i] = x[i];
    out[i] = x[i] * 2;
}
