// regen: -arch=sm_90
// cp.async that an mbarrier counts, and reductions into shared memory: the arrival comes when the copies have come, and with the phase their data. Arrows mark the lines that a report must name.
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define COPY(to, from) asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(ADDR(to)), "l"(from) : "memory")
#define INIT(b, n) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(ADDR(b)), "r"(n) : "memory")
#define ARRIVE(b) asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(ADDR(b)) : "memory")
#define EXPECT(b, n) asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1; }" ::"r"(ADDR(b)), "r"(n) : "memory")
#define SUM(to, from, n, b) asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];" ::"r"(ADDR(to)), "r"(ADDR(from)), "r"(n), "r"(ADDR(b)) : "memory")
typedef unsigned long long u64;

static __device__ bool over(u64 *b, int parity)
{
    int done;
    asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.s32 %0, 1, 0, p; }" : "=r"(done) : "r"(ADDR(b)), "r"(parity) : "memory");
    return done;
}

// Each thread copies and arrives with its copies; behind the phase all of it is there.
extern "C" __global__ void counted(const int *in, int *out)
{
    __shared__ __align__(8) u64 bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) INIT(&bar, 64);
    __syncthreads();
    COPY(&s[t], &in[t]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ADDR(&bar)) : "memory");
    while (!over(&bar, 0)) {}
    out[t] = s[63 - t];
}

// Without .noinc the arrival is one more than the mbarrier expects: the phase ends with the arrival of thread 0, and with all copies.
extern "C" __global__ void counted_more(const int *in, int *out)
{
    __shared__ __align__(8) u64 bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) INIT(&bar, 1);
    __syncthreads();
    COPY(&s[t], &in[t]);
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(ADDR(&bar)) : "memory");
    __syncthreads();
    if (t == 0) ARRIVE(&bar);
    while (!over(&bar, 0)) {}
    out[t] = s[63 - t];
}

// A thread reads before the phase: its own copy need not have come.
extern "C" __global__ void counted_early(const int *in, int *out)
{
    __shared__ __align__(8) u64 bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) INIT(&bar, 64);
    s[t] = -1;
    __syncthreads();
    COPY(&s[t], &in[t]);                                // <-- async_early
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ADDR(&bar)) : "memory");
    out[t] = s[t];                                      // <-- async_early
    while (!over(&bar, 0)) {}
}

// A copy that was issued behind the arrival is not counted.
extern "C" __global__ void counted_behind(const int *in, int *out)
{
    __shared__ __align__(8) u64 bar;
    __shared__ int s[64], r[64];
    int t = threadIdx.x;
    if (t == 0) INIT(&bar, 64);
    s[t] = r[t] = -1;
    __syncthreads();
    COPY(&s[t], &in[t]);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(ADDR(&bar)) : "memory");
    COPY(&r[t], &in[t]);                                // <-- async_early
    while (!over(&bar, 0)) {}
    out[t] = s[63 - t] + r[t];                          // <-- async_early
    asm volatile("cp.async.wait_all;" ::: "memory");
}

// The sums of four threads into one array, in any order.
template <int WRONG> static __device__ void sums(const unsigned *in, unsigned *out)
{
    __shared__ __align__(8) u64 bar;
    __shared__ __align__(16) unsigned part[4][32], sum[32];
    int t = threadIdx.x;
    part[t / 32][t % 32] = in[t];
    if (t < 32) sum[t] = 0;
    if (t == 0) INIT(&bar, 4);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t % 32 == 0) {
        EXPECT(&bar, 128);
        SUM(sum, part[t / 32], 128, &bar);
    }
    __syncthreads();
    if (WRONG == 1 && t == 40) out[32] = sum[8];
    if (WRONG == 2 && t == 8) sum[8] = 5;
    while (!over(&bar, 0)) {}
    if (t < 32) out[t] = sum[t];
}
extern "C" __global__ void sums_ok(const unsigned *in, unsigned *out) { sums<0>(in, out); }
extern "C" __global__ void sums_read(const unsigned *in, unsigned *out) { sums<1>(in, out); }
extern "C" __global__ void sums_stored(const unsigned *in, unsigned *out) { sums<2>(in, out); }
