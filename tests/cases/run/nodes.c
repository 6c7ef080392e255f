/* Graphs of the driver: every type of node added, asked for and changed; edges, clones, captures into graphs, user
 * objects, executable graphs that are updated and switched. */
#include "api.h"
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 x, .param .u32 by)\n{\n.reg .b32 %r<4>;\n.reg .b64 %rd<3>;\n"
                          "ld.param.u64 %rd1, [x];\nld.param.u32 %r1, [by];\ncvta.to.global.u64 %rd2, %rd1;\n"
                          "ld.global.u32 %r2, [%rd2];\nadd.u32 %r3, %r2, %r1;\nst.global.u32 [%rd2], %r3;\nret;\n}\n";
struct kernel {
    void *f;
    unsigned grid[3], block[3], shared;
    void **params, **extra;
};
struct copy {
    word from_x, from_y, from_z, from_lod;
    unsigned from_type;
    const void *from_host;
    word from_device;
    void *from_array, *zero0;
    word from_pitch, from_height, to_x, to_y, to_z, to_lod;
    unsigned to_type;
    void *to_host;
    word to_device;
    void *to_array, *zero1;
    word to_pitch, to_height, width, height, depth;
};
struct fill {
    word address, pitch;
    unsigned value, bytes;
    word width, height;
};
struct host {
    void (*call)(void *);
    void *self;
};
struct alloc {
    char pool[88];
    const void *access;
    word accesses, bytes, address;
};
struct edge {
    unsigned char from, to, type, rest[5];
};

static int called, ended;
static void call(void *self) { called += *(int *)self; }
static void end(void *self) { ended += *(int *)self; }
static void *context, *function;
static word at;

/* Bytes of the text of a graph. */
static long dot(void *graph, unsigned flags)
{
    char path[] = "/tmp/nodes.XXXXXX";
    close(mkstemp(path));
    OK(cuGraphDebugDotPrint, graph, path, flags);
    FILE *f = fopen(path, "r");
    fseek(f, 0, SEEK_END);
    long bytes = ftell(f);
    fclose(f);
    unlink(path);
    return bytes;
}

static int value(void)
{
    int v = -1;
    OK(cuCtxSynchronize);
    OK(cuMemcpyDtoH_v2, &v, at, 4L);
    return v;
}

static void build(void)
{
    void *g, *clone, *fill, *k[2], *h, *copy, *empty, *exec, *list[8], *from[8], *to[8], *found, *child, *inner, *object, *stream;
    unsigned by[2] = { 3, 10 }, on = 9, type;
    int one = 1, two = 2, back = 0;
    word n = 8;
    void *arg[2][2] = { { &at, &by[0] }, { &at, &by[1] } };
    struct fill f = { at, 0, 100, 4, 1, 1 }, fill_back;
    struct kernel x = { function, { 1, 1, 1 }, { 1, 1, 1 }, 0, arg[0], NULL }, y;
    struct host t = { call, &one }, host_back;
    struct copy c = { .from_type = 2, .from_device = at, .to_type = 1, .to_host = &back, .width = 4, .height = 1, .depth = 1 }, copy_back;
    OK(cuGraphCreate, &g, 0);
    OK(cuGraphAddMemsetNode, &fill, g, NULL, 0L, &f, context);
    OK(cuGraphAddKernelNode, &k[0], g, &fill, 1L, &x);
    x.params = arg[1];
    OK(cuGraphAddKernelNode, &k[1], g, k, 1L, &x);
    OK(cuGraphAddHostNode, &h, g, &k[1], 1L, &t);
    OK(cuGraphAddMemcpyNode, &copy, g, &k[1], 1L, &c, context);
    OK(cuGraphAddEmptyNode, &empty, g, NULL, 0L);
    OK(cuGraphGetNodes, g, list, &n);
    printf("%d nodes, in order %d", (int)n, list[0] == fill && list[5] == empty && !list[6]);
    n = 8;
    OK(cuGraphGetRootNodes, g, list, &n);
    printf(", %d roots", (int)n);
    OK(cuGraphGetEdges, g, NULL, NULL, &n);
    printf(", %d edges", (int)n);
    OK(cuGraphGetEdges, g, from, to, &n);
    printf(", the first %d", from[0] == fill && to[0] == k[0]);
    n = 8;
    OK(cuGraphNodeGetDependentNodes, k[1], list, &n);
    printf(", %d behind the second kernel", (int)n);
    n = 8;
    OK(cuGraphNodeGetDependencies, k[1], list, &n);
    printf(", %d before it\n", (int)n);
    printf("edge twice %d, to itself %d", CU(cuGraphAddDependencies, g, &fill, k, 1L), CU(cuGraphAddDependencies, g, k, k, 1L));
    printf(", cycle %d", CU(cuGraphAddDependencies, g, &k[1], &k[0], 1L));
    printf(", instantiated %d", CU(cuGraphInstantiateWithFlags, &exec, g, 0L));
    printf(", removed %d", CU(cuGraphRemoveDependencies, g, &k[1], &k[0], 1L));
    printf(", again %d\n", CU(cuGraphRemoveDependencies, g, &k[1], &k[0], 1L));
    struct edge early = { 1, 0, 1, { 0 } }, data[8];
    OK(cuGraphRemoveDependencies, g, &k[0], &k[1], 1L);
    printf("early edge %d, of a fill %d", CU(cuGraphAddDependencies_v2, g, &k[0], &k[1], &early, 1L),
           CU(cuGraphAddDependencies_v2, g, &fill, &empty, &early, 1L));
    n = 8;
    printf(", lossy %d", CU(cuGraphGetEdges, g, from, to, &n));
    n = 8;
    OK(cuGraphGetEdges_v2, g, from, to, data, &n);
    printf(", with data %d %d\n", data[1].type, data[1].from);
    OK(cuGraphRemoveDependencies, g, &k[0], &k[1], 1L);
    OK(cuGraphAddDependencies, g, &k[0], &k[1], 1L);

    OK(cuGraphKernelNodeGetParams, k[1], &y);
    OK(cuGraphMemsetNodeGetParams, fill, &fill_back);
    OK(cuGraphHostNodeGetParams, h, &host_back);
    OK(cuGraphMemcpyNodeGetParams, copy, &copy_back);
    printf("parameters: kernel %d by %u, fill %u, host %d, copy %d\n", y.f == function, *(unsigned *)y.params[1], fill_back.value,
           host_back.self == &one, copy_back.to_host == &back);
    printf("of another type %d\n", CU(cuGraphMemsetNodeGetParams, h, &fill_back));

    OK(cuUserObjectCreate, &object, &one, end, 1, 1);
    OK(cuGraphRetainUserObject, g, object, 1, 1);
    OK(cuGraphInstantiateWithFlags, &exec, g, 0L);
    OK(cuStreamCreate, &stream, 1);
    OK(cuGraphUpload, exec, stream);
    OK(cuGraphLaunch, exec, stream);
    printf("launched: %d", value());
    printf(", called %d, copied %d\n", called, back);
    by[0] = 5, x.params = arg[0];
    OK(cuGraphExecKernelNodeSetParams, exec, k[0], &x);
    f.value = 200;
    OK(cuGraphExecMemsetNodeSetParams, exec, fill, &f, context);
    t.self = &two;
    OK(cuGraphExecHostNodeSetParams, exec, h, &t);
    OK(cuGraphLaunch, exec, stream);
    printf("changed: %d", value());
    printf(", called %d\n", called);
    OK(cuGraphNodeSetEnabled, exec, k[1], 0);
    OK(cuGraphNodeGetEnabled, exec, k[1], &on);
    OK(cuGraphLaunch, exec, stream);
    printf("without the second kernel: %d, enabled %u, of a host node %d\n", value(), on, CU(cuGraphNodeSetEnabled, exec, h, 0));

    OK(cuGraphClone, &clone, g);
    OK(cuGraphNodeFindInClone, &found, k[0], clone);
    OK(cuGraphNodeGetType, found, &type);
    printf("clone: another node %d of type %u, not there %d\n", found != k[0], type, CU(cuGraphNodeFindInClone, &found, k[0], g));
    by[0] = 7;
    OK(cuGraphKernelNodeSetParams, found, &x);
    struct {
        unsigned result;
        void *node, *from;
    } info = { 9, NULL, NULL };
    printf("update %d", CU(cuGraphExecUpdate_v2, exec, clone, &info));
    OK(cuGraphLaunch, exec, stream);
    printf(" result %u: %d\n", info.result, value());
    OK(cuGraphDestroyNode, found);
    printf("fewer nodes: update %d", CU(cuGraphExecUpdate_v2, exec, clone, &info));
    printf(" result %u\n", info.result);

    OK(cuGraphAddChildGraphNode, &child, clone, NULL, 0L, g);
    OK(cuGraphChildGraphNodeGetGraph, child, &inner);
    n = 0;
    OK(cuGraphGetNodes, inner, NULL, &n);
    printf("child: %d nodes, not to be destroyed %d\n", (int)n, CU(cuGraphDestroy, inner));
    printf("dot: %d, more of it when verbose: %d\n", CU(cuGraphDebugDotPrint, clone, "/dev/null", 0),
           dot(clone, 0) < dot(clone, 1));
    OK(cuGraphDestroy, g);
    printf("objects ended: %d", ended);
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, clone);
    OK(cuCtxSynchronize);
    printf(", then %d\n", ended);
    OK(cuStreamDestroy_v2, stream);
}

