/* Lists: sectors whose accesses are recorded one by one, each exactly, because they are strong and of several kinds, or
 * because two of them race.
 *
 * A list has two parts. Its entries (struct list_entry) are accesses of any kind, the oldest first. Strong accesses
 * that include each other and have one size do not conflict with each other; they are sets instead, one for each
 * location (struct strong_at), so that a thread that polls a flag counts once.
 *
 * In a simple kernel a list has all that is recorded of its sector. In other kernels it has writes and strong accesses;
 * weak reads stay with the cell, as reader sets, until one of them races.
 *
 * Each access is checked against all recorded ones that share a byte with it (check_pair), which also finds those that
 * need not be kept beside it. Then it is recorded. */
#include "race/race_slow.h"
#include "race/race_report.h"

/* ---- lists ---- */

/* The access a is of one thread, warp or set of this CTA. */
static bool same_cta(const struct race_warp *w, u64 a)
{
    return word_slot(a) == w->c->slot && word_time(a) >= w->c->start && word_kind(a) != WHO_GRID;
}

/* Morally strong (PTX 8.7): both are strong, each includes the other in its scope, and they access the same bytes. */
static bool morally_strong(const struct race_warp *w, const struct list_entry *m, const struct list_entry *o)
{
    if (!(m->op & o->op & OP_STRONG) || (o->bytes != m->bytes && o->whole != m->whole)) return false;
    return same_cta(w, o->a) || (m->scope >= SCOPE_GPU && o->scope >= SCOPE_GPU);
}

/* Whatever conflicts with o conflicts with m, and whoever is ordered after m is ordered after o. (A thread that reads a
 * strong write is ordered after it and after those before it at that location. It is not ordered after the reads before
 * it, nor after writes that one of another size ended: those were at another location.) */
static bool supersedes(const struct race_warp *w, const struct list_entry *m, const struct list_entry *o)
{
    if (o->op & OP_ASYNC) return false;
    if (!(m->op & OP_STRONG)) return m->op & OP_WRITE || !(o->op & OP_WRITE);
    return o->op & OP_STRONG && m->scope <= o->scope && o->bytes == m->bytes && o->whole == m->whole &&
           o->id == m->id && same_cta(w, o->a) && !((m->op ^ o->op) & OP_WRITE) &&
           (!w->c->exact || word_thread(o->a) == word_thread(m->a));
}

enum { LIST_MOST = 4096 }; /* entries */
/* Adds an entry. A full list forgets its oldest one: a race may be missed by that, but none is invented. */
static void list_add(struct list *l, struct list_entry e)
{
    if (l->n == l->cap) {
        u32 cap = l->cap ? 2 * l->cap : 2;
        if (l->cap < LIST_MOST) {
            l->e = base_need_more(l->e, sizeof *l->e * cap);
            l->cap = cap;
        } else
            memmove(l->e, l->e + 1, sizeof *l->e * --l->n);
    }
    l->e[l->n++] = e;
    l->touched |= e.bytes;
    l->ops |= e.op;
}

/* What was reported of the races between one access and a list. */
struct reported {
    u32 bytes; /* of the access, whose race was reported */
    u32 weak;  /* words that have a race which is ordered weakly (R5): reported if they have no other */
    struct {
        struct list_entry o; /* the entry that it races with */
        u32 k;               /* the byte */
    } first[8];              /* the first one of each of these words */
};

/* Reports the races between o and m: for tests each byte, otherwise each element of m once. A race that nothing orders
 * goes before one that is ordered weakly. */
static void report_all(const struct touch *t, const struct list_entry *o, const struct list_entry *m,
                       struct reported *reported)
{
    bool sets = (word_kind(o->a) >= WHO_WARP && !o->lanes) || (word_kind(m->a) >= WHO_WARP && !m->lanes),
         every = t->w->c->race->hook != NULL;
    u32 es = word_es(m->a), size = es < ES_ONE ? 1u << es : SECTOR;
    EACH_SET (k, o->bytes & m->bytes) {
        if (!every && reported->bytes >> k & 1) continue;
        if (!sets && hb_byte(t->w, o, m, k, t->space)) continue;
        if (!every && t->w->c->exact && hb_byte_weak(t->w, o, m, k, t->space)) {
            if (!(reported->weak >> k / 4 & 1)) {
                reported->first[k / 4].o = *o;
                reported->first[k / 4].k = k;
            }
            reported->weak |= 1u << k / 4;
            continue;
        }
        race_report(t, o, m, k);
        reported->bytes |= bytes_mask(k & ~(size - 1), size);
    }
}

