/* Notes and marks: what is kept of the accesses to sectors whose bytes differ, in as little room as it takes
 * (race.h).
 *
 * A note is 16 bytes for all that one instruction of a CTA does in a phase, and is counted: it goes when no mark
 * stands for it. A mark is 4 bytes, of a byte 2 that count from a base; a block of them has the marks of one sector,
 * and becomes one of smaller elements when a part of an element is touched alone. Bytes whose notes are far
 * apart have as many bits more as all threads of the launch take to number: words with a bit for each byte,
 * so that any number of bits is an array. */
#include "race/race_touch.h"

/* in marks: how far below its first one a block of bytes has its base; from which spare notes are near */
enum { BASE_BELOW = 1 << 14, REACH = 1 << 15 };
enum { UPPER_LEAST = 4, UPPER_MOST = 16 }; /* bits */
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
    if (!n->note.n && !n->list.n) return; /* no marks without notes */
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

void note_unref(struct notes *n, u32 note, bool locked)
{
    struct note *p = pool_at(&n->note, note);
    u32 left = locked ? __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) : --p->refs;
    if (!left) pool_give(&n->note, note, locked);
}

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
    if (k->a >= w->c->lo[space]) note_unref(n, k->note, locked); /* otherwise the notes it was among are gone */
    u32 note = note_new(n, a, site, locked);
    *k = (struct note_cache){ a, site, note };
    if (space == SPACE_GLOBAL) w->c->has_refs = true;
    return note;
}

void note_caches_drop(struct race_cta *c)
{
    for (u32 n = 0; n < NOTE_CACHE && c->has_refs; n++) {
        struct note_cache *k = &c->note_cache[SPACE_GLOBAL][n];
        if (k->a >= c->lo[SPACE_GLOBAL]) note_unref(&c->launch->notes, k->note, c->launch->parallel);
        k->a = 0;
    }
    if (c->has_refs && c->exact) set_memos_drop(c);
    c->has_refs = false;
}

/* ---- marks ---- */

enum { UPPER_WHICH = 30 };
#define UPPER_BIT (1u << 31)
/* The upper bits of a block of bytes that has some, and how many a mark has. */
static u32 *upper_of(const struct notes *n, const struct elements_bytes *q, u32 *bits)
{
    const struct pool *p = &n->upper[q->base >> UPPER_WHICH & 1];
    *bits = p->size / sizeof(u32);
    return pool_at(p, q->base & ((1u << UPPER_WHICH) - 1));
}

static u32 byte_at(const struct notes *n, const struct elements_bytes *q, u32 k)
{
    u32 bits, from = q->lower[k];
    if (likely(!(q->base & UPPER_BIT))) return from ? (q->base << n->shift) + from : 0;
    const u32 *upper = upper_of(n, q, &bits);
    for (u32 b = 0; b < bits; b++) from |= (upper[b] >> k & 1) << (16 + b);
    return from ? from - 1 + (1u << n->shift) : 0;
}

static bool byte_put(const struct notes *n, struct elements_bytes *q, u32 k, u32 mark)
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

/* The mark at byte k; not of FORM_FULL. */
static u32 mark_at(const struct notes *n, u32 x, u32 k)
{
    const void *p = elements_at(n, x);
    switch ((enum form)(x >> FORM_SHIFT)) {
    case FORM_WORDS: return ((const u32 *)p)[k / 4];
    case FORM_HALVES: return ((const u32 *)p)[k / 2];
    default: return byte_at(n, p, k);
    }
}

struct prior element_by_mark(const struct notes *n, u32 x, u32 k)
{
    u32 mark = mark_at(n, x, k);
    return mark ? prior_of_mark(n, mark) : (struct prior){ 0, 0, 0 };
}

static u32 marks_new(const struct touch *t, enum form form, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 x = pool_take(&n->form[form], notes_locked(t->w, t->space)) | (u32)form << FORM_SHIFT, note = mark >> n->shift,
        below = BASE_BELOW >> n->shift;
    memset(elements_at(n, x), 0, form == FORM_FULL ? sizeof((struct elements_full *)0)->a : form_size[form]);
    if (form == FORM_BYTES) ((struct elements_bytes *)elements_at(n, x))->base = note > below ? note - below : 0;
    return x;
}

static void bytes_give(const struct touch *t, const struct elements_bytes *q)
{
    if (q->base & UPPER_BIT)
        pool_give(&notes_of(t)->upper[q->base >> UPPER_WHICH & 1], q->base & ((1u << UPPER_WHICH) - 1),
                  notes_locked(t->w, t->space));
}

/* A block of bytes one mark of which does not fit: they all have these upper bits from now on. false: not all of them
 * fit. */
static bool bytes_widen(const struct touch *t, struct elements_bytes *q, u32 which)
{
    struct notes *n = notes_of(t);
    struct pool *p = &n->upper[which];
    struct elements_bytes wide = { .base = pool_take(p, notes_locked(t->w, t->space)) | which << UPPER_WHICH |
                                           UPPER_BIT };
    u32 bits;
    memset(upper_of(n, &wide, &bits), 0, p->size);
    for (u32 k = 0; k < SECTOR; k++)
        if (!byte_put(n, &wide, k, byte_at(n, q, k))) {
            bytes_give(t, &wide);
            return false;
        }
    bytes_give(t, q);
    *q = wide;
    return true;
}

static void mark_put(const struct touch *t, u32 x, u32 k, u32 mark)
{
    const struct notes *n = notes_of(t);
    void *p = elements_at(n, x);
    switch ((enum form)(x >> FORM_SHIFT)) {
    case FORM_WORDS: ((u32 *)p)[k / 4] = mark; return;
    case FORM_HALVES: ((u32 *)p)[k / 2] = mark; return;
    default:
        if (byte_put(n, p, k, mark)) return;
        for (u32 which = 0; which < UPPERS; which++)
            if (bytes_widen(t, p, which) && byte_put(n, p, k, mark)) return;
    }
}

