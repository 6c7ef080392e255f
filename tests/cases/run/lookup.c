/* Kernels asked for by names that the module does not have, and a thread that has no context. */
#include "api.h"
#include <pthread.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry _Z9vectorAddPKfS0_Pfi()\n{\n ret;\n}\n"
                          ".visible .entry _ZN4math5scaleIfEEvPT_i()\n{\n ret;\n}\n"
                          ".visible .entry plain()\n{\n ret;\n}\n";

static void *in_thread(void *kernel)
{
    const char *name = "";
    int r = CU(cuLaunchKernel, kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    CU(cuGetErrorName, r, &name);
    printf("in a thread: %s\n", name);
    return NULL;
}

int main(void)
{
    static const char *const names[] = { "vectorAdd", "scale", "math::scale", "plane", "plain" };
    void *module, *kernel = NULL;
    pthread_t other;
    driver_open();
    OK(cuModuleLoadData, &module, ptx);
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        printf("%s: %d\n", names[i], CU(cuModuleGetFunction, &kernel, module, names[i]));
    pthread_create(&other, NULL, in_thread, kernel);
    pthread_join(other, NULL);
    OK(cuModuleUnload, module);
    return 0;
}
