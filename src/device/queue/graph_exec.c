/* Executable graphs: made, updated. */
#include "queue/graph_in.h"

/* ---- what is freed later ---- */

/* Under the lock of the streams: a plan that nobody has any more, or what hung on an executable graph. */
static void discard(struct streams *s, struct plan *p, void *user)
{
    struct graph_trash *t = base_need(sizeof *t);
    *t = (struct graph_trash){ .next = s->trash, .plan = p, .user = user };
    s->trash = t;
}

void graph_collect(struct streams *s)
{
    struct graph_trash *t = s->trash;
    if (!t) return;
    s->trash = t->next;
    unlock(&s->lock);
    if (t->plan) plan_free(t->plan);
    graph_user_gone(t->user);
    base_free(t);
    lock(&s->lock);
}

void graph_unref_plan(struct streams *s, struct plan *p)
{
    if (!--p->refs) discard(s, p, NULL);
}

void graph_exec_set_user(struct graph_exec *x, void *user) { x->user = user; }

struct streams *graph_exec_owner(const struct graph_exec *x) { return x->all; }

/* ---- making ---- */

static bool frees(const struct plan *p, const void *address)
{
    for (u32 i = 0; i < p->nodes; i++) {
        const struct graph_body *b = p->node[i].body;
        if (b && b->spec.kind == OP_FREE && b->spec.address == address) return true;
    }
    return false;
}

/* The allocations that stay when a launch has ended. */
static void find_allocs(struct graph_exec *x)
{
    const struct plan *p = x->plan;
    for (u32 i = 0; i < p->nodes; i++) {
        const struct graph_body *b = p->node[i].body;
        if (!b || b->spec.kind != OP_ALLOC || frees(p, b->spec.address)) continue;
        x->alloc = base_need_more(x->alloc, (x->allocs + 1) * sizeof *x->alloc);
        x->alloc[x->allocs++] = b->spec.address;
    }
}

u32 graph_instantiate(struct graph *g, u32 flags, struct graph_exec **exec, struct graph_node **where)
{
    struct streams *s = g->all;
    u32 status;
    *exec = NULL;
    if (where) *where = NULL;
    if (g->exec) return OP_NOT_SUPPORTED;
    struct plan *p = plan_new(g, &status, where);
    if (!p) return status;
    struct graph_exec *x = base_alloc(sizeof *x);
    if (!x) {
        plan_free(p);
        return OP_OUT_OF_MEMORY;
    }
    *x = (struct graph_exec){ .all = s, .refs = 1, .flags = flags, .plan = p };
    if (g->bound) {
        x->graph = g;
        g->exec = x;
    }
    find_allocs(x);
    *exec = x;
    return OP_OK;
}

void graph_unref_exec(struct graph_exec *x)
{
    struct streams *s = x->all;
    if (--x->refs) return;
    for (u32 i = 0; x->slot && i < x->slots; i++) slot_leave(&s->clocks, x->slot[i]);
    if (x->last) op_unref(x->last);
    graph_unref_plan(s, x->plan);
    if (x->user) discard(s, NULL, x->user);
    base_free(x->slot);
    base_free(x->alloc);
    base_free(x);
}

void graph_exec_delete(struct graph_exec *x)
{
    struct streams *s = x->all;
    graphs_lock();
    if (x->graph) x->graph->exec = NULL;
    x->graph = NULL;
    graphs_unlock();
    lock(&s->lock);
    exec_call(s);
    graph_unref_exec(x);
    while (s->trash) graph_collect(s);
    unlock(&s->lock);
}

/* ---- updating ---- */

static enum op_kind plan_kind(const struct plan_node *n) { return n->body ? n->body->spec.kind : OP_GRAPH; }

static enum graph_update_result node_differs(const struct plan_node *a, const struct plan_node *b)
{
    if (plan_kind(a) != plan_kind(b)) return GRAPH_UPDATE_KIND;
    if (!a->body) return GRAPH_UPDATE_OK;
    bool memory = plan_kind(a) == OP_ALLOC || plan_kind(a) == OP_FREE;
    if (memory && a->body->spec.address != b->body->spec.address) return GRAPH_UPDATE_NOT_SUPPORTED;
    return a->body->spec.key == b->body->spec.key ? GRAPH_UPDATE_OK : GRAPH_UPDATE_PARAMETERS;
}

static bool edges_differ(const struct plan *p, const struct plan_node *a, const struct plan *q,
                         const struct plan_node *b)
{
    if (a->deps != b->deps || a->region != b->region) return true;
    for (u32 i = 0; i < a->deps; i++) {
        const struct plan_edge *e = &p->edge[a->first + i], *same = &q->edge[b->first + i];
        bool there = e->from == same->from && e->kind == same->kind; /* most often in this order */
        for (u32 k = 0; k < b->deps && !there; k++) {
            const struct plan_edge *f = &q->edge[b->first + k];
            there = e->from == f->from && e->kind == f->kind;
        }
        if (!there) return true;
    }
    return false;
}

/* Nodes are paired in the order of the plans, which follows the order in which they were added. */
static void compare(const struct plan *p, const struct plan *q, struct graph_update *out)
{
    *out = (struct graph_update){ .result = p->nodes == q->nodes ? GRAPH_UPDATE_OK : GRAPH_UPDATE_TOPOLOGY };
    for (u32 i = 0; i < p->nodes && out->result == GRAPH_UPDATE_OK; i++) {
        const struct plan_node *a = &p->node[i], *b = &q->node[i];
        out->result = node_differs(a, b);
        if (out->result == GRAPH_UPDATE_OK && edges_differ(p, a, q, b)) out->result = GRAPH_UPDATE_TOPOLOGY;
        if (out->result != GRAPH_UPDATE_OK) out->node = (struct graph_node *)b->node;
    }
}

