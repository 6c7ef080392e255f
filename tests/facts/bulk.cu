// regen: no
// bulk: what a GPU does with bulk copies between shared memories, by how the kernel was launched, and with prefetches that name something wrong.
//
//     nvcc -arch=sm_90a -o bulk bulk.cu && for k in $(seq 0 15); do ./bulk $k; done
//
// A question a run, since a wrong one loses the context. docs/inside/tensor.md says what came out.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

#define ADDR(p) ((uint32_t)__cvta_generic_to_shared(p))

struct question {
    const char *what;
    int kind, cluster, bytes;
    long offset;
};
static const question questions[] = {
    {"copy to the own CTA, no cluster", 0, 0, 128, 0},
    {"copy to the own CTA, cluster of 1", 0, 1, 128, 0},
    {"copy to the own CTA, cluster of 2", 0, 2, 128, 0},
    {"copy to the other CTA, cluster of 2", 1, 2, 128, 0},
    {"reduction into the own CTA, no cluster", 2, 0, 128, 0},
    {"reduction into the own CTA, cluster of 2", 2, 2, 128, 0},
    {"prefetch of 128 bytes", 3, 0, 128, 0},
    {"prefetch of 0 bytes", 3, 0, 0, 0},
    {"prefetch of 24 bytes", 3, 0, 24, 0},
    {"prefetch at 8 bytes behind", 3, 0, 128, 8},
    {"prefetch past the end", 3, 0, 65536, (1 << 21) - 128},
    {"prefetch of address 256", 4, 0, 128, 256},
    {"tensor prefetch, a map of zeros", 5, 0, 0, 0},
    {"prefetch.tensormap, a map of zeros", 6, 0, 0, 0},
    {"prefetch.tensormap at address 256", 7, 0, 0, 256},
    {"prefetch.global.L2 of address 256", 8, 0, 0, 256},
};

__global__ void ask(int kind, int bytes, char *at, unsigned *out)
{
    __shared__ alignas(128) unsigned from[64], to[64];
    __shared__ alignas(8) uint64_t bar;
    unsigned rank, t = threadIdx.x;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    from[t] = t + 1, to[t] = 1000;
    if (!t) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(ADDR(&bar)) : "memory");
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (kind <= 2) {
        if (!t) {
            uint32_t d = ADDR(to), b = ADDR(&bar);
            asm volatile("{ .reg .b64 s; mbarrier.arrive.expect_tx.shared::cta.b64 s, [%0], %1; }" ::"r"(b), "r"(bytes) : "memory");
            if (kind == 1) {
                asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(d) : "r"(rank ^ 1));
                asm volatile("mapa.shared::cluster.u32 %0, %0, %1;" : "+r"(b) : "r"(rank ^ 1));
            }
            if (kind == 2)
                asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%0], [%1], %2, [%3];" ::"r"(d), "r"(ADDR(from)), "r"(bytes), "r"(b) : "memory");
            else
                asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(d), "r"(ADDR(from)), "r"(bytes), "r"(b) : "memory");
        }
        for (int k = 0, done = 0; k < 1000000 && !done; k++)
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(ADDR(&bar)) : "memory");
        out[t] = to[t];
    } else if (!t) {
        if (kind == 3 || kind == 4) asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(at), "r"(bytes) : "memory");
        if (kind == 5) asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %1}];" ::"l"(at), "r"(0) : "memory");
        if (kind == 6 || kind == 7) asm volatile("prefetch.tensormap [%0];" ::"l"(at) : "memory");
        if (kind == 8) asm volatile("prefetch.global.L2 [%0];" ::"l"(at) : "memory");
    }
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

int main(int argc, char **argv)
{
    unsigned k = argc > 1 ? atoi(argv[1]) : 0;
    if (k >= sizeof questions / sizeof *questions) return 2;
    const question &q = questions[k];
    char *memory;
    unsigned *out, h[64] = {};
    cudaMalloc(&memory, 1 << 21);
    cudaMemset(memory, 0, 1 << 21);
    cudaMalloc(&out, sizeof h);
    cudaMemset(out, 0, sizeof h);
    bool low = q.kind == 4 || q.kind == 7 || q.kind == 8;
    cudaLaunchConfig_t x = {};
    cudaLaunchAttribute a = {};
    x.gridDim = 2, x.blockDim = 64;
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim = {(unsigned)q.cluster, 1, 1};
    x.attrs = &a, x.numAttrs = q.cluster ? 1 : 0;
    cudaError_t e = cudaLaunchKernelEx(&x, ask, q.kind, q.bytes, (low ? (char *)0 : memory) + q.offset, out), f = cudaDeviceSynchronize();
    if (!e && !f) cudaMemcpy(h, out, sizeof h, cudaMemcpyDeviceToHost);
    printf("%-44s %s, %s; %u %u\n", q.what, cudaGetErrorName(e), cudaGetErrorName(f), h[0], h[31]);
}
