// Every block writes the same tile: threadIdx is taken for the global index.
//! kernel coverage_twice
//! dim blocks = 2
//! arg y f32[blocks * 32] out once partial
//! launch grid=blocks block=32
extern "C" __global__ void coverage_twice(float *y)
{
    y[threadIdx.x] = 1;
}
