/* Shadow cells, the slow paths: an access that meets a recent access of another thread.
 *
 * A sector is in one of three states, for writes and for reads each:
 *   uniform   one access word for the whole sector, or one reader set
 *   mixed     one access for each element of 4, 2 or 1 bytes (race_notes.h)
 *   list      all recent accesses, exactly (race_list.c). FLAG_LIST is in the write word. In a simple kernel the list
 *             has the reads, too, and the read word is empty.
 * An access that does not fit the state takes the sector to the next one in this order. A write of the whole sector
 * takes it back to uniform.
 *
 * How an access is checked depends on the kernel. In a simple kernel (race_kernel.c) hb_word decides for each
 * element; concurrent reads merge into a set without members. In other kernels (race_cta.exact) reads are sets with
 * members (race_set.h), and an access that is not ordered after what it conflicts with goes to the list, which reports.
 *
 * Transient reads: in a simple kernel a CTA that reads global memory which it has written itself needs the record of
 * that read only until the next barrier. After it, threads of the CTA are ordered after the read, and threads of other
 * CTAs race with the write as well. So the record of the read goes at the barrier, and a byte keeps either its writer
 * or its readers. */
#include "race/race_slow.h"
#include "race/race_report.h"

/* ---- giving back ---- */

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

void cell_clear(const struct touch *t, struct cell *c)
{
    u64 lo = t->w->c->lo[t->space];
    if (cell_has_list(c, lo))
        list_drop(t, c);
    else
        cell_drop_writes(t, c, lo);
    cell_drop_reads(t, c, lo);
    *c = (struct cell){ 0 };
}

/* ---- elements ---- */

/* The size of the elements that one word of a cell records, at most 4. */
static u32 recorded_step(u64 word, u32 x, u64 lo)
{
    return word < lo ? 4 : !word_mixed(word) ? word_element_size(word) : x ? element_size(x) : 4;
}
/* The size of elements of which each has one write, one read, one strong write, and is accessed as a whole by the bytes
 * first .. first + size - 1. cell_step is the same, quick for words. */
static u32 cell_step_slow(const struct touch *t, const struct cell *c, u32 first, u32 size, u64 lo)
{
    struct write_pair b = write_blocks(t, c, lo);
    u32 step = granule(first, size), w = recorded_step(c->w, b.weak, lo), r = recorded_step(c->r, c->rx, lo),
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
               : cell_step_slow(t, c, first, size, lo);
}

/* The flag of a mixed word whose elements are block x. */
static u64 fine_flag(u32 x) { return x && element_size(x) < 4 ? FLAG_FINE : 0; }

/* elements_record, quick for words of shared memory. */
static inline void elements_record_quick(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site)
{
    if (size != 4 || !*x || *x >> FORM_SHIFT != FORM_FULL || t->w->c->exact) {
        elements_record(t, x, first, size, a, site);
        return;
    }
    struct elements_full *w = POOL_AT(&notes_of(t)->form[FORM_FULL], struct elements_full, *x);
    w->a[first / 4] = a;
    w->site[first / 4] = site;
}

/* The word of a mixed sector, after an access of this warp. No read that its elements record is later than its time. */
static u64 mixed_word(u64 was, const struct race_warp *w) { return (u64)MAX_OF(word_time(was), w->now) << 32 | MIXED; }

/* A uniform word of a cell becomes mixed: what it records is recorded for each element. */
static void make_mixed(const struct touch *t, u64 *uniform, u32 *x, u64 lo)
{
    u64 was = *uniform;
    u32 site = *x, step = word_element_size(was);
    if (was >= lo && word_mixed(was)) return;
    *x = 0;
    for (u32 k = 0; was >= lo && k < SECTOR; k += step)
        elements_record_quick(t, x, k, step, word_at_byte(was, k), site);
    if (was >= lo && word_is_set(was)) set_unref(notes_of(t), site, notes_locked(t->w, t->space));
    *uniform = mixed_word(was, t->w) | fine_flag(*x);
}

