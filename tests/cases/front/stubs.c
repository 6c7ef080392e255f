/* A library as JAX's: it has the names of the runtime, each a few bytes that lead to a libcudart which it opens itself. There is nothing to redirect, and nothing to say. */
#define STUB(name) ".globl " name "\n.type " name ", %function\n" name ": ret\n.size " name ", 1\n"
__asm__(".text\n" STUB("cudaMalloc") STUB("cudaFree") STUB("__cudaRegisterFatBinary") STUB("behind"));

int own(int n) { return n + 4; }
