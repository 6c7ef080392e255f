// The last thread of each block stores its own sum in the one word for all blocks.
//! kernel race_global_block
//! dim blocks = 4
//! arg x i32[blocks * 64] in iota
//! arg total i32[1] out
//! launch grid=blocks block=64
extern "C" __global__ void race_global_block(const int *x, int *total)
{
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 63)
        total[0] = v;
}
