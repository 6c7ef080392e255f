// regen: no
// Programs with graphs, and with several threads of the host; built with relocatable device code and a default stream for each thread.
#include "programs.h"
#include <atomic>
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

#define ONE(name) { #name, name }
PROGRAMS(ONE(captured_ok), ONE(captured_bad), ONE(built_ok), ONE(built_bad), ONE(nodes_ok), ONE(update_ok), ONE(forbidden_bad), ONE(graph_memory_ok), ONE(dependent_ok), ONE(threads_ok), ONE(threads_bad),
         ONE(per_thread_ok), ONE(per_thread_bad), ONE(thread_error_ok), ONE(handed_over_ok), ONE(handed_over_bad))