/* The prior access to byte k that one word of a cell records. */
static struct prior prior_at(const struct touch *t, u64 uniform, u32 x, u32 k, u64 lo)
{
    if (uniform < lo) return (struct prior){ 0, 0, 0 };
    if (!word_mixed(uniform)) return (struct prior){ word_at_byte(uniform, k), x, 0 };
    return element_at(notes_of(t), x, k);
}

/* Bytes of the sector that one thread, or one set, accesses. */
struct piece {
    u32 first, size;
    u32 reported; /* the last word of them whose race was reported, + 1 */
};

/* The access races with `old` at bytes k .. k + step - 1: reported once for each word of the piece, for tests at each
 * byte. */
static void report_piece(const struct touch *t, struct prior old, u32 old_op, u64 me, u32 lanes, struct piece *p, u32 k,
                         u32 step)
{
    u32 size = old_op & OP_STRONG ? 1u << word_es(old.a) : step, theirs = bytes_mask(k & ~(size - 1), size),
        mine = t->op & OP_STRONG ? t->whole : bytes_mask(p->first, p->size);
    struct list_entry o = { .a = word_of_entry(old.a, old_op),
                            .bytes = theirs,
                            .whole = theirs,
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
    if (k / 4 + 1 > p->reported) race_report(t, &o, &m, k);
    p->reported = k / 4 + 1;
}

/* Elements of reads are made: if the launch has written the sector, they are transient. */
static void add_transient(const struct touch *t, struct cell *c, u64 lo)
{
    struct race_cta *k = t->w->c;
    if (t->space == SPACE_SHARED || k->exact || c->w < lo) return;
    cell_add_transient(k, c, t->at);
}

/* Records a read of bytes k .. k + step - 1. after: it is ordered after the prior `reads`. */
static inline void record_read(const struct touch *t, struct cell *c, u32 k, u32 step, struct prior reads, u64 me,
                               bool after)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    if (!after && set_covers(w, reads.a, me)) return;
    if (c->r < lo || !word_mixed(c->r)) {
        make_mixed(t, &c->r, &c->rx, lo);
        add_transient(t, c, lo);
    }
    u64 a = after ? me : merge_words(w, reads.a, me);
    elements_record_quick(t, &c->rx, k, step, a, after ? t->site : merge_sites(t, a, reads.site));
    c->r = mixed_word(c->r, w) | fine_flag(c->rx); /* the elements say by whom */
}

/* Records a weak write of a piece. after_reads: it is ordered after all reads of the piece, which then go. */
static inline void record_write(const struct touch *t, struct cell *c, const struct piece *p, u64 me, bool after_reads)
{
    u64 lo = t->w->c->lo[t->space];
    make_mixed(t, &c->w, &c->wx, lo);
    u32 *x = unlikely(cell_has_pair(c, lo)) ? &write_pair_of(t, c)->weak : &c->wx;
    elements_record_quick(t, x, p->first, p->size, me, t->site);
    c->w |= fine_flag(*x);
    if (after_reads && c->r >= lo && word_mixed(c->r) && c->rx && elements_clear(t, c->rx, p->first, p->size)) {
        cell_drop_reads(t, c, lo);
        c->r = 0;
    }
}

bool cell_read_joined(const struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site)
{
    const struct touch t = { .w = (struct race_warp *)w, .site = site };
    struct elements_full *x = word_elements(&w->c->notes, c->rx, SPACE_SHARED);
    if (hb_word(w, x->a[j], me, SPACE_SHARED)) return false;
    u64 set = merge_words(w, x->a[j], me);
    x->site[j] = merge_sites(&t, set, x->site[j]);
    x->a[j] = set;
    c->r = mixed_word(c->r, w);
    return true;
}

void cell_sum_reads(const struct touch *t, struct cell *c)
{
    const struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    u32 step, kind = WHO_GRID;
    if (w->c->exact || c->w >= lo || c->r < lo || !word_mixed(c->r) || !c->rx || set_covers(w, c->r, w->key)) return;
    step = element_size(c->rx);
    for (u32 k = 0; k < SECTOR; k += step) {
        u64 a = element_at(notes_of(t), c->rx, k).a;
        if (a < lo || !set_covers(w, a, w->key)) return;
        kind = MIN_OF(kind, word_kind(a));
    }
    u64 who = kind == WHO_GRID ? 0 : w->key | (kind == WHO_WARP ? WORD_LANE : 0);
    c->r = mixed_word(c->r, w) | (c->r & FLAG_FINE) | (u64)kind << 4 | who;
}

