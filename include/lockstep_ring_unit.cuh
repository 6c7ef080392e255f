/* lockstep_ring_unit.cuh: the part of lockstep_ring.cuh that a ring kernel is made of: units, the calls of an actor,
 * the kernel. Included by it; docs/reference/ring.md is the protocol. */
#ifndef LOCKSTEP_RING_UNIT_CUH
#define LOCKSTEP_RING_UNIT_CUH

namespace lk_ring
{

/* The way of a short message between host and unit is laid out in one piece: what is rare lies elsewhere. */
__device__ __forceinline__ bool rarely(bool x) { return __builtin_expect(x, 0); }

/* ---- a unit: the threads that call an actor's function together ---- */

enum unit_kind { block, warp };

/* In shared memory: what the threads of a unit share about one message. What belongs together is one access of 16
 * bytes. */
struct turn {
    alignas(16) u32 in[LK_RING_MOST_WORDS]; /* the words of the message, with a payload that is in them */
    u32 out[LK_RING_MOST_WORDS];            /* of the response only the payload, where that is in the words */
    /* for units that are not one whole warp, whose lanes have this in registers */
    struct alignas(16) {
        const void *data;         /* the payload, where it lies */
        const lk_ring_slot *mail; /* the message came from another unit; NULL: from the host */
    } from;
    struct alignas(16) {
        u64 *response; /* words of the outbox that the response goes to; NULL: none */
        u32 go;        /* 0: the unit ends */
        u32 damaged;   /* the message is not handed to the actor */
    } to;
    struct alignas(16) {
        u32 type, bytes, result; /* of the response */
        u32 leave;               /* the actor wants to end */
    } answer;
    u64 reference; /* of the response; 0: inline */
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
    u32 route, actor, slot_bytes, in_bytes, out_bytes, in_words, out_words, inbox_slots, outbox_slots, mail_slots, inline_bytes,
        respond_policy, idle_ns;
};

/* What threads keep in their registers. */
struct counters {
    /* of all threads of the first warp */
    u64 inbox_next, mail_next; /* indices */
    u32 inbox_at, mail_at;     /* the same modulo the slots: no division on the way of a message */
    u64 beat;                  /* the last command word that it answered; words only grow */
    const u64 *here, *there;   /* where the thread looks for the next message, and for the one after it */
    u64 early;                 /* what the thread's first look at the next message has found */
    bool looked;               /* `early` is such a look */
    bool brief;                /* the last message was a short one, and so will be the next */
    bool mailed;               /* the unit sends mail: its releases would wait for an early look */
    bool wide;                 /* the last message had more words than a line: a look is at all of them */
    u32 word;                  /* the thread's word of the message; of a whole warp */
    u32 inbox_after;           /* inbox_at of the message after the next one */
    u64 outbox_next, outbox_taken; /* outbox_taken: when it last looked */
    u32 outbox_at;                 /* outbox_next modulo the slots */
    u64 responded;
    u64 seen;      /* when it found the message */
    u64 bucket[2]; /* of the latencies, those of this lane; of a whole warp */
    bool sent;     /* the message caused mail */
    /* of the first thread */
    u64 failed, waits;
};

/* What the function of an actor is called with. The members that say so are called by all threads of the unit. */
struct call {
    const lk_ring_head *head;
    constants k;
    turn *shared;
    counters *own;
    u32 number, rank, count; /* of the unit; the thread's rank, and the number of threads */
    u32 first_warp;          /* the lanes of its first warp, as a mask */
    unit_kind kind;
    /* the message */
    u32 in_bytes, in_type;
    bool go, damaged; /* !go: the unit ends; damaged: the message is not handed to the actor */
    const void *payload;
    const lk_ring_slot *mail;
    u64 *response;
    /* the response, as every thread has asked for it; that of the first thread counts */
    u32 out_type, out_bytes, out_result, out_leave;
    u64 out_reference;

