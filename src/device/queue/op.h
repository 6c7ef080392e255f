/* op.h: the operations of a device: streams, events, graphs, and the order they give.
 *
 * A program enqueues operations and goes on. An operation is ready when all operations that it depends on are done;
 * what it depends on is the operation before it in its stream, the records of the events that the stream waits for,
 * the legacy default stream, and the edges of a graph. This is the only place that knows these rules: a device gives
 * each operation a body, and is called when the body may run. Nothing here knows kernels, memory or a driver.
 *
 *   op.c         operations: making them, their edges, what happens when one is done
 *   op_clock.c   happens-before: vector clocks over chains of operations
 *   op_exec.c    who runs a ready operation: the threads, the draw under a seed, host waits
 *   op_access.c  which bytes operations use, and races between them (op_access.h)
 *   op_quiescence.c   whether anything can still happen, and who waits for whom
 *   op_value.c   waits for and writes of values in memory
 *   stream.c     streams, the legacy and the per-thread default stream, synchronising with them
 *   event.c      events
 *   graph.c      graphs as data (graph.h); graph_plan.c: the order of their nodes; graph_exec.c: executable graphs;
 *                graph_launch.c: their launches
 *   capture.c    a stream that records a graph instead of enqueuing
 *
 * A host function may not call any of this: enqueuing, waiting and asking give OP_NOT_PERMITTED there.
 *
 * One lock for all of it (struct streams). No callback is called with the lock held. A body ends by its return value,
 * or later by op_done from any thread; op_done may call the bodies of operations that become ready, on that thread.
 *
 * Order. Operations form chains: a stream is one, a graph launch has several. A chain has a slot, and its operations
 * are numbered, so that (slot, number), the stamp, names an operation for ever, also when its memory is used again.
 * Each operation has a clock: for each slot the number up to which operations are before it. op_before compares a
 * stamp with that clock. docs/inside/streams.md explains it, with the rule by which slots are used again.
 *
 * Statuses are numbers of CUresult, so that they need no translation. */
#ifndef LOCKSTEP_OP_H
#define LOCKSTEP_OP_H
#include "base/base.h"

enum op_status {
    OP_OK = 0,
    OP_INVALID_VALUE = 1,
    OP_OUT_OF_MEMORY = 2,
    OP_INVALID_HANDLE = 400,
    OP_ILLEGAL_STATE = 401,
    OP_NOT_READY = 600,
    OP_NOT_PERMITTED = 800,
    OP_NOT_SUPPORTED = 801,
    OP_CAPTURE_UNSUPPORTED = 900,
    OP_CAPTURE_INVALIDATED = 901,
    OP_CAPTURE_MERGE = 902,
    OP_CAPTURE_UNMATCHED = 903,
    OP_CAPTURE_UNJOINED = 904,
    OP_CAPTURE_ISOLATION = 905,
    OP_CAPTURE_IMPLICIT = 906,
    OP_CAPTURED_EVENT = 907,
    OP_CAPTURE_WRONG_THREAD = 908,
    OP_GRAPH_UPDATE_FAILURE = 910,
};
/* What a body returns when it goes on after the return: op_done(op, status) will be called. */
#define OP_LATER 0xffffffffu

enum op_kind {
    OP_EMPTY,       /* orders, and does nothing */
    OP_LAUNCH,      /* a kernel */
    OP_COPY,        /* between host and device, or on the device */
    OP_FILL,        /* cudaMemset */
    OP_ALLOC,       /* stream-ordered allocation */
    OP_FREE,        /* stream-ordered free */
    OP_HOST,        /* a function of the host */
    OP_LIBRARY,     /* an operator of a library, which the host has done in its place in the order */
    OP_RECORD,      /* of an event */
    OP_WAIT,        /* for an event */
    OP_VALUE_WAIT,  /* until memory has a value */
    OP_VALUE_WRITE, /* of one value to memory */
    OP_GRAPH,       /* the begin of a graph launch */
    OP_GRAPH_END,   /* all nodes of a graph launch are done */
    OP_BRANCH,      /* a conditional node: decides which of its graphs runs */
    OP_KINDS
};
extern const char *const op_kind_name[OP_KINDS];

enum op_state {
    OP_QUEUED,  /* waits for others */
    OP_READY,   /* may run, and nobody has taken it yet */
    OP_RUNNING, /* its body was called */
    OP_ENDING,  /* its body is done; an operation that it overlaps (programmatic edge) is not */
    OP_DONE
};

