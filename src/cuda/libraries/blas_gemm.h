/* blas_gemm.h: products of matrices of every type, one or many, as cuBLAS and cuBLASLt have them. c->gemm describes
 * one: types, leading dimensions, strides in elements, and pointers. transa, transb, m, n and k are those of the call.
 */
#ifndef LOCKSTEP_BLAS_GEMM_H
#define LOCKSTEP_BLAS_GEMM_H
#include "libraries/blas.h"

enum { EPILOGUE_RELU = 2, EPILOGUE_BIAS = 4, EPILOGUE_GELU = 32, EPILOGUE_AUX = 128 }; /* bits of cublasLtEpilogue_t */

/* Checks what is described, declares the operands and enqueues it. scale: the type of alpha and beta, which lie on the
 * device or not. */
s64 blas_gemm_enqueue(struct library_call *c, const void *alpha, const void *beta, enum number_type scale,
                      bool on_device);
/* Declares a workspace: products of one stream use it one after the other, those of two streams do not. */
void blas_workspace(struct library_call *c, const void *p, u64 bytes);
#endif