    __device__ u32 thread() const { return rank; }
    __device__ u32 threads() const { return count; }
    __device__ bool first() const { return rank == 0; }
    /* a barrier of the unit: called by all of its threads */
    __device__ void sync() const
    {
        if (kind == block && count > 32)
            __syncthreads();
        else
            __syncwarp(lanes());
    }
    /* threads of the unit's first warp */
    __device__ u32 lanes() const { return first_warp; }
    __device__ u32 type() const { return in_type; }
    __device__ u32 bytes() const { return in_bytes & ~LK_RING_LONG; }
    __device__ u32 from() const { return mail ? mail->from : LK_RING_HOST; }
    __device__ u64 id() const { return pair(shared->in + LK_RING_W_ID); }
    /* the unit is one whole warp: what its lanes share is in registers */
    __device__ bool whole() const { return count == 32; }
    /* the payload, where it lies */
    __device__ const void *data() const { return payload; }
    /* Memory for a response of so many bytes, which all threads may write; NULL: there is no room. Called by all. */
    __device__ void *respond(u32 type, u32 bytes)
    {
        bool is_inline = bytes <= k.inline_bytes;
        out_type = type;
        out_bytes = bytes;
        out_reference = 0;
        if (is_inline ? bytes <= LK_RING_WORDY : bytes <= LK_RING_OUT_SHORT && k.route == LK_RING_HOST)
            return shared->out + LK_RING_W_OUT;
        if (is_inline) return response ? (void *)(response + k.out_words) : (void *)(k.scratch + 1);
        if (k.route == LK_RING_HOST && in_bytes & LK_RING_LONG && bytes <= shared->in[LK_RING_W_ROOM_BYTES])
            out_reference = pair(shared->in + LK_RING_W_IN + 2);
        if (!out_reference) fail(LK_RING_TOO_LARGE);
        return (void *)out_reference;
    }
    /* The response says this result in place of LK_RING_DONE, and has no payload. Called by all. */
    __device__ void fail(u32 result)
    {
        out_result = result;
        out_bytes = 0;
        out_reference = 0;
    }
    /* The unit ends after this message. Called by all. */
    __device__ void leave() { out_leave = 1; }
    /* Sends a message of at most inline_bytes to another unit. Called by all. false: it was dropped. */
    __device__ bool send(u32 to, u32 type, const void *payload, u32 bytes);
    /* The same for all units that hear a topic; how many got it. */
    __device__ u32 publish(u32 topic, u32 type, const void *payload, u32 bytes);
    /* The same with a payload of any length in device memory, which is not copied: the receivers read it where it lies.
     * What the unit wrote there is visible to them. It stays unchanged until the receivers have finished and
     * have told the sender by mail. */
    __device__ bool send_reference(u32 to, u32 type, const void *payload, u32 bytes);
    __device__ u32 publish_reference(u32 topic, u32 type, const void *payload, u32 bytes);

    /* two words of a message as one number */
    static __device__ __forceinline__ u64 pair(const u32 *w) { return w[0] | (u64)w[1] << 32; }
};

/* Covers what a receiver of mail acts on: a header that was written over does not fit. */
__device__ __forceinline__ u32 check_of(u64 sequence, u64 id, u32 type, u32 bytes)
{
    u64 x = sequence * 0x9e3779b97f4a7c15ULL ^ id ^ (u64)type << 32 ^ bytes;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9ULL;
    return (u32)(x >> 32) | 1;
}

__device__ __forceinline__ u64 slot_at(u64 slots, u64 index, u32 count, u32 bytes)
{
    return slots + index % count * bytes;
}

/* Phase and time are one word, so that they fit together. */
__device__ __forceinline__ void enter(lk_ring_status *status, u32 phase, u64 time)
{
    store_relaxed<sys>(&status->phase, time << LK_RING_PHASE_BITS | phase);
}

/* The unit begins a message: the thread that says yes writes it down. No branch, at whose end the others would wait. */
__device__ __forceinline__ void enter_message(lk_ring_status *status, bool yes, u64 id, u64 time)
{
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %3, 0;\n\t@p st.relaxed.sys.v2.u64 [%0], {%1, %2};\n\t}" ::"l"(
                     &status->phase),
                 "l"(time << LK_RING_PHASE_BITS | LK_RING_BUSY), "l"(id), "r"((u32)yes)
                 : "memory");
}

/* The first thread has seen the host's command word: the host sees that it has, and all that the unit has counted. */
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
    /* Released: who sees that a message was received sees all that the receiver has sent before
     * (docs/reference/ring.md, drain). */
    if (by) store_release<sys>((u64 *)h->edge + at, v);
    return v;
}

/* Waits until look() is true, with the unit's phase NO_ROOM meanwhile; false: the host said stop. */
template <class F> __device__ bool wait_for_room(call &c, u32 on, u32 phase, F look)
{
    if (!rarely(!look())) return true;
    lk_ring_status *status = c.k.status;
    store_relaxed<sys>(&status->waits, ++c.own->waits);
    store_relaxed<sys>(&status->waits_on, on);
    enter(status, LK_RING_NO_ROOM, now());
    bool has = false;
    u32 ns = 32;
    while (!(has = look())) {
        u64 command = load_acquire<sys>(c.k.command);
        if ((command & 255) == LK_RING_STOP) break;
        if (command > c.own->beat) answer(c, command);
        rest(&ns, c.k.idle_ns);
    }
    enter(status, phase, now());
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
    return (lk_ring_slot *)slot_at(you->mail, at, slots, c.k.slot_bytes);
}

__device__ inline void copy_bytes(void *to, const void *from, u32 bytes, u32 rank, u32 count)
{
    u32 words = ((u64)to | (u64)from) % 4 ? 0 : bytes / 4;
    for (u32 i = rank; i < words; i += count) ((u32 *)to)[i] = ((const u32 *)from)[i];
    for (u32 i = words * 4 + rank; i < bytes; i += count) ((unsigned char *)to)[i] = ((const unsigned char *)from)[i];
}

