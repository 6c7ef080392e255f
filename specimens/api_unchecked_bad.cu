// The block has too many threads: the launch fails, nothing runs, nobody asks, and the result of nothing is copied.
// regen: no
#include <cstdio>
__global__ void twice(int *x) { x[threadIdx.x] *= 2; }

int main()
{
    int *x, host[2048] = { 0 };
    cudaMalloc(&x, sizeof host);
    cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice);
    twice<<<1, 2048>>>(x);
    cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost);
    printf("%d\n", host[0]);
    cudaFree(x);
    return 0;
}
