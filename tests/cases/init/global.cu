#include <cstdio>
// Device memory that nobody wrote, padding, device malloc, and what is defined at birth.
struct padded { char c; int i; double d; };

// Structs are copied with their padding: nobody uses those bytes.
extern "C" __global__ void padding_ok(struct padded *tmp, struct padded *out)
{
    int t = threadIdx.x;
    tmp[t].c = (char)t; tmp[t].i = t; tmp[t].d = t;
    struct padded p = tmp[t];
    p.i += 1;
    out[t] = p;
}
extern "C" __global__ void padding_bad(struct padded *tmp, struct padded *out)
{
    int t = threadIdx.x;
    tmp[t].c = (char)t; tmp[t].d = t;
    struct padded p = tmp[t];
    p.i += 1;
    out[t] = p;
}

// A vector load of which only the written half is used.
extern "C" __global__ void half_ok(float4 *tmp, float *out)
{
    int t = threadIdx.x;
    tmp[t].x = t; tmp[t].y = 1.f;
    float4 v = tmp[t];
    if (v.x > v.y) out[t] = v.x;
    else out[t] = v.y;
}
extern "C" __global__ void half_bad(float4 *tmp, float *out)
{
    int t = threadIdx.x;
    tmp[t].x = t; tmp[t].y = 1.f;
    float4 v = tmp[t];
    if (v.x > v.z) out[t] = v.x;
    else out[t] = v.y;
}

// A counter in device memory that starts as whatever it was.
extern "C" __global__ void count_bad(const int *in, int *count, int *list)
{
    if (in[threadIdx.x] & 1) list[atomicAdd(count, 1) & 31] = threadIdx.x;
}
__device__ int counter;         // module variables start as zero
extern "C" __global__ void count_ok(const int *in, int *count, int *list)
{
    if (in[threadIdx.x] & 1) list[atomicAdd(&counter, 1) & 31] = threadIdx.x;
}

extern "C" __global__ void heap_bad(float *out)
{
    float *p = (float *)malloc(64);
    if (!p) return;
    p[0] = 1.f;
    out[threadIdx.x] = p[0] + p[1];
    free(p);
}
extern "C" __global__ void heap_ok(float *out)
{
    float *p = (float *)malloc(64);
    if (!p) return;
    p[0] = 1.f; p[1] = 2.f;
    out[threadIdx.x] = p[0] + p[1];
    free(p);
}

extern "C" __global__ void print_bad(const int *in) { if (threadIdx.x == 0) printf("%d\n", in[3]); }
