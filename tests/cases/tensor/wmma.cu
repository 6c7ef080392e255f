// regen: xz -arch=sm_90 -lineinfo
/* Every shape and type of wmma: c of whole numbers, a and b by rows or by columns, against plain arithmetic.
 * Each kernel counts the elements that differ. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <typename T> __device__ T number(int x) { return (T)(float)x; }
template <> __device__ signed char number<signed char>(int x) { return (signed char)x; }
template <> __device__ unsigned char number<unsigned char>(int x) { return (unsigned char)(x & 255); }
template <typename T> __device__ float plain(T x) { return (float)x; }

template <typename L> constexpr bool by_rows = false;
template <> constexpr bool by_rows<wmma::row_major> = true;

/* A warp: a in rows or columns `lda` apart, all in shared memory or in global memory. */
template <int M, int N, int K, typename T, typename E, typename S, typename LA, typename LB>
static __device__ void product(S *c, int *wrong, T *a, T *b)
{
    constexpr bool arow = by_rows<LA>, brow = by_rows<LB>;
    constexpr int lda = (arow ? K : M) + 16, ldb = (brow ? N : K) + 16, ldc = N + 8;
#pragma unroll 1
    for (int i = threadIdx.x; i < M * K; i += 32) {
        int m = i / K, k = i % K;
        a[arow ? m * lda + k : k * lda + m] = number<T>((m * 3 + k * 5) % 7 - 3);
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < N * K; i += 32) {
        int n = i / K, k = i % K;
        b[brow ? k * ldb + n : n * ldb + k] = number<T>((n * 2 + k * 3) % 9 - 4);
    }
#pragma unroll 1
    for (int i = threadIdx.x; i < M * N; i += 32) c[i / N * ldc + i % N] = (S)(float)(i % 5);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, E, LA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, E, LB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, S> fc;
    wmma::load_matrix_sync(fa, a, lda);
    wmma::load_matrix_sync(fb, b, ldb);
    wmma::load_matrix_sync(fc, c, ldc, wmma::mem_row_major);
    wmma::mma_sync(fc, fa, fb, fc);
    __syncwarp();
    for (int i = 0; i < fc.num_elements; i++) fc.x[i] = fc.x[i] + fc.x[i]; /* the same to every element */
    wmma::store_matrix_sync(c, fc, M + 8, wmma::mem_col_major);
    __syncwarp();
#pragma unroll 1
    for (int i = threadIdx.x; i < M * N; i += 32) {
        float sum = (float)(i % 5);
#pragma unroll 1
        for (int k = 0; k < K; k++)
            sum += plain(number<T>((i / N * 3 + k * 5) % 7 - 3)) * plain(number<T>((i % N * 2 + k * 3) % 9 - 4));
        if ((float)c[i % N * (M + 8) + i / N] != 2 * sum) atomicAdd(wrong, 1);
    }
    __syncwarp();
}

template <int M, int N, int K, typename T, typename E, typename S> static __device__ void layouts(S *c, int *wrong, T *ga, T *gb)
{
    __shared__ __align__(32) T sa[2048], sb[2048];
    product<M, N, K, T, E, S, wmma::row_major, wmma::col_major>(c, wrong, ga, gb);
    product<M, N, K, T, E, S, wmma::col_major, wmma::row_major>(c, wrong, sa, sb);
    product<M, N, K, T, E, S, wmma::row_major, wmma::row_major>(c, wrong, sa, gb);
    product<M, N, K, T, E, S, wmma::col_major, wmma::col_major>(c, wrong, ga, sb);
}

#define SHAPES(name, T, E, S)                                                          \
    extern "C" __global__ void name(S *c, int *wrong, T *a, T *b)                      \
    {                                                                                  \
        layouts<16, 16, 16, T, E, S>(c, wrong, a, b);                                  \
        layouts<8, 32, 16, T, E, S>(c, wrong, a, b);                                   \
        layouts<32, 8, 16, T, E, S>(c, wrong, a, b);                                   \
    }