/* An edge: the later operation starts when the earlier one is done, or when the earlier one has triggered (every CTA
 * of it executed griddepcontrol.launch_dependents or left). */
enum op_edge_kind { OP_EDGE_COMPLETE, OP_EDGE_PROGRAMMATIC };

struct op;
struct stream;
struct event;
struct streams;
struct graph_exec;
struct op_clock;
typedef u32 op_run(struct op *op, void *data); /* a status of op_status, a number of the caller's, or OP_LATER */

/* A stamp names an operation: slot in the upper 20 bits, number in the lower 44. 0: no operation. */
typedef u64 op_stamp;
enum { OP_NUMBER_BITS = 44, OP_SLOTS_MAX = (1 << 20) - 1, OP_SLOT_HOST = OP_SLOTS_MAX };
static inline u32 stamp_slot(op_stamp a) { return (u32)(a >> OP_NUMBER_BITS); }
static inline u64 stamp_number(op_stamp a) { return a & (((u64)1 << OP_NUMBER_BITS) - 1); }

/* Comparisons of a value wait, as CU_STREAM_WAIT_VALUE_*. */
enum op_compare {
    OP_GEQ, /* memory - value >= 0 as a signed difference, so that counters may wrap */
    OP_EQ,
    OP_AND, /* memory & value is not 0 */
    OP_NOR  /* ~(memory | value) is not 0 */
};

/* What a conditional node does with its condition, as CU_GRAPH_COND_TYPE_*. */
enum op_branch {
    OP_IF,    /* not 0: the first graph; 0: the second, where there is one */
    OP_WHILE, /* the graph again and again, until it is 0 */
    OP_SWITCH /* the graph of that number, where there is one */
};

/* What the caller says of an operation. The same describes the node of a graph. */
struct op_spec {
    enum op_kind kind;
    bool to_host;             /* OP_COPY, OP_FILL: runs on the thread of copies to the host */
    bool programmatic;        /* OP_LAUNCH: may start when the operation before it in the stream has triggered */
    bool whole;               /* OP_LAUNCH: nothing in it triggers; programmatic edges from it are complete ones */
    bool computes;            /* OP_HOST: it waits for nobody, so that under a seed it runs in its turn, however long */
    bool external;            /* OP_RECORD, OP_WAIT in a capture: becomes a node, no edge */
    u8 bits;                  /* OP_VALUE_*: 32 or 64 */
    u8 compare;               /* OP_VALUE_WAIT: an op_compare; OP_BRANCH: an op_branch */
    bool assigns;             /* OP_BRANCH: the condition gets `value` at the begin of each launch */
    op_run *run;              /* the body; NULL: nothing to do. Not for the kinds that this layer runs itself */
    void *data;               /* for run */
    void (*drop)(void *data); /* called once, when data is not needed any more; NULL: nothing to do */
    struct event *event;      /* OP_RECORD, OP_WAIT */
    void *address;            /* OP_VALUE_*: as this process sees it; OP_ALLOC, OP_FREE in graphs: what they name;
                               * OP_BRANCH: the condition, 32 bits */
    u64 value;                /* OP_VALUE_*, OP_BRANCH */
    u64 key;                  /* graphs: an update of the executable graph must leave it as it is */
    u64 tag;                  /* the caller's: the host call, for reports */
};

/* How a backend takes part in waiting. All may be NULL. */
enum op_progress { OP_PROGRESS_SOME, OP_PROGRESS_BUSY, OP_PROGRESS_BLOCKED };
/* Why a seeded run may have another order next time. */
enum op_chance {
    OP_CHANCE_SILENT,  /* the host made no call for 50 ms, and operations ran that it sees, or in another order */
    OP_CHANCE_LONG,    /* an operation took more than 50 ms of real time, and others ran beside it */
    OP_CHANCE_THREADS, /* a second host thread has called: who comes first is chance */
    OP_CHANCES
};
struct op_backend {
    void *self;
    /* A host thread is about to sleep until `op` is done: it may work for the backend. Returns when there is nothing
     * left that it could do. */
    void (*help)(void *self, struct op *op);
    /* A launch has become ready: a thread of the backend calls streams_start soon, and the enqueuing one goes on.
     * false: none is free at once. NULL: the enqueuing thread starts it. */
    bool (*start_soon)(void *self);
    /* Under a seed: run the launches in flight on this thread until one is done (SOME), for a while that the seed
     * decides (BUSY), or until none of them can go on unless somebody else writes memory (BLOCKED). */
    enum op_progress (*progress)(void *self);
    /* Nanoseconds for events. NULL: the host's clock; under a seed one microsecond for each operation. */
    u64 (*now)(void *self);
    /* Under a seed: the order of operations has become one that another run need not have; once for each reason. Under
     * the lock of the streams. */
    void (*unrepeatable)(void *self, enum op_chance why);
    /* Under a seed: whether the host could see what an operation does before it calls again, in memory that the two
     * share. NULL: always. Under the lock of the streams. */
    bool (*seen)(void *self, const struct op *op);
    /* A stream has waited for a value there, or is about to write one. Under the lock of the streams. */
    void (*value)(void *self, u64 address, u32 bytes, bool writes);
};

