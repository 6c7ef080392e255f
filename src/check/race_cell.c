/* The slow half of the cells: accesses that meet a recent access of another thread.
 *
 * A sector is in one of three states, each for writes and for reads: uniform (one access word), words (one for each of its 8 words), or
 * a list (all its recent accesses, exactly; FLAG_LIST in the write word, the read word is 0 then). It goes down this row when it must,
 * and returns to uniform when a whole sector is written in order. */
#include "check/race.h"

/* ---- numbered things ---- */

bool pool_open(struct pool *p, u32 size, u32 chunks)
{
    *p = (struct pool){ .chunk = base_alloc(sizeof *p->chunk * chunks), .chunks = chunks, .size = size, .lock = LOCK_INIT };
    return p->chunk != NULL;
}

static u32 pool_next(struct pool *p)
{
    if (p->nspare) return p->spare[--p->nspare];
    u32 n = p->n + 1;
    if (n / POOL_CHUNK >= p->chunks) return 0;
    char **c = &p->chunk[n / POOL_CHUNK];
    if (!*c) __atomic_store_n(c, base_need((size_t)POOL_CHUNK * p->size), __ATOMIC_RELEASE);
    return p->n = n;
}

u32 pool_more(struct pool *p, bool locked)
{
    if (locked) lock(&p->lock);
    u32 n = pool_next(p);
    if (locked) unlock(&p->lock);
    return n;
}

static u32 take(const struct touch *t, struct pool *p) { return pool_take(p, t->space == SPACE_GLOBAL && t->w->c->race->many); }

void pool_give(struct pool *p, u32 n, bool locked)
{
    if (!n) return;
    if (locked) lock(&p->lock);
    if (p->nspare == p->capspare) {
        p->capspare = p->capspare ? 2 * p->capspare : 64;
        p->spare = base_need_more(p->spare, sizeof *p->spare * p->capspare);
    }
    p->spare[p->nspare++] = n;
    if (locked) unlock(&p->lock);
}
static void give(const struct touch *t, struct pool *p, u32 n) { pool_give(p, n, t->space == SPACE_GLOBAL && t->w->c->race->many); }

void pool_empty(struct pool *p) { p->n = p->nspare = 0; }

void pool_free(struct pool *p)
{
    for (u32 k = 0; p->chunk && k < p->chunks && p->chunk[k]; k++) base_free(p->chunk[k]);
    base_free(p->chunk); base_free(p->spare);
}

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

/* o is before m on all bytes they share. */
static bool entry_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space)
{
    u32 both = o->bytes & m->bytes;
    if (o->op & OP_ASYNC) return false;
    if (o->a < w->c->lo[space]) return true;
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes);
    if (sets) return word_before(w, o->a, m->a, space);         /* a set may go by the name of another warp than ours */
    if (race_past(w, o->a & ~15ull, m->a & ~15ull, w->c->lo[space]) && (word_time(o->a) < w->c->base || word_time(o->a) < w->wbase)) return true;
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