/* Launches from now on run p. */
static void plan_swap(struct graph_exec *x, struct plan *p)
{
    struct streams *s = x->all;
    lock(&s->lock);
    exec_call(s);
    graph_unref_plan(s, x->plan);
    x->plan = p;
    graph_collect(s);
    unlock(&s->lock);
}

/* The plan of x, to be changed: launches in flight keep what they have. */
static struct plan *plan_own(struct graph_exec *x)
{
    lock(&x->all->lock);
    exec_call(x->all);
    bool shared = x->plan->refs > 1;
    unlock(&x->all->lock);
    if (shared) plan_swap(x, plan_copy(x->plan));
    return x->plan;
}

u32 graph_update(struct graph_exec *x, const struct graph *g, struct graph_update *out)
{
    struct graph_update mine;
    struct graph_node *cycle;
    u32 status;
    if (!out) out = &mine;
    struct plan *p = plan_new(g, &status, &cycle);
    if (!p) {
        *out = (struct graph_update){ .result = GRAPH_UPDATE_TOPOLOGY, .node = cycle };
        return OP_GRAPH_UPDATE_FAILURE;
    }
    compare(x->plan, p, out);
    if (out->result != GRAPH_UPDATE_OK) {
        plan_free(p);
        return OP_GRAPH_UPDATE_FAILURE;
    }
    for (u32 i = 0; i < p->nodes; i++) { /* nodes keep their names and their chains */
        p->node[i].id = x->plan->node[i].id;
        p->node[i].node = NULL;
        p->node[i].chain = x->plan->node[i].chain;
        p->node[i].disabled = x->plan->node[i].disabled;
    }
    p->chains = x->plan->chains;
    memcpy(p->region, x->plan->region, p->regions * sizeof *p->region);
    plan_swap(x, p);
    return OP_OK;
}

/* The place of a node that does something; the number of nodes: it is not there. */
static u32 place_of(const struct plan *p, const struct graph_node *n)
{
    u32 i = n->mark; /* where the last plan of its graph has it: most often this one */
    if (i < p->nodes && p->node[i].id == n->id && p->node[i].body) return i;
    for (i = 0; i < p->nodes && (p->node[i].id != n->id || !p->node[i].body);) i++;
    return i;
}

u32 graph_exec_set(struct graph_exec *x, const struct graph_node *n, const struct op_spec *spec)
{
    u32 i = place_of(x->plan, n);
    if (i == x->plan->nodes) return OP_INVALID_VALUE;
    struct op_spec old = x->plan->node[i].body->spec;
    if (old.kind != spec->kind || old.key != spec->key) return OP_INVALID_VALUE;
    if (old.kind == OP_ALLOC || old.kind == OP_FREE) return OP_NOT_SUPPORTED;
    struct graph_body *b = body_new(spec);
    if (!b) return OP_OUT_OF_MEMORY;
    struct plan *p = plan_own(x);
    body_release(p->node[i].body);
    p->node[i].body = b;
    return OP_OK;
}

/* Gives the nodes of one graph, which are in the plan, the bodies of another's. */
static u32 bodies_take(struct plan *p, const struct graph *mine, const struct graph *other)
{
    graph_settle(mine);
    graph_settle(other);
    u32 status = mine->nodes == other->nodes ? OP_OK : OP_GRAPH_UPDATE_FAILURE;
    for (u32 i = 0; i < mine->nodes && !status; i++) {
        const struct graph_node *a = mine->node[i], *b = other->node[i];
        bool same = graph_node_kind(a) == graph_node_kind(b) && a->deps == b->deps;
        for (u32 k = 0; k < a->deps && same; k++)
            same = a->dep[k].from->index == b->dep[k].from->index && a->dep[k].kind == b->dep[k].kind;
        if (!same) return OP_GRAPH_UPDATE_FAILURE;
        if (a->child) {
            status = bodies_take(p, a->child, b->child);
            continue;
        }
        u32 at = place_of(p, a);
        if (at == p->nodes) return OP_INVALID_VALUE;
        if (p->node[at].body->spec.key != b->body->spec.key) return OP_GRAPH_UPDATE_FAILURE;
        body_release(p->node[at].body);
        p->node[at].body = body_hold(b->body);
    }
    return status;
}

u32 graph_exec_set_child(struct graph_exec *x, const struct graph_node *n, const struct graph *g)
{
    if (!n->child) return OP_INVALID_VALUE;
    struct plan *p = plan_copy(x->plan);
    u32 status = bodies_take(p, n->child, g);
    if (status)
        plan_free(p);
    else
        plan_swap(x, p);
    return status;
}

/* ---- nodes that are switched off ---- */

static u32 switched(const struct plan *p, const struct graph_node *n, u32 *at)
{
    *at = place_of(p, n);
    if (*at == p->nodes) return OP_INVALID_VALUE;
    enum op_kind kind = plan_kind(&p->node[*at]);
    return kind == OP_LAUNCH || kind == OP_COPY || kind == OP_FILL ? OP_OK : OP_INVALID_VALUE;
}

u32 graph_exec_enable(struct graph_exec *x, const struct graph_node *n, bool enabled)
{
    u32 at, status = switched(x->plan, n, &at);
    if (status) return status;
    plan_own(x)->node[at].disabled = !enabled;
    return OP_OK;
}

u32 graph_exec_enabled(const struct graph_exec *x, const struct graph_node *n, bool *enabled)
{
    u32 at, status = switched(x->plan, n, &at);
    if (!status) *enabled = !x->plan->node[at].disabled;
    return status;
}
