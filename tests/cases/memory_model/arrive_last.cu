// The last block sums up what all have stored; the thread's number is the first index of the loop that does so.
__device__ unsigned done;
template <bool MEETS> __device__ inline void last_block(const float *x, float *part, float *sum)
{
    __shared__ bool last;
    part[blockIdx.x * blockDim.x + threadIdx.x] = x[blockIdx.x * blockDim.x + threadIdx.x] * 2;
    __threadfence();
    if (MEETS) __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&done, 1) == gridDim.x - 1;
    __syncthreads();
    if (!last) return;
    __threadfence();
    float s = 0;
    for (int i = threadIdx.x; i < gridDim.x * blockDim.x; i += blockDim.x) s += part[i];
    atomicAdd(sum, s);
}
__global__ void arrive_last_bad(const float *x, float *part, float *sum) { last_block<false>(x, part, sum); }
__global__ void arrive_last_ok(const float *x, float *part, float *sum) { last_block<true>(x, part, sum); }
