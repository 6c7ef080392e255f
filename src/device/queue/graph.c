/* Graphs as data: nodes, edges, copies. */
#include "queue/graph_in.h"

static u64 ids; /* given out to nodes */

static lock_t graphs = LOCK_INIT;
static _Thread_local u32 depth; /* how often the thread has it */

void graphs_lock(void)
{
    if (!depth++) lock(&graphs);
}

void graphs_unlock(void)
{
    if (!--depth) unlock(&graphs);
}

struct graph_body *body_new(const struct op_spec *spec)
{
    struct graph_body *b = base_alloc(sizeof *b);
    if (!b) return NULL;
    *b = (struct graph_body){ .refs = 1, .spec = *spec };
    if (spec->event) __atomic_add_fetch(&spec->event->refs, 1, __ATOMIC_RELAXED);
    return b;
}

struct graph_body *body_hold(struct graph_body *b)
{
    if (b) __atomic_add_fetch(&b->refs, 1, __ATOMIC_RELAXED);
    return b;
}

/* The lock of the streams is not held. */
void body_release(struct graph_body *b)
{
    if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL)) return;
    if (b->spec.drop) b->spec.drop(b->spec.data);
    if (b->spec.event) event_delete(b->spec.event); /* the reference, not the handle */
    base_free(b);
}

struct graph *graph_new(struct streams *s)
{
    struct graph *g = base_alloc(sizeof *g);
    if (g) g->all = s;
    return g;
}

static void (*gone)(void *user); /* told what the caller hung on a graph or node that is freed; NULL: nobody */

void graph_on_gone(void (*call)(void *user)) { __atomic_store_n(&gone, call, __ATOMIC_RELAXED); }
void graph_user_gone(void *user)
{
    void (*call)(void *) = __atomic_load_n(&gone, __ATOMIC_RELAXED);
    if (user && call) call(user);
}
void *graph_user(const struct graph *g) { return g->user; }
void graph_set_user(struct graph *g, void *user) { g->user = user; }
void *graph_node_user(const struct graph_node *n) { return n->user; }
void graph_node_set_user(struct graph_node *n, void *user) { n->user = user; }

static void node_empty(struct graph_node *n)
{
    graph_user_gone(n->user);
    body_release(n->body);
    graph_delete(n->child);
    for (u32 i = 0; i < n->branches; i++) graph_delete(n->branch[i]);
    base_free(n->branch);
    base_free(n->dep);
    *n = (struct graph_node){ .removed = n->removed };
}

static void node_free(struct graph_node *n)
{
    node_empty(n);
    base_free(n);
}

/* Nodes may be removed one by one, thousands of them: the others are looked at once, when somebody reads them. */
void graph_settle(const struct graph *of)
{
    struct graph *g = (struct graph *)(uintptr_t)of; /* nobody can see a difference */
    if (!g->removed) return;
    u32 kept = 0;
    for (u32 i = 0; i < g->nodes; i++) {
        struct graph_node *n = g->node[i];
        if (!n->graph) continue;
        u32 deps = 0;
        for (u32 k = 0; k < n->deps; k++)
            if (n->dep[k].from->graph) n->dep[deps++] = n->dep[k];
        n->deps = deps;
        n->index = kept;
        g->node[kept++] = n;
    }
    g->nodes = kept;
    while (g->removed) {
        struct graph_node *n = g->removed;
        g->removed = n->removed;
        base_free(n);
    }
}

struct streams *graph_owner(const struct graph *g) { return g->all; }

void graph_delete(struct graph *g)
{
    if (!g) return;
    graphs_lock();
    capture_graph_gone(g);
    graph_user_gone(g->user);
    if (g->exec) g->exec->graph = NULL;
    graph_settle(g);
    for (u32 i = 0; i < g->nodes; i++) node_free(g->node[i]);
    base_free(g->node);
    base_free(g);
    graphs_unlock();
}

