/* A pointer of malloc as an argument of a kernel, and a launch with more shared memory than the kernel was allowed: what
 * to do is said in the calls of the driver, which are the program's. */
#include "api.h"
#include <stdlib.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry one(.param .u64 x)\n{\n .reg .b64 %a;\n"
                          " ld.param.u64 %a, [x];\n st.global.u32 [%a], 1;\n ret;\n}\n";

int main(void)
{
    void *module, *one, *mine = malloc(64), *d;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &one, module, "one");
    OK(cuMemAlloc_v2, &d, (word)64);
    SAY(cuLaunchKernel, one, 1, 1, 1, 1, 1, 1, 64 * 1024, NULL, (void *[]){ &d }, NULL);
    SAY(cuLaunchKernel, one, 1, 1, 1, 1, 1, 1, 0, NULL, (void *[]){ &mine }, NULL);
    SAY(cuCtxSynchronize);
    free(mine);
    return 0;
}