/* All threads: a message to unit `to`, whose header repeats id and stamp of the one that is being processed. */
__device__ inline bool deliver(call &c, u32 to, u32 type, const void *payload, u32 bytes, u32 result, bool by_reference)
{
    __shared__ lk_ring_slot *slot[32];
    bool known = to < c.head->units, can = known && (by_reference || bytes <= c.k.inline_bytes);
    u32 mine = c.kind == block ? 0 : threadIdx.x / 32;
    u64 sequence = 0, index = 0;
    c.own->mailed = true;
    c.sync();
    if (c.first()) {
        lk_ring_slot *s = can ? place(c, to, &index) : (lk_ring_slot *)0;
        if (known) sequence = count_edge(c.head, LK_RING_SENT, c.number, to, 1);
        if (known && !s) count_edge(c.head, LK_RING_DROPPED, c.number, to, 1);
        slot[mine] = s;
        c.own->sent = true;
    }
    c.sync();
    lk_ring_slot *s = slot[mine];
    if (!s) return false;
    if (!by_reference) copy_bytes(s + 1, payload, bytes, c.rank, c.count);
    c.sync();
    if (c.first()) {
        u64 id = c.id();
        s->sequence = sequence;
        s->id = id;
        s->type = type;
        s->bytes = bytes;
        s->from = c.number;
        s->result = result;
        s->reference = by_reference ? (u64)payload : 0;
        s->enqueued = call::pair(c.shared->in + LK_RING_W_ENQUEUED);
        s->check = check_of(sequence, id, type, bytes);
        store_release<gpu>(&s->ready, index + 1);
    }
    return true;
}

__device__ inline bool call::send(u32 to, u32 type, const void *payload, u32 bytes)
{
    return deliver(*this, to, type, payload, bytes, LK_RING_DONE, false);
}
__device__ inline bool call::send_reference(u32 to, u32 type, const void *payload, u32 bytes)
{
    return deliver(*this, to, type, payload, bytes, LK_RING_DONE, true);
}

/* To all units that hear the topic; how many got it. */
__device__ inline u32 deliver_all(call &c, u32 topic, u32 type, const void *payload, u32 bytes, bool by_reference)
{
    if (topic >= c.head->topics) return 0;
    const u32 *row = (const u32 *)c.head->topic + (u64)topic * (1 + c.head->units);
    u32 got = 0;
    for (u32 i = 0; i < row[0]; i++) got += deliver(c, row[1 + i], type, payload, bytes, LK_RING_DONE, by_reference);
    return got;
}
__device__ inline u32 call::publish(u32 topic, u32 type, const void *payload, u32 bytes)
{
    return deliver_all(*this, topic, type, payload, bytes, false);
}
__device__ inline u32 call::publish_reference(u32 topic, u32 type, const void *payload, u32 bytes)
{
    return deliver_all(*this, topic, type, payload, bytes, true);
}

/* The first warp of the unit: a word that its first thread acquires, for all of them. A shuffle hands over the value
 * and orders nothing: what the other lanes read and write next is ordered by the barrier. */
__device__ __forceinline__ u64 acquire_for_all(const call &c, const u64 *p)
{
    u64 v = 0;
    if (c.first()) v = load_acquire<sys>(p);
    __syncwarp(c.lanes());
    return __shfl_sync(c.lanes(), v, 0);
}

/* ---- taking a message ---- */

enum { look_command = LK_RING_IN_WORDS, look_mail, all_words = (1 << LK_RING_IN_WORDS) - 1 };

/* Where the slots of the next message and of the next mail are. */
__device__ __forceinline__ const u64 *next_words(const call &c, u32 at)
{
    return (const u64 *)(c.k.inbox + (u64)at * c.k.in_bytes);
}
__device__ __forceinline__ const lk_ring_slot *next_mail(const call &c)
{
    return (const lk_ring_slot *)(c.k.mail + (u64)c.own->mail_at * c.k.slot_bytes);
}
__device__ __forceinline__ u32 behind(u32 at, u32 slots) { return at + 1 == slots ? 0 : at + 1; }

/* A whole warp looks at everything that a unit waits for: each of its first lanes has one word, and the look is as long
 * as one load. Where each lane looks next, and where after the next message, is ready before it is needed. */
__device__ __forceinline__ const u64 *look_place(const call &c, u32 at)
{
    const u64 *other = c.rank == look_mail ? &next_mail(c)->ready : c.k.command;
    return c.rank < look_command ? next_words(c, at) + c.rank : other;
}
__device__ __forceinline__ void aim(call &c)
{
    counters *own = c.own;
    own->inbox_after = behind(own->inbox_at, c.k.inbox_slots);
    own->here = look_place(c, own->inbox_at);
    own->there = look_place(c, own->inbox_after);
}
/* The same after a message of the inbox. */
__device__ __forceinline__ void aim_next(call &c)
{
    counters *own = c.own;
    own->inbox_at = own->inbox_after;
    own->inbox_after = behind(own->inbox_after, c.k.inbox_slots);
    own->here = own->there;
    if (c.rank < look_command) own->there = next_words(c, own->inbox_after) + c.rank;
}

/* A load of the lanes that say yes, into a register that keeps its value in the others. The warp stays together, and
 * nobody waits for the load before the register is used: a branch around it would end in a copy, which waits. */
__device__ __forceinline__ void load_into(u64 &v, bool yes, const u64 *p)
{
    asm volatile("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %2, 0;\n\t@p ld.relaxed.sys.u64 %0, [%1];\n\t}"
                 : "+l"(v)
                 : "l"(p), "r"((u32)yes)
                 : "memory");
}
__device__ __forceinline__ u64 load_if(bool yes, const u64 *p)
{
    u64 v = 0;
    load_into(v, yes, p);
    return v;
}

