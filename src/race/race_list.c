/* Lists: sectors whose accesses are remembered one by one, each with all there is to know, because they are strong
 * and of several kinds, or because two of them race.
 *
 * In a simple kernel a list has all that is known of its sector. In others it has writes and strong accesses; weak
 * reads stay with the cell, as sets, until one of them races. */
#include "race/race_slow.h"
#include "race/race_report.h"

/* ---- order ---- */

static u32 lanes_of_byte(const struct list_entry *e, u32 k)
{
    return word_kind(e->a) == WHO_WARP ? e->lanes : 1u << lane_of_byte(e->a, k);
}

static u32 lanes_of_bytes(const struct list_entry *e, u32 bytes)
{
    u32 lanes = 0;
    if (word_es(e->a) >= ES_ONE) return lanes_of_byte(e, 0);
    for (; bytes; bytes &= bytes - 1) lanes |= 1u << lane_of_byte(e->a, (u32)__builtin_ctz(bytes));
    return lanes;
}
static bool many(u32 bytes) { return __builtin_popcount(bytes) > 4; }

/* Every thread of o that touched byte k is before every thread of m that does. */
static bool byte_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space)
{
    for (u32 mine = lanes_of_byte(m, k); mine; mine &= mine - 1)
        for (u32 his = lanes_of_byte(o, k); his; his &= his - 1)
            if (!thread_before(w, (u32)__builtin_ctz(mine), (word_thread(o->a) & ~31u) | (u32)__builtin_ctz(his),
                               word_time(o->a), space, o->id, o->write))
                return false;
    return true;
}

bool race_weakly_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 k, u32 space)
{
    if (o->op & OP_ASYNC) return false;
    for (u32 mine = lanes_of_byte(m, k); mine; mine &= mine - 1)
        for (u32 his = lanes_of_byte(o, k); his; his &= his - 1) {
            u32 lane = (u32)__builtin_ctz(mine), thread = (word_thread(o->a) & ~31u) | (u32)__builtin_ctz(his);
            if (!thread_before(w, lane, thread, word_time(o->a), space, o->id, o->write) &&
                !hb_thread_weak(w, lane, thread, word_time(o->a), o->id, o->write))
                return false;
        }
    return true;
}

bool race_entry_before(struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space)
{
    u32 both = o->bytes & m->bytes;
    if (o->op & OP_ASYNC) return false;
    if (o->a < w->c->lo[space]) return true;
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes);
    if (sets) return word_before(w, o->a, m->a, space); /* a set may go by the name of another warp than ours */
    bool same = word_kind(o->a) == WHO_ONE && word_kind(m->a) == WHO_ONE && !((u32)(o->a ^ m->a) >> 6) &&
                word_time(o->a) >= w->c->start;
    if (same) return true; /* the very same threads, byte for byte */
    if (hb_by_barrier_maybe(w, o->a & ~15ull, m->a & ~15ull, w->c->lo[space]) &&
        (word_time(o->a) < w->cta_base || word_time(o->a) < w->warp_base))
        return true;
    if (w->c->exact && hb_cta_maybe(w->c, o->a)) return true;
    if (w->c->exact && hb_warp_maybe(w, o->a)) return true;
    if (w->c->exact && many(both) &&
        hb_lanes_maybe(w, lanes_of_bytes(m, both), word_warp(o->a), lanes_of_bytes(o, both), word_time(o->a)))
        return true;
    u32 last_o = 0, last_m = 0;
    for (u32 b = both; b; b &= b - 1) {
        u32 k = (u32)__builtin_ctz(b), lo = lanes_of_byte(o, k), lm = lanes_of_byte(m, k);
        if (lo == last_o && lm == last_m) continue; /* the same threads as at the byte before */
        last_o = lo;
        last_m = lm;
        if (!byte_before(w, o, m, k, space)) return false;
    }
    return true;
}

/* ---- lists ---- */

static bool morally_strong(const struct race_warp *w, const struct list_entry *m, const struct list_entry *o)
{
    if (!(m->op & o->op & OP_STRONG) || (o->bytes != m->bytes && o->whole != m->whole)) return false;
    return same_cta(w, o->a) || (m->scope >= SCOPE_GPU && o->scope >= SCOPE_GPU);
}

/* Whatever conflicts with o conflicts with m, and who knows m knows o. (Who has read a strong write knows it and
 * those before it at that location, but neither the reads before it nor writes that another size ended: those were
 * another location's.) */
