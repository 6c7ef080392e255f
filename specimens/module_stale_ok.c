/* The module is unloaded behind the last launch of its kernel. */
#include <dlfcn.h>
#include <stdio.h>

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry store(.param .u64 .ptr .global x, .param .u32 n)\n{\n"
                          ".reg .b64 %a;\n.reg .b32 %n;\nld.param.u64 %a, [x];\nld.param.u32 %n, [n];\n"
                          "st.global.u32 [%a], %n;\nret;\n}\n";
#define CU(name, parameters) int(*name) parameters = (int(*) parameters)dlsym(cuda, #name)

int main(void)
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
    CU(cuMemFree_v2, (unsigned long long));
    CU(cuMemcpyDtoH_v2, (void *, unsigned long long, size_t));
    CU(cuLaunchKernel,
       (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *, void **, void **));
    unsigned long long x;
    unsigned n = 7, out = 0;
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 2;
    if (cuModuleLoadData(&module, ptx) || cuModuleGetFunction(&f, module, "store") || cuMemAlloc_v2(&x, 4)) return 2;
    void *args[] = { &x, &n };
    int e = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    n = 8;
    if (!e) e = cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    cuMemcpyDtoH_v2(&out, x, 4);
    printf("%d, %u\n", e, out);
    cuMemFree_v2(x);
    cuModuleUnload(module);
    return 0;
}
