/* Watching a launch or a compiler: a progress line on a terminal, and what Ctrl-C does. */
#ifndef LOCKSTEP_WATCH_H
#define LOCKSTEP_WATCH_H
#include "cli/option.h"
#include <lockstep.h>

struct watch {
    lk_gpu *gpu;
    const char *name; /* of the kernel or the file, in the progress line */
    bool shown;       /* standard error is a terminal, and a thread draws on it */
    bool ended;       /* the launch is over: guarded by lock */
    u64 began;        /* time_ns() */
    lock_t lock;
    pthread_cond_t end;
    pthread_t thread;
};
/* From here on SIGINT and SIGTERM stop the launch of `gpu` with a report; a second one kills at once. */
void watch_begin(struct watch *w, const struct common *c, lk_gpu *gpu, const char *name);
void watch_end(struct watch *w);
/* While a file is compiled; signals are what process_guard makes of them. */
void watch_compiler_begin(struct watch *w, const struct common *c, lk_gpu *gpu, const char *file);
void watch_compiler_end(struct watch *w);
/* The signal that stopped a launch, 0: none. */
int watch_signal(void);
#endif
