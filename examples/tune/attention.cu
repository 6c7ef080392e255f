// Attention of one head of 64 halves, to be tuned: keys and values come by tiles of 64 rows into shared memory, 16 bytes at a time.
// PAD is the classical mistake. A row of 64 + 1 halves is 130 bytes: no two of eight rows begin at a multiple of 16, and cp.async needs
// that. Without a pad all threads of a warp that read one column meet in one bank. docs/lab/timing.md tunes it.
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

constexpr int WIDTH = 64, TILE = 64;

//! kernel attention<PAD,BLOCK>
//! config PAD 1 {0, 1, 2, 4, 8}
//! config BLOCK 128 {32, 64, 128}
//! dim    queries 1..65536 = 100, keys 1..65536 = 130
//! arg q f16[queries, 64] in normal
//! arg k f16[keys, 64] in normal
//! arg v f16[keys, 64] in normal
//! arg y f16[queries, 64] out once
//! arg queries i32
//! arg keys    i32
//! launch grid=ceildiv(queries, BLOCK) block=BLOCK
//! oracle y = einsum("qk,kd->qd", softmax(einsum("qd,kd->qk", q, k) * 0.125, -1), v)
template <int PAD, int BLOCK>
__global__ void attention(const __half *q, const __half *k, const __half *v, __half *y, int queries, int keys)
{
    __shared__ __align__(16) __half key[TILE][WIDTH + PAD], value[TILE][WIDTH + PAD];
    int row = blockIdx.x * BLOCK + threadIdx.x, own = row < queries ? row : queries - 1;
    float sum[WIDTH] = { 0 }, most = -INFINITY, below = 0;
    for (int from = 0; from < keys; from += TILE) {
        int rows = min(TILE, keys - from);
        for (int i = threadIdx.x; i < rows * (WIDTH / 8); i += BLOCK) {
            int r = i / (WIDTH / 8), c = i % (WIDTH / 8) * 8;
            __pipeline_memcpy_async(&key[r][c], k + (from + r) * (size_t)WIDTH + c, 16);
            __pipeline_memcpy_async(&value[r][c], v + (from + r) * (size_t)WIDTH + c, 16);
        }
        __pipeline_commit();
        __pipeline_wait_prior(0);
        __syncthreads();
        for (int r = 0; r < rows; r++) {
            int at = (r + threadIdx.x) % rows; // each lane begins at another key: the sum may be taken in any order
            float s = 0;
            for (int c = 0; c < WIDTH; c++) s += __half2float(q[own * (size_t)WIDTH + c]) * __half2float(key[at][c]);
            s *= 0.125f;
            float larger = fmaxf(most, s), keep = expf(most - larger), weight = expf(s - larger);
            below = below * keep + weight;
            for (int c = 0; c < WIDTH; c++) sum[c] = sum[c] * keep + weight * __half2float(value[at][c]);
            most = larger;
        }
        __syncthreads();
    }
    if (row < queries)
        for (int c = 0; c < WIDTH; c++) y[row * (size_t)WIDTH + c] = __float2half(sum[c] / below);
}
