/* lockstep.h: the public C interface of Lockstep, a checked GPU.
 *
 * Everything is an opaque handle, lk_noun_verb, fixed-width types; no CUDA header is needed. Functions return an
 * lk_status; lk_gpu_error() gives the sentence behind the calling thread's last one that was not LK_OK. Findings (bugs
 * of the kernel) are not errors: they are in the report of the gpu.
 *
 * Threads. Any number of threads may use any handle at once. A handle that is destroyed is refused from then on, in all
 * threads; what it names ends with the last call that uses it. lk_gpu_destroy waits for the calls of other threads, and
 * ends the handles of the gpu that are left. A handle that is not one, of another kind, or has ended, is LK_BAD_INPUT
 * (0, NULL or "" where no status is returned), with the sentence in lk_gpu_error of the call's gpu or of NULL.
 *
 * NULL where a handle or a result is needed is LK_BAD_INPUT; without a handle the sentence is lk_gpu_error(NULL)'s.
 * Here are GPUs, modules, memory, launches, streams and graphs; lockstep_contract.h, lockstep_image.h,
 * lockstep_memory.h, lockstep_report.h, lockstep_tables.h and lockstep_texture.h, which this file includes, have the
 * rest. lockstep.h(3) is the manual of all.
 */
#ifndef LOCKSTEP_H
#define LOCKSTEP_H
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
#if defined __GNUC__
#pragma GCC visibility push(default)
#endif
#define LK_VERSION "0.2.0"

/* The same numbers as the exit codes of the command. */
typedef enum lk_status {
    LK_OK = 0,
    LK_FINDINGS = 1, /* ran, and the report has errors */
    LK_BAD_INPUT = 2,
    LK_UNSUPPORTED = 3, /* an instruction or call that Lockstep does not support was reached */
    LK_NOTHING = 4,     /* nothing was checked or run */
    LK_OUT_OF_MEMORY = 5,
    LK_SYSTEM = 6,
    LK_NOT_READY = 8 /* the work that was asked for is not done yet; no error */
} lk_status;

typedef struct lk_gpu lk_gpu;       /* a GPU, software or real, its memory and its report */
typedef struct lk_module lk_module; /* loaded PTX */
typedef struct lk_kernel lk_kernel; /* a kernel of a module; lives as long as the module */
/* how kernels are to be called, from the //! lines of a file; ends before its gpu */
typedef struct lk_contract lk_contract;
typedef struct lk_stream lk_stream;     /* a queue of work, done in its order */
typedef struct lk_event lk_event;       /* a mark in a stream, to wait for and to measure time with */
typedef struct lk_graph lk_graph;       /* operations and the order between them, as data */
typedef struct lk_node lk_node;         /* an operation of a graph; lives as long as the graph */
typedef struct lk_exec lk_exec;         /* an executable graph */
typedef struct lk_pool lk_pool;         /* memory for stream-ordered allocation */
typedef struct lk_physical lk_physical; /* memory without an address, to be mapped */
typedef struct lk_array lk_array;       /* texels, for textures and surfaces */

typedef struct lk_options { /* zero it, set size, then what you need */
    size_t size;            /* sizeof(lk_options), for compatibility */
    const char *device;     /* the card to be; NULL: h200 */
    uint32_t threads;       /* worker threads; 0: as many as there are processors */
    uint32_t seeded;        /* non-zero: deterministic under `seed`, one worker */
    uint64_t seed;
    const char *check;    /* comma list of checks to run; NULL: all */
    const char *no_check; /* comma list of checks not to run */
    uint64_t budget;      /* warp instructions per launch before it counts as a livelock; 0: none */
    const char *on; /* "sim" or NULL: the software GPU; "gpu", "gpu:1": a real one, the first or this, by its driver */
    double time_limit; /* seconds after which a launch is stopped, with a finding; 0: none */
    /* software GPU: the host touches managed memory while a launch that may use it is in flight: "report" notes it for
     * the race check, "wait" lets the host wait, "free" does nothing; NULL: report under the race check, else free.
     * With "report" the same holds for pinned memory, whole pages of it, while an asynchronous copy is in flight */
    const char *managed;
    /* non-zero: PTX for a newer architecture than that of `device` is loaded; a GPU refuses it */
    uint32_t any_arch;
    /* software GPU, non-zero: what launches do is counted, line by line (lk_profile_text, lk_profile_json) */
    uint32_t profile;
    /* non-zero: the last so many operations of each stream are kept, at most 64, and lk_error.suspects names them */
    uint32_t keep;
    /* non-zero: a launch in a stream is waited for in the call, so that an error is that of the launch itself */
    uint32_t blocking;
    /* non-zero: launches, copies, fills are timed (lk_time_text), by events of a real GPU or this processor's clock */
    uint32_t time;
    /* software GPU, non-zero: where the registers of a launch's block may not suffice, by what lives at one time in the
     * text, ptxas is asked how many the kernel takes, once a module; without ptxas nothing is known, as without this */
    uint32_t assemble;
    uint32_t faults; /* non-zero: what a GPU would end by an error is one, of the call that waits and of later ones */
} lk_options;

