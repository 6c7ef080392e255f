/* A kernel that a GPU ends with an error: later calls fail with it under --faults, and go on without. What they return
 * is what an H200 answers to this program (driver 580). */
#include "api.h"
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry store(.param .u64 x, .param .u64 at)\n{\n .reg .b64 %a, %b;\n .reg .b32 %r;\n"
    " ld.param.u64 %a, [x];\n ld.param.u64 %b, [at];\n add.s64 %a, %a, %b;\n mov.u32 %r, 1;\n"
    " st.global.u32 [%a], %r;\n ret;\n}\n"
    ".visible .entry halt(.param .u64 x, .param .u64 at)\n{\n trap;\n ret;\n}\n";
static void *store, *halt;
static word x;
static int launch(void *kernel, word base, word at)
{
    void *args[] = { &base, &at };
    return CU(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
}

/* What a child of fork may call. */
static void child(void)
{
    int n, device = 7;
    void *context;
    if (fork()) {
        wait(NULL);
        return;
    }
    SAY(cuInit, 0);
    SAY(cuDeviceGetCount, &n);
    SAY(cuDeviceGet, &device, 0);
    SAY(cuCtxGetCurrent, &context);
    SAY(cuMemAlloc_v2, &x, (word)256);
    SAY(cuCtxSynchronize);
    SAY(cuDriverGetVersion, &n);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    void *module, *event, *context = driver_open(), *other = NULL;
    int value = 0;
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &store, module, "store");
    OK(cuModuleGetFunction, &halt, module, "halt");
    OK(cuMemAlloc_v2, &x, (word)256);
    OK(cuEventCreate, &event, 0);
    int r = -1;
    if (!strcmp(how, "fork")) child();
    if (!strcmp(how, "good")) r = launch(store, x, 4);
    if (!strcmp(how, "near")) r = launch(store, x, 256); /* a GPU has memory there */
    if (!strcmp(how, "far")) r = launch(store, x, 1ull << 36);
    if (!strcmp(how, "null")) r = launch(store, 0, 4);
    if (!strcmp(how, "odd")) r = launch(store, x, 2);
    if (!strcmp(how, "trap")) r = launch(halt, x, 0);
    printf("launch: %d\n", r);
    SAY(cuEventRecord, event, NULL);
    SAY(cuEventSynchronize, event);
    printf("launch again: %d\n", launch(store, x, 0));
    SAY(cuMemcpyDtoH_v2, &value, x, (word)4);
    SAY(cuCtxSynchronize);
    int n;
    SAY(cuDeviceGetCount, &n);
    SAY(cuCtxGetDevice, &n);
    SAY(cuCtxSetCurrent, context);
    SAY(cuStreamCreate, &other, 0);
    SAY(cuStreamDestroy_v2, other);
    SAY(cuCtxCreate_v2, &other, 0, 0);
    SAY(cuCtxSynchronize);
    SAY(cuCtxSetCurrent, context);
    SAY(cuMemFree_v2, x);
    SAY(cuEventDestroy_v2, event);
    SAY(cuModuleUnload, module);
    SAY(cuCtxSynchronize);
    if (!strcmp(how, "good")) return 0;
    SAY(cuDevicePrimaryCtxReset_v2, 0);
    SAY(cuCtxSynchronize);
    SAY(cuDevicePrimaryCtxRelease_v2, 0);
    SAY(cuDevicePrimaryCtxRetain, &context, 0);
    SAY(cuCtxSetCurrent, context);
    SAY(cuMemAlloc_v2, &x, (word)256);
    SAY(cuMemFree_v2, x);
    return 0;
}
