// Each thread takes a row of a matrix by rows: neighbouring threads are a row, 1024 bytes, apart, and each sector that moves carries one word.
//! kernel stride_access
//! dim rows = 4096, cols = 256
//! arg m f32[rows, cols] in ones
//! arg sum f32[rows] out once
//! launch grid=rows/64 block=64
extern "C" __global__ void stride_access(const float *__restrict__ m, float *__restrict__ sum)
{
    int row = blockIdx.x * 64 + threadIdx.x;
    float s = 0;
    for (int c = 0; c < 256; c += 8) s += m[row * 256 + c];
    sum[row] = s;
}
