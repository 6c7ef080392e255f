/* host.h: what the handles of the public interface are, shared by the files of host.
 *
 * The interface is thin: it checks what a caller can get wrong, says so in a sentence, and hands on to dev. Nothing
 * is allocated on the way of a launch: a kernel's parameter block is made when its module is loaded. */
#ifndef LOCKSTEP_HOST_H
#define LOCKSTEP_HOST_H
#include "dev/dev.h"
#include <lockstep.h>

struct lk_gpu {
    struct device *device;
    struct error error; /* of the last call that failed */
    char message[1300]; /* the same as lk_gpu_error gives it */
    struct text log;    /* what the compiler said last */
    u32 report_most;    /* entries that the text report shows, 0: all */
    u32 compiling;      /* atomic: compile_cu runs, for lk_gpu_progress */
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
    u8 *params;             /* the parameter block, filled at each launch */
};

struct lk_module {
    lk_gpu *gpu;
    struct dev_module *dev;
    struct lk_kernel *kernel;   /* entries of the PTX with a body, in its order; those of the first text come first */
    u32 kernels, first_kernels; /* of all texts, and of the first */
    const char *note;           /* how it came about, or "" */
    const char *source;         /* the .cu file, or NULL */
    const char **folder;        /* of its headers, as -I has them */
    u32 folders;
    const char *compiler;      /* who compiled it, or "" */
    char arch[16];             /* "sm_90", by its .target */
    struct str linked;         /* of several texts the one that they make, once somebody has asked for it */
    const char *max_registers; /* what ptxas is to be told, or NULL */
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
    struct arena mem;         /* for the text and the blocks */
    struct arena bound_mem;   /* for `bound`; emptied when it is bound anew */
};

/* Starts a call that may fail: forgets the last error. */
struct error *host_begin(lk_gpu *gpu);
/* api_compile.c: what a .cu or .ptx file becomes. */
struct compile_result;
/* Makes a module of PTX texts, linked; `from` is how the first was compiled, or NULL. */
lk_status host_load(lk_gpu *gpu, const struct dev_part *part, u32 parts, const struct compile_result *from,
                    lk_module **module);
/* Ends it with the error in gpu->error: composes the message and gives the status. */
lk_status host_failed(lk_gpu *gpu);
#endif
