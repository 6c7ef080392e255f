// C = A B in tiles of 16 x 16; the edges are guarded, so any size goes.
//! kernel matmul
//! dim    m 1..2048, n 1..2048, k 1..2048
//! arg a   f32[m, k] in uniform(-1, 1)
//! arg b   f32[k, n] in uniform(-1, 1)
//! arg c   f32[m, n] out once
//! arg m   i32
//! arg n   i32
//! arg k   i32
//! launch grid=ceildiv(n, 16),ceildiv(m, 16) block=16,16
//! oracle matmul
__global__ void matmul(const float *a, const float *b, float *c, int m, int n, int k)
{
    __shared__ float left[16][16], right[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int at = 0; at < k; at += 16) {
        int i = at + threadIdx.x, j = at + threadIdx.y;
        left[threadIdx.y][threadIdx.x] = row < m && i < k ? a[row * k + i] : 0;
        right[threadIdx.y][threadIdx.x] = j < k && col < n ? b[j * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[row * n + col] = sum;
}
