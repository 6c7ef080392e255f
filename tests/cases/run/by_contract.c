/* Launches a kernel of by_contract.cu: FILE.ptx KERNEL N BYTES, with arrays of BYTES, twice. */
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long ptr;
int cuInit(unsigned);
int cuDeviceGet(int *, int);
int cuDevicePrimaryCtxRetain(void **, int);
int cuDevicePrimaryCtxRelease_v2(int);
int cuCtxSetCurrent(void *);
int cuCtxSynchronize(void);
int cuModuleLoad(void **, const char *);
int cuModuleUnload(void *);
int cuModuleGetFunction(void **, void *, const char *);
int cuMemAlloc_v2(ptr *, size_t);
int cuMemFree_v2(ptr);
int cuMemsetD8_v2(ptr, unsigned char, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);

#define OK(call)                                   \
    do {                                           \
        int code = call;                           \
        if (code) printf("%s: %d\n", #call, code); \
    } while (0)

int main(int argc, char **argv)
{
    int device, n = argc > 4 ? atoi(argv[3]) : 0;
    size_t bytes = argc > 4 ? (size_t)atoi(argv[4]) : 0;
    void *context, *module, *kernel;
    ptr x, y;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoad(&module, argv[1]));
    OK(cuModuleGetFunction(&kernel, module, argv[2]));
    OK(cuMemAlloc_v2(&x, bytes));
    OK(cuMemAlloc_v2(&y, bytes));
    OK(cuMemsetD8_v2(x, 0, bytes));
    void *args[] = { &x, &y, &n };
    for (int i = 0; i < 2; i++) OK(cuLaunchKernel(kernel, 4, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
    OK(cuMemFree_v2(x));
    OK(cuMemFree_v2(y));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease_v2(device));
    puts("done");
    return 0;
}
