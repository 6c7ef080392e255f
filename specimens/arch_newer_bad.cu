// build: -gencode arch=compute_100,code=compute_100 (PTX for sm_100: the device is sm_90)
// regen: no
#include <cstdio>
__global__ void add(int *x) { x[threadIdx.x] += 1; }

int main()
{
    int *x;
    cudaMalloc(&x, 32 * sizeof(int));
    cudaMemset(x, 0, 32 * sizeof(int));
    add<<<1, 32>>>(x);
    cudaError_t e = cudaGetLastError();
    printf("%d %s\n", e, cudaGetErrorName(e));
    cudaFree(x);
    return e != cudaSuccess;
}
