// regen: no
/* Tensor copies of four rows wherever they are: gather4 brings rows of a matrix, one of them outside of it, scatter4 stores them elsewhere. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>

enum { ROWS = 32, WIDTH = 32 };
__device__ static uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void move(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to, int4 rows, int4 others)
{
    __shared__ __align__(128) int tile[4 * WIDTH];
    __shared__ __align__(8) uint64_t bar;
    if (threadIdx.x) return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"((int)sizeof tile) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(at(tile)), "l"(&from), "r"(0), "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(at(&bar)) : "memory");
    uint32_t done = 0;
    while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(&bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];" ::"l"(&to), "r"(0), "r"(others.x), "r"(others.y), "r"(others.z), "r"(others.w), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

static CUtensorMap map_of(void *p)
{
    CUtensorMap m;
    cuuint64_t dim[] = { WIDTH, ROWS }, stride[] = { WIDTH * 4 };
    cuuint32_t size[] = { WIDTH, 1 }, step[] = { 1, 1 };
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
    if (((decltype(&cuTensorMapEncodeTiled))f)(&m, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, p, dim, stride, size, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE)) printf("no map\n");
    return m;
}

int main()
{
    int *a, *b, host[ROWS * WIDTH], rows[4] = { 30, 2, 40, 7 }, others[4] = { 1, 31, 5, 4 }, wrong = 0;
    for (int i = 0; i < ROWS * WIDTH; i++) host[i] = i + 1;
    cudaMalloc(&a, sizeof host), cudaMalloc(&b, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice), cudaMemset(b, 0xff, sizeof host);
    move<<<1, 32>>>(map_of(a), map_of(b), make_int4(rows[0], rows[1], rows[2], rows[3]), make_int4(others[0], others[1], others[2], others[3]));
    cudaError_t e = cudaMemcpy(host, b, sizeof host, cudaMemcpyDeviceToHost);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < WIDTH; c++) {
            int want = -1;
            for (int k = 0; k < 4; k++) if (others[k] == r) want = rows[k] < ROWS ? rows[k] * WIDTH + c + 1 : 0;
            wrong += host[r * WIDTH + c] != want;
        }
    printf("%s, %d wrong\n", cudaGetErrorString(e), wrong);
    cudaFree(a), cudaFree(b);
}
