/* Capture: calls on a stream become nodes of a graph.
 *
 * A captured stream has a set of nodes that its next operation depends on. An event that is recorded there stands for a
 * copy of that set; a stream that waits for the event joins the capture, or adds the set to its own. A call that cannot
 * be part of a graph invalidates the capture: everything on its streams then fails until it is ended. So does whoever
 * deletes the graph: the capture has none any more. A node that is removed leaves the sets.
 *
 * Calls that a capture may turn into nodes take graphs_lock while there is one (capture_lock): other threads have the
 * graph, too. */
#include "queue/graph_in.h"

struct capture_set {
    struct graph_node **p;
    u32 n;
};
struct capture {
    struct streams *all;
    struct capture *next; /* of those that go on */
    u64 id;
    u32 refs; /* the list, streams, events */
    enum capture_mode mode;
    u64 thread; /* that began it */
    struct stream *origin;
    struct graph *graph;  /* NULL: it was deleted, and the capture is invalid; or the capture has ended */
    struct event *events; /* whose latest record was in it */
    u32 before;           /* nodes that the graph had when it began */
    bool borrowed;        /* the graph is the caller's, who had it before */
    bool invalid;
    bool ended;
};
static __thread enum capture_mode my_mode; /* of unsafe calls of this thread */

/* ---- sets ---- */

static void set_free(struct capture_set *set)
{
    if (set) base_free(set->p);
    base_free(set);
}

static struct capture_set *set_new(struct graph_node *const *p, u32 n)
{
    struct capture_set *set = base_need(sizeof *set);
    set->p = base_need((n + 1) * sizeof *set->p);
    set->n = n;
    if (n) memcpy(set->p, p, n * sizeof *p);
    return set;
}

static struct capture_set *set_union(struct capture_set *a, const struct capture_set *b)
{
    struct capture_set *u = set_new(a->p, a->n);
    u->p = base_need_more(u->p, (a->n + b->n + 1) * sizeof *u->p);
    for (u32 i = 0; i < b->n; i++) {
        bool there = false;
        for (u32 k = 0; k < u->n && !there; k++) there = u->p[k] == b->p[i];
        if (!there) u->p[u->n++] = b->p[i];
    }
    set_free(a);
    return u;
}

/* ---- who takes part ---- */

static void capture_unref(struct capture *c)
{
    if (!--c->refs) base_free(c);
}

static void join(struct stream *st, struct capture *c, struct capture_set *deps)
{
    c->refs++;
    st->capture = c;
    st->deps = deps;
}

static void leave(struct stream *st)
{
    set_free(st->deps);
    st->deps = NULL;
    capture_unref(st->capture);
    st->capture = NULL;
}

void capture_forget(struct event *e)
{
    if (!e->capture) return;
    *e->captured_link = e->captured_next;
    if (e->captured_next) e->captured_next->captured_link = e->captured_link;
    set_free(e->deps);
    e->deps = NULL;
    capture_unref(e->capture);
    e->capture = NULL;
}

/* All its streams are plain ones again. */
static void end(struct capture *c)
{
    struct streams *s = c->all;
    for (struct capture **p = &s->captures; *p; p = &(*p)->next)
        if (*p == c) {
            __atomic_store_n(p, c->next, __ATOMIC_RELEASE);
            break;
        }
    for (struct stream *st = s->streams; st; st = st->next)
        if (st->capture == c) leave(st);
    c->ended = true;
    capture_unref(c);
}

/* graphs_lock is taken before the lock of the streams, and whether it is needed may change in between. */
bool capture_lock_both(struct streams *s)
{
    for (;;) {
        bool graphs = streams_capture(s);
        if (graphs) graphs_lock();
        lock(&s->lock);
        if (graphs || !s->captures) return graphs;
        unlock(&s->lock);
    }
}

void capture_unlock_both(struct streams *s)
{
    unlock(&s->lock);
    graphs_unlock();
}

/* ---- graphs and nodes that go ---- */

static void set_remove(struct capture_set *set, const struct graph_node *n)
{
    u32 k = 0;
    for (u32 i = 0; i < set->n; i++)
        if (set->p[i] != n) set->p[k++] = set->p[i];
    set->n = k;
}

bool graph_is_captured(const struct graph *g)
{
    struct streams *s = g->all;
    bool is = false;
    if (!streams_capture(s)) return false;
    lock(&s->lock);
    for (const struct capture *c = s->captures; c; c = c->next) is |= c->graph == g;
    unlock(&s->lock);
    return is;
}

void capture_graph_gone(const struct graph *g)
{
    struct streams *s = g->all;
    if (!streams_capture(s)) return;
    lock(&s->lock);
    for (struct capture *c = s->captures; c; c = c->next)
        if (c->graph == g) {
            c->graph = NULL;
            c->invalid = true;
        }
    unlock(&s->lock);
}

