// Accumulates into a buffer that the host has set to zero.
//! kernel uninit_global
//! dim n = 128
//! arg x f32[n] in iota
//! arg sums f32[n] inout zeros
//! launch grid=1 block=n
extern "C" __global__ void uninit_global(const float *x, float *sums)
{
    int i = threadIdx.x;
    sums[i] += x[i];
}
