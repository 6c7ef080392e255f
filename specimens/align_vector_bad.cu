// Four floats at a time from the second element of a buffer on: the address is 4 bytes behind a multiple of 16.
//! kernel align_vector
//! dim n = 32
//! arg x f32[n * 4 + 4] in iota
//! arg y f32[n] out once
//! launch grid=1 block=n
extern "C" __global__ void align_vector(const float *x, float *y)
{
    const float4 *view = reinterpret_cast<const float4 *>(x + 1);
    float4 v = view[threadIdx.x];
    y[threadIdx.x] = v.x + v.y + v.z + v.w;
}
