// A flat index over a view whose rows lie apart, or are one and the same: the stride is not looked at.
//! kernel strided_view
//! dim rows 1..64 = 20, cols 1..64 = 30
//! arg x f32[rows, cols] in view dense|rows|broadcast(0)
//! arg stride i64 = x.stride0
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=cols
//! oracle y = 2 * x
extern "C" __global__ void strided_view(const float *x, long long stride, float *y, int cols)
{
    y[blockIdx.x * cols + threadIdx.x] = 2 * x[blockIdx.x * cols + threadIdx.x];
}
