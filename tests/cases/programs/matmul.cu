// regen: no
/* Matrix products of today's kernels: wgmma on swizzled tiles in shared memory, and mma.sync in blocks that stay and take one tile after the other. The elements are small integers, so that every order of summation gives the same. */
#include "programs.h"
#include <cuda_bf16.h>

typedef unsigned long long u64;
enum { TILE = 64 };

/* ---- wgmma: a tile of 64 x 64 a warpgroup, 64 of k at once, both operands K-major with the swizzle of 128 bytes ---- */

static __device__ u64 descriptor(const void *p)
{
    return ((unsigned)__cvta_generic_to_shared(p) & 0x3ffff) >> 4 | 1ull << 16 | (u64)(1024 >> 4) << 32 | 1ull << 62;
}
static __device__ void fetch(__nv_bfloat16 *to, const __nv_bfloat16 *from, int pitch)
{
    for (int i = threadIdx.x; i < TILE * 8; i += blockDim.x) {
        int row = i / 8, chunk = i % 8;
        ((uint4 *)to)[row * 8 + (chunk ^ row % 8)] = *(const uint4 *)(from + row * pitch + chunk * 8);
    }
}
static __device__ void product(float (&d)[32], u64 a, u64 b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, %32, %33, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7]), "+f"(d[8]), "+f"(d[9]), "+f"(d[10]), "+f"(d[11]), "+f"(d[12]), "+f"(d[13]), "+f"(d[14]), "+f"(d[15]),
                   "+f"(d[16]), "+f"(d[17]), "+f"(d[18]), "+f"(d[19]), "+f"(d[20]), "+f"(d[21]), "+f"(d[22]), "+f"(d[23]), "+f"(d[24]), "+f"(d[25]), "+f"(d[26]), "+f"(d[27]), "+f"(d[28]), "+f"(d[29]), "+f"(d[30]), "+f"(d[31])
                 : "l"(a), "l"(b));
}
template <bool waits> __global__ void by_wgmma(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n)
{
    __shared__ __align__(1024) __nv_bfloat16 as[TILE * TILE], bs[TILE * TILE];
    float d[32] = {};
    int row = blockIdx.y * TILE, col = blockIdx.x * TILE, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (int k = 0; k < n; k += TILE) {
        fetch(as, a + row * n + k, n);
        fetch(bs, b + col * n + k, n);
        asm volatile("fence.proxy.async;" ::: "memory");
        __syncthreads();
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int j = 0; j < TILE / 16; j++) product(d, descriptor(as) + j * 2, descriptor(bs) + j * 2);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (waits || k + TILE < n) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) c[(row + warp * 16 + lane / 4 + i / 2 % 2 * 8) * n + col + i / 4 * 8 + lane % 4 * 2 + i % 2] = d[i];
    if (!waits) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

/* ---- mma.sync: blocks that stay, and draw their tiles from a counter ---- */

__global__ void persistent(const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n, unsigned *next)
{
    __shared__ unsigned mine;
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, tiles = n / 32;
    for (;;) {
        if (threadIdx.x == 0) mine = atomicAdd(next, 1);
        __syncthreads();
        unsigned tile = mine;
        __syncthreads();
        if (tile >= (unsigned)(tiles * tiles)) return;
        int row = tile / tiles * 32 + warp / 2 * 16 + lane / 4, col = tile % tiles * 32 + warp % 2 * 16;
        for (int half = 0; half < 2; half++) {
            float d[4] = {};
            for (int k = 0; k < n; k += 16) {
                const unsigned *x = (const unsigned *)(a + row * n + k) + lane % 4, *y = (const unsigned *)(b + (col + half * 8 + lane / 4) * n + k) + lane % 4;
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(x[0]), "r"(x[4 * n]), "r"(x[4]), "r"(x[4 * n + 4]), "r"(y[0]), "r"(y[4]));
            }
            for (int i = 0; i < 4; i++) c[(row + i / 2 * 8) * n + col + half * 8 + lane % 4 * 2 + i % 2] = d[i];
        }
    }
}

static int compare(void (*start)(const __nv_bfloat16 *, const __nv_bfloat16 *, float *, int))
{
    int n = getenv("SIZE") ? atoi(getenv("SIZE")) : 128, wrong = 0;
    size_t all = (size_t)n * n;
    __nv_bfloat16 *ha = (__nv_bfloat16 *)malloc(all * 2), *hb = (__nv_bfloat16 *)malloc(all * 2), *a, *b;
    float *hc = (float *)malloc(all * 4), *c;
    for (size_t i = 0; i < all; i++) {
        ha[i] = __float2bfloat16((float)((int)(i * 7 % 11) - 5));
        hb[i] = __float2bfloat16((float)((int)(i * 5 % 13) - 6));
    }
    TRY(cudaMalloc(&a, all * 2)); TRY(cudaMalloc(&b, all * 2)); TRY(cudaMalloc(&c, all * 4));
    TRY(cudaMemcpy(a, ha, all * 2, cudaMemcpyHostToDevice)); TRY(cudaMemcpy(b, hb, all * 2, cudaMemcpyHostToDevice));
    start(a, b, c, n);
    TRY(cudaGetLastError());
    TRY(cudaMemcpy(hc, c, all * 4, cudaMemcpyDeviceToHost));
    bits_of("product", hc, all * 4);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int sum = 0;
            for (int k = 0; k < n; k++) sum += ((int)(((size_t)i * n + k) * 7 % 11) - 5) * ((int)(((size_t)j * n + k) * 5 % 13) - 6);
            wrong += hc[(size_t)i * n + j] != (float)sum;
        }
    printf("%d elements differ from the host's\n", wrong);
    TRY(cudaFree(a)); TRY(cudaFree(b)); TRY(cudaFree(c));
    free(ha); free(hb); free(hc);
    return 0;
}
template <bool waits> static int wgmma_main(void)
{
    return compare([](const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n) { by_wgmma<waits><<<dim3(n / TILE, n / TILE), 128>>>(a, b, c, n); });
}
static int persistent_main(void)
{
    return compare([](const __nv_bfloat16 *a, const __nv_bfloat16 *b, float *c, int n) {
        unsigned *next;
        TRY(cudaMalloc(&next, 4)); TRY(cudaMemset(next, 0, 4));
        persistent<<<6, 128>>>(a, b, c, n, next);
        TRY(cudaDeviceSynchronize());
        TRY(cudaFree(next));
    });
}
PROGRAMS({"wgmma_ok", wgmma_main<true>}, {"wgmma_bad", wgmma_main<false>}, {"persistent_ok", persistent_main})
