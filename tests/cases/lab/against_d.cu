// The same function with a contract of its own: other arguments, in another order, and four elements a thread.
//! kernel twice
//! dim per = 4, n 1..512 = 50
//! arg y f32[n] out once
//! arg x f32[n] in uniform(0, 1)
//! arg n i32
//! arg per i32
//! launch grid=ceildiv(n, 32 * per) block=32
extern "C" __global__ void twice(float *y, const float *x, int n, int per)
{
    int first = (blockIdx.x * blockDim.x + threadIdx.x) * per;
    for (int i = first; i < n && i < first + per; i++) y[i] = x[i] + x[i];
}
