/* Operations: made, connected, done. */
#include "queue/op_in.h"

enum { CHUNK_OPS = 256, CHUNK_EDGES = 512 };

const char *const op_kind_name[OP_KINDS] = { "empty",         "launch",     "copy",
                                             "fill",          "allocation", "free",
                                             "host function", "operator",   "event record",
                                             "event wait",    "value wait", "value write",
                                             "graph launch",  "graph end",  "conditional node" };

static const u8 lane_of[OP_KINDS] = {
    [OP_LAUNCH] = LANE_LAUNCH, [OP_COPY] = LANE_IN,         [OP_FILL] = LANE_IN,
    [OP_HOST] = LANE_HOST,     [OP_VALUE_WAIT] = LANE_POLL,
}; /* the others: LANE_HERE */

/* ---- memory ---- */

static void *chunk_new(struct streams *s, size_t bytes)
{
    struct op_chunk *c = base_alloc(sizeof(struct op_chunk) + bytes);
    if (!c) return NULL;
    c->next = s->chunks;
    s->chunks = c;
    return c + 1;
}

static struct op *op_alloc(struct streams *s)
{
    if (!s->free_ops) {
        s->free_ops = s->freed_ops;
        s->freed_ops = NULL;
    }
    if (!s->free_ops) {
        struct op *p = chunk_new(s, CHUNK_OPS * sizeof *p);
        for (u32 i = 0; p && i < CHUNK_OPS; i++) {
            p[i].next = s->free_ops;
            s->free_ops = &p[i];
        }
        if (!p) return NULL;
    }
    struct op *op = s->free_ops;
    s->free_ops = op->next;
    prefetch_for_writing(s->free_ops,
                         sizeof *op); /* for the next caller: it lies in the cache of the processor that ran it */
    return op;
}

static struct op_edge *edge_alloc(struct streams *s)
{
    if (!s->free_edges) {
        struct op_edge *p = chunk_new(s, CHUNK_EDGES * sizeof *p);
        if (!p) base_exhausted(CHUNK_EDGES * sizeof *p, "edges");
        for (u32 i = 0; i < CHUNK_EDGES; i++) {
            p[i].next = s->free_edges;
            s->free_edges = &p[i];
        }
    }
    struct op_edge *e = s->free_edges;
    s->free_edges = e->next;
    return e;
}

struct op *op_make(struct streams *s, struct stream *st, const struct op_spec *spec)
{
    struct op *op = op_alloc(s);
    if (!op) return NULL;
    *op = (struct op){
        .all = s,
        .stream = st,
        .refs = 1,
        .pending = 1,
        .kind = (u8)spec->kind,
        .lane = lane_of[spec->kind],
        .bits = spec->bits,
        .compare = spec->compare,
        .whole = spec->whole,
        .run = spec->run,
        .data = spec->data,
        .drop = spec->drop,
        .value = spec->value,
        .tag = spec->tag,
        .address = spec->address,
        .clock = opclock_hold(s->clocks.host),
        .age = ++s->ages,
    };
    if (op->lane == LANE_IN && spec->to_host) op->lane = LANE_OUT;
    if (spec->computes && s->options.seeded) op->lane = LANE_HERE;
    st->refs++;
    op->older = s->live;
    if (s->live) s->live->newer = op;
    s->live = op;
    s->queued++;
    return op;
}

static void unlink_live(struct op *op)
{
    if (op->newer)
        op->newer->older = op->older;
    else
        op->all->live = op->older;
    if (op->older) op->older->newer = op->newer;
}

void op_unref(struct op *op)
{
    if (__atomic_sub_fetch(&op->refs, 1, __ATOMIC_ACQ_REL)) return;
    struct streams *s = op->all;
    opclock_release(&s->clocks, op->clock);
    opclock_release(&s->clocks, op->full);
    op->next = s->freed_ops;
    s->freed_ops = op;
}

void op_unmake(struct op *op)
{
    op->all->queued--;
    unlink_live(op);
    stream_unref(op->stream);
    op_unref(op);
}

/* ---- edges ---- */

