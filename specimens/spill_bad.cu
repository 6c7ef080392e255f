// 96 values are alive at a time, and the bound leaves a thread 64 registers: the rest goes to local memory and back.
//! kernel spill
//! dim n = 98304
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! launch grid=n/1024 block=1024
extern "C" __global__ void __launch_bounds__(1024, 1) spill(const float *__restrict__ x, float *__restrict__ y)
{
    float v[96];
    int i = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 96; k++) v[k] = x[(i + k * 1024) % 98304];
    for (int round = 0; round < 4; round++) {
#pragma unroll
        for (int k = 0; k < 96; k++) v[k] = v[k] * v[(k + 1) % 96] + v[(k + 2) % 96];
    }
    float s = 0;
#pragma unroll
    for (int k = 0; k < 96; k++) s += v[k];
    y[i] = s;
}
