/* The protocol of docs/reference/ring.md in a model: every execution of small rings, by exhaustive search.
 *
 * The memory is that of release and acquire: an atomic word keeps all values that it ever had; a load may return any of
 * them that is not older than what its thread knows of, so stale values are tried too; a release hands on what its
 * thread knows, an acquire takes it over. Payloads are plain data: an access to one whose last write, or for a write
 * whose last reads, the thread does not know of is a race. So a run without a finding says that the ring has no race,
 * loses and doubles nothing and keeps the order, for every schedule and every stale value. Words that hold their number
 * (between host and unit, pipes) are modelled as two words of a message, all accesses relaxed. Then each mistake that
 * the protocol avoids is put in, and has to be found. test_ring_model all: larger rings, too. */
#include "base/base.h"
#include "unit.h"
#include <stdlib.h>

enum { SLOTS = 2, THREADS = 4, PAST = 16, MESSAGES = 8 }; /* the most of each */
enum {
    TAKEN,
    NEXT,
    READY,
    SECOND = READY + SLOTS, /* of a message in numbered words: the first is at READY */
    DATA = SECOND + SLOTS,
    READS = DATA + SLOTS,
    PLACES = READS + SLOTS * THREADS
}; /* places of a view */

enum kind { SPSC, MPSC, MPMC, NUMBERED };
enum mistake {
    NONE,
    PUBLISH_FIRST,    /* the slot's word is stored before the payload */
    FREE_FIRST,       /* the consumer frees the slot before it reads */
    READY_RELAXED,    /* the slot's word is stored without a release */
    READY_UNACQUIRED, /* and loaded without an acquire */
    TAKEN_RELAXED,    /* the word of messages taken is stored without a release */
    TAKEN_UNACQUIRED, /* and loaded without an acquire */
    NO_ROOM_CHECK,    /* a producer does not look whether there is room */
    NEXT_PLAIN,       /* producers store the next index instead of swapping it */
    MORE_CONSUMERS,   /* two consumers on a ring for one */
    NUMBER_ONCE,      /* the number of the second word is not looked at */
    NUMBER_SHORT,     /* the number does not tell a message from the one before it in the slot */
};

struct value {
    u8 is, view[PLACES]; /* what a release hands on */
};
struct thread {
    u8 pc, done, index, reg, view[PLACES];
};
struct state {
    u8 count[DATA];                /* values of each atomic word */
    struct value past[DATA][PAST]; /* in their order */
    u8 version[PLACES];            /* of DATA: writes; of READS: reads */
    u8 data[SLOTS];                /* message in the slot, plus 1 */
    u8 got[MESSAGES];              /* times that each message arrived */
    u8 last[THREADS][THREADS];     /* per consumer and producer: messages of it that came, as number plus 1 */
    struct thread t[THREADS];
};

struct model {
    enum kind kind;
    enum mistake mistake;
    u32 slots, producers, consumers, each; /* messages of a producer */
    const char *found;
    u64 states;
    /* visited: open addressing over 64-bit hashes */
    u64 *set, cap;
    struct state *stack;
    u32 depth, room;
};

static u64 hash_of(const struct state *s)
{
    const u8 *p = (const u8 *)s;
    u64 h = 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < sizeof *s; i++) h = (h ^ p[i]) * 0x100000001b3u, h ^= h >> 32;
    return h | 1;
}

static bool is_new(struct model *m, u64 h)
{
    if (2 * m->states >= m->cap) {
        u64 *old = m->set, cap = m->cap;
        m->cap = cap ? 2 * cap : 1 << 16;
        m->set = base_alloc(8 * m->cap);
        for (u64 i = 0; i < cap; i++)
            if (old[i]) {
                u64 k = old[i] >> 1;
                while (m->set[k & (m->cap - 1)]) k++;
                m->set[k & (m->cap - 1)] = old[i];
            }
        base_free(old);
    }
    for (u64 k = h >> 1;; k++) {
        u64 *at = &m->set[k & (m->cap - 1)];
        if (*at == h) return false;
        if (!*at) return *at = h, m->states++, true;
    }
}

