// The same with rows that are one word longer: the words of a column lie in 32 banks.
//! kernel bank_conflict
//! dim n = 512
//! arg x f32[n, n] in iota
//! arg y f32[n, n] out once
//! launch grid=n/32,n/32 block=32,8
extern "C" __global__ void bank_conflict(const float *__restrict__ x, float *__restrict__ y)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x, row = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = x[(row + k) * 512 + col];
    __syncthreads();
    col = blockIdx.y * 32 + threadIdx.x, row = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8) y[(row + k) * 512 + col] = tile[threadIdx.x][threadIdx.y + k];
}
