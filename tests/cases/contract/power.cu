// regen: -arch=sm_80
// Powers in a contract: of whole numbers, of others, and from the right.
//! kernel scaled
//! dim n 1..2**3**2
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! arg s f32 = 0.5 ** 2
//! launch grid=1 block=2**9
//! oracle y = x * 2 ** -2
extern "C" __global__ void scaled(const float *x, float *y, int n, float s)
{
    if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * s;
}
