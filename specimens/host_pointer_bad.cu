// A kernel is given memory of the host: from new, an array on the stack, a static one. Nothing was copied to the device.
// regen: no
#include <cstdio>
__global__ void scale(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void sum(const float *table, float *to) { atomicAdd(to, table[threadIdx.x]); }
static float weights[64];

int main()
{
    float *h_x = new float[1000], local[64] = { 1 }, *d_to;
    for (int i = 0; i < 1000; i++) h_x[i] = i;
    cudaMalloc(&d_to, sizeof(float));
    cudaMemset(d_to, 0, sizeof(float));
    scale<<<4, 256>>>(h_x, 1000);
    sum<<<1, 64>>>(weights, d_to);
    sum<<<1, 64>>>(local, d_to);
    cudaDeviceSynchronize();
    printf("%g\n", h_x[1]);
    cudaFree(d_to);
    delete[] h_x;
}
