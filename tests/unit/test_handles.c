/* Handles of the driver interface that one thread destroys while others use them: a mistake of the program, after which
 * calls say that there is no such handle, and what the handle named ends with the last call that uses it. For
 * ThreadSanitizer (`make tsan`) and AddressSanitizer, which know whether anything was used after its end. The calls go
 * through the gate, as a program's do. */
#include "unit.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

typedef void *handle;
typedef uint64_t u64;
#define DOORS(X)                                                                                                     \
    X(cuInit, unsigned)                                                                                              \
    X(cuDevicePrimaryCtxRetain, handle *, int)                                                                       \
    X(cuDevicePrimaryCtxReset_v2, int)                                                                               \
    X(cuCtxSetCurrent, handle)                                                                                       \
    X(cuCtxSynchronize, void)                                                                                        \
    X(cuCtxCreate_v2, handle *, unsigned, int)                                                                       \
    X(cuCtxDestroy_v2, handle)                                                                                       \
    X(cuCtxPopCurrent_v2, handle *)                                                                                  \
    X(cuCtxGetId, handle, u64 *)                                                                                     \
    X(cuMemAlloc_v2, u64 *, size_t)                                                                                  \
    X(cuMemFree_v2, u64)                                                                                             \
    X(cuMemsetD8_v2, u64, unsigned char, size_t)                                                                     \
    X(cuMemFreeAsync, u64, handle)                                                                                   \
    X(cuModuleLoadData, handle *, const void *)                                                                      \
    X(cuModuleUnload, handle)                                                                                        \
    X(cuModuleGetFunction, handle *, handle, const char *)                                                           \
    X(cuLibraryLoadData, handle *, const void *, int *, void **, unsigned, int *, void **, unsigned)                 \
    X(cuLibraryUnload, handle)                                                                                       \
    X(cuLibraryGetKernel, handle *, handle, const char *)                                                            \
    X(cuLibraryGetModule, handle *, handle)                                                                          \
    X(cuLaunchKernel, handle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, handle, void **, \
      void **)                                                                                                       \
    X(cuLaunchHostFunc, handle, void (*)(void *), void *)                                                            \
    X(cuStreamCreate, handle *, unsigned)                                                                            \
    X(cuStreamDestroy_v2, handle)                                                                                    \
    X(cuStreamQuery, handle)                                                                                         \
    X(cuStreamSynchronize, handle)                                                                                   \
    X(cuStreamGetFlags, handle, unsigned *)                                                                          \
    X(cuStreamWaitEvent, handle, handle, unsigned)                                                                   \
    X(cuStreamBeginCaptureToGraph, handle, handle, handle *, const void *, size_t, unsigned)                         \
    X(cuStreamEndCapture, handle, handle *)                                                                          \
    X(cuEventCreate, handle *, unsigned)                                                                             \
    X(cuEventDestroy_v2, handle)                                                                                     \
    X(cuEventRecord, handle, handle)                                                                                 \
    X(cuEventQuery, handle)                                                                                          \
    X(cuEventSynchronize, handle)                                                                                    \
    X(cuGraphCreate, handle *, unsigned)                                                                             \
    X(cuGraphDestroy, handle)                                                                                        \
    X(cuGraphAddEmptyNode, handle *, handle, const handle *, size_t)                                                 \
    X(cuGraphDestroyNode, handle)                                                                                    \
    X(cuGraphNodeGetType, handle, unsigned *)                                                                        \
    X(cuGraphNodeGetDependentNodes, handle, handle *, size_t *)                                                      \
    X(cuGraphGetNodes, handle, handle *, size_t *)                                                                   \
    X(cuGraphInstantiateWithFlags, handle *, handle, u64)                                                            \
    X(cuGraphExecDestroy, handle)                                                                                    \
    X(cuGraphLaunch, handle, handle)                                                                                 \
    X(cuGraphExecUpdate_v2, handle, handle, void *)                                                                  \
    X(cuGraphAddMemAllocNode, handle *, handle, const handle *, size_t, void *)                                      \
    X(cuGraphRetainUserObject, handle, handle, unsigned, unsigned)                                                   \
    X(cuUserObjectCreate, handle *, void *, void (*)(void *), unsigned, unsigned)                                    \
    X(cuUserObjectRetain, handle, unsigned)                                                                          \
    X(cuUserObjectRelease, handle, unsigned)                                                                         \
    X(cuMemPoolCreate, handle *, const void *)                                                                       \
    X(cuMemPoolDestroy, handle)                                                                                      \
    X(cuMemPoolTrimTo, handle, size_t)                                                                               \
    X(cuMemAllocFromPoolAsync, u64 *, size_t, handle, handle)                                                        \
    X(cuArrayCreate_v2, handle *, const void *)                                                                      \
    X(cuArrayDestroy, handle)                                                                                        \
    X(cuArrayGetDescriptor_v2, void *, handle)                                                                       \
    X(cuMipmappedArrayCreate, handle *, const void *, unsigned)                                                      \
    X(cuMipmappedArrayDestroy, handle)                                                                               \
    X(cuMipmappedArrayGetLevel, handle *, handle, unsigned)                                                          \
    X(cuTexObjectCreate, u64 *, const void *, const void *, const void *)                                            \
    X(cuTexObjectDestroy, u64)                                                                                       \
    X(cuTexObjectGetResourceDesc, void *, u64)                                                                       \
    X(cuLinkCreate_v2, unsigned, int *, void **, handle *)                                                           \
    X(cuLinkAddData_v2, handle, int, void *, size_t, const char *, unsigned, int *, void **)                         \
    X(cuLinkComplete, handle, void **, size_t *)                                                                     \
    X(cuLinkDestroy, handle)                                                                                         \
    X(cuMemCreate, handle *, size_t, const void *, u64)                                                              \
    X(cuMemRelease, handle)                                                                                          \
    X(cuMemGetAllocationPropertiesFromHandle, void *, handle)
