/* race_pending.h: speculated loads, which are checked when a selection takes their value (race_pending.c). */
#ifndef LOCKSTEP_RACE_PENDING_H
#define LOCKSTEP_RACE_PENDING_H
#include "race/race.h"

void pending_add(struct race_warp *w, const struct access *a,
                 u32 lanes); /* the load a becomes pending for these lanes */
/* the lanes synchronise: a load from before would be checked as if it came after */
void pending_drop(struct race_warp *w, u32 lanes);
void pending_selected(void *self, struct warp *w, u32 reg, u32 lanes); /* of struct observer: a selection takes reg */
handler race_speculated, race_speculated_init; /* of speculated loads; init: under the check of initialised values */
/* Lanes that have a use for what the load of that site gives, now that it is executed (site.needed_by). */
u32 race_lanes_needed(const struct warp *w, const struct site *s);
#endif
