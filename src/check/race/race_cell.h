/* race_cell.h: shadow cells: what the race check has recorded of each 32-byte sector, and the slow paths of an access
 * to one (race_cell.c). The fast paths are in race_touch.h. */
#ifndef LOCKSTEP_RACE_CELL_H
#define LOCKSTEP_RACE_CELL_H
#include "clocks/access_word.h"

struct race_warp;
struct race_cta;
struct warp;
struct list_entry;
enum { SPACE_SHARED, SPACE_GLOBAL };

struct cell { /* of one sector */
    /* The last write; the last read, or the reads. Mixed reads of kind WHO_WARP: all are by that warp, and none is
     * later than the time of the word; with a lane that is not 0, each element has a set of readers of the warp, made
     * since its last barrier at that time. Of kind WHO_CTA: a set of the CTA, likewise; of kind WHO_GRID: of several
     * CTAs. */
    u64 w, r;
    /* What belongs to each. Uniform: the site of the access. Mixed: the number of the element block, of the list
     * (FLAG_LIST) or of the write pair (FLAG_PAIR). A reader set: its number. */
    u32 wx, rx;
};
/* A site in a cell: the function's serial number in the upper bits, the operation in the lower ones (race_site). */
enum { SITE_FUNCTION = 20, SITE_OPERATION = (1 << SITE_FUNCTION) - 1 };
/* The bytes that the cells of so many bytes of memory take, whole sectors. */
static inline u64 cells_for(u64 bytes) { return bytes / SECTOR * sizeof(struct cell); }
/* The cell of a sector, by its address. `cells` is the address that the cell of sector 0 would have, and may itself lie
 * outside of any object. */
static inline struct cell *cell_of(const char *cells, u64 sector)
{
    return (struct cell *)((uintptr_t)cells + cells_for(sector));
}
/* The sector has a list; lo: as race_cta.lo. */
static inline bool cell_has_list(const struct cell *c, u64 lo)
{
    return c->w >= lo && word_mixed(c->w) && c->w & FLAG_LIST;
}
/* Its strong writes have elements of their own. */
static inline bool cell_has_pair(const struct cell *c, u64 lo)
{
    return c->w >= lo && (c->w & (MIXED | FLAG_PAIR)) == (MIXED | FLAG_PAIR);
}

/* What one instruction does to one sector, for the slow paths and the report. */
struct touch {
    struct warp *warp;
    struct race_warp *w;
    u32 op_index;         /* in warp->code->low */
    u32 site;             /* the same, as cells record it: race_site */
    u32 op, space;        /* OP_*; SPACE_* */
    u8 scope;             /* of a strong access */
    u32 whole, id, write; /* as in list_entry */
    u64 at;               /* address of the sector, global or shared (units/cluster.h) */
    u32 product;          /* the number of the wgmma that reads, from 1 on; 0: none */
};

/* A global sector that its CTA wrote and has read in this phase. */
struct transient_read {
    struct cell *cell;
    u64 at; /* address of the sector */
};

/* All bytes of the sector, by consecutive threads or one set. */
void cell_access_sector_slow(const struct touch *t, struct cell *c, u64 me);
/* Word j of the sector, by one thread, or by lanes of one warp. */
void cell_access_word(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes);
/* The same for any bytes of it. */
void cell_access_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes);
/* A strong write, from byte `first` of the sector on, by one thread of a simple kernel. */
void cell_strong_write(const struct touch *t, struct cell *c, u32 first, u32 size, u64 me);
/* After a read in a simple kernel: notes in the cell that sets of readers have all elements, where that is so and no
 * write has to be compared. */
void cell_sum_reads(const struct touch *t, struct cell *c);
/* The elements, sets and pairs of its writes, or of its reads, are given back. */
void cell_drop_writes(const struct touch *t, const struct cell *c, u64 lo);
void cell_drop_reads(const struct touch *t, const struct cell *c, u64 lo);
void cell_clear(const struct touch *t, struct cell *c); /* drops all, as if the sector had not been accessed */
/* Records a weak read, in a kernel that is not simple. */
void cell_record_read(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes);
/* All recorded reads happen before the write m. Then, if m is weak, it replaces those it covers. */
bool cell_reads_before(const struct touch *t, struct cell *c, const struct list_entry *m);
/* A sector of global memory that the launch has written has elements of reads now: they go at the next barrier. */
void cell_add_transient(struct race_cta *c, struct cell *cell, u64 at);
/* A barrier, or the end of the CTA: elements of reads that are not needed any more go. */
void cell_drop_transients(struct race_cta *c);
#endif
