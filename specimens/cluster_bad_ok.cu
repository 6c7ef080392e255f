// Clusters of 4 blocks in a grid of 8.
//! kernel cluster_bad
//! arg y i32[8] out once
//! launch grid=8 block=1
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_bad(int *y)
{
    y[blockIdx.x] = 1;
}
