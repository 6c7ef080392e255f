// regen: no
// What a GPU does with recursion that needs more than cudaLimitStackSize. Each level has 256 bytes that the compiler cannot drop. The first word is the limit (0: as it is), the second the depth; a line says
// the error, and whether the sum over all levels is right. A process for each, since the error stays: for l in 0 4096 65536; do for d in 1 2 3 4 8 16 64 200 400; do timeout 20 ./a.out $l $d; done; done
#include <cstdio>
#include <cstdlib>

__device__ __noinline__ int level(int n, volatile int *above)
{
    volatile int own[64];
    for (int k = 0; k < 64; k++) own[k] = n;
    if (n == 0) return above[63];
    return level(n - 1, own) + own[n % 64] + above[n % 64] * 0;
}
__global__ void begin(int *out, int n)
{
    volatile int none[64];
    for (int k = 0; k < 64; k++) none[k] = 0;
    *out = level(n, none);
}

int main(int count, char **word)
{
    size_t limit = count > 1 ? (size_t)atoll(word[1]) : 0, is = 0;
    int depth = count > 2 ? atoi(word[2]) : 4, *out, got = 0, right = 0;
    cudaFuncAttributes a;
    if (limit) cudaDeviceSetLimit(cudaLimitStackSize, limit);
    cudaDeviceGetLimit(&is, cudaLimitStackSize);
    cudaFuncGetAttributes(&a, begin);
    cudaMalloc(&out, 4);
    begin<<<1, 32>>>(out, depth);
    cudaError_t e = cudaDeviceSynchronize();
    cudaMemcpy(&got, out, 4, cudaMemcpyDeviceToHost);
    for (int n = 1; n <= depth; n++) right += n;
    if (depth) right += 1; /* what level 0 finds in the one above it */
    printf("limit %zu, %zu bytes of local memory a thread, %d levels: %s (%d), the sum is %s\n", is, a.localSizeBytes, depth, cudaGetErrorName(e), e, e ? "-" : got == right ? "right" : "wrong");
    return 0;
}
