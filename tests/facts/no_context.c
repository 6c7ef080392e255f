/* What calls of the driver return that are given a stream, an event or a graph, while the thread has no current
 * context. cc -I/usr/local/cuda/include -o no_context tests/facts/no_context.c -L/usr/local/cuda/lib64/stubs -lcuda &&
 * ./no_context */
#include <cuda.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 x)\n{\n ret;\n}\n";
#define ASK(call)                                                  \
    do {                                                           \
        CUresult r_ = (call);                                      \
        const char *n_ = "?";                                      \
        cuGetErrorName(r_, &n_);                                   \
        printf("%.*s: %s\n", (int)strcspn(#call, "("), #call, n_); \
    } while (0)
#include <string.h>
static void CUDA_CB nothing(void *x) { (void)x; }
static void CUDA_CB nothing_for(CUstream s, CUresult r, void *x) { (void)s, (void)r, (void)x; }

int main(void)
{
    CUcontext c, other = NULL;
    CUstream s, t;
    CUevent e, f;
    CUmodule m;
    CUfunction k;
    CUdeviceptr d, p = 0, q = 0;
    CUmemoryPool pool;
    CUgraph g;
    CUgraphExec x;
    CUstreamCaptureStatus capture;
    char h[64] = "";
    float ms;
    int priority;
    unsigned flags;
    void *args[] = { &d };
    cuInit(0);
    cuDevicePrimaryCtxRetain(&c, 0);
    cuCtxSetCurrent(c);
    cuStreamCreate(&s, CU_STREAM_NON_BLOCKING);
    cuStreamCreate(&t, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&e, 0);
    cuEventCreate(&f, 0);
    cuModuleLoadData(&m, ptx);
    cuModuleGetFunction(&k, m, "k");
    cuMemAlloc(&d, 64);
    cuDeviceGetDefaultMemPool(&pool, 0);
    cuGraphCreate(&g, 0);
    cuGraphInstantiate(&x, g, 0);
    cuCtxSetCurrent(NULL);
    ASK(cuCtxGetCurrent(&other));
    printf("current: %s\n", other ? "some" : "none");
    ASK(cuMemAllocFromPoolAsync(&p, 64, pool, s));
    ASK(cuMemAllocAsync(&q, 64, s));
    ASK(cuMemsetD8Async(d, 0, 64, s));
    ASK(cuMemcpyAsync(d, (CUdeviceptr)h, 64, s));
    ASK(cuMemcpyHtoDAsync(d, h, 64, s));
    ASK(cuMemcpyDtoHAsync(h, d, 64, s));
    ASK(cuMemcpyDtoDAsync(d, d, 0, s));
    ASK(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, s, args, NULL));
    ASK(cuLaunchHostFunc(s, nothing, NULL));
    ASK(cuStreamAddCallback(s, nothing_for, NULL, 0));
    ASK(cuEventRecord(e, s));
    ASK(cuStreamWaitEvent(t, e, 0));
    ASK(cuEventRecord(f, t));
    ASK(cuEventQuery(f));
    ASK(cuEventSynchronize(f));
    ASK(cuEventElapsedTime(&ms, e, f));
    ASK(cuStreamSynchronize(s));
    ASK(cuStreamQuery(s));
    ASK(cuStreamGetCtx(s, &other));
    ASK(cuStreamGetPriority(s, &priority));
    ASK(cuStreamGetFlags(s, &flags));
    ASK(cuStreamWriteValue32(s, d, 1, 0));
    ASK(cuStreamWaitValue32(s, d, 1, 0));
    ASK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
    ASK(cuStreamIsCapturing(s, &capture));
    CUgraph made = NULL;
    ASK(cuStreamEndCapture(s, &made));
    ASK(cuGraphLaunch(x, s));
    ASK(cuMemFreeAsync(q, s));
    ASK(cuMemFreeAsync(p, s));
    ASK(cuStreamSynchronize(s));
    ASK(cuMemsetD8(d, 0, 64));
    ASK(cuMemcpyHtoD(d, h, 64));
    ASK(cuMemsetD8Async(d, 0, 64, NULL));
    ASK(cuCtxSynchronize());
    ASK(cuMemAlloc(&p, 64));
    ASK(cuStreamCreate(&t, 0));
    ASK(cuEventCreate(&f, 0));
    ASK(cuModuleLoadData(&m, ptx));
    ASK(cuModuleGetFunction(&k, m, "k"));
    ASK(cuEventDestroy(e));
    ASK(cuStreamDestroy(s));
    ASK(cuMemFree(d));
    return 0;
}
