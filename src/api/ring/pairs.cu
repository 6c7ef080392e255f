// regen: -arch=sm_90 -I../../include
// What `lockstep ring --bench` measures on the device: two warps that send each other messages through pipes, or raw flags, in a block, in a cluster and
// across blocks; and all warps of a grid at once. Every message is looked at by both sides; only round trips that were right are counted.
#include <lockstep_ring.cuh>
using namespace lk_ring;

struct job {             // of one launch
    u32 messages;        // round trips
    u32 bytes;           // of a message
    u32 timer;           // 0: times are ticks of the SM's clock; 1: nanoseconds of the global timer
    u32 first, second;   // pair_global: numbers of the two SMs, where they differ; else blocks 0 and 1
};
struct outcome {
    u64 right;           // round trips whose answer was right, or messages of a flood
    u64 wrong;           // messages that were not what they should be, on either side
    u64 ticks, ns;       // how long all took, by both clocks: one in terms of the other
    u64 begin, end;      // of a flood: the global timer
};

__device__ __forceinline__ u64 ticks() { u64 t; asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)); return t; }
__device__ __forceinline__ u32 sm() { u32 s; asm volatile("mov.u32 %0, %%smid;" : "=r"(s)); return s; }
// The low half of a clock: a round trip is short.
__device__ __forceinline__ u32 stamp(u32 timer)
{
    u32 t;
    if (timer) return (u32)now();
    asm volatile("mov.u32 %0, %%clock;" : "=r"(t));
    return t;
}

// Word i of message k; the answer has the complement of each.
__device__ __forceinline__ u32 word_of(u32 k, u32 i) { return k * 0x9e3779b9u + i * 0x85ebca6bu; }

// A long message: all lanes write, then read and compare, 16 bytes at a time.
__device__ void write_long(void *to, u32 bytes, u32 k, u32 flip)
{
    uint4 *at = (uint4 *)to;
    for (u32 i = threadIdx.x % 32; i < bytes / 16; i += 32) {
        u32 a = word_of(k, i) ^ flip;
        at[i] = make_uint4(a, a + 1, a + 2, a + 3);
    }
}
__device__ bool is_long(const void *from, u32 bytes, u32 k, u32 flip)
{
    const uint4 *at = (const uint4 *)from;
    u32 bad = 0;
    for (u32 i = threadIdx.x % 32; i < bytes / 16; i += 32) {
        u32 a = word_of(k, i) ^ flip;
        uint4 v = at[i];
        bad |= (v.x ^ a) | (v.y ^ (a + 1)) | (v.z ^ (a + 2)) | (v.w ^ (a + 3));
    }
    return !__any_sync(0xffffffffu, bad);
}

// One side asks and measures, until the answer is there; then it looks at it. The answer to a short message is the complement of what arrived.
template <bool TIMER, class P> __device__ u64 ask_short(P out, P in, const job &j, u32 *time)
{
    u64 right = 0;
    // the length by a shuffle, so that it is in a register: a load of the parameter would be part of every trip
    u32 lane = threadIdx.x % 32, word, got, bytes = __shfl_sync(0xffffffffu, j.bytes, 0);
    for (u32 k = 0; k < j.messages; k++) {
        u32 mine = word_of(k, lane % P::words);
        out.reserve();
        u32 t = stamp(TIMER);
        out.place(mine, bytes);
        in.pull(&word, &got);
        t = stamp(TIMER) - t;
        in.done();
        bool is = !__any_sync(0xffffffffu, got != bytes || (lane * 4 < bytes && word != ~mine));
        right += is;
        if (lane == 0) time[k] = is ? t : 0;
    }
    return right;
}
template <class P> __device__ u64 reply_short(P in, P out, const job &j)
{
    u64 wrong = 0;
    u32 word, got;
    for (u32 k = 0; k < j.messages; k++) {
        out.reserve();
        in.pull(&word, &got);
        out.place(~word, got);
        in.done();
        wrong += got != j.bytes;
    }
    return wrong;
}

