// regen: no
// Programs with graphs, and with several threads of the host; built with relocatable device code and a default stream for each thread.
#include "programs.h"
#include <atomic>
#include <cuda.h>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

enum { N = 512, BYTES = N * 4 };

__global__ void fill(int *x, int v) { x[threadIdx.x] = v; }
__global__ void add(int *x, const int *y) { x[threadIdx.x] += y[threadIdx.x]; }
__global__ void more(int *x) { x[threadIdx.x] += 1; }

static int first(const int *x)
{
    int h[N], same = 1;
    TRY(cudaMemcpy(h, x, BYTES, cudaMemcpyDeviceToHost));
    for (int i = 1; i < N; i++) same &= h[i] == h[0];
    return same ? h[0] : -1;
}
static void finish(cudaGraph_t g, cudaGraphExec_t e, cudaStream_t s)
{
    TRY(cudaStreamSynchronize(s));
    TRY(cudaGraphExecDestroy(e)); TRY(cudaGraphDestroy(g)); TRY(cudaStreamDestroy(s));
}

// captured: a fork into a second stream and back; the bad one does not come back before it reads
static int captured(bool joined)
{
    int *x, *y;
    cudaStream_t a, b;
    cudaEvent_t fork, join;
    cudaGraph_t g;
    cudaGraphExec_t e;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMalloc(&y, BYTES)); TRY(cudaStreamCreate(&a)); TRY(cudaStreamCreate(&b));
    TRY(cudaEventCreate(&fork)); TRY(cudaEventCreate(&join));
    TRY(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    fill<<<1, N, 0, a>>>(x, 1);
    TRY(cudaEventRecord(fork, a)); TRY(cudaStreamWaitEvent(b, fork, 0));
    fill<<<1, N, 0, b>>>(y, 20);
    if (!joined) add<<<1, N, 0, a>>>(x, y);
    TRY(cudaEventRecord(join, b)); TRY(cudaStreamWaitEvent(a, join, 0));
    if (joined) add<<<1, N, 0, a>>>(x, y);
    TRY(cudaStreamEndCapture(a, &g));
    TRY(cudaGraphInstantiate(&e, g, 0));
    for (int k = 0; k < (joined ? 3 : 1); k++) TRY(cudaGraphLaunch(e, a));
    finish(g, e, a);
    if (joined) printf("%d\n", first(x));
    TRY(cudaStreamDestroy(b)); TRY(cudaEventDestroy(fork)); TRY(cudaEventDestroy(join)); TRY(cudaFree(x)); TRY(cudaFree(y));
    return 0;
}
static int captured_ok() { return captured(true); }
static int captured_bad() { return captured(false); }

// built node by node; the bad one lacks an edge
static int built(bool edge)
{
    int *x, *y, one = 1, two = 2;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaGraphNode_t a, b, c, both[2];
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMalloc(&y, BYTES)); TRY(cudaStreamCreate(&s)); TRY(cudaGraphCreate(&g, 0));
    void *pa[] = { &x, &one }, *pb[] = { &y, &two }, *pc[] = { &x, &y };
    cudaKernelNodeParams p = {};
    p.func = (void *)fill; p.gridDim = dim3(1); p.blockDim = dim3(N); p.kernelParams = pa;
    TRY(cudaGraphAddKernelNode(&a, g, NULL, 0, &p));
    p.kernelParams = pb;
    TRY(cudaGraphAddKernelNode(&b, g, NULL, 0, &p));
    p.func = (void *)add; p.kernelParams = pc;
    both[0] = a; both[1] = b;
    TRY(cudaGraphAddKernelNode(&c, g, both, edge ? 2 : 1, &p));
    TRY(cudaGraphInstantiate(&e, g, 0));
    TRY(cudaGraphLaunch(e, s));
    TRY(cudaStreamSynchronize(s));
    if (edge) {
        int seven = 7;
        void *changed[] = { &y, &seven };
        p.func = (void *)fill; p.kernelParams = changed;
        TRY(cudaGraphExecKernelNodeSetParams(e, b, &p));
        TRY(cudaGraphLaunch(e, s));
        TRY(cudaStreamSynchronize(s));
        printf("%d\n", first(x));
    }
    finish(g, e, s);
    TRY(cudaFree(x)); TRY(cudaFree(y));
    return 0;
}
static int built_ok() { return built(true); }
static int built_bad() { return built(false); }

