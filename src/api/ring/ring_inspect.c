/* How a ring stands, while it runs: as values, as text, as JSON. */
#include "ring/ring.h"
#include <inttypes.h>

const char *lk_ring_state_name(lk_ring_state state)
{
    static const char *const name[] = { "created", "launched", "active", "inactive", "draining", "terminated", "dead" };
    return (u32)state < COUNT_OF(name) ? name[state] : "?";
}

const char *lk_ring_phase_name(enum lk_ring_phase phase)
{
    static const char *const name[] = { "not started", "paused",  "idle",    "busy",
                                        "at barrier",  "no room", "stopped", "left" };
    return (u32)phase < COUNT_OF(name) ? name[phase] : "?";
}

const char *lk_ring_result_name(uint32_t result)
{
    static const char *const text[] = { [LK_RING_DONE] = "done",
                                        [LK_RING_WRONG_TYPE] = "the actor takes another type of message",
                                        [LK_RING_TOO_LARGE] = "no room for the response",
                                        [LK_RING_TOO_SHORT] = "fewer bytes than the type has",
                                        [LK_RING_DAMAGED] = "the header was written over" };
    return result < COUNT_OF(text) && text[result] ? text[result] : "a result of the actor";
}

/* Threads of a unit that are apart for longer are called blocked; one message takes microseconds. */
#define BLOCKED_S 0.025

/* Seconds since the unit's last change of phase. */
static double since(const lk_ring *r, const struct ring_host_unit *u)
{
    u64 word = ring_load(&u->status->phase) >> LK_RING_PHASE_BITS;
    /* the device's clock has 64 bits, the word fewer */
    s64 ns = (s64)(((u64)time_ns() + (u64)r->clock - word) << LK_RING_PHASE_BITS) >> LK_RING_PHASE_BITS;
    return word && ns > 0 ? (double)ns / 1e9 : 0;
}

void ring_stands(lk_ring *r, u32 unit, struct text *t)
{
    struct ring_host_unit *u = &r->unit[unit];
    struct lk_ring_status *s = u->status;
    u64 phase = ring_phase(u), id = ring_load(&s->current), done = ring_done(r, unit), on = ring_load(&s->waits_on);
    double for_s = since(r, u);
    switch (phase) {
    case LK_RING_NOT_STARTED: text_add(t, "%s has not started: its block is not resident", u->name); break;
    case LK_RING_PAUSED: text_add(t, "%s is paused", u->name); break;
    case LK_RING_IDLE: text_add(t, "%s is idle after %" PRIu64 " messages", u->name, done); break;
    case LK_RING_BUSY: text_add(t, "%s is in the actor with message %" PRIu64 " for %.3f s", u->name, id, for_s); break;
    case LK_RING_BARRIER:
        /* its threads meet there after every message: it is blocked only when one of them does not come for long */
        if (for_s < BLOCKED_S)
            text_add(t, "%s is at the barrier after its actor with message %" PRIu64, u->name, id);
        else
            text_add(t,
                     "%s is blocked at the barrier after its actor for %.3f s: a thread of it has not come back from "
                     "message %" PRIu64,
                     u->name, for_s, id);
        break;
    case LK_RING_NO_ROOM:
        if (on == LK_RING_HOST)
            text_add(t, "%s waits for room in %s for %.3f s: %u responses are unread", u->name, u->queue[RING_OUT],
                     for_s, r->options.outbox_slots);
        else
            text_add(t, "%s waits for room in the mailbox of %s for %.3f s", u->name,
                     on < r->units ? r->unit[on].name : "?", for_s);
        break;
    case LK_RING_STOPPED: text_add(t, "%s has stopped after %" PRIu64 " messages", u->name, done); break;
    case LK_RING_LEFT:
        text_add(t,
                 "%s has left by itself after %" PRIu64 " message%s, the last was %" PRIu64 "; %" PRIu64
                 " still wait in its inbox",
                 u->name, done, plural(done), id, ring_placed(u) - (u64)ring_load(&u->inbox_taken->value));
        break;
    default: text_add(t, "%s has phase %" PRIu64, u->name, phase);
    }
}

u64 ring_mail_text(const lk_ring *r, struct text *t)
{
    enum { MOST = 8 }; /* edges that are listed */
    u64 all = 0, edges = 0;
    for (u32 from = 0; from < r->units; from++)
        for (u32 to = 0; to < r->units; to++) {
            u64 received = ring_edge(r, LK_RING_RECEIVED, to, from), dropped = ring_edge(r, LK_RING_DROPPED, from, to),
                n = ring_edge(r, LK_RING_SENT, from, to) - dropped - received;
            if (!n) continue;
            all += n;
            if (edges++ >= MOST) continue;
            text_add(t, "%s%" PRIu64 " message%s of %s %s not done with in %s", t->n ? "; " : "", n, plural((s64)n),
                     r->unit[from].name, n == 1 ? "is" : "are", r->unit[to].queue[RING_MAIL]);
        }
    if (edges > MOST) text_add(t, "; and mail of %" PRIu64 " more pairs of units", edges - MOST);
    return all;
}

