/* A graph as text, for Graphviz, as cuGraphDebugDotPrint writes it. */
#include "driver/cu_check.h"
#include "driver_graphs/cu_graph.h"
#include <inttypes.h>

static const char *const node_name[] = { "KERNEL",    "MEMCPY",   "MEMSET", "HOST",       "GRAPH",
                                         "EMPTY",     "EVENT",    "EVENT",  "EXT_SEMAS",  "EXT_SEMAS",
                                         "MEM_ALLOC", "MEM_FREE", "MEM_OP", "CONDITIONAL" };

enum dot_flags {                       /* CU_GRAPH_DEBUG_DOT_FLAGS_: what is said of each node beside its kind */
                 DOT_VERBOSE = 1 << 0, /* all of it */
                 DOT_KERNELS = 1 << 2,
                 DOT_COPIES = 1 << 3,
                 DOT_FILLS = 1 << 4,
                 DOT_HANDLES = 1 << 10
};

/* The address of one side of a copy. */
static u64 side_of(const struct dev_end *x) { return x->host ? (uintptr_t)x->host : x->address; }

static void node_add(struct text *t, u32 graph, u32 i, struct graph_node *n, u32 flags)
{
    const struct cu_node *x = cu_node_of(n);
    if (!x) return;
    if (flags & DOT_VERBOSE) flags = UINT32_MAX;
    text_add(t, "\"graph_%u_node_%u\"[style=\"solid\" shape=\"%s\" label=\"%u\n%s\n", graph, i,
             x->type == CU_NODE_KERNEL ? "octagon" : "rectangle", i, node_name[x->type]);
    const struct dev_task *task = dev_node_task(n);
    if (x->type == CU_NODE_KERNEL) {
        const struct dev_launch *l = &task->launch;
        char plain[200];
        name_plain(l->kernel->name, plain, sizeof plain);
        text_add(t, "%s\\<\\<\\<(%u,%u,%u),(%u,%u,%u),%u\\>\\>\\>\n", plain, l->grid[0], l->grid[1], l->grid[2],
                 l->block[0], l->block[1], l->block[2], l->shared_bytes);
        if (flags & DOT_KERNELS)
            text_add(t, "%.*s, %" PRIu64 " bytes of parameters%s\n", (int)l->kernel->name.n, l->kernel->name.p,
                     l->kernel->param_bytes, l->cooperative ? ", cooperative" : "");
    }
    if (x->type == CU_NODE_COPY) {
        const struct dev_copy *c = &task->copy;
        text_add(t, "%" PRIu64 " x %" PRIu64 " x %" PRIu64 " bytes\n", c->width, c->rows, c->slices);
        if (flags & DOT_COPIES)
            text_add(t, "to 0x%" PRIx64 ", from 0x%" PRIx64 "\n", side_of(&c->to), side_of(&c->from));
    }
    if (x->type == CU_NODE_FILL) {
        text_add(t, "%u, %" PRIu64 " x %" PRIu64 "\n", task->fill.value, task->fill.width, task->fill.rows);
        if (flags & DOT_FILLS) text_add(t, "at 0x%" PRIx64 "\n", task->fill.address);
    }
    if (flags & DOT_HANDLES) text_add(t, "node %p\n", (const void *)n);
    if (x->type == CU_NODE_WAIT || x->type == CU_NODE_RECORD)
        text_add(t, "%s\n", x->type == CU_NODE_WAIT ? "WAIT" : "RECORD");
    text_add(t, "\"];\n\n");
}

static void graph_add_text(struct text *t, const struct graph *g, u32 flags, u32 *number)
{
    u32 mine = ++*number;
    text_add(t, "subgraph cluster_%u {\nlabel=\"graph_%u\" graph[style=\"dashed\"];\n", mine, mine);
    for (u32 i = 0; i < graph_node_count(g); i++) {
        struct graph_node *n = graph_node_at(g, i);
        node_add(t, mine, i, n, flags);
        if (graph_node_child(n)) graph_add_text(t, graph_node_child(n), flags, number);
        for (u32 k = 0; graph_node_body(n, k); k++) graph_add_text(t, graph_node_body(n, k), flags, number);
    }
    for (u32 i = 0; i < graph_node_count(g); i++) {
        u32 n = graph_node_deps(graph_node_at(g, i), NULL, 0);
        struct graph_dep *d = base_need((n + 1) * sizeof *d);
        graph_node_deps(graph_node_at(g, i), d, n);
        for (u32 k = 0; k < n; k++) {
            u32 from = 0;
            while (graph_node_at(g, from) != d[k].from) from++;
            text_add(t, "\"graph_%u_node_%u\" -> \"graph_%u_node_%u\"%s;\n", mine, from, mine, i,
                     d[k].kind == OP_EDGE_PROGRAMMATIC ? "[style=\"dashed\"]" : "");
        }
        base_free(d);
    }
    text_add(t, "}\n");
}

CU_DEFINE(cuGraphDebugDotPrint, struct cu_graph *, g, const char *, path, unsigned, flags)
{
    struct text t = { 0 };
    struct error e = { 0 };
    u32 number = 0;
    text_add(&t, "digraph dot {\n");
    graph_add_text(&t, cu_engine_graph(g), flags, &number);
    text_add(&t, "}\n");
    bool ok = file_write(path, t.p, t.n, &e);
    text_free(&t);
    return ok ? CU_OK : CU_OPERATING_SYSTEM;
}
