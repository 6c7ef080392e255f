// The sum of n numbers in two kernels, each with its contract: a partial sum for each block, then one block over those.
//! kernel partial_sums
//! dim    n 1..1000000, blocks 1..1024 = ceildiv(n, 256)
//! arg x     f64[n] in randint(-9, 9)
//! arg part  f64[blocks] out once
//! arg n     i32
//! launch grid=blocks block=256

//! kernel last_sum
//! dim    n 1..256
//! arg part  f64[n] in iota
//! arg sum   f64[1] out
//! arg n     i32
//! launch grid=1 block=256
__device__ double block_sum(double v)
{
    __shared__ double s[256];
    s[threadIdx.x] = v;
    __syncthreads();
    for (int k = 128; k; k /= 2) {
        if (threadIdx.x < k)
            s[threadIdx.x] += s[threadIdx.x + k];
        __syncthreads();
    }
    return s[0];
}

__global__ void partial_sums(const double *x, double *part, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    double v = block_sum(i < n ? x[i] : 0);
    if (threadIdx.x == 0)
        part[blockIdx.x] = v;
}

__global__ void last_sum(const double *part, double *sum, int n)
{
    double v = block_sum(threadIdx.x < n ? part[threadIdx.x] : 0);
    if (threadIdx.x == 0)
        *sum = v;
}
