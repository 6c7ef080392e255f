// NaN and infinity in what the launches of a program wrote: its buffers have no types but those of the stores.
// regen: no
#include <cmath>
#include <cstdio>
#include <cstring>
enum { N = 64 };
__global__ void root(const float *x, float *out, float from) { out[threadIdx.x] = sqrtf(x[threadIdx.x] - from); }
__global__ void share(const double *x, double *out) { out[threadIdx.x] = 1.0 / x[threadIdx.x]; }
__global__ void grow(float *x) { x[threadIdx.x] *= x[threadIdx.x] * 1e20f; }
__global__ void farthest(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x] > 30 ? INFINITY : x[threadIdx.x]; }
__global__ void missing(const float *x, float *out) { out[threadIdx.x] = x[threadIdx.x] > 30 ? NAN : x[threadIdx.x]; }
__global__ void link(int *next) { next[threadIdx.x] = threadIdx.x == N - 1 ? -1 : (int)threadIdx.x + 1; }
__global__ void first(float *x) { if (threadIdx.x < 10) x[threadIdx.x] = 1; }
struct body {
    float weight;
    int next;
};
__global__ void bodies(body *b) { b[threadIdx.x] = { sqrtf(threadIdx.x), threadIdx.x == N - 1 ? -1 : (int)threadIdx.x + 1 }; }

template <class T> static T *copied(T from, T step)
{
    T h[N], *d;
    for (int i = 0; i < N; i++) h[i] = from + step * i;
    cudaMalloc(&d, sizeof h);
    cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
    return d;
}

int main(int, char **argv)
{
    float *x = copied(0.f, 1.f), *out;
    cudaMalloc(&out, N * sizeof *out);
    double *d = copied(0., 1.), *quotient;
    cudaMalloc(&quotient, N * sizeof *quotient);
    const char *how = argv[1];
    if (!strcmp(how, "root")) root<<<1, N>>>(x, out, 10);
    if (!strcmp(how, "share")) share<<<1, N>>>(d, quotient);
    if (!strcmp(how, "grow")) grow<<<1, N>>>(x), grow<<<1, N>>>(x);
    if (!strcmp(how, "fine")) root<<<1, N>>>(x, out, 0);
    if (!strcmp(how, "given")) { // one of the inputs has it
        float *odd = copied(NAN, 0.f);
        root<<<1, N>>>(odd, out, 0);
        cudaFree(odd);
    }
    if (!strcmp(how, "in_place")) { // and so has what is changed in place
        float *odd = copied(INFINITY, 0.f);
        grow<<<1, N>>>(odd);
        cudaFree(odd);
    }
    if (!strcmp(how, "argument")) root<<<1, N>>>(x, out, -INFINITY);
    if (!strcmp(how, "constants")) farthest<<<1, N>>>(x, out), missing<<<1, N>>>(x, out);
    if (!strcmp(how, "integers")) link<<<1, N>>>((int *)out);
    if (!strcmp(how, "bodies")) bodies<<<1, N>>>((body *)quotient);
    if (!strcmp(how, "set")) { // by cudaMemset, and not by the launch
        cudaMemset(out, 0xff, N * sizeof *out);
        first<<<1, N>>>(out);
    }
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(x), cudaFree(out), cudaFree(d), cudaFree(quotient);
    return 0;
}