struct streams_options {
    struct op_backend backend;
    bool seeded; /* operations run when the host waits or asks, in an order that the seed draws */
    u64 seed;
    bool closed; /* no thread will call that has not called before: see streams_may_change */
    u32 slots;   /* most slots of clocks; 0: 4096. Beyond it op_before may say yes for unordered operations */
};

/* Who may call: any thread, any function, unless it says otherwise. A handle must not be destroyed by one thread while
 * another one passes it to a call, as in CUDA. */
struct streams *streams_new(const struct streams_options *o); /* NULL: no memory */
/* Waits for all operations, then ends the threads and frees all streams. Events and graphs must be deleted before. */
void streams_delete(struct streams *s);
/* All bodies from now on end at once with this status, without being called: a context that an error has poisoned. */
void streams_poison(struct streams *s, u32 status);
/* Under a seed: whether there was one of the reasons of op_chance. */
bool streams_unrepeatable(struct streams *s);
/* The slots were not enough: some unordered operations may count as ordered. */
bool streams_inexact(struct streams *s);

void *streams_self(const struct streams *s); /* of its op_backend */
/* Starts the launches that are ready; see op_backend.start_soon. */
void streams_start(struct streams *s);

/* What could still change memory, for those who prove that nobody can. */
struct streams_census {
    u32 queued;      /* operations that wait for others */
    u32 ready;       /* that may run and were not taken yet */
    u32 launches;    /* kernels that run */
    u32 copies;      /* copies and fills that run */
    u32 host;        /* host functions that run */
    u32 value_waits; /* waits for values that do not hold yet */
    u32 hosts;       /* host threads that wait in a call */
};
void streams_census(struct streams *s, struct streams_census *out);
/* Whether anything but the launches that run can still change memory or start work: an operation that is ready or runs,
 * a wait for a value that holds by now, or a host thread that has called before and is not asleep in a call. Always so
 * unless streams_options.closed. No is said only to the second of two questions with nothing between them: whoever
 * looks at memory, asks, and is told no has then looked after the last change. It takes only the lock of the streams: a
 * backend may ask with locks of its own. callers_sleep: the asker knows that threads which have called before sleep,
 * in calls or elsewhere. */
bool streams_may_change(struct streams *s, bool callers_sleep);
/* The calling thread is about to act on memory itself, as if in the legacy stream, until streams_acted. False: it must
 * not. Requires that no operation is in flight, that all earlier ones are ordered before the host, and that no other
 * thread has called. What other threads enqueue meanwhile is ordered after it, as after an operation of the legacy
 * stream. */
bool streams_act(struct streams *s);
/* The same for a thread that was already active before the first stream. */
void streams_acts(struct streams *s);
void streams_acted(struct streams *s);
/* The calling thread is in a call that enqueues nothing until it says otherwise: it counts as asleep. */
void streams_asleep(struct streams *s, bool asleep);
/* The operations that wait for others, the newest first, each with a reference, at most `most`. */
u32 streams_queued(struct streams *s, struct op **out, u32 most);
u32 streams_unfinished(struct streams *s); /* operations that are enqueued or run; graphs count as one */
u32 streams_sleeping(struct streams *s);   /* host threads that sleep in a call */
/* The operations that host threads wait for in calls, each with a reference, at most `most`. */
u32 streams_waited(struct streams *s, struct op **out, u32 most);

/* ---- operations ---- */

/* Enqueues, or records in a capture. *op (may be NULL) gets a reference, NULL where a capture took the operation. The
 * kinds OP_RECORD and OP_WAIT go through event_record and event_wait, OP_GRAPH through graph_launch. When it fails,
 * `drop` was not called. */
