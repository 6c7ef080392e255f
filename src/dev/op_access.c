/* Ranges of bytes with their last accesses: a sorted array, cut where an access begins or ends. */
#include "dev/op_access.h"

struct by {         /* who made an access */
    op_stamp stamp; /* 0: nobody */
    u64 tag;
};
struct range {
    u64 from, to;
    struct by alloc, freed; /* freed: not allocated anew since */
    struct by writer;       /* the last */
    struct by *reader;      /* since the last write, none before another */
    u32 readers;
    bool again; /* these addresses were freed before `alloc` */
};
struct ranges {
    struct range *p;
    u32 n, cap;
};
struct accesses {
    lock_t lock;
    struct streams *all;
    struct ranges kept; /* by address, apart from each other */
    struct ranges work; /* those of one access, meanwhile */
};
struct access { /* the one that is being noted */
    struct streams *all;
    const struct op *op; /* NULL: the host */
    struct by by;
    enum access_kind kind;
    enum access_verdict verdict;
    struct access_conflict first;
};

struct accesses *accesses_new(struct streams *s)
{
    struct accesses *a = base_alloc(sizeof *a);
    if (!a) return NULL;
    pthread_mutex_init(&a->lock, NULL);
    a->all = s;
    return a;
}

void accesses_delete(struct accesses *a)
{
    for (u32 i = 0; i < a->kept.n; i++) base_free(a->kept.p[i].reader);
    base_free(a->kept.p);
    base_free(a->work.p);
    pthread_mutex_destroy(&a->lock);
    base_free(a);
}

/* ---- the array ---- */

static void reserve(struct ranges *r, u32 n)
{
    if (n <= r->cap) return;
    r->cap = MAX_OF(n, 2 * r->cap);
    r->p = base_need_more(r->p, r->cap * sizeof *r->p);
}