/* The id of a message, whose words are in the lanes of a whole warp. */
__device__ __forceinline__ u64 id_of_words(u32 word)
{
    u32 low = __shfl_sync(0xffffffffu, word, LK_RING_W_ID), high = __shfl_sync(0xffffffffu, word, LK_RING_W_ID + 1);
    return low | (u64)high << 32;
}

/* The words after the first line, two for each lane of a whole warp. */
struct more_words {
    u64 at[2];
};
__device__ __forceinline__ more_words look_at_more(const call &c, const u64 *line)
{
    more_words m;
    u32 k = LK_RING_IN_WORDS + c.rank;
    m.at[0] = load_if(k < c.k.in_words, line + k);
    m.at[1] = load_if(k + 32 < c.k.in_words, line + k + 32);
    return m;
}

/* One look at the words, the command and the mailbox: a bit for each one that has what is waited for. A whole warp
 * keeps its words in `v` and `more`; of a smaller unit the first thread looks at all, and `v` is the command. */
__device__ __forceinline__ u32 look_at(const call &c, const u64 *line, const lk_ring_slot *mail, u64 &v,
                                       more_words &more)
{
    counters *own = c.own;
    const u32 want = (u32)(own->inbox_next + 1);
    if (c.count >= 32) {
        u32 k = c.rank;
        v = own->looked ? own->early : load_if(k <= look_mail, own->here);
        own->looked = false;
        if (rarely(own->wide)) more = look_at_more(c, line);
        bool hit = k < look_command    ? (u32)(v >> 32) == want
                   : k == look_command ? v > own->beat
                                       : k == look_mail && v == own->mail_next + 1;
        return __ballot_sync(0xffffffffu, hit);
    }
    u32 hits = 0;
    if (c.first()) {
        v = load_relaxed<sys>(c.k.command);
        hits = (u32)(v > own->beat) << look_command | (u32)(load_relaxed<sys>(&mail->ready) == own->mail_next + 1)
                                                          << look_mail;
        for (u32 k = 0; k < LK_RING_IN_WORDS; k++) {
            if ((u32)(load_relaxed<sys>(line + k) >> 32) != want) break;
            hits |= 1u << k;
        }
    }
    return __shfl_sync(c.lanes(), hits, 0);
}

/* The first warp: a message that is not short. Its words after the first line into shared memory, when they are there;
 * what is not in words is acquired. Returns the payload. */
__device__ inline const void *take_more(call &c, const u64 *line, more_words more)
{
    turn *t = c.shared;
    counters *own = c.own;
    const u32 number = (u32)(own->inbox_next + 1), bytes = c.in_bytes & ~LK_RING_LONG;
    const bool is_long = c.in_bytes & LK_RING_LONG;
    const u32 first = is_long ? LK_RING_W_IN + 4 : LK_RING_W_IN;
    u64 reference = is_long ? call::pair(t->in + LK_RING_W_IN) : 0;
    bool in_words = !reference && bytes <= LK_RING_WORDY;
    u32 need = in_words ? first + (bytes + 3) / 4 : 0, i = 0;
    bool looked = own->wide; /* the look was at these words, too */
    own->wide = c.count >= 32 && need > LK_RING_IN_WORDS;
    for (u32 k = LK_RING_IN_WORDS + c.rank; k < need; k += min(c.count, 32u), i++) {
        u64 v = looked ? more.at[i & 1] : 0;
        while ((u32)(v >> 32) != number) v = load_relaxed<sys>(line + k);
        t->in[k] = (u32)v;
    }
    if (is_long && c.first()) acquire_fence<sys>();
    __syncwarp(c.lanes());
    return reference ? (const void *)reference
           : in_words ? (const void *)(t->in + first)
                      : (const void *)(line + c.k.in_words);
}

/* The unit's first warp: the words of a message of the host into shared memory; whether they fit together. */
__device__ __forceinline__ void take_words(call &c, const u64 *line, u64 v, more_words more)
{
    turn *t = c.shared;
    counters *own = c.own;
    u32 sum = 0, type;
    /* The first look at the next message is under way from here on, while the actor works on this one. Where a message
     * is not short, what comes after it waits for that look. */
    own->looked = c.count >= 32 && !own->mailed && own->brief;
    load_into(own->early, own->looked && c.rank <= look_mail, own->there);
    if (c.count >= 32) {
        u32 k = c.rank, w = own->word = (u32)v,
            x = k >= LK_RING_IN_WORDS ? 0 : k == LK_RING_W_CHECK ? w : LK_RING_MIX(k, w);
        if (k < LK_RING_IN_WORDS) t->in[k] = w;
        c.in_bytes = __shfl_sync(0xffffffffu, w, LK_RING_W_BYTES);
        type = __shfl_sync(0xffffffffu, w, LK_RING_W_TYPE);
#if __CUDA_ARCH__ >= 800
        sum = __reduce_xor_sync(0xffffffffu, x);
#else
        for (u32 step = 16; step; step /= 2) x ^= __shfl_xor_sync(0xffffffffu, x, step);
        sum = x;
#endif
        __syncwarp();
    } else {
        for (u32 k = 0; k < LK_RING_IN_WORDS && c.first(); k++) {
            u32 w = (u32)load_relaxed<sys>(line + k);
            t->in[k] = w;
            sum ^= k == LK_RING_W_CHECK ? w : LK_RING_MIX(k, w);
        }
        __syncwarp(c.lanes());
        sum = __shfl_sync(c.lanes(), sum, 0);
        c.in_bytes = t->in[LK_RING_W_BYTES];
        type = t->in[LK_RING_W_TYPE];
    }
    c.in_type = type;
    c.damaged = sum != 0;
    own->brief = c.in_bytes <= LK_RING_IN_SHORT;
    c.mail = (const lk_ring_slot *)0;
    c.payload = t->in + LK_RING_W_IN;
    if (rarely(c.in_bytes > LK_RING_IN_SHORT) && !c.damaged) c.payload = take_more(c, line, more);
}

