/* provenance.h: which object the address in a register was made from (rules.md B). */
#ifndef LOCKSTEP_PROVENANCE_H
#define LOCKSTEP_PROVENANCE_H
#include "code/code.h"

/* Fills lowered.prov, lowered.tag and site.prov. */
void provenance_find(struct lowered *l);
/* Of an operand that is read as a value of `width` bytes. */
struct provenance provenance_of(const struct lowered *l, struct opnd o, u32 width);
#endif
