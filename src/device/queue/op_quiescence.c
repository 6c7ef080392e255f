/* Whether anything can still happen, and who waits for whom: for those who prove a deadlock and explain it.
 *
 * Host threads are counted from their first call to their end. A thread remembers the devices that it has called; its
 * end is reported to those that are still there, which a list of all devices tells by their serial numbers. */
#include "base/thread.h"
#include "queue/op_in.h"

const char *const op_reason_name[] = { "stream order", "an event", "the legacy default stream", "a graph" };

/* ---- threads that call ---- */

struct caller { /* a device that a thread has called */
    u64 serial;
    struct caller *next;
};
static lock_t all_lock = LOCK_INIT;
static struct quiet_entry {
    struct streams *s;
    struct quiet_entry *next;
} * all; /* devices that are there */
static pthread_key_t at_exit;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct caller *called; /* the last one first */

static struct streams *streams_device(u64 serial)
{
    struct quiet_entry *k = all;
    while (k && k->s->serial != serial) k = k->next;
    return k ? k->s : NULL;
}

static void thread_ends(void *list)
{
    for (struct caller *c = list, *next; c; c = next) {
        next = c->next;
        lock(&all_lock);
        struct streams *s = streams_device(c->serial);
        if (s) {
            lock(&s->lock);
            s->callers--;
            unlock(&s->lock);
        }
        unlock(&all_lock);
        base_free(c);
    }
    called = NULL;
}

static void make_key(void) { pthread_key_create(&at_exit, thread_ends); }

/* What acts on the thread of its caller is an operation of the legacy stream for those who come meanwhile: theirs are
 * after this one, which is not ready before streams_acted. Under the lock. */
static void stand_in(struct streams *s)
{
    s->stand_in = op_make(s, s->legacy, &(struct op_spec){ .kind = OP_EMPTY });
    if (s->stand_in) op_append(s->stand_in, false);
}

void quiescence_called(struct streams *s)
{
    s->moves++;
    if (called && called->serial == s->serial) return;
    struct caller **p = &called;
    while (*p && (*p)->serial != s->serial) p = &(*p)->next;
    struct caller *c = *p;
    if (c) {
        *p = c->next;
    } else {
        c = base_need(sizeof *c);
        c->serial = s->serial;
        s->callers++;
        /* one of ours waits for the program's work at its end (engine/cu_report.c), after all of its calls */
        if (s->callers_ever++ && !thread_is_ours()) exec_chance(s, OP_CHANCE_THREADS);
        if (s->acting && !s->stand_in) stand_in(s);
    }
    c->next = called;
    called = c;
    pthread_setspecific(at_exit, called);
}

void quiescence_open(struct streams *s)
{
    pthread_once(&once, make_key);
    struct quiet_entry *k = base_need(sizeof *k);
    lock(&all_lock);
    s->asked = UINT64_MAX;
    *k = (struct quiet_entry){ s, all };
    all = k;
    unlock(&all_lock);
}

void quiescence_close(struct streams *s)
{
    lock(&all_lock);
    for (struct quiet_entry **p = &all; *p; p = &(*p)->next)
        if ((*p)->s == s) {
            struct quiet_entry *k = *p;
            *p = k->next;
            base_free(k);
            break;
        }
    unlock(&all_lock);
    for (struct caller **p = &called; *p; p = &(*p)->next) /* the main thread has no end that is told */
        if ((*p)->serial == s->serial) {
            struct caller *c = *p;
            *p = c->next;
            base_free(c);
            break;
        }
    pthread_setspecific(at_exit, called);
}

bool streams_may_change(struct streams *s, bool callers_sleep)
{
    if (!s->options.closed) return true;
    lock(&s->lock);
    bool may = s->here || s->dispatchers || (s->runner && !s->in_backend);
    may |= !callers_sleep && s->callers != s->hosts;
    for (u32 i = 0; i < s->polls.n && !may; i++) may = s->poison || value_holds(s->polls.p[i]); /* not yet looked at */
    for (int i = 0; i < OP_LANES; i++) may |= s->ready[i].n != 0;
    for (int i = 0; i < OP_KINDS; i++) may |= i != OP_LAUNCH && s->running[i];
    if (!may && s->asked != s->moves) { /* what was done just now may not have been seen yet */
        may = true;
        s->asked = s->moves;
    } else if (may) {
        s->asked = UINT64_MAX;
    }
    unlock(&s->lock);
    return may;
}

