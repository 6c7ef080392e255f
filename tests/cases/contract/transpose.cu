// A tile of 32 x 33 in dynamic shared memory, declared as a part of it; 8-bit floats would do as well.
//! kernel transpose
//! dim    rows 1..4096, cols 1..4096
//! arg in     f32[rows, cols] in iota
//! arg out    f32[cols, rows] out once
//! arg height i32 = rows
//! arg width  i32 = cols
//! shared tile f32[32, 33] at 0
//! launch grid=ceildiv(cols, 32),ceildiv(rows, 32) block=32,8
__global__ void transpose(const float *in, float *out, int height, int width)
{
    extern __shared__ float tile[];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < width && y + i < height)
            tile[(threadIdx.y + i) * 33 + threadIdx.x] = in[(y + i) * width + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        if (x < height && y + i < width)
            out[(y + i) * height + x] = tile[threadIdx.x * 33 + threadIdx.y + i];
}
