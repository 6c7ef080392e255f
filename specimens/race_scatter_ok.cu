// A histogram that counts with atomicAdd.
//! kernel race_scatter
//! dim n = 256, bins = 16
//! arg keys i32[n] in index(bins)
//! arg counts i32[bins] inout zeros
//! launch grid=2 block=n / 2
extern "C" __global__ void race_scatter(const int *keys, int *counts)
{
    int key = keys[blockIdx.x * blockDim.x + threadIdx.x];
    atomicAdd(&counts[key], 1);
}