u32 op_enqueue(struct stream *st, const struct op_spec *spec, struct op **op);
/* The body is done. Once, from any thread, also before the body's call has returned OP_LATER. */
void op_done(struct op *op, u32 status);
/* Every CTA of this launch has triggered or left; op_done implies it. */
void op_trigger(struct op *op);
/* What griddepcontrol.wait waits for: all operations before this one are done. */
bool op_full(const struct op *op);
const u32 *op_overlaps(const struct op *op); /* the same as a word, 1 until then and 0 from then on; atomic */
struct op *op_hold(struct op *op);
void op_release(struct op *op);
enum op_state op_state(const struct op *op);
enum op_kind op_kind(const struct op *op);
u32 op_result(const struct op *op); /* its status, once it is done */
u64 op_tag(const struct op *op);
void *op_data(const struct op *op); /* as in its op_spec; not once it is done */
op_stamp op_stamp_of(const struct op *op);
bool op_is_node(const struct op *op); /* of a graph */
/* For a started operation: marks the edges into it as programmatic, even if no overlap was seen. */
bool op_may_overlap(const struct op *op);
u64 op_age(const struct op *op);    /* the order in which operations were enqueued, over all streams */
u64 streams_age(struct streams *s); /* of the operation that was enqueued last; 0: none is left that is not done */
u64 streams_oldest(
    struct streams *s); /* of the oldest that is not done; UINT64_MAX: none. Slow: looks at all of them */
struct stream *op_stream(const struct op *op);
/* Blocks until it is done; later operations are then ordered after it. Its status. */
u32 op_synchronise(struct op *op);
/* The same, and the host has learnt nothing by it: what it enqueues afterwards is ordered as if it had not waited. */
u32 op_await(struct op *op);
/* Operations that are not done and that `op` waits for directly, each with a reference, at most `most`. Slow: for a
 * report. */
u32 op_blockers(struct op *op, struct op **out, u32 most);

/* Why an operation waits for another one directly. */
enum op_reason {
    OP_BY_STREAM, /* the one before it in its stream */
    OP_BY_EVENT,  /* the record of an event */
    OP_BY_LEGACY, /* one of them is in the legacy default stream */
    OP_BY_GRAPH,  /* an edge of a graph, or the launch before of the same executable graph */
};
extern const char *const op_reason_name[];
/* A shortest chain of waiting from `from` to `to`, both unfinished: out[i] waits for out[i - 1], and reason[i] says
 * why. References to all of them. 0: it is not, or there are more than `most`. Slow: for a report. */
u32 op_path(struct op *from, struct op *to, struct op **out, enum op_reason *reason, u32 most);

/* ---- order ---- */

/* Whether operation `a`, also one that is gone, is before `b`, which has started. False for b itself. No lock.
 * With programmatic edges: what is before the start of b. */
bool op_before(op_stamp a, const struct op *b);
/* The same for accesses of b after griddepcontrol.wait. */
bool op_before_full(op_stamp a, const struct op *b);
/* Whether the host has waited for it: before every operation that is enqueued from now on. */
bool host_after(struct streams *s, op_stamp a);
/* A stamp for what the host does itself now: before every operation that is enqueued later, and not before others. */
op_stamp host_stamp(struct streams *s);

/* ---- streams ---- */

enum stream_flags { STREAM_BLOCKING = 0, STREAM_NON_BLOCKING = 1 };
enum { STREAM_PRIORITY_MOST = -5, STREAM_PRIORITY_LEAST = 0 }; /* a smaller number is more urgent */
/* A priority out of range is moved into it. */
struct stream *stream_new(struct streams *s, u32 flags, s32 priority);
/* The handle is gone at once, its operations go on. The legacy and per-thread streams cannot be deleted. */
u32 stream_delete(struct stream *st);
struct stream *stream_legacy(struct streams *s);
struct stream *stream_per_thread(struct streams *s); /* that of the calling thread; made on demand */
u32 stream_flags(const struct stream *st);
s32 stream_priority(const struct stream *st);
u64 stream_id(const struct stream *st); /* unique; 1 is the legacy stream */
void **stream_user(struct stream *st);  /* the caller's, NULL at first */
/* How reports call it, from now on: "stream NAME" in place of its number. The text must stay. */
void stream_set_name(struct stream *st, const char *name);
/* "stream copy", "stream 2", "the default stream" (of the legacy one); at most STREAM_TEXT bytes. */
enum { STREAM_TEXT = 120 };
void stream_text(const struct stream *st, char out[STREAM_TEXT]);
/* The same for a stream that may be gone, by its name (NULL: none) and its number. */
void stream_label(const char *name, u64 id, char out[STREAM_TEXT]);
const char *stream_name(const struct stream *st); /* as it was given; NULL: none */
struct streams *stream_owner(const struct stream *st);
/* OP_OK, OP_NOT_READY, or the status of the first operation that failed and was not asked for yet. */
u32 stream_query(struct stream *st);
void stream_error_taken(struct stream *st); /* somebody was told of the failed operation by other means */
u32 stream_synchronise(struct stream *st);
u32 streams_synchronise(struct streams *s); /* the device: all streams */
/* The same for a call that is no question: errors stay for those who ask. Nothing in a host function. */
void streams_settle(struct streams *s);

