/* race_touch.h: from the accesses of an instruction to the cells of its sectors. The inline half, for handlers on the
 * fast way. */
#ifndef LOCKSTEP_RACE_TOUCH_H
#define LOCKSTEP_RACE_TOUCH_H
#include "race/race.h"

/* For functions that are inlined whatever the compiler thinks of their size. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

static inline u64 race_stamp(const struct race_warp *w, u32 lane, u32 es, u32 kind)
{
    return (u64)w->now << 32 | w->key | lane << 9 | es << 6 | kind << 4;
}

/* ---- notes ---- */

/* The notes that the cells of a space refer to. */
static inline struct notes *notes_in(struct race_warp *w, u32 space)
{
    return space == SPACE_SHARED ? &w->c->notes : &w->c->launch->notes;
}
static inline struct notes *notes_of(const struct touch *t) { return notes_in(t->w, t->space); }
static inline bool notes_locked(const struct race_warp *w, u32 space)
{
    return space == SPACE_GLOBAL && w->c->launch->parallel;
}
/* The entry of the cache that a note has in its CTA. */
static inline struct note_cache *note_cache_of(struct race_warp *w, u32 space, u64 a, u32 site)
{
    return &w->c->note_cache[space][(site + word_kind(a) + 3 * ((u32)a & 3)) % NOTE_CACHE];
}
/* The mark of an access; its note is not held yet. */
static inline u32 mark_of(struct race_warp *w, u32 space, u64 a, u32 site)
{
    const struct note_cache *k = note_cache_of(w, space, a, site);
    u32 shift = notes_in(w, space)->shift, threads = (1u << shift) - 1;
    u64 all = a & ~((u64)threads << 9);
    return (likely(k->a == all && k->site == site) ? k->note : note_make(w, space, all, site)) << shift |
           (word_thread(a) & threads);
}

/* ---- cells ---- */

/* A read set that has an access by this warp in this phase as good as in it. */
static inline bool set_covers(const struct race_warp *w, u64 r, u64 me)
{
    if (word_kind(r) == WHO_ONE || word_mixed(r)) return false;
    if (word_kind(r) == WHO_GRID) return true;
    if ((u32)(r ^ me) >> 19 || word_time(r) < w->c->base) return false;
    return word_kind(r) == WHO_CTA || ((u32)(r ^ me) >> 14 == 0 && word_time(r) >= w->warp_base);
}

/* A lane of this warp was noted in the words of reads. */
static inline void reads_recorded(struct cell *c, const struct race_warp *w)
{
    u64 mine = (u64)w->now << 32 | w->key | MIXED | WHO_WARP << 4;
    c->r = (u32)c->r == (u32)mine && word_time(c->r) >= w->c->start ? mine : (u64)w->now << 32 | MIXED;
}

/* A whole sector by consecutive threads, or by one set. */
static inline void race_sector(const struct touch *t, struct cell *c, u64 me)
{
    const struct race_warp *w = t->w;
    const u64 lo = w->c->lo[t->space];
    if (likely(hb_by_barrier_maybe(w, c->w, me, lo))) {
        if (!(t->op & OP_WRITE)) {
            if (likely(hb_by_barrier_maybe(w, c->r, me, lo)) && !word_mixed(c->r)) {
                c->r = me;
                c->rx = t->site;
                return;
            }
            if (set_covers(w, c->r, me)) return;
        } else if (likely(hb_by_barrier_maybe(w, c->r, me, lo))) {
            c->w = me;
            c->wx = t->site;
            return;
        }
    }
    cell_access_sector(t, c, me);
}

