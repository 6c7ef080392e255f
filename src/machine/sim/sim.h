/* sim: the software GPU, seen from outside. machine.h shows it from inside. */
#ifndef LOCKSTEP_SIM_H
#define LOCKSTEP_SIM_H
#include "mem/mem.h"
#include "ptx/ptx.h"
#include "report/report.h"
#include "card/card.h"

struct sim;   /* worker threads and the buffers they keep between launches */
struct asked; /* asked.h: whom the machine asks. One table for the process */
struct sim *sim_new(struct mem *m, const struct card *p, u32 workers, const struct asked *parts);
void sim_delete(struct sim *s);
/* The bytes of a thread's stack that the program has asked for (cudaLimitStackSize); 0: not known. */
void sim_stack_limit(struct sim *s, u64 bytes);
/* The bytes of the device heap (cudaLimitMallocHeapSize); 0: as a device has it at first. */
void sim_heap_limit(struct sim *s, u64 bytes);
u64 sim_spare_bytes(struct sim *s); /* of device memory that no launch uses and that is kept for the next one */

struct sim_trace {                                             /* trace.h; implies one worker and plain code */
    void (*write)(void *self, const char *text, size_t bytes); /* a line for each warp instruction; NULL: no trace */
    void (*stop)(void *self, const char *text, size_t bytes);  /* where it stopped; NULL: it does not stop */
    void *self;
    const char *lines;    /* only these lines; NULL: all */
    const char *break_at; /* stop before this line */
    bool one_cta, one_warp;
    u32 cta[3], warp; /* only these */
};

struct launch_views;
struct sim_launch { /* what dev has checked against the limits before */
    struct ptx_func *kernel;
    u32 grid[3], block[3];
    u32 shared_bytes; /* dynamic */
    u32 cluster[3];   /* CTAs of a cluster; 0: as the kernel requires, or one */
    bool cooperative;
    const void *params;               /* the parameter block, kernel->param_bytes long */
    const struct launch_views *views; /* views.h; NULL: nothing is known of the arrays that are passed */
    u32 checks;                       /* CHECK_* of report/finding.h */
    /* the init check is off for this launch, and on for others: an object that it writes to counts as defined */
    bool defines;
    bool seeded;
    u64 seed; /* one worker, virtual clocks; the schedule comes from the seed */
    /* of CTAs and warps, under a seed: 0 as the seed has it, 1 backwards, others at random */
    u64 order;
    bool plain;                       /* start in plain code: for comparing the two */
    u64 budget;                       /* warp instructions; 0: none */
    double time_limit;                /* seconds; 0: none */
    const struct observer *observers; /* observe.h; NULL: none */
    const struct sim_trace *trace;    /* NULL: none */
    bool overflow;                    /* watch for indices that overflow; sim_run decides */
    bool follow;                      /* observers see every instruction (observer.step): one worker, plain code */
    struct report *report;
    void (*print)(void *ctx, const char *p, size_t n);
    void *print_ctx;               /* device printf; NULL: standard output */
    const volatile int *interrupt; /* non-zero: stop with a report of where it stood; or NULL */
    s32 priority;                  /* among launches in flight; smaller goes first */
    const void *op; /* which operation of a stream the launch is: for those who know operations; NULL: none */
    u64 age;        /* of that operation (op_age): a texture that is destroyed later is still its own; 0: of none */
    u32 number;     /* of several launches of one report: findings say it; 0: not said */
    const struct launch_origin *origin; /* the host's side of it, for findings; NULL: not said */
    struct grid *as_grid;               /* a kernel has launched it (grids.h); NULL: the host */
    /* griddepcontrol: not 0 while launches before this one are not done that it overlaps; NULL: it overlaps none.
     * trigger: called once, when every CTA has triggered or left and at least one has triggered; or NULL */
    const u32 *overlaps;
    u32 *waited; /* atomic: set when a thread executes griddepcontrol.wait; NULL: nobody asks */
    void (*trigger)(void *done_self);
    /* sim_start: called once when the launch has ended, on the thread that ended it; or NULL */
    void (*done)(void *self);
    /* sim_run: the calling thread does nothing but run launches in flight from now on (true), or may do anything again
     * (false); or NULL */
    void (*sleeps)(void *done_self, bool asleep);
    void *done_self; /* of these three */
};
struct sim_result {
    u64 warp_insns;      /* executed */
    u64 ctas;            /* run to their end */
    u64 serial;          /* number of the launch: mem_object.read_by and written_by */
    bool infinite, nan;  /* the kernel has an infinity, or a NaN, among its constants */
    u32 fault;           /* CUDA's number of the error that a GPU would have ended it with; 0: none */
    struct grids *grids; /* what it has launched, which is to run before its end counts: sim_next_grid; NULL: nothing */
    u32 orders;          /* set by the device: other orders that left the same bytes (dev_order.h) */
    enum {
        SIM_DONE,
        SIM_DEADLOCK,
        SIM_LIVELOCK,
        SIM_TRAP,
        SIM_INTERRUPTED,
        SIM_OVERDUE,
        SIM_BREAK,
        SIM_UNSUPPORTED
    } end;
};
/* false: e says why nothing (more) ran: unsupported instruction (named with its line), out of memory. Findings go to
 * the report. */
