// ring_latency: what the parts of a ring cost on a GPU, and which form of a message is the fastest (docs/reference/ring.md).
//
//     nvcc -O3 -std=c++17 -arch=sm_90 -o ring_latency ring_latency.cu && timeout 60 ./ring_latency [TRIPS]
//
// regen: no
// Two warps send each other messages of 16 bytes, in a block, in a cluster and across blocks, in several forms; both sides look at every message. Half of a round trip is
// one way, by the SM's clock. Then the same between host and device, with what a unit does beside it added part by part; and what the host pays for lines that the GPU
// has read or written. A step is named before it begins.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <immintrin.h>
#include <thread>
#include <vector>

typedef unsigned int u32;
typedef unsigned long long u64;
#define CHECK(x) do { cudaError_t e_ = (x); if (e_) { printf("%s: %s\n", #x, cudaGetErrorString(e_)); exit(1); } } while (0)

__device__ __forceinline__ u64 ticks() { u64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)); return t; }
__device__ __forceinline__ u64 now() { u64 t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
__device__ __forceinline__ u32 shared_at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
__device__ __forceinline__ u32 word_of(u32 k, u32 i) { return k * 0x9e3779b9u + i * 0x85ebca6bu; }

// ---- words in four kinds of memory: generic addresses at a scope, and the window of shared memory ----
enum place { GENERIC_CTA, GENERIC_CLUSTER, GENERIC_GPU, GENERIC_SYS, SHARED, OWN, CLUSTER };
#define BY_PLACE(DO)                                                                                                                                               \
    if (P == GENERIC_CTA) DO("relaxed.cta") else if (P == GENERIC_CLUSTER) DO("relaxed.cluster") else if (P == GENERIC_GPU) DO("relaxed.gpu")                       \
    else if (P == GENERIC_SYS) DO("relaxed.sys") else if (P == SHARED) DO("relaxed.cta.shared::cta") else if (P == OWN) DO("relaxed.cluster.shared::cta") else DO("relaxed.cluster.shared::cluster")
template <place P> __device__ __forceinline__ u64 load(u64 a)
{
    u64 v = 0;
#define DO(how) { if (P >= SHARED) asm volatile("ld." how ".u64 %0, [%1];" : "=l"(v) : "r"((u32)a) : "memory"); else asm volatile("ld." how ".u64 %0, [%1];" : "=l"(v) : "l"(a) : "memory"); }
    BY_PLACE(DO)
#undef DO
    return v;
}
template <place P> __device__ __forceinline__ void store(u64 a, u64 v)
{
#define DO(how) { if (P >= SHARED) asm volatile("st." how ".u64 [%0], %1;" ::"r"((u32)a), "l"(v) : "memory"); else asm volatile("st." how ".u64 [%0], %1;" ::"l"(a), "l"(v) : "memory"); }
    BY_PLACE(DO)
#undef DO
}
template <place P> __device__ __forceinline__ void load2(u64 a, u64 &x, u64 &y)
{
#define DO(how) { if (P >= SHARED) asm volatile("ld." how ".v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "r"((u32)a) : "memory"); else asm volatile("ld." how ".v2.u64 {%0, %1}, [%2];" : "=l"(x), "=l"(y) : "l"(a) : "memory"); }
    BY_PLACE(DO)
#undef DO
}
template <place P> __device__ __forceinline__ void store2(u64 a, u64 x, u64 y)
{
#define DO(how) { if (P >= SHARED) asm volatile("st." how ".v2.u64 [%0], {%1, %2};" ::"r"((u32)a), "l"(x), "l"(y) : "memory"); else asm volatile("st." how ".v2.u64 [%0], {%1, %2};" ::"l"(a), "l"(x), "l"(y) : "memory"); }
    BY_PLACE(DO)
#undef DO
}

// ---- forms of a message: SEND and TAKE are the places as sender and receiver address them ----
enum { SLOTS = 8, EACH = 128 };
struct side { // of one direction: where its slots begin, and which message is next
    u64 at, begin;
    u32 next;
    __device__ side(u64 p) : at(p), begin(p), next(1) {}
    __device__ void step() { next++; at = at == begin + (SLOTS - 1) * EACH ? begin : at + EACH; }
};
// A bare word, one lane.
template <place SEND, place TAKE> struct bare {
    static const bool one = true;
    static __device__ void send(side &s, u32 k, u32 flip) { store<SEND>(s.begin, s.next++); }
    static __device__ bool take(side &s, u32 k, u32 flip) { while (load<TAKE>(s.begin) != s.next) {} s.next++; return true; }
};
// Five words of a number and four bytes; each lane one; ballot and shuffle (the number of words is in the first).
template <place SEND, place TAKE> struct lanes_ballot {
    static const bool one = false;
    static __device__ void send(side &s, u32 k, u32 flip)
    {
        u32 lane = threadIdx.x % 32;
        if (lane < 5) store<SEND>(s.at + 8 * lane, (u64)s.next << 32 | (lane ? word_of(k, lane) ^ flip : 16));
        s.step();
    }
    static __device__ bool take(side &s, u32 k, u32 flip)
    {
        u32 lane = threadIdx.x % 32;
        u64 v;
        for (;;) {
            v = load<TAKE>(s.at + 8 * (lane % 16));
            u32 have = __ballot_sync(~0u, (u32)(v >> 32) == s.next), n = __shfl_sync(~0u, (u32)v, 0), need = (1u << (n + 7) / 4) - 1;
            if (have & 1 && (have & need) == need) break;
        }
        s.step();
        return !__any_sync(~0u, lane && lane < 5 && (u32)v != (word_of(k, lane) ^ flip));
    }
};
// All sixteen words are stored, so that one vote is enough.
template <place SEND, place TAKE> struct lanes_all {
    static const bool one = false;
    static __device__ void send(side &s, u32 k, u32 flip)
    {
        u32 lane = threadIdx.x % 32;
        if (lane < 16) store<SEND>(s.at + 8 * lane, (u64)s.next << 32 | (lane ? word_of(k, lane) ^ flip : 16));
        s.step();
    }
    static __device__ bool take(side &s, u32 k, u32 flip)
    {
        u32 lane = threadIdx.x % 32;
        u64 v;
        do v = load<TAKE>(s.at + 8 * (lane % 16));
        while (!__all_sync(~0u, (u32)(v >> 32) == s.next));
        s.step();
        return !__any_sync(~0u, lane && lane < 5 && (u32)v != (word_of(k, lane) ^ flip));
    }
};
// The same with the lanes that have a word of the message only (a receiver that knows the type's length).
template <place SEND, place TAKE> struct lanes_known {
    static const bool one = false;
    static __device__ void send(side &s, u32 k, u32 flip)
    {
        u32 lane = threadIdx.x % 32;
        if (lane < 4) store<SEND>(s.at + 8 * lane, (u64)s.next << 32 | (word_of(k, lane) ^ flip));
        s.step();
    }
    static __device__ bool take(side &s, u32 k, u32 flip)
    {
        u32 lane = threadIdx.x % 32;
        u64 v;
        do v = load<TAKE>(s.at + 8 * (lane % 4));
        while (!__all_sync(~0u, (u32)(v >> 32) == s.next));
        s.step();
        return !__any_sync(~0u, (u32)v != (word_of(k, lane % 4) ^ flip));
    }
};
// One lane, five words as two pairs and a single; no vote.
template <place SEND, place TAKE> struct one_lane {
    static const bool one = true;
    static __device__ void send(side &s, u32 k, u32 flip)
    {
        u64 n = (u64)s.next << 32;
        store2<SEND>(s.at, n | 16, n | (word_of(k, 1) ^ flip));
        store2<SEND>(s.at + 16, n | (word_of(k, 2) ^ flip), n | (word_of(k, 3) ^ flip));
        store<SEND>(s.at + 32, n | (word_of(k, 4) ^ flip));
        s.step();
    }
    static __device__ bool take(side &s, u32 k, u32 flip)
    {
        u64 a, b, c, d, e;
        do {
            load2<TAKE>(s.at, a, b);
            load2<TAKE>(s.at + 16, c, d);
            e = load<TAKE>(s.at + 32);
        } while ((((u32)(a >> 32) ^ s.next) | ((u32)(b >> 32) ^ s.next) | ((u32)(c >> 32) ^ s.next) | ((u32)(d >> 32) ^ s.next) | ((u32)(e >> 32) ^ s.next)) != 0);
        s.step();
        return !(((u32)b ^ word_of(k, 1) ^ flip) | ((u32)c ^ word_of(k, 2) ^ flip) | ((u32)d ^ word_of(k, 3) ^ flip) | ((u32)e ^ word_of(k, 4) ^ flip));
    }
};
// One lane polls the first word only and looks at the others when it is there.
template <place SEND, place TAKE> struct first_then_rest {
    static const bool one = true;
    static __device__ void send(side &s, u32 k, u32 flip) { one_lane<SEND, TAKE>::send(s, k, flip); }
    static __device__ bool take(side &s, u32 k, u32 flip)
    {
        while ((u32)(load<TAKE>(s.at + 32) >> 32) != s.next) {}
        return one_lane<SEND, TAKE>::take(s, k, flip);
    }
};
// The words, then a flag that is released and acquired: what it costs to order them.
template <place SEND, place TAKE> struct released {
    static const bool one = true;
    static __device__ void fence()
    {
        if (SEND == GENERIC_CTA || SEND == SHARED) asm volatile("fence.acq_rel.cta;" ::: "memory");
        else if (SEND == GENERIC_CLUSTER || SEND == CLUSTER) asm volatile("fence.acq_rel.cluster;" ::: "memory");
        else asm volatile("fence.acq_rel.gpu;" ::: "memory");
    }
    static __device__ void send(side &s, u32 k, u32 flip)
    {
        store2<SEND>(s.at + 16, word_of(k, 1) ^ flip, word_of(k, 2) ^ flip);
        store2<SEND>(s.at + 32, word_of(k, 3) ^ flip, word_of(k, 4) ^ flip);
        fence();
        store<SEND>(s.at, s.next);
        s.step();
    }
    static __device__ bool take(side &s, u32 k, u32 flip)
    {
        u64 a, b, c, d;
        while (load<TAKE>(s.at) != s.next) {}
        fence();
        load2<TAKE>(s.at + 16, a, b);
        load2<TAKE>(s.at + 32, c, d);
        s.step();
        return a == (word_of(k, 1) ^ flip) && b == (word_of(k, 2) ^ flip) && c == (word_of(k, 3) ^ flip) && d == (word_of(k, 4) ^ flip);
    }
};

template <class F> __device__ void trips(u64 there, u64 back, bool asks, u32 n, u32 *time, u64 *out)
{
    u32 lane = threadIdx.x % 32;
    if (F::one && lane) return;
    side a(there), b(back);
    u64 began = ticks(), ns = now(), right = 0;
    for (u32 k = 0; k < n; k++) {
        if (asks) {
            u64 t = ticks();
            F::send(a, k, 0);
            bool is = F::take(b, k, ~0u);
            t = ticks() - t;
            right += is;
            if (!lane) time[k] = (u32)t;
        } else {
            right += F::take(a, k, 0);
            F::send(b, k, ~0u);
        }
    }
    if (lane) return;
    out[asks ? 0 : 3] = right;
    if (asks) out[1] = ticks() - began, out[2] = now() - ns;
}

struct where { u32 n; u32 *time; u64 *out; unsigned char *memory; };
template <class F> __global__ void in_block(where w, bool window)
{
    __shared__ __align__(128) unsigned char m[2][SLOTS * EACH];
    for (u32 i = threadIdx.x; i < sizeof m / 8; i += blockDim.x) ((u64 *)m)[i] = 0;
    __syncthreads();
    u64 a = window ? shared_at(m[0]) : (u64)m[0], b = window ? shared_at(m[1]) : (u64)m[1];
    trips<F>(a, b, threadIdx.x < 32, w.n, w.time, w.out);
}
template <class F> __global__ void __cluster_dims__(2, 1, 1) in_cluster(where w, bool window)
{
    __shared__ __align__(128) unsigned char m[SLOTS * EACH];
    u32 me;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));
    for (u32 i = threadIdx.x; i < sizeof m / 8; i += blockDim.x) ((u64 *)m)[i] = 0;
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    u64 own = (u64)m, other;
    if (window) {
        u32 o;
        own = shared_at(m);
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(o) : "r"((u32)own), "r"(1 - me));
        other = o;
    } else {
        asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(own), "r"(1 - me));
    }
    // a message lies in the shared memory of who gets it
    trips<F>(me ? own : other, me ? other : own, !me, w.n, w.time, w.out);
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}
template <class F> __global__ void across(where w, bool)
{
    trips<F>((u64)w.memory, (u64)w.memory + SLOTS * EACH, blockIdx.x == 0, w.n, w.time, w.out);
}