// copies, fills, host functions and events as nodes; a graph in a graph
static void CUDART_CB counted(void *p) { ++*(std::atomic<int> *)p; }
static int nodes_ok()
{
    int *x, h[N] = { 0 };
    std::atomic<int> calls(0);
    cudaStream_t s;
    cudaGraph_t g, child;
    cudaGraphExec_t e;
    cudaGraphNode_t set, kernel, sub, copy, call;
    size_t n;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaStreamCreate(&s)); TRY(cudaGraphCreate(&g, 0)); TRY(cudaGraphCreate(&child, 0));
    cudaMemsetParams m = {};
    m.dst = x; m.value = 4; m.elementSize = 4; m.width = N; m.height = 1;
    TRY(cudaGraphAddMemsetNode(&set, g, NULL, 0, &m));
    void *px[] = { &x };
    cudaKernelNodeParams p = {};
    p.func = (void *)more; p.gridDim = dim3(1); p.blockDim = dim3(N); p.kernelParams = px;
    TRY(cudaGraphAddKernelNode(&kernel, child, NULL, 0, &p));
    TRY(cudaGraphAddChildGraphNode(&sub, g, &set, 1, child));
    TRY(cudaGraphAddMemcpyNode1D(&copy, g, &sub, 1, h, x, BYTES, cudaMemcpyDeviceToHost));
    cudaHostNodeParams hp = { counted, &calls };
    TRY(cudaGraphAddHostNode(&call, g, &copy, 1, &hp));
    TRY(cudaGraphGetNodes(g, NULL, &n));
    TRY(cudaGraphInstantiate(&e, g, 0));
    for (int k = 0; k < 5; k++) TRY(cudaGraphLaunch(e, s));
    finish(g, e, s);
    printf("%zu nodes, %d, %d calls\n", n, h[9], calls.load());
    TRY(cudaGraphDestroy(child)); TRY(cudaFree(x));
    return 0;
}

// one graph after another in one executable
static int update_ok()
{
    int *x;
    cudaStream_t s;
    cudaGraph_t g[2];
    cudaGraphExec_t e;
    cudaGraphExecUpdateResultInfo info;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaStreamCreate(&s));
    for (int k = 0; k < 2; k++) {
        TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
        fill<<<1, N, 0, s>>>(x, 10 * (k + 1));
        more<<<1, N, 0, s>>>(x);
        TRY(cudaStreamEndCapture(s, &g[k]));
    }
    TRY(cudaGraphInstantiate(&e, g[0], 0));
    TRY(cudaGraphLaunch(e, s)); TRY(cudaStreamSynchronize(s));
    printf("%d ", first(x));
    TRY(cudaGraphExecUpdate(e, g[1], &info));
    TRY(cudaGraphLaunch(e, s)); TRY(cudaStreamSynchronize(s));
    printf("%d %d\n", first(x), info.result);
    TRY(cudaGraphDestroy(g[0]));
    finish(g[1], e, s);
    TRY(cudaFree(x));
    return 0;
}

// a call that a capture forbids
static int forbidden_bad()
{
    int *x;
    cudaStream_t s;
    cudaGraph_t g = NULL;
    TRY(cudaStreamCreate(&s));
    TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    printf("%s, ", cudaGetErrorName(cudaStreamSynchronize(s)));
    printf("%s, ", cudaGetErrorName(cudaStreamEndCapture(s, &g)));
    printf("%s\n", g ? "a graph" : "no graph");
    TRY(cudaMalloc(&x, 4)); TRY(cudaFree(x)); TRY(cudaStreamDestroy(s));
    return 0;
}

// memory that lives inside a graph
static int graph_memory_ok()
{
    int *x, *y;
    cudaStream_t s;
    cudaGraph_t g;
    cudaGraphExec_t e;
    TRY(cudaMalloc(&y, BYTES)); TRY(cudaStreamCreate(&s));
    TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    TRY(cudaMallocAsync((void **)&x, BYTES, s));
    fill<<<1, N, 0, s>>>(x, 3);
    fill<<<1, N, 0, s>>>(y, 4);
    add<<<1, N, 0, s>>>(y, x);
    TRY(cudaFreeAsync(x, s));
    TRY(cudaStreamEndCapture(s, &g));
    TRY(cudaGraphInstantiate(&e, g, 0));
    TRY(cudaGraphLaunch(e, s)); TRY(cudaGraphLaunch(e, s));
    finish(g, e, s);
    printf("%d\n", first(y));
    TRY(cudaFree(y));
    return 0;
}

