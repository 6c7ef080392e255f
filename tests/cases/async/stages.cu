// regen: -arch=sm_90
// A ring of two stages that a warp fills by bulk copies and four warps read, with the mistakes that people make in it; a reduction by bulk; an mbarrier that is used at once.
#include <cstdint>
static __device__ unsigned at(void *p) { return (unsigned)__cvta_generic_to_shared(p); }
static __device__ void init(uint64_t *b, int n) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
static __device__ void expect(uint64_t *b, int n)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ void arrive(uint64_t *b) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
static __device__ void wait(uint64_t *b, int parity)
{
    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra L; }" ::"r"(at(b)), "r"(parity) : "memory");
}
static __device__ void copy(void *s, const void *g, int n, uint64_t *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(s)), "l"(g), "r"(n), "r"(at(b)) : "memory");
}

enum { RIGHT, REFILLED, LEFT, TAIL };
template <int HOW> static __device__ void ring(const float *x, float *y, int tiles, int n)
{
    __shared__ alignas(128) float s[2][128];
    __shared__ uint64_t full[2], empty[2];
    int t = threadIdx.x, bytes = HOW == TAIL ? 404 : 512;
    if (t == 0) {
        for (int i = 0; i < 2; i++) {
            init(&full[i], 1);
            init(&empty[i], 128);
        }
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    __syncthreads();
    if (t >= 128) {
        for (int k = 0; t == 128 && k < tiles; k++) {
            if (HOW != REFILLED && k >= 2) wait(&empty[k % 2], (k / 2 - 1) & 1);
            expect(&full[k % 2], bytes);
            copy(s[k % 2], x + k * 128, bytes, &full[k % 2]);
        }
        return;
    }
    if (HOW == LEFT && t >= n) return;
    float a = 0;
    for (int k = 0; k < tiles; k++) {
        wait(&full[k % 2], k / 2 & 1);
        a += s[k % 2][127 - t];
        arrive(&empty[k % 2]);
    }
    if (t < n) y[t] = a;
}
extern "C" __global__ void ring_ok(const float *x, float *y, int tiles, int n) { ring<RIGHT>(x, y, tiles, n); }
extern "C" __global__ void ring_refilled(const float *x, float *y, int tiles, int n) { ring<REFILLED>(x, y, tiles, n); }
extern "C" __global__ void ring_left(const float *x, float *y, int tiles, int n) { ring<LEFT>(x, y, tiles, n); }
extern "C" __global__ void ring_tail(const float *x, float *y, int tiles, int n) { ring<TAIL>(x, y, tiles, n); }

extern "C" __global__ void add_all(float *y)
{
    __shared__ alignas(128) float s[64];
    s[threadIdx.x] = 1;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::"l"(y), "r"(at(s)) : "memory");
}

template <bool BAD> static __device__ void first(int *y)
{
    __shared__ uint64_t b;
    __shared__ int s[64];
    if (threadIdx.x == 0) init(&b, 64);
    if (!BAD) __syncthreads();
    s[threadIdx.x] = threadIdx.x;
    arrive(&b);
    wait(&b, 0);
    y[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void first_bad(int *y) { first<true>(y); }
extern "C" __global__ void first_ok(int *y) { first<false>(y); }

template <bool BAD> static __device__ void pair(const int *x, int *y)
{
    __shared__ int s[128];
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(&s[threadIdx.x])), "l"(x + threadIdx.x) : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (!BAD) asm volatile("cp.async.wait_group 0;" ::: "memory");
    __syncthreads();
    y[threadIdx.x] = s[127 - threadIdx.x];
    if (BAD) asm volatile("cp.async.wait_group 0;" ::: "memory");
}
extern "C" __global__ void pair_bad(const int *x, int *y) { pair<true>(x, y); }
extern "C" __global__ void pair_ok(const int *x, int *y) { pair<false>(x, y); }
