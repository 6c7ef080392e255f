/* cu.h: the CUDA Driver API, libcuda.so.1, over the public interface of Lockstep.
 *
 *   abi/libcuda.def every call, with the release that brought it, its parameters and its variant
 *   abi/cuda_abi.h  the structs of cuda.h
 *   cu_check.h      what a row asks of a call before its function runs (abi/call_token.h has the words)
 *   abi/cu_stubs.S  an export that nobody defines: it is refused by name (cu_table.c)
 *   gate.h          the call gate: the record of the call that a thread is in, in words (gate_text.c)
 *   cu_reason.h     why the call that a thread is in fails
 *   cu_engine.h     what is asked of the engine around the driver (engine)
 *   cu_count.h      how often each kernel was launched
 *   cu_table.c      cuGetProcAddress; refusals
 *   cu_process.c    the devices of the process (LOCKSTEP_DEVICES), cuInit, fork
 *   cu_handle.c     which pointers of the caller are handles of ours, and which calls use what they name
 *   cu_context.c    contexts, primary and others, and each thread's stack of them
 *   cu_device.c     devices and their attributes
 *   cu_image.c      images and their kernels on each device
 *   cu_jit.c        options and logs of the compiler in the driver
 *   cu_module.c     modules and functions
 *   cu_library.c    libraries and kernels
 *   cu_link.c       the linker in the driver
 *   cu_memory.c     memory, and what an address is
 *   cu_copy.c       copies and fills
 *   cu_batch.c      several copies or values in one call
 *   cu_managed.c    advice about managed memory, and what else programs tell of memory
 *   cu_virtual.c    virtual memory management
 *   cu_pool.c       pools of stream-ordered allocation
 *   cu_array.c      arrays and mipmapped arrays
 *   cu_texture.c    texture and surface objects
 *   cu_launch.c     launches; cu_launch_old.c: those of CUDA before release 4
 *   cu_function.c   attributes of kernels
 *   cu_occupancy.c  how many blocks a multiprocessor holds
 *   cu_stream.c     streams, events, host functions; cu_stream_attribute.c
 *   cu_texref.c     texture and surface references of old programs
 *   cu_tensor_map.c tensor maps
 *   cu_graphics.c   memory shared with OpenGL, EGL and VDPAU: what a card without a display answers
 *   cu_mem.h        what memory functions share with each other and with the runtime's
 *   cu_count.c      launches by the name of the kernel
 *   cu_lookup.c     a kernel that its module does not have: what it has
 *   cu_stripped.c   a runtime in a program whose symbols were stripped
 *   cu_api.h        functions of graphs and capture (driver_graphs) that others call
 *
 * A function of the API is CU_API(cuMemAlloc_v2)(...): an exported symbol lkcu_cuMemAlloc_v2 of liblockstep.so, to
 * which the export of libcuda.so.1 jumps. Its types are those of cuda.h as numbers and pointers; no CUDA header is
 * needed. Handles that callers pass are looked up before they are used, so that junk is CUDA_ERROR_INVALID_HANDLE. */
#ifndef LOCKSTEP_CU_H
#define LOCKSTEP_CU_H
#include "api/host.h"
#include "abi/cuda_abi.h"
#include "driver/cu_api.h"

enum cu_error {
    CU_OK = 0,
    CU_INVALID_VALUE = 1,
    CU_OUT_OF_MEMORY = 2,
    CU_NOT_INITIALIZED = 3,
    CU_DEVICE_UNAVAILABLE = 46,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_INVALID_CONTEXT = 201,
    CU_NO_BINARY = 209,
    CU_UNSUPPORTED_LIMIT = 215,
    CU_UNSUPPORTED_AFFINITY = 224,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX = 222, /* its version */
    CU_FILE_NOT_FOUND = 301,
    CU_OPERATING_SYSTEM = 304,
    CU_INVALID_HANDLE = 400,
    CU_ILLEGAL_STATE = 401,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_PEER_UNSUPPORTED = 217,
    CU_PEER_NOT_ENABLED = 705,
    CU_PRIMARY_ACTIVE = 708,
    CU_CONTEXT_DESTROYED = 709,
    CU_NOT_PERMITTED = 800,
    CU_NOT_SUPPORTED = 801,
    CU_INVALID_CLUSTER = 912,
    CU_UNKNOWN = 999,
};

