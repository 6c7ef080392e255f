/* compile: CUDA C to PTX, by whatever is on the machine.
 *
 * Lockstep brings no CUDA compiler. In this order it takes: the PTX committed beside the source, while its first line
 * says that it was made from exactly this text; an earlier result from the cache; NVRTC through dlopen; nvcc; clang.
 * Without any of these, PTX beside the source that is newer than it; and after that one sentence that names the way
 * out. LOCKSTEP_TOOLKIT in the environment names the one toolkit folder to use, or `none`. */
#ifndef LOCKSTEP_COMPILE_H
#define LOCKSTEP_COMPILE_H
#include "base/base.h"

typedef VEC(const char *) word_list;

enum compiler { COMPILER_ANY, COMPILER_NVRTC, COMPILER_NVCC, COMPILER_CLANG, COMPILER_COUNT };
extern const char *const compiler_name[COMPILER_COUNT]; /* "any", "nvrtc", "nvcc", "clang" */

struct compile_options {
    const char *arch; /* "sm_90", "sm_90a"; NULL: sm_90 */
    /* asked for by its name: no older one will do, and no PTX that lies beside the source */
    bool arch_exact;
    enum compiler compiler; /* COMPILER_ANY: the first that can */
    /* as nvcc spells them, one word each: "-DN=4", "-Iinclude", "-std=c++20" (flags.c) */
    const char *const *flag;
    u32 flags;
    /* the last one is -rdc=true, since the file is one of several: a .ptx beside it may have been made without, so it
     * is the last resort */
    bool linked;
    /* the first so many are what the source asks for itself: a .ptx beside it was made with them */
    u32 own;
    const char *const *name;
    u32 names;  /* kernels that are wanted by these names: "scale<float>" is instantiated */
    bool fresh; /* compile even if the cache or a file beside the source has the answer */
    /* the result may have other instances of templates, too: those that were asked for before, in one cache entry */
    bool gather;
};

struct compile_result {
    struct str ptx;   /* from base_alloc, terminated */
    struct text note; /* how it came about, one line */
    /* what the compiler had to say, diagnostic by diagnostic (diagnose.c); also on failure */
    struct text log;
    char **lowered;   /* for each of options.name what it is called in the PTX; NULL: not known */
    char **hidden;    /* kernels of the PTX that were made for an earlier request, a NULL after them; NULL: none */
    char by[64];      /* "nvrtc 13.0"; "": nobody compiled */
    char arch[16];    /* "sm_90" */
    struct arena mem; /* for the names */
};

/* Makes PTX with line information from a .cu file. false: the first error of the compiler with its line, or that
 * there is none. `o` may be NULL. Callable from several threads and processes at once. The result is released either
 * way. */
bool compile_cu(const char *path, const struct compile_options *o, struct compile_result *out, struct error *e);
void compile_result_free(struct compile_result *r);
/* "90", "sm_90", "compute_90a" to "sm_90a" form; false: this is no architecture. */
bool compile_arch(const char *text, char out[16]);

/* ---- toolkit.c: what there is to compile with; a path is "" when that was not found ---- */
enum { TOOLKIT_HEADERS = 8 };
struct toolkit {
    char nvrtc[1024]; /* libnvrtc.so.N, absolute */
    char nvcc[1024];  /* nvcc, absolute */
    char clang[1024]; /* clang, absolute */
    char ptxas[1024]; /* ptxas, absolute */
    char root[1024];  /* the toolkit's folder, for clang: include, nvvm */
    char include[TOOLKIT_HEADERS][1024];
    u32 includes; /* the toolkit's headers, for NVRTC */
};
void toolkit_find(struct toolkit *t);
/* True if this compiler can be used: clang needs a toolkit's headers. */
bool toolkit_has(const struct toolkit *t, enum compiler c);
/* Who would compile, in a form that changes when the compiler is exchanged: part of the cache key. */
void toolkit_identity(const struct toolkit *t, struct hash *h);

/* ---- what one attempt needs, and what comes out of it ---- */
struct compile_job {
    const struct toolkit *toolkit;
    const char *path;  /* of the .cu file */
    struct str source; /* its text */
    const char *arch;  /* "sm_90" */
    const struct compile_options *o;
    struct arena *mem;
};
struct compile_log {
    struct text ptx;      /* the result, empty on failure */
    struct text messages; /* the compiler's output */
    char by[64];          /* "nvrtc 13.0", "nvcc 13.0" */
    char **lowered;       /* for each of o->name; NULL: not known */
    bool bad_arch;        /* it does not know this architecture; `older` is what it would take instead, or "" */
    char older[16];
};
void compile_log_free(struct compile_log *log);
/* Each returns true with log->ptx filled; false: log->messages says why, or e when it could not even be started. */
bool compile_nvrtc(const struct compile_job *job, struct compile_log *log, struct error *e);
bool compile_nvcc(const struct compile_job *job, struct compile_log *log, struct error *e);
bool compile_clang(const struct compile_job *job, struct compile_log *log, struct error *e);
/* The number of an architecture: 90 of "sm_90a". */
u32 compile_arch_number(const char *arch);
/* The instance of a template that a name asks for, without a parameter list after it; NULL: it is not one. */
const char *compile_instance(struct arena *a, const char *name);

