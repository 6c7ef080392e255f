// regen: no
// stress SEED: threads, streams, events, graphs, host functions and allocations in random order from a seed, with a result that is known.
//
// Every buffer has a copy on the host that is brought up to date when an operation on it is issued. An operation waits, by events, for those that it must follow: a write for all earlier
// ones on the buffer, a read for the last write. So each order that the device may choose has the same result, nothing races, and nothing is left at the end.
// Exit 0: all values are right.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <thread>
#include <vector>

enum { MOST = 700, STREAMS = 3, THREADS = 3, OWN = 4, SHARED = 3, STEPS = 120 };
typedef unsigned u32;

#define TRY(call)                                                                                             \
    do {                                                                                                      \
        cudaError_t tried = (call);                                                                           \
        if (tried != cudaSuccess) {                                                                           \
            printf("line %d: %s: %s\n", __LINE__, #call, cudaGetErrorName(tried));                            \
            exit(3);                                                                                          \
        }                                                                                                     \
    } while (0)

__global__ void fill(u32 *x, u32 n, u32 v) { u32 i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = v * (i + 1); }
__global__ void add(u32 *x, const u32 *y, u32 n) { u32 i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] += y[i]; }
__global__ void turn(u32 *x, u32 n) // reverses within a block, through shared memory
{
    __shared__ u32 tile[128];
    u32 from = blockIdx.x * blockDim.x, in = min(blockDim.x, n - from);
    if (threadIdx.x < in) tile[threadIdx.x] = x[from + threadIdx.x];
    __syncthreads();
    if (threadIdx.x < in) x[from + threadIdx.x] = tile[in - 1 - threadIdx.x] * 3 + 1;
}
static u32 blocks(u32 n) { return (n + 127) / 128; }

struct buffer {
    u32 *p = nullptr;
    u32 n = 0;
    std::vector<u32> want;                           // what it holds once all that was issued is done
    cudaEvent_t written, read[THREADS * STREAMS];    // behind the last write; behind the last read of a stream
    bool reads[THREADS * STREAMS] = {};              // which of them count
    std::mutex lock;
};
static buffer shared[SHARED];
static std::shared_mutex capturing; // a device is not synchronised while a stream of it is captured
static std::atomic<u32> wrong, calls, calls_wanted;

struct worker {
    u32 id;
    std::mt19937 random;
    cudaStream_t stream[STREAMS];
    buffer own[OWN];
    u32 below(u32 n) { return random() % n; }

