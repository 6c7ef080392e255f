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

static inline struct touch race_touch(struct warp *warp, const struct insn *i, u32 op, u32 space)
{
    struct race_warp *w = warp->race;
    return (struct touch){ .warp = warp, .w = w, .op_index = i->op, .site = warp->code->low->serial % FUNCS << 20 | (i->op & 0xfffff), .op = (u8)op, .space = (u8)space };
}

memory_chooser race_memory;     /* handlers_race.c */
handler *race_init_memory(const struct site *s, const struct insn *i, u32 group, s32 stride);  /* handlers_all.c */

void race_run_parts(struct touch *t, char *cells, u64 a, u32 n, u64 me, u32 each);
/* n bytes at a, by consecutive lanes, the first of which `me` names, 1 << es bytes each; cells + address reaches the cell. */
static inline void race_run(struct touch *t, char *cells, u64 a, u32 n, u64 me)
{
    u32 es = word_es(me);
    if (unlikely((a | n) & (SECTOR - 1)) || es >= ES_ONE) { race_run_parts(t, cells, a, n, me, 1u << es); return; }
    if (t->space == SPACE_GLOBAL && t->w->c->race->many && (a ^ (a + n - 1)) >> 12) { race_run_parts(t, cells, a, n, me, 1u << es); return; }
    if (t->space == SPACE_GLOBAL) cells_lock(t->w->c->race, a);
    u64 first = a;
    for (u64 up = (u64)(SECTOR >> es) << 9; n; n -= SECTOR, a += SECTOR, me += up) { t->at = a; race_sector(t, (struct cell *)(void *)(cells + a), me); }
    if (t->space == SPACE_GLOBAL) cells_unlock(t->w->c->race, first);
}

/* A word or two, by one lane or several that do the same. */
static inline void race_few(struct touch *t, char *cells, u64 a, u32 n, u32 lanes)
{
    struct race_warp *w = t->w;
    bool one = !(lanes & (lanes - 1));
    u64 me = race_stamp(w, (u32)__builtin_ctz(lanes), ES_ONE, one ? WHO_ONE : WHO_WARP);
    if (t->space == SPACE_GLOBAL) cells_lock(w->c->race, a);
    u64 lo = w->c->lo[t->space];
    for (; n; n -= 4, a += 4) {
        u64 sector = a & ~(u64)(SECTOR - 1);
        struct cell *c = (struct cell *)(void *)(cells + sector);
        t->at = sector;
        /* read again what is read already, and all writes are past: most of the time */
        if (!(t->op & OP_WRITE) && c->w < lo && c->r >= lo) {
            u64 r = c->r;
            u32 j = (u32)(a - sector) / 4;
            if (word_mixed(r)) r = ((struct words *)pool_at(words_of(t), c->rx))->a[j];
            if (r >= lo && race_in_set(w, r, me)) continue;
        }
        race_word(t, c, (u32)(a - sector) / 4, me, one ? 0 : lanes);
    }
    if (t->space == SPACE_GLOBAL) cells_unlock(w->c->race, a - 4);
}
#endif
