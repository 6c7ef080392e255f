/* A naive oracle of the race check: a vector clock a thread, every access to every byte kept, lane by lane. It
 * follows rules.md R1 to R4 and R6 to the letter and knows nothing of cells, sets, phases or trees. With
 * `weak` it follows R5a and R5b as well, as if they were rules of order: what races then is an error, and what races
 * only without is order_weak.
 *
 * Two shortcuts, which take nothing from that: a byte that has raced need not be looked at again, and what threads of
 * one CTA have released with one scope is kept joined, as no rule tells it apart. */
#include "race/race.h"
#include <stdlib.h>

enum {
    ORACLE_THREADS = 1152,
    ORACLE_CTAS = 12,
    ORACLE_BYTES = 1024,
    ORACLE_BUFFERS = 2,
    ORACLE_PLACES = ORACLE_BUFFERS + ORACLE_CTAS,
    ORACLE_IDS = 1 << 14
};

struct dense_clock {
    _Alignas(16) u16 thread[ORACLE_THREADS]; /* the time of each thread */
    _Alignas(16) u16 writes[ORACLE_IDS]; /* how many strong writes of each location are (observation order, 8.9.2) */
    u32 n;                               /* locations in `writes`; others have none */
};
struct by_scope {
    struct dense_clock *by[ORACLE_CTAS][2];
}; /* by CTA, with CTA scope and wider; NULL: nothing */

struct oracle_access {
    u16 thread, clock;
    bool write, strong, wide, in_flight;
    u16 start, end, first, last; /* bytes of the element, and of the vector */
    u32 instance;                /* of the instruction */
    u32 id;
    u16 number; /* a strong write: its location and which one there */
};

struct oracle_loc { /* the last strong write that began here; size 0: none, or overwritten */
    u32 id, writes; /* id 0: none was here */
    u16 cta;
    u8 size;
    bool wide;
    struct by_scope released, sc_clock;
    struct dense_clock *arrived, *done; /* an mbarrier: in this phase, in those before */
    u64 phase;
    /* what each thread has released here by operations, last and last of wide scope, and read here */
    struct oracle_pattern {
        u32 thread;
        struct dense_clock *released[2];
        struct by_scope read[2];
        struct oracle_pattern *next, *all;
    } * pattern;
};

struct oracle_thread {
    struct dense_clock now;
    /* at its last fence, and at its last one of gpu scope or wider; NULL: none yet */
    struct dense_clock *fence, *fence_gpu;
    /* R5a: read by read-modify-writes of gpu scope, acquired at the next barrier; NULL: nothing */
    struct dense_clock *rmw;
    struct by_scope pending[2];         /* read by relaxed operations, of CTA scope and wider */
    struct by_scope sc_clock;           /* of the fence.sc operations that have reached it */
    u32 read_id, read_writes, read_how; /* what it read last: the same once more acquires nothing */
};

struct oracle_bar {
    struct dense_clock *v;
    struct by_scope sc_clock;
    u8 waits[ORACLE_THREADS];
};

struct oracle {
    struct oracle_thread *t;
    struct {
        struct oracle_access *a;
        u32 n, cap;
    } hist[ORACLE_PLACES][ORACLE_BYTES];
    struct oracle_loc loc[ORACLE_PLACES][ORACLE_BYTES];
    struct oracle_bar bar[ORACLE_CTAS][MAX_BARS];
    u8 racy[ORACLE_PLACES][ORACLE_BYTES];
    /* volatile accesses by the first byte of their element, and the elements of which two conflict without an order
     * (R2b); flags are not left out */
    struct {
        struct oracle_access *a;
        u32 n, cap;
    } volatiles[ORACLE_PLACES][ORACLE_BYTES];
    u8 volatile_racy[ORACLE_PLACES][ORACLE_BYTES];
    u64 base[ORACLE_BUFFERS]; /* of the global buffers */
    u32 instance, block, threads, ids;
    u32 grid; /* CTAs of a launch; the CTAs of launch n, by its stamp from 1 on, come behind those of the ones before */
    bool weak; /* R5a and R5b order */
    /* something reads what the atomic instruction gives: otherwise it is a red, if relaxed */
    bool read;
    struct oracle_pattern *patterns; /* of all locations */
    struct dense_clock **pool;
    u32 given, made; /* clocks; all are taken back at a launch */
    lock_t lock;
};