#define DECLARE(name, ...)          \
    int lkdoor_##name(__VA_ARGS__); \
    static int (*const name)(__VA_ARGS__) = lkdoor_##name;
DOORS(DECLARE)

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry e()\n{\n ret;\n}\n";
static handle context, empty, other; /* `empty` a kernel, `other` a graph that lives */
static u64 texture_array;            /* an array that lives */

static void launch(handle f, handle s) { cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL); }

/* ---- one of each kind ---- */

static handle stream_new(void)
{
    handle s = NULL;
    UNIT_EQ(cuStreamCreate(&s, 1), 0);
    return s;
}
static void stream_use(handle s)
{
    unsigned flags;
    launch(empty, s);
    cuStreamGetFlags(s, &flags);
    cuStreamQuery(s);
    cuStreamSynchronize(s);
}
static void stream_end(handle s) { cuStreamDestroy_v2(s); }

static handle event_new(void)
{
    handle e = NULL;
    UNIT_EQ(cuEventCreate(&e, 0), 0);
    return e;
}
static void event_use(handle e)
{
    cuStreamWaitEvent(NULL, e, 0);
    cuEventQuery(e);
    cuEventSynchronize(e);
}
static void event_end(handle e)
{
    cuEventRecord(e, NULL);
    cuEventDestroy_v2(e);
}

static handle module_new(void)
{
    handle m = NULL;
    UNIT_EQ(cuModuleLoadData(&m, ptx), 0);
    return m;
}
static void module_use(handle m)
{
    handle f;
    if (!cuModuleGetFunction(&f, m, "e")) launch(f, NULL);
}
static void module_end(handle m) { cuModuleUnload(m); }

