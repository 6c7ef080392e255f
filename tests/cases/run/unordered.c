/* Two streams that nothing orders. "free": memory of a pool is freed in the second stream while the first one uses it;
 * "fill": a word is set to 0 in the default stream, and added to and read in the other one, twice; "free ok", "fill
 * ok": with the event that is missing, or in one stream. "callback": a host function calls the driver. */
#include "api.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry put(.param .u64 x)\n{\n .reg .b64 %a, %b;\n .reg .b32 %r;\n"
                          " ld.param.u64 %a, [x];\n mov.u32 %r, %tid.x;\n mul.wide.u32 %b, %r, 4;\n add.s64 %a, %a, %b;\n"
                          " st.global.u32 [%a], %r;\n ret;\n}\n"
                          ".visible .entry add(.param .u64 x)\n{\n .reg .b64 %a;\n"
                          " ld.param.u64 %a, [x];\n red.global.add.u32 [%a], 1;\n ret;\n}\n";
static void *put, *add, *one, *two, *event;

static void early_free(int ok)
{
    void *x, *args[] = { &x };
    OK(cuMemAllocAsync, &x, (word)128, one);
    OK(cuLaunchKernel, put, 1, 1, 1, 32, 1, 1, 0, one, args, NULL);
    OK(cuLaunchKernel, add, 1, 1, 1, 32, 1, 1, 0, one, args, NULL);
    OK(cuEventRecord, event, one);
    if (ok) OK(cuStreamWaitEvent, two, event, 0);
    OK(cuMemFreeAsync, x, two);
    if (!ok) OK(cuStreamWaitEvent, two, event, 0);
    OK(cuStreamSynchronize, two);
    OK(cuStreamSynchronize, one);
}

static void late_fill(int ok)
{
    void *x, *h, *args[] = { &x };
    OK(cuMemAlloc_v2, &x, (word)4);
    OK(cuMemAllocHost_v2, &h, (word)4);
    OK(cuMemsetD32_v2, x, 0, (word)1);
    OK(cuCtxSynchronize);
    for (int k = 0; k < 2; k++) {
        OK(cuMemsetD32Async, x, 0, (word)1, ok ? one : NULL);
        OK(cuLaunchKernel, add, 1, 1, 1, 32, 1, 1, 0, one, args, NULL);
        OK(cuMemcpyDtoHAsync_v2, h, x, (word)4, one);
        OK(cuStreamSynchronize, one);
    }
    OK(cuCtxSynchronize);
    OK(cuMemFree_v2, x);
    OK(cuMemFreeHost, h);
}

/* The same two calls meet in as many pairs of streams as there are. */
static void fan(int ok)
{
    void *x, *stream[6], *args[] = { &x };
    OK(cuMemAlloc_v2, &x, (word)128);
    for (int k = 0; k < 6; k++) OK(cuStreamCreate, &stream[k], 1);
    for (int k = 0; k < 6; k++) {
        if (ok && k) OK(cuStreamWaitEvent, stream[k], event, 0);
        OK(cuLaunchKernel, put, 1, 1, 1, 32, 1, 1, 0, stream[k], args, NULL);
        OK(cuEventRecord, event, stream[k]);
    }
    OK(cuCtxSynchronize);
    for (int k = 0; k < 6; k++) OK(cuStreamDestroy_v2, stream[k]);
    OK(cuMemFree_v2, x);
}

__attribute__((noinline)) static void log_it(void *x)
{
    int v = 0;
    SAY(cuMemcpyDtoH_v2, &v, x, (word)4);
    SAY(cuMemFree_v2, x);
}

static void callback(void)
{
    void *x;
    OK(cuMemAlloc_v2, &x, (word)4);
    OK(cuMemsetD32Async, x, 0, (word)1, one);
    OK(cuLaunchHostFunc, one, log_it, x);
    OK(cuStreamSynchronize, one);
    OK(cuMemFree_v2, x);
}

int main(int argc, char **argv)
{
    void *module;
    int ok = argc > 2;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &put, module, "put");
    OK(cuModuleGetFunction, &add, module, "add");
    OK(cuStreamCreate, &one, 1);
    OK(cuStreamCreate, &two, 1);
    OK(cuEventCreate, &event, 0);
    if (!strcmp(argv[1], "free")) early_free(ok);
    if (!strcmp(argv[1], "fill")) late_fill(ok);
    if (!strcmp(argv[1], "fan")) fan(ok);
    if (!strcmp(argv[1], "callback")) callback();
    OK(cuEventDestroy_v2, event);
    OK(cuStreamDestroy_v2, two);
    OK(cuStreamDestroy_v2, one);
    OK(cuModuleUnload, module);
    return 0;
}
