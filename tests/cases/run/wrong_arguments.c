/* Calls that are refused, each for an argument: what is said of it. */
#include "api.h"
#include <stdlib.h>
#include <string.h>

#define TRY(name, ...) (void)CU(name, __VA_ARGS__)

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n ret;\n}\n";

static void maps(void)
{
    static unsigned long long map[16] __attribute__((aligned(64)));
    unsigned long long dim[] = { 500, 64 }, stride[] = { 1000 }, good[] = { 1024 }, wide[] = { 0, 64 };
    unsigned box[] = { 64, 8 }, odd[] = { 7, 8 }, large[] = { 128, 8 }, many[] = { 64, 512 }, step[] = { 1, 1 }, far[] = { 9, 1 };
    word at = 0x310000000000;
    enum { HALF = 6, WORD = 2 };
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, stride, box, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at + 8, dim, good, box, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, good, odd, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, good, large, step, 0, 3, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, good, many, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, good, box, far, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, wide, good, box, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, good, box, step, 1, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, WORD, 2, at, dim, good, box, step, 0, 0, 0, 1);
    TRY(cuTensorMapEncodeTiled, map, HALF, 7, at, dim, good, box, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, NULL, good, box, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, (char *)map + 4, HALF, 2, at, dim, good, box, step, 0, 0, 0, 0);
    TRY(cuTensorMapEncodeTiled, map, HALF, 2, at, dim, good, box, step, 0, 3, 0, 0); /* this one is right */
}

int main(void)
{
    void *module, *add, *stream, *second, *event, *never, *graph = NULL;
    word a;
    float ms;
    int n = 4;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &add, module, "add");
    OK(cuMemAlloc_v2, &a, (word)64);
    OK(cuStreamCreate, &stream, 1);
    OK(cuStreamCreate, &second, 1);
    OK(cuEventCreate, &event, 0);
    OK(cuEventCreate, &never, 0);
    void *args[] = { &a, &a, &n };
    struct {
        word a, b;
        int n;
    } all = { a, a, n };
    size_t bytes = 16;
    void *extra[] = { (void *)1, &all, (void *)2, &bytes, NULL }, *list[] = { (void *)7, &all, NULL };
    TRY(cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra);
    TRY(cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, list);
    TRY(cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, NULL, args, extra);
    TRY(cuLaunchKernel, NULL, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    TRY(cuLaunchKernel, (void *)0x1234, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    TRY(cuLaunchKernel, module, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    TRY(cuModuleGetFunction, &add, module, NULL);
    TRY(cuMemAllocManaged, &a, (word)64, 0);
    OK(cuEventRecord, event, stream);
    OK(cuStreamSynchronize, stream);
    TRY(cuEventElapsedTime, &ms, event, never);
    TRY(cuEventRecord, stream, stream);
    OK(cuStreamBeginCapture_v2, stream, 2);
    OK(cuEventRecord, event, stream);
    OK(cuStreamWaitEvent, second, event, 0);
    OK(cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, second, args, NULL);
    TRY(cuStreamEndCapture, stream, &graph);
    OK(cuStreamDestroy_v2, second);
    TRY(cuLaunchKernel, add, 1, 1, 1, 1, 1, 1, 0, second, args, NULL);
    maps();
    OK(cuEventDestroy_v2, event);
    OK(cuEventDestroy_v2, never);
    OK(cuStreamDestroy_v2, stream);
    OK(cuMemFree_v2, a);
    OK(cuModuleUnload, module);
    return 0;
}
