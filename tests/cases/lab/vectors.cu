// y = a + b row by row, 16 bytes at once where that is possible, which is asked of all three arrays, or of a alone.

__device__ void add_row(const float *a, const float *b, float *y, int cols, bool together)
{
    if (together)
        for (int i = threadIdx.x * 4; i < cols; i += blockDim.x * 4) {
            float4 p = *(const float4 *)(a + i), q = *(const float4 *)(b + i);
            *(float4 *)(y + i) = make_float4(p.x + q.x, p.y + q.y, p.z + q.z, p.w + q.w);
        }
    else
        for (int i = threadIdx.x; i < cols; i += blockDim.x) y[i] = a[i] + b[i];
}
__device__ bool on_boundary(const float *p) { return (size_t)p % 16 == 0; }

//! kernel asks_all
//! dim    rows 0..1000000 = 9, cols 0..1000000 = 333
//! arg a f32[rows, cols] in view dense|rows|offset
//! arg lda i64 = a.stride0
//! arg b f32[rows, cols] in view dense|rows|offset
//! arg ldb i64 = b.stride0
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = a + b
extern "C" __global__ void asks_all(const float *a, long long lda, const float *b, long long ldb, float *y, int cols)
{
    a += blockIdx.x * lda;
    b += blockIdx.x * ldb;
    y += blockIdx.x * (long long)cols;
    add_row(a, b, y, cols, cols % 4 == 0 && on_boundary(a) && on_boundary(b) && on_boundary(y));
}

//! kernel asks_one
//! dim    rows 0..1000000 = 9, cols 0..1000000 = 333
//! arg a f32[rows, cols] in view dense|rows|offset
//! arg lda i64 = a.stride0
//! arg b f32[rows, cols] in view dense|rows|offset
//! arg ldb i64 = b.stride0
//! arg y f32[rows, cols] out once
//! arg cols i32
//! launch grid=rows block=32
//! oracle y = a + b
extern "C" __global__ void asks_one(const float *a, long long lda, const float *b, long long ldb, float *y, int cols)
{
    a += blockIdx.x * lda;
    b += blockIdx.x * ldb;
    y += blockIdx.x * (long long)cols;
    add_row(a, b, y, cols, cols % 4 == 0 && on_boundary(a));
}