/* The first warp: mail looks like a message of the host to the actor.
 *
 * The relaxed load of `ready` that has found it is that of one lane, look_mail of a whole warp. Only a fence of that
 * very lane makes an acquire of it (PTX, 8.8: load and fence of one thread, in program order): the sender's release
 * synchronises with that lane alone. The vote that told the others is no barrier of memory. The barrier of the warp
 * after the fence is one, and happens-before is transitive through it: all lanes may read the slot, and what the
 * message refers to, and those of a block's other warps after the unit's own barrier. */
__device__ inline void take_mail(call &c, const lk_ring_slot *m)
{
    turn *t = c.shared;
    bool fits = true;
    acquire_fence<gpu>(); /* of all lanes: one instruction, as for a single lane */
    __syncwarp(c.lanes());
    if (c.first()) {
        u64 id = m->id, enqueued = m->enqueued;
        u32 bytes = m->bytes, type = m->type;
        t->in[LK_RING_W_BYTES] = bytes;
        t->in[LK_RING_W_TYPE] = type;
        t->in[LK_RING_W_ID] = (u32)id;
        t->in[LK_RING_W_ID + 1] = (u32)(id >> 32);
        t->in[LK_RING_W_ENQUEUED] = (u32)enqueued;
        t->in[LK_RING_W_ENQUEUED + 1] = (u32)(enqueued >> 32);
        fits = m->check == check_of(m->sequence, id, type, bytes);
    }
    __syncwarp(c.lanes());
    if (c.rank < LK_RING_IN_WORDS) c.own->word = t->in[c.rank];
    c.in_bytes = t->in[LK_RING_W_BYTES];
    c.in_type = t->in[LK_RING_W_TYPE];
    c.damaged = !__shfl_sync(c.lanes(), (u32)fits, 0);
    c.mail = m;
    c.payload = m->reference ? (const void *)m->reference : (const void *)(m + 1);
}

/* The first warp: waits until there is room in the outbox; false: the host said stop. */
__device__ inline bool wait_for_outbox(call &c)
{
    counters *own = c.own;
    const constants &k = c.k;
    auto look = [&]() {
        own->outbox_taken = acquire_for_all(c, k.outbox_taken);
        return own->outbox_next - own->outbox_taken < k.outbox_slots;
    };
    if (look() || k.respond_policy == LK_RING_DROP) return true;
    if (c.first()) {
        store_relaxed<sys>(&k.status->waits, ++own->waits);
        store_relaxed<sys>(&k.status->waits_on, LK_RING_HOST);
        enter(k.status, LK_RING_NO_ROOM, now());
    }
    u32 ns = 32;
    bool has;
    while (!(has = look())) {
        u64 command = acquire_for_all(c, k.command);
        if ((command & 255) == LK_RING_STOP) break;
        if (command > own->beat) {
            if (c.first()) answer(c, command);
            own->beat = command;
        }
        rest(&ns, k.idle_ns);
    }
    if (c.first()) enter(k.status, LK_RING_IDLE, now());
    return has;
}

