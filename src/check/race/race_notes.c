/* Notes, marks and element blocks: what is recorded of mixed sectors, in little memory (race_notes.h has the layout).
 *
 * A note takes 16 bytes, once for all that an instruction of a CTA does in an epoch. A mark takes 4 bytes, in a block
 * of bytes 2: there it is an offset from the base of the block, since the notes of one sector are usually near each
 * other. Where they are not, the block has upper bits beside it, as many as it takes to number all marks of the launch.
 *
 * Ownership: each mark in a block has a reference to its note or set. A set in an element of FORM_FULL is a reference,
 * too; access words there are not. */
#include "race/race_touch.h"

/* Counted in marks. BASE_BELOW: the base of a block of bytes lies so far below its first mark. REACH: a spare note that
 * is nearer than this to the last ones is near enough to be used again. */
enum { BASE_BELOW = 1 << 14, REACH = 1 << 15 };
enum { UPPER_LEAST = 4, UPPER_MOST = 16 }; /* upper bits of a mark */
static const u8 form_size[FORMS] = { [FORM_FULL] = sizeof(struct elements_full),
                                     [FORM_WORDS] = sizeof(struct elements_words),
                                     [FORM_HALVES] = 64,
                                     [FORM_BYTES] = sizeof(struct elements_bytes) };

bool notes_open(struct notes *n, u32 chunks)
{
    bool all = pool_open(&n->note, sizeof(struct note), MIN_OF(4 * chunks, (u32)CHUNKS_GLOBAL));
    all &= pool_open(&n->list, sizeof(struct list), chunks);
    all &= pool_open(&n->write_pair, sizeof(struct write_pair), chunks);
    all &= pool_open(&n->set, sizeof(struct reader_set), MIN_OF(16 * chunks, (u32)CHUNKS_GLOBAL));
    for (u32 k = 0; k < FORMS; k++) all &= pool_open(&n->form[k], form_size[k], chunks);
    for (u32 k = 0; k < UPPERS; k++) all &= pool_open(&n->upper[k], UPPER_MOST * sizeof(u32), chunks);
    if (all) notes_shape(n, 1, 0);
    return all;
}

/* How many bits number n things. */
static u32 bits_for(u64 n)
{
    u32 b = 0;
    while (b < 32 && 1ull << b < n) b++;
    return b;
}

void notes_shape(struct notes *n, u32 warps, u64 marks)
{
    struct pool *few = &n->upper[UPPER_FEW];
    u32 bits = bits_for(marks), size = (u32)sizeof(u32) * MIN_OF(MAX_OF(bits, 16u + UPPER_LEAST) - 16, (u32)UPPER_MOST);
    n->shift = 5 + bits_for(warps);
    n->note.reach = REACH >> n->shift;
    n->note.most = MIN_OF(n->note.chunks * POOL_CHUNK, SET_MARK >> n->shift);
    if (few->size != size) {
        pool_clear(few);
        few->size = size;
    }
}

void notes_empty(struct notes *n)
{
    pool_empty(&n->form[FORM_FULL]);
    pool_empty(&n->write_pair);
    pool_empty(&n->set);
    if (!n->note.n && !n->list.n) return; /* marks have notes: there are no blocks of marks either */
    for (u32 k = FORM_FULL + 1; k < FORMS; k++) pool_empty(&n->form[k]);
    for (u32 k = 0; k < UPPERS; k++) pool_empty(&n->upper[k]);
    pool_empty(&n->note);
    pool_empty(&n->list);
}

void notes_free(struct notes *n)
{
    for (u32 k = 0; n->list.chunk && k < n->list.chunks && n->list.chunk[k]; k++)
        for (u32 m = 0; m < POOL_CHUNK; m++) {
            struct list *l = (struct list *)(void *)n->list.chunk[k] + m;
            base_free(l->e);
            base_free(l->s);
        }
    for (u32 k = 0; k < FORMS; k++) pool_free(&n->form[k]);
    for (u32 k = 0; k < UPPERS; k++) pool_free(&n->upper[k]);
    pool_free(&n->note);
    pool_free(&n->list);
    pool_free(&n->write_pair);
    pool_free(&n->set);
}

/* ---- notes ---- */

void notes_unref(struct notes *n, u32 note, u32 marks, bool locked)
{
    struct note *p = pool_at(&n->note, note);
    u32 left = locked ? __atomic_sub_fetch(&p->refs, marks, __ATOMIC_ACQ_REL) : (p->refs -= marks);
    if (!left) pool_give(&n->note, note, locked);
}

