/* wraps.h: 32-bit indices that wrap on their way to an address (RULES.md V2).
 *
 * When a function is lowered, wraps_find marks the operations on the way: sums and products of 32 bits whose result
 * is sign-extended, and what becomes of it until it is an address, with nothing but copies, sums, products and
 * selections in between. When a launch begins, intervals.c asks whether any of them can wrap under its shape and
 * parameters; the answer is nearly always no, and nothing is watched. Otherwise decode puts wraps_step before each of
 * them and wraps_use before the accesses, and a register whose value is not what the arithmetic means is remembered
 * with what it should have been. */
#ifndef LOCKSTEP_WRAPS_H
#define LOCKSTEP_WRAPS_H
#include "sim/access.h"

/* lowered.wraps, by operation */
enum {
    WRAP_NARROW = 1, /* arithmetic of 32 bits that may wrap */
    WRAP_CARRY = 2,  /* its result is as wrong as its operands */
    WRAP_CLEAR = 4,  /* something else writes a register that may hold such a result */
    WRAP_USE = 8
}; /* an access whose address may be one */
void wraps_find(struct lowered *l);
bool wraps_watched(struct lowered *kernel, const struct sim_launch *in); /* whether this launch must be */
/* intervals.c; hot: by operation, which */
bool intervals_may_wrap(const struct lowered *l, const struct sim_launch *in, u8 *hot);

handler wraps_step, wraps_use;
void wraps_reset(struct warp *w);
void wraps_free(struct warp *w);
/* If the address of one of these lanes wrapped: the arithmetic as cause and origin of a finding about the access. */
void wraps_explain(const struct access *a, u32 mask, struct arena *mem, struct finding *f);
#endif