SHAPES(half_float, half, half, float)
SHAPES(half_half, half, half, half)
SHAPES(bf16, __nv_bfloat16, __nv_bfloat16, float)
SHAPES(bytes, signed char, signed char, int)
SHAPES(unsigned_bytes, unsigned char, unsigned char, int)
extern "C" __global__ void tf32(float *c, int *wrong, float *a, float *b)
{
    layouts<16, 16, 8, float, wmma::precision::tf32, float>(c, wrong, a, b);
}
extern "C" __global__ void doubles(double *c, int *wrong, double *a, double *b) { layouts<8, 8, 4, double, double, double>(c, wrong, a, b); }

/* 4 bits and 1 bit: eight or 32 numbers a word, rows of a and columns of b only. */
extern "C" __global__ void nibbles(int *c, int *wrong, unsigned *a, unsigned *b)
{
    using namespace wmma::experimental;
    int l = threadIdx.x;
    a[l] = l * 0x9e3779b9u, b[l] = l * 0x85ebca6bu;
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 8, 8, 32, precision::s4, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 32, precision::s4, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 32, int> fc;
    wmma::load_matrix_sync(fa, a, 32), wmma::load_matrix_sync(fb, b, 32), wmma::fill_fragment(fc, 7);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
    __syncwarp();
#pragma unroll 1
    for (int i = l; i < 64; i += 32) {
        int sum = 7;
#pragma unroll 1
        for (int k = 0; k < 32; k++) sum += ((int)(a[i / 8 * 4 + k / 8] << (28 - k % 8 * 4)) >> 28) * ((int)(b[i % 8 * 4 + k / 8] << (28 - k % 8 * 4)) >> 28);
        if (sum != c[i]) atomicAdd(wrong, 1);
    }
}
extern "C" __global__ void bits(int *c, int *wrong, unsigned *a, unsigned *b)
{
    using namespace wmma::experimental;
    int l = threadIdx.x;
    a[l] = l * 0x9e3779b9u, b[l] = l * 0x85ebca6bu;
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 8, 8, 128, precision::b1, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 8, 8, 128, precision::b1, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 8, 8, 128, int> fc;
    wmma::load_matrix_sync(fa, a, 128), wmma::load_matrix_sync(fb, b, 128), wmma::fill_fragment(fc, 1);
    wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpXOR);
    wmma::bmma_sync(fc, fa, fb, fc, bmmaBitOpAND);
    wmma::store_matrix_sync(c, fc, 8, wmma::mem_row_major);
    __syncwarp();
#pragma unroll 1
    for (int i = l; i < 64; i += 32) {
        int sum = 1;
#pragma unroll 1
        for (int k = 0; k < 4; k++) sum += __popc(a[i / 8 * 4 + k] ^ b[i % 8 * 4 + k]) + __popc(a[i / 8 * 4 + k] & b[i % 8 * 4 + k]);
        if (sum != c[i]) atomicAdd(wrong, 1);
    }
}

/* b of 16 x 16 in an array of 16 rows of 16, taken for rows of 24; and stored while another warp reads it. */
extern "C" __global__ void wide_bad(const half *b, float *c)
{
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    wmma::fill_fragment(fa, __float2half(1)), wmma::fill_fragment(fc, 0);
    wmma::load_matrix_sync(fb, b, 24); // <-- bounds
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
}
extern "C" __global__ void shared_bad(float *c)
{
    __shared__ __align__(32) float tile[256];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
    if (threadIdx.x < 32) {
        wmma::fill_fragment(fc, 1);
        wmma::store_matrix_sync(tile, fc, 16, wmma::mem_row_major); // <-- race
    } else
        for (int i = threadIdx.x - 32; i < 256; i += 32) c[i] = i;
    c[256 + threadIdx.x] = tile[threadIdx.x * 2];
}
