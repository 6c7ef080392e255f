/* uniform.h: what all threads of a CTA have in common, from the code: registers with one value, blocks that all
 * execute. classes.h has the same question for warps. */
#ifndef LOCKSTEP_UNIFORM_H
#define LOCKSTEP_UNIFORM_H
#include "code/code.h"

struct uniform {
    u8 *reg;   /* by register: it has the same value in all threads of the CTA */
    u8 *block; /* by block: all threads of the CTA execute it */
};
/* Both live in the arena. A search that is stopped (stop_asked) has shown nothing. */
struct uniform uniform_find(const struct lowered *l, struct arena *a);
#endif
