/* The slow half of the cells: accesses that meet a recent access of another thread.
 *
 * A sector is in one of three states, each for writes and for reads: uniform (one access word, or one set of readers), mixed (one for each word,
 * half or byte of it: race_notes.c), or a list (all its recent accesses, exactly; FLAG_LIST in the write word, the read word is 0 then). It goes
 * down this row when it must, and returns to uniform when a whole sector is written in order.
 *
 * In a simple kernel a read of global memory that its CTA had written matters until the next barrier: then whoever of the CTA comes is ordered
 * behind it, and others race with the write as well. So it passes: what was noted of it goes at the barrier, and a byte keeps its writer or
 * its readers, not both. */
#include "check/race_touch.h"

/* ---- order ---- */

/* Does thread's access at `time` happen before what lane of w does now? */
static bool thread_before(struct race_warp *w, u32 lane, u32 thread, u32 time, u32 space, u32 id, u32 write)
{
    const struct race_cta *c = w->c;
    if (time < word_time(c->lo[space])) return true;
    if (thread >> 10 == c->slot && time >= c->start) {
        if (time < c->base) return true;
        if (thread >> 5 == (u32)w->key >> 14 && (time < w->wbase || (thread & 31) == lane)) return true;
    }
    return c->exact && clock_knows(w, lane, thread, time, id, write);
}

/* The same for a set without members (simple kernels), or one thread. */
static bool word_before(struct race_warp *w, u64 old, u64 me, u32 space)
{
    const struct race_cta *c = w->c;
    if (old < c->lo[space]) return true;
    if (word_kind(old) == WHO_ONE && word_kind(me) == WHO_ONE) return thread_before(w, word_lane(me), word_thread(old), word_time(old), space, 0, 0);
    if (word_slot(old) != c->slot || word_time(old) < c->start || word_kind(old) == WHO_GRID) return false;
    if (word_time(old) < c->base) return true;
    return word_kind(old) != WHO_CTA && word_warp(old) == (u32)w->key >> 14 && word_time(old) < w->wbase;
}

static u32 lanes_of_byte(const struct list_entry *e, u32 k) { return word_kind(e->a) == WHO_WARP ? e->lanes : 1u << lane_of_byte(e->a, k); }

/* Every thread of o that touched byte k is before every thread of m that does. */
static bool byte_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space)
{
    for (u32 mine = lanes_of_byte(m, k); mine; mine &= mine - 1)
        for (u32 his = lanes_of_byte(o, k); his; his &= his - 1)
            if (!thread_before(w, (u32)__builtin_ctz(mine), (word_thread(o->a) & ~31u) | (u32)__builtin_ctz(his), word_time(o->a), space, o->id, o->write)) return false;
    return true;
}

bool race_weakly_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space)
{
    if (o->op & OP_ASYNC) return false;
    for (u32 mine = lanes_of_byte(m, k); mine; mine &= mine - 1)
        for (u32 his = lanes_of_byte(o, k); his; his &= his - 1) {
            u32 lane = (u32)__builtin_ctz(mine), thread = (word_thread(o->a) & ~31u) | (u32)__builtin_ctz(his);
            if (!thread_before(w, lane, thread, word_time(o->a), space, o->id, o->write) && !clock_knows_weakly(w, lane, thread, word_time(o->a), o->id, o->write)) return false;
        }
    return true;
}

bool race_entry_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space)
{
    u32 both = o->bytes & m->bytes;
    if (o->op & OP_ASYNC) return false;
    if (o->a < w->c->lo[space]) return true;
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes);
    if (sets) return word_before(w, o->a, m->a, space);         /* a set may go by the name of another warp than ours */
    if (race_past(w, o->a & ~15ull, m->a & ~15ull, w->c->lo[space]) && (word_time(o->a) < w->c->base || word_time(o->a) < w->wbase)) return true;
    if (w->c->exact && clock_cta_knows(w->c, o->a)) return true;
    u32 last_o = 0, last_m = 0;
    for (u32 b = both; b; b &= b - 1) {
        u32 k = (u32)__builtin_ctz(b), lo = lanes_of_byte(o, k), lm = lanes_of_byte(m, k);
        if (lo == last_o && lm == last_m) continue;             /* the same threads as at the byte before */
        last_o = lo; last_m = lm;
        if (!byte_before(w, o, m, k, space)) return false;
    }
    return true;
}

/* ---- lists ---- */

static bool same_cta(const struct race_warp *w, u64 a) { return word_slot(a) == w->c->slot && word_time(a) >= w->c->start && word_kind(a) != WHO_GRID; }

static bool morally_strong(const struct race_warp *w, const struct list_entry *m, const struct list_entry *o)
{
    if (!(m->op & o->op & OP_STRONG) || (o->bytes != m->bytes && o->whole != m->whole)) return false;
    return same_cta(w, o->a) || (m->scope >= SCOPE_GPU && o->scope >= SCOPE_GPU);
}

/* Whatever conflicts with o conflicts with m, and who knows m knows o. (Who has read a strong write knows it and those before it at that location, but
 * neither the reads before it nor writes that another size ended: those were another location's.) */
static bool dominates(const struct race_warp *w, const struct list_entry *m, const struct list_entry *o)
{
    if (o->op & OP_ASYNC) return false;
    if (!(m->op & OP_STRONG)) return m->op & OP_WRITE || !(o->op & OP_WRITE);
    return o->op & OP_STRONG && m->scope <= o->scope && o->bytes == m->bytes && o->whole == m->whole && o->id == m->id && same_cta(w, o->a) && !((m->op ^ o->op) & OP_WRITE) && (!w->c->exact || word_thread(o->a) == word_thread(m->a));
}

