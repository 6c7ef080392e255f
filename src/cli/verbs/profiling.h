/* profiling.h: `lockstep profile` is `run` or `launch` with counters. */
#ifndef LOCKSTEP_PROFILING_H
#define LOCKSTEP_PROFILING_H
#include "cli/cli.h"
#include "verbs/hardware.h"
#include "verbs/pictures.h"

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
#endif
