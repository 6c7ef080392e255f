/* The slow half of the cells: accesses that meet a recent access of another thread.
 *
 * A sector is in one of three states, each for writes and for reads: uniform (one access word, or one set of
 * readers), mixed (one for each word, half or byte of it: race_notes.c), or a list (all its recent accesses, exactly:
 * race_list.c; FLAG_LIST in the write word, and in a simple kernel no read word then). It goes down this row when it
 * must, and returns to uniform when a whole sector is written in order.
 *
 * In a simple kernel a read of global memory that its CTA had written matters until the next barrier: then whoever of
 * the CTA comes is ordered behind it, and others race with the write as well. So it passes: what was noted of it goes
 * at the barrier, and a byte keeps its writer or its readers, not both. */
#include "race/race_slow.h"
#include "race/race_report.h"

/* ---- what is of no use any more ---- */

void cell_drop_writes(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->w < lo || !word_mixed(c->w)) return;
    struct write_pair b = write_blocks(t, c, lo);
    elements_drop(t, b.weak);
    elements_drop(t, b.strong);
    if (c->w & FLAG_PAIR) pool_give(&notes_of(t)->write_pair, c->wx, notes_locked(t->w, t->space));
}

void cell_drop_reads(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->r >= lo && word_mixed(c->r)) elements_drop(t, c->rx);
    if (c->r >= lo && word_is_set(c->r)) set_unref(notes_of(t), c->rx, notes_locked(t->w, t->space));
}

/* ---- words, halves, bytes ---- */

/* Bytes that have the same access of one kind: the size of such an element. */
static u32 step_of(u64 word, u32 x, u64 lo)
{
    return word < lo ? 4 : !word_mixed(word) ? word_element_size(word) : x ? element_size(x) : 4;
}
static u32 fine_step(const struct touch *t, const struct cell *c, u32 first, u32 size, u64 lo)
{
    struct write_pair b = write_blocks(t, c, lo);
    u32 step = granule(first, size), w = step_of(c->w, b.weak, lo), r = step_of(c->r, c->rx, lo),
        a = b.strong ? element_size(b.strong) : 4;
    step = MIN_OF(step, w);
    r = MIN_OF(r, a);
    return MIN_OF(step, r);
}
static inline u32 cell_step(const struct touch *t, const struct cell *c, u32 first, u32 size, u64 lo)
{
    return likely(!(((c->w | c->r) & FLAG_FINE) | ((first | size) & 3)) && (c->w < lo || word_es(c->w) >= 2) &&
                  (c->r < lo || word_es(c->r) >= 2))
               ? 4
               : fine_step(t, c, first, size, lo);
}

static u64 fine(u32 x) { return x && element_size(x) < 4 ? FLAG_FINE : 0; }

/* The same as elements_record, quick for the words of shared memory. */
static inline void down(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site)
{
    if (size != 4 || !*x || *x >> FORM_SHIFT != FORM_FULL || t->w->c->exact) {
        elements_record(t, x, first, size, a, site);
        return;
    }
    struct elements_full *w = POOL_AT(&notes_of(t)->form[FORM_FULL], struct elements_full, *x);
    w->a[first / 4] = a;
    w->site[first / 4] = site;
}

/* Of a mixed sector with an access of this warp: none is later than its time, unless they are writes. */
static u64 mixed_with(u64 was, const struct race_warp *w) { return (u64)MAX_OF(word_time(was), w->now) << 32 | MIXED; }

/* What is noted of one kind of access has elements of its own from now on. */
static void split(const struct touch *t, u64 *uniform, u32 *x, u64 lo)
{
    u64 was = *uniform;
    u32 site = *x, step = word_element_size(was);
    if (was >= lo && word_mixed(was)) return;
    *x = 0;
    for (u32 k = 0; was >= lo && k < SECTOR; k += step) down(t, x, k, step, word_at_byte(was, k), site);
    if (was >= lo && word_is_set(was)) set_unref(notes_of(t), site, notes_locked(t->w, t->space));
    *uniform = mixed_with(was, t->w) | fine(*x);
}

