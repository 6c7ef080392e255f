/* Finds the branches that decide whether an operation is reached; reports use them to explain why it was not. */
#include "flow/flow.h"

static u32 block_of(const struct lowered *l, u32 op)
{
    u32 b = 0;
    while (b < l->nblock && !(op >= l->block[b].first && op < l->block[b].end)) b++;
    return b < l->nblock ? b : NONE;
}

const struct loop *loop_of_op(const struct lowered *l, u32 op)
{
    u32 b = block_of(l, op);
    return b != NONE && l->block[b].loop ? &l->loop[l->block[b].loop - 1] : NULL;
}

/* Does every path through block `from` pass block `to`? */
static bool always_reaches(const struct lowered *l, u32 from, u32 to)
{
    for (u32 n = 0; from != NONE && from != to && n < l->nblock; n++) from = l->block[from].ipdom;
    return from == to;
}

/* The last branch before the operation from which it need not be reached. */
u32 deciding_branch(const struct lowered *l, u32 op)
{
    u32 b = block_of(l, op);
    if (b == NONE) return NONE;
    for (u32 up = l->block[b].idom, n = 0; up != NONE && n < l->nblock; up = l->block[up].idom, n++)
        if (l->block[up].nsucc > 1 && !always_reaches(l, up, b)) return l->block[up].end - 1;
    return NONE;
}