/* ---- clocks ---- */

static struct dense_clock *dense_new(struct oracle *o)
{
    if (o->given == o->made) {
        o->pool = realloc(o->pool, sizeof *o->pool * (o->made + 1));
        o->pool[o->made++] = aligned_alloc(16, sizeof(struct dense_clock));
    }
    struct dense_clock *v = o->pool[o->given++];
    v->n = 0;
    memset(v->thread, 0, sizeof *v->thread * o->threads);
    return v;
}

static void dense_writes(struct dense_clock *v, u32 id, u32 count)
{
    if (id >= v->n) {
        memset(v->writes + v->n, 0, sizeof *v->writes * (id + 1 - v->n));
        v->n = id + 1;
    }
    if (v->writes[id] < count) v->writes[id] = (u16)count;
}

typedef u16 u16x8 __attribute__((vector_size(16), may_alias));

static void join_times(u16 *a, const u16 *b, u32 n)
{
    u32 k = 0;
    for (; k + 8 <= n; k += 8) {
        u16x8 x = *(u16x8 *)(void *)(a + k), y = *(const u16x8 *)(const void *)(b + k), more = (u16x8)(y > x);
        *(u16x8 *)(void *)(a + k) = (y & more) | (x & ~more);
    }
    for (; k < n; k++) a[k] = MAX_OF(a[k], b[k]);
}

static void oracle_join(const struct oracle *o, struct dense_clock *a, const struct dense_clock *b)
{
    if (!b) return;
    join_times(a->thread, b->thread, o->threads);
    join_times(a->writes, b->writes, MIN_OF(a->n, b->n));
    if (b->n > a->n) {
        memcpy(a->writes + a->n, b->writes + a->n, sizeof *a->writes * (b->n - a->n));
        a->n = b->n;
    }
}

static struct dense_clock *dense_copy(struct oracle *o, const struct dense_clock *from)
{
    struct dense_clock *v = dense_new(o);
    oracle_join(o, v, from);
    return v;
}

static void by_scope_release(struct oracle *o, struct by_scope *s, u32 cta, bool wide, const struct dense_clock *v)
{
    if (!s->by[cta][wide])
        s->by[cta][wide] = dense_copy(o, v);
    else
        oracle_join(o, s->by[cta][wide], v);
}

static void by_scope_join(struct oracle *o, struct by_scope *s, const struct by_scope *more)
{
    for (u32 c = 0; c < ORACLE_CTAS; c++)
        for (u32 w = 0; w < 2; w++)
            if (more->by[c][w]) by_scope_release(o, s, c, w, more->by[c][w]);
}

/* What a thread of `cta` acquires of it. */
static void by_scope_acquire(const struct oracle *o, const struct by_scope *s, u32 cta, bool wide,
                             struct dense_clock *v)
{
    for (u32 c = 0; c < ORACLE_CTAS; c++)
        for (u32 w = 0; w < 2; w++)
            if (c == cta || (w && wide)) oracle_join(o, v, s->by[c][w]);
}

/* The number of a CTA among those of all launches of an era. */
static u32 oracle_cta(const struct oracle *o, const struct cta *c)
{
    u64 n = c->launch->in->number; /* from 1 on; 0: there is one launch */
    return (u32)(c->linear + (n ? (n - 1) * o->grid : 0));
}

static u32 oracle_thread(const struct oracle *o, const struct warp *w, u32 lane)
{
    return oracle_cta(o, w->cta) * o->block + w->id * LANES + lane;
}
static bool is_wide(u32 scope) { return scope >= SCOPE_GPU; }

