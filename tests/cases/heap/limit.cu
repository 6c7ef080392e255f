// regen: no
// The heap is as large as the host asks for.
#include <cstdio>
#include <cstdlib>
__global__ void take(int *n) { if (malloc(200000)) atomicAdd(n, 1); }
int main(int argc, char **argv)
{
    int *n, h;
    cudaMalloc(&n, 4);
    cudaMemset(n, 0, 4);
    if (argc > 1) cudaDeviceSetLimit(cudaLimitMallocHeapSize, atoll(argv[1]));
    take<<<4, 64>>>(n);
    cudaMemcpy(&h, n, 4, cudaMemcpyDeviceToHost);
    printf("%d of 256\n", h);
    cudaFree(n);
}
