/* Runs of sectors with the accesses to them.
 *
 * A range is a run of sectors of which the same is known, its state. A state is a list of accesses, each with the bytes
 * of a sector that it has; it never changes, and many ranges share it: the strided store of a launch makes thousands of
 * ranges and one state. An access replaces the state of each range that it meets by the one that it leads to, and
 * remembers that step, since the next range often has the same.
 *
 * Ranges are in chunks, by address, so that one that comes in between moves few others. */
#include "queue/op_access.h"
#include "queue/op_in.h"

struct access_entry { /* an access to bytes of a sector */
    op_stamp stamp;
    u64 tag;
    u32 bytes;
    u8 kind; /* access_kind */
    u8 strong;
    u8 reused; /* ACCESS_ALLOC: bytes of it had been freed before */
    u8 syncs;  /* as in access_use; states are compared as bytes */
};
struct state {
    u32 refs, n;
    struct access_entry e[];
};
struct access_range {
    u64 from, to;
    struct state *s;
};
enum { CHUNK = 256 };
struct chunk {
    u32 n;
    struct access_range r[CHUNK];
};
/* A step from a state to the next one, in which nothing was found. It holds both. */
enum { STEPS = 16 };
struct step {
    struct state *from, *to; /* from NULL: nothing was known; to NULL: this step is empty */
    op_stamp stamp;
    u64 tag;
    u32 bytes;
    u8 kind, strong;
};
struct accesses {
    lock_t lock;
    struct streams *all;
    struct chunk **chunk; /* by address; none is empty */
    u32 nchunk, cap;      /* how many; room for how many */
    u32 ranges;           /* in all chunks */
    u32 trim_at;          /* trim when there are so many */
    bool crowded;         /* in a trim: frees that are over go, too */
    struct step step[STEPS];
    u32 nstep; /* which is replaced next */
    bool (*excused)(void *self, const struct access_conflict *c, const struct op *op);
    void *excuse_self;
    /* The last trim: what the host had waited for, and the operations that there had been. */
    struct op_clock *waited; /* NULL: there was none */
    u64 ages;
    u64 meetings; /* see access_meetings */
};
struct op_access { /* the one that is being noted */
    struct accesses *of;
    const struct op *op; /* NULL: the host */
    op_stamp stamp;
    struct access_use use;
    enum access_verdict verdict; /* the first that is not fine */
    void (*found)(void *self, const struct access_conflict *c);
    void *self;
};
enum { TRIM_LEAST = 1024, FREES_KEPT = 4096 };

struct accesses *accesses_new(struct streams *s)
{
    struct accesses *a = base_alloc(sizeof *a);
    if (!a) return NULL;
    pthread_mutex_init(&a->lock, NULL);
    a->all = s;
    a->trim_at = TRIM_LEAST;
    return a;
}

void accesses_excuse(struct accesses *a,
                     bool (*excused)(void *self, const struct access_conflict *c, const struct op *op), void *self)
{
    a->excused = excused;
    a->excuse_self = self;
}

/* ---- states ---- */

static struct state *state_hold(struct state *s)
{
    if (s) s->refs++;
    return s;
}

static void state_release(struct state *s)
{
    if (s && !--s->refs) base_free(s);
}

static bool state_same(const struct state *a, const struct state *b)
{
    return a == b || (a->n == b->n && !memcmp(a->e, b->e, a->n * sizeof a->e[0]));
}

static void steps_clear(struct accesses *a)
{
    for (u32 i = 0; i < STEPS; i++) {
        state_release(a->step[i].from);
        state_release(a->step[i].to);
        a->step[i] = (struct step){ 0 };
    }
}

/* ---- ranges ---- */

struct pos { /* range i of chunk c; c == nchunk: after the last */
    u32 c, i;
};

static struct access_range *at(const struct accesses *a, struct pos p)
{
    return p.c < a->nchunk ? &a->chunk[p.c]->r[p.i] : NULL;
}

static struct pos next(const struct accesses *a, struct pos p)
{
    return p.i + 1 < a->chunk[p.c]->n ? (struct pos){ p.c, p.i + 1 } : (struct pos){ p.c + 1, 0 };
}

