// Kernels for the programs of this folder.
extern "C" __global__ void scale(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = 2.0f * in[i];
}

// Every second element: what lies between is another kernel's.
extern "C" __global__ void even(const float *in, float *out)
{
    int i = 2 * (threadIdx.x + blockDim.x * (blockIdx.x % 2));
    if (blockIdx.x < 2) out[i] = in[i];
}
extern "C" __global__ void odd(const float *in, float *out)
{
    int i = 2 * (threadIdx.x + blockDim.x * (blockIdx.x % 2)) + 1;
    if (blockIdx.x < 2) out[i] = in[i];
}

extern "C" __global__ void histogram(const int *values, int *bins)
{
    atomicAdd(&bins[values[blockIdx.x * blockDim.x + threadIdx.x] & 15], 1);
}

// Waits until somebody sets the flag, then says so.
extern "C" __global__ void await_flag(volatile int *flag, int *out)
{
    if (blockIdx.x || threadIdx.x) return;
    while (!*flag) {}
    *out = 1;
}
