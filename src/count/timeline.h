/* timeline.h: what a program enqueues on a device, in the order of its calls: launches, copies, fills, events, waits;
 * and when each would run on the card, by a model.
 *
 * The model. The host takes CALL_PS for each call, and waits where the call waits. Operations of a stream follow each
 * other; the legacy stream (0) waits for all streams, and all wait for it. Launches run one after the other, and so do
 * copies to the device, copies from it, and copies and fills on it: four engines. A launch takes its longest limit
 * (count_limits.h) and what a launch costs; a copy its bytes at the rate of the bus, of pageable memory at a fifth of
 * it, and the host waits for it then. Times are in picoseconds. */
#ifndef LOCKSTEP_TIMELINE_H
#define LOCKSTEP_TIMELINE_H
#include "count/count_kernel.h"

enum timeline_kind {
    TIME_LAUNCH,
    TIME_TO_DEVICE, /* copies by their direction */
    TIME_FROM_DEVICE,
    TIME_ON_DEVICE,
    TIME_FILL,
    TIME_HOST,   /* a function of the host in a stream */
    TIME_RECORD, /* an event */
    TIME_WAIT,   /* a stream waits for an event */
    TIME_SYNC,   /* the host waits for all */
    TIME_SYNC_STREAM,
    TIME_SYNC_EVENT,
    TIME_KINDS
};
extern const char *const timeline_kind_name[TIME_KINDS];

struct timeline_op {
    enum timeline_kind kind;
    u32 stream;         /* 0: the legacy stream; others by their first use */
    u32 event;          /* from 1 on; 0: none */
    u64 bytes;          /* of a copy or fill */
    bool pageable;      /* of a copy: the host's memory is neither pinned nor registered */
    bool waits;         /* the call returns when it is done */
    const char *kernel; /* mangled; NULL: no launch */
    u32 grid[3], block[3];
    const char *site; /* the host's call; NULL: not known */
    u64 start, end;   /* by the model (timeline_run) */
};

enum { TIMELINE_MOST = 1 << 16, CALL_PS = 2000000, BUS_GBS = 50, PAGEABLE_GBS = 10 };
struct timeline {
    struct timeline_op *op;
    u32 n, cap;
    u64 more;         /* operations that found no room */
    bool host_memory; /* host and device share memory: pinned or managed memory was used */
    struct timeline_handle {
        const void *handle;
        u32 number;
    } stream[256], event[1024]; /* of those that are known */
    u32 streams, events;
    u64 engine[4], of_stream[256], at_event[1024], all, legacy, host; /* while the model runs */
};

/* From now on operations are noted: those of a program; the command's own are nobody's business. */
void timeline_open(struct counts *c);
/* Notes an operation; stream NULL: the legacy one. Strings are kept. Any thread. */
void timeline_note(struct counts *c, struct timeline_op op, const void *stream, const void *event);
/* Memory that both see is in use: what the host looks at need not be copied. */
void timeline_shares(struct counts *c);
/* Sets start and end of all. The caller holds the lock of the counts. */
void timeline_run(const struct counts *c, struct timeline *t);
#endif
