/* worker.h: what a process that times a kernel has open. */
#ifndef LOCKSTEP_BENCH_WORKER_H
#define LOCKSTEP_BENCH_WORKER_H
#include "bench/bench.h"
#include <lockstep.h>

enum { WORKER_ARGS = 64 };
struct worker_array {
    lk_argument is;
    u64 address, pointer; /* of its memory; what the kernel gets */
    u64 bytes;            /* with what lies before its first element */
    u8 value[64];         /* of what is no array */
    u8 *host;             /* contents before the launch, and room for outputs */
};
struct bench_worker {
    struct arena mem;   /* as long as the process */
    struct arena asked; /* as long as a question */
    lk_gpu *gpu;
    const char *file, *kernel, *usual; /* usual: the name of its block under the usual choices */
    struct str text;
    u32 block;
    lk_compile compile;
    lk_contract *contract;
    lk_module *module;
    char *module_key; /* instance and flags that it was compiled for */
    lk_kernel *k;
    struct worker_array arg[WORKER_ARGS];
    const void *pointer[WORKER_ARGS];
    u32 args;
    lk_launch launch;
    lk_stream *stream;
    lk_event *event[2];
    lk_exec *graph;         /* the chain of launches of this case that `warm` has made; NULL: none yet */
    u32 batch;              /* of its launches */
    u64 flush, flush_bytes; /* what is overwritten so that L2 has nothing of ours */
    u64 pinned, pinned_bytes;
    u8 *staging; /* its address for the host */
};
/* Times the case that is prepared; *batch: launches of a sample. false: e. */
bool worker_time(struct bench_worker *w, enum bench_mode mode, u32 samples, double *out, u32 *batch, struct error *e);
bool worker_refused(const struct bench_worker *w, struct error *e); /* the last error of the gpu into e; false */
void worker_close_timing(struct bench_worker *w);
void worker_close_graph(struct bench_worker *w);
#endif
