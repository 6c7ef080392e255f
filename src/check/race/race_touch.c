/* Weak accesses, lane by lane: the general way from an instruction to the cells.
 *
 * The fast handlers (race_handlers.h) take the common shapes straight to the cells. All else comes here: accesses that
 * are no whole sectors or cross a page, fewer bytes than a word, and instructions of any shape, which are divided into
 * runs of neighbouring lanes, groups of lanes at one address, and single lanes. */
#include "race/race_slow.h"
#include "race/race_reads.h"
#include "race/race_report.h"
#include "sim/lanes.h"
#include "sim/cluster.h"

/* The fast path of word j, compiled for each space. false: nothing was done. */
static bool cell_access_quick(struct race_warp *w, struct cell *c, u32 op, u32 j, u64 me, u32 site, u32 space)
{
    if (op == OP_READ)
        return !w->c->exact && (space == SPACE_SHARED ? cell_read_quick(w, c, j, me, site, SPACE_SHARED)
                                                      : cell_read_quick(w, c, j, me, site, SPACE_GLOBAL));
    if (op != OP_WRITE || word_kind(me) != WHO_ONE) return false;
    return space == SPACE_SHARED ? cell_write_quick(w, c, j, me, site, SPACE_SHARED)
                                 : cell_write_quick(w, c, j, me, site, SPACE_GLOBAL);
}

/* Records a write of word j, by its mark, if no access of the word has to be compared. false: nothing was done, but for
 * an empty element block. */
static inline bool scatter_word(struct race_warp *w, struct cell *c, u32 j, u32 mark)
{
    const u64 lo = w->c->lo[SPACE_GLOBAL];
    if (c->r >= lo) return false;
    if (c->w < lo) {
        c->wx = word_elements_new(w, SPACE_GLOBAL);
        c->w = (u64)w->now << 32 | MIXED;
    } else if (!word_mixed(c->w) || c->w & (FLAG_LIST | FLAG_PAIR | FLAG_FINE))
        return false;
    u32 *m = (u32 *)word_elements(&w->c->era->notes, c->wx, SPACE_GLOBAL) + j;
    if (*m) return false;
    *m = mark;
    return true;
}

void race_scatter_words(struct warp *warp, const struct insn *i, char *cells, const u64 *a)
{
    struct race_warp *w = warp->race;
    struct notes *n = &w->c->era->notes;
    u32 mark = mark_of(w, SPACE_GLOBAL, race_stamp(w, 0, ES_ONE, WHO_ONE), race_site(warp, i)), marks = 0;
    struct note *note = pool_at(&n->note, mark >> n->shift);
    note->refs += LANES + 1; /* one for each lane, and one so that no slow path frees it */
    for (u32 l = 0; l < LANES; l++) {
        if (likely(
                scatter_word(w, cell_of(cells, a[l] & ~(u64)(SECTOR - 1)), (u32)(a[l] & (SECTOR - 1)) / 4, mark + l)))
            marks++;
        else
            race_access_words(warp, i, OP_WRITE, SPACE_GLOBAL, cells, a[l], 4, 1u << l);
    }
    note->refs -= LANES - marks;
    note_unref(n, mark >> n->shift, false);
}

/* A read changes nothing: the sector was not written in this phase, and the set of its readers stands for `me`. */
static bool subword_covered(struct race_warp *w, const struct cell *c, u32 first, u32 n, u64 me, u32 space)
{
    const u64 lo = w->c->lo[space];
    if (!cells_private(w, space) || c->w >= lo || c->r < lo) return false;
    if (set_covers(w, c->r, me)) return true;
    if (!word_mixed(c->r)) return false;
    if (!c->rx || element_size(c->rx) < n) return false;
    u64 old = element_at(notes_in(w, space), c->rx, first).a;
    return old >= lo && set_covers(w, old, me);
}

void race_access_subword(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                         u32 lanes)
{
    struct race_warp *w = warp->race;
    bool one = !(lanes & (lanes - 1));
    u64 sector = a & ~(u64)(SECTOR - 1),
        me = race_stamp(w, (u32)__builtin_ctz(lanes), ES_ONE, one ? WHO_ONE : WHO_WARP);
    u32 first = (u32)(a - sector);
    struct cell *c = cell_of(cells, sector);
    if (op == OP_READ && subword_covered(w, c, first, n, me, space)) return;
    struct touch t = race_touch(warp, i, op, space);
    t.at = sector;
    if (space == SPACE_GLOBAL) cells_lock(w->c->era, a);
    cell_access_bytes(&t, c, me, bytes_mask(first, n), one ? 0 : lanes);
    if (space == SPACE_GLOBAL) cells_unlock(w->c->era, a);
}

