/* What the command line says to a compiler, shared by the verbs that take a .cu file. */
#ifndef LOCKSTEP_COMPILING_H
#define LOCKSTEP_COMPILING_H
#include "cli/option.h"
#include <lockstep.h>

struct compiling {
    lk_compile o;                 /* as lk_module_compile wants it; its lists are those below */
    VEC(const char *) flag, link; /* --link: more files of the program */
};

/* Takes one of COMPILER_OPTIONS in option.def, by its place there. */
bool compiling_option(struct arena *a, struct compiling *c, u32 which, const char *value, struct error *e);
/* Cuts FILE.cu:KERNEL at the colon after the extension; *kernel is NULL without one. */
bool compiling_target(struct arena *a, const char *verb, const char *text, const char **path, const char **kernel,
                      struct error *e);
/* The words, cut at blanks, that a contract says to the compiler: they come before what the command line says. */
void compiling_own(struct arena *a, struct compiling *c, const char *words);
/* Whether both say the same to a compiler. */
bool compiling_same(const struct compiling *a, const struct compiling *b);
/* Loads the file, compiled as `c` says, with these kernels in it. */
lk_status compiling_load(const struct compiling *c, const struct common *common, lk_gpu *gpu, const char *path,
                         const char *const *name, u32 names, lk_module **module);
/* Says why that failed: all that the compiler reported, or the one error there is. Returns the exit code. */
int compiling_failed(lk_gpu *gpu, const char *path, lk_status status);
#endif
