/* For every export of libcudart.so.* a function that refuses it by its row in cudart.def. Weak: what is defined in C
 * takes its place. */
#if defined __x86_64__
#define STUB(symbol)                      \
    .weak lkrt_##symbol;                  \
    .type lkrt_##symbol, @function;       \
    lkrt_##symbol: endbr64;               \
    mov $lkrt_index, %edi;                \
    jmp rt_refuse;                        \
    .size lkrt_##symbol, .-lkrt_##symbol; \
    .set lkrt_index, lkrt_index + 1;
#else
#define STUB(symbol)                      \
    .weak lkrt_##symbol;                  \
    .type lkrt_##symbol, %function;       \
    lkrt_##symbol: hint 34;               \
    mov w0, lkrt_index;                   \
    b rt_refuse;                          \
    .size lkrt_##symbol, .-lkrt_##symbol; \
    .set lkrt_index, lkrt_index + 1;
#endif
    .text
    .set lkrt_index, 0
#define RT(symbol, first, last, variant, returns, parameters) STUB(symbol)
#include "abi/cudart.def"
    .section .note.GNU-stack, "", %progbits
