// Every call is asked, and the launch as well: its error is printed, and the block made smaller.
// regen: no
#include <cstdio>
#include <cstdlib>
__global__ void twice(int *x) { x[blockIdx.x * blockDim.x + threadIdx.x] *= 2; }

static void check(cudaError_t e)
{
    if (e == cudaSuccess) return;
    printf("%s\n", cudaGetErrorString(e));
    exit(1);
}

int main()
{
    int *x, host[2048] = { 0 };
    check(cudaMalloc(&x, sizeof host));
    check(cudaMemcpy(x, host, sizeof host, cudaMemcpyHostToDevice));
    twice<<<2, 1024>>>(x);
    check(cudaGetLastError());
    check(cudaMemcpy(host, x, sizeof host, cudaMemcpyDeviceToHost));
    printf("%d\n", host[0]);
    check(cudaFree(x));
    return 0;
}
