/* Ends by a signal, in a call that takes long or elsewhere, or by _exit at once: what it was doing is in the report. */
#include "api.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry past(.param .u64 x)\n{\n .reg .b64 %a;\n .reg .b32 %r;\n"
                          " ld.param.u64 %a, [x];\n mov.u32 %r, 1;\n st.global.u32 [%a+256], %r;\n ret;\n}\n"
                          ".visible .entry count(.param .u64 x, .param .u64 n)\n{\n .reg .b64 %a, %i, %n;\n .reg .pred %p;\n"
                          " ld.param.u64 %a, [x];\n ld.param.u64 %n, [n];\n mov.u64 %i, 0;\n"
                          "L:\n add.u64 %i, %i, 1;\n setp.lt.u64 %p, %i, %n;\n @%p bra L;\n"
                          " st.global.u64 [%a], %i;\n ret;\n}\n";
static void *context;

/* When the main thread has been in its call for a while. */
static void *sender(void *number)
{
    usleep(1000000);
    kill(getpid(), (int)(size_t)number);
    pause();
    return NULL;
}
static void *waits(void *event)
{
    OK(cuCtxSetCurrent, context);
    OK(cuEventSynchronize, event);
    return NULL;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int number = argc > 2 ? atoi(argv[2]) : 0;
    void *module, *past, *count, *event;
    word x, n = 1ull << 60;
    pthread_t thread;
    context = driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &past, module, "past");
    OK(cuModuleGetFunction, &count, module, "count");
    OK(cuMemAlloc_v2, &x, (word)256);
    void *one[] = { &x }, *two[] = { &x, &n };
    OK(cuLaunchKernel, past, 1, 1, 1, 1, 1, 1, 0, NULL, one, NULL);
    if (!strcmp(how, "call")) {
        OK(cuLaunchKernel, count, 1, 1, 1, 1, 1, 1, 0, NULL, two, NULL);
        pthread_create(&thread, NULL, sender, (void *)(size_t)number);
        OK(cuMemcpyDtoH_v2, &n, x, (word)8);
    }
    if (!strcmp(how, "threads")) {
        OK(cuEventCreate, &event, 0);
        OK(cuLaunchKernel, count, 1, 1, 1, 1, 1, 1, 0, NULL, two, NULL);
        OK(cuEventRecord, event, NULL);
        pthread_create(&thread, NULL, waits, event);
        usleep(1000000);
        kill(getpid(), number);
    }
    OK(cuCtxSynchronize);
    if (!strcmp(how, "host")) kill(getpid(), number);
    if (!strcmp(how, "damage")) { /* what Lockstep reads is nothing that it has written */
        void (*judge)(const void *, unsigned, const void *, void *) =
            dlsym(dlopen("liblockstep.so.0", RTLD_LAZY | RTLD_NOLOAD), "lk_times_judge");
        judge((void *)64, 1, 0, (char[1024]){ 0 });
    }
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "exit")) _exit(3);
    return 0;
}
