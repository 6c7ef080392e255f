/* race_touch.h: from a weak access of an instruction to the cells of its sectors: the fast paths, inline for the
 * handlers.
 *
 * An access comes as one of a few shapes, each with a function: consecutive lanes (race_run), a word or two by one lane
 * or several (race_access_words), less than a word (race_access_subword), 32 scattered words (race_scatter_words,
 * sector_read_word), or any shape (race_touch_weak). Each looks at the cell for the common case, in which no other
 * thread is involved that a barrier does not order, and leaves all else to the slow paths in race_cell.c.
 *
 * `me` is the access word of the current access, `old` that of a prior one. `lo` is race_cta.lo of the space: prior
 * accesses whose word is below it happen before all that the CTA does now. `cells` is as in cell_of. */
#ifndef LOCKSTEP_RACE_TOUCH_H
#define LOCKSTEP_RACE_TOUCH_H
#include "race/happens_before.h"

/* For functions that are inlined whatever the compiler thinks of their size. */
#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* The access word of an access that this warp makes now. */
static inline u64 race_stamp(const struct race_warp *w, u32 lane, u32 es, u32 kind)
{
    return (u64)w->now << 32 | w->key | lane << 9 | es << 6 | kind << 4;
}

/* ---- notes ---- */

/* The notes that the cells of a space refer to. */
static inline struct notes *notes_in(struct race_warp *w, u32 space)
{
    return space == SPACE_SHARED ? &w->c->notes : &w->c->era->notes;
}
static inline struct notes *notes_of(const struct touch *t) { return notes_in(t->w, t->space); }
/* Other workers may use those notes at the same time. */
static inline bool notes_locked(const struct race_warp *w, u32 space)
{
    return space == SPACE_GLOBAL && w->c->era->parallel;
}
/* The place of a note in the cache of its CTA. */
static inline struct note_cache *note_cache_of(struct race_warp *w, u32 space, u64 a, u32 site)
{
    return &w->c->note_cache[space][(site + word_kind(a) + 3 * ((u32)a & 3)) % NOTE_CACHE];
}
/* The mark of an access. It takes no reference to its note yet. */
static inline u32 mark_of(struct race_warp *w, u32 space, u64 a, u32 site)
{
    const struct note_cache *k = note_cache_of(w, space, a, site);
    u32 shift = notes_in(w, space)->shift, threads = (1u << shift) - 1;
    u64 all = a & ~((u64)threads << 9);
    return (likely(k->a == all && k->site == site) ? k->note : note_make(w, space, all, site)) << shift |
           (word_thread(a) & threads);
}

/* ---- cells ---- */

/* The prior reads r are a set that stands for the read `me` as well, so recording `me` would change nothing: a set of
 * the warp or CTA in this phase, or of several CTAs. Only in simple kernels; r is not of an earlier era. */
static inline bool set_covers(const struct race_warp *w, u64 r, u64 me)
{
    if (word_kind(r) == WHO_ONE || (word_mixed(r) && word_kind(r) == WHO_WARP && !(r & WORD_LANE))) return false;
    if (word_kind(r) == WHO_GRID) return true;
    if (!word_same_slot(r, me) || word_time(r) < w->c->base) return false;
    return word_kind(r) == WHO_CTA || (word_same_warp(r, me) && word_time(r) >= w->warp_base);
}

/* The read word of a mixed cell, after a lane of this warp was recorded in its elements. */
static inline void reads_recorded(struct cell *c, const struct race_warp *w)
{
    u64 mine = (u64)w->now << 32 | w->key | MIXED | WHO_WARP << 4;
    c->r = ((u32)c->r & ~(u32)WORD_LANE) == (u32)mine && word_time(c->r) >= w->c->start ? mine
                                                                                        : (u64)w->now << 32 | MIXED;
}

/* All bytes of the sector, by consecutive threads or one set. */
static inline void cell_access_sector(const struct touch *t, struct cell *c, u64 me)
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
            if (c->r >= lo && set_covers(w, c->r, me)) return;
        } else if (likely(hb_by_barrier_maybe(w, c->r, me, lo))) {
            c->w = me;
            c->wx = t->site;
            return;
        }
    }
    cell_access_sector_slow(t, c, me);
}

