/* Bulk copies and reductions: cp.async.bulk, cp.reduce.async.bulk (9.7.9.25.4), and the groups of those that write
 * global memory. Each is a flight (flight.h). */
#include "sim/access.h"
#include "sim/finding_place.h"
#include "sim/flight.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "sim/mbarrier.h"

enum { BULK_UNIT = 16 }; /* bytes are a multiple of this */

/* The value of source k in a lane. */
static u64 source(const struct warp *w, const char *R, const struct insn *i, u32 k, u32 width, u32 lane)
{
    const struct insn_opnd *o = insn_src(w->code, i, k);
    return lane_value(w, w->code, R, o->slot, o->cls, width, lane);
}

/* An address of one lane, checked: `bytes` there, or 8 for an mbarrier. */
static bool check(struct access *a, struct warp *w, const char *R, const struct insn *i, u32 which, u32 lane, u32 bytes)
{
    *a = (struct access){
        .site = &w->code->low->site[i->site + which], .insn = i, .warp = w, .mask = 1u << lane, .bytes = bytes
    };
    access_addresses(a, R);
    access_check(a);
    return a->ok;
}

static void wrong_size(struct warp *w, const struct insn *i, u32 lane, u32 bytes)
{
    char cause[120];
    struct finding f = { .kind = F_bulk_size, .cause = cause };
    snprintf(cause, sizeof cause, "%u bytes = %u * %u + %u, and a bulk copy moves a multiple of %u", bytes,
             bytes / BULK_UNIT, BULK_UNIT, bytes % BULK_UNIT, BULK_UNIT);
    if (w->cta->launch->in->checks & CHECK_ALIGN) finding_add(w, i->op, &f, 1u << lane);
}

static void issue(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    bool signals = lop_src(o, SRC_BULK_MBARRIER)->kind != O_NONE;
    u32 bytes = (u32)source(w, R, i, SRC_BULK_BYTES, 4, lane);
    struct access to, from, mbarrier;
    if (bytes % BULK_UNIT) {
        wrong_size(w, i, lane, bytes);
        return;
    }
    bool ok = check(&to, w, R, i, SRC_BULK_TO, lane, bytes);
    ok &= check(&from, w, R, i, SRC_BULK_FROM, lane, bytes);
    if (signals) ok &= check(&mbarrier, w, R, i, SRC_BULK_MBARRIER, lane, 8);
    if (!ok) return;
    struct flight *f = flight_new(w, i, lane, signals ? FLIGHT_MBARRIER : FLIGHT_GROUP);
    if (!f) return;
    f->to_space = to.space[lane];
    f->from_space = from.space[lane];
    if (o->flags & ISA_ATOMIC) f->reduce = to.site;
    if (signals) {
        f->mbarrier = mbarrier.ptr[lane];
        f->mbarrier_at = mbarrier.addr[lane];
        f->tx = bytes;
    }
    flight_add(f, (struct flight_move){ to.ptr[lane], from.ptr[lane], to.addr[lane], from.addr[lane], bytes });
    flight_issue(f);
}

int run_bulk(char *restrict R, const struct insn *i, struct warp *w)
{
    for (u32 m = active_lanes(w, R, i); m; m &= m - 1) issue(w, R, i, (u32)__builtin_ctz(m));
    return 0;
}

int run_bulk_commit(char *restrict R, const struct insn *i, struct warp *w)
{
    flights_commit(w, active_lanes(w, R, i), FLIGHT_GROUP);
    return 0;
}

int run_bulk_wait(char *restrict R, const struct insn *i, struct warp *w)
{
    flights_wait(w, active_lanes(w, R, i), FLIGHT_GROUP, (u32)w->code->low->op[i->op].off, false);
    return 0;
}

int run_bulk_wait_read(char *restrict R, const struct insn *i, struct warp *w)
{
    flights_wait(w, active_lanes(w, R, i), FLIGHT_GROUP, (u32)w->code->low->op[i->op].off, true);
    return 0;
}
