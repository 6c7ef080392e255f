// Variables that the host is to set before the launch, and did not.
__constant__ int count;
__constant__ float table[8];
__constant__ int given = 3;
__device__ int level;           // only read, by every kernel here
__device__ int total;           // counts on its zeros
__device__ int sums[8];         // written by another kernel

extern "C" __global__ void scale(float *x)
{
    int i = threadIdx.x;
    if (i >= count) return;
    x[i] *= table[i & 7] + given + level;
}

extern "C" __global__ void fill() { sums[threadIdx.x & 7] = threadIdx.x; }

extern "C" __global__ void tally(int *out)
{
    atomicAdd(&total, given);
    out[threadIdx.x] = sums[threadIdx.x & 7];
}
