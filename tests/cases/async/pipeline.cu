// regen: -arch=sm_90a
/* A pipeline of the usual shape: one warp brings tiles of b (and of c) with bulk copies, two warpgroups multiply them with tiles of a that stay, and send the sums away. Each kernel has one
 * mistake, or none. Tiles lie in global memory as products want them: core matrices of 8 rows of 16 bytes. */
#include <cuda_fp16.h>

typedef unsigned long long u64;
enum { STAGES = 2, TILE = 64 * 16, TILES = 6 };
enum mistake { NONE, EARLY, EARLY_NAMED, COVERED, LAST_FENCE, STORE_KEPT, BARRIER_TWICE, NO_INIT_FENCE, STAGE_TOO_FAR, NO_WAIT };

static __device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ u64 descriptor(const void *p) { return (at(p) & 0x3ffff) >> 4 | (u64)(128 >> 4) << 16 | (u64)(256 >> 4) << 32; }
static __device__ void arrive(u64 *b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
static __device__ void wait(u64 *b, unsigned parity)
{
    asm volatile("{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra again;\n}" ::"r"(at(b)), "r"(parity) : "memory");
}
static __device__ void bring(void *to, const void *from, u64 *b)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(TILE * 2) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(TILE * 2), "r"(at(b)) : "memory");
}
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define MEET(id, n) asm volatile("bar.sync %0, %1;" ::"n"(id), "n"(n) : "memory")
#define COME(id, n) asm volatile("bar.arrive %0, %1;" ::"n"(id), "n"(n) : "memory")
static __device__ void product(float (&d)[4], const void *a, const void *b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a)), "l"(descriptor(b)));
}

struct shared {
    __align__(128) half a[2][TILE], b[STAGES][TILE], c[STAGES][TILE];
    __align__(16) float y[2][512];
    u64 b_full[STAGES], b_empty[STAGES], c_full[STAGES], c_empty[STAGES], a_full;
};

/* Brings tiles: of c, and of b behind each. */
template <mistake wrong> static __device__ void produce(shared &s, const half *a, const half *b, const half *c)
{
    bring(s.a[0], a, &s.a_full);
    bring(s.a[1], a + TILE, &s.a_full);
#pragma unroll 1
    for (int k = 0; k < TILES; k++) {
        unsigned stage = k % STAGES, phase = (k / STAGES & 1) ^ 1;
        if (wrong != EARLY && wrong != STAGE_TOO_FAR) {
            wait(&s.c_empty[stage], phase);
            bring(s.c[stage], c + k * TILE, &s.c_full[stage]);
        }
        wait(&s.b_empty[stage], phase);
        bring(s.b[stage], b + k * TILE, &s.b_full[stage]);
    }
}

template <mistake wrong> static __device__ void pipeline(const half *a, const half *b, const half *c, float *y)
{
    __shared__ shared s;
    unsigned group = threadIdx.x / 128, t = threadIdx.x % 128;
    constexpr bool one = wrong == EARLY || wrong == STAGE_TOO_FAR; /* b alone */
    if (threadIdx.x == 256) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;" ::"r"(at(&s.a_full)));
        for (int k = 0; k < STAGES; k++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nmbarrier.init.shared::cta.b64 [%1], 2;" ::"r"(at(&s.b_full[k])), "r"(at(&s.b_empty[k])));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nmbarrier.init.shared::cta.b64 [%1], 2;" ::"r"(at(&s.c_full[k])), "r"(at(&s.c_empty[k])));
        }
        if (wrong != NO_INIT_FENCE) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (group == 2) {
        if (t == 0) produce<wrong>(s, a, b, c);
        return;
    }
    float d[4] = {}, e[4] = {};
    wait(&s.a_full, 0);
