// regen: -arch=sm_80
// One formula in the forms in which kernels compute it: right, whatever the form.
//! kernel running_mean
//! dim r 1..64, n 1..100
//! arg x f32[r, n] in
//! arg m f32[r] out
//! arg n i32
//! launch grid=r block=1
//! oracle m = mean(x, -1)
extern "C" __global__ void running_mean(const float *x, float *m, int n)
{
    float mean = 0;
    for (int i = 0; i < n; i++) mean += (x[blockIdx.x * n + i] - mean) / (i + 1);
    m[blockIdx.x] = mean;
}

//! kernel scaled_first
//! dim r 1..64, n 1..100
//! arg x f32[r, n] in
//! arg m f32[r] out
//! arg n i32
//! launch grid=r block=1
//! oracle m = mean(x, -1)
extern "C" __global__ void scaled_first(const float *x, float *m, int n)
{
    float mean = 0;
    for (int i = 0; i < n; i++) mean = fmaf(x[blockIdx.x * n + i], 1.f / n, mean);
    m[blockIdx.x] = mean;
}

//! kernel weighted
//! dim r 1..40, n 1..300
//! arg x f32[r, n] in
//! arg m f32[r] out
//! arg n i32
//! launch grid=r block=1
//! oracle m = mean(x, -1)
extern "C" __global__ void weighted(const float *x, float *m, int n)
{
    float mean = 0;
    for (int i = 0; i < n; i++) {
        float w = 1.f / (i + 1);
        mean = mean * (1.f - w) + x[blockIdx.x * n + i] * w;
    }
    m[blockIdx.x] = mean;
}

//! kernel short_mean
//! dim r 1..64, n 2..100
//! arg x f32[r, n] in
//! arg m f32[r] out
//! arg n i32
//! launch grid=r block=1
//! oracle m = mean(x, -1)
extern "C" __global__ void short_mean(const float *x, float *m, int n)
{
    float mean = 0;
    for (int i = 0; i + 1 < n; i++) mean += (x[blockIdx.x * n + i] - mean) / (i + 1);
    m[blockIdx.x] = mean;
}
