// Twenty-four and more builds of one kernel: those that go must not be looked at again.
// regen: no
#ifndef A
#define A 1
#endif
#ifndef B
#define B 4
#endif
#ifndef C
#define C 0
#endif
//! kernel s
//! config A 1 {1, 2, 3, 4}
//! config B 4 {4, 8, 2}
//! config C 8 {0, 1, 8}
//! dim n 1..512 = 128
//! arg x f32[n] in
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 32*B) block=B*32
//! oracle y = x * (A + B + C)
extern "C" __global__ void s(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] * (A + B + C);
}