static bool dominates(const struct race_warp *w, const struct list_entry *m, const struct list_entry *o)
{
    if (o->op & OP_ASYNC) return false;
    if (!(m->op & OP_STRONG)) return m->op & OP_WRITE || !(o->op & OP_WRITE);
    return o->op & OP_STRONG && m->scope <= o->scope && o->bytes == m->bytes && o->whole == m->whole &&
           o->id == m->id && same_cta(w, o->a) && !((m->op ^ o->op) & OP_WRITE) &&
           (!w->c->exact || word_thread(o->a) == word_thread(m->a));
}

enum { LIST_MOST = 4096 };
static void list_add(struct list *l, struct list_entry e)
{
    if (l->n == l->cap) {
        u32 cap = l->cap ? 2 * l->cap : 2;
        if (l->cap < LIST_MOST) {
            l->e = base_need_more(l->e, sizeof *l->e * cap);
            l->cap = cap;
        } else
            memmove(l->e, l->e + 1, sizeof *l->e * --l->n); /* forgets the oldest: that can miss, never lie */
    }
    l->e[l->n++] = e;
    l->touched |= e.bytes;
}

struct reported { /* of an access that races with what is in a list */
    u32 bytes;    /* whose race was reported */
    u32 weak;     /* words that have one which is ordered weakly: reported if there is no other */
    struct {
        struct list_entry o;
        u32 k;
    } first[8]; /* of these */
};

/* Every place where two accesses race: for tests each byte; for the report each element of m once, with one that
 * nothing orders if there is one. */
static void found_all(const struct touch *t, const struct list_entry *o, const struct list_entry *m,
                      struct reported *told)
{
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes),
         every = t->w->c->race->hook != NULL;
    u32 es = word_es(m->a), size = es < ES_ONE ? 1u << es : SECTOR;
    for (u32 b = o->bytes & m->bytes; b; b &= b - 1) {
        u32 k = (u32)__builtin_ctz(b);
        if (!every && told->bytes >> k & 1) continue;
        if (!sets && !(o->op & OP_ASYNC) && byte_before(t->w, o, m, k, t->space)) continue;
        if (!every && t->w->c->exact && race_weakly_before(t->w, o, m, k, t->space)) {
            if (!(told->weak >> k / 4 & 1)) {
                told->first[k / 4].o = *o;
                told->first[k / 4].k = k;
            }
            told->weak |= 1u << k / 4;
            continue;
        }
        race_report(t, o, m, k);
        told->bytes |= bytes_mask(k & ~(size - 1), size);
    }
}

/* Before by a barrier, or made by the same one thread; no clocks asked. */
static bool plainly_before(const struct race_warp *w, const struct list_entry *o, const struct list_entry *m, u32 space)
{
    if (o->a < w->c->lo[space]) return true;
    if (word_slot(o->a) != w->c->slot || word_time(o->a) < w->c->start || word_kind(o->a) == WHO_GRID) return false;
    if (word_time(o->a) < w->cta_base) return true;
    if (word_warp(o->a) != word_warp(m->a) || word_kind(o->a) == WHO_CTA) return false;
    bool same = word_kind(o->a) == word_kind(m->a) && word_lane(o->a) == word_lane(m->a) &&
                word_es(o->a) == word_es(m->a) && o->lanes == m->lanes && word_kind(o->a) == WHO_ONE;
    return word_time(o->a) < w->warp_base || same;
}

/* Checks m against o, which has bytes of it; true: o need not be kept beside m, which stands for both in *kept. */
static bool meet(const struct touch *t, const struct list_entry *o, const struct list_entry *m, struct list_entry *kept,
                 struct reported *told)
{
    struct race_warp *w = t->w;
    bool conflict = (o->op | m->op) & OP_WRITE && !morally_strong(w, m, o),
         superseded = !(o->bytes & ~m->bytes) && dominates(w, m, o);
    bool like = !w->c->exact && o->bytes == m->bytes && o->op == m->op && o->scope == m->scope &&
                o->whole == m->whole && (!(m->op & OP_WRITE) || m->op & OP_STRONG) && !(m->op & OP_ASYNC) &&
                no_common_thread(o->a, m->a);
    if (!conflict && !superseded && !like) return false;
    /* two that do not conflict are compared only to keep the list short: what takes a search of the clocks is not
     * worth that */
    bool hb = conflict || !w->c->exact ? race_entry_before(w, o, m, t->space) : plainly_before(w, o, m, t->space);
    if (!hb && conflict) found_all(t, o, m, told);
    if (!hb && like) {
        kept->a = merge(w, o->a, kept->a);
        kept->lanes = 0;
        if (word_kind(kept->a) != WHO_GRID || race_updates(w->c->launch, t->site)) kept->site = o->site;
        return true;
    }
    return hb && superseded;
}