enum { CU_VERSION = 13000, CU_DEVICES = 16 };

/* ---- what callers pass ---- */

/* Whether what a pointer of the caller leads to can be read: one that leads nowhere is an error of the call, not a
 * crash. */
#define cu_ok(p) bytes_readable(p, sizeof *(p))

/* ---- handles ---- */

enum cu_kind {
    CU_CONTEXT = 1,
    CU_MODULE,
    CU_LIBRARY,
    CU_KERNEL,
    CU_STALE, /* a kernel whose image was unloaded */
    CU_LINK,
    CU_STREAM,
    CU_EVENT,
    CU_FATBIN,
    CU_GRAPH,
    CU_NODE,
    CU_EXEC,
    CU_USER_OBJECT,
    CU_POOL,
    CU_ARRAY,
    CU_MIPMAPPED,
    CU_TEXREF,
    CU_SURFREF,
    CU_PHYSICAL,
    CU_OF_LIBRARY, /* of cuBLAS and its like */
    CU_KINDS
};
/* What is to become a handle: so many bytes, zeroed. NULL: no memory. */
void *cu_handle_new(enum cu_kind kind, size_t bytes);
/* The same, and whoever uses it uses its parent, too, another one of these, as a kernel its image. */
void *cu_handle_new_in(void *parent, enum cu_kind kind, size_t bytes);
/* Every field is filled in: it becomes a valid handle. A thread that still holds an ended handle with the same address
 * may use it at once. Until then cu_handle_drop and cu_handle_end only free it. */
void *cu_handle_open(void *handle);
/* The parent is ending: the handle is of another kind from now on, and has none. */
void cu_handle_orphan(void *handle, enum cu_kind kind);
/* Whether it is a handle of this kind. What it names then stays until the call that the thread is in returns, whoever
 * destroys it meanwhile. The call locks all graphs and nodes. */
bool cu_handle_is(const void *handle, enum cu_kind kind);
/* Of which kind it is; 0: none. And whether it was one of the last 256 that were destroyed: by which call (NULL: not
 * known). */
enum cu_kind cu_handle_kind(const void *handle);
bool cu_handle_gone(const void *handle, enum cu_kind *kind, const char **site);
/* Removes a handle, which one of several threads that try it does; false: it is none of this kind. One of the next two
 * follows. */
bool cu_handle_take(void *handle, enum cu_kind kind);
/* How what a handle names ends, once no call uses it. The memory of the handle is freed afterwards. */
typedef cu_result cu_ended(void *handle);
/* Ends it now, with the result of `end`, or with the last call that uses it, with CU_OK. NULL: it is only freed. */
cu_result cu_handle_drop(void *handle, cu_ended *end);
/* The same when the calling thread's call returns: `end` calls the program, or waits. */
void cu_handle_later(void *handle, cu_ended *end);
void cu_handle_end(void *handle); /* removes it and drops it; NULL: nothing */
/* Memory that is not of cu_handle_new; false: no memory. */
bool cu_handle_add(void *handle, enum cu_kind kind);
void cu_handle_remove(void *handle);
/* The first handle of a kind that is wanted, NULL: none. It calls `wanted` under no lock but that of graphs. */
void *cu_handle_find(enum cu_kind kind, bool (*wanted)(void *handle, void *self), void *self);
/* Asked by `wanted`, of a handle that is counted: no other call uses it, nor will one see what was changed before. */
bool cu_handle_is_alone(void *handle);
/* The graphs are the call's until it returns, as by cu_handle_is; and no more. */
void cu_graphs_enter(void);
void cu_graphs_leave(void);

/* ---- the process ---- */

