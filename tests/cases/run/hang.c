/* A kernel that polls a flag, with a heartbeat or without, and a host that waits for it, sleeps, or sets the flag. */
#include "api.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry beats(.param .u64 stop, .param .u64 beat)\n{\n .reg .b64 %s, %b;\n .reg .b32 %v, %n;\n"
    " .reg .pred %p;\n ld.param.u64 %s, [stop];\n ld.param.u64 %b, [beat];\n"
    "L:\n ld.volatile.global.u32 %n, [%b];\n add.u32 %n, %n, 1;\n st.volatile.global.u32 [%b], %n;\n"
    " ld.volatile.global.u32 %v, [%s];\n setp.eq.u32 %p, %v, 0;\n @%p bra L;\n ret;\n}\n"
    ".visible .entry counts(.param .u64 stop, .param .u64 beat)\n{\n .reg .b64 %s, %b;\n .reg .b32 %v, %n;\n"
    " .reg .pred %p, %q;\n ld.param.u64 %s, [stop];\n ld.param.u64 %b, [beat];\n"
    "L:\n ld.volatile.global.u32 %n, [%b];\n add.u32 %n, %n, 1;\n st.volatile.global.u32 [%b], %n;\n"
    " ld.volatile.global.u32 %v, [%s];\n setp.eq.u32 %p, %v, 0;\n setp.lt.and.u32 %q, %n, 2000000, %p;\n"
    " @%q bra L;\n ret;\n}\n"
    ".visible .entry hoisted(.param .u64 stop)\n{\n .reg .b64 %s;\n .reg .b32 %v;\n .reg .pred %p;\n"
    " ld.param.u64 %s, [stop];\n ld.global.u32 %v, [%s];\n setp.ne.u32 %p, %v, 0;\n @%p bra E;\n"
    "L:\n bra.uni L;\nE:\n ret;\n}\n";

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *module, *kernel, *stream;
    word stop, beat;
    int *flag;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &kernel, module, argv[2]);
    OK(cuMemHostAlloc, (void **)&flag, (word)8, 0);
    memset(flag, 0, 8);
    stop = (word)flag;
    beat = (word)(flag + 1);
    OK(cuStreamCreate, &stream, 1);
    void *args[] = { &stop, &beat };
    OK(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, stream, args, NULL);
    puts("launched");
    fflush(stdout);
    if (!strcmp(how, "waits")) OK(cuCtxSynchronize);
    if (!strcmp(how, "sleeps")) sleep(60);
    if (!strcmp(how, "polls"))
        while (!*(volatile int *)flag) {
        }
    if (!strcmp(how, "sets")) {
        usleep(300000);
        *(volatile int *)flag = 1;
    }
    OK(cuStreamSynchronize, stream);
    OK(cuStreamDestroy_v2, stream);
    OK(cuMemFreeHost, flag);
    OK(cuModuleUnload, module);
    return 0;
}
