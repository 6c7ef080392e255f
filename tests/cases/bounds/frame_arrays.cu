// Arrays of one frame of local memory: an index that leaves one for the next. The frame is all that PTX declares.
extern "C" __global__ void two(const int *in, int *out, int n)          // right for n = 100
{
    int a[100], b[100], s = 0;
    for (int i = 0; i < 100; i++) a[i] = in[i], b[i] = in[i] * 2;
    for (int i = 0; i < n; i++)
        s += a[in[i]] + b[in[i] & 63];                                  // <-- bounds_local
    out[threadIdx.x] = s;
}

extern "C" __global__ void below(const int *in, int *out, int n)        // right for n = 0
{
    int a[20], b[20], s = 0;
    for (int i = 0; i < 20; i++) a[i] = in[i], b[i] = in[i] * 2;
    for (int i = 0; i < 20; i++) s += a[in[i]];
    for (int i = 0; i < 20; i++)
        s += b[in[i] - n];                                              // <-- bounds_local
    out[threadIdx.x] = s;
}

struct pair {
    int a[20], b[20];
};

extern "C" __global__ void whole(const int *in, int *out, int n)        // one struct, walked through on purpose
{
    pair p;
    int c[8], s = 0;
    for (int i = 0; i < 20; i++) p.a[i] = in[i], p.b[i] = in[i] * 2;
    for (int i = 0; i < 8; i++) c[i] = in[i];
    for (int i = 0; i < n; i++) s += ((int *)&p)[in[i]] + p.b[in[i] & 15] + c[in[i] & 7];
    out[threadIdx.x] = s;
}

extern "C" __global__ void turns(const int *in, int *out, int n)        // two buffers that change places
{
    int a[16], b[16], *from = a, *to = b;
    for (int i = 0; i < 16; i++) a[i] = in[i], b[i] = 0;
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < 16; i++) to[i] = from[in[i] & 15] + k;
        int *t = from;
        from = to;
        to = t;
    }
    out[threadIdx.x] = from[n & 15];
}

__device__ __noinline__ int sum(const int *p, int n)
{
    int s = 0;
    for (int i = 0; i < n; i++) s += p[i];
    return s;
}

extern "C" __global__ void passed(const int *in, int *out, int n)       // by pointer, from the middle, too
{
    int a[20], b[20];
    for (int i = 0; i < 20; i++) a[i] = in[i], b[i] = in[i] * 2;
    out[threadIdx.x] = sum(a, n) + sum(b + 10, n - 10) + sum(&a[3], 2) + b[in[n - 1]] + a[in[n - 1]];
}

extern "C" __global__ void rows(const int *in, int *out, int n)         // a row is left for the next one of its array
{
    int m[4][10], b[10], s = 0;
    for (int i = 0; i < 40; i++) m[i / 10][i % 10] = in[i];
    for (int i = 0; i < 10; i++) b[i] = in[i];
    for (int i = 0; i < n; i++) s += (&m[1][0])[in[i]] + b[in[i] % 10];
    out[threadIdx.x] = s;
}
