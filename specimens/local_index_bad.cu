// Each thread keeps 8 values of its row for itself, and indexes them by the row in the whole matrix.
// Compiled with -G, so that the array stays in memory.
// regen: -arch=sm_90 -G
//! kernel local_index
//! dim rows = 64
//! arg x f32[rows, 8] in
//! arg y f32[rows] out once
//! launch grid=2 block=32
extern "C" __global__ void local_index(const float *x, float *y)
{
    float mine[8];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 8; k++)
        mine[k] = x[row * 8 + k];
    y[row] = mine[row];
}
