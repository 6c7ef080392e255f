/* Reads of objects that the launch cannot write: what two comparisons do not settle. */
#include "race/race_reads.h"

void reads_sector_slow(struct cell *c, u32 bytes, u64 stamp, u32 site)
{
    u64 r = __atomic_load_n(&c->r, __ATOMIC_RELAXED), w = __atomic_load_n(&c->w, __ATOMIC_RELAXED), next;
    do next = r < stamp ? stamp | bytes : r | bytes;
    while (next != r && !__atomic_compare_exchange_n(&c->r, &r, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    do next = w < stamp ? stamp | site : MIN_OF(w, stamp | site);
    while (next != w && !__atomic_compare_exchange_n(&c->w, &w, next, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}