void note_unref(struct notes *n, u32 note, bool locked) { notes_unref(n, note, 1, locked); }

u32 note_new(struct notes *n, u64 a, u32 site, bool locked)
{
    u32 note = pool_take(&n->note, locked);
    *(struct note *)pool_at(&n->note, note) = (struct note){ a, site, 1 };
    return note;
}

u32 note_make(struct race_warp *w, u32 space, u64 a, u32 site)
{
    struct notes *n = notes_in(w, space);
    bool locked = notes_locked(w, space);
    struct note_cache *k = note_cache_of(w, space, a, site);
    if (k->a >= w->c->lo[space]) note_unref(n, k->note, locked); /* an older one went with all notes of that phase */
    u32 note = note_new(n, a, site, locked);
    *k = (struct note_cache){ a, site, note };
    if (space == SPACE_GLOBAL) w->c->has_refs = true;
    return note;
}

void note_caches_drop(struct race_cta *c)
{
    for (u32 n = 0; n < NOTE_CACHE && c->has_refs; n++) {
        struct note_cache *k = &c->note_cache[SPACE_GLOBAL][n];
        if (k->a >= c->lo[SPACE_GLOBAL]) note_unref(&c->era->notes, k->note, c->era->parallel);
        k->a = 0;
    }
    if (c->has_refs && c->exact) set_memos_drop(c);
    c->has_refs = false;
}

/* ---- marks ---- */

/* elements_bytes.base of a block with upper bits: UPPER_BIT, which pool they are from, their number. */
enum { UPPER_WHICH = 30 };
#define UPPER_BIT (1u << 31)
/* The upper bits of a block of bytes that has some; *bits: how many a mark has. */
static u32 *upper_of(const struct notes *n, const struct elements_bytes *q, u32 *bits)
{
    const struct pool *p = &n->upper[q->base >> UPPER_WHICH & 1];
    *bits = p->size / sizeof(u32);
    return pool_at(p, q->base & ((1u << UPPER_WHICH) - 1));
}

/* The mark of byte k in a block of bytes; 0: none. */
static u32 byte_mark(const struct notes *n, const struct elements_bytes *q, u32 k)
{
    u32 bits, from = q->lower[k];
    if (likely(!(q->base & UPPER_BIT))) return from ? (q->base << n->shift) + from : 0;
    const u32 *upper = upper_of(n, q, &bits);
    for (u32 b = 0; b < bits; b++) from |= (upper[b] >> k & 1) << (16 + b);
    return from ? from - 1 + (1u << n->shift) : 0;
}

/* Byte k gets a mark, 0: none. false: its offset does not fit, and nothing was done. */
static bool byte_mark_put(const struct notes *n, struct elements_bytes *q, u32 k, u32 mark)
{
    u32 from = mark - (q->base << n->shift), bits;
    if (likely(!(q->base & UPPER_BIT))) {
        if (mark && (from < 1u << n->shift || from >> 16)) return false;
        q->lower[k] = mark ? (u16)from : 0;
        return true;
    }
    u32 *upper = upper_of(n, q, &bits);
    from = mark ? mark - (1u << n->shift) + 1 : 0;
    if (from >> 16 >> bits) return false;
    q->lower[k] = (u16)from;
    for (u32 b = 0; b < bits; b++) upper[b] = (upper[b] & ~(1u << k)) | (from >> (16 + b) & 1) << k;
    return true;
}

/* The marks of a block of words or halves, and how many; NULL: it has bytes. */
static u32 *marks_of(const struct notes *n, u32 x, u32 *count)
{
    enum form form = (enum form)(x >> FORM_SHIFT);
    *count = form == FORM_WORDS ? SECTOR / 4 : form == FORM_HALVES ? SECTOR / 2 : 0;
    return *count ? elements_at(n, x) : NULL;
}

/* The mark of byte k in a block of any form but FORM_FULL. */
static inline u32 mark_at(const struct notes *n, u32 x, u32 k)
{
    const void *p = elements_at(n, x);
    switch ((enum form)(x >> FORM_SHIFT)) {
    case FORM_WORDS: return ((const u32 *)p)[k / 4];
    case FORM_HALVES: return ((const u32 *)p)[k / 2];
    default: return byte_mark(n, p, k);
    }
}

struct prior element_by_mark(const struct notes *n, u32 x, u32 k)
{
    u32 mark = mark_at(n, x, k);
    return mark ? prior_of_mark(n, mark) : (struct prior){ 0, 0, 0 };
}

