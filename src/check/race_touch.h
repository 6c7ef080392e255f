/* race_touch.h: from the accesses of an instruction to the cells of its sectors. The inline half, for handlers on the fast way. */
#ifndef LOCKSTEP_RACE_TOUCH_H
#define LOCKSTEP_RACE_TOUCH_H
#include "check/race.h"

/* Cells of global memory are shared by the workers: one spin lock for each page of them. */
static inline void cells_lock(struct race *r, u64 a)
{
    if (likely(!r->many)) return;
    u8 *s = &r->stripe[(a >> 12) % STRIPES];
    while (__atomic_exchange_n(s, 1, __ATOMIC_ACQUIRE)) while (__atomic_load_n(s, __ATOMIC_RELAXED)) cpu_relax();
}
static inline void cells_unlock(struct race *r, u64 a)
{
    if (likely(!r->many)) return;
    __atomic_store_n(&r->stripe[(a >> 12) % STRIPES], 0, __ATOMIC_RELEASE);
}

/* Nobody else touches these cells now, and sets may stand for threads. */
static inline bool race_alone(const struct race_warp *w, u32 space) { return !w->c->exact && (space == SPACE_SHARED || !w->c->race->many); }
static inline u32 race_site(const struct warp *warp, const struct insn *i) { return warp->code->low->serial % FUNCS << 20 | (i->op & 0xfffff); }
static inline struct touch race_touch(struct warp *warp, const struct insn *i, u32 op, u32 space)
{
    return (struct touch){ .warp = warp, .w = warp->race, .op_index = i->op, .site = race_site(warp, i), .op = op, .space = space };
}

memory_chooser race_memory;     /* handlers_race.c */
handler race_speculated, race_speculated_init;        /* race_pending.c: a load that is put off until a selection takes it */
handler *race_init_memory(const struct site *s, const struct insn *i, u32 group, s32 stride);  /* handlers_all.c */

void race_run_parts(struct touch *t, char *cells, u64 a, u32 n, u64 me);
/* n bytes at a, by consecutive lanes, the first of which `me` names, 1 << es bytes each; cells + address reaches the cell. */
static inline void race_run(struct touch *t, char *cells, u64 a, u32 n, u64 me)
{
    u32 es = word_es(me);
    if (unlikely((a | n) & (SECTOR - 1)) || es >= ES_ONE) { race_run_parts(t, cells, a, n, me); return; }
    if (t->space == SPACE_GLOBAL && t->w->c->race->many && (a ^ (a + n - 1)) >> 12) { race_run_parts(t, cells, a, n, me); return; }
    if (t->space == SPACE_GLOBAL) cells_lock(t->w->c->race, a);
    u64 first = a;
    for (u64 up = (u64)(SECTOR >> es) << 9; n; n -= SECTOR, a += SECTOR, me += up) { t->at = a; race_sector(t, cell_of(cells, a), me); }
    if (t->space == SPACE_GLOBAL) cells_unlock(t->w->c->race, first);
}

/* Whole sectors that many have read in this phase, and that nobody has written: one more reader changes nothing. */
static inline bool race_run_known(const struct race_warp *w, const char *cells, u64 a, u32 n, u32 space)
{
    const u64 lo = w->c->lo[space];
    if ((a | n) & (SECTOR - 1)) return false;
    for (const struct cell *c = cell_of(cells, a), *e = c + n / SECTOR; c < e; c++) {
        bool set = word_kind(c->r) == WHO_GRID || (word_kind(c->r) == WHO_CTA && space == SPACE_SHARED);
        if (c->w >= lo || c->r < lo || !set || word_mixed(c->r)) return false;
    }
    return true;
}

/* Reads of a word whose writes are all past, by a thread, or by a set of a simple kernel: recorded or known at once, most of the time; false: the
 * long way. */
static inline bool race_read_quick(const struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site, u32 space)
{
    const struct race_cta *k = w->c;
    const u64 lo = k->lo[space];
    if (c->w >= lo) return false;
    if (c->r < lo) {                            /* the first of the phase */
        struct pool *p = space == SPACE_SHARED ? (struct pool *)&k->words : &k->race->words;
        u32 n = pool_take(p, space == SPACE_GLOBAL && k->race->many);
        if (unlikely(!n)) return true;
        struct words *x = pool_at(p, n);
        memset(x->a, 0, sizeof x->a);
        x->a[j] = me; x->site[j] = site;
        c->r = (u64)k->now << 32 | MIXED; c->rx = n;
        return true;
    }
    if (!word_mixed(c->r)) return race_in_set(w, c->r, me);
    struct words *x = pool_at(space == SPACE_SHARED ? (struct pool *)&k->words : &k->race->words, c->rx);
    if (x->a[j] < lo) { x->a[j] = me; x->site[j] = site; reads_noted(c, w); return true; }
    return race_in_set(w, x->a[j], me);
}

