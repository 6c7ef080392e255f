/* Bulk copies and reductions: cp.async.bulk, cp.reduce.async.bulk (9.7.9.25.4), and the groups of those that write
 * global memory. Each is a flight (flight.h). */
#include "units/bulk.h"
#include "sim/cluster.h"
#include "mem/tensor_map.h"
#include "sim/asked.h"
#include "sim/handlers.h"
#include "sim/lanes.h"
#include "units/mbarrier.h"

u64 bulk_source(const struct warp *w, const char *R, const struct insn *i, u32 k, u32 width, u32 lane)
{
    const struct insn_opnd *o = insn_src(w->code, i, k);
    return lane_value(w, w->code, R, o->slot, o->cls, width, lane);
}

bool bulk_check(struct access *a, struct warp *w, const char *R, const struct insn *i, u32 which, u32 lane, u32 bytes)
{
    *a = (struct access){
        .site = &w->code->low->site[i->site + which], .insn = i, .warp = w, .mask = 1u << lane, .bytes = bytes
    };
    access_addresses(a, R);
    access_check(a);
    return a->ok;
}

bool bulk_check_peer(struct access *a, struct warp *w, const char *R, const struct insn *i, u32 which, u32 lane,
                     u32 bytes)
{
    *a = (struct access){
        .site = &w->code->low->site[i->site + which], .insn = i, .warp = w, .mask = 1u << lane, .bytes = bytes
    };
    access_addresses(a, R);
    u32 rank = cluster_rank(a->addr[lane]);
    bool peer = a->site->space == SP_SHARED && cluster_cta(w->cta, a->addr[lane]);
    if (peer) a->addr[lane] = cluster_base(w->cta->rank) + cluster_offset(a->addr[lane]);
    access_check(a);
    return a->ok && (!peer || bulk_place_live(a, rank, lane));
}

u32 bulk_ranks(const struct warp *w, const char *R, const struct insn *i, const struct access *to, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    if (to->space[lane] != SP_SHARED) return 1;
    if (lop_src(o, SRC_BULK_MASK)->kind == O_NONE) return 1u << cluster_rank(to->addr[lane]);
    return (u32)bulk_source(w, R, i, SRC_BULK_MASK, 2, lane) & ((1u << w->cta->cluster->size) - 1);
}

void bulk_place(struct access *a, u32 rank, u32 lane)
{
    u64 offset = cluster_offset(a->addr[lane]);
    if (a->space[lane] != SP_SHARED) return;
    a->addr[lane] = cluster_base(rank) + offset;
    a->ptr[lane] = cluster_place(a->warp->cta, rank, offset);
}

bool bulk_place_live(struct access *a, u32 rank, u32 lane)
{
    const struct cta *own = a->warp->cta;
    bulk_place(a, rank, lane);
    if (a->space[lane] != SP_SHARED || rank == own->rank || !own->cluster->cta[rank]->done) return true;
    u64 at = a->addr[lane];
    if (a->site->space == SP_GENERIC) a->addr[lane] += mem_shared_window(own->launch->sim->mem);
    access_check(a); /* says so */
    a->addr[lane] = at;
    a->space[lane] = SP_SHARED;
    return false;
}

void bulk_reduction(struct flight *f, enum atom_op op, u32 type)
{
    static const u8 types[MAP_TYPES] = {
        [MAP_U8] = T_U8,       [MAP_U16] = T_U16,  [MAP_U32] = T_U32,      [MAP_S32] = T_S32, [MAP_U64] = T_U64,
        [MAP_S64] = T_S64,     [MAP_F16] = T_F16,  [MAP_F32] = T_F32,      [MAP_F64] = T_F64, [MAP_BF16] = T_BF16,
        [MAP_F32_FTZ] = T_F32, [MAP_TF32] = T_F32, [MAP_TF32_FTZ] = T_F32,
    };
    enum ptx_type t = (enum ptx_type)types[type];
    f->own = (struct site){ .atom = (u8)op,
                            .type = (u8)t,
                            .width = (u8)type_size[t],
                            .is_float = type_is_float(t),
                            .is_signed = t == T_S32 || t == T_S64 };
    f->reduce = &f->own;
}