/* The first range that ends behind `at`. */
static u32 find(const struct ranges *r, u64 at)
{
    u32 lo = 0, hi = r->n;
    while (lo < hi) {
        u32 mid = lo + (hi - lo) / 2;
        if (r->p[mid].to <= at)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

/* Replaces n ranges from i on. */
static void splice(struct ranges *r, u32 i, u32 n, const struct range *with, u32 count)
{
    reserve(r, r->n - n + count);
    memmove(r->p + i + count, r->p + i + n, (r->n - i - n) * sizeof *r->p);
    if (count) memcpy(r->p + i, with, count * sizeof *with);
    r->n += count - n;
}

static struct by *readers_copy(const struct range *r)
{
    if (!r->readers) return NULL;
    struct by *p = base_need(r->readers * sizeof *p);
    memcpy(p, r->reader, r->readers * sizeof *p);
    return p;
}

/* No range has `at` inside. */
static void cut(struct ranges *r, u64 at)
{
    u32 i = find(r, at);
    if (i == r->n || r->p[i].from >= at) return;
    struct range two[2] = { r->p[i], r->p[i] };
    two[0].to = two[1].from = at;
    two[1].reader = readers_copy(&two[0]);
    splice(r, i, 1, two, 2);
}

static bool same_readers(const struct range *a, const struct range *b)
{
    if (a->readers != b->readers) return false;
    for (u32 i = 0; i < a->readers; i++)
        if (a->reader[i].stamp != b->reader[i].stamp) return false;
    return true;
}

static bool same(const struct range *a, const struct range *b)
{
    return a->to == b->from && a->writer.stamp == b->writer.stamp && a->alloc.stamp == b->alloc.stamp &&
           a->freed.stamp == b->freed.stamp && a->again == b->again && same_readers(a, b);
}

/* ---- one access ---- */

static bool is_before(const struct access *x, struct by other)
{
    if (!other.stamp || other.stamp == x->by.stamp) return true;
    return x->op ? op_before_full(other.stamp, x->op) : host_after(x->all, other.stamp);
}

static void conflict(struct access *x, const struct range *r, enum access_verdict verdict, struct by other,
                     enum access_kind kind)
{
    if (x->verdict != ACCESS_FINE) return;
    x->verdict = verdict;
    x->first = (struct access_conflict){ x->kind, kind, other.stamp, other.tag, r->from, r->to };
}

/* A read or write of memory that must be allocated, and not freed. */
static void check_life(struct access *x, const struct range *r)
{
    if (r->freed.stamp)
        conflict(x, r, ACCESS_AFTER_FREE, r->freed, ACCESS_FREE);
    else if (!is_before(x, r->alloc)) /* these bytes, or those that were there before */
        conflict(x, r, r->again ? ACCESS_AFTER_FREE : ACCESS_BEFORE_ALLOC, r->alloc, ACCESS_ALLOC);
}

static void check_uses(struct access *x, const struct range *r, bool reads_too, enum access_verdict verdict)
{
    if (!is_before(x, r->writer)) conflict(x, r, verdict, r->writer, ACCESS_WRITE);
    for (u32 i = 0; reads_too && i < r->readers; i++)
        if (!is_before(x, r->reader[i])) conflict(x, r, verdict, r->reader[i], ACCESS_READ);
}

static void check(struct access *x, const struct range *r)
{
    switch (x->kind) {
    case ACCESS_READ:
    case ACCESS_WRITE:
        check_life(x, r);
        check_uses(x, r, x->kind == ACCESS_WRITE, ACCESS_RACE);
        break;
    case ACCESS_FREE:
        check_life(x, r);
        check_uses(x, r, true, ACCESS_AFTER_FREE);
        break;
    case ACCESS_ALLOC: /* a use that ran before it, ordered or not */
        if (r->alloc.stamp || r->freed.stamp) break;
        if (r->writer.stamp) conflict(x, r, ACCESS_BEFORE_ALLOC, r->writer, ACCESS_WRITE);
        if (r->readers) conflict(x, r, ACCESS_BEFORE_ALLOC, r->reader[0], ACCESS_READ);
        break;
    }
}

static void readers_clear(struct range *r)
{
    base_free(r->reader);
    r->reader = NULL;
    r->readers = 0;
}

static void add_reader(struct access *x, struct range *r)
{
    u32 n = 0;
    for (u32 i = 0; i < r->readers; i++)
        if (!is_before(x, r->reader[i])) r->reader[n++] = r->reader[i];
    if (n == r->readers) r->reader = base_need_more(r->reader, (n + 1) * sizeof *r->reader);
    r->reader[n] = x->by;
    r->readers = n + 1;
}

static void update(struct access *x, struct range *r)
{
    if (x->kind == ACCESS_READ) {
        if (!r->freed.stamp) add_reader(x, r);
        return;
    }
    readers_clear(r);
    if (x->kind == ACCESS_WRITE) {
        r->writer = x->by;
        return;
    }
    r->writer = (struct by){ 0 };
    if (x->kind == ACCESS_FREE) {
        r->freed = x->by;
        return;
    }
    r->again = r->freed.stamp != 0;
    r->freed = (struct by){ 0 };
    r->alloc = x->by;
}

static void note(struct accesses *a, struct access *x, u64 from, u64 to)
{
    struct ranges *kept = &a->kept, *work = &a->work;
    cut(kept, from);
    cut(kept, to);
    u32 first = find(kept, from), i = first;
    work->n = 0;
    for (u64 at = from; at < to;) {
        bool there = i < kept->n && kept->p[i].from == at;
        u64 next = i < kept->n ? MIN_OF(kept->p[i].from, to) : to;
        struct range r = there ? kept->p[i++] : (struct range){ .from = at, .to = next };
        check(x, &r);
        update(x, &r);
        at = r.to;
        if (work->n && same(&work->p[work->n - 1], &r)) {
            work->p[work->n - 1].to = r.to;
            base_free(r.reader);
            continue;
        }
        reserve(work, work->n + 1);
        work->p[work->n++] = r;
    }
    splice(kept, first, i - first, work->p, work->n);
}

static enum access_verdict add(struct accesses *a, struct access *x, u64 from, u64 bytes, struct access_conflict *out)
{
    u64 to = from + bytes < from ? UINT64_MAX : from + bytes;
    if (!bytes) return ACCESS_FINE;
    lock(&a->lock);
    note(a, x, from, to);
    unlock(&a->lock);
    if (out && x->verdict != ACCESS_FINE) *out = x->first;
    return x->verdict;
}

enum access_verdict access_op(struct accesses *a, const struct op *op, u64 from, u64 bytes, enum access_kind kind,
                              struct access_conflict *out)
{
    struct access x = { .all = a->all, .op = op, .by = { op_stamp_of(op), op_tag(op) }, .kind = kind };
    return add(a, &x, from, bytes, out);
}

enum access_verdict access_host(struct accesses *a, u64 from, u64 bytes, enum access_kind kind, u64 tag,
                                struct access_conflict *out)
{
    struct access x = { .all = a->all, .by = { host_stamp(a->all), tag }, .kind = kind };
    return add(a, &x, from, bytes, out);
}

void access_forget(struct accesses *a, u64 from, u64 bytes)
{
    struct ranges *kept = &a->kept;
    u64 to = from + bytes < from ? UINT64_MAX : from + bytes;
    lock(&a->lock);
    cut(kept, from);
    cut(kept, to);
    u32 first = find(kept, from), n = 0;
    for (; first + n < kept->n && kept->p[first + n].from < to; n++) base_free(kept->p[first + n].reader);
    splice(kept, first, n, NULL, 0);
    unlock(&a->lock);
}

u32 access_ranges(struct accesses *a)
{
    lock(&a->lock);
    u32 n = a->kept.n;
    unlock(&a->lock);
    return n;
}
