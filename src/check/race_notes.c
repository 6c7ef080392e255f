/* Notes and marks: what is kept of the accesses to sectors whose bytes differ, in as little room as it takes (race.h).
 *
 * A note is 16 bytes for all that one instruction of a warp does in a phase, and is counted: it goes when no mark stands for it. A mark is 4
 * bytes, 2 where it can count from a base; a block of them has the marks of one sector, and becomes one of smaller elements when a part of an
 * element is touched alone. */
#include "check/race.h"

/* ---- numbered things ---- */

static bool pool_open(struct pool *p, u32 size, u32 chunks)
{
    *p = (struct pool){ .chunk = base_alloc(sizeof *p->chunk * chunks), .chunks = chunks, .size = size, .lock = LOCK_INIT };
    return p->chunk != NULL;
}

static u32 pool_next(struct pool *p)
{
    if (p->nspare && (!p->reach || p->spare[p->nspare - 1] + p->reach > p->n || p->nspare > p->n / 4)) return p->spare[--p->nspare];
    u32 n = p->n + 1;
    if (n / POOL_CHUNK >= p->chunks) base_exhausted((size_t)POOL_CHUNK * p->chunks * p->size, "the race check, more than it can number (--no-check race does without)");
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

void pool_give(struct pool *p, u32 n, bool locked)
{
    if (locked) lock(&p->lock);
    if (p->nspare == p->capspare) {
        p->capspare = p->capspare ? 2 * p->capspare : 64;
        p->spare = base_need_more(p->spare, sizeof *p->spare * p->capspare);
    }
    p->spare[p->nspare++] = n;
    if (locked) unlock(&p->lock);
}

static void pool_empty(struct pool *p) { p->n = p->nspare = 0; }

static void pool_free(struct pool *p)
{
    for (u32 k = 0; p->chunk && k < p->chunks && p->chunk[k]; k++) base_free(p->chunk[k]);
    base_free(p->chunk); base_free(p->spare);
}

enum { NEAR_BELOW = 512, NEAR_REACH = 1024, FAR_BELOW = 1 << 18 };      /* how far below its first note a block has its base; from which spare notes are near */
static const u8 form_size[FORMS] = { [FORM_WIDE] = sizeof(struct words), [FORM_WORDS] = 32, [FORM_HALVES] = 64, [FORM_NEAR] = sizeof(struct marks_near), [FORM_BYTES] = 128, [FORM_FAR] = sizeof(struct marks_far) };

bool notes_open(struct notes *n, u32 chunks)
{
    bool all = pool_open(&n->note, sizeof(struct note), MIN_OF(4 * chunks, (u32)CHUNKS_GLOBAL));
    all &= pool_open(&n->list, sizeof(struct list), chunks);
    for (u32 k = 0; k < FORMS; k++) all &= pool_open(&n->form[k], form_size[k], chunks);
    n->note.reach = NEAR_REACH;
    return all;
}

void notes_empty(struct notes *n)
{
    pool_empty(&n->form[FORM_WIDE]);
    if (!n->note.n && !n->list.n) return;       /* no marks without notes */
    for (u32 k = FORM_WIDE + 1; k < FORMS; k++) pool_empty(&n->form[k]);
    pool_empty(&n->note); pool_empty(&n->list);
}

void notes_free(struct notes *n)
{
    for (u32 k = 0; n->list.chunk && k < n->list.chunks && n->list.chunk[k]; k++)
        for (u32 m = 0; m < POOL_CHUNK; m++) { struct list *l = (struct list *)(void *)n->list.chunk[k] + m; base_free(l->e); base_free(l->s); }
    for (u32 k = 0; k < FORMS; k++) pool_free(&n->form[k]);
    pool_free(&n->note); pool_free(&n->list);
}

/* ---- notes ---- */

void note_release(struct notes *n, u32 note, bool locked)
{
    struct note *p = pool_at(&n->note, note);
    u32 left = locked ? __atomic_sub_fetch(&p->refs, 1, __ATOMIC_ACQ_REL) : --p->refs;
    if (!left) pool_give(&n->note, note, locked);
}

u32 note_make(struct race_warp *w, u32 space, u64 a, u32 site)
{
    struct notes *n = notes_in(w, space);
    bool locked = notes_locked(w, space);
    struct kept *k = &w->kept[space][site % KEPT];
    if (k->a >= w->c->lo[space]) note_release(n, k->note, locked);      /* otherwise the notes it was among are gone */
    u32 note = pool_take(&n->note, locked);
    *(struct note *)pool_at(&n->note, note) = (struct note){ a, site, 1 };
    *k = (struct kept){ a, site, note };
    if (space == SPACE_GLOBAL) w->c->keeps |= 1u << w->id;
    return note;
}

void notes_unkeep(struct race_cta *c)
{
    for (; c->keeps; c->keeps &= c->keeps - 1)
        for (u32 n = 0; n < KEPT; n++) {
            struct kept *k = &c->warp[__builtin_ctz(c->keeps)].kept[SPACE_GLOBAL][n];
            if (k->a >= c->lo[SPACE_GLOBAL]) note_release(&c->race->notes, k->note, c->race->many);
            k->a = 0;
        }
}

/* ---- marks ---- */

#define FAR_BIT (1u << 31)
static struct marks_far *far_of(const struct notes *n, const struct marks_near *q) { return q->base & FAR_BIT ? pool_at(&n->form[FORM_FAR], q->base & ~FAR_BIT) : NULL; }

static u32 near_at(const struct notes *n, const struct marks_near *q, u32 k)
{
    const struct marks_far *far = far_of(n, q);
    u32 from = q->lower[k] | (far ? (u32)far->upper[k] << 16 : 0);
    return from ? ((far ? far->base : q->base) << 5) + from : 0;
}

static bool near_put(const struct notes *n, struct marks_near *q, u32 k, u32 mark)
{
    struct marks_far *far = far_of(n, q);
    u32 from = mark ? mark - ((far ? far->base : q->base) << 5) : 0;
    if (mark && (from < 1u << 5 || from >> (far ? 24 : 16))) return false;
    q->lower[k] = (u16)from;
    if (far) far->upper[k] = (u8)(from >> 16);
    return true;
}

/* The mark at byte k; not of FORM_WIDE. */
static u32 mark_at(const struct notes *n, u32 x, u32 k)
{
    const void *p = form_at(n, x);
    switch ((enum form)(x >> FORM_SHIFT)) {
    case FORM_WORDS: return ((const u32 *)p)[k / 4];
    case FORM_HALVES: return ((const u32 *)p)[k / 2];
    case FORM_BYTES: return ((const u32 *)p)[k];
    default: return near_at(n, p, k);
    }
}

/* false: the form has no room for it. */
static bool mark_put(const struct notes *n, u32 x, u32 k, u32 mark)
{
    void *p = form_at(n, x);
    switch ((enum form)(x >> FORM_SHIFT)) {
    case FORM_WORDS: ((u32 *)p)[k / 4] = mark; return true;
    case FORM_HALVES: ((u32 *)p)[k / 2] = mark; return true;
    case FORM_BYTES: ((u32 *)p)[k] = mark; return true;
    default: return near_put(n, p, k, mark);
    }
}

struct seen marked_at(const struct notes *n, u32 x, u32 k)
{
    u32 mark = mark_at(n, x, k);
    return mark ? mark_seen(n, mark) : (struct seen){ 0, 0 };
}

static u32 base_for(u32 mark, u32 below) { return mark >> 5 > below ? (mark >> 5) - below : 0; }

static u32 marks_new(const struct touch *t, enum form form, u32 mark)
{
    struct notes *n = notes_of(t);
    u32 x = pool_take(&n->form[form], notes_locked(t->w, t->space)) | (u32)form << FORM_SHIFT;
    memset(form_at(n, x), 0, form == FORM_WIDE ? sizeof ((struct words *)0)->a : form_size[form]);
    if (form == FORM_NEAR) ((struct marks_near *)form_at(n, x))->base = base_for(mark, NEAR_BELOW);
    return x;
}

/* A block of bytes whose notes are not that near: it counts with 24 bits from now on, if its marks and this one are near enough for that. */
static bool marks_widen(const struct touch *t, u32 x, u32 mark)
{
    struct notes *n = notes_of(t);
    struct marks_near *q = form_at(n, x), old = *q;
    u32 base = base_for(old.base << 5, FAR_BELOW);
    if (x >> FORM_SHIFT != FORM_NEAR || old.base & FAR_BIT) return false;
    if (mark <= base << 5 || (mark - (base << 5)) >> 24) return false;
    q->base = (marks_new(t, FORM_FAR, 0) & ((1u << FORM_SHIFT) - 1)) | FAR_BIT;
    far_of(n, q)->base = base;
    for (u32 k = 0; k < SECTOR; k++) near_put(n, q, k, near_at(n, &old, k));
    return true;
}

static void marks_give(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space);
    u32 base = x >> FORM_SHIFT == FORM_NEAR ? ((struct marks_near *)form_at(n, x))->base : 0;
    if (base & FAR_BIT) pool_give(&n->form[FORM_FAR], base & ~FAR_BIT, locked);
    pool_give(&n->form[x >> FORM_SHIFT], x & ((1u << FORM_SHIFT) - 1), locked);
}