/* ---- building ---- */

static bool dep_push(struct graph_node *n, struct graph_dep d)
{
    if (n->deps == n->cap) {
        u32 cap = MAX_OF(n->cap * 2, 2u);
        struct graph_dep *p = base_realloc(n->dep, cap * sizeof *p);
        if (!p) return false;
        n->dep = p;
        n->cap = cap;
    }
    n->dep[n->deps++] = d;
    return true;
}

static bool has_dep(const struct graph_node *n, const struct graph_node *from)
{
    for (u32 i = 0; i < n->deps; i++)
        if (n->dep[i].from == from) return true;
    return false;
}

/* A node without body; NULL: no memory. */
static struct graph_node *node_new(struct graph *g, const struct graph_dep *dep, u32 deps)
{
    if (g->nodes == g->cap) {
        u32 cap = MAX_OF(g->cap * 2, 8u);
        struct graph_node **p = base_realloc(g->node, cap * sizeof *p);
        if (!p) return NULL;
        g->node = p;
        g->cap = cap;
    }
    struct graph_node *n = base_alloc(sizeof *n);
    if (!n) return NULL;
    n->graph = g;
    n->id = n->origin = __atomic_add_fetch(&ids, 1, __ATOMIC_RELAXED);
    n->index = g->nodes;
    for (u32 i = 0; i < deps; i++)
        if (!dep_push(n, dep[i])) {
            node_free(n);
            return NULL;
        }
    return n;
}

static bool deps_fit(const struct graph *g, const struct graph_dep *dep, u32 deps)
{
    for (u32 i = 0; i < deps; i++) {
        if (!dep[i].from || dep[i].from->graph != g) return false;
        for (u32 j = 0; j < i; j++)
            if (dep[j].from == dep[i].from) return false;
    }
    return true;
}

/* An allocation node has an address of its own, and the graph frees it at most once. */
static bool address_fits(const struct graph *g, const struct op_spec *spec)
{
    if (spec->kind != OP_ALLOC && spec->kind != OP_FREE) return true;
    if (!spec->address) return false;
    for (u32 i = 0; i < g->nodes; i++) {
        const struct graph_body *b = g->node[i]->body;
        if (b && b->spec.kind == spec->kind && b->spec.address == spec->address) return false;
    }
    return true;
}

static bool spec_fits(const struct op_spec *spec)
{
    if (spec->kind >= OP_GRAPH) return false;
    if (spec->kind == OP_RECORD || spec->kind == OP_WAIT) return spec->event != NULL;
    if (spec->kind == OP_VALUE_WAIT || spec->kind == OP_VALUE_WRITE)
        return spec->address && (spec->bits == 32 || spec->bits == 64) && spec->compare <= OP_NOR;
    return true;
}

u32 graph_add(struct graph *g, const struct graph_dep *dep, u32 deps, const struct op_spec *spec,
              struct graph_node **node)
{
    if (node) *node = NULL;
    if (!deps_fit(g, dep, deps) || !spec_fits(spec) || !address_fits(g, spec)) return OP_INVALID_VALUE;
    struct graph_node *n = node_new(g, dep, deps);
    if (n) n->body = body_new(spec);
    if (!n || !n->body) {
        if (n) node_free(n);
        return OP_OUT_OF_MEMORY;
    }
    g->node[g->nodes++] = n;
    g->bound += spec->kind == OP_ALLOC;
    if (node) *node = n;
    return OP_OK;
}

/* How deep graphs are nested in it; 1: not at all. */
static u32 height(const struct graph *g)
{
    u32 most = 0;
    for (u32 i = 0; g && i < g->nodes; i++) {
        const struct graph_node *n = g->node[i];
        if (n->child) most = MAX_OF(most, height(n->child));
        for (u32 k = 0; k < n->branches; k++) most = MAX_OF(most, height(n->branch[k]));
    }
    return most + 1;
}