enum { LIST_MOST = 4096 };
static void list_add(struct list *l, struct list_entry e)
{
    if (l->n == l->cap) {
        u32 cap = l->cap ? 2 * l->cap : 4;
        if (l->cap < LIST_MOST) { l->e = base_need_more(l->e, sizeof *l->e * cap); l->cap = cap; }
        else memmove(l->e, l->e + 1, sizeof *l->e * --l->n);            /* forgets the oldest: that can miss, never lie */
    }
    l->e[l->n++] = e;
}

/* The set of two concurrent accesses of a simple kernel, with the time of the later one. Within a CTA it goes by the name of the earlier one: the
 * later one may well be the writer to come, who does not race with itself. */
static u64 merge(const struct race_warp *w, u64 old, u64 me)
{
    u32 kind = WHO_WARP;
    if (word_kind(old) == WHO_GRID || word_slot(old) != word_slot(me) || word_time(old) < w->c->start) kind = WHO_GRID;
    else if (word_kind(old) == WHO_CTA || word_warp(old) != word_warp(me)) kind = WHO_CTA;
    kind = MAX_OF(kind, word_kind(me));
    u32 name = (u32)(kind == WHO_GRID ? me : old);
    return (me >> 32 << 32) | (name & ~0x3fu) | (u64)kind << 4;
}

static bool is_list(const struct cell *c, u64 lo) { return c->w >= lo && word_mixed(c->w) && c->w & FLAG_LIST; }

struct told {                   /* of an access that races with what is in a list */
    u32 bytes;                  /* whose race was reported */
    u32 weak;                   /* words that have one which is ordered weakly: reported if there is no other */
    struct { struct list_entry o; u32 k; } first[8];    /* of these */
};

/* Every place where two accesses race: for tests each byte; for the report each element of m once, with one that nothing orders if there is one. */
static void found_all(const struct touch *t, const struct list_entry *o, const struct list_entry *m, struct told *told)
{
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes), every = t->w->c->race->hook != NULL;
    u32 es = word_es(m->a), size = es < ES_ONE ? 1u << es : SECTOR;
    for (u32 b = o->bytes & m->bytes; b; b &= b - 1) {
        u32 k = (u32)__builtin_ctz(b);
        if (!every && told->bytes >> k & 1) continue;
        if (!sets && !(o->op & OP_ASYNC) && byte_before(t->w, o, m, k, t->space)) continue;
        if (!every && t->w->c->exact && race_weakly_before(t->w, o, m, k, t->space)) {
            if (!(told->weak >> k / 4 & 1)) { told->first[k / 4].o = *o; told->first[k / 4].k = k; }
            told->weak |= 1u << k / 4;
            continue;
        }
        race_found(t, o, m, k);
        told->bytes |= (u32)((1ull << size) - 1) << (k & ~(size - 1));
    }
}

/* Before by a barrier, or made by the same one thread; no clocks asked. */
static bool plainly_before(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space)
{
    if (o->a < w->c->lo[space]) return true;
    if (word_slot(o->a) != w->c->slot || word_time(o->a) < w->c->start || word_kind(o->a) == WHO_GRID) return false;
    if (word_time(o->a) < w->c->base) return true;
    if (word_warp(o->a) != word_warp(m->a) || word_kind(o->a) == WHO_CTA) return false;
    bool same = word_kind(o->a) == word_kind(m->a) && word_lane(o->a) == word_lane(m->a) && word_es(o->a) == word_es(m->a) && o->lanes == m->lanes && word_kind(o->a) == WHO_ONE;
    return word_time(o->a) < w->wbase || same;
}

/* No thread has both of them at one byte. */
static bool apart(u64 o, u64 m)
{
    if (word_kind(o) != WHO_ONE || word_kind(m) != WHO_ONE || word_warp(o) != word_warp(m)) return true;
    return word_es(o) == word_es(m) && word_lane(o) != word_lane(m);
}

/* Checks m against o, which has bytes of it; true: o need not be kept beside m, which stands for both in *kept. */
static bool meet(const struct touch *t, const struct list_entry *o, const struct list_entry *m, struct list_entry *kept, struct told *told)
{
    struct race_warp *w = t->w;
    bool conflict = (o->op | m->op) & OP_WRITE && !morally_strong(w, m, o), superseded = !(o->bytes & ~m->bytes) && dominates(w, m, o);
    bool like = !w->c->exact && o->bytes == m->bytes && o->op == m->op && o->scope == m->scope && o->whole == m->whole && (!(m->op & OP_WRITE) || m->op & OP_STRONG) && !(m->op & OP_ASYNC) && apart(o->a, m->a);
    if (!conflict && !superseded && !like) return false;
    /* two that do not conflict are compared only to keep the list short: what takes a search of the clocks is not worth that */
    bool hb = conflict || !w->c->exact ? race_entry_before(w, o, m, t->space) : plainly_before(w, o, m, t->space);
    if (!hb && conflict) found_all(t, o, m, told);
    if (!hb && like) {
        kept->a = merge(w, o->a, kept->a);
        kept->lanes = 0;
        if (word_kind(kept->a) != WHO_GRID) kept->site = o->site;
        return true;
    }
    return hb && superseded;
}

/* Strong accesses that include each other and are of one size: those of other threads need not be looked at, and a thread that polls has one. */
enum { STRONG_MOST = 1024 };