/* ---- events ---- */

enum event_flags { EVENT_DEFAULT = 0, EVENT_BLOCKING_SYNC = 1, EVENT_NO_TIMING = 2 };
struct event *event_new(struct streams *s, u32 flags); /* NULL: no memory */
void event_delete(struct event *e);                    /* records and waits in flight go on */
struct streams *event_owner(const struct event *e);
u32 event_record(struct event *e, struct stream *st, u64 tag);
u32 event_record_external(struct event *e, struct stream *st, u64 tag); /* in a capture: a node of the graph */
/* Binds to the latest record at the time of this call; nothing when there is none. */
u32 event_wait(struct stream *st, struct event *e, u64 tag);
u32 event_wait_external(struct stream *st, struct event *e, u64 tag);
/* The event stands for all that was enqueued in whichever stream; all that is enqueued from now on waits for it, in new
 * streams, too. OP_CAPTURE_UNSUPPORTED: some stream is captured. */
u32 event_record_all(struct event *e, u64 tag);
u32 event_wait_all(struct event *e, u64 tag);
/* The event of another device; event_wait goes there. A capture refuses it (OP_CAPTURE_ISOLATION), and one of that
 * device's (OP_NOT_SUPPORTED). */
u32 event_wait_cross_device(struct stream *st, struct event *e, u64 tag);
u32 event_query(struct event *e); /* OP_OK also when it was never recorded */
u32 event_synchronise(struct event *e);
u32 event_elapsed(struct event *from, struct event *to, double *ms);

bool op_in_host_function(void); /* the calling thread runs one */

/* ---- capture ---- */

enum capture_mode { CAPTURE_GLOBAL, CAPTURE_THREAD_LOCAL, CAPTURE_RELAXED };
enum capture_status { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALIDATED };
struct graph;
u32 capture_begin(struct stream *st, enum capture_mode mode);
/* The same into a graph that exists, after some of its nodes; capture_end gives that graph again. */
struct graph_node;
u32 capture_begin_in(struct stream *st, enum capture_mode mode, struct graph *g, struct graph_node *const *after,
                     u32 n);
/* Ends it in every case but OP_CAPTURE_UNMATCHED, which invalidates it, and OP_ILLEGAL_STATE; *graph is the caller's,
 * NULL unless OP_OK. */
u32 capture_end(struct stream *st, struct graph **graph);
/* The streams that events have drawn into the capture of this one, as words: "stream 2, stream 3"; "": none. */
void capture_others_text(struct stream *st, char *out, size_t size);
bool capture_borrows(struct stream *st); /* it is captured into a graph that existed */
enum capture_status capture_status(struct stream *st, u64 *id);
/* OP_CAPTURE_IMPLICIT: it is the legacy stream, beside blocking streams that are captured. */
u32 capture_hidden(struct stream *st);
bool streams_capture(struct streams *s); /* whether any of them is captured */
/* The graph of a capture that goes on, and the nodes that the stream's next operation depends on, at most `most`; how
 * many there are. NULL: the stream is not captured. */
struct graph *capture_graph_now(struct stream *st, struct graph_node **out, u32 most, u32 *n);
/* Sets these nodes, or adds to them. */
u32 capture_depend(struct stream *st, struct graph_node *const *nodes, u32 n, bool set);
/* For a call that is unsafe in a capture (cudaMalloc, cudaFree, ...): OP_OK, or OP_CAPTURE_UNSUPPORTED, and the
 * captures that forbid it are invalidated. */
u32 capture_unsafe_call(struct streams *s);
/* The calling thread's own mode, which starts as CAPTURE_GLOBAL; returns the one before. */
enum capture_mode capture_exchange_mode(enum capture_mode mode);
#endif
