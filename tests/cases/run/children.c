/* A child in every way that a program can start one, and what is left when it ends. The GPU is used by this program
 * itself when it is called with `gpu TEXT`: a kernel writes behind the end of a buffer, by way of the driver. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry past(.param .u64 x)\n{\n .reg .b64 %a;\n .reg .b32 %r;\n"
                          " ld.param.u64 %a, [x];\n mov.u32 %r, 1;\n st.global.u32 [%a+256], %r;\n ret;\n}\n";
typedef unsigned long long address;
static void *library, *context, *module, *kernel;
static address x;
#define CALL(name, types, ...) (((int(*) types)dlsym(library, #name))(__VA_ARGS__))

/* A machine with a GPU has a driver of its own: that one is not used. */
static int begin(void)
{
    library = dlopen("libcuda.so.1", RTLD_NOW);
    const char *path = library ? ((struct link_map *)library)->l_name : "";
    if (!strstr(path, "/front/") && !strstr(path, "lockstep")) return -1;
    if (CALL(cuInit, (unsigned), 0)) return 1;
    return CALL(cuDevicePrimaryCtxRetain, (void **, int), &context, 0) | CALL(cuCtxSetCurrent, (void *), context) |
           CALL(cuModuleLoadData, (void **, const void *), &module, ptx) |
           CALL(cuModuleGetFunction, (void **, void *, const char *), &kernel, module, "past") |
           CALL(cuMemAlloc_v2, (address *, size_t), &x, 256);
}

static int launch(void)
{
    void *args[] = { &x };
    int r = CALL(cuLaunchKernel, (void *, int, int, int, int, int, int, int, void *, void **, void **), kernel, 1, 1, 1,
                 1, 1, 1, 0, NULL, args, NULL);
    return r ? r : CALL(cuCtxSynchronize, (void));
}

static void late(void) { fprintf(stderr, "at the end: %d\n", launch()); }

int main(int argc, char **argv)
{
    extern char **environ;
    char *none[] = { NULL }, *self[] = { argv[0], "gpu", argc > 2 ? argv[2] : argv[1], NULL };
    const char *way = argc > 1 ? argv[1] : "";
    pid_t pid = 0;
    if (!strcmp(way, "gpu")) {
        int r = begin();
        if (r) return printf("%s: not Lockstep's GPU\n", argv[2]), 0;
        return printf("%s: %d\n", argv[2], launch()), 0;
    }
    if (!strcmp(way, "exit")) { /* handlers that use the GPU when ours may be gone already */
        atexit(late);
        begin();
        return 0;
    }
    if (!strcmp(way, "daemon")) { /* two forks, a session of its own; the first process is gone at once */
        if (fork()) return 0;
        setsid();
        if (fork()) _exit(0);
        usleep(200000);
        self[2] = "daemon";
        execv("/proc/self/exe", self);
    }
    if (!strcmp(way, "execve") && !(pid = fork())) execve("/proc/self/exe", self, none);
    if (!strcmp(way, "execl") && !(pid = fork())) clearenv(), execl("/proc/self/exe", self[0], "gpu", way, NULL);
    if (!strcmp(way, "vfork") && !(pid = vfork())) execve("/proc/self/exe", self, none);
    if (!strcmp(way, "spawn")) posix_spawn(&pid, "/proc/self/exe", NULL, NULL, self, none);
    if (!strcmp(way, "system")) return clearenv(), setenv("PROGRAM", argv[0], 1), system("\"$PROGRAM\" gpu system");
    if (pid) waitpid(pid, NULL, 0);
    return 0;
}
