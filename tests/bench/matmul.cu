// C = A B, square, through two shared tiles; n is a multiple of the tile.
template <int T>
__device__ static void matmul(const float *A, const float *B, float *C, int n)
{
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float s = 0;
    for (int k = 0; k < n; k += T) {
        as[ty][tx] = A[row * n + k + tx];
        bs[ty][tx] = B[(k + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < T; j++)
            s += as[ty][j] * bs[j][tx];
        __syncthreads();
    }
    C[row * n + col] = s;
}

extern "C" __global__ void matmul16(const float *A, const float *B, float *C, int n)
{
    matmul<16>(A, B, C, n);
}
extern "C" __global__ void matmul32(const float *A, const float *B, float *C, int n)
{
    matmul<32>(A, B, C, n);
}
