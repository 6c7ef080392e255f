/* Two devices: on each a kernel of its own writes behind its buffer. `devices ok`: neither does. */
#include "api.h"

static const char text[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry %s(.param .u64 x)\n{\n.reg .b64 %%rd<3>;\n"
                           "ld.param.u64 %%rd1, [x];\ncvta.to.global.u64 %%rd2, %%rd1;\nst.global.u32 [%%rd2+%d], 7;\nret;\n}\n";

int main(int argc, char **argv)
{
    const char *name[] = { "first", "second" };
    (void)argv;
    api_open("libcuda.so.1");
    OK(cuInit, 0);
    for (int i = 0; i < 2; i++) {
        void *context, *module, *f;
        word x;
        char ptx[600];
        snprintf(ptx, sizeof ptx, text, name[i], argc > 1 ? 12 : 16);
        OK(cuDevicePrimaryCtxRetain, &context, i);
        OK(cuCtxSetCurrent, context);
        OK(cuModuleLoadData, &module, ptx);
        OK(cuModuleGetFunction, &f, module, name[i]);
        OK(cuMemAlloc_v2, &x, 16L);
        void *args[] = { &x };
        OK(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
        OK(cuCtxSynchronize);
        OK(cuMemFree_v2, x);
        OK(cuModuleUnload, module);
    }
    return 0;
}
