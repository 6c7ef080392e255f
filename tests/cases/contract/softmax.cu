// One block a row; maximum and sum go through shared memory.
//! kernel softmax
//! dim    rows 1..4096, cols 1..8192
//! arg x     f32[rows, cols] in normal(0, 3)
//! arg y     f32[rows, cols] out once
//! arg cols  i32
//! launch grid=rows block=128 shared=block.x * 4
//! oracle softmax
__global__ void softmax(const float *x, float *y, int cols)
{
    extern __shared__ float part[];
    const float *row = x + (size_t)blockIdx.x * cols;
    int t = threadIdx.x;
    float most = -INFINITY, sum = 0;
    for (int i = t; i < cols; i += blockDim.x)
        most = fmaxf(most, row[i]);
    part[t] = most;
    __syncthreads();
    for (int n = blockDim.x / 2; n; n /= 2) {
        if (t < n)
            part[t] = fmaxf(part[t], part[t + n]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int i = t; i < cols; i += blockDim.x)
        sum += expf(row[i] - most);
    part[t] = sum;
    __syncthreads();
    for (int n = blockDim.x / 2; n; n /= 2) {
        if (t < n)
            part[t] += part[t + n];
        __syncthreads();
    }
    sum = part[0];
    for (int i = t; i < cols; i += blockDim.x)
        y[(size_t)blockIdx.x * cols + i] = expf(row[i] - most) / sum;
}
