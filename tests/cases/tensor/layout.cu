// regen: no
/* A product of tiles that a tensor copy has brought, read with the layout of the tile and with others.  layout 0|1|2|3 */
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

typedef unsigned long long u64;
enum mistake { NONE, NO_SWIZZLE, STRIDE, PLAIN_TILE };
static __device__ unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

template <mistake wrong> static __device__ u64 descriptor(const void *p)
{
    u64 stride = wrong == STRIDE ? 512 : 1024, swizzle = wrong == NO_SWIZZLE ? 0 : 1;
    return (at(p) & 0x3ffff) >> 4 | (u64)(16 >> 4) << 16 | stride >> 4 << 32 | swizzle << 62;
}

template <mistake wrong> __global__ void __launch_bounds__(128) multiply(const __grid_constant__ CUtensorMap am, const __grid_constant__ CUtensorMap bm, float *y)
{
    __shared__ __align__(1024) half a[64 * 64], b[8 * 64];
    __shared__ u64 full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full)), "r"((unsigned)(sizeof a + sizeof b)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(at(a)), "l"(&am), "r"(at(&full)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(at(b)), "l"(&bm), "r"(at(&full)) : "memory");
    }
    __syncthreads();
    asm volatile("{\n.reg .pred p;\nagain: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n@!p bra again;\n}" ::"r"(at(&full)) : "memory");
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    for (int k = 0; k < 4; k++)
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0,%1,%2,%3}, %4, %5, 1, 1, 1, 0, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(descriptor<wrong>(a + 16 * k)), "l"(descriptor<NONE>(b + 16 * k)));
    asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])::"memory");
    int row = threadIdx.x / 32 * 16 + threadIdx.x % 32 / 4, col = threadIdx.x % 4 * 2;
    for (int i = 0; i < 4; i++) y[(row + i / 2 * 8) * 8 + col + i % 2] = d[i];
}

static CUtensorMap map(void *p, unsigned rows, bool plain)
{
    static CUresult (*encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                              CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    cudaDriverEntryPointQueryResult found;
    CUtensorMap m;
    cuuint64_t dim[2] = { 64, rows }, stride = 128;
    cuuint32_t box[2] = { 64, rows }, one[2] = { 1, 1 };
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    if (encode(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, p, dim, &stride, box, one, CU_TENSOR_MAP_INTERLEAVE_NONE, plain ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE))
        printf("no map\n");
    return m;
}

int main(int argc, char **argv)
{
    static half a[64 * 64], b[8 * 64];
    static float y[64 * 8];
    int which = argc > 1 ? atoi(argv[1]) : 0, wrong = 0;
    half *da, *db;
    float *dy;
    for (int i = 0; i < 64 * 64; i++) a[i] = __float2half((float)(i * 7 % 11 - 5));
    for (int i = 0; i < 8 * 64; i++) b[i] = __float2half((float)(i * 5 % 13 - 6));
    cudaMalloc(&da, sizeof a), cudaMalloc(&db, sizeof b), cudaMalloc(&dy, sizeof y);
    cudaMemcpy(da, a, sizeof a, cudaMemcpyHostToDevice), cudaMemcpy(db, b, sizeof b, cudaMemcpyHostToDevice);
    CUtensorMap am = map(da, 64, which == PLAIN_TILE), bm = map(db, 8, false);
    if (which == NONE) multiply<NONE><<<1, 128>>>(am, bm, dy);
    if (which == NO_SWIZZLE) multiply<NO_SWIZZLE><<<1, 128>>>(am, bm, dy);
    if (which == STRIDE) multiply<STRIDE><<<1, 128>>>(am, bm, dy);
    if (which == PLAIN_TILE) multiply<PLAIN_TILE><<<1, 128>>>(am, bm, dy);
    if (cudaDeviceSynchronize()) printf("failed\n");
    cudaMemcpy(y, dy, sizeof y, cudaMemcpyDeviceToHost);
    for (int r = 0; r < 64; r++)
        for (int n = 0; n < 8; n++) {
            float sum = 0;
            for (int k = 0; k < 64; k++) sum += __half2float(a[r * 64 + k]) * __half2float(b[n * 64 + k]);
            wrong += sum != y[r * 8 + n];
        }
    printf("%d of 512 wrong\n", wrong);
    cudaFree(da), cudaFree(db), cudaFree(dy);
}
