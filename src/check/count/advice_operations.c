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

/* It takes longer to begin than to copy. */
static bool is_small(const struct timeline_op *o) { return o->end - o->start < 2 * (u64)LAUNCH_PS; }

const char *advise_copy_overlap(struct question *q)
{
    const struct timeline *t = q->timeline;
    u64 copies = 0, launches = 0, to = 0, from = 0; /* copies to the device, from it: an engine each */
    u32 between = 0, since = 0,
        kernels = 0; /* copies that have a launch before and after them; since the last launch */
    for (u32 k = 0; k < t->n; k++) {
        const struct timeline_op *o = &t->op[k];
        since += is_copy(o) && !is_small(o) && kernels;
        if (o->kind == TIME_LAUNCH) {
            kernels++;
            between += since;
            since = 0;
        }
        if (is_copy(o) && !is_small(o)) copies += o->end - o->start;
        if (is_copy(o) && !is_small(o)) *(o->kind == TIME_FROM_DEVICE ? &from : &to) += o->end - o->start;
        if (o->kind == TIME_LAUNCH) launches += o->end - o->start;
        if (is_copy(o) && (!q->op || o->end - o->start > q->op->end - q->op->start)) q->op = o;
    }
    u64 beside = MIN_OF(to, from) +
                 MIN_OF(MAX_OF(to, from), launches); /* what could run beside the longest of the three */
    q->weight = (u32)(beside * 1000 / end_of(t));
    if (between < 2 || q->weight < 100 || overlapped(t) * 10 > MIN_OF(copies, launches)) return NULL;
    struct tenths c = tenths(copies, 1000000), l = tenths(launches, 1000000);
    return arena_printf(q->mem,
                        "copies take " TENTHS " us and launches " TENTHS " us, by the model, without any overlap",
                        TENTHS_OF(c), TENTHS_OF(l));
}

/* A wait after which the host only enqueues: no copy has brought it anything that it could look at. */
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

/* What can stand in a graph between its launches. */
static bool goes_into_a_graph(const struct timeline_op *o)
{
    return o->kind == TIME_RECORD || o->kind == TIME_WAIT || o->kind == TIME_ON_DEVICE || o->kind == TIME_FILL ||
           (is_copy(o) && !o->waits && !o->pageable);
}

const char *advise_small_launches(struct question *q)
{
    enum { IN_A_ROW = 16 };
    const struct timeline *t = q->timeline;
    u64 n = 0, work = 0;
    for (u32 k = 0; k < t->n; k++) {
        u32 row = 0, i = k;
        u64 of_row = 0;
        const struct timeline_op *first = NULL;
        for (; i < t->n && (t->op[i].kind == TIME_LAUNCH || goes_into_a_graph(&t->op[i])) && !t->op[i].graph; i++) {
            if (t->op[i].kind != TIME_LAUNCH) continue;
            u64 takes = t->op[i].end - t->op[i].start - LAUNCH_PS;
            if (takes >= LAUNCH_PS) break;
            if (!first) first = &t->op[i];
            of_row += takes;
            row++;
        }
        if (row >= IN_A_ROW) {
            n += row;
            work += of_row;
            if (!q->op) q->op = first;
        }
        k = MAX_OF(i, k);
    }
    q->weight = (u32)MIN_OF(n * LAUNCH_PS * 1000 / end_of(t), 1000u);
    if (!n || q->weight < 250) return NULL;
    struct tenths each = tenths(work, n * 1000), launch = tenths(LAUNCH_PS, 1000000), node = tenths(NODE_PS, 1000000);
    return arena_printf(
        q->mem,
        "%" PRIu64 " launches in a row, at least %d at a time without a wait of the host, of which each "
        "has work for " TENTHS " ns: a launch takes about " TENTHS " us, a node of a graph about " TENTHS,
        n, IN_A_ROW, TENTHS_OF(each), TENTHS_OF(launch), TENTHS_OF(node));
}

const char *advise_small_copies(struct question *q)
{
    enum { MANY = 16 };
    const struct timeline *t = q->timeline;
    u64 n = 0, bytes = 0;
    for (u32 k = 0; k < t->n; k++) {
        const struct timeline_op *o = &t->op[k];
        if (!is_copy(o) || !is_small(o)) continue;
        if (!q->op) q->op = o;
        bytes += o->bytes;
        n++;
    }
    q->weight = (u32)MIN_OF(n * LAUNCH_PS * 1000 / end_of(t), 1000u);
    if (n < MANY || q->weight < 200) return NULL;
    struct tenths fixed = tenths(LAUNCH_PS, 1000000), once = tenths(LAUNCH_PS + bytes * 1000 / BUS_GBS, 1000000);
    return arena_printf(q->mem,
                        "%" PRIu64 " copies of %" PRIu64 " bytes on average: each takes about " TENTHS
                        " us before its first byte, all bytes in one copy " TENTHS " us",
                        n, bytes / n, TENTHS_OF(fixed), TENTHS_OF(once));
}
