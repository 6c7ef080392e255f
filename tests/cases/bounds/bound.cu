// The guard is there, and its bound is not that of the array.
__global__ void add(const float *a, const float *b, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i]; // <-- bounds
}
__global__ void fill(float *out, long long n)
{
    long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
    if (i < n) out[i] = 1; // <-- bounds
}
// What is compared with n is the element of `in`, and no guard of s.
template <int ROOM> __global__ void blur(const float *in, float *out, int n)
{
    __shared__ float s[32 + 2 * ROOM];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t + 2] = i < n ? in[i] : 0;
    if (t < 2) s[t] = i >= 2 ? in[i - 2] : 0;
    if (t < 2) s[t + 34] = i + 32 < n ? in[i + 32] : 0;
    __syncthreads();
    if (i < n) out[i] = s[t] + s[t + 1] + s[t + 2] + s[t + 3] + s[t + 4];
}
template __global__ void blur<1>(const float *, float *, int); // too small: elements 34 and 35 are written
template __global__ void blur<2>(const float *, float *, int);