/* A successor: looked at later, unless it was seen before. */
static void push(struct model *m, const struct state *s)
{
    if (!is_new(m, hash_of(s))) return;
    if (m->depth == m->room)
        m->stack = base_realloc(m->stack, (m->room = m->room ? 2 * m->room : 1024) * sizeof *m->stack);
    m->stack[m->depth++] = *s;
}
static void find(struct model *m, const char *what)
{
    if (!m->found) m->found = what;
}

static void join(u8 *view, const u8 *other)
{
    for (u32 i = 0; i < PLACES; i++) view[i] = MAX_OF(view[i], other[i]);
}

/* ---- accesses of thread t in state s ---- */

/* The value that is the i-th of the word. */
static u8 load(struct state *s, u32 t, u32 word, u32 i, bool acquire)
{
    s->t[t].view[word] = (u8)i;
    if (acquire) join(s->t[t].view, s->past[word][i].view);
    return s->past[word][i].is;
}
static void store(struct model *m, struct state *s, u32 t, u32 word, u8 is, bool release)
{
    u32 n = s->count[word];
    if (n == PAST) return find(m, "more values than the model keeps");
    s->t[t].view[word] = (u8)n;
    s->past[word][n].is = is;
    if (release) memcpy(s->past[word][n].view, s->t[t].view, PLACES);
    s->past[word][n].view[word] = (u8)n;
    s->count[word]++;
}
static void write_data(struct model *m, struct state *s, u32 t, u32 slot, u8 is)
{
    u8 *view = s->t[t].view;
    if (view[DATA + slot] != s->version[DATA + slot]) find(m, "race: two writes");
    for (u32 k = 0; k < THREADS; k++)
        if (view[READS + slot * THREADS + k] != s->version[READS + slot * THREADS + k])
            find(m, "race: a write and an earlier read");
    view[DATA + slot] = ++s->version[DATA + slot];
    s->data[slot] = is;
}
static u8 read_data(struct model *m, struct state *s, u32 t, u32 slot)
{
    if (s->t[t].view[DATA + slot] != s->version[DATA + slot]) find(m, "race: a read and an earlier write");
    s->t[t].view[READS + slot * THREADS + t] = ++s->version[READS + slot * THREADS + t];
    return s->data[slot];
}
/* Calls `then` for every value that the thread may load from the word. */
#define EACH_LOAD(word, acquire, value)                          \
    for (u32 i_ = s->t[t].view[word]; i_ < s->count[word]; i_++) \
        for (struct state n_ = *s, *n = &n_; n; n = NULL)        \
            for (u8 value = load(n, t, word, i_, acquire), once_ = 1; once_; once_ = 0)

/* ---- the algorithms of lockstep_ring.cuh, an access at a time ---- */

static u8 word_of(const struct model *m, u32 index) { return (u8)(READY + index % m->slots); }

/* The message has arrived. */
static void arrive(struct model *m, struct state *s, u32 t, u8 is)
{
    if (!is) return find(m, "an empty slot was taken");
    u32 message = is - 1u, p = message / m->each, k = message % m->each;
    if (++s->got[message] > 1) find(m, "a message arrived twice");
    if (k + 1 <= s->last[t][p]) find(m, "messages of one producer are out of order");
    s->last[t][p] = (u8)(k + 1);
}

enum { P_LOOK, P_ROOM, P_FULL, P_SWAP, P_WRITE, P_PUBLISH, P_STORE_NEXT, C_LOOK, C_SWAP, C_READ, C_FREE, END };

