/* Lists that a program can make long by calls of the driver: `lockstep run lists WHAT N`, for tests/bench/scaling. */
#include "../cases/run/api.h"
#include <pthread.h>

static const char head[] = ".version 8.0\n.target sm_80\n.address_size 64\n";
static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .entry nothing()\n{\nret;\n}\n"
    ".visible .entry put(.param .u64 x)\n{\n.reg .b64 %rd<3>;\n"
    "ld.param.u64 %rd1, [x];\ncvta.to.global.u64 %rd2, %rd1;\nst.global.u32 [%rd2], 1;\nret;\n}\n";
static void *context, *nothing, *put;
static word buffer;
static long n;

static void launch(void *f, void *stream, word to)
{
    void *arg[1] = { &to };
    OK(cuLaunchKernel, f, 1, 1, 1, 1, 1, 1, 0, stream, f == put ? arg : NULL, NULL);
}

static void settle(void) { OK(cuCtxSynchronize, 0); }

/* Nodes that nothing orders, launched three times. */
static void wide(void)
{
    void *g, *node, *x;
    OK(cuGraphCreate, &g, 0);
    for (long i = 0; i < n; i++) OK(cuGraphAddEmptyNode, &node, g, NULL, (word)0);
    OK(cuGraphInstantiateWithFlags, &x, g, (word)0);
    for (int i = 0; i < 3; i++) OK(cuGraphLaunch, x, NULL);
    settle();
    OK(cuGraphExecDestroy, x);
    OK(cuGraphDestroy, g);
}

/* Executable graphs, each launched. */
static void graphs(void)
{
    void **g = malloc((size_t)n * sizeof *g), **x = malloc((size_t)n * sizeof *x), *node;
    for (long i = 0; i < n; i++) {
        OK(cuGraphCreate, &g[i], 0);
        OK(cuGraphAddEmptyNode, &node, g[i], NULL, (word)0);
        OK(cuGraphInstantiateWithFlags, &x[i], g[i], (word)0);
    }
    for (long i = 0; i < n; i++) OK(cuGraphLaunch, x[i], NULL);
    settle();
    for (long i = 0; i < n; i++) {
        OK(cuGraphExecDestroy, x[i]);
        OK(cuGraphDestroy, g[i]);
    }
}

/* Graphs, each in the next one; n is the depth. */
static void inside(void)
{
    void *g, *outer, *node, *x;
    OK(cuGraphCreate, &g, 0);
    OK(cuGraphAddEmptyNode, &node, g, NULL, (word)0);
    for (long i = 0; i < n; i++) {
        OK(cuGraphCreate, &outer, 0);
        OK(cuGraphAddChildGraphNode, &node, outer, NULL, (word)0, g);
        OK(cuGraphDestroy, g);
        g = outer;
    }
    OK(cuGraphInstantiateWithFlags, &x, g, (word)0);
    OK(cuGraphLaunch, x, NULL);
    settle();
}

static void removed(void)
{
    void *g, **node = malloc((size_t)n * sizeof *node);
    OK(cuGraphCreate, &g, 0);
    for (long i = 0; i < n; i++) OK(cuGraphAddEmptyNode, &node[i], g, i ? &node[i - 1] : NULL, (word)(i != 0));
    for (long i = 0; i < n; i++) OK(cuGraphDestroyNode, node[i]);
    OK(cuGraphDestroy, g);
}

/* Nodes that record an event each, asked which. */
static void recorders(void)
{
    void *g, *event, **node = malloc((size_t)n * sizeof *node);
    OK(cuGraphCreate, &g, 0);
    for (long i = 0; i < n; i++) {
        OK(cuEventCreate, &event, 0);
        OK(cuGraphAddEventRecordNode, &node[i], g, NULL, (word)0, event);
    }
    for (long i = 0; i < n; i++) OK(cuGraphEventRecordNodeGetEvent, node[i], &event);
}

static void streams_of(unsigned flags, void *f)
{
    void **s = malloc((size_t)n * sizeof *s);
    for (long i = 0; i < n; i++) OK(cuStreamCreate, &s[i], flags);
    for (long i = 0; i < n; i++) launch(f, s[i], buffer);
    settle();
    for (long i = 0; i < n; i++) OK(cuStreamDestroy_v2, s[i]);
}

static void blocking(void) { streams_of(0, nothing); }
static void unordered(void) { streams_of(1, put); }

/* Functions of one module, each launched. */
static void functions(void)
{
    void *module, *f;
    char *text = malloc((size_t)n * 60 + 100), *end = text + sprintf(text, "%s", head), name[40];
    for (long i = 0; i < n; i++) end += sprintf(end, ".visible .entry k%ld()\n{\nret;\n}\n", i);
    OK(cuModuleLoadData, &module, text);
    for (long i = 0; i < n; i++) {
        sprintf(name, "k%ld", i);
        OK(cuModuleGetFunction, &f, module, name);
        launch(f, NULL, 0);
    }
    settle();
}

/* Pages of the host's memory, registered one by one. */
static void registered(void)
{
    char *m = aligned_alloc(4096, (size_t)n * 4096);
    for (long i = 0; i < n; i++) OK(cuMemHostRegister_v2, m + i * 4096, (word)4096, 0);
    for (long i = 0; i < n; i++) OK(cuMemHostUnregister, m + i * 4096);
    free(m);
}

/* Frees of what was not allocated. */
static void failures(void)
{
    for (long i = 0; i < n; i++) CU(cuMemFree_v2, (word)(8 * i + 8));
}

static pthread_barrier_t all_there;

static void *caller(void *self)
{
    void *stream;
    (void)self;
    OK(cuCtxSetCurrent, context);
    pthread_barrier_wait(&all_there);
    OK(cuStreamCreate, &stream, 0);
    launch(nothing, stream, 0);
    launch(nothing, (void *)2, 0); /* CU_STREAM_PER_THREAD */
    OK(cuStreamSynchronize, stream);
    OK(cuStreamSynchronize, (void *)2);
    OK(cuStreamDestroy_v2, stream);
    return NULL;
}

/* Threads of the host that live at the same time, with streams of their own. */
static void callers(void)
{
    pthread_t *t = malloc((size_t)n * sizeof *t);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 128 << 10);
    pthread_barrier_init(&all_there, NULL, (unsigned)n);
    for (long i = 0; i < n; i++)
        if (pthread_create(&t[i], &small, caller, NULL)) {
            printf("no thread %ld\n", i);
            exit(3);
        }
    for (long i = 0; i < n; i++) pthread_join(t[i], NULL);
}

static void nobody(void) {}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*make)(void);
    } all[] = { { "wide", wide },           { "graphs", graphs },       { "inside", inside },
                { "removed", removed },     { "recorders", recorders }, { "blocking", blocking },
                { "unordered", unordered }, { "functions", functions }, { "registered", registered },
                { "failures", failures },   { "callers", callers },     { "nobody", nobody } };
    void *module;
    n = argc > 2 ? atol(argv[2]) : 0;
    context = driver_open();
    OK(cuModuleLoadData, &module, kernels);
    OK(cuModuleGetFunction, &nothing, module, "nothing");
    OK(cuModuleGetFunction, &put, module, "put");
    OK(cuMemAlloc_v2, &buffer, (word)64);
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (argc > 2 && !strcmp(argv[1], all[i].name)) {
            all[i].make();
            return 0;
        }
    printf("lists WHAT N\n");
    return 2;
}