static u32 strong_hash(const struct list *l, const struct list_entry *e)
{
    u64 key = (u64)word_thread(e->a) << 16 | (u64)__builtin_ctz(e->bytes) << 8 | (u64)e->op << 4 | e->scope;
    return (u32)(key * 0x9e3779b97f4a7c15u >> 40) & (2 * l->caps - 1);
}

static void strong_index(struct list *l)
{
    memset(l->index, 0, sizeof *l->index * 2 * l->caps);
    for (u32 n = 0; n < l->ns; n++) {
        u32 k = strong_hash(l, &l->s[n]);
        while (l->index[k]) k = (k + 1) & (2 * l->caps - 1);
        l->index[k] = (u16)(n + 1);
    }
}

static bool strong_grow(struct list *l)
{
    u32 cap = l->caps ? 2 * l->caps : 4;
    if (cap > STRONG_MOST) return false;
    struct list_entry *p = base_need((sizeof *p + 2 * sizeof *l->index) * cap);
    if (l->ns) memcpy(p, l->s, sizeof *p * l->ns);
    base_free(l->s);
    l->s = p; l->caps = cap; l->index = (u16 *)(void *)(p + cap);
    strong_index(l);
    return true;
}

static void strong_add(const struct race_warp *w, struct list *l, struct list_entry m)
{
    l->size = (u32)__builtin_popcount(m.bytes);
    for (u32 k = l->ns ? strong_hash(l, &m) : 0; l->ns && l->index[k]; k = (k + 1) & (2 * l->caps - 1)) {
        struct list_entry *e = &l->s[l->index[k] - 1];
        if (word_thread(e->a) == word_thread(m.a) && same_cta(w, e->a) && e->op == m.op && e->scope == m.scope && e->bytes == m.bytes && e->whole == m.whole && e->id == m.id) { *e = m; return; }
    }
    if (l->ns == l->caps && !strong_grow(l)) {
        memmove(l->s, l->s + l->caps / 2, sizeof *l->s * (l->caps / 2));        /* forgets the oldest: that can miss, never lie */
        l->ns = l->caps / 2;
        strong_index(l);
    }
    u32 k = strong_hash(l, &m);
    while (l->index[k]) k = (k + 1) & (2 * l->caps - 1);
    l->s[l->ns++] = m;
    l->index[k] = (u16)l->ns;
}

static void strong_meet(const struct touch *t, struct list *l, const struct list_entry *m, struct list_entry *kept, struct told *told)
{
    u32 keep = 0;
    for (u32 n = 0; n < l->ns; n++) {
        if (l->s[n].bytes & m->bytes && meet(t, &l->s[n], m, kept, told)) continue;
        if (keep != n) l->s[keep] = l->s[n];
        keep++;
    }
    if (keep == l->ns) return;
    l->ns = keep;
    strong_index(l);
}

static bool is_peer(const struct touch *t, const struct list *l, const struct list_entry *m)
{
    if (!t->w->c->exact || !(m->op & OP_STRONG) || (t->space == SPACE_GLOBAL && m->scope < SCOPE_GPU)) return false;
    return !l->ns || l->size == (u32)__builtin_popcount(m->bytes);
}

static struct list *list_of(const struct touch *t, const struct cell *c) { return pool_at(&notes_of(t)->list, c->wx); }

static void list_access(const struct touch *t, struct cell *c, struct list_entry m)
{
    struct race_warp *w = t->w;
    struct list *l = list_of(t, c);
    struct list_entry kept = m;                 /* m, and those like it */
    u32 keep = 0;
    struct told told;
    told.bytes = told.weak = 0;
    bool peer = is_peer(t, l, &m);
    for (u32 n = 0; n < l->n; n++) {
        if (l->e[n].bytes & m.bytes && meet(t, &l->e[n], &m, &kept, &told)) continue;
        if (keep != n) l->e[keep] = l->e[n];
        keep++;
    }
    l->n = keep;
    if (!peer) strong_meet(t, l, &m, &kept, &told);
    for (u32 j = told.weak; j; j &= j - 1) {
        u32 k = told.first[__builtin_ctz(j)].k;
        if (!(told.bytes >> k & 1)) race_found(t, &told.first[__builtin_ctz(j)].o, &m, k);
    }
    if (peer) strong_add(w, l, m);
    else list_add(l, kept);
    c->w = (u64)w->now << 32 | MIXED | FLAG_LIST;
    if (l->n == 1 && !l->ns && m.op == OP_WRITE && m.bytes == ~0u && word_kind(m.a) == WHO_ONE) {      /* uniform again */
        pool_give(&notes_of(t)->list, c->wx, notes_locked(t->w, t->space));
        c->w = m.a; c->wx = m.site; c->r = 0;
    }
}

/* What stands for a word, as an access of a list: of atomics, es was the size. */
static u64 one_word(u64 a, u32 op) { return op & OP_STRONG ? (a & ~(0x1cull << 4 | 12)) | (u64)ES_ONE << 6 : a & ~12ull; }

/* All who have read bytes as members of these sets. More than a list has room for: those that the CTA knows, and then the oldest, are forgotten. */
static void list_sets(struct list *l, const struct touch *t, const struct reads *of, u32 n)
{
    u32 count, over;
    struct list_entry *e = set_entries(notes_of(t), of, n, &count);
    over = l->n + count > LIST_MOST ? l->n + count - LIST_MOST : 0;
    for (u32 k = 0; k < count && over; k++) if (set_member_known(t, e[k].a)) { e[k].bytes = 0; over--; }
    for (u32 k = 0; k < count; k++) {
        if (!e[k].bytes) continue;
        if (over) over--;
        else list_add(l, e[k]);
    }
    base_free(e);
}

