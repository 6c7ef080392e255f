/* race_advice.h: a race being told (race_report.c), and what is said about it (race_advice.c). */
#ifndef LOCKSTEP_RACE_ADVICE_H
#define LOCKSTEP_RACE_ADVICE_H
#include "race/race.h"

struct telling { /* one finding under way */
    const struct touch *t;
    const struct list_entry *old, *me;
    struct arena mem;
    struct finding f;
    struct rival rival;
    const struct lowered *old_low;
    u32 old_op;           /* NULL: not known any more */
    u64 old_linear;       /* its CTA */
    u32 lane;             /* of ours */
    u64 at;               /* the byte, in the space's own addresses */
    enum missing missing; /* what would order them */
    /* of a crowd of readers only one is known, and that is our own thread: it was one of the others */
    bool self;
};

/* The memory instruction of an operation; NULL: it is none. */
static inline const struct site *site_at(const struct lowered *l, u32 op)
{
    u32 n = l && l->op[op].kind == K_MEM ? l->op[op].site : NONE;
    return n != NONE && n < l->nsite && l->site[n].op == op ? &l->site[n] : NULL;
}

/* by operation: 1: a load of which update_load of some store is the answer; from base_need */
u8 *race_update_loads(const struct lowered *l);
/* fills cause, order and fix of x->f, by its kind; true: they name a flag or a lock */
bool race_advise(struct telling *x);
/* two stores of an update (x += 1) that nothing orders: the load before one of them races with the other, and says
 * more */
bool race_is_echo(const struct telling *x);
#endif
