/* lockstep_ring.cuh: the device side of ring kernels. An actor is a function from a message to a response:
 *
 *     #include <lockstep_ring.cuh>
 *     #include "shapes.h"                               // LK_RING_MESSAGE(square, 1, ...), LK_RING_MESSAGE(area, 2, ...)
 *     LK_RING_ACTOR(measure, square, area) { if (c.first()) out.value = in.side * in.side; }
 *     LK_RING_KERNEL(shapes, lk_ring::block, measure)   // a block for each unit; lk_ring::warp: a warp
 *
 * The host creates, launches and feeds it with lk_ring_* (lockstep_ring.h). All threads of a unit call the function
 * together. It reads the message where it lies and writes the response where it will be read. docs/ring.md is the
 * protocol, the argument for it, and what can go wrong.
 *
 * spsc, mpsc, mpmc and pipe below are rings for a kernel's own use, in shared, distributed shared, global or mapped memory. */
#ifndef LOCKSTEP_RING_CUH
#define LOCKSTEP_RING_CUH
#include "lockstep_ring_layout.h"

namespace lk_ring {

typedef lk_ring_u32 u32;
typedef lk_ring_u64 u64;

/* ---- words that others use at the same time: whole 64 bits, at the scope of whoever else uses them ---- */

enum scope { cta, cluster, gpu, sys };

#define LK_RING_LOAD(NAME, ORDER)                                                                             \
    template <scope S> __device__ __forceinline__ u64 NAME(const u64 *p)                                      \
    {                                                                                                         \
        u64 v;                                                                                                \
        if (S == cta) asm volatile("ld." ORDER ".cta.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");           \
        else if (S == cluster) asm volatile("ld." ORDER ".cluster.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory"); \
        else if (S == gpu) asm volatile("ld." ORDER ".gpu.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");      \
        else asm volatile("ld." ORDER ".sys.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");                    \
        return v;                                                                                             \
    }
#define LK_RING_STORE(NAME, ORDER)                                                                            \
    template <scope S> __device__ __forceinline__ void NAME(u64 *p, u64 v)                                    \
    {                                                                                                         \
        if (S == cta) asm volatile("st." ORDER ".cta.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");             \
        else if (S == cluster) asm volatile("st." ORDER ".cluster.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory"); \
        else if (S == gpu) asm volatile("st." ORDER ".gpu.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");        \
        else asm volatile("st." ORDER ".sys.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");                      \
    }
LK_RING_LOAD(load_acquire, "acquire")
LK_RING_LOAD(load_relaxed, "relaxed")
LK_RING_STORE(store_release, "release")
LK_RING_STORE(store_relaxed, "relaxed")

/* Orders a relaxed load before all that follows it: together they acquire. */
template <scope S> __device__ __forceinline__ void acquire_fence()
{
    if (S == cta) asm volatile("fence.acq_rel.cta;" ::: "memory");
    else if (S == cluster) asm volatile("fence.acq_rel.cluster;" ::: "memory");
    else if (S == gpu) asm volatile("fence.acq_rel.gpu;" ::: "memory");
    else asm volatile("fence.acq_rel.sys;" ::: "memory");
}

/* What *p was; it is `to` now if it was `was`. Relaxed: the slot's word orders the message, not this one. */
template <scope S> __device__ __forceinline__ u64 swap_if(u64 *p, u64 was, u64 to)
{
    u64 v;
    if (S == cta) asm volatile("atom.relaxed.cta.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    else if (S == cluster) asm volatile("atom.relaxed.cluster.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    else if (S == gpu) asm volatile("atom.relaxed.gpu.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
    else asm volatile("atom.relaxed.sys.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(p), "l"(was), "l"(to) : "memory");
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
 * another GPU takes part. One thread calls begin() before anybody uses the ring, and a barrier comes behind it. The
 * calls return false where the ring is full or empty. */

template <class T> struct alignas(16) cell {
    u64 ready; /* index of the message in the cell, plus 1 */
    T value;
};

/* One thread puts, one takes. */
template <class T, u32 N, scope S> struct spsc {
    alignas(128) u64 taken;   /* written by the consumer: messages that it has done with */
    alignas(128) u64 next;    /* the producer's own: index of the next message */
    u64 seen;                 /* the producer's own: what `taken` was when it last looked */
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
 * All 32 lanes of both warps take part in every call. A message of up to pipe_short bytes travels in words of 64 bits that
 * hold 4 of its bytes and the low half of its index plus 1: a lane that finds that number in a word has the bytes too, so
 * nothing has to be ordered, and a message costs one store and one load of 128 bytes. Longer ones lie behind that line and
 * are released by it. What else the sender wrote is visible to the receiver of a long message, not to that of a short one.
 * The memory begins as zeros and is best near the receiver. */

enum { pipe_short = 60, pipe_words = 16 };

template <scope S> struct pipe {
    u64 *taken;           /* written by the receiver: messages that it has done with */
    unsigned char *slots; /* behind the line of `taken` */
    u32 count, each;      /* slots, and bytes of one */
    u64 next, seen;       /* this side's next index; the sender's: what `taken` was when it last looked */
    bool lies;            /* the receiver's: the message that it looked at is a long one */

    /* bytes of memory for so many slots of messages up to `most` bytes */
    static __host__ __device__ constexpr u64 bytes_for(u32 slots, u32 most)
    {
        return LK_RING_LINE + (u64)slots * slot_bytes(most);
    }
    static __host__ __device__ constexpr u32 slot_bytes(u32 most)
    {
        return LK_RING_LINE + (most <= pipe_short ? 0 : (most + LK_RING_LINE - 1) / LK_RING_LINE * LK_RING_LINE);
    }
    __device__ pipe(void *memory, u32 slot_count, u32 most)
        : taken((u64 *)memory), slots((unsigned char *)memory + LK_RING_LINE), count(slot_count), each(slot_bytes(most)), next(0), seen(0), lies(false)
    {
    }
    __device__ u64 *line() const { return (u64 *)(slots + next % count * each); }
    __device__ u32 lane() const { return threadIdx.x % 32; }

    /* The sender: whether there is room for one more. */
    __device__ bool has_room()
    {
        if (next - seen < count) return true;
        seen = load_acquire<S>(taken);
        return next - seen < count;
    }
    /* Sends up to pipe_short bytes: lane k + 1 gives the k-th four of them. */
    __device__ bool put(u32 word, u32 bytes)
    {
        if (!has_room()) return false;
        u64 *at = line();
        next++;
        if (lane() * 4 < bytes + 4) store_relaxed<S>(at + lane(), next << 32 | (lane() ? word : bytes));
        return true;
    }
    /* A long message: where its payload is to be written, by any lanes; then send(). NULL: no room. */
    __device__ void *begin() { return has_room() ? (void *)(line() + pipe_words) : (void *)0; }
    __device__ void send(u32 bytes)
    {
        u64 *at = line();
        next++;
        __syncwarp();
        if (!lane()) store_release<S>(at, next << 32 | bytes);
    }
    /* The receiver: whether a message is there, its bytes, and of a short one the lane's word as put() had it. */
    __device__ bool look(u32 *word, u32 *bytes)
    {
        u64 *at = line(), v = lane() < pipe_words ? load_relaxed<S>(at + lane()) : 0;
        bool mine = (u32)(v >> 32) == (u32)(next + 1);
        u32 have = __ballot_sync(0xffffffffu, mine), n = __shfl_sync(0xffffffffu, (u32)v, 0);
        if (!(have & 1)) return false;
        lies = n > pipe_short;
        if (lies) {
            acquire_fence<S>();
            __syncwarp();
        } else {
            u32 need = (n + 7) / 4;
            if ((have & ((1u << need) - 1)) != (1u << need) - 1) return false;
        }
        *word = (u32)v;
        *bytes = n;
        return true;
    }
    /* The payload of a long message, where it lies, until done(). */
    __device__ const void *payload() const { return line() + pipe_words; }
    /* The slot may be written again. The words of a short message are in registers: look() has seen them all. */
    __device__ void done()
    {
        next++;
        if (lies) __syncwarp();
        if (lane()) return;
        if (lies) store_release<S>(taken, next);
        else store_relaxed<S>(taken, next);
    }
};

/* ---- a unit: the threads that call an actor's function together ---- */

enum unit_kind { block, warp };

/* In shared memory: what the first thread of a unit hands to the others. */
struct turn {
    const lk_ring_slot *message; /* NULL: the unit ends */
    lk_ring_slot *response;      /* where the response goes: a slot of the outbox, or the unit's scratch slot */
    u32 damaged;                 /* the message is not handed to the actor */
    u32 result, bytes, type;     /* of the response */
    u64 reference;               /* of the response; 0: inline */
    u32 leave;                   /* the actor wants to end */
};

/* What does not change while the ring runs, read once: the memory is across the bus. */
struct constants {
    u64 inbox, outbox, mail;
    u64 *inbox_taken;
    const u64 *outbox_taken, *command;
    lk_ring_word *mail_words;
    lk_ring_status *status;
    lk_ring_slot *scratch;
    u64 *latency; /* the unit's own counters */
    u32 route, actor, slot_bytes, inbox_slots, outbox_slots, mail_slots, inline_bytes, respond_policy, idle_ns;
};

/* What the first thread keeps in its registers. */
struct counters {
    u64 inbox_next, outbox_next, outbox_taken, mail_next; /* indices; outbox_taken: when it last looked */
    u64 responded, failed, waits;
    u64 beat; /* the last command word that it answered */
};

/* What the function of an actor is called with. The members that say so are called by all threads of the unit. */
struct call {
    const lk_ring_head *head;
    constants k;
    turn *shared;
    counters *own;           /* of the first thread; the others' are not used */
    u32 number, rank, count; /* of the unit; the thread's rank in it, and how many there are */
    unit_kind kind;

    __device__ u32 thread() const { return rank; }
    __device__ u32 threads() const { return count; }
    __device__ bool first() const { return rank == 0; }
    /* a barrier of the unit: called by all of its threads */
    __device__ void sync() const
    {
        if (kind == block) __syncthreads();
        else __syncwarp(count == 32 ? 0xffffffffu : (1u << count) - 1);
    }
    __device__ u32 type() const { return shared->message->type; }
    __device__ u32 bytes() const { return shared->message->bytes; }
    __device__ u32 from() const { return shared->message->from; }
    __device__ u64 id() const { return shared->message->id; }
    /* the payload, where it lies */
    __device__ const void *data() const
    {
        const lk_ring_slot *m = shared->message;
        return m->reference ? (const void *)m->reference : (const void *)(m + 1);
    }
    /* Memory for a response of so many bytes, which all threads may write; NULL: there is no room. Called by all. */
    __device__ void *respond(u32 type, u32 bytes)
    {
        const lk_ring_slot *m = shared->message;
        bool is_inline = bytes <= k.inline_bytes;
        bool fits = is_inline || (k.route == LK_RING_HOST && m->room && bytes <= m->room_bytes);
        if (first()) {
            shared->type = type;
            shared->bytes = fits ? bytes : 0;
            shared->reference = fits && !is_inline ? m->room : 0;
            if (!fits) shared->result = LK_RING_TOO_LARGE;
        }
        return !fits ? (void *)0 : is_inline ? (void *)(shared->response + 1) : (void *)m->room;
    }
    /* The response says this result in place of LK_RING_DONE, and has no payload. Called by all. */
    __device__ void fail(u32 result)
    {
        if (!first()) return;
        shared->result = result;
        shared->bytes = 0;
        shared->reference = 0;
    }
    /* The unit ends behind this message. Called by all. */
    __device__ void leave()
    {
        if (first()) shared->leave = 1;
    }
    /* Sends a message of at most inline_bytes to another unit. Called by all. false: it was dropped. */
    __device__ bool send(u32 to, u32 type, const void *payload, u32 bytes);
    /* The same for all units that hear a topic; how many got it. */
    __device__ u32 publish(u32 topic, u32 type, const void *payload, u32 bytes);
};

/* Covers what a receiver acts on: a header that was written over does not fit. */
__device__ __forceinline__ u32 check_of(u64 sequence, u64 id, u32 type, u32 bytes, u64 reference, u64 room)
{
    u64 x = sequence * 0x9e3779b97f4a7c15ULL ^ id ^ (u64)type << 32 ^ bytes ^ reference * 31 ^ room * 37;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    return (u32)(x >> 32) | 1;
}

__device__ __forceinline__ lk_ring_slot *slot_at(u64 slots, u64 index, u32 count, u32 bytes)
{
    return (lk_ring_slot *)(slots + index % count * bytes);
}

/* Phase and time are one word, so that they fit together. */
__device__ __forceinline__ void enter(lk_ring_status *status, u32 phase)
{
    store_relaxed<sys>(&status->phase, now() << LK_RING_PHASE_BITS | phase);
}

/* The first thread has seen the host's command word: the host sees that it has. */
__device__ inline void answer(call &c, u64 command)
{
    c.own->beat = command;
    store_relaxed<sys>(&c.k.status->clock, now());
    store_release<sys>(&c.k.status->beat, command);
}

__device__ __forceinline__ void rest(u32 *ns, u32 most)
{
    if (!most) return;
    __nanosleep(*ns);
    *ns = *ns * 2 < most ? *ns * 2 : most;
}

/* The edge's counter of a table: the unit's own and its mirror. */
__device__ inline u64 count_edge(const lk_ring_head *h, lk_ring_table table, u32 row, u32 column, u64 by)
{
    u64 at = ((u64)table * h->units + row) * h->edge_stride + column;
    u64 v = ((u64 *)h->edge_local)[at] + by;
    ((u64 *)h->edge_local)[at] = v;
    /* Released: who sees that a message was received sees all that the receiver has sent before (docs/ring.md, drain). */
    if (by) store_release<sys>((u64 *)h->edge + at, v);
    return v;
}

/* Waits until look() is true, with the unit's phase NO_ROOM meanwhile; false: the host said stop. */
template <class F> __device__ bool wait_for_room(call &c, u32 on, u32 phase, F look)
{
    if (look()) return true;
    lk_ring_status *status = c.k.status;
    store_relaxed<sys>(&status->waits, ++c.own->waits);
    store_relaxed<sys>(&status->waits_on, on);
    enter(status, LK_RING_NO_ROOM);
    bool has = false;
    u32 ns = 32;
    while (!(has = look())) {
        u64 command = load_acquire<sys>(c.k.command);
        if ((command & 255) == LK_RING_STOP) break;
        if (command != c.own->beat) answer(c, command);
        rest(&ns, c.k.idle_ns);
    }
    enter(status, phase);
    return has;
}

/* The first thread: a place in the mailbox of unit `to`, and its index; NULL: none, and the message is dropped. */
__device__ inline lk_ring_slot *place(call &c, u32 to, u64 *index)
{
    const lk_ring_unit *you = (const lk_ring_unit *)c.head->unit + to;
    lk_ring_word *words = (lk_ring_word *)you->mail_words; /* placed, taken */
    u32 slots = c.k.mail_slots;
    u64 at = 0;
    auto look = [&]() {
        at = load_relaxed<gpu>(&words[0].value);
        for (;;) {
            u64 done = load_acquire<gpu>(&words[1].value);
            if (done > at) at = done;
            if (at - done >= slots) {
                u64 again = load_relaxed<gpu>(&words[0].value);
                if (again == at) return false;
                at = again;
                continue;
            }
            u64 was = swap_if<gpu>(&words[0].value, at, at + 1);
            if (was == at) return true;
            at = was;
        }
    };
    bool drops = c.head->mail_policy == LK_RING_DROP;
    if (drops ? !look() : !wait_for_room(c, to, LK_RING_BUSY, look)) return (lk_ring_slot *)0;
    *index = at;
    return slot_at(you->mail, at, slots, c.k.slot_bytes);
}

__device__ inline void copy_bytes(void *to, const void *from, u32 bytes, u32 rank, u32 count)
{
    u32 words = ((u64)to | (u64)from) % 4 ? 0 : bytes / 4;
    for (u32 i = rank; i < words; i += count) ((u32 *)to)[i] = ((const u32 *)from)[i];
    for (u32 i = words * 4 + rank; i < bytes; i += count) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

/* All threads: a message to unit `to`, whose header repeats id and stamp of the one that is being processed. */
__device__ inline bool deliver(call &c, u32 to, u32 type, const void *payload, u32 bytes, u32 result)
{
    __shared__ lk_ring_slot *slot[32];
    bool known = to < c.head->units, can = known && bytes <= c.k.inline_bytes;
    u32 mine = c.kind == block ? 0 : threadIdx.x / 32;
    u64 sequence = 0, index = 0;
    c.sync();
    if (c.first()) {
        lk_ring_slot *s = can ? place(c, to, &index) : (lk_ring_slot *)0;
        if (known) sequence = count_edge(c.head, LK_RING_SENT, c.number, to, 1);
        if (known && !s) count_edge(c.head, LK_RING_DROPPED, c.number, to, 1);
        slot[mine] = s;
    }
    c.sync();
    lk_ring_slot *s = slot[mine];
    if (!s) return false;
    copy_bytes(s + 1, payload, bytes, c.rank, c.count);
    c.sync();
    if (c.first()) {
        const lk_ring_slot *m = c.shared->message;
        u64 id = m->id;
        s->sequence = sequence;
        s->id = id;
        s->type = type;
        s->bytes = bytes;
        s->from = c.number;
        s->result = result;
        s->reference = s->room = s->room_bytes = 0;
        s->enqueued = m->enqueued;
        s->check = check_of(sequence, id, type, bytes, 0, 0);
        store_release<gpu>(&s->ready, index + 1);
    }
    return true;
}

__device__ inline bool call::send(u32 to, u32 type, const void *payload, u32 bytes)
{
    return deliver(*this, to, type, payload, bytes, LK_RING_DONE);
}

__device__ inline u32 call::publish(u32 topic, u32 type, const void *payload, u32 bytes)
{
    if (topic >= head->topics) return 0;
    const u32 *row = (const u32 *)head->topic + (u64)topic * (1 + head->units);
    u32 got = 0;
    for (u32 i = 0; i < row[0]; i++) got += deliver(*this, row[1 + i], type, payload, bytes, LK_RING_DONE);
    return got;
}

/* The first thread waits for a message or for the host's word to end: NULL. */
__device__ inline const lk_ring_slot *look_for_message(call &c, bool *is_mail)
{
    const constants &k = c.k;
    lk_ring_slot *inbox = slot_at(k.inbox, c.own->inbox_next, k.inbox_slots, k.slot_bytes);
    lk_ring_slot *mail = slot_at(k.mail, c.own->mail_next, k.mail_slots, k.slot_bytes);
    u64 want_in = c.own->inbox_next + 1, want_mail = c.own->mail_next + 1;
    u32 ns = 32;
    bool idle = false; /* a unit that finds its next message at once does not say that it was idle */
    for (;;) {
        u64 command = load_acquire<sys>(k.command);
        u64 in = load_acquire<sys>(&inbox->ready), from_unit = load_acquire<gpu>(&mail->ready);
        u32 order = (u32)(command & 255);
        if (command != c.own->beat) {
            answer(c, command);
            idle = false;
        }
        if (order == LK_RING_STOP) return (const lk_ring_slot *)0;
        if (order == LK_RING_RUN) {
            if (from_unit == want_mail) { /* first what other units wait for room behind */
                *is_mail = true;
                return mail;
            }
            if (in == want_in) {
                *is_mail = false;
                return inbox;
            }
        }
        if (!idle) enter(k.status, order == LK_RING_RUN ? LK_RING_IDLE : LK_RING_PAUSED);
        idle = true;
        rest(&ns, k.idle_ns);
    }
}

/* The first thread: where the response of this message is to be written. */
__device__ inline lk_ring_slot *place_response(call &c, bool *drops, bool *stops)
{
    const constants &k = c.k;
    counters *own = c.own;
    *drops = *stops = false;
    if (k.route != LK_RING_HOST) return k.scratch;
    auto look = [&]() {
        if (own->outbox_next - own->outbox_taken < k.outbox_slots) return true;
        own->outbox_taken = load_acquire<sys>(k.outbox_taken);
        return own->outbox_next - own->outbox_taken < k.outbox_slots;
    };
    if (k.respond_policy == LK_RING_DROP) *drops = !look();
    else *stops = !wait_for_room(c, LK_RING_HOST, LK_RING_IDLE, look);
    if (*drops || *stops) return k.scratch;
    return slot_at(k.outbox, own->outbox_next, k.outbox_slots, k.slot_bytes);
}

/* The first thread: the header of a response, and its release. */
__device__ inline void release_response(call &c, u64 seen, u64 processed)
{
    const turn *t = c.shared;
    const lk_ring_slot *m = t->message;
    lk_ring_slot *r = t->response;
    u64 id = m->id, room = m->room, reference = t->reference;
    u32 type = t->type, bytes = t->bytes;
    r->sequence = c.own->responded;
    r->id = id;
    r->type = type;
    r->bytes = bytes;
    r->from = c.number;
    r->result = t->result;
    r->reference = reference;
    r->room = room; /* by which the host knows what it may use again */
    r->enqueued = m->enqueued;
    r->seen = seen;
    r->processed = processed;
    r->check = check_of(c.own->responded, id, type, bytes, reference, room);
    u64 visible = now();
    r->visible = visible;
    u64 index = ++c.own->outbox_next;
    store_relaxed<sys>(&c.k.status->placed, index);
    store_release<sys>(&r->ready, index);
    u64 took = visible - seen;
    u32 b = took ? 63 - __clzll((long long)took) : 0;
    b = b < LK_RING_BUCKETS ? b : LK_RING_BUCKETS - 1;
    u64 n = c.k.latency[b] + 1;
    c.k.latency[b] = n;
    store_relaxed<sys>(&c.k.status->latency[b], n);
}

/* The first thread: everything that the message caused has been sent; its slot is free. The queue's word comes last. */
__device__ inline void done_with(call &c, bool is_mail)
{
    if (!is_mail) {
        store_release<sys>(c.k.inbox_taken, ++c.own->inbox_next);
        return;
    }
    const lk_ring_slot *m = c.shared->message;
    u32 from = m->from;
    u64 last = count_edge(c.head, LK_RING_RECEIVED, c.number, from, 0) + count_edge(c.head, LK_RING_MISSING, c.number, from, 0);
    if (m->sequence != last + 1) count_edge(c.head, LK_RING_MISSING, c.number, from, m->sequence - last - 1);
    count_edge(c.head, LK_RING_RECEIVED, c.number, from, 1);
    store_release<gpu>(&c.k.mail_words[1].value, ++c.own->mail_next);
}

/* What the device's compiler made of the layout, for the host to compare. */
__device__ inline void write_probe(lk_ring_probe *p)
{
    const u32 word[] = {
#define LK_RING_X(s, f) (u32)LK_RING_OFFSET(struct s, f),
#define LK_RING_Y(s) (u32)sizeof(struct s),
        LK_RING_PROBES(LK_RING_X, LK_RING_Y)
#undef LK_RING_X
#undef LK_RING_Y
    };
    const u32 n = sizeof word / sizeof *word;
    static_assert(sizeof word / sizeof *word <= LK_RING_PROBE_WORDS, "words of a probe");
#pragma unroll
    for (u32 i = 0; i < n; i++) p->word[i] = word[i];
    p->count = n;
    store_release<sys>(&p->magic, LK_RING_MAGIC);
}

__device__ inline constants read_constants(const lk_ring_head *h, const lk_ring_unit *u)
{
    constants k;
    k.inbox = u->inbox;
    k.outbox = u->outbox;
    k.mail = u->mail;
    k.inbox_taken = (u64 *)u->inbox_taken;
    k.outbox_taken = (const u64 *)u->outbox_taken;
    k.command = &h->command.value;
    k.mail_words = (lk_ring_word *)u->mail_words;
    k.status = (lk_ring_status *)u->status;
    k.scratch = (lk_ring_slot *)u->scratch;
    k.latency = ((lk_ring_local *)u->local)->latency;
    k.route = u->route;
    k.actor = u->actor;
    k.slot_bytes = h->slot_bytes;
    k.inbox_slots = h->inbox_slots;
    k.outbox_slots = h->outbox_slots;
    k.mail_slots = h->mail_slots;
    k.inline_bytes = h->inline_bytes;
    k.respond_policy = h->respond_policy;
    k.idle_ns = h->idle_ns;
    return k;
}

/* All functions of a kernel, by number. */
template <void (*...F)(call &)> struct functions {
    static __device__ void run(u32 which, call &c)
    {
        u32 k = 0;
        ((k++ == which ? F(c) : (void)0), ...);
    }
};

/* The whole life of a unit. */
template <class Functions> __device__ void serve(const lk_ring_head *h, unit_kind kind)
{
    __shared__ turn turns[32];
    counters own = { 0, 0, 0, 0, 0, 0, 0, 0 };
    call c;
    c.head = h;
    c.kind = kind;
    c.own = &own;
    c.rank = kind == block ? threadIdx.x : threadIdx.x % 32;
    c.count = kind == block ? blockDim.x : (blockDim.x - threadIdx.x / 32 * 32 < 32 ? blockDim.x % 32 : 32);
    c.number = kind == block ? blockIdx.x : blockIdx.x * ((blockDim.x + 31) / 32) + threadIdx.x / 32;
    if (c.number >= h->units) return;
    c.k = read_constants(h, (const lk_ring_unit *)h->unit + c.number);
    c.shared = &turns[kind == block ? 0 : threadIdx.x / 32];
    turn *t = c.shared;
    lk_ring_status *status = c.k.status;
    const u32 route = c.k.route;
    if (c.number == 0 && c.first()) write_probe((lk_ring_probe *)h->probe);
    for (;;) {
        bool is_mail = false, drops = false, stops = false;
        u64 seen = 0;
        if (c.first()) {
            const lk_ring_slot *m = look_for_message(c, &is_mail);
            if (m) {
                seen = now();
                store_relaxed<sys>(&status->current, m->id);
                t->response = place_response(c, &drops, &stops);
                u32 type = m->type, damaged = m->check != check_of(m->sequence, m->id, type, m->bytes, m->reference, m->room);
                t->damaged = damaged;
                t->result = damaged ? LK_RING_DAMAGED : LK_RING_DONE;
                t->type = type;
                t->bytes = t->leave = 0;
                t->reference = 0;
                if (stops) m = (const lk_ring_slot *)0; /* it stays in its queue */
                else enter(status, LK_RING_BUSY);
            }
            t->message = m;
        }
        c.sync();
        if (!t->message) break;
        if (!t->damaged) Functions::run(c.k.actor, c);
        if (c.count > 1) {
            if (c.first()) enter(status, LK_RING_BARRIER);
            c.sync();
        }
        u64 processed = c.first() ? now() : 0;
        bool leaves = t->leave; /* read before the last barrier: the next turn writes it again */
        if (route != LK_RING_HOST && route != LK_RING_NOBODY && t->bytes)
            deliver(c, route, t->type, t->response + 1, t->bytes, t->result);
        if (c.first()) {
            if (t->result != LK_RING_DONE) store_relaxed<sys>(&status->failed, ++own.failed);
            if (route == LK_RING_HOST) {
                own.responded++;
                if (drops) store_relaxed<sys>(&status->dropped, own.responded - own.outbox_next);
                else release_response(c, seen, processed);
            }
            done_with(c, is_mail);
        }
        c.sync();
        if (leaves) break;
    }
    if (c.first()) enter(status, t->message ? LK_RING_LEFT : LK_RING_STOPPED);
}

} /* namespace lk_ring */

/* An actor with typed messages: `in` is the message, `out` the response, `c` what else there is to ask. */
#define LK_RING_ACTOR(name, In, Out)                                                                       \
    __device__ void name##_body(lk_ring::call &c, const struct In &in, struct Out &out);                   \
    __device__ void name(lk_ring::call &c)                                                                 \
    {                                                                                                      \
        if (c.type() != In##_number) return c.fail(LK_RING_WRONG_TYPE);                                    \
        if (c.bytes() < sizeof(struct In)) return c.fail(LK_RING_TOO_SHORT);                               \
        struct Out *out = (struct Out *)c.respond(Out##_number, sizeof(struct Out));                       \
        if (out) name##_body(c, *(const struct In *)c.data(), *out);                                       \
    }                                                                                                      \
    __device__ void name##_body(lk_ring::call &c, const struct In &in, struct Out &out)
/* One whose messages have any type and length. */
#define LK_RING_RAW_ACTOR(name) __device__ void name(lk_ring::call &c)
/* The kernel: its name, lk_ring::block or lk_ring::warp, and the functions of its actors. */
#define LK_RING_KERNEL(name, kind, ...)                                                                    \
    extern "C" {                                                                                           \
    __device__ __attribute__((used)) char name##_actors[] = #kind ":" #__VA_ARGS__;                                              \
    __global__ void name(const struct lk_ring_head *ring)                                                  \
    {                                                                                                      \
        lk_ring::serve<lk_ring::functions<__VA_ARGS__>>(ring, kind);                                       \
    }                                                                                                      \
    }
#endif
