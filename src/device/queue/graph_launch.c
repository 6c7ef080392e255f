/* Launches of executable graphs. */
#include "queue/graph_in.h"

/* An operation of the kind that spec says, for a node, in this chain. It starts with what is before `begin`. */
static struct op *node_op(struct graph_launch *l, struct op *begin, const struct op_spec *spec, u32 chain)
{
    struct streams *s = l->exec->all;
    struct op *op = op_make(s, begin->stream, spec);
    if (!op) base_exhausted(sizeof *op, "the nodes of a graph");
    op->node = true;
    op->slot = l->exec->slot[chain];
    op->number = ++s->clocks.slot[op->slot].number;
    op->own = op->number - 1;
    opclock_release(&s->clocks, op->clock); /* the host may have waited for more since the launch was enqueued */
    op->clock = opclock_hold(begin->clock);
    op->age = begin->age; /* as old as the call */
    return op;
}

/* An operation for each node of a region, between `begin` and `end`. */
static void expand(struct graph_launch *l, struct op *begin, u32 region, struct op *end)
{
    const struct plan *p = l->plan;
    u32 first = p->region[region].first, last = p->region[region].end;
    struct op **made = base_need((last - first + 1) * sizeof *made);
    for (u32 i = first; i < last; i++) {
        const struct plan_node *n = &p->node[i];
        if (n->region != region) continue;
        struct op_spec spec = n->body && !n->disabled ? n->body->spec : (struct op_spec){ .kind = OP_EMPTY };
        spec.drop = NULL;
        if (!spec.tag) spec.tag = l->tag;
        struct op *op = made[i - first] = node_op(l, begin, &spec, n->chain);
        if (spec.kind == OP_BRANCH) {
            op->branch = base_need(sizeof *op->branch);
            *op->branch = (struct graph_branch){ .launch = l, .node = i };
        }
        if (spec.kind == OP_WAIT && spec.event->record) op_edge_add(spec.event->record, op, OP_EDGE_COMPLETE);
        if (spec.kind == OP_RECORD) event_bind(spec.event, op);
        for (u32 k = 0; k < n->deps; k++) {
            const struct plan_edge *e = &p->edge[n->first + k];
            op_edge_add(made[e->from - first], op, e->kind);
        }
        if (!n->deps) op_edge_add(begin, op, OP_EDGE_COMPLETE);
        if (n->sink) op_edge_add(op, end, OP_EDGE_COMPLETE);
    }
    for (u32 i = first; i < last; i++)
        if (made[i - first] && made[i - first]->kind == OP_BRANCH)
            made[i - first]->branch->end = made[p->node[i].end - first];
    for (u32 i = first; i < last; i++)
        if (made[i - first]) op_submit(made[i - first]);
    base_free(made);
}

static void expand_all(struct graph_launch *l, struct op *begin)
{
    struct graph_exec *x = l->exec;
    if (!x->slot) {
        x->slots = l->plan->chains;
        x->slot = base_need((x->slots + 1) * sizeof *x->slot);
        for (u32 i = 0; i < x->slots; i++) x->slot[i] = slot_take(&x->all->clocks, begin->clock);
    }
    expand(l, begin, 0, l->end);
}

/* Conditions that begin each launch with a value of their own get it. */
static void assign_conditions(const struct plan *p)
{
    for (u32 i = 0; p->regions > 1 && i < p->nodes; i++) {
        const struct graph_body *b = p->node[i].body;
        if (b && b->spec.kind == OP_BRANCH && b->spec.assigns)
            __atomic_store_n((u32 *)b->spec.address, (u32)b->spec.value, __ATOMIC_RELAXED);
    }
}

void graph_begin(struct op *op)
{
    struct graph_launch *l = op->graph;
    assign_conditions(l->plan);
    if (!l->plan->events) expand_all(l, op);
}

/* Which graph of a conditional node runs; one that is not there: none. */
static u32 chosen(enum op_branch how, u32 condition)
{
    switch (how) {
    case OP_IF: return !condition;
    case OP_WHILE: return condition ? 0 : UINT32_MAX;
    case OP_SWITCH: return condition;
    }
    return UINT32_MAX;
}

/* A loop's graph is followed by the next decision, which the node's end waits for. */
void graph_decide(struct op *op)
{
    struct graph_branch *b = op->branch;
    struct graph_launch *l = b->launch;
    const struct plan_node *n = &l->plan->node[b->node];
    const struct op_spec *spec = &n->body->spec;
    u32 which = chosen(spec->compare, __atomic_load_n((const u32 *)spec->address, __ATOMIC_ACQUIRE));
    op->branch = NULL;
    if (which >= n->branches || op->all->poison) {
        base_free(b);
        return;
    }
    if (spec->compare != OP_WHILE) {
        expand(l, op, n->branch + which, b->end);
        base_free(b);
        return;
    }
    struct op_spec again = { .kind = OP_BRANCH, .run = op->run, .data = op->data, .tag = op->tag };
    struct op *next = node_op(l, op, &again, l->plan->region[n->branch].chain);
    next->branch = b;
    op_edge_add(op, next, OP_EDGE_COMPLETE);
    op_edge_add(next, b->end, OP_EDGE_COMPLETE);
    expand(l, op, n->branch, next);
    op_submit(next);
}

