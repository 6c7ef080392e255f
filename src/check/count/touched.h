/* touched.h: the footprint of a launch: the distinct sectors that a launch reads and writes in global memory: what it
 * must move between DRAM and the chip at least, however good the caches are.
 *
 * A bit for each sector read and each written, in pages of 64 KiB of addresses that are found by a hash. Each worker
 * has its own; they are joined at the end, so that the order of workers does not show. */
#ifndef LOCKSTEP_TOUCHED_H
#define LOCKSTEP_TOUCHED_H
#include "base/base.h"

struct touched { /* {0} is empty */
    struct touched_page **slot;
    u32 n, cap; /* pages; slots, a power of two */
    struct touched_page *last;
};
void touched_add(struct touched *t, u64 sector, bool write);
void touched_range(struct touched *t, u64 first, u64 count, bool write);
void touched_join(struct touched *into, const struct touched *from);
struct touched_count {
    u64 read, written, any; /* sectors: read, written, one or the other */
};
struct touched_count touched_count(const struct touched *t);
void touched_free(struct touched *t);
#endif
