// regen: no
// Which warp reads which rows of a, and when: a is in shared memory, and one warp of the warpgroup is late: the three others come to the product long before it. Meanwhile the rows of the late warp are written, by itself or by
// another warp, and only then does it issue the product. If its rows were read when the others issued it, the old values would be in the result. FlashAttention-3 lives by this: each warp stores its own rows, and meets none of the others.
// An H200 (17 November 2026) holds the three warps back at the product, behind wgmma.fence, until the fourth has issued it, and reads nothing before: all values are the new ones, whoever wrote them. So nobody waits here for what another warp does behind the product: that would hang.
//   nvcc -O1 -std=c++17 -gencode arch=compute_90a,code=sm_90a -o wgmma_rows tests/facts/wgmma_rows.cu && ./wgmma_rows
// A line for each late warp, writer and delay: how many of the rows of each warp have the old, the new, or another value, over all turns; then, for the slowest of the three others, the cycles until it is behind wgmma.fence, the product, the commit, and the wait.
#include <cstdint>
#include <cstdio>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

enum { TURNS = 50, ROWS = 64, K = 16 };
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
static __device__ uint64_t descriptor(const void *p) { return (ADDR(p) & 0x3ffff) >> 4 | (uint64_t)(128 >> 4) << 16 | (uint64_t)(256 >> 4) << 32; }
static __device__ half *element(half *a, int row, int k) { return a + row / 8 * 128 + k / 8 * 64 + row % 8 * 8 + k % 8; }

// writer: the warp that changes the rows of the late one from 1 to 2, in the middle of the delay, or the late one at its end. all: it changes those of all other warps as well.
__global__ void product(int late, int writer, bool all, int delay, float *out, int *cycles)
{
    __shared__ __align__(128) half a[ROWS * K], b[8 * K];
    int t = threadIdx.x, warp = t / 32, lane = t % 32;
    for (int i = t; i < ROWS * K; i += 128) a[i] = __float2half(1.0f);
    for (int i = t; i < 8 * K; i += 128) b[i] = __float2half(1.0f);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float d[4] = {};
    long long start = clock64(), at[5];
    if (warp == late)
        while (clock64() < start + delay) {}
    if (warp == writer) {
        while (clock64() < start + delay / 2) {}
        for (int i = lane; i < ROWS * K; i += 32)
            if (all || i / K / 16 == late) *element(a, i / K, i % K) = __float2half(2.0f);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncwarp();
    }
    at[0] = clock64();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    at[1] = clock64();
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor(a)), "l"(descriptor(b)) : "memory");
    at[2] = clock64();
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    at[3] = clock64();
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    at[4] = clock64();
    for (int r = 0; r < 4; r++) out[(warp * 16 + lane / 4 + r / 2 * 8) * 8 + lane % 4 * 2 + r % 2] = d[r];
    if (lane == 0)
        for (int k = 0; k < 4; k++) cycles[warp * 4 + k] = (int)(at[k + 1] - start);
}

int main()
{
    static float d[ROWS * 8];
    float *out;
    int *cycles, c[16];
    cudaMalloc(&out, sizeof d);
    cudaMalloc(&cycles, sizeof c);
    for (int late = 0; late < 4; late++)
        for (int writer = 0; writer < 4; writer++)
            for (int all = 0; all < 2; all++)
                for (int delay : { 1000, 100000 }) {
                    int old[4] = {}, changed[4] = {}, other[4] = {}, most[4] = {};
                    for (int turn = 0; turn < TURNS; turn++) {
                        product<<<1, 128>>>(late, writer, all, delay, out, cycles);
                        cudaError_t e = cudaMemcpy(d, out, sizeof d, cudaMemcpyDeviceToHost);
                        if (e) {
                            printf("%s\n", cudaGetErrorName(e));
                            return 1;
                        }
                        cudaMemcpy(c, cycles, sizeof c, cudaMemcpyDeviceToHost);
                        for (int w = 0; w < 4; w++)
                            for (int k = 0; w != late && w != writer && k < 4; k++) most[k] = c[w * 4 + k] > most[k] ? c[w * 4 + k] : most[k];
                        for (int i = 0; i < ROWS * 8; i += 8) (d[i] == 16 ? old : d[i] == 32 ? changed : other)[i / 8 / 16]++;
                    }
                    printf("late %d, writer %d, %s, delay %d:", late, writer, all ? "all rows" : "its rows", delay);
                    for (int w = 0; w < 4; w++) printf(" [%d old %d new %d other]", old[w], changed[w], other[w]);
                    printf(" cycles %d %d %d %d\n", most[0], most[1], most[2], most[3]);
                    fflush(stdout);
                }
    cudaFree(out);
    cudaFree(cycles);
    return 0;
}
