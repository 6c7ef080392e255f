/* cu_jit.h: the options that a program gives to the driver's compiler, and the logs that it gets back. */
#ifndef LOCKSTEP_CU_JIT_H
#define LOCKSTEP_CU_JIT_H
#include "driver/cu.h"

struct cu_jit_log {
    char *text;  /* the caller's; NULL: it wants none */
    u64 bytes;   /* room there */
    void **size; /* where the number of bytes that were written goes, or NULL */
};
struct cu_jit {
    struct cu_jit_log info, error;
    void **wall;  /* where the milliseconds of the compilation go, as a float, or NULL */
    u64 began;    /* nanoseconds, when the options were read */
    u32 target;   /* compute capability that is asked for, 90; 0: that of the device */
    bool verbose; /* the info log is to say what was compiled */
};
/* Reads n options. CU_INVALID_VALUE: there is no such option, or its value is not one. */
cu_result cu_jit_read(struct cu_jit *j, u32 n, const int *option, void **value);
/* Writes the logs: `why` of a call that failed, else what is to be said of the loaded module (NULL: nothing). */
void cu_jit_end(const struct cu_jit *j, cu_result r, const char *why, lk_module *loaded);
/* The thread's last error of PTX, as ptxas words it: "ptxas application ptx input, line 4; error   : ...". */
void cu_jit_words(char *out, size_t size);
/* Whether a name that a kernel of the module can get to has no definition; it is copied with the name of its text. */
bool cu_jit_undefined(lk_module *m, char *name, char *text, size_t size);
#endif
