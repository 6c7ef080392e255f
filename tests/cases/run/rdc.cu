// regen: no
// One of two files that are compiled with -rdc=true: the device code is linked when it is loaded, if it is PTX.
#include <cstdio>
__device__ int twice(int);
__global__ void fill(int *x) { x[threadIdx.x] = twice(threadIdx.x); }
int main()
{
    int *d, h[4] = { 0 };
    cudaMalloc(&d, sizeof h);
    fill<<<1, 4>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d %d %d %d: %s\n", h[0], h[1], h[2], h[3], cudaGetErrorString(cudaGetLastError()));
    cudaFree(d);
}