/* ---- flags.c: one table of what the flags are for each compiler ---- */
/* Appends the flags in the spelling of this compiler, defaults (line information, c++17) included. */
bool flags_translate(struct arena *a, const struct compile_options *o, enum compiler c, word_list *out,
                     struct error *e);
/* The folders of -I and -isystem, and files of -include, in order. */
void flags_paths(const struct compile_options *o, struct arena *a, word_list *folders, word_list *files);
/* The value of -maxrregcount, or NULL. */
const char *flags_registers(const struct compile_options *o);

/* ---- headers.c: the contents of everything a source includes ---- */
/* Adds all that the source could include, found as a compiler would, file by file, to the hash. false: some of it
 * cannot be known. */
bool headers_hash(const struct compile_job *job, struct hash *h);
/* Calls `each` for the files that the source includes from beside it and from these folders, directly or not: at most
 * 200 of them, each once. Their texts live in `a`. */
void headers_users(struct arena *a, const char *path, struct str source, const word_list *folders,
                   void (*each)(void *self, const char *file, struct str text), void *self);
/* The replacements for headers of the C library that NVRTC is given (stand_in.c): the i-th, NULL past the last. */
const char *stand_in_name(u32 i);
const char *stand_in_text(u32 i);

/* ---- cache.c ---- */
struct cache_entry {                    /* for the list */
    char key[HASH_HEX];                 /* its name in the cache */
    u64 bytes;                          /* of the file */
    s64 used;                           /* seconds since 1970, when it was last taken or made */
    char source[256], arch[16], by[64]; /* what it says about itself */
};
bool cache_folder(char *out, size_t size); /* false: there is none */
u64 cache_limit(void);                     /* LOCKSTEP_CACHE_SIZE, 0: no cache */
/* the same; false: the variable makes no sense, and the usual limit holds */
bool cache_limit_read(u64 *limit, struct error *e);
/* The entry of this key; false: there is none that is whole and has all instances that `o` names. Fills ptx, log, by,
 * arch, lowered and hidden of `r`. */
bool cache_take(const char *key, const struct compile_options *o, struct compile_result *r);
/* The instances that the entry of this key was made for, the last asked for first; strings live in `a`. */
void cache_instances(struct arena *a, const char *key, word_list *out);
/* The kernel of this PTX that a name means as a whole; NULL: none, or more than one. */
char *compile_entry(struct arena *a, struct str ptx, const char *name);
/* Keeps the result; when the cache grows beyond its limit, what was not used for longest goes. */
void cache_keep(const char *key, const char *path, const struct compile_options *o, const struct compile_result *r);
/* Calls `each` for every entry, the most recently used first. Returns their number. */
u32 cache_list(struct arena *a, struct cache_entry **out);
/* Removes everything; the number of files. */
u32 cache_clear(void);

/* ---- diagnose.c: the compiler's messages as one report ---- */
/* A name that was asked for is instantiated in a file of this name; errors there are errors in the name. */
#define NAMES_FILE "lockstep_names.cu"
struct diagnosis {
    u32 errors, warnings; /* how many */
    bool names;           /* the first error is about a name that was asked for, not about the source */
    struct error first;   /* with its line and a caret; code 0: none */
    struct text report;   /* all of them, in one form: "file:line:column: error: what", the line, a caret */
};
void diagnose(const struct compile_job *job, const struct compile_log *log, struct diagnosis *out);

/* ---- ptxas.c ---- */
struct assembled {                        /* what ptxas says of one kernel */
    struct str kernel;                    /* its name in the PTX */
    u32 registers, barriers;              /* of a thread; of a block */
    u32 stack, spill_stores, spill_loads; /* bytes of a thread */
};
/* Runs ptxas over the PTX, a whole program or a part of one; false with e->code 0: there is no ptxas. */
bool compile_assemble(struct arena *a, struct str ptx, bool part, const char *arch, const char *registers,
                      struct assembled **out, u32 *n, struct error *e);

/* ---- declared.c: what the source text declares ---- */
struct declared {
    struct str name; /* without scopes; points into the source */
    bool is_template;
    struct str params; /* of a template: "class T, int N"; points into the source */
    u32 line;          /* where its name stands */
};
/* The __global__ functions of the source, in order. */
u32 declared_kernels(struct arena *a, struct str source, struct declared **out);
/* The same with those of the files that it includes (headers_users), which come after its own. */
u32 declared_with_headers(struct arena *a, const char *path, struct str source, const word_list *folders,
                          struct declared **out);
/* Of a template: its name with its parameters, "scale<class T, int N>", and an instance to start from,
 * "scale<float, 32>". */
const char *declared_template(struct arena *a, const struct declared *d);
const char *declared_instance(struct arena *a, const struct declared *d);
#endif
