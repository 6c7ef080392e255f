/* clusterlaunchcontrol: a cluster that runs takes the work of one that has not started, which then never starts
 * (9.7.13.18). The answer is 16 bytes that only query_cancel reads: whether there was one, and the first of its CTAs.
 */
#include "units/bulk.h"
#include "sim/cluster.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "units/mbarrier.h"
#include "schedule/worker.h"

enum { ANSWER_BYTES = 16 };

static void answer_of(struct warp *w, u32 answer[4])
{
    const struct launch *l = w->cta->launch;
    const u32 *grid = l->in->grid;
    u64 cluster;
    memset(answer, 0, ANSWER_BYTES);
    if (!worker_cancel(w->cta->worker, &cluster)) return;
    u64 across = grid[0] / l->cluster[0], down = grid[1] / l->cluster[1];
    answer[0] = 1;
    answer[1] = (u32)(cluster % across) * l->cluster[0];
    answer[2] = (u32)(cluster / across % down) * l->cluster[1];
    answer[3] = (u32)(cluster / across / down) * l->cluster[2];
}

static void cancel(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct access to, mbarrier;
    u32 answer[4];
    bool ok = bulk_check(&to, w, R, i, SRC_ASYNC_TO, lane, ANSWER_BYTES);
    ok &= bulk_check(&mbarrier, w, R, i, SRC_ASYNC_MBARRIER, lane, 8);
    if (!ok || to.space[lane] != SP_SHARED || mbarrier.space[lane] != SP_SHARED) return;
    answer_of(w, answer);
    u32 ranks = o->aux ? (1u << w->cta->cluster->size) - 1 : 1u << cluster_rank(to.addr[lane]);
    for (; ranks; ranks &= ranks - 1) {
        u32 rank = (u32)__builtin_ctz(ranks);
        if (!bulk_place_live(&to, rank, lane)) continue;
        struct flight *f = flight_new(w, i, lane, FLIGHT_MBARRIER);
        if (!f) return;
        if (o->aux) bulk_place(&mbarrier, rank, lane);
        f->to_space = f->from_space = SP_SHARED;
        f->to_cta = cluster_cta(w->cta, to.addr[lane]);
        f->mbarrier_cta = cluster_cta(w->cta, mbarrier.addr[lane]);
        f->mbarrier = mbarrier.ptr[lane];
        f->mbarrier_at = mbarrier.addr[lane];
        f->tx = ANSWER_BYTES;
        flight_add(f, (struct flight_move){ to.ptr[lane], NULL, to.addr[lane], 0, ANSWER_BYTES });
        flight_data(f, (const char *)answer);
        flight_issue(f);
    }
}

int run_cancel(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) cancel(w, R, i, l);
    w->changed = 1;
    return 0;
}

int run_cancel_query(char *restrict R, const struct insn *i, struct warp *w)
{
    const struct lop *o = &w->code->low->op[i->op];
    u32 lanes = active_lanes(w, R, i), truth = 0;
    EACH_SET (l, lanes) {
        u32 answer[4];
        u64 half[2] = { bulk_source(w, R, i, 0, 8, l), bulk_source(w, R, i, 1, 8, l) };
        memcpy(answer, half, sizeof answer);
        truth |= (answer[0] & 1) << l;
        for (u32 k = 0; k < o->ndst && o->aux != CANCEL_DONE && k < 3; k++)
            if (lop_dst(o, k)->kind == O_REG)
                memcpy(SLOT(R, insn_dst(w->code, i, k)->slot) + 4 * l, &answer[o->aux + k], 4);
    }
    if (o->aux == CANCEL_DONE && lop_dst(o, 0)->kind == O_REG) {
        u32 *p = (u32 *)(void *)SLOT(R, insn_dst(w->code, i, 0)->slot);
        *p = (*p & ~lanes) | truth;
    }
    return 0;
}
