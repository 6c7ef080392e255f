// Lanes of a warp exchange values through shared memory, with __syncwarp between the store and the load.
//! kernel warp_sync_missing
//! arg x i32[32] in iota
//! arg y i32[32] out once
//! launch grid=1 block=32
extern "C" __global__ void warp_sync_missing(const int *x, int *y)
{
    __shared__ int held[32];
    int lane = threadIdx.x;
    held[lane] = x[lane];
    __syncwarp();
    y[lane] = held[31 - lane];
}
