// regen: no
/* cudaDeviceReset: variables are as at first, memory and handles are gone. What the runtime says of a kernel, whose machine code is beside its PTX. */
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
    /* memory and handles are gone with it, and are no leaks */
    size_t before, taken, after, all;
    int *x, *y, *h, *m;
    cudaStream_t s;
    cudaEvent_t e;
    cudaGraph_t g;
    cudaGraphExec_t ge;
    cudaArray_t a;
    cudaChannelFormatDesc d = cudaCreateChannelDesc<float>();
    cudaMemGetInfo(&before, &all);
    cudaMalloc(&x, 64 << 20), cudaMallocAsync(&y, 1 << 20, 0), cudaMallocHost(&h, 1 << 20), cudaMallocManaged(&m, 1 << 20), cudaMallocArray(&a, &d, 64, 64);
    cudaStreamCreate(&s), cudaEventCreate(&e);
    cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
    bump<<<1, 32, 0, s>>>(1, x);
    cudaStreamEndCapture(s, &g), cudaGraphInstantiate(&ge, g, 0), cudaGraphLaunch(ge, s);
    cudaMemGetInfo(&taken, &all);
    cudaError_t reset = cudaDeviceReset();
    cudaMemGetInfo(&after, &all);
    printf("%s: %s, all of it back %d\n", cudaGetErrorName(reset), before - taken >= 64 << 20 ? "taken" : "not taken", before == after);
    printf("free %s, ", cudaGetErrorName(cudaFree(x)));
    printf("copy %s, ", cudaGetErrorName(cudaMemcpy(x, &all, 4, cudaMemcpyHostToDevice)));
    printf("stream %s, ", cudaGetErrorName(cudaStreamSynchronize(s)));
    printf("event %s, ", cudaGetErrorName(cudaEventRecord(e, 0)));
    printf("graph %s\n", cudaGetErrorName(cudaGraphLaunch(ge, 0)));
    cudaMalloc(&x, 4096);
    bump<<<1, 4>>>(2, x);
    printf("again %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(x);
    return 0;
}