// The same with long messages, which both sides read whole before they go on.
template <class P> __device__ void send_long(P &out, u32 bytes, u32 k, u32 flip)
{
    void *at;
    while (!(at = out.begin())) {}
    write_long(at, bytes, k, flip);
    out.send(bytes);
}
template <class P> __device__ bool take_long(P &in, u32 bytes, u32 k, u32 flip)
{
    u32 word, got;
    while (!in.look(&word, &got)) {}
    bool is = got == bytes && is_long(in.payload(), bytes, k, flip);
    in.done();
    return is;
}
template <class P> __device__ u64 ask_long(P out, P in, const job &j, u32 *time)
{
    u64 right = 0;
    for (u32 k = 0; k < j.messages; k++) {
        u32 t = stamp(j.timer);
        send_long(out, j.bytes, k, 0);
        bool is = take_long(in, j.bytes, k, ~0u);
        t = stamp(j.timer) - t;
        right += is;
        if (threadIdx.x % 32 == 0) time[k] = is ? t : 0;
    }
    return right;
}
template <class P> __device__ u64 reply_long(P in, P out, const job &j)
{
    u64 wrong = 0;
    for (u32 k = 0; k < j.messages; k++) {
        wrong += !take_long(in, j.bytes, k, 0);
        send_long(out, j.bytes, k, ~0u);
    }
    return wrong;
}
// The same with a bare word each way: what no protocol can be faster than.
__device__ __forceinline__ u64 window_of(const void *p, bool window) { return window ? (u64)__cvta_generic_to_shared(p) : (u64)p; }
template <scope S, bool WINDOW> __device__ void ask_raw(void *there, void *back, const job &j, u32 *time, outcome *o)
{
    u64 right = 0, began = ticks(), ns = now(), out = window_of(there, WINDOW), in = window_of(back, WINDOW);
    for (u32 k = 0; k < j.messages; k++) {
        u32 t = stamp(j.timer);
        store_word<S, WINDOW>(out, k + 1);
        while (load_word<S, WINDOW>(in) != k + 1) {}
        time[k] = stamp(j.timer) - t;
        right++;
    }
    o->right = right;
    o->ticks = ticks() - began;
    o->ns = now() - ns;
}
template <scope S, bool WINDOW> __device__ void reply_raw(void *there, void *back, const job &j)
{
    u64 in = window_of(there, WINDOW), out = window_of(back, WINDOW);
    for (u32 k = 0; k < j.messages; k++) {
        while (load_word<S, WINDOW>(in) != k + 1) {}
        store_word<S, WINDOW>(out, k + 1);
    }
}

// `memory` has two pipes, zeroed; so has dynamic shared memory, which the kernels zero. Messages of up to 16 bytes have a pipe of four words.
enum { few = 4 };
__device__ u32 slots_for(u32 bytes) { return bytes <= pipe_short ? 32 : bytes <= 1024 ? 8 : 1; }
__device__ u32 pipe_room(u32 bytes) { return (u32)pipe<gpu>::bytes_for(slots_for(bytes), bytes); }
// Both sides: messages go `there`, answers come `back`.
template <class P> __device__ u64 talk_short(void *there, void *back, bool asks, const job &j, u32 *time)
{
    u32 slots = slots_for(j.bytes);
    P to(there, slots, j.bytes, asks), from(back, slots, j.bytes, !asks);
    return !asks ? reply_short(to, from, j) : j.timer ? ask_short<true>(to, from, j, time) : ask_short<false>(to, from, j, time);
}
template <scope S, bool WINDOW> __device__ void talk(void *there, void *back, bool asks, const job &j, u32 *time, outcome *o)
{
    u64 began = ticks(), ns = now(), count;
    u32 slots = slots_for(j.bytes);
    if (j.bytes > pipe_short) {
        pipe<S> to(there, slots, j.bytes, asks), from(back, slots, j.bytes, !asks);
        count = asks ? ask_long(to, from, j, time) : reply_long(to, from, j);
    } else if (j.bytes > 4 * few) {
        count = talk_short<pipe<S, false, pipe_words, WINDOW>>(there, back, asks, j, time);
    } else {
        count = talk_short<pipe<S, false, few, WINDOW>>(there, back, asks, j, time);
    }
    if (threadIdx.x % 32) return;
    if (!asks) {
        o->wrong = count;
        return;
    }
    o->right = count;
    o->ticks = ticks() - began;
    o->ns = now() - ns;
}

