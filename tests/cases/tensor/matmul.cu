/* A product of half matrices by mma.sync: tiles through shared memory with cp.async in two stages and ldmatrix. */
#include <cuda_fp16.h>

enum { TILE = 32, PITCH = TILE + 8 }; /* rows of 80 bytes: the eight rows of an ldmatrix lie in different banks */

static __device__ void fetch(half (*to)[PITCH], const half *from, int pitch)
{
    for (int i = threadIdx.x; i < TILE * TILE / 8; i += blockDim.x) {
        int row = i / (TILE / 8), col = i % (TILE / 8) * 8;
        unsigned at = (unsigned)__cvta_generic_to_shared(&to[row][col]);
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at), "l"(from + row * pitch + col));
    }
}

static __device__ void load4(unsigned r[4], const half *p)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]) : "r"((unsigned)__cvta_generic_to_shared(p)));
}

static __device__ void mma(float d[4], const unsigned a[4], unsigned b0, unsigned b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* c = a * b, where b is given by its columns. Four warps, each with a quarter of a tile of 32 x 32. */
template <bool waits> static __device__ void product(const half *a, const half *b, float *c, int n)
{
    __shared__ __align__(16) half as[2][TILE][PITCH], bs[2][TILE][PITCH];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, row = warp / 2 * 16, col = warp % 2 * 16;
    const half *arow = a + blockIdx.y * TILE * n, *brow = b + blockIdx.x * TILE * n;
    float sum[2][4] = {};
    fetch(as[0], arow, n);
    fetch(bs[0], brow, n);
    asm volatile("cp.async.commit_group;");
    for (int k = 0; k < n; k += TILE) {
        int now = k / TILE % 2;
        if (k + TILE < n) {
            fetch(as[!now], arow + k + TILE, n);
            fetch(bs[!now], brow + k + TILE, n);
        }
        asm volatile("cp.async.commit_group;");
        if (waits) asm volatile("cp.async.wait_group 1;");
        __syncthreads();
        for (int j = 0; j < TILE; j += 16) {
            unsigned x[4], y[4];
            load4(x, &as[now][row + lane % 16][j + lane / 16 * 8]);
            load4(y, &bs[now][col + lane % 8 + lane / 16 * 8][j + lane / 8 % 2 * 8]);
            mma(sum[0], x, y[0], y[1]);
            mma(sum[1], x, y[2], y[3]);
        }
        __syncthreads();
    }
    for (int half_tile = 0; half_tile < 2; half_tile++)
        for (int i = 0; i < 4; i++)
            c[(blockIdx.y * TILE + row + lane / 4 + i / 2 * 8) * n + blockIdx.x * TILE + col + half_tile * 8 + lane % 4 * 2 + i % 2] =
                sum[half_tile][i];
}
extern "C" __global__ void matmul_ok(const half *a, const half *b, float *c, int n) { product<true>(a, b, c, n); }
extern "C" __global__ void matmul_bad(const half *a, const half *b, float *c, int n) { product<false>(a, b, c, n); }

/* The same, one element a thread; small whole numbers, so that both are exact. */
extern "C" __global__ void whole(half *a, half *b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = __int2half_rn(i * 7 % 11 - 5);
    b[i] = __int2half_rn(i * 5 % 13 - 6);
}
extern "C" __global__ void compare(const half *a, const half *b, const float *c, int *wrong, int n)
{
    int row = blockIdx.x, col = threadIdx.x;
    float s = 0;
    for (int k = 0; k < n; k++) s += __half2float(a[row * n + k]) * __half2float(b[col * n + k]);
    if (s != c[row * n + col]) atomicAdd(wrong, 1);
}

/* Lane 0 never fills its part of row 0 of a: row 0 of the product is undefined, and nothing else. */
template <int row> static __device__ void part(float *out)
{
    unsigned a[4], b0 = 0x3c003c00, b1 = b0;
    float d[4] = {};
    int lane = threadIdx.x;
    for (int i = 0; i < 4; i++)
        asm volatile("{ .reg .pred p; .reg .b32 t; setp.ne.u32 p, %1, 0; @p mov.b32 t, 0x3c003c00; mov.b32 %0, t; }" : "=r"(a[i]) : "r"(i ? 1 : lane));
    mma(d, a, b0, b1);
    out[lane] = lane / 4 == row ? d[0] : d[2];
}
extern "C" __global__ void part_bad(float *out) { part<0>(out); }
extern "C" __global__ void part_ok(float *out) { part<99>(out); }
