/* gen_stray: kernels of which some lanes, by any mask, go outside their buffers or miss their alignment, and kernels
 * that leave asynchronous copies in flight; bytes make the choices. How many lanes go wrong is known. */
#ifndef LOCKSTEP_GEN_STRAY_H
#define LOCKSTEP_GEN_STRAY_H
#include "base/base.h"

enum { STRAY_THREADS = 64, STRAY_BUFFER = 4096, STRAY_ACCESSES = 4 };

struct stray_program {
    struct text ptx; /* two kernels: strays(.param .u64 buffer) and flies(.param .u64 buffer) */
    u32 wrong;       /* accesses of threads of `strays` that must be reported */
};

void stray_make(struct stray_program *p, const u8 *choice, size_t choices);
void stray_free(struct stray_program *p);
#endif
