// Corners of the language and of the machine, each kernel wrong in one place; corners_ok.cu has most of them right. The arrows mark the lines its report must name.
// regen: -arch=sm_80
#include <alloca.h>
#include <cstdio>
#include <cstring>

// A pointer before the start, used from 0.
extern "C" __global__ void one_based(float *x, int n)
{
    float *a = x - 1;
    for (int i = threadIdx.x; i < n; i += blockDim.x) a[i] = 2;         // <-- bounds
}

// A pointer to the end, and an index of 0.
extern "C" __global__ void from_the_end(const int *x, int *out, int n)
{
    const int *end = x + n;
    for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = end[-i]; // <-- bounds
}

// Two bits of a pointer carry a tag, and only one of them is taken away.
extern "C" __global__ void tagged(int *x, int *out)
{
    __shared__ unsigned long long s[64];
    s[threadIdx.x] = (unsigned long long)(x + threadIdx.x) | (threadIdx.x & 3);
    __syncthreads();
    unsigned long long p = s[threadIdx.x ^ 1];
    out[threadIdx.x] = *(int *)(p & ~1ull) + (int)(p & 3);              // <-- misaligned
}

// <= where < is meant, in the size of an asynchronous copy.
extern "C" __global__ void copy_too_far(const float *x, float *out, int n)
{
    __shared__ __align__(16) float s[128];
    int i = 4 * threadIdx.x;
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"((unsigned)__cvta_generic_to_shared(s + i)), "l"(x + i), "r"(i <= n ? 16 : 0) : "memory");        // <-- bounds
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int k = threadIdx.x; k < 128; k += 32) out[k] = s[k];
}

// ldmatrix.x2 takes 16 addresses, and there are 8 rows.
extern "C" __global__ void sixteen_addresses(const unsigned short *x, unsigned *out)
{
    __shared__ __align__(16) unsigned short s[64];
    for (int k = threadIdx.x; k < 64; k += 32) s[k] = x[k];
    __syncwarp();
    unsigned r, q;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r), "=r"(q) : "r"((unsigned)__cvta_generic_to_shared(s) + 16 * threadIdx.x) : "memory");     // <-- bounds_shared
    out[threadIdx.x] = r + q;
}

// Pairs of warps, each with a barrier of its own, and the exchange goes to the other pair.
extern "C" __global__ void other_pair(const int *x, int *out)
{
    __shared__ int s[128];
    s[threadIdx.x] = x[threadIdx.x];                                    // <-- race
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 64];                             // <-- race
}

// One element more than the frame was asked for.
extern "C" __global__ void frame_memory(int *out, int n)
{
    int *a = (int *)alloca(n * sizeof(int));
    for (int k = 0; k <= n; k++) a[k] = k + threadIdx.x;                // <-- bounds_local
    out[threadIdx.x] = a[threadIdx.x % n];
}

// The address of a local array outlives the call.
__device__ __noinline__ int *local_of(int v)
{
    int a[4];
    for (int k = 0; k < 4; k++) a[k] = v + k;
    int *volatile p = a;
    return p;
}
extern "C" __global__ void dangling(int *out)
{
    int *p = local_of(threadIdx.x);
    out[threadIdx.x] = p[1];                                            // <-- bounds_local
}

// Deeper than the stack.
__device__ __noinline__ int deep(int n, volatile int *v);
extern "C" __global__ void too_deep(int *out, int n)
{
    out[threadIdx.x] = deep(n, out + 32);
}
__device__ int deep(int n, volatile int *v)
{
    int a[64];
    for (int k = 0; k < 64; k++) a[k] = n + *v;
    return n == 0 ? a[*v] : deep(n - 1, v) + a[n & 63];                 // <-- stack_overflow
}

// More than the heap has, and nobody looks.
extern "C" __global__ void too_much(int *out, size_t n)
{
    int *p = (int *)malloc(n);
    p[threadIdx.x] = threadIdx.x;                                       // <-- null_pointer
    out[threadIdx.x] = p[threadIdx.x];
    free(p);
}

// Eight letters, and no end: printf reads on.
extern "C" __global__ void no_end(char *text)
{
    if (threadIdx.x == 0) printf("%s\n", text);                         // <-- bounds
}

// The size of the pointer is taken for that of the array.
extern "C" __global__ void size_of_pointer(const float *x, float *out)
{
    float a[8];
    memcpy(a, x, sizeof(x));
    out[threadIdx.x] = a[threadIdx.x & 7] + 1;                          // <-- uninit_output
}

// The upper half of each double is never written.
extern "C" __global__ void half_a_double(double *d, double *out)
{
    ((int *)d)[2 * threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = d[threadIdx.x] * 2;                              // <-- uninit_output
}

// A lock that nobody has set to 0.
extern "C" __global__ void lock_of_anything(int *lock, int *value)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) {}                                    // <-- uninit_branch
    __threadfence();
    *value += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// The least of all, and of what lay there before.
extern "C" __global__ void least(const int *x, int *out)
{
    __shared__ int best;
    atomicMin(&best, x[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = best;                                  // <-- uninit_output
}

// A plain flag: the compiler reads it once, and the loop never ends.
extern "C" __global__ void read_once(int *flag, int *out)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        while (!*flag) {}                                               // <-- deadlock
        *out = 1;
    } else *flag = 1;
}

// A mask taken before the branch names lanes that do not come.
extern "C" __global__ void mask_of_before(const int *x, int *out)
{
    unsigned lanes = __activemask();
    int v = x[threadIdx.x];
    if (threadIdx.x < 16) v = __shfl_xor_sync(lanes, v, 1);             // <-- deadlock
    out[threadIdx.x] = v;
    __syncthreads();
}

// The two sides of a union, and a slow thread still reads the first.
extern "C" __global__ void both_sides(const float *x, float *out)
{
    __shared__ union { float f[64]; int i[64]; } u;
    u.f[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    float v = u.f[63 - threadIdx.x];                                    // <-- race
    u.i[threadIdx.x] = (int)v;                                          // <-- race
    __syncthreads();
    out[threadIdx.x] = v + u.i[63 - threadIdx.x];
}

// A ring over the block, and a barrier of the warp: two of 49 threads ask the other warp.
extern "C" __global__ void ring_of_two_warps(const int *x, int *out)
{
    __shared__ int s[49];
    s[threadIdx.x] = x[threadIdx.x];                                    // <-- race
    __syncwarp();
    out[threadIdx.x] = s[(threadIdx.x + 1) % 49];                       // <-- race
}