void race_access_words_slow(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n,
                            u64 me, u32 lanes)
{
    struct race_warp *w = warp->race;
    bool one = word_kind(me) == WHO_ONE;
    struct touch t = race_touch(warp, i, op, space);
    if (space == SPACE_GLOBAL) cells_lock(w->c->era, a);
    for (; n; n -= 4, a += 4) {
        u64 sector = a & ~(u64)(SECTOR - 1);
        struct cell *c = cell_of(cells, sector);
        u32 j = (u32)(a - sector) / 4;
        if (likely(cell_access_quick(w, c, op, j, me, t.site, space))) continue;
        t.at = sector;
        cell_access_word(&t, c, j, me, one ? 0 : lanes);
    }
    if (space == SPACE_GLOBAL) cells_unlock(w->c->era, a - 4);
}

/* ---- rows: words of a sector by neighbouring lanes ---- */

/* The marks of words j .. of a sector of global memory, in what one of its words records; NULL: it records none so. */
static u32 *row_marks(const struct notes *notes, u64 word, u32 x, u32 j)
{
    if ((word & (MIXED | FLAG_LIST | FLAG_PAIR | FLAG_FINE)) != MIXED || !x) return NULL;
    return (u32 *)word_elements(notes, x, SPACE_GLOBAL) + j;
}

static bool row_is_empty(const u32 *mark, u32 n)
{
    u32 any = 0;
    for (u32 k = 0; k < n; k++) any |= mark[k];
    return !any;
}

/* Each of the n words was accessed by nobody, or each by the lane that accesses it now; `one` names the first lane. */
static bool row_is_own(const struct race_warp *w, const u32 *mark, u32 n, u64 one)
{
    for (u32 k = 1; k < n; k++)
        if (mark[k] - mark[0] != k) return row_is_empty(mark, n);
    if (!mark[0] || mark[0] & SET_MARK) return n == 1 && !mark[0];
    u64 old = prior_of_mark(notes_in((struct race_warp *)w, SPACE_GLOBAL), mark[0]).a;
    return (u32)old == (u32)one && word_time(old) >= w->c->start;
}

/* The reads of a row go: the lanes that have read it write it. */
static void row_forget_reads(const struct touch *t, struct cell *c, u32 *mark, u32 n, u64 lo)
{
    struct notes *notes = notes_of(t);
    if (!mark[0]) return;
    notes_unref(notes, mark[0] >> notes->shift, n, notes_locked(t->w, SPACE_GLOBAL));
    memset(mark, 0, n * sizeof *mark);
    if (!row_is_empty(row_marks(notes, c->r, c->rx, 0), SECTOR / 4)) return;
    cell_drop_reads(t, c, lo);
    c->r = 0;
}

static void row_record(const struct touch *t, u32 *mark, u32 n, u64 one)
{
    struct notes *notes = notes_of(t);
    bool locked = notes_locked(t->w, SPACE_GLOBAL);
    u32 first = mark_of(t->w, SPACE_GLOBAL, one, t->site), old = mark[0];
    if (old == first) return;
    notes_ref(notes, first >> notes->shift, n, locked);
    for (u32 k = 0; k < n; k++) mark[k] = first + k;
    if (old) notes_unref(notes, old >> notes->shift, n, locked);
}

/* Words j .. j + n - 1 of a sector of global memory, by neighbouring lanes, in a simple kernel, where no access of
 * other threads has to be compared: all in one step, with one note. `me` as in run_in_sector. false: nothing was done,
 * but for an empty element block. */