static void list_noted(struct list *l, const struct touch *t, u32 x, u32 op)
{
    const struct notes *n = notes_of(t);
    struct reads sets[SECTOR];
    u32 nsets = 0;
    for (u32 k = 0, span; x && k < SECTOR; k += span) {
        struct seen s = noted_at(n, x, k);
        span = marks_step(x);
        if (!s.a) continue;
        if (op & OP_STRONG) {
            u32 size = 1u << word_es(s.a), first = k & ~(size - 1);
            if (first != k && noted_at(n, x, first).a == s.a) continue;         /* it stands in each of its elements */
            u32 bytes = (u32)((1ull << size) - 1) << first;
            list_add(l, (struct list_entry){ .a = one_word(s.a, op), .bytes = bytes, .whole = bytes, .site = s.site, .op = (u8)op, .scope = (u8)word_scope(s.a) });
            continue;
        }
        for (struct seen next; k + span < SECTOR && (next = noted_at(n, x, k + span)).a == s.a && next.site == s.site;) span += marks_step(x);
        u32 bytes = (u32)((1ull << span) - 1) << k;
        if (word_is_set(s.a)) sets[nsets++] = (struct reads){ s.site, bytes };
        else list_add(l, (struct list_entry){ .a = one_word(s.a, op), .bytes = bytes, .site = s.site, .op = (u8)op });
    }
    if (nsets) list_sets(l, t, sets, nsets);
}

/* Where strong writes were noted: what that is, and what there is of weak ones. */
static struct both *both_of(const struct touch *t, const struct cell *c) { return POOL_AT(&notes_of(t)->both, struct both, c->wx); }
static bool has_both(const struct cell *c, u64 lo) { return c->w >= lo && (c->w & (MIXED | FLAG_ATOMS)) == (MIXED | FLAG_ATOMS); }
static struct both written_by(const struct touch *t, const struct cell *c, u64 lo) { return unlikely(has_both(c, lo)) ? *both_of(t, c) : (struct both){ c->wx, 0 }; }

/* What was noted of a mixed sector is of no use any more: of writes, of reads. */
static void drop_writes(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->w < lo || !word_mixed(c->w)) return;
    struct both b = written_by(t, c, lo);
    marks_drop(t, b.writes); marks_drop(t, b.atoms);
    if (c->w & FLAG_ATOMS) pool_give(&notes_of(t)->both, c->wx, notes_locked(t->w, t->space));
}
static void drop_reads(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->r >= lo && word_mixed(c->r)) marks_drop(t, c->rx);
    if (c->r >= lo && word_is_set(c->r)) set_release(notes_of(t), c->rx, notes_locked(t->w, t->space));
}

/* All that the cell knows goes to a list. */
static struct list *to_list(const struct touch *t, struct cell *c)
{
    struct notes *n = notes_of(t);
    u64 lo = t->w->c->lo[t->space];
    if (is_list(c, lo)) return list_of(t, c);
    u32 number = pool_take(&n->list, notes_locked(t->w, t->space));
    struct list *l = pool_at(&n->list, number);
    l->n = l->ns = 0;
    if (l->caps) strong_index(l);
    if (c->w >= lo && word_mixed(c->w)) {
        struct both b = written_by(t, c, lo);
        list_noted(l, t, b.writes, OP_WRITE);
        list_noted(l, t, b.atoms, OP_WRITE | OP_STRONG);
    } else if (c->w >= lo) list_add(l, (struct list_entry){ .a = c->w, .bytes = ~0u, .site = c->wx, .op = OP_WRITE });
    if (c->r >= lo && word_mixed(c->r)) list_noted(l, t, c->rx, OP_READ);
    else if (c->r >= lo && word_is_set(c->r)) list_sets(l, t, &(struct reads){ c->rx, ~0u }, 1);
    else if (c->r >= lo) list_add(l, (struct list_entry){ .a = c->r, .bytes = ~0u, .site = c->rx, .op = OP_READ });
    drop_writes(t, c, lo); drop_reads(t, c, lo);
    c->w = (u64)t->w->now << 32 | MIXED | FLAG_LIST;
    c->wx = number; c->r = 0;
    return l;
}

void race_plant(const struct touch *t, struct cell *c, struct list_entry e) { list_add(to_list(t, c), e); }

static void list_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    to_list(t, c);
    list_access(t, c, (struct list_entry){ me, bytes, t->op & OP_STRONG ? t->whole : 0, lanes, t->site, (u8)t->op, t->scope, t->id, t->write });
}

/* ---- words, halves, bytes ---- */

/* What a uniform sector says of its byte k. */
static u64 at_byte(u64 a, u32 k)
{
    if (word_es(a) >= ES_ONE || word_kind(a) != WHO_ONE) return a;
    return (a & ~(0xffull << 6)) | (u64)lane_of_byte(a, k) << 9 | (u64)ES_ONE << 6;
}

static u32 uniform_step(u64 a) { return word_kind(a) == WHO_ONE && word_es(a) < 2 ? 1u << word_es(a) : 4; }

