/* race_advice.h: a race finding while it is written (race_report.c), and the advice it gives (race_advice.c). */
#ifndef LOCKSTEP_RACE_ADVICE_H
#define LOCKSTEP_RACE_ADVICE_H
#include "flow/updates.h"
#include "race/race_touch.h"

/* One race finding while it is written. `old` is the prior access, `me` the current one, which found it. */
struct draft {
    const struct touch *t;                /* the current instruction and sector */
    const struct list_entry *old, *me;    /* the two accesses */
    struct report *to;                    /* where the finding goes */
    struct arena mem;                     /* of the texts of the finding */
    struct finding f;                     /* the finding itself */
    struct rival rival;                   /* the prior side, as the finding shows it */
    const struct lowered *old_low;        /* function of the prior access; NULL: not known any more */
    u32 old_op;                           /* its operation there */
    u64 old_linear;                       /* its CTA, by linear number */
    bool other_launch;                    /* it is of another launch of the era */
    u64 old_serial;                       /* the serial of its launch */
    u32 old_grid[3], old_block[3];        /* the shape of its launch */
    const struct race_kernel *old_kernel; /* the kernel of its launch */
    u32 lane;                             /* the lane of the current access that is shown */
    u64 at;                               /* the byte, in the space's own addresses */
    enum missing missing;                 /* what would order them */
    /* the prior access is a set, named after the current thread itself: the racing member is another one, unknown */
    bool self;
    bool of_block; /* R7: threads of one block store what depends on the block alone */
};

/* fills cause, order and fix of x->f, by its kind; true: they name a flag or a lock */
bool race_is_init(const struct lowered *l, u32 op); /* the operation initialises an mbarrier */
bool race_advise(struct draft *x);
bool race_same_statement(struct draft *x); /* both are one instruction, or copies of one (an unrolled loop) */
/* Both accesses are the store that ends an update (x += 1): the place of the load that begins it. NULL: they are not.
 */
const struct place *race_update_load(struct draft *x);
#endif
