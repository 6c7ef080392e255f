/* dev_gpu.h: a real GPU, shared by the files that work it.
 *
 *   dev_gpu.c         opening it, its limits as a struct card, launches, waiting
 *   dev_gpu_memory.c  its objects: allocations and variables, with names and sites
 *   dev_gpu_module.c  PTX to the driver, kernels and variables from it
 *   dev_gpu_async.c   streams, events, copies, fills, pools, capture
 *   dev_gpu_graph.c   graphs
 *
 * The driver orders and runs the work, and answers most questions; what is kept here is what it does not tell: the
 * name and size of an object, and the kernel that was launched last in a stream, for the report of a fault.
 *
 * Any thread may call. The driver has a lock of its own; `lock` guards the list of objects, the list of streams and the
 * arena. Kernels are looked up once, and found without a lock then. */
#ifndef LOCKSTEP_DEV_GPU_H
#define LOCKSTEP_DEV_GPU_H
#include "device/dev_async.h"
#include "gpu/driver.h"

struct gpu_kernel { /* ptx_func.device points to it, from its first launch on */
    cu_function function;
    u32 shared_static; /* bytes that its own variables take */
    u32 shared;        /* atomic: dynamic bytes that the driver was told of; 0: none yet */
    u32 params;
    u32 *offset; /* of each parameter in the block: close together, where a launch needs them */
};

struct gpu_object {
    struct mem_object o;     /* what others see */
    bool graph;              /* belongs to an allocation node: the driver allocates and frees it with each launch */
    char unnamed[24];        /* "buffer 3": the name of one that was given none */
    struct gpu_object *next; /* in the list of spare ones */
};

struct dev_stream {
    struct device *d;
    cu_stream handle;
    const struct ptx_func *last; /* atomic: the kernel launched last; NULL: none, or its module is gone */
    struct dev_stream *next;     /* on the GPU; guarded by its lock */
    void *user;                  /* the caller's */
};

struct dev_event {
    struct device *d;
    cu_event handle;
};

struct gpu {
    struct driver cu;
    int device;
    bool retained;
    cu_context context;
    u64 serial;       /* unique in the process */
    struct card card; /* of this card */
    char title[128];
    lock_t lock;
    struct gpu_object **object; /* live and freed, sorted by base; a freed one goes when its addresses are used again */
    u32 objects, capacity;
    struct gpu_object *spare;              /* whose addresses are used again */
    struct map kept;                       /* names and sites by their text */
    u32 unnamed;                           /* so many have been named "buffer N" */
    u32 numbered;                          /* the id of the newest object */
    struct mem_usage usage[MEM_KINDS + 1]; /* by kind, and of all */
    struct arena text;                     /* objects, names and sites, kernels */
    struct dev_stream legacy, per_thread;  /* the default streams; the driver knows whose the second one is */
    struct dev_stream *streams;            /* all others, the newest first */
};

/* Calls the driver; a failure is an error that names the call. */
#define CALL(g, e, what, f, ...) gpu_done(g, e, what, (g)->cu.f(__VA_ARGS__))
bool gpu_done(const struct gpu *g, struct error *e, const char *what, cu_result code);
/* The context becomes that of the calling thread. */
bool gpu_current(struct gpu *g, struct error *e);
/* The same for calls that answer with a status. `call` names it; a fault of a kernel is a finding, at the kernel that
 * was launched last in `st`; NULL: the call waits for all streams. */
u32 gpu_status(struct device *d, const struct dev_stream *st, const char *call, cu_result code, struct error *e);

/* A call of CU_ASYNC_FUNCTIONS as a status. */
#define ASK(d, st, e, name, f, ...) gpu_status(d, st, name, ask_driver(&(d)->gpu->cu, f, ##__VA_ARGS__), e)
extern _Thread_local u64 gpu_was_current; /* serial of the GPU that this thread made current last; 0: none */
/* Before every such call: gpu_current as a status. */
static inline u32 gpu_ready(struct device *d, struct error *e)
{
    gpu_was_current = d->gpu->serial;
    cu_result code = d->gpu->cu.set_current(d->gpu->context);
    return likely(!code) ? 0 : gpu_status(d, NULL, "cuCtxSetCurrent", code, e);
}
u32 gpu_no_memory(struct error *e); /* the status for that */

/* The driver's function for a launch, with its attributes set. NULL: *code and *call say why. */
struct gpu_kernel *gpu_kernel_ask(struct device *d, const struct dev_launch *l, const char **call, cu_result *code);
static inline struct gpu_kernel *gpu_kernel(struct device *d, const struct dev_launch *l, const char **call,
                                            cu_result *code)
{
    struct gpu_kernel *x = __atomic_load_n(&l->kernel->device, __ATOMIC_ACQUIRE);
    *code = 0;
    return likely(x && !l->shared_bytes) ? x : gpu_kernel_ask(d, l, call, code);
}
/* The launch itself, in a stream. */
cu_result gpu_launch(struct device *d, const struct dev_launch *l, bool programmatic, cu_stream stream,
                     const char **call);
