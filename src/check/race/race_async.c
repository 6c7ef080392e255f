/* Asynchronous operations in flight: cp.async from its issue to the wait that completes it, and flights
 * (units/flight.h).
 *
 * Until a copy is done, a read of its bytes may return old bytes or new ones, and a write to them may be overwritten:
 * that holds for every thread, the one that issued the copy included. So the cell of such bytes has a list with an
 * entry OP_ASYNC, which happens before no other access (race_list.c). The bytes that a flight reads from shared memory
 * have such an entry, too, until they have been read. A barrier of the whole CTA empties the lists of
 * shared memory but does not complete a copy. The copies in flight are therefore also kept here, and their entries are
 * inserted again after the barrier. When the copy is done, the entry becomes an access of its thread at that time:
 * other threads need a barrier after it, or have to wait for the phase of the mbarrier that counts its bytes, where its
 * thread then counts as arrived.
 *
 * In global memory a flight is an access of its thread, when it is issued.
 *
 * Engines. No thread does what an asynchronous operation does. The operation is ordered after its issue; accesses are
 * ordered after the operation only by a wait for it, not by the program order of its thread. So it has an epoch of its
 * own: that of an engine, whose warp number is that of the issuing warp + ENGINES. A copy that has come is an access of
 * the engine, with a lane for each mbarrier. Whoever waits for the phase that counts the copy acquires the epoch, and
 * the clock that the issuing thread had at the issue, not what the thread has done since (st.async and red.async still
 * go by their thread). What a wgmma reads from shared memory (b by one warp of its warpgroup, rows of a by the warp
 * that has them) is read by the engine of that warp. When the warpgroup has waited, the epochs of its engines go to all
 * its threads (race_group_met). So a writer must be ordered before the issue, or after the wait, in whichever order the
 * machine has done the two. A barrier of the whole CTA does not end a product in flight: its reads are recorded once
 * more after the barrier.
 *
 * CTAs of more than 16 warps have no numbers for engines. There the issuing thread stands for them, when a copy has
 * come, and a product has read once when it is issued and once when it was waited for. */
#include "race/race_async.h"
#include "race/race_clock.h"
#include "race/race_reads.h"
#include "race/race_release.h"
#include "race/race_touch.h"
#include "sim/cluster.h"
#include "units/flight.h"
#include "units/wgmma.h"
#include "sim/lanes.h"

struct in_flight {           /* the copy of one lane, or the part of a flight in one sector */
    struct touch touch;      /* its instruction and warp */
    struct list_entry entry; /* its entry in the list of its sector */
    u64 sector;              /* shared address of the sector */
    u32 lane;                /* the lane */
    const struct flight *of; /* NULL: cp.async */
};

/* The cell of a sector of shared memory, which may be that of another CTA of the cluster; NULL: it has none. */
static struct cell *cell_at(const struct touch *t, u64 sector)
{
    const struct cta *owner = cluster_cta(t->warp->cta, sector);
    const struct race_cta *c = owner ? owner->race : NULL;
    return c && (c == t->w->c || c->distributed) ? cell_of(c->shared, sector) : NULL;
}

static u32 space_of(const struct race_cta *c) { return c->distributed ? SPACE_GLOBAL : SPACE_SHARED; }

static void flight_keep(struct race_cta *c, struct in_flight f)
{
    NEED_ROOM(c->flights, c->nflights, c->capflights, 64);
    c->flights[c->nflights++] = f;
}

/* Bytes of one sector of shared memory are in flight from now on. */
static void sector_issued(struct touch *t, u64 sector, u32 bytes, u32 lane, const struct flight *of)
{
    struct race_cta *c = t->w->c;
    t->at = sector;
    struct list_entry e = { .a = race_stamp(t->w, lane, ES_ONE, WHO_ONE),
                            .bytes = bytes,
                            .whole = t->op & OP_STRONG ? t->whole : 0,
                            .site = t->site,
                            .op = (u8)t->op,
                            .scope = t->scope };
    struct cell *cell = cell_at(t, sector);
    if (!cell) return;
    cell_access_bytes(t, cell, e.a, bytes, 0);
    flight_keep(c, (struct in_flight){ *t, e, sector, lane, of });
}

