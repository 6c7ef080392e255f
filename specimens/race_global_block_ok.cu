// Each block has a word of its own.
//! kernel race_global_block
//! dim blocks = 4
//! arg x i32[blocks * 64] in iota
//! arg total i32[blocks] out
//! launch grid=blocks block=64
extern "C" __global__ void race_global_block(const int *x, int *total)
{
    int v = x[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 63)
        total[blockIdx.x] = v;
}