static struct prior seen_at(const struct touch *t, u64 uniform, u32 x, u32 k, u64 lo)
{
    if (uniform < lo) return (struct prior){ 0, 0, 0 };
    if (!word_mixed(uniform)) return (struct prior){ word_at_byte(uniform, k), x, 0 };
    return element_at(notes_of(t), x, k);
}

/* bytes of the sector that one thread, or set, touches; the last of them whose race was reported, +1 */
struct piece {
    u32 first, size, told;
};

/* Races at bytes k .. k + step - 1 of the piece: reported once for each word of it, for tests at each byte. */
static void found_piece(const struct touch *t, struct prior old, u32 old_op, u64 me, u32 lanes, struct piece *p, u32 k,
                        u32 step)
{
    u32 size = old_op & OP_STRONG ? 1u << word_es(old.a) : step, his = bytes_mask(k & ~(size - 1), size),
        mine = t->op & OP_STRONG ? t->whole : bytes_mask(p->first, p->size);
    struct list_entry o = { .a = one_word(old.a, old_op),
                            .bytes = his,
                            .whole = his,
                            .site = old.site,
                            .op = (u8)old_op,
                            .scope = (u8)word_scope(old.a) };
    struct list_entry m = {
        .a = me, .bytes = mine, .whole = mine, .lanes = lanes, .site = t->site, .op = (u8)t->op, .scope = t->scope
    };
    if (unlikely(t->w->c->race->hook != NULL)) {
        for (u32 b = k; b < k + step; b++) race_report(t, &o, &m, b);
        return;
    }
    if (k / 4 + 1 > p->told) race_report(t, &o, &m, k);
    p->told = k / 4 + 1;
}

/* The sector was written in this launch, and is read: what is noted of that passes. */
static void passes(const struct touch *t, struct cell *c, u64 lo)
{
    struct race_cta *k = t->w->c;
    if (t->space == SPACE_SHARED || k->exact || c->w < lo) return;
    cell_add_transient(k, c, t->at);
}

static inline void read_down(const struct touch *t, struct cell *c, u32 k, u32 step, struct prior or, u64 me,
                             bool after)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    if (!after && set_covers(w, or.a, me)) return;
    if (c->r < lo || !word_mixed(c->r)) {
        split(t, &c->r, &c->rx, lo);
        passes(t, c, lo);
    }
    u64 a = after ? me : merge(w, or.a, me);
    down(t, &c->rx, k, step, a, after ? t->site : merged_site(t, a, or.site));
    c->r = mixed_with(c->r, w) | fine(c->rx); /* by whom, the notes say */
}

static inline void write_down(const struct touch *t, struct cell *c, const struct piece *p, u64 me, bool after_reads)
{
    u64 lo = t->w->c->lo[t->space];
    split(t, &c->w, &c->wx, lo);
    u32 *x = unlikely(cell_has_pair(c, lo)) ? &write_pair_of(t, c)->weak : &c->wx;
    down(t, x, p->first, p->size, me, t->site);
    c->w |= fine(*x);
    if (after_reads && c->r >= lo && word_mixed(c->r) && c->rx && elements_clear(t, c->rx, p->first, p->size)) {
        cell_drop_reads(t, c, lo);
        c->r = 0;
    }
}

/* Of what was seen of shared memory none is later: all of it is before whatever the warp does. */
static bool is_behind(const struct touch *t, u32 latest) { return t->space == SPACE_SHARED && latest < t->w->cta_base; }