/* A new launch: all that was is ordered before. */
static void oracle_launch(struct oracle *o, u32 grid, u32 block)
{
    if (!o->t) o->t = calloc(ORACLE_THREADS, sizeof *o->t);
    o->grid = grid;
    o->block = block;
    o->threads = grid * block;
    o->given = 0;
    o->ids = 0;
    while (o->patterns) {
        struct oracle_pattern *p = o->patterns;
        o->patterns = p->all;
        free(p);
    }
    if (o->threads > ORACLE_THREADS) abort();
    for (u32 t = 0; t < o->threads; t++) {
        struct oracle_thread *x = &o->t[t];
        memset(x->now.thread, 0, sizeof x->now.thread);
        x->now.n = 0;
        x->now.thread[t] = 1;
        x->fence = x->fence_gpu = x->rmw = NULL;
        x->read_id = 0;
        memset(x->pending, 0, sizeof x->pending);
        memset(&x->sc_clock, 0, sizeof x->sc_clock);
    }
    for (u32 p = 0; p < ORACLE_BUFFERS + grid; p++)
        for (u32 b = 0; b < ORACLE_BYTES; b++) {
            o->hist[p][b].n = 0;
            o->volatiles[p][b].n = 0;
            o->loc[p][b].size = 0;
        }
    memset(o->bar, 0, sizeof *o->bar * grid);
}

/* ---- accesses ---- */

static bool oracle_ordered(const struct oracle *o, const struct oracle_access *x, const struct oracle_access *m)
{
    const struct dense_clock *v = &o->t[m->thread].now;
    if (x->in_flight) return false;
    if (x->thread == m->thread || x->clock <= v->thread[x->thread]) return true;
    return x->id && x->id < v->n && x->number < v->writes[x->id];
}

static bool oracle_silent(const struct oracle *o, const struct oracle_access *x, const struct oracle_access *m)
{
    if (!x->write && !m->write) return true;
    if (x->instance == m->instance) return true; /* R6: lanes of one instruction */
    if (oracle_ordered(o, x, m)) return true;
    bool same = (x->start == m->start && x->end == m->end) || (x->first == m->first && x->last == m->last);
    return x->strong && m->strong && same && (x->thread / o->block == m->thread / o->block || (x->wide && m->wide));
}

/* A thread that polls: the same read once more, and nobody wrote since. */
static bool oracle_again(const struct oracle_access *x, const struct oracle_access *m)
{
    return x->thread == m->thread && x->clock == m->clock && !x->write && x->strong == m->strong &&
           x->wide == m->wide && x->start == m->start && x->end == m->end && x->first == m->first && x->last == m->last;
}

static void oracle_byte(struct oracle *o, u32 place, u32 b, struct oracle_access m)
{
    if (o->racy[place][b]) return;
    u32 n = o->hist[place][b].n;
    for (u32 k = n; k-- > 0 && !m.write && k + 64 > n && !o->hist[place][b].a[k].write;)
        if (oracle_again(&o->hist[place][b].a[k], &m)) return;
    for (u32 k = 0; k < n; k++)
        if (!oracle_silent(o, &o->hist[place][b].a[k], &m)) {
            o->racy[place][b] = 1;
            return;
        }
    if (n == o->hist[place][b].cap) {
        o->hist[place][b].cap = n ? 2 * n : 8;
        o->hist[place][b].a = realloc(o->hist[place][b].a, sizeof m * o->hist[place][b].cap);
    }
    o->hist[place][b].a[o->hist[place][b].n++] = m;
}

/* A write to these bytes: what was there can no longer be read, but for a location of this very extent. */
static void oracle_overwrite(struct oracle *o, u32 place, u32 at, u32 bytes, u32 keep)
{
    for (u32 b = at < 16 ? 0 : at - 16; b < at + bytes; b++) {
        struct oracle_loc *l = &o->loc[place][b];
        if (l->size && b + l->size > at && !(b == at && l->size == keep)) l->size = 0;
    }
}

