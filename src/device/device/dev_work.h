/* dev_work.h: the work of the software GPU: launches that run, those that are held back, and the streams that order
 * them with copies and host functions.
 *
 *   dev_run.c        one launch, from its arguments to its result: what is checked before and after the machine runs it
 *   dev_work.c       which launches run beside each other, and whether anything can still happen
 *   dev_blocked.c      what holds up an operation that a launch waits for
 *   dev_sim_async.c  the operations of a stream (dev_async.h)
 *   dev_sim_note.c  what they use, for findings between them
 *
 * The streams are made when something asynchronous is used for the first time: a program without them pays for a lock
 * and a few tests. */
#ifndef LOCKSTEP_DEV_WORK_H
#define LOCKSTEP_DEV_WORK_H
#include "device/dev_rerun.h"
#include "device/op_races.h"
#include "device/dev_memory.h"

struct outputs;
struct view_check;
struct orders;
struct counting;

/* race_kernel_alone and race_kernel_polls, which prepare the kernel where no launch has: the interrupt and the time
 * limit of a launch end that, too. Only with a race check. */
bool work_kernel_alone(struct device *d, struct ptx_func *kernel);
bool work_kernel_polls(struct device *d, struct ptx_func *kernel);

/* One launch that runs, or is held back. */
struct dev_run {
    struct device *device;
    const struct dev_launch *launch; /* valid until its end */
    struct sim_launch in;            /* what the machine is given */
    struct outputs *outputs;         /* of its contract; NULL: not watched */
    struct view_check *views;        /* of the arrays that it was given; NULL: not watched */
    struct orders *orders;           /* NULL: it is not run again in other orders */
    struct counting *counting;       /* NULL: it is not counted */
    struct memory_copy before;       /* what it changes, for the origin of NaN */
    struct op *op;                   /* the operation; NULL: a synchronous launch */
    struct launch *sim;              /* atomic: the end may come before sim_start has returned */
    struct op_races_launch *races;   /* who notes what it used; NULL: nobody */
    const struct access_sink *sink;  /* of that */
    u32 managed;                     /* of note_queued */
    struct streams *asleep;          /* where the thread of a synchronous launch counts as asleep; NULL: nowhere */
    u64 began;                       /* time_ns(), where its launch has a count */
    bool may_rerun;                  /* it may run again from saved memory: nothing else is in flight */
    bool unchecked;                  /* somebody has chosen so: nothing that is found is reported */
    bool raced;                      /* the race check follows it */
    bool alone;                      /* nothing else may run beside it */
    struct dev_run *next;            /* held back */
    /* where a caller that waits wants its result; NULL: nobody does */
    struct sim_result *result;
    struct error *error;
    enum dev_result *came;
};
/* Who wants to know of launches that are checked on devices that are not the CUDA driver's; NULL: nobody. Set before
 * the first launch. */
extern void (*dev_launch_checked)(void);
/* How a launch runs that is about to begin: to be asked once. DEV_LEFT_OUT: that is all there is to do. */
enum dev_way run_way(struct device *d, const struct dev_launch *l);
/* Prepares it; false: e says why. Then sim_run or sim_start, then run_end. op: the operation that it is; NULL: a
 * synchronous launch, which may run again. */
bool run_begin(struct dev_run *r, struct device *d, const struct dev_launch *l, enum dev_way way, struct op *op,
               struct error *e);
/* What is looked at when it has run; ok: the machine says so. */
enum dev_result run_end(struct dev_run *r, bool ok, struct sim_result *result, struct error *e);

/* A texture or surface of the device is destroyed: it stays for the launches that are enqueued by now. false: it is not
 * one. */
bool work_texture_end(struct device *d, u64 handle, bool surface);

