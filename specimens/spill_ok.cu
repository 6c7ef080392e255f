// 24 values are alive at a time, and the bound leaves a thread 64 registers: all of them stay there.
//! kernel spill
//! dim n = 98304
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! launch grid=n/1024 block=1024
extern "C" __global__ void __launch_bounds__(1024, 1) spill(const float *__restrict__ x, float *__restrict__ y)
{
    float v[24];
    int i = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 24; k++) v[k] = x[(i + k * 1024) % 98304];
    for (int round = 0; round < 4; round++) {
#pragma unroll
        for (int k = 0; k < 24; k++) v[k] = v[k] * v[(k + 1) % 24] + v[(k + 2) % 24];
    }
    float s = 0;
#pragma unroll
    for (int k = 0; k < 24; k++) s += v[k];
    y[i] = s;
}