void marks_drop(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    bool locked = notes_locked(t->w, t->space);
    if (!x) return;
    for (u32 k = 0; k < SECTOR && x >> FORM_SHIFT != FORM_WIDE; k += marks_step(x)) {
        u32 mark = mark_at(n, x, k);
        if (mark) note_release(n, mark >> 5, locked);
    }
    marks_give(t, x);
}

/* Words in full become marks. */
static u32 marks_of_words(const struct touch *t, u32 x)
{
    struct notes *n = notes_of(t);
    const struct words *w = form_at(n, x);
    u32 y = marks_new(t, FORM_WORDS, 0);
    for (u32 j = 0; j < 8; j++) {
        if (!w->a[j]) continue;
        u32 mark = mark_of(t->w, t->space, w->a[j], w->site[j]);
        note_hold(n, mark >> 5, notes_locked(t->w, t->space));
        mark_put(n, y, 4 * j, mark);
    }
    marks_give(t, x);
    return y;
}

/* The same in smaller elements, of which one will have this mark. */
static u32 marks_finer(const struct touch *t, u32 x, u32 step, u32 mark)
{
    struct notes *n = notes_of(t);
    enum form form = step == 2 ? FORM_HALVES : x >> FORM_SHIFT == FORM_NEAR ? FORM_BYTES : FORM_NEAR;
    u32 y = marks_new(t, form, mark);
    for (u32 k = 0; k < SECTOR; k += step) {
        u32 old = mark_at(n, x, k);
        if (!mark_put(n, y, k, old) && !(marks_widen(t, y, old) && mark_put(n, y, k, old))) {
            y = marks_finer(t, y, 1, old);      /* too far apart: what has come so far is in full now */
            mark_put(n, y, k, old);
        }
        if (old) note_hold(n, old >> 5, notes_locked(t->w, t->space));
    }
    marks_drop(t, x);
    return y;
}