static u32 trips_asked = 20000;
static double clock_ns = 0.55; // of a tick; measured
template <class K> static void pair(const char *name, K kernel, int grid, int block, bool window)
{
    where w = {trips_asked, nullptr, nullptr, nullptr};
    CHECK(cudaMalloc(&w.time, 4 * w.n));
    CHECK(cudaMalloc(&w.out, 64));
    CHECK(cudaMalloc(&w.memory, 2 * SLOTS * EACH));
    CHECK(cudaMemset(w.out, 0, 64));
    CHECK(cudaMemset(w.memory, 0, 2 * SLOTS * EACH));
    printf("%-38s", name);
    fflush(stdout);
    kernel<<<grid, block>>>(w, window);
    CHECK(cudaDeviceSynchronize());
    std::vector<u32> t(w.n);
    u64 out[4];
    CHECK(cudaMemcpy(t.data(), w.time, 4 * w.n, cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(out, w.out, sizeof out, cudaMemcpyDeviceToHost));
    std::sort(t.begin(), t.end());
    clock_ns = out[1] ? (double)out[2] / out[1] : clock_ns;
    printf("one way p50 %6.1f ns (%5.1f ticks)  p99 %6.1f  %s\n", t[w.n / 2] * clock_ns / 2, t[w.n / 2] / 2.0, t[w.n * 99 / 100] * clock_ns / 2,
           out[0] == w.n && out[3] == w.n ? "right" : "WRONG");
    cudaFree(w.time), cudaFree(w.out), cudaFree(w.memory);
}

// ---- single operations, in ticks: the mean of REPEAT in a row that depend on each other, or of their issue ----
enum { REPEAT = 64 };
struct place_of { u64 *global, *mapped; u64 *out; u32 slots; };
__global__ void operations(place_of p)
{
    __shared__ u64 s[32];
    u32 lane = threadIdx.x;
    s[lane] = 0;
    __syncwarp();
    u64 x = 0, n = 0;
#define TIME(WHAT)                                                    \
    {                                                                 \
        u64 t = ticks();                                              \
        _Pragma("unroll 1") for (u32 i = 0; i < REPEAT; i++) { WHAT } \
        t = ticks() - t;                                              \
        if (!lane) p.out[n] = t;                                      \
        n++;                                                          \
        __syncwarp();                                                 \
    }
    TIME(asm volatile("" ::: "memory");)
    TIME(x += ticks();)
    TIME(x += now();)
    TIME(x += __ballot_sync(~0u, x + i != 1);)
    TIME(x += __shfl_sync(~0u, (u32)x + i, 0);)
    TIME(x += __reduce_xor_sync(~0u, (u32)x + i);)
    TIME(x = load<SHARED>(shared_at(s) + 8 * (x & 1));)
    TIME(x = load<GENERIC_CTA>((u64)s + 8 * (x & 1));)
    TIME(x = load<GENERIC_GPU>((u64)p.global + 8 * (x & 1));)
    TIME(x = load<GENERIC_SYS>((u64)p.mapped + 8 * (x & 1));)
    TIME(x = load<GENERIC_SYS>((u64)p.mapped + 8 * ((x & 1) + lane % 16));)
    TIME(x = load<GENERIC_SYS>((u64)p.mapped + 8 * ((x & 1) + lane % 16) + (lane / 16 * 4096));)
    TIME(x = (x + i + 0x123456789ull) % p.slots;)
    TIME(if (!lane) store<GENERIC_SYS>((u64)p.mapped + 2048, i);)
    TIME(if (!lane) store<GENERIC_SYS>((u64)p.mapped + 2048 + 128 * (i % 4), i);)
    TIME(store<GENERIC_SYS>((u64)p.mapped + 2048 + 8 * (lane % 16), i);)
    TIME(asm volatile("fence.acq_rel.cta;" ::: "memory");)
    TIME(asm volatile("fence.acq_rel.gpu;" ::: "memory");)
    TIME(asm volatile("fence.acq_rel.sys;" ::: "memory");)
    TIME(if (!lane) store<GENERIC_SYS>((u64)p.mapped + 2048, i); asm volatile("fence.acq_rel.sys;" ::: "memory");)
    TIME(__syncthreads();)
    if (x == 12345) p.out[63] = x;
}
static const char *const operation_name[] = {
    "the loop", "clock64", "globaltimer", "ballot", "shfl", "reduce_xor", "ld shared", "ld generic to shared", "ld relaxed.gpu, L2", "ld relaxed.sys mapped, one word",
    "ld relaxed.sys mapped, 16 words", "ld relaxed.sys mapped, two lines of 16", "u64 modulo", "st relaxed.sys mapped (issue), one place", "the same, four lines", "the same, 16 words",
    "fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.acq_rel.sys", "st mapped and fence.sys", "bar.sync of a warp" };

// ---- host and device: a round trip, with what a unit does beside it ----
enum { WORDS = 1, SHORT_LOOK = 2, TIMERS = 4, STATUS = 8, SHARED_COPY = 16, CHECKSUM = 32, BARRIERS = 64, LATE_STATUS = 128, CLOCKS = 256, LOOKS_2 = 512, LOOKS_4 = 1024 };
struct link { u64 *in, *out, *command, *status; u32 n, what, gap; };
// LOOKS looks under way at once, `gap` ticks apart: a message is seen sooner than with one after the other.
template <u32 LOOKS> __device__ __forceinline__ u64 look_until(u64 at, u32 k, u32 gap)
{
    u64 q[LOOKS], last = ticks();
#pragma unroll
    for (u32 i = 0; i < LOOKS; i++) {
        q[i] = load<GENERIC_SYS>(at);
        while (i + 1 < LOOKS && ticks() - last < gap) {}
        last = ticks();
    }
    for (;;) {
#pragma unroll
        for (u32 i = 0; i < LOOKS; i++) {
            u64 v = q[i];
            if ((__ballot_sync(~0u, (u32)(v >> 32) == k) & 0xffff) == 0xffff) return v;
            while (LOOKS > 1 && ticks() - last < gap) {}
            last = ticks();
            q[i] = load<GENERIC_SYS>(at);
        }
    }
}
__global__ void answer(link l)
{
    __shared__ u32 turn[64];
    u32 lane = threadIdx.x;
    u64 v = 0, acc = 0;
    for (u32 k = 1; k <= l.n; k++) {
        if (!(l.what & WORDS)) { // a bare flag, by one lane
            if (!lane) {
                while (load<GENERIC_SYS>((u64)l.in) != k) {}
                store<GENERIC_SYS>((u64)l.out, k);
            }
            continue;
        }
        u64 *at = l.what & SHORT_LOOK || lane < 16 ? l.in + lane % 16 : l.command; // the command word is another line
        v = l.what & LOOKS_4 ? look_until<4>((u64)at, k, l.gap) : l.what & LOOKS_2 ? look_until<2>((u64)at, k, l.gap) : look_until<1>((u64)at, k, 0);
        u64 seen = l.what & TIMERS ? now() : l.what & CLOCKS ? ticks() : 0;
        u32 w = (u32)v;
        if (l.what & CHECKSUM) acc += __reduce_xor_sync(~0u, w * (0x9e3779b1u + 2 * lane));
        if (l.what & SHARED_COPY) {
            turn[lane] = w;
            __syncwarp();
            w = turn[(lane + 8) % 16] + turn[lane % 8];
        }
        if (l.what & STATUS && !lane) store<GENERIC_SYS>((u64)l.status, k), store<GENERIC_SYS>((u64)l.status + 8, seen << 4 | 3);
        if (l.what & BARRIERS) __syncthreads();
        u64 processed = l.what & TIMERS ? now() : l.what & CLOCKS ? ticks() : 0;
        if (l.what & STATUS && !lane) store<GENERIC_SYS>((u64)l.status + 8, processed << 4 | 4);
        if (l.what & BARRIERS) __syncthreads();
        u64 visible = l.what & TIMERS ? now() : l.what & CLOCKS ? ticks() : 0;
        if (l.what & STATUS && !lane) store<GENERIC_SYS>((u64)l.status + 56, k);
        if (l.what & TIMERS) w += lane == 8 ? (u32)(processed - seen) : (u32)(visible - seen);
        if (lane < 16) store<GENERIC_SYS>((u64)(l.out + lane), (u64)k << 32 | w);
        if (l.what & LATE_STATUS && !lane) {
            store<GENERIC_SYS>((u64)l.status, k);
            store<GENERIC_SYS>((u64)l.status + 8, seen << 4 | 3);
            store<GENERIC_SYS>((u64)l.status + 56, k);
            store<GENERIC_SYS>((u64)l.status + 128, k);
        }
    }
    if (acc == 12345) l.status[20] = acc;
}
static double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
static u64 *mapped(size_t bytes)
{
    void *p;
    CHECK(cudaHostAlloc(&p, bytes, cudaHostAllocMapped | cudaHostAllocPortable));
    memset(p, 0, bytes);
    return (u64 *)p;
}
static void round_trip(const char *name, u32 what, u32 gap = 0)
{
    u64 *m = mapped(1 << 16);
    u32 n = trips_asked / 4;
    link l = {m, m + 1024, m + 2048, m + 3072, n, what, gap};
    printf("%-62s", name);
    fflush(stdout);
    answer<<<1, 32>>>(l);
    std::vector<double> t(n);
    for (u32 k = 1; k <= n; k++) {
        double from = seconds();
        if (what & WORDS) {
            for (u32 i = 15; i < 16; i--) __atomic_store_n(l.in + i, (u64)k << 32 | i, __ATOMIC_RELAXED);
            for (u32 i = 0; i < 16; i++)
                while (__atomic_load_n(l.out + i, __ATOMIC_RELAXED) >> 32 != k) _mm_pause();
        } else {
            __atomic_store_n(l.in, k, __ATOMIC_RELEASE);
            while (__atomic_load_n(l.out, __ATOMIC_ACQUIRE) != k) _mm_pause();
        }
        t[k - 1] = seconds() - from;
    }
    CHECK(cudaDeviceSynchronize());
    std::sort(t.begin(), t.end());
    printf("p50 %6.2f us  p99 %6.2f\n", t[n / 2] * 1e6, t[n * 99 / 100] * 1e6);
    cudaFreeHost(m);
}

// ---- many messages at once: units that answer slots of 128 bytes, as fast as host and link can ----
// A unit looks at AHEAD slots of its inbox at once (one or two words a lane), answers those that are there, and goes on.
struct many { u64 *in, *out, *taken; u32 slots, messages, ahead, units, out_words, nap; };
__global__ void answer_many(many m)
{
    u32 lane = threadIdx.x % 32, unit = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    if (unit >= m.units) return;
    u64 *in = m.in + (u64)unit * m.slots * 16, *out = m.out + (u64)unit * m.slots * m.out_words, next = 0;
    while (next < m.messages) {
        u64 v[8];
        u32 ready = 0;
#pragma unroll
        for (u32 i = 0; i < 8; i++) // two slots a look
            v[i] = i * 2 < m.ahead ? load<GENERIC_SYS>((u64)(in + (next + i * 2 + lane / 16) % m.slots * 16 + lane % 16)) : 0;
#pragma unroll
        for (u32 i = 0; i < 8; i++) {
            if (i * 2 >= m.ahead) break;
            u32 have = __ballot_sync(~0u, (u32)(v[i] >> 32) == (u32)(next + i * 2 + lane / 16 + 1));
            u32 got = (have & 0xffff) != 0xffff ? 0 : have == ~0u ? 2 : 1;
            if (lane / 16 < got && lane % 16 < m.out_words)
                store<GENERIC_SYS>((u64)(out + (next + i * 2 + lane / 16) % m.slots * m.out_words + lane % 16), (next + i * 2 + lane / 16 + 1) << 32 | (u32)~v[i]);
            ready += got;
            if (got < 2) break;
        }
        next += ready;
        if (!ready && m.nap) __nanosleep(m.nap);
        if (ready && !lane) store<GENERIC_SYS>((u64)(m.taken + unit * 16), next);
    }
}
// A thread of the host sends bursts of `burst` messages to each of its units in turn, and takes what is there.
static void host_side(const many &m, u32 first, u32 units, u32 burst, std::atomic<u64> *wrong)
{
    std::vector<u64> sent(units), got(units);
    u64 left = (u64)units * m.messages, bad = 0;
    while (left) {
        for (u32 u = 0; u < units; u++) {
            u64 *in = m.in + (u64)(first + u) * m.slots * 16, *out = m.out + (u64)(first + u) * m.slots * m.out_words;
            // responses in order: a response says that its slot has been read
            for (; got[u] < sent[u]; got[u]++, left--) {
                u64 *r = out + got[u] % m.slots * m.out_words, want = got[u] + 1;
                u32 k = 0;
                while (k < m.out_words && (u32)(__atomic_load_n(r + k, __ATOMIC_RELAXED) >> 32) == (u32)want) k++;
                if (k < m.out_words) break;
                bad += (u32)r[0] != (u32)~got[u];
            }
            for (u32 i = 0; i < burst && sent[u] < m.messages && sent[u] - got[u] < m.slots; i++, sent[u]++) {
                u64 *s = in + sent[u] % m.slots * 16, flag = (sent[u] + 1) << 32;
                for (u32 k = 0; k < 16; k++) __atomic_store_n(s + k, flag | (u32)(sent[u] + k), __ATOMIC_RELAXED);
            }
        }
    }
    *wrong += bad;
}
static void throughput(u32 units, u32 threads, u32 slots, u32 burst, u32 ahead, u32 out_words, u32 nap)
{
    many m = {nullptr, nullptr, nullptr, slots, 0, ahead, units, out_words, nap};
    m.messages = trips_asked * 32 / units;
    m.in = mapped((size_t)units * slots * 128), m.out = mapped((size_t)units * slots * out_words * 8), m.taken = mapped(units * 128);
    printf("%3u units, %2u threads, %4u slots, bursts of %3u, %2u slots a look, %2u words back, nap %4u ", units, threads, slots, burst, ahead, out_words, nap);
    fflush(stdout);
    answer_many<<<(units + 3) / 4, 128>>>(m);
    std::atomic<u64> wrong(0);
    double from = seconds();
    std::vector<std::thread> all;
    for (u32 t = 0; t < threads; t++) all.emplace_back(host_side, m, t * (units / threads), units / threads, burst, &wrong);
    for (auto &t : all) t.join();
    double took = seconds() - from;
    CHECK(cudaDeviceSynchronize());
    printf("%7.2f million/s, %llu wrong\n", (double)units * m.messages / took / 1e6, (unsigned long long)wrong);
    cudaFreeHost(m.in), cudaFreeHost(m.out), cudaFreeHost(m.taken);
}

// ---- what lines cost the host that the GPU has written or read ----
__global__ void touch(u64 *m, u32 lines, u32 write, u64 value)
{
    u64 sum = 0;
    for (u32 i = (blockIdx.x * blockDim.x + threadIdx.x); i < lines * 16; i += gridDim.x * blockDim.x) {
        if (write) store<GENERIC_SYS>((u64)(m + i), value);
        else sum += load<GENERIC_SYS>((u64)(m + i));
    }
    if (sum == 12345) m[0] = sum;
}
static void lines(bool write)
{
    enum { LINES = 4096 };
    u64 *m = mapped(LINES * 128), sum = 0;
    double best = 1e9;
    for (u32 turn = 1; turn < 20; turn++) {
        touch<<<8, 256>>>(m, LINES, !write, turn);
        CHECK(cudaDeviceSynchronize());
        double from = seconds();
        for (u32 i = 0; i < LINES * 16; i++) {
            if (write) __atomic_store_n(m + i, turn, __ATOMIC_RELAXED);
            else sum += __atomic_load_n(m + i, __ATOMIC_RELAXED);
        }
        best = std::min(best, seconds() - from);
    }
    printf("host %s 128 bytes that the GPU has %s: %.1f ns (%llu)\n", write ? "writes" : "reads", write ? "read" : "written", best / LINES * 1e9, sum % 10);
    cudaFreeHost(m);
}

int main(int argc, char **argv)
{
    trips_asked = argc > 1 ? atoi(argv[1]) : trips_asked;
    setvbuf(stdout, nullptr, _IOLBF, 0);
    puts("in a block");
#define BLOCK(F, P) pair(#F " " #P, in_block<F<P, P>>, 1, 64, P == SHARED);
    BLOCK(bare, GENERIC_CTA) BLOCK(bare, SHARED) BLOCK(lanes_ballot, GENERIC_CTA) BLOCK(lanes_ballot, SHARED) BLOCK(lanes_all, GENERIC_CTA) BLOCK(lanes_all, SHARED)
    BLOCK(lanes_known, SHARED) BLOCK(one_lane, GENERIC_CTA) BLOCK(one_lane, SHARED) BLOCK(first_then_rest, SHARED) BLOCK(released, SHARED)
    puts("in a cluster");
#define IN_CLUSTER(F, S, T) pair(#F " " #S " " #T, in_cluster<F<S, T>>, 2, 32, S == CLUSTER);
    IN_CLUSTER(bare, GENERIC_CLUSTER, GENERIC_CLUSTER) IN_CLUSTER(bare, CLUSTER, CLUSTER) IN_CLUSTER(bare, CLUSTER, OWN) IN_CLUSTER(lanes_ballot, GENERIC_CLUSTER, GENERIC_CLUSTER)
    IN_CLUSTER(lanes_ballot, CLUSTER, CLUSTER) IN_CLUSTER(lanes_all, GENERIC_CLUSTER, GENERIC_CLUSTER) IN_CLUSTER(lanes_all, CLUSTER, CLUSTER) IN_CLUSTER(lanes_all, CLUSTER, OWN) IN_CLUSTER(lanes_known, CLUSTER, OWN)
    IN_CLUSTER(one_lane, GENERIC_CLUSTER, GENERIC_CLUSTER) IN_CLUSTER(one_lane, CLUSTER, OWN) IN_CLUSTER(released, CLUSTER, CLUSTER)
    puts("across blocks");
#define ACROSS(F) pair(#F, across<F<GENERIC_GPU, GENERIC_GPU>>, 2, 32, false);
    ACROSS(bare) ACROSS(lanes_ballot) ACROSS(lanes_all) ACROSS(lanes_known) ACROSS(one_lane) ACROSS(first_then_rest) ACROSS(released)

    puts("single operations, ticks");
    {
        u64 *global, *out, *m = mapped(1 << 16);
        CHECK(cudaMalloc(&global, 4096));
        CHECK(cudaMemset(global, 0, 4096));
        CHECK(cudaMalloc(&out, 512));
        for (u32 turn = 0; turn < 2; turn++) operations<<<1, 32>>>({global, m, out, 256});
        CHECK(cudaDeviceSynchronize());
        u64 t[64];
        CHECK(cudaMemcpy(t, out, 512, cudaMemcpyDeviceToHost));
        for (u32 i = 0; i < sizeof operation_name / sizeof *operation_name; i++)
            printf("%-44s %8.1f ticks %8.1f ns\n", operation_name[i], (double)(t[i] - t[0]) / REPEAT, (double)(t[i] - t[0]) / REPEAT * clock_ns);
    }
    puts("host and device");
    round_trip("bare flag", 0);
    round_trip("16 words, looked at by all lanes", WORDS | SHORT_LOOK);
    round_trip("two looks under way, 1000 ticks apart", WORDS | SHORT_LOOK | LOOKS_2, 1000);
    round_trip("four looks under way, 500 ticks apart", WORDS | SHORT_LOOK | LOOKS_4, 500);
    round_trip("four looks under way, 300 ticks apart", WORDS | SHORT_LOOK | LOOKS_4, 300);
    round_trip("and the command word", WORDS);
    round_trip("with four looks, 500 ticks apart", WORDS | LOOKS_4, 500);
    round_trip("and the copy in shared memory, checksum", WORDS | SHARED_COPY | CHECKSUM);
    round_trip("and two barriers", WORDS | SHARED_COPY | CHECKSUM | BARRIERS);
    round_trip("and three times by globaltimer", WORDS | SHARED_COPY | CHECKSUM | BARRIERS | TIMERS);
    round_trip("instead by clock64", WORDS | SHARED_COPY | CHECKSUM | BARRIERS | CLOCKS);
    round_trip("and four words of status before the response (clock64)", WORDS | SHARED_COPY | CHECKSUM | BARRIERS | CLOCKS | STATUS);
    round_trip("and four words of status before the response (globaltimer)", WORDS | SHARED_COPY | CHECKSUM | BARRIERS | TIMERS | STATUS);
    round_trip("words of status behind the response (clock64)", WORDS | SHARED_COPY | CHECKSUM | BARRIERS | CLOCKS | LATE_STATUS);
    lines(true);
    lines(false);
    puts("many messages");
    throughput(1, 1, 256, 64, 2, 16, 0);
    throughput(1, 1, 256, 64, 16, 16, 0);
    throughput(16, 1, 256, 64, 2, 16, 0);
    throughput(16, 1, 256, 64, 16, 16, 0);
    throughput(16, 1, 256, 64, 16, 8, 0);
    throughput(64, 1, 256, 64, 16, 16, 1000);
    throughput(64, 4, 256, 64, 2, 16, 0);
    throughput(64, 4, 256, 64, 16, 16, 0);
    throughput(64, 4, 256, 64, 16, 16, 1000);
    throughput(64, 8, 256, 64, 16, 16, 0);
    throughput(64, 8, 256, 16, 16, 16, 1000);
    throughput(64, 8, 256, 64, 16, 8, 1000);
    return 0;
}
