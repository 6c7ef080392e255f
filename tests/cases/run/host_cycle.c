/* A kernel polls a word of the host's memory while the host sleeps in a call that waits for the kernel. "copy", "wait":
 * nobody is left to write the word. "signal": a handler of signals writes it; "process": another process, which has the
 * memory, too; "thread": another thread. */
#define _GNU_SOURCE
#include "api.h"
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry serve(.param .u64 flag, .param .u64 out)\n{\n .reg .b64 %a, %b;\n"
                          " .reg .b32 %r;\n .reg .pred %p;\n ld.param.u64 %a, [flag];\n ld.param.u64 %b, [out];\n"
                          "again:\n ld.volatile.global.u32 %r, [%a];\n setp.eq.u32 %p, %r, 0;\n @%p bra again;\n"
                          " st.global.u32 [%b], %r;\n ret;\n}\n";
static volatile int *flag;

static void on_alarm(int number)
{
    (void)number;
    *flag = 1;
}

static void *late(void *unused)
{
    usleep(1000000);
    *flag = 1;
    return unused;
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *module, *serve;
    int *out, seven = 7, child = 0;
    pthread_t thread;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &serve, module, "serve");
    OK(cuMemAlloc_v2, &out, (word)4);
    if (!strcmp(how, "process")) {
        flag = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        OK(cuMemHostRegister_v2, flag, (word)4096, 0);
        child = fork();
        if (!child) {
            usleep(1000000);
            *flag = 1;
            _exit(0);
        }
    } else {
        OK(cuMemAllocHost_v2, &flag, (word)4);
        *flag = 0;
    }
    if (!strcmp(how, "signal")) {
        signal(SIGALRM, on_alarm);
        alarm(1);
    }
    if (!strcmp(how, "thread")) pthread_create(&thread, NULL, late, NULL);
    void *args[] = { &flag, &out };
    OK(cuLaunchKernel, serve, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    if (!strcmp(how, "copy")) {
        SAY(cuMemcpyHtoD_v2, out, &seven, (word)4);
        *flag = 1;
    } else {
        SAY(cuCtxSynchronize);
    }
    if (!strcmp(how, "thread")) pthread_join(thread, NULL);
    if (child) {
        waitpid(child, NULL, 0);
        OK(cuMemHostUnregister, flag);
    }
    return 0;
}