struct cu_device {
    u32 ordinal;                /* in CUDA_VISIBLE_DEVICES' order */
    u32 number;                 /* its number among all cards, whatever is visible */
    const struct card *card;    /* its card */
    lk_gpu *gpu;                /* NULL: nobody has used it yet */
    struct cu_context *primary; /* made at once, active while it is retained */
    u32 retained;               /* how often the primary context is */
    u32 primary_flags;
};
struct cu_process {
    lock_t lock; /* of the fields below, and of contexts */
    bool ready;  /* cuInit has been called */
    bool faults; /* --faults: a kernel that a GPU would end makes later calls fail */
    s32 pid;     /* that called it: a child of fork has none of this */
    struct cu_device device[CU_DEVICES];
    u32 devices;
};
extern struct cu_process cu_process;
/* CU_OK, or why there is nothing to call: cuInit was not called, or a fork came between. */
cu_result cu_begin(void);
/* The device with this ordinal; NULL: there is none. */
struct cu_device *cu_device_at(int ordinal);
bool cu_is_of_device(u64 address); /* of the addresses of a device that has a gpu */
/* Makes the device's gpu when it is needed first. */
cu_result cu_device_open(struct cu_device *d);
/* What the environment says cannot be used, `what` says why: the process ends here, with CU_EXIT_GIVEN. To go on as if
 * it had not been said would check something else than was asked for, and to fail every call would leave it to the
 * program whether anybody notices. */
enum { CU_EXIT_GIVEN = 2 };
__attribute__((noreturn)) void cu_given_wrong(const char *what);
/* The cards that there are, before any choice (LOCKSTEP_DEVICES); how many. */
u32 cu_cards(const struct card *card[CU_DEVICES]);
/* What a card is known by: the same in every run. */
void cu_card_uuid(u32 number, const struct card *p, u8 out[16]);
/* The same as nvidia-smi and CUDA_VISIBLE_DEVICES write it: "GPU-4c6f636b-...". */
void cu_card_uuid_text(u32 number, const struct card *p, char out[48]);

/* ---- contexts ---- */

struct cu_context {
    struct cu_device *device;
    bool primary, alive; /* alive: not destroyed; of a primary context: retained */
    u32 flags;
    u64 id;       /* unique */
    u64 limit[8]; /* by enum CUlimit */
    u32 cache_config, shared_config;
    u32 attached; /* how often cuCtxAttach has counted it */
};
bool cu_context_lives(const struct cu_context *c); /* alive, which other threads may change */
/* The calling thread's current context, alive, with its gpu open; CU_INVALID_CONTEXT: none. */
cu_result cu_current(struct cu_context **out);
struct cu_context *cu_context_top(void);                                   /* the same, alive or not; NULL: none */
cu_result cu_context_retain(struct cu_device *d, struct cu_context **out); /* the primary one */

/* ---- programs ---- */

