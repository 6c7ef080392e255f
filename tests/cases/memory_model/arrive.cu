// A barrier of the grid: one thread of each block counts for its block.
__device__ inline int acquire(int *p) { int v; asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
template <bool MEETS> __device__ inline void all(int *data, int *counter, int *out)
{
    data[blockIdx.x * 64 + threadIdx.x] = threadIdx.x + 1;
    if (MEETS) __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(counter, 1);
        while (acquire(counter) < gridDim.x) { }
    }
    __syncthreads();
    out[blockIdx.x * 64 + threadIdx.x] = data[(blockIdx.x ^ 1) * 64 + 63 - threadIdx.x];
}
__global__ void arrive_bad(int *data, int *counter, int *out) { all<false>(data, counter, out); }
__global__ void arrive_ok(int *data, int *counter, int *out) { all<true>(data, counter, out); }
