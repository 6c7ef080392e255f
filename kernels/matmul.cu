// Products of matrices, y = a b for each of a batch (1 for a plain product), and its gradients: da = dy b^T, db = a^T
// dy. All three are one product of matrices with strides, where a transpose is an exchange of two strides. A block
// takes a tile of 32 x 32 of the result; tiles of both operands pass through shared memory.
#include "kernel.cuh"

//! op       matmul(a, b) -> y
//! forward  matmul(a, b) -> y
//! backward matmul_backward_a(dy, b) -> da
//! backward matmul_backward_b(a, dy) -> db
//! oracle   y = a @ b

typedef long long i64;
constexpr int TILE = 32, HEIGHT = 8; // a block has TILE x HEIGHT threads

// y[i][j] = sum over k of a[i * ai + k * ak] * b[k * bk + j * bj], with y dense.
template <typename T>
__device__ void product(const T *a, i64 ai, i64 ak, const T *b, i64 bk, i64 bj, T *y, int m, int n, int depth)
{
    __shared__ float as[TILE][TILE + 1], bs[TILE][TILE + 1];
    int x = threadIdx.x, row = blockIdx.y * TILE, col = blockIdx.x * TILE;
    float sum[TILE / HEIGHT] = {};
    for (int first = 0; first < depth; first += TILE) {
        for (int r = threadIdx.y; r < TILE; r += HEIGHT) {
            as[r][x] = row + r < m && first + x < depth ? float(a[(row + r) * ai + (first + x) * ak]) : 0.0f;
            bs[r][x] = first + r < depth && col + x < n ? float(b[(first + r) * bk + (col + x) * bj]) : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            for (int r = 0; r < TILE / HEIGHT; r++) sum[r] += as[threadIdx.y + r * HEIGHT][k] * bs[k][x];
        __syncthreads();
    }
    for (int r = 0; r < TILE / HEIGHT; r++) {
        int i = row + threadIdx.y + r * HEIGHT;
        if (i < m && col + x < n) y[i * (i64)n + col + x] = T(sum[r]);
    }
}

//! kernel matmul<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, m 0..2097120 = 40, n 0..1073741824 = 24, k 0..1073741824 = 36
//! arg a  T[batch, m, k] in normal view dense|rows|offset|broadcast
//! arg a0 i64 = a.stride0
//! arg a1 i64 = a.stride1
//! arg a2 i64 = a.stride2
//! arg b  T[batch, k, n] in normal view dense|rows|offset|broadcast
//! arg b0 i64 = b.stride0
//! arg b1 i64 = b.stride1
//! arg b2 i64 = b.stride2
//! arg y  T[batch, m, n] out once
//! arg m  i32
//! arg n  i32
//! arg k  i32
//! launch grid=ceildiv(n, 32),ceildiv(m, 32),batch block=32,8
//! oracle y = einsum("bmk,bkn->bmn", a, b)
template <typename T>
__global__ void matmul(const T *a, i64 a0, i64 a1, i64 a2, const T *b, i64 b0, i64 b1, i64 b2, T *y, int m, int n,
                       int k)
{
    product(a + blockIdx.z * a0, a1, a2, b + blockIdx.z * b0, b1, b2, y + blockIdx.z * (i64)m * n, m, n, k);
}

// Where an operand is repeated along the batch, the gradients of the batch are to be added up (reduce.cu).
//! kernel matmul_backward_a<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, m 0..2097120 = 40, n 0..1073741824 = 24, k 0..1073741824 = 36
//! arg dy T[batch, m, n] in normal view dense|rows|offset|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg d2 i64 = dy.stride2
//! arg b  T[batch, k, n] in normal view dense|rows|offset|broadcast
//! arg b0 i64 = b.stride0
//! arg b1 i64 = b.stride1
//! arg b2 i64 = b.stride2
//! arg da T[batch, m, k] out once
//! arg m  i32
//! arg n  i32
//! arg k  i32
//! launch grid=ceildiv(k, 32),ceildiv(m, 32),batch block=32,8
//! oracle da = einsum("bmn,bkn->bmk", dy, b)
template <typename T>
__global__ void matmul_backward_a(const T *dy, i64 d0, i64 d1, i64 d2, const T *b, i64 b0, i64 b1, i64 b2, T *da, int m,
                                  int n, int k)
{
    product(dy + blockIdx.z * d0, d1, d2, b + blockIdx.z * b0, b2, b1, da + blockIdx.z * (i64)m * k, m, k, n);
}

//! kernel matmul_backward_b<T>
//! type   T f32|f16|bf16
//! dim    batch 0..65535 = 2, m 0..1073741824 = 40, n 0..1073741824 = 24, k 0..2097120 = 36
//! arg a  T[batch, m, k] in normal view dense|rows|offset|broadcast
//! arg a0 i64 = a.stride0
//! arg a1 i64 = a.stride1
//! arg a2 i64 = a.stride2
//! arg dy T[batch, m, n] in normal view dense|rows|offset|broadcast
//! arg d0 i64 = dy.stride0
//! arg d1 i64 = dy.stride1
//! arg d2 i64 = dy.stride2
//! arg db T[batch, k, n] out once
//! arg m  i32
//! arg n  i32
//! arg k  i32
//! launch grid=ceildiv(n, 32),ceildiv(k, 32),batch block=32,8
//! oracle db = einsum("bmk,bmn->bkn", a, dy)
template <typename T>
__global__ void matmul_backward_b(const T *a, i64 a0, i64 a1, i64 a2, const T *dy, i64 d0, i64 d1, i64 d2, T *db, int m,
                                  int n, int k)
{
    product(a + blockIdx.z * a0, a2, a1, dy + blockIdx.z * d0, d1, d2, db + blockIdx.z * (i64)k * n, k, n, m);
}
