// Tiled matrix product with a barrier before the tiles are used and one after it.
//! kernel barrier_missing_first
//! dim n 16..256 step 16 = 32
//! arg a f32[n, n] in
//! arg b f32[n, n] in
//! arg c f32[n, n] out once
//! arg n i32
//! launch grid=n / 16,n / 16 block=16,16
extern "C" __global__ void barrier_missing_first(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, col = blockIdx.x * 16 + x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        left[y][x] = a[row * n + tile + x];
        right[y][x] = b[(tile + y) * n + col];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[y][k] * right[k][x];
        __syncthreads();
    }
    c[row * n + col] = sum;
}
