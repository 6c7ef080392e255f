// regen: -arch=sm_90 -G
// Private arrays and variables, compiled with -G: without it the compiler folds most of these reads away (RULES.md I5).

// Each lane fills 2 of 64 values, then reads all of them.
extern "C" __global__ void array_bad(const float *in, float *out)
{
    float v[64];
    int t = threadIdx.x;
    v[2 * t % 64] = in[t];
    v[(2 * t + 1) % 64] = in[t];
    float s = 0.f;
    for (int k = 0; k < 64; k++) s += v[k];
    out[t] = s;
}
extern "C" __global__ void array_ok(const float *in, float *out)
{
    float v[64];
    int t = threadIdx.x;
    for (int k = 0; k < 64; k++) v[k] = 0.f;
    v[2 * t % 64] = in[t];
    v[(2 * t + 1) % 64] = in[t];
    float s = 0.f;
    for (int k = 0; k < 64; k++) s += v[k];
    out[t] = s;
}

// An accumulator that nobody set to zero.
extern "C" __global__ void sum_bad(const float *in, float *out, int n)
{
    float s;
    for (int k = 0; k < n; k++) s += in[k];
    out[threadIdx.x] = s;
}
extern "C" __global__ void sum_ok(const float *in, float *out, int n)
{
    float s = 0.f;
    for (int k = 0; k < n; k++) s += in[k];
    out[threadIdx.x] = s;
}

// Set on one path only, and used as an index on both.
extern "C" __global__ void index_bad(const int *in, int *out, int n)
{
    int k;
    if (in[threadIdx.x] > 0) k = in[threadIdx.x] % n;
    out[k & 31] = 1;
}
extern "C" __global__ void index_ok(const int *in, int *out, int n)
{
    int k = 0;
    if (in[threadIdx.x] > 0) k = in[threadIdx.x] % n;
    out[k & 31] = 1;
}

// Fields of a few bits are set one by one in memory that was never written: each is a read, an and, an or and a write.
struct fields { unsigned a : 3, b : 5, c : 9, d : 4; };
extern "C" __global__ void fields_ok(const int *in, int *out)
{
    struct fields f;
    f.a = in[0]; f.b = in[1]; f.c = in[2];
    if (f.a == 1 && f.b == 2) out[threadIdx.x] = f.c;
    else out[threadIdx.x] = f.a + f.b;
}
extern "C" __global__ void fields_bad(const int *in, int *out)
{
    struct fields f;
    f.a = in[0]; f.b = in[1]; f.c = in[2];
    if (f.d == 1) out[threadIdx.x] = f.c;
    else out[threadIdx.x] = f.a + f.b;
}

__device__ __noinline__ static int pick(int which, int a, int b) { return which ? a : b; }
extern "C" __global__ void call_bad(const int *in, int *out)
{
    int a;
    if (in[0] < 0) a = 5;
    if (pick(in[threadIdx.x], a, 3) == 3) out[threadIdx.x] = 1;
    else out[threadIdx.x] = 2;
}
extern "C" __global__ void call_ok(const int *in, int *out)
{
    int a;
    if (in[0] < 0) a = 5;
    if (pick(0, a, 3) == 3) out[threadIdx.x] = 1;
    else out[threadIdx.x] = 2;
}
