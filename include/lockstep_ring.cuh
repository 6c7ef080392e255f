/* lockstep_ring.cuh: the device side of ring kernels. An actor is a function from a message to a response:
 *
 *     #include <lockstep_ring.cuh>
 *     #include "shapes.h" // LK_RING_MESSAGE(square, 1, ...), LK_RING_MESSAGE(area, 2, ...)
 *     LK_RING_ACTOR(measure, square, area) { if (c.first()) out.value = in.side * in.side; }
 *     LK_RING_KERNEL(shapes, lk_ring::block, measure) // a block for each unit; lk_ring::warp: a warp
 *
 * The host creates, launches and feeds it with lk_ring_* (lockstep_ring.h). All threads of a unit call the function
 * together. It reads the message where it lies and writes the response where it will be read. docs/reference/ring.md is
 * the protocol, the argument for it, and what can go wrong.
 *
 * spsc, mpsc, mpmc and pipe below are rings for a kernel's own use, in shared, distributed shared, global or mapped
 * memory. */
#ifndef LOCKSTEP_RING_CUH
#define LOCKSTEP_RING_CUH
#include "lockstep_ring_layout.h"

namespace lk_ring
{

typedef lk_ring_u32 u32;
typedef lk_ring_u64 u64;

/* ---- words that others use at the same time: whole 64 bits, at the scope of whoever else uses them ---- */

enum scope { cta, cluster, gpu, sys };

#define LK_RING_LOAD(NAME, ORDER)                                                             \
    template <scope S> __device__ __forceinline__ u64 NAME(const u64 *p)                      \
    {                                                                                         \
        u64 v;                                                                                \
        if (S == cta)                                                                         \
            asm volatile("ld." ORDER ".cta.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");     \
        else if (S == cluster)                                                                \
            asm volatile("ld." ORDER ".cluster.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); \
        else if (S == gpu)                                                                    \
            asm volatile("ld." ORDER ".gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");     \
        else                                                                                  \
            asm volatile("ld." ORDER ".sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");     \
        return v;                                                                             \
    }
#define LK_RING_STORE(NAME, ORDER)                                                          \
    template <scope S> __device__ __forceinline__ void NAME(u64 *p, u64 v)                  \
    {                                                                                       \
        if (S == cta)                                                                       \
            asm volatile("st." ORDER ".cta.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");     \
        else if (S == cluster)                                                              \
            asm volatile("st." ORDER ".cluster.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); \
        else if (S == gpu)                                                                  \
            asm volatile("st." ORDER ".gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");     \
        else                                                                                \
            asm volatile("st." ORDER ".sys.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");     \
    }
LK_RING_LOAD(load_acquire, "acquire")
LK_RING_LOAD(load_relaxed, "relaxed")
LK_RING_STORE(store_release, "release")
LK_RING_STORE(store_relaxed, "relaxed")

/* Orders a relaxed load before all that follows it: together they acquire. */
template <scope S> __device__ __forceinline__ void acquire_fence()
{
    if (S == cta)
        asm volatile("fence.acq_rel.cta;" ::: "memory");
    else if (S == cluster)
        asm volatile("fence.acq_rel.cluster;" ::: "memory");
    else if (S == gpu)
        asm volatile("fence.acq_rel.gpu;" ::: "memory");
    else
        asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* What *p was; it is `to` now if it was `was`. Relaxed: the slot's word orders the message, not this one. */
template <scope S> __device__ __forceinline__ u64 swap_if(u64 *p, u64 was, u64 to)
{
    u64 v;
    if (S == cta)
        asm volatile("atom.relaxed.cta.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    else if (S == cluster)
        asm volatile("atom.relaxed.cluster.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    else if (S == gpu)
        asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    else
        asm volatile("atom.relaxed.sys.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    return v;
}

__device__ __forceinline__ u64 now()
{
    u64 t;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t));
    return t;
}

/* ---- rings for a kernel's own use ----
 *
 * T is copied in and out by the calling thread. N slots, any number from 1 on. S is the narrowest scope that has all
 * users: cta for shared memory, cluster for distributed shared memory, gpu for global memory, sys where the host or
 * another GPU takes part. One thread calls begin() before anybody uses the ring, and a barrier comes after it. The
 * calls return false where the ring is full or empty. */

template <class T> struct alignas(16) cell {
    u64 ready; /* index of the message in the cell, plus 1 */
    T value;
};

/* One thread puts, one takes. */
template <class T, u32 N, scope S> struct spsc {
    alignas(128) u64 taken; /* written by the consumer: messages that it has done with */
    alignas(128) u64 next;  /* the producer's own: index of the next message */
    u64 seen;               /* the producer's own: what `taken` was when it last looked */
    alignas(128) cell<T> at[N];

    __device__ void begin()
    {
        taken = next = seen = 0;
        for (u32 i = 0; i < N; i++) at[i].ready = 0;
    }
    __device__ bool put(const T &value)
    {
        if (next - seen == N) {
            seen = load_acquire<S>(&taken);
            if (next - seen == N) return false;
        }
        cell<T> &c = at[next % N];
        c.value = value;
        store_release<S>(&c.ready, ++next);
        return true;
    }
    __device__ bool take(T &value)
    {
        u64 index = load_relaxed<S>(&taken); /* the consumer's own word */
        cell<T> &c = at[index % N];
        if (load_acquire<S>(&c.ready) != index + 1) return false;
        value = c.value;
        store_release<S>(&taken, index + 1);
        return true;
    }
};

/* Many put, one takes. */
template <class T, u32 N, scope S> struct mpsc {
    alignas(128) u64 taken; /* written by the consumer */
    alignas(128) u64 next;  /* of all producers, by compare-and-swap */
    alignas(128) cell<T> at[N];

    __device__ void begin()
    {
        taken = next = 0;
        for (u32 i = 0; i < N; i++) at[i].ready = 0;
    }
    __device__ bool put(const T &value)
    {
        u64 index = load_relaxed<S>(&next);
        for (;;) {
            u64 done = load_acquire<S>(&taken);
            if (done > index) index = done; /* `next` was read long before `taken` */
            if (index - done >= N) {
                u64 again = load_relaxed<S>(&next);
                if (again == index) return false;
                index = again;
                continue;
            }
            u64 was = swap_if<S>(&next, index, index + 1);
            if (was == index) break;
            index = was;
        }
        cell<T> &c = at[index % N];
        c.value = value;
        store_release<S>(&c.ready, index + 1);
        return true;
    }
    __device__ bool take(T &value)
    {
        u64 index = load_relaxed<S>(&taken);
        cell<T> &c = at[index % N];
        if (load_acquire<S>(&c.ready) != index + 1) return false;
        value = c.value;
        store_release<S>(&taken, index + 1);
        return true;
    }
};

/* Many put, many take. Here the word of a cell also says that it is free: 2 * round for a cell that waits for the
 * message of that round, 2 * round + 1 for one that holds it, where message i is of round i / N. */
template <class T, u32 N, scope S> struct mpmc {
    alignas(128) u64 put_next;
    alignas(128) u64 take_next;
    alignas(128) cell<T> at[N];

    __device__ void begin()
    {
        put_next = take_next = 0;
        for (u32 i = 0; i < N; i++) at[i].ready = 0;
    }
    __device__ bool put(const T &value)
    {
        u64 index = load_relaxed<S>(&put_next);
        for (;;) {
            u64 want = index / N * 2, is = load_acquire<S>(&at[index % N].ready);
            if (is == want) {
                u64 was = swap_if<S>(&put_next, index, index + 1);
                if (was == index) break;
                index = was;
            } else {
                if (is < want) return false;
                index = load_relaxed<S>(&put_next);
            }
        }
        cell<T> &c = at[index % N];
        c.value = value;
        store_release<S>(&c.ready, index / N * 2 + 1);
        return true;
    }
    __device__ bool take(T &value)
    {
        u64 index = load_relaxed<S>(&take_next);
        for (;;) {
            u64 want = index / N * 2 + 1, is = load_acquire<S>(&at[index % N].ready);
            if (is == want) {
                u64 was = swap_if<S>(&take_next, index, index + 1);
                if (was == index) break;
                index = was;
            } else {
                if (is < want) return false;
                index = load_relaxed<S>(&take_next);
            }
        }
        cell<T> &c = at[index % N];
        value = c.value;
        store_release<S>(&c.ready, (index / N + 1) * 2);
        return true;
    }
};

/* ---- pipes: from one warp to another ----
 *
 * All 32 lanes of both warps take part in every call. A message of up to 4 * WORDS bytes is a short one: it travels in
 * WORDS words of 64 bits. Each holds 4 of its bytes and a number: 25 bits of the message's index plus 1, and its
 * length. A lane that finds the number that it waits for has the bytes too, so nothing has to be ordered, and a message
 * costs one store and one load of WORDS words; four of them are one sector of a cache. Longer ones lie after that line
 * and are released by its first word; a pipe that has none says so (LONG is false), which saves a branch. What else the
 * sender wrote is visible to the receiver of a long message, not to that of a short one. WINDOW says that the memory is
 * shared memory, of the own block (S is cta) or of one of the cluster (S is cluster): addresses of its window are
 * shorter and their accesses faster. The memory begins as zeros and is best near the receiver. There are fewer than
 * 2^24 slots; the receiver says what it has taken half a pipe at a time, so that two slots or more keep both sides
 * busy. What the next message needs is computed after the one before: a message waits for nothing but its own store
 * and load. */

enum {
    pipe_words = 16,
    pipe_short = 4 * pipe_words,
    pipe_length_bits = 7,
    pipe_long = (1 << pipe_length_bits) - 1, /* as a length: the message is a long one */
    pipe_one = 1 << pipe_length_bits         /* between the numbers of two messages */
};

/* A word of a pipe: by a generic address, or by one of the window of shared memory. */
template <scope S, bool WINDOW> __device__ __forceinline__ u64 load_word(u64 at)
{
    static_assert(!WINDOW || S == cta || S == cluster, "shared memory is used by a block or by a cluster");
    u64 v;
    if (!WINDOW) return load_relaxed<S>((const u64 *)at);
    if (S == cta)
        asm volatile("ld.relaxed.cta.shared::cta.u64 %0, [%1];" : "=l"(v) : "r"((u32)at) : "memory");
    else
        asm volatile("ld.relaxed.cluster.shared::cluster.u64 %0, [%1];" : "=l"(v) : "r"((u32)at) : "memory");
    return v;
}
template <scope S, bool WINDOW> __device__ __forceinline__ void store_word(u64 at, u64 v)
{
    if (!WINDOW)
        store_relaxed<S>((u64 *)at, v);
    else if (S == cta)
        asm volatile("st.relaxed.cta.shared::cta.u64 [%0], %1;" ::"r"((u32)at), "l"(v) : "memory");
    else
        asm volatile("st.relaxed.cluster.shared::cluster.u64 [%0], %1;" ::"r"((u32)at), "l"(v) : "memory");
}

template <scope S, bool LONG = true, u32 WORDS = pipe_words, bool WINDOW = false> struct pipe {
    static_assert(WORDS && WORDS <= pipe_words && !(WORDS & (WORDS - 1)), "1, 2, 4, 8 or 16 words");
    enum { words = WORDS };
    u64 *taken;   /* written by the receiver: the number of the last message of which it has said that it has done */
    u64 *first;   /* the lane's word of the first slot */
    u64 base;     /* the address of that word, as this pipe's accesses have it */
    u64 mine;     /* and of that of this side's next message */
    u32 at, last; /* bytes from the first slot to that one, and to the last */
    u32 each;     /* bytes of a slot */
    u32 number;   /* of the next message, with the length left out */
    u32 count;    /* slots */
    u32 left; /* the sender's: slots that it knows to be free. The receiver's: messages until it says what it has done
               */
    bool ordered; /* the receiver's: a message not yet acknowledged was long */
    bool lies;    /* the receiver's: the message that it looked at is a long one */

    /* bytes of memory for so many slots of messages up to `most` bytes */
    static __host__ __device__ constexpr u64 bytes_for(u32 slots, u32 most)
    {
        return LK_RING_LINE + (u64)slots * slot_bytes(most);
    }
    static __host__ __device__ constexpr u32 slot_bytes(u32 most)
    {
        return LK_RING_LINE + (most <= 4 * WORDS ? 0 : (most + LK_RING_LINE - 1) / LK_RING_LINE * LK_RING_LINE);
    }
    static __device__ __forceinline__ u32 lane() { return threadIdx.x % 32; }
    /* A side of it: one warp makes it with `sends`, the other without. */
    __device__ pipe(void *memory, u32 slots, u32 most, bool sends)
        : taken((u64 *)memory), first((u64 *)memory + LK_RING_LINE / 8 + lane() % WORDS),
          base(WINDOW ? (u64)__cvta_generic_to_shared(first) : (u64)first), mine(base), at(0),
          last((slots - 1) * slot_bytes(most)), each(slot_bytes(most)), number(pipe_one), count(slots),
          left(sends ? slots : half()), ordered(false), lies(false)
    {
    }
    __device__ __forceinline__ u32 half() const { return (count + 1) / 2; }
    __device__ __forceinline__ void step()
    {
        number += pipe_one;
        at = at == last ? 0 : at + each;
        mine = WINDOW ? (u32)base + at : base + at;
    }
    /* After the words of the slot. */
    __device__ __forceinline__ void *behind_words() const
    {
        return (unsigned char *)(first - lane() % WORDS + pipe_words) + at;
    }

    /* The sender: whether there is room for one more. One lane looks for all: two loads of a warp may differ. */
    __device__ __forceinline__ bool has_room() { return left || look_for_room(); }
    __device__ bool look_for_room()
    {
        u32 done = lane() ? 0 : (u32)load_acquire<S>(taken);
        __syncwarp(); /* what it has acquired holds for all */
        left = count - (number - pipe_one - __shfl_sync(0xffffffffu, done, 0)) / pipe_one;
        return left;
    }
    /* Sends a short message: lane k gives the k-th four bytes. All words are stored, also those after the last byte:
     * who waits looks at all of them. */
    __device__ __forceinline__ bool put(u32 word, u32 bytes)
    {
        if (!has_room()) return false;
        place(word, bytes);
        return true;
    }
    /* The same in two steps: waits for room, ahead of the message; then sends it, without a branch. */
    __device__ __forceinline__ void reserve()
    {
        if (__builtin_expect(!left, 0))
            while (!look_for_room()) {}
    }
    __device__ __forceinline__ void place(u32 word, u32 bytes)
    {
        if (lane() < WORDS) store_word<S, WINDOW>(mine, (u64)(number | bytes) << 32 | word);
        left--;
        step();
    }
    /* A long message: where its payload is to be written, by any lanes; then send(). NULL: no room. */
    __device__ void *begin() { return has_room() ? behind_words() : (void *)0; }
    __device__ void send(u32 bytes)
    {
        static_assert(LONG, "a pipe without long messages");
        u64 v = (u64)(number | pipe_long) << 32;
        /* no word keeps a number that may come again */
        if (lane() && lane() < WORDS) store_word<S, WINDOW>(mine, v);
        __syncwarp();
        if (!lane()) store_release<S>((u64 *)((unsigned char *)first + at), v | bytes);
        left--;
        step();
    }
    /* The receiver: whether a message is there, its bytes, and of a short one the lane's word as put() had it. */
    __device__ __forceinline__ bool look(u32 *word, u32 *bytes)
    {
        u64 v = load_word<S, WINDOW>(mine); /* by all lanes, so that they stay together */
        u32 off = (u32)(v >> 32) ^ number;  /* the length, where the index is the one that is waited for */
        if (!__all_sync(0xffffffffu, off < pipe_one)) return false;
        found(v, off, word, bytes);
        return true;
    }
    __device__ __forceinline__ void found(u64 v, u32 off, u32 *word, u32 *bytes)
    {
        *word = (u32)v;
        *bytes = off;
        if (LONG) lies = off == pipe_long;
        if (LONG && lies) {
            *bytes = __shfl_sync(0xffffffffu, (u32)v, 0);
            acquire_fence<S>();
            __syncwarp();
        }
    }
    /* Waits for a message: every lane for its own word, without a vote. */
    __device__ __forceinline__ void pull(u32 *word, u32 *bytes)
    {
        u64 v;
        u32 off;
        do {
            v = load_word<S, WINDOW>(mine);
            off = (u32)(v >> 32) ^ number;
        } while (off >= pipe_one);
        __syncwarp(); /* all lanes have read their part: the slot may be acknowledged */
        found(v, off, word, bytes);
    }
    /* The payload of a long message, where it lies, until done(). */
    __device__ const void *payload() const { return behind_words(); }
    /* The slot may be written again. The words of a short message are in registers: look() or pull() has seen them all.
     */
    __device__ __forceinline__ void done()
    {
        if (LONG) ordered |= lies;
        if (!--left) {
            if (LONG && ordered) __syncwarp();
            if (!lane() && LONG && ordered) store_release<S>(taken, number);
            if (!lane() && !(LONG && ordered)) store_relaxed<S>(taken, number);
            left = half();
            ordered = false;
        }
        step();
    }
};

} /* namespace lk_ring */

#include "lockstep_ring_unit.cuh"
#endif
