// Kernels with properties, and without an oracle.

//! kernel property_bad
//! dim rows 2..64, cols 1..128
//! arg x f32[rows, cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=64
//! property deterministic, rows_independent
extern "C" __global__ void property_bad(const float *x, float *y, int cols)
{
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i] - x[0];
}

//! kernel property_ok
//! dim rows 2..64, cols 1..128
//! arg x f32[rows, cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=64
//! property deterministic, rows_independent, batch_invariant, permutation, causal(x), linear(x)
extern "C" __global__ void property_ok(const float *x, float *y, int cols)
{
    for (int i = threadIdx.x; i < cols; i += blockDim.x) y[blockIdx.x * cols + i] = x[blockIdx.x * cols + i] * 3;
}

//! kernel future_bad
//! dim n 2..128
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=1 block=1
//! property causal(x)
extern "C" __global__ void future_bad(const float *x, float *y, int n)
{
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[i];
    for (int i = 0; i < n; i++) y[i] = sum;
}

//! kernel affine_bad
//! dim n 2..128
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=1 block=128
//! property linear(x)
extern "C" __global__ void affine_bad(const float *x, float *y, int n)
{
    if (threadIdx.x < n) y[threadIdx.x] = 2 * x[threadIdx.x] + 1;
}

//! kernel softmax_ok
//! dim rows 2..64, cols 1..128
//! arg x f32[rows, cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=1
//! property shift(x) = 0, rows_sum_to_one, batch_invariant
extern "C" __global__ void softmax_ok(const float *x, float *y, int cols)
{
    const float *p = x + blockIdx.x * cols;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < cols; i++) most = fmaxf(most, p[i]);
    for (int i = 0; i < cols; i++) sum += expf(p[i] - most);
    for (int i = 0; i < cols; i++) y[blockIdx.x * cols + i] = expf(p[i] - most) / sum;
}

//! kernel sums_bad
//! dim rows 2..64, cols 2..128
//! arg x f32[rows, cols] in normal
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=1
//! property rows_sum_to_one
extern "C" __global__ void sums_bad(const float *x, float *y, int cols)
{
    const float *p = x + blockIdx.x * cols;
    float sum = 0;
    for (int i = 0; i < cols - 1; i++) sum += expf(p[i]);
    for (int i = 0; i < cols; i++) y[blockIdx.x * cols + i] = expf(p[i]) / sum;
}
