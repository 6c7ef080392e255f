/* functions.h: from a function of the text to its lowered form. */
#ifndef LOCKSTEP_FUNCTIONS_H
#define LOCKSTEP_FUNCTIONS_H
#include "code/code.h"

/* Lowers a function, when it was not lowered before, and finds out what analyses.h and its like tell of it. NULL: e
 * says why not. */
struct lowered *lower_func(struct func_table *t, struct ptx_func *f, struct error *e);
/* The variable or function that an instruction names and no module defines; NULL: all are there. */
const struct ptx_operand *operand_undefined(const struct ptx_insn *i);
/* The function of the CUDA runtime that has this name (lower_call.c); whether there is one. */
enum builtin builtin_find(struct str name);
bool builtin_provides(struct str name);
/* It takes the place of the function of that name, defined or not: an entry of the device runtime. */
bool builtin_replaces(struct str name);
/* The name is one by which libcudadevrt calls the driver. */
bool builtin_is_system(struct str name);
#endif
