/* A drop-in library is a table of exports: each jumps to the function of that name in liblockstep.so, which is the
 * engine of the process. Built once for each file, with its list of names as EXPORTS and how they are called there as
 * PREFIX. */
#define JOIN(a, b) a##b
#define NAME(prefix, symbol) JOIN(prefix, symbol)
#if defined __x86_64__
#define EXPORT(symbol)                                 \
    .globl symbol;                                     \
    .type symbol, @function;                           \
    symbol: endbr64;                                   \
    jmp *NAME(PREFIX, symbol)@GOTPCREL(%rip);          \
    .size symbol, .-symbol;
#else
#define EXPORT(symbol)                                 \
    .globl symbol;                                     \
    .type symbol, %function;                           \
    symbol: hint 34;                                   \
    adrp x16, :got:NAME(PREFIX, symbol);               \
    ldr x16, [x16, :got_lo12:NAME(PREFIX, symbol)];    \
    br x16;                                            \
    .size symbol, .-symbol;
#endif
    .text
#define CU(symbol, name, since, thread) EXPORT(symbol)
/* of the runtime: what its release has. Some names have
 * meant something else in earlier releases. */
#define CUDART(symbol, first, last) .if first <= RELEASE && last >= RELEASE; EXPORT(symbol) .endif;
#if defined RELEASE && RELEASE < 13
#define lkrt_cudaGetDeviceProperties lkrt_cudaGetDeviceProperties_11
#define lkrt_cudaGraphAddDependencies lkrt_cudaGraphAddDependencies_11
#define lkrt_cudaGraphRemoveDependencies lkrt_cudaGraphRemoveDependencies_11
#endif
#if defined RELEASE && RELEASE < 12
#define lkrt_cudaGraphInstantiate lkrt_cudaGraphInstantiate_11
#define lkrt_cudaGraphExecUpdate lkrt_cudaGraphExecUpdate_11
#endif
#include EXPORTS
    .section .note.GNU-stack, "", %progbits
