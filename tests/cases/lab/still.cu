// The gradient of a sum has one element in memory and strides of 0: one kernel reads by the strides, one as if it were dense.

//! kernel by_strides
//! dim    rows 1..1000 = 5, cols 1..1000 = 9
//! arg dy f32[rows, cols] in view dense|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg dx f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=cols
//! oracle dx = dy * 2
extern "C" __global__ void by_strides(const float *dy, long long d0, long long d1, float *dx, int cols)
{
    dx[blockIdx.x * cols + threadIdx.x] = 2 * dy[blockIdx.x * d0 + threadIdx.x * d1];
}

//! kernel as_dense
//! dim    rows 1..1000 = 5, cols 1..1000 = 9
//! arg dy f32[rows, cols] in view dense|broadcast(all)
//! arg dx f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=cols
//! oracle dx = dy * 2
extern "C" __global__ void as_dense(const float *dy, float *dx, int cols)
{
    int i = blockIdx.x * cols + threadIdx.x;
    dx[i] = 2 * dy[i];
}