static u32 granule(u32 first, u32 size) { return (first | size) & 1 ? 1 : (first | size) & 2 ? 2 : 4; }

static void words_down(const struct notes *n, u32 x, u32 first, u32 size, u64 a, u32 site)
{
    struct words *w = form_at(n, x);
    for (u32 j = first / 4; j < (first + size) / 4; j++) { w->a[j] = a; w->site[j] = site; }
}

void note_down(const struct touch *t, u32 *x, u32 first, u32 size, u64 a, u32 site)
{
    struct notes *n = notes_of(t);
    u32 fine = granule(first, size);
    bool locked = notes_locked(t->w, t->space);
    if (!*x && fine == 4 && t->space == SPACE_SHARED) *x = marks_new(t, FORM_WIDE, 0);
    if (*x && *x >> FORM_SHIFT == FORM_WIDE) {
        if (fine == 4) { words_down(n, *x, first, size, a, site); return; }
        *x = marks_of_words(t, *x);
    }
    u32 mark = mark_of(t->w, t->space, a, site);
    note_hold(n, mark >> 5, locked);            /* until it is noted */
    if (!*x) *x = marks_new(t, fine == 4 ? FORM_WORDS : fine == 2 ? FORM_HALVES : FORM_NEAR, mark);
    else if (marks_step(*x) > fine) *x = marks_finer(t, *x, fine, mark);
    for (u32 k = first; k < first + size; k += marks_step(*x)) {
        u32 old = mark_at(n, *x, k);
        if (old == mark) continue;
        if (!mark_put(n, *x, k, mark) && !(marks_widen(t, *x, mark) && mark_put(n, *x, k, mark))) { *x = marks_finer(t, *x, 1, mark); mark_put(n, *x, k, mark); }
        note_hold(n, mark >> 5, locked);
        if (old) note_release(n, old >> 5, locked);
    }
    note_release(n, mark >> 5, locked);
}

bool note_clear(const struct touch *t, u32 x, u32 first, u32 size)
{
    struct notes *n = notes_of(t);
    if (x >> FORM_SHIFT == FORM_WIDE || marks_step(x) > granule(first, size)) return false;
    for (u32 k = first; k < first + size; k += marks_step(x)) {
        u32 old = mark_at(n, x, k);
        if (!old) continue;
        note_release(n, old >> 5, notes_locked(t->w, t->space));
        mark_put(n, x, k, 0);
    }
    for (u32 k = 0; k < SECTOR; k += marks_step(x)) if (mark_at(n, x, k)) return false;
    return true;
}
