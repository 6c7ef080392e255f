// async: what the driver of a GPU answers to calls of streams, events, captures, graphs and pools: statuses, and what they leave behind.
// docs/inside/streams.md (what a driver does) says what came out.
//
//     nvcc -arch=native -std=c++17 -o async async.cu -lcuda && ./async; for w in wait query twice stream; do ./async destroyed $w; done; ./async fault
//
// regen: no
// A line for each question. `destroyed` and `fault` are runs of their own, since they may end the process or lose the context.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda.h>
#include <cuda_runtime.h>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>

__global__ void until(volatile int *stop)   // until the host says so, or two seconds
{
    unsigned long long t0, t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t0));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    while (!*stop && t - t0 < 2000000000ull);
}
__global__ void add(int *x) { atomicAdd(x, 1); }
__global__ void store(int *x, int v) { *x = v; }
__global__ void crash(int *x) { *x = 1; }

static volatile int *stop;
static int *x;
static CUcontext context;
static const CUstream LEGACY = CU_STREAM_LEGACY, OWN = CU_STREAM_PER_THREAD;

// What is put together in braces is evaluated from left to right, which + does not promise.
struct line {
    std::string s;
    template <class... A> line(A... a) { ((s += a), ...); }
};
static void say(const char *what, const line &answer) { printf("%-92s %s\n", what, answer.s.c_str()); }
static std::string str(CUresult r) { return std::to_string((int)r); }
static CUstream fresh(unsigned flags = CU_STREAM_NON_BLOCKING)
{
    CUstream s;
    cuStreamCreate(&s, flags);
    return s;
}
static CUevent event(unsigned flags = 0)
{
    CUevent e;
    cuEventCreate(&e, flags);
    return e;
}
static double ms()
{
    using namespace std::chrono;
    return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}
static CUresult launch(CUstream s) { add<<<1, 1, 0, s>>>(x); return (CUresult)cudaGetLastError(); }
static CUresult hold(CUstream s) { *stop = 0; until<<<1, 1, 0, s>>>(stop); return (CUresult)cudaGetLastError(); }
static void quiet() { *stop = 1; CUresult r = cuCtxSynchronize(); if (r) printf("    quiet: %d\n", (int)r); }
static std::string state(CUstream s)
{
    CUstreamCaptureStatus c;
    CUresult r = cuStreamIsCapturing(s, &c);
    return r ? "status " + str(r) : c == CU_STREAM_CAPTURE_STATUS_NONE ? "not captured" : c == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "active" : "invalidated";
}
static std::string end(CUstream s)
{
    CUgraph g = nullptr;
    CUresult r = cuStreamEndCapture(s, &g);
    size_t n = 0;
    if (g) cuGraphGetNodes(g, nullptr, &n), cuGraphDestroy(g);
    return str(r) + (g ? " with " + std::to_string(n) + " nodes" : "");
}
// In a capture of one node: a call, its status, the capture's state after it, the status of a launch in it, and that of its end.
static void captured(const char *what, CUstreamCaptureMode mode, std::function<CUresult(CUstream)> call, unsigned flags = CU_STREAM_NON_BLOCKING)
{
    CUstream s = fresh(flags);
    CUresult b = cuStreamBeginCapture(s, mode);
    launch(s);
    CUresult r = call(s);
    std::string now = state(s);
    CUresult l = launch(s);
    say(what, line{(b ? "begin " + str(b) + ", " : ""), str(r), ", ", now, "; then a launch ", str(l), ", end ", end(s), ", ", state(s)});
    cudaGetLastError();
    cuStreamDestroy(s);
}
static CUresult in_thread(std::function<CUresult()> f)
{
    CUresult r;
    std::thread t([&] { cuCtxSetCurrent(context); r = f(); });
    t.join();
    return r;
}
static const CUstreamCaptureMode GLOBAL = CU_STREAM_CAPTURE_MODE_GLOBAL, LOCAL = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, RELAXED = CU_STREAM_CAPTURE_MODE_RELAXED;

