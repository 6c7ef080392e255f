// Results that depend on the order of blocks and warps, without a race: tickets from an atomic counter.
extern "C" __global__ void tickets(int *next, int *out)
{
    int mine = atomicAdd(next, 1);
    out[mine] = blockIdx.x * blockDim.x + threadIdx.x;
}

// The sum is the same in every order.
extern "C" __global__ void total(int *sum, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, i);
    out[i] = i;
}

// A sum of floats is not, by a rounding.
extern "C" __global__ void rounded(float *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(sum, 1.f / (1 + i));
}
