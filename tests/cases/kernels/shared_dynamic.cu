// Shared memory whose size the launch gives, cut into two arrays of different types.
extern "C" __global__ void shared_dynamic(const int *in, int *out, int n)
{
    extern __shared__ int pool[];
    int *values = pool;
    unsigned char *flags = (unsigned char *)(pool + n);
    int t = threadIdx.x;
    values[t] = in[t];
    flags[t] = in[t] % 3 == 0;
    __syncthreads();
    out[t] = flags[n - 1 - t] ? values[n - 1 - t] : -1;
}