/* The first warp of the unit waits for a message, or for the host's word to end: c.go is false. */
__device__ __forceinline__ void find_message(call &c)
{
    const constants &k = c.k;
    counters *own = c.own;
    turn *t = c.shared;
    const u64 *line = next_words(c, own->inbox_at);
    const lk_ring_slot *mail = next_mail(c);
    u32 ns = 32, hits;
    u64 v = 0;
    more_words more = {};
    __syncwarp(c.lanes()); /* the words of the last message have been read */
    /* the first thread may have answered while it waited for room in a mailbox */
    if (rarely(own->mailed)) own->beat = __shfl_sync(c.lanes(), own->beat, 0);
    bool idle = false; /* a unit that finds its next message at once does not say that it was idle */
    c.go = false;
    for (;;) {
        hits = look_at(c, line, mail, v, more);
        if (rarely(hits >> look_command & 1)) {
            u64 command = __shfl_sync(c.lanes(), v, c.count >= 32 ? look_command : 0);
            if (c.first()) answer(c, command);
            own->beat = command;
            idle = false;
        }
        u32 order = (u32)(own->beat & 255);
        if (rarely(order == LK_RING_STOP)) break;
        if (order == LK_RING_RUN && (hits >> look_mail & 1 || (hits & all_words) == all_words)) {
            c.go = true;
            break;
        }
        if (!idle && c.first()) enter(k.status, order == LK_RING_RUN ? LK_RING_IDLE : LK_RING_PAUSED, now());
        idle = true;
        rest(&ns, k.idle_ns);
    }
    if (c.go) {
        own->seen = now();
        own->sent = false;
        if (rarely(hits >> look_mail & 1)) /* first what other units wait for room after */
            take_mail(c, mail);
        else
            take_words(c, line, v, more);
        c.response = (u64 *)0;
        if (k.route == LK_RING_HOST) {
            bool room = own->outbox_next - own->outbox_taken < k.outbox_slots;
            if (rarely(!room)) {
                c.go = wait_for_outbox(c); /* false: the message stays in its queue */
                room = own->outbox_next - own->outbox_taken < k.outbox_slots;
            }
            if (room) c.response = (u64 *)(k.outbox + (u64)own->outbox_at * k.out_bytes);
        }
    }
    if (c.whole() || !c.first()) return;
    t->from = { c.payload, c.mail };
    t->to = { c.response, c.go, c.damaged };
}

/* All threads of a unit that is not one whole warp, after the barrier: what the first has found. */
__device__ __forceinline__ void read_turn(call &c)
{
    const turn *t = c.shared;
    auto from = t->from;
    auto to = t->to;
    c.payload = from.data;
    c.mail = from.mail;
    c.response = to.response;
    c.go = to.go;
    c.damaged = to.damaged;
    c.in_bytes = t->in[LK_RING_W_BYTES];
    c.in_type = t->in[LK_RING_W_TYPE];
}

/* ---- answering it ---- */

/* What the first thread has asked for. */
struct reply_of {
    u32 type, bytes, result, leave;
    u64 reference;
};

/* `yes` where k is `which`, else `no`: a choice that stays one instruction. Compilers make a branch for each lane of a
 * row of such questions. */
__device__ __forceinline__ u32 one_of(u32 k, u32 which, u32 yes, u32 no)
{
    u32 w;
    asm("{\n\t.reg .pred p;\n\tsetp.eq.u32 p, %1, %2;\n\tselp.b32 %0, %3, %4, p;\n\t}"
        : "=r"(w)
        : "r"(k), "r"(which), "r"(yes), "r"(no));
    return w;
}

/* The unit's first warp: the response, in words that hold their number. */
__device__ __forceinline__ void release_response(call &c, const reply_of &answer, u64 processed)
{
    turn *t = c.shared;
    counters *own = c.own;
    const u64 seen = own->seen, visible = now(), index = ++own->outbox_next;
    own->outbox_at = behind(own->outbox_at, c.k.outbox_slots);
    if (!c.first() && c.count < 32) return; /* one thread is enough */
    bool is_long = answer.reference || answer.bytes > LK_RING_WORDY;
    bool had_room = c.in_bytes & LK_RING_LONG && !c.mail; /* by its address the host knows what it may use again */
    u64 *line = c.response;
    u64 actor = processed - seen, between = visible - processed;
    const u32 in_actor = (u32)min(actor, (u64)0xffffffffu), written = (u32)min(between, (u64)0xffff),
              length = is_long ? answer.bytes | LK_RING_LONG : answer.bytes;
    u32 need = LK_RING_W_OUT + (is_long ? 4 : (answer.bytes + 3) / 4);
    u64 flag = index << 32;
    auto address = [&](u32 k) -> u32 { /* of a long one */
        u64 a = k < LK_RING_W_OUT + 2 ? answer.reference : had_room ? call::pair(t->in + LK_RING_W_IN + 2) : 0;
        return k & 1 ? (u32)(a >> 32) : (u32)a;
    };
    /* Word k below LK_RING_W_OUT; `w` is that of the message, whose id and stamp are those of the response, too. */
    auto fixed = [&](u32 k, u32 w) -> u32 {
        w = one_of(k, LK_RING_W_BYTES, length, w);
        w = one_of(k, LK_RING_W_TYPE, answer.type, w);
        w = one_of(k, LK_RING_W_RESULT, answer.result, w);
        w = one_of(k, LK_RING_W_SEQUENCE, (u32)own->responded, w);
        w = one_of(k, LK_RING_W_SEEN, (u32)seen, w);
        w = one_of(k, LK_RING_W_SEEN + 1, (u32)(seen >> 32), w);
        w = one_of(k, LK_RING_W_ACTOR, in_actor, w);
        return one_of(k, LK_RING_W_WRITTEN, written, w);
    };
    auto put = [&](u32 k, u32 w) { store_relaxed<sys>(line + k, flag | w); };
    u32 sum = 0, first_word = 0;
    if (c.count >= 32) {
        u32 k = c.rank, payload = t->out[k], w = fixed(k, own->word);
        u32 x = k < LK_RING_W_WRITTEN ? LK_RING_MIX(k, w) : 0;
        if (rarely(is_long)) payload = address(k);
        w = k >= LK_RING_W_OUT ? payload : w;
#if __CUDA_ARCH__ >= 800
        sum = __reduce_xor_sync(0xffffffffu, x);
#else
        for (u32 step = 16; step; step /= 2) x ^= __shfl_xor_sync(0xffffffffu, x, step);
        sum = x;
#endif
        if (k == LK_RING_W_WRITTEN) w |= sum & 0xffff0000u;
        first_word = w;
        if (k < need && (k || !is_long)) put(k, w);
        if (rarely(need > 32))
            for (k += 32; k < need; k += 32) put(k, t->out[k]);
    } else {
        for (u32 k = 0; k < need; k++) {
            u32 w = k >= LK_RING_W_OUT ? (is_long ? address(k) : t->out[k]) : fixed(k, t->in[k]);
            if (k < LK_RING_W_WRITTEN) sum ^= LK_RING_MIX(k, w);
            if (k == LK_RING_W_WRITTEN) w |= sum & 0xffff0000u;
            if (k || !is_long)
                put(k, w);
            else
                first_word = w;
        }
    }
    if (rarely(is_long)) {
        if (c.count >= 32) __syncwarp();
        if (c.first()) store_release<sys>(line, flag | first_word);
    }
    if (c.first()) store_relaxed<sys>(&c.k.status->placed, index);
    u64 took = visible - seen;
    u32 b = took ? 63 - __clzll((long long)took) : 0;
    b = b < LK_RING_BUCKETS ? b : LK_RING_BUCKETS - 1;
    if (c.count >= 32) { /* bucket b is counted by lane b modulo 32 */
        if (c.rank != b % 32) return;
        u64 n = b < 32 ? ++own->bucket[0] : ++own->bucket[1];
        store_relaxed<sys>(&c.k.status->latency[b], n);
        return;
    }
    u64 n = c.k.latency[b] + 1;
    c.k.latency[b] = n;
    store_relaxed<sys>(&c.k.status->latency[b], n);
}

