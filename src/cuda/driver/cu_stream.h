/* cu_stream.h: what a stream handle leads to, for the files that know streams. */
#ifndef LOCKSTEP_CU_STREAM_H
#define LOCKSTEP_CU_STREAM_H
#include "driver/cu.h"

struct cu_stream { /* one of cuStreamCreate */
    struct cu_device *device;
    struct cu_context *context;              /* that it was made in */
    lk_stream *stream;                       /* of the engine */
    u32 flags;                               /* as they were given */
    s32 priority;                            /* in the range that there is */
    u64 id;                                  /* unique */
    struct cu_stream_attributes *attributes; /* NULL: nobody has set one */
};
#endif