static void memory(void)
{
    void *g, *a, *k, *f, *exec, *b, *r, *w, *event[2], *got;
    struct alloc x = { .bytes = 1000 }, y;
    word used[4], n = 0;
    unsigned by = 1;
    OK(cuGraphCreate, &g, 0);
    OK(cuGraphAddMemAllocNode, &a, g, NULL, 0L, &x);
    struct fill z = { x.address, 0, 5, 4, 10, 1 };
    OK(cuGraphAddMemsetNode, &k, g, &a, 1L, &z, context);
    OK(cuGraphAddMemFreeNode, &f, g, &k, 1L, x.address);
    OK(cuGraphMemAllocNodeGetParams, a, &y);
    OK(cuGraphMemFreeNodeGetParams, f, &n);
    OK(cuDeviceGetGraphMemAttribute, 0, 0, &used[0]);
    printf("allocation: %d bytes, the same %d %d, used %d\n", (int)y.bytes, y.address == x.address, n == x.address, used[0] >= 1000);
    OK(cuEventCreate, &event[0], 0);
    OK(cuEventCreate, &event[1], 0);
    OK(cuGraphAddEventRecordNode, &r, g, &f, 1L, event[0]);
    OK(cuGraphAddEventWaitNode, &w, g, &r, 1L, event[0]);
    OK(cuGraphEventRecordNodeSetEvent, r, event[1]);
    OK(cuGraphEventRecordNodeGetEvent, r, &got);
    printf("event set %d", got == event[1]);
    OK(cuGraphEventWaitNodeGetEvent, w, &got);
    printf(", of the wait %d\n", got == event[0]);
    struct {
        unsigned op, pad;
        word address, value;
        unsigned flags, pad2;
        word alias, more;
    } op[2] = { { 2, 0, at, 77 }, { 1, 0, at, 77, 1 } };
    struct {
        void *context;
        unsigned count;
        void *op;
        unsigned flags;
    } batch = { context, 2, op, 0 };
    OK(cuGraphAddBatchMemOpNode, &b, g, &w, 1L, &batch);
    batch.count = 0;
    OK(cuGraphBatchMemOpNodeGetParams, b, &batch);
    OK(cuGraphNodeGetType, b, &by);
    OK(cuGraphInstantiateWithFlags, &exec, g, 0L);
    OK(cuGraphLaunch, exec, NULL);
    printf("values: %d, node of type %u with %u\n", value(), by, batch.count);
    struct {
        unsigned type, zero[3];
        word room[29], more;
    } any = { 13 };
    printf("conditional %d\n", CU(cuGraphAddNode_v2, &got, g, NULL, NULL, 0L, &any));
    any.type = 5;
    printf("any type %d\n", CU(cuGraphAddNode_v2, &got, g, &b, NULL, 1L, &any));
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, g);
    OK(cuDeviceGetGraphMemAttribute, 0, 0, &used[0]);
    OK(cuDeviceGraphMemTrim, 0);
    printf("used at the end %d\n", (int)used[0]);
    OK(cuEventDestroy_v2, event[0]);
    OK(cuEventDestroy_v2, event[1]);
}

