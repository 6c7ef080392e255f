/* What ends while it is used: a stream that another thread waits in; with `bad` a call with that stream, memory of a
 * graph that is freed twice, registered memory that is unmapped under a copy, and the graph that a stream is captured
 * into. */
#include "api.h"
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES = 1 << 20 };
static void *context, *stream;
static int bad;
static volatile int go;
static void wait_for_go(void *self)
{
    (void)self;
    while (!go) usleep(1000);
}

static void *waiter(void *s)
{
    OK(cuCtxSetCurrent, context);
    SAY(cuStreamSynchronize, s);
    return NULL;
}
static void waited(void)
{
    pthread_t thread;
    void *s;
    OK(cuStreamCreate, &s, 1);
    go = 0;
    OK(cuLaunchHostFunc, s, wait_for_go, NULL);
    pthread_create(&thread, NULL, waiter, s);
    usleep(50000);
    SAY(cuStreamDestroy_v2, s);
    if (bad) SAY(cuStreamQuery, s);
    go = 1;
    pthread_join(thread, NULL);
}

static void graph_memory(void)
{
    struct {
        int props[22];
        void *access;
        word accesses, bytes, address;
    } x = { .props = { 1, 0, 1, 0 }, .bytes = BYTES };
    void *graph, *node, *exec;
    OK(cuGraphCreate, &graph, 0);
    OK(cuGraphAddMemAllocNode, &node, graph, NULL, (word)0, &x);
    OK(cuGraphInstantiateWithFlags, &exec, graph, (word)0);
    OK(cuGraphLaunch, exec, stream);
    SAY(cuMemFreeAsync, x.address, stream);
    if (bad) SAY(cuMemFreeAsync, x.address, stream);
    SAY(cuStreamSynchronize, stream);
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, graph);
}

static void registered(void)
{
    word device;
    void *host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(cuMemAlloc_v2, &device, (word)BYTES);
    OK(cuMemsetD8_v2, device, 1, (word)BYTES);
    OK(cuMemHostRegister_v2, host, (word)BYTES, 0);
    go = 0;
    OK(cuLaunchHostFunc, stream, wait_for_go, NULL);
    OK(cuMemcpyDtoHAsync_v2, host, device, (word)BYTES, stream);
    if (bad) munmap(host, BYTES);
    go = 1;
    SAY(cuStreamSynchronize, stream);
    if (!bad) printf("copied %d\n", ((char *)host)[BYTES - 1]);
    SAY(cuMemHostUnregister, host);
    OK(cuMemFree_v2, device);
}

/* The same where the copy has run long before, and nobody has waited. */
static void registered_late(void)
{
    word device;
    void *host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(cuMemAlloc_v2, &device, (word)BYTES);
    OK(cuMemsetD8_v2, device, 1, (word)BYTES);
    OK(cuMemHostRegister_v2, host, (word)BYTES, 0);
    OK(cuMemcpyDtoHAsync_v2, host, device, (word)BYTES, stream);
    usleep(100000);
    if (bad) munmap(host, BYTES);
    SAY(cuStreamSynchronize, stream);
    SAY(cuMemHostUnregister, host);
    munmap(host, BYTES);
    OK(cuMemFree_v2, device);
}

static void captured(void)
{
    void *graph, *made = NULL;
    OK(cuGraphCreate, &graph, 0);
    OK(cuStreamBeginCaptureToGraph, stream, graph, NULL, NULL, (word)0, 2);
    OK(cuLaunchHostFunc, stream, wait_for_go, NULL);
    if (bad) SAY(cuGraphDestroy, graph);
    SAY(cuLaunchHostFunc, stream, wait_for_go, NULL);
    SAY(cuStreamEndCapture, stream, &made);
    printf("the graph %d\n", made == graph);
    OK(cuGraphDestroy, graph);
}

/* The same of a graph inside another one, which ends with that. */
static void captured_inside(void)
{
    void *graph, *small, *node, *child, *made = NULL;
    OK(cuGraphCreate, &graph, 0);
    OK(cuGraphCreate, &small, 0);
    OK(cuGraphAddChildGraphNode, &node, graph, NULL, (word)0, small);
    OK(cuGraphChildGraphNodeGetGraph, node, &child);
    OK(cuStreamBeginCaptureToGraph, stream, child, NULL, NULL, (word)0, 2);
    if (bad) SAY(cuGraphDestroy, graph);
    SAY(cuLaunchHostFunc, stream, wait_for_go, NULL);
    SAY(cuStreamEndCapture, stream, &made);
    printf("the graph inside %d\n", made == child);
    if (!bad) OK(cuGraphDestroy, graph);
    OK(cuGraphDestroy, small);
}

int main(int argc, char **argv)
{
    bad = argc > 1 && !strcmp(argv[1], "bad");
    context = driver_open();
    OK(cuStreamCreate, &stream, 1);
    waited();
    graph_memory();
    registered();
    registered_late();
    captured();
    captured_inside();
    OK(cuStreamDestroy_v2, stream);
    return 0;
}
