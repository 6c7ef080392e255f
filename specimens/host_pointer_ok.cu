// The host's memory is copied to the device, or registered, or managed.
// regen: no
#include <cstdio>
__global__ void scale(float *x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] *= 2; }
__global__ void sum(const float *table, float *to) { atomicAdd(to, table[threadIdx.x]); }
static float weights[64] = { 1 };
__managed__ float local[64];

int main()
{
    float *h_x = new float[1000], *d_x, *d_to, *d_weights;
    for (int i = 0; i < 1000; i++) h_x[i] = i;
    cudaMalloc(&d_x, 1000 * sizeof(float));
    cudaMalloc(&d_to, sizeof(float));
    cudaMemset(d_to, 0, sizeof(float));
    cudaMemcpy(d_x, h_x, 1000 * sizeof(float), cudaMemcpyHostToDevice);
    scale<<<4, 256>>>(d_x, 1000);
    cudaMemcpy(h_x, d_x, 1000 * sizeof(float), cudaMemcpyDeviceToHost);
    cudaHostRegister(weights, sizeof weights, cudaHostRegisterDefault);
    cudaHostGetDevicePointer((void **)&d_weights, weights, 0);
    sum<<<1, 64>>>(d_weights, d_to);
    local[0] = 1;
    sum<<<1, 64>>>(local, d_to);
    cudaDeviceSynchronize();
    printf("%g\n", h_x[1]);
    cudaHostUnregister(weights);
    cudaFree(d_to);
    cudaFree(d_x);
    delete[] h_x;
}
