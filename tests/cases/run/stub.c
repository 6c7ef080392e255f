/* A launch as nvcc makes it, without debug information and frame pointers: the stub of the kernel calls the driver, and
 * the kernel's own host side, which calls the stub, may be gone, since its call is a jump. */
#include "api.h"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry work(.param .u64 x)\n{\n .reg .b64 %a;\n"
                          " ld.param.u64 %a, [x];\n st.global.u32 [%a+4], 1;\n ret;\n}\n";
static void *module, *kernel, *x;

__attribute__((noinline)) int __device_stub__work(void)
{
    void *args[] = { &x };
    return CU(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL) + 1;
}
__attribute__((noinline)) int work(void) { return __device_stub__work(); }

int main(void)
{
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &kernel, module, "work");
    OK(cuMemAlloc_v2, &x, (word)4);
    int r = work();
    OK(cuCtxSynchronize);
    OK(cuMemFree_v2, x);
    OK(cuModuleUnload, module);
    return r - 1;
}