/* The clock of all that is before the end of a. */
static struct op_clock *final_clock(const struct op *a) { return a->full ? a->full : a->clock; }

/* `a` is done, and `b` is after it. */
static void order_after(struct op *a, struct op *b, struct op_clock **clock)
{
    struct op_clocks *c = &a->all->clocks;
    struct op_clock *from = final_clock(a);
    bool taken = (*clock)->pure && (*clock)->host <= from->host;
    if (!taken && !c->inexact && opclock_at(*clock, a->slot) >= a->number) return;
    if (a->slot == b->slot)
        opclock_join(c, clock, from); /* the number says the rest */
    else
        opclock_join_op(c, clock, from, a->slot, a->number);
}

/* `a` has triggered: `b` may start, and what is before the start of `a` is before that of `b`. */
static void order_triggered(const struct op *a, struct op *b)
{
    struct op_clocks *c = &a->all->clocks;
    opclock_join(c, &b->clock, a->clock);
    if (a->slot == b->slot)
        b->own = a->own;
    else if (a->own > opclock_at(b->clock, a->slot))
        opclock_join_op(c, &b->clock, NULL, a->slot, a->own);
}

/* The same for a finished `a`: it precedes the end of `b`, even if the two overlapped. */
static void order_overlapped(struct op *a, struct op *b)
{
    order_triggered(a, b);
    if (!b->full) b->full = opclock_hold(b->clock);
    order_after(a, b, &b->full);
}

void op_edge_add(struct op *from, struct op *to, enum op_edge_kind kind)
{
    if (from->whole) kind = OP_EDGE_COMPLETE; /* nobody has to wait for it: it is over (manual, griddepcontrol) */
    if (from->state == OP_DONE) {
        if (kind == OP_EDGE_COMPLETE)
            order_after(from, to, &to->clock);
        else
            order_overlapped(from, to);
        return;
    }
    struct op_edge *e = &from->edge;
    if (e->to) {
        e = edge_alloc(from->all);
        e->next = from->edges;
        from->edges = e;
    }
    e->to = to;
    e->kind = kind;
    if (kind == OP_EDGE_COMPLETE) {
        to->pending++;
        return;
    }
    to->pending_full++;
    to->overlaps = 1;
    if (from->slot == to->slot) to->own = from->own;
    if (from->triggered)
        order_triggered(from, to);
    else
        to->pending++;
}

static void arrived(struct op *to)
{
    if (!--to->pending) exec_ready(to);
}

static void trigger(struct op *op)
{
    if (op->triggered) return;
    op->triggered = true;
    for (struct op_edge *e = &op->edge; e && e->to; e = e == &op->edge ? op->edges : e->next)
        if (e->kind == OP_EDGE_PROGRAMMATIC) {
            order_triggered(op, e->to);
            arrived(e->to);
        }
}

/* ---- the end ---- */

/* A programmatic edge: the operation that `to` may overlap is done. True: `to` is done with it. */
static bool overlap_over(struct op *from, struct op *to)
{
    if (!to->full) to->full = opclock_hold(to->clock);
    order_after(from, to, &to->full);
    if (__atomic_sub_fetch(&to->pending_full, 1, __ATOMIC_RELEASE)) return false;
    __atomic_store_n(&to->overlaps, 0, __ATOMIC_RELEASE);
    return to->state == OP_ENDING;
}

/* Tells those after op; returns the list of operations that are done with it, in front of `more`. */
static struct op *follow_edges(struct op *op, struct op *more)
{
    struct streams *s = op->all;
    if (op->edges) { /* one clock that includes op, for all of them */
        if (!op->full) op->full = opclock_hold(op->clock);
        opclock_join_op(&s->clocks, &op->full, op->full, op->slot, op->number);
    }
    for (struct op_edge *e = &op->edge, *next; e && e->to; e = next) {
        next = e == &op->edge ? op->edges : e->next;
        if (e->kind == OP_EDGE_COMPLETE) {
            order_after(op, e->to, &e->to->clock);
            arrived(e->to);
        } else if (overlap_over(op, e->to)) {
            e->to->next = more;
            more = e->to;
        }
        if (e == &op->edge) continue;
        e->next = s->free_edges;
        s->free_edges = e;
    }
    op->edge.to = NULL;
    op->edges = NULL;
    return more;
}

