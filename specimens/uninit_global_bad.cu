// Accumulates into a buffer that comes from cudaMalloc as it is.
//! kernel uninit_global
//! dim n = 128
//! arg x f32[n] in iota
//! arg sums f32[n] inout none
//! launch grid=1 block=n
extern "C" __global__ void uninit_global(const float *x, float *sums)
{
    int i = threadIdx.x;
    sums[i] += x[i];
}
