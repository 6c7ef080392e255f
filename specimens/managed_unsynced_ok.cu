// The host waits for the kernel, and sums.
// regen: no
#include <cstdio>
__global__ void squares(int *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = i * i; }

int main()
{
    int n = 1000, *x;
    long sum = 0;
    cudaMallocManaged(&x, n * sizeof(int));
    for (int i = 0; i < n; i++) x[i] = 0;
    squares<<<(n + 255) / 256, 256>>>(x, n);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) sum += x[i];
    cudaDeviceSynchronize();
    printf("%s\n", sum == 332833500 ? "the sum" : "not the sum");
    return cudaFree(x);
}
