// ring_forms: forms of a ring's message side by side in one run, to choose the fastest correct one (docs/reference/ring.md).
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -I../../include -o ring_forms ring_forms.cu && timeout 60 ./ring_forms [TRIPS]
//
// regen: no
// First pipes (lk_ring::pipe) between two warps in a block, in a cluster and across blocks: 4 or 16 words, addresses of the window of shared memory or generic ones, a
// vote of all lanes or a wait of each lane for its own word, 8 or 32 slots, and a form in which every lane reads the whole message; beside a bare flag. Then host and
// device: a line that is looked at by one load at a time, and two copies of it that are looked at in turn, so that two looks are under way half a bus read apart; with
// work of 0 to 800 ns between look and answer, since a round trip is a whole number of looks. Every message is looked at by both sides.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <immintrin.h>
#include <lockstep_ring.cuh>
#include <vector>
using namespace lk_ring;
#define CHECK(x) do { cudaError_t e_ = (x); if (e_) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)

__device__ __forceinline__ u32 ticks() { u32 t; asm volatile("mov.u32 %0, %%clock;" : "=r"(t)); return t; }
__device__ __forceinline__ u64 ticks64() { u64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)); return t; }
__device__ __forceinline__ u32 word_of(u32 k, u32 i) { return k * 0x9e3779b9u + i * 0x85ebca6bu; }

// ---- forms: a side sends or takes the words of message k, all of them flipped or not ----
enum { BYTES = 16 };
// A bare flag, one lane.
template <scope S, bool WINDOW> struct bare {
    static const bool one = true;
    u64 at;
    u32 next;
    __device__ bare(void *memory, u32, bool) : at(WINDOW ? (u64)__cvta_generic_to_shared(memory) : (u64)memory), next(1) {}
    __device__ __forceinline__ void send(u32, u32) { store_word<S, WINDOW>(at, next++); }
    __device__ __forceinline__ bool take(u32, u32) { while (load_word<S, WINDOW>(at) != next) {} next++; return true; }
    __device__ __forceinline__ void ready() {}
    __device__ __forceinline__ void end() {}
};
// A pipe. VOTE: put() and look() in loops; else place() behind reserve(), and pull(), in which each lane waits for its own word.
template <scope S, u32 WORDS, bool WINDOW, bool VOTE> struct piped {
    static const bool one = false;
    pipe<S, false, WORDS, WINDOW> p;
    __device__ piped(void *memory, u32 slots, bool sends) : p(memory, slots, BYTES, sends) {}
    __device__ __forceinline__ void send(u32 k, u32 flip)
    {
        u32 w = word_of(k, threadIdx.x % 32 % WORDS) ^ flip;
        if (VOTE) while (!p.put(w, BYTES)) {}
        else p.place(w, BYTES);
    }
    __device__ __forceinline__ bool take(u32 k, u32 flip)
    {
        u32 word, bytes;
        if (VOTE) while (!p.look(&word, &bytes)) {}
        else p.pull(&word, &bytes);
        return bytes == BYTES && word == (word_of(k, threadIdx.x % 32 % WORDS) ^ flip);
    }
    __device__ __forceinline__ void ready() { if (!VOTE) p.reserve(); }
    __device__ __forceinline__ void end() { p.done(); }
};
// Four words in one sector, which every lane reads whole: neither vote nor shuffle, and every lane has the message.
template <scope S, bool WINDOW> struct whole {
    static const bool one = false;
    u64 at, begin, last;
    u32 number, lane;
    __device__ whole(void *memory, u32 slots, bool)
        : at(WINDOW ? (u64)__cvta_generic_to_shared(memory) : (u64)memory), begin(at), last(at + (u64)(slots - 1) * LK_RING_LINE), number(1), lane(threadIdx.x % 32)
    {
    }
    __device__ __forceinline__ void step() { number++; at = at == last ? begin : at + LK_RING_LINE; }
    static __device__ __forceinline__ void load2(u64 a, u64 &x, u64 &y)
    {
        if (WINDOW) asm volatile("ld.relaxed.cta.shared::cta.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "r"((u32)a) : "memory");
        else if (S == gpu) asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(a) : "memory");
        else asm volatile("ld.relaxed.cluster.v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(a) : "memory");
    }
    __device__ __forceinline__ void send(u32 k, u32 flip)
    {
        if (lane < 4) store_word<S, WINDOW>(at + 8 * lane, (u64)number << 32 | (word_of(k, lane) ^ flip));
        step();
    }
    __device__ __forceinline__ bool take(u32 k, u32 flip)
    {
        u64 a, b, c, d;
        do {
            load2(at, a, b);
            load2(at + 16, c, d);
        } while ((((u32)(a >> 32) ^ number) | ((u32)(b >> 32) ^ number) | ((u32)(c >> 32) ^ number) | ((u32)(d >> 32) ^ number)) != 0);
        __syncwarp();
        return !(((u32)a ^ word_of(k, 0) ^ flip) | ((u32)b ^ word_of(k, 1) ^ flip) | ((u32)c ^ word_of(k, 2) ^ flip) | ((u32)d ^ word_of(k, 3) ^ flip));
    }
    __device__ __forceinline__ void ready() {}
    __device__ __forceinline__ void end() { step(); }
};

struct where { u32 n, slots; u32 *time; u64 *out; unsigned char *memory; };
template <class F> __device__ void ask(F &a, F &b, const where &w)
{
    u32 lane = threadIdx.x % 32;
    u64 right = 0, began = ticks64(), ns = now();
    for (u32 k = 0; k < w.n; k++) {
        a.ready();
        u32 t = ticks();
        a.send(k, 0);
        bool is = b.take(k, ~0u);
        t = ticks() - t;
        b.end();
        right += is;
        if (!lane) w.time[k] = t;
    }
    if (lane) return;
    w.out[0] = right;
    w.out[1] = ticks64() - began;
    w.out[2] = now() - ns;
}
template <class F> __device__ void reply(F &a, F &b, const where &w)
{
    u64 right = 0;
    for (u32 k = 0; k < w.n; k++) {
        b.ready();
        right += a.take(k, 0);
        b.send(k, ~0u);
        a.end();
    }
    if (threadIdx.x % 32 == 0) w.out[3] = right;
}
template <class F> __device__ void talk(void *there, void *back, bool asks, const where &w)
{
    if (F::one && threadIdx.x % 32) return;
    F a(there, w.slots, asks), b(back, w.slots, !asks);
    if (asks) ask(a, b, w);
    else reply(a, b, w);
}

enum { ROOM = 33 * LK_RING_LINE }; // of one direction: up to 32 slots
template <class F> __global__ void in_block(where w)
{
    __shared__ __align__(128) unsigned char m[2][ROOM];
    for (u32 i = threadIdx.x; i < sizeof m / 8; i += blockDim.x) ((u64 *)m)[i] = 0;
    __syncthreads();
    talk<F>(m[0], m[1], threadIdx.x < 32, w);
}
template <class F> __global__ void __cluster_dims__(2, 1, 1) in_cluster(where w)
{
    __shared__ __align__(128) unsigned char m[ROOM];
    u32 me;
    u64 other;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));
    for (u32 i = threadIdx.x; i < sizeof m / 8; i += blockDim.x) ((u64 *)m)[i] = 0;
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(m), "r"(1 - me));
    talk<F>(me ? m : (void *)other, me ? (void *)other : m, !me, w); // a message lies in the shared memory of who gets it
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
template <class F> __global__ void across(where w) { talk<F>(w.memory, w.memory + ROOM, blockIdx.x == 0, w); }

