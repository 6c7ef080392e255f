/* op_in.h: what the files of queue share. All of it is read and written with streams->lock held, but where a field
 * says otherwise. */
#ifndef LOCKSTEP_OP_IN_H
#define LOCKSTEP_OP_IN_H
#include "clocks/vclock.h"
#include "queue/op.h"

/* ---- clocks (op_clock.c) ---- */

/* A vector clock: for each slot the number up to which that chain's operations are before. Shared and not changed once
 * a second holder is there. */
enum { CLOCK_LOW = 8 };
struct op_clock {
    u32 refs;
    u64 host;              /* includes the host clock of this version */
    op_stamp of;           /* the clock has exactly this operation and its predecessors; 0: no such operation */
    bool pure;             /* is the host clock of that version, and nothing else */
    u64 low[CLOCK_LOW];    /* the first slots */
    struct vclock *chains; /* the others */
};
struct op_slot {
    u64 number; /* of the last operation */
    bool used;  /* belongs to a stream or an executable graph; else it may be taken again */
};
struct op_clocks {
    struct op_slot *slot;
    u32 slots, cap;                  /* that exist; room */
    u32 most;                        /* that may exist */
    u32 *idle;                       /* from idle_first on: slots that are not used, the oldest first */
    u32 idle_first, idles, idle_cap; /* the number left out; the number present; capacity for both */
    struct op_clock *host;           /* what the host has waited for */
    struct op_clock *gone;           /* what streams that are gone have done */
    struct op_clock *gone_blocking;  /* the same for blocking streams, since the last operation of the legacy stream */
    bool inexact;                    /* see streams_inexact */
    struct vclock_store nodes;       /* of the clocks */
};
void clocks_open(struct op_clocks *c, u32 most);
void clocks_close(struct op_clocks *c);
struct op_clock *opclock_hold(struct op_clock *c); /* NULL stays NULL */
void opclock_release(struct op_clocks *k, struct op_clock *c);
static inline u64 opclock_at(const struct op_clock *c, u32 slot)
{
    if (!c) return 0;
    return slot < CLOCK_LOW ? c->low[slot] : vclock_number(c->chains, slot);
}
bool opclock_within(const struct op_clock *a, const struct op_clock *b); /* b includes a (NULL: nothing) */
/* *to then includes `from` (NULL: nothing). */
void opclock_join(struct op_clocks *k, struct op_clock **to, struct op_clock *from);
/* *to then includes `from` and the operation (slot, number), which is after all that `from` has, and all of whose
 * chain's earlier operations `from` or the chain's order imply. */
void opclock_join_op(struct op_clocks *k, struct op_clock **to, struct op_clock *from, u32 slot, u64 number);
void opclock_join_host(struct op_clocks *c, struct op_clock *from, u32 slot, u64 number); /* the host has waited */
void opclock_join_gone(struct op_clocks *c, struct op_clock **gone); /* the same for c->gone or c->gone_blocking */
/* A slot for a chain whose first operation has `after` in its clock. */
u32 slot_take(struct op_clocks *c, const struct op_clock *after);
void slot_leave(struct op_clocks *c, u32 slot);

/* ---- operations ---- */

/* Who calls the body of a ready operation. */
enum op_lane {
    LANE_HERE,   /* the thread that made it ready: it is short, or has no body */
    LANE_LAUNCH, /* the same thread; the body starts something and returns */
    LANE_IN,     /* the thread of copies to the device */
    LANE_OUT,    /* the thread of copies to the host */
    LANE_HOST,   /* the thread of host functions */
    LANE_POLL,   /* nobody: it is polled */
    OP_LANES
};

struct op_edge {
    struct op *to;
    enum op_edge_kind kind;
    struct op_edge *next; /* of the same operation */
};

