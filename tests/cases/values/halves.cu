// NaN and infinity in floats of 16 bits, which PTX loads and stores as bits.
// regen: no
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
enum { N = 64 };
__global__ void soft(const half *x, half *out) { half e = hexp(x[threadIdx.x]); out[threadIdx.x] = __hdiv(e, __hadd(e, e)); }
__global__ void twice(const __half2 *x, __half2 *out) { out[threadIdx.x] = __hmul2(x[threadIdx.x], __float2half2_rn(60000.f)); }
__global__ void brain(const __nv_bfloat16 *x, __nv_bfloat16 *out) { out[threadIdx.x] = __float2bfloat16(__bfloat162float(x[threadIdx.x]) * 1e38f * 1e3f); }
__global__ void wide(const uint4 *x, uint4 *out) // eight elements a thread
{
    uint4 v = x[threadIdx.x];
    __half2 *h = (__half2 *)&v;
    for (int i = 0; i < 4; i++) h[i] = __hadd2(h[i], h[i]);
    out[threadIdx.x] = v;
}
__global__ void masked(const half *x, half *out) { out[threadIdx.x] = threadIdx.x > 30 ? __ushort_as_half(0xfc00) : __hadd(x[threadIdx.x], x[threadIdx.x]); }
__global__ void counts(unsigned short *out) { out[threadIdx.x] = 0xffff - threadIdx.x; }
__global__ void copied(const half *x, half *out) { out[threadIdx.x] = x[threadIdx.x]; }
__global__ void single(const float *x, float *out) { out[threadIdx.x] = sqrtf(x[threadIdx.x] - 1e-3f); } // what looks like halves is none

template <class T> static T *given(float from, float step)
{
    T h[N], *d;
    for (int i = 0; i < N; i++) h[i] = T(from + step * i);
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    return d;
}

int main(int, char **argv)
{
    const char *how = argv[1];
    half *x = given<half>(0, 1), *out, *odd = given<half>(INFINITY, 0);
    float *f = given<float>(0.1f, 0.3f);
    __nv_bfloat16 *b = given<__nv_bfloat16>(0, 1);
    cudaMalloc(&out, N * 4);
    if (!strcmp(how, "soft")) soft<<<1, N>>>(x, out);
    if (!strcmp(how, "twice")) twice<<<1, N / 2>>>((__half2 *)x, (__half2 *)out);
    if (!strcmp(how, "brain")) brain<<<1, N>>>(b, (__nv_bfloat16 *)out);
    if (!strcmp(how, "wide")) for (int i = 0; i < 12; i++) wide<<<1, N / 8>>>((uint4 *)x, (uint4 *)x);
    if (!strcmp(how, "fine")) wide<<<1, N / 8>>>((uint4 *)x, (uint4 *)out);
    if (!strcmp(how, "given")) soft<<<1, N>>>(odd, out);
    if (!strcmp(how, "masked")) masked<<<1, N>>>(x, out);
    if (!strcmp(how, "counts")) counts<<<1, N>>>((unsigned short *)out);
    if (!strcmp(how, "copied")) copied<<<1, N>>>(odd, out);
    if (!strcmp(how, "single")) single<<<1, N>>>(f, (float *)out);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(x), cudaFree(out), cudaFree(odd), cudaFree(f), cudaFree(b);
    return 0;
}