static u32 trips = 20000;
static void pair(const char *name, void (*kernel)(where), int grid, int block, u32 slots)
{
    where w = {trips, slots, nullptr, nullptr, nullptr};
    CHECK(cudaMalloc(&w.time, 4 * w.n));
    CHECK(cudaMalloc(&w.out, 64));
    CHECK(cudaMalloc(&w.memory, 2 * ROOM));
    CHECK(cudaMemset(w.out, 0, 64));
    CHECK(cudaMemset(w.memory, 0, 2 * ROOM));
    printf("%-44s %2u slots ", name, slots);
    fflush(stdout);
    kernel<<<grid, block>>>(w);
    CHECK(cudaDeviceSynchronize());
    std::vector<u32> t(w.n);
    u64 out[4];
    CHECK(cudaMemcpy(t.data(), w.time, 4 * w.n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(out, w.out, sizeof out, cudaMemcpyDeviceToHost));
    std::sort(t.begin(), t.end());
    double ns = out[1] ? (double)out[2] / out[1] : 0.5;
    printf("one way p50 %6.1f ns (%6.1f ticks)  p10 %6.1f  p99 %6.1f  mean of all %6.1f  %s\n", t[w.n / 2] * ns / 2, t[w.n / 2] / 2.0, t[w.n / 10] * ns / 2, t[w.n * 99 / 100] * ns / 2,
           (double)out[2] / w.n / 2, out[0] == w.n && out[3] == w.n ? "right" : "WRONG");
    cudaFree(w.time), cudaFree(w.out), cudaFree(w.memory);
}

// ---- host and device ----
struct link { u64 *in, *copy, *out; u32 n, words, copies, work; };
__device__ __forceinline__ void work(u32 n) { for (u32 from = ticks(); ticks() - from < n;) {} }
__global__ void answer(link l)
{
    u32 lane = threadIdx.x, word = lane % 16;
    if (!l.words && lane) return;
    const u64 *a = l.in + (l.words ? word : 0), *b = (l.copies == 2 ? l.copy : l.in) + (l.words ? word : 0);
    u64 *out = l.out + (l.words ? word : 0);
    u32 lanes = l.words ? ~0u : 1u, k = 1;
    u64 va = load_relaxed<sys>(a), vb = 0, v;
    if (l.copies == 2) {
        work(1100);
        vb = load_relaxed<sys>(b);
    }
    while (k <= l.n) {
        v = va;
        bool here = __all_sync(lanes, (u32)(v >> 32) == k); // a look that is used is followed by the next one at once
        va = load_relaxed<sys>(a);
        if (!here && l.copies == 2) {
            v = vb;
            here = __all_sync(lanes, (u32)(v >> 32) == k);
            vb = load_relaxed<sys>(b);
        }
        if (!here) continue;
        if (l.work) work(l.work);
        if (lane < 16) store_relaxed<sys>(out, (u64)k << 32 | (u32)~v);
        k++;
    }
}
static double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static void round_trip(const char *name, u32 words, u32 copies, u32 work_ticks)
{
    u64 *m;
    CHECK(cudaHostAlloc((void **)&m, 1 << 16, cudaHostAllocMapped | cudaHostAllocPortable));
    memset(m, 0, 1 << 16);
    u32 n = trips / 4, count = words ? 16 : 1, wrong = 0;
    link l = {m, m + 1024, m + 2048, n, words, copies, work_ticks};
    printf("%-40s %u %s, work of %4u ticks ", name, copies, copies == 1 ? "line  " : "copies", work_ticks);
    fflush(stdout);
    answer<<<1, 32>>>(l);
    std::vector<double> t(n);
    for (u32 k = 1; k <= n; k++) {
        double from = seconds();
        for (u32 i = 0; i < count; i++) __atomic_store_n(l.in + i, (u64)k << 32 | (k * 7 + i), __ATOMIC_RELAXED);
        for (u32 i = 0; i < count && copies == 2; i++) __atomic_store_n(l.copy + i, (u64)k << 32 | (k * 7 + i), __ATOMIC_RELAXED);
        for (u32 i = 0; i < count; i++) {
            u64 v;
            while ((v = __atomic_load_n(l.out + i, __ATOMIC_RELAXED)) >> 32 != k) _mm_pause();
            wrong += (u32)v != (u32)~(k * 7 + i);
        }
        t[k - 1] = seconds() - from;
    }
    CHECK(cudaDeviceSynchronize());
    std::sort(t.begin(), t.end());
    printf("p50 %6.2f us  p10 %6.2f  p99 %6.2f  %s\n", t[n / 2] * 1e6, t[n / 10] * 1e6, t[n * 99 / 100] * 1e6, wrong ? "WRONG" : "right");
    cudaFreeHost(m);
}

int main(int argc, char **argv)
{
    trips = argc > 1 ? atoi(argv[1]) : trips;
    setvbuf(stdout, nullptr, _IOLBF, 0);
#define BLOCK(...) pair(#__VA_ARGS__, in_block<__VA_ARGS__>, 1, 64, 32);
#define CLUSTER(...) pair(#__VA_ARGS__, in_cluster<__VA_ARGS__>, 2, 32, 32);
#define ACROSS(SLOTS, ...) pair(#__VA_ARGS__, across<__VA_ARGS__>, 2, 32, SLOTS);
    puts("piped<scope, words, window, vote>, whole<scope, window>, bare<scope, window>");
    for (int turn = 0; turn < 2; turn++) {
        puts("in a block");
        BLOCK(bare<cta, false>) BLOCK(bare<cta, true>)
        pair("piped<cta, 16, false, true>", in_block<piped<cta, 16, false, true>>, 1, 64, 8);
        BLOCK(piped<cta, 16, false, true>) BLOCK(piped<cta, 16, false, false>) BLOCK(piped<cta, 16, true, true>) BLOCK(piped<cta, 16, true, false>)
        BLOCK(piped<cta, 4, true, true>) BLOCK(piped<cta, 4, true, false>) BLOCK(whole<cta, true>)
        puts("in a cluster");
        CLUSTER(bare<cluster, false>) CLUSTER(bare<cluster, true>) CLUSTER(piped<cluster, 16, false, true>) CLUSTER(piped<cluster, 16, true, true>)
        CLUSTER(piped<cluster, 16, true, false>) CLUSTER(piped<cluster, 4, true, true>) CLUSTER(piped<cluster, 4, true, false>)
        puts("across blocks");
        ACROSS(32, bare<gpu, false>) ACROSS(8, piped<gpu, 16, false, true>) ACROSS(32, piped<gpu, 16, false, true>) ACROSS(32, piped<gpu, 16, false, false>)
        ACROSS(32, piped<gpu, 4, false, true>) ACROSS(32, piped<gpu, 4, false, false>) ACROSS(32, whole<gpu, false>)
    }
    puts("host and device");
    for (u32 w = 0; w <= 1600; w += 400)
        for (u32 words = 0; words < 2; words++)
            for (u32 copies = 1; copies <= 2; copies++) round_trip(words ? "16 words" : "bare flag", words, copies, w);
    return 0;
}
