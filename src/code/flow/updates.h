/* updates.h: updates in code: a load whose thread then stores a new value there, x += 1 (updates.c). */
#ifndef LOCKSTEP_UPDATES_H
#define LOCKSTEP_UPDATES_H
#include "code/code.h"

/* The memory instruction of an operation; NULL: it is not one. */
static inline const struct site *site_at(const struct lowered *l, u32 op)
{
    u32 n = l && l->op[op].kind == K_MEM ? l->op[op].site : NONE;
    return n != NONE && n < l->nsite && l->site[n].op == op ? &l->site[n] : NULL;
}

/* The operation is a plain access, weak or volatile. l may be NULL: it is not one then. */
bool op_loads(const struct lowered *l, u32 op);
bool op_stores(const struct lowered *l, u32 op);
bool ops_same_address(const struct lowered *l, u32 a, u32 b);        /* both access it by the same operand */
bool ops_may_synchronise(const struct lowered *l, u32 from, u32 to); /* something between the two may */
/* The load of the update that a store ends: x = x + 1, or if (v > x) x = v. NONE: it ends none, or is no store. */
u32 update_load(const struct lowered *l, u32 store);
/* What the store writes is computed from what that load has loaded; false: the value only decides whether it stores. */
bool update_is_computed(const struct lowered *l, u32 load, u32 store);
u8 *update_loads(const struct lowered *l); /* by operation: 1: a load that begins an update; from base_need */
#endif
