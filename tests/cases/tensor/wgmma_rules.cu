// regen: -arch=sm_90a
/* wgmma against its rules, one kernel a mistake, and the same without it. A tile of a is 64 x 16 halves, one of b 8 x 16, in core matrices. */
#include <cuda_fp16.h>

typedef unsigned long long u64;
static __device__ u64 descriptor(const void *p, unsigned lead, unsigned stride)
{
    unsigned at = (unsigned)__cvta_generic_to_shared(p);
    return (at & 0x3ffff) >> 4 | (u64)(lead >> 4) << 16 | (u64)(stride >> 4) << 32;
}
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
static __device__ void product(float (&d)[4], u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(a), "l"(b));
}
struct tiles { half a[64 * 16], b[8 * 16]; };
static __device__ void fill(tiles &t)
{
    for (int i = threadIdx.x; i < 64 * 16; i += blockDim.x) t.a[i] = __int2half_rn(i % 7 - 3);
    for (int i = threadIdx.x; i < 8 * 16; i += blockDim.x) t.b[i] = __int2half_rn(i % 5 - 2);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
}
static __device__ void store(float *out, const float (&d)[4])
{
    for (int i = 0; i < 4; i++) out[threadIdx.x * 4 + i] = d[i];
}

/* An accumulator is read between the product and its wait. */
template <bool waits> static __device__ void reading(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    FENCE();
    product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    COMMIT();
    if (waits) WAIT(0);
    out[512 + threadIdx.x] = d[0] * 2;
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void reading_bad(float *out) { reading<false>(out); }
extern "C" __global__ void reading_ok(float *out) { reading<true>(out); }

/* Of two groups only the older one is complete after wait_group 1. */
template <int left> static __device__ void groups(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {}, e[4] = {};
    fill(t);
    FENCE();
    product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    COMMIT();
    product(e, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    COMMIT();
    if (left) WAIT(1); else WAIT(0);
    d[0] += 1;
    e[0] += 1;
    WAIT(0);
    for (int i = 0; i < 4; i++) d[i] += e[i];
    store(out, d);
}
extern "C" __global__ void groups_bad(float *out) { groups<1>(out); }
extern "C" __global__ void groups_ok(float *out) { groups<0>(out); }

/* A register of a is written while the product may still read it. */
template <bool waits> static __device__ void operand(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    unsigned a = 0x3c003c00;
    fill(t);
    FENCE();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, {%4,%4,%4,%4}, %5, 1, 1, 1, 0;\n\t"
                 "wgmma.commit_group.sync.aligned;\n\t"
                 "{ .reg .pred q; setp.ne.u32 q, %6, 0; @q bra $skip%=; wgmma.wait_group.sync.aligned 0;\n$skip%=: }\n\t"
                 "add.u32 %4, %4, %6;\n\t"
                 "wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+r"(a) : "l"(descriptor(t.b, 128, 256)), "n"(waits ? 0 : 1));
    store(out, d);
    out[512 + threadIdx.x] = __uint_as_float(a);
}
extern "C" __global__ void operand_bad(float *out) { operand<false>(out); }
extern "C" __global__ void operand_ok(float *out) { operand<true>(out); }

/* Accumulators are written behind the last fence; or there is none at all. */
template <bool fences> static __device__ void fence(float *out, int n)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    FENCE();
    for (int i = 0; i < 4; i++) d[i] = out[i + n];
    if (fences) FENCE();
    product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    COMMIT();
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void fence_bad(float *out, int n) { fence<false>(out, n); }
extern "C" __global__ void fence_ok(float *out, int n) { fence<true>(out, n); }
template <bool fences> static __device__ void first_fence(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    if (fences) FENCE();
    product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    COMMIT();
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void first_fence_bad(float *out) { first_fence<false>(out); }
extern "C" __global__ void first_fence_ok(float *out) { first_fence<true>(out); }

/* One warp of the warpgroup does not take part. */
template <int threads> static __device__ void divergent(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    if (threadIdx.x < threads) {
        FENCE();
        product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
        COMMIT();
        WAIT(0);
    }
    store(out, d);
}
extern "C" __global__ void divergent_bad(float *out) { divergent<96>(out); }
extern "C" __global__ void divergent_ok(float *out) { divergent<128>(out); }

/* The stride between eight rows of a is that of a matrix twice as large; descriptors that differ between warps. */
template <int stride> static __device__ void bounds(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    FENCE();
    product(d, descriptor(t.a, 128, stride), descriptor(t.b, 128, 256));
    COMMIT();
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void bounds_bad(float *out) { bounds<512>(out); }
extern "C" __global__ void bounds_ok(float *out) { bounds<256>(out); }
template <int apart> static __device__ void differs(float *out)
{
    __shared__ __align__(128) tiles t[2];
    float d[4] = {};
    fill(t[0]);
    fill(t[1]);
    FENCE();
    product(d, descriptor(t[threadIdx.x / apart].a, 128, 256), descriptor(t[0].b, 128, 256));
    COMMIT();
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void differs_bad(float *out) { differs<64>(out); }
extern "C" __global__ void differs_ok(float *out) { differs<128>(out); }

/* A matrix with the swizzle of 128 bytes begins 128 bytes behind a multiple of its pattern. */
template <int skip> static __device__ void pattern(float *out)
{
    __shared__ __align__(1024) half s[64 * 64 + 8 * 64 + 512];
    float d[4] = {};
    for (int i = threadIdx.x; i < 64 * 64 + 8 * 64 + 512; i += blockDim.x) s[i] = __int2half_rn(i % 7 - 3);
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    FENCE();
    product(d, descriptor(s + skip, 16, 1024) | 1ull << 62, descriptor(s + 64 * 64, 16, 1024) | 1ull << 62);
    COMMIT();
    WAIT(0);
    store(out, d);
}
extern "C" __global__ void pattern_bad(float *out) { pattern<64>(out); }
extern "C" __global__ void pattern_ok(float *out) { pattern<16>(out); }

/* Nobody waits. */
template <bool waits> static __device__ void unfinished(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    FENCE();
    product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
    COMMIT();
    if (waits) WAIT(0);
    out[threadIdx.x] = 1;
}
extern "C" __global__ void unfinished_bad(float *out) { unfinished<false>(out); }
extern "C" __global__ void unfinished_ok(float *out) { unfinished<true>(out); }

/* The two halves of a block go different ways, each a whole warpgroup. */
extern "C" __global__ void halves_ok(float *out)
{
    __shared__ __align__(128) tiles t;
    float d[4] = {};
    fill(t);
    if (threadIdx.x < 128) {
        FENCE();
        for (int i = 0; i < 3; i++) {
            product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
            COMMIT();
        }
        WAIT(0);
    } else {
        FENCE();
        product(d, descriptor(t.a, 128, 256), descriptor(t.b, 128, 256));
        COMMIT();
        WAIT(0);
        d[1] *= 2;
    }
    store(out, d);
}
