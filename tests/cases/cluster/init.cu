// An mbarrier that is set up while the cluster gathers, as CUTLASS does it: fence.mbarrier_init, a relaxed arrival, a wait.
// regen: -arch=sm_90a -lineinfo
__device__ static unsigned shared_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// FENCE: the good one
template <bool FENCE> __device__ static void begin(int *out)
{
    __shared__ __align__(8) unsigned long long bar;
    unsigned t = threadIdx.x, done = 0;
    if (t == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared_of(&bar)) : "memory");
    if (FENCE) asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (t < 32) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_of(&bar)) : "memory");
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done) : "r"(shared_of(&bar)) : "memory");
    out[blockIdx.x * blockDim.x + t] = t;
}

extern "C" __global__ void init_ok(int *out) { begin<true>(out); }
extern "C" __global__ void init_bad(int *out) { begin<false>(out); }

// A tensor map in shared memory is changed there, and the next CTA of the cluster reads it.
extern "C" __global__ void replaced(unsigned long long *out)
{
    __shared__ __align__(128) unsigned long long map[16];
    unsigned t = threadIdx.x, other;
    unsigned long long got;
    if (t < 16) map[t] = t;
    __syncthreads();
    if (t == 0)
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(shared_of(map)), "l"((unsigned long long)(blockIdx.x + 1) << 32)
                     : "memory");
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(other) : "r"(shared_of(map)), "r"((blockIdx.x + 1) % 2));
    asm volatile("ld.shared::cluster.u64 %0, [%1];" : "=l"(got) : "r"(other) : "memory");
    out[blockIdx.x * blockDim.x + t] = got;
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
