/* What a race finding says of a flight that one of its sides is. */
#include "explain/race_flight_text.h"
#include "code/shared_layout.h"
#include "explain/explain_access.h"
#include "explain/race_code.h"
#include "explain/race_early.h"
#include "units/flight.h"
#include <inttypes.h>

bool race_flight_is(const struct draft *x)
{
    const struct site *theirs = site_at(x->old_low, x->old_op);
    return theirs && theirs->flags & SITE_BULK && x->t->space == SPACE_SHARED && !x->other_launch;
}

bool race_product_is(const struct draft *x)
{
    const struct lowered *l = x->t->warp->code->low;
    return x->old_low && !x->other_launch && !(x->old->op & OP_ASYNC) &&
           (lop_is_wgmma(&x->old_low->op[x->old_op]) || lop_is_wgmma(&l->op[x->t->op_index]));
}

void race_product_advise(struct draft *x)
{
    if (x->f.kind != F_order_weak && race_early_advise(x)) return;
    if (x->f.kind == F_order_weak) {
        x->f.cause = "the write is before the wgmma in its own thread, and on an H200 no warp of a warpgroup goes on, "
                     "nor is anything read, until all four have issued it; the manual does not promise that";
        x->f.order = "a barrier of the warpgroup between the write, with its fence.proxy.async, and the wgmma";
        x->f.fix = "Put a barrier of the warpgroup (bar.sync with 128 threads) between the two.";
        return;
    }
    x->f.cause = "a wgmma reads these bytes from its issue to the wait that covers its group, and the write is ordered "
                 "neither before the issue nor after the wait";
    x->f.order = "a barrier between the write and the wgmma; for the next write, one after wgmma.wait_group";
    x->f.fix = "Let the warpgroup wait for what it multiplies before it issues the wgmma, and let it say that the "
               "operands may be written again after the wgmma.wait_group that covers them, not before.";
}

/* The flight, while it is in flight; NULL: it is complete. */
static const struct flight *flight_of(const struct draft *x)
{
    const struct warp *w = x->t->warp;
    const char *at = w->shared + x->at;
    if (!(x->old->op & OP_ASYNC)) return NULL;
    return x->old->op & OP_WRITE ? flight_to(w->cta, at, 1) : flight_from(w->cta, at, 1);
}

/* The name of the mbarrier that a flight signals. */
static const char *mbarrier_name(struct draft *x, const struct flight *f)
{
    const struct ptx_var *v = shared_variable(x->t->warp->cta->launch->kernel->func, f->mbarrier_at);
    if (!v) return arena_printf(&x->mem, "the mbarrier at shared memory+0x%" PRIx64, f->mbarrier_at);
    u64 off = f->mbarrier_at - v->offset;
    return off ? arena_printf(&x->mem, "%s+0x%" PRIx64, name_of_variable(&x->mem, v->name), off)
               : name_of_variable(&x->mem, v->name);
}

/* The second one is a copy into the same buffer, and the code does not wait for anything before it fills that again: a
 * wait on the way there is one for the wrong phase. */
static bool is_refill(const struct draft *x)
{
    const struct lowered *l = x->t->warp->code->low;
    const struct site *mine = site_at(l, x->t->op_index);
    if (!(x->me->op & x->old->op & OP_WRITE) || !mine || !(mine->flags & SITE_BULK)) return false;
    for (u32 k = 0; k < x->t->op_index; k++)
        if (l->op[k].flags & ISA_MBAR_WAIT && code_in_one_loop(l, k, x->t->op_index) &&
            code_dominates(l, k, x->t->op_index))
            return false;
    return true;
}

static void advise_in_flight(struct draft *x, const struct flight *f)
{
    const char *side = x->old->op & OP_WRITE ? "into" : "out of";
    if (f->end == FLIGHT_MBARRIER) {
        const char *bar = mbarrier_name(x, f);
        x->f.cause = arena_printf(&x->mem,
                                  "the copy of %" PRIu64 " bytes %s these was in flight: nobody has waited for phase "
                                  "%" PRIu64 " of %s, which counts them; a wait for the other parity returns at once",
                                  f->bytes, side, f->mbarrier_phase, bar);
        x->f.order = arena_printf(&x->mem, "mbarrier.try_wait.parity %" PRIu64 " on %s by each thread that uses them",
                                  f->mbarrier_phase & 1, bar);
        x->f.fix = is_refill(x) ? arena_printf(&x->mem,
                                               "Let the thread that fills the buffer again wait first until it has "
                                               "been read: for the mbarrier at which the readers give it back (its "
                                               "phases, 0 and 1 in turn). A wait for %s alone does not cover them.",
                                               bar)
                                : arena_printf(&x->mem,
                                               "Wait for parity %" PRIu64
                                               " of %s before the access: 0 for the first phase, then 1, and "
                                               "so on in turn.",
                                               f->mbarrier_phase & 1, bar);
        return;
    }
    const char *wait = f->end == FLIGHT_WGMMA ? "wgmma.wait_group.sync.aligned" : "cp.async.bulk.wait_group.read";
    x->f.cause = flight_committed(f)
                     ? arena_printf(&x->mem,
                                    "%s that reads these bytes was in flight: its group has %u newer one%s, and its "
                                    "thread has not waited for it",
                                    f->end == FLIGHT_WGMMA ? "a wgmma" : "a bulk copy", flight_newer(f),
                                    plural(flight_newer(f)))
                     : "the operation that reads these bytes was in flight: its group has not even been committed";
    x->f.order = arena_printf(&x->mem, "%s %u by the thread that issued it, and a barrier where another thread writes",
                              wait, flight_newer(f));
    x->f.fix = arena_printf(&x->mem, "Put %s %u, and a barrier, before the source is written again.", wait,
                            flight_newer(f));
}

bool race_flight_advise(struct draft *x)
{
    const struct flight *f = flight_of(x);
    if (f) {
        advise_in_flight(x, f);
        return true;
    }
    x->f.cause = "the copy was complete by then, but only because another thread had waited for it: this thread has "
                 "neither waited for the phase of its mbarrier, or its group, nor come after a thread that has";
    x->f.order = "a wait for the phase by this thread, or a barrier after the wait of the thread that did";
    x->f.fix = "Let every thread that uses the bytes wait for the phase of the mbarrier, or put __syncthreads() after "
               "the wait of the one that does.";
    return false;
}