/* A module or a library: an image, and what it became on each device. */
struct cu_image {
    enum cu_kind kind;      /* CU_MODULE, CU_LIBRARY */
    struct cu_device *only; /* a module's device; NULL: a library, which is loaded on a device when it is used there */
    struct cu_image *library; /* of a module that cuLibraryGetModule gave: the library, which has all below; or NULL */
    const void *data;         /* of an image of the program, which stays where it is: that; else NULL */
    lk_ptx *part;             /* its texts, terminated; of -rdc=true one for each file of the program */
    u32 parts;
    char name[64];                     /* in messages and reports */
    lock_t lock;                       /* of the fields below */
    lk_module *on[CU_DEVICES];         /* by ordinal; NULL: not loaded there */
    struct cu_image *view[CU_DEVICES]; /* what cuLibraryGetModule gave; NULL: nobody has asked */
    struct cu_function *first;         /* the kernels that somebody has asked for */
    struct map functions;              /* the same by name */
    struct arena mem;                  /* for that map */
    bool assembled[CU_DEVICES];        /* machine code for that device was looked for, and its registers are known */
    lk_module **left;                  /* of before a reset: calls may still use them */
    u32 lefts;
};
/* A kernel of an image: CUfunction, and CUkernel. */
struct cu_function {
    struct cu_image *image;    /* NULL: it was unloaded */
    char *name;                /* as in the PTX; its own */
    lk_kernel *on[CU_DEVICES]; /* by ordinal; NULL: not asked for there */
    u32 dynamic_shared;        /* cudaFuncAttributeMaxDynamicSharedMemorySize; 0: not set */
    s32 carveout;              /* preferred, percent; -1: none */
    u32 cluster[3];            /* required, 0: not said */
    u32 policy;                /* of scheduling clusters, as the program set it */
    bool cluster_any;          /* non-portable sizes are allowed */
    bool loaded;               /* used: with lazy loading it is on the device only then */
    struct cu_old *old;        /* what cuParamSetv and its like have set; NULL: nothing */
    struct cu_function *next;  /* of the image */
};
/* The kernel on a device, loaded there if need be. */
cu_result cu_function_on(struct cu_function *f, struct cu_device *d, lk_kernel **out);
/* A handle of either kind, as a function; NULL: it is not one. */
struct cu_function *cu_function_of(void *handle);
void cu_function_load(struct cu_function *f); /* it counts as loaded from now on */
/* As cu_function_of, for a launch on a device: a function of an image that was unloaded is a finding. */
struct cu_function *cu_function_launched(void *handle, struct cu_device *d);

/* A launch as cuLaunchKernel and its relatives give it. */
struct cu_launch {
    u32 grid[3], block[3], shared; /* shared: dynamic, bytes */
    u32 cluster[3];                /* of cuLaunchKernelEx; 0: not said */
    void *event;                   /* to be recorded after it; NULL: none */
    void *stream;
    bool cooperative, programmatic;
    void **params, **extra; /* arguments, in one of two forms */
};
enum { CU_ARGUMENTS = 1024 }; /* more than 4096 bytes of parameters can hold, one word each */
/* The kernel on the context's device and the launch as the public interface has it, its arguments in `arg`. */
cu_result cu_launch_read(struct cu_context *c, struct cu_function *f, const struct cu_launch *l,
                         const void *arg[CU_ARGUMENTS], lk_kernel **kernel, lk_launch *out);
/* Copies and fills as CUDA_MEMCPY3D and its like have them, without a stream. */
cu_result cu_copy_read(struct cu_context *c, const struct cu_copy_3d *x, lk_copy *out);

/* ---- streams ---- */
lk_event *cu_event_of(void *handle); /* NULL: it is no event */

/* Whether the call is a variant _ptsz or _ptds, whose stream 0 is the calling thread's default stream. */
bool cu_call_per_thread(void);
/* The stream of a handle in the current context: 0 (the legacy one, or by cu_call_per_thread the thread's), 1, 2, or
 * one of cuStreamCreate. */
cu_result cu_stream_of(struct cu_context *c, void *handle, lk_stream **out);
/* cu_current for a call that is given a stream: a thread without a context is in that of the stream. */
cu_result cu_current_for(void *handle, struct cu_context **out);
/* --faults: the error of a kernel that a GPU would have ended, once it has run; CU_OK: there is none. */
cu_result cu_sticky(const lk_gpu *gpu);
/* What an lk_ call on this gpu came to, as CUDA has it. */
cu_result cu_status(lk_gpu *gpu, lk_status s);
/* CUDA's own words for an error, which programs compare and print; NULL: they are not known. Live for ever. */
const char *cu_error_words(int number);
/* cu_stripped.c: whether a file has the CUDA runtime linked in, and no symbols by which it could be redirected. */
bool cu_stripped_runtime(const char *path);
/* "CUDA_ERROR_INVALID_VALUE"; NULL: there is no such error. */
const char *cu_error_name(int number);
/* A sentence for the report, once: something that the API has and Lockstep does not do. */
void cu_refused(const char *what);
/* The same of a function of the API, with the name by which the program called it. */
void cu_refused_call(const char *symbol);
#endif