const char *lk_version(void);
/* How many real GPUs there are, which lk_options.on may name; 0: lk_gpu_error(NULL) says why. And what one is. */
uint32_t lk_gpu_count(void);
typedef struct lk_gpu_info { /* set size */
    size_t size;
    char name[128];
    uint32_t arch; /* compute capability: 90 for sm_90 */
    uint32_t multiprocessors;
    uint64_t memory;    /* bytes */
    uint32_t clock_mhz; /* 0: not known */
    uint32_t is_real;   /* 0: the software GPU, as this card */
    uint32_t pageable;  /* non-zero: kernels may use memory of malloc by its own pointer */
} lk_gpu_info;
lk_status lk_gpu_at(uint32_t i, lk_gpu_info *info);
lk_status lk_gpu_create(const lk_options *options, lk_gpu **gpu); /* options may be NULL */
lk_status lk_gpu_properties(const lk_gpu *gpu, lk_gpu_info *info);
/* Waits for all work, then ends the gpu with all its handles. The kernel of a ring (lockstep_ring.h) that still runs is
 * interrupted: it would not end by itself. */
lk_status lk_gpu_destroy(lk_gpu *gpu);
const char *lk_gpu_title(const lk_gpu *gpu); /* the card: "NVIDIA H200" */
uint32_t lk_gpu_arch(const lk_gpu *gpu);     /* its compute capability: 90 for sm_90 */
/* The calling thread's last error on this gpu: "where: text" and, after a newline, an excerpt; "": none. NULL: of calls
 * that had no gpu, such as creation. Lives until the thread's next error; a gpu that is gone may be asked, too. */
const char *lk_gpu_error(const lk_gpu *gpu);
/* The number that CUDA's driver has for that error: 700 is CUDA_ERROR_ILLEGAL_ADDRESS (lk_cuda_error_at); 0: none. */
uint32_t lk_gpu_cuda_error(const lk_gpu *gpu);
/* The same error with all that is known of it. The texts live until the thread's next error. */
typedef struct lk_error { /* set size */
    size_t size;
    uint32_t status;     /* lk_status of the call */
    uint32_t cuda;       /* as lk_gpu_cuda_error */
    const char *name;    /* "CUDA_ERROR_ILLEGAL_ADDRESS"; "": CUDA has no name for it */
    const char *call;    /* the function that reported it: "lk_stream_synchronise" */
    const char *message; /* as lk_gpu_error */
    /* the kernel, where the error is that of a launch: in this call, with lk_options.blocking, or of the software GPU;
     * of a fault that a real GPU reports later, and with lk_options.keep, the one that was launched last; else "" */
    const char *launch;
    const char *suspects;     /* of a real GPU's fault: the last operations of its streams (lk_options.keep) */
    const char *causes, *fix; /* what is usually behind that number; "" */
    uint32_t lasting;         /* lk_cuda_lasting: LK_CUDA_STICKY: the process has to be started again */
    /* of a fault whose launch is known: what the environment needs for a second run to record it before it runs,
     * "LOCKSTEP_RECORD=scale:3"; else "" */
    const char *record;
} lk_error;
/* 0: the thread has had no error on this gpu. */
int lk_gpu_last_error(const lk_gpu *gpu, lk_error *error);
/* Reports name the calling thread's calls on all gpus by this text, "cudaMemcpyAsync at main.cu:41", until it is set
 * again; copied. NULL: by what they do. A `site` in a struct goes before it. */
void lk_thread_site(const char *site);
/* Waits until the work of all streams is done. LK_OK, or the first error of an operation that nobody was told of. While
 * a stream is captured it is LK_BAD_INPUT and breaks the capture. */
lk_status lk_gpu_synchronise(lk_gpu *gpu);

/* PTX text, copied; `name` stands in messages. Compiling .cu needs lk_module_compile. */
lk_status lk_module_load(lk_gpu *gpu, const char *name, const char *ptx, size_t bytes, lk_module **module);
typedef struct lk_ptx {
    const char *name, *ptx;
    size_t bytes;
} lk_ptx;
/* Several texts as one program, linked as nvlink does it: an .extern name means what another text defines as
 * .visible, .weak or .common. Modules that were loaded apart do not see each other, as with the driver. */
lk_status lk_module_link(lk_gpu *gpu, const lk_ptx *part, uint32_t parts, lk_module **module);
/* A .ptx or .cu file; the same as lk_module_compile without options. */
lk_status lk_module_load_file(lk_gpu *gpu, const char *path, lk_module **module);

typedef struct lk_source { /* a text that is no file */
    const char *name, *text;
    size_t bytes;
} lk_source;
typedef struct lk_compile { /* zero it, set size, then what you need */
    size_t size;
    const char *arch; /* "sm_90a"; NULL: that of the gpu's card */
    /* "nvrtc", "nvcc" or "clang"; NULL: the first of these that is there and can take the file */
    const char *compiler;
    /* one word each, as nvcc spells them: "-DN=4", "-Iinclude", "-std=c++20", "--use_fast_math" */
    const char *const *flag;
    uint32_t flags;
    /* names that lk_module_kernel will be asked for: templates among them, "scale<float>", are instantiated */
    const char *const *name;
    uint32_t names;
    uint32_t fresh; /* non-zero: compile, whatever the cache or a .ptx beside the source has */
    /* the first so many flags are what the source asks for itself (lk_contract_flags): a .ptx beside it was made with
     * them */
    uint32_t own;
    /* more .ptx and .cu files of the same program, linked with this one; all .cu are then compiled with -rdc=true */
    const char *const *link;
    uint32_t links;
    /* non-zero: instances of templates are gathered. The result may hold more than `name` asks for, which
     * lk_module_kernel does not find and lk_module_ptx shows; one compilation then serves what was asked for before,
     * and the cache has one entry for all */
    uint32_t gather;
    /* of lk_module_compile_source: what the source includes and is no file, by the names that it has there */
    const lk_source *header;
    uint32_t headers;
} lk_compile;
/* Compiles a .cu file, always with line information, and loads it; results are kept in a cache. `options` may be
 * NULL; a .ptx file is loaded as it is. */