// a launch that may start when the one in front has triggered, and must wait before it reads what that one writes
__global__ void turned(int *x, int v)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = v + threadIdx.x;
    __syncthreads();
    cudaTriggerProgrammaticLaunchCompletion();
    x[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
__global__ void turned_back(const int *x, int *y)
{
    __shared__ int tile[N];
    cudaGridDependencySynchronize();
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    y[threadIdx.x] = tile[N - 1 - threadIdx.x];
}
static int dependent_ok()
{
    int *x, *y, h;
    cudaStream_t s;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMalloc(&y, BYTES)); TRY(cudaStreamCreate(&s));
    cudaLaunchAttribute a = {};
    a.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t c = {};
    c.gridDim = dim3(1); c.blockDim = dim3(N); c.stream = s; c.attrs = &a; c.numAttrs = 1;
    turned<<<1, N, 0, s>>>(x, 40);
    TRY(cudaLaunchKernelEx(&c, turned_back, (const int *)x, y));
    TRY(cudaStreamSynchronize(s));
    TRY(cudaMemcpy(&h, y + 2, 4, cudaMemcpyDeviceToHost));
    printf("%d\n", h);
    TRY(cudaFree(x)); TRY(cudaFree(y)); TRY(cudaStreamDestroy(s));
    return 0;
}

// threads of the host, each with a stream: every one has launched before the first waits
static std::atomic<int> launched;
static void work(int *x, int v, int rounds, int threads)
{
    cudaStream_t s;
    TRY(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    fill<<<1, N, 0, s>>>(x, v);
    for (int k = 0; k < rounds; k++) more<<<1, N, 0, s>>>(x);
    launched++;
    while (launched < threads) std::this_thread::yield();
    TRY(cudaStreamSynchronize(s)); TRY(cudaStreamDestroy(s));
}
static int threads(bool apart)
{
    enum { T = 4 };
    int *x, sum = 0;
    std::vector<std::thread> all;
    TRY(cudaMalloc(&x, T * BYTES));
    for (int t = 0; t < T; t++) all.emplace_back(work, x + (apart ? t * N : 0), 100 * t, 5, T);
    for (std::thread &t : all) t.join();
    for (int t = 0; t < T && apart; t++) sum += first(x + t * N);
    if (apart) printf("%d\n", sum);
    TRY(cudaFree(x));
    return 0;
}
static int threads_ok() { return threads(true); }
static int threads_bad() { return threads(false); }

// the default stream of a thread (--default-stream per-thread) waits for no other
static int per_thread(bool synchronised)
{
    int *x;
    TRY(cudaMalloc(&x, BYTES));
    std::thread([=] { fill<<<1, N>>>(x, 5); if (synchronised) TRY(cudaStreamSynchronize(cudaStreamPerThread)); }).join();
    more<<<1, N>>>(x);
    TRY(cudaDeviceSynchronize());
    if (synchronised) printf("%d\n", first(x));
    TRY(cudaFree(x));
    return 0;
}
static int per_thread_ok() { return per_thread(true); }
static int per_thread_bad() { return per_thread(false); }

// an error belongs to the thread that made it
static int thread_error_ok()
{
    TRY(cudaFree(NULL));
    std::thread([] { cudaSetDevice(99); printf("%s, ", cudaGetErrorName(cudaGetLastError())); }).join();
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    return 0;
}

// memory that one thread frees while the kernel of another uses it
static int handed_over(bool waits)
{
    int *x;
    cudaStream_t s;
    cudaEvent_t done;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaStreamCreate(&s)); TRY(cudaEventCreate(&done));
    fill<<<1, N, 0, s>>>(x, 1);
    TRY(cudaEventRecord(done, s));
    std::thread([=] { if (waits) TRY(cudaEventSynchronize(done)); int h; TRY(cudaMemcpy(&h, x, 4, cudaMemcpyDeviceToHost)); if (waits) printf("%d\n", h); }).join();
    TRY(cudaStreamSynchronize(s));
    TRY(cudaFree(x)); TRY(cudaStreamDestroy(s)); TRY(cudaEventDestroy(done));
    return 0;
}
static int handed_over_ok() { return handed_over(true); }
static int handed_over_bad() { return handed_over(false); }

