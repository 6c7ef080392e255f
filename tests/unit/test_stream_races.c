/* Races between operations: the rules with their twins, and random programs against a naive history.
 *
 *     test_stream_races [FIRST COUNT]     random programs FIRST .. FIRST + COUNT - 1 */
#include "unit.h"
#include "queue/op_access.h"
#include "stream_backend.h"
#include <stdlib.h>

static struct streams *s;
static struct stream *x, *y;
static struct event *e;
static struct accesses *a;

static void open_all(const struct streams_options *o)
{
    s = streams_new(o);
    x = stream_new(s, STREAM_NON_BLOCKING, 0);
    y = stream_new(s, STREAM_NON_BLOCKING, 0);
    e = event_new(s, 0);
    a = accesses_new(s);
}

static void close_all(void)
{
    streams_synchronise(s);
    accesses_delete(a);
    event_delete(e);
    streams_delete(s);
}

struct use {
    u64 from, bytes;
    enum access_kind kind;
};
static enum access_verdict verdict; /* of the last use */
static struct access_conflict found;

static u32 run_use(struct op *op, void *data)
{
    const struct use *u = data;
    verdict = access_op(a, op, u->from, u->bytes, u->kind, &found);
    return OP_OK;
}

/* An operation that uses these bytes, run at once; `tag` names it. */
static enum access_verdict use(struct stream *st, u64 from, u64 bytes, enum access_kind kind, u64 tag)
{
    struct use u = { from, bytes, kind };
    struct op_spec spec = { .kind = OP_LAUNCH, .run = run_use, .data = &u, .tag = tag };
    UNIT_EQ(op_enqueue(st, &spec, NULL), OP_OK);
    return verdict;
}

static void hand_over(struct stream *from, struct stream *to)
{
    event_record(e, from, 0);
    event_wait(to, e, 0);
}

static void twins(void)
{
    struct streams_options plain = { 0 };
    open_all(&plain); /* a kernel that waits for a copy of another stream, and the same without the event */
    UNIT_EQ(use(x, 1000, 400, ACCESS_WRITE, 1), ACCESS_FINE);
    hand_over(x, y);
    UNIT_EQ(use(y, 1000, 400, ACCESS_READ, 2), ACCESS_FINE);
    UNIT_EQ(use(x, 1100, 8, ACCESS_READ, 3), ACCESS_FINE); /* two reads are fine */
    UNIT_EQ(use(x, 1396, 100, ACCESS_WRITE, 4), ACCESS_RACE);
    UNIT(found.me == ACCESS_WRITE && found.other == ACCESS_READ && found.other_tag == 2);
    UNIT(found.from == 1396 && found.to == 1400);
    UNIT_EQ(use(x, 1400, 100, ACCESS_WRITE, 5), ACCESS_FINE); /* beside it */
    UNIT_EQ(use(y, 1450, 1, ACCESS_READ, 6), ACCESS_RACE);
    UNIT(found.other == ACCESS_WRITE && found.other_tag == 5);
    close_all();

    open_all(&plain); /* a host that waits in between */
    use(x, 0x1000, 64, ACCESS_WRITE, 1);
    stream_synchronise(x);
    UNIT_EQ(use(y, 0x1000, 64, ACCESS_WRITE, 2), ACCESS_FINE);
    close_all();

    open_all(&plain); /* a read-only input that an unordered copy overwrites: two readers, one ordered */
    use(x, 0, 64, ACCESS_READ, 1);
    use(y, 0, 64, ACCESS_READ, 2);
    struct stream *z = stream_new(s, STREAM_NON_BLOCKING, 0);
    hand_over(x, z);
    UNIT_EQ(use(z, 0, 64, ACCESS_WRITE, 3), ACCESS_RACE);
    UNIT_EQ(found.other_tag, 2);
    close_all();
}