lk_status lk_module_compile(lk_gpu *gpu, const char *path, const lk_compile *options, lk_module **module);
/* The same for a source that is no file; `name` is what messages and reports call it, "scale.cu". */
lk_status lk_module_compile_source(lk_gpu *gpu, const char *name, const char *text, size_t bytes,
                                   const lk_compile *options, lk_module **module);
/* A cubin, a fatbin or PTX in memory, as cuModuleLoadData takes it. A real GPU loads it as it is; the software GPU runs
 * the PTX in it, and without any says what to compile with. `name` stands in messages. */
lk_status lk_module_load_image(lk_gpu *gpu, const char *name, const void *image, size_t bytes, lk_module **module);
/* What the compiler said in the calling thread's last lk_module_compile, errors and warnings in one form with their
 * lines, or ""; lives until its next one. */
const char *lk_gpu_log(const lk_gpu *gpu);
/* How the module came about ("compiled by nvrtc 13.0 for sm_90", "took the PTX beside it"), or ""; lives as long as
 * the module. */
const char *lk_module_note(const lk_module *module);
const char *lk_module_compiler(const lk_module *module); /* "nvrtc 13.0", or "" when nobody compiled */
const char *lk_module_arch(const lk_module *module);     /* "sm_90", as in the PTX */
/* Its text; of several files the one that they make together, NULL where there is none (lk_gpu_error says why). Lives
 * as long as the module. */
const char *lk_module_ptx(lk_module *module, size_t *bytes);
/* Asks ptxas for registers and spills of all kernels (lk_kernel_usage). LK_NOTHING: there is no ptxas. */
lk_status lk_module_assemble(lk_module *module);
/* Waits for the work of all streams, as the driver does. LK_BAD_INPUT, and nothing is unloaded: a capture forbids it.
 */
lk_status lk_module_unload(lk_module *module);
uint32_t lk_module_kernel_count(const lk_module *module);
lk_kernel *lk_module_kernel_at(lk_module *module, uint32_t i);
/* By its mangled name, or as in the source: "scale", "ns::scale", "scale<float>", "scale(float*, int)"; NULL: the
 * only one there is. NULL: no kernel fits, or several do, and the error lists them. */
lk_kernel *lk_module_kernel(lk_module *module, const char *name);
/* The names of the kernels that a .cu or .ptx file has, one a line, without compiling anything: for shells. Of a
 * template it is an instance to start from, "scale<float>". Release with lk_text_free; NULL: it cannot be read. */
char *lk_file_kernels(const char *path);
/* __device__ / __constant__ variable */
lk_status lk_module_symbol(lk_module *module, const char *name, uint64_t *address, uint64_t *bytes);

typedef struct lk_param {
    uint32_t offset, bytes, align;
    char type[8]; /* of the PTX: "u64", "f32", "b8" (struct) */
    uint32_t is_pointer;
    const char *name;        /* as in the PTX */
    const char *source_type; /* as in the source, when the kernel's name tells: "const float*"; else "" */
} lk_param;
const char *lk_kernel_name(const lk_kernel *kernel);  /* as in the PTX, mangled */
const char *lk_kernel_plain(const lk_kernel *kernel); /* as in the source: "deep::pick", "scale<float>" */
/* with its parameters: "scale<float>(float*, int)"; the name where these are not known */
const char *lk_kernel_signature(const lk_kernel *kernel);
/* the file of the source that has it, as the PTX says; "": not known */
const char *lk_kernel_file(const lk_kernel *kernel);
uint32_t lk_kernel_param_count(const lk_kernel *kernel);
lk_status lk_kernel_param(const lk_kernel *kernel, uint32_t i, lk_param *out);

typedef struct lk_usage { /* set size */
    size_t size;
    /* static, of the kernel and all that it may call */
    uint64_t param_bytes, shared_bytes, local_bytes, const_bytes, global_bytes;
    uint32_t dynamic_shared; /* non-zero: it declares shared memory whose size comes with the launch */
    uint32_t max_threads[3], required_threads[3], cluster[3]; /* of a block, of a cluster; 0: not said */
    uint32_t min_blocks, max_registers;                       /* __launch_bounds__, __maxnreg__; 0: not said */
    uint32_t assembled;                                       /* non-zero: lk_module_assemble filled in the rest */
    uint32_t registers, barriers;
    uint64_t stack_bytes, spill_store_bytes, spill_load_bytes;
} lk_usage;
lk_status lk_kernel_usage(const lk_kernel *kernel, lk_usage *usage);
/* How many blocks of so many threads, with so much dynamic shared memory, a multiprocessor holds at a time. */
typedef struct lk_occupancy { /* set size */
    size_t size;
    uint32_t blocks, warps; /* of a multiprocessor; 0: not one block fits */
    uint32_t of_warps;      /* that it has room for */
    const char *limiter;    /* what allows no more: "blocks", "warps", "registers", "shared memory" */
    uint32_t by_blocks, by_warps, by_registers, by_shared; /* blocks that each of these alone allows */
    uint32_t registers;       /* of a thread, where ptxas or __maxnreg__ tells; 0: not known, and they limit nothing */
    uint32_t suggested_block; /* threads of the block that keeps most of them on a multiprocessor, the largest */
    uint32_t suggested_grid;  /* blocks of it that the whole gpu holds at a time */
} lk_occupancy;
lk_status lk_kernel_occupancy(lk_kernel *kernel, uint32_t threads, uint64_t shared_bytes, lk_occupancy *occupancy);
/* The i-th name that the kernel can get to and nothing defines, NULL: there are no more. A launch that reaches one
 * ends there. */
