/* The driver interface of CUDA for a program that is built where CUDA is not: functions are found by name. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned long long device_pointer;
static void *driver;

/* Ends the program when a call fails. */
#define CALL(name, ...)                                                   \
    do {                                                                  \
        int (*f_)() = (int (*)())dlsym(driver, #name);                    \
        int r_ = f_ ? f_(__VA_ARGS__) : -1;                               \
        if (r_) printf("%s failed: %d\n", #name, r_), exit(3);            \
    } while (0)

static void cuda_open(void)
{
    void *context;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver) puts("there is no driver"), exit(3);
    CALL(cuInit, 0);
    CALL(cuDevicePrimaryCtxRetain, &context, 0);
    CALL(cuCtxSetCurrent, context);
}
