/* host.h: what the handles of the public interface are, shared by the files of host.
 *
 * The interface is thin: it checks what a caller can get wrong, says so in a sentence, and hands on to dev. Nothing
 * is allocated on the way of a launch: its parameter block lies on the stack, and dev copies it where it must. */
#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H
#include "contract/contract_case.h"
#include "device/dev_memory.h"
#include <lockstep.h>

/* What every handle but contracts begins with: the list of its gpu, which ends what is left in it. */
enum handle_kind {
    HANDLE_EXEC,
    HANDLE_GRAPH,
    HANDLE_EVENT,
    HANDLE_STREAM,
    HANDLE_POOL,
    HANDLE_PHYSICAL,
    HANDLE_MODULE,
    HANDLE_KINDS
};
struct handle {
    lk_gpu *gpu;
    struct handle *next, **link; /* in the list of its kind; link is what points here */
    enum handle_kind kind;
    const char *site; /* the call that made it, where sites live for ever; else NULL */
};

struct thread_log { /* what the compiler said to one thread */
    const void *thread;
    struct text text;
    struct thread_log *next;
};

struct lk_gpu {
    struct device *device;
    u64 serial;      /* unique in the process */
    lk_gpu *next;    /* of all that are alive */
    u32 report_most; /* atomic: entries that the text report shows, 0: all */
    u32 compiling;   /* atomic: how many threads are in compile_cu, for lk_gpu_progress */
    lock_t lock;     /* of what follows, and of what modules make on demand; no call is made under it that waits */
    struct handle *handle[HANDLE_KINDS]; /* the newest of each kind first */
    struct thread_log *log;              /* one for each thread that has compiled */
    lk_module *unloaded;                 /* modules that the caller has unloaded and that graphs may still use */
    bool differs;                        /* lk_report_compare has told of a difference */
    lk_stream *legacy;                   /* atomic: its handle, once somebody has asked for it */
    lk_pool *pool;                       /* atomic: that of its default pool, in the same way */
    u64 peak;                            /* atomic, a real GPU: the most bytes that lived at one time */
    lk_way (*choose)(void *self, const lk_chosen *launch); /* which launches are checked; NULL: all */
    void *choose_self;                                     /* for it */
    u32 rings;                                             /* kernels of rings that run (src/ring) */
    u64 *late;                                             /* addresses that are freed when none runs any more */
    u32 late_count;
    lk_module *probe; /* a ring's: the cooperative kernel that is tried before it */
};

struct lk_stream {
    struct handle handle;
    struct dev_stream *dev;
    bool is_default; /* legacy or of a thread: the device's own */
    bool is_apart;   /* LK_STREAM_NON_BLOCKING */
};
struct lk_event {
    struct handle handle;
    struct dev_event *dev;
};
struct lk_graph {
    struct handle handle;
    struct dev_graph *dev;
    bool part; /* of what hangs on the graph of the device, and ends with that */
};
struct lk_exec {
    struct handle handle;
    struct dev_exec *dev;
};
struct lk_pool {
    struct handle handle;
    struct dev_pool *dev;
    bool is_default; /* the device's own */
};

struct lk_physical {
    struct handle handle;
    struct mem_physical *dev;
    u32 holders;  /* of its handle; 0: it lives while it is mapped somewhere */
    u32 mappings; /* both under the lock of api_virtual.c */
    u8 note[32];  /* of who made it */
};

struct lk_kernel {
    struct ptx_func *func;
    lk_module *module;
    const char *name;                                          /* as in the PTX, terminated */
    const char *plain;                                         /* as in the source */
    const char *signature;                                     /* with its parameters */
    const char *file;                                          /* of the source, by its line information; "" */
    const char **param_name;                                   /* of each parameter, as in the PTX */
    const char **param_type;                                   /* as in the source, "" where it is not known */
    u32 registers, barriers, stack, spill_stores, spill_loads; /* by ptxas; 0 registers: not asked */
    const char **undefined; /* names that nothing defines, a NULL behind them; NULL: not asked yet */
    struct host_arg *arg;   /* of each parameter, close together: every launch reads them */
};
struct host_arg {
    u32 offset, bytes; /* in the parameter block */
    bool is_pointer;   /* by .ptr, by its type in the source, or since the kernel takes it for a global address */
};

struct lk_module {
    struct handle handle;
    lk_module *next; /* of those that are unloaded */
    lk_gpu *gpu;
    struct dev_module *dev;
    struct lk_kernel *kernel;   /* entries of the PTX with a body, in its order; those of the first text come first */
    u32 kernels, first_kernels; /* of all texts, and of the first */
    struct map by_name;         /* the first kernel of each name in the PTX */
    const char *note;           /* how it came about, or "" */
    const char *source;         /* the .cu file, or NULL */
    const char **folder;        /* of its headers, as -I has them */
    u32 folders;
    const char *compiler;      /* who compiled it, or "" */
    char arch[16];             /* "sm_90", by its .target */
    struct str linked;         /* of several texts the one that they make, once somebody has asked for it */
    const char *max_registers; /* what ptxas is to be told, or NULL */
    bool was_assembled;        /* host_assembled has asked it */
    /* names that were given when it was compiled, and what each is called in the PTX (NULL: not known) */
    const char **asked;
    const char **lowered;
    u32 asks;
    struct arena mem; /* for all of these */
};