/* Bytes that have the same access of one kind: the size of such an element. */
static u32 step_of(u64 word, u32 x, u64 lo) { return word < lo ? 4 : !word_mixed(word) ? uniform_step(word) : x ? marks_step(x) : 4; }
static u32 fine_step(const struct touch *t, const struct cell *c, u32 first, u32 size, u64 lo)
{
    struct both b = written_by(t, c, lo);
    u32 step = (first | size) & 1 ? 1 : (first | size) & 2 ? 2 : 4, w = step_of(c->w, b.writes, lo), r = step_of(c->r, c->rx, lo), a = b.atoms ? marks_step(b.atoms) : 4;
    step = MIN_OF(step, w); r = MIN_OF(r, a);
    return MIN_OF(step, r);
}
static inline u32 cell_step(const struct touch *t, const struct cell *c, u32 first, u32 size, u64 lo)
{
    return likely(!(((c->w | c->r) & FLAG_FINE) | ((first | size) & 3)) && (c->w < lo || word_es(c->w) >= 2) && (c->r < lo || word_es(c->r) >= 2)) ? 4 : fine_step(t, c, first, size, lo);
}

static u64 fine(u32 x) { return x && marks_step(x) < 4 ? FLAG_FINE : 0; }

/* The same as note_down, quick for the words of shared memory. */
static inline void down(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site)
{
    if (size != 4 || !*x || *x >> FORM_SHIFT != FORM_WIDE || t->w->c->exact) { note_down(t, x, first, size, a, site); return; }
    struct words *w = POOL_AT(&notes_of(t)->form[FORM_WIDE], struct words, *x);
    w->a[first / 4] = a; w->site[first / 4] = site;
}

/* What is noted of one kind of access has elements of its own from now on. */
static void split(const struct touch *t, u64 *uniform, u32 *x, u64 lo)
{
    u64 was = *uniform;
    u32 site = *x, step = uniform_step(was);
    if (was >= lo && word_mixed(was)) return;
    *x = 0;
    for (u32 k = 0; was >= lo && k < SECTOR; k += step) down(t, x, k, step, at_byte(was, k), site);
    if (was >= lo && word_is_set(was)) set_release(notes_of(t), site, notes_locked(t->w, t->space));
    *uniform = (u64)t->w->now << 32 | MIXED | fine(*x);
}

static struct seen seen_at(const struct touch *t, u64 uniform, u32 x, u32 k, u64 lo)
{
    if (uniform < lo) return (struct seen){ 0, 0, 0 };
    if (!word_mixed(uniform)) return (struct seen){ at_byte(uniform, k), x, 0 };
    return noted_at(notes_of(t), x, k);
}

struct piece { u32 first, size, told; };        /* bytes of the sector that one thread, or set, touches; the last of them whose race was reported, +1 */

/* Races at bytes k .. k + step - 1 of the piece: reported once for each word of it, for tests at each byte. */
static void found_piece(const struct touch *t, struct seen old, u32 old_op, u64 me, u32 lanes, struct piece *p, u32 k, u32 step)
{
    u32 size = old_op & OP_STRONG ? 1u << word_es(old.a) : step, his = (u32)((1ull << size) - 1) << (k & ~(size - 1)), mine = t->op & OP_STRONG ? t->whole : (u32)((1ull << p->size) - 1) << p->first;
    struct list_entry o = { .a = one_word(old.a, old_op), .bytes = his, .whole = his, .site = old.site, .op = (u8)old_op, .scope = (u8)word_scope(old.a) };
    struct list_entry m = { .a = me, .bytes = mine, .whole = mine, .lanes = lanes, .site = t->site, .op = (u8)t->op, .scope = t->scope };
    if (unlikely(t->w->c->race->hook != NULL)) { for (u32 b = k; b < k + step; b++) race_found(t, &o, &m, b); return; }
    if (k / 4 + 1 > p->told) race_found(t, &o, &m, k);
    p->told = k / 4 + 1;
}

/* The sector was written in this launch, and is read: what is noted of that passes. */
static void passes(const struct touch *t, struct cell *c, u64 lo)
{
    struct race_cta *k = t->w->c;
    if (t->space == SPACE_SHARED || k->exact || c->w < lo) return;
    race_passing(k, c, t->at);
}

static inline void read_down(const struct touch *t, struct cell *c, u32 k, u32 step, struct seen or, u64 me, bool after)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    if (!after && race_in_set(w, or.a, me)) return;
    if (c->r < lo || !word_mixed(c->r)) { split(t, &c->r, &c->rx, lo); passes(t, c, lo); }
    u64 a = after ? me : merge(w, or.a, me);
    down(t, &c->rx, k, step, a, after || word_kind(a) == WHO_GRID ? t->site : or.site);
    c->r = (u64)w->now << 32 | MIXED | fine(c->rx);      /* by whom, the notes say */
}

static inline void write_down(const struct touch *t, struct cell *c, const struct piece *p, u64 me, bool after_reads)
{
    u64 lo = t->w->c->lo[t->space];
    split(t, &c->w, &c->wx, lo);
    u32 *x = unlikely(has_both(c, lo)) ? &both_of(t, c)->writes : &c->wx;
    down(t, x, p->first, p->size, me, t->site);
    c->w |= fine(*x);
    if (after_reads && c->r >= lo && word_mixed(c->r) && c->rx && note_clear(t, c->rx, p->first, p->size)) { drop_reads(t, c, lo); c->r = 0; }
}

/* What was seen is before m. */
static bool seen_before(const struct touch *t, struct seen s, const struct list_entry *m)
{
    if (!s.a || (word_is_set(s.a) && set_known(t, s.site))) return true;
    const struct notes *n = notes_of(t);
    struct list_entry o = { .a = s.a & ~12ull, .bytes = m->bytes };
    if (!word_is_set(s.a)) return race_entry_before(t->w, &o, m, t->space);
    struct member r;
    for (u32 x = s.site; x;) {
        x = set_last(n, x, &r);
        o.a = r.a; o.lanes = r.lanes;
        if (!race_entry_before(t->w, &o, m, t->space)) return false;
    }
    return true;
}

