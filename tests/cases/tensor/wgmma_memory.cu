// regen: -arch=sm_90a
/* What a wgmma reads from shared memory is its own from its issue to the wait that covers it: kernels that write it too early, and the same done right. A tile of a is 64 x 16 halves, one of b 8 x 16, in core matrices. */
#include <cuda_fp16.h>

typedef unsigned long long u64;
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
static __device__ u64 descriptor(const void *p) { return (ADDR(p) & 0x3ffff) >> 4 | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32; }
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define PRODUCT(d, t) asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor((t).a)), "l"(descriptor((t).b)) : "memory")
#define ARRIVE(b) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(ADDR(b)) : "memory")
#define AWAIT(b, parity) asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(ADDR(b)), "r"(parity) : "memory")
struct tiles { half a[64 * 16], b[8 * 16]; };
static __device__ void set(tiles &t, int first, int n, int by)
{
    for (int i = first; i < 64 * 16; i += n) t.a[i] = __int2half_rn((i + by) % 7 - 3);
    for (int i = first; i < 8 * 16; i += n) t.b[i] = __int2half_rn((i + by) % 5 - 2);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
static __device__ void store(float *out, const float (&d)[4])
{
    for (int i = 0; i < 4; i++) out[threadIdx.x % 128 * 4 + i] = d[i];
}

/* The warpgroup itself writes b again, before or behind its wait. */
extern "C" __global__ void overwrite_bad(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    set(t, threadIdx.x, 128, 0);
    __syncthreads();
    FENCE();
    PRODUCT(d, t);                                                  // <-- async_overwrite
    COMMIT();
    t.b[threadIdx.x] = __int2half_rn(9);                            // <-- async_overwrite
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void overwrite_ok(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    set(t, threadIdx.x, 128, 0);
    __syncthreads();
    FENCE();
    PRODUCT(d, t);
    COMMIT();
    WAIT(0);
    t.b[threadIdx.x] = __int2half_rn(9);
    store(out, d);
}

/* Another warpgroup fills the tile again when one thread has told it that it is free: before its warpgroup has waited, or behind that. */
template <bool waits> static __device__ void refill(float *out)
{
    __shared__ __align__(128) tiles t;
    __shared__ u64 full, empty;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(ADDR(&full)) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(ADDR(&empty)) : "memory");
    }
    __syncthreads();
    if (threadIdx.x >= 128) {
        for (int k = 0; k < 3; k++) {
            if (k) AWAIT(&empty, (k - 1) & 1);
            set(t, threadIdx.x - 128, 128, k);
            ARRIVE(&full);
        }
        return;
    }
    float d[4] = {};
    for (int k = 0; k < 3; k++) {
        AWAIT(&full, k & 1);
        FENCE();
        PRODUCT(d, t);
        COMMIT();
        if (!waits && threadIdx.x == 64) ARRIVE(&empty);
        WAIT(0);
        if (waits && threadIdx.x == 64) ARRIVE(&empty);
    }
    store(out, d);
}
extern "C" __global__ void refill_bad(float *out) { refill<false>(out); }
extern "C" __global__ void refill_ok(float *out) { refill<true>(out); }

/* The wait that was for the tile comes between the product and its own wait. */
template <bool early> static __device__ void late(float *out)
{
    __shared__ __align__(128) tiles t;
    __shared__ u64 full;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(ADDR(&full)) : "memory");
    __syncthreads();
    float d[4] = {};
    if (threadIdx.x >= 128) {
        set(t, threadIdx.x - 128, 128, 0);
        ARRIVE(&full);
        return;
    }
    if (early) AWAIT(&full, 0);
    FENCE();
    PRODUCT(d, t);
    COMMIT();
    if (!early) AWAIT(&full, 0);
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void late_bad(float *out) { late<false>(out); }
extern "C" __global__ void late_ok(float *out) { late<true>(out); }

/* Each warp stores 16 rows of a, and issues the product behind a meeting of its own lanes alone: its own rows, or those of its neighbour. An H200 holds the warps back until all four have issued it; the manual does not say so: a note. */
template <int next> static __device__ void rows(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    set(t, threadIdx.x, 128, 0);
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        half *mine = t.a + (threadIdx.x / 32 + next) % 4 * 256;
        for (int i = threadIdx.x % 32; i < 256; i += 32) mine[i] = __int2half_rn((i + k) % 7 - 3);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
        FENCE();
        PRODUCT(d, t);
        COMMIT();
        WAIT(0);
    }
    store(out, d);
}
extern "C" __global__ void rows_bad(float *out) { rows<1>(out); } // <-- order_weak
extern "C" __global__ void rows_ok(float *out) { rows<0>(out); }
