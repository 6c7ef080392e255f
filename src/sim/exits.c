/* Where threads left the kernel. A warp records where its lanes left, a worker where those of its finished CTAs did:
 * EXIT_RECORDS places each, written once a warp. They are read only when a report explains who is missing. */
#include "sim/exits.h"

void exit_record_join(struct exit_record *v, u32 *n, const struct exit_record *x)
{
    for (u32 k = 1; k < *n; k++)
        if (v[k].op == x->op && v[k].low == x->low) {
            v[k].mask |= x->mask;
            return;
        }
    if (*n < EXIT_RECORDS)
        v[(*n)++] = *x;
    else
        v[EXIT_RECORDS - 1].mask |= x->mask;
}

void exit_record_cta(struct worker *k, const struct cta *c)
{
    for (u32 n = 0; n < c->nwarps; n++) {
        const struct warp *w = c->warp[n];
        for (u32 j = 0; j < w->nexits; j++) exit_record_add(k->exits, &k->nexits, &w->exits[j]);
    }
}
