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
    bool live;                   /* findings are printed as they come */
    bool terminal;               /* standard error is one: a line says how far a long launch is */
    bool drawn;                  /* that line is there */
    struct run_process *process; /* of which something was read */
};
/* Waits for the end of a process, and prints what is found in the meantime; its status as of waitpid. */
int run_report_wait(struct run_report *r, pid_t pid);
/* Prints what is left: findings that were not printed yet, and what follows them. */
void run_report_print(struct run_report *r);
void run_report_close(struct run_report *r);
/* Goes through the files of one kind, one for each process that used the GPU; how many there were. */
u32 run_report_each(struct run_report *r, const char *suffix, enum quoting q,
                    void (*with)(void *self, u32 nth, int pid, struct str text), void *self);
/* Prints what a process was doing when a signal ended it. */
void run_report_last(struct run_report *r, int pid);
#endif
