/* idle_thread barrier: half of a block waits at a barrier for the other half, which has left, while a thread of the host
 * sleeps, of which nobody knows what it will do: nothing that it does can help. idle_thread flag: a kernel polls device
 * memory, which such a thread writes later. */
#include "api.h"
#include <pthread.h>
#include <unistd.h>

static const char text[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry barrier()\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n"
    "mov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 32;\n@%p1 bar.sync 1, 64;\nret;\n}\n"
    ".visible .entry flag(.param .u64 x)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n.reg .b64 %rd<2>;\n"
    "ld.param.u64 %rd1, [x];\nL:\nld.relaxed.gpu.global.u32 %r1, [%rd1];\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra L;\nret;\n}\n";
static void *context;
static word buffer;

static void *later(void *writes)
{
    void *stream;
    unsigned one = 1;
    if (!writes)
        for (;;) pause();
    usleep(300000);
    OK(cuCtxSetCurrent, context);
    OK(cuStreamCreate, &stream, 1);
    OK(cuMemcpyHtoDAsync_v2, buffer, &one, (word)4, stream);
    OK(cuStreamSynchronize, stream);
    OK(cuStreamDestroy_v2, stream);
    return NULL;
}

int main(int argc, char **argv)
{
    void *module, *f, *stream, *arg[1] = { &buffer };
    pthread_t thread;
    int polls = argc > 1 && !strcmp(argv[1], "flag");
    context = driver_open();
    OK(cuModuleLoadData, &module, text);
    OK(cuModuleGetFunction, &f, module, polls ? "flag" : "barrier");
    OK(cuMemAlloc_v2, &buffer, (word)4);
    OK(cuMemsetD32_v2, buffer, 0, (word)1);
    OK(cuStreamCreate, &stream, 1);
    pthread_create(&thread, NULL, later, polls ? &buffer : NULL);
    OK(cuLaunchKernel, f, 1, 1, 1, 64, 1, 1, 0, stream, polls ? arg : NULL, NULL);
    SAY(cuStreamSynchronize, stream);
    if (polls) pthread_join(thread, NULL);
    OK(cuStreamDestroy_v2, stream);
    OK(cuMemFree_v2, buffer);
    OK(cuModuleUnload, module);
    return 0;
}