const char *lk_kernel_undefined(lk_kernel *kernel, uint32_t i);

/* The cache of compiled kernels. */
/* used: seconds since 1970 */
typedef struct lk_cache_info {
    char key[40], source[256], arch[16], compiler[64];
    uint64_t bytes;
    int64_t used;
} lk_cache_info;
/* up to `most`, the last used first; returns how many there are */
uint32_t lk_cache_list(lk_cache_info *out, uint32_t most);
uint32_t lk_cache_clear(void);               /* removes all; returns how many there were */
uint64_t lk_cache_limit(void);               /* bytes (LOCKSTEP_CACHE_SIZE); 0: no cache */
int lk_cache_folder(char *out, size_t size); /* 0: there is none */

/* ---- memory ---- */

/* Which memory: the first three can be asked for; the others are what lk_memory_at may answer. Pinned memory is always
 * mapped: kernels use it by its address. */
typedef enum lk_memory_kind {
    LK_MEMORY_DEVICE,
    LK_MEMORY_PINNED,
    LK_MEMORY_MANAGED,
    LK_MEMORY_POOL,       /* of a stream-ordered allocation, or of a node of a graph */
    LK_MEMORY_REGISTERED, /* the host's own, by lk_memory_register */
    LK_MEMORY_VARIABLE,   /* of a module */
    LK_MEMORY_HEAP,       /* of malloc in a kernel */
    LK_MEMORY_VIRTUAL     /* addresses of lk_virtual_reserve */
} lk_memory_kind;
lk_status lk_memory_alloc(lk_gpu *gpu, uint64_t bytes, lk_memory_kind kind, const char *name, uint64_t *address);
/* rows * slices rows of `width` bytes, each *pitch bytes after the one before it; slices: 0 counts as 1. */
lk_status lk_memory_alloc_pitched(lk_gpu *gpu, uint64_t width, uint64_t rows, uint64_t slices, const char *name,
                                  uint64_t *address, uint64_t *pitch);
/* "f32[1000]", 4 */
lk_status lk_memory_describe(lk_gpu *gpu, uint64_t address, const char *name, const char *type, uint32_t element_bytes);
/* Waits for the work of all streams, as the driver does. A second free is a finding. */
lk_status lk_memory_free(lk_gpu *gpu, uint64_t address);
lk_status lk_memory_write(lk_gpu *gpu, uint64_t address, const void *from, uint64_t bytes); /* host to device */
lk_status lk_memory_read(lk_gpu *gpu, uint64_t address, void *to, uint64_t bytes);          /* device to host */
/* The host takes these bytes for a result: what in them was computed from undefined values becomes a finding.
 * lk_memory_read does the same. */
lk_status lk_memory_output(lk_gpu *gpu, uint64_t address, uint64_t bytes);
lk_status lk_memory_fill(lk_gpu *gpu, uint64_t address, int byte, uint64_t bytes);
uint64_t lk_memory_live(const lk_gpu *gpu); /* bytes */
uint64_t lk_memory_peak(const lk_gpu *gpu); /* the most that lived at one time */

/* One side of a copy: memory of the host, or an address of a gpu. */
typedef struct lk_end {
    lk_gpu *gpu;      /* whose address it is; NULL: the gpu of the call */
    uint64_t address; /* of device, pinned, managed or registered memory */
    void *host;       /* not NULL: memory of the host, and `address` is not used */
    uint64_t pitch;   /* bytes from a row to the next; 0: the width */
    uint64_t slice;   /* bytes from a slice to the next; 0: pitch times rows */
} lk_end;
typedef struct lk_copy { /* zero it, set size, then what you need */
    size_t size;
    lk_end to, from;
    uint64_t width;        /* bytes of a row; 0: nothing is copied */
    uint64_t rows, slices; /* 0 counts as 1 */
    lk_stream *stream;     /* NULL: copied when the call returns */
    const char *site;      /* the host's call, for reports; NULL: lk_thread_site's */
} lk_copy;
lk_status lk_memory_copy(lk_gpu *gpu, const lk_copy *copy);
typedef struct lk_fill { /* zero it, set size, then what you need */
    size_t size;
    uint64_t address;
    uint32_t value, bytes; /* what each element becomes, and its size: 1, 2 or 4; 0 counts as 1 */
    uint64_t width;        /* elements of a row; 0: nothing is filled */
    uint64_t rows, slices; /* 0 counts as 1 */
    uint64_t pitch;        /* bytes from a row to the next; 0: the width */
    uint64_t slice;        /* bytes from a slice to the next; 0: pitch times rows */
    lk_stream *stream;     /* NULL: filled when the call returns */
    const char *site;
} lk_fill;
lk_status lk_memory_set(lk_gpu *gpu, const lk_fill *fill);

/* The same in a stream: enqueued, and done when the stream gets there. As in CUDA, a copy from memory of the host that
 * is neither pinned nor registered takes the bytes in the call, and one to such memory waits in the call; in a capture,
 * and in a graph, both are done when the graph runs. */
