/* For programs of the driver interface without CUDA's headers: functions are found by name, arguments of 64 bits are
 * given as such. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
typedef unsigned long long word;
static void *library;
#define CU(name, ...)                                      \
    ({                                                     \
        int (*f_)() = (int (*)())dlsym(library, #name);    \
        if (!f_) printf("%s is not there\n", #name);       \
        f_ ? f_(__VA_ARGS__) : -1;                         \
    })
/* Says what a call returned. */
#define SAY(name, ...) printf("%s: %d\n", #name, CU(name, __VA_ARGS__))
/* Says it only when it is an error. */
#define OK(name, ...)                                       \
    do {                                                    \
        int r_ = CU(name, __VA_ARGS__);                     \
        if (r_) printf("%s: %d\n", #name, r_);              \
    } while (0)
static inline void api_open(const char *name)
{
    library = dlopen(name, RTLD_NOW);
    if (library) return;
    printf("%s\n", dlerror());
    exit(3);
}
/* The driver, device 0 and its primary context. */
static inline void *driver_open(void)
{
    void *context = NULL;
    api_open("libcuda.so.1");
    OK(cuInit, 0);
    OK(cuDevicePrimaryCtxRetain, &context, 0);
    OK(cuCtxSetCurrent, context);
    return context;
}