void capture_node_gone(const struct graph_node *n)
{
    struct streams *s = n->graph->all;
    if (!streams_capture(s)) return;
    lock(&s->lock);
    for (struct capture *c = s->captures; c; c = c->next) {
        if (c->graph != n->graph) continue;
        c->before -= n->index < c->before;
        for (struct stream *st = s->streams; st; st = st->next)
            if (st->capture == c) set_remove(st->deps, n);
        for (struct event *e = c->events; e; e = e->captured_next) set_remove(e->deps, n);
    }
    unlock(&s->lock);
}

/* ---- calls on captured streams ---- */

/* One node after what the stream depends on. */
static u32 add_node(struct stream *st, const struct op_spec *spec)
{
    struct capture *c = st->capture;
    if (c->invalid) return OP_CAPTURE_INVALIDATED;
    struct graph_dep *dep = base_need((st->deps->n + 1) * sizeof *dep);
    bool overlap = spec->programmatic && st->deps->n == 1 && graph_node_kind(st->deps->p[0]) == OP_LAUNCH;
    for (u32 i = 0; i < st->deps->n; i++)
        dep[i] = (struct graph_dep){ st->deps->p[i], overlap ? OP_EDGE_PROGRAMMATIC : OP_EDGE_COMPLETE };
    struct graph_node *n;
    u32 status = graph_add(c->graph, dep, st->deps->n, spec, &n);
    base_free(dep);
    if (status) {
        c->invalid = true;
        return status;
    }
    set_free(st->deps);
    st->deps = set_new(&n, 1);
    return OP_OK;
}

u32 capture_take(struct stream *st, const struct op_spec *spec, bool *taken)
{
    *taken = st->capture != NULL;
    return *taken ? add_node(st, spec) : OP_OK;
}

u32 capture_record(struct stream *st, struct event *e, bool *taken)
{
    struct capture *c = st->capture;
    *taken = c != NULL;
    if (!c) return OP_OK;
    if (c->invalid) return OP_CAPTURE_INVALIDATED;
    capture_forget(e);
    c->refs++;
    e->capture = c;
    e->captured_link = &c->events;
    if ((e->captured_next = c->events)) e->captured_next->captured_link = &e->captured_next;
    c->events = e;
    e->deps = set_new(st->deps->p, st->deps->n);
    return OP_OK;
}

/* The stream waits for an event that was recorded in capture c. */
static u32 wait_captured(struct stream *st, const struct event *e)
{
    struct capture *c = e->capture, *mine = st->capture;
    if (c->ended) {
        if (mine) mine->invalid = true;
        return OP_INVALID_VALUE;
    }
    if (c->invalid || (mine && mine->invalid)) return OP_CAPTURE_INVALIDATED;
    if (st == st->all->legacy) {
        c->invalid = true;
        return OP_CAPTURE_IMPLICIT;
    }
    if (!mine) {
        join(st, c, set_new(e->deps->p, e->deps->n));
    } else if (mine == c) {
        st->deps = set_union(st->deps, e->deps);
    } else {
        c->invalid = mine->invalid = true;
        return OP_CAPTURE_MERGE;
    }
    return OP_OK;
}

u32 capture_wait(struct stream *st, struct event *e, bool *taken)
{
    struct capture *mine = st->capture;
    *taken = e->capture || mine;
    if (e->capture) return wait_captured(st, e);
    if (!mine) return OP_OK;
    if (mine->invalid) return OP_CAPTURE_INVALIDATED;
    if (!e->record) return OP_OK;
    mine->invalid = true;
    return OP_CAPTURE_ISOLATION;
}

u32 capture_apart(struct stream *st)
{
    struct streams *s = st->all;
    lock(&s->lock);
    struct capture *mine = st->capture;
    u32 status = !mine ? OP_OK : mine->invalid ? OP_CAPTURE_INVALIDATED : OP_CAPTURE_ISOLATION;
    if (mine) mine->invalid = true;
    unlock(&s->lock);
    return status;
}

/* ---- calls that do not go with a capture ---- */

static u32 forbid(struct capture *c)
{
    if (c->invalid) return OP_CAPTURE_INVALIDATED;
    c->invalid = true;
    return OP_CAPTURE_UNSUPPORTED;
}

u32 capture_legacy(struct stream *st)
{
    struct streams *s = st->all;
    u32 status = OP_OK;
    if (!s->captures || st != s->legacy) return OP_OK;
    for (struct stream *other = s->streams; other; other = other->next)
        if (other->capture && !(other->flags & STREAM_NON_BLOCKING)) {
            other->capture->invalid = true;
            status = OP_CAPTURE_IMPLICIT;
        }
    return status;
}