/* A block of that form without accesses. mark: the first one that will be put in. */
static u32 elements_new(const struct touch *t, enum form form, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 x = pool_take(&n->form[form], notes_locked(t->w, t->space)) | (u32)form << FORM_SHIFT, note = mark >> n->shift,
        below = BASE_BELOW >> n->shift;
    memset(elements_at(n, x), 0, form == FORM_FULL ? sizeof((struct elements_full *)0)->a : form_size[form]);
    if (form == FORM_BYTES) ((struct elements_bytes *)elements_at(n, x))->base = note > below ? note - below : 0;
    return x;
}

/* Gives the upper bits of a block of bytes back, if it has some. */
static void bytes_free_upper(const struct touch *t, const struct elements_bytes *q)
{
    if (q->base & UPPER_BIT)
        pool_give(&notes_of(t)->upper[q->base >> UPPER_WHICH & 1], q->base & ((1u << UPPER_WHICH) - 1),
                  notes_locked(t->w, t->space));
}

/* A mark does not fit into a block of bytes: the block gets upper bits of size `which` instead of those it has. false:
 * the marks do not fit here either, and nothing was changed. */
static bool bytes_widen(const struct touch *t, struct elements_bytes *q, u32 which)
{
    struct notes *n = notes_of(t);
    struct pool *p = &n->upper[which];
    struct elements_bytes wide = { .base = pool_take(p, notes_locked(t->w, t->space)) | which << UPPER_WHICH |
                                           UPPER_BIT };
    u32 bits;
    memset(upper_of(n, &wide, &bits), 0, p->size);
    for (u32 k = 0; k < SECTOR; k++)
        if (!byte_mark_put(n, &wide, k, byte_mark(n, q, k))) {
            bytes_free_upper(t, &wide);
            return false;
        }
    bytes_free_upper(t, q);
    *q = wide;
    return true;
}

/* Byte k gets a mark, 0: none, in a block of any form but FORM_FULL. The references are the caller's. */
static void mark_put(const struct touch *t, u32 x, u32 k, u32 mark)
{
    const struct notes *n = notes_of(t);
    void *p = elements_at(n, x);
    switch ((enum form)(x >> FORM_SHIFT)) {
    case FORM_WORDS: ((u32 *)p)[k / 4] = mark; return;
    case FORM_HALVES: ((u32 *)p)[k / 2] = mark; return;
    default:
        if (byte_mark_put(n, p, k, mark)) return;
        for (u32 which = 0; which < UPPERS; which++)
            if (bytes_widen(t, p, which) && byte_mark_put(n, p, k, mark)) return;
    }
}

/* Gives a block back; the references of its marks are the caller's. */
static void elements_free(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    if (x >> FORM_SHIFT == FORM_BYTES) bytes_free_upper(t, elements_at(n, x));
    pool_give(&n->form[x >> FORM_SHIFT], x & ((1u << FORM_SHIFT) - 1), notes_locked(t->w, t->space));
}

static void mark_ref(const struct touch *t, u32 mark)
{
    if (mark & SET_MARK)
        set_ref(notes_of(t), mark & ~SET_MARK, notes_locked(t->w, t->space));
    else
        note_ref(notes_of(t), mark >> notes_of(t)->shift, notes_locked(t->w, t->space));
}
static void mark_unref(const struct touch *t, u32 mark)
{
    if (mark & SET_MARK)
        set_unref(notes_of(t), mark & ~SET_MARK, notes_locked(t->w, t->space));
    else
        note_unref(notes_of(t), mark >> notes_of(t)->shift, notes_locked(t->w, t->space));
}
/* The mark of an access, or of a set; it takes no reference yet. */
static u32 mark_for_access(const struct touch *t, u64 a, u32 site)
{
    return word_is_set(a) ? site | SET_MARK : mark_of(t->w, t->space, a, site);
}

/* Word j of a block of FORM_FULL gets an access; references to sets are counted. */
static void full_put(const struct touch *t, struct elements_full *w, u32 j, u64 a, u32 site)
{
    if (word_is_set(a)) mark_ref(t, site | SET_MARK);
    if (word_is_set(w->a[j])) mark_unref(t, w->site[j] | SET_MARK);
    w->a[j] = a;
    w->site[j] = site;
}

