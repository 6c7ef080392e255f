/* Streams, and what the host asks of them. */
#include "queue/graph_in.h"
#include <inttypes.h>

static u64 thread_numbers;
static __thread u64 my_number;

u64 thread_number(void)
{
    if (!my_number) my_number = __atomic_add_fetch(&thread_numbers, 1, __ATOMIC_RELAXED);
    return my_number;
}

static struct stream *make(struct streams *s, u32 flags, s32 priority)
{
    struct stream *st = base_alloc(sizeof *st);
    if (!st) return NULL;
    *st = (struct stream){
        .all = s,
        .id = ++s->ids,
        .flags = flags,
        .priority = MIN_OF(MAX_OF(priority, STREAM_PRIORITY_MOST), STREAM_PRIORITY_LEAST),
        .refs = 1,
        .slot = UINT32_MAX,
        .next = s->streams,
    };
    if (s->streams) s->streams->prev = st;
    s->streams = st;
    return st;
}

struct streams *streams_new(const struct streams_options *o)
{
    struct streams *s = base_aligned(sizeof *s);
    if (!s) return NULL;
    static u64 serials;
    s->options = *o;
    s->serial = __atomic_add_fetch(&serials, 1, __ATOMIC_RELAXED);
    lock_open_busy(&s->lock);
    clocks_open(&s->clocks, o->slots);
    exec_open(s);
    quiescence_open(s);
    s->legacy = make(s, STREAM_BLOCKING, 0);
    if (!s->legacy) {
        streams_delete(s);
        return NULL;
    }
    s->legacy->fixed = true;
    return s;
}

/* The last reference is gone: no handle and no operation in flight. What it did stays known to device-wide waits and
 * to the legacy stream. */
static void dispose(struct stream *st)
{
    struct streams *s = st->all;
    struct op *tail = st->tail;
    if (tail) {
        struct op_clock *end = tail->full ? tail->full : tail->clock;
        opclock_join_op(&s->clocks, &s->clocks.gone, end, tail->slot, tail->number);
        if (st->active) opclock_join_op(&s->clocks, &s->clocks.gone_blocking, end, tail->slot, tail->number);
        op_unref(tail);
    }
    if (st->active) {
        *(st->prev_active ? &st->prev_active->next_active : &s->active) = st->next_active;
        if (st->next_active) st->next_active->prev_active = st->prev_active;
    }
    if (st->slot != UINT32_MAX) slot_leave(&s->clocks, st->slot);
    if (st->error && !s->error) s->error = st->error;
    if (st->prev)
        st->prev->next = st->next;
    else
        s->streams = st->next;
    if (st->next) st->next->prev = st->prev;
    base_free(st);
}

void stream_unref(struct stream *st)
{
    if (!--st->refs) dispose(st);
}

void streams_delete(struct streams *s)
{
    exec_close(s);
    quiescence_close(s);
    if (s->gate) op_unref(s->gate);
    while (s->streams) dispose(s->streams);
    value_close(s);
    clocks_close(&s->clocks);
    while (s->chunks) {
        struct op_chunk *next = s->chunks->next;
        base_free(s->chunks);
        s->chunks = next;
    }
    pthread_mutex_destroy(&s->lock);
    base_free(s->graph_live);
    base_free(s->mine);
    base_free(s);
}

void streams_poison(struct streams *s, u32 status)
{
    lock(&s->lock);
    if (!s->poison) s->poison = status;
    exec_recheck(s);
    exec_dispatch(s);
    unlock(&s->lock);
}

bool streams_unrepeatable(struct streams *s)
{
    lock(&s->lock);
    bool is = s->chances != 0;
    unlock(&s->lock);
    return is;
}

bool streams_inexact(struct streams *s)
{
    lock(&s->lock);
    bool is = s->clocks.inexact;
    unlock(&s->lock);
    return is;
}

/* ---- making and deleting ---- */

