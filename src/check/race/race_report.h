/* race_report.h: whom the cells and lists tell what they have found. The race check says which accesses race; the words
 * are those of explain/race_report.c, which makes findings of them. */
#ifndef LOCKSTEP_RACE_REPORT_H
#define LOCKSTEP_RACE_REPORT_H
#include "race/race.h"

struct flight;

/* the current access `me`, of instruction t, races with `old` at that byte of the sector */
void race_report(const struct touch *t, const struct list_entry *old, const struct list_entry *me, u32 byte);
/* the same for volatile accesses, of which PTX says that they do not race (R2b); the finding is held back, with that
 * bit, until the launch ends */
void race_report_volatile(const struct touch *t, const struct list_entry *old, const struct list_entry *me, u32 byte,
                          u64 bit);
/* several lanes of one instruction store to one address (R6): reported if their values differ */
void race_report_lanes(const struct touch *t, const struct access *a, u32 lanes);
/* a warp arrives at a barrier with that count, and is not after the arrival of warp `prior` in the phase before, which
 * had another one */
void race_report_barrier(const struct sync_event *e, u32 count, const struct bar_use *last, u32 prior);
/* a copy into shared memory is issued by a warp that has waited in front of it: a buffer that was given back too early
 * is reported, if something else has kept the copy away */
void race_report_filled(const struct race_warp *w, const struct flight *f);
/* ld.nc: reported if the launch has written the bytes (R9) */
void race_check_noncoherent(struct touch *t, const struct access *a);
#endif
