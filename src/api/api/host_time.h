/* host_time.h: times of operations, for a gpu that was made with lk_options.time (host_time.c). Callers ask gpu->times
 * first. */
#ifndef LOCKSTEP_HOST_TIME_H
#define LOCKSTEP_HOST_TIME_H
#include "api/host.h"

struct host_timing {      /* of an operation, between the two calls */
    struct time_row *row; /* NULL: it is not timed */
    struct pending *pair;
    u64 clock, bytes;
};
struct times *host_times_new(void); /* NULL: no memory */
void host_times_free(lk_gpu *gpu);
/* Called before an operation is enqueued (run, without a stream), and after that has succeeded or failed. */
void host_time_task(lk_gpu *gpu, lk_stream *stream, const struct dev_task *task, struct host_timing *x);
void host_time_from(lk_gpu *gpu, lk_stream *stream, const char *name, u64 bytes, struct host_timing *x);
void host_time_to(lk_gpu *gpu, lk_stream *stream, struct host_timing *x, bool done);
const char *host_copy_name(bool to_host, bool from_host);
/* An operation without a stream has taken so long. */
void host_time_took(lk_gpu *gpu, const struct dev_task *task, u64 ns);
#endif
