/* A host that polls a flag in managed memory from before its kernel begins. The kernel stores it at system scope: a
 * message to the host, as cuda::atomic has them. */
#include "api.h"
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry tell(.param .u64 x)\n{\n .reg .b64 %a;\n ld.param.u64 %a, [x];\n"
                          " st.global.u32 [%a+64], 7;\n st.release.sys.global.u32 [%a], 1;\n ret;\n}\n";
static void later(void *none) { usleep(200000); }

int main(void)
{
    void *module, *tell, *s;
    volatile int *m;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &tell, module, "tell");
    OK(cuStreamCreate, &s, 1);
    OK(cuMemAllocManaged, &m, (word)128, 1);
    m[0] = 0;
    void *args[] = { (void *)&m };
    OK(cuLaunchHostFunc, s, later, NULL);
    OK(cuLaunchKernel, tell, 1, 1, 1, 1, 1, 1, 0, s, args, NULL);
    while (!m[0]) {}
    printf("%d\n", m[16]);
    OK(cuStreamSynchronize, s);
    OK(cuMemFree_v2, m);
    OK(cuStreamDestroy_v2, s);
    OK(cuModuleUnload, module);
    return 0;
}
