/* What the table of the runtime's calls says of a function without any C: of a FORWARD row, which function of the driver
 * it is, called with the same arguments once the thread's context is current (rt_enter), its error kept (rt_done); of
 * another one that nobody defines, that it is refused by its row. Weak: what is defined in C takes the place. */
#if defined __x86_64__
#define STUB(symbol)                      \
    .weak lkrt_##symbol;                  \
    .type lkrt_##symbol, @function;       \
    lkrt_##symbol: endbr64;               \
    mov $lkrt_row, %edi;                  \
    jmp rt_refuse;                        \
    .size lkrt_##symbol, .-lkrt_##symbol; \
    .set lkrt_row, lkrt_row + 1;
#define PASS(symbol, driver)              \
    .globl lkrt_##symbol;                 \
    .type lkrt_##symbol, @function;       \
    lkrt_##symbol: endbr64;               \
    mov lkcu_##driver@GOTPCREL(%rip), %r11; \
    jmp forward;                          \
    .size lkrt_##symbol, .-lkrt_##symbol; \
    .set lkrt_row, lkrt_row + 1;
#else
#define STUB(symbol)                      \
    .weak lkrt_##symbol;                  \
    .type lkrt_##symbol, %function;       \
    lkrt_##symbol: hint 34;               \
    mov w0, lkrt_row;                     \
    b rt_refuse;                          \
    .size lkrt_##symbol, .-lkrt_##symbol; \
    .set lkrt_row, lkrt_row + 1;
#define PASS(symbol, driver)              \
    .globl lkrt_##symbol;                 \
    .type lkrt_##symbol, %function;       \
    lkrt_##symbol: hint 34;               \
    adrp x15, :got:lkcu_##driver;         \
    ldr x15, [x15, :got_lo12:lkcu_##driver]; \
    b forward;                            \
    .size lkrt_##symbol, .-lkrt_##symbol; \
    .set lkrt_row, lkrt_row + 1;
#endif
    .text
    /* The function is in a register that holds no argument. A FORWARD row has at most eight words of arguments. */
    .type forward, %function
forward:
    .cfi_startproc
#if defined __x86_64__
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $80, %rsp
    mov %r11, -8(%rbp)
    mov %rdi, -16(%rbp)
    mov %rsi, -24(%rbp)
    mov %rdx, -32(%rbp)
    mov %rcx, -40(%rbp)
    mov %r8, -48(%rbp)
    mov %r9, -56(%rbp)
    xor %edi, %edi
    call rt_enter
    test %eax, %eax
    jnz 1f
    movups 16(%rbp), %xmm0 /* two words of the stack */
    movups %xmm0, (%rsp)
    mov -16(%rbp), %rdi
    mov -24(%rbp), %rsi
    mov -32(%rbp), %rdx
    mov -40(%rbp), %rcx
    mov -48(%rbp), %r8
    mov -56(%rbp), %r9
    call *-8(%rbp)
1:  mov %eax, %edi
    call rt_done
    leave
    .cfi_def_cfa %rsp, 8
    ret
#else
    stp x29, x30, [sp, #-96]!
    .cfi_def_cfa_offset 96
    .cfi_offset 29, -96
    .cfi_offset 30, -88
    mov x29, sp
    stp x0, x1, [sp, #16]
    stp x2, x3, [sp, #32]
    stp x4, x5, [sp, #48]
    stp x6, x7, [sp, #64]
    str x15, [sp, #80]
    mov x0, #0
    bl rt_enter
    cbnz w0, 1f
    ldr x16, [sp, #80]
    ldp x0, x1, [sp, #16]
    ldp x2, x3, [sp, #32]
    ldp x4, x5, [sp, #48]
    ldp x6, x7, [sp, #64]
    blr x16
1:  bl rt_done
    ldp x29, x30, [sp], #96
    .cfi_restore 29
    .cfi_restore 30
    .cfi_def_cfa_offset 0
    ret
#endif
    .cfi_endproc
    .size forward, .-forward

    .set lkrt_row, 0
#define RT(symbol, first, last, variant, returns, parameters, ...) STUB(symbol)
#define FORWARD(symbol, first, last, variant, driver, returns, parameters) PASS(symbol, driver)
#include "abi/cudart.def"
    .section .note.GNU-stack, "", %progbits
