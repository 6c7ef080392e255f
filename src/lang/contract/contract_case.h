/* A case: one call of a kernel by its contract, as a line of text that can be printed, read again and made smaller.
 *
 *     rows=33 cols=130 T=f16 BLOCK=128 x:rows(2) x=cancel seed=7 order=3
 *
 * DIM=N is a size, CHOICE=VALUE one of the values of a `type` or `config` line, ARRAY:LAYOUT and ARRAY=CONTENTS say how
 * an array lies in memory and what is in it (the words of base/fill.h), seed=N what is random, order=N the order of
 * blocks and warps. What is left out is as the contract has it. */
#ifndef LOCKSTEP_CONTRACT_CASE_H
#define LOCKSTEP_CONTRACT_CASE_H
#include "contract/contract.h"

enum { CASE_ARRAYS = 32 };
struct contract_case {
    struct dim_value dim[CONTRACT_DIMS];
    struct choice_value choice[CONTRACT_CHOICES];
    struct choice_value layout[CASE_ARRAYS];   /* of an array: "rows(2)" */
    struct choice_value contents[CASE_ARRAYS]; /* of an array: "cancel" */
    u32 dims, choices, layouts, contentses;
    u64 seed;
    u32 order;
};
void case_print(const struct contract_case *c, struct text *out);
/* A line as it was printed. The block says what is a dim and what a choice; its values do not matter. Names live in
 * `mem`. */
bool case_read(struct arena *mem, const struct contract_kernel *k, const char *line, struct contract_case *out,
               struct error *e);
/* Whether two cases say the same of types and constants, so that one compilation serves both. */
bool case_same_choices(const struct contract_case *a, const struct contract_case *b);
/* The word for the contents of an array; NULL: as the contract has them. */
const char *case_contents(const struct contract_case *c, const char *array);
/* Whether the contents of an argument may be replaced by those of a word (fill.h): what the contract leaves to chance,
 * within the range that it promises. By infinities, NaN and numbers near overflow only where it says nothing of
 * contents. */
bool case_may_fill(const struct contract_arg *g, u32 word);
#endif
