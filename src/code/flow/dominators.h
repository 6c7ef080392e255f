/* Dominators of a graph (dominators.c). */
#ifndef LOCKSTEP_DOMINATORS_H
#define LOCKSTEP_DOMINATORS_H
#include "code/code.h"

/* The edges of a graph: those of node k are to[first[k]] .. to[first[k + 1] - 1]. */
struct edges {
    u32 *first, *to;
};
/* idom[k]: the immediate dominator of node k, of n; NONE: the root does not reach k. That of the root is itself. */
void dominators_find(u32 n, u32 root, const struct edges *succ, const struct edges *pred, u32 *idom);
#endif