/* One reader is before `me`, for all that a look tells: who is wrongly taken for one that is not stays beside `me`, and does no harm. */
static bool plainly_read(const struct touch *t, u64 old, u64 me)
{
    if (set_member_known(t, old)) return true;
    if (word_warp(old) != word_warp(me) || word_time(old) < t->w->c->start) return false;
    return word_time(old) < t->w->wbase || (word_kind(me) == WHO_ONE && word_lane(old) == word_lane(me));
}

/* The thread that has byte k, named as lanes side by side are named: if its neighbours have the other bytes, one word says it of all of them. */
static u64 as_run(u64 a, u32 k, u32 es) { return es >= ES_ONE ? a : (a & ~(0xffull << 6)) | (u64)((word_lane(a) - (k >> es)) & 31) << 9 | (u64)es << 6; }

/* One more reader of bytes k .. k + step - 1, in a kernel that is not simple. */
static void read_also(const struct touch *t, struct cell *c, u32 k, u32 step, struct seen or, const struct list_entry *m)
{
    u64 lo = t->w->c->lo[t->space], me = at_byte(m->a, k);
    struct notes *n = notes_of(t);
    if (word_is_set(or.a) && set_has(n, or.site, m->a, m->lanes)) return;
    bool one = word_kind(me) == WHO_ONE, after = !word_is_set(or.a) && plainly_read(t, or.a, me);
    if (after && one) { read_down(t, c, k, step, or, me, true); return; }
    if (!word_is_set(or.a)) or.a = as_run(or.a, k, word_es(m->a));
    split(t, &c->r, &c->rx, lo);
    u32 set = set_add(t, after ? (struct seen){ 0, 0, 0 } : or, m->a, m->lanes, c->rx && marks_step(c->rx) == step);
    bool alone = set_count(n, set) == 1 && set_has(n, set, m->a, 0);    /* and not one of several lanes */
    if (one && alone) down(t, &c->rx, k, step, me, t->site);    /* a mark of a note takes less */
    else down(t, &c->rx, k, step, set_word(t->w->now), set);
    set_release(n, set, notes_locked(t->w, t->space));
    c->r = (u64)t->w->now << 32 | MIXED | fine(c->rx);
}

/* touch_piece in a kernel that is not simple; a read may be of several threads, side by side. */
static void touch_exactly(const struct touch *t, struct cell *c, const struct piece *p, u64 me, u32 lanes, u32 step)
{
    u64 lo = t->w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    u32 end = p->first + p->size;
    for (u32 k = p->first; k < end; k += step) {
        struct list_entry m = { .a = me, .bytes = (u32)((1ull << step) - 1) << k, .lanes = lanes };
        struct seen ow = seen_at(t, c->w, c->wx, k, lo), or = seen_at(t, c->r, c->rx, k, lo);
        if (!seen_before(t, ow, &m) || (write && !seen_before(t, or, &m))) {    /* with all its members; of a write nothing is noted yet */
            u32 from = write ? p->first : k;
            list_bytes(t, c, me, (u32)((1ull << (end - from)) - 1) << from, lanes);
            return;
        }
        if (!write) read_also(t, c, k, step, or, &m);
    }
    if (write) write_down(t, c, p, me, true);
}

/* Bytes of the sector by one thread, or read by several lanes; weak. */
static inline void touch_piece(const struct touch *t, struct cell *c, struct piece p, u64 me, u32 lanes, u32 step)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool write = t->op & OP_WRITE, all_after = true;
    u32 end = p.first + p.size;
    if (w->c->exact) { touch_exactly(t, c, &p, me, lanes, step); return; }
    const struct both b = written_by(t, c, lo);
    for (u32 k = p.first; k < end; k += step) {
        struct seen ow = seen_at(t, c->w, b.writes, k, lo), or = seen_at(t, c->r, c->rx, k, lo), oa = noted_at(notes_of(t), b.atoms, k);
        bool after_reads = word_before(w, or.a, me, t->space), after_writes = word_before(w, ow.a, me, t->space), after_atoms = word_before(w, oa.a, me, t->space);
        if (!after_writes) found_piece(t, ow, OP_WRITE, me, lanes, &p, k, step);
        else if (!after_atoms) found_piece(t, oa, OP_WRITE | OP_STRONG, me, lanes, &p, k, step);
        else if (write && !after_reads) found_piece(t, or, OP_READ, me, lanes, &p, k, step);
        if (!write) read_down(t, c, k, step, or, me, after_reads);
        all_after &= after_reads;
    }
    if (write) write_down(t, c, &p, me, all_after);
}

void race_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    bool listed = t->op & (OP_STRONG | OP_ASYNC) || (t->w->c->exact && word_kind(me) != WHO_ONE && t->op & OP_WRITE), runs = t->w->c->exact && !(t->op & OP_WRITE);
    u32 es = word_es(me);
    while (bytes) {
        if (listed || is_list(c, t->w->c->lo[t->space])) { list_bytes(t, c, me, bytes, lanes); return; }
        u32 first = (u32)__builtin_ctz(bytes), rest = bytes >> first, run = rest == ~0u ? SECTOR : (u32)__builtin_ctz(~rest), size = es < ES_ONE && !runs ? MIN_OF(run, 1u << es) : run;
        u32 step = cell_step(t, c, first, size, t->w->c->lo[t->space]), fine = uniform_step(me);
        touch_piece(t, c, (struct piece){ first, size, 0 }, runs ? me : at_byte(me, first), lanes, runs ? MIN_OF(step, fine) : step);
        bytes &= ~((u32)((1ull << size) - 1) << first);
    }
}