/* Checks m against o, with which it shares bytes. true: o need not be kept beside m. *record is what is recorded for m:
 * in a simple kernel it may stand for both, as a set. */
static bool check_pair(const struct touch *t, const struct list_entry *o, const struct list_entry *m,
                       struct list_entry *record, struct reported *reported)
{
    struct race_warp *w = t->w;
    bool conflict = (o->op | m->op) & OP_WRITE && !morally_strong(w, m, o),
         superseded = !(o->bytes & ~m->bytes) && supersedes(w, m, o);
    bool like = !w->c->exact && o->bytes == m->bytes && o->op == m->op && o->scope == m->scope &&
                o->whole == m->whole && (!(m->op & OP_WRITE) || m->op & OP_STRONG) && !(m->op & OP_ASYNC) &&
                no_common_thread(o->a, m->a);
    if (!conflict && !superseded && !like) return false;
    if (conflict && !superseded && !like && !w->c->race->hook && !(o->bytes & m->bytes & ~reported->bytes))
        return false; /* these bytes of m have their race already, and o stays whatever the clocks say */
    /* Two that do not conflict are compared only to keep the list short. That is not worth a search of the clocks. */
    bool hb = conflict || !w->c->exact ? hb_entry(w, o, m, t->space) : hb_entry_maybe(w, o, m, t->space);
    if (!hb && conflict) report_all(t, o, m, reported);
    if (!hb && like) {
        record->a = merge_words(w, o->a, record->a);
        record->lanes = 0;
        if (word_kind(record->a) != WHO_GRID || race_updates(w->c->launch, t->site)) record->site = o->site;
        return true;
    }
    return hb && superseded;
}

/* ---- strong accesses that do not conflict ---- */

/* The location that the strong access m belongs to, a new one if there is none. */
static struct strong_at *strong_location(struct list *l, const struct list_entry *m)
{
    for (u32 n = 0; n < l->ns; n++) {
        struct strong_at *s = &l->s[n];
        /* a read has no id: it belongs to any location of these bytes */
        if (s->bytes == m->bytes && s->whole == m->whole && (s->id == m->id || !s->id || !m->id)) return s;
    }
    NEED_ROOM(l->s, l->ns, l->caps, 2);
    l->s[l->ns] = (struct strong_at){ m->bytes, m->whole, 0, 0 };
    return &l->s[l->ns++];
}

/* Records the strong access m in the set of its location. */
static void strong_record(const struct touch *t, struct list *l, const struct list_entry *m)
{
    if (!l->ns) l->size = (u32)__builtin_popcount(m->bytes); /* else it is the same: is_compatible_strong */
    struct strong_at *s = strong_location(l, m);
    l->strongly |= m->bytes;
    l->latest = MAX_OF(l->latest, word_time(m->a));
    if (m->id) s->id = m->id;
    s->set = set_add_strong(t, s->set, strong_word(m->a, m->scope, m->op & OP_WRITE), m->write);
}

/* A member of the set of a location, as an entry. */
static struct list_entry entry_of_strong(const struct strong_at *s, const struct member *m)
{
    bool write = m->a & STRONG_WRITE;
    return (struct list_entry){ .a = m->a & ~WORD_LOW,
                                .bytes = s->bytes,
                                .whole = s->whole,
                                .site = m->site,
                                .op = (u8)(OP_STRONG | (write ? OP_WRITE : 0)),
                                .scope = (u8)word_scope(m->a),
                                .id = write ? s->id : 0,
                                .write = m->lanes };
}

enum { STRONG_MOST = 4096 }; /* members of a set with which an access is compared: the last ones */

/* Checks m against the accesses of a location, the first one first. Writes are numbered: a weak read is compared only
 * with those after the last one that it is after, because it is after all earlier ones, too. Returns the set of those
 * that stay; takes the reference to the set of s, and gives one. */
