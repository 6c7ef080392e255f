// Sizes of which oracles or launches would take minutes, kernels without an end: what becomes of such cases.

// Its largest sizes are far too many for an oracle of n * n terms.
//! kernel distances
//! dim n 1..40000 = 20000
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = sum(unsqueeze(x, 1) * x, 1)
extern "C" __global__ void distances(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float sum = 0;
    for (int j = 0; j < n; j++) sum += x[i] * x[j];
    y[i] = sum;
}

// A walk through all 32-bit numbers that never comes to an even one.
//! kernel endless_bad
//! dim n 1..100
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=1 block=32
//! oracle y = x
extern "C" __global__ void endless_bad(const float *x, float *y, int n)
{
    unsigned v = 1;
    while (v % 2) {
        v = v * 5 + 4;
        asm volatile("" : "+r"(v)); // or the compiler takes it for granted that there is an end
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + (v % 2);
}

//! kernel endless_ok
//! dim n 1..100
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=1 block=32
//! oracle y = x
extern "C" __global__ void endless_ok(const float *x, float *y, int n)
{
    unsigned v = 1;
    while (v % 2) {
        v = v * 5 + 3;
        asm volatile("" : "+r"(v)); // or the compiler takes it for granted that there is an end
    }
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] + (v % 2);
}
