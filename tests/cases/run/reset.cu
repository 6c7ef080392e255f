// regen: no
/* cudaDeviceReset: variables are as at first. What the runtime says of a kernel, whose machine code is beside its PTX. */
#include <cstdio>
__device__ int counter = 5;
__global__ void bump(int by, const int *unused) { atomicAdd(&counter, by + (unused != nullptr)); }

int main()
{
    for (int i = 0; i < 2; i++) {
        int value = 0, blocks = 0;
        size_t offset, bytes, limit;
        cudaFuncAttributes a;
        bump<<<1, 4>>>(2, nullptr);
        cudaMemcpyFromSymbol(&value, counter, 4);
        cudaFuncGetAttributes(&a, bump);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, bump, 128, 0);
        cudaFuncGetParamInfo((const void *)bump, 1, &offset, &bytes);
        cudaDeviceGetLimit(&limit, cudaLimitStackSize);
        printf("%d, PTX %d, code %d, registers %d, %d blocks, parameter at %zu, stack %zu: %s\n", value, a.ptxVersion, a.binaryVersion, a.numRegs > 0,
               blocks, offset, limit, cudaGetErrorString(cudaGetLastError()));
        cudaDeviceSetLimit(cudaLimitStackSize, 2048);
        cudaDeviceReset();
    }
    return 0;
}
