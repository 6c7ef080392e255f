/* follow.h: where the core hands a warp over that is followed by hand (trace/trace.h, which defines these). */
#ifndef LOCKSTEP_FOLLOW_H
#define LOCKSTEP_FOLLOW_H
#include "sim/machine.h"

struct trace *trace_open(struct launch *l, struct error *e); /* NULL: e says why */
void trace_close(struct trace *t);
struct trace *trace_warp(const struct warp *w); /* of the launch; NULL: this warp is not selected */
/* Runs the instructions [at, end) of block b and writes their lines. */
int trace_run(struct warp *w, u32 b, u32 at, u32 end);
#endif
