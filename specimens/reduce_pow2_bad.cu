// A tree over 96 elements whose first step is 48 and whose fifth is 3 / 2 = 1: what has no partner is lost.
//! kernel tree_sum
//! dim rows 1..64
//! arg x f32[rows, 96] in
//! arg y f32[rows] out once
//! launch grid=rows block=96
//! oracle y = sum(x, -1)
extern "C" __global__ void tree_sum(const float *x, float *y)
{
    __shared__ float part[96];
    int i = threadIdx.x;
    part[i] = x[blockIdx.x * 96 + i];
    __syncthreads();
    for (int d = 48; d; d /= 2) {
        if (i < d) part[i] += part[i + d];
        __syncthreads();
    }
    if (i == 0) y[blockIdx.x] = part[0];
}
