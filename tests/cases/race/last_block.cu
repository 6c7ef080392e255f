// R5: the block that comes last adds up what all have left. Without a second fence nothing but habit orders its reads.
__device__ unsigned came;

template <int FENCES> __device__ void sum_blocks(const int *x, int *part, int *out)
{
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = x[blockIdx.x];
        if (FENCES > 0) __threadfence();
        last = atomicInc(&came, gridDim.x - 1) == gridDim.x - 1;
        if (FENCES > 1) __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (unsigned b = 0; b < gridDim.x; b++) sum += part[b];
        out[0] = sum;
    }
}

extern "C" __global__ void last_bad(const int *x, int *part, int *out) { sum_blocks<0>(x, part, out); }
extern "C" __global__ void last_habit(const int *x, int *part, int *out) { sum_blocks<1>(x, part, out); }
extern "C" __global__ void last_ok(const int *x, int *part, int *out) { sum_blocks<2>(x, part, out); }
