// Rounds of histograms, as published top-k kernels count them: block 0 clears that of the next round, and one thread of
// each block arrives for its block at the end of a round.
__device__ inline int acquire(int *p) { int v; asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(v) : "l"(p) : "memory"); return v; }
template <bool MEETS> __device__ inline void turns(int *counts, int *counter, int rounds)
{
    for (int r = 0; r < rounds; r++) {
        atomicAdd(&counts[r % 3 * 64 + threadIdx.x], 1);
        if (blockIdx.x == 0) counts[(r + 1) % 3 * 64 + threadIdx.x] = 0;
        if (MEETS) __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            atomicAdd(counter, 1);
            while (acquire(counter) < (r + 1) * (int)gridDim.x) { }
        }
        __syncthreads();
    }
}
__global__ void arrive_turns_bad(int *counts, int *counter, int rounds) { turns<false>(counts, counter, rounds); }
__global__ void arrive_turns_ok(int *counts, int *counter, int rounds) { turns<true>(counts, counter, rounds); }