struct dev_flight {   /* a finished operation that the host has not waited for */
    u32 token;        /* of note_queued */
    op_stamp op;      /* that operation; for an unfinished node, the end of its graph */
    const void *node; /* the plan or launch of such a node; NULL: of none */
};
struct dev_lent {     /* registered memory that a copy has used, and that the host has not waited for */
    op_stamp op;      /* the copy */
    u8 *at;           /* its first row there */
    u64 bytes;        /* of that */
    bool write;       /* it was written */
    const char *site; /* of the call */
};
struct dev_work {
    struct streams *streams;   /* atomic; NULL: nothing asynchronous was used yet */
    struct op_races *races;    /* atomic; NULL: no two operations can be unordered, or the race check is off */
    _Alignas(128) lock_t lock; /* guards these and what follows; who only reads these does not meet its takers */
    u32 running;               /* launches that run */
    bool alone;                /* the one that runs must stay the only one */
    bool here;                 /* one of them is synchronous, and runs on the thread of its caller */
    struct dev_run *held;      /* launches that are held back, by priority, then age */
    struct dev_run *last[STREAM_PRIORITY_LEAST - STREAM_PRIORITY_MOST + 1]; /* of each priority the last; NULL: none */
    struct error error;        /* why the first operation failed that nobody was told of */
    struct error lost;         /* why the first launch could not be executed */
    struct map sites;          /* texts of host calls, each once: the tags of operations */
    struct arena mem;          /* for these */
    struct dev_flight *unseen; /* operations whose memory the host still must not touch */
    u32 nunseen, capunseen;    /* how many; for how many there is room */
    struct dev_lent lent[16];  /* the last ones; a program has few */
    u32 nlent;                 /* atomic: of these, in use */
    bool signalled;            /* atomic: a value was written: the host may know what is done */
    struct spares bodies;      /* of operations, dev_sim_async.c */
    u32 enqueued;              /* atomic: operations that were enqueued */
    lock_t sync;               /* held by a synchronous launch: one runs at a time, as in the legacy stream */
    /* atomic: a kernel that took the time of a launch to prepare before that began, and is not asked about again until
     * it has ended; NULL: none */
    const struct ptx_func *overdue;
    u64 blocked;            /* atomic: threads.mark of the last question (dev_blocked.c) */
    struct misuses misuses; /* launches that were reported for accesses outside of the life of memory */
};
bool work_open(struct device *d, struct error *e);
void work_close(struct device *d); /* waits for all operations */
/* Its streams; NULL: no memory. */
struct streams *work_streams(struct device *d);
static inline struct streams *work_used(const struct device *d)
{
    return __atomic_load_n(&d->work->streams, __ATOMIC_ACQUIRE);
}
/* The text of a host call as the tag of an operation, which work_site gives back. */
u64 work_tag(struct device *d, const char *site);
static inline const char *work_site(u64 tag) { return (const char *)(uintptr_t)tag; }
/* Keeps the first error for those who wait. */
void work_failed(struct device *d, const struct error *e);
/* Why the first launch that could not be executed was not; false: there was none. */
bool work_lost(struct device *d, struct error *e);
/* e says what the status means, with the kept error where there is one. Returns the status. */
u32 work_status(struct device *d, u32 status, struct error *e);

/* A synchronous call that may act on its own thread: true, and work_sync_end ends it. False: other work is in flight or
 * not ordered with the calling thread, and the call becomes an operation of the legacy stream. */
bool work_sync_begin(struct device *d);
void work_sync_end(struct device *d);
/* For sim_launch.sleeps of a synchronous launch, with its dev_run: before and after it is in flight, its thread is
 * awake and may write memory, or start launches that were held back. */
void work_sync_sleeps(void *run, bool asleep);
/* A launch begins on the calling thread, or ends: counted, for those that are held back. */
void work_run_here(struct dev_run *r);
void work_run_left(struct dev_run *r);
/* Starts a launch as the body of an operation, or holds it back. op_done follows in either case. */
void work_start(struct dev_run *r);

/* dev_blocked.c, for sim_outside and sim_explain. */
bool blocked_may_change(void *device);
/* Who is asked in which calls the threads of the program are, for the text of a report; its texts live for ever. And
 * whether a thread is in a call. */
