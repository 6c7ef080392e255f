/* cu_engine.h: what the driver asks of the engine around it, and tells it: a table of functions of the room engine,
 * which puts it here when it is loaded. No file of the driver, of its graphs or of the runtime knows more of it. */
#ifndef LOCKSTEP_CU_ENGINE_H
#define LOCKSTEP_CU_ENGINE_H
#include "driver/cu.h"

struct cu_call;
struct finding;
enum { CU_LAST_ERROR = -1 };

struct cu_clock_mark { /* of an event: when it was recorded last */
    u64 launches;      /* of the process until then */
    const void *stream;
    bool recorded; /* it was, ever */
};

/* CU_ENGINE(ROW): ROW(type, name, parameters) for each of them.
 *
 * Devices (cu_run.c)
 *   cu_run_open          makes the gpu of a device as the launcher wants it; under the lock of the process
 *   cu_run_launch        a kernel is launched: its number and its counters are set in the launch
 * Images (cu_text.c)
 *   cu_ptx_is_newer      whether a text of PTX names a version that the driver does not know yet
 *   cu_texts_of          finds the texts in what `data` points to: PTX, a fatbin, its wrapper, which of -rdc=true has
 *                        several, or a cubin, which has none. They are chosen for `device`, NULL: the first. The array
 *                        and its texts are from base_alloc, named `name`. Otherwise `why` says in a sentence what is
 *                        wrong
 *   cu_texts_of_file     the same for the bytes of a file: also an object, an executable or an archive
 *   cu_texts_free
 * Calls of the program (cu_failed.c, cu_clock.c, cu_host.c, gate_log.c)
 *   cu_engine_begin, cu_engine_end, cu_engine_thread_end
 *                        of the gate, of a thread's outermost call: it begins; it has returned; the thread has ended
 *   cu_found             adds a finding to the report of the device that the thread uses
 *   cu_report_unsupported
 *                        something that was reached is not supported, which has been said: the exit code of the
 * launcher says so cu_forked            a call came in a child of fork: its first one is a finding cu_chevron the code
 * that nvcc makes of <<<>>> has taken the configuration of a launch, which is the thread's next call cu_asked the
 * thread asked for its last error (CU_LAST_ERROR), or for the words of this one cu_launch_given      a launch gets
 * these values; the thread's calls that failed before were to make one of them cu_host_check        whether the sides
 * of a copy that are memory of the host have as many bytes as it asks for; a finding where not cu_clock_record,
 * cu_clock_elapsed an event is recorded; the time between these two is asked for */
#define CU_ENGINE(ROW)                                                                                             \
    ROW(lk_status, cu_run_open, (struct cu_device * d))                                                            \
    ROW(void, cu_run_launch, (const lk_kernel *kernel, lk_launch *launch))                                         \
    ROW(bool, cu_ptx_is_newer, (const char *ptx, u32 version[2]))                                                  \
    ROW(cu_result, cu_texts_of,                                                                                    \
        (const void *data, const struct cu_device *device, const char *name, lk_ptx **part, u32 *parts, char *why, \
         size_t size))                                                                                             \
    ROW(cu_result, cu_texts_of_file,                                                                               \
        (struct str bytes, const struct cu_device *device, const char *name, lk_ptx **part, u32 *parts, char *why, \
         size_t size))                                                                                             \
    ROW(void, cu_texts_free, (lk_ptx * part, u32 parts))                                                           \
    ROW(void, cu_engine_begin, (struct cu_call * c))                                                               \
    ROW(void, cu_engine_end, (const struct cu_call *c))                                                            \
    ROW(void, cu_engine_thread_end, (void))                                                                        \
    ROW(void, cu_found, (const struct finding *f))                                                                 \
    ROW(void, cu_report_unsupported, (void))                                                                       \
    ROW(void, cu_forked, (void))                                                                                   \
    ROW(void, cu_chevron, (void))                                                                                  \
    ROW(void, cu_asked, (s64 code))                                                                                \
    ROW(void, cu_launch_given, (const lk_kernel *k, const void *const *arg, u32 n))                                \
    ROW(cu_result, cu_host_check, (const lk_copy *x))                                                              \
    ROW(void, cu_clock_record, (struct cu_clock_mark * m, const void *stream))                                     \
    ROW(void, cu_clock_elapsed, (const struct cu_clock_mark *from, const struct cu_clock_mark *to))

#define ROW(type, name, parameters) type name parameters;
CU_ENGINE(ROW)
#undef ROW
struct cu_engine {
#define ROW(type, name, parameters) type(*name) parameters;
    CU_ENGINE(ROW)
#undef ROW
};
extern const struct cu_engine *cu_engine;       /* set before the program's first call */
extern bool cu_engine_asks;                     /* atomic: whether it wants to know that a call begins */
extern const struct cu_engine cu_engine_of_run; /* the room engine's (cu_run.c) */
#endif