/* The range before; false: there is none. */
static bool before(const struct accesses *a, struct pos p, struct pos *out)
{
    if (p.i)
        *out = (struct pos){ p.c, p.i - 1 };
    else if (p.c)
        *out = (struct pos){ p.c - 1, a->chunk[p.c - 1]->n - 1 };
    else
        return false;
    return true;
}

/* The first range that ends after `address`. */
static struct pos find(const struct accesses *a, u64 address)
{
    u32 lo = 0, hi = a->nchunk;
    while (lo < hi) {
        u32 mid = lo + (hi - lo) / 2;
        const struct chunk *k = a->chunk[mid];
        if (k->r[k->n - 1].to <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == a->nchunk) return (struct pos){ lo, 0 };
    const struct chunk *k = a->chunk[lo];
    u32 first = 0, last = k->n - 1;
    while (first < last) {
        u32 mid = first + (last - first) / 2;
        if (k->r[mid].to <= address)
            first = mid + 1;
        else
            last = mid;
    }
    return (struct pos){ lo, first };
}

static void chunk_insert(struct accesses *a, u32 c)
{
    NEED_ROOM(a->chunk, a->nchunk, a->cap, 16);
    memmove(a->chunk + c + 1, a->chunk + c, (a->nchunk - c) * sizeof *a->chunk);
    a->chunk[c] = base_need(sizeof **a->chunk);
    a->chunk[c]->n = 0;
    a->nchunk++;
}

/* Puts a range before p; returns where it is now. */
static struct pos insert(struct accesses *a, struct pos p, struct access_range r)
{
    if (p.c == a->nchunk && p.c) p = (struct pos){ p.c - 1, a->chunk[p.c - 1]->n };
    if (p.c == a->nchunk) chunk_insert(a, p.c);
    struct chunk *k = a->chunk[p.c];
    if (k->n == CHUNK) { /* in two halves; at the end, where ranges come in their order, the new one is alone */
        u32 keep = p.i == CHUNK ? CHUNK : CHUNK / 2;
        chunk_insert(a, p.c + 1);
        struct chunk *more = a->chunk[p.c + 1];
        more->n = CHUNK - keep;
        memcpy(more->r, k->r + keep, more->n * sizeof more->r[0]);
        k->n = keep;
        if (p.i > keep || keep == CHUNK) p = (struct pos){ p.c + 1, p.i - keep };
        k = a->chunk[p.c];
    }
    memmove(k->r + p.i + 1, k->r + p.i, (k->n - p.i) * sizeof k->r[0]);
    k->r[p.i] = r;
    k->n++;
    a->ranges++;
    return p;
}

/* Takes a range out; returns where the next one is. */
static struct pos take_out(struct accesses *a, struct pos p)
{
    struct chunk *k = a->chunk[p.c];
    state_release(k->r[p.i].s);
    memmove(k->r + p.i, k->r + p.i + 1, (k->n - p.i - 1) * sizeof k->r[0]);
    a->ranges--;
    if (!--k->n) {
        base_free(k);
        memmove(a->chunk + p.c, a->chunk + p.c + 1, (a->nchunk - p.c - 1) * sizeof *a->chunk);
        a->nchunk--;
        return (struct pos){ p.c, 0 };
    }
    return p.i < k->n ? p : (struct pos){ p.c + 1, 0 };
}

/* The range at p has no sector on both sides of `address`; returns where the one is that begins there, or after. */
static struct pos cut(struct accesses *a, struct pos p, u64 address)
{
    struct access_range *r = at(a, p);
    if (!r || r->from >= address) return p;
    struct access_range left = { r->from, address, state_hold(r->s) };
    r->from = address;
    return next(a, insert(a, p, left));
}

/* Merges the range at p with its predecessor if both have the same history. Returns where it is. */
static struct pos merge(struct accesses *a, struct pos p)
{
    struct pos b;
    struct access_range *r = at(a, p), *left;
    if (!r || !before(a, p, &b)) return p;
    left = at(a, b);
    if (left->to != r->from || !state_same(left->s, r->s)) return p;
    left->to = r->to;
    take_out(a, p);
    return b;
}

void accesses_delete(struct accesses *a)
{
    steps_clear(a);
    for (u32 c = 0; c < a->nchunk; c++) {
        for (u32 i = 0; i < a->chunk[c]->n; i++) state_release(a->chunk[c]->r[i].s);
        base_free(a->chunk[c]);
    }
    base_free(a->chunk);
    lock(&a->all->lock);
    opclock_release(&a->all->clocks, a->waited);
    unlock(&a->all->lock);
    pthread_mutex_destroy(&a->lock);
    base_free(a);
}

/* ---- one access ---- */

static bool is_before(const struct op_access *x, op_stamp other)
{
    if (other == x->stamp) return true;
    if (!x->op) return host_after(x->of->all, other);
    return x->use.early ? op_before(other, x->op) : op_before_full(other, x->op);
}

/* What entry o says about the access. life: only what it says about the allocation, otherwise only the rest; lives: an
 * allocation or a free of the bytes is known. */
static enum access_verdict judge(const struct op_access *x, const struct access_entry *o, bool life, bool lives)
{
    bool use = x->use.kind == ACCESS_READ || x->use.kind == ACCESS_WRITE;
    switch ((enum access_kind)o->kind) {
    case ACCESS_FREE: return life && x->use.kind != ACCESS_ALLOC ? ACCESS_AFTER_FREE : ACCESS_FINE;
    case ACCESS_ALLOC: /* these bytes, or those that were there before */
        if (!life || x->use.kind == ACCESS_ALLOC || is_before(x, o->stamp)) return ACCESS_FINE;
        return o->reused ? ACCESS_AFTER_FREE : ACCESS_BEFORE_ALLOC;
    default: break;
    }
    if (life) return ACCESS_FINE;
    if (x->use.kind == ACCESS_ALLOC) /* a use that ran before it, ordered or not */
        return lives ? ACCESS_FINE : ACCESS_BEFORE_ALLOC;
    if (use && ((o->kind == ACCESS_READ && x->use.kind == ACCESS_READ) || (o->strong && x->use.strong)))
        return ACCESS_FINE;
    if (is_before(x, o->stamp)) return ACCESS_FINE;
    return use ? ACCESS_RACE : ACCESS_AFTER_FREE;
}

/* Compares the access with what is known of a run of sectors; false: there are conflicts, and they were told. */
static bool check(struct op_access *x, const struct state *s, u64 from, u64 to)
{
    bool lives = false, fine = true, frees = x->use.kind == ACCESS_FREE;
    for (u32 i = 0; i < s->n; i++) lives |= s->e[i].bytes & x->use.bytes && s->e[i].kind >= ACCESS_ALLOC;
    for (u32 k = 0; k < 2 * s->n; k++) { /* first the allocation, then, if that is fine, the uses; a free: the uses */
        if (k == s->n && !fine) break;
        const struct access_entry *o = &s->e[k % s->n];
        u32 common = o->bytes & x->use.bytes;
        if (k < s->n && common && o->syncs && x->use.syncs && !is_before(x, o->stamp))
            x->of->meetings += o->kind == ACCESS_WRITE || x->use.kind == ACCESS_WRITE;
        enum access_verdict v = common ? judge(x, o, (k < s->n) != frees, lives) : ACCESS_FINE;
        if (v == ACCESS_FINE) continue;
        struct access_conflict c = { .verdict = v,
                                     .me = x->use.kind,
                                     .other = o->kind,
                                     .strong = x->use.strong,
                                     .other_strong = o->strong,
                                     .stamp = o->stamp,
                                     .tag = x->use.tag,
                                     .other_tag = o->tag,
                                     .from = from + (u32)__builtin_ctz(common),
                                     .to = to - (u32)__builtin_clz(common),
                                     .bytes = common };
        if (x->of->excused && x->of->excused(x->of->excuse_self, &c, x->op)) continue;
        if (x->verdict == ACCESS_FINE) x->verdict = v;
        if (x->found) x->found(x->self, &c);
        fine = false;
    }
    return fine;
}

/* Entry o is not needed beside the access: it is before it, or its conflict was told; and whatever conflicts with o
 * conflicts with the access. */
static bool replaces(const struct op_access *x, const struct access_entry *o)
{
    const struct access_use *u = &x->use;
    if (u->kind == ACCESS_ALLOC || u->kind == ACCESS_FREE) return true;
    if (o->kind == ACCESS_ALLOC || o->kind == ACCESS_FREE) return false;
    if (u->kind == ACCESS_WRITE && !u->strong) return true;
    bool covers = u->kind == ACCESS_WRITE ? o->strong : o->kind == ACCESS_READ && (o->strong || !u->strong);
    return covers && is_before(x, o->stamp);
}

static struct state *state_after(const struct op_access *x, const struct state *s)
{
    u32 n = s ? s->n : 0, mine = x->use.bytes;
    struct state *t = base_need(sizeof *t + (n + 1) * sizeof t->e[0]);
    struct access_entry me = { x->stamp, x->use.tag, 0, (u8)x->use.kind, x->use.strong, 0, x->use.syncs };
    t->refs = 1;
    t->n = 0;
    for (u32 i = 0; i < n; i++) {
        struct access_entry o = s->e[i];
        if (o.kind == ACCESS_FREE && x->use.kind == ACCESS_READ) mine &= ~o.bytes;
        if (o.bytes & x->use.bytes && replaces(x, &o)) {
            me.reused |= x->use.kind == ACCESS_ALLOC && o.kind == ACCESS_FREE;
            o.bytes &= ~x->use.bytes;
        }
        if (!o.bytes) continue;
        if (o.stamp == me.stamp && o.tag == me.tag && o.kind == me.kind && o.strong == me.strong) {
            me.bytes |= o.bytes; /* one entry for both */
            continue;
        }
        t->e[t->n++] = o;
    }
    me.bytes |= mine;
    if (me.bytes) t->e[t->n++] = me;
    return t;
}

/* The state that the access leads to, with a reference. from, to: the sectors, for what it finds. */
static struct state *step(struct op_access *x, struct state *s, u64 from, u64 to)
{
    struct accesses *a = x->of;
    const struct access_use *u = &x->use;
    for (u32 i = 0; x->op && i < STEPS; i++) {
        const struct step *m = &a->step[i];
        if (m->to && m->from == s && m->stamp == x->stamp && m->tag == u->tag && m->bytes == u->bytes &&
            m->kind == u->kind && m->strong == u->strong)
            return state_hold(m->to);
    }
    bool fine = !s || check(x, s, from, to);
    struct state *t = state_after(x, s);
    if (!fine || !x->op) return t; /* what the host has waited for changes */
    struct step *m = &a->step[a->nstep++ % STEPS];
    state_release(m->from);
    state_release(m->to);
    *m = (struct step){ state_hold(s), state_hold(t), x->stamp, u->tag, u->bytes, (u8)u->kind, u->strong };
    return t;
}

static void note(struct op_access *x)
{
    struct accesses *a = x->of;
    u64 from = x->use.from, to = x->use.to;
    struct pos p = cut(a, find(a, from), from);
    for (u64 here = from; here < to;) {
        struct access_range *r = at(a, p);
        if (!r || r->from > here) { /* nothing is known up to the next one */
            u64 end = r ? MIN_OF(r->from, to) : to;
            p = insert(a, p, (struct access_range){ here, end, step(x, NULL, here, end) });
        } else {
            if (r->to > to) {
                p = cut(a, p, to);
                before(a, p, &p);
                r = at(a, p);
            }
            struct state *t = step(x, r->s, r->from, r->to);
            state_release(r->s);
            r->s = t;
        }
        here = at(a, p)->to;
        p = next(a, merge(a, p));
    }
    merge(a, p);
}

/* ---- dropping ---- */

/* A free that is over stays, for whoever uses the memory behind it; of more than FREES_KEPT ranges it goes, too: the
 * memory is freed by then, which the check of each access knows.
 *
 * What the host has waited for is before all operations that are enqueued later. Operations that were enqueued earlier
 * may be unordered with it: it can be dropped when they have all ended. So a trim drops what the host had waited for at
 * the last trim, if no operation is left from before that. */
static bool trim_allowed(const struct accesses *a)
{
    const struct op *oldest = a->all->live;
    for (const struct op *o = oldest; o; o = o->older)
        if (o->age < oldest->age) oldest = o;
    return a->waited && (!oldest || oldest->age > a->ages);
}

static bool is_over(const struct accesses *a, const struct access_entry *e)
{
    if (e->kind == ACCESS_FREE && !a->crowded) return false;
    if (stamp_slot(e->stamp) == OP_SLOT_HOST) return stamp_number(e->stamp) <= a->ages;
    return opclock_at(a->waited, stamp_slot(e->stamp)) >= stamp_number(e->stamp);
}

/* The state without what is over, with a reference; NULL: nothing is left. */
static struct state *state_trimmed(const struct accesses *a, struct state *s)
{
    u32 left = 0;
    for (u32 i = 0; i < s->n; i++) left += !is_over(a, &s->e[i]);
    if (left == s->n) return state_hold(s);
    if (!left) return NULL;
    struct state *t = base_need(sizeof *t + left * sizeof t->e[0]);
    t->refs = 1;
    t->n = 0;
    for (u32 i = 0; i < s->n; i++)
        if (!is_over(a, &s->e[i])) t->e[t->n++] = s->e[i];
    return t;
}

static void drop_over(struct accesses *a)
{
    struct state *last = NULL, *became = NULL; /* the state that was trimmed last */
    steps_clear(a);
    for (struct pos p = { 0, 0 }; p.c < a->nchunk;) {
        struct access_range *r = at(a, p);
        if (r->s != last) {
            state_release(last);
            state_release(became);
            last = state_hold(r->s);
            became = state_trimmed(a, last);
        }
        if (!became) {
            p = take_out(a, p);
            continue;
        }
        state_release(r->s);
        r->s = state_hold(became);
        p = next(a, merge(a, p));
    }
    state_release(last);
    state_release(became);
}

static void trim(struct accesses *a)
{
    struct streams *s = a->all;
    lock(&s->lock);
    bool allowed = trim_allowed(a);
    unlock(&s->lock);
    a->crowded = a->ranges > FREES_KEPT;
    if (allowed) drop_over(a);
    lock(&s->lock);
    if (allowed || !a->waited) {
        opclock_release(&a->all->clocks, a->waited);
        a->waited = opclock_hold(s->clocks.host);
        a->ages = s->ages;
    }
    unlock(&s->lock);
    a->trim_at = MAX_OF(2 * a->ranges, TRIM_LEAST);
}

void access_trim(struct accesses *a)
{
    lock(&a->lock);
    trim(a);
    unlock(&a->lock);
}

/* Bytes of one sector, or whole sectors, are not known any more. */
static void forget(struct accesses *a, const struct access_use *u)
{
    struct pos p = cut(a, find(a, u->from), u->from);
    for (struct access_range *r; (r = at(a, p)) && r->from < u->to;) {
        if (r->to > u->to) {
            p = cut(a, p, u->to);
            before(a, p, &p);
            r = at(a, p);
        }
        struct state *s = r->s, *t = base_need(sizeof *t + s->n * sizeof t->e[0]);
        t->refs = 1;
        t->n = 0;
        for (u32 i = 0; i < s->n; i++) {
            t->e[t->n] = s->e[i];
            if (t->e[t->n].bytes &= ~u->bytes) t->n++;
        }
        if (!t->n) {
            base_free(t);
            p = take_out(a, p);
            continue;
        }
        state_release(s);
        r->s = t;
        p = next(a, merge(a, p));
    }
    merge(a, p);
}

/* ---- the interface ---- */

enum access_verdict access_note(struct accesses *a, const struct op *op, const struct access_use *u,
                                void (*found)(void *self, const struct access_conflict *c), void *self)
{
    struct op_access x = { .of = a, .op = op, .use = *u, .found = found, .self = self };
    if (u->from >= u->to || !u->bytes) return ACCESS_FINE;
    x.stamp = op ? op_stamp_of(op) : host_stamp(a->all);
    lock(&a->lock);
    note(&x);
    if (a->ranges > a->trim_at) trim(a);
    unlock(&a->lock);
    return x.verdict;
}

u32 access_split(u64 from, u64 bytes, struct access_use u, struct access_use out[3])
{
    u64 to = from + bytes < from ? UINT64_MAX & ~(u64)(ACCESS_SECTOR - 1) : from + bytes;
    u32 n = 0;
    while (from < to) {
        u64 sector = from & ~(u64)(ACCESS_SECTOR - 1), last = to & ~(u64)(ACCESS_SECTOR - 1);
        u.from = sector;
        if (sector == from && last > from) {
            u.to = from = last;
            u.bytes = ~0u;
        } else { /* a part of one sector */
            u32 end = (u32)MIN_OF(to - sector, (u64)ACCESS_SECTOR), first = (u32)(from - sector);
            u.to = sector + ACCESS_SECTOR;
            u.bytes = (u32)((1ull << end) - (1ull << first));
            from = sector + end;
        }
        out[n++] = u;
    }
    return n;
}

struct first { /* where the first conflict goes */
    struct access_conflict *out;
    bool is;
};

static void keep_first(void *self, const struct access_conflict *c)
{
    struct first *f = self;
    if (!f->is && f->out) *f->out = *c;
    f->is = true;
}

static enum access_verdict note_bytes(struct accesses *a, const struct op *op, u64 from, u64 bytes,
                                      struct access_use like, struct access_conflict *out)
{
    struct access_use use[3];
    struct first f = { out, false };
    enum access_verdict first = ACCESS_FINE;
    u32 n = access_split(from, bytes, like, use);
    for (u32 i = 0; i < n; i++) {
        enum access_verdict v = access_note(a, op, &use[i], keep_first, &f);
        if (first == ACCESS_FINE) first = v;
    }
    return first;
}

enum access_verdict access_op(struct accesses *a, const struct op *op, u64 from, u64 bytes, enum access_kind kind,
                              struct access_conflict *out)
{
    return note_bytes(a, op, from, bytes, (struct access_use){ .kind = kind, .tag = op_tag(op) }, out);
}

enum access_verdict access_host(struct accesses *a, u64 from, u64 bytes, enum access_kind kind, u64 tag,
                                struct access_conflict *out)
{
    return note_bytes(a, NULL, from, bytes, (struct access_use){ .kind = kind, .tag = tag }, out);
}

void access_forget(struct accesses *a, u64 from, u64 bytes)
{
    struct access_use use[3];
    u32 n = access_split(from, bytes, (struct access_use){ 0 }, use);
    lock(&a->lock);
    for (u32 i = 0; i < n; i++) forget(a, &use[i]);
    unlock(&a->lock);
}

void access_tags(struct accesses *a, void (*each)(void *self, u64 tag), void *self)
{
    const struct state *last = NULL;
    lock(&a->lock);
    steps_clear(a); /* they may lead to states with tags that no range has */
    for (u32 c = 0; c < a->nchunk; c++)
        for (u32 i = 0; i < a->chunk[c]->n; i++) {
            const struct state *s = a->chunk[c]->r[i].s;
            for (u32 k = 0; s != last && k < s->n; k++) each(self, s->e[k].tag);
            last = s;
        }
    unlock(&a->lock);
}

void access_at(struct accesses *a, u64 address, void (*each)(void *self, enum access_kind kind, u64 tag), void *self)
{
    lock(&a->lock);
    const struct access_range *r = at(a, find(a, address));
    const struct state *s = r && r->from <= address ? r->s : NULL;
    for (u32 k = 0; s && k < s->n; k++)
        if (s->e[k].bytes >> address % ACCESS_SECTOR & 1) each(self, s->e[k].kind, s->e[k].tag);
    unlock(&a->lock);
}

u64 access_meetings(struct accesses *a)
{
    lock(&a->lock);
    u64 n = a->meetings;
    unlock(&a->lock);
    return n;
}

u32 access_ranges(struct accesses *a)
{
    lock(&a->lock);
    u32 n = a->ranges;
    unlock(&a->lock);
    return n;
}
