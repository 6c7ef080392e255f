// The whole warp shuffles, and the lower half uses what it got.
//! kernel shfl_inactive
//! arg x i32[32] in iota
//! arg y i32[32] out once
//! launch grid=1 block=32
extern "C" __global__ void shfl_inactive(const int *x, int *y)
{
    int lane = threadIdx.x, v = x[lane];
    int upper = __shfl_sync(0xffffffff, v, lane + 16);
    if (lane < 16)
        v += upper;
    __syncwarp();
    y[lane] = v;
}
