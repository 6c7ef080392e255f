/* race_code.h: what the code of a kernel says about two accesses that race (race_code.c). */
#ifndef LOCKSTEP_RACE_CODE_H
#define LOCKSTEP_RACE_CODE_H
#include "explain/race_advice.h"

/* One access of the two, in the code. */
struct side {
    const struct lowered *l; /* its function; NULL: not known */
    u32 op;                  /* its operation there */
};
struct side code_current(const struct draft *x);
struct side code_prior(const struct draft *x);
/* a plain access, weak or volatile */
bool code_is_load(struct side s);
bool code_is_store(struct side s);
bool code_same_object(const struct provenance *a, const struct provenance *b); /* by parameter or variable */
const char *code_line(struct draft *x, struct side s); /* its source line, as the text of a finding names it */
bool code_one_statement(struct draft *x, struct side a, struct side b);

u32 code_block(const struct lowered *l, u32 op);                      /* its basic block; NONE */
bool code_dominates(const struct lowered *l, u32 a, u32 b);           /* every path to b passes a */
bool code_barrier_between(const struct lowered *l, u32 from, u32 to); /* in the text */
/* A thread that reaches b has passed a itself, or a barrier after a at which it met the thread that passed a: one
 * thread acts for its block. */
bool code_must_pass(const struct lowered *l, u32 a, u32 b);
bool code_fence_between(const struct lowered *l, u32 from, u32 to);  /* and whoever reaches `to` has passed it */
u32 code_barrier_in_pass(const struct lowered *l, u32 from, u32 to); /* between the two, before the second; NONE */
bool code_in_one_loop(const struct lowered *l, u32 a, u32 b);
/* The operations of the innermost loop that contains both: from *first to before *end; false: no loop does. */
bool code_common_loop(const struct lowered *l, u32 a, u32 b, u32 *first, u32 *end);

/* In a loop that the compiler has unrolled, first is an access of one turn and second one of the next turn, which comes
 * earlier in the source: the barrier that orders the two within a turn. NONE: it is not so. */
u32 code_barrier_in_turn(const struct lowered *l, u32 first, u32 second);
/* Only one thread of a block reaches the operation: it is behind a test like threadIdx.x == 0. May return false where
 * one thread does: the caller then takes it for several. */
bool code_by_one_thread(const struct lowered *l, u32 op);

/* The register has one value for all threads of a block: it is set once, from constants, parameters, the block's index
 * and the sizes of the launch, and by plain loads from addresses like that. May return false where it has. */
bool code_is_of_block(const struct lowered *l, u32 reg);

u32 code_update_load(struct side s); /* the load of the update (x += 1) that the store s ends; NONE: it ends none */
#endif