/* The number of nodes of a graph and its child graphs, counted up to a limit. */
static u32 nodes_within(const struct graph *g, u32 most)
{
    u32 n = g->nodes;
    for (u32 i = 0; i < g->nodes && n <= most; i++)
        if (g->node[i]->child) n += nodes_within(g->node[i]->child, most - n);
    return n;
}

bool graph_fits(const struct graph *g, const struct graph *child)
{
    u32 above = 0;
    for (; g; g = g->within) above++;
    return above + height(child) <= GRAPH_DEPTH &&
           (!child || nodes_within(child, GRAPH_CHILD_NODES) <= GRAPH_CHILD_NODES);
}

/* There can be no copy of it. */
static bool is_bound(const struct graph *g)
{
    if (g->bound) return true;
    for (u32 i = 0; i < g->nodes; i++)
        if (g->node[i]->child && is_bound(g->node[i]->child)) return true;
    return false;
}

u32 graph_add_child(struct graph *g, const struct graph_dep *dep, u32 deps, const struct graph *child,
                    struct graph_node **node)
{
    if (node) *node = NULL;
    if (!deps_fit(g, dep, deps) || child == g) return OP_INVALID_VALUE;
    if (is_bound(child) || !graph_fits(g, child)) return OP_NOT_SUPPORTED;
    struct graph_node *n = node_new(g, dep, deps);
    if (n) n->child = graph_copy(child);
    if (!n || !n->child) {
        if (n) node_free(n);
        return OP_OUT_OF_MEMORY;
    }
    n->child->within = g;
    g->node[g->nodes++] = n;
    if (node) *node = n;
    return OP_OK;
}

u32 graph_add_branch(struct graph *g, const struct graph_dep *dep, u32 deps, const struct op_spec *spec, u32 bodies,
                     struct graph_node **node)
{
    *node = NULL;
    if (!deps_fit(g, dep, deps) || spec->kind != OP_BRANCH || !spec->address || !bodies) return OP_INVALID_VALUE;
    if (!graph_fits(g, NULL)) return OP_NOT_SUPPORTED;
    struct graph_node *n = node_new(g, dep, deps);
    if (n) n->branch = base_alloc(bodies * sizeof *n->branch);
    while (n && n->branch && n->branches < bodies && (n->branch[n->branches] = graph_new(g->all))) n->branches++;
    struct op_spec keyed = *spec;
    keyed.key = (u64)spec->compare << 32 | bodies;
    if (n && n->branches == bodies) n->body = body_new(&keyed);
    if (!n || !n->body) {
        if (n) node_free(n);
        return OP_OUT_OF_MEMORY;
    }
    for (u32 i = 0; i < bodies; i++) n->branch[i]->within = g;
    g->node[g->nodes++] = n;
    g->bound++;
    *node = n;
    return OP_OK;
}

u32 graph_edge_add(struct graph *g, struct graph_node *from, struct graph_node *to, enum op_edge_kind kind)
{
    struct graph_dep d = { from, kind };
    if (from == to || to->graph != g || !deps_fit(g, &d, 1) || has_dep(to, from)) return OP_INVALID_VALUE;
    return dep_push(to, d) ? OP_OK : OP_OUT_OF_MEMORY;
}

static void dep_remove(struct graph_node *to, const struct graph_node *from)
{
    u32 n = 0;
    for (u32 i = 0; i < to->deps; i++)
        if (to->dep[i].from != from) to->dep[n++] = to->dep[i];
    to->deps = n;
}

u32 graph_edge_remove(struct graph *g, struct graph_node *from, struct graph_node *to)
{
    if (from->graph != g || to->graph != g || !has_dep(to, from)) return OP_INVALID_VALUE;
    dep_remove(to, from);
    return OP_OK;
}

