// Each lane loads 2 values of its private array, sums those, and the warp sums the lanes. Compiled with -G, as the bad twin is.
// regen: -arch=sm_90 -G
//! kernel private_partial
//! arg x f32[64] in iota
//! arg y f32[32] out once
//! launch grid=1 block=32
extern "C" __global__ void private_partial(const float *x, float *y)
{
    float mine[64];
    int lane = threadIdx.x;
    mine[2 * lane] = x[2 * lane];
    mine[2 * lane + 1] = x[2 * lane + 1];
    float sum = 0;
    sum = mine[2 * lane] + mine[2 * lane + 1];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    y[lane] = sum;
}
