/* tune_time.h: configurations of a kernel, timed on a GPU. */
#ifndef LOCKSTEP_TUNE_TIME_H
#define LOCKSTEP_TUNE_TIME_H
#include "bench/figures.h"

struct tune_timed {
    double median, low, high; /* seconds; low 0: no interval */
};
bool tune_time(struct arena *a, const struct side_what *w, const char *line, const struct bench_how *how,
               struct tune_timed *out, struct error *e);
bool tune_again(struct arena *a, const struct side_what w[2], const char *const line[2], const struct bench_how *how,
                struct times_pair *out, struct error *e);
#endif
