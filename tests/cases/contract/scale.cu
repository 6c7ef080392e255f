// Small enough to show every rule of a launch: y = x * factor, four at a time.
//! kernel scale
//! dim    n 4..4096 step 4
//! arg x       f32[n] in iota align 16
//! arg y       f32[n] out once align 16 alias x
//! arg extra   f32[1] in ones optional
//! arg quads   i32 = n / 4
//! arg factor  f32 = 2
//! launch grid=ceildiv(quads, 64) block=64
__global__ void scale(const float *x, float *y, const float *extra, int quads, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= quads)
        return;
    float more = extra ? *extra : 0;
    float4 v = ((const float4 *)x)[i];
    ((float4 *)y)[i] = make_float4(v.x * factor + more, v.y * factor + more, v.z * factor + more, v.w * factor + more);
}
