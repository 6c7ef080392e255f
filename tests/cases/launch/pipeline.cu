// Kernels that work one after the other: a filter, its halves, a sum, and a counter that they share.
__device__ int passes;

extern "C" __global__ void scale(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i == 0) passes++;
    if (i < n) out[i] = 2 * in[i];
}

extern "C" __global__ void scale_half(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) out[i] = 2 * in[i];
}

extern "C" __global__ void add_pairs(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[2 * i] + in[2 * i + 1];
}

extern "C" __global__ void smooth(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i + 1]; // <-- bounds
}

extern "C" __global__ void count(int *to) { *to = passes; }

extern "C" __global__ void stop(const float *in)
{
    if (in[threadIdx.x] >= 0) __trap();
}