/* A write of a word that nobody has touched in this phase, in a sector that is none or words already: the same. */
static inline bool race_write_quick(const struct race_warp *w, struct cell *c, u32 j, u64 me, u32 site, u32 space)
{
    const struct race_cta *k = w->c;
    const u64 lo = k->lo[space];
    struct pool *p = space == SPACE_SHARED ? (struct pool *)&k->words : &k->race->words;
    if (c->r >= lo) return false;
    if (c->w < lo) {
        u32 n = pool_take(p, space == SPACE_GLOBAL && k->race->many);
        if (unlikely(!n)) return true;
        struct words *x = pool_at(p, n);
        memset(x->a, 0, sizeof x->a);
        x->a[j] = me; x->site[j] = site;
        c->w = (u64)k->now << 32 | MIXED; c->wx = n;
        return true;
    }
    if (!word_mixed(c->w) || c->w & (FLAG_LIST | FLAG_ATOMS)) return false;
    struct words *x = pool_at(p, c->wx);
    if (x->a[j] >= lo && ((u32)x->a[j] != (u32)me || word_time(x->a[j]) < k->start)) return false;      /* an earlier CTA of the slot is somebody else */
    x->a[j] = me; x->site[j] = site;
    return true;
}

/* The words of a sector that many lanes of one instruction read, one after another. */
struct reader {
    struct cell *c;
    struct words *x;            /* where reads of the sector are noted; NULL: the long way */
    u64 past;                   /* notes below this are before all that the warp does now */
};
static inline void reader_open(struct reader *q, const struct race_warp *w, struct cell *c, u32 space)
{
    const struct race_cta *k = w->c;
    const u64 lo = k->lo[space], anyone = race_stamp(w, 0, ES_ONE, WHO_GRID);       /* who is no single lane: past for all of them */
    struct pool *p = space == SPACE_SHARED ? (struct pool *)&k->words : &k->race->words;
    *q = (struct reader){ .c = c, .past = lo };
    if (!race_past(w, c->w, anyone, lo)) return;
    if (c->r < lo) {
        u32 n = pool_take(p, false);
        if (unlikely(!n)) return;
        c->rx = n;
        memset(((struct words *)pool_at(p, n))->a, 0, sizeof q->x->a);
        c->r = w->key | MIXED | WHO_WARP << 4 | (u64)k->now << 32;
    } else if (word_mixed(c->r)) reads_noted(c, w);
    else return;                                /* readers of the whole sector, some words of which nobody may read now */
    if (word_kind(c->r) == WHO_WARP) q->past = MAX_OF(lo, (u64)w->wbase << 32);
    q->x = pool_at(p, c->rx);
}
static inline bool reader_word(const struct reader *q, const struct race_warp *w, u32 j, u64 me, u32 site, u64 lo)
{
    if (!q->x) return false;
    if (q->x->a[j] >= q->past && !race_past(w, q->x->a[j], me, lo)) return race_in_set(w, q->x->a[j], me);
    q->x->a[j] = me; q->x->site[j] = site;
    return true;
}

void race_few_long(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n, u64 me, u32 lanes);
/* A word or two, by one lane or several that do the same; cells + address reaches the cell. */
static inline void race_few(struct warp *warp, const struct insn *i, u32 op, u32 space, char *cells, u64 a, u32 n, u32 lanes)
{
    const struct race_warp *w = warp->race;
    bool one = !(lanes & (lanes - 1));
    struct cell *c = cell_of(cells, a & ~(u64)(SECTOR - 1));
    u32 j = (u32)(a & (SECTOR - 1)) / 4;
    u64 me = race_stamp(w, (u32)__builtin_ctz(lanes), ES_ONE, one ? WHO_ONE : WHO_WARP);
    if (likely(n == 4 && race_alone(w, space))) {
        if (op == OP_READ && likely(race_read_quick(w, c, j, me, race_site(warp, i), space))) return;
        if (op == OP_WRITE && one && likely(race_write_quick(w, c, j, me, race_site(warp, i), space))) return;
    }
    race_few_long(warp, i, op, space, cells, a, n, me, lanes);
}
#endif
