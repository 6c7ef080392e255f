// regen: no
// A recursion whose depth comes from the data: each level has 64 words that are indexed by a value, so that they lie in memory. With the limit of 1,024 bytes that a
// program has from the beginning, five levels end with error 700 on an H200 (tests/facts/stack.cu); `raised` asks for 8 KB first.
#include <cstdio>
#include <cstring>

__device__ __noinline__ int level(int n, volatile int *above)
{
    volatile int own[64];
    for (int k = 0; k < 64; k++) own[k] = n;
    if (n == 0) return above[63];
    return level(n - 1, own) + own[n % 64];
}

__global__ void sum(int *out, int depth)
{
    volatile int none[64];
    for (int k = 0; k < 64; k++) none[k] = 1;
    out[threadIdx.x] = level(depth, none);
}

int main(int argc, char **argv)
{
    int *out, got[32];
    bool raised = argc > 1 && !strcmp(argv[1], "raised");
    if (raised) cudaDeviceSetLimit(cudaLimitStackSize, 8192);
    cudaMalloc(&out, sizeof got);
    sum<<<1, 32>>>(out, argc > 1 && !strcmp(argv[1], "shallow") ? 1 : 5);
    cudaError_t e = cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
    printf("%s: %d\n", cudaGetErrorName(e), got[31]);
    cudaFree(out);
    return 0;
}