static void lifetimes(void)
{
    struct streams_options plain = { 0 };
    open_all(&plain);
    UNIT_EQ(use(x, 4096, 256, ACCESS_ALLOC, 1), ACCESS_FINE);
    UNIT_EQ(use(x, 4096, 256, ACCESS_WRITE, 2), ACCESS_FINE);
    UNIT_EQ(use(y, 4096, 4, ACCESS_READ, 3), ACCESS_BEFORE_ALLOC); /* in another stream, without an event */
    UNIT(found.other_tag == 1 && found.other == ACCESS_ALLOC);
    access_forget(a, 4096, 256);
    UNIT_EQ(access_ranges(a), 0);
    use(x, 4096, 256, ACCESS_ALLOC, 4);
    hand_over(x, y);
    UNIT_EQ(use(y, 4096, 4, ACCESS_READ, 5), ACCESS_FINE);
    UNIT_EQ(use(x, 4096, 256, ACCESS_FREE, 6), ACCESS_AFTER_FREE); /* the free does not wait for y */
    UNIT(found.me == ACCESS_FREE && found.other_tag == 5);
    UNIT_EQ(use(x, 4100, 4, ACCESS_READ, 7), ACCESS_AFTER_FREE);
    UNIT(found.other_tag == 6);
    access_forget(a, 4096, 256);
    use(x, 4096, 256, ACCESS_ALLOC, 8);
    hand_over(x, y);
    use(y, 4096, 256, ACCESS_WRITE, 9);
    hand_over(y, x);
    UNIT_EQ(use(x, 4096, 256, ACCESS_FREE, 10), ACCESS_FINE);
    UNIT_EQ(use(x, 4096, 256, ACCESS_ALLOC, 11), ACCESS_FINE);    /* the same address again */
    UNIT_EQ(use(y, 4096, 4, ACCESS_READ, 12), ACCESS_AFTER_FREE); /* still means the old one */
    close_all();

    open_all(&plain); /* the use happens to run before the allocation */
    UNIT_EQ(use(y, 8192, 16, ACCESS_WRITE, 1), ACCESS_FINE);
    UNIT_EQ(use(x, 8192, 64, ACCESS_ALLOC, 2), ACCESS_BEFORE_ALLOC);
    UNIT(found.other_tag == 1 && found.from == 8192 && found.to == 8208);
    close_all();
}

static void host(void)
{
    struct streams_options seeded = { .seeded = true, .seed = 1 };
    open_all(&seeded);
    struct use copy = { 64, 64, ACCESS_READ };
    struct op_spec spec = { .kind = OP_COPY, .run = run_use, .data = &copy };
    access_host(a, 64, 64, ACCESS_WRITE, 7, NULL); /* fills the source, then copies */
    op_enqueue(x, &spec, NULL);
    stream_synchronise(x);
    UNIT_EQ(verdict, ACCESS_FINE);
    UNIT_EQ(access_host(a, 64, 64, ACCESS_WRITE, 8, NULL), ACCESS_FINE); /* has waited */
    op_enqueue(x, &spec, NULL);
    access_host(a, 64, 4, ACCESS_WRITE, 9, NULL); /* changes it before the copy has run */
    stream_synchronise(x);
    UNIT(verdict == ACCESS_RACE && stamp_slot(found.stamp) == OP_SLOT_HOST && found.other_tag == 9);
    copy.kind = ACCESS_WRITE;
    copy.from = 1000;
    op_enqueue(x, &spec, NULL);
    while (stream_query(y) == OP_OK && verdict != ACCESS_FINE) continue;    /* a question lets the copy run */
    UNIT_EQ(access_host(a, 1000, 4, ACCESS_READ, 10, &found), ACCESS_RACE); /* but the host has not waited for it */
    UNIT_EQ(stream_synchronise(x), OP_OK);
    UNIT_EQ(access_host(a, 1000, 4, ACCESS_READ, 11, &found), ACCESS_FINE);
    UNIT(!verdict);
    close_all();
}

/* ---- random programs ---- */

enum { ACCESSES = 400, STREAMS = 4, BYTES = 128 };
struct many { /* what one operation uses */
    struct access_use use[3];
    u32 n;
};
static struct {
    pthread_mutex_t lock;
    u32 n;
    struct past {
        op_stamp stamp;
        struct access_use use;
    } past[4 * ACCESSES];
    bool racy;  /* there was a conflict */
    u32 wrong;  /* answers that differ, up to the first conflict */
    bool trims; /* what is over is dropped after each operation */
    u64 seed;
} naive = { .lock = PTHREAD_MUTEX_INITIALIZER };

static u32 below(u32 n) { return (u32)(rand_next(&naive.seed) % n); }

/* Some byte is used by both, one of them writes, and they are not both strong. */
static bool conflicting(const struct access_use *p, const struct access_use *q)
{
    return p->from < q->to && q->from < p->to && p->bytes & q->bytes &&
           (p->kind == ACCESS_WRITE || q->kind == ACCESS_WRITE) && !(p->strong && q->strong);
}

/* Notes an access in both, op NULL: the host. */
static void both_note(const struct op *op, const struct access_use *u)
{
    struct past me = { op ? op_stamp_of(op) : host_stamp(s), *u };
    bool racy = false;
    for (u32 i = 0; i < naive.n; i++) {
        const struct past *p = &naive.past[i];
        bool ordered = p->stamp == me.stamp || (op ? op_before(p->stamp, op) : host_after(s, p->stamp));
        racy |= conflicting(&p->use, u) && !ordered;
    }
    UNIT(naive.n < 4 * ACCESSES);
    naive.past[naive.n++] = me;
    if (!naive.racy && racy != (access_note(a, op, u, NULL, NULL) == ACCESS_RACE)) naive.wrong++;
    naive.racy |= racy;
}

