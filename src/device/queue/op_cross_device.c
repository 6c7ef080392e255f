/* Waiting for an event of another device.
 *
 * Streams of two devices have nothing in common: a lock, clocks and threads of their own. So there are two operations,
 * one on each side, that meet: `signal_record` is after the record, in a stream of its own there; `meet` is in the
 * stream that waits, begins when that gets there, and ends when both have come. Whoever comes second ends it.
 *
 * What the other device knows of the operations of this one, by events that went there before, cannot be expressed in
 * the clocks here. `meet` is therefore after everything that is done here when it ends: two operations may count as
 * ordered that are not, never the other way round. A device that waits so is never called blocked: `meet` runs. */
#include "queue/op_in.h"

struct meeting {
    u32 refs;              /* atomic: of the two operations */
    u32 met;               /* atomic: how many have come */
    struct op *op;         /* that waits; set before it comes */
    struct streams *other; /* of the event */
    struct meeting *next;  /* of streams->cross_device: those that wait */
};

static void meeting_unref(struct meeting *m)
{
    if (!__atomic_sub_fetch(&m->refs, 1, __ATOMIC_ACQ_REL)) base_free(m);
}

static bool is_second(struct meeting *m) { return __atomic_fetch_add(&m->met, 1, __ATOMIC_ACQ_REL) == 1; }

/* The operation is after all that is done, under the lock. The operations of a chain are done in their order. */
static void after_all_done(struct op *op)
{
    struct streams *s = op->all;
    u64 *done = base_need((s->clocks.slots + 1) * sizeof *done);
    for (u32 k = 0; k < s->clocks.slots; k++) done[k] = s->clocks.slot[k].number;
    for (const struct op *o = s->live; o; o = o->older)
        if (o->number && done[o->slot] >= o->number) done[o->slot] = o->number - 1;
    if (!op->full) op->full = opclock_hold(op->clock);
    for (u32 k = 0; k < s->clocks.slots; k++)
        if (done[k] > opclock_at(op->full, k)) opclock_join_op(&s->clocks, &op->full, NULL, k, done[k]);
    base_free(done);
}

/* The operation after the record is over, whatever has become of that. */
static void signal_record(void *of)
{
    struct meeting *m = of;
    if (is_second(m)) {
        struct op *op = m->op;
        struct streams *s = op->all;
        lock(&s->lock);
        struct meeting **at = &s->cross_device;
        while (*at != m) at = &(*at)->next;
        *at = m->next;
        after_all_done(op);
        unlock(&s->lock);
        op_done(op, OP_OK); /* which drops the meeting */
    }
    meeting_unref(m);
}

static u32 meet(struct op *op, void *of)
{
    struct meeting *m = of;
    struct streams *s = op->all;
    lock(&s->lock);
    m->op = op;
    bool over = is_second(m);
    if (over) {
        after_all_done(op);
    } else {
        m->next = s->cross_device;
        s->cross_device = m;
    }
    unlock(&s->lock);
    return over ? OP_OK : OP_LATER;
}

/* Under a seed the operations of the other device run when somebody waits for them. */
bool cross_device_drive(struct streams *s, u32 depth)
{
    struct streams *other[8];
    u32 n = 0;
    for (const struct meeting *m = s->cross_device; m && n < COUNT_OF(other); m = m->next)
        if (m->other->options.seeded) other[n++] = m->other;
    if (!n || depth > 16) return false;
    bool moved = false;
    unlock(&s->lock);
    for (u32 i = 0; i < n && !moved; i++) {
        lock(&other[i]->lock);
        moved = exec_drive(other[i]) || cross_device_drive(other[i], depth + 1);
        unlock(&other[i]->lock);
    }
    lock(&s->lock);
    return moved;
}

static void dropped(void *of) { meeting_unref(of); }

/* Enqueues `signal_record` after the latest record. NULL: *status says why; OP_OK: there is no record. */
static struct meeting *meeting_new(struct event *e, u32 *status)
{
    struct streams *o = e->all;
    struct meeting *m = base_alloc(sizeof *m);
    struct stream *aside = m ? stream_new(o, STREAM_NON_BLOCKING, 0) : NULL;
    *status = aside ? OP_OK : OP_OUT_OF_MEMORY;
    if (!aside) {
        base_free(m);
        return NULL;
    }
    *m = (struct meeting){ .refs = 2, .other = o };
    lock(&o->lock);
    exec_call(o);
    *status = exec_permitted(o);
    if (!*status && e->capture) *status = OP_NOT_SUPPORTED;
    struct op_spec spec = { .kind = OP_EMPTY, .data = m, .drop = signal_record };
    struct op *op = !*status && e->record ? op_make(o, aside, &spec) : NULL;
    if (op) {
        op_append(op, false);
        op_edge_add(e->record, op, OP_EDGE_COMPLETE);
        op_submit(op);
        exec_dispatch(o);
    } else if (!*status && e->record) {
        *status = OP_OUT_OF_MEMORY;
    }
    unlock(&o->lock);
    stream_delete(aside);
    if (op) return m;
    base_free(m);
    return NULL;
}

u32 event_wait_cross_device(struct stream *st, struct event *e, u64 tag)
{
    u32 status = capture_apart(st);
    if (status) return status;
    struct meeting *m = meeting_new(e, &status);
    if (!m) return status;
    struct op_spec spec = { .kind = OP_EMPTY, .run = meet, .data = m, .drop = dropped, .tag = tag };
    status = op_enqueue(st, &spec, NULL);
    if (status) meeting_unref(m); /* the other side signals nobody */
    return status;
}
