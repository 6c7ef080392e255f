// A table in constant memory that every lane indexes for itself: a pass for each address. The twin's index is the same for a warp.
__constant__ float table[64] = { 1, 2, 3, 4 };

extern "C" __global__ void constant_bad(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[i] = x[i] * table[threadIdx.x % 64]; // <-- constant_addresses
}

extern "C" __global__ void constant_ok(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[i] = x[i] * table[blockIdx.x % 64];
}