/* Cells of global memory are shared by the workers: one spin lock for each page of them. */
enum { CELLS_PAGE = 4096 };
static inline void cells_lock(struct race_era *era, u64 a)
{
    if (likely(!era->parallel)) return;
    u8 *s = &era->race->stripe[a / CELLS_PAGE % STRIPES].taken;
    while (__atomic_exchange_n(s, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(s, __ATOMIC_RELAXED)) cpu_relax();
}
static inline void cells_unlock(struct race_era *era, u64 a)
{
    if (likely(!era->parallel)) return;
    __atomic_store_n(&era->race->stripe[a / CELLS_PAGE % STRIPES].taken, 0, __ATOMIC_RELEASE);
}

/* No other worker accesses these cells, and the kernel is simple: what a handler reads of a cell stays so, and sets
 * need no members. */
static inline bool cells_private(const struct race_warp *w, u32 space)
{
    return !w->c->exact && (space == SPACE_SHARED || !w->c->era->parallel);
}
/* The function and operation of an instruction, as cells record them. */
static inline u32 race_site(const struct warp *warp, const struct insn *i)
{
    return warp->code->low->serial % FUNCS << SITE_FUNCTION | (i->op & SITE_OPERATION);
}
static inline struct touch race_touch(struct warp *warp, const struct insn *i, u32 op, u32 space)
{
    return (struct touch){
        .warp = warp, .w = warp->race, .op_index = i->op, .site = race_site(warp, i), .op = op, .space = space
    };
}

/* The memory of a site is an object that the launch cannot write, and whose reads nobody asks for: it has no cells. May
 * return false for such memory: the general handler then finds out. */
static inline bool site_is_constant(const struct warp *w, const struct insn *i)
{
    const struct range *r = &w->range[i->site];
    return r->size && !r->race && !r->reads;
}
/* The stride of the address of a load or store, as handlers are chosen by it; 0: it is not affine. */
static inline s32 address_stride(const struct code *c, const struct insn *i)
{
    return CLS_AT(i, 1) == CLS_A ? c->stride[i->a] : 0;
}

memory_chooser race_memory;                                                                   /* race_handlers.c */
handler *race_init_memory(const struct site *s, const struct insn *i, u32 group, s32 stride); /* race_handlers_init.c */

/* n bytes at a, by consecutive lanes, the first of which `me` names, 1 << es bytes each. The slow one takes runs that
 * are no whole sectors, or cross a page while cells are locked page by page. */
void race_run_slow(struct touch *t, char *cells, u64 a, u32 n, u64 me);
static inline void race_run(struct touch *t, char *cells, u64 a, u32 n, u64 me)
{
    u32 es = word_es(me);
    if (unlikely((a | n) & (SECTOR - 1)) || es >= ES_ONE) {
        race_run_slow(t, cells, a, n, me);
        return;
    }
    if (t->space == SPACE_GLOBAL && t->w->c->era->parallel && (a ^ (a + n - 1)) / CELLS_PAGE) {
        race_run_slow(t, cells, a, n, me);
        return;
    }
    if (t->space == SPACE_GLOBAL) cells_lock(t->w->c->era, a);
    u64 first = a;
    for (u64 up = (u64)(SECTOR >> es) << 9; n; n -= SECTOR, a += SECTOR, me += up) {
        t->at = a;
        cell_access_sector(t, cell_of(cells, a), me);
    }
    if (t->space == SPACE_GLOBAL) cells_unlock(t->w->c->era, first);
}

/* Each of n sectors from c on was read by a set in this phase of a simple kernel, wholly or each of its elements by
 * one, which stands for a reader of this warp as well, and none was written. */
ALWAYS_INLINE bool cells_covered(const struct race_warp *w, const struct cell *c, u32 n, u32 space)
{
    const u64 lo = w->c->lo[space];
    for (const struct cell *e = c + n; c < e; c++) {
        u64 r, written;
        if (likely(space == SPACE_SHARED || !w->c->era->parallel)) {
            r = c->r;
            written = c->w;
        } else { /* no lock is needed: a thread that writes from here on finds the set of readers. One that wrote before
                  * the set was made held the lock first, so whoever sees the set in order sees the write, too. */
            r = __atomic_load_n(&c->r, __ATOMIC_ACQUIRE);
            written = __atomic_load_n(&c->w, __ATOMIC_RELAXED);
        }
        bool set = word_kind(r) == WHO_GRID || (word_kind(r) == WHO_CTA && space == SPACE_SHARED);
        if (written >= lo || r < lo || (!set && !set_covers(w, r, w->key))) return false;
    }
    return true;
}

/* A read of n bytes changes nothing. */
ALWAYS_INLINE bool race_run_covered(const struct race_warp *w, const char *cells, u64 a, u32 n, u32 space)
{
    u32 first = (u32)a & (SECTOR - 1);
    if (w->c->exact) return false;
    if (likely(!((first | n) & (SECTOR - 1)))) return cells_covered(w, cell_of(cells, a), n / SECTOR, space);
    return cells_covered(w, cell_of(cells, a - first), (first + n + SECTOR - 1) / SECTOR, space);
}

/* ---- words of mixed sectors ---- */

/* The fast paths know one form of element block in each space, FORM_FULL in shared memory and FORM_WORDS in global: a
 * new block, where block x is, the access word of its word j, and recording one there. */
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
    struct notes *n = &w->c->era->notes;
    u32 *m = (u32 *)x + j, old = *m, mark = mark_of(w, space, me, site);
    if (old == mark) return;
    note_ref(n, mark >> n->shift, w->c->era->parallel);
    *m = mark;
    if (old) note_unref(n, old >> n->shift, w->c->era->parallel);
}
static inline u32 word_elements_new(struct race_warp *w, u32 space)
{
    struct notes *n = notes_in(w, space);
    u32 form = space == SPACE_SHARED ? FORM_FULL : FORM_WORDS, x = pool_take(&n->form[form], notes_locked(w, space));
    memset(pool_at(&n->form[form], x), 0,
           space == SPACE_SHARED ? sizeof((struct elements_full *)0)->a : 8 * sizeof(u32));
    return x | form << FORM_SHIFT;
}

