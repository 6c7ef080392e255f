// Vectors need addresses that are multiples of their size: what breaks is the stride of a row, or the first offset.
extern "C" __global__ void rows4(const float *x, float4 *out, int stride)       // float4 at the start of each row
{
    out[threadIdx.x] = *(const float4 *)(x + threadIdx.x * stride);
}

extern "C" __global__ void shifted2(const int *x, int2 *out, int from)          // int2 from any int
{
    out[threadIdx.x] = *(const int2 *)(x + from + 2 * threadIdx.x);
}

extern "C" __global__ void eight(const char *bytes, double *out, int from)      // a double in a file header
{
    out[threadIdx.x] = *(const double *)(bytes + from + 8 * threadIdx.x);
}

extern "C" __global__ void shared4(float *out, int stride)                      // float4 in padded shared rows
{
    __shared__ __align__(16) float s[8 * 36];
    for (int i = threadIdx.x; i < 8 * 36; i += blockDim.x)
        s[i] = i;
    __syncthreads();
    float4 v = *(float4 *)&s[threadIdx.x * stride];
    out[threadIdx.x] = v.x + v.w;
}

extern "C" __global__ void atomic8(char *p, int at)                             // a counter of 64 bits
{
    atomicAdd((unsigned long long *)(p + at), 1ull);
}
