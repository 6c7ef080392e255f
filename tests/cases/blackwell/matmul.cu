// regen: no
/* C = A B^T on tcgen05, f16 into f32, against the host's product: a warp copies tiles of A and B by TMA into two stages, swizzled by 128 bytes; another issues the products, and commits each stage back to the first and the last to the
 * four warps that bring the sums from tensor memory. LATE: the sums are read before the product is waited for. */
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { TILE_M = 128, TILE_N = 64, TILE_K = 64, STAGES = 2, BYTES = (TILE_M + TILE_N) * TILE_K * 2 };

__device__ static uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__device__ static void init(uint64_t *bar, int count) { asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(bar)), "r"(count) : "memory"); }
__device__ static void wait(const uint64_t *bar, int parity)
{
    uint32_t done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(bar)), "r"(parity) : "memory");
}
__device__ static void load(void *to, const CUtensorMap *map, int x, int y, const uint64_t *bar)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(at(bar)) : "memory");
}
/* K-major, 128-byte swizzle: eight rows of 128 bytes are 1024 bytes; 32 bytes of k a product. */
__device__ static uint64_t descriptor(const void *p, int k)
{
    return (uint64_t)((at(p) + 32 * k & 0x3ffff) >> 4) | 1ull << 16 | (uint64_t)(1024 >> 4) << 32 | 1ull << 46 | 2ull << 61;
}

__global__ void __launch_bounds__(128) matmul(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float *c, int n, int k)
{
    extern __shared__ __align__(1024) char room[];
    __shared__ __align__(8) uint64_t full[STAGES], empty[STAGES], ready;
    __shared__ uint32_t where;
    int t = threadIdx.x, warp = t / 32, row = blockIdx.y * TILE_M, col = blockIdx.x * TILE_N, steps = k / TILE_K;
    char *stage = room + (1024 - at(room) % 1024) % 1024;
    if (t == 0) {
        for (int s = 0; s < STAGES; s++) init(&full[s], 1), init(&empty[s], 1);
        init(&ready, 1);
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    if (warp == 0) asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(at(&where)), "r"(TILE_N) : "memory");
    __syncthreads();
    uint32_t d = where;
    if (t == 0)
        for (int i = 0; i < steps; i++) {
            int s = i % STAGES;
            char *to = stage + s * BYTES;
            if (i >= STAGES) wait(&empty[s], (i / STAGES - 1) & 1);
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&full[s])), "r"(BYTES) : "memory");
            load(to, &a, i * TILE_K, row, &full[s]);
            load(to + TILE_M * TILE_K * 2, &b, i * TILE_K, col, &full[s]);
        }
    if (t == 32) {
        uint32_t idesc = 1u << 4 | TILE_N >> 3 << 17 | TILE_M >> 4 << 24;
        for (int i = 0; i < steps; i++) {
            int s = i % STAGES;
            const char *from = stage + s * BYTES;
            wait(&full[s], i / STAGES & 1);
            for (int j = 0; j < TILE_K / 16; j++)
                asm volatile("{.reg .pred p; setp.ne.u32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d), "l"(descriptor(from, j)), "l"(descriptor(from + TILE_M * TILE_K * 2, j)), "r"(idesc), "r"(i | j));
            asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(&empty[s])) : "memory");
        }
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(&ready)) : "memory");
    }
    __syncwarp();
#ifndef LATE
    wait(&ready, 0);
#endif
    asm volatile("tcgen05.fence::after_thread_sync;");
    for (int x = 0; x < TILE_N; x += 8) {
        uint32_t v[8];
        asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]), "=r"(v[4]), "=r"(v[5]), "=r"(v[6]), "=r"(v[7]) : "r"(d + (warp * 32 << 16) + x));
        asm volatile("tcgen05.wait::ld.sync.aligned;");
        for (int j = 0; j < 8; j++) c[(size_t)(row + t) * n + col + x + j] = __uint_as_float(v[j]);
    }
#ifdef LATE
    wait(&ready, 0);
#endif
    __syncthreads();
    if (warp == 0) asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(d), "r"(TILE_N));
}

static CUtensorMap map_of(void *p, int rows, int k, int box)
{
    CUtensorMap m;
    cuuint64_t dim[] = { (cuuint64_t)k, (cuuint64_t)rows }, stride[] = { (cuuint64_t)k * 2 };
    cuuint32_t size[] = { TILE_K, (cuuint32_t)box }, step[] = { 1, 1 };
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
    if (!f || ((decltype(&cuTensorMapEncodeTiled))f)(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dim, stride, size, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        printf("no map\n"), exit(1);
    return m;
}

int main()
{
    const int m = 256, n = 192, k = 320;
    half *a = new half[m * k], *b = new half[n * k], *da, *db;
    float *c = new float[m * n], *dc;
    srand(1);
    for (int i = 0; i < m * k; i++) a[i] = __float2half((rand() % 65 - 32) / 16.f);
    for (int i = 0; i < n * k; i++) b[i] = __float2half((rand() % 65 - 32) / 16.f);
    cudaMalloc(&da, m * k * 2), cudaMalloc(&db, n * k * 2), cudaMalloc(&dc, m * n * 4);
    cudaMemcpy(da, a, m * k * 2, cudaMemcpyHostToDevice), cudaMemcpy(db, b, n * k * 2, cudaMemcpyHostToDevice);
    CUtensorMap ma = map_of(da, m, k, TILE_M), mb = map_of(db, n, k, TILE_N);
    cudaFuncSetAttribute(matmul, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * BYTES + 1024);
    matmul<<<dim3(n / TILE_N, m / TILE_M), 128, STAGES * BYTES + 1024>>>(ma, mb, dc, n, k);
    cudaError_t e = cudaMemcpy(c, dc, m * n * 4, cudaMemcpyDeviceToHost);
    int wrong = 0;
    for (int y = 0; y < m; y++)
        for (int x = 0; x < n; x++) {
            double s = 0; /* exact: multiples of 1/256 below 2^11 */
            for (int j = 0; j < k; j++) s += (double)__half2float(a[y * k + j]) * __half2float(b[x * k + j]);
            wrong += s != c[y * n + x];
        }
    printf("%s, %d of %d wrong\n", cudaGetErrorString(e), wrong, m * n);
    cudaFree(da), cudaFree(db), cudaFree(dc);
    delete[] a, delete[] b, delete[] c;
}
