// Kernels with contracts, launched by a program (by_contract.c).

//! kernel twice
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n, 32) block=32
extern "C" __global__ void twice(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

//! kernel spoils
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=ceildiv(n, 32) block=32
extern "C" __global__ void spoils(float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
    if (i == 3) x[i] = 0;
}

// Only full blocks.
//! kernel leaves
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out
//! arg n i32
//! launch grid=n / 32 block=32
extern "C" __global__ void leaves(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 32 * 32) y[i] = 2 * x[i];
}

//! kernel unsized
//! dim n 1..1000
//! arg x f32[n] in
//! arg y f32[n] out
//! arg k i32 = 5
//! launch grid=ceildiv(n, 32) block=32
extern "C" __global__ void unsized(const float *x, float *y, int k)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < 100) y[i] = k * x[i];
}
