/* gate_layout.h: what the assembler of the gate and its C code have to agree on: the frame of the gate, in bytes from
 * its end at the stack pointer. */
#ifndef LOCKSTEP_GATE_LAYOUT_H
#define LOCKSTEP_GATE_LAYOUT_H
#if defined __x86_64__
#define GATE_REGISTERS 6 /* that hold integers and pointers among the arguments */
#else
#define GATE_REGISTERS 8
#endif
#define GATE_STACK 18 /* words on the stack, an even number: cublasGemmStridedBatchedEx has 17 on x86-64 */
#define GATE_FLOATS 2 /* registers with numbers: cuTexRefSetMipmapLevelClamp, curandGenerateNormal */
#define GATE_WORDS 28 /* at least the sum of these */

#define GATE_LIBRARY 0x4000    /* numbers of a library, and the first one of the first */
#define GATE_RELEASE_12 0x2000 /* of these, those of its file of CUDA 12 */

#define GATE_CALL \
    (GATE_STACK * 8) /* struct cu_call; below it the arguments on the stack of the function that is called */
#define GATE_FUNCTION (GATE_CALL + 0)
#define GATE_WORD (GATE_CALL + 8)
#define GATE_RETURN (GATE_WORD + GATE_WORDS * 8)
#define GATE_CALLER (GATE_RETURN + 8)
#define GATE_SP (GATE_RETURN + 16)
#define GATE_RESULT (GATE_RETURN + 24)
#define GATE_CALL_END (GATE_RETURN + 72)
#define GATE_TARGET (GATE_CALL_END + 0)   /* the function */
#define GATE_INDIRECT (GATE_CALL_END + 8) /* x8 of arm64: where a struct is returned */
#define GATE_FRAME ((GATE_CALL_END + 16 + 15) / 16 * 16)
#endif