/* The thread that accesses byte k, named like a run of lanes of that es: where its neighbours access the other bytes,
 * the same word is right for all of them. */
static u64 word_of_run(u64 a, u32 k, u32 es)
{
    return es >= ES_ONE ? a : (a & ~(WORD_LANE | WORD_ES)) | (u64)((word_lane(a) - (k >> es)) & 31) << 9 | (u64)es << 6;
}

/* Adds a reader of bytes k .. k + step - 1 to `reads`, in a kernel that is not simple. */
static void add_reader(const struct touch *t, struct cell *c, u32 k, u32 step, struct prior reads,
                       const struct list_entry *m)
{
    u64 lo = t->w->c->lo[t->space], me = word_at_byte(m->a, k);
    struct notes *n = notes_of(t);
    if (word_is_set(reads.a) && set_last_is(n, reads.site, m->a, m->lanes)) return;
    bool one = word_kind(me) == WHO_ONE, after = !word_is_set(reads.a) && hb_reader_maybe(t->w, reads.a, me, t->space);
    if (after && one) {
        record_read(t, c, k, step, reads, me, true);
        return;
    }
    if (!word_is_set(reads.a)) reads.a = word_of_run(reads.a, k, word_es(m->a));
    make_mixed(t, &c->r, &c->rx, lo);
    u32 set = set_add(t, after ? (struct prior){ 0, 0, 0 } : reads, m->a, m->lanes,
                      c->rx && element_size(c->rx) == step);
    bool alone = set_count(n, set) == 1 && set_last_is(n, set, m->a, 0); /* the only reader, and one lane */
    if ((one && alone) || !element_put_set(t, c->rx, k, step, set)) {
        if (one && alone)
            elements_record_quick(t, &c->rx, k, step, me, t->site); /* a mark of a note takes less memory than a set */
        else
            elements_record_quick(t, &c->rx, k, step, word_of_set(t->w->now), set);
        set_unref(n, set, notes_locked(t->w, t->space));
    }
    c->r = mixed_word(c->r, t->w) | fine_flag(c->rx);
}

/* Adds a reader of the whole sector, in a kernel that is not simple. */
static void sector_add_reader(const struct touch *t, struct cell *c, u64 me)
{
    if (word_is_set(c->r) && set_last_is(notes_of(t), c->rx, me, 0)) return;
    u32 set = set_add(t, (struct prior){ c->r, c->rx, 0 }, me, 0, true);
    cell_drop_reads(t, c, t->w->c->lo[t->space]);
    c->r = word_of_set(t->w->now);
    c->rx = set;
}

/* How many of the bytes lie together from the first one on. */
static u32 first_run(u32 bytes)
{
    u32 rest = bytes >> __builtin_ctz(bytes);
    return rest == ~0u ? SECTOR : (u32)__builtin_ctz(~rest);
}

void cell_record_read(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    u64 lo = t->w->c->lo[t->space];
    if (bytes == ~0u && word_kind(me) == WHO_ONE && (c->r < lo || !word_mixed(c->r))) {
        if (c->r >= lo && !hb_by_barrier_maybe(t->w, c->r, me, lo)) {
            sector_add_reader(t, c, me);
            return;
        }
        c->r = me;
        c->rx = t->site;
        return;
    }
    while (bytes) {
        u32 first = (u32)__builtin_ctz(bytes), size = first_run(bytes),
            own_step = MIN_OF(granule(first, size), word_element_size(me)), recorded = recorded_step(c->r, c->rx, lo),
            step = MIN_OF(own_step, recorded);
        for (u32 k = first; k < first + size; k += step) {
            const struct list_entry m = { .a = me, .bytes = bytes_mask(k, step), .lanes = lanes };
            add_reader(t, c, k, step, prior_at(t, c->r, c->rx, k, lo), &m);
        }
        bytes &= ~bytes_mask(first, size);
    }
}