static struct oracle_loc *oracle_location(struct oracle *o, u32 place, u32 at, u32 size)
{
    struct oracle_loc *l = &o->loc[place][at];
    if (l->size == size) return l;
    *l = (struct oracle_loc){ .size = (u8)size, .id = ++o->ids };
    if (o->ids >= ORACLE_IDS) abort();
    return l;
}

static struct oracle_pattern *oracle_pattern(struct oracle *o, struct oracle_loc *l, u32 t)
{
    for (struct oracle_pattern *p = l->pattern; p; p = p->next)
        if (p->thread == t) return p;
    struct oracle_pattern *p = calloc(1, sizeof *p);
    if (!p) abort();
    *p = (struct oracle_pattern){ .thread = t, .next = l->pattern, .all = o->patterns };
    return l->pattern = o->patterns = p;
}

static void oracle_read(struct oracle *o, u32 t, struct oracle_loc *l, u32 sem, bool wide, bool rmw)
{
    struct oracle_thread *x = &o->t[t];
    u32 cta = t / o->block, how = sem << 1 | wide;
    if (x->read_id == l->id && x->read_writes == l->writes && x->read_how == how && !(rmw && o->weak)) return;
    x->read_id = l->id;
    x->read_writes = l->writes;
    x->read_how = how;
    by_scope_join(o, &x->sc_clock, &l->sc_clock);
    if (l->cta == cta || (l->wide && wide)) dense_writes(&x->now, l->id, l->writes);
    struct oracle_pattern *p = oracle_pattern(o, l, t);
    if (sem == SEM_ACQUIRE || sem == SEM_ACQ_REL) {
        by_scope_acquire(o, &l->released, cta, wide, &x->now);
        for (u32 mine = 0; mine < 2; mine++) by_scope_acquire(o, &p->read[mine], cta, mine && wide, &x->now);
    } else {
        by_scope_join(o, &p->read[wide], &l->released);
        by_scope_join(o, &x->pending[wide], &l->released);
        if (o->weak && rmw && wide && !x->rmw) x->rmw = dense_new(o);
        if (o->weak && rmw && wide) by_scope_acquire(o, &l->released, cta, true, x->rmw);
    }
}

static void oracle_wrote(struct oracle *o, u32 t, struct oracle_loc *l, u32 sem, bool wide)
{
    struct oracle_thread *x = &o->t[t];
    u32 cta = t / o->block;
    l->cta = (u16)cta;
    l->wide = wide;
    l->writes++;
    struct oracle_pattern *p = oracle_pattern(o, l, t);
    if (sem == SEM_RELEASE || sem == SEM_ACQ_REL) {
        by_scope_release(o, &l->released, cta, wide, &x->now);
        p->released[0] = dense_copy(o, &x->now);
        if (wide) p->released[1] = p->released[0];
        x->now.thread[t]++;
    } else {
        if (p->released[0]) by_scope_release(o, &l->released, cta, false, p->released[0]);
        if (p->released[1]) by_scope_release(o, &l->released, cta, wide, p->released[1]);
        if (x->fence) by_scope_release(o, &l->released, cta, false, x->fence);
        if (x->fence_gpu) by_scope_release(o, &l->released, cta, wide, x->fence_gpu);
    }
}

/* R2b, by causality alone: that a read has seen a write orders nothing. */
static void oracle_volatile(struct oracle *o, u32 place, struct oracle_access m)
{
    const struct dense_clock *v = &o->t[m.thread].now;
    u32 n = o->volatiles[place][m.start].n;
    bool again = false;
    if (o->volatile_racy[place][m.start]) return;
    for (u32 k = 0; k < n; k++) {
        const struct oracle_access *x = &o->volatiles[place][m.start].a[k];
        if (x->end != m.end || x->instance == m.instance) continue;
        again |= x->thread == m.thread && x->clock == m.clock && x->write == m.write;
        if ((x->write || m.write) && x->thread != m.thread && x->clock > v->thread[x->thread])
            o->volatile_racy[place][m.start] = 1;
    }
    if (again) return; /* a poll: no need to keep it twice */
    if (n == o->volatiles[place][m.start].cap) {
        o->volatiles[place][m.start].cap = n ? 2 * n : 8;
        o->volatiles[place][m.start].a = realloc(o->volatiles[place][m.start].a,
                                                 sizeof m * o->volatiles[place][m.start].cap);
    }
    o->volatiles[place][m.start].a[o->volatiles[place][m.start].n++] = m;
}