/* A prefetch brings nothing, but a misaligned one is an error of the hardware. */
int run_bulk_prefetch(char *restrict R, const struct insn *i, struct warp *w)
{
    for (u32 m = active_lanes(w, R, i); m && w->cta->launch->in->checks & CHECK_ALIGN; m &= m - 1) {
        u32 lane = (u32)__builtin_ctz(m), bytes = (u32)bulk_source(w, R, i, 1, 4, lane);
        u64 at = bulk_source(w, R, i, 0, 8, lane);
        if (bytes % BULK_UNIT) asked->bulk_wrong_size(w, i->op, lane, bytes);
        if (at % BULK_UNIT) asked->bulk_wrong_start(w, i->op, lane, at);
    }
    return 0;
}

/* From shared memory to shared memory in a launch that has no clusters. */
static bool lacks_cluster(const struct warp *w, const struct access *to, const struct access *from, u32 lane)
{
    const struct launch *l = w->cta->launch;
    return to->space[lane] == SP_SHARED && from->space[lane] == SP_SHARED && !l->in->cluster[0] &&
           !l->in->kernel->reqnctapercluster[0];
}

/* What of each 16 bytes is copied: all, or the bytes of a mask (.cp_mask). */
static void add_moves(struct flight *f, struct flight_move whole, u32 mask)
{
    if (mask == 0xffff) {
        flight_add(f, whole);
        return;
    }
    for (u32 at = 0; at < whole.bytes; at += BULK_UNIT)
        for (u32 todo = mask, n; todo; todo &= ~(((1u << n) - 1) << __builtin_ctz(todo))) {
            u32 first = (u32)__builtin_ctz(todo), k = at + first;
            n = (u32)__builtin_ctz(~(todo >> first));
            flight_add(f, (struct flight_move){ whole.to + k, whole.from + k, whole.to_at + k, whole.from_at + k, n });
        }
}

static void issue(struct warp *w, const char *R, const struct insn *i, u32 lane)
{
    const struct lop *o = &w->code->low->op[i->op];
    bool signals = lop_src(o, SRC_BULK_MBARRIER)->kind != O_NONE;
    u32 bytes = (u32)bulk_source(w, R, i, SRC_BULK_BYTES, 4, lane);
    struct access to, from, mbarrier;
    if (bytes % BULK_UNIT) {
        asked->bulk_wrong_size(w, i->op, lane, bytes);
        return;
    }
    bool ok = bulk_check(&to, w, R, i, SRC_BULK_TO, lane, bytes);
    ok &= bulk_check(&from, w, R, i, SRC_BULK_FROM, lane, bytes);
    if (signals) ok &= bulk_check(&mbarrier, w, R, i, SRC_BULK_MBARRIER, lane, 8);
    if (!ok) return;
    if (lacks_cluster(w, &to, &from, lane)) asked->bulk_no_cluster(w, i->op, lane);
    bool has_mask = lop_src(o, SRC_BULK_MASK)->kind != O_NONE, multicast = has_mask && signals;
    u32 bytes_of_16 = has_mask && !signals ? (u32)bulk_source(w, R, i, SRC_BULK_MASK, 2, lane) : 0xffff;
    EACH_SET (rank, bulk_ranks(w, R, i, &to, lane)) {
        if (multicast && !bulk_place_live(&to, rank, lane)) continue;
        struct flight *f = flight_new(w, i, lane, signals ? FLIGHT_MBARRIER : FLIGHT_GROUP);
        if (!f) return;
        if (multicast && signals) bulk_place(&mbarrier, rank, lane);
        f->to_space = to.space[lane];
        f->from_space = from.space[lane];
        if (f->to_space == SP_SHARED) f->to_cta = w->cta->cluster->cta[rank];
        if (o->flags & ISA_ATOMIC) f->reduce = to.site;
        if (signals) {
            f->mbarrier = mbarrier.ptr[lane];
            f->mbarrier_at = mbarrier.addr[lane];
            f->mbarrier_cta = cluster_cta(w->cta, mbarrier.addr[lane]);
            f->tx = bytes;
        }
        struct flight_move whole = { to.ptr[lane], from.ptr[lane], to.addr[lane], from.addr[lane], bytes };
        add_moves(f, whole, bytes_of_16 & 0xffff);
        flight_issue(f);
    }
}

int run_bulk(char *restrict R, const struct insn *i, struct warp *w)
{
    EACH_SET (l, active_lanes(w, R, i)) issue(w, R, i, l);
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