extern "C" __global__ void pair_global(job j, unsigned char *memory, u32 *time, outcome *o, u32 raw, u32 *arrived)
{
    if (j.first != j.second) { // a block on every SM, and none leaves before all are there
        if (threadIdx.x == 0) {
            atomicAdd(arrived, 1);
            while (*(volatile u32 *)arrived != gridDim.x) {}
        }
        __syncwarp();
    }
    u32 me = j.first == j.second ? blockIdx.x : sm() == j.first ? 0 : sm() == j.second ? 1 : 2;
    if (me > 1) return;
    unsigned char *there = memory, *back = memory + pipe_room(j.bytes);
    if (raw) {
        if (threadIdx.x) return;
        if (me) reply_raw<gpu, false>(there, back, j);
        else ask_raw<gpu, false>(there, back, j, time, o);
        return;
    }
    talk<gpu, false>(there, back, !me, j, time, o);
}

extern __shared__ __align__(128) unsigned char own[];
__device__ void clear(u32 bytes)
{
    for (u32 i = threadIdx.x; i < bytes / 8; i += blockDim.x) ((u64 *)own)[i] = 0;
}
// Two warps.
extern "C" __global__ void pair_block(job j, u32 *time, outcome *o, u32 raw)
{
    u32 room = pipe_room(j.bytes);
    clear(2 * room);
    __syncthreads();
    u32 me = threadIdx.x / 32;
    if (raw) {
        if (threadIdx.x % 32) return;
        if (me) reply_raw<cta, true>(own, own + room, j);
        else ask_raw<cta, true>(own, own + room, j, time, o);
        return;
    }
    talk<cta, true>(own, own + room, !me, j, time, o);
}
// Two blocks of a cluster; the pipe of a message is in the shared memory of who gets it.
extern "C" __global__ void __cluster_dims__(2, 1, 1) pair_cluster(job j, u32 *time, outcome *o, u32 raw)
{
    u32 me;
    u64 other;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));
    clear(pipe_room(j.bytes));
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
    asm("mapa.u64 %0, %1, %2;" : "=l"(other) : "l"(own), "r"(1 - me));
    if (raw) {
        if (threadIdx.x == 0 && me) reply_raw<cluster, true>(own, (void *)other, j);
        if (threadIdx.x == 0 && !me) ask_raw<cluster, true>((void *)other, own, j, time, o);
    } else {
        talk<cluster, true>(me ? own : (void *)other, me ? (void *)other : own, !me, j, time, o);
    }
    asm volatile("barrier.cluster.arrive.release; barrier.cluster.wait.acquire;" ::: "memory");
}

// Every warp of the grid sends to the same warp of the next block, and takes what the one before sends: as many at once as the slots hold.
// A warp that got nowhere looks whether the host has given up, and then says how far it came.
extern "C" __global__ void flood(job j, unsigned char *memory, u32 slots, outcome *o, const u64 *stop)
{
    u32 warps = blockDim.x / 32, w = threadIdx.x / 32, lane = threadIdx.x % 32;
    u64 each = pipe<gpu>::bytes_for(slots, j.bytes);
    u32 me = blockIdx.x * warps + w, next = (blockIdx.x + 1) % gridDim.x * warps + w;
    pipe<gpu, false> out(memory + next * each, slots, j.bytes, true), in(memory + me * each, slots, j.bytes, false);
    u64 right = 0, wrong = 0, begin = now();
    u32 sent = 0, got = 0;
    while (got < j.messages || sent < j.messages) { // who has got all still owes others
        u32 before = sent + got;
        for (u32 i = 0; i < slots && sent < j.messages; i++, sent++)
            if (!out.put(word_of(sent, lane), j.bytes)) break;
        for (u32 i = 0; i < slots && got < j.messages; i++) {
            u32 word, bytes;
            if (!in.look(&word, &bytes)) break;
            in.done();
            bool bad = __any_sync(0xffffffffu, bytes != j.bytes || (lane * 4 < bytes && word != word_of(got, lane)));
            right += !bad;
            wrong += bad;
            got++;
        }
        if (sent + got == before && __any_sync(0xffffffffu, load_relaxed<sys>(stop) != 0)) break;
    }
    if (lane) return;
    o[me].ticks = sent;
    o[me].right = right;
    o[me].wrong = wrong;
    o[me].begin = begin;
    o[me].end = now();
}

// The host and one thread, a bare word each way, in mapped memory.
extern "C" __global__ void raw_host(const u64 *in, u64 *out, u32 messages)
{
    for (u32 k = 0; k < messages; k++) {
        while (load_relaxed<sys>(in) != k + 1) {}
        store_relaxed<sys>(out, k + 1);
    }
}

extern "C" __global__ void count_sms(u32 *n) { asm volatile("mov.u32 %0, %%nsmid;" : "=r"(*n)); }
