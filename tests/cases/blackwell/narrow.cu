// regen: no
/* Tensor maps of 4- and 6-bit elements: what copies put into shared memory, with and without padding, swizzled or not, outside of the tensor; stores of 4-bit elements, and of 6-bit ones that lie in a byte each.
 * `narrow bad`: coordinates and stores that the types do not have. */
#include <cuda.h>
#include <cuda_runtime.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 256, ROWS = 12, BOX = 128, TALL = 8, ROOM = TALL * 128, U4 = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, U4_PADDED = CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, U6_PADDED = CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B };
__device__ static uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

__global__ void load(const __grid_constant__ CUtensorMap map, int x, int y, int bytes, uint8_t *out)
{
    __shared__ __align__(1024) uint8_t tile[ROOM];
    __shared__ __align__(8) uint64_t bar;
    for (int k = threadIdx.x; k < ROOM; k += blockDim.x) tile[k] = 0xee;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t done = 0;
        asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(at(&bar)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(tile)), "l"(&map), "r"(x), "r"(y), "r"(at(&bar)) : "memory");
        while (!done) asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p;}" : "=r"(done) : "r"(at(&bar)) : "memory");
    }
    __syncthreads();
    for (int k = threadIdx.x; k < ROOM; k += blockDim.x) out[k] = tile[k];
}
__global__ void store(const __grid_constant__ CUtensorMap map, int x, int y)
{
    __shared__ __align__(1024) uint8_t tile[ROOM];
    for (int k = threadIdx.x; k < ROOM; k += blockDim.x) tile[k] = (uint8_t)(k * 7 + 3);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

static CUresult encode(CUtensorMap *m, void *p, int type, int swizzle, int width, int box)
{
    cuuint64_t dim[] = { (cuuint64_t)width, ROWS }, stride[] = { WIDTH * 6 / 8 };
    cuuint32_t size[] = { (cuuint32_t)box, TALL }, step[] = { 1, 1 };
    void *f = NULL;
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &found);
    return ((decltype(&cuTensorMapEncodeTiled))f)(m, (CUtensorMapDataType)type, 2, p, dim, stride, size, step, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

static uint8_t host[ROWS * WIDTH * 6 / 8], back[sizeof host], got[ROOM], *tensor, *out;
static int pitch = WIDTH * 6 / 8;
static int swizzled(int k, int swizzle)
{
    int line = k >> 7;
    return swizzle == CU_TENSOR_MAP_SWIZZLE_128B ? k ^ (line & 7) << 4 : swizzle == CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B ? k ^ (line & 3) << 5 : swizzle == CU_TENSOR_MAP_SWIZZLE_64B ? k ^ (line & 3) << 4 : k;
}
static void loads(int type, int swizzle, int x, int y)
{
    CUtensorMap m;
    int bits = type == U6_PADDED ? 6 : 4, unit = 16 * bits / 8, row = type == U4 ? BOX / 2 : BOX, wrong = 0;
    if (encode(&m, tensor, type, swizzle, WIDTH, BOX)) { printf("type %d, swizzle %d: no map\n", type, swizzle); return; }
    load<<<1, 64>>>(m, x, y, TALL * BOX * bits / 8, out);
    cudaError_t e = cudaMemcpy(got, out, ROOM, cudaMemcpyDeviceToHost);
    static uint8_t want[ROOM];
    memset(want, 0xee, ROOM);
    for (int r = 0; r < TALL; r++)
        for (int u = 0; u < BOX / 16; u++)
            for (int b = 0; b < unit; b++) {
                bool inside = y + r >= 0 && y + r < ROWS && x >= 0 && x < WIDTH;
                want[swizzled(r * row + u * (type == U4 ? unit : 16) + b, swizzle)] = inside ? host[(y + r) * pitch + x * bits / 8 + u * unit + b] : 0;
            }
    for (int k = 0; k < ROOM; k++) wrong += got[k] != want[k];
    printf("type %d, swizzle %d, at %d %d: %s, %d wrong\n", type, swizzle, x, y, cudaGetErrorString(e), wrong);
}
static void stores(int type, int swizzle, int x, int y)
{
    CUtensorMap m;
    int wrong = 0;
    if (encode(&m, tensor, type, swizzle, WIDTH, BOX)) { printf("type %d, swizzle %d: no map\n", type, swizzle); return; }
    store<<<1, 64>>>(m, x, y);
    cudaError_t e = cudaMemcpy(back, tensor, sizeof back, cudaMemcpyDeviceToHost);
    for (int r = 0; r < TALL && y + r < ROWS; r++)
        for (int k = 0; k < BOX; k++) { // an element: six bits of a byte, or half of one
            int n = type == U6_PADDED ? swizzled(r * BOX + k, swizzle) : swizzled(r * BOX / 2 + k / 2, swizzle), v = (uint8_t)(n * 7 + 3);
            v = type == U6_PADDED ? v & 63 : v >> k % 2 * 4 & 15;
            for (int b = 0, bits = type == U6_PADDED ? 6 : 4; b < bits; b++) {
                int place = (x + k) * bits + b;
                uint8_t *p = &host[(y + r) * pitch + place / 8];
                *p = (uint8_t)((*p & ~(1 << place % 8)) | (v >> b & 1) << place % 8);
            }
        }
    for (size_t k = 0; k < sizeof host; k++) wrong += host[k] != back[k];
    printf("store of type %d, swizzle %d, at %d %d: %s, %d wrong\n", type, swizzle, x, y, cudaGetErrorString(e), wrong);
}
static void refused(const char *what, void *p, int type, int swizzle, int width, int box)
{
    CUtensorMap m;
    printf("%s: %d\n", what, (int)encode(&m, p, type, swizzle, width, box));
}

int main(int count, char **word)
{
    for (size_t k = 0; k < sizeof host; k++) host[k] = (uint8_t)(k * 37 + k / 256 + 1);
    cudaMalloc(&tensor, sizeof host + 32), cudaMalloc(&out, ROOM);
    cudaMemcpy(tensor, host, sizeof host, cudaMemcpyHostToDevice);
    CUtensorMap m;
    if (count > 1 && !strcmp(word[1], "half")) { // 64 is no multiple of 128
        encode(&m, tensor, U4_PADDED, 0, WIDTH, BOX);
        load<<<1, 64>>>(m, 64, 0, TALL * BOX / 2, out);
    } else if (count > 1 && !strcmp(word[1], "store")) { // there are no such stores
        encode(&m, tensor, U4_PADDED, 0, WIDTH, BOX);
        store<<<1, 64>>>(m, 0, 0);
    } else if (count > 1) { // 16 elements are 8 bytes
        encode(&m, tensor, U4, 0, WIDTH, BOX);
        load<<<1, 64>>>(m, 16, 0, TALL * BOX / 2, out);
    } else {
        for (int type = U4; type <= U6_PADDED; type++)
            for (int swizzle : { CU_TENSOR_MAP_SWIZZLE_NONE, type == U4 ? CU_TENSOR_MAP_SWIZZLE_64B : CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B })
                if (type != U4 || swizzle != CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B) loads(type, swizzle, 0, 0), loads(type, swizzle, 128, 7), loads(type, swizzle, 256, -1);
        stores(U4, 0, 32, 1), stores(U6_PADDED, 0, 128, 6), stores(U6_PADDED, CU_TENSOR_MAP_SWIZZLE_128B, 0, 3);
        refused("a swizzle of 64 bytes", tensor, U6_PADDED, CU_TENSOR_MAP_SWIZZLE_64B, WIDTH, BOX);
        refused("a box of 64", tensor, U4_PADDED, 0, WIDTH, 64);
        refused("a width of 192", tensor, U4_PADDED, 0, 192, BOX);
        refused("a width of 191", tensor, U4, 0, 191, BOX);
        refused("an address at 16", tensor + 16, U6_PADDED, 0, WIDTH, BOX);
        refused("an address at 16, without padding", tensor + 16, U4, 0, WIDTH, BOX);
    }
    cudaDeviceSynchronize();
    cudaFree(tensor), cudaFree(out);
}
