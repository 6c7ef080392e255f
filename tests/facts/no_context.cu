// regen: no
/* Which calls with a stream, an event, a function or memory of a context work while no context is current: the answers of the driver.
 *     nvcc -o no_context no_context.cu -lcuda && ./no_context */
#include <cuda.h>
#include <stdio.h>

#define ASK(x) printf("%s: %d\n", #x, (int)(x)), fflush(stdout)
#define DO(x) \
    do { \
        CUresult r_ = (x); \
        if (r_) printf("%s: %d\n", #x, (int)r_); \
    } while (0)

static const char text[] = ".version 7.0\n.target sm_50\n.address_size 64\n.visible .entry nop() { ret; }\n";

static void CUDA_CB nothing(void *p) { (void)p; }

int main()
{
    CUcontext c, now;
    CUstream s;
    CUevent e, f;
    CUmodule m;
    CUfunction k;
    CUdeviceptr a, b, d, g = 0;
    CUmemoryPool pool;
    CUgraph graph = NULL;
    CUgraphExec exec;
    void *h;
    int v[64] = { 0 };
    float ms;
    size_t left, total;
    cuInit(0);
    DO(cuDevicePrimaryCtxRetain(&c, 0));
    DO(cuCtxSetCurrent(c));
    DO(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    DO(cuEventCreate(&e, 0));
    DO(cuEventCreate(&f, 0));
    DO(cuModuleLoadData(&m, text));
    DO(cuModuleGetFunction(&k, m, "nop"));
    DO(cuMemAlloc(&a, 256));
    DO(cuMemAllocAsync(&b, 256, s));
    DO(cuMemAllocAsync(&d, 256, s));
    DO(cuMemHostAlloc(&h, 256, 0));
    DO(cuDeviceGetDefaultMemPool(&pool, 0));
    DO(cuStreamSynchronize(s));
    DO(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    DO(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    DO(cuStreamEndCapture(s, &graph));
    DO(cuGraphInstantiate(&exec, graph, 0));
    DO(cuCtxPopCurrent(&now));
    ASK(cuStreamSynchronize(s));
    ASK(cuStreamQuery(s));
    ASK(cuEventRecord(e, s));
    ASK(cuStreamWaitEvent(s, e, 0));
    ASK(cuEventRecord(f, s));
    ASK(cuEventSynchronize(f));
    ASK(cuEventQuery(f));
    ASK(cuEventElapsedTime(&ms, e, f));
    ASK(cuMemcpyHtoDAsync(a, v, 256, s));
    ASK(cuMemcpyDtoHAsync(v, a, 256, s));
    ASK(cuMemcpyDtoDAsync(a, b, 256, s));
    ASK(cuMemcpyAsync(a, b, 256, s));
    ASK(cuMemsetD8Async(a, 0, 256, s));
    ASK(cuMemsetD32Async(a, 0, 64, s));
    ASK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL));
    ASK(cuLaunchHostFunc(s, nothing, NULL));
    ASK(cuStreamWriteValue32(s, a, 1, 0));
    ASK(cuGraphLaunch(exec, s));
    ASK(cuMemAllocFromPoolAsync(&g, 256, pool, s));
    if (g) ASK(cuMemFreeAsync(g, s));
    ASK(cuMemAllocAsync(&g, 256, s));
    ASK(cuMemFreeAsync(b, s));
    ASK(cuStreamSynchronize(s));
    ASK(cuMemFree(d));
    ASK(cuMemFree(a));
    ASK(cuMemFreeHost(h));
    ASK(cuMemcpyHtoD(a, v, 256));
    ASK(cuMemGetInfo(&left, &total));
    ASK(cuStreamSynchronize(0));
    ASK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL));
    ASK(cuMemAlloc(&a, 256));
    CUstream t;
    ASK(cuStreamCreate(&t, 0));
    ASK(cuEventCreate(&e, 0));
    CUcontext of = NULL;
    ASK(cuStreamGetCtx(s, &of));
    printf("the same context: %d\n", of == c);
    ASK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuStreamEndCapture(s, &graph));
    ASK(cuModuleUnload(m));
    ASK(cuEventDestroy(f));
    ASK(cuStreamDestroy(s));
    return 0;
}
