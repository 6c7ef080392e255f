/* Asynchronous copies in flight: cp.async from its issue to the wait that completes it.
 *
 * Until a copy is done, a read of its bytes may return old bytes or new ones, and a write to them may be overwritten:
 * that holds for every thread, the one that issued the copy included. So the cell of such bytes has a list with an
 * entry OP_ASYNC, which happens before no other access (race_list.c). A barrier of the whole CTA empties the lists of
 * shared memory but does not complete a copy. The copies in flight are therefore also kept here, and their entries are
 * inserted again after the barrier. When the copy is done, the entry becomes a write of its thread at that time: other
 * threads need a barrier after it. */
#include "race/race_async.h"
#include "race/race_touch.h"
#include "sim/lanes.h"

struct flight {              /* the copy of one lane */
    struct touch touch;      /* its instruction and warp */
    struct list_entry entry; /* its entry in the list of its sector */
    u64 sector;              /* shared address of the sector */
    u32 lane;                /* the lane */
};

static struct cell *cell_at(struct race_cta *c, u64 sector) { return cell_of(c->shared, sector); }

static void flight_add(struct race_cta *c, struct flight f)
{
    if (c->nflights == c->capflights) {
        u32 cap = c->capflights ? 2 * c->capflights : 64;
        c->flights = base_need_more(c->flights, sizeof *c->flights * cap);
        c->capflights = cap;
    }
    c->flights[c->nflights++] = f;
}

void race_copy_issued(struct touch *t, const struct access *a)
{
    struct race_cta *c = t->w->c;
    t->space = c->distributed ? SPACE_GLOBAL : SPACE_SHARED;
    for (u32 todo = a->ok; todo;) {
        u32 lane = (u32)__builtin_ctz(todo);
        u64 sector = a->addr[lane] & ~(u64)(SECTOR - 1);
        u32 bytes = bytes_mask(a->addr[lane] - sector, a->bytes);
        todo &= ~lanes_alike(a->addr, todo); /* one of the lanes that copy to the same bytes stands for all */
        t->at = sector;
        struct list_entry e = { .a = race_stamp(t->w, lane, ES_ONE, WHO_ONE),
                                .bytes = bytes,
                                .site = t->site,
                                .op = (u8)t->op,
                                .scope = t->scope };
        cell_access_bytes(t, cell_at(c, sector), e.a, bytes, 0);
        flight_add(c, (struct flight){ *t, e, sector, lane });
    }
}

void race_copy_done(struct race_warp *w, struct warp *warp, u32 lane, u64 at, u32 bytes)
{
    struct race_cta *c = w->c;
    u64 sector = at & ~(u64)(SECTOR - 1);
    u32 mask = bytes_mask(at - sector, bytes);
    struct touch t = { .warp = warp, .w = w, .space = c->distributed ? SPACE_GLOBAL : SPACE_SHARED, .at = sector };
    for (u32 n = 0; n < c->nflights; n++) {
        const struct flight *f = &c->flights[n];
        if (f->touch.w != w || f->lane != lane || f->sector != sector || f->entry.bytes != mask) continue;
        c->flights[n] = c->flights[--c->nflights];
        break;
    }
    list_copy_done(&t, cell_at(c, sector), mask, lane);
}

void race_copies_reset(struct race_cta *c) { c->nflights = 0; }

void race_copies_relist(struct race_cta *c)
{
    for (u32 n = 0; n < c->nflights; n++) {
        const struct flight *f = &c->flights[n];
        list_insert(&f->touch, cell_at(c, f->sector), f->entry);
    }
}
