// Bulk copies done right: with an mbarrier, with groups, within shared memory, reductions; and one mistake each.
typedef unsigned long long u64;
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
#define GLOBAL(p) ((u64)__cvta_generic_to_global(p))
__device__ void init(u64 *b, unsigned n)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(ADDR(b)), "r"(n) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ u64 expect(u64 *b, unsigned bytes)
{
    u64 s;
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 %0, [%1], %2;" : "=l"(s) : "r"(ADDR(b)), "r"(bytes) : "memory");
    return s;
}
__device__ void wait_parity(u64 *b, unsigned parity)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(ADDR(b)), "r"(parity) : "memory");
}
__device__ void load(void *to, const void *from, unsigned bytes, u64 *b)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(ADDR(to)), "l"(GLOBAL(from)), "r"(bytes), "r"(ADDR(b)) : "memory");
}
__device__ void store(void *to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(GLOBAL(to)), "r"(ADDR(from)), "r"(bytes) : "memory");
}
__device__ void move(void *to, const void *from, unsigned bytes, u64 *b)
{
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(ADDR(to)), "r"(ADDR(from)), "r"(bytes), "r"(ADDR(b)) : "memory");
}
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ void wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ void wait_all() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// Two stages of 256 floats, each with its mbarrier: loaded, doubled in place, stored.
__global__ void pipeline(const float *in, float *out, int steps)
{
    __shared__ alignas(16) float tile[2][256];
    __shared__ u64 full[2];
    if (threadIdx.x == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&full[0], 1024);
        load(tile[0], in, 1024, &full[0]);
    }
    for (int k = 0; k < steps; k++) {
        int s = k & 1, n = s ^ 1;
        if (threadIdx.x == 0 && k + 1 < steps) {
            wait_read();                                    // the stage is free again
            expect(&full[n], 1024);
            load(tile[n], in + (k + 1) * 256, 1024, &full[n]);
        }
        wait_parity(&full[s], k >> 1 & 1);
        tile[s][threadIdx.x] *= 2.f;
        tile[s][threadIdx.x + 128] *= 2.f;
        fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(out + k * 256, tile[s], 1024);
            commit();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) wait_all();
}

__global__ void reduce(const float *in, float *sum, unsigned *least)
{
    __shared__ alignas(16) float tile[128];
    __shared__ alignas(16) unsigned word[128];
    tile[threadIdx.x] = in[threadIdx.x];
    word[threadIdx.x] = threadIdx.x ^ blockIdx.x;
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(GLOBAL(sum)), "r"(ADDR(tile)), "r"(512) : "memory");
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.min.u32 [%0], [%1], %2;" ::"l"(GLOBAL(least)), "r"(ADDR(word)), "r"(512) : "memory");
        commit();
        wait_all();
    }
}

__global__ void inside(const int *in, int *out)
{
    __shared__ alignas(16) int a[64], b[64];
    __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 1);
    a[threadIdx.x] = in[threadIdx.x];
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, 256);
        move(b, a, 256, &bar);
    }
    wait_parity(&bar, 0);
    out[threadIdx.x] = b[threadIdx.x ^ 1];
}

// Mistakes.
#define LOAD_BEGIN(bytes)                       \
    __shared__ alignas(16) float tile[256];     \
    __shared__ u64 bar;                         \
    if (threadIdx.x == 0) init(&bar, 1);        \
    __syncthreads();                            \
    if (threadIdx.x == 0) {                     \
        expect(&bar, bytes);                    \
        load(tile, in, 1024, &bar);             \
    }
__global__ void no_wait(const float *in, float *out)
{
    LOAD_BEGIN(1024)
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];               // BUG: nobody waits for bar
}
__global__ void other_parity(const float *in, float *out)
{
    LOAD_BEGIN(1024)
    wait_parity(&bar, 1);                               // returns at once
    out[threadIdx.x] = tile[threadIdx.x];               // BUG
}
__global__ void one_waits(const float *in, float *out)
{
    LOAD_BEGIN(1024)
    if (threadIdx.x < 32) wait_parity(&bar, 0);
    out[threadIdx.x] = tile[threadIdx.x];               // BUG: the other warps have not waited
}
__global__ void expects_more(const float *in, float *out)
{
    LOAD_BEGIN(2048)
    wait_parity(&bar, 0);                               // BUG: 1024 bytes come
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void written(const float *in, float *out)
{
    LOAD_BEGIN(1024)
    tile[threadIdx.x] = 0.f;                            // BUG: the copy is under way
    wait_parity(&bar, 0);
    out[threadIdx.x] = tile[threadIdx.x];
}
__global__ void source_changed(const float *in, float *out)
{
    __shared__ alignas(16) float tile[128];
    for (int k = 0; k < 2; k++) {
        tile[threadIdx.x] = in[threadIdx.x] + k;        // BUG: the store of the step before may not have read it
        fence();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(out + 128 * k, tile, 512);
            commit();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) wait_all();
}
__global__ void not_finished(const float *in, float *out)
{
    __shared__ alignas(16) float tile[128];
    tile[threadIdx.x] = in[threadIdx.x];
    fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        store(out, tile, 512);                          // BUG: nobody waits for it
        commit();
    }
}
__global__ void past_end(const float *in, float *out)
{
    __shared__ alignas(16) float tile[256];
    __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, 1024);
        load(tile, in + 64, 1024, &bar);                // BUG: in has 256
    }
    out[threadIdx.x] = 0.f;
}
__global__ void bad_size(const float *in, float *out, unsigned n)
{
    __shared__ alignas(16) float tile[256];
    __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, n);
        load(tile, in, n, &bar);                        // BUG: n is 1000
    }
    out[threadIdx.x] = 0.f;
}
__global__ void bad_source(const float *in, float *out)
{
    __shared__ alignas(16) float tile[128];
    __shared__ u64 bar;
    if (threadIdx.x == 0) init(&bar, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&bar, 512);
        load(tile, in + 1, 512, &bar);                  // BUG: in + 1 is no multiple of 16 bytes
    }
    out[threadIdx.x] = 0.f;
}
