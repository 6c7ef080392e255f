/* profiling.h: `lockstep profile` is `run` or `launch` with counters. */
#ifndef LOCKSTEP_PROFILING_H
#define LOCKSTEP_PROFILING_H
#include "cli/cli.h"
#include "verbs/hardware.h"

struct profiling {
    bool lines;               /* all lines are shown */
    bool timeline;            /* the operations of a program, too */
    bool verbose;             /* --verbose */
    bool on_gpu;              /* --on gpu: Nsight Compute measures the same on a GPU */
    struct hardware hardware; /* what it has measured, or --import has read; no kernels: nothing was asked for */
    struct text pictures;     /* of --journal; empty: nothing was asked for */
};
/* cmd_run and cmd_launch, and what they count; NULL: nothing. --json then writes the profile. */
int run_profiled(int argc, char **argv, const struct profiling *profiling);
int launch_profiled(int argc, char **argv, const struct profiling *profiling);

/* pictures.c: times of journals as pictures on the page. Adds those that the last entries of a journal can be shown as
 * to a list of JSON objects: { kind, journal, svg }. false: it is no journal, or there is none. */
bool pictures_read(struct text *list, const char *journal, struct error *e);
/* The JSON of a profile with the list as its key `pictures`. */
void pictures_join(const struct text *list, struct str profile, struct text *json);
#endif