static handle library_new(void)
{
    handle l = NULL;
    UNIT_EQ(cuLibraryLoadData(&l, ptx, NULL, NULL, 0, NULL, NULL, 0), 0);
    return l;
}
static void library_use(handle l)
{
    handle k, m, f;
    if (!cuLibraryGetKernel(&k, l, "e")) launch(k, NULL);
    if (!cuLibraryGetModule(&m, l) && !cuModuleGetFunction(&f, m, "e")) launch(f, NULL);
}
static void library_end(handle l) { cuLibraryUnload(l); }

static handle graph_new(void)
{
    handle g = NULL, n;
    UNIT_EQ(cuGraphCreate(&g, 0), 0);
    UNIT_EQ(cuGraphAddEmptyNode(&n, g, NULL, 0), 0);
    return g;
}
static void graph_use(handle g)
{
    handle n, x, list[4];
    unsigned type;
    size_t count = 4;
    if (!cuGraphAddEmptyNode(&n, g, NULL, 0)) cuGraphNodeGetType(n, &type);
    cuGraphGetNodes(g, list, &count);
    if (!cuGraphInstantiateWithFlags(&x, g, 0)) cuGraphExecDestroy(x);
}
static void graph_end(handle g) { cuGraphDestroy(g); }

static handle node_new(void)
{
    handle n = NULL;
    UNIT_EQ(cuGraphAddEmptyNode(&n, other, NULL, 0), 0);
    return n;
}
static void node_use(handle n)
{
    unsigned type;
    handle list[4], behind;
    size_t count = 4;
    cuGraphNodeGetType(n, &type);
    if (!cuGraphAddEmptyNode(&behind, other, &n, 1)) {
        cuGraphNodeGetDependentNodes(n, list, &count);
        cuGraphDestroyNode(behind);
    }
}
static void node_end(handle n) { cuGraphDestroyNode(n); }

static handle exec_new(void)
{
    handle g = graph_new(), x = NULL;
    UNIT_EQ(cuGraphInstantiateWithFlags(&x, g, 0), 0);
    cuGraphDestroy(g);
    return x;
}
static void exec_use(handle x)
{
    u64 result[4];
    cuGraphLaunch(x, NULL);
    cuGraphExecUpdate_v2(x, other, result);
}
static void exec_end(handle x) { cuGraphExecDestroy(x); }

static handle pool_new(void)
{
    const int props[22] = { 1, 0, 1, 0 }; /* pinned memory of device 0 */
    handle p = NULL;
    UNIT_EQ(cuMemPoolCreate(&p, props), 0);
    return p;
}
static void pool_use(handle p)
{
    u64 at;
    if (!cuMemAllocFromPoolAsync(&at, 64, p, NULL)) cuMemFreeAsync(at, NULL);
    cuMemPoolTrimTo(p, 0);
}
static void pool_end(handle p) { cuMemPoolDestroy(p); }