/* A call that some captures forbid, whatever it is about: by the calling thread's own mode and theirs. */
static u32 unsafe_call(struct streams *s)
{
    u32 status = OP_OK;
    if (!s->captures || my_mode == CAPTURE_RELAXED) return OP_OK;
    u64 me = thread_number();
    for (struct capture *c = s->captures; c; c = c->next) {
        bool mine = c->thread == me && c->mode != CAPTURE_RELAXED;
        bool anybodys = c->mode == CAPTURE_GLOBAL && my_mode == CAPTURE_GLOBAL;
        if (!mine && !anybodys) continue;
        c->invalid = true;
        status = OP_CAPTURE_UNSUPPORTED;
    }
    return status;
}

u32 capture_graph(struct stream *st) { return st->capture ? forbid(st->capture) : OP_OK; }

u32 capture_asked(struct stream *st)
{
    if (st->capture) return forbid(st->capture);
    u32 status = capture_legacy(st);
    return status ? status : unsafe_call(st->all);
}

u32 capture_timed_event(const struct event *e)
{
    if (!e->capture) return OP_OK;
    return e->capture->ended ? OP_INVALID_VALUE : OP_CAPTURED_EVENT;
}

u32 capture_asked_event(struct event *e)
{
    u32 status = e->capture ? capture_timed_event(e) : unsafe_call(e->all);
    if (status == OP_CAPTURED_EVENT) e->capture->invalid = true;
    return status;
}

u32 capture_asked_all(struct streams *s)
{
    u32 status = OP_OK;
    for (struct capture *c = s->captures; c; c = c->next) {
        c->invalid = true;
        status = OP_CAPTURE_UNSUPPORTED;
    }
    return status;
}

enum capture_mode capture_exchange_mode(enum capture_mode mode)
{
    enum capture_mode before = my_mode;
    my_mode = mode;
    return before;
}

u32 capture_unsafe_call(struct streams *s)
{
    lock(&s->lock);
    exec_call(s);
    u32 status = unsafe_call(s);
    unlock(&s->lock);
    return status;
}

/* Without the lock: every launch asks, and the threads that execute take it all the time. */
bool streams_capture(struct streams *s) { return __atomic_load_n(&s->captures, __ATOMIC_ACQUIRE) != NULL; }

u32 capture_hidden(struct stream *st)
{
    struct streams *s = st->all;
    u32 status = OP_OK;
    if (!streams_capture(s)) return OP_OK;
    lock(&s->lock);
    for (struct stream *other = s->streams; other && s->captures && st == s->legacy; other = other->next)
        if (other->capture && !(other->flags & STREAM_NON_BLOCKING)) status = OP_CAPTURE_IMPLICIT;
    unlock(&s->lock);
    return status;
}

struct graph *capture_stream_gone(struct stream *st)
{
    struct capture *c = st->capture;
    if (!c) return NULL;
    if (c->origin != st) {
        leave(st);
        return NULL;
    }
    struct graph *g = c->borrowed ? NULL : c->graph;
    c->graph = NULL;
    c->invalid = true;
    end(c);
    return g;
}

/* ---- begin and end ---- */

static u32 begin(struct stream *st, enum capture_mode mode, struct graph *given, struct graph_node *const *after, u32 n)
{
    struct streams *s = st->all;
    if (mode > CAPTURE_RELAXED) return OP_INVALID_VALUE;
    if (st == s->legacy) return OP_CAPTURE_UNSUPPORTED;
    struct graph *g = given ? given : graph_new(s);
    struct capture *c = g ? base_alloc(sizeof *c) : NULL;
    if (!c) {
        if (!given) graph_delete(g);
        return OP_OUT_OF_MEMORY;
    }
    graphs_lock();
    graph_settle(g);
    lock(&s->lock);
    exec_call(s);
    u32 status = st->capture ? OP_ILLEGAL_STATE : OP_OK;
    if (!status) {
        *c = (struct capture){ .all = s,
                               .next = s->captures,
                               .id = ++s->capture_ids,
                               .refs = 1,
                               .mode = mode,
                               .thread = thread_number(),
                               .origin = st,
                               .graph = g,
                               .before = g->nodes,
                               .borrowed = given != NULL };
        __atomic_store_n(&s->captures, c, __ATOMIC_RELEASE);
        join(st, c, set_new(after, n));
    }
    capture_unlock(s, true);
    if (status) {
        if (!given) graph_delete(g);
        base_free(c);
    }
    return status;
}

u32 capture_begin(struct stream *st, enum capture_mode mode) { return begin(st, mode, NULL, NULL, 0); }

u32 capture_begin_in(struct stream *st, enum capture_mode mode, struct graph *g, struct graph_node *const *after, u32 n)
{
    if (g->all != st->all) return OP_INVALID_HANDLE;
    for (u32 i = 0; i < n; i++)
        if (after[i]->graph != g) return OP_INVALID_VALUE;
    return begin(st, mode, g, after, n);
}

