// Asynchronous stores and reductions into the shared memory of another CTA of the cluster.
// regen: -arch=sm_90 -lineinfo
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__device__ static unsigned shared_of(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ static unsigned in_cta(unsigned at, unsigned rank)
{
    unsigned to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(at), "r"(rank));
    return to;
}

// every thread sends 16 bytes to its twin in the next CTA, and one word is summed there; WAITS: the good one
template <bool WAITS> __device__ static void exchange(int *out)
{
    __shared__ __align__(16) int got[32 * 4];
    __shared__ int sum;
    __shared__ __align__(8) unsigned long long bar;
    cg::cluster_group cl = cg::this_cluster();
    unsigned t = threadIdx.x, next = (cl.block_rank() + 1) % cl.num_blocks();
    if (t == 0) {
        sum = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_of(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_of(&bar)), "r"(32 * 16 + 32 * 4));
    }
    cl.sync();
    int v = blockIdx.x * 1000 + t * 4;
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, [%5];" ::"r"(in_cta(shared_of(got + 4 * t), next)),
                 "r"(v), "r"(v + 1), "r"(v + 2), "r"(v + 3), "r"(in_cta(shared_of(&bar), next)) : "memory");
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.s32 [%0], %1, [%2];" ::"r"(in_cta(shared_of(&sum), next)),
                 "r"((int)t), "r"(in_cta(shared_of(&bar), next)) : "memory");
    if (WAITS) {
        unsigned done = 0;
        while (!done)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                         : "=r"(done) : "r"(shared_of(&bar)) : "memory");
    }
    for (int k = 0; k < 4; k++) out[(blockIdx.x * 32 + t) * 5 + k] = got[4 * t + k];
    out[(blockIdx.x * 32 + t) * 5 + 4] = WAITS ? sum : 0;
    cl.sync();
}
extern "C" __global__ void exchange_ok(int *out) { exchange<true>(out); }
extern "C" __global__ void exchange_bad(int *out) { exchange<false>(out); }
