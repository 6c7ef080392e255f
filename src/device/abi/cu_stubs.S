/* For every export of libcuda.so.1 a function that refuses it by its row in libcuda.def. Weak: what is defined in C
 * takes its place. */
#if defined __x86_64__
#define STUB(symbol)                      \
    .weak lkcu_##symbol;                  \
    .type lkcu_##symbol, @function;       \
    lkcu_##symbol: endbr64;               \
    mov $lkcu_index, %edi;                \
    jmp cu_refuse;                        \
    .size lkcu_##symbol, .-lkcu_##symbol; \
    .set lkcu_index, lkcu_index + 1;
#else
#define STUB(symbol)                      \
    .weak lkcu_##symbol;                  \
    .type lkcu_##symbol, %function;       \
    lkcu_##symbol: hint 34;               \
    mov w0, lkcu_index;                   \
    b cu_refuse;                          \
    .size lkcu_##symbol, .-lkcu_##symbol; \
    .set lkcu_index, lkcu_index + 1;
#endif
    .text
    .set lkcu_index, 0
#define CU(symbol, name, since, variant, later, returns, parameters, ...) STUB(symbol)
#include "abi/libcuda.def"
    .section .note.GNU-stack, "", %progbits