static bool row_quick(const struct touch *t, struct cell *c, u32 j, u32 n, u64 me)
{
    struct race_warp *w = t->w;
    struct notes *notes = notes_of(t);
    const u64 lo = w->c->lo[SPACE_GLOBAL], one = word_at_byte(me, 4 * j);
    bool write = t->op == OP_WRITE;
    u32 *wrote = c->w < lo ? NULL : row_marks(notes, c->w, c->wx, j),
        *read = c->r < lo ? NULL : row_marks(notes, c->r, c->rx, j);
    if (t->op > OP_WRITE || (c->r >= lo && !(read && row_is_own(w, read, n, one)))) return false;
    if (c->w >= lo && !(wrote && row_is_own(w, wrote, n, one)) && (write || !hb_by_barrier_maybe(w, c->w, me, lo)))
        return false;
    u64 *word = write ? &c->w : &c->r;
    u32 *x = write ? &c->wx : &c->rx, **mark = write ? &wrote : &read;
    if (*word < lo) {
        *x = word_elements_new(w, SPACE_GLOBAL);
        *word = (u64)w->now << 32 | MIXED;
        *mark = row_marks(notes, *word, *x, j);
        if (!write && c->w >= lo) cell_add_transient(w->c, c, t->at);
    }
    row_record(t, *mark, n, one);
    if (!write)
        reads_recorded(c, w);
    else if (c->r >= lo)
        row_forget_reads(t, c, read, n, lo);
    return true;
}

/* A part of a run within one sector: `size` bytes from `first` on. `me` names the lane of the sector's first byte, as
 * if it took part. */
static void run_in_sector(struct touch *t, struct cell *c, u64 me, u32 first, u32 size)
{
    const u64 lo = t->w->c->lo[t->space];
    bool words = word_es(me) >= 2 && !(first & 3) && !(size & 3) && !t->w->c->exact;
    if (size == SECTOR)
        cell_access_sector(t, c, me);
    else if (!words)
        cell_access_bytes(t, c, me, bytes_mask(first, size), 0);
    else if (t->op == OP_READ && c->w < lo && c->r >= lo && set_covers(t->w, c->r, me))
        return;
    else if (t->space == SPACE_GLOBAL && word_es(me) == 2 && row_quick(t, c, first / 4, size / 4, me))
        return;
    else
        for (u32 k = first; k < first + size; k += 4) {
            u64 one = word_at_byte(me, k);
            if (!cell_access_quick(t->w, c, t->op, k / 4, one, t->site, t->space))
                cell_access_word(t, c, k / 4, one, 0);
        }
    if (words && t->op == OP_READ) cell_sum_reads(t, c);
}

void race_run_slow(struct touch *t, char *cells, u64 a, u32 n, u64 me)
{
    struct race_era *era = t->w->c->era;
    u32 es = word_es(me);
    bool locks = t->space == SPACE_GLOBAL;
    for (u64 at = a; at < a + n;) {
        u64 sector = at & ~(u64)(SECTOR - 1), left = a + n - at, run = me;
        u32 first = (u32)(at - sector), size = (u32)MIN_OF(left, (u64)(SECTOR - first));
        if (es < ES_ONE) {
            u32 lane = word_lane(me) + (u32)((at - a) >> es) - (first >> es);
            run = (me & ~WORD_LANE) | (u64)(lane & 31) << 9;
        }
        t->at = sector;
        if (locks && (at == a || !(at & (CELLS_PAGE - 1)))) cells_lock(era, at);
        run_in_sector(t, cell_of(cells, sector), run, first, size);
        at += size;
        if (locks && (at == a + n || !(at & (CELLS_PAGE - 1)))) cells_unlock(era, at - 1);
    }
}

char *lane_cells(const struct access *a, u32 lane, struct mem_object **cached)
{
    if (a->space[lane] == SP_SHARED) {
        const struct cta *own = a->warp->cta, *owner = cluster_cta(own, a->addr[lane]);
        const struct race_cta *c = owner ? owner->race : NULL;
        return c && (owner == own || c->distributed) ? c->shared : NULL;
    }
    if (a->space[lane] != SP_GLOBAL && a->space[lane] != SP_GENERIC && a->space[lane] != SP_CONST) return NULL;
    struct mem_object *o = *cached;
    if (!o || a->addr[lane] - o->base >= o->size) o = *cached = mem_find(a->warp->cta->launch->sim->mem, a->addr[lane]);
    return o ? (char *)(uintptr_t)__atomic_load_n(&o->race, __ATOMIC_ACQUIRE) : NULL;
}

