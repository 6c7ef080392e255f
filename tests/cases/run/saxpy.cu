// A whole program with the things that nvcc registers: kernels, a template, __constant__ and __device__ variables; streams and events; and a kernel without a
// guard at the end.
// regen: no
#include <cstdio>
#include <cstdlib>
__constant__ float scale[4];
__device__ int count;
__global__ void saxpy(int n, float a, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { y[i] = a * x[i] + y[i] * scale[1]; if (i % 100 == 0) atomicAdd(&count, 1); }
}
template <class T> __global__ void fill(T *x, T v, int n) { for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = v; }
__global__ void bad(float *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] = n; } // <-- bounds
int main()
{
    const int n = 1000;
    float *x, *y, *h = (float *)malloc(n * 4);
    float s[4] = {1, 2, 3, 4};
    cudaMalloc(&x, n * 4); cudaMalloc(&y, n * 4);
    cudaMemcpyToSymbol(scale, s, sizeof s);
    for (int i = 0; i < n; i++) h[i] = i;
    cudaMemcpy(x, h, n * 4, cudaMemcpyHostToDevice);
    fill<float><<<1, 128>>>(y, 1.0f, n);
    saxpy<<<(n + 127) / 128, 128>>>(n, 2.0f, x, y);
    printf("launch %s\n", cudaGetErrorString(cudaGetLastError()));
    cudaMemcpy(h, y, n * 4, cudaMemcpyDeviceToHost);
    int wrong = 0, c;
    for (int i = 0; i < n; i++) wrong += h[i] != 2.0f * i + 2;
    cudaMemcpyFromSymbol(&c, count, 4);
    printf("%d wrong, count %d\n", wrong, c);
    cudaStream_t st; cudaEvent_t e0, e1; cudaStreamCreate(&st); cudaEventCreate(&e0); cudaEventCreate(&e1);
    cudaEventRecord(e0, st);
    saxpy<<<(n + 127) / 128, 128, 0, st>>>(n, 2.0f, x, y);
    cudaEventRecord(e1, st); cudaStreamSynchronize(st);
    float ms; cudaEventElapsedTime(&ms, e0, e1); printf("elapsed %s\n", ms > 0 ? "positive" : "zero");
    cudaDeviceProp p; cudaGetDeviceProperties(&p, 0); printf("%s %d.%d %d sms %zu\n", p.name, p.major, p.minor, p.multiProcessorCount, p.sharedMemPerBlockOptin);
    bad<<<8, 128>>>(y, n);
    printf("sync %s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    cudaFree(x); cudaFree(y); cudaEventDestroy(e0); cudaEventDestroy(e1); cudaStreamDestroy(st);
    return 0;
}
