// For recordings of lockstep test: a tile that is read before the barrier, and its twin.

//! kernel race_bad
//! dim n 1..256 = 64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=1 block=n
//! oracle y = x
extern "C" __global__ void race_bad(const float *x, float *y, int n)
{
    __shared__ float tile[256];
    tile[n - 1 - threadIdx.x] = x[threadIdx.x];
    y[threadIdx.x] = tile[n - 1 - (n - 1 - threadIdx.x) * 1] * 0 + x[threadIdx.x];
}

//! kernel race_ok
//! dim n 1..256 = 64
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=1 block=n
//! oracle y = x
extern "C" __global__ void race_ok(const float *x, float *y, int n)
{
    __shared__ float tile[256];
    tile[n - 1 - threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[n - 1 - (n - 1 - threadIdx.x) * 1] * 0 + x[threadIdx.x];
}

// Twice what it should be.
//! kernel twice_bad
//! dim n 1..100
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n, 32) block=32
//! oracle y = x + 1
extern "C" __global__ void twice_bad(const float *x, float *y, int n)
{
    int i = blockIdx.x * 32 + threadIdx.x;
    if (i < n) y[i] = 2 * (x[i] + 1);
}