struct op {
    struct streams *all;
    struct stream *stream; /* where it was enqueued; for a node, where its graph was launched */
    u64 number;            /* in its chain */
    u64 own;               /* operations of its own chain up to this number were done when it started */
    u64 age;               /* order of enqueuing over all streams; a node has that of its launch */
    u32 slot;              /* of its chain */
    u32 visit;             /* the last walk that came by; op_path */
    u32 refs;              /* atomic: one while it is not done, one for each holder; it ends under the lock */
    u32 pending;           /* edges into it that still hold it back */
    u32 pending_full;      /* operations before it that it may overlap and that are not done; atomic reads */
    u32 overlaps;          /* atomic: 1 while pending_full is not 0 */
    u32 status;            /* once it is done */
    u8 kind;               /* op_kind */
    u8 state;              /* op_state; atomic reads */
    u8 lane;               /* op_lane */
    bool triggered;        /* its programmatic edges have fired */
    bool whole;            /* as in op_spec */
    bool node;             /* of a graph */
    u16 waiters;           /* host threads that sleep until it is done, and the runner under a seed */
    u16 sleepers;          /* of the host threads, those that count in streams->hosts: they are awake once it is done */
    u8 bits, compare;      /* as in op_spec */
    struct op_clock *clock; /* before its start; fixed when it starts */
    /* before its end, and the operation itself, where that is more: with programmatic edges, and once it has published
     * itself to several others */
    struct op_clock *full;
    op_run *run; /* as in op_spec, as are the next four */
    void *data;
    void (*drop)(void *data);
    u64 value;
    u64 tag;
    union {
        void *address;               /* OP_VALUE_* */
        struct event *event;         /* OP_RECORD: with a reference */
        struct graph_launch *graph;  /* OP_GRAPH, OP_GRAPH_END */
        struct graph_branch *branch; /* OP_BRANCH */
    };
    struct op_edge edge;      /* the first edge out of it; to is NULL: none */
    struct op_edge *edges;    /* the others */
    struct op *next;          /* in a list of ready or of free operations */
    struct op *newer, *older; /* all that are not done */
};

/* A queue by urgency, then age: a binary heap. Under a seed: just an array, drawn from. */
struct op_heap {
    struct op **p;
    u32 n, cap;
};

struct stream {
    struct streams *all;
    u64 id;
    const char *name; /* atomic: for reports, not owned; NULL: it goes by its number */
    u32 flags;
    s32 priority;
    u32 refs;        /* references: the handle's, and those of unfinished operations */
    u32 slot;        /* of its chain; UINT32_MAX: none yet */
    bool deleted;    /* the handle is gone */
    bool fixed;      /* legacy or per thread: cannot be deleted */
    bool active;     /* in the list of blocking streams with work since the last legacy operation */
    struct op *tail; /* the last operation, done or not, with a reference; NULL: none yet */
    u64 legacy_age;  /* age of the last operation of the legacy stream that this one is ordered after */
    u32 error;       /* status of the first failed operation that nobody asked for */
    struct stream *next_active, *prev_active;
    struct stream *next, *prev; /* all streams */
    u64 thread;                 /* per-thread stream: of this thread; else 0 */
    void *user;                 /* the caller's */
    struct capture *capture;    /* the one that it takes part in, or NULL */
    struct capture_set *deps;   /* nodes that the next captured operation depends on */
};

struct event {
    struct streams *all;
    u32 refs; /* handle, records in flight, nodes of graphs; atomic */
    u32 flags;
    struct op *record;                            /* the latest, with a reference; NULL: never recorded */
    u64 time;                                     /* of the latest record that is done */
    struct capture *capture;                      /* the latest record was in this capture, with a reference */
    struct capture_set *deps;                     /* and stands for these nodes */
    struct event *captured_next, **captured_link; /* of those that were recorded in that capture; what points here */
};

struct op_written { /* the last value write to an address */
    void *address;  /* NULL: free entry */
    u64 value;
    struct op_clock *clock; /* of the write, itself included */
};

struct op_chunk {
    struct op_chunk *next;
};