static void put(struct model *m, const struct state *s, u32 t)
{
    const struct thread *me = &s->t[t];
    u32 slot = me->index % m->slots;
    bool late = m->mistake == PUBLISH_FIRST;
    switch (me->pc) {
    case P_LOOK: /* the next index: the producer's own, or that of all */
        if (m->kind == SPSC) {
            struct state n = *s;
            n.t[t].index = me->done;
            n.t[t].pc = P_ROOM;
            return push(m, &n);
        }
        EACH_LOAD(NEXT, false, v)
        {
            n->t[t].index = v;
            n->t[t].pc = P_ROOM;
            push(m, n);
        }
        return;
    case P_ROOM:
        if (m->kind == MPMC) {
            EACH_LOAD(word_of(m, me->index), m->mistake != TAKEN_UNACQUIRED, v)
            {
                u32 want = me->index / m->slots * 2;
                n->t[t].pc = v == want || m->mistake == NO_ROOM_CHECK ? P_SWAP : P_LOOK;
                push(m, n);
            }
            return;
        }
        EACH_LOAD(TAKEN, m->mistake != TAKEN_UNACQUIRED, v)
        {
            u32 index = MAX_OF((u32)me->index, (u32)v);
            n->t[t].index = (u8)index;
            n->t[t].pc = index - v < m->slots || m->mistake == NO_ROOM_CHECK ? (m->kind == SPSC ? P_WRITE : P_SWAP)
                                                                             : P_LOOK;
            push(m, n);
        }
        return;
    case P_SWAP: {
        if (m->mistake == NEXT_PLAIN) {
            struct state n = *s;
            store(m, &n, t, NEXT, (u8)(me->index + 1), false);
            n.t[t].pc = P_WRITE;
            return push(m, &n);
        }
        u32 newest = s->count[NEXT] - 1u;
        if (s->past[NEXT][newest].is == me->index) { /* nobody else can swap behind an older value */
            struct state n = *s;
            load(&n, t, NEXT, newest, false);
            store(m, &n, t, NEXT, (u8)(me->index + 1), false);
            n.t[t].pc = P_WRITE;
            push(m, &n);
        }
        EACH_LOAD(NEXT, false, v)
        {
            if (v == me->index) continue;
            n->t[t].index = v;
            n->t[t].pc = P_ROOM;
            push(m, n);
        }
        return;
    }
    case P_WRITE:
    case P_PUBLISH: {
        struct state n = *s;
        bool publish = (me->pc == P_PUBLISH) != late;
        u8 mark = (u8)(m->kind == MPMC ? me->index / m->slots * 2 + 1 : me->index + 1u);
        if (publish)
            store(m, &n, t, word_of(m, me->index), mark, m->mistake != READY_RELAXED);
        else
            write_data(m, &n, t, slot, (u8)(t * m->each + me->done + 1));
        n.t[t].pc = me->pc == P_WRITE ? P_PUBLISH : P_LOOK;
        if (me->pc == P_PUBLISH && ++n.t[t].done == m->each) n.t[t].pc = END;
        return push(m, &n);
    }
    default: return;
    }
}

static void take(struct model *m, const struct state *s, u32 t)
{
    const struct thread *me = &s->t[t];
    u32 share = m->producers * m->each / m->consumers, slot = me->index % m->slots;
    switch (me->pc) {
    case C_LOOK: {
        if (m->kind == MPMC) {
            EACH_LOAD(TAKEN, false, v)
            {
                n->t[t].index = v;
                n->t[t].pc = C_SWAP;
                push(m, n);
            }
            return;
        }
        /* TAKEN is the consumer's own; where two use it, each loads what the other left */
        EACH_LOAD(TAKEN, false, index)
        {
            n->t[t].index = index;
            n->t[t].pc = C_SWAP;
            push(m, n);
        }
        return;
    }
    case C_SWAP:
        EACH_LOAD(word_of(m, me->index), m->mistake != READY_UNACQUIRED, v)
        {
            u32 want = m->kind == MPMC ? me->index / m->slots * 2 + 1 : me->index + 1u;
            if (v != want) {
                n->t[t].pc = C_LOOK;
            } else if (m->kind != MPMC) {
                n->t[t].pc = C_READ;
            } else {
                u32 newest = n->count[TAKEN] - 1u;
                if (n->past[TAKEN][newest].is == me->index) {
                    load(n, t, TAKEN, newest, false);
                    store(m, n, t, TAKEN, (u8)(me->index + 1), false);
                    n->t[t].pc = C_READ;
                } else {
                    n->t[t].pc = C_LOOK;
                }
            }
            push(m, n);
        }
        return;
    case C_READ:
    case C_FREE: {
        struct state n = *s;
        bool frees = (me->pc == C_FREE) != (m->mistake == FREE_FIRST);
        if (!frees)
            arrive(m, &n, t, read_data(m, &n, t, slot));
        else if (m->kind == MPMC)
            store(m, &n, t, word_of(m, me->index), (u8)((me->index / m->slots + 1) * 2), m->mistake != TAKEN_RELAXED);
        else
            store(m, &n, t, TAKEN, (u8)(me->index + 1), m->mistake != TAKEN_RELAXED);
        n.t[t].pc = me->pc == C_READ ? C_FREE : C_LOOK;
        if (me->pc == C_FREE && ++n.t[t].done == share) n.t[t].pc = END;
        return push(m, &n);
    }
    default: return;
    }
}

