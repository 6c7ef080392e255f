// The first four warps of a block go one way and the others the other: each executes one side, with all of its lanes.
//! kernel divergent_branch
//! dim n = 65536
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! launch grid=n/256 block=256
extern "C" __global__ void divergent_branch(const float *__restrict__ x, float *__restrict__ y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float v = x[i];
    if (threadIdx.x < 128) {
        for (int k = 0; k < 40; k++) v = v * 0.5f + 1;
    } else {
        for (int k = 0; k < 30; k++) v = __frsqrt_rn(v * v + 1);
    }
    y[i] = v;
}
