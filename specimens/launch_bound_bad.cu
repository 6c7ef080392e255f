// 100 elements: the card is done with them long before the launch has begun.
//! kernel launch_bound
//! dim n = 100
//! arg x f32[n] in iota
//! arg y f32[n] out once
//! arg n s32 = n
//! launch grid=1 block=128
extern "C" __global__ void launch_bound(const float *__restrict__ x, float *__restrict__ y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