/* The unit's first warp: everything that the message caused has been sent; its slot is free. The queue's word comes
 * last. A word that nothing depends on but the slot, whose words have been read, needs no order; the counts of mail do,
 * and so does memory of a long one. */
__device__ inline void done_with(call &c)
{
    counters *own = c.own;
    const lk_ring_slot *m = c.mail;
    if (!m) {
        u64 next = ++own->inbox_next;
        aim_next(c);
        if (!c.first()) return;
        if (own->sent || c.in_bytes & LK_RING_LONG)
            store_release<sys>(c.k.inbox_taken, next);
        else
            store_relaxed<sys>(c.k.inbox_taken, next);
        return;
    }
    u64 next = ++own->mail_next;
    own->mail_at = behind(own->mail_at, c.k.mail_slots);
    aim(c);
    if (!c.first()) return;
    u32 from = m->from;
    u64 sequence = m->sequence, last = count_edge(c.head, LK_RING_RECEIVED, c.number, from, 0) +
                                       count_edge(c.head, LK_RING_MISSING, c.number, from, 0);
    if (sequence != last + 1) count_edge(c.head, LK_RING_MISSING, c.number, from, sequence - last - 1);
    count_edge(c.head, LK_RING_RECEIVED, c.number, from, 1);
    store_release<gpu>(&c.k.mail_words[1].value, next);
}

