/* run_report.h: the reports of the processes that `lockstep run` started, as the engines in them write them into shared
 * memory (base/channel.h). Marks of sites in all of these are replaced by words here. */
#ifndef LOCKSTEP_RUN_REPORT_H
#define LOCKSTEP_RUN_REPORT_H
#include "base/channel.h"
#include "launcher/run_where.h"

struct run_report {
    struct channel *channel;
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
/* Goes through the texts of one kind, one for each process that used the GPU; how many there were. `image` tells
 * processes of one number apart: programs that became another one by exec. */
u32 run_report_each(struct run_report *r, enum channel_kind kind, enum quoting q,
                    void (*with)(void *self, u32 nth, int pid, u32 image, struct str text), void *self);

struct run_sum {
    u32 processes; /* that used the GPU, or had something to tell without one */
    u32 gpus;      /* those of them that opened one */
    u64 errors;
    u64 launches, checked; /* of all of them; those that were checked */
    bool cut;              /* something was reached that is not supported */
    bool undone;           /* something that was asked for was not done */
};
struct run_sum run_report_sum(const struct run_report *r);
/* Says what is missing in the reports, a line for each process, and adds the sentences to `why`; how many there are.
 * `killed`: the process that a signal has ended, which is said elsewhere, 0: none. */
u32 run_report_missing(const struct run_report *r, int killed, struct text *why);
/* Prints what a process was doing when a signal ended it. */
void run_report_last(struct run_report *r, int pid);
#endif