/* ---- strong accesses that include each other, all of one size ---- */

/* Those of other threads need not be looked at, and a thread that polls counts once: sets (race_set.c), one for each
 * location. */
static struct strong_at *strong_find(struct list *l, const struct list_entry *m)
{
    for (u32 n = 0; n < l->ns; n++) {
        struct strong_at *s = &l->s[n];
        /* reads have no number, and are anyone's */
        if (s->bytes == m->bytes && s->whole == m->whole && (s->id == m->id || !s->id || !m->id)) return s;
    }
    if (l->ns == l->caps) {
        l->caps = l->caps ? 2 * l->caps : 2;
        l->s = base_need_more(l->s, sizeof *l->s * l->caps);
    }
    l->s[l->ns] = (struct strong_at){ m->bytes, m->whole, 0, 0 };
    return &l->s[l->ns++];
}

static void strong_add(const struct touch *t, struct list *l, const struct list_entry *m)
{
    struct strong_at *s = strong_find(l, m);
    l->size = (u32)__builtin_popcount(m->bytes);
    l->strongly |= m->bytes;
    l->latest = MAX_OF(l->latest, word_time(m->a));
    if (m->id) s->id = m->id;
    s->set = set_add_strong(t, s->set, strong_word(m->a, m->scope, m->op & OP_WRITE), m->write);
}

static struct list_entry strong_entry(const struct strong_at *s, const struct member *m)
{
    bool write = m->a & STRONG_WRITE;
    return (struct list_entry){ .a = m->a & ~15ull,
                                .bytes = s->bytes,
                                .whole = s->whole,
                                .site = m->site,
                                .op = (u8)(OP_STRONG | (write ? OP_WRITE : 0)),
                                .scope = (u8)word_scope(m->a),
                                .id = write ? s->id : 0,
                                .write = m->lanes };
}

/* Checks m against those of a location, the first one first. A reference to the set of those that stay. */
static u32 strong_left(const struct touch *t, const struct strong_at *s, const struct list_entry *m,
                       struct list_entry *kept, struct reported *told)
{
    struct notes *n = notes_of(t);
    bool over = m->op == OP_WRITE && !(s->bytes & ~m->bytes); /* it ends those before it */
    u32 count = 0, left = 0, set = 0;
    if (set_known(t, s->set)) {
        if (!over) return s->set;
        set_unref(n, s->set, notes_locked(t->w, t->space));
        return 0;
    }
    struct member *all = base_need(sizeof *all * set_count(n, s->set));
    for (u32 x = s->set; x;) x = set_last(n, x, &all[count++]);
    for (u32 k = count; k-- > 0;) {
        struct list_entry o = strong_entry(s, &all[k]);
        if (!meet(t, &o, m, kept, told))
            left++;
        else
            all[k].mark = 0;
    }
    for (u32 k = count; k-- > 0 && left < count;)
        if (all[k].mark) set = set_with(t, set, &all[k]);
    if (left == count)
        set = s->set;
    else
        set_unref(n, s->set, notes_locked(t->w, t->space));
    base_free(all);
    return set;
}

static void strong_meet(const struct touch *t, struct list *l, const struct list_entry *m, struct list_entry *kept,
                        struct reported *told)
{
    u32 keep = 0;
    if (!(l->strongly & m->bytes) || (m->op == OP_READ && l->latest < t->w->c->grid_base)) return;
    l->strongly = 0;
    for (u32 n = 1; n < l->ns; n++) __builtin_prefetch(set_at(notes_of(t), l->s[n].set));
    for (u32 n = 0; n < l->ns; n++) {
        struct strong_at s = l->s[n];
        if (s.bytes & m->bytes) s.set = strong_left(t, &s, m, kept, told);
        if (!s.set) continue;
        l->strongly |= s.bytes;
        l->s[keep++] = s;
    }
    l->ns = keep;
}

