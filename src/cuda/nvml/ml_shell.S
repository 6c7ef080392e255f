/* libnvidia-ml.so.1: a table of exports, each of which jumps to the function of that name in liblockstep.so (ml.c). */
#if defined __x86_64__
#define ML(symbol)                             \
    .globl symbol;                             \
    .type symbol, @function;                   \
    symbol: endbr64;                           \
    jmp *lkml_##symbol@GOTPCREL(%rip);         \
    .size symbol, .-symbol;
#else
#define ML(symbol)                             \
    .globl symbol;                             \
    .type symbol, %function;                   \
    symbol: hint 34;                           \
    adrp x16, :got:lkml_##symbol;              \
    ldr x16, [x16, :got_lo12:lkml_##symbol];   \
    br x16;                                    \
    .size symbol, .-symbol;
#endif
#define ML_NONE ML
    .text
#include "abi/ml.def"
    .section .note.GNU-stack, "", %progbits