/* Cells of global memory are shared by the workers: one spin lock for each page of them. */
static inline void cells_lock(struct race_launch *launch, u64 a)
{
    if (likely(!launch->parallel)) return;
    u8 *s = &launch->race->stripe[(a >> 12) % STRIPES].taken;
    while (__atomic_exchange_n(s, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(s, __ATOMIC_RELAXED)) cpu_relax();
}
static inline void cells_unlock(struct race_launch *launch, u64 a)
{
    if (likely(!launch->parallel)) return;
    __atomic_store_n(&launch->race->stripe[(a >> 12) % STRIPES].taken, 0, __ATOMIC_RELEASE);
}

/* Nobody else touches these cells now, and sets may stand for threads. */
static inline bool race_alone(const struct race_warp *w, u32 space)
{
    return !w->c->exact && (space == SPACE_SHARED || !w->c->launch->parallel);
}
static inline u32 race_site(const struct warp *warp, const struct insn *i)
{
    return warp->code->low->serial % FUNCS << 20 | (i->op & 0xfffff);
}
static inline struct touch race_touch(struct warp *warp, const struct insn *i, u32 op, u32 space)
{
    return (struct touch){
        .warp = warp, .w = warp->race, .op_index = i->op, .site = race_site(warp, i), .op = op, .space = space
    };
}

/* The memory of a site is an object that the launch cannot write, so it has no cells. May return false for such memory:
 * the general handler then finds out. */
static inline bool site_is_constant(const struct warp *w, const struct insn *i)
{
    return w->range[i->site].size && !w->range[i->site].race;
}
/* The stride of the address of a load or store, as handlers are chosen by it; 0: it is not affine. */
static inline s32 address_stride(const struct code *c, const struct insn *i)
{
    return CLS_AT(i, 1) == CLS_A ? c->stride[i->a] : 0;
}

memory_chooser race_memory; /* race_handlers.c */
/* race_pending.c: a load that is put off until a selection takes it */
handler race_speculated, race_speculated_init;
handler *race_init_memory(const struct site *s, const struct insn *i, u32 group, s32 stride); /* race_handlers_init.c */

void race_run_parts(struct touch *t, char *cells, u64 a, u32 n, u64 me);
/* n bytes at a, by consecutive lanes, the first of which `me` names, 1 << es bytes each; cells + address reaches the
 * cell. */
static inline void race_run(struct touch *t, char *cells, u64 a, u32 n, u64 me)
{
    u32 es = word_es(me);
    if (unlikely((a | n) & (SECTOR - 1)) || es >= ES_ONE) {
        race_run_parts(t, cells, a, n, me);
        return;
    }
    if (t->space == SPACE_GLOBAL && t->w->c->launch->parallel && (a ^ (a + n - 1)) >> 12) {
        race_run_parts(t, cells, a, n, me);
        return;
    }
    if (t->space == SPACE_GLOBAL) cells_lock(t->w->c->launch, a);
    u64 first = a;
    for (u64 up = (u64)(SECTOR >> es) << 9; n; n -= SECTOR, a += SECTOR, me += up) {
        t->at = a;
        race_sector(t, cell_of(cells, a), me);
    }
    if (t->space == SPACE_GLOBAL) cells_unlock(t->w->c->launch, first);
}

/* Whole sectors that many have read in this phase of a simple kernel, and that nobody has written: one more reader
 * changes nothing. */
static inline bool race_run_known(const struct race_warp *w, const char *cells, u64 a, u32 n, u32 space)
{
    const u64 lo = w->c->lo[space];
    if (w->c->exact || (a | n) & (SECTOR - 1)) return false;
    for (const struct cell *c = cell_of(cells, a), *e = c + n / SECTOR; c < e; c++) {
        u64 r, written;
        if (likely(space == SPACE_SHARED || !w->c->launch->parallel)) {
            r = c->r;
            written = c->w;
        } else {
            r = __atomic_load_n(&c->r, __ATOMIC_RELAXED);
            written = __atomic_load_n(&c->w, __ATOMIC_RELAXED);
        } /* without the lock: whoever writes now finds those who read */
        bool set = word_kind(r) == WHO_GRID || (word_kind(r) == WHO_CTA && space == SPACE_SHARED);
        if (written >= lo || r < lo || !set || word_mixed(r)) return false;
    }
    return true;
}

/* The words of a mixed sector on the fast way: what is noted of one, and noting one. Other forms go the long way. */
static inline void *word_elements(const struct notes *n, u32 x, u32 space)
{
    return space == SPACE_SHARED
               ? (void *)POOL_AT(&n->form[FORM_FULL], struct elements_full, x)
               : (void *)POOL_AT(&n->form[FORM_WORDS], struct elements_words, x & ((1u << FORM_SHIFT) - 1));
}
static inline u64 word_element(const struct notes *n, const void *x, u32 j, u32 space)
{
    if (space == SPACE_SHARED) return ((const struct elements_full *)x)->a[j];
    u32 mark = ((const u32 *)x)[j];
    return mark ? prior_of_mark(n, mark).a : 0;
}
static inline void word_element_put(struct race_warp *w, void *x, u32 j, u64 me, u32 site, u32 space)
{
    if (space == SPACE_SHARED) {
        ((struct elements_full *)x)->a[j] = me;
        ((struct elements_full *)x)->site[j] = site;
        return;
    }
    struct notes *n = &w->c->launch->notes;
    u32 *m = (u32 *)x + j, old = *m, mark = mark_of(w, space, me, site);
    if (old == mark) return;
    note_ref(n, mark >> n->shift, w->c->launch->parallel);
    *m = mark;
    if (old) note_unref(n, old >> n->shift, w->c->launch->parallel);
}
static inline u32 word_elements_new(struct race_warp *w, u32 space)
{
    struct notes *n = notes_in(w, space);
    u32 form = space == SPACE_SHARED ? FORM_FULL : FORM_WORDS, x = pool_take(&n->form[form], notes_locked(w, space));
    memset(pool_at(&n->form[form], x), 0,
           space == SPACE_SHARED ? sizeof((struct elements_full *)0)->a : 8 * sizeof(u32));
    return x | form << FORM_SHIFT;
}

/* Reads of a word whose writes are all past, by a thread, or by a set of a simple kernel: recorded or known at once,
 * most of the time; false: the long way. */
static inline bool race_read_quick(struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site, u32 space)
{
    const struct race_cta *k = w->c;
    const struct notes *n = notes_in(w, space);
    const u64 lo = k->lo[space];
    if (c->w >= lo) return false;
    if (c->r < lo) { /* the first of the phase */
        c->rx = word_elements_new(w, space);
        word_element_put(w, word_elements(n, c->rx, space), j, me, site, space);
        c->r = (u64)w->now << 32 | MIXED;
        return true;
    }
    if ((c->r & (MIXED | FLAG_FINE)) != MIXED) return set_covers(w, c->r, me); /* false if it is mixed */
    void *x = word_elements(n, c->rx, space);
    u64 old = word_element(n, x, j, space);
    if (old < lo) {
        word_element_put(w, x, j, me, site, space);
        reads_recorded(c, w);
        return true;
    }
    return set_covers(w, old, me);
}

/* A write of a word that nobody has touched in this phase, in a sector that is none or words already: the same. */
static inline bool race_write_quick(struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site, u32 space)
{
    const struct race_cta *k = w->c;
    const struct notes *n = notes_in(w, space);
    const u64 lo = k->lo[space];
    if (c->r >= lo) return false;
    if (c->w < lo) {
        c->wx = word_elements_new(w, space);
        word_element_put(w, word_elements(n, c->wx, space), j, me, site, space);
        c->w = (u64)w->now << 32 | MIXED;
        return true;
    }
    if (!word_mixed(c->w) || c->w & (FLAG_LIST | FLAG_PAIR | FLAG_FINE)) return false;
    void *x = word_elements(n, c->wx, space);
    u64 old = word_element(n, x, j, space);
    /* an earlier CTA of the slot is somebody else */
    if (old >= lo && ((u32)old != (u32)me || word_time(old) < k->start)) return false;
    word_element_put(w, x, j, me, site, space);
    return true;
}

/* A hash table of the addresses of a warp's lanes, one bit an address. twice: an address came whose bit was set. */
struct address_filter {
    u64 bits[16], twice;
};
static inline void address_filter_add(struct address_filter *f, u32 key)
{
    u32 k = key * 0x9e3779b1u >> 22;
    f->twice |= f->bits[k >> 6] >> (k & 63) & 1;
    f->bits[k >> 6] |= 1ull << (k & 63);
}

/* every lane writes a word of global memory, no two the same */
void race_scatter(struct warp *warp, const struct insn *i, char *cells, const u64 *a);

/* The words of a sector that many lanes of one instruction read, one after another. */
struct reader {
    struct cell *c;
    void *x;  /* where reads of the sector are noted; NULL: the long way */
    u64 past; /* notes below this are before all that the warp does now */
};
static inline void reader_open(struct reader *q, struct race_warp *w, struct cell *c, u32 space)
{
    const struct race_cta *k = w->c;
    /* who is no single lane: past for all of them */
    const u64 lo = k->lo[space], anyone = race_stamp(w, 0, ES_ONE, WHO_GRID);
    *q = (struct reader){ .c = c, .past = lo };
    if (!hb_by_barrier_maybe(w, c->w, anyone, lo)) return;
    if (c->r < lo) {
        c->rx = word_elements_new(w, space);
        c->r = w->key | MIXED | WHO_WARP << 4 | (u64)w->now << 32;
        if (space == SPACE_GLOBAL && c->w >= lo) cell_add_transient(w->c, c, 0);
    } else if ((c->r & (MIXED | FLAG_FINE)) == MIXED)
        reads_recorded(c, w);
    else
        return; /* readers of the whole sector, some words of which nobody may read now */
    if (word_kind(c->r) == WHO_WARP) q->past = MAX_OF(lo, (u64)w->warp_base << 32);
    q->x = word_elements(notes_in(w, space), c->rx, space);
}
static inline bool reader_word(const struct reader *q, struct race_warp *w, u32 j, u64 me, u32 site, u64 lo, u32 space)
{
    if (!q->x) return false;
    u64 old = word_element(space == SPACE_SHARED ? NULL : notes_in(w, space), q->x, j, space);
    if (old >= q->past && !hb_by_barrier_maybe(w, old, me, lo)) return set_covers(w, old, me);
    word_element_put(w, q->x, j, me, site, space);
    return true;
}

/* where the cells of a lane's bytes are; NULL: there are none. *cached: the object that was found last */
char *cells_of(const struct access *a, u32 lane, struct mem_object **cached);
/* a weak access by these lanes; race_weak: by those of a->ok, and an ld.nc is checked for R9, too */
void race_touch_weak(struct touch *t, const struct access *a, u32 lanes);
void race_weak(struct touch *t, const struct access *a);

/* less than a word, by one lane or several */
void race_narrow(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n, u32 lanes);
void race_few_long(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n, u64 me,
                   u32 lanes);
/* A word or two, by one lane or several that do the same; cells + address reaches the cell. Inlined whatever the
 * compiler thinks: a tenth of a matmul is here. */
ALWAYS_INLINE void race_few(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                            u32 lanes)
{
    struct race_warp *w = warp->race;
    bool one = !(lanes & (lanes - 1));
    struct cell *c = cell_of(cells, a & ~(u64)(SECTOR - 1));
    u32 j = (u32)(a & (SECTOR - 1)) / 4;
    u64 me = race_stamp(w, (u32)__builtin_ctz(lanes), ES_ONE, one ? WHO_ONE : WHO_WARP);
    /* global memory is out of line: its notes take more code, which would be in the way here */
    if (likely(n == 4 && space == SPACE_SHARED && !w->c->exact)) {
        if (op == OP_READ && likely(race_read_quick(w, c, j, me, race_site(warp, i), SPACE_SHARED))) return;
        if (op == OP_WRITE && one && likely(race_write_quick(w, c, j, me, race_site(warp, i), SPACE_SHARED))) return;
    }
    race_few_long(warp, i, op, space, cells, a, n, me, lanes);
}
#endif