struct shape_2d {
    size_t width, height;
    int format;
    unsigned channels;
};
struct shape_3d {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
static handle array_new(void)
{
    const struct shape_2d shape = { 8, 8, 3, 1 };
    handle a = NULL;
    UNIT_EQ(cuArrayCreate_v2(&a, &shape), 0);
    return a;
}
static void array_use(handle a)
{
    struct shape_2d shape;
    cuArrayGetDescriptor_v2(&shape, a);
}
static void array_end(handle a) { cuArrayDestroy(a); }

static handle levels_new(void)
{
    const struct shape_3d shape = { 8, 8, 0, 3, 1, 0 };
    handle m = NULL;
    UNIT_EQ(cuMipmappedArrayCreate(&m, &shape, 2), 0);
    return m;
}
static void levels_use(handle m)
{
    handle a;
    if (!cuMipmappedArrayGetLevel(&a, m, 1)) array_use(a);
}
static void levels_end(handle m) { cuMipmappedArrayDestroy(m); }

static handle texture_new(void)
{
    u64 resource[40] = { 0, texture_array }, sampler[32] = { 0 }, t = 0;
    UNIT_EQ(cuTexObjectCreate(&t, resource, sampler, NULL), 0);
    return (handle)(uintptr_t)t;
}
static void texture_use(handle t)
{
    u64 resource[40];
    cuTexObjectGetResourceDesc(resource, (uintptr_t)t);
}
static void texture_end(handle t) { cuTexObjectDestroy((uintptr_t)t); }

static handle link_new(void)
{
    handle l = NULL;
    UNIT_EQ(cuLinkCreate_v2(0, NULL, NULL, &l), 0);
    return l;
}
static void link_use(handle l)
{
    void *code;
    size_t bytes;
    cuLinkAddData_v2(l, 1, (void *)(uintptr_t)ptx, sizeof ptx, "text", 0, NULL, NULL);
    cuLinkComplete(l, &code, &bytes);
}
static void link_end(handle l) { cuLinkDestroy(l); }

static atomic_uint objects; /* that are alive */
static void object_gone(void *self)
{
    (void)self;
    objects--;
}
static handle object_new(void)
{
    handle o = NULL;
    objects++;
    UNIT_EQ(cuUserObjectCreate(&o, NULL, object_gone, 1, 1), 0);
    return o;
}
static void object_use(handle o)
{
    if (!cuUserObjectRetain(o, 1)) UNIT_EQ(cuUserObjectRelease(o, 1), 0);
}
static void object_end(handle o) { cuUserObjectRelease(o, 1); }

static handle context_new(void)
{
    handle c = NULL, popped;
    UNIT_EQ(cuCtxCreate_v2(&c, 0, 0), 0);
    cuCtxPopCurrent_v2(&popped);
    return c;
}
static void context_use(handle c)
{
    u64 id;
    cuCtxGetId(c, &id);
}
static void context_end(handle c) { cuCtxDestroy_v2(c); }

static handle physical_new(void)
{
    const int props[8] = { 1, 0, 1, 0 };
    handle p = NULL;
    UNIT_EQ(cuMemCreate(&p, 2 << 20, props, 0), 0);
    return p;
}
static void physical_use(handle p)
{
    int props[8];
    cuMemGetAllocationPropertiesFromHandle(props, p);
}
static void physical_end(handle p) { cuMemRelease(p); }

static const struct kind {
    const char *name;
    handle (*make)(void);
    void (*use)(handle h);
    void (*end)(handle h);
    unsigned rounds;
} kinds[] = {
    { "stream", stream_new, stream_use, stream_end, 400 },
    { "event", event_new, event_use, event_end, 400 },
    { "module", module_new, module_use, module_end, 100 },
    { "library", library_new, library_use, library_end, 100 },
    { "graph", graph_new, graph_use, graph_end, 400 },
    { "node", node_new, node_use, node_end, 400 },
    { "exec", exec_new, exec_use, exec_end, 400 },
    { "pool", pool_new, pool_use, pool_end, 400 },
    { "array", array_new, array_use, array_end, 200 },
    { "levels", levels_new, levels_use, levels_end, 200 },
    { "texture", texture_new, texture_use, texture_end, 400 },
    { "link", link_new, link_use, link_end, 100 },
    { "object", object_new, object_use, object_end, 400 },
    { "context", context_new, context_use, context_end, 100 },
    { "physical", physical_new, physical_use, physical_end, 400 },
};

/* ---- used and destroyed at once ---- */

enum { SLOTS = 4, USERS = 2 };
static _Atomic(handle) slots[SLOTS];
static atomic_bool over;

static void *user(void *self)
{
    const struct kind *k = self;
    cuCtxSetCurrent(context);
    for (unsigned i = 0; !over; i++) {
        handle h = slots[i % SLOTS];
        if (h) k->use(h);
    }
    return NULL;
}

static void race(const struct kind *k)
{
    pthread_t thread[USERS];
    over = false;
    for (unsigned i = 0; i < SLOTS; i++) slots[i] = k->make();
    for (unsigned i = 0; i < USERS; i++) pthread_create(&thread[i], NULL, user, (void *)(uintptr_t)k);
    unsigned rounds = getenv("EMULATED") ? k->rounds / 10 + 1 : k->rounds; /* tests/other-arch */
    for (unsigned i = 0; i < rounds; i++) {
        k->end(slots[i % SLOTS]); /* users have it still */
        slots[i % SLOTS] = k->make();
    }
    over = true;
    for (unsigned i = 0; i < USERS; i++) pthread_join(thread[i], NULL);
    for (unsigned i = 0; i < SLOTS; i++) k->end(slots[i]);
    UNIT_EQ(cuCtxSynchronize(), 0);
    UNIT_EQ(objects, 0);
}

/* A device that is reset while others launch, copy and make handles there: their calls succeed or fail, and later ones
 * work again. */
static handle reset_library;
static void *reset_user(void *self)
{
    (void)self;
    while (!over) {
        handle k, s = NULL, e = NULL, c;
        u64 at = 0;
        cuDevicePrimaryCtxRetain(&c, 0);
        cuCtxSetCurrent(c);
        if (!cuLibraryGetKernel(&k, reset_library, "e")) launch(k, NULL);
        launch(empty, NULL);
        if (!cuStreamCreate(&s, 1)) launch(k, s);
        if (!cuEventCreate(&e, 0)) cuEventRecord(e, s);
        if (!cuMemAlloc_v2(&at, 4096)) cuMemsetD8_v2(at, 1, 4096);
        if (at) cuMemFree_v2(at);
        if (e) cuEventDestroy_v2(e);
        if (s) cuStreamDestroy_v2(s);
    }
    return NULL;
}

static void reset(void)
{
    pthread_t thread[USERS];
    handle m, f, k, c;
    over = false;
    reset_library = library_new();
    for (unsigned i = 0; i < USERS; i++) pthread_create(&thread[i], NULL, reset_user, NULL);
    for (unsigned i = 0; i < 100; i++) {
        usleep(500);
        UNIT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
    }
    over = true;
    for (unsigned i = 0; i < USERS; i++) pthread_join(thread[i], NULL);
    UNIT_EQ(cuDevicePrimaryCtxReset_v2(0), 0);
    UNIT_EQ(cuDevicePrimaryCtxRetain(&c, 0), 0);
    UNIT_EQ(cuCtxSetCurrent(c), 0);
    UNIT_EQ(cuLibraryGetKernel(&k, reset_library, "e"), 0);
    UNIT_EQ(cuLaunchKernel(k, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    UNIT_EQ(cuModuleLoadData(&m, ptx), 0);
    UNIT_EQ(cuModuleGetFunction(&f, m, "e"), 0);
    UNIT_EQ(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), 0);
    UNIT_EQ(cuCtxSynchronize(), 0);
    library_end(reset_library);
}

/* ---- what calls answer ---- */

static atomic_bool let;
static void wait_for_let(void *self)
{
    (void)self;
    while (!let) usleep(100);
}
static void *waiter(void *s)
{
    cuCtxSetCurrent(context);
    UNIT_EQ(cuStreamSynchronize(s), 0);
    return NULL;
}

/* A stream that another thread waits in: the handle is gone at once, and the thread waits for its work. */
static void waited(void)
{
    pthread_t thread;
    handle s = stream_new();
    let = false;
    UNIT_EQ(cuLaunchHostFunc(s, wait_for_let, NULL), 0);
    pthread_create(&thread, NULL, waiter, s);
    usleep(20000);
    UNIT_EQ(cuStreamDestroy_v2(s), 0);
    UNIT_EQ(cuStreamQuery(s), 400);
    UNIT_EQ(cuStreamDestroy_v2(s), 400);
    let = true;
    pthread_join(thread, NULL);
}

/* The graph that a stream is captured into, and a node that the next one would follow. */
static void captured(void)
{
    handle s = stream_new(), g = graph_new(), n = NULL, out = NULL, list[4];
    size_t count = 4;
    UNIT_EQ(cuStreamBeginCaptureToGraph(s, g, NULL, NULL, 0, 2), 0);
    launch(empty, s);
    UNIT_EQ(cuGraphDestroy(g), 401);
    UNIT_EQ(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL), 0);
    UNIT_EQ(cuStreamEndCapture(s, &out), 0);
    UNIT(out == g);
    UNIT_EQ(cuGraphDestroy(g), 0);
    UNIT_EQ(cuStreamQuery(s), 0);
    g = graph_new();
    UNIT_EQ(cuGraphAddEmptyNode(&n, g, NULL, 0), 0);
    UNIT_EQ(cuStreamBeginCaptureToGraph(s, g, &n, NULL, 1, 2), 0);
    UNIT_EQ(cuGraphDestroyNode(n), 0);
    UNIT_EQ(cuLaunchKernel(empty, 1, 1, 1, 1, 1, 1, 0, s, NULL, NULL), 0);
    UNIT_EQ(cuStreamEndCapture(s, &out), 0);
    UNIT(out == g);
    UNIT_EQ(cuGraphGetNodes(g, list, &count), 0);
    UNIT_EQ(count, 2);
    UNIT_EQ(cuGraphDestroy(g), 0);
    UNIT_EQ(cuStreamDestroy_v2(s), 0);
}

struct alloc_node {
    int props[22];
    const void *access;
    size_t accesses, bytes;
    u64 address;
};

/* Memory of an allocation node: before a launch, once, and once more. */
static void graph_memory(void)
{
    struct alloc_node a = { .props = { 1, 0, 1, 0 }, .bytes = 4096 };
    handle g = NULL, n, x = NULL, s = stream_new();
    UNIT_EQ(cuGraphCreate(&g, 0), 0);
    UNIT_EQ(cuGraphAddMemAllocNode(&n, g, NULL, 0, &a), 0);
    UNIT_EQ(cuGraphInstantiateWithFlags(&x, g, 0), 0);
    UNIT_EQ(cuMemFreeAsync(a.address, s), 1);
    UNIT_EQ(cuGraphLaunch(x, s), 0);
    UNIT_EQ(cuMemFreeAsync(a.address + 16, s), 1);
    UNIT_EQ(cuMemFreeAsync(a.address, s), 0);
    UNIT_EQ(cuMemFreeAsync(a.address, s), 1);
    UNIT_EQ(cuStreamSynchronize(s), 0);
    UNIT_EQ(cuGraphLaunch(x, s), 0);
    UNIT_EQ(cuMemFreeAsync(a.address, s), 0);
    UNIT_EQ(cuStreamDestroy_v2(s), 0);
    UNIT_EQ(cuGraphExecDestroy(x), 0);
    UNIT_EQ(cuGraphDestroy(g), 0);
}

/* A program cannot give up what it has given to a graph. */
static void owned(void)
{
    handle g = graph_new(), o = object_new();
    UNIT_EQ(cuGraphRetainUserObject(g, o, 1, 1), 0);
    UNIT_EQ(cuUserObjectRelease(o, 1), 1);
    UNIT_EQ(objects, 1);
    UNIT_EQ(cuGraphDestroy(g), 0);
    UNIT_EQ(objects, 0);
    UNIT_EQ(cuUserObjectRetain(o, 1), 1);
}

int main(void)
{
    handle m, a = NULL;
    UNIT_EQ(cuInit(0), 0);
    UNIT_EQ(cuDevicePrimaryCtxRetain(&context, 0), 0);
    UNIT_EQ(cuCtxSetCurrent(context), 0);
    UNIT_EQ(cuModuleLoadData(&m, ptx), 0);
    UNIT_EQ(cuModuleGetFunction(&empty, m, "e"), 0);
    other = graph_new();
    a = array_new();
    texture_array = (uintptr_t)a;
    waited();
    captured();
    graph_memory();
    owned();
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++) race(&kinds[i]);
    reset();
    return unit_done();
}
