/* A thread without a current context gives calls a stream, which says what context they are for; without one they fail.
 * An H200's driver 13.0 answers the same (tests/facts/no_context.cu). */
#include "api.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry one(.param .u64 x)\n{\n .reg .b64 %a;\n"
                          " ld.param.u64 %a, [x];\n st.global.u32 [%a], 1;\n ret;\n}\n";

int main(void)
{
    void *module, *one, *s, *e, *pool, *graph, *exec, *d, *h, *a = NULL, *now = NULL;
    int host = 0;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &one, module, "one");
    OK(cuStreamCreate, &s, 1);
    OK(cuEventCreate, &e, 0);
    OK(cuMemAlloc_v2, &d, (word)64);
    OK(cuMemAllocHost_v2, &h, (word)64);
    OK(cuDeviceGetDefaultMemPool, &pool, 0);
    OK(cuCtxSetCurrent, NULL);
    void *args[] = { &d };
    SAY(cuMemsetD8Async, d, 0, (word)64, s);
    SAY(cuLaunchKernel, one, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
    SAY(cuMemcpyDtoHAsync_v2, &host, d, (word)4, s);
    SAY(cuEventRecord, e, s);
    SAY(cuStreamWaitEvent, s, e, 0);
    SAY(cuMemAllocFromPoolAsync, &a, (word)64, pool, s);
    SAY(cuMemFreeAsync, a, s);
    SAY(cuStreamBeginCapture_v2, s, 2);
    SAY(cuMemsetD8Async, d, 0, (word)64, s);
    SAY(cuStreamEndCapture, s, &graph);
    OK(cuGraphInstantiateWithFlags, &exec, graph, (word)0);
    SAY(cuGraphLaunch, exec, s);
    SAY(cuStreamSynchronize, s);
    SAY(cuStreamGetCtx, s, &now);
    printf("host %d\n", host);
    SAY(cuMemsetD8Async, d, 0, (word)64, NULL);
    SAY(cuMemcpyHtoD_v2, d, &host, (word)4);
    SAY(cuMemAlloc_v2, &a, (word)64);
    SAY(cuMemFree_v2, d);
    SAY(cuMemFreeHost, h);
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, graph);
    OK(cuEventDestroy_v2, e);
    OK(cuStreamDestroy_v2, s);
    SAY(cuModuleUnload, module);
    return 0;
}
