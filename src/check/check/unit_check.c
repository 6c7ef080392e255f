/* Rules of units, judged when the unit has seen that one is broken: registers that a block does not have (setmaxnreg),
 * mbarriers that copies signal too early, arrivals at the barrier of a cluster in parts. */
#include "flow/analyses.h"
#include "sim/asked.h"
#include "sim/finding_place.h"
#include "units/flight.h"
#include "units/registers.h"

static bool checks(const struct cta *c, u32 check) { return c->launch->in->checks & check; }

/* ---- setmaxnreg ---- */

/* Who holds how many, in words. */
static const char *holders(struct arena *a, const struct registers_short *x)
{
    const char *text = "";
    u32 groups = x->cta->nwarps / GROUP_WARPS;
    for (u32 k = 0, end; k < groups; k = end) {
        for (end = k + 1; end < groups && x->held[end] == x->held[k];) end++;
        text = arena_printf(a, "%s%swarps %u..%u %u", text, k ? ", " : "", k * GROUP_WARPS, end * GROUP_WARPS - 1,
                            x->held[k]);
    }
    return text;
}

void setmaxnreg_short(const struct registers_short *x)
{
    struct arena mem = { 0 };
    struct finding f = { .kind = F_setmaxnreg_short };
    u32 each = GROUP_WARPS * LANES, threads = x->cta->nwarps * LANES;
    f.cause = arena_printf(&mem,
                           "the block begins with %u threads of %u registers, %u in all; with what each role has taken "
                           "and given back (registers a thread: %s) it would hold %u, so this one waits for ever",
                           threads, x->start, threads * x->start, holders(&mem, x), x->sum * each);
    if (checks(x->cta, CHECK_ASYNC)) finding_add_of(x->cta->warp[x->warp], x->taker, x->op, &f, ALL_LANES);
    arena_free(&mem);
}

/* ---- mbarriers ---- */

/* Code of a library, or of a compiler that lays out shared memory itself, knows its card; a user does not write it. */
static bool is_theirs(const struct lowered *l, u32 op) { return lop_in_library(l, op) || shared_is_compilers(l); }

void mbarrier_unfenced(const struct flight *f, const struct lowered *low, u32 op, u32 thread)
{
    struct arena mem = { 0 };
    struct finding x = { .kind = F_mbarrier_unfenced };
    x.cause = arena_printf(&mem,
                           "thread %u has initialised the mbarrier at shared memory+0x%llx, and no thread has executed "
                           "fence.mbarrier_init or fence.proxy.async since: this copy signals it by another proxy, "
                           "which need not see it yet",
                           thread, (unsigned long long)(f->mbarrier - f->mbarrier_cta->shared));
    x.other = finding_place(&mem, low, op);
    if (checks(f->warp->cta, CHECK_ASYNC) && !is_theirs(low, op))
        finding_add_of(f->warp, f->low, f->op, &x, 1u << f->lane);
    arena_free(&mem);
}

/* ---- barrier.cluster ---- */

void cluster_parts(struct warp *w, u32 op, u32 lanes, const struct lowered *low, u32 other)
{
    struct arena mem = { 0 };
    struct finding f = { .kind = F_aligned_divergent,
                         .cause = "some lanes of the warp arrive by this instruction and others by another one: an "
                                  ".aligned operation wants all lanes of the warp at the same instruction" };
    f.other = finding_place(&mem, low, other);
    if (checks(w->cta, CHECK_BARRIER)) finding_add(w, op, &f, lanes);
    arena_free(&mem);
}
