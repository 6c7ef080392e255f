/* cu_engine.h: what the driver asks of the engine around it, and tells it. The functions are run's; no file of the
 * driver, of graphs or of the runtime sees more of run than this. */
#ifndef LOCKSTEP_CU_ENGINE_H
#define LOCKSTEP_CU_ENGINE_H
#include "driver/cu.h"

/* ---- devices (cu_run.c) ---- */

/* Makes the gpu of a device as the launcher wants it. Under the lock of the process. */
lk_status cu_run_open(struct cu_device *d);
/* A kernel is launched: its number and its counters are set in the launch. */
void cu_run_launch(const lk_kernel *kernel, lk_launch *launch);

/* ---- images (cu_text.c) ---- */

/* Whether a text of PTX names a version that the driver does not know yet. */
bool cu_ptx_is_newer(const char *ptx, u32 version[2]);
/* Finds the texts in what `data` points to: PTX, a fatbin, its wrapper, which of -rdc=true has several, or a cubin,
 * which has none. They are chosen for `device`, NULL: the first. The array and its texts are from base_alloc, named
 * `name`. Otherwise `why` says in a sentence what is wrong. */
cu_result cu_texts_of(const void *data, const struct cu_device *device, const char *name, lk_ptx **part, u32 *parts,
                      char *why, size_t size);
/* The same for the bytes of a file: also an object, an executable or an archive. */
cu_result cu_texts_of_file(struct str bytes, const struct cu_device *device, const char *name, lk_ptx **part,
                           u32 *parts, char *why, size_t size);
void cu_texts_free(lk_ptx *part, u32 parts);

/* ---- the calls of the program (cu_failed.c, cu_clock.c, cu_host.c, gate_log.c) ---- */

/* Of the gate, of a thread's outermost call: it begins; it has returned; the thread has ended. */
struct cu_call;
void cu_engine_begin(struct cu_call *c);
extern bool cu_engine_asks; /* atomic: whether it wants to know that one begins */
void cu_engine_end(const struct cu_call *c);
void cu_engine_thread_end(void);

/* Adds a finding to the report of the device that the thread uses. */
struct finding;
void cu_found(const struct finding *f);
/* A call came in a child of fork: its first one is a finding. */
void cu_forked(void);
/* The code that nvcc makes of <<<>>> has taken the configuration of a launch, which is the thread's next call. */
void cu_chevron(void);
/* The thread asked for its last error, or for the words of this one. */
enum { CU_LAST_ERROR = -1 };
void cu_asked(s64 code);
/* A launch gets these values; the thread's calls that failed before were to make one of them. */
void cu_launch_given(const lk_kernel *k, const void *const *arg, u32 n);
/* Whether the sides of a copy that are memory of the host have as many bytes as it asks for; a finding where not. */
cu_result cu_host_check(const lk_copy *x);

struct cu_clock_mark { /* of an event: when it was recorded last */
    u64 launches;      /* of the process until then */
    const void *stream;
};
void cu_clock_record(struct cu_clock_mark *m, const void *stream);
/* The time between these two is asked for. */
void cu_clock_elapsed(const struct cu_clock_mark *from, const struct cu_clock_mark *to);
#endif
