/* counted.h: what two profiles count differently, kernel by kernel, for people and for machines. */
#ifndef LOCKSTEP_COUNTED_H
#define LOCKSTEP_COUNTED_H
#include "journal/times.h"

struct counted_change {
    const char *where; /* "far.cu:7", "all lines" */
    const char *what;  /* "sectors of global memory" */
    u64 before, after;
    bool worse;
};
struct counted_kernel {
    const char *name;
    u32 first, n, worse; /* of the changes */
};
struct counted {
    struct arena *mem;
    VEC(struct counted_kernel) kernels;
    VEC(struct counted_change) changes;
    u32 worse;
    u64 threshold; /* of 1000 */
};
/* Begins a kernel, which the changes after it are of. Texts are not copied. */
void counted_kernel(struct counted *c, const char *name);
void counted_add(struct counted *c, const struct counted_change *change);
/* For people, and where `o` says so as files. */
bool counted_report(const struct counted *c, const struct times_options *o, struct error *e);
#endif
