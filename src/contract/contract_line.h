/* What the files that read contract lines share. */
#ifndef LOCKSTEP_CONTRACT_LINE_H
#define LOCKSTEP_CONTRACT_LINE_H
#include "contract/contract.h"

/* A name that no argument, no part and, unless `dims_too`, no dim of this block has. NULL: e says why. */
const char *line_name(struct cursor *c, struct contract_kernel *k, const char *what, bool dims_too);
/* f32[rows, cols]; a type alone when `bare` allows it. */
bool line_shape(struct cursor *c, struct contract_shape *out, bool bare);
/* [a, b, ...]: returns how many, 0: e says why. */
u32 line_list(struct cursor *c, struct expr *out[CONTRACT_RANK]);
/* Nothing but blanks may be left. */
bool line_ends(struct cursor *c, const char *what);
bool line_arg(struct cursor *c, struct contract_kernel *k);
#endif
