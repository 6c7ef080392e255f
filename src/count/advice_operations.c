/* Conditions and sentences of advice about what a program enqueues. Each looks at the whole timeline, which the model
 * has run, and names the call that matters most. */
#include "count/advice.h"
#include "count/timeline.h"
#include <inttypes.h>

static bool is_copy(const struct timeline_op *o) { return o->kind == TIME_TO_DEVICE || o->kind == TIME_FROM_DEVICE; }

static u64 end_of(const struct timeline *t) { return MAX_OF(t->all, MAX_OF(t->host, 1u)); }

const char *advise_pageable_copy(struct question *q)
{
    const struct timeline *t = q->timeline;
    u64 bytes = 0, ps = 0;
    u32 n = 0;
    for (u32 k = 0; k < t->n; k++) {
        const struct timeline_op *o = &t->op[k];
        if (!is_copy(o) || !o->pageable) continue;
        if (!q->op || o->bytes > q->op->bytes) q->op = o;
        bytes += o->bytes;
        ps += o->end - o->start;
        n++;
    }
    q->weight = (u32)(ps * 1000 / end_of(t));
    if (!n || bytes < 1 << 20 || q->weight < 100) return NULL;
    return arena_printf(q->mem,
                        "%u cop%s of %" PRIu64 " bytes from or to memory of malloc or new: the driver copies them once "
                        "more, piece by piece, and the call waits",
                        n, n == 1 ? "y" : "ies", bytes);
}

/* Time in which a copy of the bus and a launch run at once. */
static u64 overlapped(const struct timeline *t)
{
    u64 sum = 0;
    for (u32 k = 0; k < t->n; k++)
        for (u32 j = k > 64 ? k - 64 : 0; j < t->n && j < k + 64; j++) {
            const struct timeline_op *a = &t->op[k], *b = &t->op[j];
            if (!is_copy(a) || b->kind != TIME_LAUNCH) continue;
            u64 from = MAX_OF(a->start, b->start), to = MIN_OF(a->end, b->end);
            sum += to > from ? to - from : 0;
        }
    return sum;
}

const char *advise_copy_overlap(struct question *q)
{
    const struct timeline *t = q->timeline;
    u64 copies = 0, launches = 0;
    u32 in = 0, out = 0, kernels = 0;
    for (u32 k = 0; k < t->n; k++) {
        const struct timeline_op *o = &t->op[k];
        in += o->kind == TIME_TO_DEVICE;
        out += o->kind == TIME_FROM_DEVICE;
        kernels += o->kind == TIME_LAUNCH;
        if (is_copy(o)) copies += o->end - o->start;
        if (o->kind == TIME_LAUNCH) launches += o->end - o->start;
        if (is_copy(o) && (!q->op || o->end - o->start > q->op->end - q->op->start)) q->op = o;
    }
    q->weight = (u32)(MIN_OF(copies, launches) * 1000 / end_of(t));
    if (in < 2 || out < 2 || kernels < 2 || q->weight < 100 || overlapped(t) * 10 > MIN_OF(copies, launches))
        return NULL;
    struct tenths c = tenths(copies, 1000000), l = tenths(launches, 1000000);
    return arena_printf(q->mem,
                        "copies take " TENTHS " us and launches " TENTHS " us, by the model, and none of the one runs "
                        "beside the other",
                        TENTHS_OF(c), TENTHS_OF(l));
}

/* A wait behind which the host only enqueues: no copy has brought it anything that it could look at. */
const char *advise_sync_unneeded(struct question *q)
{
    const struct timeline *t = q->timeline;
    u32 n = 0, since = 0; /* launches since the last wait */
    bool brought = false;
    for (u32 k = 0; k + 1 < t->n; k++) {
        const struct timeline_op *o = &t->op[k], *next = o + 1;
        brought |= o->kind == TIME_FROM_DEVICE || o->kind == TIME_HOST;
        since += o->kind == TIME_LAUNCH;
        if (o->kind == TIME_FROM_DEVICE && o->waits) { /* a wait itself */
            since = 0;
            brought = false;
        }
        if (o->kind < TIME_SYNC) continue;
        bool goes_on = next->kind == TIME_LAUNCH || next->kind == TIME_ON_DEVICE || next->kind == TIME_FILL ||
                       (next->kind == TIME_FROM_DEVICE && next->waits);
        if (since && !brought && goes_on) {
            n++;
            if (!q->op) q->op = o;
        }
        since = 0;
        brought = false;
    }
    q->weight = (u32)MIN_OF((u64)n * CALL_PS * 1000 / end_of(t), 1000u);
    if (n < 2 || t->host_memory) return NULL;
    return arena_printf(q->mem,
                        "%u times the host waits for launches, and then only enqueues more: nothing was copied to it "
                        "that it could have looked at",
                        n);
}
