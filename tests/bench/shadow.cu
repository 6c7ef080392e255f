// Kernels that make the race check keep much: elements of one, two and four bytes that neighbours in memory never share a warp for, written, and
// behind a barrier read by others; updated in place; read by many; added to by atomics.
#include <cuda_fp16.h>

// A tile of 32 columns and blockDim.y rows; element (x, y) lies in row x: every element of a sector is of another warp.
static __device__ size_t place(int n, int x, int y) { return (size_t)(blockIdx.x * 32 + x) * n + blockIdx.y * blockDim.y + y; }
template <class T> static __device__ void columns(T *out, int n)
{
    int x = threadIdx.x, y = threadIdx.y;
    out[place(n, x, y)] = (T)(x + y);
    __syncthreads();
    T v = out[place(n, x, y ^ 1)];
    __syncthreads();
    out[place(n, x, y)] = v;
}
extern "C" __global__ void columns8(unsigned char *out, int n) { columns(out, n); }
extern "C" __global__ void columns16(unsigned short *out, int n) { columns(out, n); }
extern "C" __global__ void columns32(unsigned *out, int n) { columns(out, n); }

// Read and written in place by the same thread.
extern "C" __global__ void update8(unsigned char *x, int n) { x[place(n, threadIdx.x, threadIdx.y)] ^= 1; }

// Scattered over the whole array: the writers of a sector are of any CTA.
extern "C" __global__ void scatter8(unsigned char *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i * 2654435761u & (n - 1)] = (unsigned char)i;
}

// Written by one thread, read by four of other warps.
extern "C" __global__ void readers8(unsigned char *x, int n, unsigned char *sum)
{
    unsigned char v = 0;
    x[place(n, threadIdx.x, threadIdx.y)] = (unsigned char)threadIdx.x;
    __syncthreads();
    for (int k = 1; k <= 4; k++) v += x[place(n, threadIdx.x, threadIdx.y ^ k)];
    if (v == 255) *sum = v;
}

extern "C" __global__ void atomics16(__half *x, int n) { atomicAdd(&x[place(n, threadIdx.x, threadIdx.y)], __half(1)); }
extern "C" __global__ void atomics32(unsigned *x, int n) { atomicAdd(&x[place(n, threadIdx.x, threadIdx.y)], 1u); }

// The order is more than barriers: readers and writers of a byte both stay.
extern "C" __global__ void fenced8(unsigned char *out, int n, unsigned *count)
{
    columns(out, n);
    __threadfence();
    if (threadIdx.x + threadIdx.y == 0) atomicAdd(count, 1u);
}
