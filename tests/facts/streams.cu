// streams: what a GPU and its driver do with several launches in flight: who runs beside whom, who waits for whom. docs/inside/machine.md
// (several launches) says what came out.
//
//     nvcc -arch=native -o streams streams.cu -lcuda && ./streams
//
// regen: no
// A line for each question. Kernels give up after a deadline, so that a wait for something that never comes is an answer, not a hang.
#include <cstdio>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <chrono>
#include <thread>
#include <unistd.h>

enum { MANY = 160, SHARED = 200 << 10 };   // of so much shared memory a multiprocessor holds one CTA
struct span { unsigned long long first, last; };   // when a launch began and ended, in ns of the GPU

__device__ unsigned flags[MANY];
__device__ span spans[MANY];

__device__ static unsigned long long now()
{
    unsigned long long t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}
__device__ static void begun(int me) { atomicMin(&spans[me].first, now()); }
__device__ static void ended(int me) { atomicMax(&spans[me].last, now()); }

// Waits for flag `of` (NONE: for nothing), at most `ms`, then sets its own flag if it came: 1, or 2 if it gave up.
__global__ void hand(int me, int of, int ms)
{
    unsigned long long start = now();
    begun(me);
    bool came = true;
    if (of >= 0)
        while (!*(volatile unsigned *)&flags[of])
            if (now() - start > ms * 1000000ull) { came = false; break; }
    *(volatile unsigned *)&flags[me] = came ? 1 : 2;
    ended(me);
}
// Stays for so many ms.
__global__ void stay(int me, int ms)
{
    extern __shared__ char room[];
    unsigned long long start = now();
    if (!threadIdx.x) begun(me);
    while (now() - start < ms * 1000000ull) ;
    if (!threadIdx.x) ended(me);
}
// Stays until the host says so through mapped memory, or for two seconds.
__global__ void until(int me, volatile int *stop)
{
    extern __shared__ char room[];
    unsigned long long start = now();
    begun(me);
    while (!*stop && now() - start < 2000000000ull) ;
    ended(me);
}
__global__ void store(int *to, int value) { *to = value; }
__global__ void add(int *to) { atomicAdd(to, 1); }

static int sms;
static cudaStream_t stream[MANY];

static void clear()
{
    static span none[MANY];
    static unsigned zero[MANY];
    for (int i = 0; i < MANY; i++) none[i] = {~0ull, 0};
    cudaDeviceSynchronize();
    cudaMemcpyToSymbol(spans, none, sizeof none);
    cudaMemcpyToSymbol(flags, zero, sizeof zero);
    cudaDeviceSynchronize();
}
static span seen[MANY];
static unsigned flag[MANY];
static void look()
{
    cudaError_t e = cudaDeviceSynchronize();
    if (e) printf("    error: %s\n", cudaGetErrorName(e));
    cudaMemcpyFromSymbol(seen, spans, sizeof seen);
    cudaMemcpyFromSymbol(flag, flags, sizeof flag);
}
static double ms(int a, bool end) { return ((end ? seen[a].last : seen[a].first) - seen[0].first) * 1e-6; }
static void show(const char *what, int n)
{
    printf("%s:", what);
    for (int i = 0; i < n; i++) printf("  %c %.2f..%.2f ms", 'A' + i, ms(i, false), ms(i, true));
    printf("\n");
}
static double host_ms()
{
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}
static cudaError_t grid(bool cooperative, int ctas, int shared, int me, int time, cudaStream_t s)
{
    void *args[] = {&me, &time};
    return cooperative ? cudaLaunchCooperativeKernel((void *)stay, dim3(ctas), dim3(32), args, shared, s) : cudaLaunchKernel((void *)stay, dim3(ctas), dim3(32), args, shared, s);
}

static void waiting_streams(int n)
{
    clear();
    for (int i = 0; i < n; i++) hand<<<1, 1, 0, stream[i]>>>(i, i + 1 < n ? i + 1 : -1, 300);
    look();
    int gave_up = 0;
    for (int i = 0; i < n; i++) gave_up += flag[i] == 2;
    printf("%3d streams, each waits for a kernel of the next, launched later: %d gave up\n", n, gave_up);
}

static void timed_call(const char *what, void (*call)(void *), void *arg, volatile int *stop)
{
    clear();
    *stop = 0;
    until<<<1, 1, 0, stream[0]>>>(0, stop);
    std::thread t([&] { usleep(100000); *stop = 1; });
    usleep(10000);
    double start = host_ms();
    call(arg);
    double took = host_ms() - start;
    t.join();
    look();
    printf("%s while a kernel runs in a non-blocking stream: returned after %.1f ms%s\n", what, took, took > 50 ? ": it waited for the kernel" : "");
}

