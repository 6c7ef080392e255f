// A kernel that is told how far the rows of its input are apart, launched by a program (by_view.py).

//! kernel twice_rows
//! dim m 1..100
//! dim n 1..100
//! arg x   f32[m, n] in view dense|rows
//! arg y   f32[m, n] out
//! arg m   i32
//! arg n   i32
//! arg ldx i64 = x.stride0
//! launch grid=m block=32
extern "C" __global__ void twice_rows(const float *x, float *y, int m, int n, long long ldx)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x) y[blockIdx.x * n + i] = 2 * x[blockIdx.x * ldx + i];
}
