/* Buffers that are given back before the product that reads them is over: which arrival it was, and whether that is a
 * race of the next copy, or something else has kept the copy away. race/race_release.h has what is known. */
#include "explain/race_early.h"
#include "explain/race_code.h"
#include "race/happens_before.h"
#include "race/race_async.h"
#include "race/race_release.h"
#include "race/race_report.h"
#include "sim/finding_place.h"
#include "units/flight.h"
#include <inttypes.h>

struct early_release {
    const struct released_read *read;
    const struct release_arrival *arrival;
    const struct release_wait *wait; /* of the thread that fills the buffer */
};

/* The last arrival of the warpgroup that reads, of those that the wait has seen; NULL: none. */
static const struct release_arrival *arrival_of(const struct release_wait *x, u32 group)
{
    for (u32 n = x->upto, k = 0; n-- > 0 && k < ARRIVALS_KEPT; k++) {
        const struct release_arrival *a = &x->bar->last[n % ARRIVALS_KEPT];
        if (x->bar->n - n > ARRIVALS_KEPT) return NULL;
        if (a->warp / WARPGROUP == group) return a;
    }
    return NULL;
}

/* All arrivals of the warpgroup that the warp has waited for since its last copy are in front of the end of the
 * product, and there is one. */
static bool is_early(const struct race_warp *w, const struct released_read *r, struct early_release *out)
{
    const struct releases *s = w->c->releases;
    u32 group = r->warp / WARPGROUP;
    bool any = false;
    for (u32 k = 0; k < s->run[w->id].n; k++) {
        const struct release_wait *x = &s->run[w->id].wait[k];
        const struct release_arrival *a = arrival_of(x, group);
        if (!a || a->warp == w->id) continue;
        if (r->over && a->time >= r->ended[a->warp % WARPGROUP]) return false;
        *out = (struct early_release){ r, a, x };
        any = true;
    }
    return any;
}

static bool was_early(const struct race_warp *w, u64 from, u64 end, struct early_release *out)
{
    const struct releases *s = w->c->releases;
    for (u32 n = s ? s->nread : 0, k = 0; n-- > 0 && k < READS_KEPT; k++) {
        const struct released_read *r = &s->read[n % READS_KEPT];
        if (r->from < end && r->end > from && is_early(w, r, out)) return true;
    }
    return false;
}

/* "fa.cu:24 (called at :177)" */
static const char *line_at(struct arena *a, const struct code_place *p)
{
    const struct place *at = finding_place(a, p->low, p->op), *by = at ? at->inlined_at : NULL;
    if (!at || !at->file) return at ? arena_printf(a, "line %u of the PTX", at->ptx_line) : "a place without a line";
    const char *slash = strrchr(at->file, '/'), *call = "";
    if (by && by->line && by->file)
        call = strcmp(by->file, at->file) ? arena_printf(a, " (called at %s:%u)", by->file, by->line)
                                          : arena_printf(a, " (called at :%u)", by->line);
    return arena_printf(a, "%s:%u%s", slash ? slash + 1 : at->file, at->line, call);
}

/* "thread 128 gave ... back at fa.cu:176 ..." */
static const char *early_text(struct arena *a, const struct early_release *r)
{
    const struct released_read *p = r->read;
    u32 first = p->warp / WARPGROUP * WARPGROUP * LANES;
    return arena_printf(a,
                        "the product at %s, of threads %u..%u, reads these bytes, and thread %u has given them back at "
                        "%s (it arrived at the mbarrier at shared memory+0x%" PRIx64
                        ", which is waited for at %s) before its warpgroup had waited for that product%s%s",
                        line_at(a, &p->at), first, first + WARPGROUP * LANES - 1,
                        r->arrival->warp * LANES + r->arrival->lane, line_at(a, &r->arrival->at),
                        r->wait->bar->shared_at, line_at(a, &r->wait->at), p->over ? " at " : "",
                        p->over ? line_at(a, &p->wait) : "");
}

static void report_released(const struct flight *f, const struct early_release *x)
{
    struct arena mem = { 0 };
    struct finding y = { .kind = F_async_released, .other = finding_place(&mem, x->read->at.low, x->read->at.op) };
    y.cause = arena_printf(&mem, "%s; in this kernel another wait in front of the copy comes after the product",
                           early_text(&mem, x));
    if (f->warp->cta->launch->in->checks & CHECK_ASYNC) finding_add_of(f->warp, f->low, f->op, &y, 1u << f->lane);
    arena_free(&mem);
}

void race_report_filled(const struct race_warp *w, const struct flight *f)
{
    struct early_release x;
    u64 from = ~(u64)0, end = 0;
    for (u32 k = 0; k < f->n; k++) {
        from = MIN_OF(from, f->move[k].to_at);
        end = MAX_OF(end, f->move[k].to_at + f->move[k].bytes);
    }
    if (!was_early(w, from, end, &x)) return;
    u32 thread = (word_thread(w->key) & ~1023u) | (x.read->warp + ENGINES) * LANES;
    /* otherwise it races, which is reported */
    if (hb_thread(w, f->lane, thread, x.read->issued, SPACE_SHARED, 0, 0)) report_released(f, &x);
}

/* A copy overwrites what a product reads, and an arrival that came too early has let it do so. */
bool race_early_advise(struct draft *x)
{
    const struct site *mine = site_at(x->t->warp->code->low, x->t->op_index);
    struct early_release r;
    if (!(x->me->op & OP_WRITE) || !mine || !(mine->flags & SITE_BULK) || !was_early(x->t->w, x->at, x->at + 1, &r))
        return false;
    x->f.cause = early_text(&x->mem, &r);
    x->f.order = "that arrival after the wgmma.wait_group that covers the product";
    x->f.fix = "Arrive after the wgmma.wait_group that covers the product which reads the buffer.";
    return true;
}
