/* Events. An event stands for its latest record: an operation whose end is the moment that others wait for. */
#include "queue/op_in.h"

struct event *event_new(struct streams *s, u32 flags)
{
    struct event *e = base_alloc(sizeof *e);
    if (e) *e = (struct event){ .all = s, .refs = 1, .flags = flags };
    return e;
}

struct streams *event_owner(const struct event *e) { return e->all; }

void event_unref(struct event *e)
{
    if (__atomic_sub_fetch(&e->refs, 1, __ATOMIC_ACQ_REL)) return;
    capture_forget(e);
    if (e->record) op_unref(e->record);
    base_free(e);
}

void event_delete(struct event *e)
{
    struct streams *s = e->all;
    lock(&s->lock);
    exec_call(s);
    event_unref(e);
    unlock(&s->lock);
}

void event_bind(struct event *e, struct op *record)
{
    capture_forget(e);
    if (e->record) op_unref(e->record);
    op_ref(record);
    e->record = record;
    record->event = e;
    __atomic_add_fetch(&e->refs, 1, __ATOMIC_RELAXED);
}

void event_recorded(struct op *op)
{
    struct event *e = op->event;
    if (e->record == op && !(e->flags & EVENT_NO_TIMING)) e->time = exec_now(op->all);
    event_unref(e);
}

static u32 record(struct event *e, struct stream *st, u64 tag, bool external)
{
    struct streams *s = st->all;
    struct op_spec spec = { .kind = OP_RECORD, .event = e, .tag = tag, .external = external };
    if (e->all != s) return OP_INVALID_HANDLE;
    bool graphs = capture_lock(s);
    exec_call(s);
    bool taken = false;
    u32 status = exec_permitted(s);
    if (!status) status = external ? capture_take(st, &spec, &taken) : capture_record(st, e, &taken);
    if (!status) status = capture_legacy(st);
    if (!status && !taken) {
        struct op *op = op_make(s, st, &spec);
        if (op) {
            event_bind(e, op);
            op_append(op, false);
            op_submit(op);
            exec_dispatch(s);
        }
        status = op ? OP_OK : OP_OUT_OF_MEMORY;
    }
    capture_unlock(s, graphs);
    return status;
}

u32 event_record(struct event *e, struct stream *st, u64 tag) { return record(e, st, tag, false); }
u32 event_record_external(struct event *e, struct stream *st, u64 tag) { return record(e, st, tag, true); }

static u32 wait(struct stream *st, struct event *e, u64 tag, bool external)
{
    struct streams *s = st->all;
    struct op_spec spec = { .kind = OP_WAIT, .event = e, .tag = tag, .external = external };
    if (e->all != s) return event_wait_cross_device(st, e, tag);
    bool graphs = capture_lock(s);
    exec_call(s);
    bool taken = false;
    u32 status = exec_permitted(s);
    if (!status) status = external ? capture_take(st, &spec, &taken) : capture_wait(st, e, &taken);
    if (!status) status = capture_legacy(st);
    if (!status && !taken && e->record) {
        struct op *op = op_make(s, st, &spec);
        if (op) {
            op_append(op, false);
            op_edge_add(e->record, op, OP_EDGE_COMPLETE);
            op_submit(op);
            exec_dispatch(s);
        }
        status = op ? OP_OK : OP_OUT_OF_MEMORY;
    }
    capture_unlock(s, graphs);
    return status;
}

u32 event_wait(struct stream *st, struct event *e, u64 tag) { return wait(st, e, tag, false); }
u32 event_wait_external(struct stream *st, struct event *e, u64 tag) { return wait(st, e, tag, true); }

/* ---- all streams at once ---- */

/* An operation of a stream that nobody else has. NULL: no memory. */
static struct op *apart(struct streams *s, const struct op_spec *spec)
{
    if (!s->apart) {
        unlock(&s->lock);
        struct stream *made = stream_new(s, STREAM_NON_BLOCKING, STREAM_PRIORITY_LEAST);
        lock(&s->lock);
        if (made && s->apart) stream_unref(made); /* another thread came first */
        if (made && !s->apart) s->apart = made;
    }
    struct op *op = s->apart ? op_make(s, s->apart, spec) : NULL;
    if (op) op_append(op, false);
    return op;
}

