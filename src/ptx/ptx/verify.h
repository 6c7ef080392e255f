/* What the files of the verifier share. */
#ifndef LOCKSTEP_PTX_VERIFY_H
#define LOCKSTEP_PTX_VERIFY_H
#include "ptx/ptx.h"

#define SHOW(s) (int)MIN_OF((s).n, 80u), (s).p /* a piece of text for %.*s in a message */

struct verifier { /* one function being checked */
    const struct ptx_module *m;
    const struct ptx_func *f;
    const struct ptx_insn *in; /* the instruction being checked */
    struct error *e;
};

bool verify_fail(const struct verifier *v, const char *at, const char *text, ...) __attribute__((format(printf, 3, 4)));
bool verify_insn(struct verifier *v); /* verify_insn.c: modifiers, operands, what the target must have */
bool verify_call(struct verifier *v); /* verify_call.c */
#endif