bool cell_reads_before(const struct touch *t, struct cell *c, const struct list_entry *m)
{
    u64 lo = t->w->c->lo[t->space];
    if (c->r < lo) return true;
    u32 step = recorded_step(c->r, c->rx, lo);
    for (u32 k = 0; k < SECTOR;) { /* neighbours of the same readers at once */
        struct list_entry part = *m;
        struct prior old = prior_at(t, c->r, c->rx, k, lo), next = old;
        u32 first = k;
        while (next.a == old.a && next.site == old.site && (k += step) < SECTOR) next = prior_at(t, c->r, c->rx, k, lo);
        part.bytes &= bytes_mask(first, k - first);
        if (part.bytes && !hb_prior(t, old, &part)) return false;
    }
    if (m->op != OP_WRITE) return true;
    u32 first = (u32)__builtin_ctz(m->bytes), size = first_run(m->bytes);
    bool none = m->bytes == ~0u || (word_mixed(c->r) && c->rx && elements_clear(t, c->rx, first, size));
    if (none) {
        cell_drop_reads(t, c, lo);
        c->r = 0;
    }
    return true;
}

/* access_piece in a kernel that is not simple. A read may be by several threads, side by side. Inlined:
 * a call costs a kernel that reads shared memory 3 %. */
ALWAYS_INLINE void access_piece_exact(const struct touch *t, struct cell *c, const struct piece *p, u64 me, u32 lanes,
                                      u32 step)
{
    u64 lo = t->w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    u32 end = p->first + p->size;
    for (u32 k = p->first; k < end; k += step) {
        struct list_entry m = { .a = me, .bytes = bytes_mask(k, step), .lanes = lanes };
        struct prior writes = prior_at(t, c->w, c->wx, k, lo), reads = prior_at(t, c->r, c->rx, k, lo);
        /* not ordered: the list compares with all members. Of a write no byte has been recorded yet. */
        if (!hb_prior(t, writes, &m) || (write && !hb_prior(t, reads, &m))) {
            u32 from = write ? p->first : k;
            list_access(t, c, me, bytes_mask(from, end - from), lanes);
            return;
        }
        if (!write) add_reader(t, c, k, step, reads, &m);
    }
    if (write) record_write(t, c, p, me, true);
}

/* A weak access to a piece of the sector, by one thread; a read also by several lanes. */
static inline void access_piece(const struct touch *t, struct cell *c, struct piece p, u64 me, u32 lanes, u32 step)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool write = t->op & OP_WRITE, all_after = true;
    u32 end = p.first + p.size;
    if (w->c->exact) {
        access_piece_exact(t, c, &p, me, lanes, step);
        return;
    }
    const struct write_pair b = write_blocks(t, c, lo);
    for (u32 k = p.first; k < end; k += step) {
        struct prior writes = prior_at(t, c->w, b.weak, k, lo), reads = prior_at(t, c->r, c->rx, k, lo),
                     strong = element_at(notes_of(t), b.strong, k);
        bool after_reads = hb_word(w, reads.a, me, t->space), after_writes = hb_word(w, writes.a, me, t->space),
             after_atoms = hb_word(w, strong.a, me, t->space);
        if (!after_writes)
            report_piece(t, writes, OP_WRITE, me, lanes, &p, k, step);
        else if (!after_atoms)
            report_piece(t, strong, OP_WRITE | OP_STRONG, me, lanes, &p, k, step);
        else if (write && !after_reads)
            report_piece(t, reads, OP_READ, me, lanes, &p, k, step);
        if (!write) record_read(t, c, k, step, reads, me, after_reads);
        all_after &= after_reads;
    }
    if (write) record_write(t, c, &p, me, all_after);
}

