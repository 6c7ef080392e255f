/* The plan of a graph: its nodes in an order that its edges allow, child graphs and the graphs of conditional nodes in
 * their place. */
#include "queue/graph_in.h"

struct build { /* a plan that is being made; vectors grow in the arena */
    struct arena mem;
    VEC(struct plan_node) node;
    VEC(struct plan_edge) edge;
    VEC(struct plan_region) region;
    u32 inside;               /* the region that nodes are added to */
    bool refused;             /* the graph of a conditional node has a node that it may not have */
    struct graph_node *cycle; /* found, or NULL */
};

/* The nodes of g, each after those that it depends on, the first added first; NULL: a cycle. */
static struct graph_node **sorted(struct build *b, const struct graph *g)
{
    graph_settle(g);
    struct graph_node **out = NEW_ARRAY(&b->mem, struct graph_node *, g->nodes + 1);
    u32 *waits = NEW_ARRAY(&b->mem, u32, g->nodes + 1), *first = NEW_ARRAY(&b->mem, u32, g->nodes + 2), n = 0;
    struct graph_node **later = NEW_ARRAY(&b->mem, struct graph_node *, graph_edge_count(g) + 1);
    for (u32 i = 0; i < g->nodes; i++)
        for (u32 k = 0; k < g->node[i]->deps; k++) first[g->node[i]->dep[k].from->index + 1]++;
    for (u32 i = 0; i < g->nodes; i++) first[i + 1] += first[i];
    for (u32 i = g->nodes; i-- > 0;)
        for (u32 k = 0; k < g->node[i]->deps; k++) {
            u32 from = g->node[i]->dep[k].from->index;
            later[first[from] + waits[from]++] = g->node[i];
        }
    for (u32 i = 0; i < g->nodes; i++)
        if (!(waits[i] = g->node[i]->deps)) out[n++] = g->node[i];
    for (u32 at = 0; at < n; at++)
        for (u32 k = first[out[at]->index]; k < first[out[at]->index + 1]; k++)
            if (!--waits[later[k]->index]) out[n++] = later[k];
    if (n == g->nodes) return out;
    for (u32 i = 0; i < g->nodes; i++)
        if (waits[i]) b->cycle = g->node[i];
    /* Go back along edges that are left, as often as there are nodes: that ends inside a cycle. */
    for (u32 step = 0; step < g->nodes; step++)
        for (u32 k = 0; k < b->cycle->deps; k++)
            if (waits[b->cycle->dep[k].from->index]) {
                b->cycle = b->cycle->dep[k].from;
                break;
            }
    return NULL;
}

static u32 plan_push(struct build *b, const struct graph_node *n, struct graph_body *body)
{
    struct plan_node p = {
        .body = body_hold(body), .node = n, .id = n->id, .first = b->edge.n, .region = b->inside, .sink = true
    };
    VEC_PUSH(&b->mem, &b->node, p);
    return b->node.n - 1;
}

static void plan_edge(struct build *b, u32 to, u32 from, enum op_edge_kind kind)
{
    struct plan_edge e = { from, (u8)kind };
    VEC_PUSH(&b->mem, &b->edge, e);
    b->node.p[to].deps++;
    if (kind == OP_EDGE_COMPLETE) b->node.p[from].sink = false;
}

static struct graph_node **flatten(struct build *b, const struct graph *g, u32 begin);

/* The graphs of a conditional node, which is at `at`: each becomes a region. The node's end follows them. */
static bool flatten_branches(struct build *b, struct graph_node *n, u32 at)
{
    u32 outer = b->inside, first = b->region.n;
    bool ok = true;
    for (u32 i = 0; i < n->branches; i++) VEC_PUSH(&b->mem, &b->region, (struct plan_region){ 0 });
    for (u32 i = 0; i < n->branches && ok; i++) {
        b->inside = first + i;
        b->region.p[first + i].first = b->node.n;
        ok = flatten(b, n->branch[i], UINT32_MAX);
        b->region.p[first + i].end = b->node.n;
    }
    b->inside = outer;
    if (!ok) return false;
    u32 end = plan_push(b, n, NULL);
    plan_edge(b, end, at, OP_EDGE_COMPLETE);
    b->node.p[at].branch = first;
    b->node.p[at].branches = n->branches;
    b->node.p[at].end = end;
    n->mark = end;
    return true;
}

/* Nodes of a graph that a condition decides about run on the device alone. */
static bool may_branch(enum op_kind kind)
{
    return kind == OP_LAUNCH || kind == OP_COPY || kind == OP_FILL || kind == OP_EMPTY || kind == OP_GRAPH ||
           kind == OP_BRANCH;
}

/* Adds the nodes of g and returns them in their order; NULL: a cycle. Nodes without dependencies depend on `begin`
 * (UINT32_MAX: on nothing). */
