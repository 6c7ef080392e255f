// The index counts the blocks too.
//! kernel coverage_twice
//! dim blocks = 2
//! arg y f32[blocks * 32] out once partial
//! launch grid=blocks block=32
extern "C" __global__ void coverage_twice(float *y)
{
    y[blockIdx.x * 32 + threadIdx.x] = 1;
}
