// regen: no
// Tensor copies with maps that do not fit: a tensor that is larger than its buffer, bytes that are no map, a map of another rank, a first coordinate that is
// no multiple of 16 bytes, a store with a negative coordinate; and a right one. Prefetches with such maps, and maps that a kernel changes.
#include <cstdio>
#include <cstdlib>
#include <cuda.h>
typedef unsigned long long u64;
typedef CUresult tiled_t(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
#define ADDR(p) ((unsigned)__cvta_generic_to_shared(p))
__global__ void copy(const __grid_constant__ CUtensorMap map, int x, int y, int stores)
{
    __shared__ alignas(128) float tile[8 * 32];
    tile[threadIdx.x] = 1.f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    if (stores) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(x), "r"(y), "r"(ADDR(tile)) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
/* A map that the kernel changes to have its tensor elsewhere: in shared memory, then copied to global memory for the
 * tensor unit. */
__global__ void renew(const __grid_constant__ CUtensorMap map, CUtensorMap *own, float *to, int acquires)
{
    __shared__ alignas(128) float tile[8 * 32];
    __shared__ alignas(128) CUtensorMap copy;
    tile[threadIdx.x] = 1.f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (threadIdx.x == 0) {
        copy = map;
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(ADDR(&copy)), "l"(to) : "memory");
    }
    __syncthreads();
    if (threadIdx.x >= 32) return;
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(own), "r"(ADDR(&copy)) : "memory");
    if (threadIdx.x) return;
    if (acquires) asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(own) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %1}], [%2];" ::"l"(own), "r"(0), "r"(ADDR(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
/* Prefetches bring nothing, but what they are given is looked at. */
__global__ void prefetch(const __grid_constant__ CUtensorMap map, const float *p, int from, int bytes)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p + from), "r"(bytes) : "memory");
}
/* Leaves while its store is in flight: one beyond the tensor has nothing to read. */
__global__ void leave(const __grid_constant__ CUtensorMap map, int row)
{
    __shared__ alignas(128) float tile[8 * 32];
    tile[threadIdx.x] = 1.f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map), "r"(0), "r"(row), "r"(ADDR(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
int main(int, char **argv)
{
    void *f;
    cudaDriverEntryPointQueryResult q;
    cudaFree(0);
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault, &q);
    float *p;
    cudaMalloc(&p, 64 * 64 * 4);
    cudaMemset(p, 0, 64 * 64 * 4);
    alignas(64) CUtensorMap m = {};
    int what = atoi(argv[1]);
    cuuint64_t dim[3] = { 64, what == 1 ? 80u : 64u, 1 }, stride[2] = { 256, 256 * 64 };
    cuuint32_t box[3] = { 32, 8, 1 }, step[3] = { 1, 1, 1 };
    CUresult e = ((tiled_t *)f)(&m, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, what == 3 ? 3 : 2, p, dim, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    printf("encode %d\n", (int)e);
    if (what == 2) m = {};
    if (what == 6) prefetch<<<1, 1>>>(CUtensorMap{}, p, 4, 64);
    if (what == 7) prefetch<<<1, 1>>>(m, p, 1, 64), prefetch<<<1, 1>>>(m, p, 0, 24);
    if (what == 8 || what == 0) {
        CUtensorMap *own;
        cudaMalloc(&own, sizeof *own);
        prefetch<<<1, 1>>>(m, p, 4, 64);
        renew<<<1, 256>>>(m, own, p, what == 0);
        cudaFree(own);
    }
    if (what == 9 || what == 10) leave<<<1, 256>>>(m, what == 9 ? 64 : 56);
    if (what < 6) copy<<<1, 256>>>(m, what == 4 ? 1 : 32, what == 1 ? 60 : what == 5 ? -4 : 0, 1);
    cudaDeviceSynchronize();
    float back[64 * 64];
    cudaMemcpy(back, p, sizeof back, cudaMemcpyDeviceToHost);
    float sum = 0;
    for (float x : back) sum += x;
    printf("sum %g\n", sum);
    cudaFree(p);
}
