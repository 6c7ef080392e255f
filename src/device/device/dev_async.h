/* dev_async.h: what a program enqueues on a device: kernels, copies, fills, allocations and host functions, in streams
 * and graphs.
 *
 * The calls here are the same for both devices. They check what a caller can get wrong (ranges against objects, a
 * launch against the limits of the card), make a task of it, and hand it to the table `dev_async_ops` of the device:
 *
 *   dev_sim_async.c   the software GPU: a task becomes an operation of op.h, which orders and runs it
 *   dev_gpu_async.c   a real GPU: a task becomes a call of its driver, which does both
 *
 * Statuses are numbers of CUresult (enum op_status, and what the driver says); 0 is success. Unless it is 0, `e` says
 * what is wrong. Any thread may call, any number of them at once; a handle must not be destroyed by one thread while
 * another passes it to a call. */
#ifndef LOCKSTEP_DEV_ASYNC_H
#define LOCKSTEP_DEV_ASYNC_H
#include "device/dev.h"
#include "device/op_races.h"

struct dev_stream;
struct dev_event;
struct dev_graph;
struct dev_node;
struct dev_exec; /* an executable graph */
struct dev_pool;
struct cu_function_;
struct cu_stream_;

/* One side of a copy: an address of the device (also of its pinned and managed memory), or memory of the host. */
struct dev_end {
    struct device *device; /* NULL: the one of the stream; another one: a copy between devices */
    u64 address;           /* on the device */
    void *host;            /* not NULL: memory of the host, and `address` is not used */
    u64 pitch;             /* bytes from a row to the next; 0: the width */
    u64 slice;             /* bytes from a slice to the next; 0: pitch times rows */
};
struct dev_copy {
    struct dev_end to, from;
    u64 width, rows, slices; /* bytes, and how many; rows and slices at least 1 */
};
struct dev_fill {
    u64 address;
    u32 value, bytes; /* what is stored, 1, 2 or 4 bytes wide */
    u64 width, rows;  /* elements, rows at least 1 */
    u64 pitch;        /* bytes; 0: the width */
    u64 slices;       /* 0 counts as 1 */
    u64 slice;        /* bytes from a slice to the next; 0: pitch times rows */
};

/* An operation as data. What it points to is copied when it is enqueued or becomes a node, but for trace and contract
 * of a launch, which stay as they are until the launch, or the last graph with it, is gone. */
struct dev_task {
    enum op_kind kind; /* OP_EMPTY, OP_LAUNCH, OP_COPY, OP_FILL, OP_ALLOC, OP_FREE, OP_HOST, OP_LIBRARY */
    union {
        struct dev_launch launch;
        struct dev_copy copy;
        struct dev_fill fill;
        struct {
            u64 bytes;
            struct dev_pool *pool; /* NULL: the current pool of the device */
            const char *name;      /* or NULL */
            u64 address;           /* is set by the call */
        } alloc;
        struct {
            u64 address;
        } free;
        struct {
            void (*call)(void *self);
            void *self;
            /* or NULL; in the place of `call`: an operator of a library, its status. `use` is what it reads and writes:
             * the parts below, unless it puts others there that are known only now, and stay until it is called again
             */
            u32 (*operate)(void *self, struct op_races_use *use);
            void (*gone)(void *self); /* or NULL: nothing will call it again; from any thread, with locks held */
            const struct op_races_part *part; /* what `operate` reads and writes */
            u32 parts;
            bool computes; /* `operate` waits for nobody, and calls no code of the program */
        } host;
        struct {
            const struct op_races_part *part; /* what it has read and written */
            u32 parts;
        } library;
    };
    bool programmatic; /* OP_LAUNCH: may start when the launch before it in the stream has triggered */
    u32 number;        /* OP_LAUNCH: of several launches of one report, 0: not said */
    const char *site;  /* the host's call for reports: "copy 2", "cudaMemcpyAsync at main.cu:41"; NULL: not known */
    const union dev_plan *plan; /* of dev_task_plan, for the call that it was made in; NULL: there is none */
};

/* A launch in a stream of a real GPU, ready to be made again with other arguments: what its driver is called with. */
struct dev_repeat {
    /* cuLaunchKernel; its types are those of driver.h, which src/cuda/driver has by other names */
    int (*launch)(struct cu_function_ *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                  unsigned bz, unsigned shared, struct cu_stream_ *stream, void **params, void **extra);
    struct cu_function_ *function;
    struct cu_stream_ *stream;
    const struct ptx_func *kernel;
    const struct ptx_func **last; /* atomic: where the kernel is noted when it was launched */
};

