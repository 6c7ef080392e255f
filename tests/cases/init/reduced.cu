// The predicate of a barrier's reduction is a use: every thread of the block goes by the result.
extern "C" __global__ void reduced(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 48) s[t] = in[t];
    __syncthreads();
    out[t] = __syncthreads_or(s[t] > 100);      // <-- uninit_branch
}

extern "C" __global__ void counted(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 48) s[t] = in[t];
    __syncthreads();
    out[t] = __syncthreads_count(s[t] & 1);     // <-- uninit_branch
}

extern "C" __global__ void guarded(const int *in, int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 48) s[t] = in[t];
    __syncthreads();
    out[t] = __syncthreads_and(t >= 48 || s[t] < 100) + __syncthreads_count(t < 48 && s[t] & 1);
}
