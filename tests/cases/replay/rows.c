/* Launches rows_bad (rows.cu) twice: the first time the guard is right by luck. */
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
int cuMemcpyHtoD_v2(ptr, const void *, size_t);
int cuLaunchKernel(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                   void **);

#define OK(call)                                     \
    do {                                             \
        int code = call;                             \
        if (code) printf("%s: %d\n", #call, code);   \
    } while (0)

int main(int argc, char **argv)
{
    int device, cols = 99;
    void *context, *module, *kernel;
    ptr row[4], rows;
    float line[100];
    (void)argc;
    for (int i = 0; i < 100; i++) line[i] = (float)i;
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoad(&module, argv[1]));
    OK(cuModuleGetFunction(&kernel, module, "rows_bad"));
    for (int r = 0; r < 4; r++) {
        OK(cuMemAlloc_v2(&row[r], sizeof line));
        OK(cuMemcpyHtoD_v2(row[r], line, sizeof line));
    }
    OK(cuMemAlloc_v2(&rows, sizeof row));
    OK(cuMemcpyHtoD_v2(rows, row, sizeof row));
    void *args[] = { &rows, &cols };
    OK(cuLaunchKernel(kernel, 1, 1, 1, 100, 1, 1, 0, NULL, args, NULL));
    cols = 100;
    OK(cuLaunchKernel(kernel, 3, 1, 1, 64, 1, 1, 0, NULL, args, NULL));
    OK(cuCtxSynchronize());
    for (int r = 0; r < 4; r++) OK(cuMemFree_v2(row[r]));
    OK(cuMemFree_v2(rows));
    OK(cuModuleUnload(module));
    OK(cuDevicePrimaryCtxRelease_v2(device));
    return 0;
}
