/* run_report.h: the reports of the processes that `lockstep run` started, as the engines in them write them.
 *
 * A process writes into the launcher's folder, under its number:
 *     PID.sites   lines about its calls (where/where.h), added to
 *     PID.log     findings as they happen, added to
 *     PID.txt     the whole report, PID.end what follows the findings, PID.json and others: each replaced as a whole
 *     PID.errors  how many errors there are
 * Marks of sites in all of these are replaced by words here. */
#ifndef LOCKSTEP_RUN_REPORT_H
#define LOCKSTEP_RUN_REPORT_H
#include "cli/run_where.h"

struct run_report {
    const char *folder;
    struct run_process *process; /* of which something was read */
};
void run_report_close(struct run_report *r);
/* Goes through the files of one kind, one for each process that used the GPU; how many there were. */
u32 run_report_each(struct run_report *r, const char *suffix, enum quoting q,
                    void (*with)(void *self, u32 nth, int pid, struct str text), void *self);
/* Removes the folder with what is in it. */
void run_report_remove(const struct run_report *r);
#endif