void cell_access_bytes(const struct touch *t, struct cell *c, u64 me, u32 bytes, u32 lanes)
{
    bool listed = t->op & (OP_STRONG | OP_ASYNC) || (t->w->c->exact && word_kind(me) != WHO_ONE && t->op & OP_WRITE),
         runs = t->w->c->exact && !(t->op & OP_WRITE);
    u32 es = word_es(me);
    while (bytes) {
        if (listed || cell_has_list(c, t->w->c->lo[t->space])) {
            list_access(t, c, me, bytes, lanes);
            return;
        }
        u32 first = (u32)__builtin_ctz(bytes), run = first_run(bytes),
            size = es < ES_ONE && !runs ? MIN_OF(run, 1u << es) : run;
        u32 step = cell_step(t, c, first, size, t->w->c->lo[t->space]), own_step = word_element_size(me);
        access_piece(t, c, (struct piece){ first, size, 0 }, runs ? me : word_at_byte(me, first), lanes,
                     runs ? MIN_OF(step, own_step) : step);
        bytes &= ~bytes_mask(first, size);
    }
}

/* A read of word j in a kernel that is not simple, where all writes are ordered before it, and the set of readers of
 * the word has room and no other element has it: the most that is to be done where each element is read by many
 * threads, each once. false: nothing was done, and there is more to compare. */
static bool read_word_append(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes)
{
    const struct race_cta *k = t->w->c;
    u64 lo = k->lo[t->space];
    if (c->w >= lo && (word_mixed(c->w) || !hb_cta_maybe(t->w->c, c->w, t->space))) return false;
    if (c->r < lo || (c->r & (MIXED | FLAG_FINE)) != MIXED || !c->rx || c->rx >> FORM_SHIFT != FORM_WORDS) return false;
    u32 *mark = (u32 *)elements_at(notes_of(t), c->rx) + j;
    if (!(*mark & SET_MARK)) return false;
    u32 more = set_append(t, *mark & ~SET_MARK, me, lanes);
    if (!more) return false;
    *mark = more | SET_MARK;
    c->r = mixed_word(c->r, t->w);
    return true;
}

void cell_access_word(const struct touch *t, struct cell *c, u32 j, u64 me, u32 lanes)
{
    u64 lo = t->w->c->lo[t->space];
    if (t->w->c->exact && t->op == OP_READ && read_word_append(t, c, j, me, lanes)) return;
    bool listed = cell_has_list(c, lo) || (t->w->c->exact && word_kind(me) != WHO_ONE && t->op & OP_WRITE);
    if (unlikely(listed || cell_step(t, c, 0, 4, lo) < 4))
        cell_access_bytes(t, c, me, 15u << 4 * j, lanes);
    else
        access_piece(t, c, (struct piece){ 4 * j, 4, 0 }, me, lanes, 4);
}

/* The strong writes of a mixed sector get a block of their own. */
static void make_write_pair(const struct touch *t, struct cell *c)
{
    struct pool *p = &notes_of(t)->write_pair;
    u32 n = pool_take(p, notes_locked(t->w, t->space));
    *(struct write_pair *)pool_at(p, n) = (struct write_pair){ .weak = c->wx };
    c->wx = n;
    c->w |= FLAG_PAIR;
}

/* A strong write `me` comes to the strong writes `old` of an element. *joined: what the element records afterwards.
 * word: the access word of `me` there. true: the two race, since they are of different CTAs and one has a narrow scope.
 */
static bool strong_join(const struct touch *t, struct prior old, u64 me, u64 word, struct prior *joined)
{
    struct race_warp *w = t->w;
    u32 narrow = MIN_OF(word_scope(old.a), (u32)t->scope);
    *joined = (struct prior){ word, t->site, 0 };
    if (hb_word(w, old.a, me, t->space)) {
        /* a later access of another CTA is ordered after neither: the narrower scope is kept */
        if (old.a >= w->c->lo[t->space]) joined->a = (word & ~WORD_SCOPE) | (u64)narrow << 2;
        return false;
    }
    u64 set = merge_words(w, old.a, me);
    joined->a = (set & ~(WORD_ES | WORD_SCOPE)) | (word & WORD_ES) | (u64)narrow << 2;
    if (word_kind(set) != WHO_GRID) return false;
    /* accesses of other CTAs race with the narrower one: the set is named after it */
    if (word_scope(old.a) < t->scope) *joined = (struct prior){ old.a | (u64)WHO_GRID << 4, old.site, 0 };
    return narrow < SCOPE_GPU;
}

