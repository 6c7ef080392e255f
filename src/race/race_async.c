/* Copies under way: cp.async from its issue to the wait that ends it.
 *
 * Until a copy lands, its bytes belong to nobody: whoever reads them gets old bytes or new ones, whoever writes them
 * may be overwritten, the thread that issued the copy like any other. So the cell of such bytes is a list with an
 * entry OP_ASYNC, which no order puts before anything (race_cell.c). A barrier of the whole CTA empties the lists,
 * and does not end a copy; what is under way is therefore also kept here, and planted again behind the barrier. When
 * the copy lands, the entry becomes a write of its thread at that time: others need a barrier after it. */
#include "race/race.h"

struct flight {              /* a copy of one lane */
    struct touch touch;      /* its instruction and warp */
    struct list_entry entry; /* in the list of its sector */
    u64 sector;              /* shared address of that */
    u32 lane;                /* of the warp */
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

void race_departed(struct touch *t, const struct access *a)
{
    struct race_cta *c = t->w->c;
    t->space = SPACE_SHARED;
    for (u32 todo = a->ok; todo;) {
        u32 lane = (u32)__builtin_ctz(todo);
        u64 sector = a->addr[lane] & ~(u64)(SECTOR - 1);
        u32 bytes = (u32)((1ull << a->bytes) - 1) << (a->addr[lane] - sector);
        todo &= ~lanes_alike(a->addr, todo); /* lanes that bring the same bytes: one of them stands for all */
        t->at = sector;
        struct list_entry e = { .a = race_stamp(t->w, lane, ES_ONE, WHO_ONE),
                                .bytes = bytes,
                                .site = t->site,
                                .op = (u8)t->op,
                                .scope = t->scope };
        race_bytes(t, cell_at(c, sector), e.a, bytes, 0);
        flight_add(c, (struct flight){ *t, e, sector, lane });
    }
}

void race_arrived(struct race_warp *w, struct warp *warp, u32 lane, u64 at, u32 bytes)
{
    struct race_cta *c = w->c;
    u64 sector = at & ~(u64)(SECTOR - 1);
    u32 mask = (u32)((1ull << bytes) - 1) << (at - sector);
    struct touch t = { .warp = warp, .w = w, .space = SPACE_SHARED, .at = sector };
    for (u32 n = 0; n < c->nflights; n++) {
        const struct flight *f = &c->flights[n];
        if (f->touch.w != w || f->lane != lane || f->sector != sector || f->entry.bytes != mask) continue;
        c->flights[n] = c->flights[--c->nflights];
        break;
    }
    race_landed(&t, cell_at(c, sector), mask, lane);
}

void race_flights_over(struct race_cta *c) { c->nflights = 0; }

void race_replant(struct race_cta *c)
{
    for (u32 n = 0; n < c->nflights; n++) {
        const struct flight *f = &c->flights[n];
        race_plant(&f->touch, cell_at(c, f->sector), f->entry);
    }
}