/* Pointers to the parameters of a launch, in `room` where they fit, else in `mem`. */
enum { GPU_PARAMS = 32 };
void **gpu_params(const struct gpu_kernel *x, const struct dev_launch *l, void *room[GPU_PARAMS], struct arena *mem);
/* Waits until `done` does not answer CU_NOT_READY any more. *interrupted: somebody wants the wait to end; the work goes
 * on. */
cu_result gpu_wait(struct device *d, cu_result (*done)(const struct driver *cu, void *of), void *of, bool *interrupted);
/* The sentence for that. */
bool gpu_interrupted(struct device *d, struct error *e);

/* dev_gpu_memory.c; find, enter and leave take the lock */
struct mem_object *gpu_alloc(struct device *d, u64 bytes, enum mem_kind kind, const char *name, const char *site,
                             struct error *e);
enum mem_free_result gpu_free(struct device *d, u64 addr, const char *site, struct mem_object **object);
struct mem_object *gpu_find(struct device *d, u64 addr);
/* Whether the driver knows an address, by whoever it was allocated; yes where it does not tell. */
bool gpu_knows(struct device *d, u64 addr);
/* Memory of the host, at its own address; statuses as of dev_register. */
u32 gpu_register(struct device *d, void *host, u64 bytes, const char *name, const char *site, struct mem_object **out,
                 struct error *e);
u32 gpu_unregister(struct device *d, void *host, const char *site, struct error *e);
void gpu_describe(struct device *d, struct mem_object *o, const char *name, const char *type, u32 element_size);
u64 gpu_live(const struct device *d);
struct mem_usage gpu_usage(const struct device *d, enum mem_kind kind); /* as mem_usage */
/* The objects in the order of their addresses; NULL: there are no more. Nobody else may allocate meanwhile. */
const struct mem_object *gpu_object_at(const struct device *d, u32 i);
/* Puts an object into the list; NULL: no memory. */
struct mem_object *gpu_enter(struct gpu *g, u64 base, u64 size, enum mem_kind kind, bool graph, const char *name,
                             const char *site);
/* It is freed. */
void gpu_leave(struct gpu *g, struct mem_object *o, const char *site);
void gpu_drop_all(struct gpu *g); /* frees what lives, and the list */
/* Whether it belongs to an allocation node. */
static inline bool gpu_is_of_graph(const struct mem_object *o) { return ((const struct gpu_object *)o)->graph; }

/* dev_gpu_module.c */
/* Who finds libcudadevrt.a, which a program that launches kernels from kernels is linked with. */
void gpu_runtime_from(bool (*find)(char *out, size_t size));
bool gpu_place(struct device *d, struct dev_module *m, struct error *e);
void gpu_displace(struct device *d, struct dev_module *m);

/* dev_gpu_async.c: a copy as one call or node of the driver. A status; e says why it cannot be. */
u32 gpu_copy3(const struct dev_copy *c, struct cu_copy_3d *out, struct error *e);
/* A fill with as few slices and rows as it can have. false: there are slices with gaps between them. */
bool gpu_flat_fill(const struct dev_fill *f, struct dev_fill *out);

/* dev_gpu_graph.c, as in dev_async_ops; gpu_graph_of makes a graph of one that the driver captured */
u32 gpu_graph_of(struct device *d, cu_graph handle, struct dev_graph **out, struct error *e);
u32 gpu_graph_new(struct device *d, struct dev_graph **out, struct error *e);
void gpu_graph_delete(struct dev_graph *g);
u32 gpu_graph_add(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_task *task,
                  struct dev_node **out, struct error *e);
u32 gpu_graph_add_event(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_event *ev, bool wait,
                        struct dev_node **out, struct error *e);
u32 gpu_graph_add_child(struct dev_graph *g, struct dev_node *const *dep, u32 deps, struct dev_graph *child,
                        struct dev_node **out, struct error *e);
u32 gpu_graph_edge(struct dev_graph *g, struct dev_node *from, struct dev_node *to, bool remove, struct error *e);
u32 gpu_graph_nodes(struct dev_graph *g);
u32 gpu_graph_instantiate(struct dev_graph *g, u32 flags, struct dev_exec **out, struct error *e);
void gpu_exec_delete(struct dev_exec *x);
u32 gpu_exec_update(struct dev_exec *x, struct dev_graph *g, struct error *e);
u32 gpu_exec_set(struct dev_exec *x, struct dev_node *n, struct dev_task *task, struct error *e);
u32 gpu_exec_launch(struct dev_exec *x, struct dev_stream *st, const char *site, struct error *e);
#endif
