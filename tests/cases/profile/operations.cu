// regen: no
// What a program enqueues. bad: copies of pageable memory, one after the other with the kernels, and a wait behind each kernel that nobody needs.
// ok: pinned memory, a part of the work in each of two streams, and one wait at the end.
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void scale(float *x)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    x[i] = 2 * x[i] + 1;
}

enum { N = 1 << 19, PARTS = 4 };

static void bad(float *device)
{
    float *host = (float *)calloc(N, sizeof *host);
    for (int part = 0; part < PARTS; part++) {
        cudaMemcpy(device, host, N * sizeof *host, cudaMemcpyHostToDevice);
        scale<<<N / 256, 256>>>(device);
        cudaDeviceSynchronize();
        scale<<<N / 256, 256>>>(device);
        cudaDeviceSynchronize();
        scale<<<N / 256, 256>>>(device);
        cudaMemcpy(host, device, N * sizeof *host, cudaMemcpyDeviceToHost);
    }
    printf("%g\n", host[N - 1]);
    free(host);
}

static void good(float *device)
{
    float *host;
    cudaStream_t stream[2];
    cudaMallocHost(&host, N * sizeof *host);
    memset(host, 0, N * sizeof *host);
    for (int s = 0; s < 2; s++) cudaStreamCreate(&stream[s]);
    for (int part = 0; part < PARTS; part++) {
        int at = part * (N / PARTS), bytes = N / PARTS * sizeof *host;
        cudaMemcpyAsync(device + at, host + at, bytes, cudaMemcpyHostToDevice, stream[part % 2]);
        for (int k = 0; k < 3; k++) scale<<<N / PARTS / 256, 256, 0, stream[part % 2]>>>(device + at);
        cudaMemcpyAsync(host + at, device + at, bytes, cudaMemcpyDeviceToHost, stream[part % 2]);
    }
    cudaDeviceSynchronize();
    printf("%g\n", host[N - 1]);
    for (int s = 0; s < 2; s++) cudaStreamDestroy(stream[s]);
    cudaFreeHost(host);
}

int main(int argc, char **argv)
{
    float *device;
    cudaMalloc(&device, N * sizeof *device);
    if (argc > 1 && !strcmp(argv[1], "bad"))
        bad(device);
    else
        good(device);
    cudaFree(device);
}
