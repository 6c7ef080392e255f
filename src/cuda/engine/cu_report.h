/* cu_report.h: the report of a program, written while it runs, for the launcher (base/channel.h).
 *
 * A finding is added to CHANNEL_LOG before the program can see that the launch has ended in which it was found, or that
 * the call has returned that it is about: a program that then calls _exit, aborts or is killed has lost none. The whole
 * report is written anew by a thread when something was found, every two seconds while counts change, and at the end.
 */
#ifndef LOCKSTEP_CU_REPORT_H
#define LOCKSTEP_CU_REPORT_H
#include "base/channel.h"
#include "driver/cu_count.h"

struct cu_reporting {
    bool launched;          /* there is a launcher; else the report goes to standard error at the end */
    struct channel channel; /* to the launcher */
    bool fail_on_notes;     /* --fail-on note */
    u32 most;               /* findings that are printed; 0: all */
    bool color;
    bool stable;   /* what differs from run to run is left out: times */
    bool progress; /* the launcher shows how far a long launch is */
    bool profile;  /* what launches do is counted */
    bool lines;    /* the profile shows all lines */
    bool timeline; /* the profile shows the operations */
    bool page;     /* findings are wanted with their sources, for a page */
};
/* Findings of this gpu are written from now on. `how` lives for ever. */
void cu_report_watch(const struct cu_reporting *how, lk_gpu *gpu);
/* There is no gpu, and findings are in this report. */
void cu_report_alone(const struct cu_reporting *how, struct report *r);
/* A cell of a notebook has ended: the findings since the last one, as text, those of launches that end within a second
 * among them. They are kept for it where the environment has LOCKSTEP_CELLS when there is the first gpu, which
 * front/python/lockstep_views.py sets. */
void cu_report_cell(struct text *into);
/* Something that was asked for was not done: the exit code of the launcher says so. What it is has been said. */
void cu_report_undone(void);
/* A kernel is launched. */
void cu_report_launch(struct cu_kernel_count *c, const lk_launch *launch);
#endif
