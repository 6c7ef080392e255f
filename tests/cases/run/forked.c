/* Children of fork: one that uses CUDA after its parent did, and what works: fork before CUDA, and fork with exec. */
#include "api.h"
#include <sys/wait.h>
#include <unistd.h>

static void use(const char *who)
{
    void *context;
    word x = 0;
    library = dlopen("libcuda.so.1", RTLD_NOW);
    printf("%s: cuInit %d,", who, CU(cuInit, 0));
    printf(" cuDevicePrimaryCtxRetain %d,", CU(cuDevicePrimaryCtxRetain, &context, 0));
    printf(" cuCtxSetCurrent %d,", CU(cuCtxSetCurrent, context));
    printf(" cuMemAlloc %d,", CU(cuMemAlloc_v2, &x, (word)256));
    printf(" cuMemFree %d\n", CU(cuMemFree_v2, x));
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    int status = 0;
    setvbuf(stdout, NULL, _IOFBF, 4096);
    if (!strcmp(how, "anew")) return use("program"), 0;
    if (!strcmp(how, "before") && !fork()) {
        use("child");
        return 0;
    }
    if (!strcmp(how, "before")) wait(&status);
    use("parent");
    if (!strcmp(how, "after")) {
        if (!fork()) {
            use("child");
            _exit(4);
        }
        wait(&status);
        printf("the child ended: %d\n", WEXITSTATUS(status));
    }
    if (!strcmp(how, "exec")) {
        if (!fork()) execl("/proc/self/exe", argv[0], "anew", NULL);
        wait(&status);
    }
    if (!strcmp(how, "idle")) {
        if (!fork()) return 0;
        wait(&status);
    }
    use("parent");
    return 0;
}