static void complete(struct op *first)
{
    struct op *more = first;
    first->next = NULL;
    while (more) {
        struct op *op = more;
        struct streams *s = op->all;
        more = op->next;
        s->running[op->kind]--;
        s->moves++;
        s->virtual_ns += 1000;
        if (op->kind == OP_RECORD) event_recorded(op);
        more = follow_edges(op, more);
        if (op->status && !op->stream->error) op->stream->error = op->status;
        unlink_live(op);
        __atomic_store_n(&op->state, OP_DONE, __ATOMIC_RELEASE);
        if (op->waiters) pthread_cond_broadcast(&s->done);
        s->hosts -= op->sleepers; /* before they have woken up: they can act from now on */
        op->sleepers = 0;
        if (op->kind == OP_GRAPH_END) graph_ended(op);
        stream_unref(op->stream);
        op_unref(op);
    }
}

void op_finish(struct op *op, u32 status)
{
    op->status = status;
    trigger(op);
    if (op->pending_full)
        __atomic_store_n(&op->state, OP_ENDING, __ATOMIC_RELEASE);
    else
        complete(op);
}

void op_done(struct op *op, u32 status)
{
    struct streams *s = op->all;
    if (op->drop) op->drop(op->data);
    lock(&s->lock);
    op_finish(op, status);
    exec_recheck(s);
    exec_dispatch(s);
    unlock(&s->lock);
}

void op_trigger(struct op *op)
{
    struct streams *s = op->all;
    lock(&s->lock);
    trigger(op);
    exec_dispatch(s);
    unlock(&s->lock);
}

/* ---- enqueuing ---- */

/* The legacy stream waits for the blocking streams; their next operations wait for it. */
static void legacy_order(struct op *op)
{
    struct streams *s = op->all;
    struct stream *st = op->stream;
    if (st == s->legacy) {
        opclock_join(&s->clocks, &op->clock, s->clocks.gone_blocking);
        opclock_release(&s->clocks, s->clocks.gone_blocking);
        s->clocks.gone_blocking = NULL;
        while (s->active) {
            struct stream *other = s->active;
            s->active = other->next_active;
            if (s->active) s->active->prev_active = NULL;
            other->active = false;
            op_edge_add(other->tail, op, OP_EDGE_COMPLETE);
        }
        return;
    }
    if (st->flags & STREAM_NON_BLOCKING) return;
    struct op *legacy = s->legacy->tail;
    if (legacy && st->legacy_age != legacy->age) {
        op_edge_add(legacy, op, OP_EDGE_COMPLETE);
        st->legacy_age = legacy->age;
    }
    if (st->active) return;
    st->active = true;
    st->next_active = s->active;
    st->prev_active = NULL;
    if (s->active) s->active->prev_active = st;
    s->active = st;
}

void op_append(struct op *op, bool programmatic)
{
    struct streams *s = op->all;
    struct stream *st = op->stream;
    if (st->slot == UINT32_MAX) st->slot = slot_take(&s->clocks, op->clock);
    op->slot = st->slot;
    op->number = ++s->clocks.slot[st->slot].number;
    op->own = op->number - 1;
    if (st->tail) {
        op_edge_add(st->tail, op, programmatic ? OP_EDGE_PROGRAMMATIC : OP_EDGE_COMPLETE);
        op_unref(st->tail);
    } else if (s->gate && st != s->apart) {
        op_edge_add(s->gate, op, OP_EDGE_COMPLETE);
    }
    st->tail = op;
    op_ref(op);
    legacy_order(op);
}

void op_submit(struct op *op)
{
    exec_enqueued(op);
    arrived(op);
}

static bool spec_is_plain(const struct op_spec *spec)
{
    if (spec->kind == OP_VALUE_WAIT || spec->kind == OP_VALUE_WRITE)
        return spec->address && (spec->bits == 32 || spec->bits == 64) && spec->compare <= OP_NOR;
    return spec->kind < OP_GRAPH && spec->kind != OP_RECORD && spec->kind != OP_WAIT;
}