/* What was seen is before m. */
static bool seen_before(const struct touch *t, struct prior s, const struct list_entry *m)
{
    if (!s.a || is_behind(t, word_is_set(s.a) ? set_at(notes_of(t), s.site)->latest : word_time(s.a))) return true;
    if (word_is_set(s.a) && set_known(t, s.site)) return true;
    const struct notes *n = notes_of(t);
    struct list_entry o = { .a = s.a & ~12ull, .bytes = m->bytes };
    if (!word_is_set(s.a)) return race_entry_before(t->w, &o, m, t->space);
    struct member r;
    for (u32 x = s.site; x;) {
        x = set_last(n, x, &r);
        o.a = r.a;
        o.lanes = r.lanes;
        if (!race_entry_before(t->w, &o, m, t->space)) return false;
    }
    return true;
}

/* One reader is before `me`, for all that a look tells: who is wrongly taken for one that is not stays beside `me`,
 * and does no harm. */
static bool plainly_read(const struct touch *t, u64 old, u64 me)
{
    if (set_member_known(t, old)) return true;
    if (word_slot(old) != t->w->c->slot || word_time(old) < t->w->c->start) return false;
    if (word_time(old) < t->w->cta_base) return true;
    if (word_warp(old) != word_warp(me)) return false;
    return word_time(old) < t->w->warp_base ||
           (word_kind(me) == WHO_ONE && word_lane(old) == word_lane(me) && word_es(old) == word_es(me));
}

/* The thread that has byte k, named as lanes side by side are named: if its neighbours have the other bytes, one word
 * says it of all of them. */
static u64 as_run(u64 a, u32 k, u32 es)
{
    return es >= ES_ONE ? a : (a & ~(0xffull << 6)) | (u64)((word_lane(a) - (k >> es)) & 31) << 9 | (u64)es << 6;
}

/* One more reader of bytes k .. k + step - 1, in a kernel that is not simple. */
static void read_also(const struct touch *t, struct cell *c, u32 k, u32 step, struct prior or,
                      const struct list_entry *m)
{
    u64 lo = t->w->c->lo[t->space], me = word_at_byte(m->a, k);
    struct notes *n = notes_of(t);
    if (word_is_set(or.a) && set_last_is(n, or.site, m->a, m->lanes)) return;
    bool one = word_kind(me) == WHO_ONE, after = !word_is_set(or.a) && plainly_read(t, or.a, me);
    if (after && one) {
        read_down(t, c, k, step, or, me, true);
        return;
    }
    if (!word_is_set(or.a)) or.a = as_run(or.a, k, word_es(m->a));
    split(t, &c->r, &c->rx, lo);
    u32 set = set_add(t, after ? (struct prior){ 0, 0, 0 } : or, m->a, m->lanes, c->rx && element_size(c->rx) == step);
    bool alone = set_count(n, set) == 1 && set_last_is(n, set, m->a, 0); /* and not one of several lanes */
    if ((one && alone) || !element_put_set(t, c->rx, k, step, set)) {
        if (one && alone)
            down(t, &c->rx, k, step, me, t->site); /* a mark of a note takes less */
        else
            down(t, &c->rx, k, step, word_of_set(t->w->now), set);
        set_unref(n, set, notes_locked(t->w, t->space));
    }
    c->r = mixed_with(c->r, t->w) | fine(c->rx);
}

/* One more reader of the whole sector, in a kernel that is not simple. */
static void sector_also(const struct touch *t, struct cell *c, u64 me)
{
    if (word_is_set(c->r) && set_last_is(notes_of(t), c->rx, me, 0)) return;
    u32 set = set_add(t, (struct prior){ c->r, c->rx, 0 }, me, 0, true);
    cell_drop_reads(t, c, t->w->c->lo[t->space]);
    c->r = word_of_set(t->w->now);
    c->rx = set;
}

/* The first bytes of some that lie together: how many. */
static u32 run_of(u32 bytes)
{
    u32 rest = bytes >> __builtin_ctz(bytes);
    return rest == ~0u ? SECTOR : (u32)__builtin_ctz(~rest);
}