struct streams {
    struct streams_options options; /* every call reads them: apart from what the executing threads write */
    _Alignas(128) lock_t lock;      /* of what follows */
    struct op_clocks clocks;
    struct stream *legacy;
    struct stream *streams; /* all, the newest first */
    struct stream **mine;   /* per-thread streams, by the number of the thread: a hash table */
    u32 nmine, capmine;     /* how many; its size, a power of two */
    struct stream *apart;   /* of records of all streams and waits of all streams; NULL: there was none */
    struct op *gate; /* the last wait of all streams, which new streams wait for, too; with a reference, or NULL */
    struct stream *active; /* blocking streams with work since the last legacy operation */
    u64 serial;            /* unique in the process */
    u64 ids, ages;         /* given out */
    struct op *live;       /* all that are not done, the newest first */
    u32 queued, running[OP_KINDS];
    u32 poison;     /* status; 0: none */
    u32 error;      /* of streams that are gone */
    u64 virtual_ns; /* the time under a seed */
    /* memory */
    struct op *free_ops;  /* for who enqueues */
    struct op *freed_ops; /* since: they become those when there are none */
    struct op_edge *free_edges;
    struct op_chunk *chunks;
    /* op_exec.c */
    struct op *here, **here_end;    /* LANE_HERE, first in first out */
    struct op_heap ready[OP_LANES]; /* the others; under a seed all are in [0] */
    struct op_heap polls;           /* value waits that do not hold */
    pthread_cond_t work[OP_LANES];  /* for the threads of IN, OUT, HOST */
    pthread_cond_t timer_work;
    pthread_cond_t done; /* for host threads that wait */
    pthread_t thread[OP_LANES], timer;
    bool started[OP_LANES], timer_started, quit;
    bool runner;                  /* under a seed: some thread runs operations */
    bool in_backend;              /* and that thread is in op_backend.progress */
    u32 dispatchers;              /* threads in exec_dispatch */
    bool closing;                 /* streams_delete waits for them */
    bool spins;                   /* waiting threads spin before they sleep: several processors */
    u32 chances;                  /* under a seed: bits of enum op_chance that have come up */
    u32 silent;                   /* how often the timer has found that the host made no call since `called` */
    op_stamp quiet;               /* the last of those that ran then, all in the one order there was, unseen; or 0 */
    u32 callers;                  /* threads that have called and live (op_quiescence.c) */
    u32 callers_ever;             /* threads that have called */
    bool acting;                  /* a thread acts as if in the legacy stream: streams_act */
    struct op *stand_in;          /* an operation that others can be ordered after; NULL: no other thread came */
    u64 moves;                    /* operations that started or ended, hosts that called, fell asleep or woke up */
    u64 asked;                    /* moves when streams_may_change last found nothing; UINT64_MAX: it found something */
    u32 visits;                   /* walks over the operations, op_path */
    u32 hosts;                    /* threads that sleep in a call */
    u64 random;                   /* state of the draw */
    u64 called;                   /* under a seed: time of the last call */
    u32 pause_us;                 /* between two polls */
    struct meeting *cross_device; /* op_cross_device.c: operations that wait for another device */
    struct op_written *written;   /* op_value.c: a hash table */
    u32 nwritten, written_cap;
    /* capture.c */
    const void **graph_live;   /* graph_exec.c: addresses of allocation nodes that have run and are not freed */
    u32 graph_lives;           /* how many there are */
    struct graph_trash *trash; /* see graph_collect */
    struct capture *captures;  /* that go on; atomic: read without the lock, too */
    u64 capture_ids;
};

/* op_cross_device.c: lets devices that this one waits for go on by a step. False: none can. Under the lock, which is
 * left meanwhile. depth: 0. */
bool cross_device_drive(struct streams *s, u32 depth);
bool exec_drive(struct streams *s);   /* op_exec.c: draws an operation, or lets launches go on; false: none can */
u32 capture_apart(struct stream *st); /* the stream waits for what no graph can hold: a capture of it is broken */

