// regen: -arch=sm_90a
/* Ordinary stores to shared memory that the async proxy reads: with and without the fence between the two proxies. */
#include <cuda_fp16.h>

typedef unsigned long long u64;
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define FENCE() asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define STORE(to, from, bytes) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(ADDR(from)), "r"((unsigned)(bytes)) : "memory")
#define COMMIT() asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define WAIT() asm volatile("cp.async.bulk.wait_group 0;" ::: "memory")

// All threads store, one copies: the fence is missing, before the barrier or anywhere else.
extern "C" __global__ void bulk_bad(int *out)
{
    __shared__ __align__(16) int s[128];
    s[threadIdx.x] = threadIdx.x * 3;                   // <-- async_proxy
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, s, sizeof s);                        // <-- async_proxy
        COMMIT();
        WAIT();
    }
}
extern "C" __global__ void bulk_ok(int *out)
{
    __shared__ __align__(16) int s[128];
    s[threadIdx.x] = threadIdx.x * 3;
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        STORE(out, s, sizeof s);
        COMMIT();
        WAIT();
    }
}

// The fence in the thread that copies, behind the barrier: on the way as well.
extern "C" __global__ void reader_ok(int *out)
{
    __shared__ __align__(16) int s[128];
    s[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async;" ::: "memory");
        STORE(out, s, sizeof s);
        COMMIT();
        WAIT();
    }
}

// One thread stores and copies; the fence of global memory is another one.
extern "C" __global__ void own_bad(int *out)
{
    __shared__ __align__(16) int s[4];
    if (threadIdx.x) return;
    for (int i = 0; i < 4; i++) s[i] = i + out[i];      // <-- async_proxy
    asm volatile("fence.proxy.async.global;" ::: "memory");
    STORE(out, s, sizeof s);                            // <-- async_proxy
    COMMIT();
    WAIT();
}
extern "C" __global__ void own_ok(int *out)
{
    __shared__ __align__(16) int s[4];
    if (threadIdx.x) return;
    for (int i = 0; i < 4; i++) s[i] = i + out[i];
    FENCE();
    STORE(out, s, sizeof s);
    COMMIT();
    WAIT();
}

// A loop whose first turn has the fence, and whose buffer is added to by atomics.
template <int fenced> static __device__ void turns(int *out)
{
    __shared__ __align__(16) int s[128];
    s[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < 3; k++) {
        atomicAdd(&s[(threadIdx.x * 5 + k) % 128], k + 1);
        if (k < fenced) FENCE();
        __syncthreads();
        if (threadIdx.x == 0) {
            STORE(out + k * 128, s, sizeof s);
            COMMIT();
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
}
extern "C" __global__ void turns_bad(int *out) { turns<1>(out); }
extern "C" __global__ void turns_ok(int *out) { turns<3>(out); }

// What a bulk copy has brought needs no fence on its way out, nor does what was stored before it came.
extern "C" __global__ void through_ok(const int *in, int *out)
{
    __shared__ __align__(16) int s[128];
    __shared__ u64 full;
    s[threadIdx.x] = -1;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(ADDR(&full)) : "memory");
    FENCE();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(ADDR(&full)), "r"((unsigned)sizeof s) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(ADDR(s)), "l"(in), "r"((unsigned)sizeof s), "r"(ADDR(&full)) : "memory");
        asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0; @!p bra again; }" ::"r"(ADDR(&full)) : "memory");
        STORE(out, s, sizeof s);
        COMMIT();
        WAIT();
    }
}

// wgmma reads by the async proxy as well.
template <bool fenced> static __device__ void product(float *out)
{
    __shared__ __align__(128) half a[64 * 16], b[8 * 16];
    float d[4] = {};
    for (int i = threadIdx.x; i < 64 * 16; i += 128) a[i] = __int2half_rn(i % 7 - 3);
    b[threadIdx.x] = __int2half_rn(threadIdx.x % 5 - 2);
    if (fenced) FENCE();
    __syncthreads();
    u64 layout = (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"((ADDR(a) & 0x3ffff) >> 4 | layout), "l"((ADDR(b) & 0x3ffff) >> 4 | layout) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}
extern "C" __global__ void product_bad(float *out) { product<false>(out); }
extern "C" __global__ void product_ok(float *out) { product<true>(out); }
