// The second launch leaves its buffer by gigabytes; the copy three calls later is told of the error.
// options: --faults
// regen: no
#include <cstdio>
__global__ void step(float *x, long n) { long i = blockIdx.x * blockDim.x + threadIdx.x; x[i * n] += 1; }

int main()
{
    float *d_x, h_x[256];
    cudaMalloc(&d_x, sizeof h_x);
    cudaMemset(d_x, 0, sizeof h_x);
    step<<<1, 256>>>(d_x, 1);
    step<<<1, 256>>>(d_x, 1l << 30); // the step of a row, in elements, where 1 belongs
    cudaEvent_t done;
    cudaEventCreate(&done);
    cudaEventRecord(done);
    printf("%s\n", cudaGetErrorName(cudaMemcpy(h_x, d_x, sizeof h_x, cudaMemcpyDeviceToHost)));
    cudaEventDestroy(done);
    cudaFree(d_x);
}