bool streams_act(struct streams *s)
{
    const struct op_clocks *c = &s->clocks;
    lock(&s->lock);
    exec_call(s);
    bool idle = !s->live && s->callers == 1 && !s->captures && opclock_within(c->gone, c->host);
    for (const struct stream *st = s->streams; st && idle; st = st->next)
        idle = !st->tail || opclock_at(c->host, st->tail->slot) >= st->tail->number;
    s->acting |= idle;
    unlock(&s->lock);
    return idle;
}

void streams_acts(struct streams *s)
{
    lock(&s->lock);
    s->acting = true;
    if (!s->stand_in) stand_in(s);
    unlock(&s->lock);
}

void streams_acted(struct streams *s)
{
    lock(&s->lock);
    struct op *op = s->stand_in;
    s->acting = false;
    s->stand_in = NULL;
    if (op) {
        op_submit(op);
        exec_dispatch(s);
    }
    unlock(&s->lock);
}

void streams_asleep(struct streams *s, bool asleep)
{
    lock(&s->lock);
    exec_call(s);
    if (asleep)
        s->hosts++;
    else
        s->hosts--;
    s->moves++;
    unlock(&s->lock);
}

/* ---- who waits for whom ---- */

u32 streams_queued(struct streams *s, struct op **out, u32 most)
{
    u32 n = 0;
    lock(&s->lock);
    for (struct op *op = s->live; op && n < most; op = op->older)
        if (op->state == OP_QUEUED) {
            op_ref(op);
            out[n++] = op;
        }
    unlock(&s->lock);
    return n;
}

u32 streams_unfinished(struct streams *s)
{
    lock(&s->lock);
    u32 n = s->queued;
    for (u32 i = 0; i < OP_KINDS; i++) n += s->running[i];
    unlock(&s->lock);
    return n;
}

u32 streams_sleeping(struct streams *s)
{
    lock(&s->lock);
    u32 n = s->hosts;
    unlock(&s->lock);
    return n;
}

struct step { /* of a walk along edges, nearest first */
    struct op *op;
    u32 from; /* the step before */
};

static enum op_reason reason_of(const struct op *a, const struct op *b)
{
    if (a->slot == b->slot) return OP_BY_STREAM;
    if (a->kind == OP_RECORD && b->kind == OP_WAIT) return OP_BY_EVENT;
    const struct stream *legacy = a->all->legacy;
    if (a->stream != b->stream && (a->stream == legacy || b->stream == legacy)) return OP_BY_LEGACY;
    return OP_BY_GRAPH;
}

u32 op_path(struct op *from, struct op *to, struct op **out, enum op_reason *reason, u32 most)
{
    struct streams *s = from->all;
    u32 n = 0, cap = 64, length = 0;
    struct step *step = base_need(cap * sizeof *step);
    lock(&s->lock);
    u32 walk = ++s->visits;
    from->visit = walk;
    step[n++] = (struct step){ from, 0 };
    u32 at = 0;
    for (; at < n && step[at].op != to; at++) {
        struct op *a = step[at].op;
        for (struct op_edge *e = &a->edge; e && e->to; e = e == &a->edge ? a->edges : e->next) {
            if (e->to->visit == walk) continue;
            e->to->visit = walk;
            if (n == cap) step = base_need_more(step, (cap *= 2) * sizeof *step);
            step[n++] = (struct step){ e->to, at };
        }
    }
    if (at < n) {
        for (u32 i = at; i; i = step[i].from) length++;
        length++;
    }
    if (length > most) length = 0;
    for (u32 i = length; i-- > 0; at = step[at].from) {
        out[i] = step[at].op;
        op_ref(out[i]);
        reason[i] = i ? reason_of(step[step[at].from].op, out[i]) : OP_BY_STREAM;
    }
    unlock(&s->lock);
    base_free(step);
    return length;
}
