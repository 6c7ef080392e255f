// The matrix lies by columns: neighbouring threads read neighbouring words.
//! kernel stride_access
//! dim rows = 4096, cols = 256
//! arg m f32[cols, rows] in ones
//! arg sum f32[rows] out once
//! launch grid=rows/64 block=64
extern "C" __global__ void stride_access(const float *__restrict__ m, float *__restrict__ sum)
{
    int row = blockIdx.x * 64 + threadIdx.x;
    float s = 0;
    for (int c = 0; c < 256; c += 8) s += m[c * 4096 + row];
    sum[row] = s;
}