struct graph *capture_graph_now(struct stream *st, struct graph_node **out, u32 most, u32 *n)
{
    struct streams *s = st->all;
    lock(&s->lock);
    struct capture *c = st->capture;
    struct graph *g = c ? c->graph : NULL;
    *n = c ? st->deps->n : 0;
    for (u32 i = 0; i < MIN_OF(*n, most); i++) out[i] = st->deps->p[i];
    unlock(&s->lock);
    return g;
}

u32 capture_depend(struct stream *st, struct graph_node *const *nodes, u32 n, bool set)
{
    struct streams *s = st->all;
    bool graphs = capture_lock(s);
    exec_call(s);
    struct capture *c = st->capture;
    u32 status = !c ? OP_ILLEGAL_STATE : c->invalid ? OP_CAPTURE_INVALIDATED : OP_OK;
    for (u32 i = 0; i < n && !status; i++)
        if (nodes[i]->graph != c->graph) status = OP_INVALID_VALUE;
    if (!status) {
        struct capture_set *given = set_new(nodes, n);
        if (set) {
            set_free(st->deps);
            st->deps = given;
        } else {
            st->deps = set_union(st->deps, given);
            set_free(given);
        }
    }
    capture_unlock(s, graphs);
    return status;
}

/* Whether all nodes that were captured come before what the origin depends on now. */
static bool joined(const struct capture *c)
{
    const struct graph *g = c->graph;
    const struct capture_set *last = c->origin->deps;
    graph_settle(g);
    struct graph_node **todo = base_need((g->nodes + 1) * sizeof *todo);
    bool *seen = base_need(g->nodes + 1u);
    u32 n = 0;
    for (u32 i = 0; i < last->n; i++) {
        seen[last->p[i]->index] = true;
        todo[n++] = last->p[i];
    }
    for (u32 at = 0; at < n; at++)
        for (u32 k = 0; k < todo[at]->deps; k++) {
            struct graph_node *from = todo[at]->dep[k].from;
            if (seen[from->index]) continue;
            seen[from->index] = true;
            todo[n++] = from;
        }
    n = 0;
    for (u32 i = c->before; i < g->nodes; i++) n += seen[i];
    base_free(todo);
    base_free(seen);
    return n == g->nodes - c->before;
}

u32 capture_end(struct stream *st, struct graph **graph)
{
    struct streams *s = st->all;
    struct graph *g = NULL;
    bool borrowed = false;
    *graph = NULL;
    bool graphs = capture_lock(s);
    exec_call(s);
    struct capture *c = st->capture;
    u32 status = OP_OK;
    if (!c) {
        status = OP_ILLEGAL_STATE;
    } else if (c->origin != st) {
        status = OP_CAPTURE_UNMATCHED;
        c->invalid = true;
    } else {
        bool stranger = c->mode != CAPTURE_RELAXED && c->thread != thread_number();
        status = stranger     ? OP_CAPTURE_WRONG_THREAD
                 : c->invalid ? OP_CAPTURE_INVALIDATED
                 : joined(c)  ? OP_OK
                              : OP_CAPTURE_UNJOINED;
        g = c->graph;
        borrowed = c->borrowed;
        c->graph = NULL;
        end(c);
    }
    capture_unlock(s, graphs);
    if (!status)
        *graph = g;
    else if (!borrowed)
        graph_delete(g);
    return status;
}

void capture_others_text(struct stream *st, char *out, size_t size)
{
    struct streams *s = st->all;
    char name[STREAM_TEXT];
    size_t n = 0;
    out[0] = 0;
    lock(&s->lock);
    for (const struct stream *x = s->streams; x && st->capture && n < size; x = x->next) {
        if (x == st || x->capture != st->capture) continue;
        stream_text(x, name);
        n += (size_t)snprintf(out + n, size - n, "%s%s", n ? ", " : "", name);
    }
    unlock(&s->lock);
}

bool capture_borrows(struct stream *st)
{
    lock(&st->all->lock);
    bool yes = st->capture && st->capture->borrowed;
    unlock(&st->all->lock);
    return yes;
}

enum capture_status capture_status(struct stream *st, u64 *id)
{
    struct streams *s = st->all;
    if (id) *id = 0;
    if (!streams_capture(s)) return CAPTURE_NONE;
    lock(&s->lock);
    struct capture *c = st->capture;
    if (id) *id = c ? c->id : 0;
    enum capture_status status = !c ? CAPTURE_NONE : c->invalid ? CAPTURE_INVALIDATED : CAPTURE_ACTIVE;
    unlock(&s->lock);
    return status;
}