u32 op_enqueue(struct stream *st, const struct op_spec *spec, struct op **out)
{
    struct streams *s = st->all;
    if (out) *out = NULL;
    if (!spec_is_plain(spec)) return OP_INVALID_VALUE;
    bool graphs = capture_lock(s);
    exec_call(s);
    bool taken = false;
    u32 status = exec_permitted(s);
    if (!status) status = capture_take(st, spec, &taken);
    if (!status) status = capture_legacy(st);
    if (status || taken) {
        capture_unlock(s, graphs);
        return status;
    }
    struct op *op = op_make(s, st, spec);
    bool leave = false;
    if (op) {
        if (out) {
            op_ref(op);
            *out = op;
        }
        if (spec->kind == OP_FREE) graph_freed_locked(s, spec->address);
        op_append(op, spec->programmatic);
        op_ref(op);
        op_submit(op);
        leave = exec_can_wait(s);
        if (!leave) exec_dispatch(s);
        op_unref(op);
    }
    capture_unlock(s, graphs);
    if (leave && !s->options.backend.start_soon(s->options.backend.self)) streams_start(s);
    return op ? OP_OK : OP_OUT_OF_MEMORY;
}

/* ---- asking ---- */

struct op *op_hold(struct op *op)
{
    op_ref(op);
    return op;
}

void op_release(struct op *op)
{
    u32 n = __atomic_load_n(&op->refs, __ATOMIC_RELAXED);
    while (n > 1) /* somebody else holds it, too: nothing is freed, and no lock is needed */
        if (__atomic_compare_exchange_n(&op->refs, &n, n - 1, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) return;
    struct streams *s = op->all;
    lock(&s->lock);
    op_unref(op);
    unlock(&s->lock);
}

bool op_full(const struct op *op) { return !__atomic_load_n(&op->pending_full, __ATOMIC_ACQUIRE); }
const u32 *op_overlaps(const struct op *op) { return &op->overlaps; }
enum op_state op_state(const struct op *op) { return __atomic_load_n(&op->state, __ATOMIC_ACQUIRE); }
enum op_kind op_kind(const struct op *op) { return op->kind; }
u32 op_result(const struct op *op) { return op->status; }
u64 op_tag(const struct op *op) { return op->tag; }
void *op_data(const struct op *op) { return op->data; }
bool op_is_node(const struct op *op) { return op->node; }

bool op_may_overlap(const struct op *op)
{
    return __atomic_load_n(&op->pending_full, __ATOMIC_ACQUIRE) || __atomic_load_n(&op->full, __ATOMIC_ACQUIRE);
}
struct stream *op_stream(const struct op *op) { return op->stream; }

u32 op_blockers(struct op *op, struct op **out, u32 most)
{
    struct streams *s = op->all;
    u32 n = 0;
    lock(&s->lock);
    for (struct op *a = s->live; a && n < most; a = a->older)
        for (struct op_edge *e = &a->edge; e && e->to && n < most; e = e == &a->edge ? a->edges : e->next)
            if (e->to == op) {
                op_ref(a);
                out[n++] = a;
            }
    unlock(&s->lock);
    return n;
}

u32 streams_waited(struct streams *s, struct op **out, u32 most)
{
    u32 n = 0;
    lock(&s->lock);
    for (struct op *op = s->live; op && n < most; op = op->older)
        if (op->waiters) {
            op_ref(op);
            out[n++] = op;
        }
    unlock(&s->lock);
    return n;
}

void streams_census(struct streams *s, struct streams_census *out)
{
    lock(&s->lock);
    u32 ready = 0;
    for (struct op *op = s->here; op; op = op->next) ready++;
    for (int i = 0; i < OP_LANES; i++) ready += s->ready[i].n;
    *out = (struct streams_census){
        .queued = s->queued - ready - s->polls.n,
        .ready = ready,
        .launches = s->running[OP_LAUNCH],
        .copies = s->running[OP_COPY] + s->running[OP_FILL],
        .host = s->running[OP_HOST],
        .value_waits = s->polls.n,
        .hosts = s->hosts,
    };
    unlock(&s->lock);
}
