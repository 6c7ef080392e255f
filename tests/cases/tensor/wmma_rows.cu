/* wmma.load of halves from shared memory, with rows that do not begin at multiples of 16 bytes: ptxas loads them with ldmatrix. */
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;

template <int LD, int FROM> static __device__ void multiply(const __half *a, const __half *b, float *y)
{
    __shared__ __align__(32) __half sa[16 * LD + FROM], sb[16 * LD];
    for (int i = threadIdx.x; i < 256; i += 32) sa[FROM + i / 16 * LD + i % 16] = a[i], sb[i / 16 * LD + i % 16] = b[i];
    __syncwarp();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(fa, sa + FROM, LD); // wrong: misaligned
    wmma::load_matrix_sync(fb, sb, LD);        // wrong: misaligned
    wmma::mma_sync(c, fa, fb, c);
    wmma::store_matrix_sync(y, c, 16, wmma::mem_row_major);
}
extern "C" __global__ void odd_bad(const __half *a, const __half *b, float *y) { multiply<18, 0>(a, b, y); }
extern "C" __global__ void begins_bad(const __half *a, const __half *b, float *y) { multiply<24, 1>(a, b, y); }
extern "C" __global__ void padded_ok(const __half *a, const __half *b, float *y) { multiply<24, 0>(a, b, y); }