struct stream *stream_new(struct streams *s, u32 flags, s32 priority)
{
    lock(&s->lock);
    exec_call(s);
    struct stream *st = make(s, flags, priority);
    unlock(&s->lock);
    return st;
}

u32 stream_delete(struct stream *st)
{
    struct streams *s = st->all;
    if (st->fixed) return OP_INVALID_HANDLE;
    lock(&s->lock);
    exec_call(s);
    struct graph *captured = capture_stream_gone(st);
    st->deleted = true;
    stream_unref(st);
    unlock(&s->lock);
    graph_delete(captured);
    return OP_OK;
}

struct stream *stream_legacy(struct streams *s) { return s->legacy; }

/* Where the stream of a thread is, or belongs: NULL there. */
static struct stream **place_of(struct stream **table, u32 cap, u64 thread)
{
    u32 i = (u32)(thread * 0x9e3779b97f4a7c15u >> 32) & (cap - 1);
    while (table[i] && table[i]->thread != thread) i = (i + 1) & (cap - 1);
    return &table[i];
}

/* The stream of the calling thread, under the lock; NULL: no memory. */
static struct stream *stream_of(struct streams *s, u64 thread)
{
    if (2 * s->nmine >= s->capmine) {
        u32 cap = s->capmine ? 2 * s->capmine : 16;
        struct stream **table = base_need(cap * sizeof *table);
        for (u32 i = 0; i < s->capmine; i++)
            if (s->mine[i]) *place_of(table, cap, s->mine[i]->thread) = s->mine[i];
        base_free(s->mine);
        s->mine = table;
        s->capmine = cap;
    }
    struct stream **p = place_of(s->mine, s->capmine, thread);
    if (*p || !(*p = make(s, STREAM_BLOCKING, 0))) return *p;
    (*p)->thread = thread;
    (*p)->fixed = true;
    s->nmine++;
    return *p;
}

struct stream *stream_per_thread(struct streams *s)
{
    static __thread struct {
        u64 serial;
        struct stream *stream;
    } last; /* the one that this thread asked for last */
    u64 me = thread_number();
    if (last.serial == s->serial) return last.stream;
    lock(&s->lock);
    exec_call(s);
    struct stream *st = stream_of(s, me);
    unlock(&s->lock);
    if (st) {
        last.serial = s->serial;
        last.stream = st;
    }
    return st;
}

struct streams *stream_owner(const struct stream *st) { return st->all; }
void *streams_self(const struct streams *s) { return s->options.backend.self; }
u32 stream_flags(const struct stream *st) { return st->flags; }
s32 stream_priority(const struct stream *st) { return st->priority; }
u64 stream_id(const struct stream *st) { return st->id; }
void **stream_user(struct stream *st) { return &st->user; }
void stream_set_name(struct stream *st, const char *name) { __atomic_store_n(&st->name, name, __ATOMIC_RELEASE); }

const char *stream_name(const struct stream *st) { return __atomic_load_n(&st->name, __ATOMIC_ACQUIRE); }

void stream_label(const char *name, u64 id, char out[STREAM_TEXT])
{
    if (name)
        snprintf(out, STREAM_TEXT, "stream %s", name);
    else if (id == 1)
        snprintf(out, STREAM_TEXT, "the default stream");
    else
        snprintf(out, STREAM_TEXT, "stream %" PRIu64, id - 1);
}

void stream_text(const struct stream *st, char out[STREAM_TEXT]) { stream_label(stream_name(st), st->id, out); }

/* ---- asking ---- */

/* The status of the first failed operation, which is thereby asked for. */
static u32 take_error(u32 *error)
{
    u32 status = *error;
    *error = OP_OK;
    return status;
}

static bool tail_done(const struct stream *st) { return !st->tail || st->tail->state == OP_DONE; }

/* The legacy stream stands for all blocking streams with work since its last operation. */
static bool all_done(const struct stream *st)
{
    if (!tail_done(st)) return false;
    for (const struct stream *a = st == st->all->legacy ? st->all->active : NULL; a; a = a->next_active)
        if (!tail_done(a)) return false;
    return true;
}