lk_status lk_memory_write_async(lk_stream *stream, uint64_t address, const void *from, uint64_t bytes);
lk_status lk_memory_read_async(lk_stream *stream, uint64_t address, void *to, uint64_t bytes);
lk_status lk_memory_copy_async(lk_stream *stream, uint64_t to, uint64_t from, uint64_t bytes);
lk_status lk_memory_fill_async(lk_stream *stream, uint64_t address, int byte, uint64_t bytes);
/* Memory that may be used from this point of the stream on, until its free. pool: NULL: the gpu's own. */
lk_status lk_memory_alloc_async(lk_stream *stream, uint64_t bytes, lk_pool *pool, const char *name, uint64_t *address);
lk_status lk_memory_free_async(lk_stream *stream, uint64_t address);

/* The host's pointer to pinned, managed or registered memory. */
lk_status lk_memory_host(lk_gpu *gpu, uint64_t address, void **host);
/* Says that the host itself reads these bytes of pinned, managed or registered memory now, or writes them: a copy or a
 * launch that uses them and that nobody has waited for is a finding. */
lk_status lk_memory_touch(lk_gpu *gpu, uint64_t address, uint64_t bytes, uint32_t write);
/* Memory of the host for kernels to use; `address` is what they know it by. lk_memory_unregister waits for the work of
 * all streams. */
lk_status lk_memory_register(lk_gpu *gpu, void *host, uint64_t bytes, const char *name, uint64_t *address);
lk_status lk_memory_unregister(lk_gpu *gpu, void *host);
typedef struct lk_memory_info { /* set size */
    size_t size;
    lk_gpu *gpu; /* whose memory it is */
    lk_memory_kind kind;
    uint32_t freed; /* non-zero: it was freed, and nothing else is there yet */
    uint64_t base, bytes;
    char name[64]; /* cut off where it is longer */
    uint64_t id;   /* unique in the process: another allocation at the same address has another one */
} lk_memory_info;
/* What is at an address; gpu NULL: of whichever gpu. LK_NOTHING: no memory of this gpu. */
lk_status lk_memory_at(lk_gpu *gpu, uint64_t address, lk_memory_info *info);

/* Pools of stream-ordered allocation. most: bytes that the pool may hold, 0: no limit. */
lk_status lk_pool_create(lk_gpu *gpu, uint64_t most, lk_pool **pool);
/* Software GPU. A pool of memory of the gpu, of pinned memory of the host or of managed memory, which the host uses as
 * well. */
enum { LK_POOL_OWN = 1 }; /* the gpu's own: the program cannot destroy it, and it is no leak */
lk_status lk_pool_create_of(lk_gpu *gpu, lk_memory_kind kind, uint64_t most, uint32_t flags, lk_pool **pool);
/* Software GPU. Whether kernels may use memory of the pool; at first they may. */
lk_status lk_pool_access(lk_pool *pool, uint32_t allowed);
lk_status lk_pool_destroy(lk_pool *pool);             /* what is allocated from it stays until it is freed */
lk_status lk_pool_trim(lk_pool *pool, uint64_t keep); /* gives free memory back to the gpu, beyond `keep` bytes */
/* A synchronisation gives free memory back only beyond so many bytes; 0 at first. */
lk_status lk_pool_threshold(lk_pool *pool, uint64_t bytes);
/* Software GPU. The pool that a gpu has from the beginning, which cannot be destroyed; NULL: lk_gpu_error says why. And
 * the pool that lk_memory_alloc_async takes memory of where it is given none. */
lk_pool *lk_pool_default(lk_gpu *gpu);
lk_status lk_pool_current(lk_gpu *gpu, lk_pool *pool);
typedef struct lk_pool_info { /* set size */
    size_t size;
    uint64_t reserved, reserved_high; /* bytes of the gpu that it holds, and the most it held */
    uint64_t used, used_high;         /* bytes in allocations, and the most there were */
    uint64_t most, threshold;         /* its limit, 0: none; what it keeps at a synchronisation */
} lk_pool_info;
enum { LK_POOL_RESET_RESERVED = 1, LK_POOL_RESET_USED = 2 }; /* the highest start from what is there */
lk_status lk_pool_usage(lk_pool *pool, lk_pool_info *info, uint32_t reset);
uint32_t lk_pool_has(lk_pool *pool, uint64_t address); /* whether the address is in memory of this pool */

/* Virtual memory management, software GPU: addresses are reserved, memory is made, mapped to them, and given access to;
 * the same memory may be mapped at several addresses. All in multiples of LK_GRANULE bytes. A kernel that uses reserved
 * addresses without memory, or memory without access, is a finding. */
#define LK_GRANULE (2u << 20)
lk_status lk_virtual_reserve(lk_gpu *gpu, uint64_t bytes, uint64_t align, const char *name, uint64_t *address);
lk_status lk_virtual_free(lk_gpu *gpu, uint64_t address, uint64_t bytes); /* whole, with nothing mapped */
lk_status lk_physical_create(lk_gpu *gpu, uint64_t bytes, lk_physical **physical);
lk_status lk_physical_release(lk_physical *physical); /* it stays while it is mapped somewhere */
lk_status lk_virtual_map(lk_gpu *gpu, uint64_t address, uint64_t bytes, lk_physical *physical);
/* Whole mappings. A launch or a copy in flight that uses them is a finding, and is waited for. */
lk_status lk_virtual_unmap(lk_gpu *gpu, uint64_t address, uint64_t bytes);
typedef enum lk_access { LK_ACCESS_NONE, LK_ACCESS_READ, LK_ACCESS_WRITE } lk_access;
lk_status lk_virtual_access(lk_gpu *gpu, uint64_t address, uint64_t bytes, lk_access access);
typedef struct lk_virtual_info { /* set size */
    size_t size;
    uint64_t base, bytes;  /* of the mapping */
    lk_physical *physical; /* what is mapped */
    lk_access access;
} lk_virtual_info;
/* What is mapped at an address. LK_NOTHING: nothing. */
lk_status lk_virtual_at(lk_gpu *gpu, uint64_t address, lk_virtual_info *info);