static struct graph_node **flatten(struct build *b, const struct graph *g, u32 begin)
{
    struct graph_node **order = sorted(b, g);
    for (u32 i = 0; order && i < g->nodes; i++) {
        struct graph_node *n = order[i];
        b->refused |= b->inside && !may_branch(graph_node_kind(n));
        u32 at = plan_push(b, n, n->body);
        for (u32 k = 0; k < n->deps; k++) plan_edge(b, at, n->dep[k].from->mark, n->dep[k].kind);
        if (!n->deps && begin != UINT32_MAX) plan_edge(b, at, begin, OP_EDGE_COMPLETE);
        n->mark = at;
        if (n->branches && !flatten_branches(b, n, at)) return NULL;
        if (!n->child) continue;
        struct graph_node **inside = flatten(b, n->child, at);
        if (!inside) return NULL;
        u32 end = plan_push(b, n, NULL); /* after the last nodes of the child, and its begin */
        plan_edge(b, end, at, OP_EDGE_COMPLETE);
        for (u32 k = 0; k < n->child->nodes; k++)
            if (b->node.p[inside[k]->mark].sink) plan_edge(b, end, inside[k]->mark, OP_EDGE_COMPLETE);
        n->mark = end;
    }
    return order;
}

/* Chains: a node goes on with the chain of a node that it depends on and that nobody has gone on from yet. */
static void chains(struct plan *p)
{
    bool *taken = base_need(p->nodes + 1u);
    for (u32 i = 0; i < p->nodes; i++) {
        struct plan_node *n = &p->node[i];
        n->chain = UINT32_MAX;
        n->sink = true;
        for (u32 k = 0; k < n->deps; k++) {
            const struct plan_edge *e = &p->edge[n->first + k];
            p->node[e->from].sink = false;
            if (n->chain != UINT32_MAX || taken[e->from] || e->kind != OP_EDGE_COMPLETE) continue;
            n->chain = p->node[e->from].chain;
            taken[e->from] = true;
        }
        if (n->chain == UINT32_MAX) n->chain = p->chains++;
        enum op_kind kind = n->body ? n->body->spec.kind : OP_EMPTY;
        p->events |= kind == OP_RECORD || kind == OP_WAIT;
        p->frees |= kind == OP_FREE;
        p->works |= kind == OP_LAUNCH || kind == OP_COPY;
    }
    for (u32 i = 1; i < p->regions; i++) p->region[i].chain = p->chains++;
    base_free(taken);
}

static struct plan *plan_alloc(u32 nodes, u32 edges, u32 regions)
{
    struct plan *p = base_need(sizeof *p);
    *p = (struct plan){ .refs = 1, .nodes = nodes, .edges = edges, .regions = regions };
    p->node = base_need((nodes + 1) * sizeof *p->node);
    p->edge = base_need((edges + 1) * sizeof *p->edge);
    p->region = base_need(regions * sizeof *p->region);
    return p;
}

struct plan *plan_new(const struct graph *g, u32 *status, struct graph_node **where)
{
    struct build b = { 0 };
    struct plan *p = NULL;
    VEC_PUSH(&b.mem, &b.region, (struct plan_region){ 0 });
    bool ok = flatten(&b, g, UINT32_MAX);
    *status = OP_INVALID_VALUE;
    if (ok && !b.refused) {
        b.region.p[0].end = b.node.n;
        p = plan_alloc(b.node.n, b.edge.n, b.region.n);
        memcpy(p->region, b.region.p, p->regions * sizeof *p->region);
        if (p->nodes) memcpy(p->node, b.node.p, p->nodes * sizeof *p->node);
        if (p->edges) memcpy(p->edge, b.edge.p, p->edges * sizeof *p->edge);
        chains(p);
        *status = OP_OK;
    } else {
        for (u32 i = 0; i < b.node.n; i++) body_release(b.node.p[i].body);
    }
    if (where) *where = b.cycle;
    arena_free(&b.mem);
    return p;
}

struct plan *plan_copy(const struct plan *p)
{
    struct plan *c = plan_alloc(p->nodes, p->edges, p->regions);
    memcpy(c->node, p->node, p->nodes * sizeof *c->node);
    memcpy(c->edge, p->edge, p->edges * sizeof *c->edge);
    for (u32 i = 0; i < c->nodes; i++) body_hold(c->node[i].body);
    memcpy(c->region, p->region, p->regions * sizeof *c->region);
    c->chains = p->chains;
    c->events = p->events;
    c->frees = p->frees;
    c->works = p->works;
    return c;
}

/* The lock of the streams is not held. */
void plan_free(struct plan *p)
{
    for (u32 i = 0; i < p->nodes; i++) body_release(p->node[i].body);
    base_free(p->node);
    base_free(p->edge);
    base_free(p->region);
    base_free(p);
}
