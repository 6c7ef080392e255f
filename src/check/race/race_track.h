/* race_track.h: which memory has cells (race_track.c). All of it under the lock of the race check. */
#ifndef LOCKSTEP_RACE_TRACK_H
#define LOCKSTEP_RACE_TRACK_H
#include "race/race.h"

struct race_kernel;
/* Gives the object cells, if it is live and has none. w: the warp that has allocated it, if one has and is watched. */
void race_track(struct race *r, struct mem_object *o, struct race_warp *w);
/* Gives cells to all objects that the kernel may write, and, where `reads`, that it may read. */
void track_launch(struct race *r, const struct launch *l, const struct race_kernel *k, bool reads);
/* Objects lead to their cells no more, until a launch asks for that. Cells of freed objects, or all, and those of
 * malloc are released. No launch runs. */
void untrack(struct race *r, bool all);
/* In an era that goes on: where many objects have cells, those of freed ones are cleared, and their memory given back.
 */
void track_sweep(struct race *r);
void tracked_free(struct race *r);
#endif
