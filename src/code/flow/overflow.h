/* overflow.h: 32-bit indices that overflow on their way to an address (rules.md V2), as far as the text tells.
 *
 * When a function is lowered, overflow_find marks the operations on the way: sums and products of 32 bits whose result
 * is sign-extended, and what becomes of it until it is an address, with nothing but copies, sums, products and
 * selections in between. When a launch begins, intervals.c asks whether any of them can overflow under its shape and
 * parameters; the answer is nearly always no, and nothing is watched. Otherwise decode puts a check before each of
 * them and before the accesses, and the engine follows the values. */
#ifndef LOCKSTEP_OVERFLOW_H
#define LOCKSTEP_OVERFLOW_H
#include "code/code.h"

/* lowered.overflow, by operation */
enum {
    OVERFLOW_NARROW = 1, /* arithmetic of 32 bits that may overflow */
    OVERFLOW_CARRY = 2,  /* its result is as wrong as its operands */
    OVERFLOW_CLEAR = 4,  /* something else writes a register that may hold such a result */
    OVERFLOW_USE = 8     /* an access whose address may be one */
};

/* What is known of a launch before it begins. */
struct launch_facts {
    u32 grid[3], block[3]; /* its shape, in CTAs and threads */
    const void *params;    /* the parameter block */
    u32 param_bytes;       /* of it */
};

void overflow_find(struct lowered *l);
/* Whether a launch of this kernel must be watched. */
bool overflow_possible(struct lowered *kernel, const struct launch_facts *in);
/* intervals.c: the same question; hot: by operation, the ones that can overflow */
bool intervals_may_overflow(const struct lowered *l, const struct launch_facts *in, u8 *hot);
#endif
