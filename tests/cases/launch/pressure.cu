// Many values at once: without __launch_bounds__ ptxas gives a thread more registers than a block of 1024 has for each.
template <int N> __device__ float above_least(const float *x, int i, int n)
{
    float v[N], least = INFINITY, sum = 0;
#pragma unroll
    for (int k = 0; k < N; k++) v[k] = x[i + k * n];
#pragma unroll
    for (int k = 0; k < N; k++) least = fminf(least, v[k]);
#pragma unroll
    for (int k = 0; k < N; k++) sum += sqrtf(v[k] - least);
    return sum;
}

extern "C" __global__ void spread(const float *x, float *y, int n) // <-- launch_limit
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = above_least<72>(x, i, n);
}

extern "C" __global__ void __launch_bounds__(1024) bounded(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = above_least<72>(x, i, n);
}