static void capturing(void)
{
    void *stream, *g, *now, *root, *exec, *nodes[4];
    void **deps;
    unsigned status = 9, by = 4, mode = 2;
    word id = 99, n;
    void *arg[] = { &at, &by };
    struct kernel x;
    struct copy c;
    int back = 0;
    OK(cuStreamCreate, &stream, 1);
    OK(cuStreamGetCaptureInfo_v2, stream, &status, &id, &now, &deps, &n);
    printf("not capturing: %u, %d", status, (int)id);
    printf(", dependencies %d\n", CU(cuStreamUpdateCaptureDependencies, stream, NULL, 0L, 1));
    OK(cuGraphCreate, &g, 0);
    OK(cuGraphAddEmptyNode, &root, g, NULL, 0L);
    OK(cuStreamBeginCaptureToGraph, stream, g, &root, NULL, 1L, 0);
    OK(cuStreamGetCaptureInfo_v2, stream, &status, &id, &now, &deps, &n);
    printf("capturing: %u, the graph %d, behind its node %d\n", status, now == g, n == 1 && deps[0] == root);
    OK(cuLaunchKernel, function, 1, 1, 1, 1, 1, 1, 0, stream, arg, NULL);
    OK(cuMemcpyDtoHAsync_v2, &back, at, 4L, stream);
    OK(cuStreamGetCaptureInfo_v2, stream, &status, &id, &now, &deps, &n);
    void *last = deps[0];
    OK(cuStreamUpdateCaptureDependencies, stream, &root, 1L, 1);
    OK(cuStreamGetCaptureInfo_v2, stream, &status, &id, &now, &deps, &n);
    printf("set to %d", n == 1 && deps[0] == root);
    OK(cuStreamUpdateCaptureDependencies, stream, &last, 1L, 0);
    OK(cuStreamGetCaptureInfo_v2, stream, &status, &id, &now, &deps, &n);
    printf(", then %d\n", (int)n);
    OK(cuThreadExchangeStreamCaptureMode, &mode);
    printf("mode was %u", mode);
    OK(cuThreadExchangeStreamCaptureMode, &mode);
    printf(", %u\n", mode);
    OK(cuStreamEndCapture, stream, &now);
    n = 4;
    OK(cuGraphGetNodes, g, nodes, &n);
    printf("captured: the graph %d, %d nodes", now == g, (int)n);
    OK(cuGraphKernelNodeGetParams, nodes[1], &x);
    OK(cuGraphMemcpyNodeGetParams, nodes[2], &c);
    printf(", the kernel %d by %u, the copy %d\n", x.f == function, *(unsigned *)x.params[1], c.to_host == &back && c.width == 4);
    OK(cuMemsetD32_v2, at, 30, 1L);
    OK(cuGraphInstantiateWithFlags, &exec, g, 0L);
    OK(cuGraphLaunch, exec, stream);
    printf("ran: %d", value());
    printf(" %d\n", back);
    OK(cuGraphExecDestroy, exec);
    OK(cuGraphDestroy, g);
    OK(cuStreamBeginCapture_v2, stream, 0);
    OK(cuStreamGetCaptureInfo_v2, stream, &status, &id, &now, NULL, NULL);
    printf("another id %d, a graph %d\n", id > 1, now != NULL);
    OK(cuStreamDestroy_v2, stream);
}

int main(void)
{
    void *module;
    context = driver_open();
    OK(cuModuleLoadData, &module, ptx);
    OK(cuModuleGetFunction, &function, module, "add");
    OK(cuMemAlloc_v2, &at, 4L);
    OK(cuMemsetD32_v2, at, 0, 1L);
    build();
    memory();
    capturing();
    OK(cuMemFree_v2, at);
    OK(cuModuleUnload, module);
    return 0;
}