/* following a launch on the software GPU, which then takes one worker; zero it, set size, then what you need */
typedef struct lk_trace {
    size_t size;
    /* a line for each executed warp instruction: docs/use/trace.md; NULL: no trace */
    void (*write)(void *self, const char *text, size_t bytes);
    /* called once, with where it stopped and the registers there */
    void (*stop)(void *self, const char *text, size_t bytes);
    void *self;
    const char *lines;        /* trace only [FILE:]LINE[-LINE]; NULL: all */
    const char *break_at;     /* stop before [FILE:]LINE[@N], the N-th time a warp gets there; needs stop */
    uint32_t one_cta, cta[3]; /* one_cta non-zero: only the warps of this CTA */
    uint32_t one_warp, warp;  /* the same for a warp of a CTA */
} lk_trace;
/* Launches together, added to when each has ended; readable at any time. */
typedef struct lk_count {
    uint64_t launches, nanoseconds, warp_instructions;
} lk_count;
/* A value for a parameter, with its type: it is held against what the kernel takes. Zeroed it is a null pointer. */
typedef enum lk_value_kind {
    LK_VALUE_NULL,
    LK_VALUE_BUFFER, /* as.u64: an address of device, pinned, managed or registered memory */
    LK_VALUE_I8,
    LK_VALUE_U8,
    LK_VALUE_I16,
    LK_VALUE_U16,
    LK_VALUE_I32,
    LK_VALUE_U32,
    LK_VALUE_I64,
    LK_VALUE_U64,
    LK_VALUE_F32,
    LK_VALUE_F64,
    LK_VALUE_STRUCT /* as.data: `bytes` of them, copied in the call; for anything that has no kind of its own */
} lk_value_kind;
typedef struct lk_value {
    uint32_t kind;  /* lk_value_kind */
    uint32_t bytes; /* of LK_VALUE_STRUCT */
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32;
        double f64;
        const void *data;
    } as;
} lk_value;
typedef struct lk_launch { /* zero it, set size, then what you need */
    size_t size;
    uint32_t grid[3], block[3]; /* 0 counts as 1 in y and z */
    uint32_t shared_bytes;      /* dynamic shared memory */
    uint32_t cooperative;
    const void *const *args;   /* one pointer to each argument's value */
    const uint32_t *arg_bytes; /* size of each; NULL: trusted to be what the kernel expects */
    uint32_t arg_count;
    const lk_trace *trace;       /* NULL: none */
    const lk_contract *contract; /* bound to this kernel: the arguments are held against it; NULL: none */
    uint32_t shared_optin;       /* what the host sets cudaFuncAttributeMaxDynamicSharedMemorySize to; 0: not said */
    uint32_t registers;          /* of a thread, as ptxas says; 0: not said, then what lk_module_assemble found */
    /* software GPU: 0: blocks and warps as the seed has them, 1: backwards, others: at random; implies a seed */
    uint32_t order;
    /* software GPU: run again under orders 1 to this, from the same memory; results that differ are order_dependent */
    uint32_t orders;
    /* of several launches of one report: findings say that they belong to this one; 0: they do not say */
    uint32_t number;
    /* NULL: lk_kernel_launch returns when the launch has ended. A stream: it returns at once; orders and trace must
     * then be 0, and a contract must live until the launch has ended */
    lk_stream *stream;
    /* in a stream: it may start when the launch before it has triggered (griddepcontrol.launch_dependents) */
    uint32_t programmatic;
    const char *site; /* the host's call, for reports; NULL: lk_thread_site's */
    /* how-many-eth launch of its kernel this is: findings then name the launch and the host's call; 0: they do not */
    uint64_t nth;
    lk_count *count;     /* what it is added to, software GPU; lives as long as the gpu. NULL: nothing */
    uint32_t cluster[3]; /* blocks of a cluster, 0 counts as 1 in y and z; 0 in x: as the kernel requires, or none */
    uint32_t portable;   /* refuse clusters of more than 8 blocks: the host has not allowed them for the kernel */
    /* in place of args: arg_count values with their types; arg_bytes is not used */
    const lk_value *values;
    /* non-zero: pointers among the arguments go to the kernel as they are. 0: freed memory, memory of another gpu, and
     * pointers of the host are refused */
    uint32_t as_given;
} lk_launch;
static inline lk_value lk_value_buffer(uint64_t address)
{
    lk_value v = { LK_VALUE_BUFFER, 0, { 0 } };
    v.as.u64 = address;
    return v;
}
static inline lk_value lk_value_i32(int32_t i)
{
    lk_value v = { LK_VALUE_I32, 0, { 0 } };
    v.as.i32 = i;
    return v;
}
static inline lk_value lk_value_u32(uint32_t u)
{
    lk_value v = { LK_VALUE_U32, 0, { 0 } };
    v.as.u32 = u;
    return v;
}
static inline lk_value lk_value_i64(int64_t i)
{
    lk_value v = { LK_VALUE_I64, 0, { 0 } };
    v.as.i64 = i;
    return v;
}
static inline lk_value lk_value_u64(uint64_t u)
{
    lk_value v = { LK_VALUE_U64, 0, { 0 } };
    v.as.u64 = u;
    return v;
}
static inline lk_value lk_value_f32(float f)
{
    lk_value v = { LK_VALUE_F32, 0, { 0 } };
    v.as.f32 = f;
    return v;
}
static inline lk_value lk_value_f64(double f)
{
    lk_value v = { LK_VALUE_F64, 0, { 0 } };
    v.as.f64 = f;
    return v;
}
static inline lk_value lk_value_struct(const void *data, uint32_t bytes)
{
    lk_value v = { LK_VALUE_STRUCT, 0, { 0 } };
    v.bytes = bytes;
    v.as.data = data;
    return v;
}

