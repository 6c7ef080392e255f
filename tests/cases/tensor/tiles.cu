// Four warps store tiles of 16 x 16 into a matrix of 32 x 32.
#include <cuda_fp16.h>
#include <mma.h>
using namespace nvcuda;
template <int STRIDE> __device__ inline void product(const half *a, const half *b, float *c)
{
    int w = threadIdx.x / 32, row = w / 2, col = w % 2;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
    wmma::fill_fragment(sum, 0.f);
    for (int k = 0; k < 32; k += 16) {
        wmma::load_matrix_sync(x, a + row * 16 * 32 + k, 32);
        wmma::load_matrix_sync(y, b + k * 32 + col * 16, 32);
        wmma::mma_sync(sum, x, y, sum);
    }
    wmma::store_matrix_sync(c + row * 16 * 32 + col * 16, sum, STRIDE, wmma::mem_row_major);
}
__global__ void tiles_bad(const half *a, const half *b, float *c) { product<16>(a, b, c); }
__global__ void tiles_ok(const half *a, const half *b, float *c) { product<32>(a, b, c); }
