/* The launches that host code writes, kernel<<<grid, block>>>(arguments): lockstep runs no host code, but they say how
 * a kernel is meant to be called. They are found by words and brackets, as signature.h finds parameters, so anything
 * unusual is left out. */
#ifndef LOCKSTEP_HOST_LAUNCH_H
#define LOCKSTEP_HOST_LAUNCH_H
#include "base/base.h"

struct source_launch {
    const char *kernel;     /* as written, without scopes: "scale", "scale<float>" */
    const char *head;       /* on one line, up to >>>: "scale<<<(n + 255) / 256, 256>>>" */
    u32 line;               /* of the source */
    u32 grid[3], block[3];  /* where the text says it in numbers; 0 in x: it does not */
    u32 shared;             /* the same; 0 */
    const char *const *arg; /* the arguments as written, on one line each */
    u32 args;
};
struct host_code {
    struct source_launch *launch; /* in the order of the text */
    u32 launches;
    bool has_main; /* it has a main(), which a launch of kernels does not run */
};
/* The host code of the .cu file that FILE.ptx or FILE.cu was made from; nothing when there is no such file. Strings
 * live in `a`. */
void host_code_read(struct arena *a, const char *path, struct host_code *out);
/* The same of a text. */
void host_code_find(struct arena *a, struct str source, struct host_code *out);
/* The first launch of this kernel, whose name may have scopes and template arguments; NULL: there is none. */
const struct source_launch *host_launch_of(const struct host_code *h, const char *name);
#endif
