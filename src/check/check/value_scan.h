/* value_scan.h: a look at what a launch has written, for NaN and infinity (rules.md V1). */
#ifndef LOCKSTEP_VALUE_SCAN_H
#define LOCKSTEP_VALUE_SCAN_H
#include "mem/mem.h"
#include "report/report.h"

struct value_scan {
    struct mem *mem;
    u64 launch;         /* its number: mem_object.read_by and written_by */
    struct str kernel;  /* as the module names it */
    const void *params; /* the arguments of the launch */
    u32 param_bytes;
    u64 warp_insns;     /* executed */
    bool infinite, nan; /* the code has one among its constants: it writes them on purpose */
    struct report *report;
};
void value_scan(const struct value_scan *v);
/* As what the host writes NaN or infinity into this memory: MEM_AS_*, all of them where its type is known. */
u8 value_odd_as(const struct mem_object *o, const void *bytes, u64 n);
/* Whether one of n elements is NaN or infinite. The usual answer is no: all are looked at, in vectors, for any type. */
bool value_any_odd(const struct scalar *t, const void *p, u64 n);
#endif
