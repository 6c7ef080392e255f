/* compile: CUDA C to PTX, by whatever is on the machine.
 *
 * Lockstep brings no CUDA compiler. In this order it takes: the PTX committed beside the source, while its first line says that
 * it was made from exactly this text; an earlier result from the cache; NVRTC through dlopen; nvcc. Without any of these, PTX
 * beside the source that is newer than it; and after that one sentence that names the way out.
 * LOCKSTEP_TOOLKIT in the environment names the one toolkit folder to use, or `none`. */
#ifndef LOCKSTEP_COMPILE_H
#define LOCKSTEP_COMPILE_H
#include "base/base.h"

struct compile_options {
    const char *arch;           /* "sm_90"; NULL: sm_90 */
    bool fresh;                 /* compile even if the cache or a file beside the source has the answer */
    char *note;                 /* where to say how the PTX came about, one line; NULL: nowhere */
    size_t note_size;           /* bytes there */
};

/* Makes PTX with line information from a .cu file. The text is from base_alloc, terminated; release with base_free((void *)ptx->p).
 * false: the first error of the compiler with its line, or that there is none. `o` may be NULL. Callable from several threads
 * and processes at once. */
bool compile_cu(const char *path, const struct compile_options *o, struct str *ptx, struct error *e);

/* What there is to compile with. A path is "" when that compiler was not found. */
struct toolkit {
    char nvrtc[1024];           /* libnvrtc.so.N, absolute, or a bare name that the loader finds */
    char nvcc[1024];            /* nvcc, absolute */
    char include[1024];         /* the toolkit's headers, for NVRTC */
};
void toolkit_find(struct toolkit *t);
/* Who would compile, in a form that changes when the compiler is exchanged: part of the cache key. */
void toolkit_identity(const struct toolkit *t, struct text *out);

/* What a compiler had to say. */
struct compile_log {
    struct text ptx;            /* the result, empty on failure */
    struct text messages;       /* its output */
    char by[64];                /* "nvrtc 13.0", "nvcc" */
};
void compile_log_free(struct compile_log *log);
/* Each returns true with log->ptx filled; false: log->messages says why, or e when it could not even be started. */
bool toolkit_nvrtc(const struct toolkit *t, const char *path, struct str source, const char *arch, struct compile_log *log, struct error *e);
bool toolkit_nvcc(const struct toolkit *t, const char *path, const char *arch, struct compile_log *log, struct error *e);
#endif
