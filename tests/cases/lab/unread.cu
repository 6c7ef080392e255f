// regen: no
// The second oracle cannot be read: that is said before the first kernel is tested. The third wants a whole number.
//! kernel first
//! dim n 1..1000
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = x + x
extern "C" __global__ void first(const float *x, float *y, int n)
{
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}

//! kernel second
//! dim n 1..1000
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = cumsum(x)
extern "C" __global__ void second(const float *x, float *y, int n) {}

//! kernel third
//! dim n 2..1000 = 5
//! arg x f32[n] in normal
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = roll(x, n / 2, 0)
extern "C" __global__ void third(const float *x, float *y, int n) {}
