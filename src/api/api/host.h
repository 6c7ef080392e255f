/* host.h: what the handles of the public interface are, shared by the files of host.
 *
 * The interface is thin: it checks what a caller can get wrong, says so in a sentence, and hands on to dev. Nothing
 * is allocated on the way of a launch: its parameter block lies on the stack, and dev copies it where it must. */
#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H
#include "contract/contract_case.h"
#include "device/dev_memory.h"
#include "api/host_handle.h"
#include <lockstep.h>

struct thread_log { /* what the compiler said to one thread */
    const void *thread;
    struct text text;
    struct thread_log *next;
};

struct host_testing { /* how far a test is whose report a gpu has */
    char kernel[64];  /* "": none runs */
    u32 cases, most, failed;
};

struct lk_gpu {
    struct handle base; /* gpu: itself; in no list */
    struct device *device;
    u64 serial;      /* unique in the process */
    lk_gpu *next;    /* of all that are alive */
    u32 report_most; /* atomic: entries that the text report shows, 0: all */
    u32 compiling;   /* atomic: how many threads are in compile_cu, for lk_gpu_progress */
    lock_t lock;     /* of what follows, and of what modules make on demand; no call is made under it that waits */
    struct handle *handle[HANDLE_LISTS]; /* the newest of each kind first */
    struct thread_log *log;              /* one for each thread that has compiled */
    lk_module *unloaded;                 /* modules that the caller has unloaded and that graphs may still use */
    bool differs;                        /* lk_report_compare has told of a difference */
    lk_stream *legacy;                   /* atomic: its handle, once somebody has asked for it */
    lk_pool *pool;                       /* atomic: that of its default pool, in the same way */
    u64 peak;                            /* atomic, a real GPU: the most bytes that lived at one time */
    lk_way (*choose)(void *self, const lk_chosen *launch); /* which launches are checked; NULL: all */
    void *choose_self;                                     /* for it */
    u32 rings;                                             /* kernels of rings that run (src/api/ring) */
    u64 *late;                                             /* addresses that are freed when none runs any more */
    u32 late_count;
    lk_module *probe;             /* a ring's: the cooperative kernel that is tried before it */
    u32 peer;                     /* atomic, bits: GPU_IN_STREAMS, GPU_IN_GRAPHS */
    u32 keep;                     /* operations of each stream that are kept, as lk_options has it */
    bool blocking;                /* as lk_options has it */
    bool assemble;                /* as lk_options has it */
    bool faults;                  /* lk_options.faults */
    struct kept_handle *kept;     /* what was done without a stream, under the lock; host_kept.c */
    u64 kept_count;               /* atomic: operations that were kept so far */
    struct times *times;          /* lk_options.time: host_time.c; else NULL */
    struct rounds *rounds;        /* lk_memory_iteration: api_snapshot.c; NULL: none yet */
    struct host_texture *texture; /* textures and surfaces that are there, under the lock; api_texture.c */
    u32 textures;
    struct host_testing testing; /* under the lock */
    lk_gpu *under;               /* atomic: the gpu that runs the cases of that test here; NULL: none does */
};
enum { /* what other gpus have of this one: copies and waits in their streams, nodes of their graphs */
       GPU_IN_STREAMS = 1,
       GPU_IN_GRAPHS = 2
};