static void both(const struct op *op, const struct many *u)
{
    pthread_mutex_lock(&naive.lock);
    for (u32 i = 0; i < u->n; i++) both_note(op, &u->use[i]);
    if (naive.trims) access_trim(a);
    pthread_mutex_unlock(&naive.lock);
}

static u32 run_both(struct op *op, void *data)
{
    both(op, data);
    return OP_OK;
}

static struct many any_use(void)
{
    struct many m = { 0 };
    enum access_kind kind = below(3) ? ACCESS_READ : ACCESS_WRITE;
    if (below(2)) { /* bytes, as a copy has them */
        u32 from = below(BYTES - 1);
        m.n = access_split(0x10000 + from, 1 + below(BYTES - from), (struct access_use){ .kind = kind }, m.use);
        return m;
    }
    for (m.n = 0; m.n < 3; m.n++) { /* runs of sectors, as a launch has them */
        static const u32 masks[] = { ~0u, 0x0f0f0f0f, 0xf0f0f0f0, 0x000000ff, 0x11111111, 0x00010000 };
        u64 from = 0x10000 + 32 * below(BYTES / 32);
        m.use[m.n] = (struct access_use){ from,
                                          from + 32 * (1 + below(2)),
                                          masks[below(6)],
                                          below(3) ? ACCESS_READ : ACCESS_WRITE,
                                          below(2),
                                          false,
                                          false,
                                          below(3) };
    }
    return m;
}

/* `order` of 8: how often a stream waits for all others before it goes on; 8: always, and nothing may race. */
static bool program(u64 seed, u32 order, bool *racy)
{
    static struct many uses[ACCESSES];
    struct streams_options o = { .seeded = seed % 2, .seed = seed };
    open_all(&o);
    struct stream *st[STREAMS] = { x, y, stream_new(s, 0, 0), stream_legacy(s) };
    naive.n = 0;
    naive.wrong = 0;
    naive.racy = false;
    naive.seed = seed;
    naive.trims = seed % 3 == 0;
    u32 n = 2 + below(order == 8 ? 200 : 14);
    for (u32 i = 0; i < n; i++) {
        struct stream *me = st[below(STREAMS)];
        if (below(8) < order)
            for (u32 k = 0; k < STREAMS; k++)
                if (st[k] != me) hand_over(st[k], me);
        u32 what = below(24);
        if (what == 0) stream_synchronise(me);
        if (what == 1 && order == 8) streams_synchronise(s);
        if (what == 1) {
            struct many u = any_use();
            both(NULL, &u);
            continue;
        }
        uses[i] = any_use();
        static const enum op_kind kinds[] = { OP_LAUNCH, OP_COPY, OP_FILL, OP_HOST };
        struct op_spec spec = { .kind = kinds[below(4)], .run = run_both, .data = &uses[i], .to_host = below(2) };
        UNIT_EQ(op_enqueue(me, &spec, NULL), OP_OK);
    }
    streams_synchronise(s);
    *racy = naive.racy;
    bool right = !naive.wrong && !(order == 8 && naive.racy);
    if (!right) fprintf(stderr, "program %" PRIu64 " with order %u: %u wrong\n", seed, order, naive.wrong);
    close_all();
    return right;
}

/* A hundred thousand runs of a strided launch, read by the next, and single words all over: neither takes long, and
 * nothing is left when the host has waited. */
static void many_runs(void)
{
    enum { RUNS = 100000 };
    static const struct streams_options plain = { 0 };
    open_all(&plain);
    struct op *op[3];
    for (u32 i = 0; i < 3; i++) {
        struct op_spec spec = { .kind = OP_EMPTY };
        op_enqueue(i == 2 ? y : x, &spec, &op[i]);
    }
    for (u32 i = 0; i < RUNS; i++) {
        struct access_use u = {
            0x100000 + 64ull * i, 0x100020 + 64ull * i, 0xff, ACCESS_WRITE, false, false, false, 1
        };
        UNIT_EQ(access_note(a, op[0], &u, NULL, NULL), ACCESS_FINE);
    }
    UNIT_EQ(access_ranges(a), RUNS);
    for (u32 i = 0; i < RUNS; i++) { /* in no order */
        u64 at = 0x100000 + 64ull * (i * 7919ull % RUNS);
        struct access_use u = { at, at + 32, 0x0f, ACCESS_READ, false, false, false, 2 };
        UNIT_EQ(access_note(a, op[1], &u, NULL, NULL), ACCESS_FINE);
    }
    UNIT_EQ(access_ranges(a), RUNS);
    struct access_use free_bytes = { 0x100000, 0x100000 + 64 * RUNS, 0xff00ff00, ACCESS_WRITE, false, false, false, 3 };
    UNIT_EQ(access_note(a, op[2], &free_bytes, NULL, NULL), ACCESS_FINE); /* between the bytes of the others */
    UNIT_EQ(access_ranges(a), 2 * RUNS);
    for (u32 i = 0; i < 3; i++) op_release(op[i]);
    streams_synchronise(s);
    access_trim(a);
    access_trim(a);
    UNIT_EQ(access_ranges(a), 0);
    close_all();
}

