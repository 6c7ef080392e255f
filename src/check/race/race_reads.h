/* race_reads.h: reads of objects that the launch cannot write.
 *
 * Inside such a launch no read of them races. All that is asked of them is its footprint (race_footprint.h): which
 * bytes were read, and by which instruction. So where nothing else shares the era, in simple kernels, the cell of a
 * sector has no access words but two others: r is the launch and a bit for each byte that was read, w the launch and
 * the lowest site that read some. Each has the epoch of the era in its upper half, so that cells of earlier launches
 * are as if empty, and those of this one are so to later launches, whatever these do with them. An access costs two
 * comparisons a sector, and takes no lock.
 *
 * mem_object.reads leads to these cells, and mem_object.race does not: whoever asks for cells finds none. */
#ifndef LOCKSTEP_RACE_READS_H
#define LOCKSTEP_RACE_READS_H
#include "race/race_cell.h"
#include "race/race_launch.h"

static inline u64 reads_stamp(const struct race_era *era) { return (u64)era->epoch << 32; }
/* What the cell has: the bytes that were read since the launch began, and the site; 0: none were. */
static inline u32 reads_bytes(const struct cell *c, u64 stamp) { return c->r >= stamp ? (u32)c->r : 0; }
static inline u32 reads_site(const struct cell *c) { return (u32)c->w; }

void reads_sector_slow(struct cell *c, u32 bytes, u64 stamp, u32 site);
/* These bytes of the sector are read. */
static inline void reads_sector(struct cell *c, u32 bytes, u64 stamp, u32 site)
{
    u64 r = __atomic_load_n(&c->r, __ATOMIC_RELAXED), w = __atomic_load_n(&c->w, __ATOMIC_RELAXED);
    bool known = ((r ^ stamp) | (w ^ stamp)) >> 32 == 0 && !(bytes & ~(u32)r) && (u32)w <= site;
    if (unlikely(!known)) reads_sector_slow(c, bytes, stamp, site);
}
/* n bytes at a are read; `cells` as in cell_of. */
static inline void reads_run(const struct race_era *era, char *cells, u64 a, u64 n, u32 site)
{
    u64 stamp = reads_stamp(era);
    for (u64 end = a + n, next; a < end; a = next) {
        u64 sector = a & ~(u64)(SECTOR - 1);
        next = MIN_OF(end, sector + SECTOR);
        reads_sector(cell_of(cells, sector), bytes_mask((u32)(a - sector), (u32)(next - a)), stamp, site);
    }
}
#endif