void race_copy_issued(struct touch *t, const struct access *a)
{
    t->space = space_of(t->w->c);
    for (u32 todo = a->ok; todo;) {
        u32 lane = (u32)__builtin_ctz(todo);
        u64 sector = a->addr[lane] & ~(u64)(SECTOR - 1);
        todo &= ~lanes_alike(a->addr, todo); /* one of the lanes that copy to the same bytes stands for all */
        sector_issued(t, sector, bytes_mask(a->addr[lane] - sector, a->bytes), lane, NULL);
    }
}

void race_copy_done(struct race_warp *w, struct warp *warp, u32 lane, u64 at, u32 bytes)
{
    struct race_cta *c = w->c;
    u64 sector = at & ~(u64)(SECTOR - 1);
    u32 mask = bytes_mask(at - sector, bytes);
    struct touch t = { .warp = warp, .w = w, .space = space_of(c), .at = sector };
    for (u32 n = 0; n < c->nflights; n++) {
        const struct in_flight *f = &c->flights[n];
        if (f->of || f->touch.w != w || f->lane != lane || f->sector != sector || f->entry.bytes != mask) continue;
        c->flights[n] = c->flights[--c->nflights];
        break;
    }
    list_copy_done(&t, cell_at(&t, sector), mask, lane, race_stamp(w, lane, ES_ONE, WHO_ONE));
}

void race_copies_reset(struct race_cta *c)
{
    c->nflights = 0;
    c->multiplies = false;
    release_reset(c);
}

/* ---- flights ---- */

/* A piece of global memory: its cells, if the launch can write there, or those of what it only reads. */
static void global_piece(struct touch *t, const struct flight *f, u64 at, u64 end, bool writes)
{
    const struct mem_object *o = mem_find(f->warp->cta->launch->sim->mem, at);
    char *cells = o ? (char *)(uintptr_t)__atomic_load_n(&o->race, __ATOMIC_ACQUIRE) : NULL;
    u64 reads = o && !writes ? __atomic_load_n(&o->reads, __ATOMIC_ACQUIRE) : 0;
    if (cells)
        race_run_slow(t, cells, at, (u32)(end - at), race_stamp(t->w, f->lane, ES_ONE, WHO_ONE));
    else if (reads)
        reads_run(t->w->c->era, (char *)(uintptr_t)reads, at, end - at, t->site);
}

/* Where one side of a piece begins. */
static u64 side_of(const struct flight_move *m, bool writes) { return writes ? m->to_at : m->from_at; }

static bool has_side(const struct flight_move *m, bool writes) { return writes ? m->to != NULL : m->from != NULL; }

/* A side in global memory. Pieces that follow each other there are one access: a swizzled row is cut every 16 bytes. */
static void global_side(struct touch *t, const struct flight *f, bool writes)
{
    for (u32 k = 0, next; k < f->n; k = next) {
        u64 at = side_of(&f->move[k], writes), end = at + f->move[k].bytes;
        next = k + 1;
        if (!has_side(&f->move[k], writes)) continue;
        while (next < f->n && has_side(&f->move[next], writes) && side_of(&f->move[next], writes) == end)
            end += f->move[next++].bytes;
        global_piece(t, f, at, end, writes);
    }
}

/* A side in shared memory. The bytes of a sector that several pieces have are in flight at once, whatever their order.
 */
static void shared_side(struct touch *t, const struct flight *f, bool writes)
{
    struct race_cta *c = t->w->c;
    u64 low = ~(u64)0, high = 0;
    for (u32 k = 0; k < f->n; k++)
        if (has_side(&f->move[k], writes)) {
            low = MIN_OF(low, side_of(&f->move[k], writes) & ~(u64)(SECTOR - 1));
            high = MAX_OF(high, side_of(&f->move[k], writes) + f->move[k].bytes);
        }
    if (low >= high) return;
    u32 sectors = (u32)((high - low + SECTOR - 1) / SECTOR);
    if (sectors > c->capside) c->side = base_need_more(c->side, sizeof *c->side * (c->capside = sectors));
    memset(c->side, 0, sizeof *c->side * sectors);
    for (u32 k = 0; k < f->n; k++) {
        if (!has_side(&f->move[k], writes)) continue;
        u64 at = side_of(&f->move[k], writes) - low;
        for (u64 end = at + f->move[k].bytes, next; at < end; at = next) {
            next = MIN_OF(end, (at & ~(u64)(SECTOR - 1)) + SECTOR);
            c->side[at / SECTOR] |= bytes_mask(at % SECTOR, (u32)(next - at));
        }
    }
    for (u32 n = 0; n < sectors; n++)
        if (c->side[n]) sector_issued(t, low + (u64)n * SECTOR, c->side[n], f->lane, f);
}

