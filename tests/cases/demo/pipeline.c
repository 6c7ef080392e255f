/* A program of the driver interface: copies a signal to the GPU in one stream, and smooths it in another. It is right on
 * most days: nothing makes the second stream wait for the copy of the first one. */
#include "driver.h"

int main(void)
{
    enum { N = 1 << 16, BYTES = N * 4 };
    int n = N;
    void *module, *smooth, *copies, *kernels;
    float *signal;
    device_pointer in, out;
    cuda_open();
    CALL(cuModuleLoad, &module, "pipeline.ptx");
    CALL(cuModuleGetFunction, &smooth, module, "smooth");
    CALL(cuMemAllocHost_v2, &signal, (size_t)BYTES);
    CALL(cuMemAlloc_v2, &in, (size_t)BYTES);
    CALL(cuMemAlloc_v2, &out, (size_t)BYTES);
    CALL(cuStreamCreate, &copies, 1);
    CALL(cuStreamCreate, &kernels, 1);
    for (int i = 0; i < N; i++) signal[i] = (float)i;

    void *arguments[] = { &in, &out, &n };
    CALL(cuMemcpyHtoDAsync_v2, in, signal, (size_t)BYTES, copies);
    CALL(cuLaunchKernel, smooth, N / 256, 1, 1, 256, 1, 1, 0, kernels, arguments, NULL);
    CALL(cuCtxSynchronize);

    CALL(cuMemFree_v2, in);
    CALL(cuMemFree_v2, out);
    CALL(cuMemFreeHost, signal);
    CALL(cuStreamDestroy_v2, copies);
    CALL(cuStreamDestroy_v2, kernels);
    CALL(cuModuleUnload, module);
    puts("done");
    return 0;
}
