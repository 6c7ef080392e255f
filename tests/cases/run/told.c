/* A program that ends in the way that argv[1] says, behind a launch that is right. */
#define _GNU_SOURCE
#include "api.h"
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char ptx[] = ".version 8.1\n.target sm_90\n.address_size 64\n"
                          ".visible .entry fill(.param .u64 x, .param .u32 n)\n{\n.reg .b64 %rd<5>;\n.reg .b32 %r<3>;\n"
                          "ld.param.u64 %rd1, [x];\nld.param.u32 %r1, [n];\ncvta.to.global.u64 %rd2, %rd1;\n"
                          "mul.wide.u32 %rd3, %r1, 4;\nadd.s64 %rd4, %rd2, %rd3;\nst.global.u32 [%rd4], 7;\nret;\n}\n"
                          ".visible .entry odd(.param .u64 x, .param .u32 n)\n{\n.reg .b64 %rd<3>;\n.reg .f32 %f<2>;\n"
                          "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nmov.f32 %f1, 0f3f800000;\n"
                          "multimem.red.relaxed.sys.global.add.f32 [%rd2], %f1;\nret;\n}\n";
static void *module, *kernel;
static word x;

static void launch(const char *name, int at)
{
    void *args[] = { &x, &at };
    OK(cuModuleGetFunction, &kernel, module, name);
    OK(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL);
    CU(cuCtxSynchronize); /* of a kernel that is not supported it is an error, which is the program's affair */
}

/* What is mapped and shared with others is zeros, or 0xff. */
static void overwrite(int byte)
{
    FILE *f = fopen("/proc/self/maps", "r");
    char line[400];
    while (fgets(line, sizeof line, f)) {
        unsigned long a, b;
        if (strstr(line, "rw-s") && sscanf(line, "%lx-%lx", &a, &b) == 2) memset((void *)a, byte, b - a < 65536 ? b - a : 65536);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "right";
    if (!strcmp(how, "none")) return 0;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuMemAlloc_v2, &x, (word)128);
    if (!strcmp(how, "idle")) {
        OK(cuMemFree_v2, x);
        return 0;
    }
    if (!strcmp(how, "refused")) { /* as its only launch, which a program that tries things out may leave alone */
        int at = 0;
        void *args[] = { &x, &at };
        OK(cuModuleGetFunction, &kernel, module, "fill");
        CU(cuLaunchKernel, kernel, 1, 1, 1, 5000, 1, 1, 0, NULL, args, NULL);
        OK(cuMemFree_v2, x);
        return 0;
    }
    launch("fill", 0);
    if (!strcmp(how, "finding") || !strcmp(how, "both")) launch("fill", 32);
    if (!strcmp(how, "both")) return 0; /* with a leak */
    if (!strcmp(how, "unsupported")) launch("odd", 0);
    if (!strcmp(how, "lost")) syscall(SYS_exit_group, 0);
    if (!strcmp(how, "killed")) kill(getpid(), SIGKILL);
    OK(cuMemFree_v2, x);
    OK(cuModuleUnload, module);
    if (!strcmp(how, "zeroed")) overwrite(0);
    if (!strcmp(how, "filled")) overwrite(0xff);
    return !strcmp(how, "code") ? 7 : 0;
}
