/* st.async and red.async: stores and reductions into the shared memory of a CTA of the cluster, which signal an
 * mbarrier there (9.7.9.12, 9.7.13.7). Each is a flight (flight.h) whose bytes are known when it is issued. */
#include "units/bulk.h"
#include "sim/cluster.h"
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/lanes.h"

static void issue(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    struct access to, mbarrier;
    bool ok = bulk_check(&to, w, R, i, SRC_ASYNC_TO, lane, o->aux);
    ok &= bulk_check(&mbarrier, w, R, i, SRC_ASYNC_MBARRIER, lane, 8);
    if (!ok) return;
    if (to.space[lane] != SP_SHARED || mbarrier.space[lane] != SP_SHARED) {
        asked->async_store_not_shared(w, i->op, lane);
        return;
    }
    struct flight *f = flight_new(w, i, lane, FLIGHT_MBARRIER);
    if (!f) return;
    f->to_space = f->from_space = SP_SHARED;
    f->to_cta = cluster_cta(w->cta, to.addr[lane]);
    f->mbarrier_cta = cluster_cta(w->cta, mbarrier.addr[lane]);
    f->mbarrier = mbarrier.ptr[lane];
    f->mbarrier_at = mbarrier.addr[lane];
    f->tx = o->aux;
    if (o->flags & ISA_ATOMIC) f->reduce = to.site;
    u32 size = to.site->width;
    char data[4 * 8];
    for (u32 k = 0; k < o->aux / size; k++) {
        u64 v = bulk_source(w, R, i, SRC_ASYNC_DATA + k, size, lane);
        memcpy(data + k * size, &v, size);
    }
    flight_add(f, (struct flight_move){ to.ptr[lane], NULL, to.addr[lane], 0, o->aux });
    flight_data(f, data);
    flight_issue(f);
}

int run_async_store(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) issue(w, R, i, l);
    w->changed = 1;
    return 0;
}