void cell_record_read(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    u64 lo = t->w->c->lo[t->space];
    if (bytes == ~0u && word_kind(me) == WHO_ONE && (c->r < lo || !word_mixed(c->r))) {
        if (c->r >= lo && !hb_by_barrier_maybe(t->w, c->r, me, lo)) {
            sector_also(t, c, me);
            return;
        }
        c->r = me;
        c->rx = t->site;
        return;
    }
    while (bytes) {
        u32 first = (u32)__builtin_ctz(bytes), size = run_of(bytes),
            fine = MIN_OF(granule(first, size), word_element_size(me)), own = step_of(c->r, c->rx, lo),
            step = MIN_OF(fine, own);
        for (u32 k = first; k < first + size; k += step) {
            const struct list_entry m = { .a = me, .bytes = bytes_mask(k, step), .lanes = lanes };
            read_also(t, c, k, step, seen_at(t, c->r, c->rx, k, lo), &m);
        }
        bytes &= ~bytes_mask(first, size);
    }
}

bool cell_reads_before(const struct touch *t, struct cell *c, const struct list_entry *m)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->r < lo) return true;
    u32 step = step_of(c->r, c->rx, lo);
    for (u32 k = 0; k < SECTOR; k += step) {
        struct list_entry part = *m;
        part.bytes &= bytes_mask(k, step);
        if (part.bytes && !seen_before(t, seen_at(t, c->r, c->rx, k, lo), &part)) return false;
    }
    if (m->op != OP_WRITE) return true;
    u32 first = (u32)__builtin_ctz(m->bytes), size = run_of(m->bytes);
    bool none = m->bytes == ~0u || (word_mixed(c->r) && c->rx && elements_clear(t, c->rx, first, size));
    if (none) {
        cell_drop_reads(t, c, lo);
        c->r = 0;
    }
    return true;
}

