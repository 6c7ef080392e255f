// Tree reduction in shared memory, one partial sum a block of 256.
extern "C" __global__ void reduce(const float *in, float *out, int n)
{
    __shared__ float s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = i < n ? in[i] : 0.f;
    __syncthreads();
    for (unsigned d = 128; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}
