// Threads of a warp have work of 1 to 32 rounds: those that are done wait for the longest. In the twin, a warp's threads have equally much.
extern "C" __global__ void loop_bad(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x, n = threadIdx.x % 32 + 1;
    float v = x[i];
#pragma unroll 1
    for (int k = 0; k < n; k++) // <-- divergent_loop
        v = v * v * 0.5f + 0.125f;
    y[i] = v;
}

extern "C" __global__ void loop_ok(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x, n = threadIdx.x / 32 * 8 + 8;
    float v = x[i];
#pragma unroll 1
    for (int k = 0; k < n; k++) v = v * v * 0.5f + 0.125f;
    y[i] = v;
}
