/* timeline.h: what a program enqueues on a device, in the order of its calls: launches, copies, fills, events, waits;
 * and when each would run on the card, by a model.
 *
 * The model. The host takes CALL_PS for each call, and waits where the call waits. Operations of a stream follow each
 * other; the legacy stream (0) waits for all streams, and all wait for it, but for those that are apart. Launches run
 * one after the other, and so do copies to the device, copies from it, and copies and fills on it: four engines. A
 * launch takes its longest limit (count_limits.h) and what a launch costs; a copy its bytes at the rate of the bus, of
 * pageable memory at a fifth of it, and the host waits for it then. What a launch or a copy costs
 * lies before its work, and needs no engine. A graph takes one call; its nodes start when those before them have ended,
 * and cost NODE_PS in place of what a launch costs. Times are in picoseconds. The work of each operation is a lower
 * bound; the whole is a model, never a measurement. */
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
    TIME_GRAPH,  /* a graph is launched; its nodes follow, each an operation of its own */
    TIME_EMPTY,  /* a node that takes no time */
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
    bool apart;       /* its stream takes no part in the order of the legacy one (cudaStreamNonBlocking) */
    u32 graph;        /* of a node, and of TIME_GRAPH: which launch of a graph, from 1 on; 0: it is not one */
    const u32 *after; /* of a node: those before it, as numbers of nodes of this launch */
    u32 afters;
    u64 start, end; /* by the model (timeline_run) */
    u64 call, back; /* when the host makes the call, and when that returns */
};

enum { TIMELINE_MOST = 1 << 16, CALL_PS = 2000000, BUS_GBS = 50, PAGEABLE_GBS = 10, NODE_PS = 1250000 };
struct timeline {
    struct timeline_op *op;
    u32 n, cap;
    u64 more;         /* operations that found no room */
    bool host_memory; /* host and device share memory: pinned or managed memory was used */
    struct timeline_handle {
        const void *handle;
        u32 number;
    } stream[256], event[1024]; /* of those that are known */
    u32 streams, events, graphs;
    u64 engine[4], of_stream[256], at_event[1024], all, joined, legacy,
        host; /* while the model runs; joined: of streams that are not apart */
};

/* From now on operations are noted: those of a program; the command's own are nobody's business. */
void timeline_open(struct counts *c);
/* Notes an operation; stream NULL: the legacy one. Strings are kept. Any thread. */
void timeline_note(struct counts *c, struct timeline_op op, const void *stream, const void *event);
/* Notes the launch of a graph and its nodes, in an order in which each comes after those it depends on. */
void timeline_note_graph(struct counts *c, struct timeline_op launch, const struct timeline_op *node, u32 nodes,
                         const void *stream);
/* The operations as lines of text, with their times. The caller holds the lock of the counts, and has run the model. */
void timeline_text(const struct counts *c, const struct timeline *t, struct text *out);
/* Memory that both see is in use: what the host looks at need not be copied. */
void timeline_shares(struct counts *c);
/* Sets start and end of all. The caller holds the lock of the counts. */
void timeline_run(const struct counts *c, struct timeline *t);
#endif
