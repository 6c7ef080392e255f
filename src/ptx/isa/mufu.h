/* The special function unit (MUFU in machine code): what it interpolates with. words_mufu.h computes with it. */
#ifndef LOCKSTEP_ISA_MUFU_H
#define LOCKSTEP_ISA_MUFU_H
#include "base/base.h"

/* of one segment: c0 + k1 x + k2 s(x), x the 17 bits that follow the segment's number */
struct mufu_row {
    s64 c0;
    s32 k1, k2;
};
extern const struct mufu_row mufu_rcp[128], mufu_rsqrt[128], mufu_sqrt[128], mufu_ex2[64], mufu_lg2[64], mufu_sin[64],
    mufu_tanh[51];
/* The square of x: of its upper 12 bits with each other, and of bits 4 to 2 (lower three of the number) with the
 * upper three. */
extern const u16 mufu_square[4096];
extern const u8 mufu_square_low[64];
#endif