static void join_tail(const struct stream *st)
{
    if (st->tail) host_join(st->tail);
}

static void join_all(const struct stream *st)
{
    struct streams *s = st->all;
    join_tail(st);
    if (st != s->legacy) return;
    for (const struct stream *a = s->active; a; a = a->next_active) join_tail(a);
    opclock_join_gone(&s->clocks, &s->clocks.gone_blocking);
}

void stream_error_taken(struct stream *st)
{
    lock(&st->all->lock);
    take_error(&st->error);
    unlock(&st->all->lock);
}

u32 stream_query(struct stream *st)
{
    struct streams *s = st->all;
    lock(&s->lock);
    u32 status = exec_permitted(s);
    if (!status) status = capture_asked(st);
    if (!status) {
        exec_ask(s);
        status = OP_NOT_READY;
        if (all_done(st)) {
            join_all(st);
            status = take_error(&st->error);
        }
    }
    unlock(&s->lock);
    return status;
}

/* Waits for the operations that are at the end of these streams now. */
static void wait_tails(struct streams *s, bool (*of)(const struct stream *st))
{
    u32 n = 0, cap = 0;
    struct op **tail = NULL;
    for (struct stream *st = s->streams; st; st = st->next) {
        if (!of(st) || !st->tail) continue;
        if (n == cap) {
            cap = MAX_OF(cap * 2, 16u);
            tail = base_need_more(tail, cap * sizeof *tail);
        }
        op_ref(st->tail);
        tail[n++] = st->tail;
    }
    for (u32 i = 0; i < n; i++) {
        exec_wait(tail[i]);
        host_join(tail[i]);
        op_unref(tail[i]);
    }
    base_free(tail);
}

static bool any(const struct stream *st)
{
    (void)st;
    return true;
}

static bool active_or_legacy(const struct stream *st) { return st->active || st == st->all->legacy; }

u32 stream_synchronise(struct stream *st)
{
    struct streams *s = st->all;
    lock(&s->lock);
    u32 status = exec_permitted(s);
    if (!status) status = capture_asked(st);
    if (!status) {
        exec_call(s);
        if (st == s->legacy) {
            wait_tails(s, active_or_legacy);
            opclock_join_gone(&s->clocks, &s->clocks.gone_blocking);
        } else if (st->tail) {
            struct op *tail = st->tail;
            op_ref(tail);
            exec_wait(tail);
            host_join(tail);
            op_unref(tail);
        }
        status = take_error(&st->error);
    }
    unlock(&s->lock);
    return status;
}

u32 streams_synchronise(struct streams *s)
{
    lock(&s->lock);
    u32 status = exec_permitted(s);
    if (!status) status = capture_asked_all(s);
    if (!status) {
        exec_call(s);
        wait_tails(s, any);
        opclock_join_gone(&s->clocks, &s->clocks.gone);
        status = take_error(&s->error);
        for (struct stream *st = s->streams; st; st = st->next) {
            u32 error = take_error(&st->error);
            if (!status) status = error;
        }
    }
    unlock(&s->lock);
    return status;
}

void streams_settle(struct streams *s)
{
    lock(&s->lock);
    if (!exec_permitted(s)) {
        exec_call(s);
        wait_tails(s, any);
        opclock_join_gone(&s->clocks, &s->clocks.gone);
    }
    unlock(&s->lock);
}

static u32 wait_for(struct op *op, bool learns)
{
    struct streams *s = op->all;
    lock(&s->lock);
    u32 status = exec_permitted(s);
    if (!status) {
        op_ref(op);
        exec_wait(op);
        if (learns) host_join(op);
        status = op->status;
        op_unref(op);
    }
    unlock(&s->lock);
    return status;
}

u32 op_synchronise(struct op *op) { return wait_for(op, true); }

u32 op_await(struct op *op) { return wait_for(op, false); }
