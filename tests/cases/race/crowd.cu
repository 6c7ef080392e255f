// Many readers of the same elements, in sizes that do not fit each other, in kernels where more than barriers order: the one that is left out must not get lost among them.

// Lanes 7, 15, 23 and 31 read word 14, one after another; lane 31 writes it.
template <bool OK> __device__ void far_lanes(int *out)
{
    __shared__ int s[16];
    if (threadIdx.x < 16) s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    __threadfence_block();
    out[threadIdx.x] = s[2 * threadIdx.x % 16];
    if (OK) __syncwarp();
    if (threadIdx.x == 31) s[14] = 1;
}
extern "C" __global__ void far_lanes_ok(int *out) { far_lanes<true>(out); }
extern "C" __global__ void far_lanes_bad(int *out) { far_lanes<false>(out); }

// Every block reads the table in words and in bytes, each from another place on, and counts; the last one writes it. One reads once more when it has counted.
__device__ unsigned came;
template <bool OK> __device__ void last_writes(unsigned *table, unsigned n, unsigned *out)
{
    __shared__ bool last;
    unsigned s = 0;
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x) s += table[k];
    s += ((unsigned char *)table)[(7 * blockIdx.x + threadIdx.x) % (4 * n)] + table[blockIdx.x % n];
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicInc(&came, gridDim.x - 1) == gridDim.x - 1;
    __syncthreads();
    if (!OK && blockIdx.x == 5) s += table[n / 2];
    out[blockIdx.x * blockDim.x + threadIdx.x] = s;
    if (!last) return;
    __threadfence();
    for (unsigned k = threadIdx.x; k < n; k += blockDim.x) table[k] = k;
}
extern "C" __global__ void last_writes_ok(unsigned *table, unsigned n, unsigned *out) { last_writes<true>(table, n, out); }
extern "C" __global__ void last_writes_bad(unsigned *table, unsigned n, unsigned *out) { last_writes<false>(table, n, out); }

// Each thread scales its own weight, and one of the first block adds up those of all blocks: it is that loop which reads what others write, not their own update.
template <bool OK> __device__ void sum_early(float *w, float s, unsigned n, float *sum)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, mine = OK ? blockDim.x : n;
    float t = 0;
    if (i < n) w[i] = w[i] * s;
    __syncthreads();
    if (i != 0) return;
    for (unsigned k = 0; k < mine; k++) t += w[k];
    *sum = t;
}
extern "C" __global__ void sum_early_ok(float *w, float s, unsigned n, float *sum) { sum_early<true>(w, s, n, sum); }
extern "C" __global__ void sum_early_bad(float *w, float s, unsigned n, float *sum) { sum_early<false>(w, s, n, sum); }

// Each thread reads its own weight, then that of the next, and writes its own: it is the second load that a write of the neighbour meets.
template <bool OK> __device__ void smear(float *w, float s)
{
    unsigned i = threadIdx.x, n = blockDim.x;
    float t = w[i] * s;
    t += w[(i + 40) % n];
    if (OK) __syncthreads();
    w[i] = t;
}
extern "C" __global__ void smear_ok(float *w, float s) { smear<true>(w, s); }
extern "C" __global__ void smear_bad(float *w, float s) { smear<false>(w, s); }
