/* st.bulk (9.7.9.13): a thread sets a range of the CTA's shared memory to 0. It is an ordinary store of the generic
 * proxy, done when it is executed; observers see its words one after the other. */
#include "sim/finding_place.h"
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/observe.h"
#include "sim/planes.h"
#include "units/bulk.h"

enum { WORD = 8, LENGTH_MOST = 16 << 20 }; /* bytes: the range is a multiple of a word, and not longer than this */

/* A range that no such store has. */
static void wrong_length(struct warp *w, const struct insn *i, u32 lane, u64 bytes)
{
    char cause[120];
    struct finding f = { .kind = F_bulk_size,
                         .cause = cause,
                         .fix = "Set a multiple of 8 bytes, 16777216 at most, and the rest by ordinary stores." };
    if (bytes % WORD)
        snprintf(cause, sizeof cause, "%llu bytes = %llu * 8 + %llu, and st.bulk sets a multiple of 8",
                 (unsigned long long)bytes, (unsigned long long)(bytes / WORD), (unsigned long long)(bytes % WORD));
    else
        snprintf(cause, sizeof cause, "%llu bytes, and st.bulk sets 16777216 at most", (unsigned long long)bytes);
    if (w->cta->launch->in->checks & CHECK_ALIGN) finding_add(w, i->op, &f, 1u << lane);
}

/* A generic address that is not one of shared memory. */
static void not_shared(struct warp *w, const struct insn *i, u32 lane)
{
    struct finding f = { .kind = F_invalid_address,
                         .cause = "st.bulk sets shared memory; this address is of other memory",
                         .fix = "Give it the address of an array in shared memory." };
    if (w->cta->launch->in->checks & CHECK_BOUNDS) finding_add(w, i->op, &f, 1u << lane);
}

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
            wrong_length(w, i, lane, bytes);
            continue;
        }
        if (!bytes || !bulk_check(&a, w, R, i, SRC_ADDRESS, lane, (u32)bytes)) continue;
        if (a.space[lane] != SP_SHARED) {
            not_shared(w, i, lane);
            continue;
        }
        if (init && w->planes) asked->init_before(&a, R);
        set(&a, lane, bytes, init);
        w->changed |= CHANGED_ALL;
    }
    return 0;
}
