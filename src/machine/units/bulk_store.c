/* st.bulk (9.7.9.13): a thread sets a range of the CTA's shared memory to 0. It is an ordinary store of the generic
 * proxy, done when it is executed; observers see its words one after the other. */
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "units/bulk.h"

enum { WORD = 8, LENGTH_MOST = 16 << 20 }; /* bytes: the range is a multiple of a word, and not longer than this */

static void set(struct access *a, u32 lane, u64 bytes, bool init)
{
    struct launch *l = a->warp->cta->launch;
    u64 at = a->addr[lane];
    char *to = a->ptr[lane];
    if (init) asked->init_define(a, a->ok);
    memset(to, 0, bytes);
    a->wrote = a->ok;
    a->bytes = WORD;
    for (u64 k = 0; a->warp->code->watch && k < bytes; k += WORD) {
        a->addr[lane] = at + k;
        a->ptr[lane] = to + k;
        observe_access(l, a);
    }
}

int run_st_bulk(char *restrict R, const struct insn *i, struct warp *w)
{
    bool init = w->code->watch & WATCH_INIT;
    EACH_SET (lane, active_lanes(w, R, i)) {
        u64 bytes = bulk_source(w, R, i, SRC_LENGTH, 8, lane);
        struct access a;
        if (bytes % WORD || bytes > LENGTH_MOST) {
            asked->bulk_wrong_length(w, i->op, lane, bytes);
            continue;
        }
        if (!bytes || !bulk_check(&a, w, R, i, SRC_ADDRESS, lane, (u32)bytes)) continue;
        if (a.space[lane] != SP_SHARED) {
            asked->bulk_store_not_shared(w, i->op, lane);
            continue;
        }
        if (init && w->planes) asked->init_before(&a, R);
        set(&a, lane, bytes, init);
        w->changed |= CHANGED_ALL;
    }
    return 0;
}
