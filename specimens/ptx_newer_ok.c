/* PTX of a release that the driver knows. */
#include <dlfcn.h>
#include <stdio.h>

static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry nothing()\n{\n    ret;\n}\n";
#define CU(name, parameters) int(*name) parameters = (int(*) parameters)dlsym(cuda, #name)

int main(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW), *context, *module = NULL;
    if (!cuda) return 2;
    CU(cuInit, (unsigned));
    CU(cuDevicePrimaryCtxRetain, (void **, int));
    CU(cuCtxSetCurrent, (void *));
    CU(cuModuleLoadData, (void **, const void *));
    CU(cuModuleUnload, (void *));
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context)) return 2;
    int e = cuModuleLoadData(&module, ptx);
    printf("%d\n", e);
    return e ? 1 : cuModuleUnload(module);
}
