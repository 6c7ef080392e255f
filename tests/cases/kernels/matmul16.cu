// C = A B for m x k and k x n, all multiples of 16, through two shared tiles of 16x16.
#define T 16
extern "C" __global__ void matmul16(const float *A, const float *B, float *C, int n, int k)
{
    __shared__ float as[T][T], bs[T][T];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * T + ty, col = blockIdx.x * T + tx;
    float sum = 0;
    for (int t = 0; t < k; t += T) {
        as[ty][tx] = A[row * k + t + tx];
        bs[ty][tx] = B[(t + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < T; j++)
            sum += as[ty][j] * bs[j][tx];
        __syncthreads();
    }
    C[row * n + col] = sum;
}