/* Whether a call may speak for all streams now. */
static u32 all_permitted(struct streams *s)
{
    exec_call(s);
    u32 status = exec_permitted(s);
    return status ? status : s->captures ? OP_CAPTURE_UNSUPPORTED : OP_OK;
}

u32 event_record_all(struct event *e, u64 tag)
{
    struct streams *s = e->all;
    struct op_spec spec = { .kind = OP_RECORD, .event = e, .tag = tag };
    lock(&s->lock);
    u32 status = all_permitted(s);
    struct op *op = status ? NULL : apart(s, &spec);
    if (op) {
        for (struct stream *st = s->streams; st; st = st->next)
            if (st->tail && st != s->apart) op_edge_add(st->tail, op, OP_EDGE_COMPLETE);
        opclock_join(&s->clocks, &op->clock, s->clocks.gone); /* of streams that are gone */
        event_bind(e, op);
        op_submit(op);
        exec_dispatch(s);
    }
    unlock(&s->lock);
    return status ? status : op ? OP_OK : OP_OUT_OF_MEMORY;
}

u32 event_wait_all(struct event *e, u64 tag)
{
    struct streams *s = e->all;
    struct op_spec spec = { .kind = OP_WAIT, .event = e, .tag = tag };
    lock(&s->lock);
    u32 status = all_permitted(s);
    bool asked = !status && e->record; /* an event that was not recorded is waited for by nobody */
    struct op *op = asked ? apart(s, &spec) : NULL;
    if (asked && !op) status = OP_OUT_OF_MEMORY;
    if (op) {
        op_edge_add(e->record, op, OP_EDGE_COMPLETE);
        for (struct stream *st = s->streams; st; st = st->next) {
            if (st == s->apart || st->deleted) continue;
            struct op *each = op_make(s, st, &spec);
            if (!each) {
                status = OP_OUT_OF_MEMORY;
                continue;
            }
            op_append(each, false);
            op_edge_add(op, each, OP_EDGE_COMPLETE);
            op_submit(each);
        }
        if (s->gate) op_unref(s->gate);
        op_ref(op);
        s->gate = op;
        op_submit(op);
        exec_dispatch(s);
    }
    unlock(&s->lock);
    return status;
}

u32 event_query(struct event *e)
{
    struct streams *s = e->all;
    lock(&s->lock);
    u32 status = exec_permitted(s);
    if (!status) status = capture_asked_event(e);
    if (!status) {
        exec_ask(s);
        if (e->record && e->record->state != OP_DONE) status = OP_NOT_READY;
        if (e->record && !status) host_join(e->record);
    }
    unlock(&s->lock);
    return status;
}

u32 event_synchronise(struct event *e)
{
    struct streams *s = e->all;
    lock(&s->lock);
    u32 status = exec_permitted(s);
    if (!status) status = capture_asked_event(e);
    struct op *record = e->record;
    if (!status && record) {
        op_ref(record);
        exec_wait(record);
        host_join(record);
        op_unref(record);
    }
    unlock(&s->lock);
    return status;
}

u32 event_elapsed(struct event *from, struct event *to, double *ms)
{
    struct streams *s = from->all;
    *ms = 0;
    if (to->all != s) return OP_INVALID_HANDLE;
    lock(&s->lock);
    exec_call(s);
    u32 status = exec_permitted(s);
    if (!status) status = capture_timed_event(from);
    if (!status) status = capture_timed_event(to);
    if (!status && ((from->flags | to->flags) & EVENT_NO_TIMING || !from->record || !to->record))
        status = OP_INVALID_HANDLE;
    else if (!status && (from->record->state != OP_DONE || to->record->state != OP_DONE))
        status = OP_NOT_READY;
    else if (!status)
        *ms = (double)(s64)(to->time - from->time) / 1e6;
    unlock(&s->lock);
    return status;
}
