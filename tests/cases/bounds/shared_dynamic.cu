// The kernel wants an int a thread; the launch decides.
extern "C" __global__ void shared_dynamic(int *out)
{
    extern __shared__ int buffer[];
    int t = threadIdx.x;
    buffer[t] = t;
    __syncthreads();
    out[t] = buffer[blockDim.x - 1 - t];
}