/* Word j of the sector: the same. */
void race_word(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes)
{
    u64 lo = t->w->c->lo[t->space];
    bool listed = is_list(c, lo) || (t->w->c->exact && word_kind(me) != WHO_ONE && t->op & OP_WRITE);
    if (unlikely(listed || cell_step(t, c, 0, 4, lo) < 4)) race_bytes(t, c, me, 15u << 4 * j, lanes);
    else touch_piece(t, c, (struct piece){ 4 * j, 4, 0 }, me, lanes, 4);
}

/* Strong writes of a mixed sector are noted from now on. */
static void make_both(const struct touch *t, struct cell *c)
{
    struct pool *p = &notes_of(t)->both;
    u32 n = pool_take(p, notes_locked(t->w, t->space));
    *(struct both *)pool_at(p, n) = (struct both){ .writes = c->wx };
    c->wx = n; c->w |= FLAG_ATOMS;
}

/* A strong write, from byte `first` of the sector on, by one thread of a simple kernel. */
void race_strong(const struct touch *t, struct cell *c, u32 first, u32 size, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    u32 bytes = (u32)((1ull << size) - 1) << first, step = cell_step(t, c, first, size, lo);
    struct piece p = { first, size, 0 };
    bool other = is_list(c, lo);                /* strong writes of another size: neither stands for the other */
    struct both b = written_by(t, c, lo);
    for (u32 k = first; k < first + size && !other; k += step) { u64 a = noted_at(notes_of(t), b.atoms, k).a; other = a && 1u << word_es(a) != size; }
    if (other) { list_bytes(t, c, me, bytes, 0); return; }
    u64 stamp = (me & ~(0x7cull << 2)) | (u64)__builtin_ctz(size) << 6 | (u64)t->scope << 2;
    for (u32 k = first; k < first + size; k += step) {
        struct seen ow = seen_at(t, c->w, b.writes, k, lo), or = seen_at(t, c->r, c->rx, k, lo), oa = noted_at(notes_of(t), b.atoms, k);
        u64 set = stamp;
        bool keep = false, in = race_in_set(w, oa.a, me) && word_kind(oa.a) != WHO_GRID && word_scope(oa.a) <= t->scope;
        if (!in && !word_before(w, oa.a, me, t->space)) {
            u64 m = merge(w, oa.a, me);
            u32 narrow = word_scope(oa.a) < t->scope ? word_scope(oa.a) : t->scope;
            set = (m & ~(0x1cull << 4 | 12)) | (stamp & 0x1cull << 4) | (u64)narrow << 2;
            keep = word_kind(m) == WHO_GRID && word_scope(oa.a) < t->scope;      /* the narrow one is who others race with: the set is named after it */
            if (keep) set = (oa.a & ~(3ull << 4)) | (u64)WHO_GRID << 4;
            if (word_kind(m) == WHO_GRID && narrow < SCOPE_GPU) found_piece(t, oa, OP_WRITE | OP_STRONG, me, 0, &p, k, step);
        } else if (!in && oa.a >= lo && word_scope(oa.a) < t->scope) set = (stamp & ~12ull) | (u64)word_scope(oa.a) << 2;     /* another CTA is ordered after neither */
        if (!word_before(w, ow.a, me, t->space)) found_piece(t, ow, OP_WRITE, me, 0, &p, k, step);
        else if (!word_before(w, or.a, me, t->space)) found_piece(t, or, OP_READ, me, 0, &p, k, step);
        if (in) continue;
        split(t, &c->w, &c->wx, lo);
        if (!(c->w & FLAG_ATOMS)) make_both(t, c);
        down(t, &both_of(t, c)->atoms, k, step, set, keep ? oa.site : t->site);
        b = *both_of(t, c);
        c->w = (u64)w->now << 32 | MIXED | FLAG_ATOMS | fine(b.writes) | fine(b.atoms);
    }
}

/* ---- a whole sector: stay uniform if possible ---- */

static bool all_past(const struct touch *t, u32 x, u64 me, u64 lo)
{
    u32 step = x ? MIN_OF(marks_step(x), uniform_step(me)) : SECTOR;
    bool exact = t->w->c->exact;
    for (u32 k = 0; x && k < SECTOR; k += step) {
        struct seen s = noted_at(notes_of(t), x, k);
        struct list_entry m = { .a = at_byte(me, k), .bytes = (u32)((1ull << step) - 1) << k };
        if (!race_past(t->w, s.a, m.a, lo) && !(exact && word_kind(me) == WHO_ONE && seen_before(t, s, &m))) return false;
    }
    return true;
}

static bool sector_before(const struct touch *t, u64 old, u32 x, u64 me, u64 lo)
{
    if (race_past(t->w, old, me, lo)) return true;
    if (!t->w->c->exact || word_kind(old) != WHO_ONE || word_kind(me) != WHO_ONE) return false;
    struct list_entry m = { .a = me, .bytes = ~0u };
    return seen_before(t, (struct seen){ old, x, 0 }, &m);
}