lk_status lk_ring_inspect(lk_ring *r, lk_ring_info *info)
{
    if (!r || !info || info->size != sizeof *info)
        return ring_fail(r, LK_BAD_INPUT, "lk_ring_inspect needs a ring, and an lk_ring_info with its size");
    ring_is_dead(r);
    *info = (lk_ring_info){ .size = sizeof *info, .state = ring_state(r), .units = r->units, .queues = 3 * r->units };
    if (r->launched) info->uptime = (double)(time_ns() - r->launched) / 1e9;
    for (u32 i = 0; i < r->units; i++) {
        struct ring_host_unit *u = &r->unit[i];
        lock(&u->lock);
        info->sent += u->sent;
        info->received += u->received;
        info->dropped += u->dropped + ring_load(&u->status->dropped);
        info->refused += u->refused;
        unlock(&u->lock);
    }
    lock(&r->lock);
    info->letters = r->letter_count;
    info->letters_lost = r->letters_lost;
    unlock(&r->lock);
    info->memory = r->pinned_bytes + r->device_bytes + __atomic_load_n(&r->block_bytes, __ATOMIC_RELAXED);
    lock(&r->error_lock);
    memcpy(info->last_error, r->last_error, sizeof info->last_error);
    unlock(&r->error_lock);
    return LK_OK;
}

static double age(u64 enqueued)
{
    u64 now = time_ns();
    return enqueued && now > enqueued ? (double)(now - enqueued) / 1e9 : 0;
}

lk_status lk_ring_queue(lk_ring *r, uint32_t i, lk_ring_queue_info *q)
{
    if (!r || !q || q->size != sizeof *q)
        return ring_fail(r, LK_BAD_INPUT, "lk_ring_queue needs a ring, and an lk_ring_queue_info with its size");
    if (i >= 3 * r->units) return ring_fail(r, LK_NOTHING, "there is no queue %u; the ring has %u", i, 3 * r->units);
    struct ring_host_unit *u = &r->unit[i / 3];
    *q = (lk_ring_queue_info){ .size = sizeof *q };
    snprintf(q->name, sizeof q->name, "%s", u->queue[i % 3]);
    const lk_ring_options *o = &r->options;
    lock(&u->lock);
    if (i % 3 == 0) {
        q->capacity = o->inbox_slots;
        q->taken = ring_load(&u->inbox_taken->value);
        q->placed = u->placed;
        q->high = u->high_in;
        q->sent = u->sent;
        q->dropped = u->dropped;
        q->received = q->taken;
        if (q->placed > q->taken) q->oldest = age(ring_pair(ring_in(r, u, q->taken), LK_RING_W_ENQUEUED));
    } else if (i % 3 == 1) {
        q->capacity = o->outbox_slots;
        q->taken = u->taken;
        q->placed = ring_load(&u->status->placed);
        q->high = u->high_out;
        q->dropped = ring_load(&u->status->dropped);
        q->sent = q->placed + q->dropped;
        q->received = u->received;
        q->missing = u->missing;
        const u64 *line = ring_out(r, u, q->taken);
        if (ring_holds(line, q->taken)) q->oldest = age(ring_pair(line, LK_RING_W_ENQUEUED));
    } else {
        q->capacity = o->mail_slots;
        for (u32 k = 0; k < r->units; k++) {
            q->received += ring_edge(r, LK_RING_RECEIVED, i / 3, k);
            q->missing += ring_edge(r, LK_RING_MISSING, i / 3, k);
            q->sent += ring_edge(r, LK_RING_SENT, k, i / 3);
            q->dropped += ring_edge(r, LK_RING_DROPPED, k, i / 3);
        }
        q->placed = q->sent - q->dropped;
        q->taken = q->received;
    }
    unlock(&u->lock);
    q->depth = q->placed > q->taken ? q->placed - q->taken : 0;
    q->high = MAX_OF(q->high, q->depth);
    q->bytes = q->capacity * (i % 3 == 0 ? r->in_bytes : i % 3 == 1 ? r->out_bytes : r->slot_bytes);
    return LK_OK;
}

lk_status lk_ring_queue_find(lk_ring *r, const char *name, lk_ring_queue_info *q)
{
    if (!r || !name) return ring_fail(r, LK_BAD_INPUT, "lk_ring_queue_find needs a ring and a name");
    for (u32 i = 0; i < 3 * r->units; i++)
        if (!strcmp(r->unit[i / 3].queue[i % 3], name)) return lk_ring_queue(r, i, q);
    return ring_fail(r, LK_NOTHING, "there is no queue %.90s", name);
}