/* What the device's compiler made of the layout, for the host to compare. */
__device__ inline void write_probe(lk_ring_probe *p)
{
    const u32 word[] = {
#define LK_RING_X(s, f) (u32) LK_RING_OFFSET(struct s, f),
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
    k.outbox_taken = &((const lk_ring_control *)u->control)->outbox_taken;
    k.command = &((const lk_ring_control *)u->control)->command;
    k.mail_words = (lk_ring_word *)u->mail_words;
    k.status = (lk_ring_status *)u->status;
    k.scratch = (lk_ring_slot *)u->scratch;
    k.latency = ((lk_ring_local *)u->local)->latency;
    k.route = u->route;
    k.actor = u->actor;
    k.slot_bytes = h->slot_bytes;
    k.in_bytes = h->in_bytes;
    k.out_bytes = h->out_bytes;
    k.in_words = h->in_words;
    k.out_words = h->out_words;
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

/* The whole life of a unit. WHOLE: it is one whole warp, and its code has no questions of size. */
template <class Functions, unit_kind KIND, bool WHOLE>
__device__ __forceinline__ void serve_as(const lk_ring_head *h, turn *turns)
{
    counters own = {};
    call c = {};
    c.head = h;
    c.kind = KIND;
    c.own = &own;
    c.rank = WHOLE || KIND == warp ? threadIdx.x % 32 : threadIdx.x;
    c.count = WHOLE ? 32 : KIND == block ? blockDim.x : blockDim.x % 32;
    c.first_warp = 0xffffffffu >> (32 - min(c.count, 32u));
    c.number = KIND == block ? blockIdx.x : blockIdx.x * ((blockDim.x + 31) / 32) + threadIdx.x / 32;
    if (c.number >= h->units) return;
    c.k = read_constants(h, (const lk_ring_unit *)h->unit + c.number);
    c.shared = &turns[KIND == block ? 0 : threadIdx.x / 32];
    turn *t = c.shared;
    lk_ring_status *status = c.k.status;
    const u32 route = c.k.route;
    const bool leads = c.rank < 32; /* of the first warp */
    if (c.number == 0 && c.first()) write_probe((lk_ring_probe *)h->probe);
    for (u32 i = c.rank; i < sizeof *t / 4; i += c.count) ((u32 *)t)[i] = 0; /* compilers read ahead of their tests */
    aim(c);
    c.sync();
    for (;;) {
        if (leads) find_message(c);
        if (!c.whole()) {
            c.sync();
            read_turn(c);
        }
        if (!c.go) break;
        c.out_type = c.in_type;
        c.out_bytes = c.out_leave = 0;
        c.out_reference = 0;
        c.out_result = c.damaged ? LK_RING_DAMAGED : LK_RING_DONE;
        enter_message(status, c.first(), WHOLE ? id_of_words(own.word) : c.id(), own.seen);
        if (!c.damaged) Functions::run(c.k.actor, c);
        u64 processed = leads ? now() : 0;
        reply_of answer;
        if (c.whole()) {
            __syncwarp(); /* the response is whole */
            answer.type = __shfl_sync(0xffffffffu, c.out_type, 0);
            answer.bytes = __shfl_sync(0xffffffffu, c.out_bytes, 0);
            answer.result = __shfl_sync(0xffffffffu, c.out_result, 0);
            answer.leave = __ballot_sync(0xffffffffu, c.out_leave != 0) & 1;
            answer.reference = c.out_reference;
        } else {
            if (c.first()) {
                if (c.count > 32) enter(status, LK_RING_BARRIER, processed); /* lanes of one warp come back together */
                t->answer = { c.out_type, c.out_bytes, c.out_result, c.out_leave };
                t->reference = c.out_reference;
            }
            c.sync(); /* what is written after it is read in front of the next turn's first barrier, or written there */
            auto said = t->answer;
            answer = { said.type, said.bytes, said.result, said.leave, t->reference };
        }
        if (rarely(route != LK_RING_HOST && route != LK_RING_NOBODY && answer.bytes))
            deliver(c, route, answer.type,
                    answer.bytes <= LK_RING_WORDY ? (const void *)(t->out + LK_RING_W_OUT)
                                                  : (const void *)(c.k.scratch + 1),
                    answer.bytes, answer.result, false);
        if (leads) {
            own.responded++;
            if (c.first() && answer.result != LK_RING_DONE) store_relaxed<sys>(&status->failed, ++own.failed);
            if (c.response)
                release_response(c, answer, processed);
            else if (c.first() && route == LK_RING_HOST)
                store_relaxed<sys>(&status->dropped, own.responded - own.outbox_next);
            done_with(c);
        }
        if (answer.leave) break;
    }
    if (!c.first()) return;
    acquire_fence<sys>(); /* who sees the end sees all that the unit has counted */
    if (c.go) store_relaxed<sys>(&status->left, 1);
    enter(status, c.go ? LK_RING_LEFT : LK_RING_STOPPED, now());
}
template <class Functions, unit_kind KIND> __device__ void serve(const lk_ring_head *h)
{
    __shared__ turn turns[KIND == block ? 1 : LK_RING_WARPS];
    if (KIND == block ? blockDim.x == 32 : blockDim.x - threadIdx.x / 32 * 32 >= 32)
        serve_as<Functions, KIND, true>(h, turns);
    else
        serve_as<Functions, KIND, false>(h, turns);
}

} /* namespace lk_ring */

/* An actor with typed messages: `in` is the message, `out` the response, `c` what else there is to ask. */
#define LK_RING_ACTOR(name, In, Out)                                                     \
    extern "C" {                                                                         \
    __device__ __attribute__((used)) char name##_types[] = #In ":" #Out;                 \
    }                                                                                    \
    __device__ void name##_body(lk_ring::call &c, const struct In &in, struct Out &out); \
    __device__ void name(lk_ring::call &c)                                               \
    {                                                                                    \
        if (c.type() != In##_number) return c.fail(LK_RING_WRONG_TYPE);                  \
        if (c.bytes() < sizeof(struct In)) return c.fail(LK_RING_TOO_SHORT);             \
        struct Out *out = (struct Out *)c.respond(Out##_number, sizeof(struct Out));     \
        if (out) name##_body(c, *(const struct In *)c.data(), *out);                     \
    }                                                                                    \
    __device__ void name##_body(lk_ring::call &c, const struct In &in, struct Out &out)
/* One whose messages have any type and length. */
#define LK_RING_RAW_ACTOR(name) __device__ void name(lk_ring::call &c)
/* The kernel: its name, lk_ring::block or lk_ring::warp, and the functions of its actors. */
#define LK_RING_KERNEL(name, kind, ...)                                             \
    extern "C" {                                                                    \
    __device__ __attribute__((used)) char name##_actors[] = #kind ":" #__VA_ARGS__; \
    __global__ void name(const struct lk_ring_head *ring)                           \
    {                                                                               \
        lk_ring::serve<lk_ring::functions<__VA_ARGS__>, kind>(ring);                \
    }                                                                               \
    }
#endif