static void oracle_element(struct oracle *o, const struct access *a, u32 t, u32 place, struct oracle_access m)
{
    const struct site *s = a->site;
    bool rmw = site_is_atomic(s);
    u32 sem = s->sem == SEM_ACQUIRE || s->sem == SEM_RELEASE || s->sem == SEM_ACQ_REL ? s->sem : SEM_RELAXED;
    bool reads = site_is_load(s) || (site_fetches(s) && (sem != SEM_RELAXED || o->read));
    if (m.strong && reads && o->loc[place][m.start].size == s->width)
        oracle_read(o, t, &o->loc[place][m.start], sem, m.wide, rmw);
    if (m.write) oracle_overwrite(o, place, m.start, s->width, m.strong ? s->width : 0);
    struct oracle_loc *l = m.strong && m.write ? oracle_location(o, place, m.start, s->width) : NULL;
    if (l) {
        if (!rmw) {
            memset(&l->released, 0, sizeof l->released);
            memset(&l->sc_clock, 0, sizeof l->sc_clock);
        }
        by_scope_join(o, &l->sc_clock, &o->t[t].sc_clock);
        m.id = l->id;
        m.number = (u16)l->writes;
    }
    m.clock = o->t[t].now.thread[t];
    for (u32 b = m.start; b < m.end; b++) oracle_byte(o, place, b, m);
    if (s->sem == SEM_VOLATILE && !rmw) oracle_volatile(o, place, m);
    if (l) oracle_wrote(o, t, l, sem, m.wide);
}

static u32 oracle_place(const struct oracle *o, const struct access *a, u32 lane, u64 *at)
{
    if (a->space[lane] == SP_SHARED) {
        *at = a->addr[lane];
        return ORACLE_BUFFERS + oracle_cta(o, a->warp->cta);
    }
    u32 k = a->addr[lane] - o->base[0] < ORACLE_BYTES ? 0 : 1;
    *at = a->addr[lane] - o->base[k];
    if (*at >= ORACLE_BYTES) abort();
    return k;
}

/* Lanes of one instruction that arrive are in the phase that they complete. */
static void oracle_mbarrier_arrive(struct oracle *o, const struct access *a, u32 lane)
{
    u64 at;
    u32 place = oracle_place(o, a, lane, &at), t = oracle_thread(o, a->warp, lane);
    struct oracle_loc *l = oracle_location(o, place, (u32)at, 8);
    bool relaxed = a->warp->code->low->op[a->insn->op].aux & MBAR_RELAXED;
    if (!l->arrived) l->arrived = dense_new(o);
    oracle_join(o, l->arrived, relaxed ? o->t[t].fence : &o->t[t].now);
    by_scope_join(o, &l->sc_clock, &o->t[t].sc_clock);
    if (!relaxed) o->t[t].now.thread[t]++;
}

