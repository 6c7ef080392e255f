/* A program of the driver interface, as frameworks use it: the library is opened by name, functions are found by
 * cuGetProcAddress, the kernel is PTX in the program. `driver bad` launches more threads than there are elements. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 calls;\n"
    ".visible .entry twice(.param .u64 x, .param .u32 n, .param .u32 guard)\n{\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<6>;\n.reg .f32 %f<3>;\n"
    "ld.param.u64 %rd1, [x];\nld.param.u32 %r1, [n];\nld.param.u32 %r7, [guard];\n"
    "mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "setp.ge.u32 %p1, %r5, %r1;\nsetp.ne.u32 %p2, %r7, 0;\nand.pred %p1, %p1, %p2;\n@%p1 bra done;\n"
    "cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r5, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
    "ld.global.f32 %f1, [%rd4];\nadd.f32 %f2, %f1, %f1;\nst.global.f32 [%rd4], %f2;\n"
    "setp.ne.u32 %p2, %r5, 0;\n@%p2 bra done;\nmov.u64 %rd5, calls;\natom.global.add.u32 %r6, [%rd5], 1;\n"
    "done:\nret;\n}\n";

typedef unsigned long long address;
static int (*find)(const char *, void **, int, address, int *);
static void *get(const char *name, int version)
{
    void *f = NULL;
    int found = -1;
    if (find(name, &f, version, 0, &found) || !f) printf("no %s: %d\n", name, found);
    return f;
}
#define CALL(name, version, types, ...)                                            \
    do {                                                                           \
        int r = ((int (*) types)get(#name, version))(__VA_ARGS__);                 \
        if (r) printf("%s: %d\n", #name, r);                                       \
    } while (0)

int main(int argc, char **argv)
{
    enum { N = 1000 };
    static float x[N];
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *kernel, *stream, *event;
    int device, count, none = -1, guard = !(argc > 1 && !strcmp(argv[1], "bad")), n = N, wrong = 0;
    unsigned calls = 7;
    address p, variable;
    size_t bytes;
    void *f;
    if (!library) {
        printf("%s\n", dlerror());
        return 3;
    }
    find = (int (*)(const char *, void **, int, address, int *))dlsym(library, "cuGetProcAddress_v2");
    int r = find("cuMakeCoffee", &f, 13000, 0, &none);
    printf("unknown name: %d, %d\n", r, none);
    r = find("cuLibraryLoadData", &f, 11000, 0, &none);
    printf("newer name: %d, %d\n", r, none);
    CALL(cuInit, 2000, (unsigned), 0);
    CALL(cuDeviceGet, 2000, (int *, int), &device, 0);
    CALL(cuDeviceGetCount, 2000, (int *), &count);
    CALL(cuDevicePrimaryCtxRetain, 7000, (void **, int), &context, device);
    CALL(cuCtxSetCurrent, 4000, (void *), context);
    CALL(cuModuleLoadData, 2000, (void **, const void *), &module, ptx);
    CALL(cuModuleGetFunction, 2000, (void **, void *, const char *), &kernel, module, "twice");
    CALL(cuModuleGetGlobal, 3020, (address *, size_t *, void *, const char *), &variable, &bytes, module, "calls");
    CALL(cuMemAlloc, 3020, (address *, size_t), &p, sizeof x);
    CALL(cuMemsetD32, 3020, (address, unsigned, size_t), variable, 0, 1);
    CALL(cuStreamCreate, 2000, (void **, unsigned), &stream, 1);
    CALL(cuEventCreate, 2000, (void **, unsigned), &event, 0);
    for (int i = 0; i < N; i++) x[i] = i;
    CALL(cuMemcpyHtoDAsync, 3020, (address, const void *, size_t, void *), p, x, sizeof x, stream);
    void *args[] = { &p, &n, &guard };
    CALL(cuLaunchKernel, 4000,
         (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **), kernel, 8, 1,
         1, 128, 1, 1, 0, stream, args, NULL);
    CALL(cuEventRecord, 2000, (void *, void *), event, stream);
    CALL(cuEventSynchronize, 2000, (void *), event);
    CALL(cuMemcpyDtoH, 3020, (void *, address, size_t), x, p, sizeof x);
    CALL(cuMemcpyDtoH, 3020, (void *, address, size_t), &calls, variable, sizeof calls);
    for (int i = 0; i < N; i++) wrong += x[i] != 2 * i;
    printf("%d device, %d wrong, %u call, variable of %zu bytes\n", count, wrong, calls, bytes);
    CALL(cuEventDestroy, 4000, (void *), event);
    CALL(cuStreamDestroy, 4000, (void *), stream);
    CALL(cuMemFree, 3020, (address), p);
    CALL(cuModuleUnload, 2000, (void *), module);
    return 0;
}
