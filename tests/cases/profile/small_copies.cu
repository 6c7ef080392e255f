// regen: no
// The parameters of a simulation, 64 numbers. bad: a copy each, in every step. ok: one copy.
#include <cstdio>
#include <cstring>

enum { PARAMETERS = 64, N = 1 << 20, STEPS = 4 };
__constant__ float parameter[PARAMETERS];

__global__ void move(float *x)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float sum = x[i];
    for (int k = 0; k < PARAMETERS; k++) sum = sum * 0.5f + parameter[k];
    x[i] = sum;
}

int main(int argc, char **argv)
{
    float *x, *host, first;
    bool bad = argc > 1 && !strcmp(argv[1], "bad");
    cudaMalloc(&x, N * sizeof *x);
    cudaMemset(x, 0, N * sizeof *x);
    cudaMallocHost(&host, PARAMETERS * sizeof *host);
    for (int t = 0; t < STEPS; t++) {
        for (int k = 0; k < PARAMETERS; k++) host[k] = k + t;
        if (bad)
            for (int k = 0; k < PARAMETERS; k++) cudaMemcpyToSymbolAsync(parameter, host + k, sizeof *host, k * sizeof *host, cudaMemcpyHostToDevice);
        else
            cudaMemcpyToSymbolAsync(parameter, host, PARAMETERS * sizeof *host, 0, cudaMemcpyHostToDevice);
        move<<<N / 256, 256>>>(x);
        cudaDeviceSynchronize();
    }
    cudaMemcpy(&first, x, sizeof first, cudaMemcpyDeviceToHost);
    printf("%g\n", first);
    cudaFree(x), cudaFreeHost(host);
}
