// Threads that leave before a barrier: whole warps and parts of one. Legal; the rest goes on.
extern "C" __global__ void early_return(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t >= 40)
        return;
    s[t] += s[t + 40];
    __syncthreads();
    out[t] = s[39 - t] + __shfl_down_sync(~0u, t, 1, 8);
}