/* One more reader of the whole sector, in a kernel that is not simple. */
static void sector_also(const struct touch *t, struct cell *c, u64 me)
{
    if (word_is_set(c->r) && set_has(notes_of(t), c->rx, me, 0)) return;
    u32 set = set_add(t, (struct seen){ c->r, c->rx, 0 }, me, 0, true);
    drop_reads(t, c, t->w->c->lo[t->space]);
    c->r = set_word(t->w->now); c->rx = set;
}

void race_sector_slow(const struct touch *t, struct cell *c, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    if (is_list(c, lo)) { list_bytes(t, c, me, ~0u, 0); return; }
    bool wok = c->w < lo || (word_mixed(c->w) ? !(c->w & FLAG_ATOMS) && all_past(t, c->wx, me, lo) : sector_before(t, c->w, c->wx, me, lo));
    if (wok && !write && c->r >= lo && word_is_set(c->r)) { sector_also(t, c, me); return; }
    bool rok = c->r < lo || race_past(w, c->r, me, lo) || (word_mixed(c->r) ? all_past(t, c->rx, me, lo) : sector_before(t, c->r, c->rx, me, lo));
    if (wok && write && rok) {
        drop_writes(t, c, lo);
        c->w = me; c->wx = t->site;
        if (w->c->exact) { drop_reads(t, c, lo); c->r = 0; }
        if (!word_mixed(c->r)) c->r = 0;        /* words of reads stay: past, and soon needed again */
        return;
    }
    if (wok && !write) {
        if (rok) { drop_reads(t, c, lo); c->r = me; c->rx = t->site; return; }
        if (!w->c->exact && !word_mixed(c->r) && apart(c->r, me)) {
            c->r = merge(w, c->r, me);
            if (word_kind(c->r) == WHO_GRID) c->rx = t->site;
            return;
        }
        if (w->c->exact && !word_mixed(c->r)) { sector_also(t, c, me); return; }
    }
    if (w->c->exact && (write || !wok)) { list_bytes(t, c, me, ~0u, 0); return; }
    if (w->c->exact) { race_bytes(t, c, me, ~0u, 0); return; }
    u32 step = uniform_step(me);
    for (u32 k = 0; k < SECTOR; k += step) {
        if (step == 4) race_word(t, c, k / 4, at_byte(me, k), 0);
        else race_bytes(t, c, at_byte(me, k), (u32)((1ull << step) - 1) << k, 0);
    }
    if (!write || is_list(c, lo) || c->w & FLAG_ATOMS) return;
    drop_writes(t, c, lo); drop_reads(t, c, lo);
    c->w = me; c->wx = t->site; c->r = 0;       /* every word is ours now: uniform again */
}

/* An asynchronous copy has arrived: its bytes were written now, by the thread that issued it. */
void race_landed(const struct touch *t, struct cell *c, u32 bytes, u32 lane)
{
    if (!is_list(c, t->w->c->lo[t->space])) return;
    struct list *l = list_of(t, c);
    for (u32 n = 0; n < l->n; n++) {
        struct list_entry *e = &l->e[n];
        if (e->op & OP_ASYNC && !(e->bytes & ~bytes) && word_thread(e->a) == ((u32)t->w->key >> 9 | lane)) {
            e->op &= (u8)~OP_ASYNC;
            e->a = (e->a & 0xffffffffu) | (u64)t->w->now << 32;
        }
    }
}

bool race_written(const struct touch *t, struct cell *c, u32 bytes, struct list_entry *old)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->w < lo) return false;
    const struct list *l = to_list(t, c);
    for (u32 n = l->n; n-- > 0;) if (l->e[n].op & OP_WRITE && l->e[n].bytes & bytes) { *old = l->e[n]; return true; }
    for (u32 n = l->ns; n-- > 0;) if (l->s[n].op & OP_WRITE && l->s[n].bytes & bytes) { *old = l->s[n]; return true; }
    return false;
}

/* ---- reads that pass ---- */

void race_passing(struct race_cta *c, struct cell *cell, u64 at)
{
    if (c->npassing == c->cappassing) {
        u32 cap = c->cappassing ? 2 * c->cappassing : 64;
        c->passing = base_need_more(c->passing, sizeof *c->passing * cap);
        c->cappassing = cap;
    }
    c->passing[c->npassing++] = (struct passing){ cell, at };
}

static bool by_own_past(const struct race_cta *c, u64 a) { return word_slot(a) == c->slot && word_time(a) >= c->start && word_time(a) < c->base && word_kind(a) != WHO_GRID; }

/* Every byte of the sector that was read has been written, and all of that by this CTA before the barrier. */
static bool has_passed(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->w < lo || c->r < lo || c->w & FLAG_LIST || !word_mixed(c->r)) return false;
    u32 step = cell_step(t, c, 0, SECTOR, lo), x = written_by(t, c, lo).writes;
    for (u32 k = 0; k < SECTOR; k += step) {
        u64 r = seen_at(t, c->r, c->rx, k, lo).a;
        if (r && !(by_own_past(t->w->c, r) && by_own_past(t->w->c, seen_at(t, c->w, x, k, lo).a))) return false;
    }
    return true;
}

void race_passed(struct race_cta *c)
{
    struct touch t = { .w = &c->warp[0], .space = SPACE_GLOBAL };
    u64 lo = c->lo[SPACE_GLOBAL];
    for (u32 n = 0; n < c->npassing; n++) {
        struct cell *x = c->passing[n].cell;
        cells_lock(c->race, c->passing[n].at);
        if (has_passed(&t, x, lo)) { drop_reads(&t, x, lo); x->r = 0; }
        cells_unlock(c->race, c->passing[n].at);
    }
    c->npassing = 0;
}