/* op.c */
struct op *op_make(struct streams *s, struct stream *st, const struct op_spec *spec); /* NULL: no memory */
void op_unmake(struct op *op); /* one that op_make gave and nothing refers to */
void op_edge_add(struct op *from, struct op *to, enum op_edge_kind kind);
/* Puts a new operation at the end of its stream: chain, legacy order. Then op_submit. */
void op_append(struct op *op, bool programmatic);
void op_submit(struct op *op);             /* all its edges are there: it may become ready */
void op_finish(struct op *op, u32 status); /* the body is done */
static inline void op_ref(struct op *op) { __atomic_fetch_add(&op->refs, 1, __ATOMIC_RELAXED); }
void op_unref(struct op *op);
void stream_unref(struct stream *st);
/* op_exec.c */
void exec_chance(struct streams *s, enum op_chance why); /* this run need not be repeated by its seed */
void exec_open(struct streams *s);
void exec_close(struct streams *s);
void exec_ready(struct op *op);
void exec_call(struct streams *s); /* a call of the interface: for the 50 ms */
/* Runs what is ready and needs no thread of its own. Releases the lock meanwhile. Not under a seed. */
void exec_dispatch(struct streams *s);
bool exec_can_wait(const struct streams *s); /* all that is to be started may be left to op_backend.start_soon */
/* Not from a host function: OP_NOT_PERMITTED. Every call that enqueues, waits or asks begins with it. */
u32 exec_permitted(const struct streams *s);
void exec_wait(struct op *op);                      /* until it is done; releases the lock meanwhile */
void exec_enqueued(struct op *op);                  /* its edges from other operations are there */
void exec_ask(struct streams *s);                   /* the host asks: under a seed one operation runs */
void exec_recheck(struct streams *s);               /* memory may have changed: look at the value waits */
void exec_polled(struct streams *s, struct op *op); /* a value wait that does not hold yet */
u64 exec_now(struct streams *s);
/* op_quiescence.c */
void quiescence_open(struct streams *s);
void quiescence_close(struct streams *s);
void quiescence_called(struct streams *s); /* the calling thread makes a call */
/* op_value.c */
bool value_holds(const struct op *op);
void value_write(struct op *op);
void value_waited(struct op *op); /* it holds: order it after the write that made it so */
void value_close(struct streams *s);
/* stream.c, event.c */
u64 thread_number(void); /* of the calling thread, never 0 */
struct op *stream_tail(struct stream *st);
void host_join(struct op *op);      /* the host has waited for it */
void event_recorded(struct op *op); /* the record is done */
void event_bind(struct event *e, struct op *record);
void event_unref(struct event *e);
/* graph_exec.c */
void graph_freed_locked(struct streams *s, const void *address);
void graph_begin(struct op *op);  /* OP_GRAPH is ready: its nodes come into being */
void graph_ended(struct op *op);  /* OP_GRAPH_END is done */
void graph_decide(struct op *op); /* OP_BRANCH is ready: the nodes of the chosen graph come into being */
/* What is to be freed without the lock, since it calls drop: now. Releases the lock meanwhile. */
void graph_collect(struct streams *s);
/* capture.c */
/* The stream is captured: records the operation there. *taken false: it is not. */
u32 capture_take(struct stream *st, const struct op_spec *spec, bool *taken);
u32 capture_record(struct stream *st, struct event *e, bool *taken);
u32 capture_wait(struct stream *st, struct event *e, bool *taken);
u32 capture_asked(struct stream *st); /* synchronise or query: an error, and invalidation, where it is captured */
u32 capture_asked_event(struct event *e);
u32 capture_timed_event(const struct event *e); /* its elapsed time; invalidates nothing */
u32 capture_asked_all(struct streams *s);
u32 capture_legacy(struct stream *st); /* an operation of the legacy stream beside captured blocking streams */
void capture_forget(struct event *e);  /* the event's record is no captured one any more */
struct graph *capture_stream_gone(struct stream *st); /* NULL, or a graph to delete without the lock */
/* Locks the streams for a call that may become a node, and before that the graphs (graph.h) where there is a capture:
 * the answer, which capture_unlock wants back. */
bool capture_lock_both(struct streams *s);
void capture_unlock_both(struct streams *s);
static inline bool capture_lock(struct streams *s)
{
    lock(&s->lock);
    if (likely(!s->captures)) return false;
    unlock(&s->lock);
    return capture_lock_both(s);
}
static inline void capture_unlock(struct streams *s, bool graphs)
{
    if (unlikely(graphs))
        capture_unlock_both(s);
    else
        unlock(&s->lock);
}
#endif