// conditional nodes: while inside of if, switch, and a condition that is set by a kernel that nothing orders before the node
__global__ void decide(cudaGraphConditionalHandle h, const int *x, int i) { cudaGraphSetConditional(h, x[i]); }
__global__ void count_down(cudaGraphConditionalHandle h, int *x) { cudaGraphSetConditional(h, --x[0] > 0); x[1]++; }
__global__ void put(int *x, int i, int v) { x[i] = v; }

static cudaGraphNode_t kernel_node(cudaGraph_t g, const cudaGraphNode_t *dep, size_t deps, void *f, void **arg)
{
    cudaGraphNodeParams p = { cudaGraphNodeTypeKernel };
    cudaGraphNode_t n;
    p.kernel.func = f; p.kernel.gridDim = dim3(1); p.kernel.blockDim = dim3(1); p.kernel.kernelParams = arg;
    TRY(cudaGraphAddNode(&n, g, dep, NULL, deps, &p));
    return n;
}
static cudaGraphNode_t conditional_node(cudaGraph_t g, const cudaGraphNode_t *dep, size_t deps, cudaGraphConditionalHandle h, cudaGraphConditionalNodeType type, unsigned size, cudaGraph_t **body)
{
    cudaGraphNodeParams p = { cudaGraphNodeTypeConditional };
    cudaGraphNode_t n;
    p.conditional.handle = h; p.conditional.type = type; p.conditional.size = size;
    TRY(cudaGraphAddNode(&n, g, dep, NULL, deps, &p));
    *body = p.conditional.phGraph_out;
    return n;
}
static int conditional(bool edge)
{
    int *x, h[8], zero = 0, two = 2, three = 3, nine = 9, seven = 7;
    cudaGraph_t g, *either, *loop, *cases, copy;
    cudaGraphExec_t e, again;
    cudaGraphConditionalHandle some, more, which, stray = 99;
    cudaGraphNode_t n, last;
    TRY(cudaMalloc(&x, sizeof h)); TRY(cudaGraphCreate(&g, 0));
    TRY(cudaGraphConditionalHandleCreate(&some, g, 0, 0));
    TRY(cudaGraphConditionalHandleCreate(&more, g, 1, cudaGraphCondAssignDefault));
    TRY(cudaGraphConditionalHandleCreate(&which, g, 0, 0));
    void *a_some[] = { &some, &x, &zero }, *a_which[] = { &which, &x, &two }, *a_loop[] = { &more, &x };
    n = kernel_node(g, NULL, 0, (void *)decide, a_some);
    last = conditional_node(g, &n, edge, some, cudaGraphCondTypeIf, 2, &either);
    conditional_node(either[0], NULL, 0, more, cudaGraphCondTypeWhile, 1, &loop);
    kernel_node(loop[0], NULL, 0, (void *)count_down, a_loop);
    void *a_else[] = { &x, &three, &nine };
    kernel_node(either[1], NULL, 0, (void *)put, a_else);
    last = kernel_node(g, &last, 1, (void *)decide, a_which);
    conditional_node(g, &last, 1, which, cudaGraphCondTypeSwitch, 3, &cases);
    for (int i = 0, at = 4; i < 3; i++, at++) {
        void *arg[] = { &x, &at, &seven };
        kernel_node(cases[i], NULL, 0, (void *)put, arg);
    }
    TRY(cudaGraphInstantiate(&e, g, 0));
    if (edge) printf("%s, %s, ", cudaGetErrorName(cudaGraphInstantiate(&again, g, 0)), cudaGetErrorName(cudaGraphClone(&copy, g)));
    if (edge) printf("%s\n", cudaGetErrorName(cudaGraphConditionalHandleCreate(&stray, g, 0, 8)));
    for (int k = 0; k < (edge ? 4 : 1); k++) {
        int in[8] = { k == 3 ? 0 : k + 2, 0, k, 0, 0, 0, 0, 0 };
        TRY(cudaMemcpy(x, in, sizeof in, cudaMemcpyHostToDevice));
        TRY(cudaGraphLaunch(e, 0));
        TRY(cudaMemcpy(h, x, sizeof h, cudaMemcpyDeviceToHost));
        for (int i = 0; edge && i < 7; i++) printf("%d%s", h[i], i < 6 ? " " : "\n");
    }
    TRY(cudaGraphExecDestroy(e)); TRY(cudaGraphDestroy(g)); TRY(cudaFree(x));
    return 0;
}
static int conditional_ok() { return conditional(true); }
static int conditional_bad() { return conditional(false); }

