/* Loops that wait: probes, idle splits, fuel, the budget (wait.c). */
#ifndef LOCKSTEP_WAIT_H
#define LOCKSTEP_WAIT_H
#include "sim/machine.h"

enum wait_look { WAIT_GO, WAIT_IDLE, WAIT_YIELD };
/* The running split jumps back to block `target`, and has no fuel left. */
enum wait_look wait_fuel(struct warp *w, u32 target);
/* n back edges until the next look, or fewer */
s32 wait_tank(struct warp *w, u32 n);
/* Counts the warp's steps. true: the launch was interrupted or has spent its budget, and stops. */
bool wait_spent(struct warp *w);
/* Whether memory that an idle split read has another value now. */
bool wait_changed(const struct split *s, const struct warp *w);
/* While a probe is on: a lane read this. */
void wait_record_read(struct warp *w, u32 op, u32 lane, u8 space, u64 addr, const char *ptr, u32 size, u64 value);
/* While a probe is on: some lanes come to a block. */
void wait_at(struct warp *w, u32 block);
void wait_stop(struct warp *w); /* forget the probe */
/* Whether some parked split reads memory that the host can write. */
bool wait_for_host(const struct launch *l);
#endif
