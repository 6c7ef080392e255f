/* The call gate. Each export of the drop-in libraries comes here with its number and the address of its function in
 * registers that hold no arguments. The gate writes the record of the call (struct cu_call of gate.h) into its own frame,
 * calls the function with the arguments that it was given, and hands back what the function returned. What is done with
 * calls is decided in gate.c.
 *
 * The gate does not know what a function takes: it keeps all registers that may hold arguments and hands on as many
 * words of the stack as the longest list of parameters has (GATE_STACK). It is a function of its own for whoever
 * unwinds the stack. */
#include "abi/gate_door.S"
#include "abi/gate_layout.h"
#if defined __x86_64__
    .text
    .globl lkgate_enter
    .type lkgate_enter, @function
lkgate_enter:
    .cfi_startproc
    endbr64
    push %rbp
    .cfi_def_cfa_offset 16
    .cfi_offset %rbp, -16
    mov %rsp, %rbp
    .cfi_def_cfa_register %rbp
    sub $(GATE_FRAME), %rsp
    mov %eax, GATE_FUNCTION(%rsp)
    mov %r11, GATE_TARGET(%rsp)
    mov %rdi, GATE_WORD + 0(%rsp)
    mov %rsi, GATE_WORD + 8(%rsp)
    mov %rdx, GATE_WORD + 16(%rsp)
    mov %rcx, GATE_WORD + 24(%rsp)
    mov %r8, GATE_WORD + 32(%rsp)
    mov %r9, GATE_WORD + 40(%rsp)
    /* arguments on the stack: once for the record, once for the function, which may write over its own */
    .set gate_at, 0
    .rept GATE_STACK / 2
    movups 16 + gate_at(%rbp), %xmm15
    movups %xmm15, GATE_WORD + GATE_REGISTERS * 8 + gate_at(%rsp)
    movups %xmm15, gate_at(%rsp)
    .set gate_at, gate_at + 16
    .endr
    movsd %xmm0, GATE_WORD + (GATE_REGISTERS + GATE_STACK) * 8(%rsp)
    movsd %xmm1, GATE_WORD + (GATE_REGISTERS + GATE_STACK + 1) * 8(%rsp)
    mov 8(%rbp), %rax
    mov %rax, GATE_RETURN(%rsp)
    mov (%rbp), %rax
    mov %rax, GATE_CALLER(%rsp)
    lea 16(%rbp), %rax
    mov %rax, GATE_SP(%rsp)
    lea GATE_CALL(%rsp), %rdi
    call gate_begin
    mov GATE_WORD + 0(%rsp), %rdi
    mov GATE_WORD + 8(%rsp), %rsi
    mov GATE_WORD + 16(%rsp), %rdx
    mov GATE_WORD + 24(%rsp), %rcx
    mov GATE_WORD + 32(%rsp), %r8
    mov GATE_WORD + 40(%rsp), %r9
    movsd GATE_WORD + (GATE_REGISTERS + GATE_STACK) * 8(%rsp), %xmm0
    movsd GATE_WORD + (GATE_REGISTERS + GATE_STACK + 1) * 8(%rsp), %xmm1
    call *GATE_TARGET(%rsp)
    mov %rax, GATE_RESULT(%rsp)
    lea GATE_CALL(%rsp), %rdi
    call gate_end
    mov GATE_RESULT(%rsp), %rax
    leave
    .cfi_def_cfa %rsp, 8
    ret
    .cfi_endproc
    .size lkgate_enter, .-lkgate_enter
#else
    .text
    .globl lkgate_enter
    .type lkgate_enter, %function
lkgate_enter:
    .cfi_startproc
    hint 34
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset 29, -16
    .cfi_offset 30, -8
    mov x29, sp
    .cfi_def_cfa_register 29
    sub sp, sp, #GATE_FRAME
    str w14, [sp, #GATE_FUNCTION]
    str x15, [sp, #GATE_TARGET]
    stp x0, x1, [sp, #GATE_WORD + 0]
    stp x2, x3, [sp, #GATE_WORD + 16]
    stp x4, x5, [sp, #GATE_WORD + 32]
    stp x6, x7, [sp, #GATE_WORD + 48]
    str x8, [sp, #GATE_INDIRECT]
    /* arguments on the stack: once for the record, once for the function, which may write over its own */
    .set gate_at, 0
    .rept GATE_STACK / 2
    ldp x16, x17, [x29, #16 + gate_at]
    stp x16, x17, [sp, #GATE_WORD + GATE_REGISTERS * 8 + gate_at]
    stp x16, x17, [sp, #gate_at]
    .set gate_at, gate_at + 16
    .endr
    stp d0, d1, [sp, #GATE_WORD + (GATE_REGISTERS + GATE_STACK) * 8]
    ldp x16, x17, [x29]
    str x16, [sp, #GATE_CALLER]
    str x17, [sp, #GATE_RETURN]
    add x16, x29, #16
    str x16, [sp, #GATE_SP]
    add x0, sp, #GATE_CALL
    bl gate_begin
    ldp x0, x1, [sp, #GATE_WORD + 0]
    ldp x2, x3, [sp, #GATE_WORD + 16]
    ldp x4, x5, [sp, #GATE_WORD + 32]
    ldp x6, x7, [sp, #GATE_WORD + 48]
    ldr x8, [sp, #GATE_INDIRECT]
    ldp d0, d1, [sp, #GATE_WORD + (GATE_REGISTERS + GATE_STACK) * 8]
    ldr x16, [sp, #GATE_TARGET]
    blr x16
    str x0, [sp, #GATE_RESULT]
    add x0, sp, #GATE_CALL
    bl gate_end
    ldr x0, [sp, #GATE_RESULT]
    mov sp, x29
    ldp x29, x30, [sp], #16
    .cfi_def_cfa 31, 0
    .cfi_restore 29
    .cfi_restore 30
    ret
    .cfi_endproc
    .size lkgate_enter, .-lkgate_enter
#endif

    /* For cuGetProcAddress: the same entries as in libcuda.so.1 (shell.S), lkdoor_NAME. */
    .set gate_number, 0
#define ENTRY(symbol, function, name, since, thread, returns, parameters) \
    GATE_DOOR(lkdoor_##symbol, lkcu_##function) .set gate_number, gate_number + 1;
#include "abi/libcuda.def"
#undef ENTRY
    /* Whoever has the gate has the engine, which puts its table there when it is loaded (driver/cu_engine.h): out of an
     * archive, nothing else brings it in. */
    .hidden cu_engine_of_run
    .section .data.rel.ro, "aw", %progbits
    .balign 8
    .quad cu_engine_of_run
    .section .note.GNU-stack, "", %progbits
