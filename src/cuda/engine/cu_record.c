/* Recording a launch of the program: which one, and where to. The launcher has seen to it that the words can be read.
 */
#include "engine/cu_record.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

static struct {
    const char *which; /* "17", "scale", "scale:3"; NULL: none is recorded */
    const char *file;
    u64 launches; /* atomic: of all kernels */
    u32 done;     /* atomic: it was recorded, or was tried */
} record;

bool cu_record_option(const char *key, const char *value)
{
    if (!strcmp(key, "record"))
        record.which = value;
    else if (!strcmp(key, "record-file"))
        record.file = value;
    else
        return false;
    return true;
}

void cu_record_launch(const lk_kernel *kernel, const lk_launch *launch, bool captured)
{
    if (likely(!record.which) || !record.file) return;
    u64 number = __atomic_add_fetch(&record.launches, 1, __ATOMIC_RELAXED);
    if (!host_record_means(record.which, kernel, launch->nth, number) ||
        __atomic_exchange_n(&record.done, 1, __ATOMIC_RELAXED))
        return;
    if (captured)
        fprintf(stderr, "lockstep: launch %" PRIu64 " of %s is captured into a graph, and is not recorded\n",
                launch->nth, kernel->plain);
    else if (lk_record(kernel, launch, record.file) != LK_OK)
        fprintf(stderr, "lockstep: launch %" PRIu64 " of %s is not recorded: %s\n", launch->nth, kernel->plain,
                lk_gpu_error(kernel->module->gpu));
    else
        fprintf(stderr, "lockstep: launch %" PRIu64 " of %s is recorded in %s\n", launch->nth, kernel->plain,
                record.file);
}