/* What a flight reads, or what it writes. */
static void side_issued(struct touch *t, const struct flight *f, bool writes)
{
    bool shared = (writes ? f->to_space : f->from_space) == SP_SHARED;
    t->op = (writes ? OP_WRITE : OP_READ) | (shared ? OP_ASYNC : 0u);
    t->space = shared ? space_of(t->w->c) : SPACE_GLOBAL;
    t->scope = SCOPE_SYS;
    t->whole = 0;
    if (writes && f->reduce) { /* reductions of several threads do not conflict with each other */
        if (!shared) return;
        t->op |= OP_STRONG;
        t->whole = ~0u;
    }
    (shared ? shared_side : global_side)(t, f, writes);
}

/* The access word of an engine of the warp, now. */
static u64 engine_stamp(const struct race_warp *w, u32 lane)
{
    u64 me = race_stamp(w, lane, ES_ONE, WHO_ONE);
    return race_has_engines(w->c) ? me | (u64)ENGINES << 14 : me;
}

/* What a product reads, from now on. */
static void product_reads(struct race_warp *w, const struct flight *f)
{
    struct touch t = { .warp = f->warp,
                       .w = w,
                       .op_index = f->op,
                       .site = f->low->serial % FUNCS << SITE_FUNCTION | (f->op & SITE_OPERATION),
                       .op = OP_READ,
                       .space = space_of(w->c),
                       .product = f->product };
    u64 me = engine_stamp(w, f->lane);
    for (u32 k = 0; k < f->n; k++)
        for (u64 at = f->move[k].from_at, end = at + f->move[k].bytes, next; at < end; at = next) {
            t.at = at & ~(u64)(SECTOR - 1);
            next = MIN_OF(end, t.at + SECTOR);
            struct cell *c = cell_at(&t, t.at);
            if (!c) continue;
            if (next - at == SECTOR)
                cell_access_sector(&t, c, me);
            else
                cell_access_bytes(&t, c, me, bytes_mask(at - t.at, (u32)(next - at)), 0);
        }
}

/* ---- the clocks of those who issue ---- */

/* A copy that an mbarrier counts, by the copy engine. */
static bool is_bulk_copy(const struct flight *f)
{
    return f->end == FLIGHT_MBARRIER && f->n && f->low->site[f->low->op[f->op].site].flags & SITE_BULK;
}

static void issuer_keep(struct race_warp *w, const struct flight *f)
{
    struct race_cta *c = w->c;
    lock(&c->era->lock);
    NEED_ROOM(c->issuers, c->nissuers, c->capissuers, 16);
    c->issuers[c->nissuers++] = (struct issuer_clock){ f, clock_of_lane(w, f->lane), clock_of_lane_weak(w, f->lane),
                                                       w->now + 1 };
    unlock(&c->era->lock);
    w->now++; /* what it does from now on is not in that clock */
}

/* The clock that the issuing thread had goes to the mbarrier; false: it is not known. */
static bool issuer_take(struct race_warp *w, const struct flight *f, u64 where)
{
    struct race_cta *c = w->c;
    for (u32 n = 0; n < c->nissuers; n++) {
        if (c->issuers[n].of != f) continue;
        struct issuer_clock k = c->issuers[n];
        c->issuers[n] = c->issuers[--c->nissuers];
        clock_issuer_arrive(w, where, &k);
        return true;
    }
    return false;
}

/* The products of the warp have ended for its warpgroup as far as it has waited. */
static void engine_arrives(struct race_warp *w, u64 at)
{
    if (w->ended) clock_engine_arrive(w, LANES, at, w->ended);
}

