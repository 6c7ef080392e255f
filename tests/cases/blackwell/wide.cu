// regen: no
/* Tensor copies of pixels along one row of each image (.im2col::w, .im2col::w::128): corners, offsets, steps, images that end, against the host. `wide mode`: a map of the other mode; `wide halo`: a halo, which is refused. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { C = 32, W = 9, H = 3, D = 2, N = 20, ROOM = 128 * 64, CHANNELS = 32 };
struct job { int rank, wide, at[5], halo, offset, pixels; };
__device__ static uint32_t shared(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
#define COPY(n, mode, coords) asm volatile("cp.async.bulk.tensor." n ".shared::cta.global." mode ".mbarrier::complete_tx::bytes [%0], [%1, " coords "], [%2], {%8, %9};" ::"r"(shared(tile)), "l"(&map), "r"(shared(&bar)), "r"(j.at[0]), "r"(j.at[1]), "r"(j.at[2]), "r"(j.at[3]), "r"(j.at[4]), "h"((short)j.halo), "h"((short)j.offset) : "memory")

__global__ void load(const __grid_constant__ CUtensorMap map, job j, uint16_t *out)
{
    __shared__ __align__(1024) uint16_t tile[ROOM / 2];
    __shared__ __align__(8) uint64_t bar;
    for (int k = threadIdx.x; k < ROOM / 2; k += blockDim.x) tile[k] = 0xeeee;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t done = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(shared(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared(&bar)), "r"(j.pixels * CHANNELS * 2) : "memory");
        if (j.wide && j.rank == 3) COPY("3d", "im2col::w::128", "{%3, %4, %5}");
        else if (j.wide) COPY("4d", "im2col::w::128", "{%3, %4, %5, %6}");
        else if (j.rank == 3) COPY("3d", "im2col::w", "{%3, %4, %5}");
        else if (j.rank == 4) COPY("4d", "im2col::w", "{%3, %4, %5, %6}");
        else COPY("5d", "im2col::w", "{%3, %4, %5, %6, %7}");
        while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(shared(&bar)) : "memory");
    }
    __syncthreads();
    for (int k = threadIdx.x; k < ROOM / 2; k += blockDim.x) out[k] = tile[k];
}

static uint16_t *tensor, *out, host[C * W * H * D * N], got[ROOM / 2], want[ROOM / 2];
static const cuuint64_t sizes[] = { C, W, H, D, N };
static CUresult encode(CUtensorMap *m, int rank, int wide, int lower, int upper, int step, int pixels, int interleave, int swizzle)
{
    cuuint64_t dim[5], stride[4], pitch = 2;
    cuuint32_t steps[5] = { 1, (cuuint32_t)step, 1, 1, 1 };
    for (int k = 0; k < rank; k++) dim[k] = k == rank - 1 ? N : sizes[k];
    for (int k = 0; k + 1 < rank; k++) stride[k] = pitch *= dim[k];
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2colWide", &f, 12080, cudaEnableDefault, &found);
    return ((decltype(&cuTensorMapEncodeIm2colWide))f)(m, CU_TENSOR_MAP_DATA_TYPE_UINT16, rank, tensor, dim, stride, lower, upper, CHANNELS, pixels, steps, (CUtensorMapInterleave)interleave,
                                                       wide ? CU_TENSOR_MAP_IM2COL_WIDE_MODE_W128 : CU_TENSOR_MAP_IM2COL_WIDE_MODE_W, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
/* From W = x of row (y, z) of image i on. */
static void copy(int rank, int wide, int lower, int upper, int step, int pixels, int x, int y, int z, int i, int offset)
{
    CUtensorMap m;
    job j = { rank, wide, { 0, x, rank > 3 ? y : i, rank > 4 ? z : i, i }, 0, offset, wide ? 128 : pixels };
    int wrong = 0, w = x, n = i, swizzle = pixels % 2 ? CU_TENSOR_MAP_SWIZZLE_128B : CU_TENSOR_MAP_SWIZZLE_64B;
    int width = swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? 128 : 64;
    CUresult e = encode(&m, rank, wide, lower, upper, step, pixels, 0, swizzle);
    if (e) { printf("encode %d\n", (int)e); return; }
    load<<<1, 64>>>(m, j, out);
    cudaMemcpy(got, out, ROOM, cudaMemcpyDeviceToHost);
    for (int k = 0; k < ROOM / 2; k++) want[k] = 0xeeee;
    for (int q = 0; q < j.pixels; q++) {
        for (int c = 0; c < CHANNELS; c++) {
            int at = q * width + 2 * c, line = at >> 7, from = w + offset;
            at ^= swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? (line & 7) << 4 : (line & 3) << 4;
            int row = rank == 3 ? n : rank == 4 ? n * H + y : (n * D + z) * H + y;
            if (at < ROOM) want[at / 2] = from >= 0 && from < W && n < N ? host[(row * W + from) * C + c] : 0;
        }
        w += step;
        if (w > W - 1 + upper) w = lower, n++;
    }
    for (int k = 0; k < ROOM / 2; k++) wrong += got[k] != want[k];
    printf("%dd%s, corners %d %d, step %d, at %d %d %d %d, offset %d: %d wrong\n", rank, wide ? ", 128" : "", lower, upper, step, x, y, z, i, offset, wrong);
}