/* ---- words that hold their number: number in the upper half of a word, message plus 1 in the lower ---- */

enum { W_ROOM, W_FIRST, W_SECOND, W_LOOK, W_LOOK_SECOND, W_FREE };

static u8 number_of(const struct model *m, u32 index)
{
    return (u8)((index + 1) % (m->mistake == NUMBER_SHORT ? m->slots : m->slots + 1) + 1);
}

static void put_numbered(struct model *m, const struct state *s, u32 t)
{
    const struct thread *me = &s->t[t];
    u32 slot = me->done % m->slots;
    struct state n = *s;
    if (me->pc == W_ROOM) {
        EACH_LOAD(TAKEN, false, v)
        {
            if ((u32)me->done - v >= m->slots && m->mistake != NO_ROOM_CHECK) continue;
            n->t[t].pc = W_FIRST;
            push(m, n);
        }
        return;
    }
    if (me->pc != W_FIRST && me->pc != W_SECOND) return;
    store(m, &n, t, (me->pc == W_FIRST ? READY : SECOND) + slot, (u8)(number_of(m, me->done) << 4 | (me->done + 1)),
          false);
    n.t[t].pc = me->pc == W_FIRST ? W_SECOND : W_ROOM;
    if (me->pc == W_SECOND && ++n.t[t].done == m->each) n.t[t].pc = END;
    push(m, &n);
}

static void take_numbered(struct model *m, const struct state *s, u32 t)
{
    const struct thread *me = &s->t[t];
    u32 slot = me->done % m->slots, want = number_of(m, me->done);
    bool frees_first = m->mistake == FREE_FIRST;
    switch (me->pc) {
    case W_LOOK:
        EACH_LOAD(READY + slot, false, v)
        {
            if (v >> 4 != want) continue;
            n->t[t].reg = v & 15;
            n->t[t].pc = W_LOOK_SECOND;
            if (frees_first) store(m, n, t, TAKEN, (u8)(me->done + 1), false);
            push(m, n);
        }
        return;
    case W_LOOK_SECOND:
        EACH_LOAD(SECOND + slot, false, v)
        {
            if (v >> 4 != want && m->mistake != NUMBER_ONCE) continue;
            if ((v & 15) != me->reg) find(m, "words of two messages");
            arrive(m, n, t, me->reg);
            n->t[t].pc = W_FREE;
            push(m, n);
        }
        return;
    case W_FREE: {
        struct state n = *s;
        if (!frees_first) store(m, &n, t, TAKEN, (u8)(me->done + 1), false);
        n.t[t].pc = ++n.t[t].done == m->each ? END : W_LOOK;
        return push(m, &n);
    }
    default: return;
    }
}

/* The sender has ended, and the newest word is not what the receiver waits for: it never will be. */
static bool is_lost(const struct model *m, const struct state *s)
{
    const struct thread *me = &s->t[1];
    if (s->t[0].pc != END || (me->pc != W_LOOK && me->pc != W_LOOK_SECOND)) return false;
    u32 word = (me->pc == W_LOOK ? READY : SECOND) + me->done % m->slots;
    return s->past[word][s->count[word] - 1u].is >> 4 != number_of(m, me->done);
}

static void step_numbered(struct model *m, const struct state *s, u32 t)
{
    if (t == 0 && is_lost(m, s)) find(m, "a message was lost");
    t ? take_numbered(m, s, t) : put_numbered(m, s, t);
}

