/* worklist.h: which operations are to be looked at again, once something is known of a register.
 *
 * An analysis that passes over all operations until nothing changes takes as many passes as a fact takes steps against
 * the order of the text: the square of a function whose blocks lie backwards. Here an operation comes again only when
 * one of its registers has changed. */
#ifndef LOCKSTEP_WORKLIST_H
#define LOCKSTEP_WORKLIST_H
#include "code/code.h"

/* By register r: op[first[r]] to op[first[r + 1] - 1], in the order of the text. */
struct op_lists {
    u32 *first, *op;
};
struct op_lists op_users(const struct lowered *l, struct arena *a);    /* operations that read it */
struct op_lists op_definers(const struct lowered *l, struct arena *a); /* operations that write it */

/* Numbers below a limit, each there at most once, taken in the order in which they came. */
struct worklist {
    u32 *item;   /* a ring */
    u8 *waiting; /* by number: it is there */
    u32 limit;   /* numbers are below; places of the ring */
    u32 at, n;   /* the next one to take; how many there are */
};
struct worklist worklist_new(u32 limit, struct arena *a);
void worklist_add(struct worklist *w, u32 number);
bool worklist_take(struct worklist *w, u32 *number); /* false: none, or the work is to stop */
static inline void worklist_add_all(struct worklist *w, const struct op_lists *of, u32 reg)
{
    for (u32 k = of->first[reg]; k < of->first[reg + 1]; k++) worklist_add(w, of->op[k]);
}
#endif
