/* host_timeline.h: what is enqueued, for the timeline of a gpu whose launches are counted. On others these do nothing.
 */
#ifndef LOCKSTEP_HOST_TIMELINE_H
#define LOCKSTEP_HOST_TIMELINE_H
#include "api/host.h"

/* An operation is enqueued; stream NULL: in the legacy one, and the call waits for it. task->site is set. */
void host_note_task(lk_gpu *gpu, const lk_stream *stream, const struct dev_task *task);
/* A graph is launched. */
void host_note_graph(lk_gpu *gpu, const lk_stream *stream, struct dev_exec *exec);
/* A copy that is no task, between device memory and the host's. */
void host_note_bytes(lk_gpu *gpu, bool to_device, const void *host, u64 bytes);
enum host_wait { HOST_WAITS_ALL, HOST_WAITS_STREAM, HOST_WAITS_EVENT, HOST_RECORDS, STREAM_WAITS };
void host_note_wait(lk_gpu *gpu, enum host_wait what, const lk_stream *stream, const lk_event *event);
/* Memory that host and device share is allocated. */
void host_note_shared(lk_gpu *gpu);
#endif
