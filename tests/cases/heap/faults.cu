// The device heap, copies, traps and launches. Each kernel is wrong in one place; the arrows mark the lines its report must name.
#include <cassert>
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory")
#define COMMIT asm volatile("cp.async.commit_group;" ::: "memory")
#define WAIT(n) asm volatile("cp.async.wait_group %0;" ::"n"(n) : "memory")

// A copy reads over the end of its source.
extern "C" __global__ void source_end(const float *in, float *out)
{
    __shared__ __align__(16) float s[128];
    int t = threadIdx.x;
    COPY(&s[4 * t], &in[4 * t]);                        // <-- bounds
    COMMIT;
    WAIT(0);
    out[t] = s[4 * t];
}

// Memory from malloc that is not given back.
extern "C" __global__ void leak(int *out)
{
    int *p = (int *)malloc(64);                         // <-- leak
    if (!p) return;
    p[threadIdx.x & 15] = 1;
    out[threadIdx.x] = p[threadIdx.x & 15];
    if (threadIdx.x & 1) free(p);
}

// Freed twice.
extern "C" __global__ void double_free(int *out)
{
    int *p = (int *)malloc(64);
    if (!p) return;
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0];
    free(p);
    if (threadIdx.x == 3) free(p);                      // <-- double_free
}

// Used after it was freed.
extern "C" __global__ void after_free(int *out)
{
    volatile int *p = (volatile int *)malloc(64);
    if (!p) return;
    p[0] = threadIdx.x;
    free((void *)p);
    out[threadIdx.x] = p[0];                            // <-- use_after_free
}

// free of a pointer into the middle.
extern "C" __global__ void middle_free(int *out)
{
    int *p = (int *)malloc(64);
    if (!p) return;
    p[1] = threadIdx.x;
    out[threadIdx.x] = p[1];
    free(p + 1);                                        // <-- bad_free
}

// One element past a block of the heap.
extern "C" __global__ void heap_end(int *out)
{
    int *p = (int *)malloc(16);
    if (!p) return;
    for (int i = 0; i <= 4; i++) p[i] = i;              // <-- bounds
    out[threadIdx.x] = p[threadIdx.x & 3];
    free(p);
}

// An assertion that does not hold for one thread.
extern "C" __global__ void asserted(const int *in)
{
    assert(in[threadIdx.x] != 17);                      // <-- assertion
}

// A trap on a key that is not known.
extern "C" __global__ void trapped(int *in)
{
    if (in[threadIdx.x] == 9) __trap();                 // <-- trap
    in[threadIdx.x] = 1;
}

// More threads than a block can have.
extern "C" __global__ void block_limit(int *a)          // <-- launch_limit
{
    if (threadIdx.x < 32) a[threadIdx.x] = 1;
}

// More dynamic shared memory than the device has.
extern "C" __global__ void shared_limit(int *a)         // <-- launch_limit
{
    extern __shared__ int mem[];
    mem[threadIdx.x] = a[threadIdx.x];
    a[threadIdx.x] = mem[threadIdx.x];
}

// A grid too high: y ends at 65535.
extern "C" __global__ void grid_limit(int *a)           // <-- launch_limit
{
    if (blockIdx.y == 0) a[threadIdx.x] = 1;
}

// A cooperative launch of more CTAs than can be resident.
extern "C" __global__ void cooperative_limit(int *a)    // <-- launch_limit
{
    if (blockIdx.x == 0 && threadIdx.x < 32) a[threadIdx.x] = 1;
}