int main()
{
    cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0);
    cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    cudaFuncSetAttribute(until, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED);
    for (int i = 0; i < MANY; i++) cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking);
    volatile int *stop;
    cudaHostAlloc((void **)&stop, 4096, cudaHostAllocMapped);
    int *x;
    cudaMalloc(&x, 1 << 20);
    // every kernel once, so that loading one is part of no measurement
    clear();
    *stop = 1;
    until<<<1, 1>>>(0, stop);
    store<<<1, 1>>>(x, 0);
    add<<<1, 1>>>(x);
    hand<<<1, 1>>>(0, -1, 1);
    grid(false, 1, 0, 0, 1, 0);
    clear();

    for (int n : {2, 8, 9, 16, 32, 33, 64, 128, 129, 160}) waiting_streams(n);

    clear();
    grid(true, sms * 3 / 5, SHARED, 0, 20, stream[0]);
    grid(true, sms * 3 / 5, SHARED, 1, 20, stream[1]);
    grid(false, 8, SHARED, 2, 20, stream[2]);
    look();
    show("cooperative A and B of 60 %, then a plain C of 8 CTAs", 3);

    clear();
    grid(false, sms / 10, SHARED, 0, 60, stream[0]);
    usleep(2000);
    grid(true, sms - 2, SHARED, 1, 10, stream[1]);
    grid(false, 8, SHARED, 2, 10, stream[2]);
    look();
    show("A holds 10 %, cooperative B of 98 %, then a plain C of 8 CTAs", 3);

    clear();
    grid(false, sms * 4, SHARED, 0, 10, stream[0]);
    grid(false, 8, SHARED, 1, 10, stream[1]);
    look();
    show("plain A of four times the device, then B of 8 CTAs", 2);

    int low, high;
    cudaDeviceGetStreamPriorityRange(&low, &high);
    cudaStream_t urgent;
    cudaStreamCreateWithPriority(&urgent, cudaStreamNonBlocking, high);
    clear();
    grid(false, sms * 4, SHARED, 0, 10, stream[0]);
    grid(false, 8, SHARED, 1, 10, urgent);
    look();
    show("the same, B with the highest priority", 2);
    printf("priorities from %d (least) to %d\n", low, high);

    cudaEvent_t event;
    cudaEventCreate(&event);
    clear();
    cudaStreamWaitEvent(stream[1], event, 0);   // no record yet: waits for nothing
    grid(false, 1, 0, 0, 20, stream[0]);
    grid(false, 1, 0, 1, 1, stream[1]);
    cudaEventRecord(event, stream[0]);
    look();
    show("B waits for an event that A's stream records only afterwards", 2);
    clear();
    grid(false, 1, 0, 0, 20, stream[0]);
    cudaEventRecord(event, stream[0]);
    cudaStreamWaitEvent(stream[1], event, 0);
    cudaEventRecord(event, stream[2]);          // a later record does not change what B waits for
    grid(false, 1, 0, 1, 1, stream[1]);
    look();
    show("B waits for A's event, which is recorded again elsewhere", 2);

    clear();
    cudaStream_t blocking;
    cudaStreamCreate(&blocking);
    grid(false, 1, 0, 0, 20, blocking);
    grid(false, 1, 0, 1, 5, 0);
    grid(false, 1, 0, 2, 5, blocking);
    grid(false, 1, 0, 3, 5, stream[3]);
    look();
    show("A in a blocking stream, B in the legacy one, C in A's, D in a non-blocking one", 4);

    timed_call("cudaMalloc", [](void *) { void *p; cudaMalloc(&p, 1 << 20); }, nullptr, stop);
    void *p;
    cudaMalloc(&p, 1 << 20);
    timed_call("cudaFree", [](void *q) { cudaFree(q); }, p, stop);
    cudaHostAlloc(&p, 1 << 20, cudaHostAllocDefault);
    timed_call("cudaFreeHost", [](void *q) { cudaFreeHost(q); }, p, stop);
    timed_call("cudaHostAlloc", [](void *) { void *q; cudaHostAlloc(&q, 1 << 20, cudaHostAllocDefault); }, nullptr, stop);
    static char pageable[1 << 20];
    timed_call("cudaMemcpy of 4 bytes to the device", [](void *q) { cudaMemcpy(q, pageable, 4, cudaMemcpyHostToDevice); }, x, stop);
    timed_call("cudaMemcpy of 1 MB to the device", [](void *q) { cudaMemcpy(q, pageable, sizeof pageable, cudaMemcpyHostToDevice); }, x, stop);
    timed_call("cudaMemcpyAsync of 1 MB of pageable memory, same stream", [](void *q) { cudaMemcpyAsync(q, pageable, sizeof pageable, cudaMemcpyHostToDevice, stream[0]); }, x, stop);
    timed_call("cudaMemcpyAsync of 32 KB of pageable memory, same stream", [](void *q) { cudaMemcpyAsync(q, pageable, 32768, cudaMemcpyHostToDevice, stream[0]); }, x, stop);
    timed_call("cudaMemcpyAsync of 1 MB to pageable memory, same stream", [](void *q) { cudaMemcpyAsync(pageable, q, sizeof pageable, cudaMemcpyDeviceToHost, stream[0]); }, x, stop);
    timed_call("cudaMemset", [](void *q) { cudaMemset(q, 0, 64); }, x, stop);
    timed_call("cudaMemset and cudaStreamSynchronize(0)", [](void *q) { cudaMemset(q, 0, 64); cudaStreamSynchronize(0); }, x, stop);
    timed_call("cudaStreamDestroy of an idle stream", [](void *) { cudaStreamDestroy(stream[MANY - 1]); }, nullptr, stop);
    timed_call("cudaStreamDestroy of the stream itself", [](void *) { cudaStreamDestroy(stream[0]); cudaStreamCreateWithFlags(&stream[0], cudaStreamNonBlocking); }, nullptr, stop);
    timed_call("cudaEventDestroy", [](void *) { cudaEvent_t e; cudaEventCreate(&e); cudaEventRecord(e, stream[0]); cudaEventDestroy(e); }, nullptr, stop);
    timed_call("cudaFuncSetAttribute", [](void *) { cudaFuncSetAttribute(stay, cudaFuncAttributeMaxDynamicSharedMemorySize, SHARED); }, nullptr, stop);
    timed_call("cudaDeviceSetLimit(stack)", [](void *) { cudaDeviceSetLimit(cudaLimitStackSize, 4096); }, nullptr, stop);
    timed_call("cudaMallocAsync and cudaFreeAsync in another stream", [](void *) { void *q; cudaMallocAsync(&q, 1 << 20, stream[1]); cudaFreeAsync(q, stream[1]); cudaStreamSynchronize(stream[1]); }, nullptr, stop);
    timed_call("cuModuleLoadData and cuModuleUnload", [](void *) {
        static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n";
        CUmodule m;
        CUresult r = cuModuleLoadData(&m, ptx);
        if (!r) r = cuModuleUnload(m);
        if (r) printf("    module: error %d\n", (int)r);
    }, nullptr, stop);

    // an executable graph launched twice, in two streams
    clear();
    cudaGraph_t g;
    cudaGraphExec_t exec;
    cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeGlobal);
    add<<<1, 1, 0, stream[0]>>>(x);
    grid(false, 1, 0, 0, 20, stream[0]);
    cudaStreamEndCapture(stream[0], &g);
    cudaGraphInstantiate(&exec, g, 0);
    double start = host_ms();
    cudaGraphLaunch(exec, stream[0]);
    cudaGraphLaunch(exec, stream[1]);
    cudaDeviceSynchronize();
    printf("an executable graph of 20 ms launched in two streams took %.1f ms: %s\n", host_ms() - start, host_ms() - start > 35 ? "one after the other" : "side by side");
    cudaEventRecord(event, stream[0]);
    float time;
    clear();
    *stop = 0;
    until<<<1, 1, 0, stream[0]>>>(0, stop);
    cudaEvent_t from, to;
    cudaEventCreate(&from);
    cudaEventCreate(&to);
    cudaEventRecord(from, stream[0]);
    printf("cudaEventElapsedTime of an event not recorded: %s", cudaGetErrorName(cudaEventElapsedTime(&time, from, to)));
    cudaEventRecord(to, stream[0]);
    printf("; of one not yet reached: %s; cudaEventQuery: %s; cudaStreamQuery: %s\n", cudaGetErrorName(cudaEventElapsedTime(&time, from, to)), cudaGetErrorName(cudaEventQuery(to)),
           cudaGetErrorName(cudaStreamQuery(stream[0])));
    *stop = 1;
    look();
    return 0;
}