static bool is_peer(const struct touch *t, const struct list *l, const struct list_entry *m)
{
    if (!t->w->c->exact || !(m->op & OP_STRONG) || (t->space == SPACE_GLOBAL && m->scope < SCOPE_GPU)) return false;
    return !l->ns || l->size == (u32)__builtin_popcount(m->bytes);
}

static struct list *list_of(const struct touch *t, const struct cell *c) { return pool_at(&notes_of(t)->list, c->wx); }

/* Checks m against all that is in the list, and takes from it what need not be kept beside m. What stands for m and
 * those like it. */
static struct list_entry list_meet(const struct touch *t, struct list *l, const struct list_entry *m)
{
    struct list_entry kept = *m;
    u32 keep = 0, bytes = 0;
    struct reported told;
    told.bytes = told.weak = 0;
    for (u32 n = 0; n < l->n && l->touched & m->bytes; n++) {
        if (l->e[n].bytes & m->bytes && meet(t, &l->e[n], m, &kept, &told)) continue;
        if (keep != n) l->e[keep] = l->e[n];
        bytes |= l->e[keep++].bytes;
    }
    if (l->touched & m->bytes) {
        l->n = keep;
        l->touched = bytes;
    }
    if (!is_peer(t, l, m)) strong_meet(t, l, m, &kept, &told);
    for (u32 j = told.weak; j; j &= j - 1) {
        u32 k = told.first[__builtin_ctz(j)].k;
        if (!(told.bytes >> k & 1)) race_report(t, &told.first[__builtin_ctz(j)].o, m, k);
    }
    return kept;
}

static void list_access(const struct touch *t, struct cell *c, struct list_entry m)
{
    struct list *l = list_of(t, c);
    bool peer = is_peer(t, l, &m);
    struct list_entry kept = list_meet(t, l, &m);
    if (peer)
        strong_add(t, l, &m);
    else
        list_add(l, kept);
    c->w = (u64)t->w->now << 32 | MIXED | FLAG_LIST;
    /* uniform again */
    if (l->n == 1 && !l->ns && m.op == OP_WRITE && m.bytes == ~0u && word_kind(m.a) == WHO_ONE) {
        pool_give(&notes_of(t)->list, c->wx, notes_locked(t->w, t->space));
        c->w = m.a;
        c->wx = m.site;
        c->r = 0;
    }
}

/* All who have read bytes as members of these sets. More than a list has room for: those that the CTA knows, and then
 * the oldest, are forgotten. */
static void list_sets(struct list *l, const struct touch *t, const struct set_bytes *of, u32 n)
{
    u32 count, over;
    struct list_entry *e = set_entries(notes_of(t), of, n, &count);
    over = l->n + count > LIST_MOST ? l->n + count - LIST_MOST : 0;
    for (u32 k = 0; k < count && over; k++)
        if (set_member_known(t, e[k].a)) {
            e[k].bytes = 0;
            over--;
        }
    for (u32 k = 0; k < count; k++) {
        if (!e[k].bytes) continue;
        if (over)
            over--;
        else
            list_add(l, e[k]);
    }
    base_free(e);
}

static void list_noted(struct list *l, const struct touch *t, u32 x, u32 op)
{
    const struct notes *n = notes_of(t);
    struct set_bytes sets[SECTOR];
    u32 nsets = 0;
    for (u32 k = 0, span; x && k < SECTOR; k += span) {
        struct prior s = element_at(n, x, k);
        span = element_size(x);
        if (!s.a) continue;
        if (op & OP_STRONG) {
            u32 size = 1u << word_es(s.a), first = k & ~(size - 1);
            if (first != k && element_at(n, x, first).a == s.a) continue; /* it stands in each of its elements */
            u32 bytes = bytes_mask(first, size);
            list_add(l, (struct list_entry){ .a = one_word(s.a, op),
                                             .bytes = bytes,
                                             .whole = bytes,
                                             .site = s.site,
                                             .op = (u8)op,
                                             .scope = (u8)word_scope(s.a) });
            continue;
        }
        for (struct prior next;
             k + span < SECTOR && (next = element_at(n, x, k + span)).a == s.a && next.site == s.site;)
            span += element_size(x);
        u32 bytes = bytes_mask(k, span);
        if (word_is_set(s.a))
            sets[nsets++] = (struct set_bytes){ s.site, bytes };
        else
            list_add(l, (struct list_entry){ .a = one_word(s.a, op), .bytes = bytes, .site = s.site, .op = (u8)op });
    }
    if (nsets) list_sets(l, t, sets, nsets);
}