static void oracle_mbarrier(struct oracle *o, const struct access *a, u32 t, u32 lane, const struct lop *op)
{
    u64 at, word;
    u32 place = oracle_place(o, a, lane, &at), truth;
    bool makes = op->flags & (ISA_MBAR_INIT | ISA_MBAR_INVAL), waits = op->flags & ISA_MBAR_WAIT;
    struct oracle_access m = { .thread = (u16)t,
                               .write = !waits,
                               .strong = !makes,
                               .start = (u16)at,
                               .end = (u16)(at + 8),
                               .first = (u16)at,
                               .last = (u16)(at + 8),
                               .instance = o->instance };
    struct oracle_thread *x = &o->t[t];
    memcpy(&word, a->ptr[lane], 8);
    memcpy(&truth, SLOT(a->warp->R, a->insn->d), 4);
    struct oracle_loc *l = oracle_location(o, place, (u32)at, 8);
    if (makes) {
        memset(&l->sc_clock, 0, sizeof l->sc_clock);
        l->arrived = l->done = NULL;
        l->phase = 0;
    }
    if (!makes && word >> 40 != l->phase) {
        l->phase = word >> 40;
        if (!l->done) l->done = dense_new(o);
        oracle_join(o, l->done, l->arrived);
        l->arrived = NULL;
    }
    if (waits && truth >> lane & 1) {
        if (!(op->aux & MBAR_RELAXED))
            oracle_join(o, &x->now, l->done);
        else if (l->done)
            by_scope_release(o, &x->pending[0], t / o->block, false, l->done);
        by_scope_join(o, &x->sc_clock, &l->sc_clock);
    }
    m.clock = x->now.thread[t];
    for (u32 b = m.start; b < m.end; b++) oracle_byte(o, place, b, m);
}

static void oracle_lane(struct oracle *o, const struct access *a, u32 lane)
{
    const struct site *s = a->site;
    const struct lop *op = &a->warp->code->low->op[a->insn->op];
    u32 t = oracle_thread(o, a->warp, lane);
    u64 at;
    bool plain = op->flags & ISA_ACCESS, copy = op->flags & ISA_COPY;
    if (op->flags & ISA_MBARRIER) {
        oracle_mbarrier(o, a, t, lane, op);
        return;
    }
    u32 place = oracle_place(o, a, lane, &at);
    bool atomic = lop_is_atomic(op), write = copy ? !s->which : a->wrote >> lane & 1;
    struct oracle_access m = { .thread = (u16)t,
                               .write = write,
                               .strong = plain && (atomic || s->sem != SEM_WEAK),
                               .wide = is_wide(s->scope),
                               .in_flight = copy && write,
                               .first = (u16)at,
                               .last = (u16)(at + a->bytes),
                               .instance = o->instance };
    u32 each = plain ? s->width : a->bytes;
    for (u32 k = 0; k < a->bytes; k += each) {
        m.start = (u16)(at + k);
        m.end = (u16)(at + k + each);
        if (plain) {
            oracle_element(o, a, t, place, m);
            continue;
        }
        m.clock = o->t[t].now.thread[t];
        for (u32 b = m.start; b < m.end; b++) oracle_byte(o, place, b, m);
    }
}

static bool result_read(const struct lowered *l, const struct lop *atom)
{
    if (!lop_fetches(atom)) return false;
    EACH_DEF (d, atom) {
        for (u32 k = 0; k < l->nop; k++)
            EACH_USE (r, &l->op[k]) {
                if (r == d) return true;
            }
    }
    return false;
}

static void oracle_touch(void *self, const struct access *a)
{
    struct oracle *o = self;
    lock(&o->lock);
    o->instance++;
    o->read = result_read(a->warp->code->low, &a->warp->code->low->op[a->insn->op]);
    bool arrive = a->warp->code->low->op[a->insn->op].flags & ISA_MBAR_ARRIVE;
    for (u32 l = 0; l < LANES && arrive; l++)
        if (a->ok >> l & 1) oracle_mbarrier_arrive(o, a, l);
    for (u32 l = 0; l < LANES; l++)
        if (a->ok >> l & 1) oracle_lane(o, a, l);
    unlock(&o->lock);
}

/* A copy is done: from now on it is a write of its thread. */
static void oracle_copied(void *self, const struct warp *w, u32 lane, const char *to, u32 bytes)
{
    struct oracle *o = self;
    lock(&o->lock);
    u32 t = oracle_thread(o, w, lane), place = ORACLE_BUFFERS + oracle_cta(o, w->cta), at = (u32)(to - w->shared);
    for (u32 b = at; b < at + bytes; b++)
        for (u32 n = 0; n < o->hist[place][b].n; n++) {
            struct oracle_access *x = &o->hist[place][b].a[n];
            if (x->in_flight && x->thread == t && x->first == at && x->last == at + bytes) {
                x->in_flight = false;
                x->clock = o->t[t].now.thread[t];
            }
        }
    unlock(&o->lock);
}

