// Loops around atomicCAS, as the CUDA programming guide and many others write them: the first load is plain and only guesses. Of 16, 32 and 64 bits, in global
// and shared memory, the value in a register, in a union, behind a reference, in a template. swaps_debug.cu is the same without optimisation.
#include <cuda_fp16.h>

__device__ double add_double(double *address, double v)
{
    unsigned long long *p = (unsigned long long *)address, old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, __double_as_longlong(v + __longlong_as_double(seen)));
    } while (seen != old);
    return __longlong_as_double(old);
}

__device__ float max_float(float *address, float v)
{
    int *p = (int *)address, old = *p;
    while (v > __int_as_float(old)) {
        int seen = old;
        old = atomicCAS(p, seen, __float_as_int(v));
        if (old == seen) break;
    }
    return __int_as_float(old);
}

__device__ void add_short(unsigned short *p, unsigned short v)
{
    unsigned short old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, (unsigned short)(seen + v));
    } while (seen != old);
}

__device__ void add_byte(unsigned char *p, unsigned char v)
{
    unsigned *w = (unsigned *)((size_t)p & ~(size_t)3), shift = ((size_t)p & 3) * 8, old = *w, seen;
    do {
        seen = old;
        unsigned b = (seen >> shift & 255) + v & 255;
        old = atomicCAS(w, seen, (seen & ~(255u << shift)) | b << shift);
    } while (seen != old);
}

__device__ void add_pair(__half2 *p, __half2 v)         // the address of `seen` is taken: without optimisation it lives in local memory
{
    unsigned *w = (unsigned *)p, old = *w, seen;
    do {
        seen = old;
        __half2 h = __hadd2(*reinterpret_cast<__half2 *>(&seen), v);
        old = atomicCAS(w, seen, *reinterpret_cast<unsigned *>(&h));
    } while (seen != old);
}

union both { double d; unsigned long long u; };
__device__ void max_double(double *p, double v)
{
    both old, next;
    old.d = *p;
    for (;;) {
        next.d = old.d > v ? old.d : v;
        unsigned long long seen = atomicCAS((unsigned long long *)p, old.u, next.u);
        if (seen == old.u) break;
        old.u = seen;
    }
}

template <class T, class F> __device__ T update(T *p, F f)
{
    T old = *p, seen;
    do {
        seen = old;
        old = atomicCAS(p, seen, f(seen));
    } while (old != seen);
    return old;
}

extern "C" __global__ void swap_double(double *y) { add_double(y, 1.0 + threadIdx.x % 2); }
extern "C" __global__ void swap_float(float *y) { max_float(y, (float)threadIdx.x); }
extern "C" __global__ void swap_short(unsigned short *y) { add_short(y + threadIdx.x % 3, 1); }
extern "C" __global__ void swap_byte(unsigned char *y) { add_byte(y + threadIdx.x % 8, 1); }
extern "C" __global__ void swap_pair(__half2 *y) { add_pair(y, __half2(1, 1)); }
extern "C" __global__ void swap_union(double *y) { max_double(y, threadIdx.x); }
extern "C" __global__ void swap_template(unsigned *y)
{
    update(y, [](unsigned v) { return v >= 5 ? 0 : v + 1; });
    update(y + 1, [](unsigned v) { return v ^ 1u << threadIdx.x % 32; });
}
extern "C" __global__ void swap_shared(double *y)
{
    __shared__ double d, m;
    __shared__ float f;
    __shared__ unsigned short h[3];
    __shared__ unsigned b[2];
    if (threadIdx.x == 0) { d = m = 0; f = 0; h[0] = h[1] = h[2] = 0; b[0] = b[1] = 0; }
    __syncthreads();
    add_double(&d, 1);
    max_double(&m, threadIdx.x);
    max_float(&f, threadIdx.x);
    add_short(&h[threadIdx.x % 3], 1);
    add_byte((unsigned char *)b + threadIdx.x % 8, 1);
    __syncthreads();
    if (threadIdx.x == 0) { y += 5 * blockIdx.x; y[0] = d; y[1] = f; y[2] = h[0]; y[3] = b[0]; y[4] = m; }
}
