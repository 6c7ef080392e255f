/* What is known of the errors of CUDA's driver and runtime: cuda_error.def and sign.def as values. */
#ifndef LOCKSTEP_CUDA_ERROR_H
#define LOCKSTEP_CUDA_ERROR_H
#include "base/base.h"

enum cuda_lasting { CUDA_PASSING, CUDA_CONTEXT, CUDA_STICKY };
struct cuda_error {
    u32 number;
    const char *driver;  /* "ILLEGAL_ADDRESS", "": none */
    const char *runtime; /* "IllegalAddress", "": none */
    enum cuda_lasting lasting;
    const char *kinds; /* findings that it is the sign of, with blanks between */
    const char *meaning, *causes, *fix;
};
struct cuda_sign {     /* something else that is found in logs (sign.def) */
    const char *name;  /* "exit-139" */
    const char *words; /* to look for; * in them is anything */
    const char *meaning, *fix;
};
/* The i-th of each, NULL past the last. */
const struct cuda_error *cuda_error_at(u32 i);
bool cuda_sign_at(u32 i, struct cuda_sign *out); /* false: there is none; several may have one name, and other words */
const char *cuda_phrase_at(u32 i, u32 *number);  /* words of a message, and the error they belong to */
#endif