/* ---- synchronisation ---- */

static void oracle_fence(struct oracle *o, u32 t, bool wide, bool sc)
{
    struct oracle_thread *x = &o->t[t];
    u32 cta = t / o->block;
    for (u32 mine = 0; mine < 2; mine++) by_scope_acquire(o, &x->pending[mine], cta, mine && wide, &x->now);
    if (wide) memset(x->pending, 0, sizeof x->pending); /* behind a narrow one, the next wide one still acquires */
    x->read_id = 0;
    if (sc) {
        by_scope_acquire(o, &x->sc_clock, cta, wide, &x->now);
        by_scope_release(o, &x->sc_clock, cta, wide, &x->now);
    }
    x->fence = dense_copy(o, &x->now);
    if (wide) x->fence_gpu = x->fence;
    x->now.thread[t]++;
}

static void oracle_meet(struct oracle *o, const struct warp *w, u32 mask)
{
    struct dense_clock *all = dense_new(o);
    struct by_scope sc_clock = { 0 };
    for (u32 m = mask; m; m &= m - 1) {
        const struct oracle_thread *x = &o->t[oracle_thread(o, w, (u32)__builtin_ctz(m))];
        oracle_join(o, all, &x->now);
        by_scope_join(o, &sc_clock, &x->sc_clock);
    }
    for (u32 m = mask; m; m &= m - 1) {
        u32 t = oracle_thread(o, w, (u32)__builtin_ctz(m));
        oracle_join(o, &o->t[t].now, all);
        by_scope_join(o, &o->t[t].sc_clock, &sc_clock);
        o->t[t].now.thread[t]++;
    }
}

static void oracle_arrive(struct oracle *o, struct oracle_bar *b, u32 t, bool waits)
{
    if (!b->v) b->v = dense_new(o);
    oracle_join(o, b->v, &o->t[t].now);
    oracle_join(o, b->v, o->t[t].rmw);
    by_scope_join(o, &b->sc_clock, &o->t[t].sc_clock);
    o->t[t].now.thread[t]++;
    b->waits[t % o->block] = waits;
}

static void oracle_pass(struct oracle *o, struct oracle_bar *b, u32 cta)
{
    for (u32 k = 0; k < o->block; k++)
        if (b->waits[k]) {
            oracle_join(o, &o->t[cta * o->block + k].now, b->v);
            by_scope_join(o, &o->t[cta * o->block + k].sc_clock, &b->sc_clock);
        }
    memset(b, 0, sizeof *b);
}

static void oracle_sync(void *self, const struct sync_event *e)
{
    struct oracle *o = self;
    u32 cta = oracle_cta(o, e->cta);
    lock(&o->lock);
    const struct lop *op = e->warp && e->op != NONE ? &e->warp->code->low->op[e->op] : NULL;
    if (e->kind == SYNC_WARP && (op->flags & ISA_WARP_BARRIER || o->weak)) oracle_meet(o, e->warp, e->mask);
    for (u32 l = 0; l < LANES && e->warp; l++) {
        if (!(e->mask >> l & 1)) continue;
        u32 t = oracle_thread(o, e->warp, l);
        if (e->kind == SYNC_FENCE && !(e->id & FENCE_PROXY)) oracle_fence(o, t, is_wide(e->id & 3), e->id & FENCE_SC);
        if (e->kind == SYNC_BARRIER_ARRIVE) oracle_arrive(o, &o->bar[cta][e->id], t, (op->aux & 15) != BAR_ARRIVE);
    }
    if (e->kind == SYNC_BARRIER) oracle_pass(o, &o->bar[cta][e->id], cta);
    unlock(&o->lock);
}