void elements_drop(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    if (!x) return;
    bool wide = x >> FORM_SHIFT == FORM_FULL;
    for (u32 j = 0; j < 8 && wide && t->w->c->exact; j++) full_put(t, elements_at(n, x), j, 0, 0);
    u32 count = 0;
    const u32 *mark = wide ? NULL : marks_of(n, x, &count);
    for (u32 i = 0; i < count; i++)
        if (mark[i]) mark_unref(t, mark[i]);
    for (u32 k = 0; k < SECTOR && !wide && !mark; k++) {
        u32 one = byte_mark(n, elements_at(n, x), k);
        if (one) mark_unref(t, one);
    }
    elements_free(t, x);
}

/* A block of FORM_FULL becomes one of FORM_WORDS. */
static u32 marks_from_full(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    const struct elements_full *w = elements_at(n, x);
    u32 y = elements_new(t, FORM_WORDS, 0);
    for (u32 j = 0; j < 8; j++) {
        if (!w->a[j]) continue;
        u32 mark = mark_for_access(t, w->a[j], w->site[j]);
        mark_ref(t, mark);
        mark_put(t, y, 4 * j, mark);
    }
    elements_drop(t, x);
    return y;
}

/* A block becomes one of smaller elements. mark: the first one that will be put in. */
static u32 elements_finer(const struct touch *t, u32 x, u32 step, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 y = elements_new(t, step == 2 ? FORM_HALVES : FORM_BYTES, mark);
    for (u32 k = 0; k < SECTOR; k += step) {
        u32 old = mark_at(n, x, k);
        mark_put(t, y, k, old);
        if (old) mark_ref(t, old);
    }
    elements_drop(t, x);
    return y;
}

static void full_record(const struct touch *t, u32 x, u32 first, u32 size, u64 a, u32 site)
{
    struct elements_full *w = elements_at(notes_of(t), x);
    for (u32 j = first / 4; j < (first + size) / 4; j++) full_put(t, w, j, a, site);
}

void elements_record(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site)
{
    struct notes *n = notes_of(t);
    u32 fine = granule(first, size);
    if (!*x && fine == 4 && t->space == SPACE_SHARED) *x = elements_new(t, FORM_FULL, 0);
    if (*x && *x >> FORM_SHIFT == FORM_FULL) {
        if (fine == 4) {
            full_record(t, *x, first, size, a, site);
            return;
        }
        *x = marks_from_full(t, *x);
    }
    u32 mark = mark_for_access(t, a, site);
    mark_ref(t, mark); /* until the elements have references of their own */
    if (!*x)
        *x = elements_new(t, fine == 4 ? FORM_WORDS : fine == 2 ? FORM_HALVES : FORM_BYTES, mark);
    else if (element_size(*x) > fine)
        *x = elements_finer(t, *x, fine, mark);
    for (u32 k = first; k < first + size; k += element_size(*x)) {
        u32 old = mark_at(n, *x, k);
        if (old == mark) continue;
        mark_put(t, *x, k, mark);
        mark_ref(t, mark);
        if (old) mark_unref(t, old);
    }
    mark_unref(t, mark);
}

bool element_put_set(const struct touch *t, u32 x, u32 k, u32 size, u32 set)
{
    const struct notes *n = notes_of(t);
    if (!x || element_size(x) != size) return false;
    if (x >> FORM_SHIFT == FORM_FULL) {
        struct elements_full *w = elements_at(n, x);
        if (word_is_set(w->a[k / 4])) mark_unref(t, w->site[k / 4] | SET_MARK);
        w->a[k / 4] = word_of_set(t->w->now);
        w->site[k / 4] = set;
        return true;
    }
    u32 old = mark_at(n, x, k);
    mark_put(t, x, k, set | SET_MARK);
    if (old) mark_unref(t, old);
    return true;
}

bool elements_clear(const struct touch *t, u32 x, u32 first, u32 size)
{
    struct notes *n = notes_of(t);
    if (x >> FORM_SHIFT == FORM_FULL || element_size(x) > granule(first, size)) return false;
    for (u32 k = first; k < first + size; k += element_size(x)) {
        u32 old = mark_at(n, x, k);
        if (!old) continue;
        mark_unref(t, old);
        mark_put(t, x, k, 0);
    }
    u32 count, any = 0;
    const u32 *mark = marks_of(n, x, &count);
    for (u32 i = 0; i < count; i++) any |= mark[i];
    for (u32 k = 0; k < SECTOR && !mark && !any; k++) any = byte_mark(n, elements_at(n, x), k);
    return !any;
}
