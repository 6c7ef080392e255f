/* The names that a kernel's author gave to its parameters.
 *
 * PTX calls them _Z5saxpyfPKfPfi_param_2. When the .cu file lies where the PTX says, or beside it, its text has the
 * real names; reading them from there is a convenience, so anything unusual simply yields no names. */
#ifndef LOCKSTEP_SIGNATURE_H
#define LOCKSTEP_SIGNATURE_H
#include "base/base.h"

struct signature {
    u32 params;        /* 0: nothing is known */
    const char **name; /* "y" */
    const char **text; /* "float *y" */
};
/* Finds `__global__ ... NAME(...)` in the source text; NAME is the last part of a name with ::. Strings live in `a`. */
void signature_find(struct arena *a, struct str source, struct str name, struct signature *out);
/* The same from the .cu file that FILE.ptx or FILE.cu was made from, by its stem, or from `file`, which the line
 * information names: a kernel may stand in a file that the .cu includes. Missing files are no error. */
void signature_read(struct arena *a, const char *path, const char *file, const char *name, struct signature *out);

/* The .cu file that FILE.ptx or FILE.cu was made from, from base_alloc; false: there is none. */
bool signature_source(struct arena *a, const char *path, struct str *source);
#endif