void graph_ended(struct op *op)
{
    struct graph_launch *l = op->graph;
    graph_unref_plan(op->all, l->plan);
    graph_unref_exec(l->exec);
    base_free(l);
}

/* The allocations of an earlier launch, also by another executable graph, are gone, or may be made again. They then
 * live, and what the launch frees does not. */
static bool allocs_fit(struct graph_exec *x)
{
    struct streams *s = x->all;
    for (u32 i = 0; i < x->allocs && !(x->flags & GRAPH_AUTO_FREE); i++)
        for (u32 k = 0; k < s->graph_lives; k++)
            if (s->graph_live[k] == x->alloc[i]) return false;
    for (u32 i = 0; x->plan->frees && i < x->plan->nodes; i++) {
        const struct graph_body *b = x->plan->node[i].body;
        if (b && b->spec.kind == OP_FREE) graph_freed_locked(s, b->spec.address);
    }
    for (u32 i = 0; i < x->allocs; i++) {
        graph_freed_locked(s, x->alloc[i]);
        s->graph_live = base_need_more(s->graph_live, (s->graph_lives + 1) * sizeof *s->graph_live);
        s->graph_live[s->graph_lives++] = x->alloc[i];
    }
    return true;
}

static u32 launch(struct graph_exec *x, struct stream *st, u64 tag, struct op **end)
{
    struct streams *s = x->all;
    if (!allocs_fit(x)) return OP_INVALID_VALUE;
    struct op_spec spec = { .kind = OP_GRAPH, .tag = tag };
    struct op *a = op_make(s, st, &spec);
    spec.kind = OP_GRAPH_END;
    struct op *b = a ? op_make(s, st, &spec) : NULL;
    struct graph_launch *l = b ? base_alloc(sizeof *l) : NULL;
    if (!l) {
        if (b) op_unmake(b);
        if (a) op_unmake(a);
        return OP_OUT_OF_MEMORY;
    }
    *l = (struct graph_launch){ .exec = x, .plan = x->plan, .end = b, .tag = tag };
    x->refs++;
    x->plan->refs++;
    a->graph = b->graph = l;
    op_append(a, false);
    if (x->last) {
        op_edge_add(x->last, a, OP_EDGE_COMPLETE);
        op_unref(x->last);
    }
    op_append(b, false);
    b->refs++;
    x->last = b;
    if (l->plan->events) expand_all(l, a);
    if (end) {
        b->refs++;
        *end = b;
    }
    op_submit(b);
    op_submit(a);
    exec_dispatch(s);
    return OP_OK;
}

u32 graph_launch(struct graph_exec *x, struct stream *st, u64 tag, struct op **end)
{
    struct streams *s = x->all;
    if (end) *end = NULL;
    if (st->all != s) return OP_INVALID_HANDLE;
    lock(&s->lock);
    exec_call(s);
    u32 status = exec_permitted(s);
    if (!status) status = capture_graph(st);
    if (!status) status = capture_legacy(st);
    if (!status) status = launch(x, st, tag, end);
    unlock(&s->lock);
    return status;
}

static struct plan *plan_hold(struct graph_exec *x)
{
    lock(&x->all->lock);
    struct plan *p = x->plan;
    p->refs++;
    unlock(&x->all->lock);
    return p;
}
static void plan_let_go(struct graph_exec *x, struct plan *p)
{
    lock(&x->all->lock);
    graph_unref_plan(x->all, p);
    unlock(&x->all->lock);
}

void graph_exec_each(struct graph_exec *x, void (*each)(void *self, const struct op_spec *spec), void *self)
{
    struct plan *p = plan_hold(x);
    for (u32 i = 0; p->works && i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        if (n->region || !n->body || n->disabled) continue;
        enum op_kind kind = n->body->spec.kind;
        if (kind == OP_LAUNCH || kind == OP_COPY) each(self, &n->body->spec);
    }
    plan_let_go(x, p);
}

void graph_exec_steps(struct graph_exec *x, void (*each)(void *self, const struct graph_step *s), void *self)
{
    struct plan *p = plan_hold(x);
    u32 *from = base_need(sizeof *from * (p->edges + 1));
    for (u32 i = 0; i < p->nodes; i++) {
        const struct plan_node *n = &p->node[i];
        bool idle = n->region || !n->body || n->disabled;
        for (u32 k = 0; k < n->deps; k++) from[k] = p->edge[n->first + k].from;
        each(self, &(struct graph_step){ i, p->nodes, idle ? NULL : &n->body->spec, from, n->deps });
    }
    base_free(from);
    plan_let_go(x, p);
}

void graph_freed_locked(struct streams *s, const void *address)
{
    for (u32 i = 0; i < s->graph_lives; i++)
        if (s->graph_live[i] == address) {
            s->graph_live[i] = s->graph_live[--s->graph_lives];
            return;
        }
}

void graph_freed(struct streams *s, const void *address)
{
    lock(&s->lock);
    graph_freed_locked(s, address);
    unlock(&s->lock);
}

bool graph_lives(struct streams *s, const void *address)
{
    u32 i = 0;
    lock(&s->lock);
    while (i < s->graph_lives && s->graph_live[i] != address) i++;
    bool is = i < s->graph_lives;
    unlock(&s->lock);
    return is;
}