/* Every place where two accesses race: for tests each byte; for the report each element of m once, the bytes in *told were. */
static void found_all(const struct touch *t, const struct list_entry *o, const struct list_entry *m, u32 *told)
{
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes), every = t->w->c->race->hook != NULL;
    u32 es = word_es(m->a), size = es < ES_ONE ? 1u << es : SECTOR;
    for (u32 b = o->bytes & m->bytes; b; b &= b - 1) {
        u32 k = (u32)__builtin_ctz(b);
        if (!every && *told >> k & 1) continue;
        if (!sets && !(o->op & OP_ASYNC) && byte_before(t->w, o, m, k, t->space)) continue;
        race_found(t, o, m, k);
        *told |= (u32)((1ull << size) - 1) << (k & ~(size - 1));
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

/* Checks m against o; true: o need not be kept beside m, which stands for both in *kept. */
static bool meet(const struct touch *t, const struct list_entry *o, const struct list_entry *m, struct list_entry *kept, u32 *told)
{
    struct race_warp *w = t->w;
    if (!(o->bytes & m->bytes)) return false;
    bool conflict = (o->op | m->op) & OP_WRITE && !morally_strong(w, m, o), superseded = !(o->bytes & ~m->bytes) && dominates(w, m, o);
    bool like = !w->c->exact && o->bytes == m->bytes && o->op == m->op && o->scope == m->scope && o->whole == m->whole && (!(m->op & OP_WRITE) || m->op & OP_STRONG) && !(m->op & OP_ASYNC) && apart(o->a, m->a);
    if (!conflict && !superseded && !like) return false;
    /* two that do not conflict are compared only to keep the list short: what takes a search of the clocks is not worth that */
    bool hb = conflict || !w->c->exact ? entry_before(w, o, m, t->space) : plainly_before(w, o, m, t->space);
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

static void strong_meet(const struct touch *t, struct list *l, const struct list_entry *m, struct list_entry *kept, u32 *told)
{
    u32 keep = 0;
    for (u32 n = 0; n < l->ns; n++) {
        struct list_entry o = l->s[n];
        if (!meet(t, &o, m, kept, told)) l->s[keep++] = o;
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

static void list_access(const struct touch *t, struct cell *c, struct list_entry m)
{
    struct race_warp *w = t->w;
    struct list *l = pool_at(lists_of(t), c->wx);
    struct list_entry kept = m;                 /* m, and those like it */
    u32 keep = 0;
    u32 told = 0;                               /* bytes whose race was reported */
    bool peer = is_peer(t, l, &m);
    for (u32 n = 0; n < l->n; n++) {
        struct list_entry o = l->e[n];
        if (!meet(t, &o, &m, &kept, &told)) l->e[keep++] = o;
    }
    l->n = keep;
    if (peer) strong_add(w, l, m);
    else { strong_meet(t, l, &m, &kept, &told); list_add(l, kept); }
    c->w = (u64)w->c->now << 32 | MIXED | FLAG_LIST;
    if (l->n == 1 && !l->ns && m.op == OP_WRITE && m.bytes == ~0u && word_kind(m.a) == WHO_ONE) {      /* uniform again */
        give(t, lists_of(t), c->wx);
        c->w = m.a; c->wx = m.site; c->r = 0;
    }
}

/* What stands for a word, as an access of a list: of atomics, es was the size. */
static u64 one_word(u64 a, u32 op) { return op & OP_STRONG ? (a & ~(0x1cull << 4 | 12)) | (u64)ES_ONE << 6 : a & ~12ull; }

static void list_words(struct list *l, const struct words *w, u32 op, u64 lo)
{
    for (u32 j = 0; j < 8; j++) {
        if (w->a[j] < lo) continue;
        u32 size = op & OP_STRONG ? 1u << word_es(w->a[j]) : 0;
        u32 span = size > 4 ? size : 4, first = 4 * j & ~(span - 1);
        if (size > 4 && first != 4 * j && w->a[first / 4] == w->a[j]) continue;        /* a wide atomic stands in each of its words */
        u32 bytes = (u32)((1ull << span) - 1) << first;
        list_add(l, (struct list_entry){ .a = one_word(w->a[j], op), .bytes = bytes, .whole = bytes, .site = w->site[j], .op = (u8)op, .scope = (u8)word_scope(w->a[j]) });
    }
}

/* The words of a mixed sector are of no use any more: of writes, of reads. */
static void drop_writes(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->w < lo || !word_mixed(c->w)) return;
    give(t, words_of(t), c->wx);
    if (c->w & FLAG_ATOMS) give(t, words_of(t), c->ax);
}
static void drop_reads(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->r >= lo && word_mixed(c->r)) give(t, words_of(t), c->rx);
}

/* All that the cell knows goes to a list; false: there is no memory for it. */
static bool to_list(const struct touch *t, struct cell *c)
{
    u64 lo = t->w->c->lo[t->space];
    if (is_list(c, lo)) return true;
    u32 n = take(t, lists_of(t));
    if (!n) return false;
    struct list *l = pool_at(lists_of(t), n);
    l->n = l->ns = 0;
    if (l->caps) strong_index(l);
    if (c->w >= lo && word_mixed(c->w)) {
        if (c->wx) list_words(l, pool_at(words_of(t), c->wx), OP_WRITE, lo);
        if (c->w & FLAG_ATOMS) list_words(l, pool_at(words_of(t), c->ax), OP_WRITE | OP_STRONG, lo);
    } else if (c->w >= lo) list_add(l, (struct list_entry){ .a = c->w, .bytes = ~0u, .site = c->wx, .op = OP_WRITE });
    if (c->r >= lo && word_mixed(c->r)) list_words(l, pool_at(words_of(t), c->rx), OP_READ, lo);
    else if (c->r >= lo) list_add(l, (struct list_entry){ .a = c->r, .bytes = ~0u, .site = c->rx, .op = OP_READ });
    drop_writes(t, c, lo); drop_reads(t, c, lo);
    c->w = (u64)t->w->c->now << 32 | MIXED | FLAG_LIST;
    c->wx = n; c->r = 0;
    return true;
}

void race_plant(const struct touch *t, struct cell *c, struct list_entry e)
{
    if (to_list(t, c)) list_add(pool_at(lists_of(t), c->wx), e);
}

void race_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    if (to_list(t, c)) list_access(t, c, (struct list_entry){ me, bytes, t->op & OP_STRONG ? t->whole : 0, lanes, t->site, (u8)t->op, t->scope, t->id, t->write });
}

/* ---- words ---- */

/* What a uniform sector says of its word j; only for es >= 2. */
static u64 word_of(u64 a, u32 j)
{
    if (word_es(a) >= ES_ONE || word_kind(a) != WHO_ONE) return a;
    return (a & ~(0xffull << 6)) | (u64)((word_lane(a) + (4 * j >> word_es(a))) & 31) << 9 | (u64)ES_ONE << 6;
}
static bool below_words(u64 a, u64 lo) { return a >= lo && !word_mixed(a) && word_kind(a) == WHO_ONE && word_es(a) < 2; }

/* The words of one kind of access; NULL: no memory. */
static struct words *split(const struct touch *t, u64 *uniform, u32 *x, u64 lo)
{
    if (*uniform >= lo && word_mixed(*uniform) && *x) return pool_at(words_of(t), *x);
    u32 n = take(t, words_of(t));
    if (!n) return NULL;
    struct words *w = pool_at(words_of(t), n);
    for (u32 j = 0; j < 8; j++) {
        w->a[j] = *uniform >= lo && !word_mixed(*uniform) ? word_of(*uniform, j) : 0;
        w->site[j] = w->a[j] ? *x : 0;
    }
    u64 flags = *uniform >= lo && word_mixed(*uniform) ? *uniform & 3 : 0;
    *uniform = (u64)t->w->c->now << 32 | MIXED | flags;
    *x = n;
    return w;
}

struct seen { u64 a; u32 site; };
static struct seen seen_at(const struct touch *t, u64 uniform, u32 x, u32 j, u64 lo)
{
    if (uniform < lo) return (struct seen){ 0, 0 };
    if (!word_mixed(uniform)) return (struct seen){ word_of(uniform, j), x };
    if (!x) return (struct seen){ 0, 0 };
    const struct words *w = pool_at(words_of(t), x);
    return (struct seen){ w->a[j], w->site[j] };
}
static struct seen atoms_at(const struct touch *t, const struct cell *c, u32 j, u64 lo)
{
    if (c->w < lo || !word_mixed(c->w) || !(c->w & FLAG_ATOMS)) return (struct seen){ 0, 0 };
    const struct words *w = pool_at(words_of(t), c->ax);
    return (struct seen){ w->a[j], w->site[j] };
}

static void found_word(const struct touch *t, struct seen old, u32 old_op, u64 me, u32 lanes, u32 j)
{
    u32 size = old_op & OP_STRONG ? 1u << word_es(old.a) : 4, his = (u32)((1ull << size) - 1) << (4 * j & ~(size - 1)), mine = t->op & OP_STRONG ? t->whole : 15u << 4 * j;
    struct list_entry o = { .a = one_word(old.a, old_op), .bytes = his, .whole = his, .site = old.site, .op = (u8)old_op, .scope = (u8)word_scope(old.a) };
    struct list_entry m = { .a = me, .bytes = mine, .whole = mine, .lanes = lanes, .site = t->site, .op = (u8)t->op, .scope = t->scope };
    race_found(t, &o, &m, 4 * j);
    if (unlikely(t->w->c->race->hook != NULL)) for (u32 k = 1; k < 4; k++) race_found(t, &o, &m, 4 * j + k);
}

/* Word j of the sector by one thread, or read by several lanes; weak. */
void race_word(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool several = word_kind(me) != WHO_ONE;
    if (is_list(c, lo) || below_words(c->w, lo) || below_words(c->r, lo) || (several && w->c->exact)) { race_bytes(t, c, me, 15u << 4 * j, lanes); return; }
    struct seen ow = seen_at(t, c->w, c->wx, j, lo), or = seen_at(t, c->r, c->rx, j, lo), oa = atoms_at(t, c, j, lo);
    bool after_reads = word_before(w, or.a, me, t->space);
    if (!(t->op & OP_WRITE) && !after_reads && w->c->exact) { race_bytes(t, c, me, 15u << 4 * j, lanes); return; }
    if (!word_before(w, ow.a, me, t->space)) found_word(t, ow, OP_WRITE, me, lanes, j);
    else if (!word_before(w, oa.a, me, t->space)) found_word(t, oa, OP_WRITE | OP_STRONG, me, lanes, j);
    else if (t->op & OP_WRITE && !after_reads) found_word(t, or, OP_READ, me, lanes, j);
    if (t->op & OP_WRITE) {
        struct words *x = split(t, &c->w, &c->wx, lo);
        if (x) { x->a[j] = me; x->site[j] = t->site; }
        return;
    }
    if (!after_reads && race_in_set(w, or.a, me)) return;
    struct words *x = split(t, &c->r, &c->rx, lo);
    if (!x) return;
    x->a[j] = after_reads ? me : merge(w, or.a, me);
    if (after_reads || word_kind(x->a[j]) == WHO_GRID) x->site[j] = t->site;
    c->r = (u64)w->c->now << 32 | MIXED;        /* by whom, the words say */
}

/* A strong write of whole words, from byte `first` of the sector on, by one thread of a simple kernel. */
void race_strong(const struct touch *t, struct cell *c, u32 first, u32 size, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    u32 bytes = (u32)((1ull << size) - 1) << first;
    bool other = false;                         /* strong writes of another size: neither stands for the other */
    for (u32 j = first / 4; j < (first + size) / 4; j++) { u64 a = atoms_at(t, c, j, lo).a; other |= a >= lo && 1u << word_es(a) != size; }
    if (is_list(c, lo) || below_words(c->w, lo) || below_words(c->r, lo) || other) { race_bytes(t, c, me, bytes, 0); return; }
    u64 stamp = (me & ~(0x7cull << 2)) | (u64)__builtin_ctz(size) << 6 | (u64)t->scope << 2;
    for (u32 j = first / 4; j < (first + size) / 4; j++) {
        struct seen ow = seen_at(t, c->w, c->wx, j, lo), or = seen_at(t, c->r, c->rx, j, lo), oa = atoms_at(t, c, j, lo);
        u64 set = stamp;
        bool keep = false;
        if (!word_before(w, oa.a, me, t->space)) {
            u64 m = merge(w, oa.a, me);
            u32 narrow = word_scope(oa.a) < t->scope ? word_scope(oa.a) : t->scope;
            set = (m & ~(0x1cull << 4 | 12)) | (stamp & 0x1cull << 4) | (u64)narrow << 2;
            keep = word_kind(m) == WHO_GRID && word_scope(oa.a) < t->scope;      /* the narrow one is who others race with: the set is named after it */
            if (keep) set = (oa.a & ~(3ull << 4)) | (u64)WHO_GRID << 4;
            if (word_kind(m) == WHO_GRID && narrow < SCOPE_GPU) found_word(t, oa, OP_WRITE | OP_STRONG, me, 0, j);
        } else if (oa.a >= lo && word_scope(oa.a) < t->scope) set = (stamp & ~12ull) | (u64)word_scope(oa.a) << 2;     /* another CTA is ordered after neither */
        if (!word_before(w, ow.a, me, t->space)) found_word(t, ow, OP_WRITE, me, 0, j);
        else if (!word_before(w, or.a, me, t->space)) found_word(t, or, OP_READ, me, 0, j);
        if (c->w < lo || !word_mixed(c->w)) {
            if (c->w >= lo) { if (!split(t, &c->w, &c->wx, lo)) return; }
            else { c->w = (u64)w->c->now << 32 | MIXED; c->wx = 0; }
        }
        if (!(c->w & FLAG_ATOMS)) { c->ax = take(t, words_of(t)); if (!c->ax) return; memset(pool_at(words_of(t), c->ax), 0, sizeof(struct words)); }
        struct words *x = pool_at(words_of(t), c->ax);
        x->a[j] = set; x->site[j] = keep ? oa.site : t->site;
        c->w = (u64)w->c->now << 32 | MIXED | FLAG_ATOMS;
    }
}

/* ---- a whole sector: stay uniform if possible ---- */

static bool all_past(const struct touch *t, u32 x, u64 me, u64 lo)
{
    if (word_es(me) < 2 || !x) return !x;
    const struct words *w = pool_at(words_of(t), x);
    for (u32 j = 0; j < 8; j++) if (!race_past(t->w, w->a[j], word_of(me, j), lo)) return false;
    return true;
}

static bool sector_before(const struct touch *t, u64 old, u64 me, u64 lo)
{
    if (race_past(t->w, old, me, lo)) return true;
    if (!t->w->c->exact || word_kind(old) != WHO_ONE || word_kind(me) != WHO_ONE) return false;
    struct list_entry o = { .a = old, .bytes = ~0u }, m = { .a = me, .bytes = ~0u };
    return entry_before(t->w, &o, &m, t->space);
}

void race_sector_slow(const struct touch *t, struct cell *c, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    if (is_list(c, lo)) { race_bytes(t, c, me, ~0u, 0); return; }
    bool wok = c->w < lo || (word_mixed(c->w) ? !(c->w & FLAG_ATOMS) && all_past(t, c->wx, me, lo) : sector_before(t, c->w, me, lo));
    bool rok = c->r < lo || race_past(w, c->r, me, lo) || (word_mixed(c->r) ? all_past(t, c->rx, me, lo) : sector_before(t, c->r, me, lo));
    if (wok && write && rok) {
        drop_writes(t, c, lo);
        c->w = me; c->wx = t->site;
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
    }
    if (w->c->exact || (word_kind(me) == WHO_ONE && word_es(me) < 2)) { race_bytes(t, c, me, ~0u, 0); return; }
    for (u32 j = 0; j < 8; j++) race_word(t, c, j, word_of(me, j), 0);
    if (!write || is_list(c, lo) || c->w & FLAG_ATOMS) return;
    drop_writes(t, c, lo); drop_reads(t, c, lo);
    c->w = me; c->wx = t->site; c->r = 0;       /* every word is ours now: uniform again */
}

/* An asynchronous copy has arrived: its bytes were written now, by the thread that issued it. */
void race_landed(const struct touch *t, struct cell *c, u32 bytes, u32 lane)
{
    if (!is_list(c, t->w->c->lo[t->space])) return;
    struct list *l = pool_at(lists_of(t), c->wx);
    for (u32 n = 0; n < l->n; n++) {
        struct list_entry *e = &l->e[n];
        if (e->op & OP_ASYNC && !(e->bytes & ~bytes) && word_thread(e->a) == ((u32)t->w->key >> 9 | lane)) {
            e->op &= (u8)~OP_ASYNC;
            e->a = (e->a & 0xffffffffu) | (u64)t->w->c->now << 32;
        }
    }
}

bool race_written(const struct touch *t, struct cell *c, u32 bytes, struct list_entry *old)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->w < lo) return false;
    if (!to_list(t, c)) return false;
    const struct list *l = pool_at(lists_of(t), c->wx);
    for (u32 n = l->n; n-- > 0;) if (l->e[n].op & OP_WRITE && l->e[n].bytes & bytes) { *old = l->e[n]; return true; }
    for (u32 n = l->ns; n-- > 0;) if (l->s[n].op & OP_WRITE && l->s[n].bytes & bytes) { *old = l->s[n]; return true; }
    return false;
}
