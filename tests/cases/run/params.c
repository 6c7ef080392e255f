/* kernelParams as C programs of the driver interface get them wrong. A real driver dies here. That x is a pointer is
 * known by what the kernel does with it, as in the PTX of NVRTC for extern "C". */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry scale(.param .u64 x, .param .u32 n, .param .f32 f)\n{\n"
                          ".reg .b64 %a;\n.reg .f32 %f;\nld.param.u64 %a, [x];\ncvta.to.global.u64 %a, %a;\n"
                          "ld.param.f32 %f, [f];\n"
                          "st.global.f32 [%a], %f;\nret;\n}\n";
#define CU(name, parameters) int (*name) parameters = (int (*) parameters)dlsym(cuda, #name)

int main(int argc, char **argv)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context, *module, *f;
    if (!cuda) return 2;
    CU(cuInit, (unsigned));
    CU(cuDevicePrimaryCtxRetain, (void **, int));
    CU(cuCtxSetCurrent, (void *));
    CU(cuModuleLoadData, (void **, const void *));
    CU(cuModuleGetFunction, (void **, void *, const char *));
    CU(cuModuleUnload, (void *));
    CU(cuMemAlloc_v2, (unsigned long long *, size_t));
    CU(cuMemAllocManaged, (unsigned long long *, size_t, unsigned));
    CU(cuMemFree_v2, (unsigned long long));
    CU(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t));
    CU(cuLaunchKernel, (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **,
                        void **));
    unsigned long long x;
    unsigned n = 1;
    float factor = 2, out = 0;
    cuInit(0);
    cuDevicePrimaryCtxRetain(&context, 0);
    cuCtxSetCurrent(context);
    if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&f, module, "scale") || cuMemAlloc_v2(&x, 4)) return 2;
    void *good[] = { &x, &n, &factor };
    printf("good: %d", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, good, NULL));
    cuMemcpyDtoH_v2(&out, x, 4);
    printf(", %g\n", (double)out);
    size_t bytes = 16;
    struct { unsigned long long x; unsigned n; float f; } all = { x, 1, 3 };
    void *extra[] = { (void *)1, &all, (void *)2, &bytes, NULL };
    printf("buffer: %d", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, extra));
    cuMemcpyDtoH_v2(&out, x, 4);
    printf(", %g\n", (double)out);
    unsigned long long managed; /* arguments may lie in it; its own address is one of the host, too */
    if (cuMemAllocManaged(&managed, 16, 1)) return 2;
    memcpy((void *)managed, &x, 8);
    void *held[] = { (void *)managed, &n, &factor };
    printf("held: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, held, NULL));
    cuMemcpyDtoH_v2(&out, x, 4);
    if (argc > 1) {
        float values[2] = { 1, 2 };
        memcpy((void *)managed, values, 8);
        printf("managed pointer: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, held, NULL));
        cuMemcpyDtoH_v2(&out, x, 4); /* waits */
        void *null[] = { &x, NULL, &factor }, *value[] = { (void *)x, &n, &factor }, *junk[] = { &x, &n, (void *)0x1234 };
        printf("list NULL: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
        printf("entry NULL: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, null, NULL));
        printf("device pointer: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, value, NULL));
        printf("junk: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, junk, NULL));
        printf("list junk: %d\n", cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, (void **)0x5678, NULL));
    }
    cuMemFree_v2(x);
    cuMemFree_v2(managed);
    cuModuleUnload(module);
    return 0;
}
