// The kernel has run once before it is timed.
// regen: no
#include <cstdio>
__global__ void work(float *x, int n) { for (int k = 0; k < n; k++) x[threadIdx.x] = x[threadIdx.x] * 0.5f + 1; }

int main()
{
    float *x, ms = 0;
    cudaEvent_t begin, end;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    cudaEventCreate(&begin);
    cudaEventCreate(&end);
    work<<<1, 256>>>(x, 1);
    cudaEventRecord(begin);
    work<<<1, 256>>>(x, 1000);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    printf("%s\n", ms > 0 ? "took some time" : "took no time");
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return cudaFree(x);
}