#pragma unroll 1
    for (int k = 0; k < TILES; k++) {
        unsigned stage = k % STAGES, phase = k / STAGES & 1;
        wait(&s.b_full[stage], phase);
        FENCE();
        product(d, s.a[group], s.b[wrong == STAGE_TOO_FAR ? (k + 1) % STAGES : stage]); // wrong: STAGE_TOO_FAR
        COMMIT();
        if ((wrong == EARLY || wrong == COVERED) && t == 0) arrive(&s.b_empty[stage]); // wrong: EARLY, COVERED
        if (!one) {
            wait(&s.c_full[stage], phase);
            if (wrong == LAST_FENCE && k == TILES - 1)
                for (int i = 0; i < 4; i++) e[i] *= __half2float(a[i]); // wrong: LAST_FENCE
            else
                FENCE();
            product(e, s.a[group], s.c[stage]);
            COMMIT();
        }
        if (one) WAIT(0); else WAIT(1);
        if (wrong != EARLY && wrong != COVERED && t == 0) arrive(&s.b_empty[stage]);
        WAIT(0);
        if (!one && t == 0) arrive(&s.c_empty[stage]);
    }
    for (int i = 0; i < 4; i++) s.y[group][i * 128 + t] = d[i] + e[i];
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (group) MEET(2, 128); else MEET(1, 128);
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;\ncp.async.bulk.commit_group;" ::"l"(y + group * 512), "r"(at(s.y[group])) : "memory");
        if (wrong != STORE_KEPT) asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
    }
    if (group) MEET(2, 128); else MEET(1, 128);
    for (int i = 0; i < 4; i++) s.y[group][i * 128 + t] = d[i] - e[i]; // wrong: STORE_KEPT
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (group) MEET(2, 128); else MEET(1, 128);
    if (t == 0) asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 2048;\ncp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::"l"(y + 1024 + group * 512), "r"(at(s.y[group])) : "memory");
}
#define KERNEL(name, wrong) \
    extern "C" __global__ void __launch_bounds__(288, 1) name(const half *a, const half *b, const half *c, float *y) { pipeline<wrong>(a, b, c, y); }
KERNEL(pipeline_ok, NONE)
KERNEL(early_bad, EARLY)
KERNEL(covered_bad, COVERED)
KERNEL(last_fence_bad, LAST_FENCE)
KERNEL(store_kept_bad, STORE_KEPT)
KERNEL(no_init_fence_bad, NO_INIT_FENCE)
KERNEL(stage_too_far_bad, STAGE_TOO_FAR)

/* The buffer goes back by a named barrier: the warp that fills it meets both warpgroups there. */
template <bool early> static __device__ void by_barrier(const half *a, const half *b, float *y)
{
    __shared__ shared s;
    unsigned group = threadIdx.x / 128, t = threadIdx.x % 128;
    if (threadIdx.x == 256) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;\nmbarrier.init.shared::cta.b64 [%1], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at(&s.a_full)), "r"(at(&s.b_full[0])));
    }
    __syncthreads();
    if (group == 2) {
        if (t == 0) bring(s.a[0], a, &s.a_full), bring(s.a[1], a + TILE, &s.a_full);
#pragma unroll 1
        for (int k = 0; k < TILES; k++) {
            if (k) MEET(3, 288);
            if (t == 0) bring(s.b[0], b + k * TILE, &s.b_full[0]);
        }
        return;
    }
    float d[4] = {};
    wait(&s.a_full, 0);
#pragma unroll 1
    for (int k = 0; k < TILES; k++) {
        wait(&s.b_full[0], k & 1);
        FENCE();
        product(d, s.a[group], s.b[0]);
        COMMIT();
        if (early && k + 1 < TILES) COME(3, 288); // wrong: by_barrier_bad
        WAIT(0);
        if (!early && k + 1 < TILES) COME(3, 288);
    }
    for (int i = 0; i < 4; i++) y[threadIdx.x * 4 + i] = d[i];
}
extern "C" __global__ void __launch_bounds__(288, 1) by_barrier_ok(const half *a, const half *b, float *y) { by_barrier<false>(a, b, y); }
extern "C" __global__ void __launch_bounds__(288, 1) by_barrier_bad(const half *a, const half *b, float *y) { by_barrier<true>(a, b, y); }

/* One named barrier with two counts: the first warpgroup waits for the second one there, which later meets there by itself. That all of the second have come to the first use says nothing about the
 * first warpgroup, which may still be on its way. */
template <bool ordered> static __device__ void counts(int *out)
{
    __shared__ volatile int met;
    if (threadIdx.x == 0) met = 0;
    __syncthreads();
    if (threadIdx.x < 128) {
        MEET(1, 256);
        if (threadIdx.x == 0) met = 1;
        if (ordered) COME(2, 256);
    } else {
        COME(1, 256);
        while (!met) {} /* so that the two uses do not meet here; it orders nothing */
        if (ordered) MEET(2, 256);
        MEET(1, 128); // wrong: counts_bad
    }
    out[threadIdx.x] = 1;
}
extern "C" __global__ void counts_ok(int *out) { counts<true>(out); }
extern "C" __global__ void counts_bad(int *out) { counts<false>(out); }