/* Some strong write of these bytes has another size: neither can stand for the other. */
static bool strong_sizes_differ(const struct touch *t, u32 strong, u32 first, u32 size, u32 step)
{
    for (u32 k = first; k < first + size; k += step) {
        u64 a = element_at(notes_of(t), strong, k).a;
        if (a && 1u << word_es(a) != size) return true;
    }
    return false;
}

void cell_strong_write(const struct touch *t, struct cell *c, u32 first, u32 size, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    u32 step = cell_step(t, c, first, size, lo);
    struct piece p = { first, size, 0 };
    struct write_pair b = write_blocks(t, c, lo);
    if (cell_has_list(c, lo) || strong_sizes_differ(t, b.strong, first, size, step)) {
        list_access(t, c, me, bytes_mask(first, size), 0);
        return;
    }
    /* the es of a strong write is its size */
    u64 word = (me & ~(WORD_KIND | WORD_ES)) | (u64)__builtin_ctz(size) << 6 | (u64)t->scope << 2;
    for (u32 k = first; k < first + size; k += step) {
        struct prior writes = prior_at(t, c->w, b.weak, k, lo), reads = prior_at(t, c->r, c->rx, k, lo),
                     strong = element_at(notes_of(t), b.strong, k), joined;
        bool covered = set_covers(w, strong.a, me) && word_kind(strong.a) != WHO_GRID &&
                       word_scope(strong.a) <= t->scope;
        if (!covered && strong_join(t, strong, me, word, &joined))
            report_piece(t, strong, OP_WRITE | OP_STRONG, me, 0, &p, k, step);
        if (!hb_word(w, writes.a, me, t->space))
            report_piece(t, writes, OP_WRITE, me, 0, &p, k, step);
        else if (!hb_word(w, reads.a, me, t->space))
            report_piece(t, reads, OP_READ, me, 0, &p, k, step);
        if (covered) continue;
        make_mixed(t, &c->w, &c->wx, lo);
        if (!(c->w & FLAG_PAIR)) make_write_pair(t, c);
        elements_record_quick(t, &write_pair_of(t, c)->strong, k, step, joined.a, joined.site);
        b = *write_pair_of(t, c);
        c->w = (u64)w->now << 32 | MIXED | FLAG_PAIR | fine_flag(b.weak) | fine_flag(b.strong);
    }
}

/* ---- a whole sector, which stays uniform if possible ---- */

/* The access is ordered after all writes of the sector; after all reads of it. One-sided: false may be wrong, and then
 * the elements, the list or the set find out. */
static bool sector_after_writes(const struct touch *t, const struct cell *c, u64 me, u64 lo)
{
    if (c->w < lo) return true;
    if (!word_mixed(c->w)) return hb_sector_maybe(t, c->w, c->wx, me);
    return !(c->w & FLAG_PAIR) && hb_elements_maybe(t, c->wx, me);
}
static bool sector_after_reads(const struct touch *t, const struct cell *c, u64 me, u64 lo)
{
    bool exact = t->w->c->exact;
    if (c->r < lo || hb_by_barrier_maybe(t->w, c->r, me, lo)) return true;
    if (word_mixed(c->r))
        return (exact && hb_shared_maybe(t->w, t->space, word_time(c->r))) || hb_elements_maybe(t, c->rx, me);
    return exact &&
           (t->op & OP_WRITE ? hb_sector_maybe(t, c->r, c->rx, me) : hb_reader_maybe(t->w, c->r, me, t->space));
}

/* Word by word, or byte by byte, in a simple kernel. */
static void sector_by_elements(const struct touch *t, struct cell *c, u64 me)
{
    u64 lo = t->w->c->lo[t->space];
    bool write = t->op & OP_WRITE;
    u32 step = word_element_size(me);
    for (u32 k = 0; k < SECTOR; k += step) {
        u64 one = word_at_byte(me, k);
        if (step != 4)
            cell_access_bytes(t, c, one, bytes_mask(k, step), 0);
        else if (write || !cell_read_quick(t->w, c, k / 4, one, t->site, t->space))
            cell_access_word(t, c, k / 4, one, 0);
    }
    if (!write) cell_sum_reads(t, c);
    if (!write || cell_has_list(c, lo) || c->w & FLAG_PAIR) return;
    /* every byte has this write now: the sector is uniform again */
    cell_drop_writes(t, c, lo);
    cell_drop_reads(t, c, lo);
    c->w = me;
    c->wx = t->site;
    c->r = 0;
}