/* What the host has waited for stays while an operation is in flight that was enqueued before. */
static void trimmed_late(void)
{
    struct streams_options seeded = { .seeded = true, .seed = 1 };
    struct use w = { 64, 64, ACCESS_WRITE };
    struct op_spec spec = { .kind = OP_LAUNCH, .run = run_use, .data = &w };
    struct op *late;
    open_all(&seeded);
    struct op_spec wait = { .kind = OP_VALUE_WAIT, .bits = 32, .compare = OP_EQ, .value = 1 };
    static u32 flag;
    flag = 0;
    wait.address = &flag;
    op_enqueue(y, &wait, NULL);
    op_enqueue(y, &spec, &late);
    op_enqueue(x, &spec, NULL);
    stream_synchronise(x);
    UNIT_EQ(verdict, ACCESS_FINE);
    access_trim(a);
    access_trim(a);
    UNIT_EQ(access_ranges(a), 1);
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    stream_synchronise(y);
    UNIT_EQ(verdict, ACCESS_RACE);
    op_release(late);
    access_trim(a);
    access_trim(a);
    UNIT_EQ(access_ranges(a), 0);
    close_all();
}

/* Strong accesses: two histograms are no race, a plain load beside them is; a plain load is kept beside an atomic. */
static enum access_verdict strong_use(struct stream *st, enum access_kind kind, bool strong)
{
    struct op_spec spec = { .kind = OP_EMPTY };
    struct op *op;
    op_enqueue(st, &spec, &op);
    struct access_use u = { 0, 32, 0xf, kind, strong, false, false, 0 };
    enum access_verdict v = access_note(a, op, &u, NULL, NULL);
    op_release(op);
    return v;
}
static void strong(void)
{
    static const struct streams_options plain = { 0 };
    open_all(&plain);
    UNIT_EQ(strong_use(x, ACCESS_WRITE, true), ACCESS_FINE);
    UNIT_EQ(strong_use(y, ACCESS_WRITE, true), ACCESS_FINE);
    UNIT_EQ(strong_use(y, ACCESS_READ, true), ACCESS_FINE);
    UNIT_EQ(strong_use(y, ACCESS_READ, false), ACCESS_RACE);
    close_all();
    open_all(&plain);
    UNIT_EQ(strong_use(x, ACCESS_READ, false), ACCESS_FINE);
    UNIT_EQ(strong_use(x, ACCESS_WRITE, true), ACCESS_FINE);
    UNIT_EQ(strong_use(y, ACCESS_WRITE, true), ACCESS_RACE); /* with the load */
    close_all();
    open_all(&plain);
    UNIT_EQ(strong_use(x, ACCESS_WRITE, false), ACCESS_FINE);
    hand_over(x, y);
    UNIT_EQ(strong_use(y, ACCESS_WRITE, true), ACCESS_FINE);
    struct stream *z = stream_new(s, STREAM_NON_BLOCKING, 0);
    UNIT_EQ(strong_use(z, ACCESS_WRITE, true), ACCESS_RACE); /* with the first one */
    close_all();
}

int main(int argc, char **argv)
{
    u64 first = argc > 2 ? strtoull(argv[1], NULL, 0) : 1, n = argc > 2 ? strtoull(argv[2], NULL, 0) : 1000;
    u64 racy = 0, clean = 0;
    bool is;
    twins();
    lifetimes();
    host();
    strong();
    many_runs();
    trimmed_late();
    for (u64 i = first; i < first + n; i++) {
        UNIT(program(i, (u32)(i % 8), &is)); /* none missed, none false */
        *(is ? &racy : &clean) += 1;
        if (i % 10 == 0) UNIT(program(i, 8, &is));
    }
    if (n >= 1000) UNIT(racy > n / 10 && clean > n / 10); /* both kinds came up */
    printf("%" PRIu64 " racy, %" PRIu64 " clean\n", racy, clean);
    return unit_done();
}