void blocked_calls_from(u32 (*maker)(const char **site, u32 most), bool (*inside)(s32 task));
sim_explainer blocked_explain; /* self: the device */
/* The task of an operation that is not done; NULL: its kind has none. */
const struct dev_task *work_task(const struct op *op);
/* dev_sim_note.c. Two operations may be unordered from now on. */
void note_unordered(struct device *d);
/* Memory of this kind is about to be allocated: what the host itself does with it is no operation. */
void note_host_uses(struct device *d, enum mem_kind kind);
static inline struct op_races *work_races(const struct device *d)
{
    return __atomic_load_n(&d->work->races, __ATOMIC_ACQUIRE);
}
/* The operation runs: what it uses. staged: the source was taken in the call. */
void note_copy(struct device *d, const struct op *op, const struct dev_copy_plan *p, bool staged);
void note_copied(struct device *d, const struct dev_copy_plan *p); /* it is done */
void note_fill(struct device *d, const struct op *op, const struct dev_fill_plan *p);
struct op_races_part;
/* An operator of a library has read and written these parts, and what it wrote is defined, but for what is carried. */
void note_library(struct device *d, const struct op *op, const struct op_races_part *part, u32 parts);
struct condition;
void note_decided(struct device *d, const struct op *op, struct condition *c); /* a conditional node has read it */
void note_conditions(void); /* from now on of those that launches set, too */
void note_life(struct device *d, const struct op *op, const struct mem_object *o, bool alloc); /* or it is freed */
void note_gone(struct device *d, u64 from, u64 bytes); /* freed by a call that waits for all who use it */
void note_freed_now(struct device *d, u64 from, u64 bytes,
                    const char *site); /* by a call of the host that does not wait */
/* A call of the host that does not wait uses pinned memory. */
void note_host(struct device *d, u64 from, u64 bytes, bool write);
/* A host function runs on the calling thread; it has ended. */
void note_host_begin(struct device *d, const struct op *op);
void note_host_end(struct device *d);
/* What the host has touched of managed memory: at every call that enqueues. */
void note_touches(struct device *d);
/* The same where the host is about to wait. */
void note_waits(struct device *d);
/* A task was enqueued: what the host must not touch until it has waited for it. A token, and its end, which sets it to
 * 0: its operation is done, or (NULL) never ran. */
u32 note_queued(struct device *d, const struct dev_task *t, const struct dev_copy_plan *copy, u64 stream);
void note_unqueued(struct device *d, u32 *token, const struct op *op);
/* The same for a token whose memory the host must not touch until it has waited for `op`, done or not. */
void note_unseen(struct device *d, u32 token, op_stamp op, const void *node);
/* A copy has used registered memory: it must be there until the host has waited. */
void note_lent(struct device *d, const struct op *op, const struct dev_side *s, u64 bytes, bool write,
               const char *site);
/* `there` of these bytes of registered memory are left: a finding. */
void note_lent_gone(struct device *d, const struct dev_lent *l, u64 there, const char *rows);
/* The node of a graph with this plan or launch is done: `op` takes the place of the end of its graph. */
void note_node_done(struct device *d, const void *node, const struct op *op);
/* The host has waited or asked, with note_touches before: the memory of operations that it now knows to be done is its
 * own. */
void note_waited(struct device *d);
/* Something runs that may tell the host by other means what is done: from now on the end of an operation is enough. */
void note_signalled(struct device *d);
/* A launch is about to start; it has ended, and its operation is not done. */
void note_launch_begin(struct dev_run *r);
void note_launch_end(struct dev_run *r);
/* dev_sim_async.c: a task in the legacy stream, waited for. */
u32 work_wait_task(struct device *d, struct dev_task *task, struct error *e);
/* A synchronous launch as an operation of the legacy stream. */
enum dev_result work_wait_launch(struct device *d, const struct dev_launch *l, struct sim_result *r, struct error *e);
#endif
