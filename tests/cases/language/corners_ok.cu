// Corners of the language and of the machine where right code looks wrong. corners_bad.cu has the same with one thing changed.
// regen: -arch=sm_80
#include <alloca.h>

// A pointer before the start, used from 1: no access is outside.
extern "C" __global__ void one_based(float *x, int n)
{
    float *a = x - 1;
    for (int i = 1 + threadIdx.x; i <= n; i += blockDim.x) a[i] *= 2;
}

// A pointer to the end, and negative indices.
extern "C" __global__ void from_the_end(const int *x, int *out, int n)
{
    const int *end = x + n;
    for (int i = 1 + threadIdx.x; i <= n; i += blockDim.x) out[i - 1] = end[-i];
}

// Two bits of a pointer carry a tag, through shared memory.
extern "C" __global__ void tagged(int *x, int *out)
{
    __shared__ unsigned long long s[64];
    s[threadIdx.x] = (unsigned long long)(x + threadIdx.x) | (threadIdx.x & 3);
    __syncthreads();
    unsigned long long p = s[threadIdx.x ^ 1];
    out[threadIdx.x] = *(int *)(p & ~3ull) + (int)(p & 3);
}

// A pointer travels in two halves, by shuffles.
extern "C" __global__ void in_halves(int *x, int *out)
{
    unsigned long long p = (unsigned long long)(x + threadIdx.x);
    unsigned lo = __shfl_xor_sync(~0u, (unsigned)p, 1), hi = __shfl_xor_sync(~0u, (unsigned)(p >> 32), 1);
    out[threadIdx.x] = *(int *)((unsigned long long)hi << 32 | lo);
}

// A copy of no bytes from an address outside fills its 16 bytes with zeros.
extern "C" __global__ void copy_of_nothing(const float *x, float *out, int n)
{
    __shared__ __align__(16) float s[128];
    int i = 4 * threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(s + i)), "l"(x + i), "r"(i < n ? 16 : 0) : "memory");
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int k = threadIdx.x; k < 128; k += 32) out[k] = s[k];
}

// ldmatrix.x1 takes the addresses of lanes 0 to 7; those of the others may be anything.
extern "C" __global__ void eight_addresses(const unsigned short *x, unsigned *out)
{
    __shared__ __align__(16) unsigned short s[64];
    for (int k = threadIdx.x; k < 64; k += 32) s[k] = x[k];
    __syncwarp();
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"((unsigned)__cvta_generic_to_shared(s) + 16 * threadIdx.x) : "memory");
    out[threadIdx.x] = r;
}

// A prefetch beyond the end is no access.
extern "C" __global__ void prefetch_beyond(const float *x, float *out, int n)
{
    for (int i = threadIdx.x; i < n; i += 32) {
        asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i + 64));
        out[i] = x[i];
    }
}

// The barrier's number comes from a register, and goes round.
extern "C" __global__ void numbered(const int *x, int *out, int n)
{
    __shared__ int s[128];
    for (int k = 0; k < n; k++) {
        s[threadIdx.x] = x[threadIdx.x] + k;
        asm volatile("bar.sync %0, %1;" ::"r"(1 + k % 3), "r"(128) : "memory");
        int v = s[threadIdx.x ^ 64];
        asm volatile("bar.sync %0, %1;" ::"r"(4 + k % 3), "r"(128) : "memory");
        out[k * 128 + threadIdx.x] = v;
    }
}

// Memory of the frame whose size is known at run time only.
extern "C" __global__ void frame_memory(int *out, int n)
{
    int *a = (int *)alloca(n * sizeof(int));
    for (int k = 0; k < n; k++) a[k] = k + threadIdx.x;
    out[threadIdx.x] = a[threadIdx.x % n];
}

// More than the heap has: malloc says so, and the kernel listens.
extern "C" __global__ void too_much(int *out, size_t n)
{
    int *p = (int *)malloc(n);
    if (p) {
        p[threadIdx.x] = threadIdx.x;
        out[threadIdx.x] = p[threadIdx.x];
        free(p);
    } else out[threadIdx.x] = -1;
}

// A sum over those lanes that have a value.
extern "C" __global__ void some_lanes(const int *x, int *out, int n)
{
    bool have = threadIdx.x < n;
    int v;
    if (have) v = x[threadIdx.x];
    unsigned lanes = __ballot_sync(~0u, have);
    if (have) {
        int sum = __reduce_add_sync(lanes, v);
        if (threadIdx.x == 0) *out = sum;
    }
}

// The two sides of a union in turn, with a barrier on both sides of the turn.
extern "C" __global__ void both_sides(const float *x, float *out)
{
    __shared__ union { float f[64]; int i[64]; } u;
    u.f[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float v = u.f[63 - threadIdx.x];
    __syncthreads();
    u.i[threadIdx.x] = (int)v;
    __syncthreads();
    out[threadIdx.x] = v + u.i[63 - threadIdx.x];
}

// A last warp of 17 threads exchanges among themselves.
extern "C" __global__ void tail_warp(const int *x, int *out)
{
    __shared__ int s[49];
    s[threadIdx.x] = x[threadIdx.x];
    __syncwarp();
    int base = threadIdx.x / 32 * 32, n = min(32, 49 - base);
    out[threadIdx.x] = s[base + (threadIdx.x - base + 1) % n];
}