/* What the cell knows of reads goes to the list. */
static void list_reads(struct list *l, const struct touch *t, struct cell *c)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->r >= lo && word_mixed(c->r))
        list_noted(l, t, c->rx, OP_READ);
    else if (c->r >= lo && word_is_set(c->r))
        list_sets(l, t, &(struct set_bytes){ c->rx, ~0u }, 1);
    else if (c->r >= lo)
        list_add(l, (struct list_entry){ .a = c->r, .bytes = ~0u, .site = c->rx, .op = OP_READ });
    cell_drop_reads(t, c, lo);
    c->r = 0;
}

/* What it knows of writes; in a simple kernel all of it. */
static struct list *to_list(const struct touch *t, struct cell *c)
{
    struct notes *n = notes_of(t);
    u64 lo = t->w->c->lo[t->space];
    if (cell_has_list(c, lo)) return list_of(t, c);
    u32 number = pool_take(&n->list, notes_locked(t->w, t->space));
    struct list *l = pool_at(&n->list, number);
    l->n = l->ns = l->touched = l->strongly = l->latest = 0;
    if (c->w >= lo && word_mixed(c->w)) {
        struct write_pair b = write_blocks(t, c, lo);
        list_noted(l, t, b.weak, OP_WRITE);
        list_noted(l, t, b.strong, OP_WRITE | OP_STRONG);
    } else if (c->w >= lo)
        list_add(l, (struct list_entry){ .a = c->w, .bytes = ~0u, .site = c->wx, .op = OP_WRITE });
    cell_drop_writes(t, c, lo);
    c->w = (u64)t->w->now << 32 | MIXED | FLAG_LIST;
    c->wx = number;
    if (!t->w->c->exact) list_reads(l, t, c);
    return l;
}

void list_insert(const struct touch *t, struct cell *c, struct list_entry e) { list_add(to_list(t, c), e); }

void list_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    const struct list_entry m = { me,    bytes,   t->op & OP_STRONG ? t->whole : 0, lanes, t->site, (u8)t->op, t->scope,
                                  t->id, t->write };
    struct list *l = to_list(t, c);
    bool exact = t->w->c->exact;
    if (exact && t->op == OP_READ) {
        list_meet(t, l, &m);
        cell_record_read(t, c, me, bytes, lanes);
        return;
    }
    if (exact && t->op & OP_WRITE && !cell_reads_before(t, c, &m)) list_reads(l, t, c);
    list_access(t, c, m);
}

void list_prefetch(const struct touch *t, const struct cell *c, u32 stage)
{
    if (!cell_has_list(c, t->w->c->lo[SPACE_GLOBAL])) return;
    const struct list *l = pool_at(&t->w->c->launch->notes.list, c->wx);
    if (!stage) {
        __builtin_prefetch(l);
        return;
    }
    __builtin_prefetch(l->e);
    __builtin_prefetch(l->s);
}

/* ---- copies under way ---- */

/* An asynchronous copy has arrived: its bytes were written now, by the thread that issued it. */
void list_copy_done(const struct touch *t, struct cell *c, u32 bytes, u32 lane)
{
    if (!cell_has_list(c, t->w->c->lo[t->space])) return;
    struct list *l = list_of(t, c);
    for (u32 n = 0; n < l->n; n++) {
        struct list_entry *e = &l->e[n];
        if (e->op & OP_ASYNC && !(e->bytes & ~bytes) && word_thread(e->a) == ((u32)t->w->key >> 9 | lane)) {
            e->op &= (u8)~OP_ASYNC;
            e->a = (e->a & 0xffffffffu) | (u64)t->w->now << 32;
        }
    }
}

bool list_last_write(const struct touch *t, struct cell *c, u32 bytes, struct list_entry *old)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->w < lo) return false;
    const struct list *l = to_list(t, c);
    for (u32 n = l->n; n-- > 0;)
        if (l->e[n].op & OP_WRITE && l->e[n].bytes & bytes) {
            *old = l->e[n];
            return true;
        }
    for (u32 n = l->ns; n-- > 0;) {
        struct member m;
        for (u32 x = l->s[n].bytes & bytes ? l->s[n].set : 0; x;) {
            x = set_last(notes_of(t), x, &m);
            if (m.a & STRONG_WRITE) {
                *old = strong_entry(&l->s[n], &m);
                return true;
            }
        }
    }
    return false;
}