typedef struct lk_stats {
    uint64_t warp_instructions, ctas;
    uint64_t nanoseconds; /* software GPU: by the clock of this processor; real GPU: by its events */
    uint64_t orders;      /* of lk_launch.orders: those that ran and left the same bytes */
} lk_stats;
/* Runs to the end and returns: LK_OK, LK_FINDINGS (new errors in the report), or why not. `stats` may be NULL. With a
 * stream it is enqueued: arguments are copied, LK_FINDINGS is a launch that was refused, stats are 0. */
lk_status lk_kernel_launch(lk_kernel *kernel, const lk_launch *launch, lk_stats *stats);
/* Writes what this launch would find into a file, for lockstep replay: PTX, shape, arguments, and all memory that it
 * can reach by pointers, up to 2 GiB. Nothing is launched; all work on the gpu is waited for. */
lk_status lk_record(const lk_kernel *kernel, const lk_launch *launch, const char *path);

/* ---- streams ---- */

enum { LK_STREAM_NON_BLOCKING = 1 }; /* flags: takes no part in the order of the legacy default stream */
/* priority: smaller is more urgent, from -5 to 0; others are moved into this range. */
lk_status lk_stream_create(lk_gpu *gpu, uint32_t flags, int32_t priority, lk_stream **stream);
/* How reports call it: "stream NAME" in place of a number. The text is copied. */
lk_status lk_stream_name(lk_stream *stream, const char *name);
/* The handle is gone at once, its work goes on. The default streams cannot be destroyed. */
lk_status lk_stream_destroy(lk_stream *stream);
/* The default streams: after all earlier work of blocking streams, and before their later work; and the calling
 * thread's own blocking stream. NULL: lk_gpu_error says why. They live as long as the gpu. */
lk_stream *lk_stream_legacy(lk_gpu *gpu);
lk_stream *lk_stream_per_thread(lk_gpu *gpu);
/* LK_OK: all work is done; LK_NOT_READY; or the first error of an operation of it that nobody was told of. */
lk_status lk_stream_query(lk_stream *stream);
lk_status lk_stream_synchronise(lk_stream *stream); /* the same, and waits */
/* Later work of the stream is after the event's latest record at the time of this call; nothing waits if there is none.
 * The event may belong to another gpu, except in a capture.
 */
lk_status lk_stream_wait(lk_stream *stream, lk_event *event);
/* Until the 32 or 64 bits at `address` compare with `value`; and writing them. */
typedef enum lk_compare {
    LK_COMPARE_GEQ, /* memory - value >= 0 as a signed difference, so that counters may wrap */
    LK_COMPARE_EQ,
    LK_COMPARE_AND, /* memory & value is not 0 */
    LK_COMPARE_NOR  /* ~(memory | value) is not 0 */
} lk_compare;
lk_status lk_stream_wait_value(lk_stream *stream, uint64_t address, uint32_t bits, uint64_t value, lk_compare compare);
lk_status lk_stream_write_value(lk_stream *stream, uint64_t address, uint32_t bits, uint64_t value);
/* Calls a function of the host when the stream gets there, on a thread of Lockstep's; it may not call lk_ functions of
 * this gpu. */
lk_status lk_host_call(lk_stream *stream, void (*function)(void *self), void *self);

/* ---- events ---- */

enum { LK_EVENT_BLOCKING_SYNC = 1, LK_EVENT_NO_TIMING = 2 }; /* flags */
lk_status lk_event_create(lk_gpu *gpu, uint32_t flags, lk_event **event);
lk_status lk_event_destroy(lk_event *event); /* records and waits in flight go on */
lk_status lk_event_record(lk_event *event, lk_stream *stream);
lk_status lk_event_query(lk_event *event);       /* LK_OK: reached, or never recorded; LK_NOT_READY */
lk_status lk_event_synchronise(lk_event *event); /* the same, and waits */
/* Milliseconds between two records; on the software GPU those of the host's clock, under a seed a microsecond for each
 * operation. LK_NOT_READY: one of them is not reached yet. */
lk_status lk_event_elapsed(lk_event *from, lk_event *to, double *milliseconds);

/* ---- capture: a stream that records a graph instead of working ---- */

/* Which calls that may not be in a capture (lk_memory_alloc, ...) are refused while it goes on: those of all threads,
 * those of the thread that began it, none. */
typedef enum lk_capture_mode { LK_CAPTURE_GLOBAL, LK_CAPTURE_THREAD_LOCAL, LK_CAPTURE_RELAXED } lk_capture_mode;
/* INVALIDATED: a call has broken it; lk_stream_capture_end ends it with an error */
typedef enum lk_capture_status { LK_CAPTURE_NONE, LK_CAPTURE_ACTIVE, LK_CAPTURE_INVALIDATED } lk_capture_status;
lk_status lk_stream_capture(lk_stream *stream, lk_capture_mode mode);
lk_status lk_stream_capture_end(lk_stream *stream, lk_graph **graph);
lk_status lk_stream_capture_status(lk_stream *stream, lk_capture_status *status);
/* In a capture: a node of the graph that records or waits for the event whenever it runs, instead of an edge. */
lk_status lk_event_record_external(lk_event *event, lk_stream *stream);
lk_status lk_stream_wait_external(lk_stream *stream, lk_event *event);

