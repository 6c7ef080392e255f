// A barrier that is divergent, in functions and before others: one finding, with the calls around the barrier and no more.
__device__ __noinline__ void meet(int *s, int t)
{
    s[t] += 1;
    __syncthreads();                                    // <-- barrier_divergent
}

__device__ __noinline__ void outer(int *s, int t)
{
    s[t] += 2;
    meet(s, t);
    s[t] += 3;
}

extern "C" __global__ void called(int *out, int n)      // right where n is the block
{
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    outer(s, t);
    if (t < n) meet(s, t);
    out[t] = s[t];
}

extern "C" __global__ void astray(const int *in, int *out, int n)       // half a warp is one barrier behind from then on
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= n) __syncthreads();                        // <-- barrier_divergent
    s[t] = in[t];
    __syncthreads();
    int v = s[t] * 2;
    __syncthreads();
    s[t] = v;
    __syncthreads();
    out[t] = s[t];
}