/* Word j of a sector of shared memory, which was not written in this phase, was read by others: now by `me` as well.
 * false: nothing was done, as the thread may have been that reader. */
bool cell_read_joined(const struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site);
/* A read of word j in a simple kernel, by one thread or by lanes of one warp, where no write of the sector has to be
 * compared: recorded, or covered by a set. false: nothing was done, and the slow path is to be taken. */
ALWAYS_INLINE bool cell_read_quick(struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site, u32 space)
{
    const struct race_cta *k = w->c;
    const struct notes *n = notes_in(w, space);
    const u64 lo = k->lo[space];
    if (c->w >= lo) return false;
    if (c->r < lo) { /* the first read in this phase */
        c->rx = word_elements_new(w, space);
        word_element_put(w, word_elements(n, c->rx, space), j, me, site, space);
        c->r = (u64)w->now << 32 | MIXED;
        return true;
    }
    if ((c->r & (MIXED | FLAG_FINE)) != MIXED) return set_covers(w, c->r, me);
    if (word_kind(c->r) != WHO_ONE && set_covers(w, c->r, me)) return true;
    void *x = word_elements(n, c->rx, space);
    u64 old = word_element(n, x, j, space);
    if (old < lo) {
        word_element_put(w, x, j, me, site, space);
        reads_recorded(c, w);
        return true;
    }
    return set_covers(w, old, me) || (space == SPACE_SHARED && cell_read_joined(w, c, j, me, site));
}

/* The same for a write by one thread, where no read of the sector has to be compared and the word was not written in
 * this phase by another thread. */
static inline bool cell_write_quick(struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site, u32 space)
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
    /* the same slot, warp and lane before the start of the CTA are a thread of another CTA */
    if (old >= lo && ((u32)old != (u32)me || word_time(old) < k->start)) return false;
    word_element_put(w, x, j, me, site, space);
    return true;
}

/* ---- shapes of access ---- */

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

/* Each of 32 lanes writes a word of global memory, no two the same. */
void race_scatter_words(struct warp *warp, const struct insn *i, char *cells, const u64 *a);