/* A read that is ordered after all writes of the sector. */
static void sector_read(const struct touch *t, struct cell *c, u64 me)
{
    struct race_warp *w = t->w;
    u64 lo = w->c->lo[t->space];
    bool exact = w->c->exact;
    if (c->r >= lo && word_is_set(c->r))
        sector_add_reader(t, c, me);
    else if (sector_after_reads(t, c, me, lo)) {
        cell_drop_reads(t, c, lo);
        c->r = me;
        c->rx = t->site;
    } else if (exact && word_mixed(c->r))
        cell_access_bytes(t, c, me, ~0u, 0);
    else if (exact)
        sector_add_reader(t, c, me);
    else if (!word_mixed(c->r) && no_common_thread(c->r, me)) {
        c->r = merge_words(w, c->r, me);
        c->rx = merge_sites(t, c->r, c->rx);
    } else
        sector_by_elements(t, c, me);
}

void cell_access_sector_slow(const struct touch *t, struct cell *c, u64 me)
{
    u64 lo = t->w->c->lo[t->space];
    bool write = t->op & OP_WRITE, exact = t->w->c->exact;
    if (cell_has_list(c, lo)) {
        list_access(t, c, me, ~0u, 0);
        return;
    }
    bool after_writes = sector_after_writes(t, c, me, lo);
    if (after_writes && !write)
        sector_read(t, c, me);
    else if (after_writes && sector_after_reads(t, c, me, lo)) {
        cell_drop_writes(t, c, lo);
        c->w = me;
        c->wx = t->site;
        if (exact) cell_drop_reads(t, c, lo);
        /* in a simple kernel elements of reads stay: they are ordered before the write, and needed again soon */
        if (exact || !word_mixed(c->r)) c->r = 0;
    } else if (exact)
        list_access(t, c, me, ~0u, 0);
    else
        sector_by_elements(t, c, me);
}

/* ---- transient reads ---- */

void cell_add_transient(struct race_cta *c, struct cell *cell, u64 at)
{
    NEED_ROOM(c->transient, c->ntransient, c->captransient, 64);
    c->transient[c->ntransient++] = (struct transient_read){ cell, at };
}

/* An access of this CTA before its last barrier. */
static bool is_own_before_barrier(const struct race_cta *c, u64 a)
{
    return word_slot(a) == c->slot && word_time(a) >= c->start && word_time(a) < c->base && word_kind(a) != WHO_GRID;
}

/* Every byte of the sector that was read has been written as well, and both by this CTA before the barrier. */
static bool transient_is_over(const struct touch *t, const struct cell *c, u64 lo)
{
    if (c->w < lo || c->r < lo || c->w & FLAG_LIST || !word_mixed(c->r)) return false;
    u32 step = cell_step(t, c, 0, SECTOR, lo), x = write_blocks(t, c, lo).weak;
    for (u32 k = 0; k < SECTOR; k += step) {
        u64 r = prior_at(t, c->r, c->rx, k, lo).a;
        if (r && !(is_own_before_barrier(t->w->c, r) && is_own_before_barrier(t->w->c, prior_at(t, c->w, x, k, lo).a)))
            return false;
    }
    return true;
}

void cell_drop_transients(struct race_cta *c)
{
    struct touch t = { .w = &c->warp[0], .space = SPACE_GLOBAL };
    u64 lo = c->lo[SPACE_GLOBAL];
    for (u32 n = 0; n < c->ntransient; n++) {
        struct cell *x = c->transient[n].cell;
        cells_lock(c->era, c->transient[n].at);
        if (transient_is_over(&t, x, lo)) {
            cell_drop_reads(&t, x, lo);
            x->r = 0;
        }
        cells_unlock(c->era, c->transient[n].at);
    }
    c->ntransient = 0;
}
