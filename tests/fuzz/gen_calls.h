/* gen_calls: modules whose functions take and return values of every kind, and a kernel that calls them; bytes make the
 * choices. The values that must come back are known. */
#ifndef LOCKSTEP_GEN_CALLS_H
#define LOCKSTEP_GEN_CALLS_H
#include "base/base.h"

enum { CALLS_THREADS = 40, CALLS_BYTES = 512 }; /* of the block; of the output of a thread, at most */

struct calls_program {
    struct text ptx;                          /* the module; its kernel is k(.param .u64 out) */
    u32 bytes;                                /* of the output of a thread */
    u8 expected[CALLS_THREADS * CALLS_BYTES]; /* thread after thread, where the module is right */
    bool mismatch;                            /* some call reaches a function by a prototype of other sizes */
};

void calls_make(struct calls_program *p, const u8 *choice, size_t choices);
void calls_free(struct calls_program *p);
#endif
