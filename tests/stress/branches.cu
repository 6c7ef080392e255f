// regen: no
// branches SEED: random programs of statements, if with and without else, while and switch inside of each other, as graphs with conditional nodes, beside what the host computes for them.
//
// A program has several strands, each with memory of its own, side by side in one graph, in which statements follow each other. A graph is launched several times, from two threads with a graph each,
// and its values go on from launch to launch. Exit 0: all values are right.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <random>
#include <thread>
#include <vector>

enum { STRANDS = 3, CELLS = 4, LAUNCHES = 3, THREADS = 2, DEEP = 3 };
typedef unsigned u32;
typedef std::mt19937 Random;

#define TRY(call)                                                                  \
    do {                                                                           \
        cudaError_t tried = (call);                                                \
        if (tried != cudaSuccess) {                                                \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(tried)); \
            exit(3);                                                               \
        }                                                                          \
    } while (0)

__global__ void change(u32 *x, u32 to, u32 from, u32 by) { x[to] = x[to] * 3 + x[from] + by; }
__global__ void choose(cudaGraphConditionalHandle h, const u32 *x, u32 from, u32 of) { cudaGraphSetConditional(h, x[from] / 8 % of); }
__global__ void again(cudaGraphConditionalHandle h, u32 *left, u32 turns) // how a while goes on, and begins anew in the next launch
{
    bool more = ++*left < turns;
    if (!more) *left = 0;
    cudaGraphSetConditional(h, more);
}

struct Statement {
    enum { CHANGE, IF, WHILE, SWITCH, CLEAR } kind;
    u32 to, from, by;                          // cells; a number, the cases of a switch or the turns of a while
    bool other;                                // if: there is an else
    std::vector<std::vector<Statement>> parts; // what it chooses from
};
typedef std::vector<Statement> Part;

static Part made(Random &r, int deep)
{
    Part p;
    for (u32 n = 1 + r() % 3; n; n--) {
        Statement s = { Statement::CHANGE, r() % CELLS, r() % CELLS, r() % 100, false, {} };
        u32 kind = deep < DEEP ? r() % 8 : r() % 4;
        if (kind == 3) s.kind = Statement::CLEAR;
        if (kind >= 4) {
            s.kind = kind < 6 ? Statement::IF : kind == 6 ? Statement::WHILE : Statement::SWITCH;
            s.other = r() % 2;
            s.by = s.kind == Statement::IF ? 2 : 1 + r() % 3;
            u32 parts = s.kind == Statement::IF ? 1 + s.other : s.kind == Statement::WHILE ? 1 : 1 + r() % 3;
            for (u32 i = 0; i < parts; i++) s.parts.push_back(made(r, deep + 1));
        }
        p.push_back(s);
    }
    return p;
}

static void computed(const Part &p, u32 *x)
{
    for (const Statement &s : p) switch (s.kind) {
        case Statement::CHANGE: x[s.to] = x[s.to] * 3 + x[s.from] + s.by; break;
        case Statement::CLEAR: x[s.to] = s.by; break;
        case Statement::IF:
            if (x[s.from] / 8 % s.by) computed(s.parts[0], x);
            else if (s.other) computed(s.parts[1], x);
            break;
        case Statement::WHILE:
            for (u32 i = 0; i < s.by; i++) computed(s.parts[0], x);
            break;
        case Statement::SWITCH: { // none where the number is that of no part
            u32 at = x[s.from] / 8 % (s.by + 1);
            if (at < s.parts.size()) computed(s.parts[at], x);
        }
        }
}

struct Maker {
    cudaGraph_t top;
    u32 *x, *turns; // the strand's cells; a counter for each while
    u32 whiles;