/* ---- graphs ---- */

lk_status lk_graph_create(lk_gpu *gpu, lk_graph **graph);
lk_status lk_graph_destroy(lk_graph *graph); /* executable graphs made from it stay */
/* A node that runs after `count` others; `node` may be NULL. What a struct points to is copied; its stream is not used.
 */
lk_status lk_graph_add_empty(lk_graph *graph, lk_node *const *after, uint32_t count, lk_node **node);
lk_status lk_graph_add_launch(lk_graph *graph, lk_node *const *after, uint32_t count, lk_kernel *kernel,
                              const lk_launch *launch, lk_node **node);
lk_status lk_graph_add_copy(lk_graph *graph, lk_node *const *after, uint32_t count, const lk_copy *copy,
                            lk_node **node);
lk_status lk_graph_add_fill(lk_graph *graph, lk_node *const *after, uint32_t count, const lk_fill *fill,
                            lk_node **node);
lk_status lk_graph_add_host(lk_graph *graph, lk_node *const *after, uint32_t count, void (*function)(void *self),
                            void *self, lk_node **node);
lk_status lk_graph_add_record(lk_graph *graph, lk_node *const *after, uint32_t count, lk_event *event, lk_node **node);
lk_status lk_graph_add_wait(lk_graph *graph, lk_node *const *after, uint32_t count, lk_event *event, lk_node **node);
lk_status lk_graph_add_child(lk_graph *graph, lk_node *const *after, uint32_t count, lk_graph *child, lk_node **node);
/* *address is the same in every launch of the graph, usable from this node on until its free node. */
lk_status lk_graph_add_alloc(lk_graph *graph, lk_node *const *after, uint32_t count, uint64_t bytes, const char *name,
                             uint64_t *address, lk_node **node);
lk_status lk_graph_add_free(lk_graph *graph, lk_node *const *after, uint32_t count, uint64_t address, lk_node **node);
lk_status lk_graph_edge(lk_graph *graph, lk_node *from, lk_node *to);
lk_status lk_graph_edge_remove(lk_graph *graph, lk_node *from, lk_node *to);
uint32_t lk_graph_node_count(const lk_graph *graph);
enum { LK_GRAPH_AUTO_FREE = 1 }; /* flags: each launch frees what the one before allocated and did not free */
/* LK_BAD_INPUT: it has a cycle. */
lk_status lk_graph_instantiate(lk_graph *graph, uint32_t flags, lk_exec **exec);
lk_status lk_exec_destroy(lk_exec *exec); /* launches in flight go on */
/* Enqueues all of it; an executable graph never overlaps itself. */
lk_status lk_exec_launch(lk_exec *exec, lk_stream *stream);
/* Later launches run what `graph` says, which must have the same nodes and edges; launches in flight go on. When it
 * fails, nothing has changed. */
lk_status lk_exec_update(lk_exec *exec, lk_graph *graph);
/* The same for a single node of the original graph. */
lk_status lk_exec_set_launch(lk_exec *exec, lk_node *node, lk_kernel *kernel, const lk_launch *launch);
lk_status lk_exec_set_copy(lk_exec *exec, lk_node *node, const lk_copy *copy);
lk_status lk_exec_set_fill(lk_exec *exec, lk_node *node, const lk_fill *fill);
lk_status lk_exec_set_host(lk_exec *exec, lk_node *node, void (*function)(void *self), void *self);

/* Which launches are checked: the function is asked before each one begins, nodes of graphs included, on any thread,
 * several at a time. It must not call the library. software GPU: an unchecked launch runs, and nothing is reported of
 * it unless it ends early; what it writes counts as initialised, and races with it are not reported. One that is left
 * out does not run; all memory counts as initialised from then on. Limits and arguments are checked for all. */
typedef enum lk_way { LK_CHECKED, LK_UNCHECKED, LK_LEFT_OUT } lk_way;
typedef struct lk_chosen { /* valid for the call */
    const char *name;      /* of the kernel, as in the PTX */
    uint32_t grid[3], block[3];
} lk_chosen;
/* NULL: all are checked, as at first. While nothing is in flight. */
void lk_gpu_choose(lk_gpu *gpu, lk_way (*choose)(void *self, const lk_chosen *launch), void *self);

/* From any thread or a signal handler: all launches, and a test that reports here, end with a report. */
void lk_gpu_interrupt(lk_gpu *gpu);

/* How far the running launches are, all together: from any thread. 0: none runs, or this gpu cannot tell. */
typedef struct lk_progress {
    size_t size; /* set it */
    uint64_t ctas, ctas_done;
    uint64_t warp_instructions; /* those of CTAs that still run are added from time to time */
    uint32_t compiling;         /* non-zero: no launch runs yet, a compiler does; only for who has room for it */
    uint32_t cases, cases_most, cases_failed; /* of a test that reports here: run; of so many, 0: any; that failed */
    char test[64];                            /* its kernel; "": none is tested. For who has room for these four */
} lk_progress;
int lk_gpu_progress(lk_gpu *gpu, lk_progress *progress);
#if defined __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
/* The rest of the interface, by subject. */
#include "lockstep_contract.h"
#include "lockstep_image.h"
#include "lockstep_memory.h"
#include "lockstep_report.h"
#include "lockstep_tables.h"
#include "lockstep_texture.h"
#endif