bool sim_run(struct sim *s, const struct sim_launch *given, struct sim_result *r, struct error *e);
/* Starts a launch and returns: the workers run it beside others in flight. What `given` points to stays valid until the
 * launch has ended; its parameters are copied. NULL: e says why it could not start. */
struct launch *sim_start(struct sim *s, const struct sim_launch *given, struct error *e);
/* Whether a launch that was started has ended. */
bool sim_ended(struct launch *l);
/* Waits for the end of a launch that was started, and frees it. The result is as that of sim_run. Seeded launches run
 * only in here, all that are in flight, in turns that the seed draws. */
bool sim_wait(struct launch *l, struct sim_result *r, struct error *e);
/* A launch of sim_start has ended, and kernels of it have launched others: `in`, which it was started with, becomes the
 * next of them, to be started and waited for. false: there is none left, or the launch was stopped; r is the result of
 * all. sim_run does so itself. */
bool sim_next_grid(struct sim_launch *in, struct sim_result *r);
/* The caller is going to wait for the launch of this operation (sim_launch.op) by other means: it runs the launch if
 * that has a single worker and no thread has taken it yet. Returns when the launch has ended or has to wait. */
void sim_help(struct sim *s, const void *op);
/* Who starts launches on a thread of the sim, where sim_start_soon has asked for it. After this is called with
 * NULL, the old callback has returned. */
void sim_starter(struct sim *s, void (*start)(void *self), void *self);
/* A thread that is awake and has nothing to do calls it; false: there is none. May be called under any lock. */
bool sim_start_soon(struct sim *s);
/* Runs the seeded launches in flight on the calling thread, in turns that the seed draws, until one has ended, none can
 * go on unless memory changes from outside, or for a number of turns that is always the same. */
enum sim_drive { SIM_DRIVE_ENDED, SIM_DRIVE_QUIESCENT, SIM_DRIVE_BUSY };
enum sim_drive sim_drive(struct sim *s);
/* Who is asked whether something else than launches may change device memory, before a deadlock is called one: copies
 * under way, a host that can still act. It must not call the sim. It
 * is asked before and after memory is looked at, and only two answers of no count. While
 * nobody can be asked (NULL), no deadlock is called with launches of sim_start in flight: their host can still act. */
void sim_outside(struct sim *s, bool (*may_change)(void *self), void *self);
/* Who is asked, when a launch of sim_start is called a deadlock, what else holds up those that could change the value
 * it waits for. The text is added to the cause; *fix (NULL: the usual one) may be set. True: it names somebody who
 * could change it. It must not call the sim. */
struct sim_waiting {    /* a launch that stands still */
    const void *op;     /* of its sim_launch */
    u64 address;        /* what its first waiting thread reads; 0: none waits for memory */
    const char *thread; /* "spinning at a.cu:9 on flag+0x0, which holds 0"; NULL: as address */
};
typedef bool sim_explainer(void *self, const struct sim_waiting *me, const struct sim_waiting *other, u32 others,
                           struct text *cause, const char **fix);
void sim_explain(struct sim *s, sim_explainer *explain);
/* Who is told that a launch of that operation was reported for an access to an object that is not allocated yet, or is
 * freed. Workers call it; it must not call the sim. */
typedef void sim_misuse(void *self, const void *op, const struct mem_object *o);
void sim_on_misuse(struct sim *s, sim_misuse *misused, void *self);
struct sim_progress {
    u64 total, done, warp_insns;
}; /* CTAs; instructions counted so far */
/* How far the running launch is, from any thread; false: none runs. */
bool sim_progress(struct sim *s, struct sim_progress *p);
/* CTAs of this shape that fit on one SM of the card (shared memory, threads, CTA slots; registers when maxnreg is
 * known). */
u32 sim_resident_per_sm(const struct card *p, const struct ptx_func *kernel, u32 threads, u64 shared_total);
/* The host takes these bytes of an object: what was computed from undefined values is a finding (rules.md I2, I3). */
void sim_check_output(struct sim *s, struct report *report, const struct mem_object *o, u64 addr, u64 bytes);
/* The object ends, and the host has not seen what is in it: the same, as a note. */
void sim_check_unseen(struct sim *s, struct report *report, const struct mem_object *o);
/* An operator of a library, done by other means, has read bytes of the object that nobody wrote: an origin for what it
 * made of them. site: how the operator is named. */
extern const char sim_operator_fix[]; /* what to do about it */
u32 sim_origin_operator(struct sim *s, const struct mem_object *o, const char *site);
/* The lowered form of a kernel, from lower/functions.h; NULL: e says why there is none. Any thread may call. */
struct lowered;
struct lowered *sim_lowered(struct sim *s, struct ptx_func *kernel, struct error *e);
/* Frees what the machine hung on the functions of a module. */
void sim_forget(struct ptx_module *m);
#endif
