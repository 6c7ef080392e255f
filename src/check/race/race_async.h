/* race_async.h: asynchronous operations in flight (race_async.c). */
#ifndef LOCKSTEP_RACE_ASYNC_H
#define LOCKSTEP_RACE_ASYNC_H
#include "race/race.h"

struct flight;
/* Warp numbers of engines begin here: CTAs with more warps have no engines. */
enum { ENGINES = MAX_WARPS / 2 };
static inline bool race_has_engines(const struct race_cta *c) { return c->exact && c->nwarps <= ENGINES; }
void race_copy_issued(struct touch *t, const struct access *a);
void race_copy_done(struct race_warp *w, struct warp *warp, u32 lane, u64 at, u32 bytes);
void race_copies_relist(struct race_cta *c, struct cta *cta); /* after a barrier that emptied the lists */
void race_copies_reset(struct race_cta *c);                   /* a new CTA */
/* A flight is issued; its source has been read; it is complete. */
void race_flight_issued(struct race_warp *w, const struct flight *f);
void race_flight_read(struct race_warp *w, const struct flight *f);
void race_flight_done(struct race_warp *w, const struct flight *f);
/* The warpgroup of this warp, its first, has waited for products: what those have read is before what its threads do
 * from now on. For exact kernels. */
void race_group_met(struct race_cta *c, const struct warp *first);
#endif
