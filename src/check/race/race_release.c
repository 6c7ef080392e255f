/* Pipelines: who gave a buffer back, and whether the product that reads it was over by then.
 *
 * A role that fills buffers waits for an mbarrier in front of each copy; the warpgroups that multiply arrive there when
 * they have read the buffer. An arrival in front of the wgmma.wait_group that covers the product is the mistake which
 * a race of the copy and the product comes from, and the report of that names the arrival. Where something else keeps
 * the copy away by chance (the wait for another buffer, in between), there is no race, and the note async_released.
 *
 * What is kept: the last products with the range that they read, the last arrivals at each mbarrier without bytes, and
 * of each warp the waits since the last copy that it has issued: those are the ones that its next copy rests on, unless
 * it comes to a barrier. Times of different warps are not compared: an arrival and the end of a product, by the time of
 * the warp that arrives. */
#include "race/race_release.h"
#include "race/race_async.h"
#include "race/race_report.h"
#include "units/flight.h"
#include "units/wgmma.h"

void release_reset(struct race_cta *c)
{
    if (c->releases) memset(c->releases, 0, sizeof *c->releases);
}

/* NULL: the CTA has no products so far, or no engines. */
static struct releases *releases_of(const struct race_cta *c) { return c->releases; }

/* ---- products ---- */

enum { APART = 512 }; /* bytes: pieces that are farther from each other are of different matrices */

void release_read_issued(struct race_warp *w, const struct flight *f)
{
    struct race_cta *c = w->c;
    if (!f->n || !race_has_engines(c)) return;
    if (!c->releases) {
        c->releases = base_need(sizeof *c->releases);
        release_reset(c);
    }
    struct released_read *r = NULL;
    for (u32 k = 0; k < f->n; k++) {
        u64 from = f->move[k].from_at;
        if (!r || from > r->end + APART || from < r->from) {
            r = &c->releases->read[c->releases->nread++ % READS_KEPT];
            *r = (struct released_read){ .from = from, .at = { f->low, f->op }, .warp = w->id, .number = f->product };
            r->issued = w->issued[f->product % PRODUCTS];
        }
        r->end = from + f->move[k].bytes;
    }
}

void release_read_ended(struct race_warp *w, const struct flight *f)
{
    struct releases *s = releases_of(w->c);
    const struct wgmmas *own = wgmmas_of(f->warp);
    for (u32 k = 0; s && k < READS_KEPT; k++) {
        struct released_read *r = &s->read[k];
        if (!r->end || r->over || r->warp / WARPGROUP != w->id / WARPGROUP || r->number > f->product) continue;
        r->over = true;
        r->wait = own && own->waited_in ? (struct code_place){ own->waited_in, own->waited } : r->at;
        for (u32 j = 0; j < WARPGROUP; j++) r->ended[j] = w->c->warp[w->id / WARPGROUP * WARPGROUP + j].now;
    }
}

/* ---- arrivals and waits ---- */

static struct release_barrier *barrier_at(struct releases *s, u64 where, bool make)
{
    for (u32 k = 0; k < MBARRIERS_KEPT; k++) {
        struct release_barrier *b = &s->bar[k];
        if (b->where == where) return b;
        if (b->where) continue;
        if (make) b->where = where;
        return make ? b : NULL;
    }
    return NULL;
}

static struct code_place place_of(const struct touch *t)
{
    return (struct code_place){ t->warp->code->low, t->op_index };
}

void release_arrived(struct race_warp *w, const struct touch *t, u32 lane, u64 where, u64 shared_at)
{
    struct releases *s = releases_of(w->c);
    struct release_barrier *b = s ? barrier_at(s, where, true) : NULL;
    if (!b) return;
    b->shared_at = shared_at;
    b->last[b->n++ % ARRIVALS_KEPT] = (struct release_arrival){ place_of(t), w->id, lane, w->now };
}

void release_waited(struct race_warp *w, const struct touch *t, u32 lane, u64 where)
{
    struct releases *s = releases_of(w->c);
    struct release_barrier *b = s ? barrier_at(s, where, false) : NULL;
    if (!s) return;
    if (s->run[w->id].filled) s->run[w->id].n = 0;
    s->run[w->id].filled = false;
    if (b && s->run[w->id].n < WAITS_KEPT)
        s->run[w->id].wait[s->run[w->id].n++] = (struct release_wait){ b, place_of(t), lane, b->n };
}

void release_met(struct race_warp *w)
{
    struct releases *s = releases_of(w->c);
    if (s) s->run[w->id].n = 0;
}

/* ---- copies ---- */

void release_filled(struct race_warp *w, const struct flight *f)
{
    struct releases *s = releases_of(w->c);
    if (!s || f->to_space != SP_SHARED || f->to_cta != f->warp->cta) return;
    s->run[w->id].filled = true;
    if (s->run[w->id].n) race_report_filled(w, f);
}
