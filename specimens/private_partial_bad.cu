// Each lane loads 2 values of its private array, and then sums all 64, as if it had those of the other lanes.
// Compiled with -G, so that the array stays in memory.
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
    for (int k = 0; k < 64; k++)
        sum += mine[k];
    y[lane] = sum;
}