static u32 strong_check_location(const struct touch *t, const struct strong_at *s, const struct list_entry *m,
                                 struct list_entry *record, struct reported *reported)
{
    struct notes *n = notes_of(t);
    bool over = m->op == OP_WRITE && !(s->bytes & ~m->bytes); /* a weak write of all their bytes replaces them */
    u32 count = 0, left = 0, set = 0;
    if (hb_set_maybe(t, s->set)) {
        if (!over) return s->set;
        set_unref(n, s->set, notes_locked(t->w, t->space));
        return 0;
    }
    u32 most = MIN_OF(set_count(n, s->set), STRONG_MOST), rest = s->set,
        observed = s->id && t->w->c->exact ? hb_writes_observed(t->w, m, s->id) : 0;
    struct member *all = base_need(sizeof *all * most);
    while (rest && count < most) {
        u32 next = set_last(n, rest, &all[count]);
        if (m->op == OP_READ && all[count].a & STRONG_WRITE && all[count].lanes < observed) break;
        rest = next;
        count++;
    }
    for (u32 k = count; k-- > 0;) {
        struct list_entry o = entry_of_strong(s, &all[k]);
        if (!check_pair(t, &o, m, record, reported))
            left++;
        else
            all[k].mark = 0; /* does not stay */
    }
    if (left == count) {
        base_free(all);
        return s->set;
    }
    if (rest) set_ref(n, rest, notes_locked(t->w, t->space));
    set = rest;
    for (u32 k = count; k-- > 0;)
        if (all[k].mark) set = set_with(t, set, &all[k]);
    set_unref(n, s->set, notes_locked(t->w, t->space));
    base_free(all);
    return set;
}

/* Checks m against the accesses of all locations. */
static void strong_check(const struct touch *t, struct list *l, const struct list_entry *m, struct list_entry *record,
                         struct reported *reported)
{
    u32 keep = 0;
    if (!(l->strongly & m->bytes) || (m->op == OP_READ && hb_grid_maybe(t->w->c, l->latest))) return;
    l->strongly = 0;
    for (u32 n = 1; n < l->ns; n++) __builtin_prefetch(set_at(notes_of(t), l->s[n].set));
    for (u32 n = 0; n < l->ns; n++) {
        struct strong_at s = l->s[n];
        if (s.bytes & m->bytes) s.set = strong_check_location(t, &s, m, record, reported);
        if (!s.set) continue;
        l->strongly |= s.bytes;
        l->s[keep++] = s;
    }
    l->ns = keep;
}

/* m conflicts with no strong access in the sets of the list, and is recorded there as well: all threads are in its
 * scope, and it has their size. */
static bool is_compatible_strong(const struct touch *t, const struct list *l, const struct list_entry *m)
{
    if (!t->w->c->exact || !(m->op & OP_STRONG) || m->op & OP_ASYNC ||
        (t->space == SPACE_GLOBAL && m->scope < SCOPE_GPU))
        return false;
    return !l->ns || l->size == (u32)__builtin_popcount(m->bytes);
}

/* ---- accesses ---- */

static struct list *list_of(const struct touch *t, const struct cell *c) { return pool_at(&notes_of(t)->list, c->wx); }

/* Checks m against all that is in the list, and removes what need not be kept beside m. peer: is_compatible_strong.
 * Returns what is recorded for m. */
static struct list_entry list_check(const struct touch *t, struct list *l, const struct list_entry *m, bool peer)
{
    struct list_entry record = *m;
    u32 keep = 0, bytes = 0;
    /* a strong read beside weak reads: a thread that polls a flag would look at all of them at every turn */
    bool related = l->touched & m->bytes && !(peer && !((m->op | l->ops) & OP_WRITE) && !(l->ops & OP_STRONG));
    struct reported reported;
    reported.bytes = reported.weak = 0;
    for (u32 n = 0; related && n < l->n; n++) {
        if (peer && keep == n && !t->w->c->race->hook && !(m->bytes & ~reported.bytes)) {
            /* Each byte has its race, and m is not recorded here: it need not make room in the list. */
            keep = l->n;
            bytes = l->touched;
            break;
        }
        if (l->e[n].bytes & m->bytes && check_pair(t, &l->e[n], m, &record, &reported)) continue;
        if (keep != n) l->e[keep] = l->e[n];
        bytes |= l->e[keep++].bytes;
    }
    if (related) {
        l->n = keep;
        l->touched = bytes;
    }
    if (!peer) strong_check(t, l, m, &record, &reported);
    EACH_SET (bit, reported.weak) {
        u32 k = reported.first[bit].k;
        if (!(reported.bytes >> k & 1)) race_report(t, &reported.first[bit].o, m, k);
    }
    return record;
}