    // an operation in stream s is about to use b, and has done so
    void before(buffer &b, u32 s, bool writes)
    {
        TRY(cudaStreamWaitEvent(stream[s], b.written, 0));
        for (u32 k = 0; k < THREADS * STREAMS && writes; k++)
            if (b.reads[k]) TRY(cudaStreamWaitEvent(stream[s], b.read[k], 0));
    }
    void after(buffer &b, u32 s, bool writes)
    {
        u32 mine = id * STREAMS + s;
        if (writes) memset(b.reads, 0, sizeof b.reads);
        else b.reads[mine] = true;
        TRY(cudaEventRecord(writes ? b.written : b.read[mine], stream[s]));
    }
    void make(buffer &b, u32 s)
    {
        b.n = 1 + below(MOST);
        if (below(2)) TRY(cudaMallocAsync((void **)&b.p, b.n * 4, stream[s]));
        else TRY(cudaMalloc(&b.p, b.n * 4));
        u32 v = random();
        fill<<<blocks(b.n), 128, 0, stream[s]>>>(b.p, b.n, v);
        b.want.resize(b.n);
        for (u32 i = 0; i < b.n; i++) b.want[i] = v * (i + 1);
        after(b, s, true);
    }
    void drop(buffer &b, u32 s)
    {
        before(b, s, true);
        if (below(2)) TRY(cudaFreeAsync(b.p, stream[s]));
        else {
            TRY(cudaStreamSynchronize(stream[s]));
            TRY(cudaFree(b.p));
        }
    }
    // one operation on x, perhaps with y, issued to s; the values follow
    void change(buffer &x, buffer &y, u32 s)
    {
        u32 n = std::min(x.n, y.n), v = random();
        switch (below(5)) {
        case 0:
            fill<<<blocks(x.n), 128, 0, stream[s]>>>(x.p, x.n, v);
            for (u32 i = 0; i < x.n; i++) x.want[i] = v * (i + 1);
            break;
        case 1:
            add<<<blocks(n), 128, 0, stream[s]>>>(x.p, y.p, n);
            for (u32 i = 0; i < n; i++) x.want[i] += y.want[i];
            break;
        case 2:
            turn<<<blocks(x.n), 128, 0, stream[s]>>>(x.p, x.n);
            for (u32 from = 0; from < x.n; from += 128) {
                u32 in = std::min(128u, x.n - from);
                std::vector<u32> old(x.want.begin() + from, x.want.begin() + from + in);
                for (u32 i = 0; i < in; i++) x.want[from + i] = old[in - 1 - i] * 3 + 1;
            }
            break;
        case 3:
            if (&x == &y) break;
            TRY(cudaMemcpyAsync(x.p, y.p, n * 4, cudaMemcpyDeviceToDevice, stream[s]));
            for (u32 i = 0; i < n; i++) x.want[i] = y.want[i];
            break;
        default:
            TRY(cudaMemsetAsync(x.p, v & 255, n * 4, stream[s]));
            for (u32 i = 0; i < n; i++) x.want[i] = (v & 255) * 0x01010101u;
        }
        TRY(cudaGetLastError());
    }
    void operation(buffer &x, buffer &y, u32 s)
    {
        before(x, s, true);
        if (&x != &y) before(y, s, false);
        change(x, y, s);
        if (&x != &y) after(y, s, false);
        after(x, s, true);
    }
    void compare(buffer &b, u32 s)
    {
        u32 *h;
        before(b, s, false);
        TRY(cudaMallocHost(&h, b.n * 4));
        TRY(cudaMemcpyAsync(h, b.p, b.n * 4, cudaMemcpyDeviceToHost, stream[s]));
        after(b, s, false);
        if (below(2)) TRY(cudaStreamSynchronize(stream[s]));
        else if (below(2)) TRY(cudaEventSynchronize(b.read[id * STREAMS + s]));
        else
            while (cudaEventQuery(b.read[id * STREAMS + s]) == cudaErrorNotReady) std::this_thread::yield();
        for (u32 i = 0; i < b.n; i++)
            if (h[i] != b.want[i] && !wrong++) printf("thread %u: element %u of %u is %u, not %u\n", id, i, b.n, h[i], b.want[i]);
        TRY(cudaFreeHost(h));
    }
    // operations on buffers of this thread, in two streams that are captured, launched several times
    void graph(u32 s)
    {
        cudaGraph_t g;
        cudaGraphExec_t e;
        cudaEvent_t fork, join;
        u32 t = (s + 1) % STREAMS, times = 1 + below(3), count = 1 + below(4);
        std::mt19937 again = random;
        buffer &x = own[0], &y = own[1], &z = own[2];
        for (buffer *b : { &x, &y, &z }) before(*b, s, true);
        TRY(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
        TRY(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
        capturing.lock_shared();
        TRY(cudaStreamBeginCapture(stream[s], cudaStreamCaptureModeThreadLocal));
        TRY(cudaEventRecord(fork, stream[s]));
        TRY(cudaStreamWaitEvent(stream[t], fork, 0));
        for (u32 k = 0; k < count; k++) {
            change(x, x, s);
            change(y, z, t);
        }
        TRY(cudaEventRecord(join, stream[t]));
        TRY(cudaStreamWaitEvent(stream[s], join, 0));
        TRY(cudaStreamEndCapture(stream[s], &g));
        capturing.unlock_shared();
        TRY(cudaGraphInstantiate(&e, g, 0));
        TRY(cudaGraphLaunch(e, stream[s]));
        std::mt19937 behind = random;
        for (u32 n = 1; n < times; n++) {
            TRY(cudaGraphLaunch(e, stream[s]));
            replay(x, y, z, count, again);
        }
        random = behind;
        for (buffer *b : { &x, &y, &z }) after(*b, s, true);
        if (below(2)) TRY(cudaStreamSynchronize(stream[s]));
        TRY(cudaGraphExecDestroy(e));
        TRY(cudaGraphDestroy(g));
        TRY(cudaEventDestroy(fork));
        TRY(cudaEventDestroy(join));
    }
    // the values of a graph that runs once more: the same operations, captured into a graph that is thrown away
    void replay(buffer &x, buffer &y, buffer &z, u32 count, const std::mt19937 &again)
    {
        cudaGraph_t g;
        cudaStream_t kept = stream[0], s;
        random = again;
        TRY(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        capturing.lock_shared();
        TRY(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
        stream[0] = s;
        for (u32 k = 0; k < count; k++) {
            change(x, x, 0);
            change(y, z, 0);
        }
        stream[0] = kept;
        TRY(cudaStreamEndCapture(s, &g));
        capturing.unlock_shared();
        TRY(cudaGraphDestroy(g));
        TRY(cudaStreamDestroy(s));
    }
    static void CUDART_CB called(void *) { calls++; }
    void step()
    {
        u32 s = below(STREAMS), what = below(20);
        if (what < 8) operation(own[below(OWN)], own[below(OWN)], s);
        else if (what < 10) {
            buffer &b = shared[below(SHARED)];
            std::lock_guard<std::mutex> held(b.lock);
            operation(b, own[below(OWN)], s);
        } else if (what < 12) {
            buffer &b = shared[below(SHARED)];
            std::lock_guard<std::mutex> held(b.lock);
            operation(own[below(OWN)], b, s);
        } else if (what < 14) compare(own[below(OWN)], s);
        else if (what == 14) {
            buffer &b = shared[below(SHARED)];
            std::lock_guard<std::mutex> held(b.lock);
            if (below(2)) compare(b, s);
            else {
                drop(b, s);
                make(b, s);
            }
        } else if (what == 15) {
            buffer &b = own[below(OWN)];
            drop(b, s);
            make(b, s);
        } else if (what < 18) graph(s);
        else if (what == 18) {
            calls_wanted++;
            TRY(cudaLaunchHostFunc(stream[s], called, nullptr));
        } else if (below(2)) {
            std::lock_guard<std::shared_mutex> held(capturing);
            TRY(cudaDeviceSynchronize());
        } else { // a stream that goes while its operations run; its successor comes behind them
            cudaEvent_t last;
            TRY(cudaEventCreateWithFlags(&last, cudaEventDisableTiming));
            TRY(cudaEventRecord(last, stream[s]));
            TRY(cudaStreamDestroy(stream[s]));
            TRY(cudaStreamCreateWithFlags(&stream[s], below(2) ? cudaStreamNonBlocking : cudaStreamDefault));
            TRY(cudaStreamWaitEvent(stream[s], last, 0));
            TRY(cudaEventDestroy(last));
        }
    }
    void run()
    {
        for (u32 k = 0; k < STEPS; k++) step();
        for (buffer &b : own) compare(b, 0);
    }
};

static void events(buffer &b, bool create)
{
    if (create) TRY(cudaEventCreateWithFlags(&b.written, cudaEventDisableTiming));
    else TRY(cudaEventDestroy(b.written));
    for (cudaEvent_t &e : b.read)
        if (create) TRY(cudaEventCreateWithFlags(&e, cudaEventDisableTiming));
        else TRY(cudaEventDestroy(e));
}

int main(int argc, char **argv)
{
    u32 seed = argc > 1 ? (u32)atoi(argv[1]) : 1;
    std::vector<std::unique_ptr<worker>> workers;
    std::vector<std::thread> threads;
    for (u32 id = 0; id < THREADS; id++) {
        workers.emplace_back(new worker);
        worker &w = *workers.back();
        w.id = id;
        w.random.seed(seed * 100 + id);
        for (cudaStream_t &s : w.stream) TRY(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
        for (buffer &b : w.own) {
            events(b, true);
            w.make(b, w.below(STREAMS));
        }
    }
    for (buffer &b : shared) {
        events(b, true);
        workers[0]->make(b, 0);
    }
    for (auto &w : workers) threads.emplace_back([&w] { w->run(); });
    for (std::thread &t : threads) t.join();
    for (buffer &b : shared) {
        workers[0]->compare(b, 1);
        workers[0]->drop(b, 1);
        events(b, false);
    }
    for (auto &w : workers) {
        for (buffer &b : w->own) {
            w->drop(b, 0);
            events(b, false);
        }
        for (cudaStream_t s : w->stream) TRY(cudaStreamDestroy(s));
    }
    TRY(cudaDeviceSynchronize());
    if (calls != calls_wanted) printf("%u host functions were called, of %u\n", calls.load(), calls_wanted.load());
    printf("seed %u: %s\n", seed, wrong || calls != calls_wanted ? "wrong" : "right");
    return wrong || calls != calls_wanted;
}