void race_group_met(struct race_cta *c, const struct warp *first)
{
    struct warp *const *group = &first->cta->warp[first->id];
    u32 warps = MIN_OF(first->cta->nwarps - first->id, 4u);
    u64 at = (u64)(uintptr_t)first ^ (u64)c->start << 36;
    for (u32 k = 0; k < warps; k++)
        if (group[k]->live) clock_mbarrier_arrive(group[k]->race, (u32)__builtin_ctz(group[k]->live), at, false);
    for (u32 k = 0; k < warps && race_has_engines(c); k++) engine_arrives(group[k]->race, at);
    clock_cluster_phase(first->race, at);
    for (u32 k = 0; k < warps; k++)
        if (group[k]->live) clock_mbarrier_waited(group[k]->race, group[k]->live, at, false);
}

void race_flight_issued(struct race_warp *w, const struct flight *f)
{
    if (f->end == FLIGHT_WGMMA) {
        w->issued[f->product % PRODUCTS] = ++w->now;
        w->nissued = f->product;
        w->c->multiplies = true;
        product_reads(w, f);
        release_read_issued(w, f);
        return;
    }
    release_filled(w, f);
    if (is_bulk_copy(f) && race_has_engines(w->c)) issuer_keep(w, f);
    struct touch t = race_touch(f->warp, f->insn, OP_READ, SPACE_GLOBAL);
    t.w = w;
    side_issued(&t, f, false);
    side_issued(&t, f, true);
}

/* The sides of a flight in shared memory are accesses of that word now: its thread's, or its engine's. */
static void sides_done(struct race_warp *w, const struct flight *f, bool writes, u64 done)
{
    struct race_cta *c = w->c;
    u32 left = 0;
    for (u32 n = 0; n < c->nflights; n++) {
        const struct in_flight x = c->flights[n];
        if (x.of == f && writes >= (x.entry.op & OP_WRITE)) {
            struct touch t = { .warp = f->warp, .w = w, .space = space_of(c), .at = x.sector };
            list_copy_done(&t, cell_at(&t, x.sector), x.entry.bytes, x.lane, done);
        } else
            c->flights[left++] = x;
    }
    c->nflights = left;
}

void race_flight_read(struct race_warp *w, const struct flight *f)
{
    sides_done(w, f, false, race_stamp(w, f->lane, ES_ONE, WHO_ONE));
}

/* It is complete, and the mbarrier counts it: who waits for the phase is after it, and after its issue. */
static void copy_arrives(struct race_warp *w, const struct flight *f)
{
    const struct race_cta *home = f->mbarrier_cta->race;
    u64 where = (u64)(uintptr_t)f->mbarrier ^ (u64)home->start << 36, word; /* as location_of has it */
    u32 lane = 1 + (u32)(f->mbarrier_at / 8 % (LANES - 1));
    bool engine = race_has_engines(w->c) && issuer_take(w, f, where);
    if (f->n) sides_done(w, f, true, engine ? engine_stamp(w, lane) : race_stamp(w, f->lane, ES_ONE, WHO_ONE));
    w->engine_lane = f->lane;
    if (engine)
        clock_engine_arrive(w, lane, where, ++w->now);
    else
        clock_mbarrier_arrive(w, f->lane, where, false);
    memcpy(&word, f->mbarrier, 8);
    clock_mbarrier_phase(w, where, word);
}

void race_flight_done(struct race_warp *w, const struct flight *f)
{
    if (f->end == FLIGHT_WGMMA) {
        release_read_ended(w, f);
        w->ended = MAX_OF(w->ended, w->issued[f->product % PRODUCTS] + 1);
        if (!race_has_engines(w->c) && f->warp->code && f->low == f->warp->code->low) product_reads(w, f);
        return;
    }
    if (f->end == FLIGHT_MBARRIER && w->c->exact)
        copy_arrives(w, f);
    else if (f->n)
        sides_done(w, f, true, race_stamp(w, f->lane, ES_ONE, WHO_ONE));
}

/* ---- barriers of the whole CTA ---- */

/* A product in flight goes on reading after the barrier. */
static void product_again(struct warp *warp, const struct flight *f)
{
    struct race_warp *w = warp->race;
    w->issued[f->product % PRODUCTS] = w->now;
    product_reads(w, f);
}

void race_copies_relist(struct race_cta *c, struct cta *cta)
{
    for (u32 n = 0; n < c->nflights; n++) {
        const struct in_flight *f = &c->flights[n];
        list_insert(&f->touch, cell_at(&f->touch, f->sector), f->entry);
    }
    if (c->multiplies && race_has_engines(c)) wgmma_each_in_flight(cta, product_again);
}
