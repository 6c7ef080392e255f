/* judge.h: what the core asks of those who judge what threads do: declared here, since the core knows none of them, and
 * defined in check, and in trace. Who only watches is an observer (observe.h); who keeps something is an attachment
 * (attach.h). */
#ifndef LOCKSTEP_JUDGE_H
#define LOCKSTEP_JUDGE_H
#include "sim/machine.h"

/* ---- aligned.c: .aligned operations of a warp that only a part of its lanes executes ---- */

/* The lanes of the warp that are elsewhere while s arrives at an .aligned operation, and that do not leave the kernel
 * on their way without coming to where s goes on. */
u32 aligned_missing(const struct warp *w, const struct split *s, u32 op);
/* The operation that s waits at completes for the lanes of `here`; reports those that should have been among them. */
void aligned_check(struct warp *w, const struct split *s, u32 here);
/* Lanes execute a .sync operation whose mask does not name them; alike: all lanes that are at it have this mask. */
void judge_mask(struct warp *w, const struct insn *i, u32 lanes, u32 mask, bool alike);

/* ---- barrier_check.c ---- */

/* A barrier completes that splits have come to without all lanes of their warp, or that threads have left without. */
void judge_barrier(struct cta *c, u32 bar);

/* ---- deadlock.c: a launch that came to a stop ----
 *
 * The proof is the core's: wait.c shows of a single split that it can go on only when memory changes, and worker_pool.c
 * that every split waits and no memory that one of them reads has changed (quiescence). What is left is the
 * explanation: who waits for whom, and why that never comes. */

/* Reports a deadlock with its cause and stops the launch. Called by the last worker, under the launch's lock, with
 * every CTA parked. */
void deadlock_report(struct launch *l);
enum { SUSPECT_SECONDS = 5 }; /* without a change, before a wait for the host is called suspicious */
enum { HOST_QUIET_MS = 100 }; /* without a change, before it is asked whether the host can still write */
/* Adds the note that the launch, which stands still, may wait for ever; it goes on. Under the same locks. */
void suspected_report(struct launch *l);
/* The same of a launch that is busy, and for SUSPECT_SECONDS has done nothing but read that. */
void busy_report(struct warp *w, const struct lowered *low, const struct read *polled);
/* Reports where the threads are of a launch that its budget or the host has stopped. */
void stopped_report(struct launch *l);

/* ---- handlers ---- */

handler escape_store; /* escape.c: a store of an address of local memory (SITE_LOCAL_ADDRESS), a layer around it */
handler overflow_step, overflow_use; /* overflow_watch.c: INS_OVERFLOW and INS_OVERFLOW_USE of decode.h */

/* ---- trace/trace.c: a warp that is followed by hand ---- */

struct trace *trace_open(struct launch *l, struct error *e); /* NULL: e says why */
void trace_close(struct trace *t);
struct trace *trace_warp(const struct warp *w); /* of the launch; NULL: this warp is not selected */
/* Runs the instructions [at, end) of block b and writes their lines. */
int trace_run(struct warp *w, u32 b, u32 at, u32 end);
#endif