int main(int count, char **word)
{
    for (int k = 0; k < C * W * H * D * N; k++) host[k] = (uint16_t)(k * 31 + 7);
    cudaMalloc(&tensor, sizeof host), cudaMalloc(&out, ROOM);
    cudaMemcpy(tensor, host, sizeof host, cudaMemcpyHostToDevice);
    CUtensorMap m;
    if (count > 1) {
        job j = { 4, 0, { 0, 0, 0, 0, 0 }, strcmp(word[1], "halo") ? 0 : 2, 0, strcmp(word[1], "halo") ? 32 : 34 };
        encode(&m, 4, strcmp(word[1], "halo") != 0, 0, 0, 1, 32, 0, CU_TENSOR_MAP_SWIZZLE_64B);
        load<<<1, 64>>>(m, j, out);
        printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
        return 0;
    }
    copy(3, 0, 0, 0, 1, 32, 0, 0, 0, 0, 0), copy(3, 0, 0, -2, 1, 40, 3, 0, 0, 2, 2), copy(3, 0, -1, 1, 2, 33, -1, 0, 0, 17, 0);
    copy(4, 0, 0, -2, 1, 64, 0, 1, 0, 0, 1), copy(4, 0, -1, -1, 3, 30, -1, 2, 0, 4, 1), copy(4, 0, 0, 0, 1, 63, 5, 0, 0, 18, 0);
    copy(5, 0, -2, 0, 2, 50, -2, 2, 1, 3, 2), copy(5, 0, 1, -1, 1, 21, 1, 0, 0, 0, 0);
    copy(3, 1, 0, 0, 1, 2, 0, 0, 0, 1, 0), copy(4, 1, -1, 0, 2, 2, -1, 1, 0, 0, 1);
    printf("interleaved: %d\n", (int)encode(&m, 4, 0, 0, 0, 1, 32, 1, CU_TENSOR_MAP_SWIZZLE_64B));
    printf("not swizzled: %d\n", (int)encode(&m, 4, 0, 0, 0, 1, 32, 0, CU_TENSOR_MAP_SWIZZLE_NONE));
    printf("no pixel: %d\n", (int)encode(&m, 4, 0, 5, -4, 1, 32, 0, CU_TENSOR_MAP_SWIZZLE_64B));
    printf("a corner of 100: %d\n", (int)encode(&m, 5, 0, -100, 0, 1, 32, 0, CU_TENSOR_MAP_SWIZZLE_64B));
    cudaFree(tensor), cudaFree(out);
}
