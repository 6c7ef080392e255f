/* Rows of 600 elements, written by blocks of 256 threads: with a loop over the row, and without. */
extern "C" __global__ void loop(float *o, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) o[blockIdx.x * n + i] = 1;
}
extern "C" __global__ void once(float *o, int n)
{
    if (threadIdx.x < n) o[blockIdx.x * n + threadIdx.x] = 1;
}