/* touch_piece in a kernel that is not simple; a read may be of several threads, side by side. */
static void touch_exactly(const struct touch *t, struct cell *c, const struct piece *p, u64 me, u32 lanes, u32 step)
{
    u64 lo = t->w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    u32 end = p->first + p->size;
    for (u32 k = p->first; k < end; k += step) {
        struct list_entry m = { .a = me, .bytes = bytes_mask(k, step), .lanes = lanes };
        struct prior ow = seen_at(t, c->w, c->wx, k, lo), or = seen_at(t, c->r, c->rx, k, lo);
        /* with all its members; of a write nothing is noted yet */
        if (!seen_before(t, ow, &m) || (write && !seen_before(t, or, &m))) {
            u32 from = write ? p->first : k;
            list_bytes(t, c, me, bytes_mask(from, end - from), lanes);
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
    if (w->c->exact) {
        touch_exactly(t, c, &p, me, lanes, step);
        return;
    }
    const struct write_pair b = write_blocks(t, c, lo);
    for (u32 k = p.first; k < end; k += step) {
        struct prior ow = seen_at(t, c->w, b.weak, k, lo), or = seen_at(t, c->r, c->rx, k, lo),
                     oa = element_at(notes_of(t), b.strong, k);
        bool after_reads = word_before(w, or.a, me, t->space), after_writes = word_before(w, ow.a, me, t->space),
             after_atoms = word_before(w, oa.a, me, t->space);
        if (!after_writes)
            found_piece(t, ow, OP_WRITE, me, lanes, &p, k, step);
        else if (!after_atoms)
            found_piece(t, oa, OP_WRITE | OP_STRONG, me, lanes, &p, k, step);
        else if (write && !after_reads)
            found_piece(t, or, OP_READ, me, lanes, &p, k, step);
        if (!write) read_down(t, c, k, step, or, me, after_reads);
        all_after &= after_reads;
    }
    if (write) write_down(t, c, &p, me, all_after);
}

void cell_access_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    bool listed = t->op & (OP_STRONG | OP_ASYNC) || (t->w->c->exact && word_kind(me) != WHO_ONE && t->op & OP_WRITE),
         runs = t->w->c->exact && !(t->op & OP_WRITE);
    u32 es = word_es(me);
    while (bytes) {
        if (listed || cell_has_list(c, t->w->c->lo[t->space])) {
            list_bytes(t, c, me, bytes, lanes);
            return;
        }
        u32 first = (u32)__builtin_ctz(bytes), run = run_of(bytes),
            size = es < ES_ONE && !runs ? MIN_OF(run, 1u << es) : run;
        u32 step = cell_step(t, c, first, size, t->w->c->lo[t->space]), fine = word_element_size(me);
        touch_piece(t, c, (struct piece){ first, size, 0 }, runs ? me : word_at_byte(me, first), lanes,
                    runs ? MIN_OF(step, fine) : step);
        bytes &= ~bytes_mask(first, size);
    }
}

/* Word j is read, its writes are known, and its readers are a set that no other element has and that has room: the
 * most there is to do where each element is read by many, none of them twice. false: nothing was done, and there is
 * more to look at. */
static bool read_quickly(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes)
{
    const struct race_cta *k = t->w->c;
    u64 lo = k->lo[t->space];
    if (c->w >= lo && (word_mixed(c->w) || !set_member_known(t, c->w))) return false;
    if (c->r < lo || (c->r & (MIXED | FLAG_FINE)) != MIXED || !c->rx || c->rx >> FORM_SHIFT != FORM_WORDS) return false;
    u32 *mark = (u32 *)elements_at(notes_of(t), c->rx) + j;
    if (!(*mark & SET_MARK)) return false;
    u32 more = set_append(t, *mark & ~SET_MARK, me, lanes);
    if (!more) return false;
    *mark = more | SET_MARK;
    c->r = mixed_with(c->r, t->w);
    return true;
}

/* Word j of the sector: the same. */
void cell_access_word(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes)
{
    u64 lo = t->w->c->lo[t->space];
    if (t->w->c->exact && t->op == OP_READ && read_quickly(t, c, j, me, lanes)) return;
    bool listed = cell_has_list(c, lo) || (t->w->c->exact && word_kind(me) != WHO_ONE && t->op & OP_WRITE);
    if (unlikely(listed || cell_step(t, c, 0, 4, lo) < 4))
        cell_access_bytes(t, c, me, 15u << 4 * j, lanes);
    else
        touch_piece(t, c, (struct piece){ 4 * j, 4, 0 }, me, lanes, 4);
}

/* Strong writes of a mixed sector are noted from now on. */
static void make_write_pair(const struct touch *t, struct cell *c)
{
    struct pool *p = &notes_of(t)->write_pair;
    u32 n = pool_take(p, notes_locked(t->w, t->space));
    *(struct write_pair *)pool_at(p, n) = (struct write_pair){ .weak = c->wx };
    c->wx = n;
    c->w |= FLAG_PAIR;
}

/* A strong write, from byte `first` of the sector on, by one thread of a simple kernel. */
void cell_strong_write(const struct touch *t, struct cell *c, u32 first, u32 size, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    u32 bytes = bytes_mask(first, size), step = cell_step(t, c, first, size, lo);
    struct piece p = { first, size, 0 };
    bool other = cell_has_list(c, lo); /* strong writes of another size: neither stands for the other */
    struct write_pair b = write_blocks(t, c, lo);
    for (u32 k = first; k < first + size && !other; k += step) {
        u64 a = element_at(notes_of(t), b.strong, k).a;
        other = a && 1u << word_es(a) != size;
    }
    if (other) {
        list_bytes(t, c, me, bytes, 0);
        return;
    }
    u64 stamp = (me & ~(0x7cull << 2)) | (u64)__builtin_ctz(size) << 6 | (u64)t->scope << 2;
    for (u32 k = first; k < first + size; k += step) {
        struct prior ow = seen_at(t, c->w, b.weak, k, lo), or = seen_at(t, c->r, c->rx, k, lo),
                     oa = element_at(notes_of(t), b.strong, k);
        u64 set = stamp;
        bool keep = false, in = set_covers(w, oa.a, me) && word_kind(oa.a) != WHO_GRID && word_scope(oa.a) <= t->scope;
        if (!in && !word_before(w, oa.a, me, t->space)) {
            u64 m = merge(w, oa.a, me);
            u32 narrow = word_scope(oa.a) < t->scope ? word_scope(oa.a) : t->scope;
            set = (m & ~(0x1cull << 4 | 12)) | (stamp & 0x1cull << 4) | (u64)narrow << 2;
            /* the narrow one is who others race with: the set is named after it */
            keep = word_kind(m) == WHO_GRID && word_scope(oa.a) < t->scope;
            if (keep) set = (oa.a & ~(3ull << 4)) | (u64)WHO_GRID << 4;
            if (word_kind(m) == WHO_GRID && narrow < SCOPE_GPU)
                found_piece(t, oa, OP_WRITE | OP_STRONG, me, 0, &p, k, step);
        } else if (!in && oa.a >= lo && word_scope(oa.a) < t->scope)
            set = (stamp & ~12ull) | (u64)word_scope(oa.a) << 2; /* another CTA is ordered after neither */
        if (!word_before(w, ow.a, me, t->space))
            found_piece(t, ow, OP_WRITE, me, 0, &p, k, step);
        else if (!word_before(w, or.a, me, t->space))
            found_piece(t, or, OP_READ, me, 0, &p, k, step);
        if (in) continue;
        split(t, &c->w, &c->wx, lo);
        if (!(c->w & FLAG_PAIR)) make_write_pair(t, c);
        down(t, &write_pair_of(t, c)->strong, k, step, set, keep ? oa.site : t->site);
        b = *write_pair_of(t, c);
        c->w = (u64)w->now << 32 | MIXED | FLAG_PAIR | fine(b.weak) | fine(b.strong);
    }
}

/* ---- a whole sector: stay uniform if possible ---- */

static bool all_past(const struct touch *t, u32 x, u64 me, u64 lo)
{
    u32 step = x ? MIN_OF(element_size(x), word_element_size(me)) : SECTOR;
    bool exact = t->w->c->exact;
    for (u32 k = 0; x && k < SECTOR; k += step) {
        struct prior s = element_at(notes_of(t), x, k);
        struct list_entry m = { .a = word_at_byte(me, k), .bytes = bytes_mask(k, step) };
        if (!hb_by_barrier_maybe(t->w, s.a, m.a, lo) && !(exact && word_kind(me) == WHO_ONE && seen_before(t, s, &m)))
            return false;
    }
    return true;
}

static bool sector_before(const struct touch *t, u64 old, u32 x, u64 me, u64 lo)
{
    if (hb_by_barrier_maybe(t->w, old, me, lo)) return true;
    if (!t->w->c->exact || word_kind(old) != WHO_ONE || word_kind(me) != WHO_ONE) return false;
    struct list_entry m = { .a = me, .bytes = ~0u };
    return seen_before(t, (struct prior){ old, x, 0 }, &m);
}

void cell_access_sector_slow(const struct touch *t, struct cell *c, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    if (cell_has_list(c, lo)) {
        list_bytes(t, c, me, ~0u, 0);
        return;
    }
    bool wok = c->w < lo || (word_mixed(c->w) ? !(c->w & FLAG_PAIR) && all_past(t, c->wx, me, lo)
                                              : sector_before(t, c->w, c->wx, me, lo));
    if (wok && !write && c->r >= lo && word_is_set(c->r)) {
        sector_also(t, c, me);
        return;
    }
    bool rok = c->r < lo || hb_by_barrier_maybe(w, c->r, me, lo) ||
               (word_mixed(c->r) && w->c->exact && is_behind(t, word_time(c->r)));
    if (!rok && (write || wok))
        rok = word_mixed(c->r)
                  ? all_past(t, c->rx, me, lo)
                  : w->c->exact && (write ? sector_before(t, c->r, c->rx, me, lo) : plainly_read(t, c->r, me));
    if (wok && write && rok) {
        cell_drop_writes(t, c, lo);
        c->w = me;
        c->wx = t->site;
        if (w->c->exact) {
            cell_drop_reads(t, c, lo);
            c->r = 0;
        }
        if (!word_mixed(c->r)) c->r = 0; /* words of reads stay: past, and soon needed again */
        return;
    }
    if (wok && !write) {
        if (rok) {
            cell_drop_reads(t, c, lo);
            c->r = me;
            c->rx = t->site;
            return;
        }
        if (!w->c->exact && !word_mixed(c->r) && no_common_thread(c->r, me)) {
            c->r = merge(w, c->r, me);
            c->rx = merged_site(t, c->r, c->rx);
            return;
        }
        if (w->c->exact && !word_mixed(c->r)) {
            sector_also(t, c, me);
            return;
        }
    }
    if (w->c->exact && (write || !wok)) {
        list_bytes(t, c, me, ~0u, 0);
        return;
    }
    if (w->c->exact) {
        cell_access_bytes(t, c, me, ~0u, 0);
        return;
    }
    u32 step = word_element_size(me);
    for (u32 k = 0; k < SECTOR; k += step) {
        if (step == 4 && !write && !w->c->exact && cell_read_quick(w, c, k / 4, word_at_byte(me, k), t->site, t->space))
            continue;
        if (step == 4)
            cell_access_word(t, c, k / 4, word_at_byte(me, k), 0);
        else
            cell_access_bytes(t, c, word_at_byte(me, k), bytes_mask(k, step), 0);
    }
    if (!write || cell_has_list(c, lo) || c->w & FLAG_PAIR) return;
    cell_drop_writes(t, c, lo);
    cell_drop_reads(t, c, lo);
    c->w = me;
    c->wx = t->site;
    c->r = 0; /* every word is ours now: uniform again */
}

/* ---- reads that pass ---- */

void cell_add_transient(struct race_cta *c, struct cell *cell, u64 at)
{
    if (c->ntransient == c->captransient) {
        u32 cap = c->captransient ? 2 * c->captransient : 64;
        c->transient = base_need_more(c->transient, sizeof *c->transient * cap);
        c->captransient = cap;
    }
    c->transient[c->ntransient++] = (struct transient_read){ cell, at };
}

static bool by_own_past(const struct race_cta *c, u64 a)
{
    return word_slot(a) == c->slot && word_time(a) >= c->start && word_time(a) < c->base && word_kind(a) != WHO_GRID;
}

/* Every byte of the sector that was read has been written, and all of that by this CTA before the barrier. */
static bool has_passed(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->w < lo || c->r < lo || c->w & FLAG_LIST || !word_mixed(c->r)) return false;
    u32 step = cell_step(t, c, 0, SECTOR, lo), x = write_blocks(t, c, lo).weak;
    for (u32 k = 0; k < SECTOR; k += step) {
        u64 r = seen_at(t, c->r, c->rx, k, lo).a;
        if (r && !(by_own_past(t->w->c, r) && by_own_past(t->w->c, seen_at(t, c->w, x, k, lo).a))) return false;
    }
    return true;
}

void cell_drop_transients(struct race_cta *c)
{
    struct touch t = { .w = &c->warp[0], .space = SPACE_GLOBAL };
    u64 lo = c->lo[SPACE_GLOBAL];
    for (u32 n = 0; n < c->ntransient; n++) {
        struct cell *x = c->transient[n].cell;
        cells_lock(c->launch, c->transient[n].at);
        if (has_passed(&t, x, lo)) {
            cell_drop_reads(&t, x, lo);
            x->r = 0;
        }
        cells_unlock(c->launch, c->transient[n].at);
    }
    c->ntransient = 0;
}
