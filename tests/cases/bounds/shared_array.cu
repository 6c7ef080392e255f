// Two arrays side by side: the store runs out of the first into the second. Inside a 2-D array a row may run into the
// next one: that is one array.
extern "C" __global__ void shared_array_bad(int *out)
{
    __shared__ int left[64];
    __shared__ int right[64];
    int t = threadIdx.x;
    left[t] = t;
    right[t] = -t;
    __syncthreads();
    left[t + 1] = t * 2;
    __syncthreads();
    out[t] = left[63 - t] + right[63 - t];
}

extern "C" __global__ void shared_array_ok(int *out)
{
    __shared__ int left[64 + 1];
    __shared__ int right[64];
    int t = threadIdx.x;
    left[t] = t;
    right[t] = -t;
    __syncthreads();
    left[t + 1] = t * 2;
    __syncthreads();
    out[t] = left[63 - t] + right[63 - t];
}

extern "C" __global__ void shared_row_ok(int *out)
{
    __shared__ int s[8][8];
    int t = threadIdx.x;
    s[0][t] = t * 3;
    __syncthreads();
    out[t] = s[t / 8][t % 8];
}