    cudaGraphNode_t add(cudaGraph_t g, cudaGraphNode_t last, cudaGraphNodeParams *p)
    {
        cudaGraphNode_t n;
        TRY(cudaGraphAddNode(&n, g, last ? &last : NULL, NULL, last ? 1 : 0, p));
        return n;
    }
    cudaGraphNode_t kernel(cudaGraph_t g, cudaGraphNode_t last, void *f, void **args)
    {
        cudaGraphNodeParams p = { cudaGraphNodeTypeKernel };
        p.kernel.func = f;
        p.kernel.gridDim = p.kernel.blockDim = dim3(1);
        p.kernel.kernelParams = args;
        return add(g, last, &p);
    }
    void part(cudaGraph_t g, cudaGraphNode_t last, const Part &p)
    {
        for (const Statement &s : p) last = statement(g, last, s);
        ends = last;
    }
    cudaGraphNode_t ends; // the last node of the part that was made
    cudaGraphNode_t statement(cudaGraph_t g, cudaGraphNode_t last, const Statement &s)
    {
        u32 to = s.to, from = s.from, by = s.by;
        if (s.kind == Statement::CHANGE) {
            void *args[] = { &x, &to, &from, &by };
            return kernel(g, last, (void *)change, args);
        }
        if (s.kind == Statement::CLEAR) {
            cudaGraphNodeParams p = { cudaGraphNodeTypeMemset };
            p.memset.dst = x + to;
            p.memset.value = by;
            p.memset.elementSize = 4;
            p.memset.width = p.memset.height = 1;
            return add(g, last, &p);
        }
        cudaGraphConditionalHandle h;
        bool loop = s.kind == Statement::WHILE;
        TRY(cudaGraphConditionalHandleCreate(&h, top, 1, loop ? cudaGraphCondAssignDefault : 0));
        u32 of = s.kind == Statement::SWITCH ? by + 1 : by;
        void *args[] = { &h, &x, &from, &of };
        if (loop) { // its condition may be 0 from the last time: this statement may itself be in a loop
            cudaGraphNodeParams p = { cudaGraphNodeTypeMemset };
            u32 *count = turns + whiles++, one = 1000;
            void *begin[] = { &h, &count, &one }, *next[] = { &h, &count, &by };
            last = kernel(g, last, (void *)again, begin);
            p.memset.dst = count;
            p.memset.elementSize = 4;
            p.memset.width = p.memset.height = 1;
            last = add(g, last, &p);
            cudaGraph_t *body;
            last = node(g, last, h, cudaGraphCondTypeWhile, 1, &body);
            part(body[0], NULL, s.parts[0]);
            kernel(body[0], ends, (void *)again, next);
            return last;
        }
        last = kernel(g, last, (void *)choose, args);
        cudaGraph_t *body;
        last = node(g, last, h, s.kind == Statement::IF ? cudaGraphCondTypeIf : cudaGraphCondTypeSwitch, (u32)s.parts.size(), &body);
        for (u32 i = 0; i < s.parts.size(); i++) part(body[i], NULL, s.parts[i]);
        return last;
    }
    cudaGraphNode_t node(cudaGraph_t g, cudaGraphNode_t last, cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, u32 size, cudaGraph_t **body)
    {
        cudaGraphNodeParams p = { cudaGraphNodeTypeConditional };
        p.conditional.handle = h;
        p.conditional.type = type;
        p.conditional.size = size;
        cudaGraphNode_t n = add(g, last, &p);
        *body = p.conditional.phGraph_out;
        return n;
    }
};

static int wrong;

static void run(u32 seed)
{
    Random r(seed);
    u32 *x, *turns, expect[STRANDS * CELLS], got[STRANDS * CELLS];
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStream_t s;
    TRY(cudaMalloc(&x, sizeof expect));
    TRY(cudaMalloc(&turns, 4000));
    TRY(cudaMemset(turns, 0, 4000));
    TRY(cudaGraphCreate(&g, 0));
    TRY(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    for (u32 &v : expect) v = r() % 100;
    TRY(cudaMemcpy(x, expect, sizeof expect, cudaMemcpyHostToDevice));
    std::vector<Part> strands;
    Maker m = { g, NULL, turns, 0, NULL };
    for (int i = 0; i < STRANDS; i++) {
        strands.push_back(made(r, 0));
        m.x = x + i * CELLS;
        m.part(g, NULL, strands[i]);
    }
    if (m.whiles > 1000) exit(3);
    TRY(cudaGraphInstantiate(&e, g, 0));
    for (int k = 0; k < LAUNCHES; k++) {
        TRY(cudaGraphLaunch(e, s));
        for (int i = 0; i < STRANDS; i++) computed(strands[i], expect + i * CELLS);
    }
    TRY(cudaMemcpyAsync(got, x, sizeof got, cudaMemcpyDeviceToHost, s));
    TRY(cudaStreamSynchronize(s));
    for (int i = 0; i < STRANDS * CELLS; i++)
        if (got[i] != expect[i]) {
            printf("strand %d, cell %d: %u, not %u\n", i / CELLS, i % CELLS, got[i], expect[i]);
            wrong = 1;
        }
    TRY(cudaGraphExecDestroy(e));
    TRY(cudaGraphDestroy(g));
    TRY(cudaStreamDestroy(s));
    TRY(cudaFree(x));
    TRY(cudaFree(turns));
}

int main(int argc, char **argv)
{
    u32 seed = argc > 1 ? strtoul(argv[1], NULL, 0) : 1;
    std::vector<std::thread> threads;
    TRY(cudaSetDevice(0));
    for (u32 i = 0; i < THREADS; i++) threads.emplace_back(run, seed * THREADS + i);
    for (std::thread &t : threads) t.join();
    printf("seed %u: %s\n", seed, wrong ? "wrong" : "right");
    return wrong;
}
