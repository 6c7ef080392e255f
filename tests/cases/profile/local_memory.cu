// An array that is indexed by what was read cannot live in registers. The twin's indices are constants once the loop is unrolled.
extern "C" __global__ void local_bad(const int *__restrict__ x, int *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x, v[16];
    for (int k = 0; k < 16; k++) v[k] = k * k + i;
    for (int k = 0; k < 4; k++) v[(x[i] + k) & 15] += k;
    y[i] = v[x[i] & 15]; // <-- local_memory
}

extern "C" __global__ void local_ok(const int *__restrict__ x, int *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x, v[16], s = 0;
#pragma unroll
    for (int k = 0; k < 16; k++) v[k] = k * k + x[i];
#pragma unroll
    for (int k = 0; k < 16; k++) s += v[k] * v[15 - k];
    y[i] = s;
}
