/* One over x, stored in every way that a store has: in[0] is 0 or is not. */
extern "C" __global__ void whole(const float *in, float *out) { out[threadIdx.x] = 1 / in[threadIdx.x]; }
extern "C" __global__ void part(const float *in, float *out)
{
    if (threadIdx.x != 5) out[threadIdx.x] = 1 / in[threadIdx.x];
}
extern "C" __global__ void one(const float *in, float *out)
{
    if (blockIdx.x == 0) out[9] = 1 / in[blockIdx.x];
}
extern "C" __global__ void scattered(const float *in, float *out) { out[threadIdx.x * 7 % 64] = 1 / in[threadIdx.x]; }
extern "C" __global__ void four(const float *in, float4 *out)
{
    float x = 1 / in[threadIdx.x];
    out[threadIdx.x] = make_float4(1, 2, x, 3);
}
extern "C" __global__ void tile(const float *in, float *out)
{
    out[threadIdx.y * 16 + threadIdx.x] = 1 / in[threadIdx.y * 16 + threadIdx.x];
}
extern "C" __global__ void narrow(const float *in, float *out)
{
    out[threadIdx.y * 8 + threadIdx.x] = 1 / in[threadIdx.y * 8 + threadIdx.x];
}
extern "C" __global__ void wide(const double *in, double *out) { out[threadIdx.x] = 1 / in[threadIdx.x]; }
extern "C" __global__ void wide_part(const double *in, double *out)
{
    if (threadIdx.x < 7) out[threadIdx.x] = 1 / in[threadIdx.x];
}
extern "C" __global__ void added(const float *in, float *out) { atomicAdd(&out[threadIdx.x], 1 / in[threadIdx.x]); }
extern "C" __global__ void halves(const float *in, float *to)
{
    unsigned short *out = (unsigned short *)to;
    unsigned x = __float_as_uint(1 / in[threadIdx.x]);
    out[2 * threadIdx.x] = (unsigned short)x;
    out[2 * threadIdx.x + 1] = (unsigned short)(x >> 16);
}
extern "C" __global__ void flagged(const float *in, volatile float *out) { out[threadIdx.x] = 1 / in[threadIdx.x]; }
/* Stored as a half of an f64, which no store of 4 bytes is looked at as. */
extern "C" __global__ void upper(const float *in, double *to)
{
    unsigned *out = (unsigned *)to;
    out[2 * threadIdx.x + 1] = in[threadIdx.x] == 0 ? 0x7ff00000u + (unsigned)in[1] - 1 : 0x3ff00000u;
    out[2 * threadIdx.x] = 0;
}