/* A sector of which lanes of one instruction read words, one after another. */
struct sector_reader {
    struct cell *c;
    void *x;      /* the elements of its reads; NULL: the slow path is to be taken */
    u64 past;     /* elements below this happen before all that the warp does now */
    bool covered; /* sets of readers stand for whoever reads any of it */
};
static inline void sector_reader_open(struct sector_reader *q, struct race_warp *w, struct cell *c, u32 space)
{
    const struct race_cta *k = w->c;
    /* an access word of no single lane: what happens before it happens before each lane */
    const u64 lo = k->lo[space], anyone = race_stamp(w, 0, ES_ONE, WHO_GRID);
    *q = (struct sector_reader){ .c = c, .past = lo };
    if (!hb_by_barrier_maybe(w, c->w, anyone, lo)) return;
    if (c->r >= lo && set_covers(w, c->r, anyone)) {
        q->covered = true;
        return;
    }
    if (c->r < lo) {
        c->rx = word_elements_new(w, space);
        c->r = w->key | MIXED | WHO_WARP << 4 | (u64)w->now << 32;
        if (space == SPACE_GLOBAL && c->w >= lo) cell_add_transient(w->c, c, 0);
    } else if ((c->r & (MIXED | FLAG_FINE)) == MIXED)
        reads_recorded(c, w);
    else
        return; /* the reads are uniform: the slow path makes the sector mixed if it must */
    if (word_kind(c->r) == WHO_WARP) q->past = MAX_OF(lo, (u64)w->warp_base << 32);
    q->x = word_elements(notes_in(w, space), c->rx, space);
}
/* Word j is read. false: nothing was done, and the slow path is to be taken. */
static inline bool sector_read_word(const struct sector_reader *q, struct race_warp *w, u32 j, u64 me, u32 site,
                                    u32 space)
{
    if (!q->x) return q->covered;
    u64 old = word_element(space == SPACE_SHARED ? NULL : notes_in(w, space), q->x, j, space);
    if (old >= q->past && !hb_by_barrier_above(w, old, me)) return set_covers(w, old, me);
    word_element_put(w, q->x, j, me, site, space);
    return true;
}

/* The cells of the memory that a lane accesses, as in cell_of; NULL: it has none. *cached: the object found last. */
char *lane_cells(const struct access *a, u32 lane, struct mem_object **cached);
/* The space that the access of a lane is recorded in: shared memory that other CTAs reach counts as global. */
static inline u32 lane_space(const struct access *a, u32 lane)
{
    return a->space[lane] == SP_SHARED && !((struct race_warp *)a->warp->race)->c->distributed ? SPACE_SHARED
                                                                                               : SPACE_GLOBAL;
}
/* A weak access of any shape by these lanes; race_weak: by those of a->ok, and ld.nc is checked for R9 as well. */
void race_touch_weak(struct touch *t, const struct access *a, u32 lanes);
void race_weak(struct touch *t, const struct access *a);

/* n bytes at a, less than a word and in one word, by one lane or by several that access the same. */
void race_access_subword(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                         u32 lanes);
/* The same for n / 4 words in one page. A tenth of the time of a matmul is here. */
void race_access_words_slow(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                            u64 me, u32 lanes);
ALWAYS_INLINE void race_access_words(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a,
                                     u32 n, u32 lanes)
{
    struct race_warp *w = warp->race;
    bool one = !(lanes & (lanes - 1));
    struct cell *c = cell_of(cells, a & ~(u64)(SECTOR - 1));
    u32 j = (u32)(a & (SECTOR - 1)) / 4;
    u64 me = race_stamp(w, (u32)__builtin_ctz(lanes), ES_ONE, one ? WHO_ONE : WHO_WARP);
    /* global memory is out of line: its notes take more code, which would fill the cache here */
    if (likely(n == 4 && space == SPACE_SHARED && !w->c->exact)) {
        if (op == OP_READ && likely(cell_read_quick(w, c, j, me, race_site(warp, i), SPACE_SHARED))) return;
        if (op == OP_WRITE && one && likely(cell_write_quick(w, c, j, me, race_site(warp, i), SPACE_SHARED))) return;
    }
    race_access_words_slow(warp, i, op, space, cells, a, n, me, lanes);
}
#endif
