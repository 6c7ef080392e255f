// 65536 rows, one for each block along y.
//! kernel grid_y
//! arg y i32[65536] out once
//! launch grid=1,65536 block=1
extern "C" __global__ void grid_y(int *y)
{
    y[blockIdx.x + blockIdx.y] = 1;
}
