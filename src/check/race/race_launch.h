/* race_launch.h: eras, launches, their slots and CTAs (race_launch.c). */
#ifndef LOCKSTEP_RACE_LAUNCH_H
#define LOCKSTEP_RACE_LAUNCH_H
#include "race/race.h"

struct race_era *era_new(struct race *r); /* NULL: no memory */
void launch_begin(struct race *r, const struct launch *l);
void launch_end(struct race *r, const struct launch *l);
/* A thread of a launch that may overlap the ones in front of it waits for them (griddepcontrol.wait): once they are
 * done they are before it. NULL: nothing. */
void launch_depends(struct race_launch *launch);
/* The thread launches a kernel: what is before the launch is kept, until that kernel begins, under *handle. */
void launch_handed(struct race_warp *w, u32 lane, u64 *handle);
void launches_forget(struct race_era *era); /* those that have ended: nothing is known of them any more */
void launches_free(struct race *r);         /* with the slots and all cells; none is running */

/* The launch of that number, another one of the era, is before `me`, whole. Under the lock of the era. */
bool launch_before(const struct race_era *era, u32 number, const struct race_launch *me);
/* A vector clock that is after a launch as a whole has the one write of this location, which no memory has. */
static inline u32 launch_as_location(u32 number) { return 1u << 31 | number; }

void race_cta_begin(struct race *r, struct cta *cta); /* it becomes resident: gives it a slot, and its warps clocks */
void race_cta_end(struct race_cta *c);
/* The first `warps` warps of the CTA get one time, which is after all that they did. */
void race_tick(struct race_cta *c, u32 warps);
/* A barrier of all threads of the CTA: each is ordered after all that the CTA did. */
void race_cta_synced(struct race_cta *c);
/* *was becomes the CTA that had the slot at that time; false: none had, or it is forgotten. Under the lock of the era.
 */
bool resident_at(const struct race *r, u32 slot, u32 time, struct resident *was);
/* When the CTA began whose access that was; 0: it is not known. */
static inline u32 resident_start(const struct race *r, u64 a)
{
    const struct race_cta *c = r->slot[word_slot(a)];
    struct resident was;
    if (c->nresidents) { /* mostly of the CTA that is there now, or was last */
        const struct resident_run *run = &c->residents[c->nresidents - 1];
        u32 last = run->first.start + (run->count - 1) * run->by.start;
        if (word_time(a) >= last) return last;
    }
    return resident_at(r, word_slot(a), word_time(a), &was) ? was.start : 0;
}
#endif