lk_status lk_ring_unit(lk_ring *r, uint32_t i, lk_ring_unit_info *info)
{
    if (!r || !info || info->size != sizeof *info)
        return ring_fail(r, LK_BAD_INPUT, "lk_ring_unit needs a ring, and an lk_ring_unit_info with its size");
    if (i >= r->units) return ring_fail(r, LK_NOTHING, "there is no unit %u; the ring has %u", i, r->units);
    struct ring_host_unit *u = &r->unit[i];
    struct lk_ring_status *s = u->status;
    *info = (lk_ring_unit_info){ .size = sizeof *info,
                                 .phase = (enum lk_ring_phase)ring_phase(u),
                                 .answers = ring_load(&s->beat) >= ring_load(&r->head->command.value),
                                 .current = ring_load(&s->current),
                                 .since = since(r, u),
                                 .done = ring_done(r, i),
                                 .failed = ring_load(&s->failed),
                                 .waits = ring_load(&s->waits) };
    snprintf(info->name, sizeof info->name, "%s", u->name);
    for (u32 b = 0; b < LK_RING_BUCKETS; b++) info->latency[b] = ring_load(&s->latency[b]);
    return LK_OK;
}

char *lk_ring_text(lk_ring *r)
{
    struct text t = { 0 };
    lk_ring_info info = { .size = sizeof info };
    if (lk_ring_inspect(r, &info) != LK_OK) return NULL;
    text_add(&t, "ring %s: %s, up %.3f s, %u units, %" PRIu64 " bytes\n", r->name, lk_ring_state_name(info.state),
             info.uptime, info.units, info.memory);
    text_add(&t,
             "  %" PRIu64 " sent, %" PRIu64 " received, %" PRIu64 " dropped, %" PRIu64 " refused, %" PRIu64
             " dead letters\n",
             info.sent, info.received, info.dropped, info.refused, info.letters + info.letters_lost);
    if (r->died[0]) text_add(&t, "  %s\n", r->died);
    if (info.last_error[0]) text_add(&t, "  last error: %s\n", info.last_error);
    for (u32 i = 0; i < r->units; i++) {
        text_add(&t, "  ");
        ring_stands(r, i, &t);
        text_add(&t, "\n");
    }
    text_add(&t, "  %-32s %8s %8s %8s %8s %6s %6s %8s\n", "queue", "capacity", "placed", "taken", "dropped", "depth",
             "high", "oldest");
    for (u32 i = 0; i < info.queues; i++) {
        lk_ring_queue_info q = { .size = sizeof q };
        lk_ring_queue(r, i, &q);
        text_add(&t, "  %-32s %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %8" PRIu64 " %6" PRIu64 " %6" PRIu64 " %7.3fs\n",
                 q.name, q.capacity, q.placed, q.taken, q.dropped, q.depth, q.high, q.oldest);
    }
    return t.p;
}

char *lk_ring_json(lk_ring *r)
{
    struct text t = { 0 };
    lk_ring_info info = { .size = sizeof info };
    if (lk_ring_inspect(r, &info) != LK_OK) return NULL;
    text_add(&t, "{\"ring\":");
    text_json(&t, r->name);
    text_add(&t,
             ",\"state\":\"%s\",\"uptime\":%.6f,\"memory\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64
             ",\"dropped\":%" PRIu64 ",\"refused\":%" PRIu64 ",\"letters\":%" PRIu64 ",\"letters_lost\":%" PRIu64
             ",\"error\":",
             lk_ring_state_name(info.state), info.uptime, info.memory, info.sent, info.received, info.dropped,
             info.refused, info.letters, info.letters_lost);
    text_json(&t, r->died);
    text_add(&t, ",\"last_error\":");
    text_json(&t, info.last_error);
    text_add(&t, ",\"units\":[");
    for (u32 i = 0; i < r->units; i++) {
        lk_ring_unit_info u = { .size = sizeof u };
        lk_ring_unit(r, i, &u);
        text_add(&t, "%s{\"name\":", i ? "," : "");
        text_json(&t, u.name);
        text_add(&t,
                 ",\"phase\":\"%s\",\"answers\":%s,\"current\":%" PRIu64 ",\"since\":%.6f,\"done\":%" PRIu64
                 ",\"failed\":%" PRIu64 ",\"waits\":%" PRIu64 ",\"latency\":[",
                 lk_ring_phase_name(u.phase), u.answers ? "true" : "false", u.current, u.since, u.done, u.failed,
                 u.waits);
        for (u32 b = 0; b < LK_RING_BUCKETS; b++) text_add(&t, "%s%" PRIu64, b ? "," : "", (u64)u.latency[b]);
        text_add(&t, "]}");
    }
    text_add(&t, "],\"queues\":[");
    for (u32 i = 0; i < info.queues; i++) {
        lk_ring_queue_info q = { .size = sizeof q };
        lk_ring_queue(r, i, &q);
        text_add(&t, "%s{\"name\":", i ? "," : "");
        text_json(&t, q.name);
        text_add(&t,
                 ",\"capacity\":%" PRIu64 ",\"placed\":%" PRIu64 ",\"taken\":%" PRIu64 ",\"depth\":%" PRIu64
                 ",\"high\":%" PRIu64 ",\"sent\":%" PRIu64 ",\"received\":%" PRIu64 ",\"dropped\":%" PRIu64
                 ",\"missing\":%" PRIu64 ",\"oldest\":%.6f,\"bytes\":%" PRIu64 "}",
                 q.capacity, q.placed, q.taken, q.depth, q.high, q.sent, q.received, q.dropped, q.missing, q.oldest,
                 q.bytes);
    }
    text_add(&t, "]}\n");
    return t.p;
}
