/* show.h: what is in journals. */
#ifndef LOCKSTEP_JOURNAL_SHOW_H
#define LOCKSTEP_JOURNAL_SHOW_H
#include "journal/times.h"

/* Everything, for people (json NULL) or as JSON. `rate`: what an hour of the device costs, 0: not said. false: e says
 * why; *code is the exit code. */
bool journal_show(struct arena *a, const char *const *path, u32 n, const char *json, double rate, int *code,
                  struct error *e);
/* All entries of n files into one: each once, in the order of their times. */
bool journal_merge(struct arena *a, const char *const *path, u32 n, const char *to, struct error *e);
#endif