static void marks_give(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    if (x >> FORM_SHIFT == FORM_BYTES) bytes_give(t, elements_at(n, x));
    pool_give(&n->form[x >> FORM_SHIFT], x & ((1u << FORM_SHIFT) - 1), notes_locked(t->w, t->space));
}

static void mark_hold(const struct touch *t, u32 mark)
{
    if (mark & SET_MARK)
        set_ref(notes_of(t), mark & ~SET_MARK, notes_locked(t->w, t->space));
    else
        note_ref(notes_of(t), mark >> notes_of(t)->shift, notes_locked(t->w, t->space));
}
static void mark_release(const struct touch *t, u32 mark)
{
    if (mark & SET_MARK)
        set_unref(notes_of(t), mark & ~SET_MARK, notes_locked(t->w, t->space));
    else
        note_unref(notes_of(t), mark >> notes_of(t)->shift, notes_locked(t->w, t->space));
}
static u32 mark_for(const struct touch *t, u64 a, u32 site)
{
    return word_is_set(a) ? site | SET_MARK : mark_of(t->w, t->space, a, site);
}

/* A word in full; of a set it is a reference. */
static void word_put(const struct touch *t, struct elements_full *w, u32 j, u64 a, u32 site)
{
    if (word_is_set(a)) mark_hold(t, site | SET_MARK);
    if (word_is_set(w->a[j])) mark_release(t, w->site[j] | SET_MARK);
    w->a[j] = a;
    w->site[j] = site;
}

void elements_drop(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    if (!x) return;
    bool wide = x >> FORM_SHIFT == FORM_FULL;
    for (u32 j = 0; j < 8 && wide && t->w->c->exact; j++) word_put(t, elements_at(n, x), j, 0, 0);
    for (u32 k = 0; k < SECTOR && !wide; k += element_size(x)) {
        u32 mark = mark_at(n, x, k);
        if (mark) mark_release(t, mark);
    }
    marks_give(t, x);
}

/* Words in full become marks. */
static u32 marks_of_words(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    const struct elements_full *w = elements_at(n, x);
    u32 y = marks_new(t, FORM_WORDS, 0);
    for (u32 j = 0; j < 8; j++) {
        if (!w->a[j]) continue;
        u32 mark = mark_for(t, w->a[j], w->site[j]);
        mark_hold(t, mark);
        mark_put(t, y, 4 * j, mark);
    }
    elements_drop(t, x);
    return y;
}

/* The same in smaller elements, of which one will have this mark. */
static u32 marks_finer(const struct touch *t, u32 x, u32 step, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 y = marks_new(t, step == 2 ? FORM_HALVES : FORM_BYTES, mark);
    for (u32 k = 0; k < SECTOR; k += step) {
        u32 old = mark_at(n, x, k);
        mark_put(t, y, k, old);
        if (old) mark_hold(t, old);
    }
    elements_drop(t, x);
    return y;
}

static void words_down(const struct touch *t, u32 x, u32 first, u32 size, u64 a, u32 site)
{
    struct elements_full *w = elements_at(notes_of(t), x);
    for (u32 j = first / 4; j < (first + size) / 4; j++) word_put(t, w, j, a, site);
}

void elements_record(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site)
{
    struct notes *n = notes_of(t);
    u32 fine = granule(first, size);
    if (!*x && fine == 4 && t->space == SPACE_SHARED) *x = marks_new(t, FORM_FULL, 0);
    if (*x && *x >> FORM_SHIFT == FORM_FULL) {
        if (fine == 4) {
            words_down(t, *x, first, size, a, site);
            return;
        }
        *x = marks_of_words(t, *x);
    }
    u32 mark = mark_for(t, a, site);
    mark_hold(t, mark); /* until it is noted */
    if (!*x)
        *x = marks_new(t, fine == 4 ? FORM_WORDS : fine == 2 ? FORM_HALVES : FORM_BYTES, mark);
    else if (element_size(*x) > fine)
        *x = marks_finer(t, *x, fine, mark);
    for (u32 k = first; k < first + size; k += element_size(*x)) {
        u32 old = mark_at(n, *x, k);
        if (old == mark) continue;
        mark_put(t, *x, k, mark);
        mark_hold(t, mark);
        if (old) mark_release(t, old);
    }
    mark_release(t, mark);
}

bool element_put_set(const struct touch *t, u32 x, u32 k, u32 size, u32 set)
{
    const struct notes *n = notes_of(t);
    if (!x || element_size(x) != size) return false;
    if (x >> FORM_SHIFT == FORM_FULL) {
        struct elements_full *w = elements_at(n, x);
        if (word_is_set(w->a[k / 4])) mark_release(t, w->site[k / 4] | SET_MARK);
        w->a[k / 4] = word_of_set(t->w->now);
        w->site[k / 4] = set;
        return true;
    }
    u32 old = mark_at(n, x, k);
    mark_put(t, x, k, set | SET_MARK);
    if (old) mark_release(t, old);
    return true;
}

bool elements_clear(const struct touch *t, u32 x, u32 first, u32 size)
{
    struct notes *n = notes_of(t);
    if (x >> FORM_SHIFT == FORM_FULL || element_size(x) > granule(first, size)) return false;
    for (u32 k = first; k < first + size; k += element_size(x)) {
        u32 old = mark_at(n, x, k);
        if (!old) continue;
        mark_release(t, old);
        mark_put(t, x, k, 0);
    }
    for (u32 k = 0; k < SECTOR; k += element_size(x))
        if (mark_at(n, x, k)) return false;
    return true;
}