/* A weak write of the whole sector by one thread a byte, and nothing else. */
static bool list_is_one_write(const struct list *l)
{
    return l->n == 1 && !l->ns && l->e->op == OP_WRITE && l->e->bytes == ~0u && word_kind(l->e->a) == WHO_ONE;
}

/* The sector has one write, and is uniform again. */
static void list_to_cell(const struct touch *t, struct cell *c)
{
    const struct list_entry *e = list_of(t, c)->e;
    c->w = e->a;
    u32 site = e->site;
    pool_give(&notes_of(t)->list, c->wx, notes_locked(t->w, t->space));
    c->wx = site;
}

/* Checks m, and records it. */
static void list_check_and_record(const struct touch *t, struct cell *c, struct list_entry m)
{
    struct list *l = list_of(t, c);
    bool peer = is_compatible_strong(t, l, &m);
    struct list_entry record = list_check(t, l, &m, peer);
    if (peer)
        strong_record(t, l, &m);
    else
        list_add(l, record);
    c->w = (u64)t->w->now << 32 | MIXED | FLAG_LIST;
    if (list_is_one_write(l) && l->e->a == m.a) {
        list_to_cell(t, c);
        c->r = 0;
    }
}

/* Adds the members of reader sets, each with its bytes. A full list drops accesses that happen before everything the
 * CTA does now, then the oldest ones. */
static void list_add_sets(struct list *l, const struct touch *t, const struct set_bytes *of, u32 n)
{
    u32 count, over;
    struct list_entry *e = set_entries(notes_of(t), of, n, &count);
    over = l->n + count > LIST_MOST ? l->n + count - LIST_MOST : 0;
    for (u32 k = 0; k < count && over; k++)
        if (hb_cta_maybe(t->w->c, e[k].a, t->space)) {
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

/* Adds the accesses of element block x. */
static void list_add_elements(struct list *l, const struct touch *t, u32 x, u32 op)
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
            if (first != k && element_at(n, x, first).a == s.a)
                continue; /* an access that covers several elements is in each */
            u32 bytes = bytes_mask(first, size);
            list_add(l, (struct list_entry){ .a = word_of_entry(s.a, op),
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
            list_add(l,
                     (struct list_entry){ .a = word_of_entry(s.a, op), .bytes = bytes, .site = s.site, .op = (u8)op });
    }
    if (nsets) list_add_sets(l, t, sets, nsets);
}

/* Moves the reads of the cell to the list. */
static void list_take_reads(struct list *l, const struct touch *t, struct cell *c)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->r >= lo && word_mixed(c->r))
        list_add_elements(l, t, c->rx, OP_READ);
    else if (c->r >= lo && word_is_set(c->r))
        list_add_sets(l, t, &(struct set_bytes){ c->rx, ~0u }, 1);
    else if (c->r >= lo)
        list_add(l, (struct list_entry){ .a = c->r, .bytes = ~0u, .site = c->rx, .op = OP_READ });
    cell_drop_reads(t, c, lo);
    c->r = 0;
}

/* The list of the cell. If there is none, a new one takes its writes, and in a simple kernel its reads. */
static struct list *cell_to_list(const struct touch *t, struct cell *c)
{
    struct notes *n = notes_of(t);
    u64 lo = t->w->c->lo[t->space];
    if (cell_has_list(c, lo)) return list_of(t, c);
    u32 number = pool_take(&n->list, notes_locked(t->w, t->space));
    struct list *l = pool_at(&n->list, number);
    l->n = l->ns = l->touched = l->ops = l->strongly = l->latest = 0;
    if (c->w >= lo && word_mixed(c->w)) {
        struct write_pair b = write_blocks(t, c, lo);
        list_add_elements(l, t, b.weak, OP_WRITE);
        list_add_elements(l, t, b.strong, OP_WRITE | OP_STRONG);
    } else if (c->w >= lo)
        list_add(l, (struct list_entry){ .a = c->w, .bytes = ~0u, .site = c->wx, .op = OP_WRITE });
    cell_drop_writes(t, c, lo);
    c->w = (u64)t->w->now << 32 | MIXED | FLAG_LIST;
    c->wx = number;
    if (!t->w->c->exact) list_take_reads(l, t, c);
    return l;
}

