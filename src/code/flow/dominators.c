/* Dominators by Lengauer and Tarjan (1979), the version with path compression: m log n steps on any graph. The
 * iterative algorithm of Cooper, Harvey and Kennedy is shorter, and quadratic where thousands of branches go to one
 * block.
 *
 * Nodes are numbered in the order of a depth-first search. The semidominator of a node is the least node from which a
 * path leads to it over greater ones only; the immediate dominator is found from it. */
#include "flow/dominators.h"

/* Everything is by node, except vertex, which is by number. */
struct search {
    u32 *vertex;        /* the node of each number */
    u32 *number;        /* NONE: not reached */
    u32 *parent;        /* in the tree of the search */
    u32 *semi;          /* the number of the semidominator */
    u32 *ancestor;      /* in the forest of linked nodes; NONE: a root of it */
    u32 *label;         /* a node of least semi on the way to the root of the forest */
    u32 *bucket, *next; /* nodes that have this one as semidominator, as a list */
    u32 *stack;
};

static u32 depth_first(struct search *s, u32 root, const struct edges *succ, u32 *at)
{
    u32 sp = 0, n = 0;
    s->stack[sp++] = root;
    s->number[root] = n;
    s->vertex[n++] = root;
    s->parent[root] = NONE;
    at[root] = succ->first[root];
    while (sp) {
        u32 k = s->stack[sp - 1];
        if (at[k] == succ->first[k + 1]) {
            sp--;
            continue;
        }
        u32 to = succ->to[at[k]++];
        if (s->number[to] != NONE) continue;
        s->number[to] = n;
        s->vertex[n++] = to;
        s->parent[to] = k;
        at[to] = succ->first[to];
        s->stack[sp++] = to;
    }
    return n;
}

/* The node of least semi on the way from k to the root of its tree in the forest; the way becomes shorter. */
static u32 evaluate(struct search *s, u32 k)
{
    u32 sp = 0;
    if (s->ancestor[k] == NONE) return k;
    for (; s->ancestor[s->ancestor[k]] != NONE; k = s->ancestor[k]) s->stack[sp++] = k;
    u32 least = s->label[k];
    while (sp) {
        k = s->stack[--sp];
        u32 up = s->ancestor[k];
        if (s->semi[s->label[up]] < s->semi[s->label[k]]) s->label[k] = s->label[up];
        s->ancestor[k] = s->ancestor[up];
        least = s->label[k];
    }
    return least;
}

void dominators_find(u32 n, u32 root, const struct edges *succ, const struct edges *pred, u32 *idom)
{
    struct arena tmp = { 0 };
    struct search s = { .vertex = NEW_ARRAY(&tmp, u32, n),
                        .number = NEW_ARRAY(&tmp, u32, n),
                        .parent = NEW_ARRAY(&tmp, u32, n),
                        .semi = NEW_ARRAY(&tmp, u32, n),
                        .ancestor = NEW_ARRAY(&tmp, u32, n),
                        .label = NEW_ARRAY(&tmp, u32, n),
                        .bucket = NEW_ARRAY(&tmp, u32, n),
                        .next = NEW_ARRAY(&tmp, u32, n),
                        .stack = NEW_ARRAY(&tmp, u32, n + 1) };
    for (u32 k = 0; k < n; k++) {
        s.number[k] = s.ancestor[k] = s.bucket[k] = s.next[k] = idom[k] = NONE;
        s.label[k] = k;
    }
    u32 reached = depth_first(&s, root, succ, s.semi);
    for (u32 k = 0; k < n; k++) s.semi[k] = s.number[k];
    for (u32 i = reached; i-- > 1;) {
        u32 w = s.vertex[i], up = s.parent[w];
        for (u32 j = pred->first[w]; j < pred->first[w + 1]; j++) {
            u32 from = pred->to[j];
            if (s.number[from] == NONE) continue;
            u32 u = evaluate(&s, from);
            s.semi[w] = MIN_OF(s.semi[w], s.semi[u]);
        }
        u32 at = s.vertex[s.semi[w]];
        s.next[w] = s.bucket[at];
        s.bucket[at] = w;
        s.ancestor[w] = up;
        for (u32 v = s.bucket[up]; v != NONE; v = s.next[v]) {
            u32 u = evaluate(&s, v);
            idom[v] = s.semi[u] < s.semi[v] ? u : up;
        }
        s.bucket[up] = NONE;
    }
    for (u32 i = 1; i < reached; i++) {
        u32 w = s.vertex[i];
        if (idom[w] != s.vertex[s.semi[w]]) idom[w] = idom[idom[w]];
    }
    idom[root] = root;
    arena_free(&tmp);
}