/* All executions; NULL: nothing is wrong in any. */
static const char *explore(struct model *m)
{
    static struct state s;
    memset(&s, 0, sizeof s);
    for (u32 i = 0; i < DATA; i++) s.count[i] = 1;
    for (u32 t = 0; t < m->producers + m->consumers; t++) {
        s.t[t].pc = t < m->producers ? P_LOOK : C_LOOK;
        if (m->kind == NUMBERED) s.t[t].pc = t ? W_LOOK : W_ROOM;
    }
    push(m, &s);
    while (m->depth && !m->found && m->states < 30000000) {
        s = m->stack[--m->depth];
        u32 ended = 0, all = m->producers + m->consumers;
        for (u32 t = 0; t < all; t++) {
            ended += s.t[t].pc == END;
            if (m->kind == NUMBERED)
                step_numbered(m, &s, t);
            else
                t < m->producers ? put(m, &s, t) : take(m, &s, t);
        }
        for (u32 i = 0; ended == all && i < m->producers * m->each; i++)
            if (!s.got[i]) find(m, "a message was lost");
    }
    if (m->depth && !m->found) find(m, "too many states");
    base_free(m->set);
    base_free(m->stack);
    return m->found;
}

static u64 total;
static void expect(enum kind kind, enum mistake mistake, u32 slots, u32 producers, u32 consumers, u32 each,
                   const char *found)
{
    static const char *const kinds[] = { "spsc", "mpsc", "mpmc", "numbered words" };
    struct model m = {
        .kind = kind, .mistake = mistake, .slots = slots, .producers = producers, .consumers = consumers, .each = each
    };
    const char *is = explore(&m);
    total += m.states;
    if (!UNIT(found ? is && strstr(is, found) : !is))
        printf("%s of %u slots, %u producers of %u messages, %u consumers, mistake %d: %s\n", kinds[kind], slots,
               producers, each, consumers, mistake, is ? is : "nothing found");
}

int main(int argc, char **argv)
{
    (void)argv;
    expect(SPSC, NONE, 1, 1, 1, 4, NULL);
    expect(SPSC, NONE, 2, 1, 1, 5, NULL);
    expect(MPSC, NONE, 1, 2, 1, 2, NULL);
    expect(MPSC, NONE, 2, 2, 1, 2, NULL);
    expect(MPMC, NONE, 1, 2, 2, 1, NULL);
    expect(MPMC, NONE, 2, 2, 2, 1, NULL);
    expect(MPMC, NONE, 1, 2, 1, 2, NULL);
    expect(SPSC, NONE, 1, 1, 1, 8, NULL);
    if (argc > 1) { /* a minute or more */
        expect(MPSC, NONE, 2, 2, 1, 3, NULL);
        expect(MPMC, NONE, 1, 2, 2, 2, NULL);
        expect(MPMC, NONE, 2, 2, 2, 2, NULL);
        expect(MPSC, NONE, 2, 3, 1, 2, NULL);
    }
    for (enum kind k = SPSC; k <= MPMC; k++) {
        u32 producers = k == SPSC ? 1 : 2, each = k == SPSC ? 3 : 2;
        expect(k, PUBLISH_FIRST, 1, producers, 1, each, ""); /* a race, or an empty slot that counts as full */
        expect(k, FREE_FIRST, 1, producers, 1, each, "race");
        expect(k, READY_RELAXED, 1, producers, 1, each, "race");
        expect(k, READY_UNACQUIRED, 1, producers, 1, each, "race");
        expect(k, TAKEN_RELAXED, 1, producers, 1, each, "race");
        expect(k, TAKEN_UNACQUIRED, 1, producers, 1, each, "race");
        expect(k, NO_ROOM_CHECK, 1, producers, 1, each, "race");
    }
    expect(MPSC, NEXT_PLAIN, 2, 2, 1, 2, "race");
    expect(SPSC, MORE_CONSUMERS, 2, 1, 2, 4, "");
    for (u32 slots = 1; slots <= SLOTS; slots++) {
        expect(NUMBERED, NONE, slots, 1, 1, 8, NULL);
        expect(NUMBERED, NUMBER_ONCE, slots, 1, 1, 4, "words of two messages");
        expect(NUMBERED, NUMBER_SHORT, slots, 1, 1, 5, "");
        expect(NUMBERED, NO_ROOM_CHECK, slots, 1, 1, 5, "lost");
        expect(NUMBERED, FREE_FIRST, slots, 1, 1, 5, "lost");
    }
    printf("%llu states\n", (unsigned long long)total);
    return unit_done();
}
