/* race_slow.h: what the slow paths share: cells and their elements (race_cell.c), lists (race_list.c).
 *
 * Sets in simple kernels. Concurrent accesses that do not conflict become one access word of kind WHO_WARP, WHO_CTA or
 * WHO_GRID, without members: all of them lie in one phase, so a later access is ordered after each of them, or races
 * with at least one. The word names one member, with which a race is reported. */
#ifndef LOCKSTEP_RACE_SLOW_H
#define LOCKSTEP_RACE_SLOW_H
#include "race/race_touch.h"
#include "race/race_kernel.h"

/* The set of two concurrent accesses, with the time of the current one. Within a CTA it is named after the prior one,
 * since the current thread may be the one that writes next, and does not race with itself. */
static inline u64 merge_words(const struct race_warp *w, u64 old, u64 me)
{
    u32 kind = WHO_WARP;
    if (word_kind(old) == WHO_GRID || word_slot(old) != word_slot(me) || word_time(old) < w->c->start)
        kind = WHO_GRID;
    else if (word_kind(old) == WHO_CTA || word_warp(old) != word_warp(me))
        kind = WHO_CTA;
    kind = MAX_OF(kind, word_kind(me));
    u32 name = (u32)(kind == WHO_GRID ? me : old);
    return (me >> 32 << 32) | (name & ~(u32)(WORD_KIND | WORD_LOW)) | (u64)kind << 4;
}

/* The site that a set made by merge_words is reported with: that of the current access for several CTAs, otherwise that
 * of the prior one. If only one of the two begins an update (x += 1), it is the other one: the thread of an update
 * writes next itself. */
static inline u32 merge_sites(const struct touch *t, u64 set, u32 old)
{
    const struct race_launch *launch = t->w->c->launch;
    if (likely(old == t->site)) return old;
    return (word_kind(set) == WHO_GRID ? race_updates(launch, t->site)
                                       : !race_updates(launch, old) || race_updates(launch, t->site))
               ? old
               : t->site;
}

/* No thread made both accesses at one byte. A set counts as other threads. */
static inline bool no_common_thread(u64 o, u64 m)
{
    if (word_kind(o) != WHO_ONE || word_kind(m) != WHO_ONE || word_warp(o) != word_warp(m)) return true;
    return word_es(o) == word_es(m) && word_lane(o) != word_lane(m);
}

/* The access word of an element, as an entry of a list has it: the scope is a field of its own there, and es of a
 * strong write, which is its size in an element, is not needed. */
static inline u64 word_of_entry(u64 a, u32 op)
{
    return op & OP_STRONG ? (a & ~(WORD_ES | WORD_SCOPE)) | (u64)ES_ONE << 6 : a & ~WORD_SCOPE;
}

/* The write pair of a cell that has one (cell_has_pair). */
static inline struct write_pair *write_pair_of(const struct touch *t, const struct cell *c)
{
    return POOL_AT(&notes_of(t)->write_pair, struct write_pair, c->wx);
}
/* The element blocks of the weak and strong writes of a mixed cell. */
static inline struct write_pair write_blocks(const struct touch *t, const struct cell *c, u64 lo)
{
    return unlikely(cell_has_pair(c, lo)) ? *write_pair_of(t, c) : (struct write_pair){ c->wx, 0 };
}
#endif