// captured into the graph of a conditional node; a node that may not be there
static int conditional_capture_ok()
{
    int *x;
    cudaStream_t s;
    cudaGraph_t g, *body;
    cudaGraphExec_t e;
    cudaGraphConditionalHandle h;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaStreamCreate(&s)); TRY(cudaMemset(x, 0, BYTES)); TRY(cudaGraphCreate(&g, 0));
    TRY(cudaGraphConditionalHandleCreate(&h, g, 1, cudaGraphCondAssignDefault));
    conditional_node(g, NULL, 0, h, cudaGraphCondTypeIf, 1, &body);
    TRY(cudaStreamBeginCaptureToGraph(s, body[0], NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    more<<<1, N, 0, s>>>(x);
    more<<<1, N, 0, s>>>(x);
    TRY(cudaStreamEndCapture(s, NULL));
    TRY(cudaGraphInstantiate(&e, g, 0));
    TRY(cudaGraphLaunch(e, s)); TRY(cudaGraphLaunch(e, s));
    TRY(cudaStreamSynchronize(s)); TRY(cudaGraphExecDestroy(e));
    printf("%d, ", first(x));
    cudaHostNodeParams host = { [](void *) {}, NULL };
    cudaGraphNode_t n;
    TRY(cudaGraphAddHostNode(&n, body[0], NULL, 0, &host));
    printf("%s\n", cudaGetErrorName(cudaGraphInstantiate(&e, g, 0)));
    TRY(cudaGraphDestroy(g)); TRY(cudaStreamDestroy(s)); TRY(cudaFree(x));
    return 0;
}

// an event for all streams of a context, and all streams that wait for it, one that is made later among them
static int context_event(bool waits)
{
    CUresult (*record)(CUcontext, CUevent), (*wait)(CUcontext, CUevent);
    CUresult (*current)(CUcontext *);
    cudaDriverEntryPointQueryResult found;
    CUcontext c;
    int *x, *y;
    cudaStream_t a, b, later;
    cudaEvent_t done;
    TRY(cudaMalloc(&x, BYTES)); TRY(cudaMalloc(&y, BYTES));
    TRY(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking)); TRY(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    TRY(cudaEventCreate(&done));
    TRY(cudaGetDriverEntryPointByVersion("cuCtxRecordEvent", (void **)&record, 12050, cudaEnableDefault, &found));
    TRY(cudaGetDriverEntryPointByVersion("cuCtxWaitEvent", (void **)&wait, 12050, cudaEnableDefault, &found));
    TRY(cudaGetDriverEntryPointByVersion("cuCtxGetCurrent", (void **)&current, 12050, cudaEnableDefault, &found));
    current(&c);
    fill<<<1, N, 0, a>>>(x, 1);
    fill<<<1, N, 0, b>>>(y, 2);
    int failed = record(c, done);
    if (waits) failed |= wait(c, done);
    TRY(cudaStreamCreateWithFlags(&later, cudaStreamNonBlocking));
    add<<<1, N, 0, later>>>(x, y);
    TRY(cudaDeviceSynchronize());
    if (waits) printf("%d, %d\n", failed, first(x));
    TRY(cudaStreamDestroy(a)); TRY(cudaStreamDestroy(b)); TRY(cudaStreamDestroy(later)); TRY(cudaEventDestroy(done));
    TRY(cudaFree(x)); TRY(cudaFree(y));
    return 0;
}
static int context_event_ok() { return context_event(true); }
static int context_event_bad() { return context_event(false); }

#define ONE(name) { #name, name }
PROGRAMS(ONE(captured_ok), ONE(captured_bad), ONE(built_ok), ONE(built_bad), ONE(nodes_ok), ONE(update_ok), ONE(forbidden_bad), ONE(graph_memory_ok), ONE(dependent_ok), ONE(threads_ok), ONE(threads_bad),
         ONE(per_thread_ok), ONE(per_thread_bad), ONE(thread_error_ok), ONE(handed_over_ok), ONE(handed_over_bad), ONE(conditional_ok), ONE(conditional_bad),
         ONE(conditional_capture_ok), ONE(context_event_ok), ONE(context_event_bad))