struct lk_stream {
    struct handle handle;
    struct dev_stream *dev;
    bool is_default;          /* legacy or of a thread: the device's own */
    bool is_apart;            /* LK_STREAM_NON_BLOCKING */
    struct kept_handle *kept; /* its last operations, under the lock of the gpu, or NULL */
    u32 repeats;              /* atomic: threads that hand a launch to the driver on the short way (api_launch.c) */
};
struct lk_event {
    struct handle handle;
    struct dev_event *dev;
};
struct lk_graph {
    struct handle handle;
    struct dev_graph *dev;
    lk_node *node; /* of those that were added, the newest first; under graphs_lock */
    bool part;     /* of the driver interface, whose nodes are those of the device */
    bool ending;   /* host_graph_ended deletes the graph of the device */
};
struct lk_node {
    struct handle handle; /* its parent is the graph; next: in the list of the graph */
    struct dev_node *dev;
    bool part; /* of the driver interface */
};
struct lk_exec {
    struct handle handle;
    struct dev_exec *dev;
    const lk_graph *from; /* that it was made from, which may be gone */
    bool part;            /* of the driver interface */
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
    _Alignas(HANDLE_ALIGN) struct handle handle; /* its parent is the module */
    struct ptx_func *func;
    lk_module *module;
    const char *name;                                          /* as in the PTX, terminated */
    const char *plain;                                         /* as in the source */
    const char *signature;                                     /* with its parameters */
    const char *file;                                          /* of the source, by its line information; "" */
    const char **param_name;                                   /* of each parameter, as in the PTX */
    const char **param_type;                                   /* as in the source, "" where it is not known */
    u32 registers, barriers, stack, spill_stores, spill_loads; /* by ptxas; 0 registers: not asked */
    const char **undefined; /* names that nothing defines, a NULL after them; NULL: not asked yet */
    struct host_arg *arg;   /* of each parameter, close together: every launch reads them */
    u32 pressure;           /* atomic: flow_pressure of it; 0: not asked yet */
    u64 launches;           /* atomic: so far, where operations are kept or one is to be recorded */
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
    u32 room;                   /* kernels that there is memory for */
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
    struct handle handle;
    lk_gpu *gpu;
    lock_t lock;              /* of all that follows */
    bool in_streams;          /* atomic: a launch of a stream was held against it */
    bool in_graphs;           /* atomic: a node of a graph, which may run at any time */
    u32 busy;                 /* atomic: launches of no stream that are held against it now */
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
/* LK_FINDINGS, with what the report begins with as the sentence. */
lk_status host_found(const lk_gpu *gpu);
/* The error of the last call, which is that of `gpu`, for lk_gpu_error of what was given as a gpu and is not one. */
void host_failed_at(const lk_gpu *gpu, const void *not_a_gpu);
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
/* The launch that an error of the calling thread belongs to, and which of its kernel it is (0: not counted); NULL:
 * none. */
void host_launching(const char *kernel, u64 nth);
u64 host_launching_nth(void);
/* api_record.c: whether "17", "scale" or "scale:3" mean the launch, the nth of its kernel and the number-th of all. */
bool host_record_means(const char *which, const lk_kernel *kernel, u64 nth, u64 number);
bool host_record_asked(void); /* LOCKSTEP_RECORD names a launch, and this process does not run under lockstep run */
/* Records a launch that is meant, before it runs. */
void host_record_launch(lk_kernel *kernel, const lk_launch *launch, u64 nth);
/* host_kept.c: an operation is enqueued, or done, where the gpu keeps them; and all that are kept, by streams. */
void host_kept_add(lk_gpu *gpu, lk_stream *stream, const struct dev_task *task);
void host_kept_text(lk_gpu *gpu, struct text *out);
/* The newest launch that is kept, and which of its kernel it was; false: there is none. */
bool host_kept_launch(lk_gpu *gpu, char name[128], u64 *nth);
struct kept_handle;
void host_kept_free(struct kept_handle *k);
/* The gpus that are alive. */
void host_add(lk_gpu *gpu);
void host_remove(lk_gpu *gpu);
lk_gpu *host_each(bool (*wanted)(lk_gpu *gpu, void *self), void *self); /* the first that is wanted, or NULL */

/* ---- api_virtual.c ---- */
void host_physical_retain(lk_physical *p); /* one holder more */

/* ---- api_module.c ---- */
/* Makes a module of PTX texts, linked; `from` is how the first was compiled, or NULL. */
struct compile_result;
lk_status host_load(lk_gpu *gpu, const struct dev_part *part, u32 parts, const struct compile_result *from,
                    lk_module **module);
/* The same of one text that describes an image, which a real GPU loads in its place. */
lk_status host_load_image(lk_gpu *gpu, const struct dev_part *part, const void *image, lk_module **module);
/* api_compile.c: lk_module_compile; `folder`, where it is not NULL, is cut from names in messages and in the PTX. */
lk_status host_compile(lk_gpu *gpu, const char *path, const lk_compile *in, const char *folder, lk_module **module);
void host_runtime_known(void);       /* api_source.c: a real GPU finds the device runtime of the toolkit */
void host_textures_end(lk_gpu *gpu); /* api_texture.c */
void host_rounds_free(lk_gpu *gpu);  /* api_snapshot.c */
/* A graph is gone: frees what host_unload kept, if it was the last one. */
void host_modules_end(lk_gpu *gpu);

/* ---- api_profile.c ---- */
/* A kernel is launched that is counted: its registers and spills are asked of ptxas, once for its module, where nothing
 * has told them. */
void host_assembled(lk_kernel *kernel);
/* lk_options.assemble: the same, where the text leaves it open whether the registers for a block of so many threads are
 * there. */
void host_assembled_for(lk_kernel *kernel, u64 threads);

/* Takes the lock of all graphs until the function returns. */
#define HOST_GRAPHS __attribute__((cleanup(host_graphs_leave), unused)) int graphs_ = host_graphs_enter()
int host_graphs_enter(void);
void host_graphs_leave(const int *unused);

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
/* api_arguments.c: reads them into h->task.launch; false: one is wrong. */
bool host_arguments(const lk_kernel *k, struct host_launch *h, struct error *e);
/* LK_OK, and host_launch_end is to follow; or the error. `gpu` is where it is to run. */
lk_status host_launch_begin(struct host_call *c, struct host_launch *l, const lk_gpu *gpu, lk_kernel *kernel,
                            const lk_launch *launch, const char *function);
void host_launch_end(struct host_launch *l);
/* api_memory.c: the same for a copy and a fill; *site is what the struct says. */
lk_status host_copy(struct host_call *c, const lk_gpu *gpu, const lk_copy *copy, struct dev_task *task,
                    const char **site, const char *function);
lk_status host_fill(const lk_gpu *gpu, const lk_fill *fill, struct dev_task *task, const char **site,
                    const char *function);
/* api_stream.c: enqueues a task under the name of the host's call. */
lk_status host_enqueue(lk_stream *stream, struct dev_task *task, const char *site);
void host_repeats_wait(lk_gpu *gpu); /* until no launch is on the short way that was before launch_forget */
/* api_graph.c: a handle for a graph of the device, which is deleted if there is no memory. */
lk_status host_graph(lk_gpu *gpu, struct dev_graph *dev, lk_graph **graph);
/* The same for the driver interface, in no list of the gpu yet; NULL: no memory. And its end, when the graph of the
 * device is gone. */
lk_graph *host_graph_part(lk_gpu *gpu, struct dev_graph *dev);
void host_graph_gone(lk_graph *graph);
lk_status host_graph_new(lk_gpu *gpu, struct dev_graph **dev); /* one of the device, without a handle */
#endif
