// The lower half of the warp takes values from the upper half, with a mask of the whole warp: the upper half waits elsewhere.
//! kernel shfl_inactive
//! arg x i32[32] in iota
//! arg y i32[32] out once
//! launch grid=1 block=32
extern "C" __global__ void shfl_inactive(const int *x, int *y)
{
    int lane = threadIdx.x, v = x[lane];
    if (lane < 16)
        v += __shfl_sync(0xffffffff, v, lane + 16);
    __syncwarp();
    y[lane] = v;
}