/* All lanes of `mask` access the same bytes. */
static void touch_same(const struct touch *t, char *cells, const struct access *a, u32 lane, u32 mask)
{
    u64 at = a->addr[lane];
    if (a->bytes >= 4 && !(a->bytes & 3)) {
        for (u32 k = 0; k < a->bytes; k += 16)
            race_access_words(t->warp, a->insn, t->op, t->space, cells, at + k, MIN_OF(a->bytes - k, 16u), mask);
        return;
    }
    race_access_subword(t->warp, a->insn, t->op, t->space, cells, at, a->bytes, mask);
}

/* The addresses of the lanes grow from lane to lane. */
static bool ascending(const struct access *a, u32 lanes)
{
    u64 last = 0;
    EACH_SET (l, lanes) {
        u64 at = a->addr[l] + 1;
        if (at <= last) return false;
        last = at;
    }
    return true;
}

/* The lanes access different addresses. May return false for different addresses, when two of them have one hash: the
 * caller then compares them. */
static bool lanes_differ_maybe(const struct access *a, u32 lanes)
{
    struct address_filter f = { 0 };
    if (ascending(a, lanes)) return true;
    EACH_SET (l, lanes) address_filter_add(&f, (u32)a->addr[l]);
    return !f.twice;
}

/* A later lane accesses the same address. */
static bool has_twin(const struct access *a, u32 todo, u32 lane)
{
    u32 same = lanes_alike(a->addr, todo & ~((1u << lane) - 1));
    return same & (same - 1);
}

/* Lane l has no cells: the launch does not reach the object, which lane_cells has looked up, or only reads it. Returns
 * the lanes that need no further look: `same`, which share the address, or a row of neighbours that begins with l. */
static u32 without_cells(const struct touch *t, const struct access *a, u32 l, u32 same, u32 todo,
                         const struct mem_object *o)
{
    bool here = o && a->space[l] != SP_SHARED && a->addr[l] - o->base < o->size;
    u64 cells = here && t->op == OP_READ ? __atomic_load_n(&o->reads, __ATOMIC_ACQUIRE) : 0;
    if (!cells) return 1u << l;
    u32 n = 1;
    while (!(same & (same - 1)) && l + n < LANES && todo >> (l + n) & 1 &&
           a->addr[l + n] == a->addr[l] + n * a->bytes && a->space[l + n] == a->space[l] &&
           a->addr[l + n] - o->base < o->size)
        n++;
    reads_run(t->w->c->era, (char *)(uintptr_t)cells, a->addr[l], (u64)n * a->bytes, t->site);
    return same | ((n == 32 ? ~0u : (1u << n) - 1) << l);
}

void race_touch_weak(struct touch *t, const struct access *a, u32 lanes)
{
    struct mem_object *cached = NULL;
    bool power = !(a->bytes & (a->bytes - 1)) && a->bytes <= 16, differ = lanes_differ_maybe(a, lanes),
         no_twins = differ || !(t->op & OP_WRITE);
    for (u32 todo = lanes; todo;) {
        u32 l = (u32)__builtin_ctz(todo), same = differ ? 1u << l : lanes_alike(a->addr, todo);
        char *cells = lane_cells(a, l, &cached);
        if (!cells) {
            todo &= ~without_cells(t, a, l, same, todo, cached);
            continue;
        }
        t->space = lane_space(a, l);
        if (same & (same - 1)) {
            if (t->op & OP_WRITE) race_report_lanes(t, a, same);
            touch_same(t, cells, a, l, same);
            todo &= ~same;
            continue;
        }
        u32 n = 1;
        while (power && l + n < LANES && todo >> (l + n) & 1 && a->addr[l + n] == a->addr[l] + n * a->bytes &&
               a->space[l + n] == a->space[l] && (no_twins || !has_twin(a, todo, l + n)))
            n++;
        todo &= ~((n == 32 ? ~0u : (1u << n) - 1) << l);
        if (n == 1 && power && a->bytes >= 4) {
            race_access_words(t->warp, a->insn, t->op, t->space, cells, a->addr[l], a->bytes, 1u << l);
            continue;
        }
        u32 es = power ? (u32)__builtin_ctz(a->bytes) : ES_ONE;
        race_run(t, cells, a->addr[l], n * a->bytes,
                 race_stamp(t->w, l, n == 1 && a->bytes >= 4 ? ES_ONE : es, WHO_ONE));
    }
}

void race_weak(struct touch *t, const struct access *a)
{
    if (a->site->flags & SITE_NC) race_check_noncoherent(t, a);
    race_touch_weak(t, a, a->ok);
}
