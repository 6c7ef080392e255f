// Four floats at a time from the fifth element of a buffer on: a multiple of 16 bytes.
//! kernel align_vector
//! dim n = 32
//! arg x f32[n * 4 + 4] in iota
//! arg y f32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void align_vector(const float *x, float *y)
{
    const float4 *view = reinterpret_cast<const float4 *>(x + 4);
    float4 v = view[threadIdx.x];
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
