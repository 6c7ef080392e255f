/* cudaFree of memory that cudaMallocAsync gave waits for nothing, on a card as here: what is in flight loses its memory.
 * With `ok` the host waits before, or frees in the stream; cudaFree of what cudaMalloc gave waits itself. `flag`: a kernel
 * that waits for the host, and does not use the memory, does not hold the free up. */
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum { N = 256 };
static int wrong;
#define OK(call) (wrong += (call) != cudaSuccess)

__global__ void fill(float *out, float v) { out[threadIdx.x] = v; }
__global__ void hold(volatile int *flag, int *seen)
{
    while (!*flag) {}
    *seen = 1;
}

static void flag()
{
    int *word, *seen;
    float *p;
    cudaStream_t other, s;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    OK(cudaHostAlloc(&word, 2 * sizeof *word, 0));
    seen = word + 1;
    *word = *seen = 0;
    OK(cudaMallocAsync(&p, N * sizeof *p, s));
    OK(cudaStreamSynchronize(s));
    hold<<<1, 1, 0, other>>>(word, seen);
    OK(cudaFree(p));
    *(volatile int *)word = 1;
    OK(cudaStreamSynchronize(other));
    printf("seen %d\n", *seen);
    OK(cudaFreeHost(word));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(other));
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "ok";
    bool ok = !strcmp(mode, "ok"), copy = !strcmp(mode, "copy"), early = !strcmp(mode, "early");
    float *pooled, *plain, host[N] = {};
    cudaStream_t s;
    if (!strcmp(mode, "flag")) {
        flag();
        return wrong;
    }
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc(&plain, sizeof host));
    OK(cudaMallocAsync(&pooled, sizeof host, s));
    if (!early) OK(cudaStreamSynchronize(s));
    if (copy)
        OK(cudaMemsetAsync(pooled, 0, sizeof host, s));
    else
        fill<<<1, N, 0, s>>>(pooled, 2);
    if (ok) OK(cudaStreamSynchronize(s));
    OK(cudaFree(pooled));
    OK(cudaStreamSynchronize(s));

    if (ok) {
        fill<<<1, N, 0, s>>>(plain, 3);
        OK(cudaMemcpyAsync(host, plain, sizeof host, cudaMemcpyDeviceToHost, s));
        OK(cudaFree(plain)); /* waits for both */
        printf("%g\n", host[5]);
        OK(cudaMallocAsync(&pooled, sizeof host, s));
        fill<<<1, N, 0, s>>>(pooled, 4);
        OK(cudaFreeAsync(pooled, s));
        OK(cudaMallocAsync(&pooled, sizeof host, s));
        OK(cudaFree(pooled)); /* nothing uses it */
        OK(cudaStreamSynchronize(s));
    } else {
        cudaFree(plain);
    }
    cudaStreamDestroy(s);
    return ok && wrong;
}