struct dev_async_ops {
    /* streams; flags and priorities as in op.h */
    u32 (*stream_new)(struct device *d, u32 flags, s32 priority, struct dev_stream **out, struct error *e);
    u32 (*stream_delete)(struct dev_stream *st, struct error *e);
    void (*stream_name)(struct dev_stream *st,
                        const char *name); /* for reports; NULL: this device makes none of streams */
    struct dev_stream *(*stream_legacy)(struct device *d);
    struct dev_stream *(*stream_per_thread)(struct device *d);
    void **(*stream_user)(struct dev_stream *st); /* the caller's, NULL at first */
    u32 (*stream_query)(struct dev_stream *st, struct error *e);
    u32 (*stream_synchronise)(struct dev_stream *st, struct error *e);
    u32 (*synchronise)(struct device *d, struct error *e);
    u32 (*enqueue)(struct dev_stream *st, struct dev_task *task, struct error *e);
    /* Waits until all that is enqueued there is done, as the next operation would: the host learns nothing by it.
     * OP_CAPTURE_UNSUPPORTED: the stream is captured, which goes on. NULL: this device cannot. */
    u32 (*stream_reach)(struct dev_stream *st, struct error *e);
    /* Does it in the order of the legacy stream, and waits. NULL: by enqueue and stream_synchronise. */
    u32 (*perform)(struct device *d, struct dev_task *task, struct error *e);
    /* Fills `out` for a launch that was just enqueued there; false: it cannot be repeated so. NULL: none can. */
    bool (*repeat)(struct dev_stream *st, const struct dev_launch *l, struct dev_repeat *out);
    u32 (*value_wait)(struct dev_stream *st, u64 address, u32 bits, u64 value, enum op_compare c, const char *site,
                      struct error *e);
    u32 (*value_write)(struct dev_stream *st, u64 address, u32 bits, u64 value, const char *site, struct error *e);
    /* events */
    u32 (*event_new)(struct device *d, u32 flags, struct dev_event **out, struct error *e);
    void (*event_delete)(struct dev_event *ev);
    u32 (*event_record)(struct dev_event *ev, struct dev_stream *st, bool external, const char *site, struct error *e);
    u32 (*event_wait)(struct dev_stream *st, struct dev_event *ev, bool external, const char *site, struct error *e);
    u32 (*event_query)(struct dev_event *ev, struct error *e);
    u32 (*event_synchronise)(struct dev_event *ev, struct error *e);
    u32 (*event_elapsed)(struct dev_event *from, struct dev_event *to, double *ms, struct error *e);
    /* capture */
    u32 (*capture_begin)(struct dev_stream *st, enum capture_mode mode, struct error *e);
    u32 (*capture_end)(struct dev_stream *st, struct dev_graph **out, struct error *e);
    u32 (*capture_status)(struct dev_stream *st, enum capture_status *out, u64 *id, struct error *e);
    /* graphs */
    u32 (*graph_new)(struct device *d, struct dev_graph **out, struct error *e);
    void (*graph_delete)(struct dev_graph *g);
    u32 (*graph_add)(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_task *task,
                     struct dev_node **out, struct error *e);
    u32 (*graph_add_event)(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_event *ev, bool wait,
                           struct dev_node **out, struct error *e);
    u32 (*graph_add_child)(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_graph *child,
                           struct dev_node **out, struct error *e);
    u32 (*graph_edge)(struct dev_graph *g, struct dev_node *from, struct dev_node *to, bool remove, struct error *e);
    u32 (*graph_nodes)(struct dev_graph *g); /* how many */
    u32 (*graph_instantiate)(struct dev_graph *g, u32 flags, struct dev_exec **out, struct error *e);
    void (*exec_delete)(struct dev_exec *x);
    u32 (*exec_update)(struct dev_exec *x, struct dev_graph *g, struct error *e);
    u32 (*exec_set)(struct dev_exec *x, struct dev_node *n, struct dev_task *task, struct error *e);
    u32 (*exec_launch)(struct dev_exec *x, struct dev_stream *st, const char *site, struct error *e);
    /* pools of stream-ordered allocation; NULL: this device has none */
    /* most: bytes; 0: no limit. kind: MEM_POOL, memory of the device; MEM_PINNED, MEM_MANAGED. */
    u32 (*pool_new)(struct device *d, u64 most, enum mem_kind kind, struct dev_pool **out, struct error *e);
    u32 (*pool_delete)(struct dev_pool *p, struct error *e);
    u32 (*pool_trim)(struct dev_pool *p, u64 keep, struct error *e);
    u32 (*pool_threshold)(struct dev_pool *p, u64 bytes, struct error *e); /* kept at a synchronisation */
};
extern const struct dev_async_ops dev_sim_async, dev_gpu_async; /* device.async is one of them */

/* dev_async.c: checks a task against the device, then enqueues it, makes it a node, or changes one. A launch that the
 * limits of the card or its contract refuse is in the report, and the status is DEV_REFUSED_LAUNCH. */
enum {
    DEV_REFUSED_LAUNCH = 9,  /* as cudaErrorInvalidConfiguration; e is empty */
    DEV_LAUNCH_FAILED = 719, /* of CUresult: the launch ended early */
};
/* OP_OK, or what is wrong with it. What a copy or a fill does is then known, and task->plan is `plan`: whoever makes
 * the operation takes it from there. */
u32 dev_task_plan(struct device *d, struct dev_task *t, union dev_plan *plan, struct error *e);
u32 dev_enqueue(struct dev_stream *st, struct device *d, struct dev_task *task, struct error *e);
/* The same without a stream: done when it returns. */
u32 dev_perform(struct device *d, struct dev_task *task, struct error *e);
u32 dev_graph_add(struct dev_graph *g, struct device *d, struct dev_node *const *dep, u32 deps, struct dev_task *task,
                  struct dev_node **out, struct error *e);
u32 dev_exec_set(struct dev_exec *x, struct device *d, struct dev_node *n, struct dev_task *task, struct error *e);
/* The host reads or writes these bytes of memory that it has a pointer to, without waiting for anything. A device that
 * does not watch its operations does nothing with it. */
void dev_host_touches(struct device *d, u64 address, u64 bytes, bool write, const char *site);
/* What a status means, in words: "not ready". */
const char *dev_status_text(u32 status);
enum error_code
dev_status_code(u32 cuda); /* whose mistake it is: bad input, no memory, not supported, or the system's */
#endif