struct lk_contract {
    lk_gpu *gpu;
    struct contract read;     /* all blocks */
    struct bound bound;       /* kernel is NULL until it is bound */
    struct lk_kernel *kernel; /* to whom */
    char *dims;               /* "rows=100, cols=72" */
    char *oracle;             /* a line for each oracle line; NULL: none */
    VEC(struct layout_value) layout;
    bool has_case;           /* it was read for this one */
    struct contract_case is; /* lk_contract_read_case */
    struct arena mem;        /* for the text and the blocks */
    struct arena bound_mem;  /* for `bound`; emptied when it is bound anew */
};

/* ---- api_error.c ---- */
/* Starts a call that may fail, on a gpu or on none: forgets the thread's last error. */
struct error *host_begin(const lk_gpu *gpu);
/* The thread's error, as host_begin left it and others filled it in. */
struct error *host_error(void);
/* Ends a call with that error: composes the message and gives the status. */
lk_status host_failed(const lk_gpu *gpu);
/* Ends a call with a number of CUresult: LK_OK for 0, LK_NOT_READY for 600. For another one without an error, the
 * message is what is known of that number. */
lk_status host_done(const lk_gpu *gpu, u32 cuda);
/* A whole call that is refused: bad input, and why. */
lk_status host_refuse(const lk_gpu *gpu, const char *fmt, ...) PRINTF_LIKE(2, 3);
lk_status host_missing_in(const lk_gpu *gpu, const char *function, const char *what);
#define HOST_MISSING(gpu, what) host_missing_in(gpu, __func__, what) /* NULL was given for what is needed */
/* What reports call the host's call: `given`, else lk_thread_site's text, else what the maker says, else NULL. */
const char *host_site(const char *given);
/* Who is asked for the site of the calling thread's call when somebody needs it; its texts live for ever. */
void host_site_from(const char *(*maker)(void));
/* The name of memory that the calling thread allocates: `given`, else what the maker says, which may be NULL. */
const char *host_name(const char *given);
/* Who is asked what the calling thread passes to a launch of a kernel, with its parameter block. */
typedef const struct launch_views *host_views_maker(const struct ptx_func *kernel, const void *params);
void host_views_from(host_views_maker *maker);
const struct launch_views *host_views(const struct ptx_func *kernel, const void *params);
void host_name_from(const char *(*maker)(void));
/* The gpus that are alive. */
void host_add(lk_gpu *gpu);
void host_remove(lk_gpu *gpu);
lk_gpu *host_each(bool (*wanted)(lk_gpu *gpu, void *self), void *self); /* the first that is wanted, or NULL */

/* ---- api_gpu.c ---- */
void handle_add(struct handle *h, lk_gpu *gpu, enum handle_kind kind);
void handle_remove(struct handle *h);

/* ---- api_virtual.c ---- */
void host_physical_retain(lk_physical *p); /* one holder more */

/* ---- api_module.c ---- */
/* Makes a module of PTX texts, linked; `from` is how the first was compiled, or NULL. */
struct compile_result;
lk_status host_load(lk_gpu *gpu, const struct dev_part *part, u32 parts, const struct compile_result *from,
                    lk_module **module);
/* Waits for all work and frees it, or keeps it while graphs may still launch its kernels. */
void host_unload(lk_module *module);
/* A graph is gone: frees what host_unload kept, if it was the last one. */
void host_modules_end(lk_gpu *gpu);

/* ---- api_profile.c ---- */
/* A kernel is launched that is counted: its registers and spills are asked of ptxas, once for its module, where nothing
 * has told them. */
void host_assembled(lk_kernel *kernel);

/* ---- what becomes an operation of a stream or a node of a graph ---- */
/* api_launch.c: a launch, read and checked: `task` is what the device wants. */
struct host_launch {
    const lk_launch *in; /* what the caller gave, or `known` */
    lk_launch known;     /* as much of it as a caller with a smaller struct has, and zeros */
    struct dev_task task;
    struct sim_trace trace;
    u8 *params;                  /* small, or from base_alloc */
    _Alignas(16) u8 small[1024]; /* most kernels have less; PTX allows 32,764 bytes */
};
/* LK_OK, and host_launch_end is to follow; or the error. `gpu` is where it is to run. */
lk_status host_launch_begin(struct host_launch *l, const lk_gpu *gpu, lk_kernel *kernel, const lk_launch *launch,
                            const char *function);
void host_launch_end(struct host_launch *l);
/* api_memory.c: the same for a copy and a fill; *site is what the struct says. */
lk_status host_copy(const lk_gpu *gpu, const lk_copy *copy, struct dev_task *task, const char **site,
                    const char *function);
lk_status host_fill(const lk_gpu *gpu, const lk_fill *fill, struct dev_task *task, const char **site,
                    const char *function);
/* api_stream.c: enqueues a task under the name of the host's call. */
lk_status host_enqueue(lk_stream *stream, struct dev_task *task, const char *site);
u32 host_stream_end(lk_stream *stream, struct error *e);
u32 host_pool_end(lk_pool *pool); /* also one that is the gpu's own */
/* api_graph.c: a handle for a graph of the device, which is deleted if there is no memory. */
lk_status host_graph(lk_gpu *gpu, struct dev_graph *dev, lk_graph **graph);
lk_status host_graph_new(lk_gpu *gpu, struct dev_graph **dev); /* one of the device, without a handle */
#endif
