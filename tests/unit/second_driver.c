/* A driver for gpus `on = "gpu"` where there is no GPU: Lockstep's own drop-in driver, a second software GPU in the
 * process, whose library SECOND_DRIVER names. So src/device/gpu works as it does on a real one, and what it launches
 * computes. LOCKSTEP_LIBCUDA names this library (tests/run unit/test_framework, tests/cases/host/gpu.case). */
#include "gpu/driver.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef long call(long, long, long, long, long, long, long, long, long, long, long);

static call *find(const char *name)
{
    static void *library;
    if (!library) library = dlopen(getenv("SECOND_DRIVER"), RTLD_NOW | RTLD_LOCAL);
    void *f = library ? dlsym(library, name) : NULL;
    call *to;
    memcpy(&to, &f, sizeof f);
    if (!f) fprintf(stderr, "second_driver: %s: %s\n", name, dlerror()), abort();
    return to;
}

/* All arguments are words: so many are passed on. */
#define X(field, name, params)                                                                                       \
    __attribute__((visibility("default"))) long second_##field(long, long, long, long, long, long, long, long, long, \
                                                               long, long) __asm__(name);                            \
    long second_##field(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k)      \
    {                                                                                                                \
        static call *to;                                                                                             \
        if (!to) to = find(name);                                                                                    \
        return to(a, b, c, d, e, f, g, h, i, j, k);                                                                  \
    }
CU_FUNCTIONS(X)
CU_ASYNC_FUNCTIONS(X)