void list_drop(const struct touch *t, struct cell *c)
{
    struct list *l = list_of(t, c);
    bool locked = notes_locked(t->w, t->space);
    for (u32 n = 0; n < l->ns; n++) set_unref(notes_of(t), l->s[n].set, locked);
    l->ns = 0;
    pool_give(&notes_of(t)->list, c->wx, locked);
}

void list_insert(const struct touch *t, struct cell *c, struct list_entry e) { list_add(cell_to_list(t, c), e); }

/* A strong access that its thread has made before, in a sector that has strong accesses of one size and nothing else:
 * there is nothing to compare with, and it takes the place of the one before. true: that is done. */
static bool list_again(const struct touch *t, const struct cell *c, u64 me, u32 bytes)
{
    u64 lo = t->w->c->lo[t->space];
    if (!t->w->c->exact || (t->op & (OP_STRONG | OP_ASYNC)) != OP_STRONG || !cell_has_list(c, lo) || c->r >= lo ||
        (t->space == SPACE_GLOBAL && t->scope < SCOPE_GPU))
        return false;
    struct list *l = list_of(t, c);
    if (l->touched & bytes) return false;
    for (u32 n = 0; n < l->ns; n++) {
        struct strong_at *s = &l->s[n];
        if (s->bytes != bytes || s->whole != t->whole || (t->id && s->id && s->id != t->id)) continue;
        if ((t->id && !s->id) || !set_again(t, s->set, strong_word(me, t->scope, t->op & OP_WRITE), t->write))
            return false;
        l->latest = MAX_OF(l->latest, word_time(me));
        return true;
    }
    return false;
}

void list_access(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    if (list_again(t, c, me, bytes)) {
        c->w = (u64)t->w->now << 32 | MIXED | FLAG_LIST;
        return;
    }
    const struct list_entry m = { me,    bytes,   t->op & OP_STRONG ? t->whole : 0, lanes, t->site, (u8)t->op, t->scope,
                                  t->id, t->write };
    struct list *l = cell_to_list(t, c);
    bool exact = t->w->c->exact;
    if (exact && t->op == OP_READ) {
        list_check(t, l, &m, false);
        cell_record_read(t, c, me, bytes, lanes);
        return;
    }
    if (exact && t->op & OP_WRITE && !cell_reads_before(t, c, &m)) list_take_reads(l, t, c);
    list_check_and_record(t, c, m);
}

void list_prefetch(const struct touch *t, const struct cell *c, u32 stage)
{
    if (!cell_has_list(c, t->w->c->lo[SPACE_GLOBAL])) return;
    const struct list *l = pool_at(&t->w->c->era->notes.list, c->wx);
    if (!stage) {
        __builtin_prefetch(l);
        return;
    }
    __builtin_prefetch(l->e);
    __builtin_prefetch(l->s);
}

/* ---- asynchronous copies, and the last write ---- */

void list_copy_done(const struct touch *t, struct cell *c, u32 bytes, u32 lane, u64 done)
{
    if (!cell_has_list(c, t->w->c->lo[t->space])) return;
    struct list *l = list_of(t, c);
    for (u32 n = 0; n < l->n; n++) {
        struct list_entry *e = &l->e[n];
        if (e->op & OP_ASYNC && !(e->bytes & ~bytes) && word_thread(e->a) == ((u32)t->w->key >> 9 | lane)) {
            e->op &= (u8)~OP_ASYNC;
            e->a = done | (e->a & WORD_LOW);
        }
    }
    if (list_is_one_write(l)) list_to_cell(t, c);
}

bool list_last_write(const struct touch *t, struct cell *c, u32 bytes, struct list_entry *old)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->w < lo) return false;
    const struct list *l = cell_to_list(t, c);
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
                *old = entry_of_strong(&l->s[n], &m);
                return true;
            }
        }
    }
    return false;
}