u32 graph_node_remove(struct graph_node *n)
{
    struct graph *g = n->graph;
    enum op_kind kind = graph_node_kind(n);
    if (kind == OP_ALLOC || kind == OP_FREE) return OP_NOT_SUPPORTED;
    g->bound -= kind == OP_BRANCH;
    if (streams_capture(g->all)) graph_settle(g); /* a capture counts nodes by their places */
    capture_node_gone(n);
    node_empty(n);
    n->removed = g->removed;
    g->removed = n;
    return OP_OK;
}

u32 graph_node_set(struct graph_node *n, const struct op_spec *spec)
{
    if (!n->body || n->body->spec.kind != spec->kind || !spec_fits(spec)) return OP_INVALID_VALUE;
    if (spec->kind == OP_ALLOC || spec->kind == OP_FREE) return OP_NOT_SUPPORTED;
    struct graph_body *b = body_new(spec);
    if (!b) return OP_OUT_OF_MEMORY;
    body_release(n->body);
    n->body = b;
    return OP_OK;
}

void graph_node_share(struct graph_node *n, const struct graph_node *like)
{
    struct graph_body *old = n->body;
    n->body = body_hold(like->body);
    body_release(old);
}

u32 graph_node_count(const struct graph *g)
{
    graph_settle(g);
    return g->nodes;
}

u32 graph_edge_count(const struct graph *g)
{
    u32 n = 0;
    graph_settle(g);
    for (u32 i = 0; i < g->nodes; i++) n += g->node[i]->deps;
    return n;
}

struct graph_node *graph_node_at(const struct graph *g, u32 i)
{
    graph_settle(g);
    return i < g->nodes ? g->node[i] : NULL;
}
enum op_kind graph_node_kind(const struct graph_node *n) { return n->body ? n->body->spec.kind : OP_GRAPH; }
const struct op_spec *graph_node_spec(const struct graph_node *n) { return n->body ? &n->body->spec : NULL; }
struct graph *graph_node_graph(const struct graph_node *n) { return n->graph; }
struct graph *graph_node_child(const struct graph_node *n) { return n->child; }
struct graph *graph_node_body(const struct graph_node *n, u32 i) { return i < n->branches ? n->branch[i] : NULL; }

u32 graph_node_deps(const struct graph_node *n, struct graph_dep *out, u32 most)
{
    graph_settle(n->graph);
    for (u32 i = 0; i < MIN_OF(n->deps, most); i++) out[i] = n->dep[i];
    return n->deps;
}

/* ---- copies ---- */

struct graph *graph_copy(const struct graph *g)
{
    struct graph *c = graph_new(g->all);
    graph_settle(g);
    for (u32 i = 0; c && i < g->nodes; i++) {
        const struct graph_node *from = g->node[i];
        struct graph_node *n = node_new(c, NULL, 0);
        if (n) {
            c->node[c->nodes++] = n;
            n->origin = from->id;
            n->body = body_hold(from->body);
        }
        if (!n || (from->child && !(n->child = graph_copy(from->child)))) {
            graph_delete(c);
            return NULL;
        }
        if (n->child) n->child->within = c;
    }
    for (u32 i = 0; c && i < g->nodes; i++) /* an edge may lead back to a node that was added later */
        for (u32 k = 0; k < g->node[i]->deps; k++) {
            struct graph_dep d = g->node[i]->dep[k];
            d.from = c->node[d.from->index];
            if (!dep_push(c->node[i], d)) {
                graph_delete(c);
                return NULL;
            }
        }
    return c;
}

u32 graph_clone(const struct graph *g, struct graph **out)
{
    *out = NULL;
    if (is_bound(g)) return OP_NOT_SUPPORTED;
    *out = graph_copy(g);
    return *out ? OP_OK : OP_OUT_OF_MEMORY;
}

struct graph_node *graph_in_clone(const struct graph_node *n, const struct graph *clone)
{
    graph_settle(clone);
    for (u32 i = 0; i < clone->nodes; i++)
        if (clone->node[i]->origin == n->id) return clone->node[i];
    return NULL;
}