static void captures()
{
    printf("-- capture: status of the call, state after it; a launch then, the end\n");
    captured("nothing else", GLOBAL, [](CUstream) { return CUDA_SUCCESS; });
    captured("cuStreamSynchronize of it", GLOBAL, [](CUstream s) { return cuStreamSynchronize(s); });
    captured("cuStreamQuery of it", GLOBAL, [](CUstream s) { return cuStreamQuery(s); });
    captured("cuStreamQuery of it, relaxed", RELAXED, [](CUstream s) { return cuStreamQuery(s); });
    captured("cuCtxSynchronize", GLOBAL, [](CUstream) { return cuCtxSynchronize(); });
    captured("cuCtxSynchronize, relaxed", RELAXED, [](CUstream) { return cuCtxSynchronize(); });
    captured("cuCtxSynchronize of another thread", GLOBAL, [](CUstream) { return in_thread([] { return cuCtxSynchronize(); }); });
    captured("cuStreamSynchronize of another stream", GLOBAL, [](CUstream) { return cuStreamSynchronize(fresh()); });
    auto alloc = [] { CUdeviceptr p; return cuMemAlloc(&p, 64); };
    captured("cuMemAlloc, global", GLOBAL, [=](CUstream) { return alloc(); });
    captured("cuMemAlloc, thread-local", LOCAL, [=](CUstream) { return alloc(); });
    captured("cuMemAlloc, relaxed", RELAXED, [=](CUstream) { return alloc(); });
    captured("cuMemAlloc of another thread, global", GLOBAL, [=](CUstream) { return in_thread(alloc); });
    captured("cuMemAlloc of another thread, thread-local", LOCAL, [=](CUstream) { return in_thread(alloc); });
    captured("cuMemAlloc, global, by a thread whose own mode is relaxed", GLOBAL, [=](CUstream) {
        CUstreamCaptureMode m = RELAXED;
        cuThreadExchangeStreamCaptureMode(&m);
        CUresult r = alloc();
        cuThreadExchangeStreamCaptureMode(&m);
        return r;
    });
    static CUdeviceptr p;
    cuMemAlloc(&p, 64);
    captured("cuMemFree, global", GLOBAL, [](CUstream) { return cuMemFree(p); });
    captured("cuMemHostAlloc, global", GLOBAL, [](CUstream) { void *q; return cuMemHostAlloc(&q, 64, 0); });
    captured("cuMemGetInfo, global", GLOBAL, [](CUstream) { size_t a, b; return cuMemGetInfo(&a, &b); });
    captured("cuEventCreate and cuEventDestroy, global", GLOBAL, [](CUstream) { return cuEventDestroy(event()); });
    captured("cuStreamCreate and cuStreamDestroy, global", GLOBAL, [](CUstream) { CUstream t; CUresult r = cuStreamCreate(&t, 1); return r ? r : cuStreamDestroy(t); });
    captured("cuModuleLoadData, global", GLOBAL, [](CUstream) {
        CUmodule m;
        return cuModuleLoadData(&m, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
    });
    captured("cuMemcpyHtoD (synchronous), global", GLOBAL, [](CUstream) { int v = 1; return cuMemcpyHtoD((CUdeviceptr)x, &v, 4); });
    captured("cuMemcpyHtoDAsync of pageable memory in it", GLOBAL, [](CUstream s) { static int v = 1; return cuMemcpyHtoDAsync((CUdeviceptr)x, &v, 4, s); });
    captured("cuMemAllocAsync in it", GLOBAL, [](CUstream s) { CUdeviceptr q; return cuMemAllocAsync(&q, 64, s); });
    captured("cuMemFreeAsync in it of memory from outside", GLOBAL, [](CUstream s) {
        static CUdeviceptr q;
        CUstreamCaptureMode m = RELAXED;
        cuThreadExchangeStreamCaptureMode(&m);
        CUstream t = fresh();
        CUresult a = cuMemAllocAsync(&q, 64, t);
        cuStreamSynchronize(t);
        cuThreadExchangeStreamCaptureMode(&m);
        return a ? a : cuMemFreeAsync(q, s);
    });
    captured("cuStreamWriteValue32 in it", GLOBAL, [](CUstream s) { return cuStreamWriteValue32(s, (CUdeviceptr)x, 1, 0); });
    captured("cuStreamWaitValue32 in it", GLOBAL, [](CUstream s) { return cuStreamWaitValue32(s, (CUdeviceptr)x, 0, 0); });
    captured("cuLaunchHostFunc in it", GLOBAL, [](CUstream s) { return cuLaunchHostFunc(s, [](void *) {}, nullptr); });
    captured("cuStreamWaitEvent for an event never recorded", GLOBAL, [](CUstream s) { return cuStreamWaitEvent(s, event(), 0); });
    captured("cuStreamWaitEvent for an event recorded outside, before", GLOBAL, [](CUstream s) {
        CUstream t = fresh();
        CUevent e = event();
        CUresult r = cuEventRecord(e, t);
        return r ? r : cuStreamWaitEvent(s, e, 0);
    });
    captured("the same, external", GLOBAL, [](CUstream s) {
        CUstream t = fresh();
        CUevent e = event();
        CUresult r = cuEventRecord(e, t);
        return r ? r : cuStreamWaitEvent(s, e, CU_EVENT_WAIT_EXTERNAL);
    });
    captured("cuEventRecordWithFlags external in it", GLOBAL, [](CUstream s) { return cuEventRecordWithFlags(event(), s, CU_EVENT_RECORD_EXTERNAL); });
    captured("cuEventQuery of an event recorded in it", GLOBAL, [](CUstream s) { CUevent e = event(); cuEventRecord(e, s); return cuEventQuery(e); });
    captured("cuEventSynchronize of it", GLOBAL, [](CUstream s) { CUevent e = event(); cuEventRecord(e, s); return cuEventSynchronize(e); });
    captured("cuEventElapsedTime of it", GLOBAL, [](CUstream s) { CUevent e = event(), f = event(); cuEventRecord(e, s); cuEventRecord(f, s); float t; return cuEventElapsedTime(&t, e, f); });
    captured("cuStreamWaitEvent for it by a stream in use outside, which joins", GLOBAL, [](CUstream s) {
        CUevent e = event();
        CUstream t = fresh();
        launch(t);
        cuEventRecord(e, s);
        CUresult r = cuStreamWaitEvent(t, e, 0);
        say("    the other stream then", line{state(t)});
        return r;
    });
    captured("the legacy stream waits for it", GLOBAL, [](CUstream s) { CUevent e = event(); cuEventRecord(e, s); return cuStreamWaitEvent(LEGACY, e, 0); });
    captured("it is begun again", GLOBAL, [](CUstream s) { return cuStreamBeginCapture(s, GLOBAL); });
    captured("it is ended by another thread, global", GLOBAL, [](CUstream s) { return in_thread([=] { CUgraph g; return cuStreamEndCapture(s, &g); }); });
    captured("the same, relaxed", RELAXED, [](CUstream s) { return in_thread([=] { CUgraph g; return cuStreamEndCapture(s, &g); }); });
    captured("a launch in it by another thread", GLOBAL, [](CUstream s) { return in_thread([=] { return launch(s); }); });
    captured("blocking: a launch in the legacy stream", GLOBAL, [](CUstream) { return launch(LEGACY); }, 0);
    captured("blocking, relaxed: the same", RELAXED, [](CUstream) { return launch(LEGACY); }, 0);
    captured("blocking: the same by another thread", GLOBAL, [](CUstream) { return in_thread([] { return launch(LEGACY); }); }, 0);
    captured("blocking, thread-local: the same by another thread", LOCAL, [](CUstream) { return in_thread([] { return launch(LEGACY); }); }, 0);
    captured("non-blocking: a launch in the legacy stream", GLOBAL, [](CUstream) { return launch(LEGACY); });
    captured("blocking: cuStreamQuery of the legacy stream", GLOBAL, [](CUstream) { return cuStreamQuery(LEGACY); }, 0);
    captured("blocking: cuStreamSynchronize of the legacy stream", GLOBAL, [](CUstream) { return cuStreamSynchronize(LEGACY); }, 0);
    captured("blocking: cuStreamIsCapturing of the legacy stream", GLOBAL, [](CUstream) { CUstreamCaptureStatus c; return cuStreamIsCapturing(LEGACY, &c); }, 0);
    captured("blocking: cuMemcpyHtoD", RELAXED, [](CUstream) { int v = 1; return cuMemcpyHtoD((CUdeviceptr)x, &v, 4); }, 0);
    captured("blocking: cuEventRecord in the legacy stream", GLOBAL, [](CUstream) { return cuEventRecord(event(), LEGACY); }, 0);
    static CUgraphExec inner;
    {
        CUgraph g;
        CUstream t = fresh();
        cuStreamBeginCapture(t, RELAXED), launch(t), launch(t), cuStreamEndCapture(t, &g);
        cuGraphInstantiate(&inner, g, 0);
    }
    captured("an executable graph launched in it", GLOBAL, [](CUstream s) { return cuGraphLaunch(inner, s); });
    captured("the same, relaxed", RELAXED, [](CUstream s) { return cuGraphLaunch(inner, s); });
    {
        CUstream t = fresh();
        cuGraphLaunch(inner, t), cuStreamSynchronize(t);
    }
    captured("an executable graph that was launched before", GLOBAL, [](CUstream s) { return cuGraphLaunch(inner, s); });
    captured("an executable graph launched in another stream", GLOBAL, [](CUstream) { return cuGraphLaunch(inner, fresh()); });
    captured("cuStreamSynchronize of the legacy stream, non-blocking", GLOBAL, [](CUstream) { return cuStreamSynchronize(LEGACY); });
    captured("cuEventElapsedTime of events outside", GLOBAL, [](CUstream) {
        static CUevent a, b;
        CUstreamCaptureMode m = RELAXED;
        cuThreadExchangeStreamCaptureMode(&m);
        CUstream t = fresh();
        a = event(), b = event();
        cuEventRecord(a, t), cuEventRecord(b, t), cuStreamSynchronize(t);
        cuThreadExchangeStreamCaptureMode(&m);
        float f;
        return cuEventElapsedTime(&f, a, b);
    });
    static CUevent over;
    {
        CUstream t = fresh();
        over = event();
        CUgraph g;
        cuStreamBeginCapture(t, RELAXED), launch(t), cuEventRecord(over, t), cuStreamEndCapture(t, &g);
    }
    captured("cuStreamWaitEvent for an event of a capture that is over", GLOBAL, [](CUstream s) { return cuStreamWaitEvent(s, over, 0); });
    captured("cuMemFree of another thread, thread-local", LOCAL, [](CUstream) { return in_thread([] { CUdeviceptr q; cuMemAlloc(&q, 64); return cuMemFree(q); }); });
    captured("cuModuleUnload", GLOBAL, [](CUstream) {
        CUmodule m;
        CUresult r = cuModuleLoadData(&m, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
        return r ? r : cuModuleUnload(m);
    });
    captured("cuGraphInstantiate", GLOBAL, [](CUstream) { CUgraph g; CUgraphExec e; cuGraphCreate(&g, 0); return cuGraphInstantiate(&e, g, 0); });
    captured("cuStreamQuery of another stream", GLOBAL, [](CUstream) { return cuStreamQuery(fresh()); });
    captured("cuStreamSynchronize of another stream, thread-local", LOCAL, [](CUstream) { return cuStreamSynchronize(fresh()); });
    captured("cuStreamSynchronize of another stream, relaxed", RELAXED, [](CUstream) { return cuStreamSynchronize(fresh()); });
    captured("cuStreamSynchronize of another stream by another thread, global", GLOBAL, [](CUstream) { return in_thread([] { return cuStreamSynchronize(fresh()); }); });
    captured("cuEventQuery of an event recorded outside", GLOBAL, [](CUstream) { CUevent e = event(); cuEventRecord(e, fresh()); return cuEventQuery(e); });
    captured("cuEventSynchronize of it", GLOBAL, [](CUstream) { CUevent e = event(); cuEventRecord(e, fresh()); return cuEventSynchronize(e); });
    captured("cuEventSynchronize of it, relaxed", RELAXED, [](CUstream) { CUevent e = event(); cuEventRecord(e, fresh()); return cuEventSynchronize(e); });
    captured("a launch in another stream", GLOBAL, [](CUstream) { return launch(fresh()); });
    captured("cuMemcpyHtoDAsync in another stream, pageable", GLOBAL, [](CUstream) { static int v = 1; return cuMemcpyHtoDAsync((CUdeviceptr)x, &v, 4, fresh()); });
    captured("cuMemcpyDtoHAsync in another stream, pageable", GLOBAL, [](CUstream) { static int v = 1; return cuMemcpyDtoHAsync(&v, (CUdeviceptr)x, 4, fresh()); });
    captured("cuMemcpyDtoH (synchronous), global", GLOBAL, [](CUstream) { int v = 1; return cuMemcpyDtoH(&v, (CUdeviceptr)x, 4); });
    captured("cuMemsetD8 (synchronous), global", GLOBAL, [](CUstream) { return cuMemsetD8((CUdeviceptr)x, 0, 4); });
    captured("cuMemHostRegister, global", GLOBAL, [](CUstream) { static char page[8192]; return cuMemHostRegister(page, 100, 0); });
    captured("cuMemAllocAsync in another stream, global", GLOBAL, [](CUstream) { CUdeviceptr q; return cuMemAllocAsync(&q, 64, fresh()); });
    captured("cuMemPoolCreate, global", GLOBAL, [](CUstream) {
        CUmemoryPool pool;
        CUmemPoolProps props = {};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        return cuMemPoolCreate(&pool, &props);
    });

    CUstream s = fresh(), t = fresh(), u = fresh();
    CUevent e = event();
    say("cuStreamEndCapture of a stream that is not captured", line{end(s)});
    say("cuStreamBeginCapture of the legacy stream", line{str(cuStreamBeginCapture(LEGACY, GLOBAL))});
    say("cuStreamBeginCapture of the per-thread stream", line{str(cuStreamBeginCapture(OWN, GLOBAL)), ", end ", end(OWN)});
    cuStreamBeginCapture(s, GLOBAL);
    launch(s), cuEventRecord(e, s), cuStreamWaitEvent(t, e, 0);
    say("ended while a forked stream without nodes did not come back", line{end(s), "; the fork ", state(t)});
    cuStreamBeginCapture(s, GLOBAL);
    launch(s), cuEventRecord(e, s), cuStreamWaitEvent(t, e, 0), launch(t);
    say("ended while a forked stream with a node did not come back", line{end(s), "; origin ", state(s), ", fork ", state(t)});
    cuStreamBeginCapture(s, GLOBAL);
    launch(s), cuEventRecord(e, s), cuStreamWaitEvent(t, e, 0), launch(t);
    say("ended on the forked stream", line{end(t), "; origin ", state(s), ", fork ", state(t), "; then on the origin ", end(s)});
    cuStreamBeginCapture(s, GLOBAL);
    launch(s), cuEventRecord(e, s), cuStreamWaitEvent(t, e, 0), launch(t);
    {
        CUevent back = event();
        cuEventRecord(back, t), cuStreamWaitEvent(s, back, 0), launch(t);
        say("a fork that came back and then got another node", line{end(s)});
    }
    cuStreamBeginCapture(s, GLOBAL);
    launch(s), cuEventRecord(e, s), cuStreamWaitEvent(t, e, 0), launch(t);
    {
        CUevent back = event();
        cuEventRecord(back, t), cuStreamWaitEvent(s, back, 0);
        say("a fork that came back, with nothing behind", line{end(s)});
    }
    cuStreamBeginCapture(s, GLOBAL), launch(s), cuEventRecord(e, s);
    cuStreamBeginCapture(u, GLOBAL), launch(u);
    {
        CUresult r = cuStreamWaitEvent(u, e, 0);
        say("waiting for an event of another capture", line{str(r), "; mine ", state(u), ", the other ", state(s), "; ends ", end(u), ", ", end(s)});
    }
    cuStreamBeginCapture(s, GLOBAL), launch(s);
    {
        CUresult r = cuStreamDestroy(s);
        say("destroying the captured stream", line{str(r), ", then ", str(launch(t))});
    }
    s = fresh();
    cuStreamBeginCapture(s, GLOBAL), launch(s), cuEventRecord(e, s);
    say("end, after a record", line{end(s)});
    say("cuEventQuery of the event when the capture is over", line{str(cuEventQuery(e)), ", cuEventSynchronize ", str(cuEventSynchronize(e)), ", waiting for it ", str(cuStreamWaitEvent(t, e, 0))});
    say("    after a record outside", line{str(cuEventRecord(e, t)), ", query ", str((cuStreamSynchronize(t), cuEventQuery(e)))});
    hold(t);
    say("cuStreamBeginCapture of a stream with work in flight", line{str(cuStreamBeginCapture(t, GLOBAL)), ", end ", end(t)});
    quiet();
    cudaGetLastError();
    captured("after all that: nothing else", GLOBAL, [](CUstream) { return CUDA_SUCCESS; });
}

static void events()
{
    printf("-- events\n");
    CUstream s = fresh(), t = fresh();
    CUevent a = event(), b = event(), n = event(CU_EVENT_DISABLE_TIMING);
    float f;
    say("never recorded: cuEventQuery, cuEventSynchronize", line{str(cuEventQuery(a)), ", ", str(cuEventSynchronize(a))});
    say("cuEventElapsedTime: neither recorded", line{str(cuEventElapsedTime(&f, a, b))});
    cuEventRecord(a, s), cuStreamSynchronize(s);
    say("    one not recorded", line{str(cuEventElapsedTime(&f, a, b)), ", ", str(cuEventElapsedTime(&f, b, a))});
    cuEventRecord(n, s), cuStreamSynchronize(s);
    say("    one without timing", line{str(cuEventElapsedTime(&f, a, n))});
    hold(s), cuEventRecord(b, s);
    say("    one not reached", line{str(cuEventElapsedTime(&f, a, b)), ", ", str(cuEventElapsedTime(&f, b, a)), "; the event itself ", str(cuEventElapsedTime(&f, b, b))});
    quiet();
    say("    in the other order", line{str(cuEventElapsedTime(&f, b, a)), (f < 0 ? ", negative" : ", not negative")});
    CUevent gone = event();
    hold(s), cuEventRecord(gone, s);
    CUresult w = cuStreamWaitEvent(t, gone, 0), d = cuEventDestroy(gone);
    launch(t);
    usleep(20000);
    say("a wait whose event is destroyed then: statuses, and the stream meanwhile", line{str(w), ", ", str(d), ", query ", str(cuStreamQuery(t))});
    quiet();
    say("cuEventRecord with a blocking-sync event, cuEventSynchronize", line{[] { CUevent e = event(CU_EVENT_BLOCKING_SYNC); CUresult r = cuEventRecord(e, fresh()); return str(r) + ", " + str(cuEventSynchronize(e)); }()});
}

static void streams()
{
    printf("-- streams\n");
    int low, high, p;
    cuCtxGetStreamPriorityRange(&low, &high);
    say("priorities", line{std::to_string(low), " to ", std::to_string(high)});
    for (int ask : {-100, -3, 7}) {
        CUstream s;
        CUresult r = cuStreamCreateWithPriority(&s, 0, ask);
        cuStreamGetPriority(s, &p);
        say("    asked for / got", line{std::to_string(ask), ": ", str(r), ", ", std::to_string(p)});
    }
    say("cuStreamDestroy of the legacy, the per-thread stream", line{str(cuStreamDestroy(LEGACY)), ", ", str(cuStreamDestroy(OWN))});
    struct { const char *what; CUstream s; } in[] = {{"a blocking stream", fresh(0)}, {"a non-blocking stream", fresh()}, {"this thread's per-thread stream", OWN}, {"the legacy stream", LEGACY}};
    for (auto &i : in) {
        printf("while a kernel runs in %s:\n", i.what);
        auto ask = [&](const char *what, CUstream q) {
            hold(i.s);
            usleep(2000);
            CUresult r = cuStreamQuery(q);
            std::thread([] { usleep(30000); *stop = 1; }).detach();
            double t0 = ms();
            CUresult y = cuStreamSynchronize(q);
            double took = ms() - t0;
            quiet();
            usleep(40000);
            say(what, line{str(r), "; ", str(y), (took > 15 ? ", it waits" : ", it does not wait")});
        };
        ask("    query, synchronise of the legacy stream", LEGACY);
        ask("    of the per-thread stream", OWN);
        ask("    of another blocking stream", fresh(0));
        hold(i.s);
        usleep(2000);
        CUresult other = in_thread([] { return cuStreamQuery(OWN); });
        say("    query of another thread's per-thread stream", line{str(other)});
        quiet();
    }
    std::thread t([] { cuCtxSetCurrent(context); hold(OWN); });
    t.join();
    say("while a kernel runs in the per-thread stream of a thread that is gone: query of mine", line{str(cuStreamQuery(OWN)), ", of the legacy one ", str(cuStreamQuery(LEGACY))});
    quiet();
    static CUresult from[4];
    CUstream s = fresh();
    cuLaunchHostFunc(s, [](void *) {
        CUdeviceptr p;
        from[0] = cuStreamQuery(LEGACY), from[1] = cuMemAlloc(&p, 64), from[2] = (CUresult)launch(LEGACY), from[3] = cuEventQuery(nullptr);
    }, nullptr);
    cuStreamSynchronize(s);
    say("in a host function: cuStreamQuery, cuMemAlloc, a launch, cuEventQuery of no event", line{str(from[0]), ", ", str(from[1]), ", ", str(from[2]), ", ", str(from[3])});
    cudaGetLastError();
}

static void values()
{
    printf("-- values\n");
    void *host;
    CUdeviceptr device, managed;
    cuMemHostAlloc(&host, 64, CU_MEMHOSTALLOC_DEVICEMAP);
    cuMemAlloc(&device, 64);
    cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL);
    static char pageable[64] __attribute__((aligned(64)));
    struct { const char *what; CUdeviceptr p; } in[] = {{"pinned memory", (CUdeviceptr)host}, {"device memory", device}, {"managed memory", managed}, {"pageable memory", (CUdeviceptr)pageable}};
    for (auto &i : in) {
        CUstream s = fresh();
        CUresult w = cuStreamWriteValue32(s, i.p, 7, 0), q = cuStreamWaitValue32(s, i.p, 7, CU_STREAM_WAIT_VALUE_EQ), w8 = cuStreamWriteValue64(s, i.p + 8, 7, 0),
                 odd = cuStreamWriteValue32(s, i.p + 2, 7, 0);
        say(i.what, line{"write ", str(w), ", wait ", str(q), ", 64 bits ", str(w8), ", at an odd address ", str(odd), "; synchronise ", str(cuStreamSynchronize(s))});
    }
    volatile unsigned *v = (volatile unsigned *)host;
    struct { const char *what; unsigned start, value, flags, then; } c[] = {
        {"GEQ 5, memory 4 then 5", 4, 5, CU_STREAM_WAIT_VALUE_GEQ, 5}, {"GEQ 0xfffffff0, memory 0xffffffe0 then 3 (wrapped)", 0xffffffe0, 0xfffffff0, CU_STREAM_WAIT_VALUE_GEQ, 3},
        {"AND 6, memory 1 then 2", 1, 6, CU_STREAM_WAIT_VALUE_AND, 2}, {"NOR 0xf0, memory 0xffffffff then 0xfffffffe", 0xffffffff, 0xf0, CU_STREAM_WAIT_VALUE_NOR, 0xfffffffe}};
    for (auto &i : c) {
        CUstream s = fresh();
        *v = i.start;
        CUresult r = cuStreamWaitValue32(s, (CUdeviceptr)host, i.value, i.flags);
        usleep(5000);
        CUresult before = cuStreamQuery(s);
        *v = i.then;
        usleep(5000);
        CUresult after = cuStreamQuery(s);
        say(i.what, line{str(r), ", ", str(before), " then ", str(after)});
        *v = i.value;
        cuStreamSynchronize(s);
    }
}

static void graphs()
{
    printf("-- graphs\n");
    CUstream s = fresh();
    CUgraph g, h;
    CUgraphExec exec, second;
    CUgraphNode node;
    CUDA_MEM_ALLOC_NODE_PARAMS a = {};
    a.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    a.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    a.bytesize = 1 << 20;
    cuGraphCreate(&g, 0);
    cuGraphAddMemAllocNode(&node, g, nullptr, 0, &a);
    say("an allocation node without a free: cuGraphClone", line{str(cuGraphClone(&h, g))});
    CUgraph parent;
    CUgraphNode child;
    cuGraphCreate(&parent, 0);
    say("    as a child graph", line{str(cuGraphAddChildGraphNode(&child, parent, nullptr, 0, g))});
    say("    cuGraphInstantiate, and again", line{str(cuGraphInstantiate(&exec, g, 0)), ", ", str(cuGraphInstantiate(&second, g, 0))});
    say("    cuGraphLaunch, and again", line{str(cuGraphLaunch(exec, s)), ", ", str(cuGraphLaunch(exec, s))});
    cuStreamSynchronize(s);
    say("    cuMemFreeAsync of it, then cuGraphLaunch", line{str(cuMemFreeAsync(a.dptr, s)), ", ", str(cuGraphLaunch(exec, s))});
    say("    cuMemFree of it, then cuGraphLaunch", line{str((cuStreamSynchronize(s), cuMemFree(a.dptr))), ", ", str(cuGraphLaunch(exec, s))});
    cuStreamSynchronize(s);
    CUresult drop = cuGraphExecDestroy(exec);
    say("    destroyed while it is allocated; then instantiated again, launched", line{str(drop), "; ", str(cuGraphInstantiate(&second, g, 0)), ", ", str(cuGraphLaunch(second, s))});
    cuStreamSynchronize(s);
    cuMemFree(a.dptr);
    cuGraphExecDestroy(second);
    CUresult i = cuGraphInstantiate(&exec, g, CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH), l1 = cuGraphLaunch(exec, s), l2 = cuGraphLaunch(exec, s);
    say("    with auto free: instantiate, launch, launch", line{str(i), ", ", str(l1), ", ", str(l2)});
    cuStreamSynchronize(s);
    say("    cuGraphDestroyNode of it", line{str(cuGraphDestroyNode(node))});
    CUgraph cycle;
    CUgraphNode n1, n2;
    cuGraphCreate(&cycle, 0);
    cuGraphAddEmptyNode(&n1, cycle, nullptr, 0), cuGraphAddEmptyNode(&n2, cycle, &n1, 1);
    CUresult back = cuGraphAddDependencies(cycle, &n2, &n1, nullptr, 1);
    say("a cycle: the edge, cuGraphInstantiate", line{str(back), ", ", str(cuGraphInstantiate(&second, cycle, 0))});
    say("an edge twice; one to itself", line{str(cuGraphAddDependencies(cycle, &n1, &n2, nullptr, 1)), "; ", str(cuGraphAddDependencies(cycle, &n1, &n1, nullptr, 1))});
    say("removing an edge that is not there", line{str(cuGraphRemoveDependencies(cycle, &n1, &n1, nullptr, 1))});
    CUgraph empty;
    cuGraphCreate(&empty, 0);
    CUresult ei = cuGraphInstantiate(&second, empty, 0);
    say("an empty graph: instantiate, launch", line{str(ei), ", ", str(cuGraphLaunch(second, s))});

    auto capture = [&](std::function<void(CUstream)> f) { CUgraph c; cuStreamBeginCapture(s, RELAXED); f(s); cuStreamEndCapture(s, &c); return c; };
    CUdeviceptr p = (CUdeviceptr)x;
    auto update = [&](const char *what, CUgraph from, CUgraph to) {
        CUgraphExec e;
        CUgraphExecUpdateResultInfo info = {};
        cuGraphInstantiate(&e, from, 0);
        CUresult r = cuGraphExecUpdate(e, to, &info);
        say(what, line{str(r), ", result ", std::to_string((int)info.result)});
        cuGraphExecDestroy(e);
    };
    CUgraph one = capture([](CUstream s) { launch(s); }), two = capture([](CUstream s) { launch(s), launch(s); });
    update("cuGraphExecUpdate: the same", one, one);
    update("    more nodes", one, two);
    update("    another kernel", one, capture([](CUstream s) { store<<<1, 1, 0, s>>>(x, 1); }));
    update("    another grid", one, capture([](CUstream s) { add<<<7, 3, 0, s>>>(x); }));
    update("    a fill instead of a kernel", one, capture([&](CUstream s) { cuMemsetD32Async(p, 0, 4, s); }));
    CUgraph fill = capture([&](CUstream s) { cuMemsetD32Async(p, 0, 4, s); });
    update("    a fill of another width", fill, capture([&](CUstream s) { cuMemsetD32Async(p, 0, 8, s); }));
    update("    a fill of another element size", fill, capture([&](CUstream s) { cuMemsetD8Async(p, 0, 16, s); }));
    update("    a fill of several rows", fill, capture([&](CUstream s) { cuMemsetD2D32Async(p, 64, 0, 4, 3, s); }));
    CUgraph copy = capture([&](CUstream s) { cuMemcpyDtoDAsync(p, p + 64, 16, s); });
    update("    a copy of other bytes", copy, capture([&](CUstream s) { cuMemcpyDtoDAsync(p, p + 128, 32, s); }));
    static int pageable[64];
    void *pinned;
    cuMemHostAlloc(&pinned, 256, 0);
    update("    a copy from the host instead", copy, capture([&](CUstream s) { cuMemcpyHtoDAsync(p, pageable, 16, s); }));
    update("    a copy from pinned memory to pageable", capture([&](CUstream s) { cuMemcpyHtoDAsync(p, pinned, 16, s); }), capture([&](CUstream s) { cuMemcpyHtoDAsync(p, pageable, 16, s); }));
    update("    another host function", capture([](CUstream s) { cuLaunchHostFunc(s, [](void *) {}, nullptr); }), capture([](CUstream s) { cuLaunchHostFunc(s, [](void *q) { (void)q; }, (void *)8); }));

    // updated while a launch of it is in flight
    CUgraphExec e;
    *stop = 0;
    CUgraph slow = capture([](CUstream s) { until<<<1, 1, 0, s>>>(stop); store<<<1, 1, 0, s>>>(x, 1); }), slow2 = capture([](CUstream s) { until<<<1, 1, 0, s>>>(stop); store<<<1, 1, 0, s>>>(x, 2); });
    cuGraphInstantiate(&e, slow, 0);
    cuGraphLaunch(e, s);
    CUgraphExecUpdateResultInfo info;
    CUresult u = cuGraphExecUpdate(e, slow2, &info);
    *stop = 1;
    cuStreamSynchronize(s);
    int v;
    cuMemcpyDtoH(&v, (CUdeviceptr)x, 4);
    say("updated while a launch is in flight: the launch ran", line{str(u), ", with the ", (v == 1 ? "old" : "new"), " value"});
    *stop = 0;
    cuGraphLaunch(e, s);
    double t0 = ms();
    std::thread([] { usleep(30000); *stop = 1; }).detach();
    CUresult gone = cuGraphExecDestroy(e);
    double took = ms() - t0;
    cuStreamSynchronize(s);
    cuMemcpyDtoH(&v, (CUdeviceptr)x, 4);
    say("cuGraphExecDestroy while a launch is in flight", line{str(gone), (took > 15 ? ", it waits" : ", it does not wait"), ", the launch ", (v == 2 ? "ran" : "did not run")});
    quiet();
}

static void pools()
{
    printf("-- pools\n");
    auto reuse = [](const char *what, bool event_between, bool same, bool running, size_t bytes) {
        CUstream a = fresh(), b = same ? a : fresh();
        CUdeviceptr p, q;
        CUmemoryPool pool;
        CUmemPoolProps props = {};
        props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
        props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
        cuMemPoolCreate(&pool, &props);
        cuMemAllocFromPoolAsync(&p, bytes, pool, a);
        cuStreamSynchronize(a);
        if (running) hold(a);
        cuMemFreeAsync(p, a);
        CUevent e = event();
        if (event_between) cuEventRecord(e, a), cuStreamWaitEvent(b, e, 0);
        if (!running) cuStreamSynchronize(a);
        cuMemAllocFromPoolAsync(&q, bytes, pool, b);
        CUresult r = cuStreamQuery(b);
        say(what, line{std::string(p == q ? "the same address" : "another address"), ", stream ", str(r)});
        quiet();
        cuMemFreeAsync(q, b);
        cuStreamSynchronize(b);
        cuMemPoolDestroy(pool);
    };
    reuse("freed and allocated in one stream, its kernel still runs", false, true, true, 4 << 20);
    reuse("in another stream, no event, the kernel still runs", false, false, true, 4 << 20);
    reuse("in another stream, behind an event, the kernel still runs", true, false, true, 4 << 20);
    reuse("in another stream, no event, the host has waited for the free", false, false, false, 4 << 20);
    CUmemoryPool pool;
    CUmemPoolProps props = {};
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    props.maxSize = 64 << 20;
    CUstream s = fresh();
    CUdeviceptr p, q;
    CUresult c = cuMemPoolCreate(&pool, &props), a = cuMemAllocFromPoolAsync(&p, 48 << 20, pool, s), b = cuMemAllocFromPoolAsync(&q, 48 << 20, pool, s);
    say("a pool of 64 MB: create, 48 MB, 48 MB more", line{str(c), ", ", str(a), ", ", str(b)});
    cuMemFreeAsync(p, s);
    say("    after the free of the first", line{str(cuMemAllocFromPoolAsync(&q, 48 << 20, pool, s))});
    say("    cuMemPoolDestroy with memory in use, cuMemFreeAsync then", line{str(cuMemPoolDestroy(pool)), ", ", str(cuMemFreeAsync(q, s))});
    say("    again", line{str(cuMemFreeAsync(q, s))});
    cuStreamSynchronize(s);
    CUresult z = cuMemAllocAsync(&p, 0, s);
    say("cuMemAllocAsync of 0 bytes", line{str(z)});
    cuMemAllocAsync(&p, 100, s), cuMemAllocAsync(&q, 100, s);
    say("two allocations of 100 bytes lie apart by", line{std::to_string((long long)(q - p))});
    CUdeviceptr m;
    cuMemAlloc(&m, 64);
    say("cuMemFreeAsync of memory of cuMemAlloc; of no memory", line{str(cuMemFreeAsync(m, s)), "; ", str(cuMemFreeAsync(12345, s))});
    say("cuMemFree of memory of cuMemAllocAsync", line{str(cuMemFree(p))});
    std::string pitches;
    for (size_t width : {1, 100, 512, 513, 1000, 4096, 5000, 100000}) {
        size_t pitch;
        CUdeviceptr r;
        cuMemAllocPitch(&r, &pitch, width, 3, 4);
        pitches += " " + std::to_string(width) + ":" + std::to_string(pitch);
    }
    say("cuMemAllocPitch, width:pitch", line{pitches});
    size_t pitch;
    CUdeviceptr r;
    say("    width 0, height 0, element 3", line{str(cuMemAllocPitch(&r, &pitch, 0, 3, 4)), ", ", str(cuMemAllocPitch(&r, &pitch, 8, 0, 4)), ", ", str(cuMemAllocPitch(&r, &pitch, 8, 3, 3))});
    static char page[1 << 16] __attribute__((aligned(4096)));
    CUresult h = cuMemHostRegister(page + 100, 1000, CU_MEMHOSTREGISTER_DEVICEMAP), again = cuMemHostRegister(page + 200, 1000, CU_MEMHOSTREGISTER_DEVICEMAP), next = cuMemHostRegister(page + 2000, 100, CU_MEMHOSTREGISTER_DEVICEMAP);
    CUdeviceptr at = 0;
    cuMemHostGetDevicePointer(&at, page + 100, 0);
    say("cuMemHostRegister, of an overlapping range, of another range of the same page", line{str(h), ", ", str(again), ", ", str(next), (at == (CUdeviceptr)(page + 100) ? "; the host's address" : "; another address")});
    say("cuMemHostUnregister of its middle, of it, again", line{str(cuMemHostUnregister(page + 150)), ", ", str(cuMemHostUnregister(page + 100)), ", ", str(cuMemHostUnregister(page + 100))});
}

int main(int argc, char **argv)
{
    cuInit(0);
    cudaFree(nullptr);
    cuCtxGetCurrent(&context);
    cudaHostAlloc((void **)&stop, 4096, cudaHostAllocMapped);
    cudaMalloc(&x, 4096);
    *stop = 1;
    hold(0), *stop = 1, launch(0), store<<<1, 1>>>(x, 0), quiet();
    setvbuf(stdout, nullptr, _IOLBF, 0);
    if (argc > 1 && !strcmp(argv[1], "destroyed")) {   // each may end the process
        std::string which = argc > 2 ? argv[2] : "wait";
        CUstream s = fresh(), t = fresh();
        CUevent e = event();
        cuEventRecord(e, s), cuStreamSynchronize(s);
        cuEventDestroy(e), cuStreamDestroy(t);
        if (which == "wait") say("cuStreamWaitEvent for an event that was destroyed before", line{str(cuStreamWaitEvent(s, e, 0))});
        if (which == "query") say("cuEventQuery of it", line{str(cuEventQuery(e))});
        if (which == "twice") say("cuEventDestroy of it again", line{str(cuEventDestroy(e))});
        if (which == "stream") say("cuStreamQuery of a stream that was destroyed before", line{str(cuStreamQuery(t))});
        return 0;
    }
    if (argc > 1 && !strcmp(argv[1], "fault")) {
        CUstream s = fresh(), t = fresh();
        CUevent e = event();
        CUdeviceptr p;
        crash<<<1, 1, 0, s>>>((int *)8);
        cuEventRecord(e, s);
        double t0 = ms();
        CUresult first;
        while ((first = cuStreamQuery(s)) == CUDA_ERROR_NOT_READY && ms() - t0 < 5000) ;
        say("a fault: the first answer of its stream but 600", line{str(first), ms() - t0 > 100 ? ", after more than 100 ms" : ""});
        say("after a fault in another stream: cuStreamQuery", line{str(cuStreamQuery(t))});
        say("cuStreamQuery of its stream, again", line{str(cuStreamQuery(s)), ", ", str(cuStreamQuery(s))});
        say("cuEventQuery, a launch, cuMemAlloc, cuMemAllocAsync", line{str(cuEventQuery(e)), ", ", str(launch(t)), ", ", str(cuMemAlloc(&p, 64)), ", ", str(cuMemAllocAsync(&p, 64, t))});
        say("cuStreamDestroy, cuEventDestroy, cuStreamCreate", line{str(cuStreamDestroy(t)), ", ", str(cuEventDestroy(e)), ", ", str(cuStreamCreate(&t, 0))});
        say("cuMemFree, cuCtxSynchronize, cuCtxSetCurrent", line{str(cuMemFree((CUdeviceptr)x)), ", ", str(cuCtxSynchronize()), ", ", str(cuCtxSetCurrent(context))});
        return 0;
    }
    streams();
    events();
    values();
    captures();
    graphs();
    pools();
    return 0;
}
