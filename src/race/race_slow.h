/* race_slow.h: what the slow paths share: cells and their elements (race_cell.c), lists (race_list.c). */
#ifndef LOCKSTEP_RACE_SLOW_H
#define LOCKSTEP_RACE_SLOW_H
#include "race/race_touch.h"
#include "race/race_kernel.h"

static inline bool same_cta(const struct race_warp *w, u64 a)
{
    return word_slot(a) == w->c->slot && word_time(a) >= w->c->start && word_kind(a) != WHO_GRID;
}

/* The set of two concurrent accesses of a simple kernel, with the time of the later one. Within a CTA it goes by the
 * name of the earlier one: the later one may well be the writer to come, who does not race with itself. */
static inline u64 merge(const struct race_warp *w, u64 old, u64 me)
{
    u32 kind = WHO_WARP;
    if (word_kind(old) == WHO_GRID || word_slot(old) != word_slot(me) || word_time(old) < w->c->start)
        kind = WHO_GRID;
    else if (word_kind(old) == WHO_CTA || word_warp(old) != word_warp(me))
        kind = WHO_CTA;
    kind = MAX_OF(kind, word_kind(me));
    u32 name = (u32)(kind == WHO_GRID ? me : old);
    return (me >> 32 << 32) | (name & ~0x3fu) | (u64)kind << 4;
}
/* The instruction that a set is shown with: of CTAs the later one, else the earlier one; but not one that begins an
 * update where the other does not, since its own thread is the writer to come. */
static inline u32 merged_site(const struct touch *t, u64 set, u32 old)
{
    const struct race_launch *launch = t->w->c->launch;
    if (likely(old == t->site)) return old;
    return (word_kind(set) == WHO_GRID ? race_updates(launch, t->site)
                                       : !race_updates(launch, old) || race_updates(launch, t->site))
               ? old
               : t->site;
}

/* No thread has both of them at one byte. */
static inline bool no_common_thread(u64 o, u64 m)
{
    if (word_kind(o) != WHO_ONE || word_kind(m) != WHO_ONE || word_warp(o) != word_warp(m)) return true;
    return word_es(o) == word_es(m) && word_lane(o) != word_lane(m);
}

/* ---- what a cell says ---- */

/* What stands for a word, as an access of a list: of atomics, es was the size. */
static inline u64 one_word(u64 a, u32 op)
{
    return op & OP_STRONG ? (a & ~(0x1cull << 4 | 12)) | (u64)ES_ONE << 6 : a & ~12ull;
}

/* Where strong writes were noted: what that is, and what there is of weak ones. */
static inline struct write_pair *write_pair_of(const struct touch *t, const struct cell *c)
{
    return POOL_AT(&notes_of(t)->write_pair, struct write_pair, c->wx);
}
static inline struct write_pair write_blocks(const struct touch *t, const struct cell *c, u64 lo)
{
    return unlikely(cell_has_pair(c, lo)) ? *write_pair_of(t, c) : (struct write_pair){ c->wx, 0 };
}
#endif
