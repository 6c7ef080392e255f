// What cases reach: a line that no size of the contract comes to, a branch that goes one way, an end of a range that is too large for an oracle.
//! kernel reached
//! dim n 1..1000000
//! arg x f32[n] in normal view dense|offset
//! arg y f32[n] out once
//! arg n i32
//! launch grid=ceildiv(n, 64) block=64
//! oracle y = x + 1
extern "C" __global__ void reached(const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (n < 0)
        v = sqrtf(v * v + i) + y[0];
    y[i] = v + 1;
}
